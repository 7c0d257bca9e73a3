"""Simulated networks of all kinds, each with the experiments of one design.

They are training data for the weights of evidence and the confidence of edges. The kinetic model is
that of `simulation.py`; measurement noise and dynamic noise are drawn for every network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import WILD_TYPE, SteadyStates
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules
from grn_tvcs.simulation.designs import WILD, Design, Rng
from grn_tvcs.simulation.experiments import STAGES, Bench, is_on
from grn_tvcs.simulation.kinds import NULLS, draw_topology
from grn_tvcs.simulation.kinetics import draw_kinetics
from grn_tvcs.simulation.simulation import NOISES
from tvcs_core.streams import seed_of, stream

# Ranges, around the usual values of `simulation.NOISES` and of single-cell data.
NOISE_LEVELS = {"normal": (0.01, 0.1), "lognormal": (0.03, 0.2), "microarray": (0.3, 1.0)}
MAX_SDE = 0.05  # strength of the noise in the dynamics
LEFT = {"out": 0.0, "down": 0.5}  # remaining fraction of the transcription of a changed gene
# Of cells: dropout probability, log10 noise, and pseudotime error as a fraction of the series.
DROPPED, CELL_NOISE, BLUR = (0.0, 0.7), (0.05, 0.2), (0.02, 0.1)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """A simulated network and the measurements on it.

    Attributes
    ----------
    expression
        Levels, scaled so that the largest measured one is 1.
    steady
        Wild type, knock-outs and knock-downs; None if the design has none. Changed genes are drawn
        from the candidate regulators; of knock-outs and knock-downs, the smaller set is part of the
        larger.
    rules
        The candidate regulators.
    is_edge
        ``[regulator, target]``, with genes in the order of their names; edges between measured
        genes.
    kind
        Such as one of `KINDS` or `NULLS`.
    signs
        1 for activation, -1 for repression, 0 without an edge; ordered as `is_edge`.
    """

    expression: Expression
    steady: SteadyStates | None
    rules: Rules
    is_edge: NDArray[np.bool_]
    kind: str
    signs: NDArray[np.int8]


def draw_example(design: Design, kind: str, rng: Rng = None) -> Example:
    """Draw a network of a kind and simulate the experiments of a design.

    Parameters
    ----------
    design
        Sizes and experiments.
    kind
        One of `KINDS`. Hidden genes are candidate regulators as often as measured ones.
    rng
        Seed or generator; equal seeds give equal examples.
    """
    rng = stream(rng, "example")
    n_all = max(design.n_genes, round(design.n_genes / (1 - design.hidden)))
    measured = np.sort(rng.permutation(n_all)[: design.n_genes])
    hidden = np.setdiff1d(np.arange(n_all), measured)
    may = np.sort(rng.permutation(measured)[: design.n_regulators])
    n_more = round(hidden.size * design.n_regulators / design.n_genes)
    pool = np.concatenate([may, rng.permutation(hidden)[:n_more]])
    while True:  # draw again if no edge joins two measured genes
        topology = draw_topology(kind, n_all, rng, np.sort(pool))
        assert topology.signs is not None
        if topology.signs[np.ix_(measured, measured)].any():
            break
    return measured_on(topology, design, measured, may, kind, rng)


def measured_on(
    topology: Network,
    design: Design,
    measured: NDArray[np.intp],
    may: NDArray[np.intp],
    kind: str,
    rng: np.random.Generator,
) -> Example:
    """Do the experiments of a design on a network, of which some genes are measured."""
    assert topology.signs is not None
    signs = topology.signs[np.ix_(measured, measured)]
    topology = replace(topology, genes=_names(len(topology.genes)))
    bench = Bench(draw_kinetics(topology, seed_of(rng)), float(rng.uniform(0, MAX_SDE)), rng)
    changed = _changed(design, may, rng)
    levels = _levels(design, bench, measured, changed, rng)
    genes = np.array(topology.genes)
    names = {"all": genes[measured], "may regulate": genes[may]}
    names |= {part: genes[which] for part, which in changed.items()}
    return _example(design, levels, names, signs, kind)


def _changed(
    design: Design, may: NDArray[np.intp], rng: np.random.Generator
) -> dict[str, NDArray[np.intp]]:
    """Draw the candidate regulators that are knocked out, and down."""
    shares = {"out": design.knocked_out, "down": design.knocked_down}
    order = rng.permutation(may) if any(shares.values()) else may
    return {
        part: np.sort(order[: design.n_changed(share)]) for part, share in shares.items() if share
    }


def _levels(
    design: Design,
    bench: Bench,
    measured: NDArray[np.intp],
    changed: dict[str, NDArray[np.intp]],
    rng: np.random.Generator,
) -> dict[str, Array]:
    """Return the noisy measurements of the genes `measured`."""
    noise = str(rng.choice(list(NOISE_LEVELS)))
    size = rng.uniform(*NOISE_LEVELS[noise])
    true: dict[str, list[Array]] = {}
    if not design.cells:
        true["series"] = _series(design, bench, rng)
    true["rest"] = [bench.multifactorial()[None] for _ in range(design.n_steady)]
    if changed:
        true["wild type"] = [bench.wild_type[:1]]
    for name, which in changed.items():
        true[name] = [bench.knocked(j, LEFT[name])[None] for j in which]
    found = {}
    for name, rows in true.items():
        exact = np.concatenate([np.empty((0, bench.n_genes)), *rows])[:, measured]
        spread = rng.standard_normal(exact.shape)
        found[name] = np.maximum(NOISES[noise][0](exact, size, spread), 0.0)
    if design.cells:
        found |= _bins_of_cells(design, bench, measured, rng)
    return found


def _series(design: Design, bench: Bench, rng: np.random.Generator) -> list[Array]:
    shape = design.n_points, design.interval
    if design.start == WILD:
        return [bench.series(*shape) for _ in range(design.n_series)]
    is_shifted = bool(rng.random() < 0.5)
    return [bench.relaxation(*shape, is_shifted=is_shifted) for _ in range(design.n_series)]


def _bins_of_cells(
    design: Design, bench: Bench, measured: NDArray[np.intp], rng: np.random.Generator
) -> dict[str, Array]:
    """Return means of neighbours in pseudotime and their pseudotimes; all share one change."""
    dropped, noise, blur = (rng.uniform(*ends) for ends in (DROPPED, CELL_NOISE, BLUR))
    n_stages = int(rng.integers(1, STAGES + 1))
    common = bench.changes(1, [])
    duration = design.n_points * design.interval
    values, times = [], []
    for _ in range(design.n_series):
        changes = bench.changes(n_stages, common if n_stages > 1 else [])
        cells, when = bench.cells(design.n_points * design.cells, duration, changes)
        levels = cells[:, measured]
        levels = levels * 10 ** (noise * rng.standard_normal(levels.shape))
        low = levels < np.median(levels, axis=0)
        levels[low & (rng.random(levels.shape) < dropped)] = 0.0
        guessed = when + blur * duration * rng.standard_normal(when.size)
        order = np.argsort(guessed).reshape(design.n_points, design.cells)
        values.append(levels[order].mean(axis=1))
        times.append(guessed[order].mean(axis=1))
    return {"series": np.concatenate(values), "times": np.concatenate(times)}


def _example(
    design: Design,
    levels: dict[str, Array],
    names: dict[str, NDArray[np.str_]],
    signs: NDArray[np.int8],
    kind: str,
) -> Example:
    """Make the tables of a user from levels and names."""
    genes = tuple(names["all"].tolist())
    even = np.tile(np.arange(design.n_points) * design.interval, design.n_series)
    times = levels.pop("times", even)
    largest = max(float(rows.max(initial=0.0)) for rows in levels.values())
    levels = {name: rows / largest for name, rows in levels.items()}
    on = np.tile(is_on(design.n_points), design.n_series)
    expression = Expression(
        levels["series"],
        times,
        tuple(f"{s + 1:02d}" for s in range(design.n_series) for _ in range(design.n_points)),
        genes,
        perturbed=on if design.is_perturbation_known else None,
        scale="levels",
        steady_values=levels["rest"] if design.n_steady else None,
        cells=np.full(times.size, float(design.cells)) if design.cells else None,
    )
    steady = None
    if "wild type" in levels:
        parts = [part for part in ("out", "down") if part in names]
        changed = [WILD_TYPE, *(name for part in parts for name in names[part].tolist())]
        is_out = [False, *(part == "out" for part in parts for _ in names[part])]
        states = np.concatenate([levels[part] for part in ("wild type", *parts)])
        steady = SteadyStates(states, tuple(changed), np.array(is_out), genes)
    regulators = frozenset(names["may regulate"].tolist())
    rules = Rules(regulators=None if len(regulators) == len(genes) else regulators)
    return Example(expression, steady, rules, signs != 0, kind, signs)


def _names(n: int) -> tuple[str, ...]:
    """Return names in alphabetical order."""
    return tuple(f"G{i + 1:0{len(str(n))}d}" for i in range(n))


def draw_null(design: Design, kind: str, rng: Rng = None) -> Example:
    """Draw the tables of a design without any edge.

    Parameters
    ----------
    design
        Sizes and experiments.
    kind
        ``"noise"``: independent samples; ``"walk"``: a random walk of every gene along a series;
        ``"autoregression"``: a mean-reverting walk.
    rng
        Seed or generator; equal seeds give equal tables.
    """
    if kind not in NULLS:
        raise ValueError(f"kind must be one of {', '.join(NULLS)}, found {kind!r}")
    rng = stream(rng, "null")
    n = design.n_genes
    rest, size = rng.uniform(-2, 0, n), rng.uniform(0.1, 0.6)
    memory = {"noise": np.zeros(n), "walk": np.ones(n), "autoregression": rng.uniform(0.5, 0.98, n)}
    shape = design.n_series, design.n_points, n
    logs = np.zeros(shape)
    steps = size * rng.standard_normal(shape)
    for point in range(design.n_points):
        before = logs[:, point - 1] if point else 0.0
        logs[:, point] = memory[kind] * before + steps[:, point]
    return without_edges(design, kind, rest, size, logs, np.zeros(n), rng)


def without_edges(
    design: Design,
    kind: str,
    rest: Array,
    size: float,
    logs: Array,
    response: Array,
    rng: np.random.Generator,
) -> Example:
    """Make tables from log levels of series relative to steady state, with all else of a design.

    `response` is the response of steady-state samples to a common stimulus, 0 for none.
    """
    n = design.n_genes
    may = np.sort(rng.permutation(n)[: design.n_regulators])
    changed = _changed(design, may, rng)
    n_rows = {"series": 0, "rest": design.n_steady, "wild type": int(bool(changed))}
    n_rows |= {part: which.size for part, which in changed.items()}
    levels = {
        name: np.exp(rest + size * rng.standard_normal((rows, n)))
        for name, rows in n_rows.items()
        if rows or name in ("series", "rest")
    }
    levels["series"] = np.exp(rest + logs.reshape(-1, n))
    if response.any():
        levels["rest"] *= np.exp(response * rng.standard_normal((design.n_steady, 1)))
    for part, which in changed.items():
        levels[part][np.arange(which.size), which] *= LEFT[part]
    genes = np.array(_names(n))
    names = {"all": genes, "may regulate": genes[may]}
    names |= {part: genes[which] for part, which in changed.items()}
    return _example(design, levels, names, np.zeros((n, n), np.int8), kind)

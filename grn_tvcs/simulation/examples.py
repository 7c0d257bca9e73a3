"""Networks of all kinds, each with the experiment of a design done on it.

They are to teach what evidence is worth and how sure an edge is. Levels are those of
`simulation.py`; the noise of the measurement and of the dynamics are drawn for every network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import WILD_TYPE, SteadyStates
from grn_tvcs.network.rules import Rules
from grn_tvcs.simulation.designs import WILD, Design, Rng
from grn_tvcs.simulation.experiments import STAGES, Bench, is_on
from grn_tvcs.simulation.kinds import DRIVEN, NULLS, draw_topology
from grn_tvcs.simulation.kinetics import draw_kinetics
from grn_tvcs.simulation.simulation import NOISES
from grn_tvcs.simulation.stimulus import driven, responses
from tvcs_core.streams import seed_of, stream

# Noise of the measurement: least and most of its size.
NOISE_LEVELS = {"normal": (0.01, 0.1), "lognormal": (0.03, 0.2), "microarray": (0.3, 1.0)}
MOST_SDE = 0.05
LEFT = {"out": 0.0, "down": 0.5}  # of the transcription of a gene that is changed
DRIVEN_NOISE = (0.02, 0.3)  # of logarithms, where a stimulus moves them
DROPPED, CELL_NOISE, BLUR = (0.0, 0.7), (0.05, 0.2), (0.02, 0.1)  # of cells

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """A network that was drawn, and what was measured on it.

    Attributes
    ----------
    expression
        Levels, the largest of all that was measured being 1.
    steady
        Wild type, knock-outs and knock-downs; None where the design has none. Where a part of
        those that may regulate is changed, it is drawn which; of out and down, the smaller
        part lies in the larger.
    rules
        Who may regulate.
    is_edge
        ``[regulator, target]`` in the order of the genes, which is that of their names. Where
        genes are hidden, an edge is one between two genes that are measured.
    kind
        One of `KINDS` or `NULLS`, or `DRIVEN`.
    signs
        1 where an edge activates, -1 where it represses, 0 elsewhere; ordered as `is_edge`.
    """

    expression: Expression
    steady: SteadyStates | None
    rules: Rules
    is_edge: NDArray[np.bool_]
    kind: str
    signs: NDArray[np.int8]


def draw_example(design: Design, kind: str, rng: Rng = None) -> Example:
    """Draw a network of a kind and do the experiments of a design on it, and no others.

    Parameters
    ----------
    design
        Sizes and experiments.
    kind
        One of `KINDS`. Genes that are hidden are candidates as often as those that are measured.
    rng
        Seed or generator; the same one gives the same example.

    Raises
    ------
    ValueError
        If the kind is unknown.
    """
    rng = stream(rng, "example")
    n_all = max(design.n_genes, round(design.n_genes / (1 - design.hidden)))
    measured = np.sort(rng.permutation(n_all)[: design.n_genes])
    hidden = np.setdiff1d(np.arange(n_all), measured)
    may = np.sort(rng.permutation(measured)[: design.n_regulators])
    n_more = round(hidden.size * design.n_regulators / design.n_genes)
    pool = np.concatenate([may, rng.permutation(hidden)[:n_more]])
    while True:  # where all regulators are hidden there is nothing to find: draw again
        topology = draw_topology(kind, n_all, rng, np.sort(pool))
        signs = topology.signs[np.ix_(measured, measured)]
        if signs.any():
            break
    topology = replace(topology, genes=_names(n_all))
    bench = Bench(draw_kinetics(topology, seed_of(rng)), float(rng.uniform(0, MOST_SDE)), rng)
    changed = _changed(design, may, rng)
    levels = _levels(design, bench, measured, changed, rng)
    genes = np.array(topology.genes)
    names = {"all": genes[measured], "may regulate": genes[may]}
    names |= {part: genes[which] for part, which in changed.items()}
    return _example(design, levels, names, signs, kind)


def _changed(
    design: Design, may: NDArray[np.intp], rng: np.random.Generator
) -> dict[str, NDArray[np.intp]]:
    """Which of the genes that may regulate are knocked out, and down."""
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
    """What is measured of the genes `measured`, with noise."""
    noise = str(rng.choice(list(NOISE_LEVELS)))
    size = rng.uniform(*NOISE_LEVELS[noise])
    true: dict[str, list[Array]] = {}
    if not design.cells:
        true["series"] = _series(design, bench, rng)
    true["rest"] = [bench.multifactorial()[None] for _ in range(design.n_at_rest)]
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
    """Means of neighbours in pseudotime, and these pseudotimes; one change is common to all."""
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
    """Put levels into the tables of a user, with the names of who is in them."""
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
        at_rest=levels["rest"] if design.n_at_rest else None,
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
    """Names in the order of the alphabet."""
    return tuple(f"G{i + 1:0{len(str(n))}d}" for i in range(n))


def draw_null(design: Design, kind: str, rng: Rng = None) -> Example:
    """Draw the tables of a design without any edge.

    Parameters
    ----------
    design
        Sizes and experiments.
    kind
        ``"noise"``: samples know nothing of each other; ``"walk"``: every gene walks at random
        along a series; ``"autoregression"``: it is drawn back to its rest; ``"driven"``: it answers
        by itself a stimulus that is common to all and was not measured.
    rng
        Seed or generator; the same one gives the same tables.

    Raises
    ------
    ValueError
        If the kind is unknown.
    """
    if kind not in (*NULLS, DRIVEN):
        raise ValueError(f"kind must be one of {', '.join((*NULLS, DRIVEN))}, found {kind!r}")
    rng = stream(rng, "null")
    if kind == DRIVEN:
        return _draw_driven(design, rng)
    n = design.n_genes
    rest, size = rng.uniform(-2, 0, n), rng.uniform(0.1, 0.6)
    memory = {"noise": np.zeros(n), "walk": np.ones(n), "autoregression": rng.uniform(0.5, 0.98, n)}
    shape = design.n_series, design.n_points, n
    logs = np.zeros(shape)
    steps = size * rng.standard_normal(shape)
    for point in range(design.n_points):
        before = logs[:, point - 1] if point else 0.0
        logs[:, point] = memory[kind] * before + steps[:, point]
    return _without_edges(design, kind, rest, size, logs, np.zeros(n), rng)


def _draw_driven(design: Design, rng: np.random.Generator) -> Example:
    """Draw tables of a common stimulus; where there is no time, its dose differs by sample."""
    rest = rng.uniform(-2, 0, design.n_genes)
    size = float(np.exp(rng.uniform(*np.log(DRIVEN_NOISE))))
    response = responses(design, rng)
    logs = driven(design, response, rng)
    logs = logs + size * rng.standard_normal(logs.shape)
    return _without_edges(design, DRIVEN, rest, size, logs, response, rng)


def _without_edges(
    design: Design,
    kind: str,
    rest: Array,
    size: float,
    logs: Array,
    response: Array,
    rng: np.random.Generator,
) -> Example:
    """Put the logarithms of series, beside their rest, into tables with all else of a design.

    `response` is that of samples at rest to what is common to all genes, 0 for nothing.
    """
    n = design.n_genes
    may = np.sort(rng.permutation(n)[: design.n_regulators])
    changed = _changed(design, may, rng)
    n_rows = {"series": 0, "rest": design.n_at_rest, "wild type": int(bool(changed))}
    n_rows |= {part: which.size for part, which in changed.items()}
    levels = {
        name: np.exp(rest + size * rng.standard_normal((rows, n)))
        for name, rows in n_rows.items()
        if rows or name in ("series", "rest")
    }
    levels["series"] = np.exp(rest + logs.reshape(-1, n))
    if response.any():
        levels["rest"] *= np.exp(response * rng.standard_normal((design.n_at_rest, 1)))
    for part, which in changed.items():
        levels[part][np.arange(which.size), which] *= LEFT[part]
    genes = np.array(_names(n))
    names = {"all": genes, "may regulate": genes[may]}
    names |= {part: genes[which] for part, which in changed.items()}
    return _example(design, levels, names, np.zeros((n, n), np.int8), kind)

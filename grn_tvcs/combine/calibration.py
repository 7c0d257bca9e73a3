"""Calibration: edge probabilities for one design, from networks simulated with it.

The networks show how log-odds of the combiner relate to probabilities. For small networks, and if
only some genes may regulate, half of them have genes that are not measured. Small panels and lists
of regulators leave out many genes, and a hidden regulator makes its targets, or the regulators that
move with it, look like causes. Tables without edges show how high the log-odds of false pairs are.
A design is simulated once. The result is cached in the folder of compiled kernels
(``TVCS_CACHE_DIR``, the user's cache), named after the design, the model and the version of the
package.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.combiner import Combiner
from grn_tvcs.combine.direction import N_NETWORKS as N_DIRECTION_NETWORKS
from grn_tvcs.combine.direction import (
    has_directions,
    shared_direction,
    simulated_shared_direction,
    upper_limit,
)
from grn_tvcs.combine.domain_check import TraitDistribution, traits
from grn_tvcs.combine.evidence_scores import compute_evidence
from grn_tvcs.combine.features import pair_features
from grn_tvcs.combine.nulls import (
    MAX_NULL_PROBABILITY,
    effect_of_changes,
    null_log_odds,
    weight_by_non_null,
)
from grn_tvcs.combine.platt_scaling import fit_platt_scaling, sigmoid
from grn_tvcs.combine.trees import Trees
from grn_tvcs.simulation.designs import GENES, Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS
from grn_tvcs.stability.execution import SERIAL, Execution
from tvcs_core.engines import Job
from tvcs_core.jit.folder import cache_places, open_folder, read_sealed, write_sealed
from tvcs_core.streams import stream

N_NETWORKS = 12  # per design; `python -m benchmarks.confidence` measures the calibration error
# Fraction of genes hidden in every other network of a kind; largest such design without a list of
# regulators (decision 85).
HIDDEN_FRACTION, MAX_HIDDEN_GENES = 0.3, 20
N_NULL_TABLES = 120  # tables without edges per design; their maximum is the limit
SEED = 0  # of the simulation, independent of the user's seed: a design is calibrated once

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """Calibration of one design.

    Attributes
    ----------
    offset, slope
        The probability of an edge is the logistic function of ``offset + slope * log-odds``.
    limit
        Largest calibrated log-odds of a pair in tables without edges.
    shared
        Upper limit of the shared direction of series (`direction.upper_limit`), beyond which no
        probabilities are given; infinite for designs without directions.
    """

    offset: float
    slope: float
    limit: float = -np.inf
    shared: float = np.inf

    def of(self, logits: Array, n_genes: int = 0) -> Array:
        """Return calibrated log-odds for networks of this design.

        Networks larger than the simulated ones have the same number of edges per gene, hence a
        smaller fraction of all pairs.
        """
        return self.offset + self.slope * logits - np.log(max(n_genes / GENES[-1], 1.0))


class NullModel(NamedTuple):
    """Model of tables without edges.

    Attributes
    ----------
    nulls
        Trees that return the log-odds that a table has no edge.
    trait_distribution
        Traits of simulated tables; tables outside their domain get no probabilities.
    """

    nulls: Trees
    trait_distribution: TraitDistribution


def load_or_calibrate(
    combiner: Combiner,
    stamp: str,
    design: Design,
    n_networks: int = N_NETWORKS,
    *,
    resamples: int,
    null_model: NullModel | None = None,
    execution: Execution = SERIAL,
) -> Calibration:
    """Calibrate for a design, or load its cached calibration.

    Parameters
    ----------
    combiner, stamp
        The model and the hash of its file.
    design
        Rounded, so that similar designs share one calibration.
    n_networks
        Networks to simulate, at least 1, of all kinds in turn. Every other one has hidden genes if
        there are few genes, or a list of regulators.
    resamples
        Halves of the series for the lagged regression.
    null_model
        Model of tables without edges; without it none are simulated, and there is no limit.
    execution
        How networks are simulated; its progress is told the finished networks and the total.
    """
    name, folder = _name(design, n_networks, resamples), _folder(stamp)
    if folder is not None and (kept := read_sealed(folder / name)) is not None:
        return Calibration(**json.loads(kept))
    found = calibrate_design(
        combiner,
        design,
        n_networks,
        resamples=resamples,
        null_model=null_model,
        execution=execution,
        stamp=stamp,
    )
    if folder is not None:
        with contextlib.suppress(OSError):  # after a full disk the next run only repeats the work
            write_sealed(folder / name, json.dumps(asdict(found)).encode())
    return found


def is_cached(stamp: str, design: Design, n_networks: int, resamples: int) -> bool:
    """Return whether `load_or_calibrate` would find a cached calibration."""
    folder = _folder(stamp)
    return folder is not None and (folder / _name(design, n_networks, resamples)).exists()


def _name(design: Design, n_networks: int, resamples: int) -> str:
    return f"{design.key}-n{n_networks}-h{resamples}.json"


def calibrate_design(
    combiner: Combiner,
    design: Design,
    n_networks: int = N_NETWORKS,
    *,
    resamples: int,
    null_model: NullModel | None = None,
    execution: Execution = SERIAL,
    stamp: str = "",
) -> Calibration:
    """Calibrate for a design without reading the cache; `stamp` labels the checkpoints."""
    facts = {"model": stamp, "design": design.key, "options": str(resamples)}
    networks = Job("networks", _network, (combiner, design, resamples), n_networks, facts)
    logits, truths = zip(*_all_results(networks, execution), strict=True)
    found = Calibration(*fit_platt_scaling(logits, truths))
    execution = execution.reporting(None)
    if has_directions(design):
        found = replace(found, shared=shared_limit(design, execution))
    if null_model is None:
        return found
    limit = null_limit(combiner, design, null_model, found, resamples, execution, stamp)
    return replace(found, limit=limit)


def shared_limit(design: Design, execution: Execution) -> float:
    """Return the upper limit of the shared direction of series in networks of a design."""
    directions = Job("directions", _direction, design, N_DIRECTION_NETWORKS, {"design": design.key})
    return upper_limit(np.array([float(one) for (one,) in _all_results(directions, execution)]))


def _direction(design: Design, k: int) -> tuple[Array]:
    return (np.array(simulated_shared_direction(design, k)),)


def null_limit(
    combiner: Combiner,
    design: Design,
    null_model: NullModel,
    found: Calibration,
    resamples: int,
    execution: Execution,
    stamp: str = "",
) -> float:
    """Return the largest calibrated log-odds of a pair in simulated tables without edges."""
    state = combiner, design, resamples, null_model, found
    facts = {
        "model": stamp, "design": design.key, "options": str(resamples),
        "networks": f"{found.offset!r} {found.slope!r}",
    }  # fmt: skip
    tables = Job("tables", _largest_without_edges, state, N_NULL_TABLES, facts)
    return max(float(top) for (top,) in _all_results(tables, execution))


def _all_results(job: Job, execution: Execution) -> list[Any]:
    """Return the results of all units of a job, in their order."""
    found: list[Any] = [None] * job.size
    with execution.results(job) as units:
        for _, k, unit in units:
            found[k] = unit
    return found


def _network(state: tuple[Combiner, Design, int], k: int) -> tuple[Array, NDArray[np.bool_]]:
    """Return log-odds and true edges of a simulated network."""
    combiner, design, resamples = state
    kinds = tuple(KINDS)
    rng = stream(SEED, "networks of a design", design.key, str(k))
    turn, place = divmod(k, len(kinds))
    may_hide = design.n_genes <= MAX_HIDDEN_GENES or design.n_regulators < design.n_genes
    if may_hide and (turn + place) % 2:
        example = draw_example(replace(design, hidden=HIDDEN_FRACTION), kinds[place], rng)
    else:
        example = draw_example(design, kinds[place], rng)
    parts = compute_evidence(
        example.expression, example.rules, rng, example.steady, resamples=resamples
    )
    logits = combiner.logits(pair_features(parts), parts.inputs)[parts.allowed]
    truth = example.is_edge[parts.inputs][parts.allowed]
    return logits, truth


def _largest_without_edges(
    state: tuple[Combiner, Design, int, NullModel, Calibration], k: int
) -> tuple[Array]:
    """Return the largest log-odds of a pair in a table without edges.

    -inf if the table is outside the domain, or if its traits alone keep probabilities at or below
    `MAX_NULL_PROBABILITY`; evidence is then not computed.
    """
    combiner, design, resamples, null_model, known = state
    rng = stream(SEED, "tables of a design", design.key, str(k))
    example = draw_null(design, NULLS[k % len(NULLS)], rng)
    table, steady = example.expression, example.steady
    found = traits(table, steady)
    effect, shared = effect_of_changes(steady, table), shared_direction(table)
    none = null_log_odds(null_model.nulls, found, design, effect, shared)
    if sigmoid(
        np.array(-none)
    ) <= MAX_NULL_PROBABILITY or null_model.trait_distribution.is_out_of_domain(found, design):
        return (np.array(-np.inf),)
    parts = compute_evidence(table, example.rules, rng, steady, resamples=resamples)
    logits = combiner.logits(pair_features(parts), parts.inputs)[parts.allowed]
    return (np.array(weight_by_non_null(known.of(logits), none).max(initial=-np.inf)),)


def _folder(stamp: str) -> Path | None:
    """Return the cache folder of calibrations with a model; None if no folder is usable."""
    for place in cache_places():
        with contextlib.suppress(OSError):
            return open_folder(place, "grn_tvcs", f"{version('tvcs')}-{stamp[:16]}", "designs")
    return None

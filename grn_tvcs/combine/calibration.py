"""Networks simulated with the design of a user, and what the combiner says of them.

They tell what its log-odds are worth in this design, as chances, and what tables of this design
look like. Of few genes half of them have genes that are not measured, as who measures few leaves
out many: what such a gene regulates looks as if others that go along with it did. Tables without
any edge tell how likely a pair looks where there is none. A design is simulated once: what came out
is kept in the folder of compiled kernels (``TVCS_CACHE_DIR``, the user's cache), named after the
design, the model and this version.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.chances import calibration, chance
from grn_tvcs.combine.combiner import Combiner
from grn_tvcs.combine.direction import NETWORKS as OF_DIRECTION
from grn_tvcs.combine.direction import (
    is_asked,
    shared_direction,
    shared_in_a_network,
    usual_limit,
)
from grn_tvcs.combine.features import features_of
from grn_tvcs.combine.likeness import Likeness, as_row, traits
from grn_tvcs.combine.nulls import LIKELY, effect_of_changes, null_log_odds, unless_null
from grn_tvcs.combine.parts import gather_parts
from grn_tvcs.combine.trees import Trees
from grn_tvcs.simulation.designs import GENES, Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.engines import Engine, Job, Threads, results
from tvcs_core.jit.folder import cache_places, open_folder, read_sealed, write_sealed
from tvcs_core.streams import stream

NETWORKS, OF_COMMON = 12, 48  # of a user's design, and of one whose calibration comes along
# Part of the genes that is not measured in every other network of a kind, of up to so many genes.
HIDDEN, HIDDEN_UP_TO = 0.3, 20
TABLES = 120  # of a design without any edge
SEED = 0  # theirs, whatever the user's: a design is calibrated once

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """What networks of one design say.

    Attributes
    ----------
    offset, slope
        The chance of an edge is the logistic function of ``offset + slope * log-odds``.
    traits
        Of their tables, of the first `NETWORKS` at most; (networks, TRAITS).
    limit
        Largest log-odds of a pair in tables without any edge, after all that lowers them.
    shared
        How far series of nearly all networks share a direction at most; infinity where that is not
        asked. Beyond it no chance is given.
    """

    offset: float
    slope: float
    traits: Array
    limit: float = -np.inf
    shared: float = np.inf

    def of(self, logits: Array, n_genes: int = 0) -> Array:
        """Log-odds that are worth what they say, in networks of this design.

        A network that is larger than those simulated has as many edges per gene, so fewer of all
        pairs.
        """
        return self.offset + self.slope * logits - np.log(max(n_genes / GENES[-1], 1.0))


class Empty(NamedTuple):
    """What tells tables without any edge.

    Attributes
    ----------
    nulls
        Trees that say whether a table has any edge.
    likeness
        What simulated tables look like: the others have no chances.
    """

    nulls: Trees
    likeness: Likeness


def calibrated(
    combiner: Combiner,
    stamp: str,
    design: Design,
    n_networks: int = NETWORKS,
    *,
    resamples: int,
    empty: Empty | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Path | None = None,
) -> Calibration:
    """Calibrate for a design, or take up what is kept of it.

    Parameters
    ----------
    combiner, stamp
        The model, and the hash of its file.
    design
        Rounded, so that near designs share one calibration.
    n_networks
        Of all kinds in turn, at least 1; of every other one of few genes not all are measured.
    resamples
        Of the lagged regression.
    empty
        Tells tables without any edge; by default none are drawn, and there is no limit.
    threads, engine
        Who simulates them: so many threads, or an engine; the result is the same.
    progress
        Told how many networks are done, and of how many.
    keep
        Folder for finished networks, which are taken from there.
    """
    name, folder = _name(design, n_networks, resamples), _folder(stamp)
    if folder is not None and (kept := read_sealed(folder / name)) is not None:
        told = json.loads(kept)
        limit = -np.inf if told["limit"] is None else told["limit"]
        shared = np.inf if told["shared"] is None else told["shared"]
        rows = np.array(told["traits"], dtype=float)
        return Calibration(told["offset"], told["slope"], rows, limit, shared)
    found = calibration_of(
        combiner,
        design,
        n_networks,
        resamples=resamples,
        empty=empty,
        threads=threads,
        engine=engine,
        progress=progress,
        keep=keep,
        stamp=stamp,
    )
    if folder is not None:
        listed = [[None if np.isnan(x) else x for x in row] for row in found.traits.tolist()]
        limit = found.limit if np.isfinite(found.limit) else None
        shared = found.shared if np.isfinite(found.shared) else None
        told = {
            "offset": found.offset, "slope": found.slope, "traits": listed, "limit": limit,
            "shared": shared,
        }  # fmt: skip
        with contextlib.suppress(OSError):  # a full disk costs the next run time, no more
            write_sealed(folder / name, json.dumps(told).encode())
    return found


def is_kept(stamp: str, design: Design, n_networks: int, resamples: int) -> bool:
    """Whether `calibrated` would simulate nothing."""
    folder = _folder(stamp)
    return folder is not None and (folder / _name(design, n_networks, resamples)).exists()


def _name(design: Design, n_networks: int, resamples: int) -> str:
    return f"{design.key}-n{n_networks}-h{resamples}.json"


def calibration_of(
    combiner: Combiner,
    design: Design,
    n_networks: int = NETWORKS,
    *,
    resamples: int,
    empty: Empty | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Path | None = None,
    stamp: str = "",
) -> Calibration:
    """Calibrate for a design as `calibrated`, whatever is kept of it; `stamp` goes with `keep`."""
    engine = Threads(max(1, threads)) if engine is None else engine
    facts = {"model": stamp, "design": design.key, "options": str(resamples)}
    networks = Job("networks", _network, (combiner, design, resamples), n_networks, facts)
    logits, truths, rows = zip(*_all(networks, engine, keep, progress), strict=True)
    # The test of fit was made for the tables of so many networks, however many calibrate.
    found = Calibration(*calibration(logits, truths), np.array(rows[:NETWORKS]))
    if is_asked(design):
        found = replace(found, shared=shared_limit(design, engine, keep))
    if empty is None:
        return found
    return replace(
        found, limit=limit_of(combiner, design, empty, found, resamples, engine, keep, stamp)
    )


def shared_limit(design: Design, engine: Engine, keep: Path | None = None) -> float:
    """Return how far series of nearly all networks of a design share a direction at most."""
    directions = Job("directions", _direction, design, OF_DIRECTION, {"design": design.key})
    return usual_limit(np.array([float(one) for (one,) in _all(directions, engine, keep)]))


def _direction(design: Design, k: int) -> tuple[Array]:
    return (np.array(shared_in_a_network(design, k)),)


def limit_of(
    combiner: Combiner,
    design: Design,
    empty: Empty,
    found: Calibration,
    resamples: int,
    engine: Engine,
    keep: Path | None = None,
    stamp: str = "",
) -> float:
    """Return the largest log-odds of a pair in tables without any edge, calibrated by `found`."""
    state = combiner, design, resamples, empty, found
    facts = {
        "model": stamp, "design": design.key, "options": str(resamples),
        "networks": f"{found.offset!r} {found.slope!r}",
    }  # fmt: skip
    tables = Job("tables", _largest_without_edges, state, TABLES, facts)
    return max(float(top) for (top,) in _all(tables, engine, keep))


def _all(
    job: Job,
    engine: Engine,
    keep: Path | None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Any]:
    """What all units of a job say, in their order."""
    found: list[Any] = [None] * job.size
    with closing(results([job], engine, checkpoint_dir=keep, progress=progress)) as units:
        for _, k, unit in units:
            found[k] = unit
    return found


def _network(state: tuple[Combiner, Design, int], k: int) -> tuple[Array, NDArray[np.bool_], Array]:
    """Log-odds of all pairs of a simulated network, which of them are edges, and its traits."""
    combiner, design, resamples = state
    kinds = tuple(KINDS)
    rng = stream(SEED, "networks of a design", design.key, str(k))
    turn, place = divmod(k, len(kinds))
    if design.n_genes <= HIDDEN_UP_TO and (turn + place) % 2:
        example = draw_example(replace(design, hidden=HIDDEN), kinds[place], rng)
    else:
        example = draw_example(design, kinds[place], rng)
    table = example.expression
    parts = gather_parts(table, example.rules, rng, example.steady, resamples=resamples)
    logits = combiner.logits(features_of(parts), parts.inputs)[parts.allowed]
    truth = example.is_edge[parts.inputs][parts.allowed]
    return logits, truth, as_row(traits(table, example.steady))


def _largest_without_edges(
    state: tuple[Combiner, Design, int, Empty, Calibration], k: int
) -> tuple[Array]:
    """Largest log-odds of a pair in a table without any edge; -inf where no chance is given.

    Evidence is computed only where the traits of the table leave room for more than `LIKELY`.
    """
    combiner, design, resamples, empty, known = state
    rng = stream(SEED, "tables of a design", design.key, str(k))
    example = draw_null(design, NULLS[k % len(NULLS)], rng)
    table, steady = example.expression, example.steady
    found = traits(table, steady)
    effect, shared = effect_of_changes(steady, table), shared_direction(table)
    none = null_log_odds(empty.nulls, found, design, effect, shared)
    if chance(np.array(-none)) <= LIKELY or empty.likeness.is_strange(found, design, known.traits):
        return (np.array(-np.inf),)
    parts = gather_parts(table, example.rules, rng, steady, resamples=resamples)
    logits = combiner.logits(features_of(parts), parts.inputs)[parts.allowed]
    return (np.array(unless_null(known.of(logits), none).max(initial=-np.inf)),)


def _folder(stamp: str) -> Path | None:
    """Where calibrations with a model are kept; None where no folder is to be trusted."""
    for place in cache_places():
        with contextlib.suppress(OSError):
            return open_folder(place, "grn_tvcs", f"{version('tvcs')}-{stamp[:16]}", "designs")
    return None

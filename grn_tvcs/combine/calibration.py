"""Networks simulated with the design of a user, and what the combiner says of them.

They tell what its log-odds are worth in this design, as chances, and what tables of this design
look like. A design is simulated once: what came out is kept in the folder of compiled kernels
(``TVCS_CACHE_DIR``, the user's cache), named after the design, the model and this version.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.chances import calibration
from grn_tvcs.combine.combiner import Combiner
from grn_tvcs.combine.features import features_of
from grn_tvcs.combine.likeness import as_row, traits
from grn_tvcs.combine.parts import gather_parts
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS
from tvcs_core.engines import Engine, Job, Threads, results
from tvcs_core.jit.folder import cache_places, open_folder, read_sealed, write_sealed
from tvcs_core.streams import stream

NETWORKS = 12  # of a design
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
        Of their tables; (networks, TRAITS).
    """

    offset: float
    slope: float
    traits: Array


def calibrated(
    combiner: Combiner,
    stamp: str,
    design: Design,
    n_networks: int = NETWORKS,
    *,
    resamples: int,
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
        Of all kinds in turn, at least 1.
    resamples
        Of the lagged regression.
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
        return Calibration(told["offset"], told["slope"], np.array(told["traits"], dtype=float))
    found = calibration_of(
        combiner,
        design,
        n_networks,
        resamples=resamples,
        threads=threads,
        engine=engine,
        progress=progress,
        keep=keep,
        stamp=stamp,
    )
    if folder is not None:
        rows = [[None if np.isnan(x) else x for x in row] for row in found.traits.tolist()]
        told = {"offset": found.offset, "slope": found.slope, "traits": rows}
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
    threads: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Path | None = None,
    stamp: str = "",
) -> Calibration:
    """Calibrate for a design as `calibrated`, whatever is kept of it; `stamp` goes with `keep`."""
    facts = {"model": stamp, "design": design.key, "options": str(resamples)}
    job = Job("networks", _network, (combiner, design, resamples), n_networks, facts)
    found: list[Any] = [None] * n_networks
    engine = Threads(max(1, threads)) if engine is None else engine
    with closing(results([job], engine, keep=keep, progress=progress)) as networks:
        for _, k, network in networks:
            found[k] = network
    logits, truths, rows = zip(*found, strict=True)
    return Calibration(*calibration(logits, truths), np.array(rows))


def _network(state: tuple[Combiner, Design, int], k: int) -> tuple[Array, NDArray[np.bool_], Array]:
    """Log-odds of all pairs of a simulated network, which of them are edges, and its traits."""
    combiner, design, resamples = state
    kinds = tuple(KINDS)
    rng = stream(SEED, "networks of a design", design.key, str(k))
    example = draw_example(design, kinds[k % len(kinds)], rng)
    table = example.expression
    parts = gather_parts(table, example.rules, rng, example.steady, resamples=resamples)
    logits = combiner.logits(features_of(parts), parts.inputs)[parts.allowed]
    truth = example.is_edge[parts.inputs][parts.allowed]
    return logits, truth, as_row(traits(table, example.steady))


def _folder(stamp: str) -> Path | None:
    """Where calibrations with a model are kept; None where no folder is to be trusted."""
    for place in cache_places():
        with contextlib.suppress(OSError):
            return open_folder(place, "grn_tvcs", f"{version('tvcs')}-{stamp[:16]}", "designs")
    return None

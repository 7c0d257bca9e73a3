"""Halves of the data as units of work, which any engine can do and a journal can keep."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from grn_tvcs.stability.edges import Ints
from grn_tvcs.stability.stability import Draws
from grn_tvcs.stability.sums import Evidence, Packed
from tvcs_core.engines import Engine, Job, Threads, one_blas_thread, results

JOURNAL = 4e9  # bytes that all units together may fill in the journal ...
FEWEST_UNITS = 16  # ... where there are more units than these
BYTES_PER_PAIR = 16.0  # of an input and a gene, in a kept unit
BYTES_AT_WORK = 250.0  # per pair of an input and a gene, while a half is solved


def gather(
    draws: Draws,
    rng: np.random.Generator,
    *,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Path | None = None,
) -> list[Evidence]:
    """Evidence of each part of the plan, over all its halves.

    What units find is added up exactly, so that neither their order nor who does them changes
    anything.

    Parameters
    ----------
    draws, rng
        What is drawn, and where its random numbers come from.
    threads, engine
        Who does the units: so many threads, or an engine.
    progress
        Told how many halves are done, and of how many.
    keep
        Folder for the journal of finished units, which are taken from there.
    """
    with one_blas_thread():
        draws = draws.with_pairs(rng)
    sums, job = draws.sums(), halves_job(draws)
    all_halves = 2 * draws.plan.pairs

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(all_halves * done // total, all_halves)

    with closing(
        results([job], engine or Threads(threads), checkpoint_dir=keep, progress=tell)
    ) as found:
        for _, _, arrays in found:
            sums.add(Packed.of_arrays(arrays))
    return sums.evidence()


def halves_job(draws: Draws) -> Job:
    """The work on all pairs of halves; `draws` has its pairs."""
    size = pairs_per_unit(draws)
    return Job(
        "halves",
        solve_pairs,
        (draws, size),
        -(-draws.plan.pairs // size),
        draws.facts | {"pairs of halves in a unit": str(size)},
        BYTES_AT_WORK * draws.allowed.size,
    )


def pairs_per_unit(draws: Draws) -> int:
    """Pairs of halves in a unit: 1, or more where that many kept units would fill the disk.

    It depends on the work alone, so that any number of workers takes up what any other has left.
    """
    return size_of_units(draws.plan.pairs, draws.allowed.size)


def size_of_units(halves: int, size: int) -> int:
    """Pairs of halves in a unit, of so many; `size` is that of inputs x genes."""
    most = max(FEWEST_UNITS, int(JOURNAL / (BYTES_PER_PAIR * max(1, size))))
    return -(-halves // most)


def solve_pairs(state: tuple[Draws, int], unit: int) -> tuple[Ints, ...]:
    """What is found on the pairs of halves of a unit; `Packed.of_arrays` reads it."""
    draws, size = state
    return draws.unit(unit * size, min((unit + 1) * size, draws.plan.pairs)).arrays

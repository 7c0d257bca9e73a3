"""Halves of the data as units of work, for any engine and checkpoint."""

from __future__ import annotations

import numpy as np

from grn_tvcs.stability.edges import Ints
from grn_tvcs.stability.execution import SERIAL, Execution
from grn_tvcs.stability.stability import Draws
from grn_tvcs.stability.sums import Evidence, UnitSums, add_up
from tvcs_core.engines import Job, one_blas_thread

MAX_JOURNAL_BYTES = 4e9  # of all units in the journal ...
MIN_UNITS = 16  # ... if there are more units than these
# Bytes per pair of an input and a gene, measured by `benchmarks.speed.cost`.
BYTES_PER_PAIR = 16.0  # in the checkpoint of a unit
BYTES_AT_WORK = 250.0  # in memory, while a half is solved


def gather(
    draws: Draws,
    rng: np.random.Generator,
    execution: Execution = SERIAL,
) -> list[Evidence]:
    """Return the evidence of each solver of the plan, summed over all halves.

    Results of units are summed exactly, so neither their order nor the engine changes anything.

    Parameters
    ----------
    draws, rng
        Data of the draws, and their random generator.
    execution
        How the units are solved; its progress is told the number of finished halves and the total.
    """
    with one_blas_thread():
        draws = draws.with_pairs(rng)
    [execution] = execution.stages(2 * draws.plan.pairs)
    with execution.results(halves_job(draws)) as found:
        return add_up((UnitSums(*arrays) for _, _, arrays in found), draws.shape)


def halves_job(draws: Draws) -> Job:
    """Return the job of all pairs of halves; `draws` must have its pairs."""
    size = size_of_units(draws.plan.pairs, draws.allowed.size)
    return Job(
        "halves",
        solve_pairs,
        (draws, size),
        -(-draws.plan.pairs // size),
        draws.facts | {"pairs of halves in a unit": str(size)},
        BYTES_AT_WORK * draws.allowed.size,
    )


def size_of_units(pairs: int, size: int) -> int:
    """Return the number of pairs of halves per unit: 1, or more to bound the size of checkpoints.

    It depends on the problem only, so that any number of workers can resume the checkpoints of
    others: on the number of pairs of halves, and on `size`, inputs x genes.
    """
    most = max(MIN_UNITS, int(MAX_JOURNAL_BYTES / (BYTES_PER_PAIR * max(1, size))))
    return -(-pairs // most)


def solve_pairs(state: tuple[Draws, int], unit: int) -> tuple[Ints, ...]:
    """Solve the pairs of halves of a unit; the result has the fields of `UnitSums`."""
    draws, size = state
    return tuple(draws.unit(unit * size, (unit + 1) * size))

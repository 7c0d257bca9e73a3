"""What is known of the whole of a V in blocks once every block was gone through."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvcs_core.constraint import TVCS
from tvcs_core.projection.blocks.ground import Ground
from tvcs_core.projection.blocks.holders import Crew
from tvcs_core.projection.blocks.questions import Sample, Survey, Surveyed
from tvcs_core.projection.entries import SAFE_EXPONENT
from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.exact.sample import fitting, middles
from tvcs_core.projection.kernels.records import Candidates, Counts, Floats, Ints

SAMPLED = 40_000  # entries of the sample at least, or 1/256 of V
LEAST = 32  # rows of the sample, where there are as many


@dataclass(frozen=True)
class Whole:
    """All blocks together.

    Attributes
    ----------
    crew, caps
        The blocks, and the caps of V.
    instance
        Caps, grid and scale as `tvcs_core.projection.exact` has them; its candidates are the
        sample until there is a core.
    fits_all
        Whether every entry of open groups that is not 0 may be kept.
    rows, sample
        Some rows of V, in the order of their numbers, and their values, the largest open one of V
        brought to .5 .. 1.
    """

    crew: Crew
    caps: Counts
    instance: Instance
    fits_all: bool
    rows: Ints
    sample: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Of V."""
        return self.crew.shape

    def ground(self, block: int) -> Ground:
        """What questions to a block begin with."""
        rows, i = self.crew.rows(block), self.instance
        return Ground(rows.start, self.caps.rows[rows], self.caps.cols, self.caps.total, i.grid)

    def ask(self, question: Callable[[Ground, slice], Any]) -> list[Any]:
        """Ask every block the question that is made for its ground and its rows."""
        return self.crew.ask(lambda b: question(self.ground(b), self.crew.rows(b)))


def survey(crew: Crew, constraint: TVCS) -> tuple[Whole | None, float]:
    """Go through all blocks once; None if nothing may be kept. Returns the largest size too.

    Raises
    ------
    DataError
        If an entry is not finite.
    ValueError
        If squares of V need scaling, which blocks do not do.
    """
    row_caps, col_caps, total = constraint.caps
    caps = Counts(row_caps, col_caps, total)
    found: list[Surveyed] = crew.ask(lambda b: Survey(row_caps[crew.rows(b)], col_caps))
    largest = max(x.largest for x in found)
    if abs(math.frexp(largest)[1]) > SAFE_EXPONENT:
        raise ValueError(
            "V: the largest entry of blocks must be between 6e-61 and 1.6e60 in size, "
            f"found {largest:.2g}; scale V"
        )
    largest_open = max(x.largest_open for x in found)
    if largest_open == 0.0 or total == 0:
        return None, largest
    per_row = np.concatenate([x.per_row for x in found]).astype(np.int64)
    per_col: Ints = np.sum([x.per_col for x in found], axis=0, dtype=np.int64)
    fits = bool((per_row <= caps.rows).all() and (per_col <= caps.cols).all())
    fits_all = fits and int(per_row.sum()) <= total
    rows = sample_rows(crew, np.concatenate([x.level for x in found]), col_caps)
    factor = 2.0 ** -math.frexp(largest_open)[1]
    parts = crew.ask(lambda b: Sample(_within(rows, crew.rows(b)), factor))
    sample = np.concatenate(parts).astype(np.float64)
    m = crew.shape[1]
    start = np.arange(rows.size + 1, dtype=np.int64) * m
    columns, keys = np.arange(m, dtype=np.int32), np.zeros(m, np.int64)
    what = Candidates(sample.reshape(-1), start, columns, keys, True, True)
    instance = Instance(what, caps, largest_open, per_row, per_col)
    return Whole(crew, caps, instance, fits_all, rows, sample), largest


def sample_rows(crew: Crew, level: Floats, col_caps: Ints) -> Ints:
    """Rows whose levels stand for those of all, in the order of their numbers."""
    n, m = crew.shape
    count = fitting(col_caps, n, min(n, max(LEAST, SAMPLED // m, n // 256)))
    return np.sort(np.argsort(level, kind="stable")[middles(n, count)])


def _within(rows: Ints, block: slice) -> Ints:
    return rows[slice(*np.searchsorted(rows, [block.start, block.stop]))] - block.start

"""The problem over all blocks, after each was read once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvcs_core.constraint import TVCS
from tvcs_core.projection.blocks.context import BlockContext
from tvcs_core.projection.blocks.questions import SampleRows, Survey, SurveyResult
from tvcs_core.projection.blocks.readers import BlockReaders
from tvcs_core.projection.entries import SAFE_EXPONENT
from tvcs_core.projection.exact.candidates import Instance, close, table_of
from tvcs_core.projection.exact.sample import choose_line_count, stratum_middles
from tvcs_core.projection.kernels.records import Counts, Floats, Ints

MIN_SAMPLE_ENTRIES = 40_000  # as in exact/sample.py, or 1/256 of V
MIN_SAMPLE_ROWS = 32  # if V has as many


@dataclass(frozen=True)
class BlockedProblem:
    """All blocks together.

    Attributes
    ----------
    readers, caps
        The blocks, and the caps of V.
    instance
        Caps, grid and scale for `tvcs_core.projection.exact`; its candidates are the sample until
        there is a core.
    fits_all
        Whether every nonzero entry of open groups may be kept.
    rows, sample
        Sampled rows of V, sorted, and their values, scaled so that the largest open one of V is in
        .5 .. 1.
    """

    readers: BlockReaders
    caps: Counts
    instance: Instance
    fits_all: bool
    rows: Ints
    sample: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of V."""
        return self.readers.shape

    def context(self, block: int) -> BlockContext:
        """Return the context of a block's questions."""
        rows, instance = self.readers.rows(block), self.instance
        return BlockContext(
            rows.start, self.caps.rows[rows], self.caps.cols, self.caps.total, instance.grid
        )

    def ask(self, question: Callable[[BlockContext, slice], Any]) -> list[Any]:
        """Ask every block the question made from its context and its rows."""
        return self.readers.ask(lambda b: question(self.context(b), self.readers.rows(b)))


def survey(readers: BlockReaders, constraint: TVCS) -> tuple[BlockedProblem | None, float]:
    """Read all blocks once; return the problem (None if no entry may be kept) and the largest size.

    Raises
    ------
    DataError
        If an entry is not finite.
    ValueError
        If squares of V need scaling, which blocks do not support.
    """
    row_caps, col_caps, total = constraint.caps
    caps = Counts(row_caps, col_caps, total)
    found: list[SurveyResult] = readers.ask(lambda b: Survey(row_caps[readers.rows(b)], col_caps))
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
    rows = sample_rows(readers, np.concatenate([x.level for x in found]), col_caps)
    factor = 2.0 ** -math.frexp(largest_open)[1]
    parts = readers.ask(lambda b: SampleRows(_within(rows, readers.rows(b)), factor))
    sample = np.concatenate(parts).astype(np.float64)
    close(sample, row_caps[rows], col_caps)
    instance = Instance(table_of(sample, squared=True), caps, largest_open, per_row, per_col)
    return BlockedProblem(readers, caps, instance, fits_all, rows, sample), largest


def sample_rows(readers: BlockReaders, level: Floats, col_caps: Ints) -> Ints:
    """Return sorted rows whose levels represent those of all rows."""
    n, m = readers.shape
    count = choose_line_count(
        col_caps, n, min(n, max(MIN_SAMPLE_ROWS, MIN_SAMPLE_ENTRIES // m, n // 256))
    )
    return np.sort(np.argsort(level, kind="stable")[stratum_middles(n, count)])


def _within(rows: Ints, block: slice) -> Ints:
    return rows[slice(*np.searchsorted(rows, [block.start, block.stop]))] - block.start

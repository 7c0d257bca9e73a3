"""Questions to blocks about counts and prices, each with everything that its answer needs.

A block keeps no state between questions. So any process that can read it can answer any of them,
and a lost reader is replaced by asking again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.blocks import kernels
from tvcs_core.projection.blocks.block import Block
from tvcs_core.projection.blocks.context import BlockContext
from tvcs_core.projection.entries import MAX_INTEGER
from tvcs_core.projection.exact.candidates import close, table_of
from tvcs_core.projection.kernels import sweeps, table
from tvcs_core.projection.kernels.records import Floats, Int32s, Ints, Prices, Thresholds


class SurveyResult(NamedTuple):
    """Largest sizes of all and of open entries; counts and row levels of the open ones."""

    largest: float
    largest_open: float
    per_row: Int32s
    per_col: Int32s
    level: Floats


@dataclass(frozen=True)
class Survey:
    """Check every entry, count the open nonzero ones, and measure the level of every row."""

    row_caps: Ints
    col_caps: Ints

    def answer(self, block: Block) -> SurveyResult:
        """Read the block once."""
        n, m = block.shape
        per_row, per_col = np.zeros(n, np.int64), np.zeros(m, np.int64)
        level, largest, largest_open = np.zeros(n), 0.0, 0.0
        for first, values in block.chunks():
            rows = slice(first, first + len(values))
            size = _largest(block, first, values)
            largest = max(largest, size)
            some = values if size <= 1.0 else values / size
            level[rows] = np.sqrt(np.einsum("ij,ij->i", some, some)) * max(size, 1.0)
            close(values, self.row_caps[rows], self.col_caps)
            candidates = table_of(values, squared=True)
            largest_open = max(largest_open, table.survey(candidates, per_row[rows], per_col))
        counts = per_row.astype(np.int32), per_col.astype(np.int32)
        return SurveyResult(largest, largest_open, *counts, level)


def _largest(block: Block, first: int, values: Floats) -> float:
    """Return the largest size in a chunk; raise if an entry is not finite or not exact."""
    largest = max(-float(values.min()), float(values.max()))  # NaN if any entry is
    if not np.isfinite(largest):
        row, col = np.argwhere(~np.isfinite(values))[0].tolist()
        raise block.error(f"must be finite, found {values[row, col]} at [{first + row}, {col}]")
    if block.dtype.kind in "iu" and largest > MAX_INTEGER:
        raise block.error(f"integers must be at most 2**53 in size, found {largest:.0f}")
    return largest


@dataclass(frozen=True)
class SampleRows:
    """Send some rows, scaled and in float32, since they only give first prices."""

    rows: Ints
    factor: float

    def answer(self, block: Block) -> NDArray[np.float32]:
        """Read only these rows."""
        return (block.take(self.rows) * self.factor).astype(np.float32)


class RowThresholds(NamedTuple):
    """Thresholds of the rows, values some ranks off, and a sample of the values above."""

    at: Floats
    low: Floats
    high: Floats
    wanted: Floats


@dataclass(frozen=True)
class PriceRows:
    """Find the threshold between each row's best entries and the others, given column prices."""

    context: BlockContext
    col_price: Floats
    width: int
    step: int

    def answer(self, block: Block) -> RowThresholds:
        """Read the block once; rows are complete, so thresholds are exact."""
        grid, col_price = self.context.grid, np.array(self.col_price)
        found = Thresholds(*(self.context.placed(np.zeros(block.shape[0])) for _ in range(3)))
        wanted = []
        for chunk in self.context.chunks(block):
            arguments = (grid, col_price, self.width, chunk.first, chunk.last, found)
            sweeps.sweep_rows(chunk.candidates, chunk.caps, *arguments)
            rows = chunk.last - chunk.first
            pool = np.empty(rows * (block.shape[1] // self.step + 1))
            sampled = (found.at, self.step, chunk.first, pool)
            n = kernels.sample_wanted(chunk.candidates, grid, col_price, *sampled)
            wanted.append(pool[:n].copy())
        at, low, high = (x[self.context.first :] for x in found)
        return RowThresholds(at, low, high, np.concatenate(wanted))


class ColumnCounts(NamedTuple):
    """Per column: counts between the levels, and some values drawn from above the second level."""

    counts: Int32s
    seen: Int32s
    drawn: NDArray[Any]


@dataclass(frozen=True)
class CountColumns:
    """Count the entries of some columns between levels, given the row prices."""

    context: BlockContext
    row_price: Floats
    columns: Ints
    levels: Floats
    draws: int

    def answer(self, block: Block) -> ColumnCounts:
        """Read the block once."""
        columns, levels, grid = np.array(self.columns), np.array(self.levels), self.context.grid
        counts, seen = np.zeros(levels.shape, np.int64), np.zeros(columns.size, np.int64)
        drawn = np.full((columns.size, self.draws), np.inf)
        row_price, sample = self.context.placed(self.row_price), kernels.Reservoir(seen, drawn)
        for chunk in self.context.chunks(block):
            arguments = (chunk.candidates, grid, row_price, columns, levels)
            kernels.count_between(*arguments, chunk.first, counts, sample)
        # Draws only suggest the next levels; all digits matter only if nudged gains differ.
        short = drawn if grid.nudged else drawn.astype(np.float32)
        return ColumnCounts(counts.astype(np.int32), seen.astype(np.int32), short)


@dataclass(frozen=True)
class AllBits:
    """Send the bits that any gain on the grid has set."""

    context: BlockContext

    def answer(self, block: Block) -> int:
        """Read the block once."""
        bits = 0
        for chunk in self.context.chunks(block):
            bits |= int(table.all_bits(chunk.candidates, self.context.grid))
        return bits


class ClosedPrices(NamedTuple):
    """Prices of the groups with cap 0; 0 for others."""

    rows: Floats
    cols: Floats


@dataclass(frozen=True)
class PriceClosed:
    """Price the groups with cap 0 at the value of their best entry."""

    row_caps: Ints
    col_caps: Ints
    prices: Prices

    def answer(self, block: Block) -> ClosedPrices:
        """Read the block once."""
        u, w, price = self.prices
        rows, cols = np.zeros(block.shape[0]), np.zeros(block.shape[1])
        closed_row, closed_col = self.row_caps == 0, self.col_caps == 0
        for first, values in block.chunks():
            at = slice(first, first + len(values))
            gains = np.square(values)
            of_cols = _worth(gains[:, closed_col], (u[at] + price)[:, None])
            cols[closed_col] = np.maximum(cols[closed_col], of_cols.max(axis=0))
            gains, shut = gains[:, ~closed_col], closed_row[at]
            of_rows = _worth(gains[shut], w[~closed_col] + price)
            rows[at][shut] = of_rows.max(axis=1, initial=0.0)
        return ClosedPrices(rows, cols)


def _worth(gains: Floats, others: Floats) -> Floats:
    """Return gains minus the other prices, rounded so that the difference is never too small."""
    price = gains - others
    is_exact = (price + others == gains) & (gains - price == others)
    return np.where(is_exact, price, price + gains * 2.0**-50)

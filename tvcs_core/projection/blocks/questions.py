"""What blocks are asked about counts and prices: each question says all that its answer needs.

A block keeps nothing between two questions, so any process that can read it can answer any of them,
and one that is lost is replaced by asking again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.blocks import kernels
from tvcs_core.projection.blocks.block import Block
from tvcs_core.projection.blocks.ground import Ground
from tvcs_core.projection.entries import LARGEST_INTEGER
from tvcs_core.projection.kernels import blocks, table
from tvcs_core.projection.kernels.records import (
    Candidates,
    Counts,
    Floats,
    Int32s,
    Ints,
    Prices,
    Thresholds,
)


class Surveyed(NamedTuple):
    """Largest size of all entries and of those in open groups, counts and levels of these."""

    largest: float
    largest_open: float
    per_row: Int32s
    per_col: Int32s
    level: Floats


@dataclass(frozen=True)
class Survey:
    """Check every entry; count those that may be kept, and say how large rows are."""

    row_caps: Ints
    col_caps: Ints

    def answer(self, block: Block) -> Surveyed:
        """Go through the block once."""
        n, m = block.shape
        per_row, per_col = np.zeros(n, np.int64), np.zeros(m, np.int64)
        level, largest, largest_open = np.zeros(n), 0.0, 0.0
        columns, keys = np.arange(m, dtype=np.int32), np.zeros(m, np.int64)
        col_caps = np.array(self.col_caps)
        for first, values in block.pieces():
            rows = slice(first, first + len(values))
            size = _largest(block, first, values)
            largest = max(largest, size)
            start = np.arange(len(values) + 1, dtype=np.int64) * m
            what = Candidates(values.reshape(-1), start, columns, keys, True, True)
            caps = Counts(np.array(self.row_caps[rows]), col_caps, 1)
            largest_open = max(largest_open, table.survey(what, caps, per_row[rows], per_col))
            some = values if size <= 1.0 else values / size
            level[rows] = np.sqrt(np.einsum("ij,ij->i", some, some)) * max(size, 1.0)
        counts = per_row.astype(np.int32), per_col.astype(np.int32)
        return Surveyed(largest, largest_open, *counts, level)


def _largest(block: Block, first: int, values: Floats) -> float:
    """The largest size in a piece, refused if it is not finite or no number of float64."""
    largest = max(-float(values.min()), float(values.max()))  # a NaN is the least and the largest
    if not np.isfinite(largest):
        row, col = np.argwhere(~np.isfinite(values))[0].tolist()
        raise block.error(f"must be finite, found {values[row, col]} at [{first + row}, {col}]")
    if block.dtype.kind in "iu" and largest > LARGEST_INTEGER:
        raise block.error(f"integers must be at most 2**53 in size, found {largest:.0f}")
    return largest


@dataclass(frozen=True)
class Sample:
    """Send some rows, times a factor and in few digits: only first prices come of them."""

    rows: Ints
    factor: float

    def answer(self, block: Block) -> NDArray[np.float32]:
        """Read them alone."""
        return (block.take(self.rows) * self.factor).astype(np.float32)


class RowBlock(NamedTuple):
    """Thresholds of the rows with the values about them, and a sample of what rows want."""

    at: Floats
    low: Floats
    high: Floats
    wanted: Floats


@dataclass(frozen=True)
class PriceRows:
    """Find what separates each row's best entries from the others, given the column prices."""

    ground: Ground
    col_price: Floats
    width: int
    step: int

    def answer(self, block: Block) -> RowBlock:
        """Go through the block once; rows are whole, so this is exact."""
        grid, col_price = self.ground.grid, np.array(self.col_price)
        found = Thresholds(*(self.ground.placed(np.zeros(block.shape[0])) for _ in range(3)))
        wanted = []
        for piece in self.ground.pieces(block):
            what = (piece.candidates, piece.caps, grid, col_price)
            blocks.row_block(*what, self.width, piece.first, piece.last, found)
            rows = piece.last - piece.first
            pool = np.empty(rows * (block.shape[1] // self.step + 1))
            n = kernels.sample_wanted(*what, found.at, self.step, piece.first, pool)
            wanted.append(pool[:n].copy())
        at, low, high = (x[self.ground.first :] for x in found)
        return RowBlock(at, low, high, np.concatenate(wanted))


class Counted(NamedTuple):
    """Per column: entries between the levels, and some values drawn from those above the second."""

    counts: Int32s
    seen: Int32s
    drawn: NDArray[Any]


@dataclass(frozen=True)
class CountColumns:
    """Count the entries of some columns between levels, given the row prices."""

    ground: Ground
    row_price: Floats
    columns: Ints
    levels: Floats
    draws: int

    def answer(self, block: Block) -> Counted:
        """Go through the block once."""
        columns, levels, grid = np.array(self.columns), np.array(self.levels), self.ground.grid
        counts, seen = np.zeros(levels.shape, np.int64), np.zeros(columns.size, np.int64)
        drawn = np.full((columns.size, self.draws), np.inf)
        row_price, sample = self.ground.placed(self.row_price), kernels.Drawn(seen, drawn)
        for piece in self.ground.pieces(block):
            what = (piece.candidates, piece.caps, grid, row_price, columns, levels)
            kernels.count_between(*what, piece.first, counts, sample)
        # They say where to look next: that nudged gains differ takes all digits, else few do.
        short = drawn if grid.nudged else drawn.astype(np.float32)
        return Counted(counts.astype(np.int32), seen.astype(np.int32), short)


@dataclass(frozen=True)
class AllBits:
    """Say which bits any gain on the grid has set."""

    ground: Ground

    def answer(self, block: Block) -> int:
        """Go through the block once."""
        bits, ground = 0, self.ground
        for piece in ground.pieces(block):
            rows = slice(piece.first, piece.last)
            what = piece.candidates._replace(start=piece.candidates.start[piece.first :].copy())
            caps = piece.caps._replace(rows=piece.caps.rows[rows].copy())
            bits |= int(table.all_bits(what, caps, ground.grid))
        return bits


class Closed(NamedTuple):
    """Prices of the groups that may keep nothing; 0 for others."""

    rows: Floats
    cols: Floats


@dataclass(frozen=True)
class PriceClosed:
    """Price the groups that may keep nothing at what their best entry is worth."""

    row_caps: Ints
    col_caps: Ints
    prices: Prices

    def answer(self, block: Block) -> Closed:
        """Go through the block once."""
        u, w, price = self.prices
        rows, cols = np.zeros(block.shape[0]), np.zeros(block.shape[1])
        closed_row, closed_col = self.row_caps == 0, self.col_caps == 0
        for first, values in block.pieces():
            at = slice(first, first + len(values))
            gains = np.square(values)
            of_cols = _worth(gains[:, closed_col], (u[at] + price)[:, None])
            cols[closed_col] = np.maximum(cols[closed_col], of_cols.max(axis=0))
            gains, shut = gains[:, ~closed_col], closed_row[at]
            of_rows = _worth(gains[shut], w[~closed_col] + price)
            rows[at][shut] = of_rows.max(axis=1, initial=0.0)
        return Closed(rows, cols)


def _worth(gains: Floats, others: Floats) -> Floats:
    """What is left of gains once other prices are off, no less than that, rounding included."""
    price = gains - others
    is_exact = (price + others == gains) & (gains - price == others)
    return np.where(is_exact, price, price + gains * 2.0**-50)

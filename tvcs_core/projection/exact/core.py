"""The core: entries near their threshold, of which a first feasible support is kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance, Ints, longer
from tvcs_core.projection.exact.prices import Listed, Prices, Room, sweep
from tvcs_core.projection.kernels import prices, start, table


@dataclass(frozen=True)
class Core:
    """Entries near their threshold, those of them kept, and what every group keeps in all."""

    row: NDArray[np.int32]
    col: NDArray[np.int32]
    place: Ints
    kept: NDArray[np.bool_]
    row_load: Ints
    col_load: Ints
    prices: Prices
    is_tight: bool = False  # whether every entry is worth just its prices


@dataclass(frozen=True)
class Overfull:
    """Groups that entries above the core overfill already."""

    rows: Ints
    cols: Ints

    @property
    def size(self) -> int:
        """How many there are."""
        return self.rows.size + self.cols.size


def build_core(i: Instance, near: Prices, keep: NDArray[np.bool_]) -> Core | Overfull:
    """List what is near the prices, fill in `keep`, and fit it into the caps."""
    t = i.t
    n, m = t.shape
    listed, place, row_taken, col_taken = list_near(i, near, keep)
    row, col = listed.row, listed.col
    rows, cols, taken = t.row_caps - row_taken, t.col_caps - col_taken, int(row_taken.sum())
    swept = sweep(listed, near, Room(rows, cols, i.fits - taken), "rcrcrc")
    kept = fit(listed, swept, Room(rows, cols, t.total - taken))
    if kept is None:
        return Overfull(
            np.flatnonzero(row_taken > t.row_caps), np.flatnonzero(col_taken > t.col_caps)
        )
    keep[place] = kept
    row_load = row_taken + np.bincount(row[kept], minlength=n)
    col_load = col_taken + np.bincount(col[kept], minlength=m)
    return Core(row, col, place, kept, row_load, col_load, swept)


def list_near(i: Instance, near: Prices, keep: NDArray[np.bool_]) -> tuple[Listed, Ints, Any, Any]:
    """Entries near the prices, their places, and how many above them rows and columns have."""
    t = i.t
    n, m = t.shape
    size = min(t.values.size, t.values.size // 16 + 4 * int(np.diff(t.start).max()) + 1000)
    row, col, gains = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    place = np.empty(size, np.int64)
    row_taken, col_taken = np.zeros(n, np.int64), np.zeros(m, np.int64)
    at, found = 0, 0
    col_price = np.where(i.closed_col, np.inf, near.cols)
    while at < n:
        at, found = table.band(
            *t.layout, *i.gains, i.closed_row, near.rows, col_price, near.total, near.below_rows,
            near.above_rows, near.below_cols, near.above_cols, near.below_total, near.above_total,
            at, n, keep, row_taken, col_taken, row, col, gains, place, found,
        )  # fmt: skip
        if at < n:
            grown = min(t.values.size, 2 * row.size)
            row, col, gains, place = (longer(x, grown) for x in (row, col, gains, place))
    row, col, gains, place = row[:found], col[:found], gains[:found], place[:found]
    row_start = np.searchsorted(row, np.arange(n + 1)).astype(np.int64)
    return Listed(row, col, gains, row_start), place, row_taken, col_taken


def fit(listed: Listed, near: Prices, room: Room) -> NDArray[np.bool_] | None:
    """Keep what is worth the prices and fits; None if what is above the core does not fit."""
    m = near.cols.size
    by_col, col_start = np.empty(listed.row.size, np.int32), np.empty(m + 1, np.int64)
    prices.by_column(listed.col, m, col_start, by_col)
    kept = np.empty(listed.row.size, bool)
    settled = start.settle(
        listed.row, listed.col, listed.gains, listed.row_start, col_start, by_col, near.rows,
        near.cols, near.total, room.rows, room.cols, room.total, kept,
    )  # fmt: skip
    return kept if settled else None

"""The core: entries near their threshold, of which a first feasible support is kept."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance, longer
from tvcs_core.projection.exact.prices import Near, by_col, by_row, sweep
from tvcs_core.projection.kernels import start, table
from tvcs_core.projection.kernels.records import Counts, Ints, Listed, Support


@dataclass(frozen=True)
class Core:
    """Entries near their threshold, those of them kept, and what every group keeps in all."""

    listed: Listed
    kept: NDArray[np.bool_]
    load: Counts
    near: Near


@dataclass(frozen=True)
class Overfull:
    """Groups that entries above the core overfill already; none if too many are near to say."""

    rows: Ints
    cols: Ints

    @property
    def size(self) -> int:
        """How many there are."""
        return self.rows.size + self.cols.size


NO_GROUPS = Overfull(np.empty(0, np.int64), np.empty(0, np.int64))


def build_core(
    i: Instance, near: Near, keep: NDArray[np.bool_], most: int | None = None
) -> Core | Overfull:
    """List what is near the prices, `most` at most; fill in `keep`, and fit it into the caps."""
    n, m = i.shape
    taken = Support(keep, np.zeros(n, np.int64), np.zeros(m, np.int64))
    listed = list_near(i, near, taken, most)
    if most is not None and listed.row.size > most:
        return NO_GROUPS
    rows, cols = by_row(listed, n), by_col(listed, m)
    above = int(taken.row_load.sum())
    room = Counts(i.caps.rows - taken.row_load, i.caps.cols - taken.col_load, i.caps.total - above)
    swept = sweep(listed, rows, cols, near.prices, room._replace(total=i.fits - above))
    kept = np.empty(listed.row.size, bool)
    if not start.settle(listed, rows, cols, swept.prices, room, kept):
        return Overfull(np.flatnonzero(room.rows < 0), np.flatnonzero(room.cols < 0))
    keep[listed.place] = kept
    row_load = taken.row_load + np.bincount(listed.row[kept], minlength=n)
    col_load = taken.col_load + np.bincount(listed.col[kept], minlength=m)
    return Core(listed, kept, Counts(row_load, col_load, int(row_load.sum())), swept)


def list_near(i: Instance, near: Near, taken: Support, most: int | None = None) -> Listed:
    """Entries near the prices, not all if more than `most`; those above them are `taken`."""
    size, lines = i.candidates.values.size, np.diff(i.candidates.start)
    room = min(size, size // 16 + 4 * int(lines.max()) + 1000)
    row, col = np.empty(room, np.int32), np.empty(room, np.int32)
    listed = Listed(row, col, np.empty(room, np.int64), np.empty(room))
    prices = near.prices._replace(cols=np.where(i.closed_col, np.inf, near.prices.cols))
    at, found = 0, 0
    while at < i.shape[0]:
        at, found = table.list_band(
            i.candidates, i.caps, i.grid, prices, near.band, at, taken, listed, found
        )
        if most is not None and found > most:
            break
        if at < i.shape[0]:
            grown = min(size, 2 * listed.row.size)
            listed = Listed._make(longer(x, grown) for x in listed)
    return Listed._make(x[:found] for x in listed)

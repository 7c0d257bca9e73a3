"""First prices by alternating sweeps over rows and columns, and the band around each threshold."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tvcs_core.projection.exact.candidates import Instance, PricedSupport, room_for
from tvcs_core.projection.exact.sample import (
    MAX_LISTED_ENTRIES,
    MIN_SAMPLED_LINES,
    count_sample_lines,
    sample_of,
    sample_size,
)
from tvcs_core.projection.kernels import prices, sweeps, table
from tvcs_core.projection.kernels.records import (
    Band,
    Candidates,
    Counts,
    EntryList,
    Floats,
    Ints,
    Lines,
    Prices,
    Side,
    Thresholds,
    TotalPrice,
)

SWEEPS = 3  # over a list, each over rows and columns


@dataclass(frozen=True)
class CoreBand:
    """Prices, and the band of reduced costs around them that defines the core."""

    prices: Prices
    band: Band

    def widened(self, times: float, full_rows: Ints, full_cols: Ints) -> "CoreBand":
        """Return the same prices with bands `times` as wide, unbounded above the given lines."""
        band = Band._make(times * reach for reach in self.band)
        band.above_rows[full_rows], band.above_cols[full_cols] = np.inf, np.inf
        return CoreBand(self.prices, band)

    def unbounded(self) -> "CoreBand":
        """Return the same prices with a band that contains every entry."""
        rows, cols = np.full(self.prices.rows.size, np.inf), np.full(self.prices.cols.size, np.inf)
        return CoreBand(self.prices, Band(rows, rows, cols, cols, 0.0, 0.0))


def first_prices(
    instance: Instance, solve: Callable[[Candidates, Counts], PricedSupport]
) -> CoreBand:
    """Return first prices; `solve` solves the sample of a large table."""
    n, m = instance.shape
    is_sampled = instance.has_long_lines and max(n, m) >= MIN_SAMPLED_LINES
    if instance.open_size <= MAX_LISTED_ENTRIES and not is_sampled:
        return listed_prices(instance)
    # The sample has priced the shorter side, so the longer side is swept first.
    return full_sweeps(instance, sampled_prices(instance, solve), rows_first=n > m, count=4)


def zero_prices(n: int, m: int) -> Prices:
    """Return prices of zero."""
    return Prices(np.zeros(n), np.zeros(m), 0.0)


def listed_prices(instance: Instance) -> CoreBand:
    """Return prices from sweeps over a list of all open nonzero entries."""
    (n, m), listed = instance.shape, room_for(instance.open_size)
    rows = Lines(np.empty(n + 1, np.int64), np.empty(0, np.int32))
    table.list_open(instance.candidates, instance.grid, 0.0, listed, rows.start)
    room = instance.caps._replace(total=instance.capacity)
    return sweep_list(listed, rows, col_lines(listed, m), zero_prices(n, m), room)


def row_lines(listed: EntryList, n: int) -> Lines:
    """Return the rows of a list, which is sorted by row."""
    start = np.searchsorted(listed.row, np.arange(n + 1)).astype(np.int64)
    return Lines(start, np.empty(0, np.int32))


def col_lines(listed: EntryList, m: int) -> Lines:
    """Return the columns of a list."""
    start, order = np.empty(m + 1, np.int64), np.empty(listed.row.size, np.int32)
    prices.by_column(listed.col, m, start, order)
    return Lines(start, order)


def sampled_prices(
    instance: Instance, solve: Callable[[Candidates, Counts], PricedSupport]
) -> Prices:
    """Return prices of the shorter side, from an exact solution of a sample of the longer one."""
    n, m = instance.shape
    found = solve(*sample_of(instance, count_sample_lines(instance)))
    rows = found.row_duals[:n] * instance.scale if n <= m else np.zeros(n)
    cols = found.col_duals[:m] * instance.scale if n > m else np.zeros(m)
    return Prices(rows, cols, found.total_dual * instance.scale)


def full_sweeps(instance: Instance, guess: Prices, rows_first: bool, count: int) -> CoreBand:
    """Return prices from `count` alternating sweeps over a dense table; the total's by a sample."""
    size = instance.candidates.values.size
    step = -(-size // sample_size(size))
    n, m = instance.shape
    caps = instance.caps._replace(total=instance.capacity)
    arguments = (instance.candidates, caps, instance.grid)
    rows, cols = Thresholds(*np.zeros((3, n))), Thresholds(*np.zeros((3, m)))
    row_price, col_price = guess.rows, guess.cols
    zero_row, zero_col = np.zeros(n), np.zeros(m)
    for turn in range(count):
        of_rows = rows_first == (turn % 2 == 0)
        if of_rows:
            chunk = max(1, 10_000_000 // m)
            for r in range(0, n, chunk):
                sweeps.sweep_rows(*arguments, col_price, width(m), r, min(r + chunk, n), rows)
            used, at = Prices(zero_row, col_price, 0.0), (rows.at, zero_col)
        else:
            chunk = max(1, 10_000_000 // n // 32) * 32
            for c in range(0, m, chunk):
                sweeps.sweep_columns(*arguments, row_price, width(n), c, min(c + chunk, m), cols)
            used, at = Prices(row_price, zero_col, 0.0), (zero_row, cols.at)
        # If the lines want no more than fits, the total takes everything, at price 0.
        total = low = high = 0.0
        wanted = instance.row_capacity if of_rows else instance.col_capacity
        if step > 1 or instance.capacity < wanted:
            total_width = 2 + 3 * int(np.sqrt(instance.capacity // step))
            total, low, high = sweeps.price_total(*arguments, used, *at, step, total_width)
        if of_rows:
            row_price = np.maximum(rows.at - total, 0.0)
            row_band = band_around(row_price, total, low, high, rows.low, rows.high)
        else:
            col_price = np.maximum(cols.at - total, 0.0)
            col_band = band_around(col_price, total, low, high, cols.low, cols.high)
    above_total = high - total if total > 0.0 else 0.0
    band = Band(*row_band, *col_band, total - low, above_total)
    return CoreBand(Prices(row_price, col_price, total), band)


def width(size: int) -> int:
    """Return the number of ranks about its threshold that a line of this size adds to the core."""
    return max(3, int(0.2 * np.sqrt(size)))


def sweep_list(
    listed: EntryList,
    rows: Lines,
    cols: Lines,
    guess: Prices,
    room: Counts,
) -> CoreBand:
    """Return prices from alternating sweeps over a list, with their band.

    Only the last round computes the band.
    """
    size, n, m = listed.row.size, room.rows.size, room.cols.size
    row_by_col, gains_by_col = listed.row[cols.order], listed.gains[cols.order]
    pools = np.empty(size + 1), np.empty(size + 1)
    u, w, price = guess.rows.copy(), guess.cols.copy(), guess.total
    by_rows = Side(rows.start, listed.col, listed.gains, w, room.rows, 0, u, *np.empty((2, n)))
    by_cols = Side(cols.start, row_by_col, gains_by_col, u, room.cols, 0, w, *np.empty((2, m)))
    sides = by_rows, by_cols
    at_once = SWEEPS - 1 if size <= MAX_LISTED_ENTRIES else 1  # Ctrl-C is answered between calls
    for _ in range(0, SWEEPS - 1, at_once):
        price = prices.alternate_sweeps(*sides, at_once, room.total, 0, price, *pools)[3]
    first, second = (at._replace(width=width(size // max(at.caps.size, 1))) for at in sides)
    total_width = 2 + 2 * int(np.sqrt(max(room.total, 0)))
    found = prices.alternate_sweeps(first, second, 1, room.total, total_width, price, *pools)
    totals = TotalPrice(*found[:3]), TotalPrice(*found[3:])
    row_band, col_band = (
        band_around(at.price, of.price, of.low, of.high, at.low, at.high)
        for at, of in zip((first, second), totals, strict=True)
    )
    _, (price, low, high) = totals
    above_total = high - price if price > 0.0 else 0.0
    return CoreBand(Prices(u, w, price), Band(*row_band, *col_band, price - low, above_total))


def band_around(
    line_price: Floats, total: float, total_low: float, total_high: float, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Return the distances from each line's price to values some ranks below and above."""
    at = line_price + total
    reach = line_price + (total - total_low)
    return np.maximum(np.minimum(at - low, reach), 0.0), np.maximum(high - at, 0.0)

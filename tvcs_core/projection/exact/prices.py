"""First prices: by blocks of rows and columns in turn, and what is near each threshold."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvcs_core.projection.exact.candidates import NEVER, Exact, Instance, gains_of
from tvcs_core.projection.exact.sample import (
    LISTED,
    MANY,
    count_drawn,
    sample_of,
    sample_size,
)
from tvcs_core.projection.kernels import blocks, prices, table
from tvcs_core.projection.kernels.records import (
    Band,
    Candidates,
    Counts,
    Floats,
    Lines,
    Listed,
    Prices,
    Side,
    Thresholds,
)

LOOKED_AT = 24  # lines of a side by which prices are judged
LEVELS = 50  # lines of the shorter side by which the levels of lines are compared
DIFFERENT = 4.0  # times the variance of one side's means that of the other is, to say which begins


@dataclass(frozen=True)
class Near:
    """Prices, and how far from its threshold an entry is near it.

    Attributes
    ----------
    level
        A typical gain of the table that they are for.
    left
        How many phases the scan took after blocks of that table; None if they were not asked.
    kept
        How many entries its support has.
    """

    prices: Prices
    band: Band
    level: float = 0.0
    left: int | None = None
    kept: int = 0

    def wider(self, times: float, full_rows: Any = (), full_cols: Any = ()) -> "Near":
        """Return the same prices with a wider band, above some lines without an end."""
        band = Band._make(times * reach for reach in self.band)
        band.above_rows[list(full_rows)], band.above_cols[list(full_cols)] = np.inf, np.inf
        return Near(self.prices, band)

    def at_level(self, level: float) -> "Near":
        """Return the prices for a table whose typical gain is another, within 0 .. 1.

        The level tells by which power of two the caller has scaled this table and that one.
        """
        times = self.level / level if self.level > 0.0 and level > 0.0 else 1.0
        times = 2.0 ** -np.rint(np.log2(times)) if 0.0 < times < np.inf else 1.0

        # NaN becomes 1: a bad price costs time only.
        def within(numbers: Any) -> Any:
            return np.fmax(np.fmin(times * numbers, 1.0), 0.0)

        (u, w, price), band = self.prices, self.band
        with np.errstate(all="ignore"):
            prices = Prices(within(u), within(w), float(within(price)))
            band = Band._make(map(within, band))
        band = band._replace(
            below_total=float(band.below_total), above_total=float(band.above_total)
        )
        return Near(prices, band, level, self.left, self.kept)

    def everything(self) -> "Near":
        """Return the same prices with everything near them."""
        rows, cols = np.full(self.prices.rows.size, np.inf), np.full(self.prices.cols.size, np.inf)
        return Near(self.prices, Band(rows, rows, cols, cols, 0.0, 0.0))


def first_prices(
    i: Instance, solve: Callable[[Candidates, Counts], Exact], guess: Prices | None = None
) -> Near:
    """Prices to begin with; `solve` is this solver, for a sample of a large table without a guess.

    A guess is asked of no list.
    """
    n, m = i.shape
    is_sampled = i.has_long_lines and max(n, m) >= MANY
    if i.open_size <= LISTED and not is_sampled:
        return listed_prices(i, no_prices(n, m), rows_first=begins_with_rows(i, otherwise=True))
    guess = sampled_prices(i, solve) if guess is None else guess
    if i.candidates.dense:
        # The sample has priced the shorter side, so that the longer one's block comes first.
        last_too = begins_with_rows(i, otherwise=n > m) == (n > m)
        return full_blocks(i, guess, rows_first=n > m, count=4 if last_too else 3)
    return listed_prices(i, guess, rounds=2, rows_first=n > m)


def begins_with_rows(i: Instance, otherwise: bool) -> bool:
    """Whether blocks of a table with ties begin with rows; `otherwise` if neither side says so.

    If columns are worth more or less as a whole, all rows want the same ones, and a block of rows
    says of them no more than that: every block of columns then moves the prices of a few. So the
    side whose lines differ begins.
    """
    if not (i.candidates.dense and i.grid.nudged):
        return otherwise
    matrix = i.candidates.values.reshape(i.shape)
    apart = -(-min(i.shape) // LEVELS)
    with np.errstate(all="ignore"):  # NaN from huge values in groups that may keep nothing
        some = np.abs(matrix[::apart, ::apart]) * i.grid.factor
        of_rows, of_cols = float(some.mean(axis=1).var()), float(some.mean(axis=0).var())
    if max(of_rows, of_cols) > DIFFERENT * min(of_rows, of_cols):
        return of_rows > of_cols
    return otherwise


def has_jumps(i: Instance) -> bool:
    """Whether a price of the total that is a little off takes lines in, or leaves them, as wholes.

    A sample is off by ten of a thousand equal rows, and from there it is 300,000 pivots.
    """
    return i.candidates.dense and i.has_equal_lines and i.fits == i.caps.total


def no_prices(n: int, m: int) -> Prices:
    """Nothing is known."""
    return Prices(np.zeros(n), np.zeros(m), 0.0)


def listed_prices(i: Instance, guess: Prices, rounds: int = 3, rows_first: bool = True) -> Near:
    """Prices by blocks over a list of all open nonzero entries."""
    size, none = i.open_size, np.empty(0, np.int64)
    listed = Listed(np.empty(size, np.int32), np.empty(size, np.int32), none, np.empty(size))
    rows = Lines(np.empty(guess.rows.size + 1, np.int64), np.empty(0, np.int32))
    table.list_open(i.candidates, i.caps, i.grid, listed, rows.start)
    room = i.caps._replace(total=i.fits)
    cols = by_col(listed, guess.cols.size)
    return sweep(listed, rows, cols, guess, room, rounds, rows_first)


def by_row(listed: Listed, n: int) -> Lines:
    """The rows of a list, which is in their order."""
    start = np.searchsorted(listed.row, np.arange(n + 1)).astype(np.int64)
    return Lines(start, np.empty(0, np.int32))


def by_col(listed: Listed, m: int) -> Lines:
    """The columns of a list."""
    start, order = np.empty(m + 1, np.int64), np.empty(listed.row.size, np.int32)
    prices.by_column(listed.col, m, start, order)
    return Lines(start, order)


def sampled_prices(i: Instance, solve: Callable[[Candidates, Counts], Exact]) -> Prices:
    """Prices of the shorter side, from an exact solution for a sample of the longer one."""
    n, m = i.shape
    sample = sample_of(i, count_drawn(i))
    if sample is None:
        return no_prices(n, m)
    found = solve(*sample)
    rows = found.row_duals[:n] * i.scale if n <= m else np.zeros(n)
    cols = found.col_duals[:m] * i.scale if n > m else np.zeros(m)
    return Prices(rows, cols, found.total_dual * i.scale)


def full_blocks(
    i: Instance, guess: Prices, rows_first: bool, count: int, sampled: int | None = None
) -> Near:
    """`count` blocks of either side in turn over a dense table; the total's price by a sample."""
    sampled = sample_size(i.candidates.values.size) if sampled is None else sampled
    n, m = i.shape
    what = (i.candidates, i.caps._replace(total=i.fits), i.grid)
    rows, cols = Thresholds(*np.zeros((3, n))), Thresholds(*np.zeros((3, m)))
    # What may keep nothing is out of the question for the other side.
    row_price, col_price = guess.rows, np.where(i.closed_col, NEVER, guess.cols)
    zero_row, zero_col = np.zeros(n), np.zeros(m)
    for turn in range(count):
        of_rows = rows_first == (turn % 2 == 0)
        is_whole = has_jumps(i) and turn >= count - 2
        step = 1 if is_whole else -(-i.candidates.values.size // sampled)
        if of_rows:
            chunk = max(1, 10_000_000 // m)
            for r in range(0, n, chunk):
                blocks.row_block(*what, col_price, width(m), r, min(r + chunk, n), rows)
            used, at = Prices(zero_row, col_price, 0.0), (rows.at, zero_col)
        else:
            chunk = max(1, 10_000_000 // n // 32) * 32
            for c in range(0, m, chunk):
                blocks.column_block(*what, row_price, width(n), c, min(c + chunk, m), cols)
            used, at = Prices(row_price, zero_col, 0.0), (zero_row, cols.at)
        # What the lines want is no more than fits: then the total takes all of it, at price 0.
        total = low = high = 0.0
        if step > 1 or i.fits < (i.fit_rows if of_rows else i.fit_cols):
            total_width = 2 + 3 * int(np.sqrt(i.fits // step))
            total, low, high = blocks.total_block(*what, used, *at, step, total_width)
        if of_rows:
            row_price = np.maximum(rows.at - total, 0.0)
            near_rows = band_about(row_price, total, low, high, rows.low, rows.high)
        else:
            col_price = np.maximum(cols.at - total, 0.0)
            near_cols = band_about(col_price, total, low, high, cols.low, cols.high)
            col_price[i.closed_col] = NEVER
    above_total = high - total if total > 0.0 else 0.0
    band = Band(*near_rows, *near_cols, total - low, above_total)
    return Near(Prices(row_price, np.where(i.closed_col, 0.0, col_price), total), band)


def imbalance(i: Instance, prices: Prices) -> float:
    """How many entries a group with a price keeps too many or too few by the prices.

    The mean of some rows of a dense table or of some columns, whichever is off by more.
    """
    matrix = i.candidates.values.reshape(i.shape)
    row_price = np.where(i.closed_row, NEVER, prices.rows)
    col_price = np.where(i.closed_col, NEVER, prices.cols)
    off = 0.0
    for values, price, across, caps in (
        (matrix, row_price, col_price, i.caps.rows),
        (matrix.T, col_price, row_price, i.caps.cols),
    ):
        some = slice(None, None, -(-caps.size // LOOKED_AT))
        gains = gains_of(i, values[some])
        kept = np.count_nonzero(
            gains - across > (price[some] + prices.total)[:, np.newaxis], axis=1
        )
        full = (price[some] > 0.0) & (caps[some] > 0)
        if full.any():
            off = max(off, float(np.abs(kept - caps[some])[full].mean()))
    return off


def width(size: int) -> int:
    """How many ranks about its threshold a line of that size gives to the core."""
    return max(3, int(0.2 * np.sqrt(size)))


def sweep(
    listed: Listed,
    rows: Lines,
    cols: Lines,
    guess: Prices,
    room: Counts,
    rounds: int = 3,
    rows_first: bool = True,
) -> Near:
    """Prices of a list of entries by `rounds` of blocks of rows and of columns, and what is near.

    Only the last round asks what is near.
    """
    size, n, m = listed.row.size, room.rows.size, room.cols.size
    row_by_col, gains_by_col = np.empty(size, np.int32), np.empty(size)
    prices.in_order(cols.order, listed.row, listed.gains, row_by_col, gains_by_col)
    pools = np.empty(size + 1), np.empty(size + 1)
    u, w, price = guess.rows.copy(), guess.cols.copy(), guess.total
    by_rows = Side(rows.start, listed.col, listed.gains, w, room.rows, 0, u, *np.empty((2, n)))
    by_cols = Side(cols.start, row_by_col, gains_by_col, u, room.cols, 0, w, *np.empty((2, m)))
    sides = (by_rows, by_cols) if rows_first else (by_cols, by_rows)
    at_once = rounds - 1 if size <= LISTED else 1  # Ctrl-C is answered between calls
    for _ in range(0, rounds - 1, at_once):
        _, total = prices.take_turns(*sides, at_once, room.total, 0, price, *pools)
        price = total.price
    first, second = (at._replace(width=width(size // max(at.caps.size, 1))) for at in sides)
    total_width = 2 + 2 * int(np.sqrt(max(room.total, 0)))
    totals = prices.take_turns(first, second, 1, room.total, total_width, price, *pools)
    near = [
        band_about(at.price, of.price, of.low, of.high, at.low, at.high)
        for at, of in zip((first, second), totals, strict=True)
    ]
    near_rows, near_cols = near if rows_first else near[::-1]
    _, (price, low, high) = totals
    above_total = high - price if price > 0.0 else 0.0
    return Near(Prices(u, w, price), Band(*near_rows, *near_cols, price - low, above_total))


def band_about(
    line_price: Floats, total: float, total_low: float, total_high: float, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """How far values some ranks below and above the threshold of each line are from its price."""
    at = line_price + total
    reach = line_price + (total - total_low)
    return np.maximum(np.minimum(at - low, reach), 0.0), np.maximum(high - at, 0.0)

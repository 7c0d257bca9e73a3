"""First prices: by blocks of rows and columns in turn, and what is near each threshold."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvcs_core.projection.exact.candidates import Exact, Instance
from tvcs_core.projection.kernels import blocks, prices, table
from tvcs_core.projection.kernels.records import (
    Band,
    Candidates,
    Counts,
    Floats,
    Ints,
    Lines,
    Listed,
    Prices,
    Side,
    Thresholds,
)

LISTED = 60_000  # tables up to here are listed whole for the first prices
SAMPLED = 40_000  # entries of the sample that larger ones get their first prices from, at least,
ROOTS = 80  # and times the root of their entries
UNITS = 2.0  # that the sample leaves of a cap that three in four are above, at least,
MOST = 0.35  # where that takes no larger share of the lines
TRIED = 200  # numbers of lines, and caps, by which it is seen how well caps round
LINES, MANY = 100, 300  # lines of the sample of smaller ones whose lines are long, if they are more
NEVER = np.finfo(float).max  # a price; from a gain beyond all floats inf would leave no number
LOOKED_AT = 24  # lines of a side by which prices are judged
LEVELS = 50  # lines of the shorter side by which the levels of lines are compared
DIFFERENT = 4.0  # times the variance of one side's means that of the other is, to say which begins
COMPARED = 32_000  # entries by which lines of the longer side are compared
STRETCH = 0.6  # times the root of how many are drawn: neighbours in a sample drawn by their caps


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


def count_drawn(i: Instance) -> int:
    """How many lines of the longer side the sample has."""
    (n, m), size = i.shape, i.open_size
    lines, caps = (m, i.caps.rows) if n <= m else (n, i.caps.cols)
    least = max(LINES, lines // 64)
    if size > LISTED:
        least = max(1, lines * sample_size(size) // size)
    if (caps > 0).any() and not i.has_equal_lines:
        low = float(np.quantile(caps[caps > 0], 0.25))
        least = max(least, int(min(UNITS / low, MOST) * lines))
    return fitting(caps, lines, min(least, lines // 2))


def sample_size(size: int) -> int:
    """How many entries the sample of so many has."""
    return max(SAMPLED, int(ROOTS * np.sqrt(size)))


def sample_of(i: Instance, count: int) -> tuple[Candidates, Counts] | None:
    """So many lines of the longer side, with the caps scaled; None if that is most of all.

    The lines are taken in the order of their gains, and among neighbours in that of their caps. So
    the sample is a quadrature over the lines and not a draw from them: its error falls with their
    number and not with the root of it.
    """
    n, m = i.shape
    values, start, columns, keys, dense, squared = i.candidates
    row_caps, col_caps, _ = i.caps
    order = by_caps(alike_lines(i, cols=n <= m), col_caps if n <= m else row_caps, count)
    drawn_lines = np.sort(order[middles(max(n, m), count)])
    across = alike_lines(i, cols=n > m)
    if n <= m:
        col_caps, row_caps = col_caps[drawn_lines], fewer(row_caps, count / m, across)
    else:
        row_caps, col_caps = row_caps[drawn_lines], fewer(col_caps, count / n, across)
    if dense:
        matrix = values.reshape(n, m)
        drawn = matrix[:, drawn_lines] if n <= m else matrix[drawn_lines]
        values = np.ascontiguousarray(drawn).reshape(-1)
        columns, keys = np.arange(col_caps.size, dtype=np.int32), np.zeros(col_caps.size, np.int64)
        start = np.arange(row_caps.size + 1, dtype=np.int64) * col_caps.size
    else:
        row = np.repeat(np.arange(n, dtype=np.int32), np.diff(start))
        number = np.full(max(n, m), -1, np.int32)
        number[drawn_lines] = np.arange(drawn_lines.size)
        found = np.flatnonzero(number[columns if n <= m else row] >= 0)
        if not 0 < found.size <= 0.6 * values.size:
            return None
        row, columns = row[found], columns[found]
        row, columns = (row, number[columns]) if n <= m else (number[row], columns)
        values, keys = values[found], keys[found]
        start = np.searchsorted(row, np.arange(row_caps.size + 1)).astype(np.int64)
    total = int(i.fits * values.size / i.candidates.values.size)
    sample = Candidates(values, start, columns, keys, dense, squared)
    return sample, Counts(row_caps, col_caps, total)


def alike_lines(i: Instance, cols: bool) -> Ints:
    """The columns, or the rows, in an order in which neighbours are alike.

    Of the order of their mean gain and that of the first principal component of what rows and
    columns do not explain, the one in which neighbours differ less. Where every line is a function
    of one number of its own, such as a worker's skill, one of them is the order of that number. The
    lines of a list are in the order of their mean gain.
    """
    (n, m), (values, start, columns, *_) = i.shape, i.candidates
    with np.errstate(all="ignore"):  # numbers beyond all floats, of groups that may keep nothing
        if not i.candidates.dense:
            line = columns if cols else np.repeat(np.arange(n), np.diff(start))
            sums = np.bincount(line, gains_of(i, values), m if cols else n)
            level = sums / np.maximum(np.bincount(line, minlength=sums.size), 1)
            return np.argsort(level, kind="stable")
        matrix = values.reshape(n, m)
        lines, length = (m, n) if cols else (n, m)
        apart = -(-length // max(8, COMPARED // lines))
        gains = gains_of(i, matrix[::apart] if cols else matrix[:, ::apart].T)
        level = gains.mean(axis=0)
        rest = gains - level
        rest -= rest.mean(axis=1, keepdims=True)
        score = rest[int(np.argmax(np.einsum("ij,ij->i", rest, rest)))]
        for _ in range(3):
            score = rest.T @ (rest @ score)
            score = score / (np.abs(score).max() or 1.0)
        orders = [np.argsort(by, kind="stable") for by in (level, score)]
        steps = [np.diff(gains[:, order]) for order in orders]
        return orders[int(np.argmin([np.einsum("ij,ij->", x, x) for x in steps]))]


def gains_of(i: Instance, values: Floats) -> Floats:
    """Gains of some values, scaled; those of groups that may keep nothing are kept finite."""
    gains = values * i.grid.factor
    if i.candidates.squared:
        with np.errstate(over="ignore"):
            gains = np.minimum(np.square(gains, out=gains), NEVER)
    return gains


def fitting(caps: Ints, lines: int, least: int) -> int:
    """How many of the lines are drawn: so many, or some more at which caps across them round well.

    Equal caps of 7.5 would all be rounded to the same side.
    """
    counts = np.arange(least, min(least + least // 4, lines) + 1, 1 + least // (4 * TRIED))
    some = caps[:: 1 + caps.size // TRIED]
    scaled = some[:, np.newaxis] * (counts / lines)
    off = np.abs(scaled - np.rint(scaled)).mean(axis=0)
    best = int(np.argmin(off))
    return int(counts[best]) if 2.0 * off[best] < off[0] else least


def middles(lines: int, count: int) -> Ints:
    """The middles of so many equal stretches of the lines."""
    return ((np.arange(count) + 0.5) * (lines / count)).astype(np.int64)


def by_caps(order: Ints, caps: Ints, count: int) -> Ints:
    """The same lines, each stretch of neighbours in the order of their caps, up and down in turn.

    A stretch gives some lines to a sample of `count`, which then has its small, its middling
    and its large caps. Lines of equal caps stay where they are.
    """
    together = max(1, round(STRETCH * np.sqrt(count)))
    stretch = np.arange(order.size) * count // (order.size * together)
    return order[np.lexsort((np.where(stretch % 2, -1, 1) * caps[order], stretch))]


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


def fewer(caps: Ints, share: float, order: Ints) -> Ints:
    """Scale caps to a share of their group.

    What is rounded off a line is given to the next in the order, whose prices are like its own: so
    prices of many lines are right, though those of each are not.
    """
    scaled = np.empty(caps.size, np.int64)
    scaled[order] = np.diff(np.rint(np.cumsum(caps[order]) * share), prepend=0.0)
    return scaled


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

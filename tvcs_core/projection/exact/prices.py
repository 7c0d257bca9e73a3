"""First prices: by blocks of rows and columns in turn, and what is near each threshold."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Exact, Floats, Instance, Ints, Table
from tvcs_core.projection.kernels import blocks, prices, table

LISTED = 60_000  # tables up to here are listed whole for the first prices
SAMPLED = 40_000  # entries of the sample that larger ones get their first prices from
COMPARED = 32_000  # entries by which lines of the longer side are compared


@dataclass(frozen=True)
class Prices:
    """Prices of rows, columns and the total; what is near each threshold, below it and above."""

    rows: Floats
    cols: Floats
    total: float
    below_rows: Floats
    above_rows: Floats
    below_cols: Floats
    above_cols: Floats
    below_total: float
    above_total: float
    level: float = 0.0  # a typical gain of the table that they are for

    def wider(self, times: float, full_rows: Any = (), full_cols: Any = ()) -> "Prices":
        """Return the same prices with wider surroundings, above some lines without an end."""
        above_rows, above_cols = times * self.above_rows, times * self.above_cols
        above_rows[list(full_rows)], above_cols[list(full_cols)] = np.inf, np.inf
        return Prices(
            self.rows, self.cols, self.total, times * self.below_rows, above_rows,
            times * self.below_cols, above_cols, times * self.below_total, times * self.above_total,
        )  # fmt: skip

    def at_level(self, level: float) -> "Prices":
        """Return the prices for a table whose typical gain is another, within 0 .. 1.

        The level tells by which power of two the caller has scaled this table and that one.
        """
        times = self.level / level if self.level > 0.0 and level > 0.0 else 1.0
        times = 2.0 ** -np.rint(np.log2(times)) if 0.0 < times < np.inf else 1.0

        def within(prices: Any) -> Any:
            return np.nan_to_num(times * np.asarray(prices), nan=0.0).clip(0.0, 1.0)

        with np.errstate(all="ignore"):
            return Prices(
                within(self.rows), within(self.cols), float(within(self.total)),
                within(self.below_rows), within(self.above_rows), within(self.below_cols),
                within(self.above_cols), float(within(self.below_total)),
                float(within(self.above_total)),
            )  # fmt: skip

    def everything(self) -> "Prices":
        """Return the same prices with everything near them."""
        rows, cols = np.full(self.rows.size, np.inf), np.full(self.cols.size, np.inf)
        return Prices(self.rows, self.cols, self.total, rows, rows, cols, cols, 0.0, 0.0)


@dataclass(frozen=True)
class Listed:
    """Entries row by row: row r has row_start[r]:row_start[r+1]."""

    row: NDArray[np.int32]
    col: NDArray[np.int32]
    gains: Floats
    row_start: Ints


@dataclass(frozen=True)
class Room:
    """How many entries of every row, of every column and in all may be kept."""

    rows: Ints
    cols: Ints
    total: int


def first_prices(i: Instance, solve: Callable[[Table], Exact]) -> Prices:
    """Prices to begin with; `solve` is this solver, for a sample of a large table."""
    n, m = i.t.shape
    if i.open_size <= LISTED:
        return listed_prices(i, no_prices(n, m), "rcrcrc")
    near = sampled_prices(i, solve)
    if i.t.dense:
        return full_blocks(i, near, rows_first=n > m)
    return listed_prices(i, near, "rcrc" if n > m else "crcr")


def no_prices(n: int, m: int) -> Prices:
    """Nothing is known."""
    rows, cols = np.zeros(n), np.zeros(m)
    return Prices(rows, cols, 0.0, rows, rows, cols, cols, 0.0, 0.0)


def listed_prices(i: Instance, near: Prices, sides: str) -> Prices:
    """Prices by blocks over a list of all open nonzero entries."""
    t, size = i.t, i.open_size
    row, col, gains = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    row_start = np.empty(near.rows.size + 1, np.int64)
    table.list_open(
        *t.layout, t.row_caps, t.col_caps, *i.gains, row, col, gains, row_start,
        np.empty(0, np.int64),
    )  # fmt: skip
    room = Room(t.row_caps, t.col_caps, i.fits)
    return sweep(Listed(row, col, gains, row_start), near, room, sides)


def sampled_prices(i: Instance, solve: Callable[[Table], Exact]) -> Prices:
    """Prices of the shorter side, from an exact solution for a sample of the longer one."""
    n, m = i.t.shape
    step = -(-i.open_size // max(SAMPLED, i.open_size // 64))
    sample = sample_of(i, step)
    if sample is None:
        return no_prices(n, m)
    found = solve(sample)
    rows = found.row_duals[:n] * i.scale if n <= m else np.zeros(n)
    cols = found.col_duals[:m] * i.scale if n > m else np.zeros(m)
    return Prices(rows, cols, found.total_dual * i.scale, rows, rows, cols, cols, 0.0, 0.0)


def sample_of(i: Instance, step: int) -> Table | None:
    """Every step-th line of the longer side, with the caps scaled; None if that is most of all.

    The lines are taken in the order of their gains. So the sample is a quadrature over the lines
    and not a draw from them: its error falls with their number and not with the root of it.
    """
    t = i.t
    n, m = t.shape
    row_caps, col_caps = t.row_caps, t.col_caps
    drawn_lines = spread_lines(t, step)
    if n <= m:
        col_caps = col_caps[drawn_lines]
        row_caps = fewer(row_caps, col_caps.size / m)
    else:
        row_caps = row_caps[drawn_lines]
        col_caps = fewer(col_caps, row_caps.size / n)
    if t.dense:
        matrix = t.values.reshape(n, m)
        drawn = matrix[:, drawn_lines] if n <= m else matrix[drawn_lines]
        values = np.ascontiguousarray(drawn).reshape(-1)
        columns, keys = np.arange(col_caps.size, dtype=np.int32), np.zeros(col_caps.size, np.int64)
        start = np.arange(row_caps.size + 1, dtype=np.int64) * col_caps.size
    else:
        row = np.repeat(np.arange(n, dtype=np.int32), np.diff(t.start))
        number = np.full(max(n, m), -1, np.int32)
        number[drawn_lines] = np.arange(drawn_lines.size)
        found = np.flatnonzero(number[t.columns if n <= m else row] >= 0)
        if not 0 < found.size <= 0.6 * t.values.size:
            return None
        row, columns = row[found], t.columns[found]
        row, columns = (row, number[columns]) if n <= m else (number[row], columns)
        values, keys = t.values[found], t.keys[found]
        start = np.searchsorted(row, np.arange(row_caps.size + 1)).astype(np.int64)
    total = int(i.fits * values.size / t.values.size)
    return Table(values, start, columns, keys, t.dense, t.squared, row_caps, col_caps, total)


def spread_lines(t: Table, step: int) -> Ints:
    """Every step-th line of the longer side, in an order in which neighbours are alike.

    Of the order of their mean gain and that of the first principal component of what rows and
    columns do not explain, the one in which neighbours differ less. Where every line is a function
    of one number of its own, such as a worker's skill, one of them is the order of that number.
    """
    n, m = t.shape
    if not t.dense:
        return np.arange(0, max(n, m), step)
    matrix = t.values.reshape(n, m)
    apart = -(-min(n, m) // max(8, COMPARED // max(n, m)))
    some = matrix[::apart] if n <= m else matrix[:, ::apart].T
    gains = np.square(some) if t.squared else some.copy()
    level = gains.mean(axis=0)
    rest = gains - level
    rest -= rest.mean(axis=1, keepdims=True)
    score = rest[int(np.argmax(np.einsum("ij,ij->i", rest, rest)))]
    for _ in range(3):
        score = rest.T @ (rest @ score)
        score = score / (np.abs(score).max() or 1.0)
    orders = [np.argsort(by, kind="stable") for by in (level, score)]
    steps = [np.diff(gains[:, order]) for order in orders]
    best = int(np.argmin([np.einsum("ij,ij->", x, x) for x in steps]))
    return np.sort(orders[best][step // 2 :: step])


def full_blocks(i: Instance, near: Prices, rows_first: bool) -> Prices:
    """Two blocks of each side over the whole of a dense table."""
    t = i.t
    n, m = t.shape
    at_row, at_col = np.zeros((3, n)), np.zeros((3, m))
    row_price, col_price = near.rows, near.cols
    step = -(-t.values.size // SAMPLED)
    total_width = 2 + 3 * int(np.sqrt(i.fits // step))
    zero_row, zero_col = np.zeros(n), np.zeros(m)
    closed = (i.closed_row, i.closed_col)
    for rows in 2 * (rows_first, not rows_first):
        if rows:
            chunk = max(1, 10_000_000 // m)
            for r in range(0, n, chunk):
                blocks.row_block(
                    t.values, m, t.columns, t.keys, i.closed_row, *i.gains, col_price, t.row_caps,
                    width(m), r, min(r + chunk, n), *at_row,
                )  # fmt: skip
            use = (zero_row, at_row[0], col_price, zero_col)
        else:
            chunk = max(1, 10_000_000 // n // 32) * 32
            for c in range(0, m, chunk):
                blocks.column_block(
                    t.values, n, m, t.keys, *closed, *i.gains, row_price, t.col_caps, width(n), c,
                    min(c + chunk, m), *at_col,
                )  # fmt: skip
            use = (row_price, zero_row, zero_col, at_col[0])
        total, low, high = blocks.total_block(
            t.values, n, m, t.keys, *closed, *i.gains, *use, step, i.fits, total_width
        )
        if rows:
            row_price = np.maximum(at_row[0] - total, 0.0)
            near_rows = surroundings(row_price, total, low, high, *at_row[1:])
        else:
            col_price = np.maximum(at_col[0] - total, 0.0)
            near_cols = surroundings(col_price, total, low, high, *at_col[1:])
    return Prices(
        row_price, col_price, total, *near_rows, *near_cols,
        total - low, high - total if total > 0.0 else 0.0,
    )  # fmt: skip


def fewer(caps: Ints, share: float) -> Ints:
    """Scale caps to a share of their group; what may keep something still may."""
    return np.maximum(np.rint(caps * share), caps > 0).astype(np.int64)


def width(size: int) -> int:
    """How many ranks about its threshold a line of that size gives to the core."""
    return max(3, int(0.2 * np.sqrt(size)))


def sweep(listed: Listed, near: Prices, room: Room, sides: str) -> Prices:
    """Prices of a list of entries by blocks of rows (r) and columns (c), and what is near them."""
    row, col, gains = listed.row, listed.col, listed.gains
    n, m = near.rows.size, near.cols.size
    by_col, col_start = np.empty(row.size, np.int32), np.empty(m + 1, np.int64)
    prices.by_column(col, m, col_start, by_col)
    row_by_col, gains_by_col = np.empty(row.size, np.int32), np.empty(row.size)
    prices.in_order(by_col, row, gains, row_by_col, gains_by_col)
    pools = np.empty(row.size + 1), np.empty(row.size + 1)
    row_price, col_price, price = near.rows.copy(), near.cols.copy(), near.total
    at_row, at_col = np.empty((2, n)), np.empty((2, m))
    row_width, col_width = width(row.size // max(n, 1)), width(row.size // max(m, 1))
    total_width = 2 + 2 * int(np.sqrt(max(room.total, 0)))
    for i, side in enumerate(sides):
        last = i >= len(sides) - 2
        if side == "r":
            price, low, high = prices.price_block(
                listed.row_start, col, gains, col_price, room.rows, room.total, row_width * last,
                total_width * last, row_price, price, *at_row, *pools,
            )  # fmt: skip
            near_rows = surroundings(row_price, price, low, high, *at_row)
        else:
            price, low, high = prices.price_block(
                col_start, row_by_col, gains_by_col, row_price, room.cols, room.total,
                col_width * last, total_width * last, col_price, price, *at_col, *pools,
            )  # fmt: skip
            near_cols = surroundings(col_price, price, low, high, *at_col)
    return Prices(
        row_price, col_price, price, *near_rows, *near_cols,
        price - low, high - price if price > 0.0 else 0.0,
    )  # fmt: skip


def surroundings(
    line_price: Floats, total: float, total_low: float, total_high: float, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """How far values some ranks below and above the threshold of each line are from its price."""
    at = line_price + total
    reach = line_price + (total - total_low)
    return np.maximum(np.minimum(at - low, reach), 0.0), np.maximum(high - at, 0.0)

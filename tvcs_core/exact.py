"""The exact projection: a plain driver over the kernels.

Maximises sum(gain * x) over x in {0, 1} with caps on rows, columns and the total, and proves it by
prices. docs/method.md explains the way: prices by blocks, a core of the entries near their
threshold, network simplex on the core, and a pass over all entries for those the core has missed.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.kernels import assignment, blocks, prices, simplex, small, start, table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LISTED = 60_000  # tables up to here are listed whole for the first prices
SAMPLED = 40_000  # entries of the sample that larger ones get their first prices from
SMALL = 2_500  # entries that are solved in one call of a kernel
TIGHT = 2.0**-44  # of the largest gain: more than rounding
WORST = 32  # violators of a row that join the core in one pass
WORTH_ASKING = 100_000_000  # bytes
PIVOTS = 5_000  # between two looks at Ctrl-C


@dataclass(frozen=True)
class Exact:
    """An optimal support with the prices that prove it, in the unit of the gains."""

    keep: NDArray[np.bool_]
    row_duals: Floats
    col_duals: Floats
    total_dual: float
    warm: Any = None
    stats: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """The candidates in row order, dense or as a list (see kernels/table.py), and the caps."""

    values: Floats
    start: Ints
    columns: NDArray[np.int32]
    keys: Ints
    dense: bool
    squared: bool
    row_caps: Ints
    col_caps: Ints
    total: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self.row_caps.size, self.col_caps.size


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


@dataclass
class Core:
    """Entries near their threshold, those of them kept, and what every group keeps in all."""

    row: NDArray[np.int32]
    col: NDArray[np.int32]
    place: Ints
    kept: NDArray[np.bool_]
    row_load: Ints
    col_load: Ints
    prices: Prices


class _Writeable:
    """Shows an array as writeable: kernels have one signature, and write to no input."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        shown = dict(array.__array_interface__)
        shown["data"] = (shown["data"][0], False)
        self.__array_interface__ = shown


def writeable(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself, or a view that does not say that it is read-only."""
    return array if array.flags.writeable else np.asarray(_Writeable(array))


def solve_dense(
    values: Floats,
    row_caps: Ints,
    col_caps: Ints,
    total: int,
    *,
    squared: bool,
    warm: Any = None,
) -> Exact:
    """Find the best support of an (n, m) matrix of values (or of gains, if not `squared`)."""
    n, m = values.shape
    candidates = Table(
        writeable(values).reshape(-1),
        np.arange(n + 1, dtype=np.int64) * m,
        np.arange(m, dtype=np.int32),
        np.zeros(m, np.int64),
        True,
        squared,
        writeable(row_caps),
        writeable(col_caps),
        total,
    )
    return solve(candidates, warm, values.shape)


def solve_edges(
    row: NDArray[Any],
    col: NDArray[Any],
    key: Ints,
    values: Floats,
    n_rows: int,
    n_cols: int,
    row_caps: Ints,
    col_caps: Ints,
    total: int,
    *,
    squared: bool,
    warm: Any = None,
) -> Exact:
    """Find the best support of a list of candidates; label -1 = in no group."""
    size = values.size
    row = np.where(row < 0, n_rows, row).astype(np.int32)
    col = np.where(col < 0, n_cols, col).astype(np.int32)
    row_start, order = np.empty(n_rows + 2, np.int64), np.empty(size, np.int32)
    prices.by_column(row, n_rows + 1, row_start, order)
    candidates = Table(
        values[order],
        row_start,
        col[order],
        np.asarray(key, np.int64)[order],
        False,
        squared,
        np.append(row_caps, size).astype(np.int64),
        np.append(col_caps, size).astype(np.int64),
        total,
    )
    result = solve(candidates, warm, values.shape)
    keep = np.empty(size, bool)
    keep[order] = result.keep
    u, w = result.row_duals[:n_rows], result.col_duals[:n_cols]
    return Exact(keep, u, w, result.total_dual, result.warm, result.stats)


def solve(t: Table, warm: Any, shape: tuple[int, ...]) -> Exact:
    """Find the best support of a table."""
    n, m = t.shape
    if t.values.size <= SMALL:
        return _small(t, shape)
    per_row, per_col = np.zeros(n, np.int64), np.zeros(m, np.int64)
    largest = table.survey(
        t.values, t.start, t.columns, t.dense, t.row_caps, t.col_caps, per_row, per_col
    )
    if largest == 0.0 or t.total == 0:
        return _nothing(t, shape)
    if (per_row <= t.row_caps).all() and (per_col <= t.col_caps).all() and per_row.sum() <= t.total:
        return _everything(t, shape)
    ask_for_memory(t)
    return _Search(t, largest, per_row, per_col).run(warm, shape)


def _small(t: Table, shape: tuple[int, ...]) -> Exact:
    """Solve in one call of a kernel."""
    n, m = t.shape
    keep, u, w = np.zeros(t.values.size, bool), np.zeros(n), np.zeros(m)
    price, factor, pivots = small.solve_small(
        t.values, t.start, t.columns, t.keys, t.dense, t.squared, t.row_caps, t.col_caps, t.total,
        grid_of(t), keep, u, w,
    )  # fmt: skip
    if pivots < 0:
        return _nothing(t, shape)
    unit = 1.0 / (grid_of(t) * (factor * factor if t.squared else factor))
    u *= unit
    w *= unit
    price *= unit
    if not (t.row_caps.all() and t.col_caps.all()):
        u[t.row_caps == 0], w[t.col_caps == 0] = 0.0, 0.0
        table.close_duals(
            t.values, t.start, t.columns, t.dense, t.row_caps, t.col_caps, t.squared, u, w, price
        )
    return Exact(keep.reshape(shape), u, w, price, None, {"path": "small", "pivots": pivots})


def _everything(t: Table, shape: tuple[int, ...]) -> Exact:
    """Keep all open nonzero entries, because they fit."""
    n, m = t.shape
    u, w, keep = np.zeros(n), np.zeros(m), t.values != 0.0
    closed_row, closed_col = t.row_caps == 0, t.col_caps == 0
    if closed_row.any() or closed_col.any():
        if t.dense:
            keep &= ~(closed_row[:, None] | closed_col).reshape(-1)
        else:
            keep &= ~(np.repeat(closed_row, np.diff(t.start)) | closed_col[t.columns])
        table.close_duals(
            t.values, t.start, t.columns, t.dense, t.row_caps, t.col_caps, t.squared, u, w, 0.0
        )
    return Exact(keep.reshape(shape), u, w, 0.0, None, {"path": "everything"})


def _nothing(t: Table, shape: tuple[int, ...]) -> Exact:
    """Keep nothing, because nothing may be kept or nothing is worth it."""
    n, m = t.shape
    u, w, price = np.zeros(n), np.zeros(m), 0.0
    if t.total > 0:
        table.close_duals(
            t.values, t.start, t.columns, t.dense, t.row_caps, t.col_caps, t.squared, u, w, price
        )
    elif t.values.size:
        price = float(np.max(np.abs(t.values)))
        price = price * price if t.squared else price
    return Exact(np.zeros(shape, bool), u, w, price, None, {"path": "nothing"})


class _Search:
    """One solve: the table, its scale, and the core with its simplex."""

    def __init__(self, t: Table, largest: float, per_row: Ints, per_col: Ints) -> None:
        self.t = t
        self.factor = float(2.0 ** -np.clip(np.frexp(largest)[1], -1000, 1000))
        self.scale = self.factor * self.factor if t.squared else self.factor
        self.closed_row, self.closed_col = t.row_caps == 0, t.col_caps == 0
        self.open_size = int(per_row.sum())
        self.fits = min(
            t.total,
            int(np.minimum(per_row, t.row_caps).sum()),
            int(np.minimum(per_col, t.col_caps).sum()),
        )
        self.grid = grid_of(t)
        drawn = draw(t.values)
        self.nudged = has_ties(drawn)
        typical = float(drawn[drawn.size // 2]) * self.factor if drawn.size else 0.0
        self.level = typical * typical if t.squared else typical
        self.keep = np.zeros(t.values.size, bool)
        self.stats: dict[str, Any] = {"path": "simplex", "rounds": 0}

    def run(self, warm: Any, shape: tuple[int, ...]) -> Exact:
        """Find and prove a support, from the prices of an earlier result if they are any good."""
        fits_us = isinstance(warm, Prices) and (warm.rows.size, warm.cols.size) == self.t.shape
        if fits_us and not self.is_assignment():
            near = warm.at_level(self.level)
            core = self.core(near)
            if isinstance(core, list):
                overfull = sum(map(len, core))
                if 0 < overfull < sum(self.t.shape) // 5:
                    core = self.core(near.wider(1.0, *core))
            if isinstance(core, Core):
                short = self.fits - int(core.row_load.sum())
                if short <= self.fits // 10 and self.prove(core, give_up=True):
                    return self.result(shape, near)
        near = self.assigned_prices() if self.is_assignment() else self.first_prices()
        core = self.core(near)
        for widened in (1, 2, 3):
            if isinstance(core, Core):
                break
            self.stats["widened"] = widened
            near = near.everything() if widened == 3 else near.wider(float(widened), *core)
            core = self.core(near)
        self.prove(core)
        return self.result(shape, near)

    # ---- first prices

    def is_assignment(self) -> bool:
        """Whether all caps are 1 and the total does not bind."""
        t = self.t
        ones = bool((t.row_caps == 1).all() and (t.col_caps == 1).all())
        return ones and t.dense and t.total >= min(t.shape) and not self.nudged

    def assigned_prices(self) -> Prices:
        """Prices that prove an assignment, but for rounding: only tight entries are near them."""
        t = self.t
        n, m = t.shape
        self.stats["path"] = "assignment"
        values = t.values if n <= m else np.ascontiguousarray(t.values.reshape(n, m).T).reshape(-1)
        few, many = min(n, m), max(n, m)
        u, w = np.zeros(few), np.zeros(many)
        col_of, row_of = np.full(few, -1), np.full(many, -1)
        chunk = max(1, 20_000_000 // many**2)
        for r in range(0, few, chunk):
            assignment.assign(
                values, few, many, self.factor, t.squared, r, min(r + chunk, few), u, w, col_of,
                row_of,
            )  # fmt: skip
        rows, cols = (u, w) if n <= m else (w, u)
        self.partner = col_of if n <= m else row_of
        row_tight, col_tight = np.full(n, TIGHT), np.full(m, TIGHT)
        return Prices(rows, cols, 0.0, row_tight, row_tight, col_tight, col_tight, 0.0, 0.0)

    def first_prices(self) -> Prices:
        n, m = self.t.shape
        if self.open_size <= LISTED:
            return self.listed_prices(np.zeros(n), np.zeros(m), 0.0, "rcrcrc")
        near = self.sampled_prices()
        if self.t.dense:
            return self.full_blocks(near, rows_first=n > m)
        return self.listed_prices(near.rows, near.cols, near.total, "rcrc" if n > m else "crcr")

    def sampled_prices(self) -> Prices:
        """Prices of the shorter side, from an exact solution for a sample of the longer one."""
        t = self.t
        n, m = t.shape
        step = -(-self.open_size // max(SAMPLED, self.open_size // 64))
        row_caps, col_caps = t.row_caps, t.col_caps
        if n <= m:
            col_caps = col_caps[::step].copy()
            row_caps = fewer(row_caps, col_caps.size / m)
        else:
            row_caps = row_caps[::step].copy()
            col_caps = fewer(col_caps, row_caps.size / n)
        if t.dense:
            matrix = t.values.reshape(n, m)
            matrix = np.ascontiguousarray(matrix[:, ::step] if n <= m else matrix[::step])
            total = int(self.fits * matrix.size / t.values.size)
            found = solve_dense(matrix, row_caps, col_caps, total, squared=t.squared)
        else:
            row = np.repeat(np.arange(n, dtype=np.int32), np.diff(t.start))
            drawn = np.flatnonzero((t.columns if n <= m else row) % step == 0)
            row, col = row[drawn], t.columns[drawn]
            row, col = (row, col // step) if n <= m else (row // step, col)
            if not 0 < drawn.size <= 0.6 * t.values.size:  # all in few groups: there is no sample
                rows, cols = np.zeros(n), np.zeros(m)
                return Prices(rows, cols, 0.0, rows, rows, cols, cols, 0.0, 0.0)
            total = int(self.fits * drawn.size / t.values.size)
            found = solve_edges(
                row, col, t.keys[drawn], t.values[drawn], row_caps.size, col_caps.size,
                row_caps, col_caps, total, squared=t.squared,
            )  # fmt: skip
        rows = found.row_duals * self.scale if n <= m else np.zeros(n)
        cols = found.col_duals * self.scale if n > m else np.zeros(m)
        return Prices(rows, cols, found.total_dual * self.scale, rows, rows, cols, cols, 0.0, 0.0)

    def listed_prices(self, rows: Floats, cols: Floats, total: float, sides: str) -> Prices:
        """Prices by blocks over a list of all open nonzero entries."""
        t = self.t
        size = self.open_size
        row, col, gains = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
        row_start = np.empty(rows.size + 1, np.int64)
        table.list_open(
            t.values, t.start, t.columns, t.keys, t.dense, t.row_caps, t.col_caps, self.factor,
            t.squared, self.nudged, row, col, gains, row_start, np.empty(0, np.int64),
        )  # fmt: skip
        return sweep(
            row, col, gains, row_start, rows, cols, total, t.row_caps, t.col_caps, self.fits, sides
        )

    def full_blocks(self, near: Prices, rows_first: bool) -> Prices:
        t = self.t
        n, m = t.shape
        at_row, at_col = np.zeros((3, n)), np.zeros((3, m))
        row_price, col_price = near.rows, near.cols
        step = -(-t.values.size // SAMPLED)
        total_width = 2 + 3 * int(np.sqrt(self.fits // step))
        zero_row, zero_col = np.zeros(n), np.zeros(m)
        for rows in 2 * (rows_first, not rows_first):
            if rows:
                chunk = max(1, 10_000_000 // m)
                for r in range(0, n, chunk):
                    blocks.row_block(
                        t.values, m, t.columns, t.keys, self.closed_row, self.factor, t.squared,
                        self.nudged, col_price, t.row_caps, width(m), r, min(r + chunk, n), *at_row,
                    )  # fmt: skip
                use = (zero_row, at_row[0], col_price, zero_col)
            else:
                chunk = max(1, 10_000_000 // n // 32) * 32
                for c in range(0, m, chunk):
                    blocks.column_block(
                        t.values, n, m, t.keys, self.closed_row, self.closed_col, self.factor,
                        t.squared, self.nudged, row_price, t.col_caps, width(n),
                        c, min(c + chunk, m), *at_col,
                    )  # fmt: skip
                use = (row_price, zero_row, zero_col, at_col[0])
            total, low, high = blocks.total_block(
                t.values, n, m, t.keys, self.closed_row, self.closed_col, self.factor, t.squared,
                self.nudged, *use, step, self.fits, total_width,
            )  # fmt: skip
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

    # ---- the core

    def core(self, near: Prices) -> Any:
        t = self.t
        n, m = t.shape
        size = min(t.values.size, t.values.size // 16 + 4 * int(np.diff(t.start).max()) + 1000)
        row, col, gains = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
        place = np.empty(size, np.int64)
        row_taken, col_taken = np.zeros(n, np.int64), np.zeros(m, np.int64)
        at, found = 0, 0
        col_price = np.where(self.closed_col, np.inf, near.cols)
        while at < n:
            at, found = table.band(
                t.values, t.start, t.columns, t.keys, t.dense, self.factor, t.squared, self.nudged,
                self.closed_row, near.rows, col_price, near.total, near.below_rows,
                near.above_rows, near.below_cols, near.above_cols, near.below_total,
                near.above_total, at, n, self.keep,
                row_taken, col_taken, row, col, gains, place, found,
            )  # fmt: skip
            if at < n:
                grown = min(t.values.size, 2 * row.size)
                row, col, gains, place = (longer(x, grown) for x in (row, col, gains, place))
        row, col, gains, place = row[:found], col[:found], gains[:found], place[:found]
        row_start = np.searchsorted(row, np.arange(n + 1)).astype(np.int64)
        if self.stats["path"] == "assignment":
            swept, kept = near, self.partner[row] == col
        else:
            swept, kept = self.settle(near, row, col, gains, row_start, row_taken, col_taken)
            if kept is None:
                return [
                    np.flatnonzero(row_taken > t.row_caps),
                    np.flatnonzero(col_taken > t.col_caps),
                ]
        self.keep[place] = kept
        row_load = row_taken + np.bincount(row[kept], minlength=n)
        col_load = col_taken + np.bincount(col[kept], minlength=m)
        return Core(row, col, place, kept, row_load, col_load, swept)

    def settle(
        self,
        near: Prices,
        row: NDArray[np.int32],
        col: NDArray[np.int32],
        gains: Floats,
        row_start: Ints,
        row_taken: Ints,
        col_taken: Ints,
    ) -> tuple[Prices, NDArray[np.bool_] | None]:
        """Better the prices on a core, and keep what is worth them and fits; None if too few do."""
        t = self.t
        _n, m = t.shape
        room, taken = (t.row_caps - row_taken, t.col_caps - col_taken), int(row_taken.sum())
        swept = sweep(
            row, col, gains, row_start, near.rows, near.cols, near.total, *room,
            self.fits - taken, "rcrcrc",
        )  # fmt: skip
        by_col, col_start = np.empty(row.size, np.int32), np.empty(m + 1, np.int64)
        prices.by_column(col, m, col_start, by_col)
        kept = np.empty(row.size, bool)
        settled = start.settle(
            row, col, gains, row_start, col_start, by_col, swept.rows, swept.cols, swept.total,
            *room, t.total - taken, kept,
        )  # fmt: skip
        return swept, kept if settled else None

    # ---- the simplex

    def prove(self, core: Core, give_up: bool = False) -> bool:
        """Run the simplex until no entry of the table is on the wrong side of the prices.

        With `give_up` return False instead if more entries are than were in the core.
        """
        t, near = self.t, core.prices
        n, m = t.shape
        row, col, kept, row_load, col_load = (
            core.row, core.col, core.kept, core.row_load, core.col_load,
        )  # fmt: skip
        self.row, self.col, self.place, self.size = row, col, core.place, row.size
        nodes = n + m + 2
        self.fixed = n + m + nodes
        arcs = self.fixed + row.size
        self.tail, self.head = np.empty(arcs, np.int32), np.empty(arcs, np.int32)
        self.cost, self.state = np.zeros((arcs, 2), np.int64), np.empty(arcs, np.int8)
        self.flow, self.cap = np.empty(arcs, np.int32), np.empty(arcs, np.int32)
        self.tree, self.pi = np.empty((nodes, 6), np.int32), np.empty((nodes, 2), np.int64)
        self.clock = np.zeros(3, np.int64)
        start.lay_fixed_arcs(
            t.row_caps, t.col_caps, t.total, row_load, col_load, int(row_load.sum()), near.rows,
            near.cols, near.total, self.grid, self.tail, self.head, self.cost, self.state,
            self.flow,
            self.cap, self.tree,
        )  # fmt: skip
        start.lay_core(
            row, col, kept, n, 0, row.size, self.fixed, self.tail, self.head, self.state,
            self.flow, self.cap,
        )  # fmt: skip
        for nudged in (True, False) if self.nudged else (False,):
            self.set_costs(0, nudged)
            simplex.price_tree(nodes, self.tail, self.cost, self.tree, self.pi)
            self.run_simplex()
            while found := self.add_violators(nudged):
                if give_up and found > row.size:
                    return False
                self.run_simplex()
            self.stats["pivots" if nudged else "pivots in all"] = int(self.clock[simplex.PIVOTS])
        self.stats["core"] = self.size
        return True

    def set_costs(self, first: int, nudged: bool) -> None:
        t = self.t
        table.entry_costs(
            t.values, t.columns, t.keys, t.dense, self.factor, t.squared, self.grid,
            nudged, self.row, self.col, self.place, first, self.size, self.fixed, self.cost,
        )  # fmt: skip

    def run_simplex(self) -> None:
        arcs = self.fixed + self.size
        block = max(20, int(0.7 * np.sqrt(arcs)))
        self.clock[simplex.AT] = self.fixed
        while not simplex.run_simplex(
            arcs, self.tail, self.head, self.cost, self.state, self.flow, self.cap, self.tree,
            self.pi, self.clock, block, 10 * self.pi.shape[0], PIVOTS,
        ):  # fmt: skip
            pass

    def add_violators(self, nudged: bool) -> int:
        """Append entries of the table that the core's prices call wrong; return how many."""
        t = self.t
        n, _m = t.shape
        self.stats["rounds"] += 1
        self.keep[self.place[: self.size]] = self.flow[self.fixed : self.fixed + self.size] > 0
        most, at, found = WORST, 0, 0
        room = max(1000, self.size // 4, 2 * most)
        row, col = np.empty(room, np.int32), np.empty(room, np.int32)
        place = np.empty(room, np.int64)
        while at < n:
            at, found = table.violators(
                t.values, t.start, t.columns, t.keys, t.dense, self.factor, t.squared, nudged,
                self.grid, self.closed_row, self.closed_col, self.pi, self.keep, most, at, n,
                row, col, place, found,
            )  # fmt: skip
            if at < n:
                row, col, place = (longer(x, 2 * row.size) for x in (row, col, place))
        if found == 0:
            return 0
        before, self.size = self.size, self.size + found
        self.row = np.concatenate([self.row[:before], row[:found]])
        self.col = np.concatenate([self.col[:before], col[:found]])
        self.place = np.concatenate([self.place[:before], place[:found]])
        if self.fixed + self.size > self.tail.size:
            grown = self.fixed + self.size + max(found, self.size // 4)
            self.tail, self.head, self.cost, self.state, self.flow, self.cap = (
                longer(x, grown)
                for x in (self.tail, self.head, self.cost, self.state, self.flow, self.cap)
            )
        start.lay_core(
            self.row, self.col, self.keep[self.place], n, before, self.size, self.fixed, self.tail,
            self.head, self.state, self.flow, self.cap,
        )  # fmt: skip
        self.set_costs(before, nudged)
        return found

    def result(self, shape: tuple[int, ...], near: Prices) -> Exact:
        t = self.t
        n, m = t.shape
        pi, unit = self.whole(self.pi[:, 0]), 1.0 / self.grid
        source, sink = pi[list(simplex.terminals(n, m))]
        u = np.maximum(pi[:n] - source, 0) * unit
        w = np.maximum(sink - pi[n : n + m], 0) * unit
        price = float(max(source - sink, 0) * unit)
        warm = Prices(
            u,
            w,
            price,
            near.below_rows,
            near.above_rows,
            near.below_cols,
            near.above_cols,
            near.below_total,
            near.above_total,
            self.level,
        )
        u, w, price = u / self.scale, w / self.scale, price / self.scale
        u[self.closed_row], w[self.closed_col] = 0.0, 0.0
        if self.closed_row.any() or self.closed_col.any():
            table.close_duals(
                t.values, t.start, t.columns, t.dense, t.row_caps, t.col_caps, t.squared,
                u, w, price,
            )  # fmt: skip
        return Exact(self.keep.reshape(shape), u, w, price, warm, self.stats)

    def whole(self, pi: Ints) -> Ints:
        """Round potentials down to a common unit of all gains, if there is one.

        That keeps every reduced cost on its side, and the duals of integers are integers then.
        """
        bits = int(np.bitwise_or.reduce(self.cost[self.fixed : self.fixed + self.size, 0]))
        if bits == 0 or bits & 1:
            return pi
        t = self.t
        bits = table.all_bits(
            t.values, t.start, t.columns, t.dense, t.row_caps, t.col_caps, self.factor, t.squared,
            self.grid,
        )  # fmt: skip
        return pi & -(bits & -bits)


def draw(values: Floats) -> Floats:
    """Draw some 2,000 values and sort the sizes of those that are not 0."""
    drawn = np.abs(values[:: values.size // 2000 + 1])
    return np.sort(drawn[drawn > 0.0])


def has_ties(drawn: Floats) -> bool:
    """Guess from sorted values whether many are equal: then the first prices need the hash."""
    return int(np.count_nonzero(drawn[1:] == drawn[:-1])) > 0.02 * drawn.size


def grid_of(t: Table) -> float:
    """Choose the steps of the grid in the largest gain (or in twice that).

    A path of the tree has at most as many costs of either sign as the shorter side has groups,
    and one more, so that no potential can leave int64. The extra group of a list is not counted:
    a matrix and the list of its entries share their grid.
    """
    shorter = min(t.shape) - (not t.dense)
    return 2.0 ** min(56, 60 - (shorter + 2).bit_length())


def estimate_memory(size: int, dense: bool) -> int:
    """Bytes that a projection of `size` candidates is likely to need beyond its input."""
    return size + (4 if dense else 100) * size + 10_000_000


def ask_for_memory(t: Table) -> None:
    """Refuse before the work begins what the machine has no memory for."""
    need = estimate_memory(t.values.size, t.dense)
    have = available_memory() if need > WORTH_ASKING else None
    if have is not None and need > have:
        raise MemoryError(
            f"this projection needs about {need / 1e6:,.0f} MB beyond its input, "
            f"and {have / 1e6:,.0f} MB are available"
        )


def available_memory() -> int | None:
    """Bytes of memory that are free or can be freed; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def fewer(caps: Ints, share: float) -> Ints:
    """Scale caps to a share of their group; what may keep something still may."""
    return np.maximum(np.rint(caps * share), caps > 0).astype(np.int64)


def width(size: int) -> int:
    """How many ranks about its threshold a line of that size gives to the core."""
    return max(3, int(0.2 * np.sqrt(size)))


def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a longer array with the same beginning."""
    grown = np.empty((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


def sweep(
    row: NDArray[np.int32],
    col: NDArray[np.int32],
    gains: Floats,
    row_start: Ints,
    row_price: Floats,
    col_price: Floats,
    total_price: float,
    row_caps: Ints,
    col_caps: Ints,
    total: int,
    sides: str,
) -> Prices:
    """Prices of a list of entries by blocks of rows (r) and columns (c), and what is near them."""
    n, m = row_price.size, col_price.size
    by_col, col_start = np.empty(row.size, np.int32), np.empty(m + 1, np.int64)
    prices.by_column(col, m, col_start, by_col)
    row_by_col, gains_by_col = np.empty(row.size, np.int32), np.empty(row.size)
    prices.in_order(by_col, row, gains, row_by_col, gains_by_col)
    pool = np.empty(row.size + 1)
    row_price, col_price = row_price.copy(), col_price.copy()
    at_row, at_col = np.empty((2, n)), np.empty((2, m))
    pool_buffer, price = np.empty(row.size + 1), total_price
    row_width, col_width = width(row.size // max(n, 1)), width(row.size // max(m, 1))
    total_width = 2 + 2 * int(np.sqrt(max(total, 0)))
    for i, side in enumerate(sides):
        last = i >= len(sides) - 2
        if side == "r":
            price, low, high = prices.price_block(
                row_start, col, gains, col_price, row_caps, total, row_width * last,
                total_width * last, row_price, price, *at_row, pool, pool_buffer,
            )  # fmt: skip
            near_rows = surroundings(row_price, price, low, high, *at_row)
        else:
            price, low, high = prices.price_block(
                col_start, row_by_col, gains_by_col, row_price, col_caps, total, col_width * last,
                total_width * last, col_price, price, *at_col, pool, pool_buffer,
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

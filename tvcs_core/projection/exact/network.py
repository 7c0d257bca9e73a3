"""The core as a network: simplex on it, and passes over the table for what it has missed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Floats, Instance, Ints, longer
from tvcs_core.projection.exact.core import Core
from tvcs_core.projection.kernels import prices, simplex, start, table

WORST = 32  # violators of a row that join the core in one pass
PIVOTS = 5_000  # between two looks at Ctrl-C


class Network:
    """The arcs of kernels/simplex.py for a core, the tree, and the support `keep`.

    Attributes
    ----------
    stats
        Passes over the table, pivots, entries in the core.
    """

    def __init__(self, i: Instance, core: Core, keep: NDArray[np.bool_]) -> None:
        self.i, self.keep = i, keep
        self.row, self.col, self.place, self.size = core.row, core.col, core.place, core.row.size
        t, near = i.t, core.prices
        n, m = t.shape
        nodes = n + m + 2
        self.fixed = n + m + nodes
        arcs = self.fixed + self.size
        self.tail, self.head = np.empty(arcs, np.int32), np.empty(arcs, np.int32)
        self.cost, self.state = np.zeros((arcs, 2), np.int64), np.empty(arcs, np.int8)
        self.flow, self.cap = np.empty(arcs, np.int32), np.empty(arcs, np.int32)
        self.tree, self.pi = np.empty((nodes, 6), np.int32), np.empty((nodes, 2), np.int64)
        self.clock = np.zeros(3, np.int64)
        self.stats: dict[str, Any] = {"rounds": 0}
        start.lay_fixed_arcs(
            t.row_caps, t.col_caps, t.total, core.row_load, core.col_load,
            int(core.row_load.sum()), near.rows, near.cols, near.total, i.grid, self.tail,
            self.head, self.cost, self.state, self.flow, self.cap, self.tree,
        )  # fmt: skip
        self.lay(core.kept, 0)
        if core.is_tight:
            self.hang_by_entries()

    def prove(self, give_up: bool = False) -> bool:
        """Run the simplex until no entry of the table is on the wrong side of the prices.

        With `give_up` return False instead if more entries are than were in the core.
        """
        at_first = self.size
        for nudged in (True, False) if self.i.nudged else (False,):
            self.set_costs(0, nudged)
            simplex.price_tree(self.pi.shape[0], self.tail, self.cost, self.tree, self.pi)
            self.run_simplex()
            while found := self.add_violators(nudged):
                if give_up and found > at_first:
                    return False
                self.run_simplex()
            self.stats["pivots" if nudged else "pivots in all"] = int(self.clock[simplex.PIVOTS])
        self.stats["core"] = self.size
        return True

    def duals(self) -> tuple[Floats, Floats, float]:
        """Prices of rows, columns and the total, for scaled gains."""
        n, m = self.i.t.shape
        pi, unit = self.whole(self.pi[:, 0]), 1.0 / self.i.grid
        source, sink = pi[list(simplex.terminals(n, m))]
        u = np.maximum(pi[:n] - source, 0) * unit
        w = np.maximum(sink - pi[n : n + m], 0) * unit
        return u, w, float(max(source - sink, 0) * unit)

    def hang_by_entries(self) -> None:
        """Use the entries of a core that are all tight as arcs of the first tree."""
        n, m = self.i.t.shape
        by_col, col_start = np.empty(self.size, np.int32), np.empty(m + 1, np.int64)
        prices.by_column(self.col, m, col_start, by_col)
        row_start = np.searchsorted(self.row, np.arange(n + 1)).astype(np.int64)
        start.hang_by_entries(
            n, m, self.fixed, row_start, self.col, col_start, by_col, self.row, self.state,
            self.tree,
        )  # fmt: skip

    def lay(self, kept: NDArray[np.bool_], first: int) -> None:
        """Lay the arcs of the core's entries from `first` on."""
        start.lay_core(
            self.row, self.col, kept, self.i.t.shape[0], first, self.size, self.fixed, self.tail,
            self.head, self.state, self.flow, self.cap,
        )  # fmt: skip

    def set_costs(self, first: int, nudged: bool) -> None:
        """Set the costs of the core's entries from `first` on."""
        t, i = self.i.t, self.i
        table.entry_costs(
            t.values, t.columns, t.keys, t.dense, i.factor, t.squared, i.grid,
            nudged, self.row, self.col, self.place, first, self.size, self.fixed, self.cost,
        )  # fmt: skip

    def run_simplex(self) -> None:
        """Settle the core."""
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
        self.stats["rounds"] += 1
        self.keep[self.place[: self.size]] = self.flow[self.fixed : self.fixed + self.size] > 0
        row, col, place = self.violators(nudged)
        found = row.size
        if found == 0:
            return 0
        before, self.size = self.size, self.size + found
        self.row = np.concatenate([self.row[:before], row])
        self.col = np.concatenate([self.col[:before], col])
        self.place = np.concatenate([self.place[:before], place])
        if self.fixed + self.size > self.tail.size:
            grown = self.fixed + self.size + max(found, self.size // 4)
            for name in ("tail", "head", "cost", "state", "flow", "cap"):
                setattr(self, name, longer(getattr(self, name), grown))
        self.lay(self.keep[self.place], before)
        self.set_costs(before, nudged)
        return found

    def violators(self, nudged: bool) -> tuple[NDArray[np.int32], NDArray[np.int32], Ints]:
        """Rows, columns and places of the worst entries that are on the wrong side."""
        t, i = self.i.t, self.i
        n, at, found = t.row_caps.size, 0, 0
        room = max(1000, self.size // 4, 2 * WORST)
        row, col = np.empty(room, np.int32), np.empty(room, np.int32)
        place = np.empty(room, np.int64)
        while at < n:
            at, found = table.violators(
                *t.layout, i.factor, t.squared, nudged, i.grid, i.closed_row, i.closed_col,
                self.pi, self.keep, WORST, at, n, row, col, place, found,
            )  # fmt: skip
            if at < n:
                row, col, place = (longer(x, 2 * row.size) for x in (row, col, place))
        return row[:found], col[:found], place[:found]

    def whole(self, pi: Ints) -> Ints:
        """Round potentials down to a common unit of all gains, if there is one.

        That keeps every reduced cost on its side, and the duals of integers are integers then.
        """
        bits = int(np.bitwise_or.reduce(self.cost[self.fixed : self.fixed + self.size, 0]))
        if bits == 0 or bits & 1:
            return pi
        t = self.i.t
        bits = table.all_bits(
            t.values, t.start, t.columns, t.dense, t.row_caps, t.col_caps, self.i.factor,
            t.squared, self.i.grid,
        )  # fmt: skip
        return pi & -(bits & -bits)

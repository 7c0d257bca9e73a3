"""The core as a network: simplex on it, and passes over the table for what it has missed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance, Ints, longer
from tvcs_core.projection.exact.core import Core
from tvcs_core.projection.kernels import simplex, start, table
from tvcs_core.projection.kernels.records import Arcs, Grid, Listed, Prices, Tree

WORST, LONG = 32, 8  # violators of a row that join the core in one pass, or of few and long rows
PIVOTS = 5_000  # between two looks at Ctrl-C


class CoreNetwork:
    """The arcs of kernels/simplex.py for a core, the tree, and the support `keep`.

    Attributes
    ----------
    stats
        Passes over the table, pivots, entries in the core.
    """

    def __init__(self, i: Instance, core: Core, keep: NDArray[np.bool_]) -> None:
        self.i, self.keep = i, keep
        self.listed = core.listed._replace(gains=np.empty(0))  # the costs of the arcs say them
        n, m = i.shape
        nodes = n + m + 2
        self.fixed = n + m + nodes
        arcs = self.fixed + self.size
        tail, head, cap = (np.empty(arcs, np.int32) for _ in range(3))
        cost, state = np.zeros((arcs, 2), np.int64), np.empty(arcs, np.int8)
        self.arcs = Arcs(tail, head, cost, state, np.empty(arcs, np.int32), cap)
        self.tree = Tree(np.empty((nodes, 6), np.int32), np.empty((nodes, 2), np.int64))
        self.clock = np.zeros(3, np.int64)
        self.stats: dict[str, Any] = {"rounds": 0}
        start.lay_fixed_arcs(
            i.caps, core.load, core.near.prices, i.grid.steps, self.arcs, self.tree.links
        )
        start.lay_core(self.listed, core.kept, 0, self.fixed, n, self.arcs)

    @property
    def size(self) -> int:
        """How many entries the core holds."""
        return self.listed.row.size

    def prove(self, give_up: bool = False, budget: int | None = None) -> bool:
        """Run the simplex until no entry of the table is on the wrong side of the prices.

        With `give_up` return False instead if more entries are than were in the core, with a
        `budget` if that takes more pivots. It may be called again then, and goes on.
        """
        at_first = self.size
        for nudged in (True, False) if self.i.grid.nudged else (False,):
            grid = self.i.grid._replace(nudged=nudged)
            table.entry_costs(self.i.candidates, grid, self.listed, 0, self.fixed, self.arcs.cost)
            simplex.price_tree(self.arcs, self.tree)
            if not self.run_simplex(budget):
                return False
            while found := self.add_violators(grid):
                if (give_up and found > at_first) or not self.run_simplex(budget):
                    return False
            self.stats["pivots" if nudged else "pivots in all"] = int(self.clock[simplex.PIVOTS])
        self.stats["core"] = self.size
        return True

    def duals(self) -> Prices:
        """Prices of rows, columns and the total, for scaled gains."""
        n, m = self.i.shape
        pi, unit = self.whole(self.tree.pi[:, 0]), 1.0 / self.i.grid.steps
        source, sink = pi[list(simplex.terminals(n, m))]
        u = np.maximum(pi[:n] - source, 0) * unit
        w = np.maximum(sink - pi[n : n + m], 0) * unit
        return Prices(u, w, float(max(source - sink, 0) * unit))

    def run_simplex(self, budget: int | None = None) -> bool:
        """Settle the core; False if all pivots so far come to more than the budget."""
        n_arcs, patience = self.fixed + self.size, 10 * self.tree.pi.shape[0]
        block = max(20, int(0.7 * np.sqrt(n_arcs)))
        self.clock[simplex.AT] = self.fixed
        while not simplex.run_simplex(
            self.arcs, n_arcs, self.tree, self.clock, block, patience, PIVOTS
        ):
            if budget is not None and self.clock[simplex.PIVOTS] > budget:
                return False
        return True

    def add_violators(self, grid: Grid) -> int:
        """Append entries of the table that the core's prices call wrong; return how many."""
        self.stats["rounds"] += 1
        before, n = self.size, self.i.shape[0]
        self.keep[self.listed.place] = self.arcs.flow[self.fixed : self.fixed + before] > 0
        wrong = self.violators(grid)
        found = wrong.row.size
        if found == 0:
            return 0
        row, col, place, gains = self.listed
        self.listed = Listed(
            np.concatenate([row, wrong.row]),
            np.concatenate([col, wrong.col]),
            np.concatenate([place, wrong.place]),
            gains,
        )
        if self.fixed + self.size > self.arcs.tail.size:
            grown = self.fixed + self.size + max(found, self.size // 4)
            self.arcs = Arcs._make(longer(x, grown) for x in self.arcs)
        start.lay_core(self.listed, self.keep[self.listed.place], before, self.fixed, n, self.arcs)
        table.entry_costs(self.i.candidates, grid, self.listed, before, self.fixed, self.arcs.cost)
        return found

    def violators(self, grid: Grid) -> Listed:
        """The worst entries that are on the wrong side."""
        i, at, found = self.i, 0, 0
        worst = max(WORST, LONG * i.shape[1] // i.shape[0])
        room = max(1000, self.size // 4, 2 * worst)
        row, col = np.empty(room, np.int32), np.empty(room, np.int32)
        place, gains = np.empty(room, np.int64), np.empty(0)
        while at < i.shape[0]:
            at, found = table.violators(
                i.candidates, i.caps, grid, self.tree.pi, self.keep, worst, at,
                Listed(row, col, place, gains), found,
            )  # fmt: skip
            if at < i.shape[0]:
                row, col, place = (longer(x, 2 * row.size) for x in (row, col, place))
        return Listed(row[:found], col[:found], place[:found], gains)

    def whole(self, pi: Ints) -> Ints:
        """Round potentials down to a common unit of all gains, if there is one.

        That keeps every reduced cost on its side, and the duals of integers are integers then.
        """
        costs = self.arcs.cost[self.fixed : self.fixed + self.size, 0]
        bits = int(np.bitwise_or.reduce(costs))
        if bits == 0 or bits & 1:
            return pi
        bits = table.all_bits(self.i.candidates, self.i.caps, self.i.grid)
        return pi & -(bits & -bits)

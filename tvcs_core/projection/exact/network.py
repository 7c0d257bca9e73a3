"""Network simplex on the core, and passes over the table for entries that the core lacks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance, Ints, extended, room_for
from tvcs_core.projection.exact.core import Core
from tvcs_core.projection.kernels import simplex, start, table
from tvcs_core.projection.kernels.records import Arcs, EntryList, Grid, Prices, Tree

MAX_VIOLATORS_PER_ROW = 32  # that join the core in one pass (docs/method.md, step 4)
PIVOTS_PER_CALL = 5_000  # between two checks for Ctrl-C


class CoreNetwork:
    """The core as arcs of kernels/simplex.py, with the spanning tree and the support mask.

    Attributes
    ----------
    stats
        Numbers of passes over the table, of pivots, and of core entries.
    """

    def __init__(self, instance: Instance, core: Core, mask: NDArray[np.bool_]) -> None:
        self.instance, self.mask = instance, mask
        self.listed = core.listed._replace(gains=np.empty(0))  # arc costs replace the gains
        n, m = instance.shape
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
            instance.caps,
            core.load,
            core.core_band.prices,
            instance.grid.steps,
            self.arcs,
            self.tree.links,
        )
        start.lay_core(self.listed, core.kept, 0, self.fixed, n, self.arcs)

    @property
    def size(self) -> int:
        """Number of core entries."""
        return self.listed.row.size

    def prove(self, budget: int | None = None) -> bool:
        """Run the simplex until no entry of the table has the wrong sign of reduced cost.

        Returns False early if the pivots exceed `budget`. A later call continues the work.
        """
        for nudged in (True, False) if self.instance.grid.nudged else (False,):
            grid = self.instance.grid._replace(nudged=nudged)
            table.entry_costs(
                self.instance.candidates, grid, self.listed, 0, self.fixed, self.arcs.cost
            )
            simplex.price_tree(self.arcs, self.tree)
            if not self.run_simplex(budget):
                return False
            while self.add_violators(grid):
                if not self.run_simplex(budget):
                    return False
            self.stats["pivots" if nudged else "pivots in all"] = int(self.clock[simplex.PIVOTS])
        self.stats["core"] = self.size
        return True

    def duals(self) -> Prices:
        """Return the prices of rows, columns and the total, for scaled gains."""
        n, m = self.instance.shape
        pi, unit = self.round_to_unit(self.tree.pi[:, 0]), 1.0 / self.instance.grid.steps
        source, sink = pi[list(simplex.terminals(n, m))]
        u = np.maximum(pi[:n] - source, 0) * unit
        w = np.maximum(sink - pi[n : n + m], 0) * unit
        return Prices(u, w, float(max(source - sink, 0) * unit))

    def run_simplex(self, budget: int | None) -> bool:
        """Optimise on the core; return False if all pivots so far exceed the budget."""
        n_arcs, patience = self.fixed + self.size, 10 * self.tree.pi.shape[0]
        block = max(20, int(0.7 * np.sqrt(n_arcs)))
        self.clock[simplex.AT] = self.fixed
        while not simplex.run_simplex(
            self.arcs, n_arcs, self.tree, self.clock, block, patience, PIVOTS_PER_CALL
        ):
            if budget is not None and self.clock[simplex.PIVOTS] > budget:
                return False
        return True

    def add_violators(self, grid: Grid) -> int:
        """Append entries of the table that violate their reduced cost; return their number."""
        self.stats["rounds"] += 1
        before, n = self.size, self.instance.shape[0]
        self.mask[self.listed.position] = self.arcs.flow[self.fixed : self.fixed + before] > 0
        wrong = self.violators(grid)
        found = wrong.row.size
        if found == 0:
            return 0
        both: Any = zip(self.listed, wrong, strict=True)
        self.listed = EntryList._make(map(np.concatenate, both))
        if self.fixed + self.size > self.arcs.tail.size:
            grown = self.fixed + self.size + max(found, self.size // 4)
            self.arcs = Arcs._make(extended(x, grown) for x in self.arcs)
        start.lay_core(
            self.listed, self.mask[self.listed.position], before, self.fixed, n, self.arcs
        )
        table.entry_costs(
            self.instance.candidates, grid, self.listed, before, self.fixed, self.arcs.cost
        )
        return found

    def violators(self, grid: Grid) -> EntryList:
        """Return the worst violating entries of the table."""
        instance, at, found = self.instance, 0, 0
        listed = room_for(max(1000, self.size // 4))
        while at < instance.shape[0]:
            at, found = table.violators(
                instance.candidates, grid, self.tree.pi, self.mask, MAX_VIOLATORS_PER_ROW, at,
                listed, found,
            )  # fmt: skip
            if at < instance.shape[0]:
                grown = 2 * listed.row.size
                listed = EntryList._make(extended(x, grown) for x in listed)
        return EntryList._make(x[:found] for x in listed)._replace(gains=np.empty(0))

    def round_to_unit(self, pi: Ints) -> Ints:
        """Round potentials down to the common unit of all gains, if that is not 1.

        This preserves the sign of every reduced cost, and gives integer duals for integer gains.
        """
        costs = self.arcs.cost[self.fixed : self.fixed + self.size, 0]
        bits = int(np.bitwise_or.reduce(costs))
        if bits == 0 or bits & 1:
            return pi
        bits = table.all_bits(self.instance.candidates, self.instance.grid)
        return pi & -(bits & -bits)

"""Phases of the scan, each of bounded calls, so that Ctrl-C is answered between them."""

from typing import Any

import numpy as np

from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.kernels import table
from tvcs_core.projection.kernels.records import Prices
from tvcs_core.projection.kernels.scan import flow as tables
from tvcs_core.projection.kernels.scan import paths, potentials, refine, ties, unique
from tvcs_core.projection.kernels.scan.flow import (
    BLOCK,
    EXCESS,
    FAILED,
    LEAST,
    NONE,
    PRICE,
    ROOM,
    TURNS,
    Flow,
)

LAID_OUT = 10_000_000  # entries of the table that are laid out in one call
LOOKED_AT = 50_000_000  # entries that turns in one call look at
TIGHT = 8  # arcs per node, more than which are taken to hold a cycle


class Phases:
    """A flow on the tables, and what is done to it.

    Attributes
    ----------
    nodes
        How many groups there are, source and sink included.
    imbalance
        How many entries a group with a price keeps too many or too few by the first prices.
    has_ties
        Whether so many entries are worth the same that flows are best before prices are exact.
    """

    def __init__(self, i: Instance, prices: Prices) -> None:
        self.i, (n, m) = i, i.shape
        self.nodes = n + m + 2
        self.has_ties = i.has_ties
        self.stats: dict[str, Any] = {"path": "scan", "phases": 0}
        self.flow, self.clock = empty_flow(i, prices), np.zeros(4, np.int64)
        self.most = max(1, LOOKED_AT // max(n, m))
        chunk = max(1, LAID_OUT // m // BLOCK) * BLOCK
        for r in range(0, n, chunk):
            tables.lay_out(i.candidates, i.caps, i.grid, self.flow, r, min(r + chunk, n))
        self.imbalance = self._mean_imbalance()
        # One more than all rows or all columns take, so that a total that does not bind has room.
        rows, cols = int(i.caps.rows.sum()), int(i.caps.cols.sum())
        lay_ends(self.flow, min(i.caps.total, min(rows, cols) + 1))

    def _mean_imbalance(self) -> float:
        (n, m), at, found = self.i.shape, self.flow.columns, 0.0
        off, price = np.abs(np.abs(self.flow.excess) - self.flow.cap), self.flow.price
        for of, end in ((slice(n), self.flow.ends[PRICE]), (slice(at, at + m), 0)):
            full = price[of] != end
            found = max(found, int(off[of] @ full) / max(int(np.count_nonzero(full)), 1))
        return found

    @property
    def turns(self) -> int:
        """Of all nodes, so far."""
        return int(self.clock[TURNS])

    def refine(self, eps: int, budget: int) -> bool:
        """Make the flow feasible at prices right to within eps; False if the budget is spent."""
        self.stats["phases"] += 1
        last, done, is_first = self.turns + budget, False, True
        while not done and self.turns < last and not self.has_failed:
            most = min(self.most, last - self.turns)
            done = refine.refine(self.flow, eps, self.clock, most, is_first)
            is_first = False
        return done

    @property
    def has_failed(self) -> bool:
        """Whether some price fell out of the range of whole numbers that may be added."""
        return bool(self.clock[FAILED])

    def is_nearly_right(self, eps: int, few: int) -> bool:
        """Whether fewer units than that are in excess or on wrong arcs, at prices within eps.

        If so, nodes that share source's or sink's price are given it.
        """
        return bool(paths.are_few_wrong(self.flow, eps, few))

    def make_exact(self, budget: int) -> bool:
        """Find prices that are exact for the flow as it is; False if that is not a best one.

        It is not told from one whose prices the budget is not enough for.
        """
        return bool(potentials.make_exact(self.flow, self.clock, budget))

    def send(self, budget: int) -> bool:
        """Right all wrong arcs and send the excesses along shortest paths; False as `refine`.

        Once it is done, prices are exact. If it is not, `refine` goes on from what it has done.
        """
        self.stats["sent"] = self.stats.get("sent", 0) + 1
        last, done = self.turns + budget, False
        refine.prepare(self.flow, 0, self.clock)
        while not done and self.turns < last and not self.has_failed:
            done = paths.send_all(self.flow, self.clock, min(self.most, last - self.turns))
        return done

    def prove(self) -> tuple[bool, bool]:
        """Whether the flow is a best one at these prices, and whether it is the only one."""
        tail, head = np.empty((2, TIGHT * self.nodes), np.int64)
        found = unique.is_only_best(self.flow, tail, head)
        return found >= 0, found > 0

    def fill(self, keep: Any) -> None:
        """Fill in the support, (n, m)."""
        n, m = self.i.shape
        of_cols = self.flow.table[self.flow.start[self.flow.columns] :]
        np.greater(of_cols.reshape(m, self.flow.columns)[:, :n].T, LEAST, out=keep)

    def keep_tight(self) -> None:
        """Turn to the flows that are as good: from here on their entries are worth their hashes."""
        ties.keep_tight(self.flow, self.i.candidates.keys)
        self.has_ties = False
        self.stats["ties"] = True

    def refill(self, keep: Any) -> None:
        """Correct the support, (n, m), by what `keep_tight` and phases after it have changed."""
        ties.read_kept(self.flow, keep)

    def prices(self) -> Prices:
        """Prices of rows, columns and the total, for scaled gains."""
        (n, m), columns, step = self.i.shape, self.flow.columns, 1.0 / self.i.grid.steps
        unit = self.unit()
        pi, (source, sink) = self.flow.price & -unit, self.flow.ends[PRICE : PRICE + 2] & -unit
        u = np.maximum(pi[:n] - source, 0) * step
        w = np.maximum(sink - pi[columns : columns + m], 0) * step
        return Prices(u, w, float(max(source - sink, 0) * step))

    def unit(self) -> int:
        """A common unit of all gains, to which potentials may be rounded (see `CoreNetwork`)."""
        some = int(np.bitwise_or.reduce(self.flow.table[:LAID_OUT:97]))
        if some & 1:
            return 1
        bits = table.all_bits(self.i.candidates, self.i.caps, self.i.grid)
        return int(bits & -bits) or 1


def lay_ends(flow: Flow, total: int) -> None:
    """Let source and sink give and take what the lines need, as far as caps and total allow."""
    rows, cols = slice(flow.columns), slice(flow.columns, None)
    given = np.minimum(-flow.excess[rows], flow.cap[rows])
    taken = np.minimum(flow.excess[cols], flow.cap[cols])
    flow.room[rows], flow.room[cols] = given, flow.cap[cols] - taken
    flow.excess[rows] += given
    flow.excess[cols] -= taken
    units = min(int(taken.sum()), total)
    flow.ends[EXCESS], flow.ends[EXCESS + 1] = units - given.sum(), taken.sum() - units
    flow.ends[ROOM], flow.ends[ROOM + 1] = units, total - units


def empty_flow(i: Instance, prices: Prices) -> Flow:
    """Nothing flows; potentials are the prices. Padding of the tables has no arcs."""
    (n, m), steps = i.shape, i.grid.steps
    columns, across = -(-n // BLOCK) * BLOCK, -(-m // BLOCK) * BLOCK
    of_rows, of_cols = slice(n), slice(columns, columns + m)
    price, cap, start, excess, room = np.zeros((5, columns + across), np.int64)
    start[:] = -1
    total = np.int64(np.rint(prices.total * steps))
    price[of_rows] = total + np.rint(np.minimum(prices.rows, 1.0) * steps).astype(np.int64)
    price[of_cols] = -np.rint(np.minimum(prices.cols, 1.0) * steps).astype(np.int64)
    cap[of_rows], cap[of_cols] = i.caps.rows, i.caps.cols
    start[of_rows] = np.arange(n) * across
    start[of_cols] = n * across + np.arange(m) * columns
    both = np.empty(n * across + m * columns, np.int64)
    both[: n * across].reshape(n, across)[:, m:] = NONE
    both[n * across :].reshape(m, columns)[:, n:] = NONE
    nodes = columns + across + 2
    ends, queue = np.zeros(6, np.int64), np.zeros(1 << nodes.bit_length(), np.int64)
    ends[PRICE] = total
    waiting = np.zeros(nodes, bool)
    return Flow(both, start, price, excess, room, cap, ends, queue, waiting, columns)

"""Phases of cost scaling, in calls of bounded length so that Ctrl-C is answered between them."""

from typing import Any

import numpy as np

from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.kernels import table
from tvcs_core.projection.kernels.cost_scaling import flow as tables
from tvcs_core.projection.kernels.cost_scaling import paths, potentials, refine, ties, unique
from tvcs_core.projection.kernels.cost_scaling.flow import (
    BELOW_ALL_OFFERS,
    EXCESS,
    FAILED,
    NO_ARC,
    PRICE,
    ROOM,
    TABLE_ALIGNMENT,
    TURNS,
    Flow,
)
from tvcs_core.projection.kernels.records import Prices

LAYOUT_ENTRIES_PER_CALL = 10_000_000  # entries of the table laid out per call
TURN_ENTRIES_PER_CALL = 50_000_000  # entries that the turns of one call may read
MAX_TIGHT_PER_NODE = 8  # tight arcs per node; more are assumed to contain a cycle


class Phases:
    """A flow on the tables, and the operations on it.

    Attributes
    ----------
    nodes
        Number of groups, plus source and sink.
    imbalance
        Mean deviation of the loads of priced groups from their caps, by the first prices.
    has_ties
        Whether ties are so many that flows become optimal before prices are exact.
    """

    def __init__(self, instance: Instance, prices: Prices) -> None:
        self.instance, (n, m) = instance, instance.shape
        self.nodes = n + m + 2
        self.has_ties = instance.has_ties
        self.stats: dict[str, Any] = {"path": "cost scaling", "phases": 0}
        self.flow, self.clock = empty_flow(instance, prices), np.zeros(4, np.int64)
        self.most = max(1, TURN_ENTRIES_PER_CALL // max(n, m))
        chunk = max(1, LAYOUT_ENTRIES_PER_CALL // m // TABLE_ALIGNMENT) * TABLE_ALIGNMENT
        for r in range(0, n, chunk):
            tables.lay_out(
                instance.candidates, instance.caps, instance.grid, self.flow, r, min(r + chunk, n)
            )
        self.imbalance = self._mean_imbalance()
        # One more than all rows or columns take, so that a total that does not bind has room.
        rows, cols = int(instance.caps.rows.sum()), int(instance.caps.cols.sum())
        lay_ends(self.flow, min(instance.caps.total, min(rows, cols) + 1))

    def _mean_imbalance(self) -> float:
        (n, m), at, found = self.instance.shape, self.flow.columns, 0.0
        off, price = np.abs(np.abs(self.flow.excess) - self.flow.cap), self.flow.price
        for of, end in ((slice(n), self.flow.ends[PRICE]), (slice(at, at + m), 0)):
            full = price[of] != end
            found = max(found, int(off[of] @ full) / max(int(np.count_nonzero(full)), 1))
        return found

    @property
    def turns(self) -> int:
        """Number of turns of all nodes so far."""
        return int(self.clock[TURNS])

    def refine(self, eps: int, budget: int) -> bool:
        """Make the flow feasible, optimal to within eps; False if `budget` turns do not suffice."""
        self.stats["phases"] += 1
        last, done, is_first = self.turns + budget, False, True
        while not done and self.turns < last and not self.has_failed:
            most = min(self.most, last - self.turns)
            done = refine.refine(self.flow, eps, self.clock, most, is_first)
            is_first = False
        return done

    @property
    def has_failed(self) -> bool:
        """Whether a price left the range in which sums cannot overflow."""
        return bool(self.clock[FAILED])

    def is_nearly_right(self, eps: int, few: int) -> bool:
        """Return whether fewer than `few` units are in excess or on wrong arcs, within eps.

        If so, nodes that share the price of source or sink are set to exactly that price.
        """
        return bool(paths.are_few_wrong(self.flow, eps, few))

    def make_exact(self, budget: int) -> bool:
        """Find exact prices for the present flow; False if it is not optimal.

        False is also returned if `budget` turns do not suffice.
        """
        return bool(potentials.make_exact(self.flow, self.clock, budget))

    def send(self, budget: int) -> bool:
        """Correct all wrong arcs and send excesses along shortest paths; False as in `refine`.

        Prices are exact at the end. If it stops early, `refine` can continue from the result.
        """
        self.stats["sent"] = self.stats.get("sent", 0) + 1
        last, done = self.turns + budget, False
        refine.prepare(self.flow, 0, self.clock)
        while not done and self.turns < last and not self.has_failed:
            done = paths.send_all(self.flow, self.clock, min(self.most, last - self.turns))
        return done

    def prove(self) -> tuple[bool, bool]:
        """Return whether the flow is optimal at these prices, and whether it is the only one."""
        tail, head = np.empty((2, MAX_TIGHT_PER_NODE * self.nodes), np.int64)
        found = unique.is_only_best(self.flow, tail, head)
        return found >= 0, found > 0

    def fill(self, mask: Any) -> None:
        """Fill in the support, (n, m)."""
        n, m = self.instance.shape
        of_cols = self.flow.table[self.flow.start[self.flow.columns] :]
        np.greater(of_cols.reshape(m, self.flow.columns)[:, :n].T, BELOW_ALL_OFFERS, out=mask)

    def keep_tight(self) -> None:
        """Restrict to the equally good flows: from now on tight entries are worth their hashes."""
        ties.keep_tight(self.flow, self.instance.candidates.keys)
        self.has_ties = False
        self.stats["ties"] = True

    def refill(self, mask: Any) -> None:
        """Correct the support, (n, m), after `keep_tight` and further phases."""
        ties.read_kept(self.flow, mask)

    def prices(self) -> Prices:
        """Return the prices of rows, columns and the total, for scaled gains."""
        (n, m), columns, step = (
            self.instance.shape,
            self.flow.columns,
            1.0 / self.instance.grid.steps,
        )
        unit = self.unit()
        pi, (source, sink) = self.flow.price & -unit, self.flow.ends[PRICE : PRICE + 2] & -unit
        u = np.maximum(pi[:n] - source, 0) * step
        w = np.maximum(sink - pi[columns : columns + m], 0) * step
        return Prices(u, w, float(max(source - sink, 0) * step))

    def unit(self) -> int:
        """Return a common unit of all gains, to which potentials may be rounded (`CoreNetwork`)."""
        some = int(np.bitwise_or.reduce(self.flow.table[:LAYOUT_ENTRIES_PER_CALL:97]))
        if some & 1:
            return 1
        bits = table.all_bits(self.instance.candidates, self.instance.caps, self.instance.grid)
        return int(bits & -bits) or 1


def lay_ends(flow: Flow, total: int) -> None:
    """Let source and sink give and take the lines' needs, as far as caps and total allow."""
    rows, cols = slice(flow.columns), slice(flow.columns, None)
    given = np.minimum(-flow.excess[rows], flow.cap[rows])
    taken = np.minimum(flow.excess[cols], flow.cap[cols])
    flow.room[rows], flow.room[cols] = given, flow.cap[cols] - taken
    flow.excess[rows] += given
    flow.excess[cols] -= taken
    units = min(int(taken.sum()), total)
    flow.ends[EXCESS], flow.ends[EXCESS + 1] = units - given.sum(), taken.sum() - units
    flow.ends[ROOM], flow.ends[ROOM + 1] = units, total - units


def empty_flow(instance: Instance, prices: Prices) -> Flow:
    """Return the zero flow with the prices as potentials; padding of the tables has no arcs."""
    (n, m), steps = instance.shape, instance.grid.steps
    columns, across = (
        -(-n // TABLE_ALIGNMENT) * TABLE_ALIGNMENT,
        -(-m // TABLE_ALIGNMENT) * TABLE_ALIGNMENT,
    )
    of_rows, of_cols = slice(n), slice(columns, columns + m)
    price, cap, start, excess, room = np.zeros((5, columns + across), np.int64)
    start[:] = -1
    total = np.int64(np.rint(prices.total * steps))
    price[of_rows] = total + np.rint(np.minimum(prices.rows, 1.0) * steps).astype(np.int64)
    price[of_cols] = -np.rint(np.minimum(prices.cols, 1.0) * steps).astype(np.int64)
    cap[of_rows], cap[of_cols] = instance.caps.rows, instance.caps.cols
    start[of_rows] = np.arange(n) * across
    start[of_cols] = n * across + np.arange(m) * columns
    both = np.empty(n * across + m * columns, np.int64)
    both[: n * across].reshape(n, across)[:, m:] = NO_ARC
    both[n * across :].reshape(m, columns)[:, n:] = NO_ARC
    nodes = columns + across + 2
    ends, queue = np.zeros(6, np.int64), np.zeros(1 << nodes.bit_length(), np.int64)
    ends[PRICE] = total
    waiting = np.zeros(nodes, bool)
    return Flow(both, start, price, excess, room, cap, ends, queue, waiting, columns)

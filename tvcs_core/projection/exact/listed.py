"""The best support of a list of candidates: cost scaling for first prices, and shortest paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance, PricedSupport, room_for, scaled_gains
from tvcs_core.projection.kernels import table
from tvcs_core.projection.kernels.lists import flow as flows
from tvcs_core.projection.kernels.lists import paths, scaling
from tvcs_core.projection.kernels.lists.total import REACH, greedy_price, safe_step
from tvcs_core.projection.kernels.prices import by_column
from tvcs_core.projection.kernels.records import EntryList, Ints, Prices

LOOKS_PER_CALL = 2_000_000  # entries looked at between two checks for Ctrl-C, about .02 s
# Entries per line that has any, from which first prices come before paths.
# Measured by `benchmarks.speed.projection --only "list shapes"` (docs/method.md, "Lists").
MIN_ENTRIES_SCALED = 10
EPS_SHARE = 64  # 1 / the share of the mean price that the first eps is
EPS_DIVISOR, MAX_PHASES = 8, 5
MAX_LOOKS_PHASE = 60  # per entry
# Lines that may keep their excess at the end of a phase; 1 / the share of them, if that is more.
MIN_FEW, FEW_INVERSE = 4, 512
RIGHT_INVERSE = 50  # 1 / the share of lines that are misplaced by prices that are good enough
SPARE_INVERSE = 512  # 1 / the share of the total that is left for steps of its price
MIN_STEP_INVERSE = 8  # 1 / the share of the missing entries that a step of the total must bring


class ListSearch:
    """A list of candidates with its flow (kernels/lists/flow.py) and the state of the search.

    The rows of the flow are the side that has fewer entries to keep: the columns if `turned`.

    Attributes
    ----------
    position
        Position of each entry in the candidates.
    units
        Most entries that the total allows.
    steps
        Number of prices of the total that were tried.
    """

    def __init__(self, instance: Instance, least: float) -> None:
        (n, m), size, candidates = instance.shape, instance.open_size, instance.candidates
        self.turned = instance.row_capacity > instance.col_capacity
        listed = room_for(size)
        grid, start = instance.grid._replace(nudged=False), np.empty(n + 1, np.int64)
        table.list_open(candidates, grid, least, listed, start)
        size = int(start[n])
        row, col, self.position, gains = listed = EntryList._make(x[:size] for x in listed)
        if self.turned:
            order = np.empty(size, np.int32)
            by_column(col, m, np.empty(m + 1, np.int64), order)
            self.position = self.position[order]
            listed = EntryList(row[order], col[order], self.position, gains[order])
        caps = [instance.caps.rows, instance.caps.cols]
        self.caps = np.concatenate(caps[::-1] if self.turned else caps)
        self.flow = flows.ListFlow(
            ends=np.empty((size, 2), np.int32),
            gain=np.empty((size, 2), np.int64),
            start=np.empty(n + m + 1, np.int64),
            order=np.empty(2 * size, np.int32),
            spot=np.empty((size, 2), np.int32),
            cap=self.caps.copy(),
            load=np.empty(n + m, np.int64),
            price=np.zeros((n + m, 2), np.int64),
            total=np.zeros(2, np.int64),
            rows=m if self.turned else n,
        )
        flows.lay_lines(listed, candidates.keys, grid, self.turned, self.flow)
        self.search = paths.Search(
            distance=np.empty((n + m, 2), np.int64),
            via=np.empty(n + m, np.int32),
            heap=np.empty(n + m, np.int32),
            place=np.full(n + m, paths.NEW, np.int32),
            seen=np.empty(n + m, np.int32),
            looks=np.zeros(1, np.int64),
        )
        self.pairs, self.free = np.empty((size + 1, 2), np.int64), np.empty(size, np.int32)
        self.units, self.steps = min(instance.caps.total, size), 0
        self.is_binding = is_binding(instance)

    @property
    def missing(self) -> int:
        """Number of entries that the total still allows."""
        return self.units - int(self.flow.load[: self.flow.rows].sum())

    def run(self) -> None:
        """Find the best support, of thick lists from first prices."""
        filled = np.count_nonzero(np.diff(self.flow.start))
        if self.position.size >= MIN_ENTRIES_SCALED * filled:
            self.run_from(*self.first_prices())
        elif self.is_binding:
            # At this price of the total nothing is kept.
            self.flow.total[0] = self.flow.gain[:, 0].max() + 1
            self.lower_total()
        else:
            flows.keep_wanted(self.flow, self.pairs)
            self.serve()

    def lower_total(self) -> None:
        """Lower the price of the total by steps, until nothing is missing or it is 0."""
        flow, reach = self.flow, int(self.flow.total[0])
        while (missing := self.missing) > 0 and flow.total.any():
            self.steps += 1
            fall = safe_step(missing, reach, flow, self.pairs, 2)
            paths.lower_total(flow, *fall)
            reach = REACH * int(fall[0]) + 1
            self.serve()
            left = self.missing
            if left > 0 and MIN_STEP_INVERSE * (missing - left) < missing and flow.total.any():
                paths.send(-1, flow, self.search)

    def serve(self) -> None:
        """Serve all pending lines."""
        at, lines = 0, self.flow.cap.size
        while at < lines:
            at = paths.serve(at, self.flow, self.search, self.pairs, self.free, LOOKS_PER_CALL)

    def begin(self, col_prices: Ints, units: int, least: int = 0) -> None:
        """Keep what rows want at prices of the columns, at a price of the total for `units`.

        That price is found sooner if it is more than `least`.
        """
        flow, n = self.flow, self.flow.rows
        flow.load[:], flow.price[:], flow.total[:] = 0, 0, 0
        flow.price[n:, 0] = col_prices
        if self.is_binding:
            flow.total[0] = flow.gain[:, 0].max() + 1
            if units > 0:
                reach = int(flow.total[0]) - least
                paths.lower_total(flow, *safe_step(units, reach, flow, self.pairs, 1))
        flows.keep_wanted(flow, self.pairs)

    def first_prices(self) -> tuple[Ints, int]:
        """Return prices of the columns by cost scaling, and one below that of the total."""
        flow, n, lines, size = self.flow, self.flow.rows, self.flow.cap.size, self.position.size
        self.begin(np.zeros(lines - n, np.int64), self.units)
        nodes = scaling.Nodes(
            price=np.empty(lines + 2, np.int64),
            excess=np.empty(lines + 2, np.int64),
            through=np.empty(lines, np.int64),
            bound=np.empty(lines, np.int64),
            direct=np.empty(2, np.int64),
            across=np.empty(size, np.int32),
            offer=np.empty(size, np.int64),
            held=np.empty(lines, np.int64),
            kept=np.empty(size, np.int32),
            row=np.empty(size, np.int32),
            gain=np.empty(size, np.int64),
            queue=np.empty(1 << lines.bit_length(), np.int64),
            waiting=np.zeros(lines, bool),
            clock=np.zeros(4, np.int64),
        )
        scaling.lay_nodes(flow, self.units, nodes)
        level = int(flow.price[:, 0].mean()) // EPS_SHARE
        few = max(MIN_FEW, lines // FEW_INVERSE)
        eps, phases = level, 0
        while eps > 0 and phases < MAX_PHASES:
            limit, is_first, is_done = MAX_LOOKS_PHASE * size, True, False
            nodes.clock[scaling.LOOKS] = 0
            while not is_done and nodes.clock[scaling.LOOKS] < limit:
                most = min(LOOKS_PER_CALL, limit)
                is_done = scaling.refine(flow, nodes, eps, few, most, self.pairs, is_first)
                is_first = False
            self.search.looks[0] += nodes.clock[scaling.LOOKS]
            if nodes.clock[scaling.WRONG] * RIGHT_INVERSE < lines and phases > 0:
                break
            eps, phases = eps // EPS_DIVISOR, phases + 1
        source, sink = nodes.price[lines:]
        least = max(0, int(source - sink) - level)
        return np.maximum(sink - nodes.price[n:lines], 0), least

    def run_from(self, col_prices: Ints, least: int) -> None:
        """Find the best support from prices of the columns, and one below that of the total."""
        spare = 1 + self.units // SPARE_INVERSE
        while True:
            self.begin(col_prices, self.units - spare, least)
            self.serve()
            if self.missing >= 0 or not self.is_binding:
                break
            spare = 4 * (spare - self.missing)
        self.lower_total()

    def prices(self, scale: float) -> Prices:
        """Return the prices on the grid, times `scale`.

        They are rounded to the common unit of all gains, which leaves every sign of a slack as it
        is and gives integer prices for integer gains.
        """
        flow, total = self.flow, int(self.flow.total[0])
        bits = int(np.bitwise_or.reduce(flow.gain[:, 0]))
        unit = bits & -bits if bits else 1
        price = total & -unit
        flows.centre(flow, self.caps)
        of_rows = ((flow.price[: flow.rows, 0] + total) & -unit) - price
        of_cols = -(-flow.price[flow.rows :, 0] & -unit)
        if self.turned:
            of_rows, of_cols = of_cols, of_rows
        return Prices(np.multiply(of_rows, scale), np.multiply(of_cols, scale), price * scale)


def solve_list(instance: Instance, mask: NDArray[np.bool_]) -> PricedSupport:
    """Return the best support of a list, with its prices; fills in `mask`, which must be empty."""
    least = likely_price(instance)
    search, prices = searched(instance, least)
    if least > 0.0 and prices.total <= least / instance.scale:
        search, prices = searched(instance, 0.0)
    flow = search.flow
    row = flow.ends[:, 0]
    mask[search.position] = flow.spot[:, 0] < flow.start[row] + flow.load[row]
    looks = int(search.search.looks[0])
    stats: dict[str, Any] = {"path": "paths", "steps": search.steps, "looks": looks}
    return PricedSupport(mask, *prices, stats)


def is_binding(instance: Instance) -> bool:
    """Return whether the total is less than what the rows, and the columns, may keep."""
    return instance.caps.total < min(instance.row_capacity, instance.col_capacity)


def likely_price(instance: Instance) -> float:
    """Return a likely lower bound on the price of the total; entries of less gain are not kept."""
    if not is_binding(instance):
        return 0.0
    bits = scaled_gains(instance, instance.candidates.values).view(np.int64)
    return float(np.int64(greedy_price(instance.candidates, instance.caps, bits)).view(np.float64))


def searched(instance: Instance, least: float) -> tuple[ListSearch, Prices]:
    """Return the search among entries whose gains are at least `least`, and its prices."""
    search = ListSearch(instance, least)
    search.run()
    return search, search.prices(1.0 / (instance.grid.steps * instance.scale))

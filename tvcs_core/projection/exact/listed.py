"""The best support of a list of candidates, by shortest augmenting paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import ExactSolution, Instance, price_closed
from tvcs_core.projection.kernels import table
from tvcs_core.projection.kernels.lists import flow as flows
from tvcs_core.projection.kernels.lists import paths
from tvcs_core.projection.kernels.lists.total import safe_step
from tvcs_core.projection.kernels.records import EntryList, Prices

LOOKS_PER_CALL = 2_000_000  # entries looked at between two checks for Ctrl-C, about .02 s
# Looks per entry after which the simplex is faster, on lists with so many entries per line: random
# ones take 1 to 15. On thinner lists the simplex has large trees to walk (docs/method.md).
MAX_LOOKS_PER_ENTRY, MIN_ENTRIES_PER_LINE = 32, 4
UNLIMITED = 2**60  # more looks than there can be
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

    def __init__(self, instance: Instance) -> None:
        (n, m), size, candidates = instance.shape, instance.open_size, instance.candidates
        self.turned = instance.row_capacity > instance.col_capacity
        row, col = np.empty((2, size), np.int32)
        self.position = np.empty(size, np.int64)
        listed = EntryList(row, col, self.position, np.empty(size))
        grid = instance.grid._replace(nudged=False)
        table.list_open(candidates, instance.caps, grid, listed, np.empty(n + 1, np.int64))
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
        self.is_binding = self.units < min(instance.row_capacity, instance.col_capacity)

    @property
    def missing(self) -> int:
        """Number of entries that the total still allows."""
        return self.units - int(self.flow.load[: self.flow.rows].sum())

    def run(self) -> bool:
        """Find the best support; return False if that takes too long.

        A total that binds begins at a price at which nothing is kept, which falls by steps.
        """
        flow = self.flow
        if not self.is_binding:
            flows.keep_wanted(flow, self.pairs)
            return self.serve()
        flow.total[0] = flow.gain[:, 0].max() + 1
        while (missing := self.missing) > 0 and flow.total.any():
            self.steps += 1
            paths.lower_total(flow, *safe_step(missing, flow, self.pairs))
            if not self.serve():
                return False
            left = self.missing
            if left > 0 and MIN_STEP_INVERSE * (missing - left) < missing and flow.total.any():
                paths.send(-1, flow, self.search)
        return True

    def serve(self) -> bool:
        """Serve all pending lines; return False if that takes too long."""
        at, lines, looks, flow = 0, self.flow.cap.size, self.search.looks, self.flow
        budget = MAX_LOOKS_PER_ENTRY * self.position.size
        if self.position.size < MIN_ENTRIES_PER_LINE * lines:
            budget = UNLIMITED
        while at < lines and looks[0] < budget:
            most = min(LOOKS_PER_CALL, budget)
            at = paths.serve(at, flow, self.search, self.pairs, self.free, most)
        return at == lines

    def prices(self, scale: float) -> Prices:
        """Return the prices on the grid, times `scale`.

        They are rounded to the common unit of all gains, which leaves every sign of a slack as it
        is and gives integer prices for integer gains.
        """
        flow, total = self.flow, int(self.flow.total[0])
        bits = int(np.bitwise_or.reduce(flow.gain[:, 0]))
        unit = bits & -bits if bits else 1
        price = total & -unit
        # Lines with room in the end keep all that they have.
        flow.price[self.caps > flow.load] = 0
        of_rows = ((flow.price[: flow.rows, 0] + total) & -unit) - price
        of_cols = -(-flow.price[flow.rows :, 0] & -unit)
        if self.turned:
            of_rows, of_cols = of_cols, of_rows
        return Prices(np.multiply(of_rows, scale), np.multiply(of_cols, scale), price * scale)


def solve_list(
    instance: Instance, mask: NDArray[np.bool_], shape: tuple[int, ...]
) -> ExactSolution | None:
    """Return the best support of a list, with its prices; None if that takes too long.

    Fills in `mask`, which must be empty, or leaves it so.
    """
    search = ListSearch(instance)
    if not search.run():
        return None
    flow = search.flow
    row = flow.ends[:, 0]
    mask[search.position] = flow.spot[:, 0] < flow.start[row] + flow.load[row]
    prices = search.prices(1.0 / (instance.grid.steps * instance.scale))
    price_closed(instance.candidates, instance.caps, prices)
    looks = int(search.search.looks[0])
    stats: dict[str, Any] = {"path": "paths", "steps": search.steps, "looks": looks}
    return ExactSolution(mask.reshape(shape), *prices, None, stats)

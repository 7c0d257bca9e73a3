"""Exact prices for a flow that is already optimal, although its prices prove it only within eps.

With many equal gains, units stop moving long before prices are exact: an eps below the difference
of any two sums of gains changes no flow any more. Exact prices then exist, as shortest distances,
and can be found without moving a unit (price refinement: Goldberg, An efficient implementation of a
scaling minimum-cost flow algorithm, 1997).
"""

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.cost_scaling.flow import (
    HEAD,
    PRICE_FLOOR,
    QUEUED,
    TURNS,
    restore,
)
from tvcs_core.projection.kernels.cost_scaling.refine import dequeue, enqueue


@kernel
def lower(flow, i, limit, clock):
    """Lower a node's price to `limit` if it is above, and queue the node."""
    if flow.price[i] > limit:
        flow.price[i] = limit
        enqueue(i, flow.queue, flow.waiting, clock)


@kernel
def lower_across(flow, i, clock):
    """Lower the prices of all nodes that a line has an arc to, as far as its own price requires."""
    table, price, columns, lines = flow.table, flow.price, flow.columns, flow.cap.size
    side, across, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
    line, prices = table[flow.start[i] : flow.start[i] + width], price[across : across + width]
    p, wrong = price[i], False
    for j in range(width):
        wrong |= line[j] + prices[j] > p
    if wrong:
        for j in range(width):
            lower(flow, across + j, p - line[j], clock)
    if flow.room[i] > 0:
        lower(flow, lines + side, p, clock)


@kernel
def make_exact(flow, clock, most):
    """Lower prices until no arc is wrong; return False after `most` turns.

    Prices are restored if the turns do not suffice, or no number would: a cycle of arcs is wrong.
    """
    price, lines = flow.price.copy(), flow.cap.size
    clock[HEAD], clock[QUEUED], last = 0, 0, clock[TURNS] + most
    flow.waiting[:] = False
    for i in range(lines + 2):
        if i >= lines or flow.start[i] >= 0:
            enqueue(i, flow.queue, flow.waiting, clock)
    while clock[QUEUED] > 0 and clock[TURNS] < last:
        i = dequeue(flow.queue, flow.waiting, clock)
        clock[TURNS] += 1
        if i < lines:
            lower_across(flow, i, clock)
            last = last if flow.price[i] > PRICE_FLOOR else clock[TURNS]
            continue
        side = i - lines
        for j in range(0 if side == 0 else flow.columns, flow.columns if side == 0 else lines):
            if flow.room[j] < flow.cap[j]:
                lower(flow, j, flow.price[i], clock)
        if flow.between[side] > 0:
            lower(flow, lines + 1 - side, flow.price[i], clock)
    if clock[QUEUED] == 0:
        return True
    restore(flow, price)
    return False

"""Exact prices for a flow, if it is the best one: the shortest paths to every node."""

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.scan.flow import PRICE, QUEUED, ROOM, TURNS
from tvcs_core.projection.kernels.scan.refine import dequeue, enqueue


@kernel
def lower_from_end(side, flow, clock):
    """The same for source or sink."""
    price, room, cap, ends, columns = flow.price, flow.room, flow.cap, flow.ends, flow.columns
    lines, p = price.size, ends[PRICE + side]
    first, last = (0, columns) if side == 0 else (columns, lines)
    for i in range(first, last):
        if price[i] > p and room[i] < cap[i]:
            price[i] = p
            enqueue(i, flow.queue, flow.waiting, clock)
    if ends[ROOM + side] > 0 and ends[PRICE + 1 - side] > p:
        ends[PRICE + 1 - side] = p
        enqueue(lines + 1 - side, flow.queue, flow.waiting, clock)


@kernel
def correct_labels(flow, clock, most):
    """Lower prices until no offer is above its line's price (True), or for `most` turns."""
    table, start, price, columns = flow.table, flow.start, flow.price, flow.columns
    room, ends, queue, waiting = flow.room, flow.ends, flow.queue, flow.waiting
    lines = price.size
    for _ in range(most):
        if clock[QUEUED] == 0:
            return True
        clock[TURNS] += 1
        i = dequeue(queue, waiting, clock)
        if i >= lines:
            lower_from_end(i - lines, flow, clock)
            continue
        side, across, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
        line, prices = table[start[i] : start[i] + width], price[across : across + width]
        p, wrong = price[i], 0
        for j in range(width):
            wrong += line[j] + prices[j] > p
        for j in range(width if wrong > 0 else 0):
            if line[j] + prices[j] > p:
                prices[j] = p - line[j]
                enqueue(across + j, queue, waiting, clock)
        if room[i] > 0 and ends[PRICE + side] > p:
            ends[PRICE + side] = p
            enqueue(lines + side, queue, waiting, clock)
    return False

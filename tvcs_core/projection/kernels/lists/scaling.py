"""First prices of a list by cost scaling, with the total as a node (Goldberg and Tarjan 1990).

A node with an excess pushes it over its best offers and lowers its price to the next best less eps,
as in `cost_scaling/refine.py`. The price of a row is here its own and the total's together, that of
a column is negative. Only gains on the grid count. Whatever prices result, paths make them exact,
so a phase may end before all of the excess is placed.
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.lists.flow import move, put_pair_in_place
from tvcs_core.projection.kernels.records import Bools, Int32s, Ints

NO_OFFER = -(2**62)  # below every offer, also by half or a quarter; prices are below 2^58 in size
NO_REACH = 2**59
SOURCE, SINK = 0, 1  # columns of `ends`
PRICE, EXCESS, DIRECT = 0, 1, 2  # rows of `ends`
HEAD, QUEUED, LOOKS, WRONG = 0, 1, 2, 3  # positions in `clock`
REACH = 16  # prices of ends seldom fall by more than this times eps


class Nodes(NamedTuple):
    """Prices and excesses of lines, source and sink.

    Attributes
    ----------
    price, excess
        (lines,), price; inflow less outflow.
    through
        (lines,), flow of the arc between a line and its end, the source or the sink.
    ends
        (3, 2), price and excess of source and sink; flow from source to sink, and its limit.
    across, offer
        (size,), column of each entry; its gain if it is not kept, `NO_OFFER` / 2 if it is.
    queue, waiting
        Ring buffer of lines, its size a power of two, and a mask of its members.
    clock
        (4,), head and length of the queue, entries looked at, units that were misplaced at first.
    """

    price: Ints
    excess: Ints
    through: Ints
    ends: Ints
    across: Int32s
    offer: Ints
    queue: Ints
    waiting: Bools
    clock: Ints


@kernel
def enqueue(i, nodes):
    """Append a line with an excess to the queue unless it is in it."""
    if nodes.excess[i] > 0 and not nodes.waiting[i]:
        nodes.waiting[i] = True
        nodes.queue[(nodes.clock[HEAD] + nodes.clock[QUEUED]) & (nodes.queue.size - 1)] = i
        nodes.clock[QUEUED] += 1


@kernel
def shift(e, i, k, keeps, flow, nodes):
    """Keep or drop the entry between lines i and k, which moves a unit from i to k."""
    move(e, flow, keeps)
    nodes.offer[e] = NO_OFFER // 2 if keeps else flow.gain[e, 0]
    nodes.excess[i] -= 1
    nodes.excess[k] += 1


@kernel
def prepare(flow, nodes, eps):
    """Fill or empty the arcs that are wrong by more than eps, and queue lines with an excess."""
    price, excess, through, ends = nodes.price, nodes.excess, nodes.through, nodes.ends
    yes, no = np.bool_(True), np.bool_(False)
    for i in range(flow.rows):
        first, middle, last = flow.start[i], flow.start[i] + flow.load[i], flow.start[i + 1]
        for q in range(middle - 1, first - 1, -1):
            e = np.int64(flow.order[q])
            k = np.int64(nodes.across[e])
            if price[i] - flow.gain[e, 0] > price[k] + eps:
                shift(e, k, i, no, flow, nodes)
        for q in range(middle, last):
            e = np.int64(flow.order[q])
            k = np.int64(nodes.across[e])
            if flow.gain[e, 0] + price[k] > price[i] + eps:
                shift(e, i, k, yes, flow, nodes)
    clock = nodes.clock
    clock[HEAD], clock[QUEUED], clock[WRONG] = 0, 0, 0
    for i in range(flow.cap.size):
        side, sign = (SOURCE, 1) if i < flow.rows else (SINK, -1)
        above = sign * (price[i] - ends[PRICE, side])
        wanted = flow.cap[i] if above > eps else (0 if above < -eps else through[i])
        moved, through[i] = sign * (wanted - through[i]), wanted
        excess[i] += moved
        ends[EXCESS, side] -= moved
        nodes.waiting[i] = False
        clock[WRONG] += max(np.int64(0), excess[i])
        enqueue(i, nodes)
    above = ends[PRICE, SINK] - ends[PRICE, SOURCE]
    wanted = ends[DIRECT, 1] if above > eps else (0 if above < -eps else ends[DIRECT, 0])
    ends[EXCESS, SOURCE] -= wanted - ends[DIRECT, 0]
    ends[EXCESS, SINK] += wanted - ends[DIRECT, 0]
    ends[DIRECT, 0] = wanted


@kernel
def best_two(i, flow, nodes):
    """Return the best offer to a line, its entry, and the second best offer."""
    price, offers = nodes.price, nodes.offer
    best, second, at = np.int64(NO_OFFER), np.int64(NO_OFFER), np.int64(-1)
    if i < flow.rows:
        # Unsigned indices need no test for negative values.
        for e in range(np.uint64(flow.start[i]), np.uint64(flow.start[i + 1])):
            offer = offers[e] + price[np.uint64(nodes.across[e])]
            if offer > second:
                if offer > best:
                    best, second, at = offer, best, np.int64(e)
                else:
                    second = offer
        return best, second, at
    for q in range(flow.start[i], flow.start[i] + flow.load[i]):
        e = np.int64(flow.order[q])
        offer = price[flow.ends[e, 0]] - flow.gain[e, 0]
        if offer > second:
            if offer > best:
                best, second, at = offer, best, e
            else:
                second = offer
    return best, second, at


@kernel
def offers_to(i, least, flow, nodes, pairs):
    """Fill in the offers to a line that are above `least`, and their entries; return the number."""
    price, offers, size = nodes.price, nodes.offer, np.int64(0)
    if i < flow.rows:
        for e in range(np.uint64(flow.start[i]), np.uint64(flow.start[i + 1])):
            pairs[size, 0] = offers[e] + price[np.uint64(nodes.across[e])]
            pairs[size, 1] = np.int64(e)
            size += pairs[size, 0] > least
        return size
    for q in range(flow.start[i], flow.start[i] + flow.load[i]):
        e = np.int64(flow.order[q])
        pairs[size, 0], pairs[size, 1] = price[flow.ends[e, 0]] - flow.gain[e, 0], e
        size += pairs[size, 0] > least
    return size


@kernel
def push(i, flow, nodes, eps, pairs):
    """Push the excess of line i over its best offers, that of its end among them."""
    price, through, ends, left = nodes.price, nodes.through, nodes.ends, nodes.excess[i]
    is_row = i < flow.rows
    side, sign = (SOURCE, 1) if is_row else (SINK, -1)
    room = through[i] if is_row else flow.cap[i] - through[i]
    end = ends[PRICE, side] if room > 0 else np.int64(NO_OFFER)
    nodes.clock[LOOKS] += flow.start[i + 1] - flow.start[i] if is_row else flow.load[i]
    if left == 1:
        best, second, pairs[0, 1] = best_two(i, flow, nodes)
        moved = np.int64(end >= best)
        used = max(best, end)
        after = (end if room > 1 else best) if moved > 0 else max(second, end)
    else:
        # A row can give back all that it has, so nothing below the offer of the source counts.
        size = offers_to(i, end if is_row else np.int64(NO_OFFER), flow, nodes, pairs)
        better = np.int64(0)
        for q in range(size):
            better += pairs[q, 0] > end
        moved = min(room, max(np.int64(0), left - better))
        by, after, used = left - moved, np.int64(NO_OFFER), np.int64(NO_REACH)
        if by < size:
            put_pair_in_place(pairs, size, by)
            after = pairs[by, 0]
        for q in range(by):
            used = min(used, pairs[q, 0])
        if moved > 0:
            used = min(used, end)
        if room > moved:
            after = max(after, end)
    for q in range(left - moved):
        e = pairs[q, 1]
        k = np.int64(flow.ends[e, 0]) + flow.ends[e, 1] - i
        shift(e, i, k, is_row, flow, nodes)
        enqueue(k, nodes)
    through[i] -= sign * moved
    ends[EXCESS, side] += moved
    nodes.excess[i] = 0
    price[i] = after - eps if after > NO_OFFER // 4 else min(price[i], used)


@kernel
def offers_above(side, least, flow, nodes, pairs):
    """Fill in the offers above `least` that lines could pass on, and the line; return the number.

    A line has the best of them, as many as it can take units from its end. A deficit offers its
    price.
    """
    price, through, n, found = nodes.price, nodes.through, np.int64(flow.rows), np.int64(0)
    first, last = (np.int64(0), n) if side == SOURCE else (n, np.int64(flow.cap.size))
    for i in range(first, last):
        room, begin = flow.cap[i] - through[i] if side == SOURCE else through[i], found
        if room == 0:
            continue
        if nodes.excess[i] < 0:
            for _ in range(min(room, -nodes.excess[i]) if price[i] > least else np.int64(0)):
                pairs[found, 0], pairs[found, 1] = price[i], i
                found += 1
            continue
        nodes.clock[LOOKS] += flow.start[i + 1] - flow.start[i] if side == SOURCE else flow.load[i]
        found += offers_to(i, least, flow, nodes, pairs[begin:])
        best = least
        for q in range(begin, found):
            best, pairs[q, 1] = max(best, pairs[q, 0]), i
        price[i] = min(price[i], best)
        if found - begin > room:
            put_pair_in_place(pairs[begin:], found - begin, room - 1)
            found = begin + room
    return found


@kernel
def push_end(side, flow, nodes, eps, pairs):
    """Push the excess of source or sink to the lines that pass it on best, or to the other end.

    Lines that could give back what they have are tied to the price of their end and fall with it.
    """
    price, through, ends, n = nodes.price, nodes.through, nodes.ends, np.int64(flow.rows)
    first, last = (np.int64(0), n) if side == SOURCE else (n, np.int64(flow.cap.size))
    left, sign = ends[EXCESS, side], (1 if side == SOURCE else -1)
    room = ends[DIRECT, 1] - ends[DIRECT, 0] if side == SOURCE else ends[DIRECT, 0]
    other = ends[PRICE, 1 - side] if room > 0 else np.int64(NO_OFFER // 4)
    # Few offers are near the price, and these are enough as long as it falls little.
    reach, size = REACH * eps, np.int64(0)
    while True:
        least = max(other, ends[PRICE, side] - reach)
        size = offers_above(side, least, flow, nodes, pairs)
        if size > left or least == other or reach >= NO_REACH:
            break
        reach = REACH * reach if reach < NO_REACH // REACH else np.int64(NO_REACH)
    after, used = other, ends[PRICE, side]
    if size > left:
        put_pair_in_place(pairs, size, left)
        after, size = pairs[left, 0], left
    for q in range(size):
        i = pairs[q, 1]
        used = min(used, pairs[q, 0])
        through[i] += sign
        nodes.excess[i] += 1
        enqueue(i, nodes)
    moved = min(left - size, room)
    ends[DIRECT, 0] += sign * moved
    ends[EXCESS, 1 - side] += moved
    ends[EXCESS, side] = left - size - moved
    ends[PRICE, side] = (used if ends[EXCESS, side] > 0 or after == NO_OFFER // 4 else after) - eps
    for i in range(first, last):
        if (through[i] if side == SOURCE else flow.cap[i] - through[i]) > 0:
            price[i] = max(price[i], ends[PRICE, side])


@kernel
def refine(flow, nodes, eps, few, most, pairs, is_first):
    """Push until at most a few lines and units of the total have an excess; return whether so.

    Returns after `most` entries were looked at; later calls for an eps are not the first.
    """
    clock, ends, mask = nodes.clock, nodes.ends, nodes.queue.size - 1
    if is_first:
        prepare(flow, nodes, eps)
    last = clock[LOOKS] + most
    while clock[LOOKS] < last:
        while clock[QUEUED] > few and clock[LOOKS] < last:
            i = nodes.queue[clock[HEAD]]
            nodes.waiting[i] = False
            clock[HEAD] = (clock[HEAD] + 1) & mask
            clock[QUEUED] -= 1
            push(i, flow, nodes, eps, pairs)
        if ends[EXCESS, SOURCE] <= few and ends[EXCESS, SINK] <= few:
            return clock[QUEUED] <= few
        push_end(SOURCE if ends[EXCESS, SOURCE] > few else SINK, flow, nodes, eps, pairs)
    return False

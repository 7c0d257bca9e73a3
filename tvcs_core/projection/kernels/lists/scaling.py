"""First prices of a list by cost scaling, with the total as a node (Goldberg and Tarjan 1990).

A node with an excess pushes it over its best offers and lowers its price to the next best less eps,
as in `cost_scaling/refine.py`. The price of a row is here its own and the total's together, that of
a column is negative. Only gains on the grid count. Whatever prices result, paths make them exact,
so a phase may end before all of the excess is placed.
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.pairs import put_pair_in_place
from tvcs_core.projection.kernels.records import Bools, Int32s, Ints

NO_OFFER = -(2**62)  # below every offer, also by half or a quarter; prices are below 2^58 in size
NO_REACH = 2**59  # more than any price falls in a phase
REACH = 16  # prices of ends seldom fall by more than this times eps
FLOW, LIMIT = 0, 1  # positions in `direct`
HEAD, QUEUED, LOOKS, WRONG = 0, 1, 2, 3  # positions in `clock`


class Nodes(NamedTuple):
    """Prices and excesses of the nodes: lines, the source, and the sink, in this order.

    Attributes
    ----------
    price, excess
        (lines + 2,), price; inflow less outflow.
    through, bound
        (lines,), flow of the arc between a line and its end, the source or the sink; an upper bound
        on what its entries offer.
    direct
        (2,), flow from source to sink, and its limit.
    across, offer
        (size,), column of each entry; its gain if it is not kept, `NO_OFFER` / 2 if it is.
    held, kept, row, gain
        (lines,), number of entries that a column keeps; (size,), these from the column's start on,
        their rows and gains.
    queue, waiting
        Ring buffer of lines, its size a power of two, and a mask of its members.
    clock
        (4,), head and length of the queue, entries looked at, units that were misplaced at first.
    """

    price: Ints
    excess: Ints
    through: Ints
    bound: Ints
    direct: Ints
    across: Int32s
    offer: Ints
    held: Ints
    kept: Int32s
    row: Int32s
    gain: Ints
    queue: Ints
    waiting: Bools
    clock: Ints


@kernel
def lay_nodes(flow, units, nodes):
    """Fill in the prices, the flow and the excesses of a list with `units` to be kept."""
    start, order, load, n = flow.start, flow.order, flow.load, np.int64(flow.rows)
    size, lines = nodes.offer.size, np.int64(flow.cap.size)
    source, sink, kept, rows, cols = lines, lines + 1, np.int64(0), np.int64(0), np.int64(0)
    nodes.price[source], nodes.price[sink] = flow.total[0], 0
    for i in range(lines):
        nodes.excess[i] = 0
    for i in range(n):
        nodes.price[i], nodes.through[i] = flow.price[i, 0] + flow.total[0], load[i]
        kept, rows = kept + load[i], rows + flow.cap[i]
        for e in range(start[i], start[i + 1]):
            nodes.across[e], nodes.offer[e] = flow.ends[e, 1], flow.gain[e, 0]
    for k in range(n, lines):
        nodes.price[k], nodes.through[k], nodes.held[k] = -flow.price[k, 0], load[k], load[k]
        cols += flow.cap[k]
        for q in range(start[k], start[k] + load[k]):
            e, at = np.int64(order[q]), q - size
            nodes.kept[at], nodes.row[at], nodes.gain[at] = e, flow.ends[e, 0], nodes.offer[e]
            nodes.offer[e] = NO_OFFER // 2
    units = min(units, min(rows, cols))
    nodes.excess[source], nodes.excess[sink] = units - kept, kept - units
    nodes.direct[FLOW], nodes.direct[LIMIT] = 0, units


@kernel
def first_kept(k, flow, nodes):
    """Return the place of the first entry that column k keeps."""
    return flow.start[k] - nodes.offer.size


@kernel
def enqueue(i, nodes):
    """Append a line with an excess to the queue unless it is in it."""
    if nodes.excess[i] > 0 and not nodes.waiting[i]:
        nodes.waiting[i] = True
        nodes.queue[(nodes.clock[HEAD] + nodes.clock[QUEUED]) & (nodes.queue.size - 1)] = i
        nodes.clock[QUEUED] += 1


@kernel
def take(e, i, flow, nodes):
    """Let the column of an entry take it from row i."""
    k, gain = np.int64(nodes.across[e]), nodes.offer[e]
    at = first_kept(k, flow, nodes) + nodes.held[k]
    nodes.kept[at], nodes.row[at], nodes.gain[at] = e, i, gain
    nodes.held[k] += 1
    nodes.offer[e] = NO_OFFER // 2
    nodes.bound[k] = max(nodes.bound[k], nodes.price[i] - gain)
    nodes.excess[i] -= 1
    nodes.excess[k] += 1


@kernel
def give_back(at, k, flow, nodes):
    """Let column k give back its entry at `at`."""
    last = first_kept(k, flow, nodes) + nodes.held[k] - 1
    kept, row, gain = nodes.kept, nodes.row, nodes.gain[at]
    e, i = np.int64(kept[at]), np.int64(row[at])
    kept[at], row[at], nodes.gain[at] = kept[last], row[last], nodes.gain[last]
    nodes.held[k] -= 1
    nodes.offer[e] = gain
    nodes.bound[i] = max(nodes.bound[i], gain + nodes.price[k])
    nodes.excess[k] -= 1
    nodes.excess[i] += 1


@kernel
def prepare(flow, nodes, eps):
    """Fill or empty the arcs that are wrong by more than eps, and queue lines with an excess."""
    price, excess, through, bound = nodes.price, nodes.excess, nodes.through, nodes.bound
    start, lines, n = flow.start, np.int64(flow.cap.size), np.int64(flow.rows)
    for k in range(n, lines):
        bound[k] = NO_OFFER
        first = first_kept(k, flow, nodes)
        for at in range(first + nodes.held[k] - 1, first - 1, -1):
            offer = price[nodes.row[at]] - nodes.gain[at]
            if offer > price[k] + eps:
                give_back(at, k, flow, nodes)
            else:
                bound[k] = max(bound[k], offer)
    for i in range(n):
        bound[i] = NO_OFFER
        for e in range(start[i], start[i + 1]):
            k = np.int64(nodes.across[e])
            offer = nodes.offer[e] + price[k]
            if offer > price[i] + eps:
                take(e, i, flow, nodes)
            else:
                bound[i] = max(bound[i], offer)
    clock, source, sink = nodes.clock, lines, lines + 1
    clock[HEAD], clock[QUEUED], clock[WRONG] = 0, 0, 0
    for i in range(lines):
        end, sign = (source, 1) if i < n else (sink, -1)
        above = sign * (price[i] - price[end])
        wanted = flow.cap[i] if above > eps else (0 if above < -eps else through[i])
        moved, through[i] = sign * (wanted - through[i]), wanted
        excess[i] += moved
        excess[end] -= moved
        nodes.waiting[i] = False
        clock[WRONG] += max(np.int64(0), excess[i])
        enqueue(i, nodes)
    above, direct = price[sink] - price[source], nodes.direct
    wanted = direct[LIMIT] if above > eps else (0 if above < -eps else direct[FLOW])
    excess[source] -= wanted - direct[FLOW]
    excess[sink] += wanted - direct[FLOW]
    direct[FLOW] = wanted


@kernel
def best_two(i, flow, nodes):
    """Return the best offer to a line, its entry or place, and the second best offer."""
    price, offers, first = nodes.price, nodes.offer, flow.start[i]
    best, second, at = np.int64(NO_OFFER), np.int64(NO_OFFER), np.int64(-1)
    if i < flow.rows:
        nodes.clock[LOOKS] += flow.start[i + 1] - first
        # Unsigned indices need no test for negative values.
        for e in range(np.uint64(first), np.uint64(flow.start[i + 1])):
            offer = offers[e] + price[np.uint64(nodes.across[e])]
            if offer > second:
                if offer > best:
                    best, second, at = offer, best, np.int64(e)
                else:
                    second = offer
        return best, second, at
    nodes.clock[LOOKS] += nodes.held[i]
    first = first_kept(i, flow, nodes)
    for q in range(np.uint64(first), np.uint64(first + nodes.held[i])):
        offer = price[np.uint64(nodes.row[q])] - nodes.gain[q]
        if offer > second:
            if offer > best:
                best, second, at = offer, best, np.int64(q)
            else:
                second = offer
    return best, second, at


@kernel
def pass_on(i, at, flow, nodes):
    """Push a unit from line i over the entry that `best_two` found."""
    if i < flow.rows:
        k = np.int64(nodes.across[at])
        take(at, i, flow, nodes)
    else:
        k = np.int64(nodes.row[at])
        give_back(at, i, flow, nodes)
    enqueue(k, nodes)


@kernel
def push(i, flow, nodes, eps):
    """Push the excess of line i over its best offers, that of its end among them."""
    price, through, excess = nodes.price, nodes.through, nodes.excess
    is_row = i < flow.rows
    end, sign = (flow.cap.size, 1) if is_row else (flow.cap.size + 1, -1)
    after = used = np.int64(NO_OFFER)
    while excess[i] > 0:
        best, second, at = best_two(i, flow, nodes)
        room = through[i] if is_row else flow.cap[i] - through[i]
        if room > 0 and price[end] >= best:
            moved = min(excess[i], room)
            through[i] -= sign * moved
            excess[i] -= moved
            excess[end] += moved
            nodes.bound[i] = best
            after, used = (price[end] if room > moved else best), price[end]
        else:
            pass_on(i, at, flow, nodes)
            nodes.bound[i] = second
            after, used = (max(second, price[end]) if room > 0 else second), best
    price[i] = after - eps if after > NO_OFFER // 4 else min(price[i], used)


@kernel
def offers_to(i, least, flow, nodes, pairs):
    """Fill in the offers to line i that are above `least`; return their number."""
    price, offers, first, size = nodes.price, nodes.offer, flow.start[i], np.int64(0)
    if i < flow.rows:
        nodes.clock[LOOKS] += flow.start[i + 1] - first
        for e in range(np.uint64(first), np.uint64(flow.start[i + 1])):
            pairs[size, 0] = offers[e] + price[np.uint64(nodes.across[e])]
            size += pairs[size, 0] > least
        return size
    nodes.clock[LOOKS] += nodes.held[i]
    first = first_kept(i, flow, nodes)
    for q in range(first, first + nodes.held[i]):
        pairs[size, 0] = price[nodes.row[q]] - nodes.gain[q]
        size += pairs[size, 0] > least
    return size


@kernel
def offers_above(side, least, flow, nodes, pairs):
    """Fill in the offers above `least` that lines could pass on, and the line; return the number.

    A line has the best of them, as many as it can take units from its end. A deficit offers its
    price.
    """
    price, excess, bound = nodes.price, nodes.excess, nodes.bound
    n, found = np.int64(flow.rows), np.int64(0)
    first, last = (np.int64(0), n) if side == 0 else (n, np.int64(flow.cap.size))
    for i in range(first, last):
        room = flow.cap[i] - nodes.through[i] if side == 0 else nodes.through[i]
        if room == 0:
            continue
        begin, top = found, least
        if excess[i] < 0:
            found += min(room, -excess[i]) if price[i] > least else 0
            pairs[begin:found, 0] = price[i]
        elif bound[i] > least:
            found += offers_to(i, least, flow, nodes, pairs[begin:])
            for q in range(begin, found):
                top = max(top, pairs[q, 0])
            bound[i] = top
        for q in range(begin, found):
            pairs[q, 1] = i
        if excess[i] >= 0:
            price[i] = min(price[i], top)
        if found - begin > room:
            put_pair_in_place(pairs[begin:], found - begin, room - 1)
            found = begin + room
    return found


@kernel
def push_end(side, flow, nodes, eps, pairs):
    """Push the excess of source or sink to the lines that pass it on best, or to the other end.

    Lines that could give back what they have are tied to the price of their end and fall with it.
    """
    price, through, excess, direct = nodes.price, nodes.through, nodes.excess, nodes.direct
    lines, n = np.int64(flow.cap.size), np.int64(flow.rows)
    end, other, sign = lines + side, lines + 1 - side, 1 - 2 * side
    first, last = (np.int64(0), n) if side == 0 else (n, lines)
    left, room = excess[end], direct[LIMIT] - direct[FLOW] if side == 0 else direct[FLOW]
    away = price[other] if room > 0 else np.int64(NO_OFFER // 4)
    # Few offers are near the price, and these are enough as long as it falls little.
    reach, size = REACH * eps, np.int64(0)
    while True:
        least = max(away, price[end] - reach)
        size = offers_above(side, least, flow, nodes, pairs)
        if size > left or least == away or reach >= NO_REACH:
            break
        reach = REACH * reach if reach < NO_REACH // REACH else np.int64(NO_REACH)
    after, used = away, price[end]
    if size > left:
        put_pair_in_place(pairs, size, left)
        after, size = pairs[left, 0], left
    for q in range(size):
        i = pairs[q, 1]
        used = min(used, pairs[q, 0])
        through[i] += sign
        excess[i] += 1
        enqueue(i, nodes)
    moved = min(left - size, room)
    direct[FLOW] += sign * moved
    excess[other] += moved
    excess[end] = left - size - moved
    price[end] = (used if excess[end] > 0 or after == NO_OFFER // 4 else after) - eps
    for i in range(first, last):
        if (through[i] if side == 0 else flow.cap[i] - through[i]) > 0:
            price[i] = max(price[i], price[end])


@kernel
def refine(flow, nodes, eps, few, most, pairs, is_first):
    """Push until at most a few lines and units of the total have an excess; return whether so.

    Returns after `most` entries were looked at; later calls for an eps are not the first.
    """
    clock, excess, mask = nodes.clock, nodes.excess, nodes.queue.size - 1
    source = np.int64(flow.cap.size)
    if is_first:
        prepare(flow, nodes, eps)
    last = clock[LOOKS] + most
    while clock[LOOKS] < last:
        while clock[QUEUED] > few and clock[LOOKS] < last:
            i = nodes.queue[clock[HEAD]]
            nodes.waiting[i] = False
            clock[HEAD] = (clock[HEAD] + 1) & mask
            clock[QUEUED] -= 1
            push(i, flow, nodes, eps)
        if excess[source] <= few and excess[source + 1] <= few:
            return clock[QUEUED] <= few
        push_end(np.int64(0 if excess[source] > few else 1), flow, nodes, eps, pairs)
    return False

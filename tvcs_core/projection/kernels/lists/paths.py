"""Shortest paths from lines that are pending: each keeps one entry more, or has its price lowered.

A path alternates between entries that join the support and entries that leave it. Its length is
what that costs at the present prices, -slack or slack, and never negative. It ends at a line of the
other side that has room, or at one of the same side that gives up an entry, at its price. Prices of
all nearer lines move by the difference in distance, which makes the slacks on the path 0 and keeps
the signs of all others (Dijkstra's algorithm with potentials).
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.lists.flow import move, worth_of
from tvcs_core.projection.kernels.pairs import is_less, put_pair_in_place
from tvcs_core.projection.kernels.records import Int32s, Ints

NEW, FINAL = -1, -2  # places in the heap of lines that are not in it


class Search(NamedTuple):
    """State of a search; all but `place` is undefined between two.

    Attributes
    ----------
    distance
        (lines, 2), length of the shortest known path.
    via
        The last entry of that path; negative at its beginning.
    heap, place
        Binary heap of lines, nearest first, and the place of each in it.
    seen
        The lines that have a distance.
    looks
        (1,), number of entries looked at.
    """

    distance: Ints
    via: Int32s
    heap: Int32s
    place: Int32s
    seen: Int32s
    looks: Ints


@kernel
def rise(search, i, at):
    """Put line i, whose distance has fallen, at `at` in the heap or above."""
    distance, heap, place = search.distance, search.heap, search.place
    high, low = distance[i, 0], distance[i, 1]
    while at > 0:
        up = (at - 1) >> 1
        j = heap[up]
        if not is_less(high, low, distance[j, 0], distance[j, 1]):
            break
        heap[at], place[j] = j, at
        at = up
    heap[at], place[i] = i, at


@kernel
def take_nearest(search, size):
    """Remove the nearest line from a heap of `size` and return it."""
    distance, heap, place = search.distance, search.heap, search.place
    top, i, at, size = np.int64(heap[0]), heap[size - 1], 0, size - 1
    high, low = distance[i, 0], distance[i, 1]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        j = heap[below]
        if below + 1 < size:
            k = heap[below + 1]
            if is_less(distance[k, 0], distance[k, 1], distance[j, 0], distance[j, 1]):
                below, j = below + 1, k
        if not is_less(distance[j, 0], distance[j, 1], high, low):
            break
        heap[at], place[j] = j, at
        at = below
    if size > 0:
        heap[at], place[i] = i, at
    place[top] = FINAL
    return top


@kernel
def reach(i, of_side, may_return, flow, search, so_far):
    """Shorten the paths through line i; return what `send` knows then."""
    size, n_seen, most, low_most, end = so_far
    start, order, load, cap, price = flow.start, flow.order, flow.load, flow.cap, flow.price
    distance, via, place, seen = search.distance, search.via, search.place, search.seen
    first, last = start[i] + load[i], start[i + 1]
    if not of_side:
        first, last = start[i], first
    search.looks[0] += last - first
    sign = -1 if of_side else 1
    gain, ends, total = flow.gain, flow.ends, flow.total
    far = distance[i, 0] - sign * (price[i, 0] + total[0])
    low_far = distance[i, 1] - sign * (price[i, 1] + total[1])
    side = np.int64(i < flow.rows)  # of the line across
    for q in range(first, last):
        e = np.int64(order[q])
        k = np.int64(ends[e, side])
        high = far + sign * (gain[e, 0] - price[k, 0])
        # Most paths are too long by far.
        if high > most or place[k] == FINAL:
            continue
        low = low_far + sign * (gain[e, 1] - price[k, 1])
        if not is_less(high, low, most, low_most):
            continue
        if of_side and load[k] < cap[k]:
            most, low_most, end, via[k] = high, low, k, e
            continue
        at = np.int64(place[k])
        if at == NEW:
            seen[n_seen] = k
            at, size, n_seen = size, size + 1, n_seen + 1
        elif not is_less(high, low, distance[k, 0], distance[k, 1]):
            continue
        distance[k, 0], distance[k, 1], via[k] = high, low, e
        rise(search, k, at)
        if may_return and not of_side:
            high, low = high + price[k, 0], low + price[k, 1]
            if is_less(high, low, most, low_most):
                most, low_most, end = high, low, k
    return size, n_seen, most, low_most, end


@kernel
def lower_total(flow, high, low):
    """Lower the price of the total, and raise those of all rows; rows with room are pending."""
    flow.total[0] -= high
    flow.total[1] -= low
    for i in range(flow.rows):
        flow.price[i, 0] += high
        flow.price[i, 1] += low


@kernel
def flip(end, keeps, flow, via):
    """Keep or drop the last entry of the path to line `end`, and the others in turn."""
    i = np.int64(end)
    e = np.int64(via[i])
    while e >= 0:
        move(e, flow, keeps)
        keeps = not keeps
        i = np.int64(flow.ends[e, 0]) + flow.ends[e, 1] - i
        e = np.int64(via[i])


@kernel
def send(s, flow, search):
    """Move the entries of the shortest path from line s; return whether one more is kept.

    The price of s must be as high as its best entry asks. If s is negative the path begins at any
    row that has room, and the price of the total falls by its length.
    """
    load, cap, price, total, n = flow.load, flow.cap, flow.price, flow.total, flow.rows
    distance, via, place, seen = search.distance, search.via, search.place, search.seen
    is_single, by_rows = s >= 0, s < n
    most, low_most = (price[s, 0], price[s, 1]) if is_single else (total[0], total[1])
    low_most += 1  # a path comes before another end at the same distance
    n_seen, end, none = np.int64(0), np.int64(-1), np.int64(0)
    for i in range(s if is_single else 0, s + 1 if is_single else n):
        if is_single or load[i] < cap[i]:
            distance[i, 0], distance[i, 1], via[i], place[i], seen[n_seen] = 0, 0, -1, FINAL, i
            n_seen += 1
    size, sources = np.int64(0), n_seen
    yes = np.bool_(True)
    for q in range(sources):
        so_far = size, n_seen, most, low_most, end
        size, n_seen, most, low_most, end = reach(
            np.int64(seen[q]), yes, is_single, flow, search, so_far
        )
    while size > 0:
        i = np.int64(search.heap[0])
        if not is_less(distance[i, 0], distance[i, 1], most, low_most):
            break
        take_nearest(search, size)
        so_far = size - 1, n_seen, most, low_most, end
        size, n_seen, most, low_most, end = reach(
            i, (i < n) == by_rows, is_single, flow, search, so_far
        )
    low_most -= end < 0
    if not is_single:
        lower_total(flow, most, low_most)
    for q in range(n_seen):
        i = np.int64(seen[q])
        high, low = most - distance[i, 0], low_most - distance[i, 1]
        if place[i] == FINAL and is_less(none, none, high, low):
            sign = -1 if (i < n) == by_rows else 1
            price[i, 0] += sign * high
            price[i, 1] += sign * low
        place[i] = NEW
    if end < 0:
        return False
    adds = (end < n) != by_rows
    flip(end, adds, flow, via)
    return adds


@kernel
def serve(first, flow, search, pairs, free, most):
    """Serve pending lines from first on until `most` entries were looked at; return the next line.

    A line takes the entries that it wants most as long as these are at lines with room, and then
    one that is not by a path.
    """
    start, order, load, cap, price = flow.start, flow.order, flow.load, flow.cap, flow.price
    via = search.via
    limit, yes, none = search.looks[0] + most, np.bool_(True), np.int64(0)
    for i in range(first, cap.size):
        while load[i] < cap[i] and (price[i, 0] != 0 or price[i, 1] != 0):
            if search.looks[0] >= limit:
                return i
            # What the entries at full lines are worth at most; all that are free and worth more. Of
            # several entries at the same line the best is free, others wait for the next round.
            top, low_top, size = np.int64(0), np.int64(0), np.int64(0)
            for q in range(start[i] + load[i], start[i + 1]):
                high, low, k = worth_of(np.int64(order[q]), i, flow)
                if load[k] < cap[k]:
                    via[k] = -1
                elif is_less(top, low_top, high, low):
                    top, low_top = high, low
            for q in range(start[i] + load[i], start[i + 1]):
                e = np.int64(order[q])
                high, low, k = worth_of(e, i, flow)
                if load[k] >= cap[k] or not is_less(top, low_top, high, low):
                    continue
                at = np.int64(via[k])
                if at < 0:
                    at, via[k], size = size, size, size + 1
                elif is_less(high, low, pairs[at, 0], pairs[at, 1]):
                    top, low_top = high, low
                    continue
                elif is_less(top, low_top, pairs[at, 0], pairs[at, 1]):
                    top, low_top = pairs[at, 0], pairs[at, 1]
                pairs[at, 0], pairs[at, 1], free[at] = high, low, e
            room = cap[i] - load[i]
            if size > room:
                put_pair_in_place(pairs, size, room - 1)
                if is_less(top, low_top, pairs[room - 1, 0], pairs[room - 1, 1]):
                    top, low_top = pairs[room - 1, 0], pairs[room - 1, 1]
            price[i, 0], price[i, 1] = top, low_top
            for q in range(size):
                e = np.int64(free[q])
                high, low, k = worth_of(e, i, flow)
                if load[i] < cap[i] and not is_less(high, low, top, low_top):
                    move(e, flow, yes)
            search.looks[0] += start[i + 1] - start[i]
            if size < room and is_less(none, none, top, low_top):
                send(i, flow, search)
    return cap.size

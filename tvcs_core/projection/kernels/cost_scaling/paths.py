"""Shortest paths for the remaining excesses, after which prices are exact.

The *length* of a residual arc is the price of the line that it makes an offer to, minus the offer;
all lengths are >= 0 here. An excess goes along a shortest path to the nearest node with a deficit,
and the prices of all nearer nodes fall by the difference in distance. That keeps every length >= 0
and makes those of the path 0 (Dijkstra's algorithm with potentials).
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.cost_scaling.flow import (
    EXCESS,
    FAILED,
    NO_ARC,
    PRICE,
    PRICE_FLOOR,
    ROOM,
    TURNS,
    restore,
)
from tvcs_core.projection.kernels.records import Ints

INFINITE_LENGTH = 2**60  # longer than any path
VISITED = -1  # distance of a node that is settled


class Search(NamedTuple):
    """State of the search from one node. Nodes are lines, source and sink.

    Attributes
    ----------
    distance
        Length of the shortest known path to every node.
    before
        Predecessor on that path.
    order, at
        Settled nodes, and their distances.
    """

    distance: Ints
    before: Ints
    order: Ints
    at: Ints


@kernel
def join_ends(flow, eps):
    """Give nodes whose arc to source or sink is neither empty nor full the price of that end.

    Nodes off by more than eps are left alone. Such arcs have length 0 both ways in the end; if
    units corrected them, these would have to come back one by one.
    """
    price, room, cap, ends = flow.price, flow.room, flow.cap, flow.ends
    source, sink = ends[PRICE], ends[PRICE + 1]
    if min(ends[ROOM], ends[ROOM + 1]) > 0 and abs(source - sink) <= eps:
        ends[PRICE + 1] = source
    for i in range(price.size):
        end = source if i < flow.columns else sink  # the price before the ends were joined
        if 0 < room[i] < cap[i] and abs(end - price[i]) <= eps:
            price[i] = end if i < flow.columns else ends[PRICE + 1]


@kernel
def count_wrong(flow, limit):
    """Return the number of units on wrong arcs plus all excesses, or `limit` if that is less."""
    table, start, price, columns = flow.table, flow.start, flow.price, flow.columns
    room, cap, excess, ends = flow.room, flow.cap, flow.excess, flow.ends
    found, lines = np.int64(0), price.size
    for i in range(lines):
        if start[i] < 0 or found >= limit:
            continue
        side, across, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
        line, prices = table[start[i] : start[i] + width], price[across : across + width]
        p, end, wrong = price[i], ends[PRICE + side], 0
        for j in range(width):
            wrong += line[j] + prices[j] > p
        found += wrong + max(0, excess[i])
        if end != p:
            found += room[i] if end > p else cap[i] - room[i]
    for side in range(2):
        found += max(0, ends[EXCESS + side])
        if ends[PRICE + 1 - side] > ends[PRICE + side]:
            found += ends[ROOM + side]
    return min(found, limit)


@kernel
def are_few_wrong(flow, eps, few):
    """Return whether fewer than `few` units are in excess or on wrong arcs once ends are joined.

    If not, prices are restored.
    """
    price, ends = flow.price.copy(), flow.ends.copy()
    join_ends(flow, eps)
    if count_wrong(flow, few) < few:
        return True
    restore(flow, price, ends)
    return False


@kernel
def excess_of(i, flow):
    """Return the excess of a node; negative for a deficit."""
    lines = flow.price.size
    return flow.excess[i] if i < lines else flow.ends[EXCESS + i - lines]


@kernel
def reach_from_line(i, away, flow, search):
    """Shorten the paths through a line, whose own distance is `away`."""
    table, price, columns, room = flow.table, flow.price, flow.columns, flow.room
    distance, before, lines = search.distance, search.before, flow.price.size
    side, other, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
    # Unsigned indices, as in refine.py.
    line, across, size = np.uint64(flow.start[i]), np.uint64(other), np.uint64(width)
    top = away + price[i]
    for j in range(size):
        path = top - (table[line + j] + price[across + j])
        shorter = path < distance[across + j]
        distance[across + j] = path if shorter else distance[across + j]
        before[across + j] = i if shorter else before[across + j]
    end, path = lines + side, top - flow.ends[PRICE + side]
    if room[i] > 0 and path < distance[end]:
        distance[end], before[end] = path, i


@kernel
def reach_from_end(side, away, flow, search):
    """Shorten the paths through source or sink, whose own distance is `away`."""
    price, room, cap, ends, columns = flow.price, flow.room, flow.cap, flow.ends, flow.columns
    distance, before, lines = search.distance, search.before, flow.price.size
    first, last = (0, columns) if side == 0 else (columns, lines)
    top = away + ends[PRICE + side]
    for j in range(first, last):
        path = top - price[j]
        if room[j] < cap[j] and path < distance[j]:
            distance[j], before[j] = path, lines + side
    end, path = lines + 1 - side, top - ends[PRICE + 1 - side]
    if ends[ROOM + side] > 0 and path < distance[end]:
        distance[end], before[end] = path, lines + side


@kernel
def nearest(distance):
    """Return the nearest node that is not settled, and its distance."""
    least = np.uint64(INFINITE_LENGTH)  # as unsigned number `VISITED` exceeds all distances
    for j in range(np.uint64(distance.size)):
        least = min(least, np.uint64(distance[j]))
    i, away = 0, np.int64(least)
    while distance[i] != away:
        i += 1
    return i, away


@kernel
def room_on(i, j, flow):
    """Return the residual capacity of the arc from node i to node j."""
    lines = flow.price.size
    if i < lines:
        return np.int64(1) if j < lines else flow.room[i]
    return flow.cap[j] - flow.room[j] if j < lines else flow.ends[ROOM + i - lines]


@kernel
def push(i, j, units, flow):
    """Send units from node i to node j."""
    table, room, ends, columns = flow.table, flow.room, flow.ends, flow.columns
    lines = room.size
    if i < lines and j < lines:
        here = flow.start[i] + (j - columns if i < columns else j)
        there = flow.start[j] + (i if i < columns else i - columns)
        table[there], table[here] = -table[here], NO_ARC
    elif i < lines:
        room[i] -= units
    elif j < lines:
        room[j] += units
    else:
        ends[ROOM + i - lines] -= units
        ends[ROOM + j - lines] += units


@kernel
def change_excess(i, by, flow):
    """Add to the excess of a node."""
    lines = flow.price.size
    if i < lines:
        flow.excess[i] += by
    else:
        flow.ends[EXCESS + i - lines] += by


@kernel
def send(s, flow, search, clock):
    """Send some of the excess of node s to the nearest node with a deficit."""
    distance, before, order, at = search.distance, search.before, search.order, search.at
    lines, done = flow.price.size, 0
    distance[:] = INFINITE_LENGTH
    distance[s] = 0
    i, away = nearest(distance)
    while away < INFINITE_LENGTH and excess_of(i, flow) >= 0:
        distance[i], order[done], at[done] = VISITED, i, away
        done += 1
        if i < lines:
            reach_from_line(i, away, flow, search)
        else:
            reach_from_end(i - lines, away, flow, search)
        i, away = nearest(distance)
    clock[TURNS] += done
    if away >= INFINITE_LENGTH:
        clock[FAILED] = 1
        return
    units, j = min(excess_of(s, flow), -excess_of(i, flow)), i
    while j != s:
        units, j = min(units, room_on(before[j], j, flow)), before[j]
    change_excess(s, -units, flow)
    change_excess(i, units, flow)
    while i != s:
        push(before[i], i, units, flow)
        i = before[i]
    for e in range(done):
        if order[e] < lines:
            flow.price[order[e]] -= away - at[e]
            clock[FAILED] |= flow.price[order[e]] < PRICE_FLOOR
        else:
            flow.ends[PRICE + order[e] - lines] -= away - at[e]


@kernel
def send_all(flow, clock, most):
    """Send every excess along shortest paths; return False after `most` turns or on failure.

    No arc may be wrong on entry: see `prepare`.
    """
    nodes = flow.price.size + 2
    room = np.empty((4, nodes), np.int64)
    search, last = Search(room[0], room[1], room[2], room[3]), clock[TURNS] + most
    for s in range(nodes):
        while excess_of(s, flow) > 0:
            if clock[TURNS] >= last or clock[FAILED] > 0:
                return False
            send(s, flow, search, clock)
    return clock[FAILED] == 0

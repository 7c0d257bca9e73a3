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
    FAILED,
    NO_ARC,
    PRICE_FLOOR,
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
    price, room, cap, lines = flow.price, flow.room, flow.cap, flow.cap.size
    source, sink = price[lines], price[lines + 1]
    if min(flow.between[0], flow.between[1]) > 0 and abs(source - sink) <= eps:
        price[lines + 1] = source
    for i in range(lines):
        end = source if i < flow.columns else sink  # the price before the ends were joined
        if 0 < room[i] < cap[i] and abs(end - price[i]) <= eps:
            price[i] = end if i < flow.columns else price[lines + 1]


@kernel
def count_wrong(flow, limit):
    """Return the number of units on wrong arcs plus all excesses, or `limit` if that is less."""
    table, start, price, columns = flow.table, flow.start, flow.price, flow.columns
    room, cap, excess, lines = flow.room, flow.cap, flow.excess, flow.cap.size
    found = np.int64(0)
    for i in range(lines):
        if start[i] < 0 or found >= limit:
            continue
        side, across, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
        line, prices = table[start[i] : start[i] + width], price[across : across + width]
        p, end, wrong = price[i], price[lines + side], 0
        for j in range(width):
            wrong += line[j] + prices[j] > p
        found += wrong + max(0, excess[i])
        if end != p:
            found += room[i] if end > p else cap[i] - room[i]
    for side in range(2):
        found += max(0, excess[lines + side])
        if price[lines + 1 - side] > price[lines + side]:
            found += flow.between[side]
    return min(found, limit)


@kernel
def are_few_wrong(flow, eps, few):
    """Return whether fewer than `few` units are in excess or on wrong arcs once ends are joined.

    If not, prices are restored.
    """
    price = flow.price.copy()
    join_ends(flow, eps)
    if count_wrong(flow, few) < few:
        return True
    restore(flow, price)
    return False


@kernel
def reach_from_line(i, away, flow, search):
    """Shorten the paths through a line, whose own distance is `away`."""
    table, price, columns, room = flow.table, flow.price, flow.columns, flow.room
    distance, before, lines = search.distance, search.before, flow.cap.size
    side, other, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
    # Unsigned indices, as in refine.py.
    line, across, size = np.uint64(flow.start[i]), np.uint64(other), np.uint64(width)
    top = away + price[i]
    for j in range(size):
        path = top - (table[line + j] + price[across + j])
        shorter = path < distance[across + j]
        distance[across + j] = path if shorter else distance[across + j]
        before[across + j] = i if shorter else before[across + j]
    end, path = lines + side, top - price[lines + side]
    if room[i] > 0 and path < distance[end]:
        distance[end], before[end] = path, i


@kernel
def reach_from_end(side, away, flow, search):
    """Shorten the paths through source or sink, whose own distance is `away`."""
    price, room, cap, columns = flow.price, flow.room, flow.cap, flow.columns
    distance, before, lines = search.distance, search.before, flow.cap.size
    first, last = (0, columns) if side == 0 else (columns, lines)
    top = away + price[lines + side]
    for j in range(first, last):
        path = top - price[j]
        if room[j] < cap[j] and path < distance[j]:
            distance[j], before[j] = path, lines + side
    end, path = lines + 1 - side, top - price[lines + 1 - side]
    if flow.between[side] > 0 and path < distance[end]:
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
    lines = flow.cap.size
    if i < lines:
        return np.int64(1) if j < lines else flow.room[i]
    return flow.cap[j] - flow.room[j] if j < lines else flow.between[i - lines]


@kernel
def push(i, j, units, flow):
    """Send units from node i to node j."""
    table, room, between, columns = flow.table, flow.room, flow.between, flow.columns
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
        between[i - lines] -= units
        between[j - lines] += units


@kernel
def send(s, flow, search, clock):
    """Send some of the excess of node s to the nearest node with a deficit."""
    distance, before, order, at = search.distance, search.before, search.order, search.at
    price, excess, lines, done = flow.price, flow.excess, flow.cap.size, 0
    distance[:] = INFINITE_LENGTH
    distance[s] = 0
    i, away = nearest(distance)
    while away < INFINITE_LENGTH and excess[i] >= 0:
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
    units, j = min(excess[s], -excess[i]), i
    while j != s:
        units, j = min(units, room_on(before[j], j, flow)), before[j]
    excess[s] -= units
    excess[i] += units
    while i != s:
        push(before[i], i, units, flow)
        i = before[i]
    for e in range(done):
        price[order[e]] -= away - at[e]
        clock[FAILED] |= price[order[e]] < PRICE_FLOOR


@kernel
def send_all(flow, clock, most):
    """Send every excess along shortest paths; return False after `most` turns or on failure.

    No arc may be wrong on entry: see `prepare`.
    """
    nodes = flow.price.size
    room = np.empty((4, nodes), np.int64)
    search, last = Search(room[0], room[1], room[2], room[3]), clock[TURNS] + most
    for s in range(nodes):
        while flow.excess[s] > 0:
            if clock[TURNS] >= last or clock[FAILED] > 0:
                return False
            send(s, flow, search, clock)
    return clock[FAILED] == 0

"""Proof of optimality and uniqueness: no offer above its line's price, no cycle of tight arcs.

Integer prices at which no offer exceeds the line's own price prove the flow (complementary
slackness). Arcs whose offers equal it are *tight*; another optimal flow differs by cycles of tight
arcs. Without such a cycle the support is the only optimum, and ties cannot matter.
"""

import numpy as np

from tvcs_core.jit import kernel


@kernel
def list_tight(flow, tail, head):
    """List the tight arcs; return their number, or -1 if an offer exceeds its price.

    Arcs to and from the ends that are neither empty nor full are left out, see `has_cycle`. Nodes
    are lines, source and sink. Arcs beyond the size of `tail` are only counted.
    """
    table, start, price, columns = flow.table, flow.start, flow.price, flow.columns
    room, cap, between, lines = flow.room, flow.cap, flow.between, flow.cap.size
    n = np.int64(0)
    for i in range(lines):
        if start[i] < 0:
            continue
        side, across, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
        line, prices = table[start[i] : start[i] + width], price[across : across + width]
        p, wrong, tight = price[i], 0, 0
        for j in range(width):
            wrong += line[j] + prices[j] > p
            tight += line[j] + prices[j] == p
        end = price[lines + side]
        if wrong > 0 or (room[i] > 0 and end > p) or (room[i] < cap[i] and p > end):
            return np.int64(-1)
        for j in range(width if tight > 0 else 0):
            if line[j] + prices[j] == p:
                if n < tail.size:
                    tail[n], head[n] = i, across + j
                n += 1
        if end == p and cap[i] > 0 and (room[i] == 0 or room[i] == cap[i]):
            if n < tail.size:
                tail[n], head[n] = (i, lines + side) if room[i] > 0 else (lines + side, i)
            n += 1
    for side in range(2):
        own, other, open_ = price[lines + side], price[lines + 1 - side], between[side] > 0
        if open_ and other > own:
            return np.int64(-1)
        if open_ and other == own and between[1 - side] == 0:
            if n < tail.size:
                tail[n], head[n] = lines + side, lines + 1 - side
            n += 1
    return n


@kernel
def has_cycle(flow, tail, head, n):
    """Return whether n tight arcs, with arcs that are neither empty nor full, have a cycle."""
    room, cap, between, lines = flow.room, flow.cap, flow.between, flow.cap.size
    source, sink = lines, lines
    if between[0] == 0 or between[1] == 0:
        sink = lines + 1
    # Nodes joined by an arc that is residual both ways count as one node.
    at, degree = np.empty(lines + 2, np.int64), np.empty(lines + 2, np.int64)
    first, following = np.empty(lines + 2, np.int64), np.empty(n, np.int64)
    degree[:], first[:] = 0, -1
    at[lines], at[lines + 1] = source, sink
    for i in range(lines):
        at[i] = i
        if 0 < room[i] < cap[i]:
            at[i] = source if i < flow.columns else sink
    for e in range(n):
        i, j = at[tail[e]], at[head[e]]
        if i == j:
            return True
        degree[j] += 1
        following[e], first[i] = first[i], e
    # Kahn's algorithm: remove nodes without incoming arcs, and their arcs.
    queue, size, done = np.empty(lines + 2, np.int64), 0, 0
    for i in range(lines + 2):
        if degree[i] == 0:
            queue[size] = i
            size += 1
    while done < size:
        e = first[queue[done]]
        done += 1
        while e >= 0:
            j = at[head[e]]
            degree[j] -= 1
            if degree[j] == 0:
                queue[size] = j
                size += 1
            e = following[e]
    return done < lines + 2


@kernel
def is_only_best(flow, tail, head):
    """Return -1 if the flow is not optimal, 1 if it is the only optimum, and 0 if unsure.

    More tight arcs than `tail` has room for are assumed to contain a cycle.
    """
    n = list_tight(flow, tail, head)
    if n < 0:
        return -1
    return 0 if n > tail.size or has_cycle(flow, tail, head, n) else 1

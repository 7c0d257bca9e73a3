"""The graph of a table of few rows, and the shortest paths between the rows.

The *nodes* are the rows, `nothing` (capacity that a column leaves unused) and the `hub` that the
rows' arcs lead to, whose own arc to `nothing` has the total as its capacity. A unit moves from one
row to another through any column that keeps the first and not the second, at the loss of the gain.
Only the column with the least loss matters for each pair, so Dijkstra's algorithm takes a graph of
rows + 2 nodes. All numbers are pairs of grid steps and hash, compared one after the other.
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.pairs import is_less
from tvcs_core.projection.kernels.records import Ints

ABSENT = 2**60  # instead of a gain that cannot be lost, and minus it of one that cannot be won
FAR = 2**59  # more than any loss
UNREACHED = 2**62  # more than the length of any path
CHUNK_COLUMNS = 64  # compared at once
VISITED = -1  # distance of a node that is settled


class FewRows(NamedTuple):
    """A flow, its prices, and the least loss of a unit between any two nodes.

    k is the number of rows; node k is `nothing` and k + 1 the hub.

    Attributes
    ----------
    kept, open
        (k + 1, columns), gains of what a column keeps, and of what it does not; else `ABSENT`.
    room
        (columns,), unused capacity.
    hashed
        (k + 1, columns), hashes; 0 for `nothing`.
    column
        (columns,), numbers of the columns in the whole table.
    flow, cap
        (k + 1,), from the rows to the hub, and from there to `nothing`.
    excess
        (k + 2,).
    price
        (k + 2, 2).
    loss
        (k + 2, k + 2, 2).
    through
        (k + 2, k + 2), the column of each loss; -1 for none.
    tops
        Buffer for `find_way`.
    """

    kept: Ints
    open: Ints
    room: Ints
    hashed: Ints
    column: Ints
    flow: Ints
    cap: Ints
    excess: Ints
    price: Ints
    loss: Ints
    through: Ints
    tops: Ints


@kernel
def is_below(pairs, x, y):
    """Return whether the pair of node x is below that of node y."""
    return is_less(pairs[x, 0], pairs[x, 1], pairs[y, 0], pairs[y, 1])


@kernel
def offer(few, j, first_x, last_x, first_y, last_y):
    """Let column j be the way from nodes x to nodes y wherever it loses least."""
    kept, open_, loss, through = few.kept, few.open, few.loss, few.through
    hashes = few.hashed
    for x in range(first_x, last_x):
        own = kept[x, j]
        if own == ABSENT:
            continue
        for y in range(first_y, last_y):
            lost = own - open_[y, j]
            if lost > loss[x, y, 0] or x == y:
                continue
            hashed = hashes[x, j] - hashes[y, j]
            if lost < loss[x, y, 0] or hashed < loss[x, y, 1]:
                loss[x, y, 0], loss[x, y, 1], through[x, y] = lost, hashed, j


@kernel
def find_way(few, x, y):
    """Find the column that loses least between two nodes."""
    kept, open_, tops = few.kept[x], few.open[y], few.tops
    of_x, of_y, size = few.hashed[x], few.hashed[y], np.uint64(few.column.size)
    # Unsigned indices need no test for negative values, so such loops are vectorised.
    best, chunk, least, at = np.int64(FAR), np.uint64(CHUNK_COLUMNS), np.int64(FAR), np.int64(-1)
    for p in range(np.uint64(tops.size)):
        top = np.int64(FAR)
        for j in range(p * chunk, min(size, (p + np.uint64(1)) * chunk)):
            top = min(top, kept[j] - open_[j])
        tops[p], best = top, min(best, top)
    for p in range(np.uint64(tops.size if best < FAR else 0)):
        if tops[p] > best:
            continue
        first, low = p * chunk, np.int64(FAR)
        last = min(size, first + chunk)
        for j in range(first, last):
            low = min(low, of_x[j] - of_y[j] if kept[j] - open_[j] == best else np.int64(FAR))
        if low < least:
            least, at = low, np.int64(first)
            while kept[at] - open_[at] > best or of_x[at] - of_y[at] > least:
                at += 1
    few.loss[x, y, 0], few.loss[x, y, 1], few.through[x, y] = best, least, at


@kernel
def move(few, x, y):
    """Move a unit from one node to another."""
    hub, j = few.cap.size, few.through[x, y]
    few.excess[x] -= 1
    few.excess[y] += 1
    if x < hub and y < hub:
        if x < hub - 1:
            few.open[x, j], few.kept[x, j] = few.kept[x, j], ABSENT
        if y < hub - 1:
            few.kept[y, j], few.open[y, j] = few.open[y, j], -ABSENT
        few.room[j] += np.int64(y == hub - 1) - np.int64(x == hub - 1)
        few.kept[hub - 1, j] = 0 if few.room[j] > 0 else ABSENT
    else:
        i = min(x, y)
        few.flow[i] += 1 if (y == hub) == (i < hub - 1) else -1


@kernel
def lay_hub(few):
    """Set the lengths of the arcs at the hub."""
    flow, cap, loss, hub = few.flow, few.cap, few.loss, few.cap.size
    for i in range(hub):
        x, y = (hub, i) if i == hub - 1 else (i, hub)
        loss[x, y, 0] = 0 if flow[i] < cap[i] else FAR
        loss[y, x, 0] = 0 if flow[i] > 0 else FAR
        loss[x, y, 1], loss[y, x, 1] = 0, 0


@kernel
def renew(few, x, y, j):
    """Find the ways anew that column j was, or may be, since it changed from node x to node y."""
    nodes, through, none = few.kept.shape[0], few.through, np.int64(0)
    has_left, is_full = few.kept[x, j] == ABSENT, few.open[y, j] == -ABSENT
    for z in range(nodes):
        if has_left and through[x, z] == j:
            find_way(few, x, z)
        if is_full and through[z, y] == j:
            find_way(few, z, y)
    offer(few, j, y, y + 1, none, nodes)
    offer(few, j, none, nodes, x, x + 1)


@kernel
def send(few, s, distance, before, through, at):
    """Send a unit of the excess of node s to the nearest node with a deficit."""
    loss, price, excess, nodes = few.loss, few.price, few.excess, few.excess.size
    distance[:, 0], distance[:, 1] = UNREACHED, 0
    distance[s, 0], i = 0, s
    while excess[i] >= 0:
        at[i, 0], at[i, 1], distance[i, 0] = distance[i, 0], distance[i, 1], VISITED
        high, low = at[i, 0] - price[i, 0], at[i, 1] - price[i, 1]
        nearest = i
        for y in range(nodes):
            if distance[y, 0] == VISITED:
                continue
            if loss[i, y, 0] < FAR:
                length = high + loss[i, y, 0] + price[y, 0]
                hashed = low + loss[i, y, 1] + price[y, 1]
                if is_less(length, hashed, distance[y, 0], distance[y, 1]):
                    distance[y, 0], distance[y, 1], before[y] = length, hashed, i
            if nearest == i or is_below(distance, y, nearest):
                nearest = y
        i = nearest
    for y in range(nodes):
        if distance[y, 0] == VISITED:
            price[y, 0] += distance[i, 0] - at[y, 0]
            price[y, 1] += distance[i, 1] - at[y, 1]
    last = i
    while i != s:
        through[i] = few.through[before[i], i]
        move(few, before[i], i)
        i = before[i]
    lay_hub(few)
    i = last
    while i != s:
        x, j = before[i], through[i]
        if j >= 0:
            renew(few, x, i, j)
        i = x

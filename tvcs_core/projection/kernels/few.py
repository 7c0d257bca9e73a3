"""Tables of few rows: shortest paths between the rows, since every column chooses by their prices.

The *nodes* are the rows, `nothing` (capacity that a column leaves unused) and the `hub` that the
rows' arcs lead to, whose own arc to `nothing` has the total as its capacity. A unit moves from one
row to another through any column that keeps the first and not the second, at the loss of the gain.
Only the column with the least loss matters for each pair, so Dijkstra's algorithm takes a graph of
rows + 2 nodes. All numbers are pairs of grid steps and hash, compared one after the other.

Every second column, every fourth and so on are solved first, for their prices.
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import gain, on_grid, tie
from tvcs_core.projection.kernels.prices import put_in_place
from tvcs_core.projection.kernels.records import Ints
from tvcs_core.projection.kernels.simplex import terminals

ABSENT = 2**60  # instead of a gain that cannot be lost, and minus it of one that cannot be won
FAR = 2**59  # more than any loss
UNREACHED = 2**62  # more than the length of any path
CHUNK_COLUMNS = 64  # compared at once
MAX_LINES, MIN_ASPECT_RATIO = 32, 8  # of the shorter side; of the sides
MIN_COLUMNS = 32  # of a sample
MIN_MEAN_CAP = 3  # of the rows of a sample, in the mean
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
def has_few_lines(n, m):
    """Return whether a table has few lines on one side, and many times as many on the other."""
    return min(n, m) <= MAX_LINES and max(n, m) > MIN_ASPECT_RATIO * min(n, m)


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
                if length < distance[y, 0] or (
                    length == distance[y, 0] and hashed < distance[y, 1]
                ):
                    distance[y, 0], distance[y, 1], before[y] = length, hashed, i
            if nearest == i or distance[y, 0] < distance[nearest, 0] or (
                distance[y, 0] == distance[nearest, 0] and distance[y, 1] < distance[nearest, 1]
            ):
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


@kernel
def choose(few, gains, col_caps):
    """Let every column keep its best entries by the prices of the rows."""
    k, price, kept, open_, room = gains.shape[0], few.price, few.kept, few.open, few.room
    column, excess, hashes = few.column, few.excess, few.hashed
    order, high, low = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, np.int64)
    for j in range(column.size):
        c, n = column[j], 0
        cap = min(col_caps[c], k)
        for i in range(k):
            own = gains[i, c]
            kept[i, j], open_[i, j] = ABSENT, own if own >= 0 else -ABSENT
            worth = own - price[i, 0]
            if own < 0 or worth < 0 or (n == cap and worth < high[n - 1]):
                continue
            hashed = hashes[i, j] - price[i, 1]
            if worth == 0 and hashed <= 0:
                continue
            at = n
            while at > 0 and (
                worth > high[at - 1] or (worth == high[at - 1] and hashed > low[at - 1])
            ):
                at -= 1
            n = min(n + 1, cap)
            for e in range(n - 1, at, -1):
                order[e], high[e], low[e] = order[e - 1], high[e - 1], low[e - 1]
            if at < n:
                order[at], high[at], low[at] = i, worth, hashed
        for e in range(n):
            i = order[e]
            kept[i, j], open_[i, j] = open_[i, j], -ABSENT
            excess[i] += 1
        room[j] = cap - n
        kept[k, j], open_[k, j] = 0 if room[j] > 0 else ABSENT, 0


@kernel
def start_prices(few, gains):
    """Set the prices at which every row wants as much as its cap, if columns had no caps."""
    buffer = np.empty(few.column.size)
    for i in range(gains.shape[0]):
        n = np.int64(0)
        for c in few.column:
            buffer[n] = gains[i, c]
            n += gains[i, c] >= 0
        if n > few.cap[i]:
            put_in_place(buffer, n, few.cap[i])
            few.price[i, 0] = np.int64(buffer[few.cap[i]])


@kernel
def fill_hub(few):
    """Let the rows and the hub pass on as much as their prices ask for."""
    price, excess, flow, cap, hub = few.price, few.excess, few.flow, few.cap, few.cap.size
    for i in range(hub):
        x, y = (hub, hub - 1) if i == hub - 1 else (i, hub)
        flow[i] = cap[i] if is_below(price, y, x) else min(cap[i], excess[x])
        excess[x] -= flow[i]
        excess[y] += flow[i]
    # All that columns keep comes from `nothing`.
    excess[hub - 1] = 0
    for x in range(hub + 1):
        excess[hub - 1] -= excess[x] if x != hub - 1 else 0


@kernel
def solve_columns(few, gains, col_caps):
    """Find the best flow of the listed columns from the prices on entry; return units sent."""
    nodes, sent, none = few.excess.size, 0, np.int64(0)
    few.excess[:] = 0
    choose(few, gains, col_caps)
    fill_hub(few)
    few.loss[:, :, 0], few.loss[:, :, 1], few.through[:] = FAR, FAR, -1
    for j in range(few.room.size):
        offer(few, j, none, nodes - 1, none, nodes - 1)
    lay_hub(few)
    distance, at = np.empty((nodes, 2), np.int64), np.empty((nodes, 2), np.int64)
    before, through = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for s in range(nodes):
        while few.excess[s] > 0:
            send(few, s, distance, before, through, at)
            sent += 1
    return sent


@kernel
def lay_out_few(candidates, caps, grid, is_turned):
    """Return the gains in grid steps with the few lines as rows; -1 for what may not be kept.

    Also returns the hashes, with a row of zeros at the end, and the union of the gains' bits.
    """
    values, squared, n, m = candidates.values, candidates.squared, caps.rows.size, caps.cols.size
    k, size, bits, none = min(n, m), max(n, m), np.int64(0), np.int64(0)
    gains, hashed = np.empty((k, size), np.int64), np.empty((k + 1, size), np.int64)
    hashed[k] = 0
    for r in range(n):
        for c in range(m):
            x = values[r * m + c]
            is_open = x != 0.0 and caps.rows[r] > 0 and caps.cols[c] > 0
            worth = on_grid(gain(x, grid.factor, squared), grid.steps) if is_open else np.int64(-1)
            bits |= worth if is_open else 0
            i, j = (c, r) if is_turned else (r, c)
            gains[i, j], hashed[i, j] = worth, tie(r, c, none)
    return gains, hashed, bits


@kernel
def sample(row_caps, total, hashed, apart, price):
    """Return an empty flow of every `apart`-th column, with caps in proportion."""
    k, size, start = row_caps.size, hashed.shape[1], apart // 2
    lines = (size - start + apart - 1) // apart
    column, cap = np.empty(lines, np.int64), np.empty(k + 1, np.int64)
    for j in range(lines):
        column[j] = start + j * apart
    for i in range(k):
        cap[i] = (min(row_caps[i], size) + apart // 2) // apart
    cap[k] = (total + apart // 2) // apart
    kept, open_ = np.empty((k + 1, lines), np.int64), np.empty((k + 1, lines), np.int64)
    loss, through = np.empty((k + 2, k + 2, 2), np.int64), np.empty((k + 2, k + 2), np.int64)
    room, flow = np.empty(lines, np.int64), np.empty(k + 1, np.int64)
    excess = np.empty(k + 2, np.int64)
    tops = np.empty((lines + CHUNK_COLUMNS - 1) // CHUNK_COLUMNS, np.int64)
    if apart > 1:
        hashed = hashed[:, start::apart].copy()
    return FewRows(
        kept, open_, room, hashed, column, flow, cap, excess, price, loss, through, tops
    )


@kernel
def is_below(price, x, y):
    """Return whether the price of node x is below that of node y."""
    return price[x, 0] < price[y, 0] or (price[x, 0] == price[y, 0] and price[x, 1] < price[y, 1])


@kernel
def normalise(price):
    """Make the price of nothing 0, and no other below that of the next node on the way there."""
    nodes = price.shape[0]
    steps, hashed = price[nodes - 2, 0], price[nodes - 2, 1]
    for x in range(nodes):
        price[x, 0] -= steps
        price[x, 1] -= hashed
    for x in range(nodes - 1, -1, -1):
        y = nodes - 2 if x >= nodes - 2 else nodes - 1
        if is_below(price, x, y):
            price[x, 0], price[x, 1] = price[y, 0], price[y, 1]


@kernel
def centre_prices(few):
    """Move prices to the middle between the least and the largest that prove the flow.

    At an end some gain equals its prices on the grid, and the rounded square may be on their wrong
    side. The middle of two proofs is a proof.
    """
    loss, price, nodes, changed = few.loss, few.price, few.excess.size, True
    least, most = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    least[:], most[:] = -UNREACHED, UNREACHED
    least[nodes - 2], most[nodes - 2] = 0, 0
    while changed:
        changed = False
        for x in range(nodes):
            for y in range(nodes):
                lost = loss[x, y, 0]
                if lost < FAR and most[y] < UNREACHED and most[y] + lost < most[x]:
                    most[x], changed = most[y] + lost, True
                if lost < FAR and least[x] > -UNREACHED and least[x] - lost > least[y]:
                    least[y], changed = least[x] - lost, True
    # Unused rows may be without a least price: `normalise` lifts them to that of the hub.
    for x in range(nodes):
        price[x, 0], price[x, 1] = (least[x] + most[x]) >> 1, 0


@kernel
def price_of_column(few, j):
    """Return the price of a column: the middle between what it keeps and what it does not."""
    best, least, price = np.int64(0), np.int64(UNREACHED), few.price
    if few.room[j] > 0:
        return best
    for i in range(few.cap.size - 1):
        if few.kept[i, j] != ABSENT:
            least = min(least, few.kept[i, j] - price[i, 0])
        elif few.open[i, j] != -ABSENT:
            best = max(best, few.open[i, j] - price[i, 0])
    return (best + least) >> 1 if least < UNREACHED else best


@kernel
def read_few(few, is_turned, mask, pi):
    """Fill in the support, and the potentials of simplex.py."""
    k, price, (n, m) = few.cap.size - 1, few.price, mask.shape
    source, sink = terminals(n, m)
    total = price[k + 1, 0]
    pi[source, 0], pi[sink, 0] = total, 0
    for i in range(k):
        if is_turned:
            pi[n + i, 0] = total - price[i, 0]
        else:
            pi[i, 0] = price[i, 0]
    for j in range(few.room.size):
        if is_turned:
            pi[j, 0] = total + price_of_column(few, j)
        else:
            pi[n + j, 0] = -price_of_column(few, j)
        for i in range(k):
            r, c = (j, i) if is_turned else (i, j)
            mask[r, c] = few.kept[i, j] != ABSENT


@kernel
def solve_few(candidates, caps, grid, fits, mask, pi):
    """Fill in the best support of a dense table of few lines, and the potentials of simplex.py.

    `fits` is an upper bound on the size of a support. Returns the number of units sent, and the
    union of the bits of all gains.
    """
    is_turned = caps.rows.size > caps.cols.size
    row_caps, col_caps = (caps.cols, caps.rows) if is_turned else (caps.rows, caps.cols)
    gains, hashed, bits = lay_out_few(candidates, caps, grid, is_turned)
    (k, size), apart, sent = gains.shape, 1, np.int64(0)
    price, total = np.zeros((k + 2, 2), np.int64), min(caps.total, fits + 1)
    while size >= 4 * apart * MIN_COLUMNS and fits >= 4 * apart * MIN_MEAN_CAP * k:
        apart *= 4
    few = sample(row_caps, total, hashed, apart, price)
    start_prices(few, gains)
    sent += solve_columns(few, gains, col_caps)
    while apart > 1:
        apart //= 4
        normalise(price)
        few = sample(row_caps, total, hashed, apart, price)
        sent += solve_columns(few, gains, col_caps)
    normalise(price)
    centre_prices(few)
    normalise(price)
    read_few(few, is_turned, mask, pi)
    return sent, bits

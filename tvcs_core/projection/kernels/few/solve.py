"""Solve a table of few rows: every column chooses by the prices of the rows.

Every fourth column, every sixteenth and so on are solved first, for their prices.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.few.graph import (
    ABSENT,
    CHUNK_COLUMNS,
    FAR,
    UNREACHED,
    FewRows,
    is_below,
    lay_hub,
    offer,
    send,
)
from tvcs_core.projection.kernels.gains import gain, on_grid, tie
from tvcs_core.projection.kernels.pairs import is_less
from tvcs_core.projection.kernels.prices import put_in_place
from tvcs_core.projection.kernels.simplex import terminals

MAX_LINES, MIN_ASPECT_RATIO = 32, 14  # of the shorter side; of the sides (docs/decisions, 331)
MIN_COLUMNS = 32  # of a sample
MIN_MEAN_CAP = 3  # of the rows of a sample, in the mean


@kernel
def has_few_lines(n, m):
    """Return whether a table has few lines on one side, and many times as many on the other."""
    return min(n, m) <= MAX_LINES and max(n, m) > MIN_ASPECT_RATIO * min(n, m)


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
            while at > 0 and is_less(high[at - 1], low[at - 1], worth, hashed):
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
            worth = on_grid(gain(x, grid.factor, squared), grid.steps)
            bits |= worth
            i, j = (c, r) if is_turned else (r, c)
            gains[i, j], hashed[i, j] = worth if x != 0.0 else np.int64(-1), tie(r, c, none)
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

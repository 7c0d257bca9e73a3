"""All caps 1: of the assignments that are worth most, the one whose tie hashes sum to most.

Once prices prove an assignment, any other that is worth as much consists of *tied* entries, which
are worth just their prices, and takes every row and column that has a price. Among these it is an
assignment problem again, on a list: an entry is worth its hash, and to leave out what has a price
costs MUST. Where the prices were found on a coarser grid than the one that counts, entries are
tied that fall short by what this may be off, and a step of the finer grid outweighs all hashes.

It is solved as in assignment.py, in whole numbers: bids, then shortest augmenting paths. A row may
also end without a column, at what that costs. Potentials p of rows and q of columns keep
p + q >= worth for every entry, and p + q = worth where it is assigned; so they stay below 2^62.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import gain, on_grid, tie

MUST = 2**60  # more than all hashes, and than what all entries of a support fall short
FAR = 2**62  # longer than any path
HASHES = 2**42  # no hash is more
FEW = 20  # entries of a line, of which one will be assigned
FREE, OUT = -1, -2  # a row that has no column yet, and one that ends without


@kernel
def count_tied(ones, found, first_row, last_row):
    """Fill in where the tied entries of rows first_row:last_row are to begin and end."""
    values, near, gains = ones.values, ones.near, found.gains
    u, w, start = found.u, found.w, found.start
    m = w.size
    for r in range(first_row, last_row):
        first, price, n = r * m, u[r], 0
        for c in range(m):
            is_near = price + w[c] - gains[first + c] <= near
            n += is_near & (values[first + c] != 0.0)
        start[r + 1] = start[r] + n


@kernel
def list_tied(ones, factor, found, first_row, last_row, tied):
    """List the tied entries of rows first_row:last_row with what they are worth.

    That is their hash less what they fall short of their prices, which is `weight` a step.
    """
    values, near, gains, u, w = ones.values, ones.near, found.gains, found.u, found.w
    start, col, worth, m = tied.start, tied.col, tied.worth, w.size
    for r in range(first_row, last_row):
        # Without a branch: what is not tied is written over. There is room for one more.
        first, price, at = r * m, u[r], start[r]
        for c in range(m):
            col[at] = c
            is_near = price + w[c] - gains[first + c] <= near
            at += is_near & (values[first + c] != 0.0)
        if ones.turned:
            for e in range(start[r], start[r + 1]):
                worth[e] = tie(np.int64(col[e]), r, np.int64(0))
        else:
            for e in range(start[r], start[r + 1]):
                worth[e] = tie(r, np.int64(col[e]), np.int64(0))
        if ones.weight > 0:
            own = np.int64(price * ones.steps)
            for e in range(start[r], start[r + 1]):
                c = np.int64(col[e])
                exact = on_grid(gain(values[first + c], factor, ones.squared), ones.steps)
                worth[e] -= ones.weight * (own + np.int64(w[c] * ones.steps) - exact)


@kernel
def alone(ones, price):
    """What it is worth to leave out a line that has this price: -MUST if it may not be."""
    if price > ones.near:
        return np.int64(-MUST)
    return max(np.int64(-MUST), -ones.weight * np.int64(price * ones.steps))


@kernel
def within(size):
    """How far below the best of a line of this size its best FEW are, if hashes are uniform."""
    return HASHES // size * FEW if size > FEW else FAR


@kernel
def shorten(tied, m):
    """Bring what may matter to the front of each row, and let the row stop behind it.

    Hashes are as good as random, and of random worths the k-th best of a line is assigned with a
    chance of 1 in 2^k: so it is the best FEW of each row and of each column, about.
    """
    start, stop, col, worth = tied.start, tied.stop, tied.col, tied.worth
    size_of, best_of = np.zeros(m, np.int64), np.empty(m, np.int64)
    best_of[:] = -MUST
    for e in range(start[stop.size]):
        size_of[col[e]] += 1
        best_of[col[e]] = max(best_of[col[e]], worth[e])
    for c in range(m):
        best_of[c] -= within(size_of[c])
    for r in range(stop.size):
        best = np.int64(-MUST)
        for e in range(start[r], start[r + 1]):
            best = max(best, worth[e])
        best -= within(start[r + 1] - start[r])
        at = start[r]
        for e in range(start[r], start[r + 1]):
            # Without a branch: what is to be kept changes places with the first that is not.
            c, x, k = col[e], worth[e], at
            at += (x >= best) | (x >= best_of[c])
            col[e], worth[e] = col[k], worth[k]
            col[k], worth[k] = c, x
        stop[r] = at


@kernel
def is_proven(tied, p, q):
    """Whether potentials hold for the entries behind the stops too."""
    start, stop, col, worth, found = tied.start, tied.stop, tied.col, tied.worth, 0
    for r in range(stop.size):
        for e in range(stop[r], start[r + 1]):
            found += worth[e] > p[r] + q[col[e]]
    return found == 0


@kernel
def bid_tied(tied, first_row, last_row, most, p, q, col_of, row_of):
    """Rows first_row:last_row bid for columns in turn, in at most `most` turns; some stay free."""
    start, stop, col = tied.start, tied.stop, tied.col
    worth, alone = tied.worth, tied.alone
    waiting, at = np.empty(last_row - first_row, np.int64), 0
    for i in range(waiting.size):
        waiting[i] = first_row + i
    for _ in range(most):
        if at == waiting.size:
            break
        i = waiting[at]
        best, other, k = alone[i], np.int64(-FAR), np.int64(OUT)
        for e in range(start[i], stop[i]):
            offer = worth[e] - q[col[e]]
            if offer > best:
                best, other, k = offer, best, np.int64(col[e])
            elif offer > other:
                other = offer
        if k == OUT:
            # Prices of columns only rise: it stays the best.
            p[i], col_of[i] = best, OUT
            at += 1
            continue
        p[i] = other
        q[k] += best - other
        before = row_of[k]
        row_of[k], col_of[i] = i, k
        if before >= 0:
            col_of[before], waiting[at] = FREE, before
        else:
            at += 1


@kernel
def push(heap, size, key, what):
    """Add to a heap of (key, what), the least key first."""
    i = size
    while i > 0 and heap[(i - 1) >> 1, 0] > key:
        heap[i, 0], heap[i, 1] = heap[(i - 1) >> 1, 0], heap[(i - 1) >> 1, 1]
        i = (i - 1) >> 1
    heap[i, 0], heap[i, 1] = key, what


@kernel
def pop(heap, size):
    """Take the first off a heap that keeps `size` after that."""
    key, what, i = heap[size, 0], heap[size, 1], 0
    while True:
        j = 2 * i + 1
        if j >= size:
            break
        if j + 1 < size and heap[j + 1, 0] < heap[j, 0]:
            j += 1
        if heap[j, 0] >= key:
            break
        heap[i, 0], heap[i, 1] = heap[j, 0], heap[j, 1]
        i = j
    heap[i, 0], heap[i, 1] = key, what


@kernel
def swap(came_from, root, end, out, col_of, row_of):
    """Swap columns along a path, from its end to its root.

    It ends in a free column, or (not below 0) in the row `out`, which gives its own up.
    """
    if out >= 0:
        end, col_of[out] = col_of[out], OUT
    i = out
    while i != root:
        i = came_from[end]
        row_of[end] = i
        end, col_of[i] = col_of[i], end


@kernel
def assign_tied(tied, first_row, last_row, p, q, col_of, row_of):
    """Settle the free rows of first_row:last_row."""
    start, stop, col = tied.start, tied.stop, tied.col
    worth, alone = tied.worth, tied.alone
    m, n = q.size, p.size
    length, came_from = np.empty(m, np.int64), np.empty(m, np.int64)
    length[:] = FAR
    heap = np.empty((start[n] + 1, 2), np.int64)
    reached, done = np.empty(m, np.int64), np.empty(n, np.int64)
    for root in range(first_row, last_row):
        if col_of[root] != FREE:
            continue
        p[root] = alone[root]
        for e in range(start[root], stop[root]):
            p[root] = max(p[root], worth[e] - q[col[e]])
        # The nearest end known: a column that nobody has, or a row that goes without.
        least, end, out = FAR, np.int64(-1), np.int64(-1)
        i, far, size, n_reached, n_done = root, np.int64(0), np.int64(0), 0, 0
        while True:
            if far + p[i] - alone[i] < least:
                least, end, out = far + p[i] - alone[i], np.int64(-1), i
            for e in range(start[i], stop[i]):
                c = np.int64(col[e])
                through = far + p[i] - worth[e] + q[c]
                if through < length[c] and through < least:
                    if length[c] == FAR:
                        reached[n_reached] = c
                        n_reached += 1
                    length[c], came_from[c] = through, i
                    if row_of[c] < 0:
                        least, end, out = through, c, np.int64(-1)
                    else:
                        push(heap, size, through, c)
                        size += 1
            # What was reached again on a shorter way is in the heap twice.
            while size > 0 and heap[0, 0] != length[heap[0, 1]]:
                size -= 1
                pop(heap, size)
            if size == 0 or heap[0, 0] >= least:
                break
            far, c = heap[0, 0], heap[0, 1]
            size -= 1
            pop(heap, size)
            done[n_done] = c
            n_done += 1
            i = row_of[c]
        # Whoever was reached sooner than the end moves by the difference.
        p[root] -= least
        for k in range(n_done):
            p[row_of[done[k]]] -= least - length[done[k]]
            q[done[k]] += least - length[done[k]]
        for k in range(n_reached):
            length[reached[k]] = FAR
        swap(came_from, root, end, out, col_of, row_of)


@kernel
def read_pairs(ones, factor, found, keep):
    """Fill in the support, and mend the prices; False if a line that has a price was left out.

    Prices of the coarse grid may be off by half its unit. A row that is raised to what its best
    column offers pays once for what all its entries would be over their prices.
    """
    values, squared, turned = ones.values, ones.squared, ones.turned
    u, w, col_of, row_of = found.u, found.w, found.col_of, found.row_of
    n, m = u.size, w.size
    for c in range(m):
        if row_of[c] < 0:
            if alone(ones, w[c]) == -MUST:
                return False
            w[c] = 0.0
    for r in range(n):
        first, best, c = r * m, 0.0, col_of[r]
        if c < 0:
            if alone(ones, u[r]) == -MUST:
                return False
            u[r] = 0.0
            continue
        keep[c * n + r if turned else first + c] = True
        if ones.weight > 0:
            for j in range(m):
                x = values[first + j] * factor
                best = max(best, (x * x if squared else x) - w[j])
            u[r] = best
    return True

"""All caps 1: of the assignments that are worth most, the one whose tie hashes sum to most.

Once prices prove an assignment, any other that is worth as much consists of *tied* entries, which
are worth just their prices, and takes every row and column that has a price. Among these it is an
assignment problem again: an entry is worth its hash, and more than all hashes for each of its lines
that has a price and so must not be left out. What is not tied is worth 0 there, as good as nothing.

Hashes are as good as random, and of random worths the k-th best of a line is assigned with a chance
of 1 in 2^k. So wide rows look for paths among their *near* entries alone, which are the FEW or so
with the largest hashes, of columns with a price and of others. All are looked at once in the end.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.assignment import FAR, FREE, swap
from tvcs_core.projection.kernels.gains import tie

HASHES = 2**42  # no hash is more
FEW = 20  # entries of a line, of which one will be assigned
ROOM = 64  # near entries of a row, on average, with which lists are given up


@kernel
def count_tied(ones, found, first_row, last_row):
    """How many entries of rows first_row:last_row are tied; counts no further than to a choice."""
    values, gains, u, w, n = ones.values, found.gains, found.u, found.w, 0
    for r in range(first_row, last_row):
        line, row, price = values[r], gains[r], u[r]
        for c in range(w.size):
            n += (price + w[c] == row[c]) & (line[c] != 0.0)
        if n > u.size:
            break  # no more than a row each is kept: there is a choice
    return n


@kernel
def lay_worths(ones, found, r):
    """Write what the entries of row r are worth over their gains."""
    line, row, w, none = ones.values[r], found.gains[r], found.w, np.int64(0)
    price, must = found.u[r], found.u.size * HASHES
    more = must if price > 0 else none
    for c in range(w.size):
        worth = tie(c, r, none) if ones.turned else tie(r, c, none)
        worth += more + (must if w[c] > 0 else none)
        is_tied = (price + w[c] == row[c]) & (line[c] != 0.0)
        row[c] = 2 * worth if is_tied else none


@kernel
def list_near(found, r):
    """List the near entries of row r; False if there is no room for them."""
    row, w, near, must = found.gains[r], found.w, found.near, found.u.size * HASHES
    start, col, worth = near.start, near.col, near.worth
    at, priced, others = start[r], np.int64(0), np.int64(0)
    if at > ROOM * found.u.size:
        return False
    for c in range(w.size):
        priced += (row[c] > 0) & (w[c] > 0)
        others += (row[c] > 0) & (w[c] == 0)
    # Of k uniform hashes FEW are expected above these.
    more = must if found.u[r] > 0 else np.int64(0)
    of_priced = 2 * (more + must + max(1, HASHES - HASHES // (priced + 1) * FEW))
    of_others = 2 * (more + max(1, HASHES - HASHES // (others + 1) * FEW))
    for c in range(w.size):
        if row[c] >= (of_priced if w[c] > 0 else of_others):
            col[at], worth[at] = c, row[c]
            at += 1
    start[r + 1] = at
    return True


@kernel
def bid_near(found, row, most):
    """A row bids by its near entries, as in `assignment.bid`; at most `most` bids follow."""
    p, q, col_of, row_of = found.p, found.q, found.col_of, found.row_of
    start, col, worth = found.near.start, found.near.col, found.near.worth
    for _ in range(most):
        best, other, k = np.int64(0), np.int64(0), np.int64(-1)
        for e in range(start[row], start[row + 1]):
            offer = worth[e] - q[col[e]]
            if offer > best:
                best, other, k = offer, best, col[e]
            else:
                other = max(other, offer)
        if k < 0:
            break
        before = row_of[k]
        p[row] = other
        q[k] += best - other
        row_of[k], col_of[row] = row, k
        if before < 0:
            break
        col_of[before], row = FREE, before


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
def assign_near(found, first_row, last_row):
    """Assign the free rows of first_row:last_row by near entries, where these lead to a column.

    As `assignment.assign`, with a heap of the columns that are reached in place of a look at all.
    """
    p, q, col_of, row_of = found.p, found.q, found.col_of, found.row_of
    start, col, worth, n, m = found.near.start, found.near.col, found.near.worth, p.size, q.size
    length, came_from = np.empty(m, np.int64), np.empty(m, np.int64)
    length[:] = FAR
    heap = np.empty((start[n] + 1, 2), np.int64)
    reached, done = np.empty(m, np.int64), np.empty(n, np.int64)
    for root in range(first_row, last_row):
        if col_of[root] >= 0:
            continue
        p[root] = 0
        for e in range(start[root], start[root + 1]):
            p[root] = max(p[root], worth[e] - q[col[e]])
        # The nearest free column that is known.
        least, end = np.int64(FAR), np.int64(-1)
        i, far, size, n_reached, n_done = root, np.int64(0), np.int64(0), 0, 0
        while True:
            # Any free column that is not near is worth 0 or more to row i.
            if far + p[i] < least:
                least, end = far + p[i], np.int64(-1)
            for e in range(start[i], start[i + 1]):
                c = col[e]
                through = far + p[i] - worth[e] + q[c]
                if through < length[c] and through < least:
                    if length[c] == FAR:
                        reached[n_reached] = c
                        n_reached += 1
                    length[c], came_from[c] = through, i
                    if row_of[c] < 0:
                        least, end = through, c
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
        if end >= 0:
            swap(came_from, root, end, col_of, row_of)
        for k in range(n_reached):
            length[reached[k]] = FAR


@kernel
def count_wrong(found, first_row, last_row):
    """How many entries of assigned rows of first_row:last_row are worth more than potentials."""
    p, q, n = found.p, found.q, 0
    for r in range(first_row, last_row):
        if found.col_of[r] < 0:
            continue
        row, price = found.gains[r], p[r]
        for c in range(q.size):
            n += row[c] > price + q[c]
    return n

"""Unit caps: of all optimal assignments, the one with the largest sum of tie hashes.

Once prices prove an assignment, every other optimal one consists of *tied* entries, whose gain
equals their prices. It covers every row and column with a price (complementary slackness). Among
tied entries it is an assignment problem again: an entry is worth its hash, plus more than all
hashes for each of its lines with a price, which must be covered. Entries that are not tied are
worth 0, the same as none.

Hashes are as good as random, and with random worths the k-th best entry of a line is assigned with
a probability of about 2^-k. So wide rows search paths on their *shortlist*: about TIED_PER_LINE
entries with the largest hashes, of columns with a price and of others. Finally all entries are
checked once.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.assignment import FREE, INFINITE_LENGTH, swap
from tvcs_core.projection.kernels.gains import tie

MAX_HASH = 2**42  # no hash exceeds it
TIED_PER_LINE = 20  # mean size of a shortlist; the assigned entry is off it in one of 2^20 rows
SHORTLIST_ROOM = 64  # mean size of the shortlists at which they are given up


@kernel
def count_tied(unit_table, state, first_row, last_row):
    """Return the number of tied entries of rows first_row:last_row, or a number above u.size."""
    values, gains, u, w, n = unit_table.values, state.gains, state.u, state.w, 0
    for r in range(first_row, last_row):
        line, row, price = values[r], gains[r], u[r]
        for c in range(w.size):
            n += (price + w[c] == row[c]) & (line[c] != 0.0)
        if n > u.size:
            break  # more than one entry per row is tied, so there is a choice
    return n


@kernel
def lay_worths(unit_table, state, r):
    """Overwrite the gains of row r by the worths of its entries."""
    line, row, w, none = unit_table.values[r], state.gains[r], state.w, np.int64(0)
    price, must = state.u[r], state.u.size * MAX_HASH
    more = must if price > 0 else none
    for c in range(w.size):
        worth = tie(c, r, none) if unit_table.turned else tie(r, c, none)
        worth += more + (must if w[c] > 0 else none)
        is_tied = (price + w[c] == row[c]) & (line[c] != 0.0)
        row[c] = 2 * worth if is_tied else none


@kernel
def fill_shortlist(state, r):
    """Fill the shortlist of row r; return False if there is no room for it."""
    row, w, shortlist, must = state.gains[r], state.w, state.shortlist, state.u.size * MAX_HASH
    start, col, worth = shortlist.start, shortlist.col, shortlist.worth
    at, priced, others = start[r], np.int64(0), np.int64(0)
    if at > SHORTLIST_ROOM * state.u.size:
        return False
    for c in range(w.size):
        priced += (row[c] > 0) & (w[c] > 0)
        others += (row[c] > 0) & (w[c] == 0)
    # Of k uniform hashes TIED_PER_LINE are expected above these limits.
    more = must if state.u[r] > 0 else np.int64(0)
    of_priced = 2 * (more + must + max(1, MAX_HASH - MAX_HASH // (priced + 1) * TIED_PER_LINE))
    of_others = 2 * (more + max(1, MAX_HASH - MAX_HASH // (others + 1) * TIED_PER_LINE))
    for c in range(w.size):
        if row[c] >= (of_priced if w[c] > 0 else of_others):
            col[at], worth[at] = c, row[c]
            at += 1
    start[r + 1] = at
    return True


@kernel
def bid_on_shortlist(state, row, most):
    """Let a row bid on its shortlist, as in `assignment.bid`; at most `most` bids follow."""
    p, q, col_of, row_of = state.p, state.q, state.col_of, state.row_of
    start, col, worth = state.shortlist.start, state.shortlist.col, state.shortlist.worth
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
def push(heap, size, key, value):
    """Add (key, value) to a min-heap of `size` elements."""
    i = size
    while i > 0 and heap[(i - 1) >> 1, 0] > key:
        heap[i, 0], heap[i, 1] = heap[(i - 1) >> 1, 0], heap[(i - 1) >> 1, 1]
        i = (i - 1) >> 1
    heap[i, 0], heap[i, 1] = key, value


@kernel
def pop(heap, size):
    """Remove the first element of a heap, which then has `size` elements."""
    key, value, i = heap[size, 0], heap[size, 1], 0
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
    heap[i, 0], heap[i, 1] = key, value


@kernel
def assign_on_shortlist(state, first_row, last_row):
    """Assign the free rows of first_row:last_row along shortlists, if these lead to a column.

    As `assignment.assign`, with a heap of the columns reached instead of a scan of all.
    """
    p, q, col_of, row_of = state.p, state.q, state.col_of, state.row_of
    shortlist, n, m = state.shortlist, p.size, q.size
    start, col, worth = shortlist.start, shortlist.col, shortlist.worth
    length, came_from = np.empty(m, np.int64), np.empty(m, np.int64)
    length[:] = INFINITE_LENGTH
    heap = np.empty((start[n] + 1, 2), np.int64)
    reached, done = np.empty(m, np.int64), np.empty(n, np.int64)
    for root in range(first_row, last_row):
        if col_of[root] >= 0:
            continue
        p[root] = 0
        for e in range(start[root], start[root + 1]):
            p[root] = max(p[root], worth[e] - q[col[e]])
        # The nearest known free column.
        least, end = np.int64(INFINITE_LENGTH), np.int64(-1)
        i, far, size, n_reached, n_done = root, np.int64(0), np.int64(0), 0, 0
        while True:
            # A free column off the shortlist is worth at least 0 to row i.
            if far + p[i] < least:
                least, end = far + p[i], np.int64(-1)
            for e in range(start[i], start[i + 1]):
                c = col[e]
                through = far + p[i] - worth[e] + q[c]
                if through < length[c] and through < least:
                    if length[c] == INFINITE_LENGTH:
                        reached[n_reached] = c
                        n_reached += 1
                    length[c], came_from[c] = through, i
                    if row_of[c] < 0:
                        least, end = through, c
                    else:
                        push(heap, size, through, c)
                        size += 1
            # A column that was reached again by a shorter path is in the heap twice.
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
        # Rows and columns nearer than the end move by the difference in length.
        p[root] -= least
        for k in range(n_done):
            p[row_of[done[k]]] -= least - length[done[k]]
            q[done[k]] += least - length[done[k]]
        if end >= 0:
            swap(came_from, root, end, col_of, row_of)
        for k in range(n_reached):
            length[reached[k]] = INFINITE_LENGTH


@kernel
def count_wrong(state, first_row, last_row):
    """Return how many entries of assigned rows of first_row:last_row exceed their prices."""
    p, q, n = state.p, state.q, 0
    for r in range(first_row, last_row):
        if state.col_of[r] < 0:
            continue
        row, price = state.gains[r], p[r]
        for c in range(q.size):
            n += row[c] > price + q[c]
    return n

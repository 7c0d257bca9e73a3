"""Assignment by shortest augmenting paths: all caps 1, no binding total.

Rows are at most as many as columns. Most rows get a column by bids. The others are assigned one
after the other: Dijkstra's algorithm on the reduced costs u + w - gain >= 0 finds the cheapest path
of swaps to a free column. The prices u of rows and w of columns move along, so they prove the
assignment at every step. All numbers are even integers.
D. F. Crouse, On implementing 2D rectangular assignment algorithms, IEEE TAES 52 (2016); the bids
are the augmenting row reduction of R. Jonker and A. Volgenant, Computing 38 (1987).
"""

import numpy as np

from tvcs_core.jit import kernel

FREE = -1  # the partner of an unassigned row or column
INFINITE_LENGTH = 2**61  # longer than any path: potentials stay below 2^60 (`grid_steps`)
SETTLED_PRICE = 2**62  # price of a column whose path is final, so that no other path is shorter


@kernel
def offers_of(row, w, offers):
    """Fill in the offers of all columns to a row; return the best."""
    best = np.int64(-1)
    for j in range(w.size):
        offer = row[j] - w[j]
        offers[j] = offer
        best = max(best, offer)
    return best


@kernel
def place_of(number, numbers):
    """Return the first position of a number that occurs in `numbers`."""
    j = 0
    while numbers[j] != number:
        j += 1
    return j


@kernel
def bid(gains, first_row, last_row, most, u, w, col_of, row_of):
    """Let rows first_row:last_row bid for columns, in at most `most` turns; some may stay free.

    A row takes its best column and raises the column's price until the next best is worth as much;
    the row that loses the column bids next. A column once taken stays taken, so that free columns
    have price 0.
    """
    waiting, at, m = np.empty(last_row - first_row, np.int64), 0, w.size
    offers = np.empty(m, np.int64)
    for q in range(waiting.size):
        waiting[q] = first_row + q
    for _ in range(most):
        if at == waiting.size:
            break
        i, other = waiting[at], np.int64(0)
        best = offers_of(gains[i], w, offers)
        k = place_of(best, offers)
        offers[k] = 0
        for j in range(m):
            other = max(other, offers[j])
        if best <= other and row_of[k] >= 0:
            # Of equal offers take one of a free column; without one, leave the row to the paths.
            j, offers[k] = 0, best
            while j < m and (offers[j] != best or row_of[j] >= 0):
                j += 1
            if j == m:
                at += 1
                continue
            k = j
        before = row_of[k]
        u[i] = other
        w[k] += best - other
        row_of[k], col_of[i] = i, k
        if before >= 0:
            col_of[before], waiting[at] = FREE, before
        else:
            at += 1


@kernel
def scan_row(row, offset, i, priced, length, came_from):
    """Shorten the paths to the columns that lead through row i; return the least length."""
    least = np.int64(INFINITE_LENGTH)
    for j in range(length.size):
        through, before = offset + priced[j] - row[j], length[j]
        shorter = min(through, before)
        came_from[j] = i if through < before else came_from[j]
        length[j] = shorter
        least = min(least, shorter)
    return least


@kernel
def swap(came_from, root, end, col_of, row_of):
    """Swap columns along a path, from the free column at its end to the free row at its root."""
    i = FREE
    while i != root:
        i = came_from[end]
        row_of[end] = i
        end, col_of[i] = col_of[i], end


@kernel
def assign(gains, first_row, last_row, u, w, col_of, row_of):
    """Assign the free rows of first_row:last_row.

    Gains and prices are even. The last bit of a length marks a taken column, so that of equal paths
    the one to a free column comes first.
    """
    n, m = gains.shape
    length, came_from = np.empty(m, np.int64), np.empty(m, np.int64)
    priced, final = np.empty(m, np.int64), np.empty(n, np.int64)
    done_cols = np.empty(n, np.int64)
    for start in range(first_row, last_row):
        if col_of[start] >= 0:
            continue
        # At this price the reduced costs of the new row are >= 0.
        u[start] = max(0, offers_of(gains[start], w, priced))
        for j in range(m):
            length[j] = INFINITE_LENGTH
            priced[j] = w[j] + (row_of[j] >= 0)
        i, far, n_done = start, np.int64(0), 0
        # Dijkstra: lengths of settled columns are final; paths continue from the rows they have.
        while True:
            least = scan_row(gains[i], far + u[i], i, priced, length, came_from)
            j, far = place_of(least, length), least & -2
            if far == least:
                break
            final[n_done], done_cols[n_done] = far, j
            n_done += 1
            length[j], priced[j] = INFINITE_LENGTH, SETTLED_PRICE
            i = row_of[j]
        # Rows and columns nearer than the free column move by the difference in length. That makes
        # all reduced costs on the path 0 and keeps the others >= 0.
        u[start] -= far
        for q in range(n_done):
            c = done_cols[q]
            u[row_of[c]] -= far - final[q]
            w[c] += far - final[q]
        swap(came_from, start, j, col_of, row_of)

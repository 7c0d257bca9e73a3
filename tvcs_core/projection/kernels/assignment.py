"""All caps 1 and no binding total: the assignment problem, by shortest augmenting paths.

Most rows, no more of them than columns, get a column by bids. The others are assigned one after the
other: the cheapest path of swaps to a free column is found by Dijkstra's algorithm on the reduced
costs u + w - gain >= 0. The prices u of rows and w of columns move with all of it, so they prove
the assignment at every step. All are whole and even numbers.
D. F. Crouse, On implementing 2D rectangular assignment algorithms, IEEE TAES 52 (2016); the bids
are the augmenting row reduction of R. Jonker and A. Volgenant, Computing 38 (1987).
"""

import numpy as np

from tvcs_core.jit import kernel

FREE = -1  # whom a row or column has that has nobody
FAR = 2**61  # longer than any path
DONE = 2**62  # the price of a column whose path is known: no other is shorter


@kernel
def offers_of(row, w, offers):
    """Fill in what the columns offer to a row; return the best."""
    best = np.int64(-1)
    for j in range(w.size):
        offer = row[j] - w[j]
        offers[j] = offer
        best = max(best, offer)
    return best


@kernel
def place_of(what, numbers):
    """The first place of a number that is there."""
    j = 0
    while numbers[j] != what:
        j += 1
    return j


@kernel
def bid(gains, first_row, last_row, most, u, w, col_of, row_of):
    """Rows first_row:last_row bid for columns in turn, in at most `most` turns; some stay free.

    A row takes its best column and raises its price until the next best is worth as much, and
    whoever had the column is the next to bid. A column that was taken once stays taken, so that a
    free one has price 0.
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
            # Of equal offers one that nobody has; if there is none, that is left to the paths.
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
    """Shorten the paths to the columns by way of row i; return the least length."""
    least = np.int64(FAR)
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

    Gains and prices are even: the last bit of a length says that the column is taken, so that of
    equal paths one to a free column comes first.
    """
    n, m = gains.shape
    length, came_from = np.empty(m, np.int64), np.empty(m, np.int64)
    priced, final = np.empty(m, np.int64), np.empty(n, np.int64)
    done_cols = np.empty(n, np.int64)
    for start in range(first_row, last_row):
        if col_of[start] >= 0:
            continue
        # At this price no column is worth more to the new row than its reduced cost says.
        u[start] = max(0, offers_of(gains[start], w, priced))
        for j in range(m):
            length[j] = FAR
            priced[j] = w[j] + (row_of[j] >= 0)
        i, far, n_done = start, np.int64(0), 0
        # Dijkstra: lengths of columns done are final; the row of each is where paths go on from.
        while True:
            least = scan_row(gains[i], far + u[i], i, priced, length, came_from)
            j, far = place_of(least, length), least & -2
            if far == least:
                break
            final[n_done], done_cols[n_done] = far, j
            n_done += 1
            length[j], priced[j] = FAR, DONE
            i = row_of[j]
        # Whoever was reached sooner than the free column moves by the difference: the path to it
        # gets reduced cost 0, and no reduced cost falls below 0.
        u[start] -= far
        for q in range(n_done):
            c = done_cols[q]
            u[row_of[c]] -= far - final[q]
            w[c] += far - final[q]
        swap(came_from, start, j, col_of, row_of)

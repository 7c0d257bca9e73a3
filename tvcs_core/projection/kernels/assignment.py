"""All caps 1 and no binding total: the assignment problem, by shortest augmenting paths.

Most rows, no more of them than columns, get a column by bids. The others are assigned one after the
other: the cheapest path of swaps to a free column is found by Dijkstra's algorithm on the reduced
costs u + w - gain >= 0. The prices u of rows and w of columns move with all of it, so they prove
the assignment at every step.
D. F. Crouse, On implementing 2D rectangular assignment algorithms, IEEE TAES 52 (2016); the bids
are the augmenting row reduction of R. Jonker and A. Volgenant, Computing 38 (1987).
"""

import math

import numpy as np

from tvcs_core.jit import kernel


@kernel
def lay_gains(ones, out):
    """Fill `out` with the scaled gains on the coarse grid; return what values are multiplied by.

    That is a power of two that brings the largest to .5 .. 1, or 0 if all are 0.
    """
    values, squared, coarse = ones.values, ones.squared, ones.coarse
    largest, factor, unit = 0.0, 0.0, 1.0 / coarse
    for e in range(values.size):
        largest = max(largest, abs(values[e]))
    if largest > 0.0:
        factor = math.ldexp(1.0, -min(max(math.frexp(largest)[1], -1000), 1000))
    for e in range(values.size):
        x = values[e] * factor
        out[e] = np.floor((x * x if squared else x) * coarse + 0.5) * unit
    return factor


@kernel
def bid(gains, m, first_row, last_row, most, u, w, col_of, row_of):
    """Rows first_row:last_row bid for columns in turn, in at most `most` turns; some stay free.

    A row takes its best column and raises its price until the next best is worth as much, and
    whoever had the column is the next to bid. A column that was taken once stays taken, so that a
    free one has price 0.
    """
    waiting, at, offers = np.empty(last_row - first_row, np.int64), 0, np.empty(m)
    for q in range(waiting.size):
        waiting[q] = first_row + q
    for _ in range(most):
        if at == waiting.size:
            break
        i = waiting[at]
        for j in range(m):
            offers[j] = gains[i * m + j] - w[j]
        best, other, k = offers[0], 0.0, 0
        for j in range(m):
            best = max(best, offers[j])
        while offers[k] != best:
            k += 1
        offers[k] = 0.0
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
            col_of[before], waiting[at] = -1, before
        else:
            at += 1


@kernel
def scan_row(gains, m, far, u, w, row_of, length, came_from, i):
    """Shorten the paths to the columns by way of row i, which is `far` away.

    Returns the nearest column not done (those have length -inf), a free one if it may, and how
    far it is.
    """
    nearest, least = -1, np.inf
    first, offset = i * m, far + u[i]
    for j in range(m):
        through = max(far, offset + w[j] - gains[first + j])
        shorter = through < length[j]
        length[j] = through if shorter else length[j]
        came_from[j] = i if shorter else came_from[j]
    for j in range(m):
        least = min(least, length[j] if length[j] >= 0.0 else np.inf)
    for j in range(m):
        if length[j] == least:
            nearest = j
            if row_of[j] < 0:
                break
    return nearest, least


@kernel
def assign(gains, n, m, first_row, last_row, u, w, col_of, row_of):
    """Assign the free rows of first_row:last_row; col_of and row_of are -1 for free ones."""
    length, came_from = np.empty(m), np.empty(m, np.int64)
    final = np.empty(m)
    done_cols = np.empty(n, np.int64)
    for start in range(first_row, last_row):
        if col_of[start] >= 0:
            continue
        # At this price no column is worth more to the new row than its reduced cost says.
        best = 0.0
        for j in range(m):
            best = max(best, gains[start * m + j] - w[j])
        u[start] = best
        length[:] = np.inf
        i, far, n_done = start, 0.0, 0
        # Dijkstra: lengths of columns done are final; the row of each is where paths go on from.
        while True:
            j, far = scan_row(gains, m, far, u, w, row_of, length, came_from, i)
            if row_of[j] < 0:
                break
            final[j] = far
            length[j] = -np.inf
            done_cols[n_done] = j
            n_done += 1
            i = row_of[j]
        # Whoever was reached sooner than the free column moves by the difference: the path to it
        # gets reduced cost 0, and no reduced cost falls below 0.
        u[start] -= far
        for q in range(n_done):
            c = done_cols[q]
            u[row_of[c]] -= far - final[c]
            w[c] += far - final[c]
        # Swap along the path, from its end.
        while True:
            i = came_from[j]
            row_of[j] = i
            j, col_of[i] = col_of[i], j
            if i == start:
                break

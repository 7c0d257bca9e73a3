"""All caps 1 and no binding total: the assignment problem, by shortest augmenting paths.

Rows, no more of them than columns, are assigned one after the other. Each time the cheapest path of
swaps to a free column is found by Dijkstra's algorithm on the reduced costs u + w - gain >= 0, and
the prices u of rows and w of columns move with it, so they prove the assignment at every step.
D. F. Crouse, On implementing 2D rectangular assignment algorithms, IEEE TAES 52 (2016).
"""

import numpy as np

from tvcs_core.jit import kernel


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
    """Assign rows first_row:last_row; rows before them are, row_of is -1 for free columns."""
    length, came_from = np.empty(m), np.empty(m, np.int64)
    final = np.empty(m)
    done_cols = np.empty(n, np.int64)
    for start in range(first_row, last_row):
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

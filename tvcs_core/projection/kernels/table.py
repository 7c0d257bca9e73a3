"""Passes over the whole table of candidates.

A table is `values` in row order, with row r in start[r]:start[r+1]. In a dense table every row
holds every column and `columns` counts them; else `columns` holds the column of each entry. `keys`
are laid out like the columns. Columns that may keep nothing have an infinite price in these passes.
"""

# fmt: off

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import NUDGE, coarse_tie, gain, on_grid, tie, tie_of_row
from tvcs_core.projection.kernels.prices import longest_line


@kernel
def survey(values, start, columns, dense, row_caps, col_caps, per_row, per_col):
    """Count the nonzero entries of each row and column whose caps are positive.

    Returns the largest of them in size.
    """
    largest = 0.0
    ones = np.empty(col_caps.size)
    for c in range(col_caps.size):
        ones[c] = 1.0 if col_caps[c] > 0 else 0.0
    for r in range(start.size - 1):
        if row_caps[r] == 0:
            continue
        n, first = 0, start[r]
        if dense:
            for c in range(columns.size):
                x = abs(values[first + c]) * ones[c]
                largest = max(largest, x)
                n += x != 0.0
                per_col[c] += x != 0.0
        else:
            for e in range(first, start[r + 1]):
                c = np.int64(columns[e])
                if values[e] != 0.0 and col_caps[c] > 0:
                    largest = max(largest, abs(values[e]))
                    n += 1
                    per_col[c] += 1
        per_row[r] = n
    return largest


@kernel
def nudged_gains(values, columns, keys, first, size, at, row, factor, squared, nudged, out):
    """Fill `out` with the gains of entries first:first+size of a row, nudged by their hash."""
    for j in range(size):
        x = values[first + j] * factor
        out[j] = x * x if squared else x
    if nudged:
        of_row = tie_of_row(row)
        for j in range(size):
            c = np.int64(columns[at + j])
            out[j] += coarse_tie(of_row, c, keys[at + j]) * NUDGE * (out[j] > 0.0)


@kernel
def all_gains(values, n_cols, columns, keys, factor, squared, nudged, grid, out):
    """Fill `out` with the gains of a dense table on the grid, nudged by their hash or not."""
    none, shift = np.int64(0), 1.5 * 2.0**52 / grid  # a sum with it is rounded to the grid
    for r in range(out.shape[0]):
        line = out[r]
        nudged_gains(
            values, columns, keys, r * n_cols, n_cols, none, r, factor, squared, nudged, line
        )
        for c in range(n_cols):
            line[c] = (line[c] + shift) - shift


@kernel
def list_open(values, start, columns, keys, dense, row_caps, col_caps, factor, squared, nudged,
              row, col, gains, row_start, place):
    """List the nonzero entries of open rows and columns, row by row (`place` if it has room)."""
    a = 0
    for r in range(start.size - 1):
        row_start[r] = a
        if row_caps[r] == 0:
            continue
        of_row = tie_of_row(r)
        shift = start[r] if dense else 0
        for e in range(start[r], start[r + 1]):
            c = np.int64(columns[e - shift])
            if values[e] == 0.0 or col_caps[c] == 0:
                continue
            row[a], col[a] = r, c
            gains[a] = gain(values[e], factor, squared)
            if nudged:
                gains[a] += coarse_tie(of_row, c, keys[e - shift]) * NUDGE
            if place.size > 0:
                place[a] = e
            a += 1
    row_start[start.size - 1] = a


@kernel
def gather(source, columns, at, size, out):
    """Fill `out` with what `source` holds for a stretch of columns."""
    for j in range(size):
        out[j] = source[columns[at + j]]


@kernel
def band(values, start, columns, keys, dense, factor, squared, nudged, closed, row_price,
         col_price, total_price, below_row, above_row, below_col, above_col, below_total,
         above_total, first_row, last_row, keep, row_taken, col_taken, row, col, gains, place, n):
    """Sort entries by the sign of gain - row_price - col_price - total_price; list those near zero.

    Near is `below` zero or `above` it by what the row or the column says, or the total where row
    and column are (all but) free. Entries above are kept and counted as taken. Returns (next row,
    number listed): it stops before a row that might not fit.
    """
    widest, none = longest_line(start), np.int64(0)
    width = columns.size if dense else widest
    prices, below, above = np.empty(width), np.empty(width), np.empty(width)
    free = np.empty(width)
    slack = np.empty(width)
    near = np.zeros((width + 7) // 8 * 8, np.bool_)
    words = near.view(np.uint64)
    if dense:
        gather(col_price, columns, none, width, prices)
        gather(below_col, columns, none, width, below)
        gather(above_col, columns, none, width, above)
        for j in range(width):
            free[j] = 1.0 if prices[j] <= above_total else 0.0
    for r in range(first_row, last_row):
        first, size = start[r], start[r + 1] - start[r]
        if n + size > place.size:
            return r, n
        if closed[r]:
            continue
        at = none if dense else first
        if not dense:
            gather(col_price, columns, at, size, prices)
            gather(below_col, columns, at, size, below)
            gather(above_col, columns, at, size, above)
            for j in range(size):
                free[j] = 1.0 if prices[j] <= above_total else 0.0
        nudged_gains(values, columns, keys, first, size, at, r, factor, squared, nudged, slack)
        p, under, over = row_price[r] + total_price, below_row[r], above_row[r]
        total_under, total_over = below_total, above_total
        if row_price[r] > above_total:
            total_under, total_over = 0.0, 0.0
        for j in range(size):
            s = slack[j] - prices[j] - p
            least = max(under, max(below[j], free[j] * total_under))
            most = max(over, max(above[j], free[j] * total_over))
            near[j] = (s >= -least) & (s <= most) & (slack[j] > 0.0)
            keep[first + j] = (s > 0.0) & ~near[j]
        taken = 0
        for j in range(size):
            taken += keep[first + j]
        row_taken[r] = taken
        if dense:
            for j in range(size):
                col_taken[j] += keep[first + j]
        else:
            for j in range(size):
                col_taken[columns[first + j]] += keep[first + j]
        for q in range((size + 7) // 8):
            if words[q] == 0:
                continue
            for j in range(8 * q, min(8 * q + 8, size)):
                if near[j]:
                    row[n], col[n], gains[n], place[n] = r, columns[at + j], slack[j], first + j
                    n += 1
    return last_row, n


@kernel
def entry_costs(values, columns, keys, dense, factor, squared, grid, nudged, row, col, place,
                first, last, first_arc, cost):
    """Fill in the costs of the core's entries first:last: nudged gains, or gains and tie hash."""
    for i in range(first, last):
        e, r, c = place[i], np.int64(row[i]), np.int64(col[i])
        key = keys[c] if dense else keys[e]
        g = gain(values[e], factor, squared)
        if nudged:
            g += coarse_tie(tie_of_row(r), c, key) * NUDGE * (g > 0.0)
            cost[first_arc + i, 0], cost[first_arc + i, 1] = -on_grid(g, grid), 0
        else:
            cost[first_arc + i, 0], cost[first_arc + i, 1] = -on_grid(g, grid), -tie(r, c, key)


@kernel
def violation(gain_, place_tie, kept, pi, r, c):
    """By how many grid steps an entry is on the wrong side of its reduced cost; 0 if it is not."""
    high = on_grid(gain_, 1.0) - pi[r, 0] + pi[c, 0]
    low = place_tie - pi[r, 1] + pi[c, 1]
    if kept:
        high, low = -high, -low
    if high > 0 or (high == 0 and low > 0):
        return high + 1
    return 0


@kernel
def violators(values, start, columns, keys, dense, factor, squared, nudged, grid, closed_row,
              closed_col, pi, keep, most, first_row, last_row, row, col, place, n):
    """List entries that are kept though their reduced cost says no, or the other way round.

    At most `most` of each row, the worst. Signs are taken from floating point where they are
    clear, and else from the grid. Returns (next row, number listed).
    """
    n_rows = start.size - 1
    widest, none = longest_line(start), np.int64(0)
    width = columns.size if dense else widest
    prices, all_prices = np.empty(width), np.empty(closed_col.size)
    slack, size_of, where = np.empty(width), np.empty(width), np.empty(width, np.int64)
    near = np.zeros((width + 7) // 8 * 8, np.bool_)
    words = near.view(np.uint64)
    top = 1.0
    for c in range(closed_col.size):
        all_prices[c] = np.inf if closed_col[c] else -pi[n_rows + c, 0] / grid
        if not closed_col[c]:
            top = max(top, abs(all_prices[c]))
    for r in range(first_row, last_row):
        if not closed_row[r]:
            top = max(top, abs(pi[r, 0] / grid))
    unsure = top * 2.0**-50
    if dense:
        gather(all_prices, columns, none, width, prices)
    for r in range(first_row, last_row):
        first, size = start[r], start[r + 1] - start[r]
        if n + most > place.size:
            return r, n
        if closed_row[r]:
            continue
        at = none if dense else first
        if not dense:
            gather(all_prices, columns, at, size, prices)
        nudged_gains(values, columns, keys, first, size, at, r, factor, squared, nudged, slack)
        p = pi[r, 0] / grid
        for j in range(size):
            s = slack[j] - prices[j] - p
            near[j] = (abs(s) <= unsure) | ((s > 0.0) != keep[first + j])
        found = np.int64(0)
        for q in range((size + 7) // 8):
            if words[q] == 0:
                continue
            for j in range(8 * q, min(8 * q + 8, size)):
                c = np.int64(columns[at + j])
                if not near[j] or closed_col[c] or values[first + j] == 0.0:
                    continue
                hashed = 0 if nudged else tie(r, c, keys[at + j])
                wrong = violation(slack[j] * grid, hashed, keep[first + j], pi, r, n_rows + c)
                if wrong > 0:
                    size_of[found], where[found] = wrong, j
                    found += 1
        worst_first(size_of, where, found, most)
        for i in range(min(found, most)):
            row[n], col[n], place[n] = r, columns[at + where[i]], first + where[i]
            n += 1
    return last_row, n


@kernel
def worst_first(size_of, where, found, most):
    """Bring the `most` largest of size_of[:found] to the front, and `where` along."""
    if found <= most:
        return
    low, high = 0, found
    while high - low > 1:
        pivot = size_of[(low + high) >> 1]
        i, j = low, high - 1
        while i <= j:
            while size_of[i] > pivot:
                i += 1
            while size_of[j] < pivot:
                j -= 1
            if i <= j:
                size_of[i], size_of[j] = size_of[j], size_of[i]
                where[i], where[j] = where[j], where[i]
                i += 1
                j -= 1
        if most <= j:
            high = j + 1
        elif most >= i:
            low = i
        else:
            return


@kernel
def all_bits(values, start, columns, dense, row_caps, col_caps, factor, squared, grid):
    """All bits that any gain on the grid has set: its lowest one is a common unit of the gains."""
    bits = 0
    for r in range(start.size - 1):
        if row_caps[r] == 0:
            continue
        shift = start[r] if dense else 0
        for e in range(start[r], start[r + 1]):
            if col_caps[columns[e - shift]] > 0:
                bits |= on_grid(gain(values[e], factor, squared), grid)
    return bits


@kernel
def price_of_closed(gain_, other):
    """Return the least price with gain - other - price <= 0, rounding included."""
    price = gain_ - other
    if price + other == gain_ and gain_ - price == other:
        return price
    return price + gain_ * 2.0**-50


@kernel
def close_duals(values, start, columns, dense, row_caps, col_caps, squared, u, w, price):
    """Price the groups that may keep nothing at what their best entry is worth."""
    for r in range(start.size - 1):
        shift = start[r] if dense else 0
        for e in range(start[r], start[r + 1]):
            c = np.int64(columns[e - shift])
            if row_caps[r] == 0:
                u[r] = max(u[r], price_of_closed(gain(values[e], 1.0, squared), w[c] + price))
            elif col_caps[c] == 0:
                w[c] = max(w[c], price_of_closed(gain(values[e], 1.0, squared), u[r] + price))

"""Passes over the whole table of candidates.

The entries of groups with cap 0 are 0, like all that may not be kept. Passes that compare all
entries process a row in branch-free loops, which the compiler vectorises. They look at single
entries only if one of eight flags is set.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import (
    HASH_WEIGHT,
    coarse_tie,
    gain,
    on_grid,
    tie,
    tie_of_row,
)
from tvcs_core.projection.kernels.pairs import put_pair_in_place


@kernel
def survey(candidates, per_row, per_col):
    """Count the nonzero entries of each row and column; return the size of the largest."""
    values, start, columns = candidates.values, candidates.start, candidates.columns
    largest = 0.0
    for r in range(start.size - 1):
        n, first = 0, start[r]
        if candidates.dense:
            for c in range(columns.size):
                x = abs(values[first + c])
                largest = max(largest, x)
                n += x != 0.0
                per_col[c] += x != 0.0
        else:
            for e in range(first, start[r + 1]):
                x = abs(values[e])
                largest = max(largest, x)
                n += x != 0.0
                per_col[columns[e]] += x != 0.0
        per_row[r] = n
    return largest


@kernel
def nudged_gains(candidates, grid, row, out):
    """Fill `out` with the gains of a row of a table, nudged by their hash if needed."""
    values, squared, none = candidates.values, candidates.squared, np.int64(0)
    factor, nudged, first, size = grid.factor, grid.nudged, candidates.start[row], out.size
    for j in range(size):
        x = values[first + j] * factor
        out[j] = x * x if squared else x
    if nudged:
        # At most 2^-37 of the largest gain, and nothing for zeros, which are never worth keeping.
        of_row = tie_of_row(row)
        for c in range(size):
            out[c] += coarse_tie(of_row, c, none) * HASH_WEIGHT * (out[c] > 0.0)


@kernel
def list_open(candidates, grid, least, listed, row_start):
    """List the nonzero entries, row by row; row_start is (n + 1,).

    Entries with gains below `least` are left out.
    """
    values, start, columns = candidates.values, candidates.start, candidates.columns
    nudged, none = grid.nudged, np.int64(0)  # lists, which have keys, are not nudged
    row, col, position, gains = listed.row, listed.col, listed.position, listed.gains
    a = 0
    for r in range(start.size - 1):
        row_start[r] = a
        of_row = tie_of_row(r)
        shift = start[r] if candidates.dense else 0
        for e in range(start[r], start[r + 1]):
            c = np.int64(columns[e - shift])
            if values[e] == 0.0:
                continue
            row[a], col[a] = r, c
            gains[a] = gain(values[e], grid.factor, candidates.squared)
            if gains[a] < least:
                continue
            if nudged:
                gains[a] += coarse_tie(of_row, c, none) * HASH_WEIGHT
            if position.size > 0:
                position[a] = e
            a += 1
    row_start[start.size - 1] = a


@kernel
def sort_row(own, free, prices, band, row, near, mask):
    """Flag the entries of a row whose slack is in the band; keep those above it.

    `own` are their gains; columns are `free` if their price is in the total's band. This band
    counts only if the row's price is, too; otherwise prices can absorb a change of the total's.
    """
    price, below, above = prices.cols, band.below_cols, band.above_cols
    p, under, over = prices.rows[row] + prices.total, band.below_rows[row], band.above_rows[row]
    total_under, total_over = band.below_total, band.above_total
    if prices.rows[row] > band.above_total:
        total_under, total_over = 0.0, 0.0
    for j in range(mask.size):
        s = own[j] - price[j] - p
        least = max(under, max(below[j], free[j] * total_under))
        most = max(over, max(above[j], free[j] * total_over))
        near[j] = (s >= -least) & (s <= most) & (own[j] > 0.0)
        mask[j] = (s > 0.0) & ~near[j]


@kernel
def list_band(candidates, grid, prices, band, first_row, support, listed, n):
    """Keep the entries whose slack is above the band, and list those within it after the first n.

    Returns (next row, number listed); it stops before a row that might not fit. Unlisted entries
    are assumed settled; `violators` finds those for which that is wrong.
    """
    start, size, col_load = candidates.start, candidates.columns.size, support.col_load
    row, col, position, gains = listed.row, listed.col, listed.position, listed.gains
    own, free, near = np.empty(size), np.empty(size), np.zeros((size + 7) // 8 * 8, np.bool_)
    words = near.view(np.uint64)
    for c in range(size):
        free[c] = 1.0 if prices.cols[c] <= band.above_total else 0.0
    for r in range(first_row, start.size - 1):
        first = start[r]
        if n + size > position.size:
            return r, n
        nudged_gains(candidates, grid, r, own)
        mask, taken = support.mask[first : first + size], 0
        sort_row(own, free, prices, band, r, near, mask)
        for c in range(size):
            taken += mask[c]
            col_load[c] += mask[c]
        support.row_load[r] = taken
        for q in range((size + 7) // 8):
            if words[q] == 0:
                continue
            for c in range(8 * q, min(8 * q + 8, size)):
                if near[c]:
                    row[n], col[n], gains[n], position[n] = r, c, own[c], first + c
                    n += 1
    return start.size - 1, n


@kernel
def entry_costs(candidates, grid, listed, first, first_arc, cost):
    """Fill in the costs of a core's entries from `first` on: nudged gains, or gains and tie hash.

    Pairs are compared lexicographically, so no two paths cost the same unless hashes are equal.
    """
    row, col, none = listed.row, listed.col, np.int64(0)
    for i in range(first, row.size):
        r, c = np.int64(row[i]), np.int64(col[i])
        g = gain(candidates.values[listed.position[i]], grid.factor, candidates.squared)
        if grid.nudged:
            g += coarse_tie(tie_of_row(r), c, none) * HASH_WEIGHT * (g > 0.0)
        cost[first_arc + i, 0] = -on_grid(g, grid.steps)
        cost[first_arc + i, 1] = 0 if grid.nudged else -tie(r, c, none)


@kernel
def violation(gain_, place_tie, kept, pi, r, c):
    """Return by how many grid steps an entry violates its reduced cost; 0 if it does not."""
    high = on_grid(gain_, 1.0) - pi[r, 0] + pi[c, 0]
    low = place_tie - pi[r, 1] + pi[c, 1]
    if kept:
        high, low = -high, -low
    if high > 0 or (high == 0 and low > 0):
        return high + 1
    return 0


@kernel
def float_prices(grid, pi, first_row, n_rows, col_price):
    """Fill in the column prices from the potentials; return the threshold of a clear sign.

    A slack is a gain (at most 1) less two prices, each with a relative error of 2^-53. Its sign is
    clear beyond 2^-50 of the largest of them.
    """
    top = 1.0
    for c in range(col_price.size):
        col_price[c] = -pi[n_rows + c, 0] / grid.steps
        top = max(top, abs(col_price[c]))
    for r in range(first_row, n_rows):
        top = max(top, abs(pi[r, 0] / grid.steps))
    return top * 2.0**-50


@kernel
def violators(candidates, grid, pi, mask, most, first_row, listed, n):
    """List the entries whose reduced cost contradicts the support, at most `most` per row.

    This is condition 1 of docs/method.md for every entry: if none is listed, the support is
    optimal. The worst entries of each row are listed, without gains. Signs are taken from floating
    point if they are clear, and otherwise from the grid. Returns (next row, number listed).
    """
    values, n_rows, size = candidates.values, candidates.start.size - 1, candidates.columns.size
    none = np.int64(0)
    own, worst = np.empty(size), np.empty((size, 2), np.int64)  # violations and minus the columns
    price, near = np.empty(size), np.zeros((size + 7) // 8 * 8, np.bool_)
    words = near.view(np.uint64)
    unsure = float_prices(grid, pi, first_row, n_rows, price)
    for r in range(first_row, n_rows):
        first = candidates.start[r]
        if n + most > listed.position.size:
            return r, n
        nudged_gains(candidates, grid, r, own)
        p = pi[r, 0] / grid.steps
        for j in range(size):
            s = own[j] - price[j] - p
            near[j] = (abs(s) <= unsure) | ((s > 0.0) != mask[first + j])
        found = np.int64(0)
        for q in range((size + 7) // 8):
            if words[q] == 0:
                continue
            for c in range(8 * q, min(8 * q + 8, size)):
                if not near[c] or values[first + c] == 0.0:
                    continue
                hashed = none if grid.nudged else tie(r, c, none)
                wrong = violation(own[c] * grid.steps, hashed, mask[first + c], pi, r, n_rows + c)
                if wrong > 0:
                    worst[found, 0], worst[found, 1] = wrong, -c
                    found += 1
        if found > most:
            put_pair_in_place(worst, found, most - 1)
        for i in range(min(found, most)):
            listed.row[n], listed.col[n] = r, -worst[i, 1]
            listed.position[n] = first - worst[i, 1]
            n += 1
    return n_rows, n


@kernel
def all_bits(candidates, grid):
    """Return the union of the bits of all gains; its lowest bit is their common unit."""
    bits = 0
    for x in candidates.values:
        bits |= on_grid(gain(x, grid.factor, candidates.squared), grid.steps)
    return bits


@kernel
def price_of_closed(gain_, other):
    """Return the least price with gain - other - price <= 0, including rounding."""
    price = gain_ - other
    if price + other == gain_ and gain_ - price == other:
        return price
    return price + gain_ * 2.0**-50


@kernel
def close_duals(candidates, caps, prices):
    """Set the prices of groups with cap 0 to the value of their best entry.

    Such groups are full at any price, so no other entry's proof changes. Values and prices are in
    the caller's unit here.
    """
    values, start, columns = candidates.values, candidates.start, candidates.columns
    u, w, squared = prices.rows, prices.cols, candidates.squared
    for r in range(start.size - 1):
        shift = start[r] if candidates.dense else 0
        for e in range(start[r], start[r + 1]):
            c, worth = np.int64(columns[e - shift]), gain(values[e], 1.0, squared)
            if caps.rows[r] == 0:
                u[r] = max(u[r], price_of_closed(worth, w[c] + prices.total))
            elif caps.cols[c] == 0:
                w[c] = max(w[c], price_of_closed(worth, u[r] + prices.total))

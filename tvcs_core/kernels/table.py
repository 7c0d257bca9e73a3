"""Passes over the whole table of candidates.

A table is `values` in row order, with row r in start[r] .. start[r+1]; entry e of row r is in column
columns[e - start[r]] if the table is dense (every row holds every column), else in columns[e]; keys
are laid out as the columns.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.kernels.gains import gain, on_grid, tie


@kernel
def survey(values, start, columns, dense, row_caps, col_caps, per_row, per_col):
    """Count the nonzero entries of each row and column whose caps are positive; the largest."""
    largest = 0.0
    for r in range(start.size - 1):
        if row_caps[r] == 0:
            continue
        shift = start[r] if dense else 0
        for e in range(start[r], start[r + 1]):
            c = np.int64(columns[e - shift])
            if values[e] != 0.0 and col_caps[c] > 0:
                per_row[r] += 1
                per_col[c] += 1
                largest = max(largest, abs(values[e]))
    return largest


@kernel
def collect(
    values,
    start,
    columns,
    keys,
    dense,
    row_caps,
    col_caps,
    factor,
    grid,
    squared,
    first,
    tail,
    head,
    cost,
    state,
    flow,
    cap,
    place,
):
    """Append every nonzero entry of open groups to the core, from arc `first` on."""
    n = start.size - 1
    a = first
    for r in range(n):
        if row_caps[r] == 0:
            continue
        shift = start[r] if dense else 0
        for e in range(start[r], start[r + 1]):
            c = np.int64(columns[e - shift])
            if values[e] != 0.0 and col_caps[c] > 0:
                tail[a], head[a] = r, n + c
                cost[a, 0] = -on_grid(gain(values[e], factor, squared), grid)
                cost[a, 1] = -tie(r, c, keys[e - shift])
                state[a], flow[a], cap[a], place[a - first] = 1, 0, 1, e
                a += 1
    return a


@kernel
def price_of_closed(gain_, other):
    """The least price with gain - other - price <= 0, rounding included (exact for integers)."""
    price = gain_ - other
    if price + other == gain_ and gain_ - price == other:
        return price
    return price + gain_ * 2.0**-50


@kernel
def close_duals(values, start, columns, dense, row_caps, col_caps, squared, u, w, price):
    """Prices of the groups that may keep nothing: what their best entry is worth."""
    for r in range(start.size - 1):
        shift = start[r] if dense else 0
        for e in range(start[r], start[r + 1]):
            c = np.int64(columns[e - shift])
            if row_caps[r] == 0:
                u[r] = max(u[r], price_of_closed(gain(values[e], 1.0, squared), w[c] + price))
            elif col_caps[c] == 0:
                w[c] = max(w[c], price_of_closed(gain(values[e], 1.0, squared), u[r] + price))

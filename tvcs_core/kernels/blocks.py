"""Price blocks over a whole dense table: the thresholds of all rows, or of all columns.

Each threshold is first bracketed by a sample of its line, so that only the values near it are
sorted out. The caller's total price stays as it is; see prices.py for what a block means.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.kernels.gains import NUDGE, coarse_tie, tie_of_row
from tvcs_core.kernels.prices import bracket, put_in_place
from tvcs_core.kernels.table import nudged_gains

SAMPLE = 128  # values of a line that bracket its threshold
PANEL = 32  # columns that are worked on together


@kernel
def bracket_by_sample(buffer, n, size, rank, width):
    """Bounds that the values of ranks rank - width .. rank + width of a line most likely lie in.

    `buffer` holds n values drawn from the line, which has `size`."""
    share = min(max(rank / size, 0.0), 1.0)
    margin = 2.5 * np.sqrt(n * share * (1.0 - share)) + 2.0 + width * n / size
    first, last = int(n * share - margin), int(n * share + margin)
    top, bottom = np.inf, -np.inf
    if 0 <= first < n:
        put_in_place(buffer, 0, n, first)
        top = buffer[first]
    if 0 <= last < n:
        put_in_place(buffer, 0, n, last)
        bottom = buffer[last]
    return max(bottom, 0.0), top


@kernel
def row_block(values, n_cols, columns, keys, closed_row, factor, squared, nudged, col_price, caps,
              width, first_row, last_row, threshold, low, high):
    """Threshold of each row under the given column prices, and the values `width` ranks about it."""
    slack, buffer = np.empty(n_cols), np.empty(n_cols)
    step = max(1, n_cols // SAMPLE)
    for r in range(first_row, last_row):
        threshold[r], low[r], high[r] = 0.0, 0.0, 0.0
        if closed_row[r]:
            continue
        nudged_gains(values, columns, keys, r * n_cols, n_cols, 0, r, factor, squared, nudged,
                     slack)
        for j in range(n_cols):
            slack[j] -= col_price[j]
        rank, n = caps[r], 0
        for j in range(0, n_cols, step):
            buffer[n] = slack[j]
            n += 1
        bottom, top = bracket_by_sample(buffer, n, n_cols, rank, width)
        above, n = 0, 0
        for j in range(n_cols):
            s = slack[j]
            buffer[n] = s
            n += (s >= bottom) & (s <= top)
            above += s > top
        if above >= rank or (rank - above >= n and bottom > 0.0):
            bottom, above, n = 0.0, 0, n_cols
            buffer[:] = slack
        threshold[r], low[r], high[r] = bracket(buffer, n, rank - above, width)
        low[r] = max(low[r], bottom)


@kernel
def column_block(values, n_rows, n_cols, keys, closed_row, closed_col, factor, squared, nudged,
                 row_price, caps, width, first_col, last_col, threshold, low, high):
    """Threshold of each column under the given row prices, and the values `width` ranks about it."""
    buffer = np.empty((PANEL, n_rows + 8))
    step = max(1, n_rows // SAMPLE)
    filled, above = np.empty(PANEL, np.int64), np.empty(PANEL, np.int64)
    bottom, top = np.empty(PANEL), np.empty(PANEL)
    for left in range(first_col, last_col, PANEL):
        size = min(PANEL, last_col - left)
        bottom[:], top[:] = -np.inf, np.inf
        fill_panel(values, n_rows, n_cols, keys, closed_row, factor, squared, nudged, row_price,
                   left, size, step, bottom, top, buffer, filled, above)
        for i in range(size):
            bottom[i], top[i] = bracket_by_sample(buffer[i], filled[i], n_rows, caps[left + i],
                                                  width)
        fill_panel(values, n_rows, n_cols, keys, closed_row, factor, squared, nudged, row_price,
                   left, size, 1, bottom, top, buffer, filled, above)
        for i in range(size):
            c, rank = left + i, caps[left + i]
            if above[i] >= rank or (rank - above[i] >= filled[i] and bottom[i] > 0.0):
                bottom[i], top[i] = 0.0, np.inf
                fill_panel(values, n_rows, n_cols, keys, closed_row, factor, squared, nudged,
                           row_price, c, 1, 1, bottom[i:], top[i:], buffer[i:], filled[i:],
                           above[i:])
            threshold[c], low[c], high[c] = 0.0, 0.0, 0.0
            if not closed_col[c]:
                threshold[c], low[c], high[c] = bracket(buffer[i], filled[i], rank - above[i],
                                                        width)
                low[c] = max(low[c], bottom[i])


@kernel
def fill_panel(values, n_rows, n_cols, keys, closed_row, factor, squared, nudged, row_price,
               left, size, step, bottom, top, buffer, filled, above):
    """Sort the entries of some columns into those within bottom .. top (kept) and above (counted)."""
    slack = np.empty(PANEL)
    filled[:size], above[:size] = 0, 0
    for r in range(0, n_rows, step):
        if closed_row[r]:
            continue
        first, price, of_row = r * n_cols + left, row_price[r], tie_of_row(r)
        for i in range(size):
            x = values[first + i] * factor
            slack[i] = x * x if squared else x
        if nudged:
            for i in range(size):
                slack[i] *= 1.0 + coarse_tie(of_row, left + i, keys[left + i]) * NUDGE
        for i in range(size):
            s = slack[i] - price
            buffer[i, filled[i]] = s
            filled[i] += (s >= bottom[i]) & (s <= top[i])
            above[i] += s > top[i]

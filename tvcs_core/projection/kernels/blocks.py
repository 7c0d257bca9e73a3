"""Price blocks over a whole dense table: the thresholds of all rows, or of all columns.

The caller's total price stays as it is; see prices.py for what a block means.
"""

# fmt: off

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import NUDGE, coarse_tie, gain, tie_of_row
from tvcs_core.projection.kernels.prices import bracket, threshold_of
from tvcs_core.projection.kernels.table import nudged_gains

PANEL = 16  # columns that are turned into rows together


@kernel
def row_block(values, n_cols, columns, keys, closed_row, factor, squared, nudged, col_price, caps,
              width, first_row, last_row, threshold, low, high):
    """Threshold of each row under the given column prices, and the values `width` ranks about it.

    `threshold` comes in with guesses.
    """
    slack, buffer = np.empty(n_cols), np.empty(n_cols)
    last, none = 0.0, np.int64(0)
    for r in range(first_row, last_row):
        if closed_row[r]:
            threshold[r], low[r], high[r] = 0.0, 0.0, 0.0
            continue
        nudged_gains(
            values, columns, keys, r * n_cols, n_cols, none, r, factor, squared, nudged, slack
        )
        for j in range(n_cols):
            slack[j] -= col_price[j]
        guess = threshold[r] if threshold[r] > 0.0 else last
        threshold[r], low[r], high[r] = threshold_of(slack, n_cols, caps[r], width, guess, buffer)
        last = threshold[r]


@kernel
def column_block(values, n_rows, n_cols, keys, closed_row, closed_col, factor, squared, nudged,
                 row_price, caps, width, first_col, last_col, threshold, low, high):
    """Threshold of each column under the given row prices, and the values `width` ranks about it.

    `threshold` comes in with guesses.
    """
    panel, buffer = np.empty((PANEL, n_rows + 8)), np.empty(n_rows)
    slack = np.empty(PANEL)
    last = 0.0
    for left in range(first_col, last_col, PANEL):
        size, n = min(PANEL, last_col - left), np.int64(0)
        for r in range(n_rows):
            if closed_row[r]:
                continue
            first, price = r * n_cols + left, row_price[r]
            for i in range(size):
                x = values[first + i] * factor
                slack[i] = x * x if squared else x
            if nudged:
                of_row = tie_of_row(r)
                for i in range(size):
                    slack[i] += (
                        coarse_tie(of_row, left + i, keys[left + i]) * NUDGE * (slack[i] > 0.0)
                    )
            for i in range(size):
                panel[i, n] = slack[i] - price
            n += 1
        for i in range(size):
            c = left + i
            if closed_col[c]:
                threshold[c], low[c], high[c] = 0.0, 0.0, 0.0
                continue
            guess = threshold[c] if threshold[c] > 0.0 else last
            threshold[c], low[c], high[c] = threshold_of(panel[i], n, caps[c], width, guess, buffer)
            last = threshold[c]


@kernel
def total_block(values, n_rows, n_cols, keys, closed_row, closed_col, factor, squared, nudged,
                row_price, row_threshold, col_price, col_threshold, step, total, width):
    """Price of the total, and its surroundings, from every step-th entry of each row.

    Counted are entries whose gain less the prices is above both thresholds; with the thresholds
    of one side and the prices of the other that is a block as in prices.py.
    """
    pool = np.empty(n_rows * (n_cols // step + 1))
    n = np.int64(0)
    for r in range(n_rows):
        if closed_row[r]:
            continue
        of_row = tie_of_row(r)
        for c in range(r * 7 % step, n_cols, step):
            s = gain(values[r * n_cols + c], factor, squared)
            if nudged and s > 0.0:
                s += coarse_tie(of_row, c, keys[c]) * NUDGE
            s -= row_price[r] + col_price[c]
            if s > row_threshold[r] and s > col_threshold[c] and not closed_col[c]:
                pool[n] = s
                n += 1
    return bracket(pool, n, total // step, width)

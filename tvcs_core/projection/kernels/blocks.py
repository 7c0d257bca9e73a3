"""Price blocks over a whole dense table: the thresholds of all rows, or of all columns.

The caller's total price stays as it is; see prices.py for what a block means.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import NUDGE, coarse_tie, gain, tie_of_row
from tvcs_core.projection.kernels.prices import bracket, threshold_of
from tvcs_core.projection.kernels.table import nudged_gains

PANEL = 16  # columns that are turned into rows together
GOLDEN = 0.6180339887498949  # whose multiples, without their whole parts, lie evenly in 0 .. 1


@kernel
def row_block(candidates, caps, grid, col_price, width, first_row, last_row, thresholds):
    """Threshold of each row under the given column prices, and the values `width` ranks off."""
    n_cols = candidates.columns.size
    threshold, low, high = thresholds.at, thresholds.low, thresholds.high
    slack, buffer = np.empty(n_cols), np.empty(n_cols)
    last = 0.0
    for r in range(first_row, last_row):
        if caps.rows[r] == 0:
            threshold[r], low[r], high[r] = 0.0, 0.0, 0.0
            continue
        nudged_gains(candidates, grid, r, slack)
        for j in range(n_cols):
            slack[j] -= col_price[j]
        guess = threshold[r] if threshold[r] > 0.0 else last
        threshold[r], low[r], high[r] = threshold_of(
            slack, n_cols, caps.rows[r], width, guess, buffer
        )
        last = threshold[r] if threshold[r] > 0.0 else last


@kernel
def fill_panel(candidates, caps, grid, row_price, left, size, panel):
    """Turn columns left:left+size into rows of the panel, less row prices; return their length."""
    values, keys, squared = candidates.values, candidates.keys, candidates.squared
    factor, nudged, n_cols = grid.factor, grid.nudged, candidates.columns.size
    slack, n = np.empty(size), np.int64(0)
    for r in range(caps.rows.size):
        if caps.rows[r] == 0:
            continue
        first, price = r * n_cols + left, row_price[r]
        for i in range(size):
            x = values[first + i] * factor
            slack[i] = x * x if squared else x
        if nudged:
            of_row = tie_of_row(r)
            for i in range(size):
                slack[i] += coarse_tie(of_row, left + i, keys[left + i]) * NUDGE * (slack[i] > 0.0)
        for i in range(size):
            panel[i, n] = slack[i] - price
        n += 1
    return n


@kernel
def column_block(candidates, caps, grid, row_price, width, first_col, last_col, thresholds):
    """Threshold of each column under the given row prices, and the values `width` ranks off."""
    threshold, low, high = thresholds.at, thresholds.low, thresholds.high
    n_rows = caps.rows.size
    panel, buffer = np.empty((PANEL, n_rows + 8)), np.empty(n_rows)
    last = 0.0
    for left in range(first_col, last_col, PANEL):
        size = min(PANEL, last_col - left)
        n = fill_panel(candidates, caps, grid, row_price, left, size, panel)
        for i in range(size):
            c = left + i
            if caps.cols[c] == 0:
                threshold[c], low[c], high[c] = 0.0, 0.0, 0.0
                continue
            guess = threshold[c] if threshold[c] > 0.0 else last
            threshold[c], low[c], high[c] = threshold_of(
                panel[i], n, caps.cols[c], width, guess, buffer
            )
            last = threshold[c] if threshold[c] > 0.0 else last


@kernel
def total_block(candidates, caps, grid, prices, row_threshold, col_threshold, step, width):
    """Price of the total, and the values `width` ranks off, from every step-th entry of each row.

    Counted are entries whose gain less the prices is above both thresholds; with the thresholds
    of one side and the prices of the other that is a block as in prices.py. The entries that are
    looked at begin elsewhere in every row, so that no column is left out.
    """
    values, keys, squared = candidates.values, candidates.keys, candidates.squared
    n_rows, n_cols, factor, nudged = caps.rows.size, caps.cols.size, grid.factor, grid.nudged
    row_price, col_price = prices.rows, prices.cols
    pool = np.empty(n_rows * (n_cols // step + 1))
    n = np.int64(0)
    for r in range(n_rows):
        if caps.rows[r] == 0:
            continue
        of_row = tie_of_row(r)
        for c in range(int(r * GOLDEN % 1.0 * step), n_cols, step):
            s = gain(values[r * n_cols + c], factor, squared)
            if nudged and s > 0.0:
                s += coarse_tie(of_row, c, keys[c]) * NUDGE
            s -= row_price[r] + col_price[c]
            if s > row_threshold[r] and s > col_threshold[c] and caps.cols[c] > 0:
                pool[n] = s
                n += 1
    return bracket(pool, n, (caps.total + step // 2) // step, width)

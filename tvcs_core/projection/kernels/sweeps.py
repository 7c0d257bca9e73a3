"""Price sweeps over a dense table: the thresholds of all rows, or of all columns.

The caller's total price stays fixed; prices.py defines a sweep.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import HASH_WEIGHT, coarse_tie, gain, tie_of_row
from tvcs_core.projection.kernels.prices import bracket, threshold_of
from tvcs_core.projection.kernels.table import nudged_gains

PANEL_COLUMNS = 16  # columns transposed together: two cache lines of float64 per row
GOLDEN_RATIO = 0.6180339887498949  # the fractional parts of its multiples are evenly spread (Weyl)


@kernel
def sweep_rows(candidates, caps, grid, col_price, width, first_row, last_row, thresholds):
    """Compute the threshold of each row under the column prices, and values `width` ranks off."""
    n_cols = candidates.columns.size
    threshold, low, high = thresholds.at, thresholds.low, thresholds.high
    slack, buffer = np.empty(n_cols), np.empty(n_cols)
    last = 0.0
    for r in range(first_row, last_row):
        nudged_gains(candidates, grid, r, slack)
        for j in range(n_cols):
            slack[j] -= col_price[j]
        guess = threshold[r] if threshold[r] > 0.0 else last
        threshold[r], low[r], high[r] = threshold_of(
            slack, n_cols, caps.rows[r], width, guess, buffer
        )
        last = threshold[r] if threshold[r] > 0.0 else last


@kernel
def fill_panel(candidates, grid, row_price, left, size, panel):
    """Transpose columns left:left+size into the rows of the panel, less row prices."""
    values, squared, none = candidates.values, candidates.squared, np.int64(0)
    factor, nudged, n_cols = grid.factor, grid.nudged, candidates.columns.size
    slack = np.empty(size)
    for r in range(row_price.size):
        first, price = r * n_cols + left, row_price[r]
        for i in range(size):
            x = values[first + i] * factor
            slack[i] = x * x if squared else x
        if nudged:
            of_row = tie_of_row(r)
            for i in range(size):
                nudge = coarse_tie(of_row, left + i, none) * HASH_WEIGHT
                slack[i] += nudge * (slack[i] > 0.0)
        for i in range(size):
            panel[i, r] = slack[i] - price


@kernel
def sweep_columns(candidates, caps, grid, row_price, width, first_col, last_col, thresholds):
    """Compute the threshold of each column under the row prices, and values `width` ranks off."""
    threshold, low, high = thresholds.at, thresholds.low, thresholds.high
    n_rows = caps.rows.size
    panel, buffer = np.empty((PANEL_COLUMNS, n_rows + 8)), np.empty(n_rows)
    last = 0.0
    for left in range(first_col, last_col, PANEL_COLUMNS):
        size = min(PANEL_COLUMNS, last_col - left)
        fill_panel(candidates, grid, row_price, left, size, panel)
        for i in range(size):
            c = left + i
            guess = threshold[c] if threshold[c] > 0.0 else last
            threshold[c], low[c], high[c] = threshold_of(
                panel[i], n_rows, caps.cols[c], width, guess, buffer
            )
            last = threshold[c] if threshold[c] > 0.0 else last


@kernel
def price_total(candidates, caps, grid, prices, row_threshold, col_threshold, step, width):
    """Return the price of the total and the values `width` ranks off, from every step-th entry.

    Counts entries whose gain less the prices exceeds both thresholds; with the thresholds of one
    side and the prices of the other that is a sweep as in prices.py. The first entry differs from
    row to row, so that every column is sampled.
    """
    values, squared, none = candidates.values, candidates.squared, np.int64(0)
    n_rows, n_cols, factor, nudged = caps.rows.size, caps.cols.size, grid.factor, grid.nudged
    row_price, col_price = prices.rows, prices.cols
    pool = np.empty(n_rows * (n_cols // step + 1))
    n = np.int64(0)
    for r in range(n_rows):
        of_row = tie_of_row(r)
        for c in range(int(r * GOLDEN_RATIO % 1.0 * step), n_cols, step):
            s = gain(values[r * n_cols + c], factor, squared)
            if nudged and s > 0.0:
                s += coarse_tie(of_row, c, none) * HASH_WEIGHT
            s -= row_price[r] + col_price[c]
            if s > row_threshold[r] and s > col_threshold[c]:
                pool[n] = s
                n += 1
    return bracket(pool, n, (caps.total + step // 2) // step, width)

"""All caps 1 and no binding total: first prices from the assignment problem."""

import numpy as np

from tvcs_core.exact.candidates import Instance, Ints
from tvcs_core.exact.prices import Prices
from tvcs_core.kernels import assignment, table

TIGHT = 2.0**-44  # of the largest gain: more than rounding


def is_assignment(i: Instance) -> bool:
    """Whether all caps are 1 and the total does not bind."""
    t = i.t
    ones = bool((t.row_caps == 1).all() and (t.col_caps == 1).all())
    return ones and t.dense and t.total >= min(t.shape)


def assigned_prices(i: Instance) -> tuple[Prices, Ints]:
    """Prices that prove an assignment, but for rounding, and the column of each row.

    Only entries that are tight are near such prices.
    """
    t = i.t
    n, m = t.shape
    matrix = np.empty((n, m))
    table.all_gains(t.values, m, t.columns, t.keys, *i.gains, i.grid, matrix)
    gains = np.ascontiguousarray(matrix if n <= m else matrix.T).reshape(-1)
    few, many = min(n, m), max(n, m)
    u, w = np.zeros(few), np.zeros(many)
    col_of, row_of = np.full(few, -1), np.full(many, -1)
    chunk = max(1, 20_000_000 // many**2)
    for r in range(0, few, chunk):
        assignment.assign(gains, few, many, r, min(r + chunk, few), u, w, col_of, row_of)
    rows, cols = (u, w) if n <= m else (w, u)
    row_tight, col_tight = np.full(n, TIGHT), np.full(m, TIGHT)
    near = Prices(rows, cols, 0.0, row_tight, row_tight, col_tight, col_tight, 0.0, 0.0)
    return near, col_of if n <= m else row_of

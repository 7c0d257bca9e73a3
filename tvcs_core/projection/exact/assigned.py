"""All caps 1 and no binding total: core and first prices from the assignment problem."""

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.exact.core import Core
from tvcs_core.projection.exact.prices import Prices
from tvcs_core.projection.kernels import assignment, table

TIGHT = 2.0**-44  # of the largest gain: more than rounding
SCANNED = 100_000  # entries that are compared with their prices together


def is_assignment(i: Instance) -> bool:
    """Whether all caps are 1 and the total does not bind."""
    t = i.t
    ones = bool((t.row_caps == 1).all() and (t.col_caps == 1).all())
    return ones and t.dense and t.total >= min(t.shape)


def assigned_core(i: Instance, keep: NDArray[np.bool_]) -> Core:
    """The best assignment, kept, with its prices; the core is what is worth just these."""
    t = i.t
    n, m = t.shape
    gains = np.empty((n, m))
    table.all_gains(t.values, m, t.columns, t.keys, *i.gains, i.grid, gains)
    few, many = min(n, m), max(n, m)
    u, w = np.zeros(few), np.zeros(many)
    col_of, row_of = np.full(few, -1), np.full(many, -1)
    flat = np.ascontiguousarray(gains if n <= m else gains.T).reshape(-1)
    chunk = max(1, 20_000_000 // (few * many))
    for r in range(0, few, chunk):
        assignment.assign(flat, few, many, r, min(r + chunk, few), u, w, col_of, row_of)
    rows, cols, partner = (u, w, col_of) if n <= m else (w, u, row_of)
    tight = []
    for r in range(0, n, 1 + SCANNED // m):
        some = gains[r : r + 1 + SCANNED // m]
        worth = some - cols >= (rows[r : r + len(some)] - TIGHT)[:, None]
        tight.append(np.flatnonzero(worth & (some > 0.0)) + r * m)
    place = np.concatenate(tight)
    row, col = (place // m).astype(np.int32), (place % m).astype(np.int32)
    kept = partner[row] == col
    keep[place] = kept
    row_load, col_load = np.bincount(row[kept], minlength=n), np.bincount(col[kept], minlength=m)
    row_near, col_near = np.full(n, TIGHT), np.full(m, TIGHT)
    near = Prices(rows, cols, 0.0, row_near, row_near, col_near, col_near, 0.0, 0.0)
    return Core(row, col, place, kept, row_load, col_load, near, is_tight=True)

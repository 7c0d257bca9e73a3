"""All caps 1 and no binding total: core and first prices from the assignment problem."""

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.exact.core import Core
from tvcs_core.projection.exact.prices import Near
from tvcs_core.projection.kernels import assignment, table
from tvcs_core.projection.kernels.records import Band, Counts, Listed, Prices

TIGHT = 2.0**-44  # of the largest gain: more than rounding
BIDS = 2  # of each row, before paths are looked for
SCANNED = 100_000  # entries that are compared with their prices together


def is_assignment(i: Instance) -> bool:
    """Whether all caps are 1 and the total does not bind."""
    ones = bool((i.caps.rows == 1).all() and (i.caps.cols == 1).all())
    return ones and i.candidates.dense and i.caps.total >= min(i.shape)


def assigned_core(i: Instance, keep: NDArray[np.bool_]) -> Core:
    """The best assignment, kept, with its prices; the core is what is worth just these."""
    n, m = i.shape
    gains = np.empty((n, m))
    table.all_gains(i.candidates, i.grid, gains)
    few, many = min(n, m), max(n, m)
    u, w = np.zeros(few), np.zeros(many)
    col_of, row_of = np.full(few, -1), np.full(many, -1)
    flat = np.ascontiguousarray(gains if n <= m else gains.T).reshape(-1)
    chunk = max(1, 20_000_000 // (few * many))
    chunks = [(r, min(r + chunk, few)) for r in range(0, few, chunk)]
    for first, last in chunks:
        turns = BIDS * (last - first)
        assignment.bid(flat, many, first, last, turns, u, w, col_of, row_of)
    for first, last in chunks:
        assignment.assign(flat, few, many, first, last, u, w, col_of, row_of)
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
    band = Band(row_near, row_near, col_near, col_near, 0.0, 0.0)
    listed, load = Listed(row, col, place, np.empty(0)), Counts(row_load, col_load, int(kept.sum()))
    return Core(listed, kept, load, Near(Prices(rows, cols, 0.0), band), is_tight=True)

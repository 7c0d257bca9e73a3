"""Answers that need no search: small tables, everything, nothing."""

import numpy as np

from tvcs_core.projection.exact.candidates import Exact, Table, grid_of
from tvcs_core.projection.kernels import small

SMALL = 2_500  # entries that are solved in one call of a kernel


def solve_small(t: Table, shape: tuple[int, ...]) -> Exact:
    """Solve in one call of a kernel."""
    n, m = t.shape
    grid = grid_of(t)
    keep, u, w = np.zeros(t.values.size, bool), np.zeros(n), np.zeros(m)
    price, factor, pivots = small.solve_small(
        *t.layout, t.squared, t.row_caps, t.col_caps, t.total, grid, keep, u, w
    )
    if pivots < 0:
        return keep_nothing(t, shape)
    unit = 1.0 / (grid * (factor * factor if t.squared else factor))
    u *= unit
    w *= unit
    price *= unit
    t.price_closed(u, w, price)
    return Exact(keep.reshape(shape), u, w, price, None, {"path": "small", "pivots": pivots})


def keep_everything(t: Table, shape: tuple[int, ...]) -> Exact:
    """Keep all open nonzero entries, because they fit."""
    n, m = t.shape
    u, w, keep = np.zeros(n), np.zeros(m), t.values != 0.0
    closed_row, closed_col = t.row_caps == 0, t.col_caps == 0
    if closed_row.any() or closed_col.any():
        if t.dense:
            keep &= ~(closed_row[:, None] | closed_col).reshape(-1)
        else:
            keep &= ~(np.repeat(closed_row, np.diff(t.start)) | closed_col[t.columns])
    t.price_closed(u, w, 0.0)
    return Exact(keep.reshape(shape), u, w, 0.0, None, {"path": "everything"})


def keep_nothing(t: Table, shape: tuple[int, ...]) -> Exact:
    """Keep nothing, because nothing may be kept or nothing is worth it."""
    n, m = t.shape
    u, w, price = np.zeros(n), np.zeros(m), 0.0
    if t.total > 0:
        t.price_closed(u, w, price)
    elif t.values.size:
        price = float(np.max(np.abs(t.values)))
        price = price * price if t.squared else price
    return Exact(np.zeros(shape, bool), u, w, price, None, {"path": "nothing"})

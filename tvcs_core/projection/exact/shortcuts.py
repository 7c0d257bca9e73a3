"""Answers that need no search: small tables, everything, nothing."""

import numpy as np

from tvcs_core.projection.exact.candidates import Exact, grid_steps, price_closed
from tvcs_core.projection.kernels import small
from tvcs_core.projection.kernels.records import Candidates, Counts, Prices

SMALL = small.SIMPLEX  # entries that are solved in one call of a kernel, whatever they are
SMALL_ONES = 50  # with caps of 1: more are assigned


def solve_small(candidates: Candidates, caps: Counts, shape: tuple[int, ...]) -> Exact:
    """Solve in one call of a kernel."""
    steps = grid_steps(candidates, caps)
    keep = np.zeros(candidates.values.size, bool)
    u, w = np.zeros(caps.rows.size), np.zeros(caps.cols.size)
    price, factor, pivots = small.solve_small(candidates, caps, steps, keep, u, w)
    if pivots < 0:
        return keep_nothing(candidates, caps, shape)
    unit = 1.0 / (steps * (factor * factor if candidates.squared else factor))
    u *= unit
    w *= unit
    price *= unit
    price_closed(candidates, caps, Prices(u, w, price))
    return Exact(keep.reshape(shape), u, w, price, None, {"path": "small", "pivots": pivots})


def keep_everything(candidates: Candidates, caps: Counts, shape: tuple[int, ...]) -> Exact:
    """Keep all open nonzero entries, because they fit."""
    keep = candidates.values != 0.0
    u, w = np.zeros(caps.rows.size), np.zeros(caps.cols.size)
    closed_row, closed_col = caps.rows == 0, caps.cols == 0
    if closed_row.any() or closed_col.any():
        if candidates.dense:
            keep &= ~(closed_row[:, None] | closed_col).reshape(-1)
        else:
            in_row = np.repeat(closed_row, np.diff(candidates.start))
            keep &= ~(in_row | closed_col[candidates.columns])
    price_closed(candidates, caps, Prices(u, w, 0.0))
    return Exact(keep.reshape(shape), u, w, 0.0, None, {"path": "everything"})


def keep_nothing(candidates: Candidates, caps: Counts, shape: tuple[int, ...]) -> Exact:
    """Keep nothing, because nothing may be kept or nothing is worth it."""
    values, price = candidates.values, 0.0
    u, w = np.zeros(caps.rows.size), np.zeros(caps.cols.size)
    if caps.total > 0:
        price_closed(candidates, caps, Prices(u, w, price))
    elif values.size:
        price = float(np.max(np.abs(values)))
        price = price * price if candidates.squared else price
    return Exact(np.zeros(shape, bool), u, w, price, None, {"path": "nothing"})

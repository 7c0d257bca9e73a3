"""Small tables: a whole projection in one kernel call, since calls would dominate the time."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.constraint import TVCS
from tvcs_core.projection.entries import enter
from tvcs_core.projection.exact import (
    MAX_SMALL_UNIT_CAPS,
    PricedSupport,
    are_all_ones,
    grid_steps_for,
    is_small_table,
    writeable,
)
from tvcs_core.projection.gap import measure
from tvcs_core.projection.kernels import pairing, small
from tvcs_core.projection.kernels.few.solve import has_few_lines

# Entries up to which one call is no slower than the general way, with unit caps or few lines
# (measured by `python -m benchmarks.speed.families`).
MAX_SINGLE_CALL = 100_000


class SmallProjection(NamedTuple):
    """The projection of a small table; see `Projection`."""

    matrix: NDArray[np.float64]
    support: NDArray[np.bool_]
    objective: float
    row_duals: NDArray[np.float64]
    col_duals: NDArray[np.float64]
    total_dual: float
    gap: float
    values: NDArray[np.float64]


def project_small(V: Any, constraint: TVCS) -> SmallProjection | None:
    """Project a small float64 array onto plain caps; return None if it is anything else.

    The general way gives the same support; its prices are equal too, bit by bit, for tables that it
    also treats as small and for unit caps up to some 70,000 entries.
    """
    if type(V) is not np.ndarray or V.size > MAX_SINGLE_CALL or V.shape != constraint.shape:
        return None
    if V.dtype != np.float64 or not (V.flags.c_contiguous and constraint.is_plain):
        return None
    row_caps, col_caps, total = constraint.caps
    call = small.project_small
    if V.size > MAX_SMALL_UNIT_CAPS and are_all_ones(row_caps, col_caps, total):
        call = pairing.project_ones
    elif not (is_small_table(*V.shape) or has_few_lines(*V.shape)):
        return None
    mask, matrix = np.zeros(V.shape, np.bool_), np.empty(V.shape)
    u, w = np.zeros(V.shape[0]), np.zeros(V.shape[1])
    steps = grid_steps_for(min(V.shape))
    price, objective, gap, hidden = call(
        writeable(V), row_caps, col_caps, total, steps, mask, matrix, u, w
    )
    if objective < 0.0:
        return None
    if gap < 0.0:
        solved = PricedSupport(mask, u, w, price, {})
        objective, gap = measure(enter(V, constraint), constraint, solved)
    elif hidden:
        gap = math.nextafter(gap + hidden, math.inf)
    objective, price, gap = map(float, (objective, price, gap))  # NumPy's by interpreted kernels
    return SmallProjection(matrix, mask, objective, u, w, price, gap, V)

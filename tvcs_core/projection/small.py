"""Small tables: all of a projection in one call, where calls would take as long as the work."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.constraint import TVCS
from tvcs_core.projection.entries import enter
from tvcs_core.projection.exact import SMALL_ONES, Exact, are_ones, steps_for, writeable
from tvcs_core.projection.gap import measure
from tvcs_core.projection.kernels import pairing, small
from tvcs_core.projection.kernels.scan.direct import LONG
from tvcs_core.projection.small_values import project_small_values

AT_ONCE = 22_500  # entries that are solved in one call if that does not take longer
ASSIGNED = 100_000  # entries up to which an assignment is found in one call


class Small(NamedTuple):
    """The projection of a small table; see `Projection`."""

    matrix: NDArray[np.float64]
    support: NDArray[np.bool_]
    kept: float
    row_duals: NDArray[np.float64]
    col_duals: NDArray[np.float64]
    total_dual: float
    gap: float
    values: NDArray[np.float64]


def project_small(V: Any, constraint: TVCS) -> Small | None:
    """Project a small float64 array onto plain caps; None for all that is not just that.

    None too where small values are to be chosen anew (`small_values`).
    What is refused is left to the usual way too, which gives the same support, and the same prices
    bit by bit where tables are small to it as well, and for caps of 1 up to some 70,000 entries.
    """
    if type(V) is not np.ndarray or V.size > ASSIGNED or V.shape != constraint.shape:
        return None
    if V.dtype != np.float64 or not (V.flags.c_contiguous and constraint.is_plain):
        return None
    row_caps, col_caps, total = constraint.caps
    call = small.project_small
    if V.size > SMALL_ONES and are_ones(row_caps, col_caps, total):
        call = pairing.project_ones
    elif V.size > small.SIMPLEX and (V.size > AT_ONCE or max(V.shape) > LONG * min(V.shape)):
        return None
    keep, matrix = np.zeros(V.shape, np.bool_), np.empty(V.shape)
    u, w = np.zeros(V.shape[0]), np.zeros(V.shape[1])
    steps = steps_for(min(V.shape))
    price, kept, gap, hidden, has_small = call(
        writeable(V), row_caps, col_caps, total, steps, keep, matrix, u, w
    )
    if kept < 0.0:
        return None
    if has_small and project_small_values(enter(V, constraint), constraint, keep) is not None:
        return None
    if gap < 0.0:
        solved = Exact(keep, u, w, price, None, {})
        kept, gap = measure(enter(V, constraint), constraint, solved)
    elif hidden:
        gap = math.nextafter(gap + hidden, math.inf)
    return Small(matrix, keep, kept, u, w, price, gap, V)

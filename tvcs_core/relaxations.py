"""The linear program of the projection (paper, equation 5), solved as one.

max <gain, x>  subject to  A x <= s, 0 <= x <= 1. Its vertices are integer (Theorem 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Solved(NamedTuple):
    """A support and the prices that prove it, for variables listed one by one."""

    keep: NDArray[np.bool_]
    row_duals: NDArray[np.float64]
    col_duals: NDArray[np.float64]
    total_dual: float


def solve_lp(
    row_of: NDArray[np.int64],
    col_of: NDArray[np.int64],
    gains: NDArray[np.float64],
    row_caps: NDArray[np.int64],
    col_caps: NDArray[np.int64],
    total: int,
) -> Solved:
    """Solve the linear program by the dual simplex of HiGHS and round its vertex.

    Parameters
    ----------
    row_of, col_of
        Group of every variable in the two views, -1 for none.
    gains
        What keeping each variable is worth, >= 0, at most 1.
    row_caps, col_caps, total
        The caps.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    n_rows, n_cols = row_caps.size, col_caps.size
    free = np.flatnonzero(gains > 0)
    rows, cols = row_of[free], col_of[free]
    views = [
        (rows[rows >= 0], np.flatnonzero(rows >= 0)),
        (n_rows + cols[cols >= 0], np.flatnonzero(cols >= 0)),
        (np.full(free.size, n_rows + n_cols), np.arange(free.size)),
    ]
    group = np.concatenate([g for g, _ in views])
    variable = np.concatenate([v for _, v in views])
    keep = np.zeros(gains.size, dtype=np.bool_)
    duals = np.zeros(n_rows + n_cols + 1)
    if free.size:
        matrix = coo_array(
            (np.ones(group.size), (group, variable)), shape=(n_rows + n_cols + 1, free.size)
        ).tocsr()
        caps = np.concatenate([row_caps, col_caps, [total]]).astype(np.float64)
        result = linprog(-gains[free], A_ub=matrix, b_ub=caps, bounds=(0, 1), method="highs-ds")
        if result.x is None:
            raise RuntimeError(f"HiGHS did not solve the linear program: {result.message}")
        keep[free] = result.x > 0.5
        duals = np.maximum(-result.ineqlin.marginals, 0.0)
    return Solved(keep, duals[:n_rows], duals[n_rows:-1], float(duals[-1]))

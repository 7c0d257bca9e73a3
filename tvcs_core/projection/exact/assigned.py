"""All caps 1 and no binding total: the assignment problem, and ties by the sum of their hashes."""

import numpy as np

from tvcs_core.projection.exact.candidates import Exact, grid_steps
from tvcs_core.projection.exact.shortcuts import keep_nothing
from tvcs_core.projection.kernels import pairing
from tvcs_core.projection.kernels.records import Candidates, Counts, Ints, Ones, Pairing, Tied

COARSE = 2.0**50  # steps of a grid in 1 on which float64 adds gains and prices without rounding
AT_ONCE = 20_000_000  # entries of the table that a stage may look at in one call of a kernel


def is_assignment(candidates: Candidates, caps: Counts) -> bool:
    """Whether it is a table whose caps are all 1 and whose total does not bind."""
    return candidates.dense and are_ones(*caps)


def are_ones(rows: Ints, cols: Ints, total: int) -> bool:
    """Whether all caps are 1 and the total does not bind."""
    if rows[0] != 1 or cols[0] != 1 or total < min(rows.size, cols.size):
        return False
    return bool((rows == 1).all() and (cols == 1).all())


def solve_assignment(candidates: Candidates, caps: Counts, shape: tuple[int, ...]) -> Exact | None:
    """Assign rows to columns; None if entries are tied that differ by too much for 63 bits."""
    ones = as_ones(candidates, caps)
    n, m = sorted((caps.rows.size, caps.cols.size))
    found = Pairing(
        np.empty(n * m),
        np.zeros(n),
        np.zeros(m),
        np.full(n, -1),
        np.full(m, -1),
        np.empty(n, np.int64),
        np.empty(m, np.int64),
        np.zeros(n + 1, np.int64),
    )
    most = max(1, AT_ONCE // (n * m))  # rows, so that Ctrl-C is answered soon
    clock, scale, keep = np.zeros(2, np.int64), np.empty(1), np.zeros(n * m, bool)
    while not pairing.find_prices(ones, found, clock, scale, most):
        pass
    factor = float(scale[0])
    if factor == 0.0:
        return keep_nothing(candidates, caps, shape)
    start, size, done = found.start, int(found.start[n]), 0
    tied = Tied(
        start,
        np.empty(n, np.int64),
        np.empty(size + 1, np.int32),
        np.empty(size, np.int64),
        np.empty(n, np.int64),
    )
    while done == 0:
        done = pairing.settle_ties(ones, factor, found, tied, clock, most, keep)
    if done < 0:
        return None
    unit = 1.0 / (factor * factor if ones.squared else factor)
    u, w = (found.w, found.u) if ones.turned else (found.u, found.w)
    u *= unit
    w *= unit
    return Exact(keep.reshape(shape), u, w, 0.0, None, {"path": "assignment", "tied": size})


def as_ones(candidates: Candidates, caps: Counts) -> Ones:
    """The table with its shorter side as rows, and the grids of its gains."""
    n, m = caps.rows.size, caps.cols.size
    few, turned, values = min(n, m), n > m, candidates.values
    if turned:
        values = np.ascontiguousarray(values.reshape(n, m).T).reshape(-1)
    steps = grid_steps(candidates, caps)
    if steps <= COARSE:
        return Ones(values, candidates.squared, turned, steps, steps, 0.0, 0)
    # An entry on the coarse grid is off by `off` steps of the other at most, and a support holds
    # `few` entries. So what two supports differ by is off by `near` at most, and none with an
    # entry that falls shorter than that can be best.
    off = 0.5 * steps / COARSE + (steps > 2.0**52)
    near = 2.0 * few * off / steps
    return Ones(values, candidates.squared, turned, steps, COARSE, near, pairing.HASHES * few)

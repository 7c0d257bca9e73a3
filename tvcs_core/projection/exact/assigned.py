"""All caps 1 and no binding total: the assignment problem, and ties by the sum of their hashes."""

import numpy as np

from tvcs_core.projection.exact.candidates import Exact, grid_steps, scale_of
from tvcs_core.projection.kernels import pairing
from tvcs_core.projection.kernels.records import Candidates, Counts, Ints, Ones

AT_ONCE = 20_000_000  # entries of the table that a stage may look at in one call of a kernel
MANY = 2**15  # lines of the shorter side, up to which sums of hashes leave room in 63 bits


def is_assignment(candidates: Candidates, caps: Counts) -> bool:
    """Whether it is a table whose caps are all 1 and whose total does not bind."""
    return candidates.dense and are_ones(*caps)


def are_ones(rows: Ints, cols: Ints, total: int) -> bool:
    """Whether all caps are 1 and the total does not bind."""
    few = min(rows.size, cols.size)
    if rows[0] != 1 or cols[0] != 1 or total < few or few > MANY:
        return False
    return bool((rows == 1).all() and (cols == 1).all())


def bytes_of_each(caps: Counts) -> int:
    """Bytes that an assignment takes for each entry: its gain, and its value where it is turned."""
    return 16 if caps.rows.size > caps.cols.size else 8


def solve_assignment(
    candidates: Candidates, caps: Counts, largest: float, shape: tuple[int, ...]
) -> Exact:
    """Assign rows to columns; `largest` is the size of the largest value."""
    n, m = caps.rows.size, caps.cols.size
    table, is_turned, keep = candidates.values.reshape(n, m), n > m, np.empty((n, m), bool)
    if is_turned:
        table = np.ascontiguousarray(table.T)
    factor, steps = scale_of(largest), grid_steps(candidates, caps)
    ones = Ones(table, candidates.squared, is_turned, factor, steps)
    # numpy's arrays of megabytes come in large pages, those of kernels do not.
    found = pairing.nothing_found(np.empty(table.shape, np.int64))
    clock = np.zeros(4, np.int64)
    most = max(1, AT_ONCE // (n * m))  # rows, so that Ctrl-C is answered soon
    while not pairing.settle(ones, found, clock, most, keep):
        pass
    unit = 0.5 / (steps * (factor * factor if candidates.squared else factor))
    u, w = found.u * unit, found.w * unit
    pairing.mend(ones, keep, u, w)
    if is_turned:
        u, w = w, u
    stats = {"path": "assignment", "tied": int(clock[pairing.TIED])}
    return Exact(keep.reshape(shape), u, w, 0.0, None, stats)

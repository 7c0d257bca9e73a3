"""The assignment problem (all caps 1, no binding total), with ties broken by the sum of hashes."""

import numpy as np

from tvcs_core.projection.exact.candidates import PricedSupport, grid_steps, scale_of
from tvcs_core.projection.kernels import pairing
from tvcs_core.projection.kernels.records import Candidates, Counts, Ints, UnitCapTable

MAX_STAGE_ENTRIES = 20_000_000  # entries per kernel call, between two checks for Ctrl-C
MAX_HASHED_LINES = 2**15  # lines of the shorter side: so many hashes of 42 bits sum below 2^63


def is_assignment(candidates: Candidates, caps: Counts) -> bool:
    """Return whether this is a table whose caps are all 1 and whose total does not bind."""
    return candidates.dense and are_all_ones(*caps)


def are_all_ones(rows: Ints, cols: Ints, total: int) -> bool:
    """Return whether all caps are 1 and the total does not bind."""
    shorter = min(rows.size, cols.size)
    if rows[0] != 1 or cols[0] != 1 or total < shorter or shorter > MAX_HASHED_LINES:
        return False
    return bool((rows == 1).all() and (cols == 1).all())


def bytes_per_entry(caps: Counts) -> int:
    """Return the bytes per entry that an assignment needs: its gain, and its transposed value."""
    return 16 if caps.rows.size > caps.cols.size else 8


def solve_assignment(candidates: Candidates, caps: Counts, largest: float) -> PricedSupport:
    """Assign rows to columns; `largest` is the size of the largest value."""
    n, m = caps.rows.size, caps.cols.size
    table, is_turned, mask = candidates.values.reshape(n, m), n > m, np.empty((n, m), bool)
    if is_turned:
        table = np.ascontiguousarray(table.T)
    factor, steps = scale_of(largest), grid_steps(candidates, caps)
    unit_table = UnitCapTable(table, candidates.squared, is_turned, factor, steps)
    # Large NumPy arrays use huge pages, arrays allocated by kernels do not.
    state = pairing.initial_state(np.empty(table.shape, np.int64))
    clock = np.zeros(3, np.int64)
    most = max(1, MAX_STAGE_ENTRIES // (n * m))  # rows per call, so that Ctrl-C is answered soon
    while not pairing.settle(unit_table, state, clock, most, mask):
        pass
    unit = 0.5 / (steps * (factor * factor if candidates.squared else factor))
    u, w = state.u * unit, state.w * unit
    pairing.mend(unit_table, mask, u, w)
    if is_turned:
        u, w = w, u
    stats = {"path": "assignment", "tied": int(clock[pairing.TIED])}
    return PricedSupport(mask.reshape(-1), u, w, 0.0, stats)

"""The whole solution in one call, for tables so small that calls would cost more than the work.

`project_small` is a whole projection, from V to the gap; `solve_small` only the search.
"""

import math

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.cost_scaling.direct import (
    has_equal,
    send_directly,
)
from tvcs_core.projection.kernels.few.solve import has_few_lines, solve_few
from tvcs_core.projection.kernels.gains import (
    MAX_SAFE_SIZE,
    MIN_RELATIVE_SIZE,
    MIN_SAFE_SIZE,
    small_share,
    without_vanishing,
)
from tvcs_core.projection.kernels.prices import alternate_sweeps, by_column
from tvcs_core.projection.kernels.records import (
    Candidates,
    Counts,
    EntryList,
    Grid,
    Prices,
    Side,
)
from tvcs_core.projection.kernels.rounding import gap_of
from tvcs_core.projection.kernels.simplex import terminals
from tvcs_core.projection.kernels.table import list_open, nudged_gains, survey

MAX_FEW_NEEDED = 2_500  # entries of a list that is faster than a table of few lines (pruning)
N_ROUNDS = 2  # sweeps over rows and columns (docs/method.md, small tables)
MAX_SPARSITY = 2  # entries of a table per nonzero one, above which sweeps over a list are faster
TRANSPOSED_ROWS = 16  # rows transposed together: two cache lines of each column


@kernel
def first_guess(by_rows, by_cols, caps, total_size):
    """Compute prices of both sides by a few sweeps; return the total's."""
    pool, buffer = np.empty(total_size + 1), np.empty(total_size + 1)
    found = alternate_sweeps(
        by_rows, by_cols, np.int64(N_ROUNDS), caps.total, np.int64(0), 0.0, pool, buffer
    )
    return found[3]  # after the columns


@kernel
def list_sides(candidates, caps, grid, size, u, w):
    """Return the sides that `table_sides` does, as lists of the `size` nonzero entries."""
    n, m, none = u.size, w.size, np.int64(0)
    row, col, gains = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    row_start, col_start = np.empty(n + 1, np.int64), np.empty(m + 1, np.int64)
    listed = EntryList(row, col, np.empty(0, np.int64), gains)
    list_open(candidates, grid, 0.0, listed, row_start)
    order, row_by_col = np.empty(size, np.int32), np.empty(size, np.int32)
    by_col = np.empty(size)
    by_column(col, m, col_start, order)
    for i in range(size):
        row_by_col[i], by_col[i] = row[order[i]], gains[order[i]]
    return (
        Side(row_start, col, gains, w, caps.rows, none, u, np.empty(n), np.empty(n)),
        Side(col_start, row_by_col, by_col, u, caps.cols, none, w, np.empty(m), np.empty(m)),
    )


@kernel
def table_sides(candidates, caps, grid, u, w):
    """Return the rows and columns of a table for sweeps that fill in u and w."""
    n, m, none, all_lines = u.size, w.size, np.int64(0), np.empty(0, np.int32)
    gains, by_col, start = np.empty(n * m), np.empty(n * m), np.empty(m + 1, np.int64)
    for c in range(m + 1):
        start[c] = c * n
    for top in range(0, n, TRANSPOSED_ROWS):
        end = min(top + TRANSPOSED_ROWS, n)
        for r in range(top, end):
            nudged_gains(candidates, grid, r, gains[r * m : (r + 1) * m])
        for c in range(m):
            for r in range(top, end):
                by_col[c * n + r] = gains[r * m + c]
    return (
        Side(candidates.start, all_lines, gains, w, caps.rows, none, u, np.empty(n), np.empty(n)),
        Side(start, all_lines, by_col, u, caps.cols, none, w, np.empty(m), np.empty(m)),
    )


@kernel
def scale_of(candidates, caps):
    """Return the power of two that scales the largest value to .5 .. 1 (0 if all are 0).

    Also returns the number of nonzero entries, and an upper bound on the size of a support.
    """
    n, m = caps.rows.size, caps.cols.size
    per_row, per_col = np.empty(n, np.int64), np.empty(m, np.int64)
    per_row[:], per_col[:] = 0, 0
    largest = survey(candidates, per_row, per_col)
    rows = cols = size = 0
    for r in range(n):
        rows += min(per_row[r], caps.rows[r])
        size += per_row[r]
    for c in range(m):
        cols += min(per_col[c], caps.cols[c])
    factor = 0.0
    if largest > 0.0:
        factor = math.ldexp(1.0, -min(max(math.frexp(largest)[1], -1000), 1000))
    return factor, size, min(rows, cols)


@kernel
def solve_small(candidates, caps, steps, mask, u, w):
    """Fill in the support of a table and the prices (in grid steps of scaled gains).

    Returns (price of the total, scale of the values, status). Shortest paths solve tables of few
    lines, cost scaling the others. Nothing is filled in if the status is -1 (no entry may be kept)
    or -2 (cost scaling gave up); otherwise it is the number of units that shortest paths sent.
    """
    n, m = caps.rows.size, caps.cols.size
    yes = np.bool_(True)  # a literal would be another type, and compile the callee again
    factor, size, fits = scale_of(candidates, caps)
    if factor == 0.0:
        return 0.0, factor, -1
    pi, support = np.empty((n + m + 2, 2), np.int64), mask.reshape((n, m))
    if has_few_lines(n, m):
        grid = Grid(factor, steps, not yes)
        sent, bits = solve_few(candidates, caps, grid, fits, support, pi)
        return read_prices(pi, bits, u, w), factor, sent
    # With equal gains first prices need the hash to tell entries apart.
    has_ties = has_equal(candidates.values, m) == yes
    nudged, grid = Grid(factor, steps, has_ties), Grid(factor, steps, not yes)
    most = Counts(caps.rows, caps.cols, min(caps.total, fits))
    if MAX_SPARSITY * size >= candidates.values.size:
        by_rows, by_cols = table_sides(candidates, caps, nudged, u, w)
    else:
        by_rows, by_cols = list_sides(candidates, caps, nudged, size, u, w)
    prices = Prices(u, w, first_guess(by_rows, by_cols, most, size))
    bits = send_directly(candidates, caps, grid, prices, most.total, has_ties, support, pi)
    return read_prices(pi, bits, u, w), factor, 0 if bits != 0 else -2


@kernel
def read_prices(pi, bits, u, w):
    """Read row and column prices from the potentials; return the total's. All in grid steps.

    `bits` contains the lowest bit set in any gain. Potentials are rounded down to that common unit,
    which keeps the sign of every reduced cost and makes the prices of integers integer.
    """
    n, m = u.size, w.size
    unit = bits & -bits if bits != 0 else 1
    source_node, sink_node = terminals(n, m)
    source, sink = pi[source_node, 0] & -unit, pi[sink_node, 0] & -unit
    for r in range(n):
        u[r] = max(0, (pi[r, 0] & -unit) - source)
    for c in range(m):
        w[c] = max(0, sink - (pi[n + c, 0] & -unit))
    return max(0, source - sink) + 0.0


@kernel
def as_candidates(values):
    """Return a table of values whose squares are the gains."""
    n, m = values.shape
    start, columns, keys = np.empty(n + 1, np.int64), np.empty(m, np.int32), np.empty(0, np.int64)
    yes = np.bool_(True)
    for r in range(n + 1):
        start[r] = r * m
    for c in range(m):
        columns[c] = c
    return Candidates(values.reshape(-1), start, columns, keys, yes, yes)


@kernel
def keep_smaller(values, caps, steps, mask):
    """Choose the small values of a support anew, scale by scale, as in `projection/scales.py`.

    Returns whether all scales were solved; cost scaling may give up.
    """
    n, m = values.shape
    rest, found = np.abs(values), np.empty((n, m), np.bool_)
    u, w = np.empty(n), np.empty(m)
    rows, cols, total, largest = caps.rows.copy(), caps.cols.copy(), caps.total, rest.max()
    while True:
        limit = largest * math.sqrt(small_share(values.size, steps))
        # Values of this size are final. `rest` is 0 for them and for those of former scales.
        for r in range(n):
            for c in range(m):
                if rest[r, c] >= limit:
                    rows[r] -= mask[r, c]
                    cols[c] -= mask[r, c]
                    total -= mask[r, c]
                    rest[r, c] = 0.0
        largest = 0.0
        for r in range(n if total > 0 else 0):
            for c in range(m if rows[r] > 0 else 0):
                largest = max(largest, rest[r, c] if cols[c] > 0 else 0.0)
        if largest == 0.0:
            return True
        shift = math.frexp(largest)[1]
        largest = math.ldexp(largest, -shift)
        for r in range(n):
            for c in range(m):
                is_open = rest[r, c] > 0.0 and rows[r] > 0 and cols[c] > 0
                mask[r, c] &= rest[r, c] == 0.0
                rest[r, c] = math.ldexp(rest[r, c], -shift) if is_open else 0.0
        candidates = as_candidates(without_vanishing(rest, largest, steps))
        u[:], w[:], left = 0.0, 0.0, Counts(rows, cols, total)
        if solve_small(candidates, left, steps, found.reshape(-1), u, w)[2] < 0:
            return False
        for r in range(n):
            for c in range(m):
                mask[r, c] |= found[r, c]


@kernel
def sizes_of(values):
    """Return the largest size, the least one above 0, and how many values are not 0.

    The largest is -1 if values need scaling, or one is not finite.
    """
    largest, least, filled, is_safe = 0.0, MAX_SAFE_SIZE, 0, True
    for value in values.reshape(-1):
        is_safe &= abs(value) < MAX_SAFE_SIZE
        largest = max(largest, abs(value))
        least = min(least, abs(value) if value != 0.0 else MAX_SAFE_SIZE)
        filled += value != 0.0
    return largest if is_safe else -1.0, least, filled


@kernel
def read_result(values, mask, matrix, prices, caps):
    """Fill in the projection; return what `gap_of` does."""
    for r in range(mask.shape[0]):
        for c in range(mask.shape[1]):
            matrix[r, c] = values[r, c] if mask[r, c] else 0.0
    return gap_of(values, mask, prices, caps)


@kernel
def project_small(values, row_caps, col_caps, total, steps, mask, matrix, u, w):
    """Project a table without caps of 0: fill in support, matrix and prices.

    Returns (price of the total, objective, sum of all slacks, hidden violations). A negative sum
    means that exact arithmetic is needed. A negative objective means that nothing is filled in: all
    values are 0, one is not finite or needs scaling, or the general way takes no longer. Prices
    must be 0 on entry.
    """
    largest, least, _ = sizes_of(values)
    if largest < MIN_SAFE_SIZE:
        return 0.0, -1.0, 0.0, 0.0
    if values.size > MAX_FEW_NEEDED and has_few_lines(u.size, w.size):
        most = min(total, row_caps.sum(), col_caps.sum())
        if most * min(u.size, w.size) < MAX_FEW_NEEDED:
            return 0.0, -1.0, 0.0, 0.0  # few entries are needed (exact/pruning.py)
    has_small, caps = least < largest * MIN_RELATIVE_SIZE, Counts(row_caps, col_caps, total)
    table = without_vanishing(values, largest, steps) if has_small else values
    candidates = as_candidates(table)
    price, factor, status = solve_small(candidates, caps, steps, mask.reshape(-1), u, w)
    if status < -1:
        return 0.0, -1.0, 0.0, 0.0
    unit = 1.0 / (steps * (factor * factor))
    for r in range(u.size):
        u[r] *= unit
    for c in range(w.size):
        w[c] *= unit
    price *= unit
    if has_small and not keep_smaller(values, caps, steps, mask):
        return 0.0, -1.0, 0.0, 0.0
    objective, gap, hidden = read_result(values, mask, matrix, Prices(u, w, price), caps)
    return price, objective, gap, hidden

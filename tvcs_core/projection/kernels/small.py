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
    gain,
    on_grid,
    without_vanishing,
)
from tvcs_core.projection.kernels.prices import alternate_sweeps, by_column, in_order, put_in_place
from tvcs_core.projection.kernels.records import (
    Arcs,
    Candidates,
    Counts,
    EntryList,
    Grid,
    Lines,
    Prices,
    Side,
    Tree,
)
from tvcs_core.projection.kernels.rounding import gap_of
from tvcs_core.projection.kernels.simplex import PIVOTS, price_tree, run_simplex, terminals
from tvcs_core.projection.kernels.start import (
    hang_full_rows,
    lay_core,
    lay_fixed_arcs,
    settle,
)
from tvcs_core.projection.kernels.table import (
    all_bits,
    entry_costs,
    list_open,
    nudged_gains,
    survey,
)

MAX_SIMPLEX_ENTRIES = 2_500  # of tables that the simplex solves if cost scaling fails
N_ROUNDS = 2  # sweeps over rows and columns (docs/method.md, small tables)
MAX_SPARSITY = 2  # entries of a table per open one, above which sweeps over a list are faster
TRANSPOSED_ROWS = 16  # rows transposed together: two cache lines of each column


@kernel
def first_guess(by_rows, by_cols, caps, total_size):
    """Compute prices of both sides by a few sweeps; return the total's."""
    pool, buffer = np.empty(total_size + 1), np.empty(total_size + 1)
    _of_rows, of_cols = alternate_sweeps(
        by_rows, by_cols, np.int64(N_ROUNDS), caps.total, np.int64(0), 0.0, pool, buffer
    )
    return of_cols.price


@kernel
def list_sides(listed, rows, cols, caps, u, w):
    """Return the rows and columns of a list for sweeps that fill in u and w."""
    n, m, size, none = u.size, w.size, listed.row.size, np.int64(0)
    row_by_col, gains_by_col = np.empty(size, np.int32), np.empty(size)
    in_order(cols.order, listed.row, listed.gains, row_by_col, gains_by_col)
    return (
        Side(rows.start, listed.col, listed.gains, w, caps.rows, none, u, np.empty(n), np.empty(n)),
        Side(cols.start, row_by_col, gains_by_col, u, caps.cols, none, w, np.empty(m), np.empty(m)),
    )


@kernel
def table_sides(candidates, caps, grid, u, w):
    """Return the rows and columns of a table for sweeps that fill in u and w.

    Gains in groups with cap 0 are 0.
    """
    n, m, none, all_lines = u.size, w.size, np.int64(0), np.empty(0, np.int32)
    gains, by_col, start = np.empty(n * m), np.empty(n * m), np.empty(m + 1, np.int64)
    for c in range(m + 1):
        start[c] = c * n
    for top in range(0, n, TRANSPOSED_ROWS):
        end = min(top + TRANSPOSED_ROWS, n)
        for r in range(top, end):
            row = gains[r * m : (r + 1) * m]
            nudged_gains(candidates, grid, r, row)
            for c in range(m):
                row[c] = row[c] if caps.rows[r] > 0 and caps.cols[c] > 0 else 0.0
        for c in range(m):
            for r in range(top, end):
                by_col[c * n + r] = gains[r * m + c]
    return (
        Side(candidates.start, all_lines, gains, w, caps.rows, none, u, np.empty(n), np.empty(n)),
        Side(start, all_lines, by_col, u, caps.cols, none, w, np.empty(m), np.empty(m)),
    )


@kernel
def scale_of(candidates, caps):
    """Return the power of two that scales the largest open value to .5 .. 1 (0 if all are 0).

    Also returns the number of open entries, and an upper bound on the size of a support.
    """
    n, m = caps.rows.size, caps.cols.size
    per_row, per_col = np.empty(n, np.int64), np.empty(m, np.int64)
    per_row[:], per_col[:] = 0, 0
    largest = survey(candidates, caps, per_row, per_col)
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
def move_likely_first(listed, kept, prices):
    """Move the quarter of the entries with the smallest reduced costs first; return its size."""
    row, col, position, gains = listed.row, listed.col, listed.position, listed.gains
    u, w, price = prices.rows, prices.cols, prices.total
    size = row.size
    slack, buffer = np.empty(size), np.empty(size)
    for e in range(size):
        slack[e] = -abs(gains[e] - u[row[e]] - w[col[e]] - price)
        buffer[e] = slack[e]
    put_in_place(buffer, size, size // 4)
    limit = buffer[size // 4]
    i = 0
    for e in range(size):
        if slack[e] >= limit:
            row[i], row[e] = row[e], row[i]
            col[i], col[e] = col[e], col[i]
            position[i], position[e] = position[e], position[i]
            gains[i], gains[e] = gains[e], gains[i]
            kept[i], kept[e] = kept[e], kept[i]
            i += 1
    return i


@kernel
def list_lines(candidates, caps, grid, size):
    """List the `size` open entries, and index the rows and columns of the list."""
    n, m = caps.rows.size, caps.cols.size
    listed = EntryList(
        np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int64), np.empty(size)
    )
    rows = Lines(np.empty(n + 1, np.int64), np.empty(0, np.int32))
    cols = Lines(np.empty(m + 1, np.int64), np.empty(size, np.int32))
    list_open(candidates, caps, grid, 0.0, listed, rows.start)
    by_column(listed.col, m, cols.start, cols.order)
    return listed, rows, cols


@kernel
def load_of(listed, kept, n, m):
    """Return the loads of rows, columns and total."""
    row_load, col_load, load = np.empty(n, np.int64), np.empty(m, np.int64), np.int64(0)
    row_load[:], col_load[:] = 0, 0
    for e in range(kept.size):
        row_load[listed.row[e]] += kept[e]
        col_load[listed.col[e]] += kept[e]
        load += kept[e]
    return Counts(row_load, col_load, load)


@kernel
def solve_small(candidates, caps, steps, mask, u, w):
    """Fill in the support and the prices (in grid steps of scaled gains).

    Returns (price of the total, scale of the values, pivots). Shortest paths solve tables of few
    lines, cost scaling most others. The simplex solves the rest, and lists; all open nonzero
    entries are its core, so its end is the proof. Nothing is filled in if pivots are -1 (no entry
    may be kept) or -2 (cost scaling gave up on a table too large for the simplex).
    """
    n, m = caps.rows.size, caps.cols.size
    yes = np.bool_(True)  # a literal would be another type, and compile the callee again
    factor, size, fits = scale_of(candidates, caps)
    if factor == 0.0 or caps.total == 0:
        return 0.0, factor, -1
    pi = np.empty((n + m + 2, 2), np.int64)
    if candidates.dense and has_few_lines(n, m):
        grid = Grid(factor, steps, not yes)
        sent, bits = solve_few(candidates, caps, grid, fits, mask.reshape((n, m)), pi)
        return read_prices(pi, bits, u, w), factor, sent
    # With equal gains first prices need the hash to tell entries apart.
    has_ties = not candidates.dense or has_equal(candidates.values, m)
    nudged, grid = Grid(factor, steps, has_ties == yes), Grid(factor, steps, not yes)
    most, bits, pivots = Counts(caps.rows, caps.cols, min(caps.total, fits)), np.int64(0), 0
    if MAX_SPARSITY * size >= candidates.values.size and candidates.dense:
        by_rows, by_cols = table_sides(candidates, caps, nudged, u, w)
    else:
        listed, rows, cols = list_lines(candidates, caps, nudged, size)
        by_rows, by_cols = list_sides(listed, rows, cols, caps, u, w)
    prices = Prices(u, w, first_guess(by_rows, by_cols, most, size))
    if candidates.dense:
        bits = send_directly(
            candidates, caps, grid, prices, most.total, has_ties == yes, mask.reshape((n, m)), pi
        )
    if bits == 0 and candidates.dense and size > MAX_SIMPLEX_ENTRIES:
        return 0.0, factor, -2
    if bits == 0:
        listed, rows, cols = list_lines(candidates, caps, nudged, size)
        kept = np.empty(size, np.bool_)
        settle(listed, rows, cols, prices, caps, kept)
        near = move_likely_first(listed, kept, prices)
        pivots = run_on_all(candidates, caps, grid, prices, listed, kept, near, pi)
        for e in range(size):
            mask[listed.position[e]] = kept[e]
        bits = all_bits(candidates, caps, grid)
        centre(candidates, caps, grid, mask, pi)
    return read_prices(pi, bits, u, w), factor, pivots


@kernel
def centre(candidates, caps, grid, mask, pi):
    """Move potentials of full rows and columns to the middle of their optimal interval.

    At an end of the interval some gain equals its prices on the grid, and the rounded square may be
    on their wrong side. The price of a full group that excludes nothing becomes 0.
    """
    values, start, columns = candidates.values, candidates.start, candidates.columns
    n, m, far = caps.rows.size, caps.cols.size, np.int64(2**62)
    source_node, sink_node = terminals(n, m)
    source, sink = pi[source_node, 0], pi[sink_node, 0]
    left, low, high = caps.cols.copy(), np.empty(m, np.int64), np.empty(m, np.int64)
    low[:], high[:] = -far, far
    for r in range(n):
        if caps.rows[r] == 0:
            continue
        shift = start[r] if candidates.dense else 0
        for turn in range(2):  # first the interval of the row, then those of its columns
            least, most, room = -far, far, caps.rows[r]
            for e in range(start[r], start[r + 1]):
                c = np.int64(columns[e - shift])
                if values[e] == 0.0 or caps.cols[c] == 0:
                    continue
                worth = on_grid(gain(values[e], grid.factor, candidates.squared), grid.steps)
                if turn == 0 and mask[e]:
                    most, room = min(most, worth + pi[n + c, 0]), room - 1
                elif turn == 0:
                    least = max(least, worth + pi[n + c, 0])
                elif mask[e]:
                    low[c], left[c] = max(low[c], pi[r, 0] - worth), left[c] - 1
                else:
                    high[c] = min(high[c], pi[r, 0] - worth)
            if turn == 0 and room == 0:
                pi[r, 0] = source if least < source else (least + most) >> 1
    for c in range(m):
        if left[c] == 0 and caps.cols[c] > 0:
            pi[n + c, 0] = sink if high[c] > sink else (low[c] + high[c]) >> 1


@kernel
def run_on_all(candidates, caps, grid, prices, listed, kept, near, pi):
    """Run the simplex from a feasible support to the optimum, and fill in its potentials.

    The costs are pairs with the hash. Returns the number of pivots.
    """
    n, m, none = caps.rows.size, caps.cols.size, np.int64(0)
    nodes, size = n + m + 2, kept.size
    fixed = n + m + nodes
    n_arcs = fixed + size
    tail, head = np.empty(n_arcs, np.int32), np.empty(n_arcs, np.int32)
    flow, cap = np.empty(n_arcs, np.int32), np.empty(n_arcs, np.int32)
    cost, state = np.empty((n_arcs, 2), np.int64), np.empty(n_arcs, np.int8)
    arcs, clock = Arcs(tail, head, cost, state, flow, cap), np.empty(3, np.int64)
    clock[:] = 0
    tree = Tree(np.empty((nodes, 6), np.int32), pi)
    load = load_of(listed, kept, n, m)
    lay_fixed_arcs(caps, load, prices, grid.steps, arcs, tree.links)
    lay_core(listed, kept, none, fixed, n, arcs)
    entry_costs(candidates, grid, listed, none, fixed, cost)
    hang_full_rows(listed, kept, prices, fixed, arcs, tree.links)
    price_tree(arcs, tree)
    # Likely entries alone settle most of it cheaply; the run on all of them is the proof.
    block = max(20, np.int64(0.7 * np.sqrt(fixed + near)))
    for reach in (fixed + near, n_arcs):
        while not run_simplex(arcs, reach, tree, clock, block, 10 * nodes, 1000 * nodes):
            pass
    for e in range(size):
        kept[e] = flow[fixed + e] > 0
    return clock[PIVOTS]


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
    """Return a table of values whose squares are the gains, without keys."""
    n, m = values.shape
    start, columns, keys = np.empty(n + 1, np.int64), np.empty(m, np.int32), np.empty(m, np.int64)
    yes = np.bool_(True)
    for r in range(n + 1):
        start[r] = r * m
    for c in range(m):
        columns[c], keys[c] = c, 0
    return Candidates(values.reshape(-1), start, columns, keys, yes, yes)


@kernel
def project_small(values, row_caps, col_caps, total, steps, mask, matrix, u, w):
    """Project a table without caps of 0: fill in support, matrix and prices.

    Returns (price of the total, objective, sum of all slacks, hidden violations, whether some value
    is so small that the grid keeps few of its digits). A negative sum means that exact arithmetic
    is needed. A negative objective means that nothing is filled in: all values are 0, one is not
    finite or needs scaling, or the general way takes no longer. Prices must be 0 on entry.
    """
    largest, least, is_safe = 0.0, MAX_SAFE_SIZE, True
    for value in values.reshape(-1):
        is_safe &= abs(value) < MAX_SAFE_SIZE
        largest = max(largest, abs(value))
        least = min(least, abs(value) if value != 0.0 else MAX_SAFE_SIZE)
    if not is_safe or largest < MIN_SAFE_SIZE:
        return 0.0, -1.0, 0.0, 0.0, False
    if values.size > MAX_SIMPLEX_ENTRIES and has_few_lines(u.size, w.size):
        most = min(total, row_caps.sum(), col_caps.sum())
        if most * min(u.size, w.size) < MAX_SIMPLEX_ENTRIES:
            return 0.0, -1.0, 0.0, 0.0, False  # few entries are needed (exact/pruning.py)
    has_small, caps = least < largest * MIN_RELATIVE_SIZE, Counts(row_caps, col_caps, total)
    table = without_vanishing(values, largest, steps) if has_small else values
    candidates = as_candidates(table)
    price, factor, pivots = solve_small(candidates, caps, steps, mask.reshape(-1), u, w)
    if pivots < -1:
        return 0.0, -1.0, 0.0, 0.0, False
    unit = 1.0 / (steps * (factor * factor))
    for r in range(u.size):
        u[r] *= unit
    for c in range(w.size):
        w[c] *= unit
    price *= unit
    for r in range(u.size):
        for c in range(w.size):
            matrix[r, c] = values[r, c] if mask[r, c] else 0.0
    objective, gap, hidden = gap_of(values, mask, Prices(u, w, price), caps)
    return price, objective, gap, hidden, has_small

"""The whole solution in one call, for tables so small that calls would cost more than the work.

`project_small` is all of a projection, from V to the gap; `solve_small` the search alone.
"""

import math

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import HUGE, SMALLEST, TINY, gain, on_grid
from tvcs_core.projection.kernels.prices import by_column, in_order, put_in_place, take_turns
from tvcs_core.projection.kernels.records import (
    Arcs,
    Candidates,
    Counts,
    Grid,
    Lines,
    Listed,
    Prices,
    Side,
    Tree,
)
from tvcs_core.projection.kernels.rounding import gap_of
from tvcs_core.projection.kernels.scan.direct import has_equal, has_long_lines, send_directly
from tvcs_core.projection.kernels.simplex import PIVOTS, price_tree, run_simplex, terminals
from tvcs_core.projection.kernels.start import (
    hang_full_rows,
    lay_core,
    lay_fixed_arcs,
    settle,
)
from tvcs_core.projection.kernels.table import all_bits, entry_costs, list_open, survey

SIMPLEX = 2_500  # entries of a table up to which the simplex does what the scan leaves
ROUNDS = 2  # of blocks of rows and of columns


@kernel
def first_guess(listed, rows, cols, caps, u, w):
    """Prices by a few blocks over a list of entries; returns the total's."""
    n, m, size = u.size, w.size, listed.row.size
    row_by_col, gains_by_col = np.empty(size, np.int32), np.empty(size)
    in_order(cols.order, listed.row, listed.gains, row_by_col, gains_by_col)
    none = np.int64(0)
    by_rows = Side(
        rows.start, listed.col, listed.gains, w, caps.rows, none, u, np.empty(n), np.empty(n)
    )
    by_cols = Side(
        cols.start, row_by_col, gains_by_col, u, caps.cols, none, w, np.empty(m), np.empty(m)
    )
    pool, buffer = np.empty(size + 1), np.empty(size + 1)
    _of_rows, of_cols = take_turns(
        by_rows, by_cols, np.int64(ROUNDS), caps.total, none, 0.0, pool, buffer
    )
    return of_cols.price


@kernel
def scale_of(candidates, caps):
    """Power of two that brings the largest open value to .5 .. 1 (0: all are 0); what fits."""
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
def near_first(listed, kept, prices):
    """Put the quarter of the entries with the smallest reduced costs first; return how many."""
    row, col, place, gains = listed.row, listed.col, listed.place, listed.gains
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
            place[i], place[e] = place[e], place[i]
            gains[i], gains[e] = gains[e], gains[i]
            kept[i], kept[e] = kept[e], kept[i]
            i += 1
    return i


@kernel
def list_lines(candidates, caps, grid, size):
    """List the `size` open entries, and say where the rows and columns of the list are."""
    n, m = caps.rows.size, caps.cols.size
    listed = Listed(
        np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int64), np.empty(size)
    )
    rows = Lines(np.empty(n + 1, np.int64), np.empty(0, np.int32))
    cols = Lines(np.empty(m + 1, np.int64), np.empty(size, np.int32))
    list_open(candidates, caps, grid, listed, rows.start)
    by_column(listed.col, m, cols.start, cols.order)
    return listed, rows, cols


@kernel
def load_of(listed, kept, n, m):
    """How much every row, every column and the total hold."""
    row_load, col_load, load = np.empty(n, np.int64), np.empty(m, np.int64), np.int64(0)
    row_load[:], col_load[:] = 0, 0
    for e in range(kept.size):
        row_load[listed.row[e]] += kept[e]
        col_load[listed.col[e]] += kept[e]
        load += kept[e]
    return Counts(row_load, col_load, load)


@kernel
def solve_small(candidates, caps, steps, keep, u, w):
    """Fill in the support and the prices (in grid steps of scaled gains).

    Returns (the total's price, the scale of the values, pivots). The scan finds most supports of
    tables. The simplex does the others, and lists: all open nonzero entries are its core, so its
    end is the proof. Nothing is filled in, and pivots are -1, if nothing may be kept, or -2 if the
    scan gives up in a table that is large for such a core.
    """
    n, m = caps.rows.size, caps.cols.size
    yes = np.bool_(True)  # not a literal, which would be a type of its own
    factor, size, fits = scale_of(candidates, caps)
    if factor == 0.0 or caps.total == 0:
        return 0.0, factor, -1
    # First prices need gains that the hash tells apart, if they are equal.
    has_ties = not candidates.dense or has_equal(candidates.values, m)
    nudged, grid = Grid(factor, steps, has_ties == yes), Grid(factor, steps, not yes)
    listed, rows, cols = list_lines(candidates, caps, nudged, size)
    most = Counts(caps.rows, caps.cols, min(caps.total, fits))
    price = first_guess(listed, rows, cols, most, u, w)
    prices, pi, pivots = Prices(u, w, price), np.empty((n + m + 2, 2), np.int64), np.int64(0)
    bits = pivots
    if candidates.dense and not (has_ties and has_long_lines(n, m)):
        bits = send_directly(
            candidates, caps, grid, prices, most.total, has_ties == yes, keep.reshape((n, m)), pi
        )
    if bits == 0 and candidates.dense and size > SIMPLEX:
        return 0.0, factor, -2
    if bits == 0:
        kept = np.empty(size, np.bool_)
        settle(listed, rows, cols, prices, caps, kept)
        near = near_first(listed, kept, prices)
        pivots = run_on_all(candidates, caps, grid, prices, listed, kept, near, pi)
        for e in range(size):
            keep[listed.place[e]] = kept[e]
        bits = all_bits(candidates, caps, grid)
    centre(candidates, caps, grid, keep, pi)
    return read_prices(pi, bits, u, w), factor, pivots


@kernel
def centre(candidates, caps, grid, keep, pi):
    """Put potentials of full rows and columns in the middle of what proves the support as well.

    They are at an end of that where an entry is worth just its prices: then its square, which the
    grid has rounded, may be on the wrong side of them. A group that is full but wants no more gets
    no price.
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
        for turn in range(2):  # what the row may have, and with that what its columns may
            least, most, room = -far, far, caps.rows[r]
            for e in range(start[r], start[r + 1]):
                c = np.int64(columns[e - shift])
                if values[e] == 0.0 or caps.cols[c] == 0:
                    continue
                worth = on_grid(gain(values[e], grid.factor, candidates.squared), grid.steps)
                if turn == 0 and keep[e]:
                    most, room = min(most, worth + pi[n + c, 0]), room - 1
                elif turn == 0:
                    least = max(least, worth + pi[n + c, 0])
                elif keep[e]:
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
    """Run the simplex from a feasible support to the best one, and fill in its potentials.

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
    # Near entries alone settle most of it cheaply; then all of them, which is the proof.
    block = max(20, np.int64(0.7 * np.sqrt(fixed + near)))
    for reach in (fixed + near, n_arcs):
        while not run_simplex(arcs, reach, tree, clock, block, 10 * nodes, 1000 * nodes):
            pass
    for e in range(size):
        kept[e] = flow[fixed + e] > 0
    return clock[PIVOTS]


@kernel
def read_prices(pi, bits, u, w):
    """Read the prices from the potentials, the total's returned; in grid steps.

    `bits` has the lowest bit that any gain has set. If they have a common unit, potentials are
    rounded down to it: that keeps every reduced cost on its side, and the prices of integers
    integers.
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
    """A table of values whose squares are gains, without keys."""
    n, m = values.shape
    start, columns, keys = np.empty(n + 1, np.int64), np.empty(m, np.int32), np.empty(m, np.int64)
    yes = np.bool_(True)
    for r in range(n + 1):
        start[r] = r * m
    for c in range(m):
        columns[c], keys[c] = c, 0
    return Candidates(values.reshape(-1), start, columns, keys, yes, yes)


@kernel
def project_small(values, row_caps, col_caps, total, steps, keep, matrix, u, w):
    """Project a table of values, with no cap 0: fill in support, matrix and prices.

    Returns (the total's price, what is kept, the sum of all slacks, what rounding hides of it,
    whether some value is so small that the grid keeps few of its digits).
    The sum is below 0 if it has to be looked at in exact numbers. What is kept is below 0, and
    nothing filled in, for values that are all 0, not finite, or so large or small that they have
    to be scaled, and for tables that the scan takes no longer for. The prices come in as 0.
    """
    candidates, largest, least = as_candidates(values), 0.0, HUGE
    is_safe = True
    for value in candidates.values:
        is_safe &= abs(value) < HUGE
        largest = max(largest, abs(value))
        least = min(least, abs(value) if value != 0.0 else HUGE)
    if not is_safe or largest < TINY:
        return 0.0, -1.0, 0.0, 0.0, False
    caps = Counts(row_caps, col_caps, total)
    price, factor, pivots = solve_small(candidates, caps, steps, keep.reshape(-1), u, w)
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
            matrix[r, c] = values[r, c] if keep[r, c] else 0.0
    kept, gap, hidden = gap_of(values, keep, Prices(u, w, price), caps)
    return price, kept, gap, hidden, least < largest * SMALLEST

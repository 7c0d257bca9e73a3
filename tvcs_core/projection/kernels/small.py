"""The whole solution in one call, for tables so small that calls would cost more than the work."""

# fmt: off

import math

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.prices import by_column, in_order, price_block, put_in_place
from tvcs_core.projection.kernels.simplex import PIVOTS, price_tree, run_simplex, terminals
from tvcs_core.projection.kernels.start import lay_core, lay_fixed_arcs, settle
from tvcs_core.projection.kernels.table import all_bits, entry_costs, list_open, survey

SWEEPS = 2


@kernel
def first_guess(row, col, gains, row_start, col_start, by_col, row_caps, col_caps, total, u, w):
    """Prices by a few blocks over a list of entries; returns the total's."""
    n, m = u.size, w.size
    pool, buffer = np.empty(row.size + 1), np.empty(row.size + 1)
    row_by_col, gains_by_col = np.empty(row.size, np.int32), np.empty(row.size)
    in_order(by_col, row, gains, row_by_col, gains_by_col)
    low_row, high_row, low_col, high_col = np.empty(n), np.empty(n), np.empty(m), np.empty(m)
    price, width = 0.0, np.int64(0)
    for _ in range(SWEEPS):
        price, _low, _high = price_block(row_start, col, gains, w, row_caps, total, width, width,
                                         u, price, low_row, high_row, pool, buffer)
        price, _low, _high = price_block(col_start, row_by_col, gains_by_col, u, col_caps, total,
                                         width, width, w, price, low_col, high_col, pool, buffer)
    return price


@kernel
def scale_of(values, start, columns, dense, row_caps, col_caps):
    """Power of two that brings the largest open value to .5 .. 1 (0: all are 0); what fits."""
    n, m = row_caps.size, col_caps.size
    per_row, per_col = np.zeros(n, np.int64), np.zeros(m, np.int64)
    largest = survey(values, start, columns, dense, row_caps, col_caps, per_row, per_col)
    rows = cols = size = 0
    for r in range(n):
        rows += min(per_row[r], row_caps[r])
        size += per_row[r]
    for c in range(m):
        cols += min(per_col[c], col_caps[c])
    factor = 0.0
    if largest > 0.0:
        factor = math.ldexp(1.0, -min(max(math.frexp(largest)[1], -1000), 1000))
    return factor, size, min(rows, cols)


@kernel
def near_first(row, col, gains, place, kept, u, w, price):
    """Put the quarter of the entries with the smallest reduced costs first; return how many."""
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
            kept[i], kept[e] = kept[e], kept[i]
            i += 1
    return i


@kernel
def solve_small(values, start, columns, keys, dense, squared, row_caps, col_caps, total, grid,
                keep, u, w):
    """Fill in the support and the prices (in grid steps of scaled gains).

    Returns (the total's price, the scale of the values, pivots). All open nonzero entries are
    the core.
    """
    n, m = row_caps.size, col_caps.size
    none, yes = np.int64(0), np.bool_(True)  # not literals, which would be types of their own
    factor, size, fits = scale_of(values, start, columns, dense, row_caps, col_caps)
    if factor == 0.0 or total == 0:
        return 0.0, factor, -1
    row, col, gains = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    row_start, col_start = np.empty(n + 1, np.int64), np.empty(m + 1, np.int64)
    by_col, place = np.empty(size, np.int32), np.empty(size, np.int64)
    list_open(values, start, columns, keys, dense, row_caps, col_caps, factor, squared, yes,
              row, col, gains, row_start, place)
    by_column(col, m, col_start, by_col)
    price = first_guess(row, col, gains, row_start, col_start, by_col, row_caps, col_caps,
                        min(total, fits), u, w)
    kept = np.empty(size, np.bool_)
    settle(row, col, gains, row_start, col_start, by_col, u, w, price, row_caps, col_caps, total,
           kept)
    near = near_first(row, col, gains, place, kept, u, w, price)
    row_load, col_load, load = np.zeros(n, np.int64), np.zeros(m, np.int64), none
    for e in range(size):
        row_load[row[e]] += kept[e]
        col_load[col[e]] += kept[e]
        load += kept[e]
    nodes = n + m + 2
    fixed = n + m + nodes
    arcs = fixed + size
    tail, head, cap = np.empty(arcs, np.int32), np.empty(arcs, np.int32), np.empty(arcs, np.int32)
    cost, flow = np.empty((arcs, 2), np.int64), np.empty(arcs, np.int32)
    state, clock = np.empty(arcs, np.int8), np.zeros(3, np.int64)
    tree, pi = np.empty((nodes, 6), np.int32), np.empty((nodes, 2), np.int64)
    lay_fixed_arcs(row_caps, col_caps, total, row_load, col_load, load, u, w, price, grid, tail,
                   head, cost, state, flow, cap, tree)
    lay_core(row, col, kept, n, none, size, fixed, tail, head, state, flow, cap)
    entry_costs(values, columns, keys, dense, factor, squared, grid, not yes, row, col, place,
                none, size, fixed, cost)
    price_tree(nodes, tail, cost, tree, pi)
    block = max(20, int(0.7 * np.sqrt(fixed + near)))
    for reach in (fixed + near, arcs):
        while not run_simplex(reach, tail, head, cost, state, flow, cap, tree, pi, clock, block,
                              10 * nodes, 1000 * nodes):
            pass
    for e in range(size):
        keep[place[e]] = flow[fixed + e] > 0
    bits = all_bits(values, start, columns, dense, row_caps, col_caps, factor, squared, grid)
    return read_prices(pi, bits, u, w), factor, clock[PIVOTS]


@kernel
def read_prices(pi, bits, u, w):
    """Read the prices from the potentials, the total's returned; in grid steps.

    `bits` are all bits that any gain has set. If they have a common unit, potentials are rounded
    down to it: that keeps every reduced cost on its side, and the prices of integers integers.
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

"""Unit caps without a binding total, from the table to the support.

`settle` runs in calls of bounded length, stage by stage, each on a limited number of rows.
`project_ones` is a whole projection in one call, from V to the gap.
"""

import math

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.assignment import FREE, assign, bid
from tvcs_core.projection.kernels.gains import (
    MIN_RELATIVE_SIZE,
    MIN_SAFE_SIZE,
    gain,
    on_grid,
    without_vanishing,
)
from tvcs_core.projection.kernels.records import (
    AssignmentState,
    Counts,
    Prices,
    UnitCapTable,
)
from tvcs_core.projection.kernels.small import keep_smaller, read_result, sizes_of
from tvcs_core.projection.kernels.tied import count_tied, lay_worths

BIDS_PER_ROW = 3  # bids per row before paths are searched (docs/method.md)
CHUNK_ROWS = 16  # rows whose gains are filled in and then bid for while in the processor's cache
# Positions in `clock`: next row, stage, number of tied entries (counted only until it is clear that
# there is a choice).
ROW, STAGE, TIED = 0, 1, 2
LAY, ASSIGN, COUNT, BID_TIED, ASSIGN_TIED, SETTLED = 0, 1, 2, 3, 4, 5


@kernel
def lay_gains(unit_table, first_row, last_row, gains):
    """Fill in the gains of rows first_row:last_row, in half steps of the grid."""
    values, squared = unit_table.values, unit_table.squared
    factor, steps = unit_table.factor, unit_table.steps
    for r in range(first_row, last_row):
        line, row = values[r], gains[r]
        for c in range(line.size):
            row[c] = 2 * on_grid(gain(line[c], factor, squared), steps)


@kernel
def clear_assignment(state):
    """Undo all assignments among tied entries, and their prices."""
    state.col_of[:], state.row_of[:] = FREE, FREE
    state.p[:], state.q[:] = 0, 0


@kernel
def do_stage(unit_table, state, clock, first, last):
    """Run the present stage on rows first:last."""
    gains, col_of, row_of, stage = state.gains, state.col_of, state.row_of, clock[STAGE]
    if stage == LAY:
        for r in range(first, last, CHUNK_ROWS):
            end = min(r + CHUNK_ROWS, last)
            lay_gains(unit_table, r, end, gains)
            bid(gains, r, end, BIDS_PER_ROW * (end - r), state.u, state.w, col_of, row_of)
    elif stage == ASSIGN:
        assign(gains, first, last, state.u, state.w, col_of, row_of)
    elif stage == COUNT and clock[TIED] <= state.u.size:
        clock[TIED] += count_tied(unit_table, state, first, last)
    elif stage == BID_TIED:
        for r in range(first, last):
            lay_worths(unit_table, state, r)
        bid(gains, first, last, BIDS_PER_ROW * (last - first), state.p, state.q, col_of, row_of)
    elif stage == ASSIGN_TIED:
        assign(gains, first, last, state.p, state.q, col_of, row_of)


@kernel
def next_stage(unit_table, state, clock, mask):
    """Advance to the next stage."""
    clock[ROW], stage = 0, clock[STAGE] + 1
    if stage == BID_TIED:
        if read(unit_table, state, mask) == clock[TIED]:
            stage = SETTLED  # the assigned entries are exactly the tied ones: there is no choice
        else:
            clear_assignment(state)
    elif stage == SETTLED:
        read(unit_table, state, mask)
    clock[STAGE] = stage


@kernel
def read(unit_table, state, mask):
    """Fill in the assigned nonzero entries; return their number."""
    values, col_of, n = unit_table.values, state.col_of, 0
    mask[:] = False
    for r in range(col_of.size):
        c = col_of[r]
        if values[r, c] != 0.0:
            n += 1
            if unit_table.turned:
                mask[c, r] = True
            else:
                mask[r, c] = True
    return n


@kernel
def settle(unit_table, state, clock, most, mask):
    """Find prices and support; fill in `mask`. Returns False if it must be called again."""
    n = state.u.size
    while clock[STAGE] < SETTLED:
        first, last = clock[ROW], min(clock[ROW] + most, n)
        do_stage(unit_table, state, clock, first, last)
        clock[ROW] = last
        if last == n:
            next_stage(unit_table, state, clock, mask)
        if most < n:
            break
    return clock[STAGE] == SETTLED


@kernel
def with_short_rows(values):
    """Return the table with its shorter side as rows, and whether it was transposed."""
    n, m = values.shape
    if n <= m:
        return values, False
    turned = np.empty((m, n))
    for r in range(n):
        for c in range(m):
            turned[c, r] = values[r, c]
    return turned, True


@kernel
def initial_state(gains):
    """Return the initial state of a table, with `gains` as its array of gains."""
    n, m = gains.shape
    u, w = np.empty(n, np.int64), np.empty(m, np.int64)
    u[:], w[:] = 0, 0
    p, q = np.empty(n, np.int64), np.empty(m, np.int64)
    col_of, row_of = np.empty(n, np.int64), np.empty(m, np.int64)
    state = AssignmentState(gains, u, w, p, q, col_of, row_of)
    clear_assignment(state)
    return state


@kernel
def mend(unit_table, mask, row_price, col_price):
    """Raise the prices of assigned rows to the best offer of their columns.

    Rounding to the grid leaves prices too low, so that all entries of a row may exceed their
    prices. Raising the row's price moves that error to at most the assigned entry.
    """
    values, squared, m = unit_table.values, unit_table.squared, col_price.size
    for r in range(row_price.size):
        line, price, over, holds = values[r], row_price[r], 0, False
        for c in range(m):
            over += gain(line[c], 1.0, squared) - col_price[c] > price
        if over == 0:
            continue
        for c in range(m):
            holds |= mask[c, r] if unit_table.turned else mask[r, c]
            price = max(price, gain(line[c], 1.0, squared) - col_price[c])
        if holds:
            row_price[r] = price


@kernel
def project_ones(values, row_caps, col_caps, total, steps, mask, matrix, u, w):
    """Project a table onto unit caps: fill in support, matrix and prices.

    Returns the same as `small.project_small`. The objective is below 0 also if so few values are
    nonzero that all may fit, since then no cap has a price.
    """
    table, turned = with_short_rows(values)
    n, m = table.shape
    largest, least, filled = sizes_of(values)
    if largest < MIN_SAFE_SIZE or filled <= n:
        return 0.0, -1.0, 0.0, 0.0
    factor, clock = math.ldexp(1.0, -math.frexp(largest)[1]), np.empty(3, np.int64)
    clock[:] = 0
    state = initial_state(np.empty((n, m), np.int64))
    has_small = least < largest * MIN_RELATIVE_SIZE
    table = without_vanishing(table, largest, steps) if has_small else table
    unit_table = UnitCapTable(table, True, turned, factor, steps)
    settle(unit_table, state, clock, n, mask)
    row_price, col_price = (w, u) if turned else (u, w)
    unit = 0.5 / (steps * (factor * factor))
    for r in range(n):
        row_price[r] = state.u[r] * unit
    for c in range(m):
        col_price[c] = state.w[c] * unit
    mend(unit_table, mask, row_price, col_price)
    prices, caps = Prices(u, w, 0.0), Counts(row_caps, col_caps, total)
    if has_small and not keep_smaller(values, caps, steps, mask):
        return 0.0, -1.0, 0.0, 0.0
    objective, gap, hidden = read_result(values, mask, matrix, prices, caps)
    return 0.0, objective, gap, hidden

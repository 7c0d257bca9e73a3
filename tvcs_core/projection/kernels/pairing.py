"""All caps 1 and no binding total, from the table to the support.

`settle` does it in calls of bounded length, one stage after the other, each at most so many rows at
a time; `project_ones` is all of a projection in one call, from V to the gap.
"""

import math

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.assignment import FREE, assign, bid
from tvcs_core.projection.kernels.gains import HUGE, SMALLEST, TINY, gain, on_grid
from tvcs_core.projection.kernels.records import Counts, NearEntries, Ones, Pairing, Prices
from tvcs_core.projection.kernels.rounding import gap_of
from tvcs_core.projection.kernels.tied import (
    ROOM,
    assign_near,
    bid_near,
    count_tied,
    count_wrong,
    lay_worths,
    list_near,
)

BIDS = 3  # of each row, before paths are looked for
WIDE = 500  # entries of a row, from which on ties are settled among the near ones
BLOCK = 16  # rows that are laid out, and then bid while they are in the processor's cache
# Places in `clock`: the next row, the stage, how many entries are tied (a count that ends where it
# is clear that there is a choice), and what was wrong with near entries.
ROW, STAGE, TIED, WRONG = 0, 1, 2, 3
LAY, ASSIGN, COUNT, WORTHS, ASSIGN_NEAR = 0, 1, 2, 3, 4
CHECK, BID_TIED, ASSIGN_TIED, SETTLED = 5, 6, 7, 8


@kernel
def lay_gains(ones, first_row, last_row, gains):
    """Fill in the gains of rows first_row:last_row, in half steps of the grid."""
    values, factor, steps, squared = ones.values, ones.factor, ones.steps, ones.squared
    for r in range(first_row, last_row):
        line, row = values[r], gains[r]
        for c in range(line.size):
            row[c] = 2 * on_grid(gain(line[c], factor, squared), steps)


@kernel
def nobody(found):
    """Nobody has anybody, and has paid for it."""
    found.col_of[:], found.row_of[:] = FREE, FREE
    found.p[:], found.q[:] = 0, 0


@kernel
def lay_tied(ones, found, clock, first, last):
    """Lay out what tied entries of rows first:last are worth; wide rows bid by their near ones."""
    is_wide = found.q.size >= WIDE
    for r in range(first, last):
        lay_worths(ones, found, r)
        if is_wide and clock[WRONG] == 0:
            clock[WRONG] += not list_near(found, r)
            if clock[WRONG] == 0:
                bid_near(found, r, np.int64(BIDS))


@kernel
def do_stage(ones, found, clock, first, last):
    """Do rows first:last of a stage."""
    gains, col_of, row_of, stage = found.gains, found.col_of, found.row_of, clock[STAGE]
    if stage == LAY:
        for r in range(first, last, BLOCK):
            end = min(r + BLOCK, last)
            lay_gains(ones, r, end, gains)
            bid(gains, r, end, BIDS * (end - r), found.u, found.w, col_of, row_of)
    elif stage == ASSIGN:
        assign(gains, first, last, found.u, found.w, col_of, row_of)
    elif stage == COUNT and clock[TIED] <= found.u.size:
        clock[TIED] += count_tied(ones, found, first, last)
    elif stage == WORTHS:
        lay_tied(ones, found, clock, first, last)
    elif stage == ASSIGN_NEAR:
        assign_near(found, first, last)
    elif stage == CHECK:
        clock[WRONG] += count_wrong(found, first, last)
    elif stage == BID_TIED:
        bid(gains, first, last, BIDS * (last - first), found.p, found.q, col_of, row_of)
    elif stage == ASSIGN_TIED:
        assign(gains, first, last, found.p, found.q, col_of, row_of)


@kernel
def next_stage(ones, found, clock, keep):
    """Go on to the stage that follows."""
    clock[ROW], stage = 0, clock[STAGE] + 1
    if stage == WORTHS:
        if read(ones, found, keep) == clock[TIED]:
            stage = SETTLED  # what is kept is tied, and nothing else is
        else:
            nobody(found)
    elif stage == ASSIGN_NEAR and (found.q.size < WIDE or clock[WRONG] > 0):
        nobody(found)
        stage = BID_TIED
    elif stage == BID_TIED and clock[WRONG] == 0:
        stage = ASSIGN_TIED  # what near entries did not lead to
    elif stage == BID_TIED:
        nobody(found)
    elif stage == SETTLED:
        read(ones, found, keep)
    clock[STAGE] = stage


@kernel
def read(ones, found, keep):
    """Fill in what is assigned of nonzero entries; return how many."""
    values, col_of, n = ones.values, found.col_of, 0
    keep[:] = False
    for r in range(col_of.size):
        c = col_of[r]
        if values[r, c] != 0.0:
            n += 1
            if ones.turned:
                keep[c, r] = True
            else:
                keep[r, c] = True
    return n


@kernel
def settle(ones, found, clock, most, keep):
    """Find prices, and the support; `keep` is filled in. False if it is to be called again."""
    n = found.u.size
    while clock[STAGE] < SETTLED:
        first, last = clock[ROW], min(clock[ROW] + most, n)
        do_stage(ones, found, clock, first, last)
        clock[ROW] = last
        if last == n:
            next_stage(ones, found, clock, keep)
        if most < n:
            break
    return clock[STAGE] == SETTLED


@kernel
def laid_out(values):
    """The table with its shorter side as rows, and whether that turned it."""
    n, m = values.shape
    if n <= m:
        return values, False
    turned = np.empty((m, n))
    for r in range(n):
        for c in range(m):
            turned[c, r] = values[r, c]
    return turned, True


@kernel
def nothing_found(gains):
    """What is found of a table before anything is; its gains are laid out in the array given."""
    n, m = gains.shape
    u, w, start = np.empty(n, np.int64), np.empty(m, np.int64), np.empty(n + 1, np.int64)
    u[:], w[:], start[:] = 0, 0, 0
    p, q = np.empty(n, np.int64), np.empty(m, np.int64)
    col_of, row_of = np.empty(n, np.int64), np.empty(m, np.int64)
    room = ROOM * n + m if m >= WIDE else 0
    near = NearEntries(start, np.empty(room, np.int64), np.empty(room, np.int64))
    found = Pairing(gains, u, w, p, q, col_of, row_of, near)
    nobody(found)
    return found


@kernel
def mend(ones, keep, few, many):
    """Raise the prices of rows that keep something to what their best columns offer.

    Rounding to the grid leaves them less, and then all entries of a row may be worth more than
    their prices, where one may be worth less now.
    """
    values, squared, m = ones.values, ones.squared, many.size
    for r in range(few.size):
        line, price, over, holds = values[r], few[r], 0, False
        for c in range(m):
            over += gain(line[c], 1.0, squared) - many[c] > price
        if over == 0:
            continue
        for c in range(m):
            holds |= keep[c, r] if ones.turned else keep[r, c]
            price = max(price, gain(line[c], 1.0, squared) - many[c])
        if holds:
            few[r] = price


@kernel
def project_ones(values, row_caps, col_caps, total, steps, keep, matrix, u, w):
    """Project a table of values onto caps of 1: fill in support, matrix and prices.

    As `small.project_small`, which says what is returned. What is kept is below 0 also where so few
    values are not 0 that they may all fit, and then no cap has a price.
    """
    table, turned = laid_out(values)
    n, m = table.shape
    largest, least, filled, is_safe = 0.0, HUGE, 0, True
    for value in table.reshape(-1):
        is_safe &= abs(value) < HUGE
        largest = max(largest, abs(value))
        least = min(least, abs(value) if value != 0.0 else HUGE)
        filled += value != 0.0
    if not is_safe or largest < TINY or filled <= n:
        return 0.0, -1.0, 0.0, 0.0, False
    factor, clock = math.ldexp(1.0, -math.frexp(largest)[1]), np.empty(4, np.int64)
    clock[:] = 0
    found = nothing_found(np.empty((n, m), np.int64))
    ones = Ones(table, True, turned, factor, steps)
    settle(ones, found, clock, n, keep)
    few, many = (w, u) if turned else (u, w)
    unit = 0.5 / (steps * (factor * factor))
    for r in range(n):
        few[r] = found.u[r] * unit
    for c in range(m):
        many[c] = found.w[c] * unit
    mend(ones, keep, few, many)
    for r in range(u.size):
        for c in range(w.size):
            matrix[r, c] = values[r, c] if keep[r, c] else 0.0
    kept, gap, hidden = gap_of(values, keep, Prices(u, w, 0.0), Counts(row_caps, col_caps, total))
    return 0.0, kept, gap, hidden, least < largest * SMALLEST

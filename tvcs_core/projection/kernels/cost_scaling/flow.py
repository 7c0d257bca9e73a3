"""The flow of cost scaling, its prices, and two tables of offers.

A *line* is a row or a column. It has an arc to every line of the other side, one per entry, and one
to its *end*: source for rows, sink for columns. An arc that can take more flow is *residual*. The
*offer* to a node over a residual arc is the price of the arc's other node less its cost: gain +
price to a row, by an entry that is not kept; price - gain to a column, by a kept entry. So an entry
is in one of two tables at a time: gains by row if x = 0, minus gains by column if x = 1. The other
table has `NO_ARC`. The offers to a line are a row of its table plus the prices of the other
side, whatever x is.

Lines are numbered rows first, columns from the next multiple of 8 on; the
numbers in between are lines without arcs. All numbers are integers in steps of the grid.
"""

from typing import NamedTuple

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import gain, on_grid
from tvcs_core.projection.kernels.records import Bools, Ints

# Gains and prices are below 2^58 in size, so that sums stay apart from these and below 2^63.
NO_ARC = -(2**61)  # no arc; plus any price it is below `BELOW_ALL_OFFERS`
BELOW_ALL_OFFERS = -(2**60)  # below every offer
PRICE_FLOOR = -(2**58)  # the search gives up if a price falls below it
ROWS_AT_ONCE = 16  # laid out together: two cache lines of each column
# Positions in `clock`: head of the queue, its length, turns so far, failure flag.
HEAD, QUEUED, TURNS, FAILED = 0, 1, 2, 3


class Flow(NamedTuple):
    """A flow and its prices. Arrays are indexed by line unless stated otherwise.

    Source and sink have the two numbers after those of the lines.

    Attributes
    ----------
    table
        Both tables, line after line; each is as wide as the other side.
    start
        Offset of the line in the table; -1 for numbers without a line.
    price, excess
        (lines + 2,), potential; inflow minus outflow.
    room, cap
        Residual capacity of the arc towards the end, and its full capacity.
    between
        (2,), residual capacity of the arc from source to sink, and back.
    queue, waiting
        Ring buffer of lines and ends, its size a power of two, and a mask of its members.
    columns
        Number of the first column.
    """

    table: Ints
    start: Ints
    price: Ints
    excess: Ints
    room: Ints
    cap: Ints
    between: Ints
    queue: Ints
    waiting: Bools
    columns: int


@kernel
def lay_out(candidates, caps, grid, flow):
    """Fill in both tables; an entry is kept if its gain exceeds its prices. Zeros have no arcs."""
    values, factor, steps, squared = candidates.values, grid.factor, grid.steps, candidates.squared
    table, start, price, excess = flow.table, flow.start, flow.price, flow.excess
    n, m, columns, lines = caps.rows.size, caps.cols.size, flow.columns, flow.cap.size
    for first in range(0, n, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, n)
        for r in range(first, last):
            line, row = table[start[r] : start[r] + m], values[r * m : r * m + m]
            for c in range(m):
                worth = on_grid(gain(row[c], factor, squared), steps)
                line[c] = worth if row[c] != 0.0 else NO_ARC
        apart = lines - columns  # width of the first table
        for c in range(m):
            line, p = table[start[columns + c] + first :], price[columns + c]
            at, taken = start[first] + c, 0
            for r in range(last - first):
                worth = table[at]
                kept = worth + p > price[first + r]
                line[r] = -worth if kept else NO_ARC
                table[at] = NO_ARC if kept else worth
                excess[first + r] -= kept
                at, taken = at + apart, taken + kept
            excess[columns + c] += taken


@kernel
def restore(flow, price):
    """Restore all prices from a copy."""
    # Element by element: for whole arrays numba spends 1.7 s on compiling shape errors.
    for i in range(price.size):
        flow.price[i] = price[i]

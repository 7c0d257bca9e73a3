"""The flow of the scan, its prices, and the two tables that say what every line is offered.

A *line* is a row or a column. It has an arc to every line across, one per entry, and one to its
*end*: source for rows, sink for columns. An arc that may take more is *residual*. What a node is
*offered* over a residual arc is the price of the node that it leads to, less the arc's cost: gain +
price to a row by an entry that is not kept, price - gain to a column by one that is. So an entry is
in one of two tables at a time, gains by row where x = 0 and minus gains by column where x = 1, and
`NONE` in the other: the offers of a line are a row of its table plus the prices across, whatever x.

Lines are numbered rows first, the columns from the next multiple of `BLOCK` on; numbers between are
lines without arcs. All numbers are whole steps of the grid.
"""

from typing import NamedTuple

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import gain, on_grid
from tvcs_core.projection.kernels.records import Bools, Ints

NONE = -(2**61)  # no arc; whatever price is added, it is below `LEAST`
LEAST = -(2**60)  # below every offer
LOWEST = -(2**58)  # a price below it: the search gives up
BLOCK = 16  # the width of both tables is a multiple of it
# Places in `ends`, of the source; those of the sink come next. Room is towards the other end.
PRICE, EXCESS, ROOM = 0, 2, 4
# Places in `clock`: the first of the queue, how many are in it, turns so far, trouble.
HEAD, QUEUED, TURNS, FAILED = 0, 1, 2, 3


class Flow(NamedTuple):
    """A flow and its prices. Arrays are by line, where nothing else is said.

    Attributes
    ----------
    table
        Both tables, line after line; each is as wide as there are numbers across.
    start
        Where the line begins in the table; -1 for numbers between, which have no line.
    price, excess
        Potential; what came in less what went out.
    room, cap
        What the arc to the end may take, towards the end and in all.
    ends
        Of source and sink; the places are named in flow.py.
    queue, waiting
        A ring of lines and ends, its size a power of two, and who is in it.
    columns
        Number of the first column.
    """

    table: Ints
    start: Ints
    price: Ints
    excess: Ints
    room: Ints
    cap: Ints
    ends: Ints
    queue: Ints
    waiting: Bools
    columns: int


@kernel
def lay_out(candidates, caps, grid, flow, first_row, last_row):
    """Fill in both tables for some rows: an entry is kept if it is worth more than its prices.

    `first_row` is a multiple of `BLOCK`. Zeros and groups that may keep nothing have no arcs.
    """
    values, factor, steps, squared = candidates.values, grid.factor, grid.steps, candidates.squared
    table, start, price, excess = flow.table, flow.start, flow.price, flow.excess
    row_caps, col_caps, m, columns = caps.rows, caps.cols, caps.cols.size, flow.columns
    lines = price.size
    for first in range(first_row, last_row, BLOCK):
        last = min(first + BLOCK, last_row)
        for r in range(first, last):
            line, row = table[start[r] : start[r] + m], values[r * m : r * m + m]
            for c in range(m):
                worth = on_grid(gain(row[c], factor, squared), steps)
                line[c] = worth if (row[c] != 0.0) & (row_caps[r] > 0) & (col_caps[c] > 0) else NONE
        apart = lines - columns  # the width of the first table
        for c in range(m):
            line, p = table[start[columns + c] + first :], price[columns + c]
            at, taken = start[first] + c, 0
            for r in range(last - first):
                worth = table[at]
                kept = worth + p > price[first + r]
                line[r] = -worth if kept else NONE
                table[at] = NONE if kept else worth
                excess[first + r] -= kept
                at, taken = at + apart, taken + kept
            excess[columns + c] += taken

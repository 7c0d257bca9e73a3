"""Small tables: from first prices to a proven support by shortest paths, without scaling.

What prices of a few blocks misplace in a small table is a few units, and a path over a few dozen
nodes takes less time than a phase of the scan would. Bids at eps 0 come first: most units find
their place by one or two, after which prices are as exact as before.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.scan.flow import (
    EXCESS,
    FAILED,
    LEAST,
    NONE,
    PRICE,
    ROOM,
    Flow,
    lay_out,
)
from tvcs_core.projection.kernels.scan.paths import send_all
from tvcs_core.projection.kernels.scan.refine import PIECE, STEP, prepare, serve_lines
from tvcs_core.projection.kernels.scan.unique import is_only_best
from tvcs_core.projection.kernels.simplex import terminals

WIDE = np.int64(STEP)  # lines of both tables are a multiple of it
BIDS = 4  # turns of each unit in excess, after which shortest paths are shorter
TIGHT = 8  # arcs per node, more than which are taken to hold a cycle
# A turn looks at all nodes; the simplex is expected to be done after so many looks per entry.
PATIENCE = 400


@kernel
def flow_at(caps, prices, steps):
    """Tables without arcs and potentials from the prices; nothing flows."""
    n, m = caps.rows.size, caps.cols.size
    columns, across = (n + WIDE - 1) // WIDE * WIDE, (m + WIDE - 1) // WIDE * WIDE
    lines, size = columns + across, 16
    while size < lines + 2:
        size *= 2
    table, waiting = np.empty(n * across + m * columns, np.int64), np.empty(lines + 2, np.bool_)
    start, price = np.empty(lines, np.int64), np.empty(lines, np.int64)
    excess, room = np.empty(lines, np.int64), np.empty(lines, np.int64)
    cap, ends, queue = np.empty(lines, np.int64), np.empty(6, np.int64), np.empty(size, np.int64)
    start[:], price[:], excess[:], room[:], cap[:], ends[:] = -1, 0, 0, 0, 0, 0
    table[:] = NONE
    ends[PRICE] = np.int64(np.rint(prices.total * steps))
    for r in range(n):
        start[r], cap[r] = r * across, caps.rows[r]
        price[r] = ends[PRICE] + np.int64(np.rint(min(prices.rows[r], 1.0) * steps))
    for c in range(m):
        i = columns + c
        start[i], cap[i] = n * across + c * columns, caps.cols[c]
        price[i] = -np.int64(np.rint(min(prices.cols[c], 1.0) * steps))
    return Flow(table, start, price, excess, room, cap, ends, queue, waiting, columns)


@kernel
def lay_ends(flow, total):
    """Let source and sink give and take what the lines need, as far as caps and total allow."""
    excess, room, cap, ends = flow.excess, flow.room, flow.cap, flow.ends
    given = taken = np.int64(0)
    for i in range(cap.size):
        if i < flow.columns:
            room[i] = min(-excess[i], cap[i])
            excess[i] += room[i]
            given += room[i]
        else:
            moved = min(excess[i], cap[i])
            room[i] = cap[i] - moved
            excess[i] -= moved
            taken += moved
    units = min(taken, total)
    ends[EXCESS], ends[EXCESS + 1] = units - given, taken - units
    ends[ROOM], ends[ROOM + 1] = units, total - units


@kernel
def bid(flow, clock):
    """Let lines with an excess take their best offers for some turns, at eps 0."""
    units, width = np.int64(0), max(flow.columns, flow.price.size - flow.columns)
    for i in range(flow.excess.size):
        units += max(0, flow.excess[i])
    offers, tops = np.empty(width, np.int64), np.empty(width // np.int64(PIECE) + 1, np.int64)
    serve_lines(flow, np.int64(0), offers, tops, clock, BIDS * units)


@kernel
def has_equal(values, width):
    """Whether many values are equal: whether one in 50 is that of the next row or column."""
    found = 0
    for apart in (1, width):
        for e in range(values.size - apart):
            found += (values[e] == values[e + apart]) & (values[e] != 0.0)
    return found * 50 > values.size


@kernel
def send_directly(candidates, caps, grid, prices, keep, pi):
    """Fill in the support of a dense table, and the first numbers of potentials (see simplex.py).

    Returns what has the lowest bit that any gain has, and whether paths were too many. It is 0, and
    nothing is filled in, if so, or if the support is not known to be the only best one.
    """
    n, m, none = caps.rows.size, caps.cols.size, np.int64(0)
    nodes, rows, cols = n + m + 2, none, none
    turns = np.int64(PATIENCE * n * m // nodes)
    flow, clock = flow_at(caps, prices, grid.steps), np.empty(4, np.int64)
    clock[:] = 0
    lay_out(candidates, caps, grid, flow, none, np.int64(n))
    for r in range(n):
        rows += caps.rows[r]
    for c in range(m):
        cols += caps.cols[c]
    # One more than all rows or all columns take, so that a total that does not bind has room.
    lay_ends(flow, min(caps.total, min(rows, cols) + 1))
    prepare(flow, none, clock)
    bid(flow, clock)
    if clock[FAILED] > 0 or not send_all(flow, clock, turns):
        return none, True
    tail, head = np.empty(TIGHT * nodes, np.int64), np.empty(TIGHT * nodes, np.int64)
    if is_only_best(flow, tail, head) <= 0:
        return none, False
    table, start, columns = flow.table, flow.start, flow.columns
    for c in range(m):
        line = table[start[columns + c] : start[columns + c] + n]
        for r in range(n):
            keep[r * m + c] = line[r] > LEAST
        pi[n + c, 0] = flow.price[columns + c]
    for r in range(n):
        pi[r, 0] = flow.price[r]
    source, sink = terminals(n, m)
    pi[source, 0], pi[sink, 0] = flow.ends[PRICE], flow.ends[PRICE + 1]
    bits = none  # a gain and minus the gain have the same lowest bit, which is below that of NONE
    for e in range(table.size):
        bits |= table[e]
    return bits, False

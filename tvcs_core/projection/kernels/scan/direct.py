"""Small tables: from first prices to a proven support in one call.

What prices of a few blocks misplace in a small table is often a few units, and a path over a few
dozen nodes takes less time than a phase of the scan would. Bids at eps 0 come first: most units
find their place by one or two, after which prices are as exact as before. Where more is misplaced,
or values are equal, so that such paths are long, all is done by phases.
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
from tvcs_core.projection.kernels.scan.scaling import COARSER, FINER, SENT, scale
from tvcs_core.projection.kernels.scan.ties import LARGEST, keep_tight, read_kept
from tvcs_core.projection.kernels.scan.unique import is_only_best
from tvcs_core.projection.kernels.simplex import terminals

WIDE = np.int64(STEP)  # lines of both tables are a multiple of it
BIDS = 4  # turns of each unit in excess, after which shortest paths are shorter
FEW = 2  # nodes by unit, more than which are left to paths after them
LONG = 32  # times the shorter side, beyond which a turn looks at too much for phases
# What paths look at there, by entry; the simplex is expected to be done after as many.
PATIENCE = 400
BEGUN = 16  # of the mean prices is the first eps, where they misplace all: 1 in
LEAST_SHARE, LEAST_PRICE = 2.0**-10, 2.0**-9  # as in projection/exact/scan/search.py
TIGHT = 8  # arcs per node, more than which are taken to hold a cycle


@kernel
def has_long_lines(n, m):
    """Whether one side is so much longer than the other that its lines are dear to look at."""
    return max(n, m) > LONG * min(n, m)


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
def left_over(flow):
    """How many units are in excess in lines."""
    units = np.int64(0)
    for i in range(flow.excess.size):
        units += max(0, flow.excess[i])
    return units


@kernel
def bid(flow, clock):
    """Let lines with an excess take their best offers for some turns, at eps 0."""
    width = max(flow.columns, flow.price.size - flow.columns)
    offers, tops = np.empty(width, np.int64), np.empty(width // np.int64(PIECE) + 1, np.int64)
    serve_lines(flow, np.int64(0), offers, tops, clock, BIDS * left_over(flow))


@kernel
def has_equal(values, width):
    """Whether many values are equal: whether one in 50 is that of the next row or column."""
    found = 0
    for apart in (1, width):
        for e in range(values.size - apart):
            found += (values[e] == values[e + apart]) & (values[e] != 0.0)
    return found * 50 > values.size


@kernel
def spread_of(table):
    """By how much the gains of all arcs differ."""
    least, most = np.int64(-NONE), np.int64(0)
    for e in range(table.size):
        worth = abs(table[e])
        least, most = min(least, worth), max(most, worth * (table[e] > LEAST))
    return max(np.int64(1), most - least)


@kernel
def settle_flow(flow, clock, prices, steps, fits, has_ties):
    """Find a best flow and exact prices: bids and paths if little is wrong, or else phases.

    Where lines of one side are long there are no phases, and paths may take as long as they do.
    """
    n, m = prices.rows.size, prices.cols.size
    nodes, price, is_long = n + m + 2, 0.0, has_long_lines(n, m)
    prepare(flow, np.int64(0), clock)
    wrong = left_over(flow)
    if not has_ties and (is_long or wrong <= nodes):
        bid(flow, clock)
        few = clock[FAILED] == 0 and (is_long or left_over(flow) <= nodes // FEW)
        most = np.int64(PATIENCE * n * m // nodes if is_long else SENT * nodes)
        if few and send_all(flow, clock, most):
            return True
    if is_long:
        return False
    for r in range(n):
        price += prices.rows[r] / n
    for c in range(m):
        price += prices.cols[c] / m
    share = max(LEAST_SHARE, wrong / max(fits, 1) / BEGUN)
    eps = np.int64(min(max(price, LEAST_PRICE) * share, 1.0) * steps)
    wide = min(COARSER * eps, np.int64(steps))
    return scale(flow, clock, max(np.int64(1), min(eps, spread_of(flow.table))), wide, has_ties)


@kernel
def break_ties(flow, clock, keys, keep):
    """Turn a best support into the one whose hashes are best; False where that is not found."""
    if has_long_lines(*keep.shape):
        return False
    size = TIGHT * (keep.shape[0] + keep.shape[1] + 2)
    tail, head = np.empty(size, np.int64), np.empty(size, np.int64)
    top, no = np.int64(LARGEST), np.bool_(False)
    keep_tight(flow, keys)
    if not scale(flow, clock, top // FINER, top, no) or is_only_best(flow, tail, head) <= 0:
        return False
    read_kept(flow, keep)
    return True


@kernel
def send_directly(candidates, caps, grid, prices, fits, has_ties, keep, pi):
    """Fill in the support of a dense table, and the first numbers of potentials (see simplex.py).

    `fits` is how many entries can be kept at most, `keep` has the shape of the table. Returns what
    has the lowest bit that any gain has; it is 0 if the support is not known to be the best one.
    """
    (n, m), none, rows, cols = keep.shape, np.int64(0), np.int64(0), np.int64(0)
    flow, clock = flow_at(caps, prices, grid.steps), np.empty(4, np.int64)
    clock[:] = 0
    lay_out(candidates, caps, grid, flow, none, np.int64(n))
    for r in range(n):
        rows += caps.rows[r]
    for c in range(m):
        cols += caps.cols[c]
    # One more than all rows or all columns take, so that a total that does not bind has room.
    lay_ends(flow, min(caps.total, min(rows, cols) + 1))
    if not settle_flow(flow, clock, prices, grid.steps, fits, has_ties):
        return none
    size = TIGHT * (n + m + 2)
    found = is_only_best(flow, np.empty(size, np.int64), np.empty(size, np.int64))
    if found < 0:
        return none
    table, start, columns = flow.table, flow.start, flow.columns
    for c in range(m):
        line = table[start[columns + c] : start[columns + c] + n]
        for r in range(n):
            keep[r, c] = line[r] > LEAST
        pi[n + c, 0] = flow.price[columns + c]
    for r in range(n):
        pi[r, 0] = flow.price[r]
    source, sink = terminals(n, m)
    pi[source, 0], pi[sink, 0] = flow.ends[PRICE], flow.ends[PRICE + 1]
    bits = none  # a gain and minus the gain have the same lowest bit, which is below that of NONE
    for e in range(table.size):
        bits |= table[e]
    return bits if found > 0 or break_ties(flow, clock, candidates.keys, keep) else none

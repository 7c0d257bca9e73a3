"""Filled tables: from first prices to a proven support in one call.

The prices of a few sweeps often misplace only a few units in a small table. A path over a few dozen
nodes takes less time than a phase of cost scaling. Bids at eps 0 come first: they place most
units after one or two turns, and prices stay exact. If more units are misplaced, or values are
equal so that paths are long, phases do all the work.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.cost_scaling.flow import (
    BELOW_ALL_OFFERS,
    FAILED,
    NO_ARC,
    Flow,
    lay_out,
)
from tvcs_core.projection.kernels.cost_scaling.paths import send_all
from tvcs_core.projection.kernels.cost_scaling.refine import (
    CHUNK_OFFERS,
    VECTOR_OFFERS,
    prepare,
    serve_lines,
)
from tvcs_core.projection.kernels.cost_scaling.scaling import (
    EPS_DIVISOR,
    EPS_RESTART_FACTOR,
    MAX_OPEN_FIRST,
    PATH_TURNS,
    scale,
)
from tvcs_core.projection.kernels.cost_scaling.ties import keep_tight, read_kept
from tvcs_core.projection.kernels.cost_scaling.unique import is_only_best
from tvcs_core.projection.kernels.gains import MAX_HASH
from tvcs_core.projection.kernels.simplex import terminals

# Thresholds measured by `python -m benchmarks.speed.families` (docs/method.md, small tables).
ALIGNMENT = np.int64(VECTOR_OFFERS)  # number of lines of both tables is a multiple of it
BIDS_PER_UNIT = 4  # turns per excess unit, after which shortest paths are faster
EPS_SHARE_INVERSE = 16  # mean prices over the first eps, if the prices misplace all units
MIN_SHARE, MIN_PRICE = 2.0**-10, 2.0**-9  # of units that are misplaced; of the largest gain
MAX_TIGHT_PER_NODE = 8  # tight arcs per node; more are assumed to contain a cycle


@kernel
def flow_at(caps, prices, steps):
    """Return the zero flow on empty tables, with the prices as potentials."""
    n, m = caps.rows.size, caps.cols.size
    columns = (n + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    across = (m + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    lines, size = columns + across, 16
    while size < lines + 2:
        size *= 2
    table, waiting = np.empty(n * across + m * columns, np.int64), np.empty(lines + 2, np.bool_)
    start, price = np.empty(lines, np.int64), np.empty(lines + 2, np.int64)
    excess, room = np.empty(lines + 2, np.int64), np.empty(lines, np.int64)
    cap, between, queue = np.empty(lines, np.int64), np.empty(2, np.int64), np.empty(size, np.int64)
    start[:], price[:], excess[:], room[:], cap[:], between[:] = -1, 0, 0, 0, 0, 0
    table[:] = NO_ARC
    price[lines] = np.int64(np.rint(prices.total * steps))
    for r in range(n):
        start[r], cap[r] = r * across, caps.rows[r]
        price[r] = price[lines] + np.int64(np.rint(min(prices.rows[r], 1.0) * steps))
    for c in range(m):
        i = columns + c
        start[i], cap[i] = n * across + c * columns, caps.cols[c]
        price[i] = -np.int64(np.rint(min(prices.cols[c], 1.0) * steps))
    return Flow(table, start, price, excess, room, cap, between, queue, waiting, columns)


@kernel
def lay_ends(flow, total):
    """Let source and sink give and take the lines' needs, as far as caps and total allow."""
    excess, room, cap, lines = flow.excess, flow.room, flow.cap, flow.cap.size
    given = taken = np.int64(0)
    for i in range(lines):
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
    excess[lines], excess[lines + 1] = units - given, taken - units
    flow.between[0], flow.between[1] = units, total - units


@kernel
def left_over(flow):
    """Return the number of excess units in lines."""
    units = np.int64(0)
    for i in range(flow.cap.size):
        units += max(0, flow.excess[i])
    return units


@kernel
def bid(flow, clock):
    """Let lines with an excess accept their best offers for some turns, at eps 0."""
    width = max(flow.columns, flow.cap.size - flow.columns)
    n_chunks = width // np.int64(CHUNK_OFFERS) + 1
    offers, tops = np.empty(width, np.int64), np.empty(n_chunks, np.int64)
    serve_lines(flow, np.int64(0), offers, tops, clock, BIDS_PER_UNIT * left_over(flow))


@kernel
def has_equal(values, width):
    """Return whether more than one in 50 values equals that of the next row or column."""
    found = 0
    for apart in (1, width):
        for e in range(values.size - apart):
            found += (values[e] == values[e + apart]) & (values[e] != 0.0)
    return found * 50 > values.size


@kernel
def spread_of(table):
    """Return the range of the gains of all arcs, at least 1."""
    least, most = np.int64(-NO_ARC), np.int64(0)
    for e in range(table.size):
        worth = abs(table[e])
        least, most = min(least, worth), max(most, worth * (table[e] > BELOW_ALL_OFFERS))
    return max(np.int64(1), most - least)


@kernel
def settle_flow(flow, clock, prices, steps, fits, has_ties):
    """Find an optimal flow and exact prices: by bids and paths, or by phases if much is wrong."""
    n, m = prices.rows.size, prices.cols.size
    nodes, price = n + m + 2, 0.0
    prepare(flow, np.int64(0), clock)
    wrong = left_over(flow)
    if not has_ties and wrong <= nodes:
        bid(flow, clock)
        few = clock[FAILED] == 0 and left_over(flow) <= MAX_OPEN_FIRST * nodes
        if few and send_all(flow, clock, PATH_TURNS * nodes):
            return True
    for r in range(n):
        price += prices.rows[r] / n
    for c in range(m):
        price += prices.cols[c] / m
    share = max(MIN_SHARE, wrong / max(fits, 1) / EPS_SHARE_INVERSE)
    eps = np.int64(min(max(price, MIN_PRICE) * share, 1.0) * steps)
    wide = min(EPS_RESTART_FACTOR * eps, np.int64(steps))
    return scale(flow, clock, max(np.int64(1), min(eps, spread_of(flow.table))), wide, has_ties)


@kernel
def centre(flow):
    """Move prices of full rows, then of full columns, to the middle of their optimal interval.

    At an end of the interval some gain equals its prices on the grid, and the rounded square may be
    on their wrong side. The price of a full group that excludes nothing becomes 0.
    """
    table, start, price, columns = flow.table, flow.start, flow.price, flow.columns
    room, cap, lines = flow.room, flow.cap, flow.cap.size
    source, sink = price[lines], price[lines + 1]
    # A missing arc is below every lower end and, with its sign changed, above every upper end.
    high = np.empty(lines, np.int64)
    high[:] = -NO_ARC
    for c in range(columns, lines):
        if start[c] < 0:
            continue
        line, p = table[start[c] : start[c] + columns], price[c]
        for r in range(columns):
            high[r] = min(high[r], p - line[r])
    for r in range(columns):
        if start[r] < 0:
            continue
        line, prices = table[start[r] : start[r] + lines - columns], price[columns:lines]
        low, highs = np.int64(NO_ARC), high[columns:]
        for c in range(prices.size):
            low = max(low, line[c] + prices[c])
        if 0 < cap[r] == room[r]:
            price[r] = source if low < source else (low + high[r]) >> 1
        p = price[r]
        for c in range(prices.size):
            highs[c] = min(highs[c], p - line[c])
    for c in range(columns, lines):
        if start[c] < 0 or cap[c] == 0 or room[c] > 0:
            continue
        line, low = table[start[c] : start[c] + columns], np.int64(NO_ARC)
        for r in range(columns):
            low = max(low, line[r] + price[r])
        price[c] = sink if high[c] > sink else (low + high[c]) >> 1


@kernel
def break_ties(flow, clock, mask):
    """Replace an optimal support by the one with the best hashes; False if it is not found."""
    size = MAX_TIGHT_PER_NODE * (mask.shape[0] + mask.shape[1] + 2)
    tail, head = np.empty(size, np.int64), np.empty(size, np.int64)
    top, no = np.int64(MAX_HASH), np.bool_(False)
    keep_tight(flow)
    if not scale(flow, clock, top // EPS_DIVISOR, top, no) or is_only_best(flow, tail, head) <= 0:
        return False
    read_kept(flow, mask)
    return True


@kernel
def send_directly(candidates, caps, grid, prices, fits, has_ties, mask, pi):
    """Fill in the support of a dense table, and the potentials in grid steps (see simplex.py).

    `fits` is an upper bound on the size of a support; `mask` has the shape of the table.
    Returns a number with the same lowest bit as the union of all gains; 0 if the support is not
    proved to be the best one.
    """
    (n, m), none, rows, cols = mask.shape, np.int64(0), np.int64(0), np.int64(0)
    flow, clock = flow_at(caps, prices, grid.steps), np.empty(4, np.int64)
    clock[:] = 0
    lay_out(candidates, caps, grid, flow)
    for r in range(n):
        rows += caps.rows[r]
    for c in range(m):
        cols += caps.cols[c]
    # One more than all rows or all columns take, so that a total that does not bind has room.
    lay_ends(flow, min(caps.total, min(rows, cols) + 1))
    if not settle_flow(flow, clock, prices, grid.steps, fits, has_ties):
        return none
    size = MAX_TIGHT_PER_NODE * (n + m + 2)
    found = is_only_best(flow, np.empty(size, np.int64), np.empty(size, np.int64))
    if found < 0:
        return none
    centre(flow)
    table, start, columns = flow.table, flow.start, flow.columns
    for c in range(m):
        line = table[start[columns + c] : start[columns + c] + n]
        for r in range(n):
            mask[r, c] = line[r] > BELOW_ALL_OFFERS
        pi[n + c, 0] = flow.price[columns + c]
    for r in range(n):
        pi[r, 0] = flow.price[r]
    source, sink = terminals(n, m)
    pi[source, 0], pi[sink, 0] = flow.price[flow.cap.size], flow.price[flow.cap.size + 1]
    bits = none  # gain and -gain have the same lowest bit, which is below that of NO_ARC
    for e in range(table.size):
        bits |= table[e]
    return bits if found > 0 or break_ties(flow, clock, mask) else none

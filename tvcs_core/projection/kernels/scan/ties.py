"""Ties: of all flows that are as good, the one whose entries are worth most by their hash.

Those flows have the same units on every arc that is not tight (complementary slackness), and any
on the others. So a second flow, over the tight arcs alone with hashes for gains, finds the one that
pairs of gain and hash would.
"""

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import tie
from tvcs_core.projection.kernels.scan.flow import LEAST, NONE, PRICE, ROOM

LARGEST = 2**42  # of all hashes


@kernel
def keep_tight(flow, keys):
    """Leave only tight arcs, worth their hashes, and set all prices to 0; return their number."""
    table, start, price, columns = flow.table, flow.start, flow.price, flow.columns
    room, cap, ends, lines, found = flow.room, flow.cap, flow.ends, flow.price.size, 0
    for i in range(lines):
        if start[i] < 0:
            continue
        side, across, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
        line, prices = table[start[i] : start[i] + width], price[across : across + width]
        for j in range(width):
            if line[j] + prices[j] != price[i]:
                line[j] = NONE
            elif i < columns:
                line[j] = tie(i, j, keys[j])
            else:
                line[j] = -tie(j, i - columns, keys[i - columns])
            found += line[j] > LEAST
        if price[i] != ends[PRICE + side]:
            room[i], cap[i] = 0, 0
    if ends[PRICE] != ends[PRICE + 1]:
        ends[ROOM], ends[ROOM + 1] = 0, 0
    price[:] = 0
    ends[PRICE], ends[PRICE + 1] = 0, 0
    return found


@kernel
def read_kept(flow, keep):
    """Fill in which entries are kept, of those that have an arc; the others stay."""
    table, start, columns = flow.table, flow.start, flow.columns
    n, m = keep.shape
    for r in range(n):
        line, row = table[start[r] : start[r] + m], keep[r]
        for c in range(m):
            row[c] &= line[c] <= LEAST
    for c in range(m):
        line = table[start[columns + c] : start[columns + c] + n]
        for r in range(n):
            keep[r, c] |= line[r] > LEAST

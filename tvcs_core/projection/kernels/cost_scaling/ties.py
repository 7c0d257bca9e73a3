"""Ties: of all optimal flows, the one with the largest sum of hashes.

All optimal flows agree on every arc that is not tight (complementary slackness), and may differ on
the others. So a second flow over the tight arcs alone, with hashes as gains, finds the same flow as
pairs of gain and hash would.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.cost_scaling.flow import BELOW_ALL_OFFERS, NO_ARC
from tvcs_core.projection.kernels.gains import tie


@kernel
def keep_tight(flow):
    """Restrict to tight arcs with hashes as gains, and set all prices to 0; return their number."""
    table, start, price, columns = flow.table, flow.start, flow.price, flow.columns
    room, cap, lines, found = flow.room, flow.cap, flow.cap.size, 0
    none = np.int64(0)
    for i in range(lines):
        if start[i] < 0:
            continue
        side, across, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
        line, prices = table[start[i] : start[i] + width], price[across : across + width]
        for j in range(width):
            if line[j] + prices[j] != price[i]:
                line[j] = NO_ARC
            elif i < columns:
                line[j] = tie(i, j, none)
            else:
                line[j] = -tie(j, i - columns, none)
            found += line[j] > BELOW_ALL_OFFERS
        if price[i] != price[lines + side]:
            room[i], cap[i] = 0, 0
    if price[lines] != price[lines + 1]:
        flow.between[0], flow.between[1] = 0, 0
    price[:] = 0
    return found


@kernel
def read_kept(flow, mask):
    """Correct the support at the entries that have an arc; the others stay."""
    table, start, columns = flow.table, flow.start, flow.columns
    n, m = mask.shape
    for r in range(n):
        line, row = table[start[r] : start[r] + m], mask[r]
        for c in range(m):
            row[c] &= line[c] <= BELOW_ALL_OFFERS
    for c in range(m):
        line = table[start[columns + c] : start[columns + c] + n]
        for r in range(n):
            mask[r, c] |= line[r] > BELOW_ALL_OFFERS

"""The price of the total: lowered in steps that never keep too many entries."""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.lists.flow import worth_of
from tvcs_core.projection.kernels.pairs import is_less, put_pair_in_place

REACH = 16  # times the last fall that the next one seldom exceeds
# Gains in steps of 1/16 to 1/32, by the first 16 bits of float64 numbers.
STEP_BITS, ONE = 48, 0x3FF0  # bits after these; these bits of 1.0
STEPS = 384  # down to 2^-24, which is a whole number of grid steps; smaller gains are in the last
MARGIN = 4  # steps by which the greedy price is lowered (it was at most 3 % too high, in 100 lists)


@kernel
def greedy_price(candidates, caps, bits):
    """Return a likely lower bound on the price of the total of a list; 0 if that may not bind.

    It is below the gain at which the total is full if entries are kept greedily, larger gains
    first. `bits` are the gains, of at most 1. They and the bound are integers that hold the bits
    of float64 numbers.
    """
    size, step, start = bits.size, np.empty(bits.size, np.int32), np.zeros(STEPS + 1, np.int64)
    for e in range(size):
        step[e] = min(max(ONE - (bits[e] >> STEP_BITS), 0), STEPS - 1)
        start[step[e] + 1] += 1
    for s in range(STEPS):
        start[s + 1] += start[s]
    row, order = np.empty(size, np.int32), np.empty(size, np.int32)
    for r in range(caps.rows.size):
        for e in range(candidates.start[r], candidates.start[r + 1]):
            order[start[step[e]]], row[e] = e, r
            start[step[e]] += 1
    row_room, col_room, left = caps.rows.copy(), caps.cols.copy(), caps.total
    for q in range(start[STEPS - 2]):
        e = np.int64(order[q])
        r, c = np.int64(row[e]), np.int64(candidates.columns[e])
        if row_room[r] > 0 and col_room[c] > 0:
            row_room[r] -= 1
            col_room[c] -= 1
            left -= 1
            if left == 0:
                return np.int64(ONE - step[e] - MARGIN) << STEP_BITS
    return np.int64(0)


@kernel
def shortfalls(first, last, fall, low_fall, flow, pairs):
    """Fill in by how much the price of the total exceeds what entries of lines with room can pay.

    Negated, if less than `fall`, and of each line as many as it has room for, the best ones.
    Returns their number.
    Between prices an entry more is a path, which begins and ends at one of these entries that no
    other path takes: if the price falls by the d-th smallest, at most d more are kept.
    """
    start, order, cap, load = flow.start, flow.order, flow.cap, flow.load
    found = np.int64(0)
    for i in range(first, last):
        room, begin = cap[i] - load[i], found
        if room <= 0:
            continue
        for q in range(start[i] + load[i], start[i + 1]):
            high, low, _ = worth_of(np.int64(order[q]), i, flow)
            pairs[found, 0], pairs[found, 1] = high, low
            found += is_less(-fall, -low_fall, high, low)
        if found - begin > room:
            if room > 1:
                put_pair_in_place(pairs[begin:], found - begin, room - 1)
            else:
                for q in range(begin + 1, found):
                    if is_less(pairs[begin, 0], pairs[begin, 1], pairs[q, 0], pairs[q, 1]):
                        pairs[begin, 0], pairs[begin, 1] = pairs[q, 0], pairs[q, 1]
            found = begin + room
    return found


@kernel
def safe_step(units, reach, flow, pairs, sides):
    """Return the largest fall of the total's price that surely keeps at most `units` more.

    It is found sooner if it is less than `reach`, or of one side, the rows.
    """
    none, lines, rows, total = np.int64(0), np.int64(flow.cap.size), np.int64(flow.rows), flow.total
    high, low = none, none
    for side in range(sides):
        first, last = (none, rows) if side == 0 else (rows, lines)
        found, fall = none, reach
        while found <= units:
            if fall < total[0]:
                found = shortfalls(first, last, fall, none, flow, pairs)
                fall = fall * REACH if fall < total[0] // REACH else total[0]
                continue
            found = shortfalls(first, last, total[0], total[1], flow, pairs)
            if found <= units:
                return total[0], total[1]
        put_pair_in_place(pairs, found, units - 1)
        a, b = -pairs[units - 1, 0], -pairs[units - 1, 1]
        if is_less(high, low, a, b):
            high, low = a, b
    return high, low

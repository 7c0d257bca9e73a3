"""The price of the total: lowered in steps that never keep too many entries."""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.lists.flow import is_less, put_pair_in_place, worth_of

REACH = 16  # times the last fall that the next one seldom exceeds

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

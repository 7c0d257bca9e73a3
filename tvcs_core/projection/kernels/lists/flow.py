"""A support of a list of candidates with its prices, kept line by line.

A *line* is a row or a column: rows are numbered first, columns follow. The *slack* of an entry is
its gain less the price of the total and those of its two lines. Gains and prices are pairs of a
number on the grid and a sum of tie hashes, compared lexicographically, so one support is the best.

Invariants: the slack of a kept entry is >= 0, that of any other is <= 0, and no line is overfull. A
line with room whose price is not 0 is *pending*; without such lines the support is the best one
for the price of the total.
"""

from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import on_grid, tie
from tvcs_core.projection.kernels.pairs import is_less, put_pair_in_place
from tvcs_core.projection.kernels.records import Int32s, Ints


class ListFlow(NamedTuple):
    """Entries, support and prices; there are `lines` lines and `size` entries.

    Attributes
    ----------
    ends
        (size, 2), the row and the column of each entry.
    gain
        (size, 2).
    start, order
        (lines + 1,), (2 size,): entries of each line, those that are kept first.
    spot
        (size, 2), the place of each entry in `order`: in its row, and in its column.
    cap, load
        (lines,), number of entries that a line may keep, and keeps.
    price
        (lines, 2).
    total
        (2,), the price of the total.
    rows
        Number of rows.
    """

    ends: Int32s
    gain: Ints
    start: Ints
    order: Int32s
    spot: Int32s
    cap: Ints
    load: Ints
    price: Ints
    total: Ints
    rows: int


@kernel
def lay_lines(listed, keys, grid, turned, flow):
    """Fill in the entries and their lines; no entry is kept. Caps become those that can bind.

    If `turned`, the columns of the list are the rows of the flow.
    """
    ends, gain, start, order, spot = flow.ends, flow.gain, flow.start, flow.order, flow.spot
    cap, load, n = flow.cap, flow.load, flow.rows
    size, lines = listed.row.size, cap.size
    for i in range(lines + 1):
        start[i] = 0
    for e in range(size):
        r, c = np.int64(listed.row[e]), np.int64(listed.col[e])
        ends[e, 0], ends[e, 1] = (c, n + r) if turned else (r, n + c)
        gain[e, 0] = on_grid(listed.gains[e], grid.steps)
        gain[e, 1] = tie(r, c, keys[listed.position[e]])
        start[ends[e, 0] + 1] += 1
        start[ends[e, 1] + 1] += 1
    for i in range(lines):
        cap[i], load[i] = min(cap[i], start[i + 1]), 0
        start[i + 1] += start[i]
    for e in range(size):
        for side in range(2):
            i = ends[e, side]
            spot[e, side] = start[i] + load[i]
            order[spot[e, side]] = e
            load[i] += 1
    for i in range(lines):
        load[i] = 0


@kernel
def move(e, flow, kept):
    """Keep an entry, or drop it."""
    ends, start, order, spot, load = flow.ends, flow.start, flow.order, flow.spot, flow.load
    for side in range(2):
        i = ends[e, side]
        load[i] -= not kept
        at, here = start[i] + load[i], spot[e, side]
        other = order[at]
        order[at], order[here] = e, other
        spot[other, side], spot[e, side] = here, at
        load[i] += kept


@kernel
def worth_of(e, i, flow):
    """Return the slack of an entry of line i if the line's own price were 0, and the other line."""
    k = np.int64(flow.ends[e, 0]) + flow.ends[e, 1] - i
    high = flow.gain[e, 0] - flow.total[0] - flow.price[k, 0]
    low = flow.gain[e, 1] - flow.total[1] - flow.price[k, 1]
    return high, low, k


@kernel
def first_left_out(i, first, last, flow, pairs):
    """Return the worth of the best of order[first:last] that line i has no room for; 0 if none."""
    size, none = np.int64(0), np.int64(0)
    for q in range(first, last):
        high, low, _ = worth_of(np.int64(flow.order[q]), i, flow)
        pairs[size, 0], pairs[size, 1] = high, low
        size += is_less(none, none, high, low)
    if size <= flow.cap[i]:
        return none, none
    put_pair_in_place(pairs, size, flow.cap[i])
    return pairs[flow.cap[i], 0], pairs[flow.cap[i], 1]


@kernel
def keep_wanted(flow, pairs):
    """Keep what the rows want at the prices of columns and total; price rows and columns anew.

    Rows price out all but their best entries, and then columns all but the best of what is left.
    """
    start, order, cap, load, price = flow.start, flow.order, flow.cap, flow.load, flow.price
    yes, no = np.bool_(True), np.bool_(False)
    for i in range(cap.size):
        load[i] = 0
    for i in range(flow.rows):
        price[i, 0], price[i, 1] = first_left_out(i, start[i], start[i + 1], flow, pairs)
        for q in range(start[i], start[i + 1]):
            e = np.int64(order[q])
            high, low, _ = worth_of(e, i, flow)
            if is_less(price[i, 0], price[i, 1], high, low):
                move(e, flow, yes)
    for i in range(flow.rows, cap.size):
        if load[i] <= cap[i]:
            continue
        last = start[i] + load[i]
        price[i, 0], price[i, 1] = first_left_out(i, start[i], last, flow, pairs)
        for q in range(last - 1, start[i] - 1, -1):
            e = np.int64(order[q])
            high, low, _ = worth_of(e, i, flow)
            if not is_less(price[i, 0], price[i, 1], high, low):
                move(e, flow, no)


@kernel
def centre(flow, caps):
    """Move prices of full rows, then of full columns, to the middle of their optimal interval.

    `caps` are those of the lines before `lay_lines`. See `centre` in cost_scaling/direct.py.
    """
    start, order, load, price = flow.start, flow.order, flow.load, flow.price
    for i in range(caps.size):
        if load[i] < caps[i]:
            price[i, 0] = 0
    for i in range(caps.size):
        if load[i] < caps[i]:
            continue
        low, high, first_out = np.int64(-1), np.int64(2**62), start[i] + load[i]
        for q in range(start[i], start[i + 1]):
            worth, _, _ = worth_of(np.int64(order[q]), i, flow)
            if q < first_out:
                high = min(high, worth)
            else:
                low = max(low, worth)
        price[i, 0] = 0 if low < 0 else (low + high) >> 1

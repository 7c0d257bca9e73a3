"""Push excesses from line to line until none is left, at prices that are right to within eps.

A line with an excess takes its best offers and lowers its price to the next best less eps. So no
residual arc ever offers a line more than its price and eps, and once all excesses are gone the flow
loses eps per arc at most.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.scan.flow import (
    BLOCK,
    EXCESS,
    FAILED,
    HEAD,
    LEAST,
    LOWEST,
    NONE,
    PRICE,
    QUEUED,
    ROOM,
    TURNS,
)

BOTTOM = -(2**62)  # below what is offered where there is no arc, too
PIECE = np.uint64(64)  # offers that share a maximum
ONE = np.uint64(1)
STEP = np.uint64(8)  # offers that are compared at once; lines are a multiple of it


@kernel
def prepare(flow, eps, clock):
    """Fill or empty the arcs that are wrong by more than eps, and queue lines with an excess."""
    table, start, price, excess = flow.table, flow.start, flow.price, flow.excess
    room, cap, ends, columns = flow.room, flow.cap, flow.ends, flow.columns
    for i in range(cap.size):
        if start[i] < 0:
            continue
        side, across, width = (0, columns, cap.size - columns) if i < columns else (1, 0, columns)
        limit, wrong = price[i] + eps, 0
        line, prices = table[start[i] : start[i] + width], price[across : across + width]
        for j in range(width):
            wrong += line[j] + prices[j] > limit
        if wrong > 0:
            at = i - columns + across
            for j in range(width):
                if line[j] + prices[j] > limit:
                    table[start[across + j] + at] = -line[j]
                    line[j] = NONE
                    excess[across + j] += 1
            excess[i] -= wrong
        moved = 0
        if ends[PRICE + side] > limit:
            moved = room[i]
        elif price[i] > ends[PRICE + side] + eps:
            moved = room[i] - cap[i]
        room[i] -= moved
        excess[i] -= moved
        ends[EXCESS + side] += moved
    for side in range(2):
        if ends[PRICE + 1 - side] > ends[PRICE + side] + eps:
            moved = ends[ROOM + side]
            ends[EXCESS + side] -= moved
            ends[EXCESS + 1 - side] += moved
            ends[ROOM + side] -= moved
            ends[ROOM + 1 - side] += moved
    clock[HEAD], clock[QUEUED] = 0, 0
    for i in range(cap.size):
        flow.waiting[i] = False
        if excess[i] > 0:
            enqueue(i, flow.queue, flow.waiting, clock)


@kernel
def enqueue(i, queue, waiting, clock):
    """Put a node at the end of the queue, unless it is there already."""
    if not waiting[i]:
        waiting[i] = True
        queue[(clock[HEAD] + clock[QUEUED]) & (queue.size - 1)] = i
        clock[QUEUED] += 1


@kernel
def dequeue(queue, waiting, clock):
    """Take the first node out of the queue."""
    i = queue[clock[HEAD]]
    waiting[i] = False
    clock[HEAD] = (clock[HEAD] + 1) & (queue.size - 1)
    clock[QUEUED] -= 1
    return i


@kernel
def best_of_block(x, b):
    """The largest of a block of numbers, without a branch."""
    return max(
        max(max(max(x[b], x[b + 1]), max(x[b + 2], x[b + 3])),
            max(max(x[b + 4], x[b + 5]), max(x[b + 6], x[b + 7]))),
        max(max(max(x[b + 8], x[b + 9]), max(x[b + 10], x[b + 11])),
            max(max(x[b + 12], x[b + 13]), max(x[b + 14], x[b + 15]))),
    )  # fmt: skip


@kernel
def best_block(tops, blocks):
    """The largest of the blocks' maxima, and its block."""
    best, at = tops[0], 0
    for b in range(blocks):
        best = max(best, tops[b])
    while tops[at] != best:
        at += 1
    return best, at


@kernel
def take_best(offers, tops, block, best):
    """The place of the best offer, which is in `block`; it is gone after that."""
    place = block * BLOCK
    while offers[place] != best:
        place += 1
    offers[place] = NONE
    tops[block] = best_of_block(offers, block * BLOCK)
    return place


@kernel
def place_of(best, offers, j):
    """The first place from j on, a multiple of `STEP`, where that offer is made."""
    found = False
    while not found:
        for b in range(STEP):
            found |= offers[j + b] == best
        j += STEP
    j -= STEP
    while offers[j] != best:
        j += ONE
    return j


@kernel
def serve_lines(flow, eps, offers, tops, clock, most):
    """Lines get rid of their excesses in turn, until none has one or for `most` turns."""
    table, start, price, excess = flow.table, flow.start, flow.price, flow.excess
    room, ends, queue, waiting = flow.room, flow.ends, flow.queue, flow.waiting
    columns, lines, last = flow.columns, price.size, queue.size - 1
    head, queued, served = clock[HEAD], clock[QUEUED], 0
    while queued > 0 and served < most:
        i = queue[head]
        waiting[i] = False
        head, queued, served = (head + 1) & last, queued - 1, served + 1
        side, other, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
        # Unsigned places, which need no test for a count from the end: such loops become vectors.
        line, across, size = np.uint64(start[i]), np.uint64(other), np.uint64(width)
        at = i - columns + other
        pieces, best = (size + PIECE - ONE) // PIECE, np.int64(BOTTOM)
        for p in range(pieces):
            top = np.int64(BOTTOM)
            for j in range(p * PIECE, min(size, (p + ONE) * PIECE)):
                offers[j] = table[line + j] + price[across + j]
                top = max(top, offers[j])
            tops[p], best = top, max(best, top)
        left, end, used = excess[i], ends[PRICE + side], price[i]
        while left > 0:
            if room[i] > 0 and end >= best:
                moved, used = min(left, room[i]), end
                room[i], left = room[i] - moved, left - moved
                ends[EXCESS + side] += moved
                continue
            # Take the best offer, and find what is the best of its piece without it.
            p, used, top = np.uint64(0), best, np.int64(BOTTOM)
            while tops[p] != best:
                p += ONE
            first, j = p * PIECE, place_of(best, offers, p * PIECE)
            offers[j] = NONE
            for q in range(first, min(size, first + PIECE)):
                top = max(top, offers[q])
            tops[p], best = top, top
            for q in range(pieces):
                best = max(best, tops[q])
            k, left = across + j, left - 1
            table[start[k] + at], table[line + j] = -table[line + j], NONE
            excess[k] += 1
            if excess[k] > 0 and not waiting[k]:
                waiting[k] = True
                queue[(head + queued) & last] = k
                queued += 1
        excess[i] = 0
        if room[i] > 0:
            best = max(best, end)
        price[i] = best - eps if best > LEAST else min(price[i], used)
        if price[i] < LOWEST:
            clock[FAILED], served = 1, most
    clock[HEAD], clock[QUEUED] = head, queued
    clock[TURNS] += served


@kernel
def serve_end(side, flow, eps, offers, tops, clock):
    """Source or sink gets rid of its excess, to lines and to the other end."""
    price, excess, room, cap, ends = flow.price, flow.excess, flow.room, flow.cap, flow.ends
    first = flow.columns if side == 1 else 0
    width = price.size - first if side == 1 else flow.columns
    blocks = (width + BLOCK - 1) // BLOCK
    for j in range(width):
        offers[j] = price[first + j] if room[first + j] < cap[first + j] else NONE
    offers[width : blocks * BLOCK] = NONE
    for b in range(blocks):
        tops[b] = best_of_block(offers, b * BLOCK)
    best, block = best_block(tops, blocks)
    left, other, used = ends[EXCESS + side], ends[PRICE + 1 - side], ends[PRICE + side]
    while left > 0 and (best > LEAST or ends[ROOM + side] > 0):
        if ends[ROOM + side] > 0 and other >= best:
            moved, used = min(left, ends[ROOM + side]), other
            ends[ROOM + side] -= moved
            ends[ROOM + 1 - side] += moved
            ends[EXCESS + 1 - side] += moved
        else:
            i, used = first + take_best(offers, tops, block, best), best
            moved = min(left, cap[i] - room[i])
            room[i] += moved
            excess[i] += moved
            if excess[i] > 0:
                enqueue(i, flow.queue, flow.waiting, clock)
            if room[i] == cap[i]:
                best, block = best_block(tops, blocks)
        left -= moved
    clock[FAILED] |= left > 0
    ends[EXCESS + side] = left
    if ends[ROOM + side] > 0:
        best = max(best, other)
    ends[PRICE + side] = best - eps if best > LEAST else min(ends[PRICE + side], used)


@kernel
def refine(flow, eps, clock, most, is_first):
    """Serve all until no excess is left (True), or for `most` turns; ends when no line has any.

    The first call for an eps lets the excesses arise.
    """
    if is_first:
        prepare(flow, eps, clock)
    ends, width = flow.ends, max(flow.columns, flow.price.size - flow.columns)
    blocks = (width + BLOCK - 1) // BLOCK
    offers, tops = np.empty(blocks * BLOCK, np.int64), np.empty(blocks, np.int64)
    last = clock[TURNS] + most
    while clock[TURNS] < last:
        serve_lines(flow, eps, offers, tops, clock, last - clock[TURNS])
        if clock[FAILED] > 0 or clock[QUEUED] > 0:
            return False
        if ends[EXCESS] <= 0 and ends[EXCESS + 1] <= 0:
            return True
        serve_end(0 if ends[EXCESS] > 0 else 1, flow, eps, offers, tops, clock)
        clock[TURNS] += 1
    return False

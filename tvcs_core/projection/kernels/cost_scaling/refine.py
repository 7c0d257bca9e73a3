"""Push excesses from line to line until none is left, with prices right to within eps.

A line with an excess takes its best offers and lowers its price to the next best offer less eps.
Invariant (eps-complementary slackness): no residual arc offers a line more than its price plus eps.
So once all excesses are gone the flow is optimal to within eps per arc (Bertsekas 1979; Goldberg
and Tarjan 1990).
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.cost_scaling.flow import (
    BELOW_ALL_OFFERS,
    FAILED,
    HEAD,
    NO_ARC,
    PRICE_FLOOR,
    QUEUED,
    TURNS,
)

BELOW_NO_ARC = -(2**62)  # below the offer of a missing arc, too
CHUNK_OFFERS = np.uint64(64)  # offers per stored maximum (measured: docs/decisions, 149)
ONE = np.uint64(1)
VECTOR_OFFERS = np.uint64(8)  # offers compared at once; lines are a multiple of it


@kernel
def prepare(flow, eps, clock):
    """Fill or empty the arcs that are wrong by more than eps, and queue lines with an excess."""
    table, start, price, excess = flow.table, flow.start, flow.price, flow.excess
    room, cap, between, columns = flow.room, flow.cap, flow.between, flow.columns
    lines = cap.size
    for i in range(lines):
        if start[i] < 0:
            continue
        side, across, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
        limit, wrong = price[i] + eps, 0
        line, prices = table[start[i] : start[i] + width], price[across : across + width]
        for j in range(width):
            wrong += line[j] + prices[j] > limit
        if wrong > 0:
            at = i - columns + across
            for j in range(width):
                if line[j] + prices[j] > limit:
                    table[start[across + j] + at] = -line[j]
                    line[j] = NO_ARC
                    excess[across + j] += 1
            excess[i] -= wrong
        moved, end = 0, lines + side
        if price[end] > limit:
            moved = room[i]
        elif price[i] > price[end] + eps:
            moved = room[i] - cap[i]
        room[i] -= moved
        excess[i] -= moved
        excess[end] += moved
    for side in range(2):
        end, other = lines + side, lines + 1 - side
        if price[other] > price[end] + eps:
            moved = between[side]
            excess[end] -= moved
            excess[other] += moved
            between[side] -= moved
            between[1 - side] += moved
    clock[HEAD], clock[QUEUED] = 0, 0
    for i in range(lines):
        flow.waiting[i] = False
        if excess[i] > 0:
            enqueue(i, flow.queue, flow.waiting, clock)


@kernel
def enqueue(i, queue, waiting, clock):
    """Append a node to the queue unless it is queued already."""
    if not waiting[i]:
        waiting[i] = True
        queue[(clock[HEAD] + clock[QUEUED]) & (queue.size - 1)] = i
        clock[QUEUED] += 1


@kernel
def dequeue(queue, waiting, clock):
    """Remove and return the first node of the queue."""
    i = queue[clock[HEAD]]
    waiting[i] = False
    clock[HEAD] = (clock[HEAD] + 1) & (queue.size - 1)
    clock[QUEUED] -= 1
    return i


@kernel
def best_of(offers, size):
    """Return the best of the first `size` offers."""
    best = np.int64(BELOW_NO_ARC)
    for j in range(size):
        best = max(best, offers[j])
    return best


@kernel
def place_of(best, offers, j):
    """Return the first position of an offer from j on, a multiple of `VECTOR_OFFERS`."""
    found = False
    while not found:
        for b in range(VECTOR_OFFERS):
            found |= offers[j + b] == best
        j += VECTOR_OFFERS
    j -= VECTOR_OFFERS
    while offers[j] != best:
        j += ONE
    return j


@kernel
def serve_lines(flow, eps, offers, tops, clock, most):
    """Serve lines with an excess in turn, until none is left or for `most` turns."""
    table, start, price, excess = flow.table, flow.start, flow.price, flow.excess
    room, queue, waiting = flow.room, flow.queue, flow.waiting
    columns, lines, last = flow.columns, room.size, queue.size - 1
    head, queued, served = clock[HEAD], clock[QUEUED], 0
    while queued > 0 and served < most:
        i = queue[head]
        waiting[i] = False
        head, queued, served = (head + 1) & last, queued - 1, served + 1
        side, other, width = (0, columns, lines - columns) if i < columns else (1, 0, columns)
        # Unsigned indices need no test for negative values, so such loops are vectorised.
        line, across, size = np.uint64(start[i]), np.uint64(other), np.uint64(width)
        at = i - columns + other
        chunks, best = (size + CHUNK_OFFERS - ONE) // CHUNK_OFFERS, np.int64(BELOW_NO_ARC)
        for p in range(chunks):
            top = np.int64(BELOW_NO_ARC)
            for j in range(p * CHUNK_OFFERS, min(size, (p + ONE) * CHUNK_OFFERS)):
                offers[j] = table[line + j] + price[across + j]
                top = max(top, offers[j])
            tops[p], best = top, max(best, top)
        left, end, used = excess[i], price[lines + side], price[i]
        while left > 0:
            if room[i] > 0 and end >= best:
                moved, used = min(left, room[i]), end
                room[i], left = room[i] - moved, left - moved
                excess[lines + side] += moved
                continue
            # Take the best offer, and find the best of its chunk without it.
            p, used, top = np.uint64(0), best, np.int64(BELOW_NO_ARC)
            while tops[p] != best:
                p += ONE
            first, j = p * CHUNK_OFFERS, place_of(best, offers, p * CHUNK_OFFERS)
            offers[j] = NO_ARC
            for q in range(first, min(size, first + CHUNK_OFFERS)):
                top = max(top, offers[q])
            tops[p], best = top, top
            for q in range(chunks):
                best = max(best, tops[q])
            k, left = across + j, left - 1
            table[start[k] + at], table[line + j] = -table[line + j], NO_ARC
            excess[k] += 1
            if excess[k] > 0 and not waiting[k]:
                waiting[k] = True
                queue[(head + queued) & last] = k
                queued += 1
        excess[i] = 0
        if room[i] > 0:
            best = max(best, end)
        price[i] = best - eps if best > BELOW_ALL_OFFERS else min(price[i], used)
        if price[i] < PRICE_FLOOR:
            clock[FAILED], served = 1, most
    clock[HEAD], clock[QUEUED] = head, queued
    clock[TURNS] += served


@kernel
def serve_end(side, flow, eps, offers, clock):
    """Serve the excess of source or sink, which goes to lines and to the other end."""
    price, excess, room, cap, between = flow.price, flow.excess, flow.room, flow.cap, flow.between
    end, far = cap.size + side, cap.size + 1 - side
    first = flow.columns if side == 1 else 0
    width = cap.size - first if side == 1 else flow.columns
    for j in range(width):
        offers[j] = price[first + j] if room[first + j] < cap[first + j] else NO_ARC
    best = best_of(offers, width)
    left, other, used = excess[end], price[far], price[end]
    while left > 0 and (best > BELOW_ALL_OFFERS or between[side] > 0):
        if between[side] > 0 and other >= best:
            moved, used = min(left, between[side]), other
            between[side] -= moved
            between[1 - side] += moved
            excess[far] += moved
        else:
            j, used = place_of(best, offers, np.uint64(0)), best
            i = first + np.int64(j)
            moved = min(left, cap[i] - room[i])
            room[i] += moved
            excess[i] += moved
            if excess[i] > 0:
                enqueue(i, flow.queue, flow.waiting, clock)
            offers[j] = NO_ARC
            if room[i] == cap[i]:
                best = best_of(offers, width)
        left -= moved
    clock[FAILED] |= left > 0
    excess[end] = left
    if between[side] > 0:
        best = max(best, other)
    price[end] = best - eps if best > BELOW_ALL_OFFERS else min(price[end], used)


@kernel
def refine(flow, eps, clock, most):
    """Fix arcs that are wrong within eps, and serve all nodes until no excess is left.

    Returns False after `most` turns or on failure.
    """
    prepare(flow, eps, clock)
    excess, lines = flow.excess, flow.cap.size
    width = max(flow.columns, lines - flow.columns)
    n_chunks = width // np.int64(CHUNK_OFFERS) + 1
    offers, tops = np.empty(width, np.int64), np.empty(n_chunks, np.int64)
    last = clock[TURNS] + most
    while clock[TURNS] < last:
        serve_lines(flow, eps, offers, tops, clock, last - clock[TURNS])
        if clock[FAILED] > 0 or clock[QUEUED] > 0:
            return False
        if excess[lines] <= 0 and excess[lines + 1] <= 0:
            return True
        serve_end(0 if excess[lines] > 0 else 1, flow, eps, offers, clock)
        clock[TURNS] += 1
    return False

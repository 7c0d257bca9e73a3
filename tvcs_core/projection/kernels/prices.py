"""Prices by blocks: given the column prices, the best row prices and total price are closed form.

Rows and the total are a laminar family, and so are columns and the total. Taking the two blocks in
turn soon comes near the optimal prices. Nothing here has to be exact: the simplex proves the end.

With the other side's prices taken off, line g wants its caps[g] largest values, so its threshold
t[g] lies between the last of them and the next; of all that the lines want the total wants the
largest, so its price l lies likewise, and the line's own is max(0, t[g] - l) (docs/method.md).
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.records import TotalPrice


@kernel
def longest_line(start):
    """Size of the longest line."""
    longest = start[0]
    for g in range(start.size - 1):
        longest = max(longest, start[g + 1] - start[g])
    return longest


@kernel
def put_in_place(buffer, size, rank):
    """Bring the value of `rank` (0 = largest) of buffer[:size] to its place, larger ones first."""
    low, high = 0, size
    # Quickselect: buffer[:low] >= buffer[low:high] >= buffer[high:], and low <= rank < high.
    while high - low > 1:
        a, b, c = buffer[low], buffer[(low + high) >> 1], buffer[high - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high - 1
        while i <= j:
            while buffer[i] > pivot:
                i += 1
            while buffer[j] < pivot:
                j -= 1
            if i <= j:
                buffer[i], buffer[j] = buffer[j], buffer[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j + 1
        elif rank >= i:
            low = i
        else:
            return


@kernel
def bracket(buffer, size, rank, width):
    """Threshold between the first `rank` and the rest of buffer[:size], and `width` ranks about it.

    Returns (threshold, low, high), none below 0; what may not be kept at all has its largest value
    as its threshold, what need not be cut has 0. Changes the order of the buffer.
    """
    if size == 0 or rank - width >= size:
        return 0.0, 0.0, 0.0
    # Whatever lies between the last value that is kept and the first that is not is a best price;
    # the middle is taken.
    inside = min(max(rank, 1), size)
    put_in_place(buffer, size, inside - 1)
    last_in, first_out = buffer[inside - 1], 0.0
    for i in range(inside, size):
        first_out = max(first_out, buffer[i])
    threshold = 0.5 * (last_in + first_out) if first_out > 0.0 else 0.0
    if rank <= 0:
        threshold = max(last_in, 0.0)
    elif rank >= size:
        threshold = 0.0
    low, high = threshold, threshold
    if width > 0:
        at = min(max(rank, 0) + width, size - 1)
        put_in_place(buffer, size, at)
        low = max(0.0, min(buffer[at], threshold)) if rank < size else 0.0
        at = max(rank - 1 - width, 0)
        put_in_place(buffer, size, at)
        high = max(threshold, buffer[at])
    return threshold, low, high


@kernel
def value_of_rank(line, size, fewest, most, guess):
    """Find x >= 0 with fewest <= (number of values above x) <= most.

    Returns (largest x tried with more above it, smallest x tried with no more): the second is it,
    unless the search gave up.
    """
    # More than `most` values are above `low` (or it is 0), no more than that above `high`. Steps
    # double until both are known, then the range is halved.
    low, high = 0.0, np.inf
    x, step = guess, 0.125 * guess + 1e-30
    for _ in range(24):
        n = 0
        for j in range(size):
            n += line[j] > x
        if n > most:
            low = x
            x, step = (x + step, 2.0 * step) if high == np.inf else (0.5 * (low + high), step)
        else:
            high = x
            if n >= fewest or x == 0.0:
                break
            x, step = (max(0.0, x - step), 2.0 * step) if low == 0.0 else (0.5 * (low + x), step)
    return low, high


@kernel
def threshold_of(line, size, rank, width, guess, buffer):
    """Threshold of a line as `bracket` has it, near a guess; `buffer` is for working in."""
    if size <= 32:
        for j in range(size):
            buffer[j] = line[j]
        return bracket(buffer, size, rank, width)
    # All values from rank `first` to rank `last` lie in (bottom, top]; only those are sorted out.
    # A rank is counted to within `margin`, which takes fewer guesses than to one.
    margin = 8 + size // 32
    first, last = rank - 1 - width, rank + width + 1
    top, bottom = np.inf, 0.0
    if first > 0:
        _, top = value_of_rank(line, size, first - margin, first, guess)
    if last < size:
        bottom, at = value_of_rank(line, size, last, last + margin, min(guess, top))
        n = 0
        for j in range(size):
            n += line[j] > at
        bottom = bottom if n < last else at
    above, n = np.int64(0), np.int64(0)
    for j in range(size):
        s = line[j]
        buffer[n] = s
        n += (s > bottom) & (s <= top)
        above += s > top
    return bracket(buffer, n, rank - above, width)


@kernel
def price_block(side, total, total_width, total_guess, pool, pool_buffer):
    """Best prices of the lines of a side and of the total, given those across.

    Fills in price (which comes in with guesses), low and high of the side; returns what it finds
    for the total, of which at most `total` entries may be kept. Widths are the ranks that low and
    high are off; the last two are room to work in, one number more than entries each.
    """
    start, across, gains, across_price = side.start, side.across, side.gains, side.across_price
    caps, width, price, low, high = side.caps, side.width, side.price, side.low, side.high
    n_lines = start.size - 1
    longest = longest_line(start)
    line, buffer = np.empty(longest), np.empty(longest)
    n_pool = np.int64(0)  # not a literal, which numba would compile the callee for first
    for g in range(n_lines):
        size = start[g + 1] - start[g]
        for i in range(size):
            e = start[g] + i
            line[i] = gains[e] - across_price[across[e]]
        rank = caps[g]
        price[g], low[g], high[g] = threshold_of(
            line, size, rank, width, price[g] + total_guess, buffer
        )
        # What the line wants, for the total to choose from: at most caps[g] values.
        for i in range(size if rank > 0 else 0):
            pool[n_pool] = line[i]
            n_pool += line[i] > price[g]
    total_at, total_low, total_high = threshold_of(
        pool, n_pool, total, total_width, total_guess, pool_buffer
    )
    for g in range(n_lines):
        price[g] = max(0.0, price[g] - total_at)
    return TotalPrice(total_at, total_low, total_high)


@kernel
def take_turns(first, second, rounds, total, total_width, price, pool, pool_buffer):
    """Blocks of one side and the other in turn; return what the last ones find for the total.

    Each block minimises the dual bound over its own prices, so the bound never gets worse.
    """
    by_first = by_second = TotalPrice(price, price, price)
    for _ in range(rounds):
        by_first = price_block(first, total, total_width, by_second.price, pool, pool_buffer)
        by_second = price_block(second, total, total_width, by_first.price, pool, pool_buffer)
    return by_first, by_second


@kernel
def in_order(order, across, gains, across_out, gains_out):
    """Fill the last two with the entries of a list in another order."""
    for i in range(order.size):
        across_out[i], gains_out[i] = across[order[i]], gains[order[i]]


@kernel
def by_column(col, n_cols, start, order):
    """Fill `order` with the entries column by column, column c in start[c]:start[c+1]."""
    for c in range(n_cols + 1):
        start[c] = 0
    for e in range(col.size):
        start[col[e] + 1] += 1
    for c in range(n_cols):
        start[c + 1] += start[c]
    for e in range(col.size):
        c = col[e]
        order[start[c]] = e
        start[c] += 1
    # Each start has moved to its column's end, which is where the next one begins.
    for c in range(n_cols, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0

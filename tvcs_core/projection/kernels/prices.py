"""Price sweeps: given the column prices, the best row prices and total price have a closed form.

Rows and the total are a laminar family, and so are columns and the total. A *sweep* computes the
prices of one side and of the total; alternating sweeps soon come near the optimal prices. Nothing
here has to be exact, since the simplex proves the end.

After subtracting the other side's prices, line g wants its caps[g] largest values, so its threshold
t[g] lies between the last of them and the next. Of all values that the lines want the total wants
the largest, so its price l lies likewise. The line's own price is max(0, t[g] - l): see
docs/method.md.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.records import TotalPrice


@kernel
def longest_line(start):
    """Return the size of the longest line."""
    longest = start[0]
    for g in range(start.size - 1):
        longest = max(longest, start[g + 1] - start[g])
    return longest


@kernel
def put_in_place(buffer, size, rank):
    """Move the value of `rank` (0 = largest) of buffer[:size] to its place, larger values first."""
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
    """Return the threshold between the first `rank` values and the rest, and values around it.

    Returns (threshold, low, high), none below 0; low and high are `width` ranks off. With rank 0
    the threshold is the largest value; if nothing has to be excluded it is 0. Reorders the buffer.
    """
    if size == 0 or rank - width >= size:
        return 0.0, 0.0, 0.0
    # Any price between the last value inside and the first outside is optimal; take the middle.
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
    """Find x >= 0 such that the number of values above x lies in fewest .. most.

    Returns (largest x tried with more values above, smallest x tried with at most `most`). The
    second is the result, unless the search gave up.
    """
    # Invariant: more than `most` values exceed `low` (or it is 0), at most `most` exceed `high`.
    # Steps double until both are known, then the interval is bisected.
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
    """Return threshold, low and high of a line as `bracket` does, starting from a guess."""
    if size <= 32:
        for j in range(size):
            buffer[j] = line[j]
        return bracket(buffer, size, rank, width)
    # All values from rank `first` to rank `last` lie in (bottom, top]; only those are sorted. Ranks
    # are counted to within `margin`, which takes fewer guesses than exact counts.
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
def sweep_side(side, total, total_width, total_guess, pool, pool_buffer):
    """Sweep over one side: the best prices of its lines and of the total, given the other side's.

    Fills in price (on entry: guesses), low and high of the side; returns the price of the total, of
    which at most `total` entries may be kept. Low and high are `width` ranks off. The last two
    arguments are buffers with one element more than entries.
    """
    start, across, gains, across_price = side.start, side.across, side.gains, side.across_price
    caps, width, price, low, high = side.caps, side.width, side.price, side.low, side.high
    n_lines, is_table, last = start.size - 1, across.size == 0, 0.0
    longest = longest_line(start)
    line, buffer = np.empty(longest), np.empty(longest)
    n_pool = np.int64(0)  # not a literal, which numba would compile the callee for first
    for g in range(n_lines):
        first, size = start[g], start[g + 1] - start[g]
        if is_table:
            for i in range(size):
                line[i] = gains[first + i] - across_price[i]
        else:
            for i in range(size):
                line[i] = gains[first + i] - across_price[across[first + i]]
        rank, guess = caps[g], price[g] + total_guess
        price[g], low[g], high[g] = threshold_of(
            line, size, rank, width, guess if guess > 0.0 else last, buffer
        )
        last = price[g] if price[g] > 0.0 else last
        # Collect the values that the line wants, at most caps[g], for the total.
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
def alternate_sweeps(first, second, rounds, total, total_width, price, pool, pool_buffer):
    """Sweep over the two sides in turn; return the last results for the total.

    These are price, low and high after the first side, then after the second. They are numbers, as
    an interrupt while numba makes a NamedTuple for Python ends the process (a segmentation fault).
    Each sweep minimises the dual bound over its own prices, so the bound never increases.
    """
    by_first = by_second = TotalPrice(price, price, price)
    for _ in range(rounds):
        by_first = sweep_side(first, total, total_width, by_second.price, pool, pool_buffer)
        by_second = sweep_side(second, total, total_width, by_first.price, pool, pool_buffer)
    one, two = by_first, by_second
    return one.price, one.low, one.high, two.price, two.low, two.high


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
    # Each start has moved to the end of its column, which is the start of the next.
    for c in range(n_cols, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0

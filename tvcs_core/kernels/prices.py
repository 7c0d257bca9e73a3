"""Prices by blocks: with the column prices fixed, the best row prices and total price are closed form.

Rows and the total are a laminar family, and so are columns and the total. Taking the two blocks in
turn soon comes near the optimal prices. Nothing here has to be exact: the simplex proves the end.
"""

import numpy as np

from tvcs_core.jit import kernel


@kernel
def put_in_place(buffer, low, high, rank):
    """Bring the value of `rank` (0 = largest) among buffer[low:high] to buffer[rank], larger first."""
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
def largest(buffer, low, high):
    """Return the largest of buffer[low:high], 0 if none is positive."""
    top = 0.0
    for i in range(low, high):
        top = max(top, buffer[i])
    return top


@kernel
def bracket(buffer, size, rank, width):
    """Threshold between the first `rank` and the rest of buffer[:size], and `width` ranks about it.

    Returns (threshold, low, high), none below 0; sorts the first `rank` values to the front."""
    if size == 0 or rank - width >= size:
        return 0.0, 0.0, 0.0
    if rank >= size:
        threshold, low = 0.0, 0.0
    elif rank <= 0:
        threshold = largest(buffer, 0, size)
        put_in_place(buffer, 0, size, min(width, size - 1))
        return threshold, max(0.0, buffer[min(width, size - 1)]), threshold
    else:
        put_in_place(buffer, 0, size, rank - 1)
        after = largest(buffer, rank, size)
        threshold = 0.5 * (buffer[rank - 1] + after) if after > 0.0 else 0.0
        low = threshold
        if width > 0:
            low = 0.0
            if rank + width < size:
                put_in_place(buffer, rank, size, rank + width)
                low = max(0.0, buffer[rank + width])
    high = threshold
    if width > 0:
        at = max(rank - 1 - width, 0)
        put_in_place(buffer, 0, min(rank, size), at)
        high = max(threshold, buffer[at])
    return threshold, low, high


@kernel
def price_block(start, order, across, gains, across_price, caps, taken, total, width, total_width,
                price, low, high, pool):
    """Best prices of the lines (rows or columns) of a list and of the total, given those across.

    Line g holds the entries order[start[g]:start[g+1]] (an empty `order` counts them up), of which
    caps[g] - taken[g] may be kept, and `total` over all. Fills price, and low and high with the
    values `width` ranks about the threshold, the total's share included; returns the total's."""
    n_lines = start.size - 1
    buffer = np.empty(np.max(start[1:] - start[:-1]) if n_lines else 0)
    n_pool = 0
    for g in range(n_lines):
        size = start[g + 1] - start[g]
        for i in range(size):
            e = start[g] + i
            if order.size > 0:
                e = np.int64(order[e])
            buffer[i] = gains[e] - across_price[across[e]]
        rank = caps[g] - taken[g]
        price[g], low[g], high[g] = bracket(buffer, size, rank, width)
        for i in range(min(rank, size)):
            pool[n_pool] = buffer[i]
            n_pool += buffer[i] > 0.0
    total_at, total_low, total_high = bracket(pool, n_pool, total, total_width)
    for g in range(n_lines):
        price[g] = max(0.0, price[g] - total_at)
    return total_at, total_low, total_high


@kernel
def by_column(col, n_cols, start, order):
    """Fill `order` with the entries column by column, column c in start[c]:start[c+1]."""
    start[:] = 0
    for e in range(col.size):
        start[col[e] + 1] += 1
    for c in range(n_cols):
        start[c + 1] += start[c]
    for e in range(col.size):
        c = col[e]
        order[start[c]] = e
        start[c] += 1
    for c in range(n_cols, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0

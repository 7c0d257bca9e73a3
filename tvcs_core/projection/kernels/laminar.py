"""Caps of one side and the total only: the best entries of each line, and of these the best.

A line is a row or a column. Entries are identified by their position in the table. Of equal gains
the one with the larger hash is better, as everywhere.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import gain, on_grid, tie
from tvcs_core.projection.kernels.prices import put_in_place


@kernel
def hash_of(e, candidates, row_of):
    """Return the tie hash of the entry at position e."""
    columns = candidates.columns
    if candidates.dense:
        r = e // columns.size
        return tie(r, e - r * columns.size, np.int64(0))
    return tie(np.int64(row_of[e]), np.int64(columns[e]), candidates.keys[e])


@kernel
def keep_best(positions, gains, size, rank, buffer, candidates, row_of, mask):
    """Keep exactly the best `rank` >= 1 of positions[:size]; return their price.

    It is the middle between the least kept and the largest excluded gain, 0 if none is excluded.
    At an end of that interval the exact gain may be on the wrong side of the rounded price.
    """
    if size <= rank:
        for q in range(size):
            mask[positions[q]] = True
        return 0.0
    for q in range(size):
        buffer[q] = gains[q]
    put_in_place(buffer, size, rank - 1)
    least, other, spare = buffer[rank - 1], 0.0, rank
    for q in range(rank, size):
        other = max(other, buffer[q])
    # All gains above the least kept one fit; of those equal to it the `spare` best hashes do.
    n = np.int64(0)
    for q in range(size):
        spare -= gains[q] > least
        if gains[q] == least:
            buffer[n] = hash_of(positions[q], candidates, row_of)
            n += 1
    last = 0.0
    if n > spare:
        put_in_place(buffer, n, spare - 1)
        last = buffer[spare - 1]
    for q in range(size):
        e = positions[q]
        mask[e] = gains[q] > least
        if not (gains[q] == least and spare > 0):
            continue
        if last == 0.0 or hash_of(e, candidates, row_of) >= last:
            mask[e] = True
            spare -= 1
    return 0.5 * (least + other)


@kernel
def keep_best_of_lines(candidates, row_of, grid, start, order, apart, caps, mask, price):
    """Keep the best caps[g] entries of every line g; `price` receives the prices of the lines.

    Line g holds the positions order[start[g]:start[g+1]]; without `order`, start[g] + q * apart
    for q below start[-1]. `row_of` is (size,), the row of each position of a list.
    """
    values, factor, squared, steps = candidates.values, grid.factor, candidates.squared, grid.steps
    longest = start[start.size - 1]
    if order.size > 0:
        longest = 0
        for g in range(caps.size):
            longest = max(longest, start[g + 1] - start[g])
    positions, gains, buffer = np.empty(longest, np.int64), np.empty(longest), np.empty(longest)
    for g in range(caps.size):
        n = np.int64(0)
        for q in range(start[g + 1] - start[g] if order.size > 0 else longest):
            e = np.int64(order[start[g] + q]) if order.size > 0 else start[g] + q * apart
            if values[e] != 0.0:
                positions[n], gains[n] = e, on_grid(gain(values[e], factor, squared), steps)
                n += 1
        price[g] = keep_best(positions, gains, n, caps[g], buffer, candidates, row_of, mask)


@kernel
def keep_best_of_kept(candidates, row_of, grid, total, n_kept, mask):
    """Keep the best `total` of the n_kept kept entries; return the price of the total."""
    values, factor, squared, steps = candidates.values, grid.factor, candidates.squared, grid.steps
    positions, gains, buffer = np.empty(n_kept, np.int64), np.empty(n_kept), np.empty(n_kept)
    n = np.int64(0)
    for e in range(mask.size):
        if mask[e]:
            positions[n], gains[n] = e, on_grid(gain(values[e], factor, squared), steps)
            n += 1
    return keep_best(positions, gains, n, total, buffer, candidates, row_of, mask)

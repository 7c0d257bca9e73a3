"""Caps of one side and of the total only: the best entries of every line, and of those the best.

A line is a row or a column. An entry is known by its place in the table; of equal gains the one
with the larger hash is better, as everywhere.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import gain, on_grid, tie
from tvcs_core.projection.kernels.prices import put_in_place
from tvcs_core.projection.kernels.records import TieKeys


@kernel
def hash_of(e, ties):
    """Tie hash of the entry at place e."""
    columns, keys = ties.columns, ties.keys
    if ties.dense:
        r = e // columns.size
        c = e - r * columns.size
        return tie(r, c, keys[c])
    return tie(np.int64(ties.row_of[e]), np.int64(columns[e]), keys[e])


@kernel
def keep_best(places, gains, size, rank, buffer, ties, keep):
    """Keep the best `rank` >= 1 of places[:size] and no other; return the largest other gain."""
    if size <= rank:
        for q in range(size):
            keep[places[q]] = True
        return 0.0
    for q in range(size):
        buffer[q] = gains[q]
    put_in_place(buffer, size, rank - 1)
    least, other, spare = buffer[rank - 1], 0.0, rank
    for q in range(rank, size):
        other = max(other, buffer[q])
    # All gains above the least kept one fit; of those equal to it `spare` do, by their hash.
    n = np.int64(0)
    for q in range(size):
        spare -= gains[q] > least
        if gains[q] == least:
            buffer[n] = hash_of(places[q], ties)
            n += 1
    last = 0.0
    if n > spare:
        put_in_place(buffer, n, spare - 1)
        last = buffer[spare - 1]
    for q in range(size):
        e = places[q]
        keep[e] = gains[q] > least
        if not (gains[q] == least and spare > 0):
            continue
        if last == 0.0 or hash_of(e, ties) >= last:
            keep[e] = True
            spare -= 1
    return other


@kernel
def keep_best_of_lines(candidates, row_of, grid, start, order, apart, caps, keep, other):
    """Keep the best caps[g] entries of every line g; `other` takes the best gain left out.

    Line g holds the places order[start[g]:start[g+1]], or without `order` start[g] + q * apart
    for q below start[-1]. `row_of` is the row of each place of a list.
    """
    values, factor, squared, steps = candidates.values, grid.factor, candidates.squared, grid.steps
    ties = TieKeys(candidates.dense, row_of, candidates.columns, candidates.keys)
    longest = start[start.size - 1]
    if order.size > 0:
        longest = 0
        for g in range(caps.size):
            longest = max(longest, start[g + 1] - start[g])
    places, gains, buffer = np.empty(longest, np.int64), np.empty(longest), np.empty(longest)
    for g in range(caps.size):
        n = np.int64(0)
        for q in range(start[g + 1] - start[g] if order.size > 0 else longest):
            e = np.int64(order[start[g] + q]) if order.size > 0 else start[g] + q * apart
            if values[e] != 0.0:
                places[n], gains[n] = e, on_grid(gain(values[e], factor, squared), steps)
                n += 1
        other[g] = keep_best(places, gains, n, caps[g], buffer, ties, keep)


@kernel
def keep_best_of_kept(candidates, row_of, grid, total, n_kept, keep):
    """Keep the best `total` of the n_kept entries; return the best gain left out."""
    values, factor, squared, steps = candidates.values, grid.factor, candidates.squared, grid.steps
    ties = TieKeys(candidates.dense, row_of, candidates.columns, candidates.keys)
    places, gains, buffer = np.empty(n_kept, np.int64), np.empty(n_kept), np.empty(n_kept)
    n = np.int64(0)
    for e in range(keep.size):
        if keep[e]:
            places[n], gains[n] = e, on_grid(gain(values[e], factor, squared), steps)
            n += 1
    return keep_best(places, gains, n, total, buffer, ties, keep)

"""Kernels over a chunk of a block: counts between levels, samples, gains of a list.

A chunk is a dense table without its first rows. `first_row` is the number of its first row in V, so
that the tie hash sees the row numbers of V.
"""

import math
from typing import NamedTuple

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.gains import (
    HASH_MASK,
    HASH_WEIGHT,
    coarse_tie,
    gain,
    mix,
    tie_of_row,
)
from tvcs_core.projection.kernels.records import Floats, Ints
from tvcs_core.projection.kernels.table import nudged_gains


class Reservoir(NamedTuple):
    """A uniform sample (a reservoir) of the values of some columns above a level.

    Attributes
    ----------
    seen
        Number of values offered so far (columns,).
    drawn
        The sampled values (columns, s); the first seen[c] at most are set.
    """

    seen: Ints
    drawn: Floats


@kernel
def sample_wanted(candidates, grid, col_price, thresholds, step, first_row, pool):
    """Fill `pool` with values above the row threshold, of every step-th entry; return the count.

    Values are gains less column prices.
    """
    values, n_cols, n = candidates.values, candidates.columns.size, np.int64(0)
    for r in range(first_row, candidates.start.size - 1):
        of_row, first = tie_of_row(r), candidates.start[r]
        # The first column differs from row to row, so that every column is sampled.
        for c in range(r * 7919 % step, n_cols, step):
            s = gain(values[first + c], grid.factor, candidates.squared)
            if grid.nudged and s > 0.0:
                s += coarse_tie(of_row, c, np.int64(0)) * HASH_WEIGHT
            s -= col_price[c]
            if s > thresholds[r]:
                pool[n] = s
                n += 1
    return n


@kernel
def count_between(candidates, grid, row_price, columns, levels, first_row, counts, sample):
    """Count the gains of some columns, less row prices, between levels, and sample some of them.

    `levels` (columns, L) are increasing. counts[c, i] grows by the number of values of columns[c]
    above level i and not above level i + 1. `sample` is a `Reservoir`, filled above level 1 by
    Vitter's Algorithm R with a hash in place of random numbers.
    """
    seen, drawn = sample.seen, sample.drawn
    n_levels, n_drawn = levels.shape[1], drawn.shape[1]
    own, lowest = np.empty(candidates.columns.size), levels[:, 0].copy()
    for r in range(first_row, candidates.start.size - 1):
        nudged_gains(candidates, grid, r, own)
        price = row_price[r]
        for c in range(columns.size):
            s = own[columns[c]] - price
            if s <= lowest[c]:
                continue
            at = 1
            while at < n_levels and s > levels[c, at]:
                at += 1
            counts[c, at - 1] += 1
            if at == 1:
                continue
            position = seen[c]
            seen[c] += 1
            if position >= n_drawn:
                position = mix((r * 0x9E3779B + c * 0x2545F49) & HASH_MASK) % seen[c]
            if position < n_drawn:
                drawn[c, position] = s


@kernel
def value_of_rank(levels, above, drawn, n_drawn, rank):
    """Estimate the value of a column that `rank` values exceed.

    `above` counts the values above each of the increasing levels. Within the right interval the
    sampled values (the first `n_drawn`, sorted) are assumed evenly ranked; without samples, counts
    are interpolated geometrically.
    """
    at, rank = 0, max(rank, 0.0)
    while at < levels.size - 2 and above[at + 1] >= rank:
        at += 1
    left, right, inside, before = levels[at], levels[at + 1], 0, 0
    for i in range(n_drawn):
        before += drawn[i] <= left
        inside += left < drawn[i] <= right
    if above[at] <= rank or above[at] <= above[at + 1]:
        return left
    if inside == 0:
        share = math.log((above[at] + 1.0) / (rank + 1.0))
        share /= math.log((above[at] + 1.0) / (above[at + 1] + 1.0))
        return left + share * (right - left)
    position = (above[at] - rank) / (above[at] - above[at + 1]) * (inside + 1)
    below = min(int(position), inside)
    if below < inside:
        right = drawn[before + below]
    if below > 0:
        left = drawn[before + below - 1]
    return left + (position - below) * (right - left)


@kernel
def values_of_ranks(levels, above, drawn, n_drawn, ranks, out):
    """Estimate the values of several ranks of every column; sorts `drawn`."""
    for c in range(levels.shape[0]):
        drawn[c].sort()
        for i in range(ranks.shape[1]):
            out[c, i] = value_of_rank(levels[c], above[c], drawn[c], n_drawn[c], ranks[c, i])


@kernel
def gains_of_list(row, col, candidates, grid, out):
    """Fill `out` with the gains of listed entries, nudged if the grid is."""
    for e in range(row.size):
        out[e] = gain(candidates.values[e], grid.factor, candidates.squared)
        if grid.nudged and out[e] > 0.0:
            of_row = tie_of_row(np.int64(row[e]))
            out[e] += coarse_tie(of_row, np.int64(col[e]), np.int64(0)) * HASH_WEIGHT

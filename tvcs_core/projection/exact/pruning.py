"""Entries that no best support needs, whatever the others are worth.

Suppose that row r keeps an entry and leaves out a better one. Then the column of that one is full
of entries of other rows, or the two could change places. At most A are kept in all, so others keep
A - a[r] at least where r keeps a[r], and these fill at most so many columns as have the smallest
caps. With one entry more per row, which is in no full column, the prices of the others prove the
whole table: u[r] and the total's price together are at least as much as that entry is worth. The
same holds for columns. Nothing of it holds where two entries are in the same row and column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.exact.closed_forms import keep_lines
from tvcs_core.projection.exact.shortcuts import MAX_ONE_CALL, MAX_SMALL
from tvcs_core.projection.kernels.few.solve import has_few_lines
from tvcs_core.projection.kernels.records import Ints

# 1 / the largest share of the entries that is worth a list, of a table and of a list.
MIN_PRUNING_TABLE, MIN_PRUNING_LIST = 4, 2
MIN_PRUNED = 2_500  # entries of a list, below which counting takes longer than it saves


def prune(instance: Instance) -> NDArray[np.bool_] | None:
    """Return a mask of the entries that may be needed; None if most entries may."""
    candidates, (row_caps, col_caps, _) = instance.candidates, instance.caps
    per_row, per_col = instance.per_row, instance.per_col
    if not candidates.dense and (candidates.values.size <= MIN_PRUNED or candidates.keys.any()):
        return None
    needed = (
        most_needed(instance.capacity, row_caps, per_row, col_caps, per_col),
        most_needed(instance.capacity, col_caps, per_col, row_caps, per_row),
    )
    by_rows = int(needed[0].sum()) <= int(needed[1].sum())
    caps = needed[0] if by_rows else needed[1]
    least = MIN_PRUNING_TABLE if candidates.dense else MIN_PRUNING_LIST
    # Passes over a table with long lines read its zeros, too.
    size = candidates.values.size if instance.has_long_lines else instance.open_size
    if least * int(caps.sum()) > size:
        return None
    is_few = candidates.dense and has_few_lines(*instance.shape) and size <= MAX_ONE_CALL
    if is_few and int(caps.sum()) > MAX_SMALL:  # faster as a table of few lines
        return None
    mask = np.zeros(candidates.values.size, bool)
    keep_lines(instance, by_rows, caps, mask)
    return mask


def most_needed(capacity: int, caps: Ints, sizes: Ints, across: Ints, sizes_across: Ints) -> Ints:
    """Return how many of its best entries each line may need, at most all that it has."""
    may_be_full = np.sort(across[sizes_across > across])
    kept = np.minimum(caps, capacity)
    full = np.searchsorted(np.cumsum(may_be_full), capacity - kept, side="right")
    return np.minimum(sizes, kept + full + 1)

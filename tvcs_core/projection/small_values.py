"""A second projection of values that are tiny relative to the largest one.

Gains are rounded to steps of one grid (docs/method.md). A row whose values are a ten-millionth of
another row's would have its entries chosen by the tie hash. So tiny values are projected again by
themselves, in their own unit, onto the caps that the larger values leave. The objective cannot
decrease, since their first support is feasible for these caps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.constraint import TVCS
from tvcs_core.projection.entries import Entries
from tvcs_core.projection.exact import grid_steps_for, solve_edges

# Grid steps below which a gain is small: above it, gains that differ by a millionth are distinct.
# In large tables, where a second projection takes time, gains that differ by a hundredth.
MIN_STEPS, MIN_STEPS_LARGE = 2.0**20, 2.0**8
LARGE_ENTRIES = 22_500  # as in docs/method.md


class ValueList(NamedTuple):
    """Entries as parallel arrays, and the caps of their groups.

    Attributes
    ----------
    row_of, col_of, pair_rank
        Groups of every entry, -1 for none, and its rank within its pair of groups.
    gains, squared
        As in `Entries`; gains are >= 0 unless they are squared.
    row_caps, col_caps, total
        The caps.
    """

    row_of: NDArray[np.int64]
    col_of: NDArray[np.int64]
    pair_rank: NDArray[np.int64]
    gains: NDArray[np.float64]
    squared: bool
    row_caps: NDArray[np.int64]
    col_caps: NDArray[np.int64]
    total: int

    def left_by(self, kept: NDArray[np.bool_]) -> ValueList:
        """Return all entries under the caps that remain after those `kept`."""
        return self._replace(
            row_caps=self.row_caps - _counts(self.row_of[kept], self.row_caps.size),
            col_caps=self.col_caps - _counts(self.col_of[kept], self.col_caps.size),
            total=self.total - int(np.count_nonzero(kept)),
        )

    def have_room(self) -> NDArray[np.bool_]:
        """Return for every entry whether all its groups have capacity left."""
        rows, cols = np.append(self.row_caps > 0, True), np.append(self.col_caps > 0, True)
        return rows[self.row_of] & cols[self.col_of]

    def at(self, positions: NDArray[np.int64]) -> ValueList:
        """Return some of the entries under the same caps, scaled to a largest gain in 0.5 .. 1."""
        gains = np.abs(self.gains[positions])
        gains = np.ldexp(gains, -math.frexp(float(gains.max()))[1])
        return self._replace(
            row_of=self.row_of[positions],
            col_of=self.col_of[positions],
            pair_rank=self.pair_rank[positions],
            gains=gains,
        )


def project_small_values(
    entries: Entries, constraint: TVCS, mask: NDArray[np.bool_]
) -> NDArray[np.bool_] | None:
    """Select the small values again by a second projection.

    Parameters
    ----------
    entries
        The candidates.
    constraint
        The caps.
    support_mask
        The support found on one grid, of the shape of the gains.

    Returns
    -------
    array of bool, or None
        The support with the small values of the second projection, of the same shape; None if it
        is unchanged.
    """
    gains = entries.gains.reshape(-1)
    kept = np.abs(gains[mask.reshape(-1)])
    if kept.size == constraint.total:  # no small value has room, and most tables keep none
        limit = _limit(gains, entries.squared, constraint.row_caps.size, constraint.col_caps.size)
        if kept.min(initial=limit, where=kept > 0.0) >= limit:
            return None
    row_caps, col_caps, total = constraint.caps
    listed = ValueList(
        *entries.labels(constraint),
        pair_rank=entries.pair_ranks(constraint),
        gains=gains,
        squared=entries.squared,
        row_caps=row_caps,
        col_caps=col_caps,
        total=total,
    )
    found = _chosen_anew(listed, mask.reshape(-1))
    return None if found is None else found.reshape(mask.shape)


def _chosen_anew(listed: ValueList, mask: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    sizes = np.abs(listed.gains)
    limit = _limit(sizes, listed.squared, listed.row_caps.size, listed.col_caps.size)
    is_small = (sizes < limit) & (sizes > 0.0)
    large = mask & ~is_small
    left = listed.left_by(large)
    positions = np.flatnonzero(is_small & left.have_room())
    if not (positions.size and left.total):
        return None
    found = large.copy()
    found[positions] = _project(left.at(positions))
    return None if np.array_equal(found, mask) else found


def _project(listed: ValueList) -> NDArray[np.bool_]:
    """Return the support of a list, whose own small values are projected again."""
    mask = solve_edges(
        listed.row_of,
        listed.col_of,
        listed.pair_rank,
        listed.gains,
        listed.row_caps.size,
        listed.col_caps.size,
        listed.row_caps,
        listed.col_caps,
        listed.total,
        squared=listed.squared,
    ).mask
    anew = _chosen_anew(listed, mask)
    return mask if anew is None else anew


def _limit(gains: NDArray[np.float64], squared: bool, n_rows: int, n_cols: int) -> float:
    """Return the size below which a value (if `squared`) or a gain is small."""
    share = (MIN_STEPS if gains.size <= LARGE_ENTRIES else MIN_STEPS_LARGE) / grid_steps_for(
        min(n_rows, n_cols)
    )
    largest = max(float(gains.max(initial=0.0)), -float(gains.min(initial=0.0)))
    return largest * (math.sqrt(share) if squared else share)


def _counts(groups: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    return np.bincount(groups[groups >= 0], minlength=size)

"""Projection of gains of all sizes, scale by scale.

Gains are rounded to steps of one grid (docs/method.md). Those of less than half a step are all 0
there, so they are left out. Gains of few steps are projected again on a grid of their own, onto the
caps that the larger ones leave, and so on. The objective cannot decrease by that, since the first
support of small gains is feasible for these caps, too.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.constraint import TVCS
from tvcs_core.projection.entries import Entries
from tvcs_core.projection.exact import PricedSupport, grid_steps_for, solve_dense, solve_edges
from tvcs_core.projection.kernels.gains import VANISHING_STEPS, small_share
from tvcs_core.projection.kernels.records import Counts, Floats, Ints

MIN_LISTED = 4  # 1 / the share of a table's entries below which they are projected as a list
CHUNK = 100_000  # entries whose sizes are computed at once


def solve_by_scales(entries: Entries, constraint: TVCS) -> PricedSupport:
    """Return the best support of the entries, and the prices of the larger gains."""
    groups, caps, gains = _Groups.of(entries, constraint), Counts(*constraint.caps), entries.gains
    first, mask = None, np.zeros(gains.shape, bool)
    while True:
        vanishing, limit = _limits(gains, entries.squared, groups, caps)
        left = gains
        if vanishing:
            is_out = (np.abs(gains) < vanishing) & groups.have_room(caps)
            left = np.where(is_out, 0.0, gains)
        found = groups.solve(left, caps, entries.squared, is_first=first is None)
        first = first or found
        small = _small_left(gains, limit, groups, caps, found.mask)
        if small is None:
            return first if found is first else first._replace(mask=mask | found.mask)
        kept = found.mask & ~small
        mask |= kept
        caps = groups.left(caps, kept)
        gains = np.where(small & groups.have_room(caps), np.abs(gains), 0.0)
        gains = np.ldexp(gains, -math.frexp(float(gains.max()))[1])


class _Groups(NamedTuple):
    """The groups of all entries, and their keys: of lists alone, since tables show theirs."""

    row_of: Ints
    col_of: Ints
    keys: Ints
    is_matrix: bool

    @classmethod
    def of(cls, entries: Entries, constraint: TVCS) -> _Groups:
        if entries.is_matrix:
            none = np.empty(0, np.int64)
            return cls(none, none, none, True)
        return cls(*entries.labels(constraint), entries.pair_ranks(constraint), False)

    def solve(self, gains: Floats, caps: Counts, squared: bool, is_first: bool) -> PricedSupport:
        """Return the best support on one grid."""
        if self.is_matrix:
            is_thin = MIN_LISTED * int(np.count_nonzero(gains)) < gains.size
            return solve_dense(gains, *caps, squared=squared, as_list=is_thin and not is_first)
        at: Any = slice(None) if is_first else np.flatnonzero(gains)
        row_of, col_of, keys = self.row_of[at], self.col_of[at], self.keys[at]
        found = solve_edges(row_of, col_of, keys, gains[at], *caps, squared=squared)
        mask = np.zeros(gains.size, bool)
        mask[at] = found.mask
        return found._replace(mask=mask)

    def have_room(self, caps: Counts) -> NDArray[np.bool_]:
        """Return for every entry whether all its groups have capacity."""
        rows, cols = caps.rows > 0, caps.cols > 0
        if self.is_matrix:
            return rows[:, np.newaxis] & cols
        return np.append(rows, True)[self.row_of] & np.append(cols, True)[self.col_of]

    def left(self, caps: Counts, kept: NDArray[np.bool_]) -> Counts:
        """Return the caps that remain after the entries kept."""
        if self.is_matrix:
            rows, cols = kept.sum(axis=1), kept.sum(axis=0)
        else:
            rows = _counts(self.row_of[kept], caps.rows.size)
            cols = _counts(self.col_of[kept], caps.cols.size)
        return Counts(caps.rows - rows, caps.cols - cols, caps.total - int(np.count_nonzero(kept)))


def _small_left(
    gains: Floats, limit: float, groups: _Groups, caps: Counts, support: NDArray[np.bool_]
) -> NDArray[np.bool_] | None:
    """Return a mask of the small gains; None if the larger ones in `support` leave them no room."""
    if not limit:
        return None
    kept = np.abs(gains[support])
    if (
        kept.size == caps.total and kept.min(initial=limit) >= limit
    ):  # most tables keep no small gain
        return None
    sizes = np.abs(gains)
    small = (sizes < limit) & (sizes > 0.0)
    left = groups.left(caps, support & ~small)
    has_room = left.total > 0 and bool((small & groups.have_room(left)).any())
    return small if has_room else None


def _limits(gains: Floats, squared: bool, groups: _Groups, caps: Counts) -> tuple[float, float]:
    """Return the sizes below which values vanish on the grid, and are small; 0 if none does."""
    if not (caps.rows.all() and caps.cols.all()):
        gains = np.where(groups.have_room(caps), gains, 0.0)
    flat = gains.reshape(-1)
    largest = max(float(flat.max(initial=0.0)), -float(flat.min(initial=0.0)))
    grid_steps = grid_steps_for(min(caps.rows.size, caps.cols.size))
    shares = VANISHING_STEPS / grid_steps, small_share(gains.size, grid_steps)
    vanishing, small = (largest * (math.sqrt(x) if squared else x) for x in shares)
    if not _has_smaller(flat, small):
        return 0.0, 0.0
    return vanishing if _has_smaller(flat, vanishing) else 0.0, small


def _has_smaller(flat: Floats, limit: float) -> bool:
    """Return whether a value other than 0 is smaller than the limit."""
    for at in range(0, flat.size, CHUNK):
        chunk = flat[at : at + CHUNK]
        below = np.count_nonzero(np.abs(chunk) < limit)
        if below and below > chunk.size - np.count_nonzero(chunk):
            return True
    return False


def _counts(groups: Ints, size: int) -> Ints:
    return np.bincount(groups[groups >= 0], minlength=size)

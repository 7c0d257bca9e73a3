"""Values so small beside the largest that the grid keeps few of their digits, or none.

Gains are rounded to steps of one grid (docs/method.md), so a row whose values are a ten-millionth
of another row's would have its entries chosen by the hash. They are projected once more, by
themselves and in their own unit, onto the caps that the larger values leave. That keeps at least as
much: what the first support keeps of them is one choice within those caps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.constraint import TVCS
from tvcs_core.projection.entries import Entries
from tvcs_core.projection.exact import solve_edges, steps_for

# Steps of the grid below which a gain is small: two larger ones are told apart if they differ by a
# millionth. In large tables, where a second projection takes time, by a hundredth.
ROUGH, ROUGH_OF_LARGE = 2.0**20, 2.0**8
LARGE = 22_500  # entries


class Listed(NamedTuple):
    """Entries as a list, and the caps of their groups.

    Attributes
    ----------
    row_of, col_of, place
        Groups of every entry, -1 for none, and how many of its pair of groups come before it.
    gains, squared
        As in `Entries`; no gain is below 0 unless they are squared.
    row_caps, col_caps, total
        The caps.
    """

    row_of: NDArray[np.int64]
    col_of: NDArray[np.int64]
    place: NDArray[np.int64]
    gains: NDArray[np.float64]
    squared: bool
    row_caps: NDArray[np.int64]
    col_caps: NDArray[np.int64]
    total: int

    def left_by(self, kept: NDArray[np.bool_]) -> Listed:
        """Return all entries under the caps that those which are `kept` leave."""
        return self._replace(
            row_caps=self.row_caps - _counts(self.row_of[kept], self.row_caps.size),
            col_caps=self.col_caps - _counts(self.col_of[kept], self.col_caps.size),
            total=self.total - int(np.count_nonzero(kept)),
        )

    def have_room(self) -> NDArray[np.bool_]:
        """Return for every entry whether each of its groups may keep one."""
        rows, cols = np.append(self.row_caps > 0, True), np.append(self.col_caps > 0, True)
        return rows[self.row_of] & cols[self.col_of]

    def at(self, places: NDArray[np.int64]) -> Listed:
        """Return some of the entries, their largest gain in 0.5 .. 1, under the same caps."""
        gains = np.abs(self.gains[places])
        gains = np.ldexp(gains, -math.frexp(float(gains.max()))[1])
        return self._replace(
            row_of=self.row_of[places],
            col_of=self.col_of[places],
            place=self.place[places],
            gains=gains,
        )


def project_small_values(
    entries: Entries, constraint: TVCS, keep: NDArray[np.bool_]
) -> NDArray[np.bool_] | None:
    """Choose anew which of the small values are kept.

    Parameters
    ----------
    entries
        What may be kept.
    constraint
        The caps.
    keep
        The support that was found on one grid, of the shape of the gains.

    Returns
    -------
    array of bool, or None
        The support with the small values of a second projection, of the same shape; None where
        it is the same.
    """
    gains = entries.gains.reshape(-1)
    kept = np.abs(gains[keep.reshape(-1)])
    if kept.size == constraint.total:  # none has room: in most tables none is kept either
        limit = _limit(gains, entries.squared, constraint.row_caps.size, constraint.col_caps.size)
        if kept.min(initial=limit, where=kept > 0.0) >= limit:
            return None
    row_caps, col_caps, total = constraint.caps
    listed = Listed(
        *entries.labels(constraint),
        place=entries.places(constraint),
        gains=gains,
        squared=entries.squared,
        row_caps=row_caps,
        col_caps=col_caps,
        total=total,
    )
    found = _chosen_anew(listed, keep.reshape(-1))
    return None if found is None else found.reshape(keep.shape)


def _chosen_anew(listed: Listed, keep: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    sizes = np.abs(listed.gains)
    limit = _limit(sizes, listed.squared, listed.row_caps.size, listed.col_caps.size)
    is_small = (sizes < limit) & (sizes > 0.0)
    large = keep & ~is_small
    left = listed.left_by(large)
    places = np.flatnonzero(is_small & left.have_room())
    if not (places.size and left.total):
        return None
    found = large.copy()
    found[places] = _project(left.at(places))
    return None if np.array_equal(found, keep) else found


def _project(listed: Listed) -> NDArray[np.bool_]:
    """Return the support of a list; what is small in it is projected in a unit of its own, too."""
    keep = solve_edges(
        listed.row_of,
        listed.col_of,
        listed.place,
        listed.gains,
        listed.row_caps.size,
        listed.col_caps.size,
        listed.row_caps,
        listed.col_caps,
        listed.total,
        squared=listed.squared,
    ).keep
    anew = _chosen_anew(listed, keep)
    return keep if anew is None else anew


def _limit(gains: NDArray[np.float64], squared: bool, n_rows: int, n_cols: int) -> float:
    """The size below which a gain, or its square root where they are squared, is small."""
    share = (ROUGH if gains.size <= LARGE else ROUGH_OF_LARGE) / steps_for(min(n_rows, n_cols))
    largest = max(float(gains.max(initial=0.0)), -float(gains.min(initial=0.0)))
    return largest * (math.sqrt(share) if squared else share)


def _counts(groups: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    return np.bincount(groups[groups >= 0], minlength=size)

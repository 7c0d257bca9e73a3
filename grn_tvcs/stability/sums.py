"""Exact sums over halves, independent of the order of addition.

Every term is rounded to a grid and summed as an integer, so that any order, grouping and number of
workers give the same bits. Overflow is impossible: up to rounding, a fraction of variance is at
most 1 and a coefficient at most 1,000 (one over the root of the ridge), and a plan has at most 2^20
halves, so sums stay below 2^20 * 2^12 * 2^30 = 2^62.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.stability.edges import Ints
from grn_tvcs.stability.kernels.pursuit import MAX_SHARE, SHARE_STEPS
from grn_tvcs.stability.model import Array, Explained

WEIGHT_STEPS, MAX_WEIGHT = 2.0**30, 2.0**12  # grid steps per unit, and largest coefficient
MAX_HALVES = 2**20
STEPS = SHARE_STEPS, SHARE_STEPS, WEIGHT_STEPS, 1.0  # grid steps of the four sums of `Evidence`

HalfResult = tuple[Explained, NDArray[np.bool_]]  # of one solver; whether an edge exceeds noise


@dataclass(frozen=True)
class Evidence:
    """Sums over all halves of one solver; [input, gene].

    Attributes
    ----------
    sums
        The four sums as integers, [sum, target, input]; properties convert them.
    """

    sums: Ints

    @property
    def dropped(self) -> Array:
        """Variance lost without the edge, as in `Explained`; 0 for edges that are not chosen."""
        return self._sum(0)

    @property
    def added(self) -> Array:
        """Variance that an edge not chosen would explain if it alone were added."""
        return self._sum(1)

    @property
    def weights(self) -> Array:
        """Coefficients; 0 for edges that are not chosen."""
        return self._sum(2)

    @property
    def chosen(self) -> Array:
        """Number of halves in which an edge was chosen and exceeded noise, as in the complement."""
        return self._sum(3)

    def _sum(self, k: int) -> Array:
        numbers = self.sums[k].T.astype(np.float64, order="C")
        numbers /= STEPS[k]
        return numbers


class UnitSums(NamedTuple):
    """Sums over the halves of a unit of work, on the grid.

    Attributes
    ----------
    added
        Of every pair; [solver, target, input].
    places
        Flat indices into `added` of the edges chosen in some half, increasing.
    dropped, weights, chosen
        Of these edges.
    """

    added: Ints
    places: Ints
    dropped: Ints
    weights: Ints
    chosen: Ints

    @classmethod
    def of(cls, added: Ints, found: Sequence[Sequence[HalfResult]]) -> UnitSums:
        """Add up the results of some halves, given for each solver."""
        halves = [half for of_solver in found for half in of_solver]
        places, at = np.unique(
            np.concatenate([
                k * added[k].size + half.edges.places
                for k, of_solver in enumerate(found)
                for half, _ in of_solver
            ]),
            return_inverse=True,
        )  # fmt: skip
        shares = np.concatenate([half.dropped for half, _ in halves])
        weights = np.concatenate([half.edges.weights for half, _ in halves])
        terms = (
            on_grid(shares, SHARE_STEPS, MAX_SHARE),
            on_grid(weights, WEIGHT_STEPS, MAX_WEIGHT),
            np.concatenate([is_sure for _, is_sure in halves]).astype(np.int64),
        )
        sums = np.zeros((len(terms), places.size), np.int64)
        for total, term in zip(sums, terms, strict=True):
            np.add.at(total, at, term)
        return cls(added, places, *sums)


def add_up(units: Iterable[UnitSums], shape: tuple[int, int, int]) -> list[Evidence]:
    """Return the sums of units by solver; `shape` is that of `UnitSums.added`."""
    dropped, added, weights, chosen = sums = np.zeros((4, *shape), np.int64)
    for unit in units:
        added += unit.added
        dropped.ravel()[unit.places] += unit.dropped
        weights.ravel()[unit.places] += unit.weights
        chosen.ravel()[unit.places] += unit.chosen
    return [Evidence(sums[:, k]) for k in range(shape[0])]


def on_grid(terms: Array, steps: float, largest: float) -> Ints:
    """Return the terms in units of ``1 / steps``, rounded."""
    if not (np.abs(terms) <= largest).all():
        raise ValueError("levels are too large: the variance that edges explain is not finite")
    return np.rint(terms * steps).astype(np.int64)

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
    """Sums over the halves of one solver; [input, gene].

    Attributes
    ----------
    sums
        The four sums as integers, [target, input]; properties convert them.
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


class PackedSums(NamedTuple):
    """Sums of one solver over a few halves, on the grid.

    Attributes
    ----------
    added
        Of every pair, [target, input].
    places
        ``target * n_inputs + input`` of the edges chosen in some half, increasing.
    dropped, weights, chosen
        Of these edges.
    """

    added: Ints
    places: Ints
    dropped: Ints
    weights: Ints
    chosen: Ints

    @classmethod
    def of(cls, added: Ints, found: Iterable[HalfResult]) -> PackedSums:
        """Add up the results of some halves."""
        halves = list(found)
        where = [half.edges.places for half, _ in halves]
        places, at = np.unique(np.concatenate(where), return_inverse=True)
        shares = np.concatenate([half.dropped for half, _ in halves])
        weights = np.concatenate([half.edges.weights for half, _ in halves])
        sure = np.concatenate([is_sure for _, is_sure in halves]).astype(np.int64)
        terms = (
            on_grid(shares, SHARE_STEPS, MAX_SHARE),
            on_grid(weights, WEIGHT_STEPS, MAX_WEIGHT),
            sure,
        )
        sums = [np.zeros(places.size, np.int64) for _ in terms]
        for total, term in zip(sums, terms, strict=True):
            np.add.at(total, at, term)
        return cls(added, places, *sums)


class Packed(NamedTuple):
    """Result of a unit: pairs of halves from `first` to `last` - 1, by solver."""

    first: int
    last: int
    solvers: tuple[PackedSums, ...]

    @property
    def arrays(self) -> tuple[Ints, ...]:
        """The result as arrays for a file: the two numbers, then solver by solver."""
        return np.array([self.first, self.last]), *(
            array for solver in self.solvers for array in solver
        )

    @classmethod
    def of_arrays(cls, arrays: Sequence[Ints]) -> Packed:
        """Restore a result from its `arrays`."""
        (first, last), size = arrays[0].tolist(), len(PackedSums._fields)
        starts = range(1, len(arrays), size)
        return cls(first, last, tuple(PackedSums(*arrays[k : k + size]) for k in starts))


class Sums:
    """Sums over all pairs of halves that were added, in any order.

    Parameters
    ----------
    n_parts
        Number of solvers.
    shape
        Number of inputs and of genes.
    n_pairs
        Total number of pairs of halves, at most half of `MAX_HALVES`.
    """

    def __init__(self, n_solvers: int, shape: tuple[int, int], n_pairs: int) -> None:
        self.is_done = np.zeros(n_pairs, dtype=np.bool_)
        self._solvers = np.zeros((n_solvers, 4, shape[1], shape[0]), np.int64)

    def add(self, packed: Packed) -> None:
        """Add the result of a unit.

        Raises
        ------
        ValueError
            If one of its pairs was added before.
        """
        pairs = slice(packed.first, packed.last)
        if self.is_done[pairs].any():
            raise ValueError(f"pairs {packed.first} to {packed.last - 1} were added before")
        self.is_done[pairs] = True
        for (dropped, added, weights, chosen), solver in zip(
            self._solvers, packed.solvers, strict=True
        ):
            added += solver.added
            dropped.ravel()[solver.places] += solver.dropped
            weights.ravel()[solver.places] += solver.weights
            chosen.ravel()[solver.places] += solver.chosen

    def evidence(self) -> list[Evidence]:
        """Return the sums so far by solver, as views."""
        return [Evidence(solver) for solver in self._solvers]


def on_grid(terms: Array, steps: float, largest: float) -> Ints:
    """Return the terms in units of ``1 / steps``, rounded."""
    if not (np.abs(terms) <= largest).all():
        raise ValueError("levels are too large: the variance that edges explain is not finite")
    return np.rint(terms * steps).astype(np.int64)

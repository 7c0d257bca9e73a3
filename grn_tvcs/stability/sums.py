"""Sums over halves that no order of adding changes.

Every term is rounded to a grid and summed as an integer, so that any order, any grouping and any
number of workers give the same bits. A share of variance is at most 1 and a coefficient at most
1,000 (one over the root of the ridge), both but for rounding, and a plan has at most 2^20 halves:
no sum can leave 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.stability.edges import Ints
from grn_tvcs.stability.kernels.pursuit import LARGEST_SHARE, SHARE_STEPS
from grn_tvcs.stability.model import Array, Explained

WEIGHT_STEPS, LARGEST_WEIGHT = 2.0**30, 2.0**12
MOST_HALVES = 2**20
STEPS = SHARE_STEPS, SHARE_STEPS, WEIGHT_STEPS, 1.0  # of the four sums of `Evidence`

Found = tuple[Explained, NDArray[np.bool_]]  # of one solver on a half; which edges stand out


@dataclass(frozen=True)
class Evidence:
    """Sums over the halves of what one solver found, [input, gene].

    Attributes
    ----------
    sums
        The four sums as integers, [target, input]; each is made a number when it is asked for.
    """

    sums: Ints

    @property
    def dropped(self) -> Array:
        """As in `Explained`; 0 for edges that are not chosen."""
        return self._sum(0)

    @property
    def added(self) -> Array:
        """Variance that an edge would have explained, not being chosen, if it alone were added."""
        return self._sum(1)

    @property
    def weights(self) -> Array:
        """Coefficients; 0 for edges that are not chosen."""
        return self._sum(2)

    @property
    def chosen(self) -> Array:
        """In how many halves each edge was chosen and stood out of noise, as in the complement."""
        return self._sum(3)

    def _sum(self, k: int) -> Array:
        numbers = self.sums[k].T.astype(np.float64, order="C")
        numbers /= STEPS[k]
        return numbers


class PackedPart(NamedTuple):
    """Sums of one solver over a few halves, on the grid.

    Attributes
    ----------
    added
        Of every pair, [target, input].
    places
        ``target * n_inputs + input`` of the edges that were chosen in some half, rising.
    dropped, weights, chosen
        Of these edges.
    """

    added: Ints
    places: Ints
    dropped: Ints
    weights: Ints
    chosen: Ints

    @classmethod
    def of(cls, added: Ints, found: Iterable[Found]) -> PackedPart:
        """Add up what was found on some halves."""
        halves = list(found)
        where = [half.edges.places for half, _ in halves]
        places, at = np.unique(np.concatenate(where), return_inverse=True)
        shares = np.concatenate([half.dropped for half, _ in halves])
        weights = np.concatenate([half.edges.weights for half, _ in halves])
        sure = np.concatenate([is_sure for _, is_sure in halves]).astype(np.int64)
        terms = (
            on_grid(shares, SHARE_STEPS, LARGEST_SHARE),
            on_grid(weights, WEIGHT_STEPS, LARGEST_WEIGHT),
            sure,
        )
        sums = [np.zeros(places.size, np.int64) for _ in terms]
        for total, term in zip(sums, terms, strict=True):
            np.add.at(total, at, term)
        return cls(added, places, *sums)


class Packed(NamedTuple):
    """What a unit of work found: the pairs of halves from `first` to `last` - 1, part by part."""

    first: int
    last: int
    parts: tuple[PackedPart, ...]

    @property
    def arrays(self) -> tuple[Ints, ...]:
        """All of it as a file keeps it: the two numbers, then part by part."""
        return np.array([self.first, self.last]), *(array for part in self.parts for array in part)

    @classmethod
    def of_arrays(cls, arrays: Sequence[Ints]) -> Packed:
        """What gave these `arrays`."""
        (first, last), size = arrays[0].tolist(), len(PackedPart._fields)
        starts = range(1, len(arrays), size)
        return cls(first, last, tuple(PackedPart(*arrays[k : k + size]) for k in starts))


class Sums:
    """Sums over all pairs of halves that were added, in any order.

    Parameters
    ----------
    n_parts
        Number of solvers.
    shape
        Number of inputs and of genes.
    n_pairs
        Number of pairs of halves in all, at most half of `MOST_HALVES`.
    """

    def __init__(self, n_parts: int, shape: tuple[int, int], n_pairs: int) -> None:
        self.is_done = np.zeros(n_pairs, dtype=np.bool_)
        self._parts = np.zeros((n_parts, 4, shape[1], shape[0]), np.int64)

    def add(self, packed: Packed) -> None:
        """Add what a unit found.

        Raises
        ------
        ValueError
            If one of its pairs was added before.
        """
        pairs = slice(packed.first, packed.last)
        if self.is_done[pairs].any():
            raise ValueError(f"pairs {packed.first} to {packed.last - 1} were added before")
        self.is_done[pairs] = True
        for (dropped, added, weights, chosen), part in zip(self._parts, packed.parts, strict=True):
            added += part.added
            dropped.ravel()[part.places] += part.dropped
            weights.ravel()[part.places] += part.weights
            chosen.ravel()[part.places] += part.chosen

    def evidence(self) -> list[Evidence]:
        """The sums so far, part by part; they are no copies."""
        return [Evidence(part) for part in self._parts]


def on_grid(terms: Array, steps: float, largest: float) -> Ints:
    """The terms in units of ``1 / steps``, rounded.

    Raises
    ------
    ValueError
        If one is above `largest` in size, or is no number.
    """
    if not (np.abs(terms) <= largest).all():
        raise ValueError("levels must be small enough for what edges explain to be known")
    return np.rint(terms * steps).astype(np.int64)

"""Sparse sets of edges with weights: flat indices into an array of [target, input]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grn_tvcs.stability.kernels.covariances import Lists

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Edges:
    """Edges from inputs to targets.

    Attributes
    ----------
    shape
        Number of inputs and of targets.
    places
        ``target * n_inputs + input`` of each edge, increasing.
    weights
        Coefficient of each edge.
    """

    shape: tuple[int, int]
    places: Ints
    weights: Array

    @classmethod
    def of(cls, W: Array) -> Edges:
        """Return the non-zero entries of an array of [input, target]."""
        by_target = np.ascontiguousarray(W.T)
        places = np.flatnonzero(by_target)
        return cls((W.shape[0], W.shape[1]), places, by_target.ravel()[places])

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Edges:
        """No edges."""
        return cls(shape, np.empty(0, np.int64), np.empty(0))

    @property
    def inputs(self) -> Ints:
        """Input of each edge."""
        return self.places % max(self.shape[0], 1)

    @property
    def targets(self) -> Ints:
        """Target of each edge."""
        return self.places // max(self.shape[0], 1)

    @property
    def matrix(self) -> sparse.coo_array:
        """The weights as a sparse array of [input, target]."""
        return sparse.coo_array((self.weights, (self.inputs, self.targets)), shape=self.shape)

    @property
    def dense(self) -> Array:
        """The weights as an array of [input, target]."""
        by_target = np.zeros(self.shape[::-1])
        by_target.ravel()[self.places] = self.weights
        return by_target.T

    @cached_property
    def lists(self) -> Lists:
        """The same edges for kernels; the weights are a copy."""
        starts = self.shape[0] * np.arange(self.shape[1] + 1)
        return Lists(np.searchsorted(self.places, starts), self.inputs, self.weights.copy())

    def largest_number(self) -> int:
        """Return the largest number of edges of a target."""
        return int(np.diff(self.lists.start).max(initial=0))

    def per_target(self, values: Array) -> Array:
        """Return the sum of `values`, one for each edge, by target."""
        return np.bincount(self.targets, values, self.shape[1]).astype(np.float64, copy=False)

    def nonzero(self) -> Edges:
        """Return the edges with a non-zero weight."""
        is_there = self.weights != 0
        return Edges(self.shape, self.places[is_there], self.weights[is_there])

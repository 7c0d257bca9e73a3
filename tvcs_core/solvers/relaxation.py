"""The perspective relaxation of best subsets, from which branch and bound has its lower bounds.

With a diagonal D such that G - D is positive semidefinite, and a share z_i in 0..1 of every entry,

    1/2 w'(G - D)w - b'w + 1/2 sum of d_i w_i^2 / z_i

is convex in (w, z), and equals the loss where z is the indicator of the support (Frangioni and
Gentile 2006). Its minimum over the shares within the caps is a lower bound, and the best D is that
of a semidefinite program (Dong, Chen and Linderoth 2015). Newton's method with logarithmic barriers
improves z and D by turns. Neither has to be exact: any w and any such D give a bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]

SHRINK = 1 - 1e-9  # D is so much smaller than a feasible one, against rounding
SMALLEST = 1e-10  # least eigenvalue, of G with a unit diagonal, that counts as positive
INSIDE = 0.97  # part of the room of a line that the first shares take
LEAST_SHARE = 1e-6  # of a first share, which must be above 0
TO_THE_WALL = 0.9  # part of the way to the nearest limit that a step goes at most
SPLIT_BARRIER = 1e-2  # weight of the barrier of D, relative to its mean
LEAST_WEIGHT = 1e-3  # of an entry in the next D, relative to the mean
QUADRATIC = 0.25  # squared Newton decrement from which on full steps are safe


class Relaxation:
    """The relaxation of the free entries, after the taken ones are projected out.

    Parameters
    ----------
    gram, side
        G and b of ``1/2 w'Gw - b'w`` on the free entries.
    lines
        ``(n_lines, n_entries)`` mask of the entries in each line whose cap binds.
    room
        Cap of each line, at least 1.
    split, shares
        D and z to begin with, such as those of the parent node.
    """

    def __init__(
        self, gram: Array, side: Array, lines: Array, room: Array, split: Array, shares: Array
    ) -> None:
        self._gram, self._side, self._lines, self._room = gram, side, lines, room
        self.split, self._weights = split, np.ones_like(side)
        self.shares = self._inside(np.clip(shares, LEAST_SHARE, INSIDE))

    def _inside(self, z: Array) -> Array:
        """Return shares that leave some room in every line."""
        for scale in (1.0, INSIDE):  # what is scaled once for each line is too small at most
            part = np.minimum(1.0, scale * INSIDE * self._room / (self._lines @ z))
            z = z * np.where(self._lines > 0, part[:, None], 1.0).min(axis=0)
        return z

    def minimiser(self) -> Array:
        """Return the best w for the shares and D."""
        roots = np.sqrt(self.shares)
        return roots * lapack.dposv(self._system(roots), roots * self._side)[1]

    def _system(self, roots: Array) -> Array:
        system = (self._gram - np.diag(self.split)) * roots[:, None] * roots
        np.einsum("ii->i", system)[:] += self.split
        return system

    def improve_shares(self, barrier: float) -> None:
        """Make a Newton step in the logarithms of z, for a weight of the barrier."""
        z, d, roots = self.shares, self.split, np.sqrt(self.shares)
        inverse = inverse_of(self._system(roots))
        if inverse is None:
            return
        u = inverse @ (roots * self._side)  # w over the root of z
        slack = self._room - self._lines @ z
        odds, taken = z / (1 - z), self._lines * z / slack[:, None]
        slope = -0.5 * d * u * u - barrier * (1 - odds - taken.sum(axis=0))
        bend = -inverse * (d * u)[:, None] * (d * u) + barrier * (taken.T @ taken)
        np.einsum("ii->i", bend)[:] += d * u * u + barrier * (1 + odds * odds)
        _, step, failed = lapack.dposv(bend, -slope)
        if failed:
            return
        most = max((-step).max(), (step * odds).max(), (self._lines @ (z * step) / slack).max())
        self.shares = z * (1 + min(1.0, TO_THE_WALL / max(most, TO_THE_WALL)) * step)

    def weigh_entries(self) -> None:
        """Weigh the entries of D by what the bound gains from them."""
        gains = self.minimiser() ** 2 * (1 / self.shares - 1)
        mean = gains.mean()
        weights = gains / mean if mean > 0 else np.ones_like(gains)
        self._weights = 0.5 * (self._weights + weights) + LEAST_WEIGHT

    @property
    def split_barrier(self) -> float:
        """The last weight of the barrier of D."""
        return SPLIT_BARRIER * float(self.split.mean())

    def improve_split(self, mu: float) -> None:
        """Make a damped Newton step in the logarithms of D, which stays feasible.

        `mu` is the weight of its barrier.
        """
        d = self.split
        inverse = inverse_of(self._gram - np.diag(d))
        if inverse is None:
            return
        slope = d * self._weights - mu * d * np.einsum("ii->i", inverse) + mu
        bend = mu * inverse * inverse * d[:, None] * d
        np.einsum("ii->i", bend)[:] += mu
        _, step, failed = lapack.dposv(bend, slope)
        if failed:
            return
        decrement = float(slope @ step) / mu
        length = 1 / (1 + np.sqrt(decrement)) if decrement > QUADRATIC else 1.0
        self.split = d * (1 + length * step)

    def tangent(self) -> tuple[Array, float]:
        """Return root and sign of the gain of every entry, and the value without any.

        With ``r = b - (G - D) w``, no support S has a lower loss than
        ``-1/2 w'(G - D)w - 1/2 sum over S of r_i^2 / d_i``.
        """
        split = SHRINK * self.split
        convex = self._gram - np.diag(split)
        if lapack.dpotrf(convex, lower=True)[1]:  # rounding: back to the same part of every entry
            split = SHRINK * uniform_split(self._gram)
            convex = self._gram - np.diag(split)
        w = self.minimiser()
        along = convex @ w
        return (self._side - along) / np.sqrt(split), -0.5 * float(w @ along)


def uniform_split(gram: Array) -> Array:
    """Return the largest D that is the same part of the diagonal of G everywhere; 0 for none."""
    diagonal = np.einsum("ii->i", gram)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    least = float(np.linalg.eigvalsh(gram * scale[:, None] * scale)[0])
    return np.asarray(least * diagonal if least > SMALLEST else np.zeros_like(diagonal))


def inverse_of(A: Array) -> Array | None:
    """Return the inverse of a positive definite matrix; None if it is not."""
    factor, failed = lapack.dpotrf(A, lower=True)
    if failed:
        return None
    lower = np.tril(lapack.dpotri(factor, lower=True)[0])
    return np.asarray(lower + np.tril(lower, -1).T)

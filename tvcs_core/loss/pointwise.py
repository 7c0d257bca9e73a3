"""Squared hinge, logistic loss and Huber's loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from tvcs_core.arguments import check_number
from tvcs_core.loss.base import Array
from tvcs_core.loss.linear import LinearLoss


class Huber(LinearLoss):
    """Half the square of small errors, and a linear function of large ones (Huber 1964).

    The term of an error r is ``r**2 / 2`` up to `delta` and ``delta * |r| - delta**2 / 2``
    beyond.

    Parameters
    ----------
    X, y, ridge, intercept, sample_weight
        As for `LeastSquares`.
    delta
        Threshold > 0, in units of y, above which an error is large.

    Raises
    ------
    ValueError, TypeError
        As `LeastSquares` does, or if `delta` is out of range.
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        delta: float = 1.0,
        ridge: float = 0.0,
        intercept: bool = False,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        check_number("delta", delta)
        if not 0 < delta < math.inf:
            raise ValueError(f"delta must be a number > 0, found {delta}")
        self.delta = float(delta)
        super().__init__(X, y, ridge=ridge, intercept=intercept, sample_weight=sample_weight)

    def terms(self, predicted: Array, Y: Array) -> Array:
        """Return half the square of small errors; large errors grow linearly."""
        size = np.abs(predicted - Y)
        small = np.minimum(size, self.delta)
        return small * (size - 0.5 * small)

    def slopes(self, predicted: Array, Y: Array) -> Array:
        """Return the error, clipped at delta on both sides."""
        return np.clip(predicted - Y, -self.delta, self.delta)

    def curvatures(self, predicted: Array, Y: Array) -> Array:
        """Return 1 for small errors, else 0."""
        return (np.abs(predicted - Y) < self.delta).astype(np.float64)


class _Classification(LinearLoss):
    """A function of the margin ``y * prediction``."""

    def _check_targets(self) -> None:
        wrong = np.abs(self._Y) != 1.0
        if wrong.any():
            found = ", ".join(f"{label:g}" for label in np.unique(self._Y)[:5])
            remedy = "; give 2 * y - 1" if found == "0, 1" else ""
            raise ValueError(f"y must hold labels -1 and 1 only, found {found}{remedy}")


class SquaredHinge(_Classification):
    """Half the squared hinge, ``1/2 sum(max(0, 1 - y * prediction)**2)`` (paper, section 5.1).

    Parameters
    ----------
    X, ridge, intercept, sample_weight
        As for `LeastSquares`.
    y
        Labels -1 and 1, shaped as for `LeastSquares`.

    Raises
    ------
    ValueError, TypeError
        As `LeastSquares` does, or if a label is another number.
    """

    def terms(self, predicted: Array, Y: Array) -> Array:
        """Return half the squared shortfall of every margin below 1."""
        return 0.5 * np.square(np.maximum(0.0, 1.0 - Y * predicted))

    def slopes(self, predicted: Array, Y: Array) -> Array:
        """Return minus the shortfall, in the direction of the label."""
        return -Y * np.maximum(0.0, 1.0 - Y * predicted)

    def curvatures(self, predicted: Array, Y: Array) -> Array:
        """Return 1 for margins below 1, else 0."""
        return (Y * predicted < 1.0).astype(np.float64)


class Logistic(_Classification):
    """The logistic loss, ``sum(log(1 + exp(-y * prediction)))``.

    It has no minimiser on a support on which a plane separates the classes; a `ridge` ensures
    one.

    Parameters
    ----------
    X, ridge, intercept, sample_weight
        As for `LeastSquares`.
    y
        Labels -1 and 1, shaped as for `LeastSquares`.

    Raises
    ------
    ValueError, TypeError
        As `LeastSquares` does, or if a label is another number.
    """

    steepest = 0.25

    def terms(self, predicted: Array, Y: Array) -> Array:
        """Return minus the log-likelihood of every label."""
        return np.logaddexp(0.0, -Y * predicted)

    def slopes(self, predicted: Array, Y: Array) -> Array:
        """Return minus the probability of the other label, in the direction of the label."""
        return -Y * expit(-Y * predicted)

    def curvatures(self, predicted: Array, Y: Array) -> Array:
        """Return the product of the probabilities of the two labels."""
        return np.asarray(expit(predicted) * expit(-predicted))

"""Newton's method for the convex loss of a linear model with few variables."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]

SLOPE = 1e-10  # stop when the gradient is this fraction of its largest possible value at zero
DAMPING = 1e-10  # added to the diagonal of the Hessian, as a fraction of its mean
MAX_STEPS, MAX_HALVINGS = 100, 60  # safeguards against endless loops in rounding


class Terms(Protocol):
    """The part of a loss that `newton` uses."""

    ridge: float

    def terms(self, predicted: Array, Y: Array) -> Array: ...  # noqa: D102
    def slopes(self, predicted: Array, Y: Array) -> Array: ...  # noqa: D102
    def curvatures(self, predicted: Array, Y: Array) -> Array: ...  # noqa: D102


class _Weighted:
    """The terms of samples of given weights."""

    def __init__(self, loss: Terms, weights: Array) -> None:
        self.ridge, self._loss, self._weights = loss.ridge, loss, weights

    def terms(self, predicted: Array, Y: Array) -> Array:
        return self._weights * self._loss.terms(predicted, Y)

    def slopes(self, predicted: Array, Y: Array) -> Array:
        return self._weights * self._loss.slopes(predicted, Y)

    def curvatures(self, predicted: Array, Y: Array) -> Array:
        return self._weights * self._loss.curvatures(predicted, Y)


def newton(
    loss: Terms,
    X: Array,
    y: Array,
    *,
    weights: Array | None = None,
    offset: Array | None = None,
    intercept: bool = False,
) -> Array:
    """Minimise ``sum(weights * terms(offset + X w, y)) + ridge / 2 * |w|**2`` from ``w = 0``.

    Semi-smooth Newton steps: for the squared hinge and Huber's loss they equal the active-set
    method (Chapelle 2007), which is exact after finitely many. A step is shortened until the slope
    along it is small, which always ends for a convex loss. With `intercept` a constant is added to
    the predictions; it is the last element of the result and exempt from the ridge.
    """
    loss = loss if weights is None else _Weighted(loss, weights)
    ridge = np.full(X.shape[1] + intercept, loss.ridge)
    if intercept:
        X, ridge[-1] = np.column_stack([X, np.ones(len(y))]), 0.0
    w, predicted = np.zeros(X.shape[1]), np.zeros(len(y)) if offset is None else offset
    small = SLOPE * float((np.abs(loss.slopes(predicted, y)) @ np.abs(X)).max(initial=0.0))
    for _ in range(MAX_STEPS):
        g = X.T @ loss.slopes(predicted, y) + ridge * w
        if np.abs(g).max(initial=0.0) <= small:
            break
        d = -_solve(X, loss.curvatures(predicted, y), ridge, g)
        along = X @ d
        t = _length(loss, y, predicted, along, float(ridge * w @ d), float(ridge * d @ d))
        if not t:
            break  # no step decreases the loss in floating point
        w, predicted = w + t * d, predicted + t * along
    return w


def _solve(X: Array, curvatures: Array, ridge: Array, g: Array) -> Array:
    """Return ``(X' D X + ridge + damping I)^-1 g``."""
    curved = np.flatnonzero(curvatures)
    Z = np.sqrt(curvatures[curved])[:, None] * X[curved]
    hessian = Z.T @ Z
    diagonal = np.einsum("ii->i", hessian)
    damping = DAMPING * float(diagonal.mean()) or 1.0
    diagonal += ridge
    while True:
        diagonal += damping
        factor, failed = lapack.dpotrf(hessian, lower=True)
        if not failed:
            return np.asarray(lapack.dpotrs(factor, g, lower=True)[0])
        damping *= 100


def _length(
    loss: Terms, y: Array, predicted: Array, along: Array, ridge_slope: float, ridge_curve: float
) -> float:
    """Return the fraction of the step with a small slope, 1 if the loss still descends there.

    The result is 0 if no step descends.
    """

    def slope(t: float) -> float:
        rest = ridge_slope + t * ridge_curve
        return float(loss.slopes(predicted + t * along, y) @ along) + rest

    steepest = slope(0.0)
    if not steepest < 0:
        return 0.0
    low, high = 0.0, 1.0
    t = 1.0
    for _ in range(MAX_HALVINGS):
        now = slope(t)
        if abs(now) <= -0.5 * steepest or (now < 0 and t == 1.0):
            return t
        low, high = (t, high) if now < 0 else (low, t)
        t = (low + high) / 2
    return low

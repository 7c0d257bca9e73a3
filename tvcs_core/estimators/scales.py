"""Scales of features: what one unit of each is, so that the units of a table do not matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tvcs_core.constraint import TVCS

ROUNDING = 16  # relative spread that a constant feature may show, in units of the last place


def scales_of(X: Any, weights: NDArray[np.float64] | None, *, centred: bool) -> NDArray[np.float64]:
    """Return the standard deviation of every feature; if not `centred`, its root mean square.

    It is 0 for a feature that is constant, which the intercept says already, or 0 throughout. All
    weights are positive.
    """
    if weights is not None:
        weights = weights / weights.max()
    largest = abs(X).max(axis=0)
    largest = np.asarray(largest.toarray() if sparse.issparse(X) else largest, dtype=np.float64)
    largest = np.where(largest > 0, largest, 1.0).ravel()  # so that no square is out of range
    unit = divided(X, largest)
    if centred:
        unit = unit - np.average(unit, axis=0, weights=weights)
    squares = unit.multiply(unit) if sparse.issparse(unit) else unit * unit
    shares = np.ones(X.shape[0]) if weights is None else weights
    spread = np.sqrt(squares.T @ shares / shares.sum())
    return np.where(spread > ROUNDING * np.finfo(X.dtype).eps, spread * largest, 0.0)


def divided(X: Any, scale: NDArray[np.float64]) -> Any:
    """Return X with every column divided by its scale, in double precision."""
    if sparse.issparse(X):
        return sparse.csr_array(X.astype(np.float64) / scale)
    return X.astype(np.float64) / scale


def scaled_bounds(constraint: TVCS, scale: NDArray[np.float64]) -> TVCS:
    """Return the constraint on the coefficients of features that were divided by their scale."""
    if constraint.bounds is None:
        return constraint
    rows = scale.reshape(-1, *[1] * (len(constraint.shape) - 1))
    lower, upper = constraint.bounds
    return replace(constraint, bounds=(lower * rows, upper * rows))


def towards_zero(bound: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
    """Return bounds as numbers of another type that are not beyond them."""
    with np.errstate(over="ignore"):
        rounded = bound.astype(dtype)
    return np.where(np.abs(rounded) > np.abs(bound), np.nextafter(rounded, dtype.type(0)), rounded)

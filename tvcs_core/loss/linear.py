"""Losses of a linear model: a sum over samples of a function of the prediction."""

from __future__ import annotations

import abc
import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from tvcs_core.arguments import array_of, check_number, check_type, refuse_where
from tvcs_core.loss.base import Array, Loss
from tvcs_core.loss.newton import newton

MAX_GRAM_VARIABLES = 1024  # X'X is stored for at most so many variables (8 MB)
SMALL_SIDE = 64  # up to this size all eigenvalues cost no more than the largest one by Lanczos
Groups = list[tuple[NDArray[np.int64], NDArray[np.int64]]]

LEAST_SIZE, MOST_SIZE = 1e-150, 1e150  # of the largest value: its square is in range
ACCURACY = 1e-3  # relative error of the largest eigenvalue, which is raised by as much


class LinearLoss(Loss):
    """``sum over i of term(<X_i, W>, y_i) + ridge / 2 * |W|**2``.

    A subclass defines `steepest` and, for arrays of predictions and targets of one shape, its
    `terms`, `slopes` and `curvatures`, which must not change these; the terms must be convex.

    Parameters
    ----------
    X, y, intercept, sample_weight
        As for `LeastSquares`, and so are errors.
    ridge
        Weight >= 0 of the squares of W. The stochastic solvers share it among the terms.
    """

    steepest: float = 1.0  # largest second derivative of a term
    is_quadratic = False  # whether `quadratic_model` is the loss itself, the same at every W

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        ridge: float = 0.0,
        intercept: bool = False,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        refuse_other_order(X, y=y, sample_weight=sample_weight)
        X, Y = _samples(X), squarable("y", finite("y", y))
        if X.ndim not in (2, 3) or not math.prod(X.shape):
            raise ValueError(f"X must have 2 or 3 dimensions and no empty one, found {X.shape}")
        n = X.shape[0]
        if Y.ndim not in (1, 2) or len(Y) != n or not Y.size or (X.ndim == 3 and Y.ndim == 2):
            raise ValueError(f"y must have one row per sample of X {X.shape}, found {Y.shape}")
        check_number("ridge", ridge)
        check_type("intercept", intercept, bool)
        if not 0 <= ridge < math.inf:
            raise ValueError(f"ridge must be a number >= 0, found {ridge}")
        self.shape = X.shape[1:] if Y.ndim == 1 else (X.shape[1], Y.shape[1])
        self.n_terms = n
        if intercept and sparse.issparse(X):
            raise ValueError("X must not be sparse with an intercept, since centring fills it")
        self.ridge = float(ridge)
        self._X = X if X.ndim == 2 else X.reshape(n, -1)
        self._weights = None if sample_weight is None else weights_of(sample_weight, n)
        self._intercept, self._centre = intercept, np.zeros(self._X.shape[1])
        if intercept:
            self._centre = np.average(self._X, axis=0, weights=self._weights)
            self._X = self._X - self._centre
        self._Y = np.ascontiguousarray(Y.reshape(n, -1))
        self._Y.setflags(write=False)  # `terms` and `slopes` of a subclass get it as it is
        self._last: tuple[Array, Array, Array] | None = None  # W, predictions, shifts
        self._check_targets()

    def _check_targets(self) -> None:
        """Raise a ValueError for a target that the loss does not accept; all are accepted here."""

    @abc.abstractmethod
    def terms(self, predicted: Array, Y: Array) -> Array:
        """Return the value of the term of every prediction."""

    @abc.abstractmethod
    def slopes(self, predicted: Array, Y: Array) -> Array:
        """Return the derivative of every term by its prediction."""

    @abc.abstractmethod
    def curvatures(self, predicted: Array, Y: Array) -> Array:
        """Return the second derivative of every term by its prediction, >= 0."""

    @property
    def n_targets(self) -> int:
        """Number of targets on the same X."""
        return self._Y.shape[1]

    def value(self, W: Array) -> float:
        """Return the sum of the terms, plus the ridge term, at W."""
        value = float(self._weighted(self.terms(self._predict(W), self._Y)).sum())
        return value + 0.5 * self.ridge * float(np.vdot(W, W)) if self.ridge else value

    def gradient(self, W: Array) -> Array:
        """Return ``X'`` times the slopes, plus the ridge term, of the shape of W."""
        gradient = self._X.T @ self._weighted(self.slopes(self._predict(W), self._Y))
        gradient = gradient.reshape(self.shape)
        return gradient + self.ridge * W if self.ridge else gradient

    def gradient_on(self, W: Array, terms: NDArray[np.int64]) -> Array:
        """Return the gradient of the sum of some terms, each with its share of the ridge."""
        X, Y = self._X[terms], self._Y[terms]
        shift = self._at(W)[2] if self._intercept else 0.0
        slopes = self._weighted(self.slopes(X @ W.reshape(X.shape[1], -1) + shift, Y), terms)
        gradient = (X.T @ slopes).reshape(self.shape)
        return gradient + self.ridge * len(terms) / len(self._Y) * W if self.ridge else gradient

    def lipschitz(self) -> float:
        """Return `steepest` times the largest eigenvalue of ``X'DX`` (up to 0.1 % more), + ridge.

        D are the weights of the samples.
        """
        return self.steepest * self._largest_eigenvalue + self.ridge

    def curvature(self, direction: Array) -> float:
        """Return ``steepest |X d|**2 + ridge |d|**2`` for the direction d."""
        along = self._X @ direction.reshape(self._X.shape[1], -1)
        rest = self.ridge * float(np.vdot(direction, direction))
        return self.steepest * float(np.vdot(along, self._weighted(along))) + rest

    def curvature_on(self, direction: Array, terms: NDArray[np.int64]) -> float:
        """Return the `curvature` of the sum of some terms, each with its share of the ridge."""
        along = self._X[terms] @ direction.reshape(self._X.shape[1], -1)
        rest = self.ridge * len(terms) / len(self._Y) * float(np.vdot(direction, direction))
        return self.steepest * float(np.vdot(along, self._weighted(along, terms))) + rest

    def mean_curvature(self) -> float:
        """Return `steepest` times the mean squared length of the columns of X, + ridge."""
        return self.steepest * float(self.squared_lengths.mean()) + self.ridge

    @cached_property
    def squared_lengths(self) -> Array:
        """Squared lengths of the columns of X, with the weights of the samples."""
        squared = self._X.multiply(self._X) if sparse.issparse(self._X) else self._X * self._X
        weights = np.ones(len(self._Y)) if self._weights is None else self._weights
        return np.asarray(squared.T @ weights)

    def quadratic_model(
        self, W: Array, gradient: Array, features: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """Return G and b of the second-order model ``1/2 w'Gw - b'w`` at W, up to a constant.

        G has shape ``(1, k, k)`` if all targets share it, else ``(n_targets, k, k)``; b has shape
        ``(n_targets, k)``. They are of the given features; W must be 0 elsewhere.
        """
        Z, coefficients = self.columns(features), W.reshape(self._X.shape[1], -1)[features]
        slopes = gradient.reshape(self._X.shape[1], -1)[features]
        curvatures = self._weighted(self.curvatures(self._predict(W), self._Y))
        grams, sides = [], []
        for j, d in enumerate(curvatures.T):
            curved = Z.T * d
            gram = curved @ Z
            if self._intercept and (mass := d.sum()) > 0:  # the best constant moves along
                centre = curved.sum(axis=1)
                gram -= np.outer(centre, centre) / mass
            np.einsum("ii->i", gram)[:] += self.ridge
            grams.append(gram)
            sides.append(gram @ coefficients[:, j] - slopes[:, j])
        return np.array(grams), np.array(sides)

    def minimize_on(self, support: NDArray[np.bool_]) -> Array:
        """Minimise on the support of each target by Newton's method from zero.

        If there are several minimisers, the steps of (nearly) minimum norm select one. If there is
        none, as for a logistic loss with separable classes, the slope at the result is at most 1e-8
        of that at zero.
        """
        W = np.zeros((self._X.shape[1], self._Y.shape[1]))
        for active, targets in groups_of(support.reshape(W.shape)):
            X = self.columns(active)
            for j in targets:
                y, intercept = self._Y[:, j], self._intercept
                coefficients = newton(self, X, y, weights=self._weights, intercept=intercept)
                W[active, j] = coefficients[: active.size]
        return W.reshape(self.shape)

    def columns(self, active: NDArray[np.int64]) -> Array:
        """Return the given columns of X, dense."""
        if sparse.issparse(self._X):
            return np.asarray(self._by_column[:, active].toarray())
        return self._X[:, active]

    @cached_property
    def gram(self) -> Array | None:
        """``X' D X`` with the weights D of the samples, or None if it would be large."""
        if self._X.shape[1] > MAX_GRAM_VARIABLES:
            return None
        gram = self._X.T @ self._weighted(self._X)
        return np.asarray(gram.toarray() if sparse.issparse(gram) else gram)

    @cached_property
    def _by_column(self) -> Any:
        return self._X.tocsc()

    @cached_property
    def _largest_eigenvalue(self) -> float:
        return largest_eigenvalue(self._scaled(self._X))

    def _weighted(self, values: Any, terms: NDArray[np.int64] | None = None) -> Any:
        """Return the rows of `values` times the weights of their samples."""
        if self._weights is None:
            return values
        return _rows_times(values, self._weights if terms is None else self._weights[terms])

    def _scaled(self, values: Any) -> Any:
        """Return the rows of `values` times the roots of the weights of their samples."""
        return values if self._weights is None else _rows_times(values, np.sqrt(self._weights))

    def intercept_at(self, W: Array) -> Array:
        """Return the constant in the predictions of each target at W; zero without intercept."""
        return self._at(W)[2] - self._centre @ W.reshape(len(self._centre), -1)

    def shifts(self, predicted: Array) -> Array:
        """Return the best constant to add to the predictions of each target."""
        none = np.empty((len(predicted), 0))
        pairs = zip(predicted.T, self._Y.T, strict=True)
        weights = self._weights
        found = [newton(self, none, y, weights=weights, offset=z, intercept=True) for z, y in pairs]
        return np.array([one[0] for one in found])

    def _predict(self, W: Array) -> Array:
        return self._at(W)[1]

    def _at(self, W: Array) -> tuple[Array, Array, Array]:
        """Return W, predictions and shifts; cached for the last W, since value and gradient ask."""
        last = self._last
        if last is None or not np.array_equal(last[0], W):
            predicted = np.asarray(self._X @ W.reshape(self._X.shape[1], -1))
            shifts = np.zeros(predicted.shape[1])
            if self._intercept:
                shifts = self.shifts(predicted)
                predicted = predicted + shifts
            predicted.setflags(write=False)
            self._last = last = W.copy(), predicted, shifts
        return last


def largest_eigenvalue(X: Any) -> float:
    """Return an upper bound, at most 0.1 % too high, on the largest eigenvalue of ``X'X``."""
    X = X if X.shape[0] >= X.shape[1] else X.T
    side = X.shape[1]
    if side <= SMALL_SIDE:
        gram = X.T @ X
        return max(0.0, float(np.linalg.eigvalsh(_dense(gram))[-1]))
    if not (X.count_nonzero() if sparse.issparse(X) else X.any()):
        return 0.0
    gram = LinearOperator((side, side), matvec=lambda v: X.T @ (X @ v), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(side)
    eigenvalues = eigsh(gram, k=1, v0=start, tol=ACCURACY, return_eigenvectors=False)  # Lanczos
    return float(eigenvalues[0]) * (1 + ACCURACY)


def groups_of(support: NDArray[np.bool_]) -> Groups:
    """Group equal columns of `support`: return their True rows and their column numbers."""
    groups: dict[bytes, list[int]] = {}
    for j, bits in enumerate(np.packbits(support, axis=0).T):
        groups.setdefault(bits.tobytes(), []).append(j)
    pairs = [(np.flatnonzero(support[:, js[0]]), np.array(js)) for js in groups.values()]
    return [(active, js) for active, js in pairs if active.size]


def finite(name: str, values: Any) -> Array:
    """Return `values` as float64.

    Raises
    ------
    ValueError, TypeError
        If the values are not real numbers, or one of them is not finite.
    """
    array = array_of(name, values, copy=False)
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name} must be real numbers, found {array.dtype}")
    array = array.astype(np.float64)
    refuse_where(name, array, ~np.isfinite(array), "finite")
    return array


def squarable(name: str, values: Array) -> Array:
    """Return the values, refused if their squares are beyond the range of floating point."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest and not LEAST_SIZE <= largest <= MOST_SIZE:
        raise ValueError(
            f"the largest value of {name} must be between {LEAST_SIZE:g} and {MOST_SIZE:g} in "
            f"size, because its square is used, found {largest:.2g}; scale {name}"
        )
    return values


def refuse_other_order(X: Any, **others: Any) -> None:
    """Raise if a Series or DataFrame has the index of X in another order."""
    for name, values in others.items():
        if not (hasattr(values, "iloc") and hasattr(X, "iloc")) or values.index.equals(X.index):
            continue
        if X.index.is_unique and set(values.index) == set(X.index):
            raise ValueError(
                f"{name} has the index of X in another order; bring it into that order, "
                f"as by {name}.loc[X.index], or pass {name}.to_numpy()"
            )


def weights_of(sample_weight: ArrayLike, n: int) -> Array:
    """Return the weights of n samples as float64, refused if negative or all 0."""
    weights = finite("sample_weight", sample_weight)
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have one weight per sample ({n}), found shape {weights.shape}"
        )
    refuse_where("sample_weight", weights, weights < 0, ">= 0")
    if not weights.any():
        raise ValueError("sample_weight must not be zero for all samples")
    return weights


def _samples(X: Any) -> Any:
    if not sparse.issparse(X):
        return np.ascontiguousarray(squarable("X", finite("X", X)))
    rows = sparse.csr_array(X)
    squarable("X", finite("X", rows.data))
    return rows.astype(np.float64)


def _rows_times(values: Any, factors: Array) -> Any:
    if sparse.issparse(values):
        return values.multiply(factors[:, None]).tocsr()
    return factors[:, None] * values


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)

"""`TVCSRegressorCV`: total and ridge by cross-validation along a path, and their average."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv

from tvcs_core.arguments import array_of
from tvcs_core.estimators.groups import CapsByLabel
from tvcs_core.estimators.regressor import LOSSES, Regression
from tvcs_core.estimators.scales import scaled_bounds
from tvcs_core.loss.linear import LinearLoss
from tvcs_core.projection.projection import project
from tvcs_core.solvers import Solution
from tvcs_core.solvers.polish import capacity_of

N_TOTALS = 15  # default totals: 1, 2, 3, ... with growing steps
# Default ridges over the mean squared length of the scaled features, which is the sum of the
# weights if no feature is constant. They range from no shrinkage to that of a signal far below the
# noise.
RIDGES = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0)
# Weights fall by e where the squared errors sum to TEMPERATURE variances of the noise more. Any of
# 4 to 8 does (docs/studies/best-subsets.md); smaller ones are closer to the single best fit.
TEMPERATURE = 6.0
NEGLIGIBLE = 1e-3  # a weight below this part of the largest one counts as 0, and saves its fit
HELD = 0.75  # part of the weight that the totals up to the chosen one hold


class TVCSRegressorCV(Regression):
    """An average of `TVCSRegressor` over totals and ridges, weighted by cross-validation.

    For each fold and ridge, the totals are fitted in growing order, each from the solution of the
    one before. The coefficients are the average of the fits to all samples, with weights that fall
    exponentially with the error (Leung and Barron 2006), projected onto the chosen total and the
    group caps. One fit alone has a larger error where the noise is as large as the signal:
    ``TVCSRegressor(total=model.total_, ridge=model.ridge_, polish=True)``.

    Parameters
    ----------
    row_groups, col_groups, shape, row_caps, col_caps, bounds, loss, solver, solver_options
        As for `TVCSRegressor`.
    totals
        Totals to try; None for up to 15 from 1 to the largest that the caps and the samples of a
        fold allow.
    ridges
        Ridges to try, as `ridge` of `TVCSRegressor`; None for six, from 0 to three times the mean
        squared length of the scaled features.
    cv
        Number of folds, a splitter, or an iterable of splits, as everywhere in scikit-learn; None
        for 5 folds.
    polish
        Whether to end each fit with swaps within the caps, as for `tvcs_core.solve`.
    fit_intercept, max_iter, tol, random_state
        As for `TVCSRegressor`.

    Attributes
    ----------
    total_
        The smallest total up to which the totals hold three quarters of the weight.
    ridge_
        The ridge of the smallest mean error.
    totals_, ridges_
        All that were tried.
    weights_
        ``(n_totals, n_ridges)`` weights of the fits in the average.
    mse_path_
        ``(n_totals, n_ridges, n_folds)`` mean squared errors on the samples left out.
    coef_, intercept_, constraint_, scale_, n_features_in_, feature_names_in_
        As for `TVCSRegressor` with the chosen total.
    n_iter_
        Iterations of the fits in the average, together.

    Examples
    --------
    >>> import numpy as np
    >>> from tvcs_core import TVCSRegressorCV
    >>> X = np.random.default_rng(0).normal(size=(60, 10))
    >>> y = 2 * X[:, 3] - X[:, 7] + 0.1 * np.random.default_rng(1).normal(size=60)
    >>> model = TVCSRegressorCV(totals=[1, 2]).fit(X, y)
    >>> model.total_, model.get_support(indices=True).tolist()
    (2, [3, 7])
    """

    def __init__(
        self,
        *,
        row_groups: ArrayLike | None = None,
        col_groups: ArrayLike | None = None,
        shape: tuple[int, int] | None = None,
        row_caps: CapsByLabel = None,
        col_caps: CapsByLabel = None,
        totals: ArrayLike | None = None,
        ridges: ArrayLike | None = None,
        cv: Any = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        loss: str | None = None,
        solver: str = "htp",
        solver_options: dict[str, Any] | None = None,
        polish: bool = True,
        fit_intercept: bool = True,
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.row_groups = row_groups
        self.col_groups = col_groups
        self.shape = shape
        self.row_caps = row_caps
        self.col_caps = col_caps
        self.totals = totals
        self.ridges = ridges
        self.cv = cv
        self.bounds = bounds
        self.loss = loss
        self.solver = solver
        self.solver_options = solver_options
        self.polish = polish
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Weight totals and ridges by cross-validation, and average their fits to all samples.

        Parameters
        ----------
        X, y, sample_weight
            As for `TVCSRegressor`. The weights count in the errors too, as copies of the samples:
            the average is the wider the smaller their sum.
        groups
            Group of every sample, for a `cv` that keeps groups together, such as `GroupKFold`.

        Raises
        ------
        ValueError, TypeError
            If X, y or the weights cannot be used, or a parameter is invalid.
        """
        X, y, weights = self._samples(X, y, sample_weight)
        X = self._scaled(X, weights)
        folds = list(check_cv(self.cv).split(X, y, groups))
        self.totals_ = self._totals(X, y, folds)
        self.ridges_ = self._ridges(X, y, weights)
        self.mse_path_ = np.empty((self.totals_.size, self.ridges_.size, len(folds)))
        for k, (train, test) in enumerate(folds):
            self.mse_path_[:, :, k] = self._errors(X, y, weights, train, test)
        mean = self.mse_path_.mean(axis=2)
        n = X.shape[0] if weights is None else weights.sum()
        self.weights_ = _weights(mean, n * np.size(y) / X.shape[0])
        held = np.cumsum(self.weights_.sum(axis=1))
        self.total_ = int(self.totals_[np.searchsorted(held, HELD)])
        self.ridge_ = float(self.ridges_[mean.min(axis=0).argmin()])
        self._average(X, y, weights)
        self.coef_, self.intercept_ = self._coef.T, self._intercept
        return self

    def _average(self, X: Any, y: Any, weights: Any) -> None:
        """Set the average of the fits to all samples."""
        n_outputs = None if y.ndim == 1 else y.shape[1]
        self.constraint_ = self._constraint(X.shape[1], n_outputs, self.total_)
        average, iterations = np.zeros(self.constraint_.shape), 0
        for m in np.flatnonzero(self.weights_.any(axis=0)):
            shares = np.trim_zeros(self.weights_[:, m], "b")
            loss = self._loss(X, y, weights, LOSSES, float(self.ridges_[m]))
            for share, fit in zip(shares, self._path(loss, n_outputs), strict=False):
                average += share * fit.matrix
                iterations += fit.iterations
                if share == self.weights_.max():
                    self._warn_unless_converged(fit)
        found = project(average, scaled_bounds(self.constraint_, self.scale_)).matrix
        self._set(found, loss, y)
        self.n_iter_ = max(1, iterations)

    def _path(self, loss: LinearLoss, n_outputs: int | None) -> Iterator[Solution]:
        """Yield the fit of every total, each from the one before."""
        start = None
        for total in self.totals_:
            constraint = self._constraint(len(loss.squared_lengths), n_outputs, int(total))
            found = self._solved(loss, constraint, start)
            start = found.matrix
            yield found

    def _totals(self, X: Any, y: Any, folds: list[Any]) -> NDArray[np.int64]:
        """Return the totals to try, growing."""
        if self.totals is not None:
            given = array_of("totals", self.totals, copy=False)
            if given.ndim != 1 or not given.size or given.dtype.kind not in "iu" or given.min() < 0:
                raise ValueError(f"totals must be a list of integers >= 0, found {self.totals!r}")
            return np.unique(given).astype(np.int64)
        n_outputs = None if y.ndim == 1 else y.shape[1]
        tvcs = self._constraint(X.shape[1], n_outputs, None)
        most = min(len(train) for train, _ in folds) * (n_outputs or 1)
        most = max(1, min(most, capacity_of(tvcs)))
        return np.unique(np.geomspace(1, most, N_TOTALS).round().astype(np.int64))

    def _ridges(self, X: Any, y: Any, weights: Any) -> NDArray[np.float64]:
        if self.ridges is None:
            return self._loss(X, y, weights, LOSSES, 0.0).mean_curvature() * np.array(RIDGES)
        given = array_of("ridges", self.ridges, np.float64)
        if given.ndim != 1 or not given.size or not ((given >= 0) & (given < np.inf)).all():
            raise ValueError(f"ridges must be a list of numbers >= 0, found {self.ridges!r}")
        return given

    def _errors(self, X: Any, y: Any, weights: Any, train: Any, test: Any) -> NDArray[np.float64]:
        """Return the mean squared error of every total and ridge on the samples left out."""
        errors = np.empty((self.totals_.size, self.ridges_.size))
        n_outputs = None if y.ndim == 1 else y.shape[1]
        tests = None if weights is None else weights[test]
        if weights is not None and not (weights[train].any() and weights[test].any()):
            raise ValueError("every fold must train and test on a sample of positive weight")
        for m, ridge in enumerate(self.ridges_):
            part = None if weights is None else weights[train]
            loss = self._loss(X[train], y[train], part, LOSSES, float(ridge))
            for k, fit in enumerate(self._path(loss, n_outputs)):
                constants = loss.intercept_at(fit.matrix)
                predicted = X[test] @ fit.matrix + (constants if n_outputs else constants[0])
                squared = np.square(predicted - y[test])
                squared = squared.mean(axis=1) if n_outputs else squared
                errors[k, m] = np.average(squared, weights=tests)
        return errors


def _weights(errors: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Return weights that fall exponentially with the mean squared errors of n targets."""
    least = errors.min()
    if least <= 0:
        weights = np.zeros_like(errors)
        weights.flat[np.argmin(errors)] = 1.0
    else:
        weights = np.exp(-n * (errors / least - 1) / TEMPERATURE)
        weights[weights < NEGLIGIBLE] = 0.0
    return np.asarray(weights / weights.sum())

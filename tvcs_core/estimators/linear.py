"""The shared part of all estimators: their constraint on the features, and one fit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from tvcs_core.arguments import array_of, check_choice, check_type, refuse_masked
from tvcs_core.constraint import TVCS
from tvcs_core.estimators.groups import CapsByLabel, checked_labels, numbered, of_matrix
from tvcs_core.estimators.scales import divided, scaled_bounds, scales_of, towards_zero
from tvcs_core.loss.linear import LinearLoss, refuse_other_order, weights_of
from tvcs_core.problem import Problem
from tvcs_core.solvers import METHODS, Solution, solve

FLOATS = (np.float64, np.float32)  # kinds of X that are kept


class Linear(BaseEstimator):
    """Constraint, fit and prediction; the parameters are set by the estimators."""

    _columns = "targets"  # the columns of a matrix of coefficients

    def __sklearn_tags__(self) -> Any:
        """Accept sparse X."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _constraint(self, n_features: int, n_outputs: int | None, total: int | None) -> TVCS:
        """Return the constraint on the features, or on every pair of a feature and an output."""
        if n_outputs is not None:
            for name in ("shape", "row_groups", "col_groups"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name} needs coefficients of one column, but there are {n_outputs} "
                        f"{self._columns}: features are the rows then, {self._columns} the columns"
                    )
            return TVCS.matrix(
                (n_features, n_outputs),
                row_caps=of_matrix("row_caps", self.row_caps),
                col_caps=of_matrix("col_caps", self.col_caps),
                total=total,
                bounds=self.bounds,
            )
        if self.shape is not None:
            if self.row_groups is not None or self.col_groups is not None:
                raise ValueError("give a shape or groups, found both")
            if not _is_shape(self.shape) or math.prod(self.shape) != n_features:
                raise ValueError(
                    "shape must be two integers whose product is the number of features "
                    f"({n_features}), found {self.shape!r}"
                )
            rows, cols = np.indices(self.shape).reshape(2, -1)
        else:
            features = getattr(self, "feature_names_in_", None)
            rows = checked_labels("row_groups", self.row_groups, n_features, features)
            cols = checked_labels("col_groups", self.col_groups, n_features, features)
        row_of, row_caps = numbered("row_caps", rows, self.row_caps)
        col_of, col_caps = numbered("col_caps", cols, self.col_caps)
        if row_of is None and col_of is None:  # only the total is capped
            row_of = np.full(n_features, -1)
        return TVCS.groups(
            row_of,
            col_of,
            row_caps=row_caps,
            col_caps=col_caps,
            total=total,
            bounds=self.bounds,
        )

    def _scaled(self, X: Any, weights: NDArray[np.float64] | None) -> Any:
        """Set the scale of every feature; return the features divided by it, 0 if constant."""
        check_type("fit_intercept", self.fit_intercept, bool)
        if self.fit_intercept and sparse.issparse(X):
            X = X.toarray()
        self._dtype = X.dtype
        counted, samples = with_weight(weights, X)
        scale = scales_of(samples, counted, centred=self.fit_intercept)
        self.scale_ = np.where(scale > 0, scale, 1.0)
        return divided(X, np.where(scale > 0, scale, np.inf))

    def _loss(
        self, X: Any, y: Any, weights: Any, losses: dict[str, Any], ridge: float
    ) -> LinearLoss:
        """Return the loss of the samples of positive weight, in the scaled features."""
        name = next(iter(losses)) if self.loss is None else self.loss
        check_choice("loss", name, losses)
        weights, X, y = with_weight(weights, X, y)
        return losses[name](X, y, ridge=ridge, intercept=self.fit_intercept, sample_weight=weights)

    def _solved(
        self,
        loss: LinearLoss,
        constraint: TVCS,
        start: ArrayLike | None = None,
    ) -> Solution:
        own: dict[str, Any] = {
            "rng": check_random_state(self.random_state).randint(2**31 - 1),
            "start": start,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "polish": self.polish,
        }
        check_choice("solver", self.solver, METHODS)
        options = {} if self.solver_options is None else self.solver_options
        check_type("solver_options", options, Mapping)
        if twice := sorted(set(own).intersection(options)):
            raise ValueError(
                f"solver_options must hold options of the method, found {twice[0]!r}; the "
                "estimator's parameters are random_state, max_iter, tol and polish"
            )
        problem = Problem(loss, scaled_bounds(constraint, self.scale_))
        return solve(problem, self.solver, **own, **options)

    def _fit(
        self,
        X: Any,
        y: Any,
        weights: Any,
        losses: dict[str, Any],
        ridge: float,
        total: int | None,
    ) -> None:
        """Fit and set the shared attributes of a fitted estimator."""
        constraint = self._constraint(X.shape[1], None if y.ndim == 1 else y.shape[1], total)
        loss = self._loss(self._scaled(X, weights), y, weights, losses, ridge)
        solution = self._solved(loss, constraint)
        self.constraint_ = constraint
        self.solution_ = solution
        self.n_iter_ = max(1, solution.iterations)
        self._set(solution.matrix, loss, y)
        self._warn_unless_converged(solution)

    def _set(self, W: NDArray[np.float64], loss: LinearLoss, y: Any) -> None:
        """Set the coefficients of X as it was given, and the constants that go with them."""
        with np.errstate(over="ignore"):
            self._coef = divided(W.T, self.scale_).T.astype(self._dtype)
        if not (is_finite := np.isfinite(self._coef)).all():
            feature = int(np.argwhere(~is_finite)[0][0])
            raise ValueError(
                f"the coefficient of feature {feature} is beyond the range of {self._dtype}, as "
                f"its values are at most about {self.scale_[feature]:.1g}; give it in other units"
            )
        if self.constraint_.bounds is not None:  # the division may have crossed them
            lower, upper = (towards_zero(bound, self._dtype) for bound in self.constraint_.bounds)
            self._coef = np.clip(self._coef, lower, upper)
        constants = loss.intercept_at(W)
        self._intercept = constants.astype(self._dtype) if y.ndim == 2 else float(constants[0])

    def _warn_unless_converged(self, solution: Solution) -> None:
        if solution.reason == "max_iter":
            warnings.warn(
                f"{self.solver} did not converge in {self.max_iter} iterations; give a larger "
                "max_iter",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _predict(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        check_samples(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        return np.asarray(X @ self._coef + self._intercept)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return the features with a nonzero coefficient, as a mask or as `indices`.

        With a matrix of coefficients the mask has the shape (n_features, n_targets), and the
        indices are pairs of a feature and a target or class, of shape (n_selected, 2).
        """
        check_is_fitted(self)
        support = self._coef != 0
        if not indices:
            return support
        return np.flatnonzero(support) if support.ndim == 1 else np.argwhere(support)


class TVCSEstimator(Linear):
    """An estimator with one total and one ridge."""

    def __init__(
        self,
        *,
        row_groups: ArrayLike | None = None,
        col_groups: ArrayLike | None = None,
        shape: tuple[int, int] | None = None,
        row_caps: CapsByLabel = None,
        col_caps: CapsByLabel = None,
        total: int | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        loss: str | None = None,
        solver: str = "htp",
        solver_options: dict[str, Any] | None = None,
        polish: bool = False,
        ridge: float = 0.0,
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
        self.total = total
        self.bounds = bounds
        self.loss = loss
        self.solver = solver
        self.solver_options = solver_options
        self.polish = polish
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, Sequence | np.ndarray)
        and len(shape) == 2
        and all(isinstance(size, Integral) for size in shape)
    )


def check_samples(X: Any, y: Any = None, sample_weight: Any = None) -> None:
    """Refuse masked values, whose numbers scikit-learn reads, and samples in different orders."""
    for name, values in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        refuse_masked(name, values)
    refuse_other_order(X, y=y, sample_weight=sample_weight)


def with_weight(weights: NDArray[np.float64] | None, *arrays: Any) -> tuple[Any, ...]:
    """Return the positive weights, and of every array the samples that have one."""
    if weights is None or weights.all():
        return weights, *arrays
    return weights[weights > 0], *(array[weights > 0] for array in arrays)


def sample_weights(sample_weight: ArrayLike | float | None, n: int) -> NDArray[np.float64] | None:
    """Return one weight per sample, from a number or one each; None for None."""
    if sample_weight is None:
        return None
    weights = array_of("sample_weight", sample_weight, copy=False)
    return weights_of(weights if weights.ndim else np.full(n, weights), n)

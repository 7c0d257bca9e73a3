"""Estimators for scikit-learn: `TVCSRegressor` and `TVCSClassifier`.

This is the only module of the core that imports scikit-learn; `tvcs_core.TVCSRegressor` loads it
at its first use.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from tvcs_core.constraint import TVCS, Caps
from tvcs_core.loss import Huber, LeastSquares, Logistic, SquaredHinge
from tvcs_core.loss.linear import LinearLoss
from tvcs_core.problem import Problem
from tvcs_core.solvers import solve

CapsByLabel = Caps | Mapping[Any, int]


class _Linear(BaseEstimator):
    """Shared part of both estimators: parameters, constraint on the features, and fit."""

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
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _constraint(self, n_features: int, n_outputs: int | None = None) -> TVCS:
        """Return the constraint on the features, or on every pair of a feature and an output."""
        if n_outputs is not None:
            for name in ("shape", "row_groups", "col_groups"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name} goes with one target; with several, features are the rows and "
                        f"targets the columns, found y with {n_outputs} columns"
                    )
            return TVCS.matrix(
                (n_features, n_outputs),
                row_caps=_of_matrix("row_caps", self.row_caps),
                col_caps=_of_matrix("col_caps", self.col_caps),
                total=self.total,
                bounds=self.bounds,
            )
        if self.shape is not None:
            if self.row_groups is not None or self.col_groups is not None:
                raise ValueError("give a shape or groups, found both")
            if int(np.prod(self.shape)) != n_features:
                raise ValueError(
                    f"shape must have as many entries as X has features ({n_features}), "
                    f"found {tuple(self.shape)}"
                )
            rows, cols = np.indices(self.shape).reshape(2, -1)
        else:
            rows = _checked_labels("row_groups", self.row_groups, n_features)
            cols = _checked_labels("col_groups", self.col_groups, n_features)
        row_of, row_caps = _numbered("row_caps", rows, self.row_caps)
        col_of, col_caps = _numbered("col_caps", cols, self.col_caps)
        if row_of is None and col_of is None:  # only the total is capped
            row_of = np.full(n_features, -1)
        return TVCS.groups(
            row_of,
            col_of,
            row_caps=row_caps,
            col_caps=col_caps,
            total=self.total,
            bounds=self.bounds,
        )

    def _solve(self, X: Any, y: Any, losses: dict[str, Any]) -> LinearLoss:
        """Fit and set the shared attributes of a fitted estimator; return the loss."""
        name = next(iter(losses)) if self.loss is None else self.loss
        if name not in losses:
            raise ValueError(f"loss must be one of {', '.join(losses)}, found {name!r}")
        constraint = self._constraint(X.shape[1], None if np.ndim(y) == 1 else y.shape[1])
        if self.fit_intercept and sparse.issparse(X):
            X = X.toarray()
        loss: LinearLoss = losses[name](X, y, ridge=self.ridge, intercept=self.fit_intercept)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        solution = solve(
            Problem(loss, constraint),
            self.solver,
            rng=seed,
            max_iter=self.max_iter,
            tol=self.tol,
            **(self.solver_options or {}),
        )
        self.constraint_ = constraint
        self.solution_ = solution
        self.n_iter_ = max(1, solution.iterations)
        self._coef = solution.matrix
        constants = loss.intercept_at(solution.matrix)
        self._intercept = float(constants[0]) if np.ndim(y) == 1 else constants
        if solution.reason == "max_iter":
            warnings.warn(
                f"{self.solver} did not converge in {self.max_iter} iterations; give a larger "
                "max_iter, or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )
        return loss

    def _predict(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ self._coef + self._intercept)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return the features with a nonzero coefficient, as a mask or as `indices`.

        With several targets the mask has the shape (n_features, n_targets), and the indices are
        pairs of a feature and a target, of shape (n_selected, 2).
        """
        check_is_fitted(self)
        support = self.solution_.support
        if not indices:
            return support
        return np.flatnonzero(support) if support.ndim == 1 else np.argwhere(support)


class TVCSRegressor(RegressorMixin, _Linear):
    """Linear regression on features selected under three-view cardinality constraints.

    With one target the views are groups of features. With several targets the coefficients are a
    matrix, features in rows and targets in columns: `row_caps` limit how many targets a feature may
    serve, `col_caps` how many features a target may have, and `total` all coefficients.

    Parameters
    ----------
    row_groups, col_groups
        Label of every feature in either view, of any kind that can be sorted; None or NaN for
        a feature in no group of the view. None for a view without groups.
    shape
        Instead of labels: features are the entries of a matrix of this shape, in C order,
        and its rows and columns are the groups.
    row_caps, col_caps
        Most features with a coefficient per group: an integer for all groups, one per group
        in the order of the sorted labels, or a mapping from labels (those not in it have no
        cap). None for no cap.
    total
        Most features with a coefficient in all; None for no cap.
    bounds
        Lower and upper bound of the coefficients, with 0 between them.
    loss
        ``"squared"``, the default, or ``"huber"`` (errors above 1 count as large; rescale y for
        another threshold).
    solver
        A method of `tvcs_core.solve`.
    solver_options
        Options of the method.
    ridge
        Weight of half the squared coefficients, which is added to the loss.
    fit_intercept
        Whether to add a constant, exempt from caps and ridge. A sparse X is then made dense.
    max_iter, tol
        As for `tvcs_core.solve`.
    random_state
        Seed of the stochastic solvers.

    Attributes
    ----------
    coef_
        ``(n_features,)`` coefficients; ``(n_targets, n_features)`` if y had two dimensions.
    intercept_
        The constant; one per target if y had two dimensions.
    constraint_, solution_
        Constraint and result of `tvcs_core.solve`.
    n_iter_
        Iterations made, at least 1.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from tvcs_core import TVCSRegressor
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
    >>> model = TVCSRegressor(row_groups=["a", "a", "b"], row_caps=1, fit_intercept=False)
    >>> model.fit(X, [3, 1, 2, 6]).get_support().tolist()
    [True, False, True]

    Two targets, each of at most one feature, and no feature for both:

    >>> model = TVCSRegressor(row_caps=1, col_caps=1, fit_intercept=False)
    >>> model.fit(X, [[3, 1], [0, 2], [0, 0], [3, 3]]).coef_.round(6).tolist()
    [[3.0, 0.0, 0.0], [0.0, 2.5, 0.0]]
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Select features and fit their coefficients.

        Parameters
        ----------
        X
            ``(n_samples, n_features)``, an array or sparse.
        y
            ``(n_samples,)`` or ``(n_samples, n_targets)`` targets.

        Raises
        ------
        ValueError, TypeError
            If X or y cannot be used, or a parameter is invalid.
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, multi_output=True
        )
        self._solve(X, y, {"squared": LeastSquares, "huber": Huber})
        self.coef_, self.intercept_ = self._coef.T, self._intercept
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted targets of the rows of X."""
        return self._predict(X)


class TVCSClassifier(ClassifierMixin, _Linear):
    """Linear classification into two classes under three-view cardinality constraints.

    Parameters
    ----------
    row_groups, col_groups, shape, row_caps, col_caps, total, bounds
        As for `TVCSRegressor`.
    loss
        ``"logistic"``, the default, or ``"squared_hinge"`` as in the paper, which gives no
        probabilities.
    solver, solver_options, fit_intercept, max_iter, tol, random_state
        As for `TVCSRegressor`.
    ridge
        As for `TVCSRegressor`. If a plane separates the classes, a logistic loss without ridge
        has no minimiser and the coefficients are large.

    Attributes
    ----------
    classes_
        The two labels, sorted; the second one is the positive class.
    coef_
        ``(1, n_features)`` coefficients.
    intercept_
        ``(1,)``, the constant.
    constraint_, solution_, n_iter_, n_features_in_, feature_names_in_
        As for `TVCSRegressor`.

    Examples
    --------
    >>> from tvcs_core import TVCSClassifier
    >>> X = [[1, 1, 0], [2, 2, 1], [-1, -1, 0], [-2, -2, 1]]
    >>> model = TVCSClassifier(row_groups=[0, 0, 1], row_caps=1, total=1)
    >>> model.fit(X, ["yes", "yes", "no", "no"]).predict([[3, 3, 0]]).tolist()
    ['yes']
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Select features and fit their coefficients.

        Parameters
        ----------
        X
            ``(n_samples, n_features)``, an array or sparse.
        y
            ``(n_samples,)`` labels of two classes.

        Raises
        ------
        ValueError, TypeError
            If X or y cannot be used, y does not hold two classes, or a parameter is invalid.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2:
            raise ValueError(f"y must hold two classes, found one class: {self.classes_[0]!r}")
        signs = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        self._solve(X, signs, {"logistic": Logistic, "squared_hinge": SquaredHinge})
        self.coef_, self.intercept_ = self._coef[None, :], np.array([self._intercept])
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return ``X @ coef_ + intercept_``: positive for the second class."""
        return self._predict(X)

    @available_if(lambda self: self.loss in (None, "logistic"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ``(n_samples, 2)`` class probabilities; only with the logistic loss."""
        positive = expit(self._predict(X))
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of every row of X."""
        above = self._predict(X) > 0
        return np.asarray(self.classes_[above.astype(np.int64)])


def _checked_labels(name: str, labels: ArrayLike | None, n_features: int) -> Any:
    if labels is None:
        return None
    array = np.asarray(labels, dtype=object)
    if array.shape != (n_features,):
        raise ValueError(
            f"{name} must have one label per feature ({n_features}), found shape {array.shape}"
        )
    return array


def _of_matrix(name: str, caps: CapsByLabel) -> Caps:
    """Refuse caps by label, which the features and targets of a matrix do not have."""
    if isinstance(caps, Mapping):
        raise TypeError(f"{name} by label go with one target; give a number or an array")
    return caps


def _numbered(name: str, labels: Any, caps: CapsByLabel) -> tuple[NDArray[np.int64] | None, Caps]:
    """Number the groups in the order of their labels; -1 for None and NaN."""
    if labels is None:
        if caps is not None:
            raise ValueError(f"{name} were given, but not the groups that they cap")
        return None, None
    named = np.array([label is not None and label == label for label in labels])
    ordered = sorted(set(np.asarray(labels)[named].tolist()))
    number = {label: i for i, label in enumerate(ordered)}
    group_of = np.array([number[x] if n else -1 for x, n in zip(labels, named, strict=True)])
    if isinstance(caps, Mapping):
        unknown = [label for label in caps if label not in number]
        if unknown:
            raise ValueError(f"{name} caps {unknown[0]!r}, which is no label of a feature")
        caps = [caps.get(label, len(labels)) for label in ordered]
    elif caps is not None and not isinstance(caps, Integral):
        caps = np.asarray(caps)
    return group_of, caps

"""`TVCSRegressor`: linear regression."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from tvcs_core.estimators.linear import FLOATS, Linear, TVCSEstimator, check_samples, sample_weights
from tvcs_core.loss import Huber, LeastSquares

LOSSES = {"squared": LeastSquares, "huber": Huber}


class Regression(RegressorMixin, Linear):
    """Regression on one target or several."""

    def __sklearn_tags__(self) -> Any:
        """Accept several targets."""
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags

    def _samples(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return checked features, targets and weights."""
        check_samples(X, y, sample_weight)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=FLOATS, y_numeric=True, multi_output=True
        )
        return X, y, sample_weights(sample_weight, X.shape[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted targets of the rows of X."""
        return self._predict(X)


class TVCSRegressor(Regression, TVCSEstimator):
    """Linear regression on features selected under three-view cardinality constraints.

    With one target the views are groups of features. With several targets the coefficients are a
    matrix, features in rows and targets in columns: `row_caps` limit how many targets a feature may
    serve, `col_caps` how many features a target may have, and `total` all coefficients.

    Features are compared in units of their standard deviation, so that the units of X change
    neither the selection nor the predictions.

    Parameters
    ----------
    row_groups, col_groups
        Label of every feature in either view, of any kind that can be sorted; None, NaN or the
        integer -1 for a feature in no group of the view. None for a view without groups. A mapping
        or a Series with an index goes by the names of the features, if X has them.
    shape
        Instead of labels: features are the entries of a matrix of this shape, in C order,
        and its rows and columns are the groups.
    row_caps, col_caps
        Most features with a coefficient per group: an integer for all groups, one per group
        in the order of the sorted labels, or a mapping or a Series from labels (those not in
        it, or with None, have no cap). None for no cap.
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
    polish
        Whether to end with swaps within the caps, as for `tvcs_core.solve`.
    ridge
        Weight of half the squared coefficients of the features in units of their standard
        deviation, which is added to the loss.
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
    scale_
        ``(n_features,)`` standard deviations of the features; without an intercept, their root
        mean squares. 1 for a constant feature, which is never selected.
    constraint_
        The constraint on the coefficients.
    solution_
        Result of `tvcs_core.solve` for the features divided by `scale_`.
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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Select features and fit their coefficients.

        Parameters
        ----------
        X
            ``(n_samples, n_features)``, an array or sparse. float32 is kept: coefficients and
            predictions have the kind of X.
        y
            ``(n_samples,)`` or ``(n_samples, n_targets)`` targets.
        sample_weight
            ``(n_samples,)`` weights >= 0 of the samples, or one number.

        Raises
        ------
        ValueError, TypeError
            If X, y or the weights cannot be used, or a parameter is invalid.
        """
        self._fit(*self._samples(X, y, sample_weight), LOSSES, self.ridge, self.total)
        self.coef_, self.intercept_ = self._coef.T, self._intercept
        return self

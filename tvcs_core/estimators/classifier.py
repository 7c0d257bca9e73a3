"""`TVCSClassifier`: linear classification."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from tvcs_core.estimators.linear import FLOATS, TVCSEstimator, check_samples, sample_weights
from tvcs_core.loss import Logistic, SquaredHinge

LOSSES = {"logistic": Logistic, "squared_hinge": SquaredHinge}


class TVCSClassifier(ClassifierMixin, TVCSEstimator):
    """Linear classification under three-view cardinality constraints.

    With two classes the views are groups of features. With more, every class is separated from
    all others, and the coefficients are a matrix, features in rows and classes in columns:
    `row_caps` limit how many classes a feature may serve, `col_caps` how many features a class may
    have, and `total` all coefficients. The units of X do not matter, as in `TVCSRegressor`.

    Parameters
    ----------
    row_groups, col_groups, shape, row_caps, col_caps, total, bounds
        As for `TVCSRegressor`.
    loss
        ``"logistic"``, the default, or ``"squared_hinge"`` as in the paper, which gives no
        probabilities.
    solver, solver_options, polish, fit_intercept, max_iter, tol, random_state
        As for `TVCSRegressor`.
    ridge
        As for `TVCSRegressor`. If a plane separates the classes, a logistic loss without ridge
        has no minimiser and the coefficients are large.

    Attributes
    ----------
    classes_
        The labels, sorted; of two, the second one is the positive class.
    coef_
        ``(1, n_features)`` coefficients, or ``(n_classes, n_features)`` for more than two.
    intercept_
        ``(1,)``, the constant, or one per class.
    scale_, constraint_, solution_, n_iter_, n_features_in_, feature_names_in_
        As for `TVCSRegressor`.

    Examples
    --------
    >>> from tvcs_core import TVCSClassifier
    >>> X = [[1, 1, 0], [2, 2, 1], [-1, -1, 0], [-2, -2, 1]]
    >>> model = TVCSClassifier(row_groups=[0, 0, 1], row_caps=1, total=1)
    >>> model.fit(X, ["yes", "yes", "no", "no"]).predict([[3, 3, 0]]).tolist()
    ['yes']
    """

    _columns = "classes"

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Select features and fit their coefficients.

        Parameters
        ----------
        X
            ``(n_samples, n_features)``, an array or sparse. float32 is kept: coefficients and
            probabilities have the kind of X.
        y
            ``(n_samples,)`` labels of two or more classes.
        sample_weight
            ``(n_samples,)`` weights >= 0 of the samples, or one number.

        Raises
        ------
        ValueError, TypeError
            If X, y or the weights cannot be used, y holds one class, or a parameter is invalid.
        """
        check_samples(X, y, sample_weight)
        X, labels = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        weights = sample_weights(sample_weight, X.shape[0])
        try:
            check_classification_targets(labels)
            self.classes_ = np.unique(labels if weights is None else labels[weights > 0])
        except TypeError:  # they cannot be sorted
            kinds = " and ".join(sorted({type(label).__name__ for label in labels}))
            raise ValueError(f"labels of y must be of one kind, found {kinds}") from None
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must hold two classes or more, found one class: {self.classes_.tolist()[0]!r}"
            )
        is_binary = len(self.classes_) == 2
        signs = np.where(labels[:, None] == self.classes_, 1.0, -1.0)
        signs = signs[:, 1] if is_binary else signs
        self._fit(X, signs, weights, LOSSES, self.ridge, self.total)
        self.coef_ = np.atleast_2d(self._coef.T)
        self.intercept_ = np.atleast_1d(self._intercept).astype(X.dtype)
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return ``X @ coef_.T + intercept_``: one column per class.

        With two classes there is one dimension, and a positive value is the second class.
        """
        return self._predict(X)

    @available_if(lambda self: self.loss in (None, "logistic"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return ``(n_samples, n_classes)`` class probabilities; only with the logistic loss.

        With more than two classes, each class is separated from all others, and its probability
        divided by the sum of these.
        """
        decisions = self._predict(X)
        if decisions.ndim == 1:
            return np.column_stack([expit(-decisions), expit(decisions)])
        # By logarithms, since all probabilities of a row can be 0 in floating point.
        return np.asarray(softmax(log_expit(decisions), axis=1))

    @available_if(lambda self: self.loss in (None, "logistic"))
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of every row of X."""
        decisions = self._predict(X)
        found = decisions > 0 if decisions.ndim == 1 else decisions.argmax(axis=1)
        return np.asarray(self.classes_[found.astype(np.int64)])

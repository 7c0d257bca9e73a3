"""Least squares."""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from tvcs_core.loss.base import Array
from tvcs_core.loss.linear import Groups, LinearLoss, groups_of

# Smallest squared pivot of a Cholesky factor with unit diagonal; below it the matrix is singular.
SMALLEST_PIVOT = 1e-10
# With more than MANY_TARGETS distinct supports, those of at most SMALL_SUPPORT variables are solved
# in stacks of STACK systems, of at most 32 MB: one call of NumPy costs less than many.
MANY_TARGETS, SMALL_SUPPORT, STACK = 8, 64, 1024


class LeastSquares(LinearLoss):
    """Half the squared error of a linear model, ``1/2 sum((prediction - y)**2)``.

    Parameters
    ----------
    X
        ``(n, p)`` samples, an array or scipy sparse; or ``(n, a, b)``, one matrix per sample.
    y
        ``(n,)`` targets: W has shape ``(p,)`` or ``(a, b)`` and predicts ``<X_i, W>``. Or
        ``(n, q)`` targets with X of shape ``(n, p)``: W has shape ``(p, q)`` and predicts
        ``X W``.
    ridge
        Weight >= 0 of the added term ``1/2 |W|**2``.
    intercept
        Whether to add a constant to the predictions, the best one for each W. The columns of X are
        then centred, so X must not be sparse. `intercept_at` returns the constant.
    sample_weight
        ``(n,)`` weights >= 0 of the samples' terms, not all 0; None for 1 each.

    Raises
    ------
    ValueError, TypeError
        If the shapes do not fit, X, y or `sample_weight` holds anything but finite real numbers,
        `ridge` or a weight is out of range, or X is sparse and `intercept` is True.
    """

    is_quadratic = True

    def terms(self, predicted: Array, Y: Array) -> Array:
        """Return half of every squared error."""
        return 0.5 * np.square(predicted - Y)

    def slopes(self, predicted: Array, Y: Array) -> Array:
        """Return every error."""
        return predicted - Y

    def curvatures(self, predicted: Array, Y: Array) -> Array:
        """Return 1 for every sample."""
        return np.ones_like(predicted)

    def shifts(self, predicted: Array) -> Array:
        """Return the best constant to add to the predictions of each target: the mean error."""
        return np.asarray(np.average(self._Y - predicted, axis=0, weights=self._weights))

    def quadratic_model(
        self, W: Array, gradient: Array, features: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """Return G and b of ``1/2 w'Gw - b'w``, which is the loss up to a constant at every W."""
        if self.gram is None:
            Z = self.columns(features)
            gram = Z.T @ self._weighted(Z)
        else:
            gram = np.ascontiguousarray(self.gram[np.ix_(features, features)])
        np.einsum("ii->i", gram)[:] += self.ridge
        return gram[None], np.ascontiguousarray(self._sides[features].T)

    def minimize_on(self, support: NDArray[np.bool_]) -> Array:
        """Solve least squares on the support of each target; of minimum norm if singular.

        Solves the normal equations by Cholesky, once per distinct support. If a pivot vanishes
        relative to its column, uses a complete orthogonal decomposition of X.
        """
        W = np.zeros((self._X.shape[1], self._Y.shape[1]))
        left = groups_of(support.reshape(W.shape))
        if len(left) > MANY_TARGETS and self.gram is not None:
            small = [group for group in left if group[0].size <= SMALL_SUPPORT]
            left = [group for group in left if group[0].size > SMALL_SUPPORT]
            for begin in range(0, len(small), STACK):
                left += self._solve_stack(small[begin : begin + STACK], self.gram, W)
        for active, targets in left:
            W[np.ix_(active, targets)] = self._solve(active, targets)
        return W.reshape(self.shape)

    def _solve(self, active: NDArray[np.int64], targets: NDArray[np.int64]) -> Array:
        """Solve least squares for the given targets on one support."""
        X, Y, n = self._X, self._Y[:, targets], self._X.shape[0]
        Y = Y - np.average(Y, axis=0, weights=self._weights) if self._intercept else Y
        Y = self._scaled(Y)
        if self.gram is None or active.size > n:
            X = self._scaled(self.columns(active))
        if active.size > n and not self.ridge:
            dual = _solve_positive(X @ X.T, Y)
            if dual is not None:
                return np.asarray(X.T @ dual)
        else:
            gram = X.T @ X if self.gram is None else self.gram[np.ix_(active, active)]
            np.einsum("ii->i", gram)[:] += self.ridge
            coefficients = _solve_positive(gram, self._sides[np.ix_(active, targets)])
            if coefficients is not None:
                return coefficients
        X = self._scaled(self.columns(active))
        if self.ridge:
            X = np.vstack([X, np.sqrt(self.ridge) * np.eye(active.size)])
            Y = np.vstack([Y, np.zeros((active.size, Y.shape[1]))])
        cond = max(X.shape) * np.finfo(np.float64).eps  # below it a singular value is rounding
        found = linalg.lstsq(X, Y, cond=cond, lapack_driver="gelsy", check_finite=False)[0]
        return np.asarray(found)

    def _solve_stack(self, groups: Groups, gram: Array, W: Array) -> Groups:
        """Fill in W for groups of small supports in one call; return the singular groups.

        The systems are padded to one size with rows of the unit matrix.
        """
        size = max(active.size for active, _ in groups)
        places = np.zeros((len(groups), size), dtype=np.int64)
        used = np.zeros((len(groups), size), dtype=np.bool_)
        for k, (active, _) in enumerate(groups):
            places[k, : active.size], used[k, : active.size] = active, True
        systems = gram[places[:, :, None], places[:, None, :]]
        systems *= used[:, :, None] & used[:, None, :]
        np.einsum("kii->ki", systems)[:] += np.where(used, self.ridge, 1.0)
        scale = _inverse_root(np.einsum("kii->ki", systems))
        systems *= scale[:, :, None] * scale[:, None, :]
        try:
            pivots = np.einsum("kii->ki", np.linalg.cholesky(systems))
        except np.linalg.LinAlgError:
            return groups
        regular = pivots.min(axis=1) ** 2 > SMALLEST_PIVOT
        inverse = np.linalg.inv(systems[regular])
        for (active, targets), inv, s in zip(
            itertools.compress(groups, regular), inverse, scale[regular], strict=True
        ):
            k = active.size
            right = s[:k, None] * self._sides[np.ix_(active, targets)]
            W[np.ix_(active, targets)] = s[:k, None] * (inv[:k, :k] @ right)
        return list(itertools.compress(groups, ~regular))

    @cached_property
    def _sides(self) -> Array:
        """``X' D Y``, the right-hand sides of the normal equations."""
        return np.asarray(self._X.T @ self._weighted(self._Y))


def _solve_positive(A: Array, B: Array) -> Array | None:
    """Solve ``A Z = B`` by Cholesky, with A scaled to unit diagonal; None if A is singular."""
    scale = _inverse_root(np.einsum("ii->i", A))
    factor, failed = lapack.dpotrf(A * scale[:, None] * scale, lower=True)
    if failed or np.einsum("ii->i", factor).min() ** 2 <= SMALLEST_PIVOT:
        return None
    return scale[:, None] * np.asarray(lapack.dpotrs(factor, scale[:, None] * B, lower=True)[0])


def _inverse_root(diagonal: Array) -> Array:
    return 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))

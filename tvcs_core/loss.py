"""Losses: what a problem wants small."""

from __future__ import annotations

import abc

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Loss(abc.ABC):
    """A differentiable function of an array of shape `shape`.

    A subclass says its `shape`, `value` and `gradient`. The rest has defaults that work for any
    smooth loss; override them where more is known.
    """

    shape: tuple[int, ...]

    @abc.abstractmethod
    def value(self, W: NDArray[np.float64]) -> float:
        """Value at W."""

    @abc.abstractmethod
    def gradient(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gradient at W, of the shape of W."""

    def lipschitz(self) -> float:
        """A constant L with ``|gradient(W) - gradient(U)| <= L |W - U|``.

        The default measures the curvature at 0 by power iteration on differences of gradients,
        which is exact where the gradient is linear and a guess elsewhere.
        """
        zero = np.zeros(self.shape)
        start = self.gradient(zero)
        direction = np.random.default_rng(0).standard_normal(self.shape)
        largest = 0.0
        for _ in range(100):
            direction /= np.linalg.norm(direction)
            change = self.gradient(direction) - start
            size = float(np.linalg.norm(change))
            if size <= largest * (1 + 1e-6):
                break
            largest, direction = size, change
        return largest

    def minimize_on(self, support: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Minimise over arrays that are zero outside `support` (L-BFGS unless overridden)."""
        from scipy.optimize import minimize

        def restricted(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            W = np.zeros(self.shape)
            W[support] = w
            return self.value(W), self.gradient(W)[support]

        W = np.zeros(self.shape)
        size = int(np.count_nonzero(support))
        if size:
            options = {"maxiter": 1000, "ftol": 0.0, "gtol": 1e-10}
            W[support] = minimize(
                restricted, np.zeros(size), jac=True, method="L-BFGS-B", options=options
            ).x
        return W


class LeastSquares(Loss):
    """Half the squared error of a linear model, ``1/2 sum((prediction - y)**2)``.

    Parameters
    ----------
    X
        ``(n, p)`` samples; or ``(n, a, b)``, one matrix per sample.
    y
        ``(n,)`` targets: W has shape ``(p,)`` or ``(a, b)`` and predicts ``<X_i, W>``. Or
        ``(n, q)`` targets with X of shape ``(n, p)``: W has shape ``(p, q)`` and predicts
        ``X W``.

    Raises
    ------
    ValueError
        If the shapes do not fit, or X or y holds anything but finite numbers.
    """

    def __init__(self, X: ArrayLike, y: ArrayLike) -> None:
        X, y = _finite("X", X), _finite("y", y)
        if X.ndim not in (2, 3) or not X.size:
            raise ValueError(f"X must have 2 or 3 dimensions and no empty one, found {X.shape}")
        if y.ndim not in (1, 2) or len(y) != len(X) or (X.ndim == 3 and y.ndim == 2):
            raise ValueError(f"y must have one row per sample of X {X.shape}, found {y.shape}")
        self.shape = X.shape[1:] if y.ndim == 1 else (X.shape[1], y.shape[1])
        self._X = np.ascontiguousarray(X.reshape(len(X), -1))
        self._Y = np.ascontiguousarray(y.reshape(len(y), -1))

    def _residual(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._X @ W.reshape(self._X.shape[1], -1) - self._Y

    def value(self, W: NDArray[np.float64]) -> float:
        """Half the sum of squared errors at W."""
        residual = self._residual(W)
        return 0.5 * float(np.vdot(residual, residual))

    def gradient(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """``X' (X W - Y)``, of the shape of W."""
        return (self._X.T @ self._residual(W)).reshape(self.shape)

    def lipschitz(self) -> float:
        """The largest eigenvalue of ``X' X``."""
        X = self._X
        gram = X.T @ X if X.shape[1] <= X.shape[0] else X @ X.T
        return float(np.linalg.eigvalsh(gram)[-1])

    def minimize_on(self, support: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Least squares on the support of each target; minimum norm where it is singular."""
        W = np.zeros((self._X.shape[1], self._Y.shape[1]))
        supports = support.reshape(W.shape)
        for j in range(W.shape[1]):
            active = np.flatnonzero(supports[:, j])
            if active.size:
                W[active, j] = np.linalg.lstsq(self._X[:, active], self._Y[:, j], rcond=None)[0]
        return W.reshape(self.shape)


def _finite(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name} must be real numbers, found {array.dtype}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        where = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
        place = ", ".join(str(int(i)) for i in where)
        raise ValueError(f"{name} must be finite, but {name}[{place}] is {array[where]}")
    return array

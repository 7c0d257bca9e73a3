"""The base class of losses: value and gradient, with defaults for everything else."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import array_of, describe_value, refuse_where

Array = NDArray[np.float64]


class Loss(abc.ABC):
    """A differentiable function of an array of shape `shape`.

    A subclass defines `shape`, `value` and `gradient`. The defaults work for any smooth loss;
    override them with better ones. A loss that is a sum over samples also sets `n_terms` and
    overrides `gradient_on`, so that the stochastic solvers accept it.
    """

    shape: tuple[int, ...]
    n_terms: int | None = None

    @abc.abstractmethod
    def value(self, W: Array) -> float:
        """Return the value at W."""

    @abc.abstractmethod
    def gradient(self, W: Array) -> Array:
        """Return the gradient at W, of the shape of W."""

    def gradient_on(self, W: Array, terms: NDArray[np.int64]) -> Array:
        """Return the gradient at W of the sum of the terms numbered `terms`.

        Terms are numbered from 0 to ``n_terms - 1``; all of them together give `gradient`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no terms")

    def lipschitz(self) -> float:
        """Return a constant L with ``|gradient(W) - gradient(U)| <= L |W - U|``.

        The default estimates the curvature at 0 by power iteration on differences of gradients. It
        is exact if the gradient is linear, and otherwise a guess.
        """
        start = checked_gradient(self, np.zeros(self.shape))
        direction = np.random.default_rng(0).standard_normal(self.shape)
        largest = 0.0
        for _ in range(100):
            direction /= np.linalg.norm(direction)
            change = checked_gradient(self, direction) - start
            size = float(np.linalg.norm(change))
            if size <= largest * (1 + 1e-6):
                break
            largest, direction = size, change
        return largest

    def curvature(self, direction: Array) -> float:
        """Return the largest second derivative along `direction`, times its squared length.

        The default is a difference of gradients at 0. It is exact if the gradient is linear, and
        otherwise a guess.
        """
        return _curvature(self, direction)

    def curvature_on(self, direction: Array, terms: NDArray[np.int64]) -> float:
        """Return the `curvature` of the sum of the terms numbered `terms`."""
        return _curvature(self, direction, terms)

    def mean_curvature(self) -> float:
        """Return the mean over the variables of the largest second derivative by each.

        The default estimates it from one direction of random signs (Hutchinson 1990).
        """
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=self.shape)
        return self.curvature(signs) / signs.size

    def minimize_on(self, support: NDArray[np.bool_]) -> Array:
        """Minimise over the arrays that are zero outside `support` (default: L-BFGS)."""
        return minimize_in_box(self, support)


def checked_gradient(loss: Loss, W: Array, terms: NDArray[np.int64] | None = None) -> Array:
    """Return the gradient of a loss at W, or that of some of its terms.

    Raises
    ------
    ValueError
        If it has another shape than W or is not finite, which the loss of a user may get wrong.
    """
    g = loss.gradient(W) if terms is None else loss.gradient_on(W, terms)
    return checked_array(loss, "gradient", g)


def checked_array(loss: Loss, kind: str, found: Any, *, finite: bool = True) -> Array:
    """Return an array that a loss has computed; raise for another shape, or if it is not finite."""
    name = f"the {kind} of {type(loss).__name__}"
    array = array_of(kind, found)  # a copy: the loss may write its next one to the same array
    if array.shape != tuple(loss.shape) or array.dtype.kind not in "buif":
        expected = f"real numbers of shape {tuple(loss.shape)}"
        raise ValueError(f"{name} must be {expected}, found {describe_value(array)}")
    if finite:
        refuse_where(name, array, ~np.isfinite(array), "finite")
    return array


def minimize_in_box(
    loss: Loss,
    support: NDArray[np.bool_],
    bounds: tuple[Array, Array] | None = None,
    start: Array | None = None,
) -> Array:
    """Minimise `loss` over the arrays that are zero outside `support` and within `bounds`.

    Uses L-BFGS-B (Byrd, Lu, Nocedal and Zhu 1995) on value and gradient.

    Parameters
    ----------
    loss
        Any loss.
    support
        Mask of the entries that may differ from 0.
    bounds
        Lower and upper bound, of the shape of `support`; None for no box.
    start
        Starting point; zero by default.
    """
    from scipy.optimize import Bounds, minimize

    W = np.zeros(loss.shape)
    size = int(np.count_nonzero(support))
    if not size:
        return W

    def restricted(w: Array) -> tuple[float, Array]:
        W = np.zeros(loss.shape)
        W[support] = w
        # A line search may leave the range of floating point, and returns.
        g = checked_array(loss, "gradient", loss.gradient(W), finite=False)
        return loss.value(W), g[support]

    W[support] = minimize(
        restricted,
        np.zeros(size) if start is None else start[support],
        jac=True,
        method="L-BFGS-B",
        bounds=None if bounds is None else Bounds(bounds[0][support], bounds[1][support]),
        options={"maxiter": 1000, "maxfun": 10_000, "ftol": 0.0, "gtol": 1e-10},
    ).x
    return W


def _curvature(loss: Loss, direction: Array, terms: NDArray[np.int64] | None = None) -> float:
    start = checked_gradient(loss, np.zeros_like(direction), terms)
    return float(np.vdot(checked_gradient(loss, direction, terms) - start, direction))

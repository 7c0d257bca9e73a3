"""Step sizes along the gradient before a projection."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import describe_value
from tvcs_core.problem import Problem
from tvcs_core.projection.projection import Projection

Array = NDArray[np.float64]
Descent = Callable[[Array, Array], Projection]

SAFETY = 0.01  # c of normalised IHT: the step stays this fraction below the largest safe one
SHRINK = 2.0  # kappa of normalised IHT: factor by which a step that is too long is shortened
FLAT = 1e-10  # a gradient whose norm on the support is at most this fraction of the whole vanishes


def descent(problem: Problem, step: float | str | None) -> Descent:
    """Return the function of W and its gradient g that projects ``W - gamma g``.

    Parameters
    ----------
    problem
        Loss and constraint.
    step
        The step size gamma > 0; None for 1 / L with the Lipschitz constant L of the gradient; or
        ``"adaptive"``: the best size for the support of W, shortened while the projection leaves
        that support and the loss is steeper along the way than the size allows (normalised IHT;
        Blumensath and Davies 2010). If the gradient vanishes on the support, its projection is
        used instead (normalised HTP).

    Raises
    ------
    ValueError
        If `step` is invalid.
    """
    if isinstance(step, str | np.ndarray) and np.ndim(step) == 0 and step == "adaptive":
        return lambda W, g: _normalised(problem, W, g)
    if step is None:
        gamma = 1.0 / (problem.loss.lipschitz() or 1.0)
    else:
        gamma = checked_step(step, "a number > 0, None or 'adaptive'")
    return lambda W, g: problem.project(W - gamma * g)


def checked_step(step: object, kind: str) -> float:
    """Return a step size > 0; raise a ValueError that names the accepted `kind` for any other."""
    if isinstance(step, bool) or not isinstance(step, Real) or not 0 < float(step) < math.inf:
        raise ValueError(f"step must be {kind}, found {describe_value(step)}")
    return float(step)


def _normalised(problem: Problem, W: Array, g: Array) -> Projection:
    support = W != 0
    d = np.where(support, g, 0.0)
    if np.linalg.norm(d) <= FLAT * np.linalg.norm(g):
        d = problem.project(g).matrix
    curvature = problem.loss.curvature(d)
    if not curvature > 0:
        return problem.project(W - g / (problem.loss.lipschitz() or 1.0))
    gamma = float(np.vdot(d, d)) / curvature
    while True:
        projection = problem.project(W - gamma * g)
        if (projection.support == support).all():
            return projection
        move = projection.matrix - W
        curvature = problem.loss.curvature(move)
        if gamma * curvature <= (1 - SAFETY) * float(np.vdot(move, move)):
            return projection
        gamma /= SHRINK

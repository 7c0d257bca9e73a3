"""Iterative hard thresholding (Algorithm 1 of the paper; Yuan, Li and Zhang 2014)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.problem import Problem


def iht(
    problem: Problem, W: NDArray[np.float64], *, step: float | None = None
) -> Iterator[NDArray[np.float64]]:
    """Step along the gradient, project, repeat.

    Parameters
    ----------
    problem
        Loss and constraint.
    W
        A feasible start.
    step
        The step size gamma; by default 1 / L with the Lipschitz constant L of the gradient.
    """
    gamma = 1.0 / (problem.loss.lipschitz() or 1.0) if step is None else step
    while True:
        g = problem.loss.gradient(W)  # gradient computation
        z = W - gamma * g  # gradient descent
        W = problem.project(z).matrix  # projection
        yield W

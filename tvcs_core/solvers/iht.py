"""Iterative hard thresholding (Algorithm 1 of the paper; Yuan, Li and Zhang 2014)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import check_number
from tvcs_core.problem import Problem
from tvcs_core.solvers.step import descent


def iht(
    problem: Problem,
    W: NDArray[np.float64],
    *,
    step: float | str | None = None,
    momentum: float = 0.0,
) -> Iterator[NDArray[np.float64]]:
    """Step along the gradient, project, repeat.

    Parameters
    ----------
    problem
        Loss and constraint.
    W
        A feasible start.
    step
        The step size gamma > 0; by default 1 / L with the Lipschitz constant L of the gradient,
        for which the loss never increases. ``"adaptive"``: normalised IHT (`descent`).
    momentum
        Fraction in [0, 1) of the last move to repeat before the gradient is taken (accelerated
        IHT; Khanna and Kyrillidis 2018).
    """
    check_number("momentum", momentum)
    if not 0 <= momentum < 1:
        raise ValueError(f"momentum must be from 0 to below 1, found {momentum}")
    descend = descent(problem, step)
    ahead = W
    while True:
        g = problem.gradient(ahead)  # gradient computation
        last, W = W, descend(ahead, g).matrix  # gradient descent, projection
        ahead = W + momentum * (W - last) if momentum else W
        yield W

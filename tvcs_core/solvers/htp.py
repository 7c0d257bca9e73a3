"""Hard thresholding pursuit (Foucart 2011; Yuan, Li and Zhang 2016)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.problem import Problem
from tvcs_core.solvers.step import descent


def htp(
    problem: Problem, W: NDArray[np.float64], *, step: float | str | None = None
) -> Iterator[NDArray[np.float64]]:
    """Step along the gradient, take the support of the projection, minimise on it.

    The iteration ends when a support occurs twice in a row, after finitely many steps if the step
    is short enough (Foucart, section 3).

    Parameters
    ----------
    problem
        Loss and constraint.
    W
        A feasible start.
    step
        The step size mu > 0, or ``"adaptive"`` (`descent`). The default is 1 over the mean
        curvature of the loss, the source's mu = 1 for columns of length 1; the shorter 1 / L
        finds worse supports.
    """
    descend = descent(
        problem, 1.0 / (problem.loss.mean_curvature() or 1.0) if step is None else step
    )
    while True:
        g = problem.gradient(W)
        support = descend(W, g).support  # HTP 1
        W = problem.minimize_on(support)  # HTP 2
        yield W

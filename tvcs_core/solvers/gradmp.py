"""Gradient matching pursuit (Algorithm 2 of the paper; Nguyen, Chin and Tran 2012)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import describe_value
from tvcs_core.problem import Problem


def gradmp(
    problem: Problem, W: NDArray[np.float64], *, refit: bool = False
) -> Iterator[NDArray[np.float64]]:
    """Merge the support of the gradient under doubled caps, minimise on it, project.

    Parameters
    ----------
    problem
        Loss and constraint.
    W
        A feasible start.
    refit
        Whether to minimise once more, on the projected support.
    """
    if not isinstance(refit, bool | np.bool_):
        raise TypeError(f"refit must be True or False, found {describe_value(refit)}")
    while True:
        g = problem.inward(W, problem.gradient(W))  # gradient computation
        merged = problem.project_doubled(g).support | (W != 0)  # subspace selection
        z = problem.minimize_on(merged)  # subspace optimisation
        projection = problem.project(z)  # projection
        W = problem.minimize_on(projection.support) if refit else projection.matrix
        yield W

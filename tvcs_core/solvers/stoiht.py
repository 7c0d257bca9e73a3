"""Stochastic iterative hard thresholding (Nguyen, Needell and Woolf 2014, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.problem import Problem
from tvcs_core.solvers.batches import Batches


def stoiht(
    problem: Problem,
    W: NDArray[np.float64],
    *,
    rng: np.random.Generator,
    batch: int | None = None,
    schedule: str = "shuffled",
    step: float | None = None,
) -> Iterator[NDArray[np.float64]]:
    """Step along the gradient of a random batch of terms, project, repeat.

    Yields after every pass, that is after as many steps as there are batches.

    Parameters
    ----------
    problem
        A loss with terms, and the constraint.
    W
        A feasible start.
    rng
        Draws the batches.
    batch, schedule
        Terms per batch and the order of the batches, as for `Batches`.
    step
        The step size gamma > 0; by default 1 / L with the largest Lipschitz constant L of a
        batch's gradient, scaled to all terms.
    """
    batches = Batches(problem.loss, batch, schedule, rng)
    if step is None:
        largest = max(problem.loss.lipschitz_on(terms) for terms in batches.batches)
        step = 1.0 / (len(batches) * largest or 1.0)
    elif not 0 < step < math.inf:
        raise ValueError(f"step must be a number > 0 or None, found {step}")
    while True:
        for terms in batches.one_pass():  # randomize
            g = len(batches) * problem.loss.gradient_on(W, terms)
            b = W - step * g  # proxy
            W = problem.project(b).matrix  # identify, estimate
        yield W

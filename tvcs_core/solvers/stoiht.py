"""Stochastic iterative hard thresholding (Nguyen, Needell and Woolf 2014, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.problem import Problem
from tvcs_core.solvers.batches import Batches

Array = NDArray[np.float64]


def stoiht(
    problem: Problem,
    W: Array,
    *,
    rng: np.random.Generator,
    batch: int | None = None,
    schedule: str = "shuffled",
    step: float | None = None,
) -> Iterator[Array]:
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
        The step size gamma > 0; by default the best one for the batch along its gradient on
        the support of W, as in normalised IHT.
    """
    if step is not None and not 0 < step < math.inf:
        raise ValueError(f"step must be a number > 0 or None, found {step}")
    batches = Batches(problem.loss, batch, schedule, rng)
    while True:
        for terms in batches.one_pass():  # randomize
            g = len(batches) * problem.loss.gradient_on(W, terms)
            gamma = _best_step(problem, W, g, terms) / len(batches) if step is None else step
            b = W - gamma * g  # proxy
            W = problem.project(b).matrix  # identify, estimate
        yield W


def _best_step(problem: Problem, W: Array, g: Array, terms: NDArray[np.int64]) -> float:
    """Minimise the sum of `terms` along g on the support of W, or on that of g projected."""
    d = np.where(W != 0, g, 0.0)
    if not d.any():
        d = problem.project(g).matrix
    curvature = problem.loss.curvature_on(d, terms)
    return float(np.vdot(d, d)) / curvature if curvature > 0 else 0.0

"""Stochastic iterative hard thresholding (Nguyen, Needell and Woolf 2014, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.problem import Problem
from tvcs_core.solvers.batches import Batches
from tvcs_core.solvers.step import checked_step, descent

Array = NDArray[np.float64]

CUT, GROWTH = 0.5, 1.5  # step factors after a rejected and an accepted pass; any below and above 1


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

    Yields after every pass over the batches. Many supports can fit a batch that has fewer samples
    than variables, and its best step then leads away from all of them. So with the default step a
    pass that increases the loss is rejected: one step of normalised IHT along the whole gradient
    replaces it, and the batch steps are halved. After a pass that decreases the loss they grow
    again. Hence the loss never increases.

    Parameters
    ----------
    problem
        A loss with terms, and the constraint.
    W
        A feasible start.
    rng
        Generator of the batches.
    batch, schedule
        Terms per batch and the order of the batches, as for `Batches`.
    step
        The step size gamma > 0, always taken as it is; by default the best one for the batch along
        its gradient on the support of W, as in normalised IHT, or a fraction of it.
    """
    if step is not None:
        checked_step(step, "a number > 0 or None")
    batches = Batches(problem.loss, batch, schedule, rng)
    descend, part, value = descent(problem, "adaptive"), 1.0, problem.loss.value(W)
    while True:
        before = W
        for terms in batches.one_pass():  # randomize
            g = len(batches) * problem.gradient(W, terms)
            gamma = part * _best_step(problem, W, g, terms) / len(batches) if step is None else step
            b = W - gamma * g  # proxy
            W = problem.project(b).matrix  # identify, estimate
        if step is None:
            after = problem.loss.value(W)
            if after < value:
                part = min(1.0, GROWTH * part)
            else:
                part *= CUT
                W = descend(before, problem.gradient(before)).matrix
                after = problem.loss.value(W)
            value = after
        yield W


def _best_step(problem: Problem, W: Array, g: Array, terms: NDArray[np.int64]) -> float:
    """Return the step that minimises the batch along g on the support of W (if empty, of g)."""
    d = np.where(W != 0, g, 0.0)
    if not d.any():
        d = problem.project(g).matrix
    curvature = problem.loss.curvature_on(d, terms)
    return float(np.vdot(d, d)) / curvature if curvature > 0 else 0.0

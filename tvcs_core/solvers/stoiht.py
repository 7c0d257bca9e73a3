"""Stochastic iterative hard thresholding (Nguyen, Needell and Woolf 2014, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.problem import Problem
from tvcs_core.solvers.batches import Batches
from tvcs_core.solvers.step import descent

Array = NDArray[np.float64]

CUT, GROWTH = 0.5, 1.5  # of the steps after a pass that is taken back, and after one that is not


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

    Yields after every pass, that is after as many steps as there are batches. A batch with fewer
    samples than variables can be fitted by many supports, and its best step then leads away from
    all of them. So with the default step a pass that makes the loss larger is taken back, one step
    of normalised IHT along the whole gradient is taken in its place, and the steps are halved;
    after a pass that makes it smaller they grow again. No iterate is worse than the one before.

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
        The step size gamma > 0, which is then always taken; by default the best one for the
        batch along its gradient on the support of W, as in normalised IHT, or a part of it.
    """
    if step is not None and not 0 < step < math.inf:
        raise ValueError(f"step must be a number > 0 or None, found {step}")
    batches = Batches(problem.loss, batch, schedule, rng)
    descend, part, value = descent(problem, "adaptive"), 1.0, problem.loss.value(W)
    while True:
        before = W
        for terms in batches.one_pass():  # randomize
            g = len(batches) * problem.loss.gradient_on(W, terms)
            gamma = part * _best_step(problem, W, g, terms) / len(batches) if step is None else step
            b = W - gamma * g  # proxy
            W = problem.project(b).matrix  # identify, estimate
        if step is None:
            after = problem.loss.value(W)
            if after < value:
                part = min(1.0, GROWTH * part)
            else:
                part *= CUT
                W = descend(before, problem.loss.gradient(before)).matrix
                after = problem.loss.value(W)
            value = after
        yield W


def _best_step(problem: Problem, W: Array, g: Array, terms: NDArray[np.int64]) -> float:
    """Minimise the sum of `terms` along g on the support of W, or on that of g projected."""
    d = np.where(W != 0, g, 0.0)
    if not d.any():
        d = problem.project(g).matrix
    curvature = problem.loss.curvature_on(d, terms)
    return float(np.vdot(d, d)) / curvature if curvature > 0 else 0.0

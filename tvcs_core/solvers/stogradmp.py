"""Stochastic gradient matching pursuit (Nguyen, Needell and Woolf 2014, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.problem import Problem
from tvcs_core.solvers.batches import Batches


def stogradmp(
    problem: Problem,
    W: NDArray[np.float64],
    *,
    rng: np.random.Generator,
    batch: int | None = None,
    schedule: str = "shuffled",
) -> Iterator[NDArray[np.float64]]:
    """Run GradMP with the gradient of a random batch of terms.

    The minimisation is over all terms, as in the source. Yields after every step.

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
    """
    batches = Batches(problem.loss, batch, schedule, rng)
    while True:
        for terms in batches.one_pass():  # randomize
            r = problem.inward(W, problem.gradient(W, terms))  # proxy
            identified = problem.project_doubled(r).support  # identify
            merged = identified | (W != 0)  # merge
            b = problem.minimize_on(merged)  # estimate
            W = problem.project(b).matrix  # prune
            yield W

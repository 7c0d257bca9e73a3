"""Standard deviation of the expected accuracy of a plan, whose worker qualities are estimates.

For a given vote the expected accuracy of a task is linear in the accuracy of each of its workers,
and the estimates of different workers err independently. So the mean over the posterior accuracies
is the value at their means, and the variance is that of a sum: the slope of the plan's accuracy in
each worker's accuracy, times their standard deviation. In addition the prior is an estimate, and
moves all workers together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.accuracy.common_error import accuracy_of_equals
from crowd_tvcs.accuracy.two_classes import expected_accuracy
from crowd_tvcs.plan.assignment import Assignment

STEP = 1e-4  # of an accuracy: exact up to rounding, as the expected accuracy is piecewise linear


def plan_deviation(
    assignment: Assignment, deviation: ArrayLike, shared: ArrayLike | None = None
) -> float:
    """Return the standard deviation of the mean expected accuracy of a plan.

    Parameters
    ----------
    assignment
        The plan.
    deviation
        Standard deviation of every worker's accuracy, the same on all their tasks, in the order of
        the quality table; >= 0.
    shared
        Deviations that all workers share, one column per cause, see `skill.Skill.shared`; None for
        none.
    """
    slope = slopes(assignment)
    variance = ((slope * np.asarray(deviation, dtype=np.float64)) ** 2).sum()
    if shared is not None:
        variance += ((slope @ np.asarray(shared, dtype=np.float64)) ** 2).sum()
    return float(np.sqrt(variance))


def slopes(assignment: Assignment) -> NDArray[np.float64]:
    """Return the derivative of the plan's mean expected accuracy in the accuracy of every worker.

    By central differences: at a tied vote this is the mean of the slopes of both sides.
    """
    plan, support = assignment.plan, assignment.support
    out = np.zeros(support.shape[0])
    for i, own in enumerate(support):
        tasks = np.flatnonzero(own)
        if tasks.size == 0:
            continue
        voters, prior = support[:, tasks], plan.prior[tasks]
        sides = []
        for step in (-STEP, STEP):
            values = plan.table.values[:, tasks].copy()
            values[i] = np.clip(values[i] + step, 0.0, 1.0)
            if plan.common_error > 0.0:
                accuracy = accuracy_of_equals(values, voters, prior, plan.common_error)
            else:
                accuracy = expected_accuracy(values, voters, prior)
            sides.append((values[i], accuracy))
        (low, before), (high, after) = sides
        out[i] = ((after - before) / (high - low)).sum() / support.shape[1]
    return out

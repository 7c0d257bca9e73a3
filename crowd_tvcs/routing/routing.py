"""Routing: the next label to buy while answers come in, and when to stop.

The score of a pair (worker, task) is the expected drop of the task's uncertainty u by one answer of
the worker (`crowd_tvcs.belief.uncertainty`). For two classes and one accuracy q it is
u (1 - 2 sqrt(q (1 - q))).

A worker who asks gets the task of their largest score. A batch is one projection: the pairs of
largest total score within the caps. Nothing here draws random numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.belief.uncertainty import even_separation, separation, uncertainty
from tvcs_core import TVCS, project


def routing_scores(posterior: Floats, skill: ArrayLike) -> Floats:
    """Return the expected drop of the uncertainty of every task by one answer of every worker.

    Parameters
    ----------
    posterior
        Probability of every label of every task, of shape (tasks, classes).
    skill
        Accuracy of every worker, of shape (workers,), or on every task, of shape (workers, tasks),
        mistakes spread evenly over the other classes; or confusion matrices, of shape (workers,
        classes, classes).

    Returns
    -------
    ndarray
        Of shape (workers, tasks), >= 0.
    """
    given = np.asarray(skill, dtype=np.float64)
    k = posterior.shape[1]
    if given.ndim <= 2:
        apart = even_separation(given, k)
        return (apart[:, None] if given.ndim == 1 else apart) * uncertainty(posterior)
    root = np.sqrt(posterior)
    pairs = (root[:, :, None] * root[:, None, :]).reshape(-1, k * k)
    return separation(given).reshape(-1, k * k) @ pairs.T / 2.0


def next_task(scores: Floats, is_open: Bools) -> int | None:
    """Return the open task of the largest score for one worker; None if no score is above 0.

    Both arguments have one value per task; ties go to the first.
    """
    worth = np.where(is_open, scores, 0.0)
    best = int(worth.argmax())
    return best if worth[best] > 0.0 else None


def next_batch(
    scores: Floats,
    is_open: Bools,
    *,
    max_tasks_per_worker: int | ArrayLike | None = None,
    max_workers_per_task: int | ArrayLike | None = None,
    budget: int | None = None,
) -> Bools:
    """Choose the open pairs of the largest total score within the caps, by one projection.

    Parameters
    ----------
    scores
        Score of every pair, >= 0, of shape (workers, tasks). Pairs of score 0 are never chosen.
    is_open
        Mask of the pairs that may be chosen; of the same shape.
    max_tasks_per_worker, max_workers_per_task, budget
        Remaining caps for this batch; None for no cap.

    Returns
    -------
    ndarray
        Boolean, of the same shape.
    """
    caps = TVCS.matrix(
        scores.shape,
        row_caps=max_tasks_per_worker,
        col_caps=max_workers_per_task,
        total=budget,
        allowed=is_open & (scores > 0.0),
    )
    return project(np.sqrt(scores), caps).support


def is_worth_buying(gain: Floats, price: ArrayLike, value: float) -> Bools:
    """Return whether the next label of each task is worth its price.

    Parameters
    ----------
    gain
        Increase of the probability of a right label per label, see `gain_per_label`.
    price
        Price of one label: one number, or one per task; in the currency of `value`.
    value
        Value of one more right label.
    """
    return (gain > 0.0) & (gain * value >= np.asarray(price))

"""The common error of plans: how far expected accuracies must saturate to be what votes claim.

A plan is made before any answer, and must be exact for every set of workers, so it has a simpler
model than votes: with chance e all workers on a task answer as if its label were another one, drawn
from the classes; else they err independently. One answer is worth what it was; many are worth at
most 1 - e + e / K. Here e is the one with which plans expect of gold tasks what the vote claims of
them, by 1, 2, 3 and 5 answers of the best workers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.many_classes import accuracy_of_classes
from crowd_tvcs.skills.foresight import Foresight, standing_out
from tvcs_core.streams import stream

USUAL_ERROR = 0.15
USUAL_LOGIT = -1.7  # of the common error, where claims say little, give or take 1
VARIANCE = 0.04  # of a claim, by which it says little where gold tasks are few
MOST_OUTCOMES = 4096
MOST_TASKS = 200
MOST_COMPARED = 1000  # tasks, to compare what is expected of gold with what is reached
LEAST_SHARE = 0.5  # of the gold tasks, that must have as many answers as are looked at
LARGEST = 0.9
LEAST = 1e-4

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def common_error(
    accuracy: Floats, claims: dict[int, Floats], n_answers: NDArray[np.int64], n_classes: int
) -> float:
    """Return the common error with which plans expect what is claimed.

    Parameters
    ----------
    accuracy
        Of the workers of every gold task, the best first, of shape (places, tasks); any number
        where a task has fewer.
    claims
        Confidence of the vote on every gold task, by the number of answers.
    n_answers
        Of every gold task.
    n_classes
        Number of classes, which count as equally frequent.
    """
    from scipy.optimize import minimize_scalar

    ridge = VARIANCE / n_answers.size
    some = _some(n_answers.size, MOST_TASKS)
    accuracy, n_answers = accuracy[:, some], n_answers[some]
    parts = []
    for k, claim in claims.items():
        tasks = n_answers >= k
        if tasks.any() and (n_classes**k <= MOST_OUTCOMES or k == 1):
            parts.append((accuracy[:k, tasks], float(claim[some][tasks].mean())))

    def loss(logit: float) -> float:
        e = 1.0 / (1.0 + np.exp(-logit))
        off = [expected(part, e, n_classes) - claim for part, claim in parts]
        return float(np.square(off).sum() + ridge * (logit - USUAL_LOGIT) ** 2)

    low, high = np.log(LEAST / (1.0 - LEAST)), np.log(LARGEST / (1.0 - LARGEST))
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 0.01})
    return float(1.0 / (1.0 + np.exp(-found.x)))


def foresight_of(
    accuracy: Floats,
    hits: dict[int, Floats],
    n_answers: NDArray[np.int64],
    usual: float,
    e: float,
    n_classes: int,
) -> Foresight:
    """Compare what plans expect of gold tasks with what votes reach of them.

    Parameters
    ----------
    accuracy, n_answers, n_classes
        As of `common_error`; 1 / `n_classes` where a task has fewer answers.
    hits
        Whether the vote on every gold task is right, by the number of answers.
    usual
        Mean accuracy of the workers of all answers to gold tasks.
    e
        Common error.
    """
    n_tasks = accuracy.shape[1]
    some = _some(n_tasks, MOST_COMPARED)
    few = [k for k in hits if n_classes**k <= MOST_OUTCOMES]
    usable = [k for k in few if (n_answers >= k).mean() >= LEAST_SHARE]
    labels = tuple(k for k in hits if k in usable or k == 1)
    answered = np.arange(accuracy.shape[0])[:, None] < n_answers
    best = tuple(float(accuracy[:k][answered[:k]].mean()) for k in labels)
    means = [expected(accuracy[:k, some], e, n_classes) for k in labels]
    reached = [float(hits[k][some].mean()) for k in labels]
    gaps = [standing_out(r, m, some.size) for r, m in zip(reached, means, strict=True)]
    return Foresight(n_tasks, labels, best, usual, tuple(gaps))


def _some(n_tasks: int, most: int) -> Integers:
    """Gold tasks to compare: all of them, or `most`, the same at every call."""
    if n_tasks <= most:
        return np.arange(n_tasks)
    return np.sort(stream(0, "gold tasks compared").permutation(n_tasks)[:most])


def expected(accuracy: Floats, e: float, n_classes: int) -> float:
    """Mean expected accuracy of tasks whose workers have these accuracies, with a common error."""
    alone = np.clip((accuracy - e / n_classes) / (1.0 - e), 0.0, 1.0)
    everybody = np.ones(alone.shape, dtype=bool)
    values, _ = accuracy_of_classes(alone, everybody, n_classes)
    return (1.0 - e) * float(values.mean()) + e / n_classes

"""Fit the common error of plans, with which expected accuracies match the confidences of votes.

A plan is made before any answer and must be evaluated exactly for every set of workers, so its
model is simpler than that of votes. With probability e all workers on a task answer as if its label
were another one, drawn from the classes; otherwise they err independently. The value of one answer
does not change; the accuracy of many is at most 1 - e + e / K. The fitted e is the one with which
the expected accuracy of gold tasks equals the mean confidence of their votes, by 1, 2, 3 and 5
answers of the best workers.
"""

from __future__ import annotations

import numpy as np

from crowd_tvcs.accuracy.many_classes import accuracy_of_classes
from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.skills.accuracy_forecast import ForecastModel, shrunken_gap
from tvcs_core.streams import stream

# Chosen on six public crowds, as those of `dependence_fit` (docs/studies/crowd-confidence.md).
DEFAULT_ERROR = 0.15  # e without gold: the inverse logit of the prior's mean
PRIOR_LOGIT = -1.7  # mean of the normal prior of the logit of e, with deviation 1
CONFIDENCE_VARIANCE = 0.04  # of one task's confidence: weighs the prior against few gold tasks
MAX_OUTCOMES = 4096  # answer patterns of a task that are enumerated, to bound the time
MAX_TASKS = 200  # gold tasks in the fit, to bound the time
MAX_COMPARED_TASKS = 1000  # gold tasks for comparing expected and observed accuracy
MIN_ANSWERED_SHARE = 0.5  # of the gold tasks that must have a number of answers to compare it
MAX_ERROR = 0.9  # bounds of e
MIN_ERROR = 1e-4


def common_error(
    accuracy: Floats, claims: dict[int, Floats], n_answers: Integers, n_classes: int
) -> float:
    """Return the common error with which plans expect the mean confidences of the votes.

    Parameters
    ----------
    accuracy
        Accuracies of the workers of every gold task, best first, of shape (ranks, tasks); any
        number where a task has fewer workers.
    claims
        Confidence of the vote on every gold task, by the number of answers.
    n_answers
        Number of answers of every gold task.
    n_classes
        Number of classes, taken as equally frequent.
    """
    from scipy.optimize import minimize_scalar

    ridge = CONFIDENCE_VARIANCE / n_answers.size
    some = _sample_tasks(n_answers.size, MAX_TASKS)
    accuracy, n_answers = accuracy[:, some], n_answers[some]
    parts = []
    for k, claim in claims.items():
        tasks = n_answers >= k
        if tasks.any() and (n_classes**k <= MAX_OUTCOMES or k == 1):
            parts.append((accuracy[:k, tasks], float(claim[some][tasks].mean())))

    def loss(logit: float) -> float:
        e = 1.0 / (1.0 + np.exp(-logit))
        off = [mean_expected_accuracy(part, e, n_classes) - claim for part, claim in parts]
        return float(np.square(off).sum() + ridge * (logit - PRIOR_LOGIT) ** 2)

    low, high = np.log(MIN_ERROR / (1.0 - MIN_ERROR)), np.log(MAX_ERROR / (1.0 - MAX_ERROR))
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 0.01})
    return float(1.0 / (1.0 + np.exp(-found.x)))


def fit_forecast(
    accuracy: Floats,
    hits: dict[int, Floats],
    n_answers: Integers,
    usual: float,
    e: float,
    n_classes: int,
) -> ForecastModel:
    """Compare the expected accuracy of plans on gold tasks with the observed accuracy of votes.

    Parameters
    ----------
    accuracy, n_answers, n_classes
        As in `common_error`; 1 / `n_classes` where a task has fewer workers.
    hits
        Whether the vote on every gold task is right, by the number of answers.
    usual
        Mean accuracy of the workers of all answers to gold tasks.
    e
        Common error.
    """
    n_tasks = accuracy.shape[1]
    some = _sample_tasks(n_tasks, MAX_COMPARED_TASKS)
    few = [k for k in hits if n_classes**k <= MAX_OUTCOMES]
    usable = [k for k in few if (n_answers >= k).mean() >= MIN_ANSWERED_SHARE]
    labels = tuple(k for k in hits if k in usable or k == 1)
    answered = np.arange(accuracy.shape[0])[:, None] < n_answers
    best = tuple(float(accuracy[:k][answered[:k]].mean()) for k in labels)
    means = [mean_expected_accuracy(accuracy[:k, some], e, n_classes) for k in labels]
    reached = [float(hits[k][some].mean()) for k in labels]
    gaps = [shrunken_gap(r, m, some.size) for r, m in zip(reached, means, strict=True)]
    return ForecastModel(n_tasks, labels, best, usual, tuple(gaps))


def _sample_tasks(n_tasks: int, most: int) -> Integers:
    """Return the indices of at most `most` gold tasks, the same at every call."""
    if n_tasks <= most:
        return np.arange(n_tasks)
    return np.sort(stream(0, "gold tasks compared").permutation(n_tasks)[:most])


def mean_expected_accuracy(accuracy: Floats, e: float, n_classes: int) -> float:
    """Return the mean expected accuracy of tasks with such workers and a common error."""
    alone = np.clip((accuracy - e / n_classes) / (1.0 - e), 0.0, 1.0)
    everybody = np.ones(alone.shape, dtype=bool)
    values, _ = accuracy_of_classes(alone, everybody, n_classes)
    return (1.0 - e) * float(values.mean()) + e / n_classes

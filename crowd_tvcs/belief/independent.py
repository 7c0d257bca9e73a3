"""Posterior of a task where workers err independently: Bayes' rule.

With prior pi and answers l_1, ..., l_n of workers of accuracies q_i, mistakes spread evenly over
the other K - 1 classes, the posterior of class y is proportional to pi_y times the product of the
probabilities of the answers: q_i where l_i = y, and (1 - q_i) / (K - 1) elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.arrays import Floats, Integers, softmax, sum_by
from crowd_tvcs.belief.constants import MIN_PROBABILITY
from tvcs_core.arguments import array_of


def priors(prior: ArrayLike | None, n_tasks: int, n_classes: int) -> Floats:
    """Check the prior and return it for every task, of shape (tasks, classes).

    Probabilities are at least `MIN_PROBABILITY`.

    Parameters
    ----------
    prior
        Probability of every class, of shape (classes,) or (tasks, classes); None for equal ones.
    n_tasks, n_classes
        Numbers of tasks and of classes.
    """
    if prior is None:
        return np.full((n_tasks, n_classes), 1.0 / n_classes)
    given = array_of("prior", prior, np.float64)
    if given.shape not in ((n_classes,), (n_tasks, n_classes)):
        raise ValueError(
            f"prior must have shape ({n_classes},) or ({n_tasks}, {n_classes}), found {given.shape}"
        )
    is_off = ~(given >= 0.0).all(axis=-1) | (np.abs(given.sum(axis=-1) - 1.0) > 1e-6)
    if is_off.any():
        found = np.atleast_2d(given)[int(np.argmax(is_off))]
        raise ValueError(
            "prior must hold probabilities that add up to 1 over the classes, found "
            f"{', '.join(f'{x:g}' for x in found.tolist())}, whose sum is {found.sum():g}"
        )
    inside = np.maximum(given, MIN_PROBABILITY)
    out: Floats = np.array(np.broadcast_to(inside, (n_tasks, n_classes)))
    out /= out.sum(axis=1, keepdims=True)
    return out


def log_likelihood(chances: Floats) -> Floats:
    """Return the logarithm of probabilities of answers, away from 0 and 1."""
    return np.log(np.clip(chances, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY))


def even_log_likelihood(accuracy: Floats, label_of: Integers, n_classes: int) -> Floats:
    """Return it for answers with an accuracy each, by label: of shape (answers, classes)."""
    matrices = even_matrices(accuracy, n_classes)
    return log_likelihood(matrices[np.arange(label_of.size), :, label_of])


def independent_posterior(before: Floats, of_answers: Floats, task_of: Integers) -> Floats:
    """Return the posterior of every class of every task, of shape (tasks, classes).

    Parameters
    ----------
    before
        Probability > 0 of every class of every task, of shape (tasks, classes).
    of_answers
        Log-likelihood of every answer under every class, of shape (answers, classes).
    task_of
        Index of the task of every answer.
    """
    return softmax(np.log(before) + sum_by(task_of, of_answers, before.shape[0]))


def independent_posterior_of_task(
    prior: Sequence[float], answers: Iterable[tuple[int, float]]
) -> list[float]:
    """Return the posterior of every class of one task.

    Parameters
    ----------
    prior
        One probability per class.
    answers
        Class index and accuracy in [0, 1] of the worker of every answer.

    Examples
    --------
    >>> [round(p, 2) for p in independent_posterior_of_task([.5, .5], [(1, .9), (0, .6)])]
    [0.14, 0.86]
    """
    k = len(prior)
    logs = [math.log(max(p, MIN_PROBABILITY)) for p in prior]
    for label, accuracy in answers:
        right = _inside(accuracy)
        wrong = math.log(_inside((1.0 - accuracy) / (k - 1)))
        for y in range(k):
            logs[y] += math.log(right) if y == label else wrong
    return softmax_of_task(logs)


def softmax_of_task(logs: Sequence[float]) -> list[float]:
    """Return exp(logs) divided by its sum."""
    top = max(logs)
    weights = [math.exp(x - top) for x in logs]
    total = sum(weights)
    return [w / total for w in weights]


def _inside(chance: float) -> float:
    return min(max(chance, MIN_PROBABILITY), 1.0 - MIN_PROBABILITY)

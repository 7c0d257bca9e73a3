"""Routing: the next label to buy while answers come in, and when to stop.

The uncertainty of a task with label probabilities p is u = sum over pairs of classes of
sqrt(p_a p_b); for two classes sqrt(c (1 - c)) with c the confidence. One more answer is expected to
reduce a pair's term by the factor g = 1 - sum over answers l of sqrt(P(l | a) P(l | b)), one minus
the Bhattacharyya coefficient. That is exact: the score of a pair (worker, task) is the expected
drop of u. For two classes and one accuracy q it is u (1 - 2 sqrt(q (1 - q))).

A worker who asks gets the task of their largest score. A batch is one projection: the pairs of
largest total score within the caps. Nothing here draws random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.skills.dependence import SUREST, Dependence
from tvcs_core import TVCS, project

LOOK_AHEAD = 5
MOST_OUTCOMES = 500
ROUNDING = 1e-12
LEAST_ODDS = 1e-6  # in logarithms, of a worker who tells something
TINY, LEAST = 1e-12, 1e-300  # chance of a class; what is divided by
SUREST_LOGIT = 500.0  # beyond, exp is no number
MAX_ITERATIONS = 20  # of prices; three or four do

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def uncertainty(posterior: Floats) -> Floats:
    """Return the sum of sqrt(p_a p_b) over the pairs of classes, 0 if one is certain.

    `posterior` has shape (tasks, classes); the result has one value per task.
    """
    root = np.sqrt(posterior)
    out: Floats = (root.sum(axis=1) ** 2 - posterior.sum(axis=1)) / 2.0
    return np.maximum(out, 0.0)


def separation(matrices: Floats) -> Floats:
    """Return how well a worker separates each two classes: 1 - sum of sqrt(P(l | a) P(l | b)).

    `matrices` are confusion matrices of shape (workers, classes, classes); so is the result, with
    zeros on the diagonals.
    """
    root = np.sqrt(matrices)
    out: Floats = 1.0 - np.einsum("ial,ibl->iab", root, root)
    at = np.arange(matrices.shape[1])
    out[:, at, at] = 0.0
    return np.clip(out, 0.0, 1.0)


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
        wrong = (1.0 - given) / (k - 1)
        apart = 1.0 - 2.0 * np.sqrt(given * wrong) - (k - 2) * wrong
        apart = np.clip(apart, 0.0, 1.0)
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
    chosen: Bools = project(np.sqrt(scores), caps).support
    return chosen


def gain_per_label(
    posterior: Floats,
    accuracy: ArrayLike,
    *,
    max_labels: ArrayLike = LOOK_AHEAD,
    dependence: Dependence | None = None,
    answers: ArrayLike = 0,
    alone: Floats | None = None,
) -> Floats:
    """Return the largest increase of the expected accuracy of each task per label, looking ahead.

    A single label may add nothing while two or three add much. So the result is the maximum over k
    = 1, ..., `max_labels` of the gain by k labels of workers of this accuracy, divided by k. With
    `dependence` it is the maximum over all rules that buy one label, and then go on or stop
    depending on the answers.

    Parameters
    ----------
    posterior
        Probability of every label of every task, of shape (tasks, classes).
    accuracy
        Accuracy of the best workers who may still label it: one number, or one per task. Mistakes
        are spread evenly over the other classes.
    max_labels
        Labels to look ahead, >= 0: one number, or one per task; for independent workers fewer if
        there would be more than `MOST_OUTCOMES` outcomes.
    dependence
        Model of dependent errors; None for independent workers. A label then changes a posterior as
        the vote does, with the most probable class against each other one, and its probability is
        the one that keeps the posterior a martingale.
    answers
        Number of answers of the tasks so far; only used with `dependence`.
    alone
        Posteriors as `posterior`, had independent workers given the answers: with `dependence` the
        gain is then at most that of their next labels. None for no such limit.

    Returns
    -------
    ndarray
        One value per task, >= 0: probability of a right label per label bought.
    """
    m = len(posterior)
    right = np.clip(np.broadcast_to(np.asarray(accuracy, dtype=np.float64), (m,)), 0.0, 1.0)
    ahead, out = np.broadcast_to(np.asarray(max_labels), (m,)), np.zeros(m)
    if dependence is not None:
        n = np.broadcast_to(np.asarray(answers, dtype=np.float64), (m,))
        out = _dependent_gain(posterior, right, n, ahead, dependence)
        if alone is not None:
            out = np.minimum(out, gain_per_label(alone, right, max_labels=ahead))
    else:
        for k, added in enumerate(
            _independent_gains(posterior, right, int(ahead.max(initial=0))), 1
        ):
            out = np.where(k <= ahead, np.maximum(out, added / k), out)
    out[out < ROUNDING] = 0.0
    return out


def _independent_gains(posterior: Floats, right: Floats, max_labels: int) -> Iterator[Floats]:
    """Yield the gains of 1, 2, ..., `max_labels` labels of independent workers for every task."""
    n_classes = posterior.shape[1]
    wrong = (1.0 - right) / (n_classes - 1)
    for k in range(1, max_labels + 1):
        if k > 1 and math.comb(k + n_classes - 1, k) > MOST_OUTCOMES:
            break
        reached = np.zeros(len(posterior))
        for counts in _compositions(k, n_classes):
            ways = math.factorial(k) / math.prod(math.factorial(c) for c in counts)
            votes = np.array(counts)
            chance = right[:, None] ** votes * wrong[:, None] ** (k - votes)
            reached += ways * (posterior * chance).max(axis=1)
        yield reached - posterior.max(axis=1)


def _dependent_gain(
    posterior: Floats, accuracy: Floats, n: Floats, ahead: NDArray[Any], model: Dependence
) -> Floats:
    """Return the largest gain per label under dependent errors, over all rules to go on or stop.

    The most probable class is compared with each other one, as if the label were one of the two.
    With v_n = c_n f of a worker as good as the others (`dependence`), one label more than n
    multiplies the log odds by v_(n + 1) / v_n, and moves them by v_(n + 1) T om towards the class
    that it names. The probability of each answer follows from the martingale property: the mean of
    the posterior stays.

    Labels that agree leave nothing to buy, so a third one is seldom bought. At a price per label
    the best rule follows by backward induction from the last label; the price at which it gains no
    more than it pays is the largest gain per label (Dinkelbach's iteration). The payments are
    shared among the pairs of classes in proportion to the probability of the other class.
    """
    n_classes, max_labels = posterior.shape[1], int(ahead.max(initial=0))
    inside = np.clip(accuracy, SUREST, 1.0 - SUREST)
    odds = model.temperature * np.log(inside * (n_classes - 1.0) / (1.0 - inside))
    tells, odds = odds > LEAST_ODDS, np.maximum(odds, LEAST_ODDS)
    counts = [n + k for k in range(max_labels + 1)]
    kept = [1.0 - model.contrast * (1.0 - 1.0 / np.maximum(one, 1.0)) for one in counts]
    worth = [(model.factor(one) * f)[:, None] for one, f in zip(counts, kept, strict=True)]
    chances = np.sort(posterior, axis=1)[:, ::-1]
    inner = np.maximum((chances - model.common / n_classes) / (1.0 - model.common), TINY)
    lead = np.log(inner[:, :1] / inner[:, 1:])
    of_both = chances[:, :1] + chances[:, 1:]
    others = np.maximum(chances[:, 1:].sum(axis=1, keepdims=True), TINY)
    of_pair = chances[:, 1:] * (1.0 + chances[:, :1] / others)

    def claimed(k: int, votes: int) -> Floats:
        """Return the posterior of the leading class of each pair after `votes` of k labels."""
        logit = worth[k] * (lead / worth[0] + odds[:, None] * (2 * votes - k))
        logit = np.clip(logit, -SUREST_LOGIT, SUREST_LOGIT)
        return (1.0 - model.common) / (1.0 + np.exp(-logit)) + model.common / 2.0

    claims = [[claimed(k, votes) for votes in range(k + 1)] for k in range(max_labels + 1)]
    turned = [[np.maximum(0.0, 1.0 - 2.0 * p) for p in row] for row in claims]
    names = [
        [
            np.clip((p - less) / np.maximum(more - less, LEAST), 0.0, 1.0)
            for p, (less, more) in zip(row, pairwise(after), strict=True)
        ]
        for row, after in pairwise(claims)
    ]
    rate = np.zeros(len(posterior))
    for _ in range(MAX_ITERATIONS):
        gain, labels = _best_rule(rate[:, None] * of_pair / of_both, turned, names, ahead[:, None])
        paid = np.maximum((of_pair * labels).sum(axis=1), 1.0)
        found = np.where(tells, (of_both * gain).sum(axis=1) / paid, 0.0)
        if (np.abs(found - rate) <= ROUNDING).all():
            break
        rate = found
    return found


def _best_rule(
    price: Floats, turned: list[list[Floats]], names: list[list[Floats]], ahead: NDArray[Any]
) -> tuple[Floats, Floats]:
    """Return the gain of the best rule that buys one label, and its expected number of labels.

    For k labels, of which some named the leading class, `turned` is the gain of switching to the
    other class, if it leads, and `names` the probability that the next label names the leading
    class.
    """
    max_labels = len(names)
    gains, labels = turned[max_labels], [np.zeros_like(price) for _ in turned[max_labels]]
    for k in reversed(range(max_labels)):
        now, bought = [], []
        for votes, (name, stays) in enumerate(zip(names[k], turned[k], strict=True)):
            more = (1.0 - name) * gains[votes] + name * gains[votes + 1]
            paid = 1.0 + (1.0 - name) * labels[votes] + name * labels[votes + 1]
            goes_on = (k < ahead) & ((k == 0) | (more - price * paid > stays))
            now.append(np.where(goes_on, more, stays))
            bought.append(np.where(goes_on, paid, 0.0))
        gains, labels = now, bought
    return gains[0], labels[0]


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


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """Return all ways to write `total` as an ordered sum of `parts` integers >= 0."""
    if parts == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(total + 1)
        for rest in _compositions(total - first, parts - 1)
    ]

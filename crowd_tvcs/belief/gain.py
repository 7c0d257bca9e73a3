"""Gain of the next labels of a task: how much they add to its expected accuracy, looking ahead.

A single label may add nothing while two or three add much. So the gain is per label, for the number
of labels for which that is largest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.arrays import Floats
from crowd_tvcs.belief.constants import (
    GAIN_ROUNDING,
    LOOK_AHEAD,
    MAX_LOGIT,
    MAX_OUTCOMES,
    MAX_PRICE_UPDATES,
    MIN_CLASS_PROBABILITY,
    MIN_DIVISOR,
    MIN_TELLING_LOG_ODDS,
)
from crowd_tvcs.belief.dependent import log_odds, log_odds_of_worker
from crowd_tvcs.belief.parameters import DependenceParams


def gain_per_label(
    posterior: Floats,
    accuracy: ArrayLike,
    *,
    max_labels: ArrayLike = LOOK_AHEAD,
    dependence: DependenceParams | None = None,
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
        there would be more than `MAX_OUTCOMES` outcomes.
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
    out[out < GAIN_ROUNDING] = 0.0
    return out


def _independent_gains(posterior: Floats, right: Floats, max_labels: int) -> Iterator[Floats]:
    """Yield the gains of 1, 2, ..., `max_labels` labels of independent workers for every task."""
    n_classes = posterior.shape[1]
    wrong = (1.0 - right) / (n_classes - 1)
    for k in range(1, max_labels + 1):
        if k > 1 and math.comb(k + n_classes - 1, k) > MAX_OUTCOMES:
            break
        reached = np.zeros(len(posterior))
        for ways, counts in _outcomes(k, n_classes):
            votes = np.array(counts)
            chance = right[:, None] ** votes * wrong[:, None] ** (k - votes)
            reached += ways * (posterior * chance).max(axis=1)
        yield reached - posterior.max(axis=1)


def _dependent_gain(
    posterior: Floats, accuracy: Floats, n: Floats, ahead: NDArray[Any], model: DependenceParams
) -> Floats:
    """Return the largest gain per label under dependent errors, over all rules to go on or stop.

    The most probable class is compared with each other one, as if the label were one of the two.
    With v_n = c_n f of a worker as good as the others (see `dependent`), one label more than n
    multiplies the log odds by v_(n + 1) / v_n, and moves them by v_(n + 1) T om towards the class
    that it names. The probability of each answer follows from the martingale property: the mean of
    the posterior stays.

    Labels that agree leave nothing to buy, so a third one is seldom bought. At a price per label
    the best rule follows by backward induction from the last label; the price at which it gains no
    more than it pays is the largest gain per label (Dinkelbach's iteration). The payments are
    shared among the pairs of classes in proportion to the probability of the other class.
    """
    n_classes, max_labels = posterior.shape[1], int(ahead.max(initial=0))
    odds = model.temperature * log_odds(accuracy, n_classes)
    tells, odds = odds > MIN_TELLING_LOG_ODDS, np.maximum(odds, MIN_TELLING_LOG_ODDS)
    counts = [n + k for k in range(max_labels + 1)]
    kept = [1.0 - model.contrast * (1.0 - 1.0 / np.maximum(one, 1.0)) for one in counts]
    worth = [(model.factor(one) * f)[:, None] for one, f in zip(counts, kept, strict=True)]
    chances = np.sort(posterior, axis=1)[:, ::-1]
    inner = np.maximum(
        (chances - model.common / n_classes) / (1.0 - model.common), MIN_CLASS_PROBABILITY
    )
    lead = np.log(inner[:, :1] / inner[:, 1:])
    of_both = chances[:, :1] + chances[:, 1:]
    others = np.maximum(chances[:, 1:].sum(axis=1, keepdims=True), MIN_CLASS_PROBABILITY)
    of_pair = chances[:, 1:] * (1.0 + chances[:, :1] / others)

    def claimed(k: int) -> Floats:
        """Return the posterior of the leading class of each pair after 0 to k votes of k labels."""
        votes = np.arange(k + 1)[:, None, None]
        logit = worth[k] * (lead / worth[0] + odds[:, None] * (2 * votes - k))
        logit = np.clip(logit, -MAX_LOGIT, MAX_LOGIT)
        return (1.0 - model.common) / (1.0 + np.exp(-logit)) + model.common / 2.0

    claims = [claimed(k) for k in range(max_labels + 1)]
    turned = [np.maximum(0.0, 1.0 - 2.0 * p) for p in claims]
    names = [
        np.clip((p - after[:-1]) / np.maximum(np.diff(after, axis=0), MIN_DIVISOR), 0.0, 1.0)
        for p, after in pairwise(claims)
    ]
    rate = np.zeros(len(posterior))
    for _ in range(MAX_PRICE_UPDATES):
        gain, labels = _best_rule(rate[:, None] * of_pair / of_both, turned, names, ahead[:, None])
        paid = np.maximum((of_pair * labels).sum(axis=1), 1.0)
        found = np.where(tells, (of_both * gain).sum(axis=1) / paid, 0.0)
        if (np.abs(found - rate) <= GAIN_ROUNDING).all():
            break
        rate = found
    return found


def _best_rule(
    price: Floats, turned: list[Floats], names: list[Floats], ahead: NDArray[Any]
) -> tuple[Floats, Floats]:
    """Return the gain of the best rule that buys one label, and its expected number of labels.

    For k labels, of which 0 to k (first axis) named the leading class, `turned` is the gain of
    switching to the other class, if it leads, and `names` the probability that the next label
    names the leading class.
    """
    gains, labels = turned[-1], np.zeros_like(turned[-1])
    for k in reversed(range(len(names))):
        name, stays = names[k], turned[k]
        more = (1.0 - name) * gains[:-1] + name * gains[1:]
        paid = 1.0 + (1.0 - name) * labels[:-1] + name * labels[1:]
        goes_on = (k < ahead) & ((k == 0) | (more - price * paid > stays))
        gains, labels = np.where(goes_on, more, stays), np.where(goes_on, paid, 0.0)
    return gains[0], labels[0]


def gain_per_label_of_task(
    chances: Sequence[float],
    accuracy: float,
    model: DependenceParams | None,
    answers: int,
    room: int = LOOK_AHEAD,
    alone: Sequence[float] | None = None,
) -> float:
    """Return the gain of one task, for as many labels as it has `room` for; `LOOK_AHEAD` at most.

    `model` is the `dependence` of `gain_per_label`; other arguments are as there.
    """
    ahead = min(room, LOOK_AHEAD)
    if model is None:
        gains = _independent_gains_of_task(chances, accuracy, ahead)
        most = max((added / labels for labels, added in enumerate(gains, start=1)), default=0.0)
    else:
        most = _dependent_gain_of_task(chances, accuracy, model, answers, ahead)
        if alone is not None:
            most = min(most, gain_per_label_of_task(alone, accuracy, None, answers, room))
    return most if most >= GAIN_ROUNDING else 0.0


def _independent_gains_of_task(
    chances: Sequence[float], right: float, most: int
) -> Iterator[float]:
    """Yield the gains of 1, 2, ..., `most` labels of independent workers for one task."""
    k, wrong = len(chances), (1.0 - right) / (len(chances) - 1)
    for labels in range(1, most + 1):
        if labels > 1 and math.comb(labels + k - 1, labels) > MAX_OUTCOMES:
            break
        reached = 0.0
        for ways, votes in _outcomes(labels, k):
            of_truth = [right**v * wrong ** (labels - v) for v in votes]
            reached += ways * max(p * c for p, c in zip(chances, of_truth, strict=True))
        yield reached - max(chances)


def _dependent_gain_of_task(
    chances: Sequence[float], accuracy: float, model: DependenceParams, answers: int, most: int
) -> float:
    """Return the largest gain per label of one task; see `_dependent_gain`."""
    k = len(chances)
    odds = model.temperature * log_odds_of_worker(accuracy, k)
    if odds <= MIN_TELLING_LOG_ODDS or most < 1:
        return 0.0
    counts = range(answers, answers + most + 1)
    worth = [
        model.factor_of_task(n) * (1.0 - model.contrast * (1.0 - 1.0 / max(n, 1))) for n in counts
    ]
    rest, half = 1.0 - model.common, model.common / 2.0
    leader, *others = sorted(chances, reverse=True)
    top = max((leader - model.common / k) / rest, MIN_CLASS_PROBABILITY)
    left = max(sum(others), MIN_CLASS_PROBABILITY)
    pairs = []
    for other in others:
        lead = math.log(top / max((other - model.common / k) / rest, MIN_CLASS_PROBABILITY))
        claims = [
            [
                rest / (1.0 + math.exp(-min(max(x, -MAX_LOGIT), MAX_LOGIT))) + half
                for x in _logits_of_task(worth, lead, odds, labels)
            ]
            for labels in range(most + 1)
        ]
        turned = [[max(0.0, 1.0 - 2.0 * p) for p in row] for row in claims]
        names = [
            [
                min(max((p - less) / max(more - less, MIN_DIVISOR), 0.0), 1.0)
                for p, (less, more) in zip(row, pairwise(after), strict=True)
            ]
            for row, after in pairwise(claims)
        ]
        pairs.append((leader + other, other * (1.0 + leader / left), turned, names))
    rate = found = 0.0
    for _ in range(MAX_PRICE_UPDATES):
        gain = paid = 0.0
        for of_both, of_pair, turned, names in pairs:
            gained, labels = _best_rule_of_task(rate * of_pair / of_both, turned, names)
            gain += of_both * gained
            paid += of_pair * labels
        found = gain / max(paid, 1.0)
        if abs(found - rate) <= GAIN_ROUNDING:
            break
        rate = found
    return found


def _logits_of_task(worth: Sequence[float], lead: float, odds: float, labels: int) -> list[float]:
    """Log odds of the likeliest class once 0, 1, ... of so many labels name it."""
    return [
        worth[labels] * (lead / worth[0] + odds * (2 * votes - labels))
        for votes in range(labels + 1)
    ]


def _best_rule_of_task(
    price: float, turned: list[list[float]], names: list[list[float]]
) -> tuple[float, float]:
    """Return the gain of the best rule for one pair of classes, and its number of labels."""
    most = len(names)
    gains, labels = turned[most], [0.0] * (most + 1)
    for k in reversed(range(most)):
        now, bought = [], []
        for votes, (name, stays) in enumerate(zip(names[k], turned[k], strict=True)):
            more = (1.0 - name) * gains[votes] + name * gains[votes + 1]
            paid = 1.0 + (1.0 - name) * labels[votes] + name * labels[votes + 1]
            goes_on = k == 0 or more - price * paid > stays
            now.append(more if goes_on else stays)
            bought.append(paid if goes_on else 0.0)
        gains, labels = now, bought
    return gains[0], labels[0]


@cache
def _outcomes(labels: int, k: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return all counts of votes for `k` classes by so many labels, each after its multiplicity.

    The multiplicity is the number of sequences of labels that give the counts.
    """
    out = []
    for places in combinations(range(labels + k - 1), k - 1):  # stars and bars
        ends = (-1, *places, labels + k - 1)
        votes = tuple(b - a - 1 for a, b in pairwise(ends))
        ways = math.factorial(labels) // math.prod(math.factorial(v) for v in votes)
        out.append((ways, votes))
    return out

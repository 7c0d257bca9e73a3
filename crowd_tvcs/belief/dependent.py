"""Posterior of a task where workers err on the same tasks: the model of dependent errors.

Bayes' rule for independent workers is overconfident: on real crowds workers err on the same hard
tasks. In this model a task with n answers l_1, ..., l_n of workers with accuracies q_i, among K
classes with prevalences pi, has the posterior

    p = (1 - eps) softmax_y( b log pi_y + c_n sum_i f_i X_iy ) + eps pi

    M_i  = (1 - lambda) even(q_i) + lambda C_i        matrices, C_i the worker's confusion matrix
    X_iy = T log M_i[y, l_i] - log sum_l M_i[y, l]^T
    c_n  = exp(delta(n)) / (1 + rho (n - 1))          n answers count n c_n: a design effect
    f_i  = max(0, 1 - kappa (1 - 1/n) mean(om) / om_i)    om_i = log odds of worker i: contrast

with delta linear in log n between `KNOTS` and constant beyond; the last knot moves up where gold
tasks usually have more than 10 answers. The parameters are `DependenceParams`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.arrays import Floats, Integers, softmax, sum_by
from crowd_tvcs.belief.constants import (
    ACCURACY_MARGIN,
    MIN_ANSWER_PROBABILITY,
    MIN_LOG_ODDS,
    MIN_PROBABILITY,
)
from crowd_tvcs.belief.independent import softmax_of_task
from crowd_tvcs.belief.parameters import DependenceParams

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, eq=False)
class AnswerLikelihoods:
    """Answers to tasks, with the response probabilities of their workers.

    Attributes
    ----------
    label_of, worker_of
        Class index of every answer, and the row of its worker in the other arrays.
    even, own
        Probability of every answer (last axis) given every label, of shape (workers, classes,
        classes): with mistakes spread evenly, and by the confusion matrix. `own` is None if there
        are no confusion matrices; `even` then stands for it.
    odds
        Log odds of every worker, at least `MIN_LOG_ODDS`.
    """

    label_of: Integers
    worker_of: Integers
    even: Floats
    own: Floats | None
    odds: Floats

    @property
    def weight(self) -> Floats:
        """Log odds of the worker of every answer."""
        return self.odds[self.worker_of]

    def take(self, entry: Integers) -> AnswerLikelihoods:
        """Return the answers at these indices, which may repeat."""
        return replace(self, label_of=self.label_of[entry], worker_of=self.worker_of[entry])

    def shifted(self, shift: Floats) -> AnswerLikelihoods:
        """Return the answers with the log odds of a right answer moved by `shift`."""
        even = _shifted(self.even[self.worker_of], shift)
        own = None if self.own is None else _shifted(self.own[self.worker_of], shift)
        odds = np.maximum(self.weight + shift, MIN_LOG_ODDS)
        return AnswerLikelihoods(self.label_of, np.arange(self.label_of.size), even, own, odds)

    def blended(self, blend: float) -> Floats:
        """Return the matrices M of the workers."""
        if self.own is None or blend == 0.0:
            return np.clip(self.even, MIN_ANSWER_PROBABILITY, None)
        mixed = (1.0 - blend) * self.even + blend * self.own
        return np.clip(mixed, MIN_ANSWER_PROBABILITY, None)

    def tempered(self, model: DependenceParams) -> Floats:
        """Return X, of shape (answers, classes)."""
        logs = model.temperature * np.log(self.blended(model.blend))
        total = np.log(np.exp(logs).sum(axis=2))
        return logs[self.worker_of, :, self.label_of] - total[self.worker_of]


def _shifted(matrices: Floats, shift: Floats) -> Floats:
    """Move the diagonals of matrices by `shift` in log odds; mistakes keep their proportions."""
    at = np.arange(matrices.shape[1])
    right = np.clip(matrices[:, at, at], ACCURACY_MARGIN, 1.0 - ACCURACY_MARGIN)
    shifted = 1.0 / (1.0 + (1.0 - right) / right * np.exp(-shift)[:, None])
    out = matrices * ((1.0 - shifted) / (1.0 - right))[:, :, None]
    out[:, at, at] = shifted
    return out / out.sum(axis=2, keepdims=True)


def answer_likelihoods(
    label_of: Integers,
    accuracy: Floats,
    matrices: Floats | None,
    n_classes: int,
    worker_of: Integers | None = None,
) -> AnswerLikelihoods:
    """Make the likelihoods of answers by workers with these accuracies and matrices.

    `worker_of` holds the worker of every answer; None if there is one accuracy per answer.
    """
    if worker_of is None:
        worker_of = np.arange(label_of.size)
    odds = np.maximum(log_odds(accuracy, n_classes), MIN_LOG_ODDS)
    return AnswerLikelihoods(
        label_of, worker_of, even_matrices(accuracy, n_classes), matrices, odds
    )


def log_odds(accuracy: Floats, n_classes: int) -> Floats:
    """Return the log odds of a right answer against each wrong one, log q / ((1 - q) / (K - 1))."""
    inside = np.clip(accuracy, ACCURACY_MARGIN, 1.0 - ACCURACY_MARGIN)
    return np.log(inside * (n_classes - 1.0) / (1.0 - inside))


def log_odds_of_worker(accuracy: float, n_classes: int) -> float:
    """Return the same of one accuracy."""
    inside = min(max(accuracy, ACCURACY_MARGIN), 1.0 - ACCURACY_MARGIN)
    return math.log(inside * (n_classes - 1.0) / (1.0 - inside))


def contrasts(weight: Floats, group_of: Integers, n: Integers) -> Floats:
    """Return (1 - 1/n) mean(om) / om_i for every answer, in groups with `n` answers each."""
    mean = np.bincount(group_of, weight, minlength=n.size) / np.maximum(n, 1)
    share = 1.0 - 1.0 / np.maximum(n, 1)
    return (share * mean)[group_of] / weight


def family_weights(within: float, group_of: Integers, family_of: Integers) -> Floats:
    """Return the weight of every answer among those of its family to the same task.

    It is 1 / (1 + within (n - 1)) with n answers of the family: their design effect.
    """
    pairs = np.stack([group_of, family_of])
    at = np.unique(pairs, axis=1, return_inverse=True)[1].ravel()
    n = np.bincount(at).astype(np.float64)[at]
    return 1.0 / (1.0 + within * (n - 1.0))


def dependent_posterior(
    model: DependenceParams,
    rows: AnswerLikelihoods,
    task_of: Integers,
    n_tasks: int,
    prior: Floats,
    shares: float,
    weight: Floats | None = None,
) -> Floats:
    """Return the probability of every label of every task, of shape (tasks, classes).

    Parameters
    ----------
    model
        The parameters.
    rows, task_of
        The answers, and the index of their tasks.
    n_tasks
        Number of tasks.
    prior
        Probability > 0 of every class for every task, of shape (tasks, classes).
    shares
        Weight of the prior: `model.shares` for the prevalence in the gold, 1 for a known prior.
    weight
        Weight of every answer, see `family_weights`; None for 1 each.
    """
    n = np.bincount(task_of, minlength=n_tasks)
    kept: Floats = np.maximum(0.0, 1.0 - model.contrast * contrasts(rows.weight, task_of, n))
    size: NDArray[Any] = n
    if weight is not None:
        kept *= weight
        size = np.bincount(task_of, weight, minlength=n_tasks)
    evidence = sum_by(task_of, kept[:, None] * rows.tempered(model), n_tasks)
    inner = softmax(shares * np.log(prior) + model.factor(size)[:, None] * evidence)
    return (1.0 - model.common) * inner + model.common * prior


class WeightedAnswer(NamedTuple):
    """An answer to one task: its class index, and the accuracy and confusion matrix of its worker.

    The matrix is None for mistakes that are spread evenly.
    """

    label: int
    accuracy: float
    confusion: Matrix | None = None


def dependent_posterior_of_task(
    model: DependenceParams,
    prior: Sequence[float],
    answers: Sequence[WeightedAnswer],
    shares: float,
) -> list[float]:
    """Return the probability of every label of one task; see `dependent_posterior`.

    The prior need not be positive: it is as `crowd_tvcs.belief.independent.priors` makes it.
    """
    k, n = len(prior), len(answers)
    inside = [max(p, MIN_PROBABILITY) for p in prior]
    total = sum(inside)
    inside = [p / total for p in inside]
    weights = [max(log_odds_of_worker(one.accuracy, k), MIN_LOG_ODDS) for one in answers]
    others = model.contrast * (1.0 - 1.0 / n) * sum(weights) / n if n else 0.0
    evidence = [0.0] * k
    for one, weight in zip(answers, weights, strict=True):
        kept = 1.0 - others / weight
        if kept > 0.0:
            for y, x in enumerate(_tempered_of_answer(model, one, k)):
                evidence[y] += kept * x
    factor = model.factor_of_task(n)
    inner = softmax_of_task(
        [shares * math.log(p) + factor * s for p, s in zip(inside, evidence, strict=True)]
    )
    rest = 1.0 - model.common
    return [rest * p + model.common * q for p, q in zip(inner, inside, strict=True)]


def _tempered_of_answer(model: DependenceParams, one: WeightedAnswer, k: int) -> list[float]:
    """Return X of one answer, by class; see `AnswerLikelihoods.tempered`."""
    right, wrong = one.accuracy, (1.0 - one.accuracy) / (k - 1)
    power = model.temperature
    if one.confusion is None or model.blend == 0.0:
        right, wrong = max(right, MIN_ANSWER_PROBABILITY), max(wrong, MIN_ANSWER_PROBABILITY)
        total = math.log(right**power + (k - 1) * wrong**power)
        yes, no = power * math.log(right) - total, power * math.log(wrong) - total
        return [yes if y == one.label else no for y in range(k)]
    out = []
    for y, row in enumerate(one.confusion):
        blended = [
            max(
                (1.0 - model.blend) * (right if y == z else wrong) + model.blend * chance,
                MIN_ANSWER_PROBABILITY,
            )
            for z, chance in enumerate(row)
        ]
        total = math.log(sum(chance**power for chance in blended))
        out.append(power * math.log(blended[one.label]) - total)
    return out

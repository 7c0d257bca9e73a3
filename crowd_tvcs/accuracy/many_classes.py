"""Expected accuracy of the Bayes vote with K classes: outcome by outcome, by counts, or sampled.

The vote takes the class of largest posterior probability. So its expected accuracy is the sum, over
all outcomes (vectors of answers), of the largest of prior[y] * P(outcome | y).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.accuracy.kernels import many_class_table as kernels
from crowd_tvcs.accuracy.model import (
    AnswerModel,
    answer_model,
    checked_classes,
    checked_confusion,
    checked_prior,
)
from crowd_tvcs.accuracy.two_classes import checked_pairs
from crowd_tvcs.arrays import Bools, Floats, Integers

MAX_OUTCOMES = 2**20  # of an exact team: 8 MB per class
SAMPLES = 2**16  # outcomes of a larger team: standard error at most .5 / 2^8 = .002
SEED = 20  # of the samples: any does
TABLE_OUTCOMES = 2**14  # of the team in the computation of gains
MAX_TABLE_NUMBERS = 2**20  # numbers in the table with one voter more: 8 MB
ROUNDING = 1e-9  # of probabilities that add up to 1


def accuracy_of_classes(
    quality: ArrayLike,
    assignment: ArrayLike,
    n_classes: int,
    *,
    prior: ArrayLike | None = None,
    confusion: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the accuracy of the Bayes vote on each task of K classes, and its standard error.

    Parameters
    ----------
    quality
        Probability in [0, 1] that worker i is right on task j, of shape (workers, tasks). Mistakes
        are spread evenly over the other classes.
    assignment
        Boolean mask of the assigned pairs, of the same shape.
    n_classes
        Number of classes K, from 2 to 100.
    prior
        Probability of every class, of shape (classes,) or (tasks, classes); None for equal ones.
    confusion
        One matrix per worker, of shape (workers, classes, classes): probability of each answer
        (column) given the true class (row). It takes precedence over `quality`.

    Returns
    -------
    tuple of ndarray
        Accuracy of every task and its standard error: 0 if exact up to rounding, with up to 2^20
        outcomes. Equal workers on a task are exchangeable, so a team of equals has few outcomes.
        Beyond, 65,536 outcomes are drawn, always from the same random numbers, so that differences
        of teams are less noisy than either; the error is then below .002.

    Raises
    ------
    ValueError, TypeError
        If an argument does not have the shape or the range above.

    Examples
    --------
    Three workers of accuracy .6 among three classes.

    >>> quality, everybody = [[.6], [.6], [.6]], [[True], [True], [True]]
    >>> accuracy, error = accuracy_of_classes(quality, everybody, 3)
    >>> accuracy.round(3).tolist(), error.tolist()
    ([0.696], [0.0])
    """
    values, chosen = checked_pairs(quality, assignment)
    classes = checked_classes(n_classes)
    matrices = None if confusion is None else checked_confusion(confusion, len(values), classes)
    model = answer_model(values, checked_prior(prior, values.shape[1], classes), matrices)
    return accuracy_under(model, chosen)


def accuracy_under(model: AnswerModel, support: Bools) -> tuple[Floats, Floats]:
    """Return the same for an assignment of shape (workers, tasks) under a model."""
    chosen = (support & (model.informativeness[model.kind] > 0.0)).T
    count = chosen.sum(axis=1)
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    voters = np.ascontiguousarray(model.kind.T[chosen])
    k = model.n_classes
    most = int(np.log(MAX_OUTCOMES) / np.log(k) + 1e-9)
    out, error = np.empty(count.size), np.zeros(count.size)
    small = np.flatnonzero(count <= most)
    width = k ** max(0, int(count[small].max(initial=0)) - 1)
    tables, best = np.empty((2, k, width)), np.empty(width)
    kernels.accuracy_of_tasks(small, start, voters, model.prior, model.matrices, tables, best, out)
    for j in np.flatnonzero(count > most):
        kinds = voters[start[j] : start[j + 1]]
        out[j], error[j] = large_team(model, kinds, model.prior[j], np.flatnonzero(chosen[j]))
    return np.clip(out, 0.0, 1.0), error


@dataclass(frozen=True)
class VoteScore:
    """Score of votes under common errors, see `crowd_tvcs.accuracy.common_error`.

    Attributes
    ----------
    common_error
        Probability that a task misleads.
    shares
        Distribution of its apparent class then, of shape (classes,).
    """

    common_error: float
    shares: Floats

    def best(self, table: Floats) -> Floats:
        """Return the probability of a right vote per outcome; rows of `table` are classes."""
        anyway = self.common_error * self.shares[:, None] * table.sum(axis=0)
        return ((1.0 - self.common_error) * table + anyway).max(axis=0)


def large_team(
    model: AnswerModel,
    kinds: Integers,
    prior: Floats,
    workers: Integers,
    score: VoteScore | None = None,
) -> tuple[float, float]:
    """Return the accuracy of a large team by the answer counts of equal workers, else by sampling.

    `prior` may be weights that do not add up to 1. `score` is that of a vote given the apparent
    class.
    """
    k = model.n_classes
    distinct, times = np.unique(kinds, return_counts=True)
    if prod(comb(int(c) + k - 1, k - 1) for c in times) <= MAX_OUTCOMES:
        table = prior[:, None]
        for kind, c in zip(distinct, times.tolist(), strict=True):
            chances = count_chances(model.matrices[kind], c)
            table = (table[:, :, None] * chances[:, None, :]).reshape(k, -1)
        return float((table.max(axis=0) if score is None else score.best(table)).sum()), 0.0
    mass = float(prior.sum())
    if mass == 0.0:
        return 0.0, 0.0
    mass = mass if abs(mass - 1.0) > ROUNDING else 1.0
    rng = np.random.default_rng(SEED)
    truth = np.searchsorted(np.cumsum(prior / mass)[:-1], rng.random(SAMPLES), side="right")
    with np.errstate(divide="ignore"):
        logs = np.repeat(np.log(prior)[:, None], SAMPLES, axis=1)
        for kind, worker in zip(kinds, workers.tolist(), strict=True):
            matrix = model.matrices[kind]
            # NumPy takes [SEED, 0] for SEED, which draws the truth: so no worker may have the 0.
            draws = np.random.default_rng([SEED, 1 + worker]).random(SAMPLES)
            below = np.cumsum(matrix, axis=1)[:, :-1]
            answer = (draws[:, None] >= below[truth]).sum(axis=1)
            # Rounding may draw an answer of probability 0; it is replaced by the likeliest one.
            answer = np.where(matrix[truth, answer] > 0.0, answer, matrix.argmax(axis=1)[truth])
            logs += np.log(matrix)[:, answer]
    odds = np.exp(logs - logs.max(axis=0))
    surest = mass / odds.sum(axis=0)
    if score is not None:
        surest = score.best(odds / odds.sum(axis=0))
    return float(surest.mean()), float(surest.std() / np.sqrt(SAMPLES))


def count_chances(matrix: Floats, times: int) -> Floats:
    """Return the probability of all counts of answers of `times` equal workers, per truth."""
    k = matrix.shape[0]
    drawn = np.array(list(combinations_with_replacement(range(k), times)), dtype=np.int64)
    counts = (drawn[:, :, None] == np.arange(k)).sum(axis=1)
    ways = [factorial(times) / prod(factorial(c) for c in row) for row in counts.tolist()]
    return np.array(ways) * (matrix[:, None, :] ** counts).prod(axis=2)


def exact_voters(n_classes: int) -> int:
    """Return the number of voters whose outcomes are tabulated without merging, at least 1."""
    most = min(TABLE_OUTCOMES, MAX_TABLE_NUMBERS // n_classes**2)
    return max(1, int(np.log(most) / np.log(n_classes) + 1e-9))


def table_size(n_classes: int) -> int:
    """Return the number of outcomes of `exact_voters` voters."""
    return int(n_classes ** exact_voters(n_classes))

"""Krippendorff's alpha and Fleiss' kappa, as functions of sums over tasks.

So a bootstrap over tasks is one product of the draws with a table of each task's contribution. Only
tasks with two answers or more contribute. If no disagreement is expected, as when all answers are
equal, a statistic is nan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowd_tvcs.answers.answers import Answers
from crowd_tvcs.arrays import Bools, Floats, Integers

MAX_ORDERED_CLASSES = 100  # of the ordinal alpha, whose time is quadratic in them
MIN_EXPECTED = 1e-12  # expected disagreement that counts as none


@dataclass(frozen=True, eq=False)
class Counts:
    """Numbers of answers by task and class, without zeros.

    Attributes
    ----------
    task_of, class_of, count
        Task, class and number of every entry, sorted by task and class.
    per_task
        Number of answers of every task.
    n_classes
        Number of classes.
    """

    task_of: Integers
    class_of: Integers
    count: Floats
    per_task: Floats
    n_classes: int

    @classmethod
    def of(cls, answers: Answers, chosen: Bools) -> Counts:
        """Count the answers to the `chosen` tasks, numbered from 0 in their order."""
        place = np.cumsum(chosen) - 1
        kept = chosen[answers.task_of]
        k = len(answers.classes)
        keys = place[answers.task_of[kept]] * k + answers.label_of[kept]
        found, count = np.unique(keys, return_counts=True)
        return cls(
            found // k, found % k, count.astype(float), answers.per_task[chosen].astype(float), k
        )

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return self.per_task.size

    def sums(self, values: Floats) -> Floats:
        """Sum a value per entry over every task."""
        return np.bincount(self.task_of, values, minlength=self.n_tasks).astype(np.float64)

    def table(self, values: Floats) -> sparse.csr_array:
        """Return a value per entry as a table of shape (tasks, classes)."""
        shape = (self.n_tasks, self.n_classes)
        return sparse.csr_array((values, (self.task_of, self.class_of)), shape=shape)

    @property
    def agreement(self) -> Floats:
        """Share of the pairs of answers of every task that are equal."""
        n = self.per_task
        return self.sums(self.count * (self.count - 1.0)) / (n * (n - 1.0))


@dataclass(frozen=True, eq=False)
class Statistic:
    """A statistic of sums over tasks.

    Attributes
    ----------
    addends
        Contribution of every task, of shape (tasks, sums).
    statistic
        Function of the sums, of shape (..., sums); nan if undefined.
    """

    addends: sparse.csr_array
    statistic: Callable[[Floats], Floats]

    def value(self, times: Floats) -> Floats:
        """Return the statistic with task multiplicities `times`, of shape (..., tasks)."""
        return self.statistic((self.addends.T @ times.T).T)


def nominal_alpha(counts: Counts) -> Statistic:
    """Return Krippendorff's alpha for nominal labels.

    With o the coincidences, in which every task with n answers counts n times, and n_c their
    margins: 1 - (n - 1) (n - sum of o_cc) / (n^2 - sum of n_c^2).
    """
    same = counts.agreement * counts.per_task

    def alpha(sums: Floats) -> Floats:
        agreeing, margins = sums[..., 0], sums[..., 1:]
        n = margins.sum(axis=-1)
        expected = n**2 - (margins**2).sum(axis=-1)
        return _one_less((n - 1.0) * (n - agreeing), expected)

    return Statistic(_side_by_side(same, counts.table(counts.count)), alpha)


def ordinal_alpha(counts: Counts) -> Statistic:
    """Return Krippendorff's alpha for ordered labels.

    The difference of two answers is the squared number of answers between them, half of their own
    classes included: the squared difference of the mean ranks of the classes.
    """
    k = counts.n_classes
    if k > MAX_ORDERED_CLASSES:
        raise ValueError(f"ordered labels must be at most {MAX_ORDERED_CLASSES}, found {k}")
    task, pair, value = _coincidences(counts)
    shape = (counts.n_tasks, k * k)

    def alpha(sums: Floats) -> Floats:
        o = sums.reshape(*sums.shape[:-1], k, k)
        margins = o.sum(axis=-1)
        rank = np.cumsum(margins, axis=-1) - margins / 2.0
        apart = (rank[..., :, None] - rank[..., None, :]) ** 2
        observed = (o * apart).sum(axis=(-2, -1))
        of_chance = margins[..., :, None] * margins[..., None, :]
        expected = (of_chance * apart).sum(axis=(-2, -1))
        return _one_less((margins.sum(axis=-1) - 1.0) * observed, expected)

    return Statistic(sparse.csr_array((value, (task, pair)), shape=shape), alpha)


def fleiss_kappa(counts: Counts) -> Statistic:
    """Return Fleiss' kappa, with equal weight of tasks whatever the number of their answers.

    Agreement and class shares are means over tasks (as Gwet does for missing answers); with equal
    numbers of answers this is Fleiss' own.
    """
    shares = counts.table(counts.count / counts.per_task[counts.task_of])

    def kappa(sums: Floats) -> Floats:
        n_tasks = sums[..., 1:].sum(axis=-1)
        agreement = sums[..., 0] / n_tasks
        by_chance = ((sums[..., 1:] / n_tasks[..., None]) ** 2).sum(axis=-1)
        return _one_less(1.0 - agreement, 1.0 - by_chance)

    return Statistic(_side_by_side(counts.agreement, shares), kappa)


def _coincidences(counts: Counts) -> tuple[Integers, Integers, Floats]:
    """Return the coincidences of every task: its number, the pair of classes c K + k, the count.

    Every class of a task is paired with every class of the same task, by counting on from the first
    entry of the task.
    """
    entries = np.bincount(counts.task_of, minlength=counts.n_tasks)
    begins = np.cumsum(entries) - entries
    partners = entries[counts.task_of]
    first = np.repeat(np.arange(counts.task_of.size), partners)
    step = np.arange(first.size) - np.repeat(np.cumsum(partners) - partners, partners)
    second = begins[counts.task_of[first]] + step
    task = counts.task_of[first]
    value = counts.count[first] * (counts.count[second] - (first == second))
    value = value / (counts.per_task[task] - 1.0)
    return task, counts.class_of[first] * counts.n_classes + counts.class_of[second], value


def _side_by_side(column: Floats, table: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array(sparse.hstack([sparse.csr_array(column[:, None]), table]))


def _one_less(observed: Floats, expected: Floats) -> Floats:
    """Return one less observed over expected disagreement; nan if none is expected."""
    observed, expected = np.asarray(observed), np.asarray(expected)
    is_defined = expected > MIN_EXPECTED
    ratio = np.full(expected.shape, np.nan)
    return 1.0 - np.divide(observed, expected, out=ratio, where=is_defined)

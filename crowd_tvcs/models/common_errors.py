"""What answers tell whose givers err together: within a family, and all families with each other.

With K classes and a truth y:

1. a class z is y with chance 1 - e, else any class alike: what all models take for the truth;
2. every family f has a class z_f, which is z with chance 1 - e_f, else any class alike;
3. given z_f its members answer independently, z_f with chance r_i, else another class alike.

A model is right with its quality q_i whatever the errors are: what is common is a share of its
mistakes, not more of them. Of the mistakes of the best member with an answer to the task the
family shares `within`, so 1 - E_f = (1 - e)(1 - e_f) with E_f = within K / (K - 1) (1 - max q_i),
and r_i = (q_i - E_f / K) / (1 - E_f). Of the smallest E_f of a task all families share `between`:
e is that share of it. One answer alone tells what its quality says; with no share, answers are
independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TINY = 1e-9

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Answers of models to tasks.

    Attributes
    ----------
    task_of, family_of, label_of
        Of every answer, counted from 0.
    quality
        Chance that each answer is right, in (0, 1).
    prior
        Chance of every class before the answers, of shape (tasks, classes).
    """

    task_of: Integers
    family_of: Integers
    label_of: Integers
    quality: Floats
    prior: Floats

    def select(self, chosen: NDArray[np.bool_]) -> Evidence:
        """Keep some of the answers, and all tasks."""
        return Evidence(
            self.task_of[chosen], self.family_of[chosen], self.label_of[chosen],
            self.quality[chosen], self.prior,
        )  # fmt: skip

    def of_tasks(self, tasks: Integers) -> Evidence:
        """Keep some of the tasks, numbered in this order, and their answers."""
        place = np.full(len(self.prior), -1)
        place[tasks] = np.arange(tasks.size)
        kept = self.select(place[self.task_of] >= 0)
        return Evidence(
            place[kept.task_of], kept.family_of, kept.label_of, kept.quality, self.prior[tasks]
        )


@dataclass(frozen=True, eq=False)
class Shares:
    """Which shares of their mistakes models have in common.

    Attributes
    ----------
    within
        Of every family, in [0, 1]: of the mistakes of its best member.
    between
        Of all families, in [0, 1]: of the smallest common error of a family.
    """

    within: Floats
    between: float


def independent(n_families: int) -> Shares:
    """The shares of models that have nothing in common."""
    return Shares(np.zeros(n_families), 0.0)


def posterior(given: Evidence, shares: Shares) -> Floats:
    """Probability of every class of every task given the models' answers, (tasks, classes)."""
    m, k = given.prior.shape
    n_families = shares.within.size
    groups, at = np.unique(given.task_of * n_families + given.family_of, return_inverse=True)
    task, family = groups // n_families, groups % n_families
    best = np.zeros(groups.size)
    np.maximum.at(best, at, given.quality)
    common = shares.within[family] * np.minimum(1.0, k / (k - 1.0) * (1.0 - best))
    common = np.minimum(common, 1.0 - TINY)
    least = np.ones(m)
    np.minimum.at(least, task, common)
    of_all = shares.between * least * (np.bincount(task, minlength=m) > 0)
    own = 1.0 - (1.0 - common) / (1.0 - of_all[task])
    inside = (given.quality - common[at] / k) / (1.0 - common[at])
    inside = np.clip(inside, TINY, 1.0 - TINY)
    members = _log_products(at, given.label_of, inside, (groups.size, k))
    of_family = _garbled(members, own)
    every = np.zeros((m, k))
    np.add.at(every, task, of_family)
    logs = _garbled(every, of_all) + np.log(np.maximum(given.prior, TINY))
    out: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    return out / out.sum(axis=1, keepdims=True)


def _log_products(
    place: Integers, label: Integers, right: Floats, shape: tuple[int, int]
) -> Floats:
    """Logarithm of the chance of the answers at each place under each class."""
    wrong = np.log((1.0 - right) / (shape[1] - 1))
    out = np.zeros(shape)
    np.add.at(out, place, wrong[:, None])
    np.add.at(out, (place, label), np.log(right) - wrong)
    return out


def _garbled(logs: Floats, error: Floats) -> Floats:
    """Take each class for what it stands for with chance 1 - error, else for any class alike."""
    top = logs.max(axis=1, keepdims=True)
    inside = np.exp(logs - top)
    mixed = (1.0 - error)[:, None] * inside + (error * inside.mean(axis=1))[:, None]
    out: Floats = np.log(np.maximum(mixed, 1e-300)) + top
    return out

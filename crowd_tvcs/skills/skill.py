"""Skill: the accuracy of each worker, estimated from gold tasks and shrunk to the crowd.

A worker who was right on 3 of 3 gold tasks is not always right. Their accuracy has a Beta
posterior, whose prior is the distribution of accuracies in the crowd. Its mean and strength are
fitted to the counts of all workers (empirical Bayes, the beta-binomial model), with a log-normal
prior of the strength around `PRIOR_STRENGTH`: without that, few workers look equal too often, and
the intervals are too short. With few gold answers the prior counts as `FEW_STRENGTH` answers.

With classes, a worker has a confusion matrix (`confusion`): for each true label a row with the
probability of each answer. The joint information of several answers is modelled in `dependence`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.class_prevalence import class_prevalence
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.skills.beta_prior import BetaPrior
from crowd_tvcs.skills.confusion import CROWD_STRENGTH, confusion_matrices
from crowd_tvcs.skills.dependence import MOST_CLASSES, Dependence
from tvcs_core.arguments import names_of
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    import pandas as pd

INTERVAL = 0.9  # credible level
# Standard deviations below the mean; gained up to .003 on three sets of recorded answers and cost
# nothing on the fourth (docs/decisions, 17).
CAUTION = 0.5


@dataclass(frozen=True, eq=False)
class Skill:
    """Accuracy of each worker, with its uncertainty.

    Attributes
    ----------
    workers, classes
        Names, as in the answers.
    counts
        Number of times that each worker gave each answer to gold tasks of each label, of shape
        (workers, classes, classes).
    prior
        Prior of the accuracies. A worker without gold answers has its mean.
    interval
        Credible level of the interval from `low` to `high`.
    per_class
        Whether `matrices` are estimated for each class, or follow from one accuracy per worker.
    learnt
        Expected counts from answers to other tasks, of the shape of `counts`, see
        `crowd_tvcs.skills.semi_supervised`; None for none.
    gold_per_class
        Number of gold tasks of each class, answered or not; None if not counted.
    dependence
        Dependence of the errors of different workers, see `crowd_tvcs.skills.dependence`; None if
        workers are taken to err independently.
    """

    workers: tuple[str, ...]
    classes: tuple[str, ...]
    counts: Integers
    prior: BetaPrior
    interval: float = INTERVAL
    per_class: bool = False
    learnt: Floats | None = None
    gold_per_class: Integers | None = None
    dependence: Dependence | None = None

    def __repr__(self) -> str:
        return (
            f"Skill({plural(len(self.workers), 'worker')}, "
            f"{plural(int(self.n_gold.sum()), 'gold answer')}, "
            f"mean {self.prior.mean:.3f}, prior worth {self.prior.strength:.1f} answers)"
        )

    @property
    def n_gold(self) -> Integers:
        """Number of gold tasks that each worker answered."""
        return self.counts.sum(axis=(1, 2))

    @property
    def n_right(self) -> Integers:
        """Number of gold tasks that each worker answered correctly."""
        return np.trace(self.counts, axis1=1, axis2=2)

    @property
    def model(self) -> str:
        """How answers to a task depend on each other: ``"dependent"`` or ``"independent"``."""
        return "independent" if self.dependence is None else "dependent"

    @property
    def class_prevalence(self) -> Floats:
        """Prevalence of each class by the gold; equal if not counted.

        See `crowd_tvcs.answers.class_prevalence`: smoothed, and valid only if gold is a random
        sample.
        """
        counts = self.gold_per_class
        return class_prevalence(np.zeros(len(self.classes)) if counts is None else counts)

    @property
    def mean(self) -> Floats:
        """Posterior mean of every worker's accuracy."""
        a, b = self.beta
        return a / (a + b)

    @property
    def deviation(self) -> Floats:
        """Posterior standard deviation of every worker's accuracy."""
        a, b = self.beta
        return np.sqrt(a * b / (a + b + 1.0)) / (a + b)

    @property
    def low(self) -> Floats:
        """Lower end of the interval of every worker's accuracy."""
        return self._quantile((1.0 - self.interval) / 2.0)

    @property
    def high(self) -> Floats:
        """Upper end of the interval of every worker's accuracy."""
        return self._quantile((1.0 + self.interval) / 2.0)

    @cached_property
    def matrices(self) -> Floats:
        """Confusion matrices, of shape (workers, classes, classes): label, then answer.

        Estimated if `per_class`, else with one accuracy per worker and mistakes spread evenly over
        the other classes.
        """
        if not self.per_class:
            return even_matrices(self.mean, len(self.classes))
        return confusion_matrices(self.all_counts, self.mean, self.prior)

    @cached_property
    def habits(self) -> Floats | None:
        """Confusion matrices for the model of dependence, shrunk more towards even mistakes.

        None with more than `dependence.MOST_CLASSES` classes, for which gold is too sparse.
        """
        if len(self.classes) > MOST_CLASSES:
            return None
        return confusion_matrices(self.all_counts, self.mean, self.prior, CROWD_STRENGTH)

    def lower_confidence_bound(self) -> Floats:
        """Return the mean less `CAUTION` standard deviations, to select workers, not to weigh them.

        Among many workers, those who look best are partly those who were lucky on gold.
        """
        return np.clip(self.mean - CAUTION * self.deviation, 0.0, 1.0)

    def to_quality(self, tasks: Sequence[str]) -> Quality:
        """Return a quality table with the mean accuracy of every worker on each of `tasks`."""
        if isinstance(tasks, str):
            raise TypeError(f"tasks must be a list of names, found {tasks!r}")
        names = names_of("tasks", tasks)
        return Quality(np.repeat(self.mean[:, None], len(names), axis=1), self.workers, names)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table of `COLUMNS`; names unchanged."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(COLUMNS))

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of `COLUMNS`."""
        columns = (self.n_gold, self.n_right, self.mean, self.low, self.high)
        return list(zip(self.workers, *(c.tolist() for c in columns), strict=True))

    @property
    def all_counts(self) -> Floats:
        """Counts of gold answers, plus those learnt from other tasks."""
        own = self.counts.astype(np.float64)
        return own if self.learnt is None else own + self.learnt

    @property
    def beta(self) -> tuple[Floats, Floats]:
        """Parameters of the posterior of every worker's accuracy."""
        counts, prior = self.all_counts, self.prior
        right = np.trace(counts, axis1=1, axis2=2)
        wrong = counts.sum(axis=(1, 2)) - right
        return right + prior.mean * prior.strength, wrong + (1.0 - prior.mean) * prior.strength

    def _quantile(self, share: float) -> Floats:
        from scipy.special import betaincinv

        return betaincinv(*self.beta, share)


def reversed_doubt(skill: Skill) -> str | None:
    """Describe the doubt that labels are exchanged, where gold answers are worse than guesses.

    None unless so few are right by chance, at random among the classes, once in 1 / `RARE` crowds.
    """
    from scipy.stats import binom

    n, right, k = int(skill.n_gold.sum()), int(skill.n_right.sum()), len(skill.classes)
    if n == 0 or binom.cdf(right, n, 1.0 / k) >= RARE:
        return None
    return (
        f"{right} of {n} gold answers are right, fewer than guesses would be ({n / k:.0f}): are "
        "the labels of gold and of answers in the same order, and do tasks have the same names?"
    )


RARE = 0.01  # any of .001 to .05 does: it is a warning, and most crowds are far above guesses
COLUMNS = ("worker", "gold", "right", "quality", "low", "high")

"""Skill: how accurate each worker is, estimated from gold tasks and shrunk to the crowd.

A worker who was right on 3 of 3 gold tasks is not always right. His accuracy gets a Beta
posterior, whose prior says how the accuracies of the whole crowd are spread. Its mean and
strength are those that make the counts of all workers likeliest (empirical Bayes, the
beta-binomial model), where the strength itself is taken to be log-normal around `USUAL_STRENGTH`:
without that, few workers look equal too often, and the intervals are too short. With few gold
answers the prior counts as much as `FEW_STRENGTH` answers.

Per class, a worker has a confusion matrix: a row for each true label, the chance of each answer.
Its rows are shrunk to what their accuracy and the crowd's habits let one expect: for each class the
crowd's accuracy there, moved by what they are better or worse than the crowd, and the crowd's
mistakes. The strength of this is again the likeliest one (the Dirichlet-multinomial model).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, together
from crowd_tvcs.answers.class_shares import class_counts, class_shares
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.skills.beta_prior import (
    FEW_STRENGTH,
    FEW_WORKERS,
    PRIORS,
    STRENGTHS,
    BetaPrior,
    beta_prior,
    two_answers,
)
from tvcs_core.files.spreadsheet import shield

if TYPE_CHECKING:
    import pandas as pd

INTERVAL = 0.9
CAUTION = 0.5

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Skill:
    """How accurate each worker is, and how sure that is.

    Attributes
    ----------
    workers, classes
        Names, as in the answers.
    counts
        How often each worker gave each answer to gold tasks of each label, of shape (workers,
        classes, classes).
    prior
        What the accuracies are shrunk to. A worker without gold answers has its mean.
    interval
        Chance that an accuracy lies from `low` to `high`, given the model.
    per_class
        Whether `matrices` are estimated for each class, or tell one accuracy per worker.
    learnt
        Expected counts from answers to other tasks, of the shape of `counts`, see
        `crowd_tvcs.skills.em`; None for none.
    gold_per_class
        How many gold tasks are of each class, answered or not; None if nobody counted.
    """

    workers: tuple[str, ...]
    classes: tuple[str, ...]
    counts: NDArray[np.int64]
    prior: BetaPrior
    interval: float = INTERVAL
    per_class: bool = False
    learnt: Floats | None = None
    gold_per_class: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        return (
            f"Skill({len(self.workers)} workers, {int(self.n_gold.sum())} gold answers, "
            f"mean {self.prior.mean:.3f}, prior worth {self.prior.strength:.1f} answers)"
        )

    @property
    def n_gold(self) -> NDArray[np.int64]:
        """How many gold tasks each worker answered."""
        return self.counts.sum(axis=(1, 2))

    @property
    def n_right(self) -> NDArray[np.int64]:
        """How many gold tasks each worker answered rightly."""
        return np.trace(self.counts, axis1=1, axis2=2)

    @property
    def class_shares(self) -> Floats:
        """How frequent each class is, by the gold; equal if nobody counted.

        See `crowd_tvcs.answers.class_shares`: smoothed, and only true if gold is a random sample.
        """
        counts = self.gold_per_class
        return class_shares(np.zeros(len(self.classes)) if counts is None else counts)

    @property
    def mean(self) -> Floats:
        """Posterior mean of every worker's accuracy."""
        a, b = self._beta
        return a / (a + b)

    @property
    def deviation(self) -> Floats:
        """Posterior standard deviation of every worker's accuracy."""
        a, b = self._beta
        out: Floats = np.sqrt(a * b / (a + b + 1.0)) / (a + b)
        return out

    @property
    def shared(self) -> Floats:
        """What moves all workers together, of shape (workers, 2).

        How much every mean changes if the prior, which is an estimate too, is off by one standard
        deviation in either of two independent directions.
        """
        at_mean, at_strength, both = self.prior.covariance
        a, b = self._beta
        s = self.prior.strength
        slopes = np.stack([s / (a + b), s * (self.prior.mean - self.mean) / (a + b)], axis=1)
        first = np.sqrt(at_mean)
        across = both / first if first > 0.0 else 0.0
        root = np.array([[first, 0.0], [across, np.sqrt(max(0.0, at_strength - across**2))]])
        out: Floats = slopes @ root
        return out

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

        Estimated if `per_class`, else of one accuracy per worker, their mistakes spread evenly
        over the other classes.
        """
        if not self.per_class:
            return even_matrices(self.mean, len(self.classes))
        return confusion_matrices(self._all_counts, self.mean, self.prior)

    def cautious(self, caution: float = CAUTION) -> Floats:
        """Mean less `caution` standard deviations: whom to ask, not what their answer weighs.

        Among many workers, those who look best are partly those who were lucky on gold.
        """
        return np.clip(self.mean - caution * self.deviation, 0.0, 1.0)

    def to_quality(self, tasks: Sequence[str]) -> Quality:
        """Return the quality in which every worker has their mean accuracy on each of `tasks`."""
        values = np.repeat(self.mean[:, None], len(tasks), axis=1)
        return Quality(values, self.workers, tasks)

    def frame(self) -> pd.DataFrame:
        """Return a pandas table of `COLUMNS`; names as they are."""
        import pandas as pd

        return pd.DataFrame(self._rows(), columns=list(COLUMNS))

    def rows(self) -> list[tuple[object, ...]]:
        """Return the same for a file, by worker: names like formulas get an apostrophe."""
        return [(shield(name), *rest) for name, *rest in self._rows()]

    def _rows(self) -> list[tuple[Any, ...]]:
        own = (self.n_gold, self.n_right, self.mean, self.low, self.high, self.deviation)
        columns = (*own, *self.shared.T)
        return list(zip(self.workers, *(c.tolist() for c in columns), strict=True))

    @property
    def _all_counts(self) -> Floats:
        own = self.counts.astype(np.float64)
        return own if self.learnt is None else own + self.learnt

    @property
    def _beta(self) -> tuple[Floats, Floats]:
        """Parameters of the posterior of every worker's accuracy."""
        counts, prior = self._all_counts, self.prior
        right = np.trace(counts, axis1=1, axis2=2)
        wrong = counts.sum(axis=(1, 2)) - right
        return right + prior.mean * prior.strength, wrong + (1.0 - prior.mean) * prior.strength

    def _quantile(self, share: float) -> Floats:
        from scipy.special import betaincinv

        out: Floats = betaincinv(*self._beta, share)
        return out


UNSURE = ("deviation", "shared_1", "shared_2")
COLUMNS = ("worker", "gold", "right", "quality", "low", "high", *UNSURE)


def estimate_quality(
    answers: Answers,
    gold: Gold,
    *,
    prior: str = PRIORS[0],
    per_class: bool = False,
    interval: float = INTERVAL,
) -> Skill:
    """Estimate how accurate each worker is from their answers to gold tasks.

    Parameters
    ----------
    answers
        Answers to gold tasks; those to other tasks are not used.
    gold
        Labels of the gold tasks. Classes of it that `answers` does not have are added.
    prior
        ``"empirical-bayes"``: mean and strength of the crowd are the likeliest ones, if at least
        `FEW_WORKERS` workers have two gold answers, else as ``"two-answers"``: the mean is the
        crowd's share of right answers (one right and one wrong added), worth two answers.
    per_class
        Also estimate a confusion matrix for every worker.
    interval
        Chance, above 0 and below 1, that `low` and `high` of the result shall enclose.

    Raises
    ------
    ValueError
        If no gold task is answered, or an argument is out of its range.

    Examples
    --------
    >>> answers = Answers.of([("g1", "ann", "1"), ("g2", "ann", "0"), ("g1", "bob", "0")])
    >>> skill = estimate_quality(answers, Gold({"g1": "1", "g2": "0"}))
    >>> skill.n_right.tolist(), skill.mean.round(2).tolist()
    ([2, 0], [0.8, 0.4])
    """
    if prior not in PRIORS:
        raise ValueError(f"prior must be one of {', '.join(PRIORS)}, found {prior!r}")
    if not 0.0 < interval < 1.0:
        raise ValueError(f"interval must be above 0 and below 1, found {interval}")
    answers = together(answers, gold)
    truth = gold.codes(answers.tasks, answers.classes)[answers.task_of]
    known = truth != UNKNOWN
    if not known.any():
        raise ValueError(
            f"no gold task is answered: none of the {len(gold)} gold tasks is among the "
            f"{len(answers.tasks)} tasks with answers"
        )
    n, k = len(answers.workers), len(answers.classes)
    counts = np.zeros((n, k, k), dtype=np.int64)
    np.add.at(counts, (answers.worker_of[known], truth[known], answers.label_of[known]), 1)
    n_gold, n_right = counts.sum(axis=(1, 2)), np.trace(counts, axis1=1, axis2=2)
    shrink = beta_prior(n_gold, n_right) if prior == PRIORS[0] else two_answers(n_gold, n_right)
    return Skill(
        answers.workers,
        answers.classes,
        counts,
        shrink,
        interval,
        per_class,
        gold_per_class=class_counts(gold.labels, answers.classes),
    )


def confusion_matrices(counts: Floats, mean: Floats, prior: BetaPrior) -> Floats:
    """Shrink every worker's counts of (label, answer) to what their accuracy lets one expect.

    Parameters
    ----------
    counts
        How often each worker gave each answer to gold tasks of each label, of shape (workers,
        classes, classes).
    mean
        Accuracy of every worker.
    prior
        Of the accuracies; the crowd's accuracy per class is shrunk to its mean by two answers.
    """
    n, k = mean.size, counts.shape[1]
    pooled = counts.sum(axis=0)
    seen = pooled.sum(axis=1)
    right = (np.diag(pooled) + FEW_STRENGTH * prior.mean) / (seen + FEW_STRENGTH)
    wrong = pooled * (1.0 - np.eye(k)) + FEW_STRENGTH * (1.0 - np.eye(k)) / (k - 1)
    wrong /= wrong.sum(axis=1, keepdims=True)
    own = _logit(mean)[:, None] + _logit(right)[None, :] - _logit(np.array(prior.mean))
    own = 1.0 / (1.0 + np.exp(-own))
    expected = (1.0 - own)[:, :, None] * wrong
    expected[:, np.arange(k), np.arange(k)] = own
    flat_counts = counts.reshape(n * k, k)
    flat = expected.reshape(n * k, k)
    strength = _dirichlet_strength(flat_counts, flat)
    out = (flat_counts + strength * flat) / (flat_counts.sum(axis=1, keepdims=True) + strength)
    return out.reshape(n, k, k)


def _dirichlet_strength(counts: Floats, expected: Floats) -> float:
    """Find the likeliest strength of rows of counts drawn around the rows of `expected`."""
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    rows = counts.sum(axis=1) >= 2
    if rows.sum() < FEW_WORKERS:
        return STRENGTHS[1]
    total, counts, expected = counts[rows].sum(axis=1), counts[rows], expected[rows]

    def loss(logarithm: float) -> float:
        s = np.exp(logarithm)
        within = gammaln(counts + s * expected) - gammaln(s * expected)
        return -float(within.sum() + (gammaln(s) - gammaln(total + s)).sum())

    bounds = (np.log(STRENGTHS[0]), np.log(STRENGTHS[1]))
    found = minimize_scalar(loss, bounds=bounds, method="bounded")
    return float(np.exp(found.x))


def _logit(chance: Floats) -> Floats:
    inside = np.clip(chance, 1e-6, 1.0 - 1e-6)
    out: Floats = np.log(inside) - np.log1p(-inside)
    return out

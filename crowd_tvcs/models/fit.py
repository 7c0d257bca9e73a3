"""Models and their families, fitted on gold: what their answers tell of every task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, together
from crowd_tvcs.answers.class_shares import STRENGTH, class_counts, class_shares
from crowd_tvcs.models.calibration import Calibrated, calibrate
from crowd_tvcs.models.common_errors import Evidence, Shares, independent, posterior

LEAST_TASKS = 10  # gold tasks with answers of models, below which no share is fitted
WITHIN, BETWEEN = 0.0, -0.85  # logits of the shares to begin with: .5 and .3
SPREAD = 1.0  # of both logits

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Models:
    """What models said, and how it is to be taken.

    Attributes
    ----------
    answers
        Answers of the models alone, to gold and other tasks.
    families
        Names of the families, sorted.
    family_of
        Family of every model, counting `families` from 0.
    calibrated
        How likely each answer is right.
    truth
        Class of every task whose label is known, else -1.
    evidence
        The answers with these qualities, and priors of the tasks; of a gold task without itself.
    shares
        Which shares of their mistakes the models have in common.
    is_fitted
        Whether these are fitted; with less gold they are `WITHIN` and `BETWEEN`.
    """

    answers: Answers
    families: tuple[str, ...]
    family_of: NDArray[np.int64]
    calibrated: Calibrated
    truth: NDArray[np.int64]
    evidence: Evidence
    shares: Shares
    is_fitted: bool

    @cached_property
    def posterior(self) -> Floats:
        """Probability of every class given the models' answers, of shape (tasks, classes)."""
        return posterior(self.evidence, self.shares)

    def claimed_and_reached(self, *, apart: bool = False) -> tuple[float, float, float, int]:
        """Mean confidence on gold, share of right labels, mean log score, number of gold tasks.

        Jack-knifed; `apart` takes the models for independent.
        """
        known = self.gold_with_answers
        shares = independent(len(self.families)) if apart else self.shares
        chances = posterior(self.evidence.of_tasks(known), shares)
        own = chances[np.arange(known.size), self.truth[known]]
        is_right = chances.argmax(axis=1) == self.truth[known]
        score = float(np.log(np.maximum(own, 1e-12)).mean())
        return float(chances.max(axis=1).mean()), float(is_right.mean()), score, known.size

    @property
    def gold_with_answers(self) -> NDArray[np.int64]:
        """Gold tasks that a model has answered."""
        return np.flatnonzero((self.truth != UNKNOWN) & (self.answers.per_task > 0))


def fit_models(
    answers: Answers,
    gold: Gold,
    family_of: Mapping[str, str],
    *,
    confidence: Floats | None = None,
    prior: ArrayLike | None = None,
) -> Models:
    """Fit how good models are and what they have in common, on gold.

    The shares are those under which the known labels are likeliest given the answers, half by all
    models and half by each family alone, and given normal priors of their logits. What is known of
    a gold task without its own answers (quality, confidence, class shares) is taken for it.

    Parameters
    ----------
    answers
        Answers of models and others; only those of models are looked at.
    gold
        Known labels of some tasks.
    family_of
        Family of every model, by their names.
    confidence
        What models state, one per answer of `answers`, nan for nothing; None for none.
    prior
        Chance of every class, of shape (classes,); None for the class shares of the gold.

    Raises
    ------
    ValueError
        If no model has answered, or none a gold task.

    Examples
    --------
    >>> rows = [(f"t{j}", name, "01"[j % 2]) for j in range(30) for name in ("m1", "m2")]
    >>> gold = Gold({f"t{j}": "01"[j % 2] for j in range(20)})
    >>> found = fit_models(Answers.of(rows), gold, {"m1": "f", "m2": "f"})
    >>> bool(found.posterior[-1].max() > .9)
    True
    """
    joined = together(answers, gold)
    if confidence is not None and joined is not answers:  # whose answers are sorted
        confidence = confidence[np.lexsort((answers.worker_of, answers.task_of))]
    answers = joined
    chosen = np.isin(
        answers.worker_of, [i for i, w in enumerate(answers.workers) if w in family_of]
    )
    if not chosen.any():
        raise ValueError("no model has an answer; models are those of kind model among the workers")
    names = [answers.workers[i] for i in np.unique(answers.worker_of[chosen]).tolist()]
    place = {name: i for i, name in enumerate(names)}
    worker_of = [place[answers.workers[i]] for i in answers.worker_of[chosen].tolist()]
    own = Answers(
        answers.tasks, names, answers.classes, answers.task_of[chosen], worker_of,
        answers.label_of[chosen],
    )  # fmt: skip
    families = tuple(sorted({family_of[name] for name in names}))
    family = np.array([families.index(family_of[name]) for name in names])
    calibrated = calibrate(own, gold, None if confidence is None else confidence[chosen])
    truth = gold.codes(own.tasks, own.classes)
    evidence = Evidence(
        own.task_of, family[own.worker_of], own.label_of, calibrated.quality,
        _priors(gold, own, truth, prior),
    )  # fmt: skip
    known = np.flatnonzero((truth != UNKNOWN) & (own.per_task > 0))
    is_fitted = known.size >= LEAST_TASKS
    sizes = np.bincount(family, minlength=len(families))
    seen = evidence.of_tasks(known), truth[known]
    shares = _fit_shares(*seen, sizes) if is_fitted else _shares(_usual(sizes), sizes)
    return Models(own, families, family, calibrated, truth, evidence, shares, is_fitted)


def _priors(
    gold: Gold, answers: Answers, truth: NDArray[np.int64], prior: ArrayLike | None
) -> Floats:
    """Chance of every class of every task; the class shares of the gold without the task itself."""
    m, k = len(answers.tasks), len(answers.classes)
    if prior is not None:
        return np.array(np.broadcast_to(np.asarray(prior, dtype=np.float64), (m, k)))
    counts = class_counts(gold.labels, answers.classes)
    out = np.tile(class_shares(counts), (m, 1))
    for j in np.flatnonzero(truth != UNKNOWN).tolist():
        less = counts - (np.arange(k) == truth[j])
        out[j] = class_shares(less, STRENGTH)
    return out


def _usual(sizes: NDArray[np.int64]) -> Floats:
    """Logits of the shares before any gold: of the families with several members, and of all."""
    return np.array([WITHIN] * int((sizes > 1).sum()) + [BETWEEN] * (sizes.size > 1))


def _shares(logits: Floats, sizes: NDArray[np.int64]) -> Shares:
    """Shares of logits; all mistakes of a model that is alone in its family are the family's."""
    values = 1.0 / (1.0 + np.exp(-logits))
    within = np.ones(sizes.size)
    within[sizes > 1] = values[: int((sizes > 1).sum())]
    return Shares(within, float(values[-1]) if sizes.size > 1 else 0.0)


def _fit_shares(given: Evidence, truth: NDArray[np.int64], sizes: NDArray[np.int64]) -> Shares:
    from scipy.optimize import minimize

    usual = _usual(sizes)
    if not usual.size:
        return _shares(usual, sizes)
    views = [given]
    if sizes.size > 1:
        views += [given.select(given.family_of == f) for f in np.flatnonzero(sizes > 1).tolist()]
    at = np.arange(truth.size)

    def loss(logits: Floats) -> float:
        shares = _shares(logits, sizes)
        scores = [np.log(posterior(view, shares)[at, truth] + 1e-12).sum() for view in views]
        weights = [1.0] if len(views) == 1 else [0.5] * len(views)
        unusual = (((logits - usual) / SPREAD) ** 2).sum() / 2.0
        return float(unusual - np.dot(weights, scores))

    bounds = [(x - 4.0 * SPREAD, x + 4.0 * SPREAD) for x in usual]
    found = minimize(loss, usual, method="L-BFGS-B", bounds=bounds)
    return _shares(found.x, sizes)

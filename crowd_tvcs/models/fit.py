"""Models and their families, fitted on gold: what their answers tell of every task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, together
from crowd_tvcs.models.calibration import Calibrated, calibrate
from crowd_tvcs.models.on_gold import OnGold
from crowd_tvcs.skills.dependence import Dependence, chances, told, weights_of
from crowd_tvcs.skills.dependence_fit import fit_in_families
from crowd_tvcs.skills.vote import priors

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
        How good every model is, and what its stated confidence is worth.
    truth
        Class of every task whose label is known, else -1.
    prior
        Chance of every class of every task before the answers, of shape (tasks, classes).
    shares
        How much that counts: less than 1 where it is the class shares of the gold.
    dependence
        What several answers are worth together, `within` a family and beyond.
    on_gold
        The gold tasks with answers, each as the others judge it.
    """

    answers: Answers
    families: tuple[str, ...]
    family_of: Integers
    calibrated: Calibrated
    truth: Integers
    prior: Floats
    shares: float
    dependence: Dependence
    on_gold: OnGold

    @property
    def is_fitted(self) -> bool:
        """Whether there was gold enough to fit `dependence`; else it is usual in crowds."""
        return self.dependence.source == "gold"

    @cached_property
    def posterior(self) -> Floats:
        """Probability of every class given the models' answers, of shape (tasks, classes).

        Of a gold task it is that which the other gold tasks give it.
        """
        out = self.chances(np.ones(self.answers.size, dtype=bool))
        out[self.on_gold.tasks] = self.on_gold.chances
        return out

    def chances(self, chosen: Bools) -> Floats:
        """Return the probability of every class of every task by some of the answers."""
        skill, k = self.calibrated.skill, len(self.answers.classes)
        task_of, worker_of = self.answers.task_of[chosen], self.answers.worker_of[chosen]
        rows = told(self.answers.label_of[chosen], skill.mean, skill.habits, k, worker_of)
        if self.calibrated.moved:
            rows = rows.moved(self.calibrated.shift[chosen])
        model = self.dependence
        weight = weights_of(model.within, task_of, self.family_of[worker_of])
        return chances(model, rows, task_of, len(self.prior), self.prior, self.shares, weight)

    def claimed_and_reached(self, *, apart: bool = False) -> tuple[float, float, float, int]:
        """Mean confidence on gold, share of right labels, mean log score, number of gold tasks.

        Each gold task is judged by the others; `apart` takes the models for independent.
        """
        return self.on_gold.summed(apart=apart)

    @property
    def gold_with_answers(self) -> Integers:
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
    """Fit how good models are and how they err together, on gold.

    By the model of dependence of the weighted vote (`crowd_tvcs.skills.dependence`), in which the
    answers of one family overlap more (`fit_in_families`). What is said of a gold task rests on
    other gold.

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
        Chance of every class, of shape (classes,), which then counts in full; None for the class
        shares of the gold.

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
    own, chosen = _of_models(joined, family_of)
    families = tuple(sorted({family_of[name] for name in own.workers}))
    family = np.array([families.index(family_of[name]) for name in own.workers])
    calibrated = calibrate(own, gold, None if confidence is None else confidence[chosen])
    truth = gold.codes(own.tasks, own.classes)
    skill, shift = calibrated.skill, calibrated.shift if calibrated.moved else None
    model, given, tasks = fit_in_families(own, gold, skill, family, shift)
    shape = len(own.tasks), len(own.classes)
    before = priors(skill.class_shares if prior is None else prior, *shape)
    shares = model.shares if prior is None else 1.0
    on_gold = OnGold.of(tasks, given, model)
    return Models(own, families, family, calibrated, truth, before, shares, model, on_gold)


def _of_models(answers: Answers, family_of: Mapping[str, str]) -> tuple[Answers, Bools]:
    """Keep the answers of the models, and say which these are."""
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
    return own, chosen

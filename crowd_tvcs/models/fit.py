"""Models and their families, fitted on gold: the posterior of every task after their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.answers.answers import Answers, Gold, with_shared_classes
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.belief.dependent import answer_likelihoods, dependent_posterior, family_weights
from crowd_tvcs.belief.independent import priors
from crowd_tvcs.models.calibration import CalibratedModels, calibrate
from crowd_tvcs.models.held_out_gold import HeldOutGold
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.dependence_fit import fit_families


@dataclass(frozen=True, eq=False)
class Models:
    """Answers of models, and their fitted skills and dependence.

    Attributes
    ----------
    answers
        Answers of the models alone, to gold and other tasks.
    families
        Names of the families, sorted.
    family_of
        Family index of every model.
    calibrated
        Skill of every model, and the effect of its stated confidence.
    truth
        Class index of every task with a known label, else -1.
    prior
        Probability of every class of every task before the answers, of shape (tasks, classes).
    shares
        Weight of the prior: less than 1 if it is the class prevalence of the gold.
    dependence
        Dependence of the errors, `within` a family and beyond.
    held_out_gold
        Gold tasks with answers, each judged by other gold.
    """

    answers: Answers
    families: tuple[str, ...]
    family_of: Integers
    calibrated: CalibratedModels
    truth: Integers
    prior: Floats
    shares: float
    dependence: Dependence
    held_out_gold: HeldOutGold

    @property
    def is_fitted(self) -> bool:
        """Whether there was enough gold to fit `dependence`; else it is that of most crowds."""
        return self.dependence.source == "gold"

    @cached_property
    def posterior(self) -> Floats:
        """Probability of every class given the models' answers, of shape (tasks, classes).

        For a gold task it is that given by the other gold tasks.
        """
        out = self.posteriors()
        out[self.held_out_gold.tasks] = self.held_out_gold.chances
        return out

    def posteriors(self) -> Floats:
        """Return the probability of every class, by all gold: that of a gold task too."""
        skill, answers, model = self.calibrated.skill, self.answers, self.dependence
        rows = answer_likelihoods(
            answers.label_of, skill.mean, skill.habits, len(answers.classes), answers.worker_of
        )
        if self.calibrated.coefficients:
            rows = rows.shifted(self.calibrated.shift)
        weight = family_weights(model.within, answers.task_of, self.family_of[answers.worker_of])
        return dependent_posterior(
            model, rows, answers.task_of, len(self.prior), self.prior, self.shares, weight
        )


def fit_models(
    answers: Answers,
    gold: Gold,
    family_of: Mapping[str, str],
    *,
    confidence: Floats | None = None,
    prior: ArrayLike | None = None,
) -> Models:
    """Fit the skills of models and the dependence of their errors, on gold.

    The model is that of the weighted vote (`crowd_tvcs.skills.dependence`), with more overlap of
    the answers of one family (`fit_families`). Every gold task is judged by other gold.

    Parameters
    ----------
    answers
        Answers of models and others; only those of models are used.
    gold
        Known labels of some tasks.
    family_of
        Family of every model, by their names.
    confidence
        Stated confidence of every answer of `answers`, nan if missing; None for none.
    prior
        Probability of every class, of shape (classes,), with full weight; None for the class
        prevalence of the gold.

    Raises
    ------
    ValueError
        If there is no answer of a model, or none to a gold task.

    Examples
    --------
    >>> rows = [(f"t{j}", name, "01"[j % 2]) for j in range(30) for name in ("m1", "m2")]
    >>> gold = Gold({f"t{j}": "01"[j % 2] for j in range(20)})
    >>> found = fit_models(Answers.of(rows), gold, {"m1": "f", "m2": "f"})
    >>> bool(found.posterior[-1].max() > .9)
    True
    """
    joined = with_shared_classes(answers, gold)
    if confidence is not None and joined is not answers:  # whose answers are sorted
        confidence = confidence[np.lexsort((answers.worker_of, answers.task_of))]
    own, chosen = _of_models(joined, family_of)
    families = tuple(sorted({family_of[name] for name in own.workers}))
    family = np.array([families.index(family_of[name]) for name in own.workers])
    calibrated = calibrate(own, gold, None if confidence is None else confidence[chosen])
    truth = gold.codes(own.tasks, own.classes)
    skill, shift = calibrated.skill, calibrated.shift if calibrated.coefficients else None
    model, given, tasks = fit_families(own, gold, skill, family, shift)
    shape = len(own.tasks), len(own.classes)
    before = priors(skill.class_prevalence if prior is None else prior, *shape)
    shares = model.shares if prior is None else 1.0
    held_out_gold = HeldOutGold.of(tasks, given, model)
    return Models(own, families, family, calibrated, truth, before, shares, model, held_out_gold)


def _of_models(answers: Answers, family_of: Mapping[str, str]) -> tuple[Answers, Bools]:
    """Return the answers of the models, and their mask."""
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

"""Estimate the accuracy of the workers, and the dependence of their errors, from gold answers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowd_tvcs.answers.answers import (
    UNKNOWN,
    Answers,
    Gold,
    answers_of,
    gold_of,
    with_shared_classes,
)
from crowd_tvcs.answers.class_prevalence import class_counts, warn_single_class
from crowd_tvcs.answers.label_typos import review_labels
from crowd_tvcs.skills.beta_prior import PRIORS, prior_of
from crowd_tvcs.skills.dependence_fit import fit_dependence
from crowd_tvcs.skills.skill import INTERVAL, Skill
from tvcs_core.arguments import check_choice, check_number
from tvcs_core.files.display import joined, plural, quoted
from tvcs_core.files.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

MODELS = ("dependent", "independent")


def checked_model(model: str) -> str:
    """Return a model, refusing one that is not in `MODELS`."""
    check_choice("model", model, MODELS)
    return model


def answers_and_gold(
    answers: Answers | str | Path | pd.DataFrame,
    gold: Gold | str | Path | pd.DataFrame | pd.Series | Mapping[object, object],
) -> tuple[Answers, Gold]:
    """Return answers and gold with the classes of both; read tables, and review labels of gold."""
    known = gold_of(gold)
    table = answers_of(answers, known.classes)
    if known is not gold:
        path = Path(gold) if isinstance(gold, str | Path) else Path("gold")
        try:
            doubts = review_labels(path, known, table.used_classes)
        except DataError as error:
            error.add_note("gold=Gold(labels, classes) names all classes")
            raise
        for doubt in doubts + warn_single_class(known.labels, table.used_classes):
            if doubt.startswith("warning: "):  # the others are notes
                warnings.warn(doubt.removeprefix("warning: "), stacklevel=3)
    return with_shared_classes(table, known), known


def estimate_quality(
    answers: Answers | str | Path | pd.DataFrame,
    gold: Gold | str | Path | pd.DataFrame | pd.Series | Mapping[object, object],
    *,
    prior: str = PRIORS[0],
    per_class: bool = False,
    interval: float = INTERVAL,
    model: str = MODELS[0],
    like: Answers | None = None,
) -> Skill:
    """Estimate how accurate each worker is from their answers to gold tasks.

    Parameters
    ----------
    answers
        Answers to gold tasks, or a table of them, as for `crowd_tvcs.read_answers`; those to other
        tasks are ignored.
    gold
        Labels of the gold tasks, or a table of them, as for `crowd_tvcs.read_gold`. Classes that
        `answers` lacks are added.
    prior
        ``"empirical-bayes"``: mean and strength of the crowd by maximum a posteriori, if at least
        `FEW_WORKERS` workers have two gold answers, else as ``"two-answers"``: the mean is the
        crowd's share of right answers (one right and one wrong added), with the weight of two.
        ``"usual-crowd"``: as the first, but with fewer such workers the mean of usual crowds counts
        as ten of the crowd's answers. Nobody need have answered gold.
    per_class
        Also estimate a confusion matrix for every worker.
    interval
        Credible level of `low` and `high` of the result, above 0 and below 1.
    model
        ``"dependent"``: also fit how the errors of workers depend on each other, see
        `crowd_tvcs.skills.dependence`. ``"independent"``: naive Bayes, which is overconfident on
        real crowds.
    like
        Answers to be voted on, for the dependent model, see
        `crowd_tvcs.skills.dependence_fit.fit_dependence`; None for those of the best workers.

    Raises
    ------
    ValueError
        If no gold task is answered, but for the prior ``"usual-crowd"``; if a table is invalid, or
        gold and answers have no label in common; or an argument is out of its range.

    Examples
    --------
    >>> answers = Answers.of([("g1", "ann", "1"), ("g2", "ann", "0"), ("g1", "bob", "0")])
    >>> skill = estimate_quality(answers, Gold({"g1": "1", "g2": "0"}))
    >>> skill.n_right.tolist(), skill.mean.round(2).tolist()
    ([2, 0], [0.8, 0.4])
    """
    answers, gold = answers_and_gold(answers, gold)
    check_choice("prior", prior, PRIORS)
    checked_model(model)
    check_number("interval", interval)
    if not 0.0 < interval < 1.0:
        raise ValueError(f"interval must be above 0 and below 1, found {interval}")
    truth = gold.codes(answers.tasks, answers.classes)[answers.task_of]
    known = truth != UNKNOWN
    if not known.any() and prior != "usual-crowd":
        here, there = joined(sorted(gold.labels), quoted), joined(answers.tasks, quoted)
        raise ValueError(
            f"no gold task is answered: of the {plural(len(gold), 'gold task')} ({here}) none is "
            f"among the {plural(len(answers.tasks), 'task')} with answers ({there}); "
            "a task must have one name in both"
        )
    n, k = len(answers.workers), len(answers.classes)
    counts = np.zeros((n, k, k), dtype=np.int64)
    np.add.at(counts, (answers.worker_of[known], truth[known], answers.label_of[known]), 1)
    n_gold, n_right = counts.sum(axis=(1, 2)), np.trace(counts, axis1=1, axis2=2)
    skill = Skill(
        answers.workers,
        answers.classes,
        counts,
        prior_of(prior, n_gold, n_right),
        interval,
        per_class,
        gold_per_class=class_counts(gold.labels, answers.classes),
    )
    return skill if model == "independent" else fit_dependence(answers, gold, skill, like)

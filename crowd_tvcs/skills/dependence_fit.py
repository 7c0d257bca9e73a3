"""Fit the model of `dependence` to gold by maximum a posteriori, with the prior of real crowds.

Every gold task is judged by other gold (`held_out`), and `dependence_loss` has the loss. The fit is
done with confusion matrices and with one accuracy per worker, and the one under which held-out gold
is more probable stays. Draws come from a fixed stream: the same gold gives the same parameters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowd_tvcs.answers.answers import Answers, Gold, with_shared_classes
from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.skills.accuracy_forecast import ForecastModel
from crowd_tvcs.skills.common_error import DEFAULT_ERROR, common_error, fit_forecast
from crowd_tvcs.skills.dependence import BEST_FIRST, Dependence
from crowd_tvcs.skills.dependence_loss import PREFIXES, Loss, Prefixes, usual_dependence
from crowd_tvcs.skills.held_out import (
    MIN_GOLD_TASKS,
    HeldOutAnswers,
    estimate_choice,
    held_out,
    orders,
    ranks,
)
from crowd_tvcs.skills.skill import Skill

NO_GOLD = Dependence(temperature=0.95, overlap=0.15, common=0.03, plan_error=DEFAULT_ERROR)
MIN_GOLD_ANSWERS = 10  # answers to gold; with fewer, or `MIN_GOLD_TASKS` tasks, nothing is fitted
MIN_FAMILY_GOLD = 10  # gold tasks; the same for workers in families
FAMILY_OVERLAP = 0.4  # overlap in a family: the best of .2, .4, .7 on simulated language models
# Gold tasks; with fewer, asking whether matrices help lost .006 of log score (docs/decisions, 65).
MIN_GOLD_FOR_MATRICES = 30


def fit_dependence(
    answers: Answers, gold: Gold, skill: Skill, like: Answers | None = None
) -> Skill:
    """Fit the dependence of worker errors to gold, and add it to a skill.

    Parameters
    ----------
    answers, gold
        The data that `skill` was estimated from.
    skill
        Skill of every single worker.
    like
        Answers to be voted on. The fit uses answers to gold of workers chosen as in these
        (`held_out.estimate_choice`); None for the best workers.

    Returns
    -------
    Skill
        With `dependence`. It has the default parameters if there are fewer than `MIN_GOLD_TASKS`
        gold tasks or `MIN_GOLD_ANSWERS` answers to them.
    """
    answers = with_shared_classes(answers, gold)
    usual = usual_dependence()
    if not skill.n_gold.any():
        return replace(skill, dependence=usual)
    seen = held_out(answers, gold, skill)
    if seen.truth.size < MIN_GOLD_TASKS or seen.rows.label_of.size < MIN_GOLD_ANSWERS:
        return replace(skill, dependence=usual)
    choice = BEST_FIRST if like is None else estimate_choice(like, answers, gold, skill)
    given = _prefixes(seen, orders(seen.task_of, seen.lower_bound, choice))
    model = _most_likely(given, choice=choice, labels=0 if like is None else like.size)
    plan_error, forecast_model = _of_plans(seen, model, len(answers.classes))
    model = replace(model, plan_error=plan_error, forecast_model=forecast_model)
    return replace(skill, dependence=model)


def fit_families(
    answers: Answers,
    gold: Gold,
    skill: Skill,
    family_of: Integers,
    shift: Floats | None = None,
) -> tuple[Dependence, Prefixes, Integers]:
    """Fit the model to workers in families who all answer, such as models under several prompts.

    Parameters
    ----------
    answers, gold
        The data that `skill` was estimated from, with the classes of both.
    skill
        Skill of every single worker.
    family_of
        Family index of every worker.
    shift
        Difference of the log odds of every answer from those of its worker, such as by its stated
        confidence; None for none.

    Returns
    -------
    tuple
        The model, the gold tasks as judged by other gold, and the indices of these tasks. With
        fewer than `MIN_FAMILY_GOLD` gold tasks the model has the default parameters.
    """
    seen = held_out(answers, gold, skill)
    if shift is not None:
        seen = replace(seen, rows=seen.rows.shifted(shift[seen.answer]))
    given = _prefixes(seen, orders(seen.task_of, seen.lower_bound, 0.0))
    given = replace(given, family_of=family_of[answers.worker_of[seen.answer]])
    if seen.truth.size < MIN_FAMILY_GOLD:
        return usual_dependence(within=FAMILY_OVERLAP), given, seen.task
    model = _most_likely(given, FAMILY_OVERLAP, choice=0.0, labels=answers.size)
    return model, given, seen.task


def held_out_prefixes(answers: Answers, gold: Gold, skill: Skill) -> Prefixes:
    """Return the gold tasks, each judged by other gold; some must have answers."""
    seen = held_out(with_shared_classes(answers, gold), gold, skill)
    choice = BEST_FIRST if skill.dependence is None else skill.dependence.choice
    return _prefixes(seen, orders(seen.task_of, seen.lower_bound, choice))


def _most_likely(given: Prefixes, within: float = 0.0, **facts: Any) -> Dependence:
    """Return the fitted model, with confusion matrices if held-out gold gains from them."""
    facts |= {"last": given.last, "within": within, "source": "gold", "gold": given.tasks}
    model = Dependence.at(Loss(given, within).minimizer(), **facts)
    if given.rows.own is not None and given.tasks >= MIN_GOLD_FOR_MATRICES:
        even = replace(given, rows=replace(given.rows, own=None))
        other = replace(Dependence.at(Loss(even, within).minimizer(), **facts), blend=0.0)
        model = model if given.score(model) >= even.score(other) else other
    return replace(
        model,
        score=given.score(model),
        independent_score=given.score(Dependence()),
        measured=given.measured(model),
    )


def _of_plans(
    seen: HeldOutAnswers, model: Dependence, n_classes: int
) -> tuple[float, ForecastModel]:
    """Match plans to the confidences of votes on gold tasks by the best of their workers.

    Returns
    -------
    tuple
        The common error, and the differences of observed from expected accuracy with it.
    """
    rank, n_tasks = ranks(seen.task_of, -seen.lower_bound), seen.truth.size
    given = _prefixes(seen, [rank])
    chances = given.posteriors(model)
    claim, hit = chances.max(axis=1), (chances.argmax(axis=1) == given.truth).astype(np.float64)
    some = [k for k in PREFIXES if k is not None]
    parts = dict(zip(some, given.part, strict=False))
    of_answer = seen.rows.even[seen.rows.worker_of, 0, 0]
    accuracy = np.full((max(some), n_tasks), 1.0 / n_classes)
    first = rank < max(some)
    accuracy[rank[first], seen.task_of[first]] = of_answer[first]
    n_answers = np.bincount(seen.task_of, minlength=n_tasks)
    claims = {k: claim[part] for k, part in parts.items()}
    error = common_error(accuracy, claims, n_answers, n_classes)
    hits = {k: hit[part] for k, part in parts.items()}
    usual = float(of_answer.mean())
    return error, fit_forecast(accuracy, hits, n_answers, usual, error, n_classes)


def _prefixes(seen: HeldOutAnswers, places: list[Integers]) -> Prefixes:
    """Make the groups: the first 1, 2, 3, 5 and all answers of every task, in each order."""
    n_tasks = seen.truth.size
    entries, groups, parts, start = [], [], [], 0
    for most in PREFIXES:
        for rank in places:
            inside = np.flatnonzero(rank < most) if most else np.arange(rank.size)
            entries.append(inside)
            groups.append(start + seen.task_of[inside])
            start += n_tasks
        parts.append(slice(start - len(places) * n_tasks, start))
    entry, group_of = np.concatenate(entries), np.concatenate(groups)
    times = len(PREFIXES) * len(places)
    return Prefixes(
        seen.rows,
        entry,
        group_of,
        np.bincount(group_of, minlength=start),
        np.tile(seen.truth, times),
        np.tile(seen.prior, (times, 1)),
        tuple(parts),
        1.0 / times,
    )

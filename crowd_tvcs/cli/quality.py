"""The command `crowd-tvcs quality`: the accuracy of each worker, from answers to gold tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from crowd_tvcs.cli.answers import (
    GOLD,
    ErrorModel,
    PerClass,
    RecordedAnswers,
    print_skill,
    share_option,
)
from tvcs_core.arguments import Help, check_number
from tvcs_core.command.options import (
    Force,
    OutFolder,
    Sets,
    file_option,
    number_option,
    recorded,
    with_options,
)
from tvcs_core.command.results import results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold
    from crowd_tvcs.skills.skill import Skill

SUGGESTIONS = ("task", "answers", "variance_reduction")
CONFUSION = ("worker", "label", "answer", "probability")


@dataclass(frozen=True, kw_only=True)
class QualityOptions:
    """The options of ``crowd-tvcs quality``."""

    gold: Annotated[Path, file_option(GOLD)]
    out: OutFolder
    tasks: Annotated[
        Path | None,
        file_option(
            "Names of the tasks to plan, one per line or in a column task. Default: those "
            "of ANSWERS that are not gold."
        ),
    ] = None
    wide: Annotated[bool, Help("Write quality.csv wide, not worker, task, quality.")] = False
    answers: RecordedAnswers
    per_class: PerClass = False
    prior: Annotated[str, Help("Prior for worker accuracies: empirical-bayes or two-answers.")] = (
        "empirical-bayes"
    )
    interval: Annotated[
        float, share_option("Probability of the credible interval from low to high.")
    ] = 0.9
    semi_supervised: Annotated[
        bool,
        Help(
            "Learn also from answers to tasks without gold, by their vote, unless the vote on "
            "held-out gold gets worse. Prints the change."
        ),
    ] = False
    error_model: ErrorModel = "dependent"
    suggest_gold: Annotated[
        int | None,
        number_option(
            "Also write gold_suggestions.csv: the N tasks whose true labels would be most "
            "informative about worker accuracy."
        ),
        Sets("count"),
    ] = None
    force: Force = False


@guarded
@with_options
def quality(given: QualityOptions) -> None:
    """Estimate the accuracy of each worker; write tables of them and run.json.

    skills.csv has the workers, quality.csv the input of assign; without tasks to plan there is
    none. classes.csv has the class shares of the gold: label, gold, share; they hold if gold is a
    random sample of the tasks. dependence.json has the dependence of worker errors. With
    --per-class also confusion.csv: worker, label, answer, probability. With --suggest-gold also
    gold_suggestions.csv: task, answers, variance_reduction.
    """
    from crowd_tvcs.answers import class_prevalence
    from crowd_tvcs.answers.columns import read_task_names
    from crowd_tvcs.skills.skill import COLUMNS

    if given.suggest_gold is not None:
        check_number("count", given.suggest_gold, least=1)
    table, known = given.answers.read_with(given.gold)
    skill = _estimate(table, known, given)
    names = [task for task in table.tasks if task not in known.labels]
    if given.tasks is not None:
        names = read_task_names(given.tasks)
    shares = dict(zip(skill.classes, skill.class_prevalence.tolist(), strict=True))
    of_class = class_prevalence.class_counts(known.labels, skill.classes)
    dependence = None if skill.dependence is None else skill.dependence.as_json()
    outcome: dict[str, Any] = {"class_shares": shares, "dependence": dependence}
    if given.semi_supervised:
        outcome["refit"] = skill.learnt is not None
    with results(
        "crowd-tvcs quality",
        given,
        recorded(given) | outcome,
        layout=table.layout,
    ) as out:
        if given.suggest_gold is not None:
            out.table(
                "gold_suggestions.csv", SUGGESTIONS, _asked(table, known, skill, given.suggest_gold)
            )
        out.table("skills.csv", COLUMNS, skill.rows())
        out.table(
            "classes.csv", class_prevalence.COLUMNS, class_prevalence.rows(skill.classes, of_class)
        )
        if dependence is not None:
            out.json("dependence.json", dependence)
        if names:
            out.table("quality.csv", *_quality_rows(skill, names, wide=given.wide))
        if given.per_class:
            out.table("confusion.csv", CONFUSION, _confusion_rows(skill))
    print_skill(skill)
    print_message(class_prevalence.describe_prevalence(skill.classes, of_class))
    if not names:
        print_message(
            "every task with answers is gold: no quality.csv; --tasks names the tasks to plan"
        )
    print_message(f"written to {given.out}")


def _estimate(table: Answers, known: Gold, given: QualityOptions) -> Skill:
    """Estimate the skills from gold answers, and on request from the other answers too."""
    from crowd_tvcs.skills.estimate import estimate_quality
    from crowd_tvcs.skills.semi_supervised import compare_on_held_out_gold, refit_semi_supervised

    skill = estimate_quality(
        table,
        known,
        prior=given.prior,
        per_class=given.per_class,
        interval=given.interval,
        model=given.error_model,
    )
    if not given.semi_supervised:
        return skill
    found = compare_on_held_out_gold(table, known, per_class=skill.per_class, model=skill.model)
    if found.refusal:
        print_message(f"warning: not semi-supervised: {found.refusal}")
        return skill
    print_message(
        f"semi-supervised; of {found.gold} held-out gold tasks the vote has {found.without} right "
        f"without it and {found.refreshed} with it; it multiplies the probability of their labels "
        f"by {math.exp(found.gain):.3f} (log {found.gain:+.4f}, standard error {found.error:.4f})"
    )
    return refit_semi_supervised(table, known, skill)


def _asked(answers: Answers, gold: Gold, skill: Skill, count: int) -> list[tuple[str, int, float]]:
    """Return tasks to make gold."""
    from crowd_tvcs.skills.gold_suggestions import suggest_gold_tasks

    found = suggest_gold_tasks(answers, gold, skill, count)
    if len(found) < count:
        print_message(
            f"only {plural(len(found), 'task has', 'tasks have')} answers and no known label, "
            f"{count} requested"
        )
    return found


def _quality_rows(
    skill: Skill, tasks: list[str], *, wide: bool
) -> tuple[list[str], list[list[object]]]:
    """Return the rows for `crowd-tvcs assign`: every worker has one quality for all tasks."""
    pairs = list(zip(skill.workers, skill.mean.tolist(), strict=True))
    if wide:
        return ["worker", *tasks], [[worker, *[mean] * len(tasks)] for worker, mean in pairs]
    rows: list[list[object]] = [[worker, task, mean] for worker, mean in pairs for task in tasks]
    return ["worker", "task", "quality"], rows


def _confusion_rows(skill: Skill) -> list[list[object]]:
    return [
        [worker, label, answer, float(skill.matrices[i, c, k])]
        for i, worker in enumerate(skill.workers)
        for c, label in enumerate(skill.classes)
        for k, answer in enumerate(skill.classes)
    ]

"""Skills of workers and dependence of their errors, estimated from gold."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, select, update

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.belief.constants import DEFAULT_MIN_GAIN
from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.store import kinds, schema
from crowd_tvcs.campaign.store.bulk import update_rows
from crowd_tvcs.campaign.store.gold import ANSWERS
from crowd_tvcs.campaign.store.queries import of_pairs
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.schema import ANSWERED, gold, pair, skill, task, worker
from crowd_tvcs.campaign.stored_model import fitted_to, marked
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.dependence_fit import NO_GOLD, fit_dependence
from crowd_tvcs.skills.estimate import checked_model, estimate_quality
from crowd_tvcs.skills.reliability import confidence_threshold, gold_confidences
from crowd_tvcs.skills.skill import Skill

WRONG, RIGHT = "wrong", "right"  # answers that are no classes
NO_GOLD_YET = "no gold"  # a task without answers, for the estimates of people without any
PRIOR = "usual-crowd"  # of accuracies; people may be unknown when a campaign begins


def first_model(
    model: str, target: float, min_gain: float | None, has_classes: bool = True
) -> dict[str, Any]:
    """Return the model settings of a new campaign; gold may refine them later.

    Arguments are those of `Campaign.create`. Of answers that are no classes there is no model of
    dependence.
    """
    is_dependent = checked_model(model) == "dependent" and has_classes
    if min_gain is None and is_dependent and target < 1.0:
        min_gain = DEFAULT_MIN_GAIN
    return {
        "dependence": _text(NO_GOLD) if is_dependent else None,
        "confidence_threshold": None,
        "min_gain": min_gain or None,
        "best": None,
    }


class Estimates(NamedTuple):
    """Estimates from gold: quality and confusion of every worker, and values of the campaign."""

    of_workers: list[dict[str, Any]]
    of_campaign: dict[str, Any]


def estimate(connection: Connection, settings: Settings) -> None:
    """Estimate every worker's quality from the gold answers in the store, and the model.

    The model is for labels of workers chosen like those of the labels so far;
    `stored_model.fitted_to` gives the number of labels that count.
    """
    write_estimates(connection, settings, estimated(connection, settings))


def estimate_newcomer(connection: Connection, settings: Settings, name: str) -> None:
    """Store the quality of a worker who has just come; those of the others stay.

    They have no habits yet and no answer to a task, so no task is to be settled.
    """
    names = list(connection.scalars(select(worker.c.name)))
    answers, known = gold_of(connection, settings, names)
    found = estimate_quality(answers, known, prior=PRIOR, model="independent")
    value = float(found.mean[found.workers.index(name)])
    update_rows(connection, worker, "name", [{"name": name, "quality": value, "habits": None}])
    note_best(connection, settings)


def estimated(connection: Connection, settings: Settings) -> Estimates:
    """Estimate the same, and write nothing."""
    names = list(connection.scalars(select(worker.c.name)))
    answers, known = gold_of(connection, settings, names)
    model = "independent" if settings.dependence is None else "dependent"
    found = estimate_quality(answers, known, prior=PRIOR, model=model)
    if found.dependence is not None and (size := fitted_to(settings.answers)):
        found = _like(found, answers, known, _first_labels(connection, settings, size))
    qualities = dict(zip(found.workers, found.mean.tolist(), strict=True))
    habits: list[Any] = [None] * len(qualities)
    if found.dependence is not None and found.dependence.blend > 0.0 and found.habits is not None:
        habits = [json.dumps(rows) for rows in found.habits.tolist()]
    of = dict(zip(found.workers, habits, strict=True))
    rows = [{"name": n, "quality": qualities[n], "habits": of[n]} for n in sorted(names)]
    if found.dependence is None:
        return Estimates(rows, {})
    threshold = None
    if found.n_gold.any():
        confidences = gold_confidences(answers, known, found)
        threshold = confidence_threshold(*confidences, settings.target)
    values = {"dependence": _text(found.dependence), "confidence_threshold": threshold}
    return Estimates(rows, values)


def _first_labels(connection: Connection, settings: Settings, size: int) -> Answers:
    """Read the labels of the campaign that came first."""
    classes = json.loads(settings.classes)
    rows = connection.execute(_LABELS, {"size": size}).all()
    return Answers.of(((of, who, classes[label]) for of, who, label in rows), classes=classes)


def _like(found: Skill, answers: Answers, known: Gold, labels: Answers) -> Skill:
    """Fit the model to gold answers of workers chosen like those of these labels.

    The model of plans stays, because plans choose the best workers.
    """
    of_plans = found.dependence
    # Other tasks with a known label are labelled as those without.
    answered = {answers.tasks[j] for j in set(answers.task_of.tolist())}
    used = Gold(
        {task: label for task, label in known.labels.items() if task in answered}, known.classes
    )
    found = fit_dependence(answers, used, found, labels)
    if of_plans is None or found.dependence is None:
        return found
    error, forecast_model = of_plans.plan_error, of_plans.forecast_model
    model = replace(found.dependence, plan_error=error, forecast_model=forecast_model)
    return replace(found, dependence=model)


def in_store(connection: Connection) -> tuple[Any, ...]:
    """Read the estimates in the store."""
    model, sure = connection.execute(
        select(schema.campaign.c.dependence, schema.campaign.c.confidence_threshold)
    ).one()
    of_workers = select(worker.c.name, worker.c.quality, worker.c.habits).order_by(worker.c.id)
    model = None if model is None else marked(model, None)
    return model, sure, *map(tuple, connection.execute(of_workers))


def mark(connection: Connection, start: int | None) -> None:
    """Note in the model the first task that is not settled by it; None if all are."""
    column = schema.campaign.c.dependence
    model = connection.scalar(select(column))
    if model is not None:
        connection.execute(update(schema.campaign).values({column: marked(model, start)}))


def write_estimates(connection: Connection, settings: Settings, found: Estimates) -> None:
    """Store the estimates; posteriors of the tasks must be updated afterwards."""
    update_rows(connection, worker, "name", found.of_workers)
    if found.of_campaign:
        connection.execute(update(schema.campaign).values(found.of_campaign))
    note_best(connection, settings)


def gold_of(connection: Connection, settings: Settings, names: list[str]) -> tuple[Answers, Gold]:
    """Read the gold labels and gold answers, of these workers and of others who gave some.

    Where answers are no classes, each is right or wrong as a whole.
    """
    kind = kind_of(settings)
    codes = {row.task: row.label for row in connection.execute(select(gold)).all()}
    rows = [row for row in connection.execute(ANSWERS).all() if row.task in codes]
    if kind.has_classes:
        classes = kind.labels
        known = {task: classes[code] for task, code in codes.items()}
        labels = [classes[row.label] for row in rows]
    else:
        classes = WRONG, RIGHT
        known = dict.fromkeys(codes or [NO_GOLD_YET], RIGHT)
        labels = [RIGHT if row.label == codes[row.task] else WRONG for row in rows]
    # Sorted, as draws for the model go by the order: every database then gives the same.
    given = sorted((row.task, row.worker, label) for row, label in zip(rows, labels, strict=True))
    everybody = sorted({*names, *(name for _, name, _ in given)})
    answers = Answers.of(given, tasks=sorted(known), workers=everybody, classes=classes)
    return answers, Gold(known, classes)


def note_best(connection: Connection, settings: Settings) -> None:
    """Store the quality of the best worker, whose labels have the largest gain."""
    column = skill.c.quality if settings.per_pair else worker.c.quality
    there = select(func.min(column), func.max(column))
    if settings.source == kinds.SOURCE:
        column = kinds.kind_skill.c.quality
        there = select(func.min(column), func.max(column)).where(kinds.WITH_TASKS)
    low, high = connection.execute(there.where(column >= settings.min_quality)).one()
    best = high
    if high is not None and settings.n_classes == 2:
        best = max(high, 1.0 - low)
    connection.execute(update(schema.campaign).values(best=best))


def _text(model: Dependence) -> str:
    return json.dumps(model.as_json())


_LABELS = (
    of_pairs(task.c.name, worker.c.name, pair.c.label)
    .where(pair.c.state == ANSWERED, pair.c.place <= bindparam("size"))
    .order_by(task.c.name, worker.c.name)
)

"""The beginning of a campaign: its settings checked, its first contents written into a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import insert

from crowd_tvcs.answers.class_prevalence import class_counts, class_prevalence
from crowd_tvcs.answers.quality import Qualities, Quality
from crowd_tvcs.campaign.answer_kinds.kind import KINDS, OneClass, labels_of_kind
from crowd_tvcs.campaign.entries import (
    AnswerRecord,
    Task,
    Worker,
    gold_of,
    parse_answers,
    tasks_of,
    workers_of,
)
from crowd_tvcs.campaign.estimates import estimate, first_model
from crowd_tvcs.campaign.ingest import additions, labels
from crowd_tvcs.campaign.settings import (
    check_range,
    classes_of,
    count_of,
    first_row,
    prior_of_classes,
)
from crowd_tvcs.campaign.store import kinds, schema
from crowd_tvcs.campaign.store.queries import SETTINGS
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.tasks import settle_all
from tvcs_core.arguments import check_number


class InitialData(NamedTuple):
    """Initial data of a campaign; see `Campaign.create`."""

    workers: Iterable[str | Worker]
    tasks: Iterable[str | Task]
    qualities: Qualities | None
    kinds: Quality | None
    gold: Mapping[str, str] | None
    gold_answers: Iterable[AnswerRecord | tuple[str, str, str]]


def create_store(place: str | Path, first: InitialData, **given: Any) -> None:
    """Make a new store; errors and settings as for `Campaign.create`."""
    qualities, known = first.qualities, gold_of(first.gold)
    settings = _settings(first, given)
    lines = parse_answers("gold_answers", first.gold_answers)
    if qualities is not None and first.kinds is not None:
        raise ValueError("a campaign has qualities or kinds, not both")
    if not KINDS[given["answer_kind"]].has_classes:
        _refuse_of_classes(first, given)
    elif qualities is None and first.kinds is None and not known:
        raise ValueError("a campaign needs qualities, or gold labels that show who is good")
    if lines and not known:
        raise ValueError("gold answers need the gold labels of their tasks")
    listed, wanted = workers_of(first.workers), tasks_of(first.tasks)
    if not listed or not wanted:
        raise ValueError("a campaign needs workers and tasks")
    store = Store(place)
    with store.create() as connection:
        connection.execute(insert(schema.campaign).values(settings))
        row = SETTINGS.only(connection)
        additions.add_workers(connection, row, listed)
        if first.kinds is not None:
            kinds.create(connection)
            additions.add_kinds(connection, row, first.kinds)
        if known:
            labels.add_gold(connection, row, known, lines)
        elif row.source == "gold":
            estimate(connection, row)
        additions.add_tasks(connection, row, wanted)
        if qualities is not None:
            additions.set_qualities(connection, row, qualities)
        settle_all(connection)
    store.close()


def _settings(first: InitialData, given: dict[str, Any]) -> dict[str, Any]:
    """Check the settings; the row of the campaign."""
    kind = given["answer_kind"]
    names = labels_of_kind(kind, classes_of(given["classes"]))
    has_classes = KINDS[kind].has_classes
    prior, is_of_gold = given["prior"], False
    if prior is None and first.gold and has_classes:
        prior = class_prevalence(class_counts(first.gold, names)).tolist()
        is_of_gold = True
    min_gain, money = given["min_gain"], given["money"]
    if min_gain is not None:
        min_gain = check_range("min_gain", min_gain, 0.0, 1.0)
    target = check_range("target", given["target"], 0.0, 1.0)
    check_number("seed", given["seed"], whole=True)
    return first_row(
        classes=names,
        prior=prior_of_classes(prior, len(names)),
        budget=count_of("budget", given["budget"]),
        money=None if money is None else check_range("money", money, 0.0, 1e12),
        max_workers_per_task=count_of("max_workers_per_task", given["max_workers_per_task"]),
        max_tasks_per_worker=count_of("max_tasks_per_worker", given["max_tasks_per_worker"]),
        min_quality=check_range("min_quality", given["min_quality"], 0.0, 1.0),
        target=target,
        lease_seconds=check_range("lease_seconds", given["lease_seconds"], 0.001, 1e9),
        seed=count_of("seed", given["seed"]),
        per_pair=first.kinds is not None
        or not (first.qualities is None or isinstance(first.qualities, Mapping)),
        source=_source(first),
        shares_of_gold=int(is_of_gold),
        answer_kind=None if kind == OneClass.name else kind,
        **first_model(given["model"], target, min_gain, has_classes),
    )


def _refuse_of_classes(first: InitialData, given: dict[str, Any]) -> None:
    """Refuse settings that only classes have."""
    asked = {"qualities": first.qualities, "kinds": first.kinds}
    asked |= {"prior": given["prior"], "min_gain": given["min_gain"]}
    asked |= {"target": None if given["target"] == 1.0 else given["target"]}
    for name, value in asked.items():
        if value is not None:
            raise ValueError(
                f"{name} is for classes and scales: a campaign of the kind {given['answer_kind']} "
                "hands out the tasks with fewest answers first, up to the caps; leave it out"
            )


def _source(first: InitialData) -> str:
    """The source of the qualities."""
    if first.kinds is not None:
        return kinds.SOURCE
    return "gold" if first.qualities is None else "table"

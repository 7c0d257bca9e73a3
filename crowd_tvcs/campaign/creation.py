"""The settings of a new campaign, and its contents: checked and written, then or later."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sized
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert

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
    COUNTS,
    RANGES,
    classes_of,
    count_of,
    limits_of,
    prior_of_classes,
)
from crowd_tvcs.campaign.store import kinds, schema
from crowd_tvcs.campaign.store.queries import COUNTERS, SETTINGS
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.tasks import settle_all
from tvcs_core.arguments import by_label, check_number
from tvcs_core.files.display import plural


class Contents(NamedTuple):
    """What is put into a campaign, at its creation or later; see `Campaign.create`."""

    workers: list[Worker]
    tasks: list[Task]
    qualities: Qualities | None
    kinds: Quality | None
    gold: Mapping[str, str]
    gold_answers: list[AnswerRecord]

    @classmethod
    def of(
        cls,
        workers: Iterable[str | Worker],
        tasks: Iterable[str | Task],
        qualities: Qualities | None,
        kinds: Quality | None,
        gold: Mapping[str, str] | None,
        gold_answers: Iterable[AnswerRecord | tuple[str, str, str]],
    ) -> Contents:
        """Check the arguments of `Campaign.create` and `Campaign.add`, of which names will do."""
        lines, known = parse_answers("gold_answers", gold_answers), gold_of(gold)
        named = workers_of(workers), tasks_of(tasks)
        return cls(*named, by_label("qualities", qualities) or qualities, kinds, known, lines)

    def describe(self) -> str:
        """Return the numbers of what there is, for the audit."""
        new: dict[str, Sized] = {
            "worker": self.workers,
            "task": self.tasks,
            "gold label": self.gold,
            "gold answer": self.gold_answers,
        }
        added = [plural(len(of), what) for what, of in new.items() if of]
        added += ["qualities"] if self.qualities is not None else []
        added += ["kinds"] if self.kinds is not None else []
        return ", ".join(added)


def add_contents(connection: Connection, settings: Settings, new: Contents) -> None:
    """Write workers, tasks, qualities and gold into a store, and settle its tasks."""
    additions.add_workers(connection, settings, new.workers)
    if new.kinds is not None:
        additions.add_kinds(connection, settings, new.kinds)
    additions.add_tasks(connection, settings, new.tasks)
    if new.qualities is not None:
        if settings.source == "gold":
            raise ValueError("the qualities of this campaign come from gold answers")
        additions.set_qualities(connection, settings, new.qualities)
    if new.gold or new.gold_answers:
        labels.add_gold(connection, settings, new.gold, new.gold_answers)
    elif new.workers and settings.source == "gold":
        estimate(connection, settings)
    settle_all(connection)


def create_store(place: str | Path, first: Contents, **given: Any) -> None:
    """Make a new store; errors and settings as for `Campaign.create`."""
    row = _first_row(first, given)
    if first.qualities is not None and first.kinds is not None:
        raise ValueError("a campaign has qualities or kinds, not both")
    if not KINDS[given["answer_kind"]].has_classes:
        _refuse_of_classes(first, given)
    elif first.qualities is None and first.kinds is None and not first.gold:
        raise ValueError("a campaign needs qualities, or gold labels that show who is good")
    if first.gold_answers and not first.gold:
        raise ValueError("gold answers need the gold labels of their tasks")
    if not first.workers or not first.tasks:
        raise ValueError("a campaign needs workers and tasks")
    store = Store(place)
    with store.create() as connection:
        connection.execute(insert(schema.campaign).values(row))
        if first.kinds is not None:
            kinds.create(connection)
        add_contents(connection, SETTINGS.only(connection), first)
    store.close()


def _first_row(first: Contents, given: dict[str, Any]) -> dict[str, Any]:
    """Check the settings; return the row of the campaign."""
    kind = given["answer_kind"]
    names = labels_of_kind(kind, classes_of(given["classes"]))
    has_classes = KINDS[kind].has_classes
    prior, is_of_gold = given["prior"], False
    if prior is None and first.gold and has_classes:
        prior = class_prevalence(class_counts(first.gold, names)).tolist()
        is_of_gold = True
    limits = limits_of({name: given[name] for name in (*COUNTS, *RANGES)})
    check_number("seed", given["seed"], whole=True)
    is_per_pair = not (first.qualities is None or isinstance(first.qualities, Mapping))
    return {
        **limits,
        "id": 1,
        "schema_version": schema.VERSION,
        "revision": 0,
        "classes": json.dumps(list(names)),
        "prior": json.dumps(prior_of_classes(prior, len(names))),
        "seed": count_of("seed", given["seed"]),
        "per_pair": int(first.kinds is not None or is_per_pair),
        "source": _source(first),
        "shares_of_gold": int(is_of_gold),
        "answer_kind": None if kind == OneClass.name else kind,
        **first_model(given["model"], limits["target"], limits["min_gain"], has_classes),
        **dict.fromkeys(COUNTERS, 0),
    }


def _refuse_of_classes(first: Contents, given: dict[str, Any]) -> None:
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


def _source(first: Contents) -> str:
    """The source of the qualities."""
    if first.kinds is not None:
        return kinds.SOURCE
    return "gold" if first.qualities is None else "table"

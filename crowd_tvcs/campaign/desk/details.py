"""Lists of tasks, and all that is known of one task or one worker, for the operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, exists, func, select

from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.desk import answer_speed
from crowd_tvcs.campaign.desk.remarks import FLAG, Remark, remarks_of
from crowd_tvcs.campaign.leases import ordinary_task, the_one
from crowd_tvcs.campaign.store import queries
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.schema import (
    ANSWERED,
    CLOSED,
    GOLD,
    SKIPPED,
    UNLIMITED,
    audit,
    gold,
    pair,
    task,
    worker,
)
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.tasks import has_label

ROWS = 30
"""Rows of a page."""
LATEST = 100
"""Answers, and remarks, of a worker or task that are shown."""


@dataclass(frozen=True)
class TaskLine:
    """A task in a list: its label and confidence (None without), answers, slots and state."""

    task: str
    label: str | None
    confidence: float | None
    answers: int
    pending: int
    state: str


@dataclass(frozen=True)
class GivenAnswer:
    """An answer: its task, worker and label, and facts about it.

    `is_gold` is of gold among the tasks; `is_right` compares with a known label, None without;
    `is_likeliest` with the label of the task.
    """

    task: str
    worker: str
    label: str
    is_gold: bool
    is_right: bool | None
    is_likeliest: bool
    seconds: float | None
    is_fast: bool
    when: float | None


@dataclass(frozen=True)
class TaskDetails:
    """All that is known of one task."""

    line: TaskLine
    min_workers: int
    max_workers: int | None
    is_settled: bool
    answers: list[GivenAnswer]
    remarks: list[Remark]


SHOWN: dict[str, Sequence[ColumnElement[bool]]] = {
    "all": (),
    "open": (task.c.closed != CLOSED,),
    "unanswered": (task.c.answers == 0,),
    "answered": (task.c.answers > 0,),
    "skipped": (exists().where(pair.c.task_id == task.c.id, pair.c.state == SKIPPED),),
    "flagged": (task.c.name.in_(select(audit.c.task).where(audit.c.what == FLAG)),),
    "closed": (task.c.closed == CLOSED, task.c.settled.is_(None)),
    "settled": (task.c.settled.is_not(None),),
}
"""Conditions on the tasks of a list, by name."""
ORDERS = {
    "confidence": (task.c.confidence, task.c.id),
    "most confident": (task.c.confidence.desc(), task.c.id),
    "name": (task.c.name,),
    "most answers": (task.c.answers.desc(), task.c.id),
    "fewest answers": (task.c.answers, task.c.id),
}
"""Orders of a list of tasks, by name."""


def list_tasks(
    store: Store, *, search: str = "", show: str = "all", order: str = "confidence", page: int = 1
) -> tuple[list[TaskLine], int]:
    """Return a page of the tasks, without gold among them, and how many there are in all.

    `search` is a part of the name.
    """
    named = task.c.name.icontains(search, autoescape=True)
    wanted = (task.c.closed != GOLD, *SHOWN[show], *((named,) if search else ()))
    start = ROWS * (max(1, page) - 1)
    with store.read(all_of_it=True) as (connection, settings):
        number = connection.execute(select(func.count()).where(*wanted)).scalar_one()
        query = select(task).where(*wanted).order_by(*ORDERS[order]).limit(ROWS).offset(start)
        rows = connection.execute(query).all()
        return [_line(settings, row) for row in rows], int(number)


def details_of_task(store: Store, name: str) -> TaskDetails:
    """Return all that is known of a task."""
    with store.read(all_of_it=True) as (connection, settings):
        row = ordinary_task(connection, name)
        return TaskDetails(
            _line(settings, row),
            row.min_workers,
            None if row.max_workers == UNLIMITED else row.max_workers,
            row.settled is not None,
            _answers(connection, settings, task.c.id == row.id),
            remarks_of(connection, audit.c.task == name, latest=LATEST),
        )


def details_of_worker(
    store: Store, name: str
) -> tuple[int | None, list[GivenAnswer], list[Remark]]:
    """Return the cap of a worker (None without), their latest answers and remarks."""
    with store.read(all_of_it=True) as (connection, settings):
        row = the_one("worker", queries.WORKER(connection, called=name), name)
        most = None if row.max_tasks == UNLIMITED else row.max_tasks
        answers = _answers(connection, settings, worker.c.id == row.id)
        return most, answers, remarks_of(connection, audit.c.who == name, latest=LATEST)


def _line(settings: Settings, row: Any) -> TaskLine:
    is_known, kind = has_label(row.answers, row.prior, row.settled), kind_of(settings)
    if row.settled is not None:
        state = "settled"
    elif row.closed == CLOSED:
        state = "closed"
    else:
        state = "open" if row.wanted else "done"
    return TaskLine(
        row.name,
        kind.show(row.label, row.name) if is_known else None,
        row.confidence if is_known and kind.has_classes else None,
        row.answers,
        row.slots - row.answers,
        state,
    )


def _answers(
    connection: Connection, settings: Settings, which: ColumnElement[bool]
) -> list[GivenAnswer]:
    """Read the latest answers."""
    kind = kind_of(settings)
    query = answer_speed.add_fast(connection, settings.answers, _ANSWERS.where(which))
    rows = connection.execute(query.limit(LATEST)).all()
    return [
        GivenAnswer(
            row.task,
            row.worker,
            kind.show(row.given, row.task),
            row.closed == GOLD,
            None if row.known is None else row.given == row.known,
            row.given == row.label,
            row.seconds,
            bool(row.fast),
            row.answered_at,
        )
        for row in rows
    ]


_ANSWERS: Select[Any] = (
    queries.of_pairs(
        task.c.name.label("task"),
        worker.c.name.label("worker"),
        pair.c.label.label("given"),
        task.c.label.label("label"),
        task.c.closed,
        gold.c.label.label("known"),
        pair.c.seconds,
        pair.c.answered_at,
    )
    .outerjoin(gold, gold.c.task == task.c.name)
    .where(pair.c.state == ANSWERED)
    .order_by(pair.c.place.desc())
)

"""A worker's turns beside answers: a task that they skip, and an answer that they take back."""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import Any

from sqlalchemy import Connection, update

from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.leases import RejectedError, free, the_one
from crowd_tvcs.campaign.offers import NextTask
from crowd_tvcs.campaign.store import gold, queries
from crowd_tvcs.campaign.store.rows import LastAnswer, Settings
from crowd_tvcs.campaign.store.schema import CLOSED, SKIPPED, campaign
from crowd_tvcs.campaign.store.statements import run_together
from crowd_tvcs.campaign.stored_model import taken_back
from crowd_tvcs.campaign.tasks import count, settle_each
from tvcs_core.files.display import plural

OPERATOR = "operator"
acting: ContextVar[str] = ContextVar("acting", default=OPERATOR)
"""Name in the audit of the operator who acts in this context; a desk may have several."""
origin: ContextVar[str | None] = ContextVar("origin", default=None)
"""Hash of the address that the request of this context came from, for the audit."""
MAX_REASON_CHARACTERS = 500
"""Most characters of a reason that are kept."""


def write_audit(
    connection: Connection,
    who: str,
    what: str,
    task: str | None = None,
    detail: str | None = None,
    *,
    now: float | None = None,
    address: str | None = None,
) -> None:
    """Add an entry to the audit, in the transaction of its action.

    `now` is the clock's time if it is None, and `address` the `origin`.
    """
    queries.NOTE(
        connection,
        at=time.time() if now is None else now,
        who=acting.get() if who == OPERATOR else who,
        what=what,
        task=task,
        detail=(detail or "")[:MAX_REASON_CHARACTERS] or None,
        address=address or origin.get(),
    )


def skip(
    connection: Connection, settings: Settings, found: list[list[Any]], name: str, task_name: str
) -> bool:
    """Give the slot of a worker up, and never offer them the task again.

    `found` answers `leases.before_submit`. Return False if they have skipped the task already.

    Raises
    ------
    RejectedError
        If the worker does not have the task.
    """
    who, row = the_one("worker", found[0], name), the_one("task", found[1], task_name)
    if any(p.worker_id == who.id and p.state == SKIPPED for p in found[2]):
        return False
    freed = queries.SKIP(connection, of_task=row.id, who=who.id)
    if not freed:
        raise RejectedError(f"worker {name!r} does not have task {task_name!r}, so cannot skip it")
    free(connection, settings, freed)
    return True


def undo(
    connection: Connection,
    settings: Settings,
    found: list[list[Any]],
    name: str,
    now: float,
    answers: int | None = None,
    gold_shown: int = 0,
) -> NextTask:
    """Take a worker's last answer back: they hold its task again, and lose the one they had since.

    With `answers`, only the last of so many. The labels of the first `gold_shown` gold tasks were
    shown, so answers to them stay.

    `found` answers `offers.before_offer`.

    Raises
    ------
    RejectedError
        If there is no answer, or it was used already: another answered the task after them, a
        round was planned on it, the task was closed, or its label was shown.
    """
    lapsed, workers, _ = found
    if lapsed:
        free(connection, settings, lapsed)
    who = the_one("worker", workers, name)
    if answers is not None and who.answers != answers:
        raise RejectedError(
            f"worker {name!r} has {plural(who.answers, 'answer')}, and not {answers}, to take back"
        )
    last = queries.LAST_ANSWER.first(connection, who=who.id)
    if last is None:
        raise RejectedError(f"worker {name!r} has no answer to take back")
    used = _use_of(connection, last)
    if not used and gold_shown:
        label = shown_label(connection, settings, name, last.task_name, gold_shown)
        used = "" if label is None else "the right label was shown"
    if used:
        raise RejectedError(
            f"the answer of worker {name!r} to task {last.task_name!r} stays: {used}"
        )
    row = queries.WORKER.only(connection, called=name)
    if row.lease is not None:
        free(connection, settings, queries.LET_GO(connection, of_task=row.lease, who=who.id))
    expires = now + settings.lease_seconds
    this = {"of_task": last.task_id, "who": who.id}
    run_together(
        connection,
        queries.TAKE_BACK.with_(until=expires, now=now, **this),
        queries.MOVE_UP.with_(place=last.place),
        queries.MORE_ANSWERS.with_(who=who.id, more=-1),
    )
    settle_each(connection, settings, [last.task_id])
    count(connection, answers=-1)
    model = taken_back(settings.dependence, last.place, settings.answers)
    if model != settings.dependence:
        connection.execute(update(campaign).values(dependence=model))
    return NextTask(last.task_name, "their last answer, taken back", expires)


def shown_label(
    connection: Connection, settings: Settings, name: str, task_name: str, first: int
) -> str | None:
    """Return the label of a task among the first gold of a worker, as they see it, or None."""
    found = gold.LABEL_OF_ANSWERED.first(connection, called=name, of_gold=task_name)
    if found is None or gold.N_DONE.only(connection, called=name).tasks > first:
        return None
    return kind_of(settings).seen(found.label, task_name, name)


def _use_of(connection: Connection, last: LastAnswer) -> str:
    """Return the use of an answer since it came, or ''."""
    if last.closed == CLOSED:
        return "the task is closed"
    if queries.NEXT_PLACE(connection, of_task=last.task_id, place=last.place):
        return "another has answered the task since"
    planned_on = queries.LAST_ROUND.only(connection).answers_before
    if planned_on is not None and planned_on >= last.place:
        return "a round was planned on it"
    return ""

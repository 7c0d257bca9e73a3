"""Settle the label of a task by the operator's word, and take that back."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select, update

from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.leases import RejectedError, ordinary_task, read_label
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.schema import CLOSED, OPEN, gold, task
from crowd_tvcs.campaign.tasks import settle_each


def settle_label(connection: Connection, settings: Settings, name: str, label: str | None) -> None:
    """Close a task with this label, which becomes gold; None opens it and removes the gold."""
    row = ordinary_task(connection, name)
    kind = kind_of(settings)
    if label is None and row.settled is None:
        raise RejectedError(f"task {name!r} is not settled, so there is nothing to take back")
    code = None if label is None else read_label(kind, label, name)
    known = connection.scalar(select(gold.c.label).where(gold.c.task == name))
    if known not in (None, code) and row.settled is None:
        raise RejectedError(
            f"the label of task {name!r} is known by gold already: {kind.show(known, name)!r}; "
            "settle it with this label, or close the task to have no more labels"
        )
    connection.execute(delete(gold).where(gold.c.task == name))
    if code is not None:
        connection.execute(insert(gold).values(task=name, label=code))
    state = OPEN if code is None else CLOSED
    change = update(task).where(task.c.id == row.id).values(settled=code, closed=state)
    connection.execute(change)
    settle_each(connection, settings, [row.id])

"""Remarks of workers on tasks: reasons of skips, comments and flags, which are in the audit."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select

from crowd_tvcs.answers.times import to_iso
from crowd_tvcs.campaign.desk.actions import write_audit
from crowd_tvcs.campaign.leases import RejectedError
from crowd_tvcs.campaign.store.schema import audit
from crowd_tvcs.campaign.store.store import Store

SKIP, COMMENT, FLAG = "skip", "comment", "flag"
KINDS = (SKIP, COMMENT, FLAG)
REMARK_COLUMNS = ("task", "worker", "kind", "text", "at")
MAX_REMARKS = 10
"""Most comments and flags of a worker on a task."""


@dataclass(frozen=True)
class Remark:
    """A remark of a worker on a task: a skip, a comment or a flag; `text` may be empty."""

    task: str
    worker: str
    kind: str
    text: str
    when: float


def add_remark(store: Store, worker: str, task: str, kind: str, text: str, *, now: float) -> None:
    """Keep a comment or a flag; the caller knows that the worker saw the task."""
    if kind not in (COMMENT, FLAG):
        raise RejectedError(f"a remark is a {COMMENT} or a {FLAG}, found {kind!r}")
    if kind == COMMENT and not text.strip():
        raise RejectedError("the comment is empty; write it, then send it")
    mine = audit.c.who == worker, audit.c.task == task, audit.c.what.in_((COMMENT, FLAG))
    with store.write() as (connection, _, _):
        if connection.execute(select(func.count()).where(*mine)).scalar_one() >= MAX_REMARKS:
            raise RejectedError(f"there are {MAX_REMARKS} remarks of yours on this task already")
        write_audit(connection, worker, kind, task, text.strip(), now=now)


def remarks_of(
    connection: Connection, *which: ColumnElement[bool], latest: int | None = None
) -> list[Remark]:
    """Read remarks, the latest first; at most `latest` of them."""
    query = select(audit).where(audit.c.what.in_(KINDS), audit.c.task.is_not(None), *which)
    rows = connection.execute(query.order_by(audit.c.id.desc()).limit(latest)).all()
    return [Remark(row.task, row.who, row.what, row.detail or "", row.at) for row in rows]


def remark_rows(store: Store) -> list[list[str]]:
    """Return the cells of `REMARK_COLUMNS` of all remarks, in the order of arrival."""
    with store.read() as (connection, _):
        found = remarks_of(connection)[::-1]
    return [[one.task, one.worker, one.kind, one.text, to_iso(one.when)] for one in found]

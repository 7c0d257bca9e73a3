"""Lease batches of tasks for a labelling tool, and record its answers in the store.

A worker of the annotation server has one task at a time. A worker of another tool gets a few, so
that the next is available before the last has come back: leases as in `Campaign.next`, under the
same caps.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.desk.actions import MAX_REASON_CHARACTERS, write_audit
from crowd_tvcs.campaign.leases import KNOWN, before_submit, free, submit, the_one
from crowd_tvcs.campaign.offers import before_offer, offer
from crowd_tvcs.campaign.store import queries
from crowd_tvcs.campaign.store.schema import (
    GOLD,
    ISSUED,
    LAPSED,
    LEASED,
    audit,
    content,
    pair,
    task,
    worker,
)
from crowd_tvcs.campaign.store.statements import run_together
from crowd_tvcs.campaign.store.store import Store

MAX_ABSENT_TASKS = 2
"""Largest number of tasks of a worker who let tasks lapse and has not answered since."""
REFUSED = "refused"
"""Name of a refused answer in the audit."""


class Answer(NamedTuple):
    """Answer from another tool: its key there, its time, and its duration in seconds."""

    worker: str
    task: str
    label: str
    key: str
    when: float
    seconds: float | None


@dataclass(frozen=True)
class Names:
    """Classes, workers and tasks of a campaign."""

    classes: list[str]
    workers: frozenset[str]
    tasks: frozenset[str]


def take_answer(store: Store, answer: Answer, now: float) -> str:
    """Record one answer, by the rules of `Campaign.submit`, with its origin in the audit.

    The worker's other leases are renewed, as after a request for a task. The caller flushes the
    store.

    Returns
    -------
    str
        ``"accepted"``, ``"accepted late"`` or ``"known already"``, which changes nothing.
    """
    first = before_submit(answer.worker, answer.task)
    with store.write(*first, flush=False) as (connection, settings, found):
        given, timing = answer[:3], (min(answer.when, now), answer.seconds)
        reason = submit(connection, settings, found, given, now, timing).reason
        if reason != KNOWN:
            until = now + settings.lease_seconds
            for row in found[0]:
                if row.lease is not None and row.lease_name != answer.task:
                    queries.RENEW(connection, of_task=row.lease, who=row.id, until=until)
            write_audit(connection, answer.worker, "answer", answer.task, answer.key, now=now)
    return reason


def record_refusal(store: Store, answer: Answer, why: str, now: float) -> None:
    """Record in the audit, once, that an answer was refused, and why."""
    detail = f"{answer.key}: {why}"[:MAX_REASON_CHARACTERS]
    with store.write() as (connection, _, _):
        is_same = (audit.c.what == REFUSED) & (audit.c.detail == detail)
        if connection.execute(select(audit.c.id).where(is_same).limit(1)).first() is None:
            write_audit(connection, answer.worker, REFUSED, answer.task, detail, now=now)


def refused_keys(store: Store) -> set[str]:
    """Return the keys of the refused answers."""
    with store.read() as (connection, _):
        details = connection.scalars(select(audit.c.detail).where(audit.c.what == REFUSED))
        return {str(detail).partition(": ")[0] for detail in details}


def lease_batches(store: Store, workers: Collection[str], batch: int, now: float) -> None:
    """Lease tasks to workers until each of them has `batch`, as far as caps allow.

    Workers who answered last come first. Those who let tasks lapse and have not answered since come
    last and get at most `MAX_ABSENT_TASKS`, so that absent workers hold few tasks.
    """
    with store.read() as (connection, settings):
        rows = connection.execute(_HOLDINGS, {"now": now}).all()
    if any(row.lapsed for row in rows):
        expire = queries.EXPIRE.with_(now=now)
        with store.write(expire, flush=False) as (connection, settings, (lapsed,)):
            free(connection, settings, lapsed)
    since = now - settings.lease_seconds
    queue = []
    for row in (row for row in rows if row.name in workers):
        is_away = (row.last or 0.0) <= since and row.first is not None and row.first <= since
        most = min(batch, MAX_ABSENT_TASKS) if is_away else batch
        if row.open - row.lapsed < most:
            queue.append((is_away, -(row.last or 0.0), row.name, most))
    for _, _, name, most in sorted(queue):
        _fill(store, name, most, now)


def open_tasks(store: Store) -> dict[str, list[str]]:
    """Return the workers of every open task that is assigned, sorted."""
    with store.read() as (connection, _):
        found: dict[str, list[str]] = {}
        for name, who in connection.execute(_OPEN):
            found.setdefault(name, []).append(who)
    return {name: sorted(workers) for name, workers in found.items()}  # a database sorts otherwise


def pair_states(store: Store) -> dict[tuple[str, str], tuple[int, str | None]]:
    """Return the state of every assigned (worker, task), and the label of an answer."""
    with store.read() as (connection, settings):
        classes = json.loads(settings.classes)
        return {
            (who, name): (state, None if label is None else classes[label])
            for who, name, state, label in connection.execute(_PAIRS)
        }


def labels_now(store: Store) -> dict[str, tuple[str, float]]:
    """Return label and confidence of every task with answers."""
    with store.read() as (connection, settings):
        classes = json.loads(settings.classes)
        rows = connection.execute(_LABELS)
        return {name: (classes[label], float(confidence)) for name, label, confidence in rows}


def names(store: Store) -> Names:
    """Read the names of the campaign, without gold that the server mixes in: that is its own."""
    with store.read() as (connection, settings):
        if not (kind := kind_of(settings)).has_classes:
            raise ValueError(
                f"sync is for classes and scales, and these answers are of the kind {kind.name}: "
                "ask for them by crowd-tvcs serve"
            )
        workers = frozenset(connection.scalars(select(worker.c.name)))
        tasks = frozenset(connection.scalars(select(task.c.name).where(task.c.closed != GOLD)))
        return Names(json.loads(settings.classes), workers, tasks)


def contents(store: Store) -> dict[str, dict[str, str]]:
    """Return the content of tasks: text and fields; images and sounds are files of the server."""
    with store.read() as (connection, _):
        rows = connection.execute(
            select(task.c.name, content.c.body).join_from(
                content, task, task.c.id == content.c.task_id
            )
        ).all()
    bodies = ((name, json.loads(body)) for name, body in rows)
    return {
        name: {key: text for key, text in {"text": one["text"], **one["fields"]}.items() if text}
        for name, one in bodies
    }


def _fill(store: Store, name: str, most: int, now: float) -> None:
    """Lease tasks to one worker until they have `most`."""
    expire, *worker_and_best = before_offer(name, now, store.is_per_pair)
    with store.write(expire, flush=False) as (connection, settings, (lapsed,)):
        free(connection, settings, lapsed)
        is_changed = bool(lapsed)
        while True:
            (settings,), workers, best = run_together(
                connection, queries.SETTINGS.with_(), *worker_and_best
            )
            who = the_one("worker", workers, name)
            if connection.execute(_OPEN_OF, {"who": who.id}).scalar_one() >= most:
                break
            # An offer renews the lease that is open; without one it gives the next.
            another = [[], [who._replace(lease=None, lease_name=None)], best]
            if offer(connection, settings, another, name, now).task is None:
                break
            is_changed = True
        if not is_changed:
            queries.RETURN_TURN(connection)


_IS_OPEN = pair.c.state.in_((ISSUED, LEASED))
_IS_OVER = (pair.c.state == LEASED) & (pair.c.expires <= bindparam("now"))
_HOLDINGS = (
    select(
        worker.c.name,
        func.coalesce(queries.count_where(_IS_OPEN), 0).label("open"),
        func.max(pair.c.answered_at).label("last"),
        func.min(pair.c.leased_at).label("first"),
        func.coalesce(queries.count_where(_IS_OVER), 0).label("lapsed"),
    )
    .outerjoin_from(worker, pair, pair.c.worker_id == worker.c.id)
    .group_by(worker.c.name)
)
_OPEN_OF = (
    select(func.count()).select_from(pair).where(_IS_OPEN, pair.c.worker_id == bindparam("who"))
)
_OPEN = (
    queries.of_pairs(task.c.name, worker.c.name)
    .where(_IS_OPEN, task.c.closed != GOLD)
    .order_by(task.c.id)
)
_PAIRS = queries.of_pairs(worker.c.name, task.c.name, pair.c.state, pair.c.label).where(
    pair.c.state != LAPSED
)
_LABELS = select(task.c.name, task.c.label, task.c.confidence).where(
    task.c.answers > 0, task.c.closed != GOLD
)

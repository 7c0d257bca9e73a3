"""Workers, tasks, kinds of tasks and qualities: written into the store of a campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, func, insert, select, update

from crowd_tvcs.answers.quality import Qualities, Quality
from crowd_tvcs.answers.rows import COST_RANGE
from crowd_tvcs.belief.uncertainty import affinity
from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.entries import MILLION, Task, Worker, check_different, check_name
from crowd_tvcs.campaign.estimates import note_best
from crowd_tvcs.campaign.settings import check_range, count_of
from crowd_tvcs.campaign.store import kinds
from crowd_tvcs.campaign.store.queries import SETTLED
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.schema import GOLD, UNLIMITED, gold_answer, skill, task, worker
from crowd_tvcs.campaign.tasks import count
from tvcs_core.arguments import check_type, describe_value
from tvcs_core.files.display import plural


def add_workers(connection: Connection, settings: Settings, workers: Sequence[Worker]) -> None:
    """Add workers; refuse known names and, where money is limited, one without cost."""
    check_different("worker", [one.name for one in workers])
    known = set(connection.scalars(select(worker.c.name)))
    common = settings.max_tasks_per_worker
    rows = []
    for one in sorted(workers, key=lambda w: w.name):
        if one.name in known:
            raise ValueError(
                f"worker {one.name!r} is in the campaign already, with a cost and group that "
                "stand; leave their row out (campaign change gives them another cap)"
            )
        own = count_of(f"max_tasks of worker {one.name!r}", one.max_tasks)
        own = common if own is None else own
        rows.append(
            {
                "name": one.name,
                "max_tasks": UNLIMITED if own is None else own,
                "cost": _millionths(settings, one),
                "team": one.team,
                "quality": None,
                "slots": 0,
                "answers": 0,
            }
        )
    if rows:
        connection.execute(insert(worker), rows)


def _millionths(settings: Settings, one: Worker) -> int:
    """Return the cost of a label of a worker, in units of the store."""
    if one.cost is None:
        if settings.money is not None:
            raise ValueError(
                f"money needs the cost of a label of every worker, found none for {one.name!r}"
            )
        return 0
    if not 0.0 <= one.cost < COST_RANGE[1]:
        raise ValueError(
            f"cost must be from 0 to below {COST_RANGE[1]:.0f}, but that of worker {one.name!r} is "
            f"{one.cost}"
        )
    return round(one.cost * MILLION)


def add_tasks(connection: Connection, settings: Settings, tasks: Sequence[Task]) -> None:
    """Add tasks; a name that is there, or a gold task that was answered, is an error."""
    check_different("task", [one.name for one in tasks])
    known = set(connection.scalars(select(task.c.name)))
    tried = set(connection.scalars(select(gold_answer.c.task)))
    kind = kind_of(settings)
    kind.check_tasks([one.name for one in tasks if one.name not in known], known)
    rows, missing = [], 0
    for one in sorted(tasks, key=lambda t: t.name):
        if one.name in known:
            raise ValueError(f"task {one.name!r} is in the campaign already; leave its row out")
        if one.name in tried:
            raise ValueError(
                f"task {one.name!r} has gold answers that qualities come from, so it cannot be "
                "labelled as well"
            )
        if one.prior is not None and not (kind.has_classes and len(kind.labels) == 2):
            raise ValueError(
                f"a prior of a task needs two classes, there are {len(kind.labels)} labels"
                if kind.has_classes
                else f"a task has no prior where answers are of the kind {kind.name}; leave it out"
            )
        prior = one.prior
        if prior is not None:
            prior = check_range(f"prior of task {one.name!r}", prior, 0.0, 1.0)
        own = count_of(f"max_workers of task {one.name!r}", one.max_workers)
        most = settings.max_workers_per_task if own is None else own
        most = UNLIMITED if most is None else most
        if one.min_workers > most:
            raise ValueError(
                f"task {one.name!r} must have {one.min_workers} workers and may have {most}"
            )
        missing += int(one.min_workers)
        rows.append(
            {
                "name": one.name,
                "prior": prior,
                "min_workers": int(one.min_workers),
                "max_workers": most,
                "closed": 0,
            }
            | dict.fromkeys(SETTLED, 0)
        )
    if rows:
        connection.execute(insert(task), rows)
    kinds.set_kinds(connection, settings.source, {one.name: one.kind for one in tasks})
    if settings.source == kinds.SOURCE:
        note_best(connection, settings)
    left = (UNLIMITED if settings.budget is None else settings.budget) - settings.slots
    if settings.missing + missing > left:
        of = f"the budget has {left} left" if settings.budget is not None else "too many to count"
        raise ValueError(
            "the least workers of the tasks ask for "
            f"{plural(settings.missing + missing, 'label')}, {of}"
        )
    count(connection, missing=missing)


def add_kinds(connection: Connection, settings: Settings, table: Quality) -> None:
    """Write qualities of workers on kinds down, before the tasks of new kinds; see `kinds`."""
    if settings.source != kinds.SOURCE:
        raise ValueError("the qualities of this campaign are not of kinds of tasks")
    check_type("kinds", table, Quality)
    for name in table.tasks:
        check_name("name of a kind", name)
    kinds.add_qualities(connection, table, lambda q: 1.0 - affinity(q, settings.n_classes))
    note_best(connection, settings)


def set_qualities(connection: Connection, settings: Settings, qualities: Qualities) -> None:
    """Write qualities down; names that the campaign does not have are left out.

    Raises
    ------
    TypeError, ValueError
        If they are none, qualities per pair come to a campaign that has one per worker, or the
        other way round, or any to one whose qualities are of kinds.
    """
    if settings.source == kinds.SOURCE:
        raise ValueError("the qualities of this campaign are of kinds of tasks; give it kinds")
    if not isinstance(qualities, Quality | Mapping):
        raise TypeError(
            f"qualities must be a mapping of workers to numbers or a Quality, found "
            f"{describe_value(qualities)}"
        )
    is_per_pair = isinstance(qualities, Quality)
    if is_per_pair != bool(settings.per_pair):
        layouts = ("one quality per worker", "a quality for every pair")
        raise ValueError(
            f"this campaign has {layouts[settings.per_pair]}, but the table gives "
            f"{layouts[is_per_pair]}"
        )
    ids = dict(connection.execute(select(worker.c.name, worker.c.id)).all())
    if not isinstance(qualities, Quality):
        rows = [
            {
                "who": ids[n],
                "value": check_range(f"quality of worker {n!r}", qualities[n], 0.0, 1.0),
            }
            for n in sorted(ids.keys() & qualities.keys())
        ]
        if rows:
            connection.execute(_SET_QUALITY, rows)
        note_best(connection, settings)
        return
    classes = settings.n_classes
    ordinary = select(task.c.name, task.c.id).where(task.c.closed != GOLD)
    tasks = dict(connection.execute(ordinary).all())
    allowed = np.ones(qualities.shape, bool) if qualities.allowed is None else qualities.allowed
    listed = []
    for i, j in np.argwhere(allowed).tolist():
        name, of = qualities.workers[i], qualities.tasks[j]
        if name in ids and of in tasks:
            value = float(qualities.values[i, j])
            listed.append(
                {
                    "worker_id": ids[name],
                    "task_id": tasks[of],
                    "quality": value,
                    "gain": 1.0 - affinity(value, classes),
                }
            )
    if listed:
        _refuse_known_pairs(connection, listed)
        connection.execute(insert(skill), listed)
    note_best(connection, settings)


def _refuse_known_pairs(connection: Connection, listed: Sequence[dict[str, Any]]) -> None:
    if not connection.scalar(select(func.count()).select_from(skill)):
        return
    known = {(i, j) for i, j in connection.execute(select(skill.c.worker_id, skill.c.task_id))}
    for row in listed:
        if (row["worker_id"], row["task_id"]) in known:
            raise ValueError("the table gives the quality of a pair that the campaign has already")


_SET_QUALITY = (
    update(worker).where(worker.c.id == bindparam("who")).values(quality=bindparam("value"))
)

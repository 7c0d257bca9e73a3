"""Workers, tasks, kinds of tasks and qualities: written into the store of a campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import Connection, select

from crowd_tvcs.answers.quality import Qualities, Quality
from crowd_tvcs.belief.uncertainty import affinity
from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.entries import Task, Worker, check_different
from crowd_tvcs.campaign.estimates import note_best
from crowd_tvcs.campaign.settings import MILLION, check_name, check_range
from crowd_tvcs.campaign.store import kinds
from crowd_tvcs.campaign.store.bulk import ids_of, insert_rows, update_rows
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.schema import GOLD, UNLIMITED, gold_answer, skill, task, worker
from crowd_tvcs.campaign.tasks import count, new_task
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
        if one.cost is None and settings.money is not None:
            raise ValueError(
                f"money needs the cost of a label of every worker, found none for {one.name!r}"
            )
        most = common if one.max_tasks is None else int(one.max_tasks)
        rows.append(
            {
                "name": one.name,
                "max_tasks": UNLIMITED if most is None else most,
                "cost": round((one.cost or 0.0) * MILLION),
                "team": one.team,
                "quality": None,
                "slots": 0,
                "answers": 0,
            }
        )
    insert_rows(connection, worker, rows)


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
        most = settings.max_workers_per_task if one.max_workers is None else int(one.max_workers)
        most = UNLIMITED if most is None else most
        if one.min_workers > most:
            raise ValueError(
                f"task {one.name!r} must have {one.min_workers} workers and may have {most}"
            )
        prior, least = None if one.prior is None else float(one.prior), int(one.min_workers)
        missing += least
        rows.append(new_task(one.name, prior=prior, least=least, most=most))
    insert_rows(connection, task, rows)
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
    kinds.add_qualities(connection, table, settings.n_classes)
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
    if isinstance(qualities, Quality):
        _add_qualities_of_pairs(connection, settings, qualities)
    else:
        names = sorted(ids_of(connection, worker).keys() & qualities.keys())
        values = {n: check_range(f"quality of worker {n!r}", qualities[n], 0.0, 1.0) for n in names}
        rows = [{"name": name, "quality": value} for name, value in values.items()]
        update_rows(connection, worker, "name", rows)
    note_best(connection, settings)


def _add_qualities_of_pairs(connection: Connection, settings: Settings, given: Quality) -> None:
    """Write down the qualities of pairs that the campaign does not have yet."""
    workers, tasks = ids_of(connection, worker), ids_of(connection, task)
    of_gold = set(connection.scalars(select(task.c.name).where(task.c.closed == GOLD)))
    known = set(map(tuple, connection.execute(select(skill.c.worker_id, skill.c.task_id))))
    allowed = np.ones(given.shape, bool) if given.allowed is None else given.allowed
    rows = []
    for i, j in np.argwhere(allowed).tolist():
        name, of = given.workers[i], given.tasks[j]
        if name not in workers or of not in tasks or of in of_gold:
            continue
        if (workers[name], tasks[of]) in known:
            raise ValueError("the table gives the quality of a pair that the campaign has already")
        value = float(given.values[i, j])
        about = {"worker_id": workers[name], "task_id": tasks[of], "quality": value}
        rows.append(about | {"gain": 1.0 - affinity(value, settings.n_classes)})
    insert_rows(connection, skill, rows)

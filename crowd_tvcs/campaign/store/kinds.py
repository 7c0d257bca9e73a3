"""The tables of a campaign whose qualities are of kinds of tasks, where `skill` is a view of them.

A row of `skill` for every worker and task would be as many as workers x tasks. So such a campaign
keeps a row for every worker and kind, and the kind of every task; whatever reads qualities of pairs
finds them in the view. No other campaign has these tables, so that its store is as it always was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    select,
    text,
)

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.arrays import Integers
from crowd_tvcs.belief.uncertainty import affinity
from crowd_tvcs.campaign.store.bulk import ids_of, insert_rows
from crowd_tvcs.campaign.store.rows import TaskRow, WorkerRow
from crowd_tvcs.campaign.store.schema import skill, task, worker
from crowd_tvcs.campaign.store.statements import Statement
from tvcs_core.files.display import quoted

Named = Sequence[Any]  # rows with an id and a name
SOURCE = "kinds"  # in the row of the campaign: where the qualities come from

tables = MetaData()

kind = Table(
    "kind",
    tables,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
)

task_kind = Table(
    "task_kind",
    tables,
    Column("task_id", ForeignKey(task.c.id), primary_key=True),
    Column("kind_id", ForeignKey(kind.c.id), nullable=False),
)

kind_skill = Table(
    "kind_skill",
    tables,
    Column("worker_id", ForeignKey(worker.c.id), nullable=False),
    Column("kind_id", ForeignKey(kind.c.id), nullable=False),
    Column("quality", Float, nullable=False),
    Column("gain", Float, nullable=False),
    PrimaryKeyConstraint("worker_id", "kind_id"),
)

_VIEW = select(
    kind_skill.c.worker_id, task_kind.c.task_id, kind_skill.c.quality, kind_skill.c.gain
).join_from(task_kind, kind_skill, kind_skill.c.kind_id == task_kind.c.kind_id)

WITH_TASKS = kind_skill.c.kind_id.in_(select(task_kind.c.kind_id))
"""Whether there are tasks of the kind of a row of `kind_skill`."""


def create(connection: Connection) -> None:
    """Make the tables, and the view in the place of the empty table of pairs."""
    skill.drop(connection)
    tables.create_all(connection, checkfirst=False)
    connection.execute(text(f"CREATE VIEW {skill.name} AS {_VIEW.compile(connection.engine)}"))


def add_qualities(connection: Connection, given: Quality, n_classes: int) -> None:
    """Write down the qualities of workers on kinds, and kinds that are new.

    Workers whom the campaign does not have are left out.
    """
    known = set(connection.scalars(select(kind.c.name)))
    new = [{"name": name} for name in sorted(set(given.tasks) - known)]
    insert_rows(connection, kind, new)
    of_kind = ids_of(connection, kind)
    allowed = np.ones(given.shape, bool) if given.allowed is None else given.allowed
    row_of = {name: i for i, name in enumerate(given.workers)}
    for name, who in ids_of(connection, worker).items():
        if name not in row_of:
            continue
        i = row_of[name]
        mine = select(kind_skill.c.kind_id).where(kind_skill.c.worker_id == who)
        there, rows = set(connection.scalars(mine)), []
        for k in np.flatnonzero(allowed[i]).tolist():
            called, value = given.tasks[k], float(given.values[i, k])
            if of_kind[called] in there:
                raise ValueError(
                    f"the table gives the quality of worker {name!r} on kind {called!r}, which the "
                    "campaign has already"
                )
            about = {"worker_id": who, "kind_id": of_kind[called]}
            rows.append(about | {"quality": value, "gain": 1.0 - affinity(value, n_classes)})
        insert_rows(connection, kind_skill, rows)


def set_kinds(connection: Connection, source: str, kinds: Mapping[str, str | None]) -> None:
    """Store the kinds of tasks of the campaign, by name.

    Raises
    ------
    ValueError
        Naming a task with an unknown kind, or with a kind in a campaign without kinds.
    """
    if source != SOURCE:
        for name, called in sorted(kinds.items()):
            if called is not None:
                raise ValueError(
                    f"task {name!r} has a kind, but the qualities of this campaign are not of "
                    "kinds of tasks"
                )
        return
    of_kind, of_task = ids_of(connection, kind), ids_of(connection, task)
    rows = []
    for name, called in sorted(kinds.items()):
        if called is None or called not in of_kind:
            found = "none" if called is None else quoted(called)
            raise ValueError(
                f"the kind of task {name!r} must be one that the table of kinds has, found {found}"
            )
        rows.append({"task_id": of_task[name], "kind_id": of_kind[called]})
    insert_rows(connection, task_kind, rows)


def read(
    connection: Connection, workers: list[WorkerRow], tasks: list[TaskRow], nothing: float
) -> tuple[Quality, Integers]:
    """Read the table of workers x kinds, sorted by name, and the column of every task.

    A pair without a quality is not allowed, and has the quality `nothing`.
    """
    kinds = sorted(connection.execute(select(kind)).all(), key=lambda row: row.name)
    table = quality_of(connection, kind_skill, workers, kinds, nothing)
    of_task: dict[int, int] = dict(connection.execute(select(task_kind)).all())
    return table, places(kinds, [of_task[t.id] for t in tasks])


def quality_of(
    connection: Connection, table: Table, rows: Named, columns: Named, nothing: float
) -> Quality:
    """Read a table of qualities, by ids of rows and columns; pairs that it lacks have `nothing`."""
    who, of, found, *_ = Statement(select(table)).columns(connection)
    at = places(rows, who), places(columns, of)
    values = np.full((len(rows), len(columns)), nothing)
    allowed = np.zeros(values.shape, dtype=bool)
    values[at], allowed[at] = found, True
    return Quality(values, [row.name for row in rows], [one.name for one in columns], allowed)


def places(rows: Named, ids: Sequence[int]) -> Integers:
    """Return the place among rows of every id; -1 of one that is not there."""
    of_rows = [row.id for row in rows]
    found = np.full(max((*of_rows, *ids), default=0) + 1, -1)
    found[of_rows] = np.arange(len(of_rows))
    return found[np.array(ids, dtype=np.int64)]

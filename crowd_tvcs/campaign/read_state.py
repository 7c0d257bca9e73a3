"""Reading the state of a campaign from its store."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, select

from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.state import Pairs, State
from crowd_tvcs.campaign.store import kinds, queries, schema
from crowd_tvcs.campaign.store.gold import ANSWERS
from crowd_tvcs.campaign.store.rows import Settings, TaskRow, WorkerRow
from crowd_tvcs.campaign.store.schema import ANSWERED, GOLD
from crowd_tvcs.campaign.store.statements import Statement

EVERY_KIND = "every task"  # where a worker has one quality


def read_state(connection: Connection, settings: Settings) -> State:
    """Read a whole campaign."""
    workers = sorted(queries.WORKERS(connection), key=lambda w: w.name)
    ordinary = (t for t in queries.TASKS(connection) if t.closed != GOLD)
    tasks = sorted(ordinary, key=lambda t: t.name)
    factors = _factors(connection, settings, workers, tasks)
    of_task, who, what, label, place, *times, swapped = _PAIRS.columns(connection)
    column, row = kinds.places(tasks, of_task), kinds.places(workers, who)
    state = np.array(what, dtype=np.int8)
    is_ordinary = column >= 0
    order = np.lexsort((row, column))
    order = order[is_ordinary[order]]
    answered = np.flatnonzero((state == ANSWERED) & is_ordinary)
    answered = answered[np.argsort(np.array(place)[answered])]
    codes = np.array(label, dtype=np.float64)[answered]  # without an answer there is none
    given = np.column_stack([row[answered], column[answered], codes.astype(np.int64)])
    moments = np.array(times, dtype=np.float64).T[answered]
    moments[moments == 0.0] = np.nan  # no time either
    known = connection.execute(select(schema.gold.c.task, schema.gold.c.label))
    settled = {t.name for t in tasks if t.settled is not None}
    gold = {name: label for name, label in known.all() if name not in settled}
    kind = kind_of(settings)
    gold_answers = [
        (row.task, row.worker, kind.show(row.label, row.task))
        for row in connection.execute(ANSWERS).all()
        if row.task in gold
    ]
    return State(
        settings,
        workers,
        tasks,
        factors,
        Pairs(column[order], row[order], state[order]),
        given,
        [swapped[k] for k in answered.tolist()],
        moments,
        queries.ROUNDS(connection),
        gold,
        sorted(gold_answers),
    )


_COLUMNS = "task_id worker_id state label place answered_at seconds swapped"
_PAIRS = Statement(select(*(schema.pair.c[name] for name in _COLUMNS.split())))


def _factors(
    connection: Connection, settings: Settings, workers: list[WorkerRow], tasks: list[TaskRow]
) -> Factors:
    """Read the qualities; unknown pairs have no information and are not allowed."""
    nothing = 1.0 / settings.n_classes
    names = ([w.name for w in workers], [t.name for t in tasks])
    if settings.source == kinds.SOURCE:
        table, kind = kinds.read(connection, workers, tasks, nothing)
        return Factors(table, names[1], kind)
    if not settings.per_pair:
        one = np.array([nothing if w.quality is None else w.quality for w in workers])
        known = np.array([w.quality is not None for w in workers])
        table = Quality(one[:, None], names[0], [EVERY_KIND], known[:, None])
        return Factors(table, names[1], np.zeros(len(tasks), dtype=np.int64))
    table = kinds.quality_of(connection, schema.skill, workers, tasks, nothing)
    return Factors(table, names[1], np.arange(len(tasks)))

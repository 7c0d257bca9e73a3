"""Reading the state of a campaign from its store."""

from __future__ import annotations

import math

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

EVERY_KIND = "every task"  # where a worker has one quality


def read_state(connection: Connection, settings: Settings) -> State:
    """Read a whole campaign."""
    workers = sorted(queries.WORKERS(connection), key=lambda w: w.name)
    ordinary = (t for t in queries.TASKS(connection) if t.closed != GOLD)
    tasks = sorted(ordinary, key=lambda t: t.name)
    row_of = {w.id: i for i, w in enumerate(workers)}
    column_of = {t.id: j for j, t in enumerate(tasks)}
    factors = _factors(connection, settings, workers, tasks)
    placed, states = [], []
    for of_task, who, what, label, place, when, seconds, swapped in connection.execute(_PAIRS):
        if of_task not in column_of:
            continue
        i, j = row_of[who], column_of[of_task]
        states.append((j, i, what))
        if what == ANSWERED:
            times = _or_nan(when), _or_nan(seconds)
            placed.append((place, (i, j, label), times, swapped))
    placed.sort(key=lambda one: one[0])
    of_task, who, what = np.array(sorted(states), dtype=np.int64).reshape(-1, 3).T
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
        Pairs(of_task, who, what.astype(np.int8)),
        [answer for _, answer, *_ in placed],
        [swapped for *_, swapped in placed],
        [times for _, _, times, _ in placed],
        queries.ROUNDS(connection),
        gold,
        sorted(gold_answers),
    )


_PAIRS = select(
    schema.pair.c.task_id,
    schema.pair.c.worker_id,
    schema.pair.c.state,
    schema.pair.c.label,
    schema.pair.c.place,
    schema.pair.c.answered_at,
    schema.pair.c.seconds,
    schema.pair.c.swapped,
)


def _or_nan(value: float | None) -> float:
    return value or math.nan  # 0 is no time either


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
    shape = (len(workers), len(tasks))
    values, allowed = np.full(shape, nothing), np.zeros(shape, dtype=bool)
    row_of = {w.id: i for i, w in enumerate(workers)}
    column_of = {t.id: j for j, t in enumerate(tasks)}
    column = schema.skill.c
    listed = connection.execute(select(column.worker_id, column.task_id, column.quality))
    for who, of_task, value in listed:
        values[row_of[who], column_of[of_task]] = value
        allowed[row_of[who], column_of[of_task]] = True
    return Factors(Quality(values, *names, allowed), names[1], np.arange(len(tasks)))

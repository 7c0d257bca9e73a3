"""Statements on gold: skills of workers, and the next gold task."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import CompoundSelect, bindparam, exists, func, not_, or_, select, union, union_all

from crowd_tvcs.campaign.store.queries import WHO, count_where, equals, is_free_of_mates, of_pairs
from crowd_tvcs.campaign.store.rows import TaskRow
from crowd_tvcs.campaign.store.schema import (
    ANSWERED,
    GOLD,
    LAPSED,
    LEASED,
    content,
    gold,
    gold_answer,
    pair,
    task,
    worker,
)
from crowd_tvcs.campaign.store.statements import Statement

# Found by their tasks, of which few are gold: every answer there is has its row too.
ANSWERED_GOLD = (
    pair.c.task_id.in_(select(task.c.id).where(task.c.closed == GOLD)),
    pair.c.state == ANSWERED,
)
_brought = exists().where(gold_answer.c.task == task.c.name, gold_answer.c.worker == worker.c.name)
ANSWERS: CompoundSelect[Any] = union_all(
    select(gold_answer.c.task, gold_answer.c.worker, gold_answer.c.label),
    of_pairs(task.c.name, worker.c.name, pair.c.label).where(*ANSWERED_GOLD, not_(_brought)),
)
"""All answers to gold as (task, worker, label): those that were brought, and those given here."""

_given = ANSWERS.subquery()
RIGHT = (
    select(
        _given.c.worker,
        func.count().label("answers"),
        count_where(_given.c.label == gold.c.label).label("right"),
    )
    .join_from(_given, gold, gold.c.task == _given.c.task)
    .group_by(_given.c.worker)
)
"""By worker: how many answers to gold, and how many of them are right."""

AMONG_OTHERS = (
    of_pairs(
        func.count().label("answers"),
        count_where(pair.c.label == gold.c.label).label("right"),
        func.sum(worker.c.quality).label("expected"),
        func.count(worker.c.quality).label("by_skill"),
    )
    .join(gold, gold.c.task == task.c.name)
    .where(*ANSWERED_GOLD)
)
"""Of gold among the others: answers, how many are right and should be by those with a skill."""


IS_ALIKE = or_(exists().where(content.c.task_id == task.c.id), ~select(content.c.task_id).exists())
"""Whether a task has content, or none has any: gold that shows its name could be told else."""


_is_had = (pair.c.task_id == task.c.id) & (pair.c.state != LAPSED)
_had = union(
    select(worker.c.name, task.c.id)
    .join_from(pair, task, _is_had)
    .join(worker, worker.c.id == pair.c.worker_id)
    .where(task.c.closed == GOLD, IS_ALIKE),
    select(worker.c.name, task.c.id)
    .join_from(gold_answer, task, task.c.name == gold_answer.c.task)
    .join(worker, worker.c.name == gold_answer.c.worker)
    .where(task.c.closed == GOLD, IS_ALIKE),
).subquery()
HAD = select(_had.c.name, func.count().label("tasks")).group_by(_had.c.name)
"""By worker: how many of the gold tasks among the others they get no more, having had them."""


class GoldHad(NamedTuple):
    """How many gold tasks a worker has had."""

    tasks: int


def _n_had(*states: int) -> Statement[GoldHad]:
    """Count the gold tasks of a worker, here but in these states, or in a table of answers."""
    here = (
        select(task.c.name)
        .join_from(pair, task, pair.c.task_id == task.c.id)
        .where(
            task.c.closed == GOLD,
            pair.c.worker_id == WHO,
            *(pair.c.state != state for state in states),
        )
    )
    brought = select(gold_answer.c.task).where(gold_answer.c.worker == bindparam("called"))
    both = union(here, brought).subquery()
    return Statement(select(func.count().label("tasks")).select_from(both), GoldHad)


N_HAD, N_DONE = _n_had(LAPSED), _n_had(LAPSED, LEASED)
"""How many gold tasks a worker has had, with and without the one that they have now."""


class KnownLabel(NamedTuple):
    """The label of a gold task, as a place in the classes."""

    label: int


LABEL_OF_ANSWERED = Statement(
    select(gold.c.label)
    .join_from(gold, task, task.c.name == gold.c.task)
    .join(pair, (pair.c.task_id == task.c.id) & (pair.c.worker_id == WHO))
    .where(gold.c.task == bindparam("of_gold"), task.c.closed == GOLD, pair.c.state == ANSWERED),
    KnownLabel,
)
"""The label of a gold task that the worker answered here; nothing of another."""


def _search() -> Statement[TaskRow]:
    """Find the gold that fewest have and that this worker, or their team, never had."""
    own = pair.alias()
    is_theirs = (own.c.task_id == task.c.id) & (own.c.worker_id == WHO)
    is_known = exists().where(
        gold_answer.c.task == task.c.name, gold_answer.c.worker == bindparam("called")
    )
    found = select(task, own.c.state.label("before"), worker.c.quality)
    found = found.outerjoin_from(task, own, is_theirs)
    found = found.join(worker, worker.c.id == WHO)
    found = found.where(
        equals(task.c.closed, GOLD),
        own.c.state.is_(None) | equals(own.c.state, LAPSED),
        ~is_known,
        IS_ALIKE,
        is_free_of_mates(),
    )
    return Statement(found.order_by(task.c.slots, task.c.id).limit(1), TaskRow)


SEARCH = _search()

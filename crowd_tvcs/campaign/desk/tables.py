"""Tables of a campaign as the database has them, without reading the whole campaign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from crowd_tvcs.campaign.answer_kinds.kind import OneClass, kind_of
from crowd_tvcs.campaign.desk import answer_speed
from crowd_tvcs.campaign.store.gold import ANSWERS
from crowd_tvcs.campaign.store.queries import of_pairs
from crowd_tvcs.campaign.store.schema import ANSWERED, GOLD, pair, task, worker
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.tasks import has_label

LABEL_COLUMNS = ("task", "label", "confidence", "answers")


class LabelTable(NamedTuple):
    """The result of a campaign as a table, with what is to be said of it."""

    columns: Sequence[str]
    rows: list[Sequence[Any]]
    sentences: list[str]


def labels(store: Store, *, anew: bool = False) -> LabelTable:
    """Return the result by name: with `LABEL_COLUMNS`, or those of the kind of answers.

    A task without a label (see `crowd_tvcs.campaign.tasks.has_label`) has no confidence either:
    both cells are empty. `anew` computes labels by the model that is there, as `status` does. It
    takes longer, and differs while the desk still settles tasks by a new model.
    """
    with store.read(all_of_it=True) as (connection, settings):
        kind = kind_of(settings)
        if anew or kind.name != OneClass.name:
            from crowd_tvcs.campaign.answer_kinds.votes import vote_by_kind
            from crowd_tvcs.campaign.read_state import read_state

            state = read_state(connection, settings)
            if (votes := vote_by_kind(state)) is not None:
                return LabelTable(votes.columns, [*votes.rows], votes.sentences)
        found = [] if anew else connection.execute(_LABELS).all()
    rows: list[Sequence[Any]]
    if anew:
        from crowd_tvcs.campaign.stopping import task_statuses

        rows = [
            [one.task, one.label or "", one.confidence if one.label else "", one.answers]
            for one in task_statuses(state)
        ]
    else:
        rows = [
            [row.name, kind.show(row.label, row.name), row.confidence, row.answers]
            if has_label(row.answers, row.prior, row.settled)
            else [row.name, "", "", row.answers]
            for row in sorted(found, key=lambda row: row.name)
        ]
    return LabelTable(
        LABEL_COLUMNS, rows, describe_unlabelled(sum(row[1] == "" for row in rows), len(rows))
    )


def describe_unlabelled(number: int, tasks: int) -> list[str]:
    """Describe the tasks without a label, if there are any."""
    return [f"{number} of {tasks} tasks have no answers and so no label"] if number else []


def answers(store: Store) -> list[list[Any]]:
    """Return all answers but those to gold among the tasks, in order of arrival.

    Rows are (task, worker, label, seconds, too_fast), with 1 for answers that are too fast; the
    last two are empty without a known time.
    """
    with store.read(all_of_it=True) as (connection, settings):
        kind = kind_of(settings)
        is_fast = answer_speed.is_fast(answer_speed.limit(connection, settings.answers))
        query = answer_speed.with_texts(_ANSWERS.add_columns(pair.c.seconds, is_fast))
        rows = connection.execute(query).all()
    return [
        [
            name,
            who,
            kind.show(label, name),
            *(("", "") if took is None else (f"{took:.3f}", int(fast))),
        ]
        for name, who, label, took, fast in rows
    ]


def gold_answers(store: Store) -> list[list[Any]]:
    """Return all answers to gold, brought or given among the tasks, by name: likewise."""
    with store.read() as (connection, settings):
        kind = kind_of(settings)
        rows = connection.execute(ANSWERS).all()
    return [[name, who, kind.show(label, name)] for name, who, label in sorted(rows)]


_LABELS = select(
    task.c.name, task.c.label, task.c.confidence, task.c.answers, task.c.prior, task.c.settled
).where(task.c.closed != GOLD)
_ANSWERS = (
    of_pairs(task.c.name, worker.c.name, pair.c.label)
    .where(pair.c.state == ANSWERED, task.c.closed != GOLD)
    .order_by(pair.c.place)
)

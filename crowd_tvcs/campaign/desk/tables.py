"""Tables of a campaign: its labels, its answers, and answers to gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.desk import answer_speed
from crowd_tvcs.campaign.store.gold import ANSWERS
from crowd_tvcs.campaign.store.queries import of_pairs
from crowd_tvcs.campaign.store.schema import ANSWERED, GOLD, pair, task, worker
from crowd_tvcs.campaign.store.store import Store

if TYPE_CHECKING:
    from crowd_tvcs.campaign.answer_kinds.votes import KindVotes

LABEL_COLUMNS = ("task", "label", "confidence", "answers")


def labels(store: Store) -> KindVotes:
    """Return the result by name: with `LABEL_COLUMNS`, or those of the kind of answers.

    Labels are of the model that is there, as of `status`, also while tasks are settled by it. A
    task without a label (see `crowd_tvcs.campaign.tasks.has_label`) has no confidence either: both
    cells are empty.
    """
    from crowd_tvcs.campaign.answer_kinds.votes import KindVotes, vote_by_kind
    from crowd_tvcs.campaign.read_state import read_state
    from crowd_tvcs.campaign.stopping import labels_of

    with store.read(all_of_it=True) as (connection, settings):
        state = read_state(connection, settings)
    if (votes := vote_by_kind(state)) is not None:
        return votes
    found = labels_of(state)
    rows = [[row.name, *found.get(row.name, ("", "")), row.answers] for row in state.tasks]
    sentences = describe_unlabelled(len(rows) - len(found), len(rows))
    return KindVotes(LABEL_COLUMNS, rows, found, sentences)


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
        query = answer_speed.add_fast(connection, settings.answers, _ANSWERS)
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


_ANSWERS = (
    of_pairs(task.c.name, worker.c.name, pair.c.label, pair.c.seconds)
    .where(pair.c.state == ANSWERED, task.c.closed != GOLD)
    .order_by(pair.c.place)
)

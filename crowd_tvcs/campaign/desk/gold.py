"""Gold among the other tasks: handed out like them, to estimate the skills of the workers."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import func, select, text

from crowd_tvcs.campaign.store.bulk import insert_rows
from crowd_tvcs.campaign.store.gold import ANSWERED_GOLD
from crowd_tvcs.campaign.store.queries import RETURN_TURN, count_where
from crowd_tvcs.campaign.store.schema import GOLD, content, gold, pair, task
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.stored_model import is_due, lacks_fit, unsettled
from crowd_tvcs.campaign.tasks import new_task, settle_each

LEARN_SECONDS, REST_FACTOR = 60.0, 20.0
"""Least seconds from learning to learning, and at least so many times what it takes."""
GATE_SECONDS = 5.0
"""The same where people wait behind a gate of gold tasks."""
CHUNK_TASKS = 100
"""Tasks that are settled in one transaction."""
# What needs NumPy is imported by the functions that use it: a desk must start quickly.


def mix_in(store: Store, labels: Mapping[str, str], shown: Collection[str]) -> tuple[int, int]:
    """Mix gold tasks among the others; plans, sums and results do not count them.

    Gold that is to be labelled anyway stays as it is. If tasks have content, gold without content
    would be recognisable and is left out, even if it was mixed in before.

    Parameters
    ----------
    store
        The campaign's.
    labels
        Additional gold: labels by name of the task.
    shown
        Names of tasks that are about to get content.

    Returns
    -------
    there, left_out
        Number of gold tasks that are mixed in, and number without content.

    Raises
    ------
    ValueError
        If a label is not a class or contradicts a known one, or no gold would be mixed in;
        nothing is written then.
    """
    with store.write() as (connection, settings, _):
        if labels:
            from crowd_tvcs.campaign.ingest.labels import add_gold
            from crowd_tvcs.campaign.tasks import settle_all

            add_gold(connection, settings, labels, [])
        known = set(connection.scalars(select(gold.c.task)))
        tasks = dict(connection.execute(select(task.c.name, task.c.closed)).all())
        described = {*connection.scalars(_DESCRIBED), *shown}
        mixed = known - {name for name, closed in tasks.items() if closed != GOLD}
        alike = mixed & described if described else mixed
        if not alike:
            raise ValueError(f"gold tasks are mixed with the others, but {_why_none(known, mixed)}")
        rows = [new_task(name, closed=GOLD) for name in sorted(alike - set(tasks))]
        if rows:
            connection.execute(text(_INDEX))
            insert_rows(connection, task, rows)
        if labels:  # the skills, and the model, may be new
            settle_all(connection)
        elif rows:
            settle_each(connection, settings, connection.scalars(_GOLD_TASKS))
        return len(alike), len(mixed) - len(alike)


def _why_none(known: Collection[str], mixed: Collection[str]) -> str:
    """Return the reason if no gold can be mixed in."""
    if mixed:
        return f"none of the {len(mixed)} has content: give it in --content FILE"
    if known:
        return f"all {len(known)} are tasks that need labels: give other ones in --gold FILE"
    return "the campaign has none: give --gold FILE"


class Learner:
    """Re-estimates skills from the answers to mixed-in gold, now and then."""

    def __init__(self, store: Store, seconds: float = LEARN_SECONDS) -> None:
        self.store, self.seconds = store, seconds
        self._seen, self._next = _NOTHING, 0.0

    def learn(self, now: float) -> bool:
        """Learn if answers changed and it is time; return whether it did.

        That is at most every `seconds`, and at most a twentieth of the time.
        """
        if now < self._next or (found := _answers_here(self.store)) == self._seen:
            return False
        start = time.monotonic()
        done = learn(self.store)
        took = time.monotonic() - start
        self._seen, self._next = found, now + max(self.seconds, REST_FACTOR * took)
        return done


def _answers_here(store: Store) -> tuple[float, ...]:
    """Sum up the answers to gold among the others: also one given anew must change the sums."""
    with store.read() as (connection, _):
        return tuple(float(value or 0.0) for value in connection.execute(_ANSWERED).one())


def learn_of_labels(store: Store) -> bool:
    """Fit the model to the workers so far, if its labels changed; return whether it did.

    Otherwise settle the tasks that an interrupted fit left.
    """
    with store.read() as (_, settings):
        if not is_due(settings.dependence, settings.answers):
            return False
    if lacks_fit(settings.dependence, settings.answers):
        return learn(store, only_new=True)
    _settle_rest(store)
    return True


def learn(store: Store, *, only_new: bool = False) -> bool:
    """Estimate every worker's quality again from all answers to gold, and settle the tasks.

    Tasks are settled in chunks, so that other changes wait little; the store knows the unsettled
    ones. With `only_new` tasks are left alone if no estimate changed. Return False if the qualities
    come from a table, which gold does not change.
    """
    from crowd_tvcs.campaign import estimates

    while True:
        with store.read() as (connection, settings):
            if settings.source != "gold":
                return False
            before = estimates.in_store(connection)
            found = estimates.estimated(connection, settings)
        with store.write() as (connection, settings, _):
            # Whatever others wrote meanwhile may go by more than this does.
            if is_first := estimates.in_store(connection) == before:
                estimates.write_estimates(connection, settings, found)
                after = estimates.in_store(connection)
                is_same = only_new and _without_labels(*before) == _without_labels(*after)
                estimates.mark(connection, unsettled(settings.dependence) if is_same else 0)
        if is_first:
            break
    _settle_rest(store, 0)
    return True


def _settle_rest(store: Store, start: int | None = None) -> None:
    """Settle the unsettled tasks, in turns with other processes that do so.

    From the id `start` on, if the store has no model with a mark.
    """
    from crowd_tvcs.campaign import estimates

    while True:
        with store.write(flush=False) as (connection, settings, _):
            if settings.dependence is not None:
                start = unsettled(settings.dependence)
            if start is None:
                RETURN_TURN(connection)
                break
            rest = (
                select(task.c.id).where(task.c.id >= start).order_by(task.c.id).limit(CHUNK_TASKS)
            )
            ids = list(connection.scalars(rest))
            settle_each(connection, settings, ids)
            start = ids[-1] + 1 if len(ids) == CHUNK_TASKS else None
            estimates.mark(connection, start)
    store.flush()


def _without_labels(dependence: str | None, *others: Any) -> tuple[Any, ...]:
    """Read the gold answers, without the number of labels of the model."""
    return None if dependence is None else json.loads(dependence) | {"labels": 0}, *others


_INDEX = f"CREATE INDEX IF NOT EXISTS task_gold ON task (slots, id) WHERE closed = {GOLD}"
_DESCRIBED = select(task.c.name).join(content, content.c.task_id == task.c.id)
_GOLD_TASKS = select(task.c.id).where(task.c.closed == GOLD)
_NOTHING: tuple[float, ...] = (0.0, 0.0, 0.0)
_ANSWERED = (
    select(
        func.count(),
        count_where(pair.c.label == gold.c.label),
        func.max(pair.c.answered_at),
    )
    .join_from(pair, task, task.c.id == pair.c.task_id)
    .join(gold, gold.c.task == task.c.name)
    .where(*ANSWERED_GOLD)
)

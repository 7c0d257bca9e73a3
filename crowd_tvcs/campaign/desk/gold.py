"""Gold among the other tasks: handed out like them, to estimate the skills of the workers."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import case, func, insert, select, text

from crowd_tvcs.campaign.store.gold import ANSWERED_GOLD
from crowd_tvcs.campaign.store.queries import RETURN_TURN, SETTLED
from crowd_tvcs.campaign.store.schema import GOLD, UNLIMITED, content, gold, pair, task
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.stored_model import is_due, lacks_fit, unsettled
from crowd_tvcs.campaign.tasks import settle_each

LEARNS_EVERY, REST = 60.0, 20.0
"""Least seconds from learning to learning, and at least so many times what it takes."""
AT_ONCE = 100
"""Tasks that are settled in one transaction."""
# What needs NumPy is imported by the functions that use it: a desk must start quickly.


def mix_in(store: Store, labels: Mapping[str, str], shown: Collection[str]) -> tuple[int, int]:
    """Put gold among the tasks: rows like theirs that no plan, sum or result counts.

    Gold that is to be labelled anyway stays as it is. Where tasks have content, gold without any
    could be told from them and is left out, also if it is among them from before.

    Parameters
    ----------
    store
        The campaign's.
    labels
        More gold, beside what the campaign has: labels by name.
    shown
        Names that are about to get content, beside those that have some.

    Returns
    -------
    there, left_out
        How many gold tasks are among the others now, and how many lack content.

    Raises
    ------
    ValueError
        If a label is none of the classes or contradicts one that is known, or no gold would be
        among the others; nothing is written then.
    """
    with store.write() as (connection, settings, _):
        if labels:
            from crowd_tvcs.campaign.intake import add_gold, settle_all

            add_gold(connection, settings, labels, [])
        known = set(connection.scalars(select(gold.c.task)))
        tasks = dict(connection.execute(select(task.c.name, task.c.closed)).all())
        described = {*connection.scalars(_DESCRIBED), *shown}
        mixed = known - {name for name, closed in tasks.items() if closed != GOLD}
        alike = mixed & described if described else mixed
        if not alike:
            raise ValueError(
                f"gold tasks are to be among the others, and {_why_none(known, mixed)}"
            )
        rows = [_row(name) for name in sorted(alike - set(tasks))]
        if rows:
            connection.execute(text(_INDEX))
            connection.execute(insert(task), rows)
        if labels:  # the skills, and the model, may be new
            settle_all(connection)
        elif rows:
            settle_each(connection, settings, connection.scalars(_GOLD_TASKS))
        return len(alike), len(mixed) - len(alike)


def _why_none(known: Collection[str], mixed: Collection[str]) -> str:
    """Return the reason if no gold can be mixed in."""
    if mixed:
        return f"the {len(mixed)} there are have no content: give it in --content FILE"
    if known:
        return f"all {len(known)} there are are to be labelled anyway: give others in --gold FILE"
    return "it has none: give --gold FILE"


def _row(name: str) -> dict[str, Any]:
    own: dict[str, Any] = {
        "name": name,
        "prior": None,
        "min_workers": 0,
        "max_workers": UNLIMITED,
        "closed": GOLD,
    }
    return own | dict.fromkeys(SETTLED, 0)


class Learner:
    """Re-estimates skills from the answers to mixed-in gold, now and then."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._seen, self._next = _NOTHING, 0.0

    def learn(self, now: float) -> bool:
        """Learn if answers are not what they were and it is time; whether it did.

        That is once a minute, and a twentieth of the time, at most.
        """
        if now < self._next or (found := _answers_here(self.store)) == self._seen:
            return False
        start = time.monotonic()
        done = learn(self.store)
        took = time.monotonic() - start
        self._seen, self._next = found, now + max(LEARNS_EVERY, REST * took)
        return done


def _answers_here(store: Store) -> tuple[float, ...]:
    """Sum up the answers to gold among the others: also one given anew must change the sums."""
    with store.read() as (connection, _):
        return tuple(float(value or 0.0) for value in connection.execute(_ANSWERED).one())


def learn_of_labels(store: Store) -> bool:
    """Fit the model to whoever labelled so far, if it goes by other labels; whether it did.

    Or settle the tasks that whoever fitted it left, as one who was killed.
    """
    with store.read() as (_, settings):
        if not is_due(settings.dependence, settings.answers):
            return False
    if lacks_fit(settings.dependence, settings.answers):
        return learn(store, only_new=True)
    _settle_rest(store)
    return True


def learn(store: Store, *, only_new: bool = False) -> bool:
    """Estimate every worker's quality anew from all answers to gold, and settle the tasks.

    Some tasks at a time, so that nobody waits for long; the store knows which are not settled yet.
    With `only_new` they are left alone where nothing is another than before. Return False where the
    qualities come from a table, which gold does not change.
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
                is_same = only_new and _but_labels(*before) == _but_labels(*after)
                estimates.mark(connection, unsettled(settings.dependence) if is_same else 0)
        if is_first:
            break
    _settle_rest(store, 0)
    return True


def _settle_rest(store: Store, start: int | None = None) -> None:
    """Settle the tasks that are not, by turns with whoever does so as well.

    From `start` on, by ids, where the store keeps no model that says from which.
    """
    from crowd_tvcs.campaign import estimates

    while True:
        with store.write(flush=False) as (connection, settings, _):
            if settings.dependence is not None:
                start = unsettled(settings.dependence)
            if start is None:
                RETURN_TURN(connection)
                break
            rest = select(task.c.id).where(task.c.id >= start).order_by(task.c.id).limit(AT_ONCE)
            ids = list(connection.scalars(rest))
            settle_each(connection, settings, ids)
            start = ids[-1] + 1 if len(ids) == AT_ONCE else None
            estimates.mark(connection, start)
    store.flush()


def _but_labels(dependence: str | None, *others: Any) -> tuple[Any, ...]:
    """Read what is in the store but for how many labels the model goes by."""
    return None if dependence is None else json.loads(dependence) | {"labels": 0}, *others


_INDEX = f"CREATE INDEX IF NOT EXISTS task_gold ON task (slots, id) WHERE closed = {GOLD}"
_DESCRIBED = select(task.c.name).join(content, content.c.task_id == task.c.id)
_GOLD_TASKS = select(task.c.id).where(task.c.closed == GOLD)
_NOTHING: tuple[float, ...] = (0.0, 0.0, 0.0)
_ANSWERED = (
    select(
        func.count(),
        func.sum(case((pair.c.label == gold.c.label, 1), else_=0)),
        func.max(pair.c.answered_at),
    )
    .join_from(pair, task, task.c.id == pair.c.task_id)
    .join(gold, gold.c.task == task.c.name)
    .where(*ANSWERED_GOLD)
)

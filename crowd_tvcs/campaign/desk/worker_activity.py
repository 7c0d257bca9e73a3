"""The workers at the desk, each in one row of figures, by an index that is made for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, literal_column, select, text

from crowd_tvcs.belief.intervals import wilson
from crowd_tvcs.campaign.desk import answer_speed
from crowd_tvcs.campaign.store import queries
from crowd_tvcs.campaign.store.errors import StoreError
from crowd_tvcs.campaign.store.gold import RIGHT
from crowd_tvcs.campaign.store.queries import count_where
from crowd_tvcs.campaign.store.schema import ANSWERED, GOLD, LEASED, access, pair, task, worker
from crowd_tvcs.campaign.store.statements import Statement, run_together
from crowd_tvcs.campaign.store.store import Store
from tvcs_core.files.display import joined, quoted


@dataclass(frozen=True)
class WorkerActivity:
    """One worker at the desk.

    Attributes
    ----------
    name, answers, quality, blocked
        As the campaign has them; `quality` is None if it is not known.
    open
        Tasks that are with them now.
    gold, right
        Their answers to gold tasks, and how many of them are right.
    low, high
        Interval of 95 % of their skill, by these alone; None without any.
    agreement
        Share of their answers that are the likeliest label of their task, of tasks with two or more
        answers that are not gold among the others; None without such.
    fast
        How many of their answers came faster than their task can be read, see `answer_speed`.
    seconds
        Median time of an answer; None if no time is known.
    last_seen
        When they last got a task or answered one, in seconds since 1970.
    links
        How many of their links are good.
    """

    name: str
    answers: int
    quality: float | None
    blocked: bool
    open: int
    gold: int
    right: int
    low: float | None
    high: float | None
    agreement: float | None
    fast: int
    seconds: float | None
    last_seen: float | None
    links: int

    @property
    def is_hasty(self) -> bool:
        """Whether so many of their answers came too fast that one should look at them."""
        from crowd_tvcs.behaviour.pace import MIN_FAST, MIN_SHARE

        return self.fast >= max(MIN_FAST, MIN_SHARE * self.answers)


def make_index(store: Store) -> str:
    """Create an index that sums up 100,000 answers by worker in a fifth of the time.

    Only campaigns with a server have it, since it takes time with every answer. Return the reason
    if it could not be created (on PostgreSQL only the owner of the tables may), else ''.
    """
    try:
        if not store.is_file:
            with store.outside() as connection:
                if connection.execute(_IS_THERE).scalar_one():
                    return ""
        with store.write() as (connection, _, _):
            connection.execute(text(_INDEX))
            queries.RETURN_TURN(connection)
    except StoreError as error:
        return str(error)
    return ""


def list_worker_activity(store: Store) -> list[WorkerActivity]:
    """Return every worker, those of most answers first."""
    with store.read(all_of_it=True) as (connection, settings):
        workers = connection.execute(select(worker)).all()
        limit = answer_speed.limit(connection, settings.answers)
        given = {row.worker_id: row for row in connection.execute(_given(limit))}
        others = {row.worker_id: row for row in connection.execute(_OTHERS)}
        links: dict[int, int] = dict(connection.execute(_LINKS).all())
        tested = {row.worker: (row.answers, row.right) for row in connection.execute(RIGHT)}
        medians = _medians(connection, {who: row.timed for who, row in given.items() if row.timed})
    out = []
    for row in workers:
        of, other = given.get(row.id), others.get(row.id)
        number, right = tested.get(row.name, (0, 0))
        low, high = wilson(right / number, number) if number else (None, None)
        seen = [of.answered_at, of.leased_at] if of is not None else []
        seen += [other.leased_at] if other is not None else []
        out.append(
            WorkerActivity(
                row.name,
                row.answers,
                row.quality,
                bool(row.blocked),
                0 if other is None else other.open,
                number,
                right,
                low,
                high,
                of.agreed / of.judged if of is not None and of.judged else None,
                of.fast if of is not None else 0,
                medians.get(row.id),
                max((moment for moment in seen if moment), default=None),
                links.get(row.id, 0),
            )
        )
    return sorted(out, key=lambda seat: (-seat.answers, seat.name))


def warn_of_speed(seats: Sequence[WorkerActivity]) -> str:
    """Return a warning with the workers who answer faster than they can read, or ``""``."""
    hasty = sorted((seat for seat in seats if seat.is_hasty), key=lambda seat: -seat.fast)
    if not hasty:
        return ""
    names = joined(f"{quoted(seat.name)} {seat.fast} of {seat.answers}" for seat in hasty)
    return (
        f"answers came faster than their tasks can be read, or than others give them: {names}; "
        "look at these workers' answers to gold, and block workers who do not look at the tasks"
    )


def _medians(connection: Connection, timed: dict[int, int]) -> dict[int, float]:
    """Return the median seconds of workers of whom so many are known: the middle of the index."""
    middle = [
        _MIDDLE.with_(who=who, before=(number - 1) // 2, wanted=2 - number % 2)
        for who, number in timed.items()
    ]
    if not middle:
        return {}
    found = run_together(connection, *middle)
    return {
        who: sum(row.seconds for row in rows) / len(rows)
        for who, rows in zip(timed, found, strict=True)
    }


_INDEX = (
    "CREATE INDEX IF NOT EXISTS pair_given ON pair (worker_id, seconds, answered_at, leased_at, "
    f"task_id, label, state) WHERE state = {ANSWERED}"
)
_IS_THERE = text("SELECT to_regclass('pair_given') IS NOT NULL")
_IS_GIVEN = pair.c.state == literal_column(str(ANSWERED))  # as the index says it, word for word
_IS_JUDGED = (task.c.closed != GOLD) & (task.c.answers > 1)


def _given(limit: float) -> Any:
    """Sum up the answers of every worker; `limit` is that of `answer_speed`."""
    query = (
        select(
            pair.c.worker_id,
            func.count(pair.c.seconds).label("timed"),
            count_where(_IS_JUDGED).label("judged"),
            count_where(_IS_JUDGED & (pair.c.label == task.c.label)).label("agreed"),
            count_where(answer_speed.is_fast(limit)).label("fast"),
            func.max(pair.c.answered_at).label("answered_at"),
            func.max(pair.c.leased_at).label("leased_at"),
        )
        .join_from(pair, task, task.c.id == pair.c.task_id)
        .where(_IS_GIVEN)
        .group_by(pair.c.worker_id)
    )
    return answer_speed.with_texts(query)


_OTHERS = (
    select(
        pair.c.worker_id,
        count_where(pair.c.state == LEASED).label("open"),
        func.max(pair.c.leased_at).label("leased_at"),
    )
    .where(pair.c.state != ANSWERED)
    .group_by(pair.c.worker_id)
)
_MIDDLE = Statement(
    select(pair.c.seconds)
    .where(pair.c.worker_id == bindparam("who"), _IS_GIVEN, pair.c.seconds.is_not(None))
    .order_by(pair.c.seconds)
    .limit(bindparam("wanted"))
    .offset(bindparam("before"))
)
_LINKS = (
    select(access.c.worker_id, func.count())
    .where(access.c.revoked.is_(None))
    .group_by(access.c.worker_id)
)

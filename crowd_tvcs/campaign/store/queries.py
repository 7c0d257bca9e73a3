"""The statements of claims and submissions (see `statements`)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Exists,
    Select,
    Text,
    bindparam,
    case,
    cast,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    text,
    update,
)

from crowd_tvcs.campaign.store.rows import (
    FreedPair,
    FreedWorker,
    LastAnswer,
    PairRow,
    RoundRow,
    Settings,
    ShortTask,
    TaskRow,
    WorkerRow,
    WorkersLeft,
)
from crowd_tvcs.campaign.store.schema import (
    ANSWERED,
    ASIDE,
    ISSUED,
    LAPSED,
    LEASED,
    OPEN,
    SKIPPED,
    audit,
    campaign,
    pair,
    planned,
    skill,
    task,
    worker,
)
from crowd_tvcs.campaign.store.statements import Statement

COUNTERS = ("slots", "answers", "committed", "missing", "rounds")
SETTLED = ("slots", "answers", "label", "confidence", "uncertainty", "wanted", "needy")


def equals(column: ColumnElement[int], value: int) -> ColumnElement[bool]:
    """Compare with a number that is part of the statement.

    With a parameter SQLite could not decide whether a partial index applies, and would plan the
    statement at every run; PostgreSQL would not use the index.
    """
    return column == literal_column(str(value))


def count_where(condition: Any) -> Any:
    """Count the rows of which this is true."""
    return func.sum(case((condition, 1), else_=0))


def bound(*names: str) -> dict[str, Any]:
    """Return a parameter for each of these columns."""
    return {name: bindparam(name) for name in names}


def of_pairs(*columns: Any) -> Select[Any]:
    """Select columns of pairs, each with its task and its worker."""
    with_task = select(*columns).join_from(pair, task, task.c.id == pair.c.task_id)
    return with_task.join(worker, worker.c.id == pair.c.worker_id)


_CALLED = worker.c.name == bindparam("called")
WHO = select(worker.c.id).where(_CALLED).scalar_subquery()
"""The worker that is called so, in a search."""
_THIS = (pair.c.task_id == bindparam("of_task")) & (pair.c.worker_id == bindparam("who"))
_HE = worker.c.id == bindparam("who")
_IT = task.c.id == bindparam("of_task")

GATE = "'campaign'::regclass::oid::bigint"
"""Number of the lock that every change on PostgreSQL takes: a table's own in a database."""
CLOSE_GATE = {
    True: Statement(text(f"SELECT pg_advisory_xact_lock({GATE})")),
    False: Statement(
        text(f"SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock({GATE})")
    ),
}
"""Wait for the lock; by whether the change will wait for the disk."""
BEGIN, BEGIN_IMMEDIATE, COMMIT = map(Statement, map(text, ("BEGIN", "BEGIN IMMEDIATE", "COMMIT")))

_N_WORKERS = select(func.max(worker.c.id)).scalar_subquery().label("n_workers")
"""At most so many: ids count from 1, no worker is removed, PostgreSQL may leave numbers out."""
TAKE_TURN = Statement(
    update(campaign).values(revision=campaign.c.revision + 1).returning(*campaign.c, _N_WORKERS),
    Settings,
)
RETURN_TURN = Statement(update(campaign).values(revision=campaign.c.revision - 1))
"""Of who changed nothing, so that a plan made meanwhile still fits."""
SETTINGS = Statement(select(campaign, _N_WORKERS), Settings)
COUNT = Statement(update(campaign).values({k: campaign.c[k] + bindparam(k) for k in COUNTERS}))

WORKER = Statement(
    select(
        worker,
        task.c.id.label("lease"),
        task.c.name.label("lease_name"),
        pair.c.expires.label("lease_until"),
    )
    .outerjoin_from(worker, pair, (pair.c.worker_id == worker.c.id) & equals(pair.c.state, LEASED))
    .outerjoin(task, task.c.id == pair.c.task_id)
    .where(worker.c.name == bindparam("called"))
    .order_by(pair.c.task_id),
    WorkerRow,
)
WORKERS = Statement(select(worker), WorkerRow)
MORE_SLOTS = Statement(update(worker).where(_HE).values(slots=worker.c.slots + bindparam("more")))
ONE_SLOT_LESS = Statement(
    update(worker)
    .where(_HE)
    .values(slots=worker.c.slots - 1)
    .returning(worker.c.cost, (worker.c.slots + 1 >= worker.c.max_tasks).label("was_full")),
    FreedWorker,
)
MORE_ANSWERS = Statement(
    update(worker).where(_HE).values(answers=worker.c.answers + bindparam("more"))
)
TEAM_MATE = Statement(
    select(pair.c.worker_id)
    .join_from(pair, worker, worker.c.id == pair.c.worker_id)
    .where(
        pair.c.task_id == bindparam("of_task"),
        pair.c.state > LAPSED,
        worker.c.team == bindparam("of_team"),
    )
)

LAST_ROUND = Statement(select(func.max(planned.c.answers_before).label("answers_before")))
PAUSE = Statement(update(campaign).values(paused=bindparam("is_paused")))
BLOCK = Statement(
    update(worker)
    .where(worker.c.name == bindparam("called"))
    .values(blocked=bindparam("is_blocked"))
    .returning(worker.c.id)
)
NOTE = Statement(insert(audit).values(bound("at", "who", "what", "task", "detail", "address")))

TASK = Statement(select(task).where(_IT), TaskRow)
TASKS = Statement(select(task).order_by(task.c.id), TaskRow)
ROUNDS = Statement(select(planned).order_by(planned.c.round), RoundRow)
TASK_CALLED = Statement(select(task).where(task.c.name == bindparam("called")), TaskRow)
SET_ASIDE = Statement(update(task).where(_IT).values(wanted=ASIDE))
RECALL = Statement(update(task).where(equals(task.c.wanted, ASIDE)).values(wanted=1))
SETTLE = Statement(update(task).where(_IT).values(bound(*SETTLED)))
TAKE = Statement(update(task).where(_IT).values(bound("slots", "uncertainty", "wanted", "needy")))

_OF_PAIR = (
    select(skill.c.quality)
    .where(skill.c.worker_id == pair.c.worker_id, skill.c.task_id == pair.c.task_id)
    .scalar_subquery()
)  # not by an outer join: SQLite would write out all of `skill` where it is a view (`kinds`)
_KNOWN = (
    select(
        pair.c.worker_id,
        pair.c.state,
        pair.c.label,
        pair.c.leased_at,
        func.coalesce(_OF_PAIR, worker.c.quality).label("quality"),
        worker.c.habits,
    )
    .join_from(pair, worker, worker.c.id == pair.c.worker_id)
    .order_by(pair.c.worker_id)
)
PAIRS = Statement(_KNOWN.where(pair.c.task_id == bindparam("of_task")), PairRow)
PAIRS_CALLED = Statement(
    _KNOWN.join(task, task.c.id == pair.c.task_id).where(task.c.name == bindparam("called")),
    PairRow,
)


def _given_up(*which: ColumnElement[bool], **values: Any) -> Statement[FreedPair]:
    """Change the pairs whose slots are given up, and return them."""
    change = update(pair).where(*which).values(values)
    return Statement(change.returning(pair.c.task_id, pair.c.worker_id), FreedPair)


EXPIRE = _given_up(
    equals(pair.c.state, LEASED), pair.c.expires <= bindparam("now"), state=LAPSED, expires=None
)
RELEASE = _given_up(equals(pair.c.state, ISSUED), pair.c.round == bindparam("number"), state=LAPSED)
SKIP = _given_up(
    _THIS, pair.c.state.between(ISSUED, LEASED), state=SKIPPED, expires=None, round=None
)
LET_GO = _given_up(_THIS, state=LAPSED, expires=None)
ISSUED_PAIRS = Statement(
    of_pairs(worker.c.name.label("of_worker"), task.c.name.label("of_task"), pair.c.round).where(
        equals(pair.c.state, ISSUED)
    )
)
ISSUED_TO = Statement(
    select(task)
    .join_from(pair, task, task.c.id == pair.c.task_id)
    .where(pair.c.worker_id == WHO, equals(pair.c.state, ISSUED))
    .order_by(pair.c.round, task.c.id)
    .limit(1),
    TaskRow,
)
_UNTIL: ColumnElement[float] = bindparam("until")
_LEASED = {"state": LEASED, "expires": _UNTIL, "leased_at": bindparam("now")}
_LONGER = case((pair.c.expires > _UNTIL, pair.c.expires), else_=_UNTIL)
_OF_THIS = update(pair).where(_THIS)
RENEW = Statement(_OF_THIS.values(state=LEASED, expires=_LONGER, round=None))
"""Lease a pair until then, or longer if it is leased longer already."""
LEASE = Statement(_OF_THIS.values(_LEASED | {"round": None}))
NEW_LEASE = Statement(
    insert(pair).values(task_id=bindparam("of_task"), worker_id=bindparam("who"), **_LEASED)
)
NEXT_PLACE = Statement(
    select(pair.c.worker_id)
    .where(pair.c.task_id == bindparam("of_task"), pair.c.place > bindparam("place"))
    .limit(1)
)
LAST_ANSWER = Statement(
    select(pair.c.task_id, pair.c.place, task.c.name.label("task_name"), task.c.closed)
    .join_from(pair, task, task.c.id == pair.c.task_id)
    .where(pair.c.worker_id == bindparam("who"), equals(pair.c.state, ANSWERED))
    .order_by(pair.c.place.desc())
    .limit(1),
    LastAnswer,
)
_ANSWER = ("label", "place", "answered_at", "seconds", "swapped")
ANSWER = Statement(_OF_THIS.values(bound(*_ANSWER) | {"state": ANSWERED, "expires": None}))
TAKE_BACK = Statement(_OF_THIS.values(_LEASED | dict.fromkeys(("round", *_ANSWER))))
MOVE_UP = Statement(
    update(pair).where(pair.c.place > bindparam("place")).values(place=pair.c.place - 1)
)


def _has_mate(of_task: Any, team: Any) -> Exists:
    """Whether a worker of a group has a task."""
    mate, theirs = worker.alias(), pair.alias()
    return exists().where(
        theirs.c.task_id == of_task,
        theirs.c.state > LAPSED,
        theirs.c.worker_id == mate.c.id,
        mate.c.team == team,
    )


def is_free_of_mates() -> ColumnElement[bool]:
    """Whether no worker of the group of the worker `called` has the task of a search."""
    team = select(worker.c.team).where(_CALLED).scalar_subquery()
    return or_(team.is_(None), ~_has_mate(task.c.id, team))


def _of_able(per_pair: bool, of_task: ColumnElement[int], *columns: Any) -> Select[Any]:
    """Select the workers who may still have a task: those of the minimum quality."""
    own = pair.alias()
    had = exists().where(
        own.c.task_id == of_task, own.c.worker_id == worker.c.id, own.c.state != LAPSED
    )
    has_mate = _has_mate(of_task, worker.c.team)
    found = select(*columns).select_from(worker)
    if per_pair:
        is_of = (skill.c.worker_id == worker.c.id) & (skill.c.task_id == of_task)
        found = found.join(skill, is_of)
    return found.where(
        worker.c.slots < worker.c.max_tasks,
        func.coalesce(worker.c.blocked, 0) == 0,
        _quality(per_pair) >= bindparam("min_quality"),
        ~had.correlate(worker, task),
        or_(worker.c.team.is_(None), ~has_mate.correlate(worker, task)),
    )


def _quality(per_pair: bool) -> ColumnElement[float]:
    return skill.c.quality if per_pair else worker.c.quality


def _left(per_pair: bool) -> Statement[WorkersLeft]:
    """Select number, lowest and highest quality of the workers who may still have a task."""
    quality = _quality(per_pair)
    columns = (
        func.count(quality).label("workers"),
        func.min(quality).label("low"),
        func.max(quality).label("high"),
    )
    return Statement(_of_able(per_pair, bindparam("of_task"), *columns), WorkersLeft)


LEFT = {per_pair: _left(per_pair) for per_pair in (False, True)}


def _short(per_pair: bool) -> Statement[ShortTask]:
    """Find the tasks with unmet minimums: missing labels, and workers who can still add one.

    Of a group one worker counts, and no worker whose label costs more than `money`.
    """
    seat: ColumnElement[str] = func.coalesce(
        literal_column("'group '") + worker.c.team,
        literal_column("'worker '") + cast(worker.c.id, Text),
    )
    able = _of_able(per_pair, task.c.id, func.count(seat.distinct()))
    able = able.where(worker.c.cost <= bindparam("money")).correlate(task)
    columns = (
        (task.c.min_workers - task.c.slots).label("short"),
        able.scalar_subquery().label("able"),
    )
    is_short = (equals(task.c.needy, 1), equals(task.c.closed, OPEN))
    return Statement(select(*columns).where(*is_short), ShortTask)


SHORT = {per_pair: _short(per_pair) for per_pair in (False, True)}


def _search(per_pair: bool, needy: bool) -> Statement[TaskRow]:
    """Find the best task of a worker; the partial index lists tasks by uncertainty.

    ``before`` is None if they never had the task, else it lapsed; ``quality`` is theirs. The worker
    is given by name, so this goes in one message with the query of the worker.
    """
    own = pair.alias()
    is_theirs = (own.c.task_id == task.c.id) & (own.c.worker_id == WHO)
    score: ColumnElement[Any] = task.c.uncertainty
    columns: list[Any] = [task, own.c.state.label("before")]
    if per_pair:
        columns.append(skill.c.quality)
        score = task.c.uncertainty * skill.c.gain
    found = select(*columns).outerjoin_from(task, own, is_theirs)
    found = found.where(
        equals(task.c.wanted, 1), or_(own.c.state.is_(None), equals(own.c.state, LAPSED))
    )
    if per_pair:
        min_quality = select(campaign.c.min_quality).scalar_subquery()
        found = found.join(
            skill, (skill.c.task_id == task.c.id) & (skill.c.worker_id == WHO)
        ).where(skill.c.quality >= min_quality)
    if needy:
        found = found.where(equals(task.c.needy, 1))
    found = found.where(is_free_of_mates())
    return Statement(found.order_by(score.desc(), task.c.id).limit(1), TaskRow)


SEARCHES = {
    (per_pair, needy): _search(per_pair, needy)
    for per_pair in (False, True)
    for needy in (False, True)
}

"""The status of a campaign in sums of the database: cheap enough for every second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, insert, select

from crowd_tvcs.campaign.answer_kinds.kind import kind_of
from crowd_tvcs.campaign.leases import no_budget
from crowd_tvcs.campaign.settings import MILLION
from crowd_tvcs.campaign.store.gold import AMONG_OTHERS, HAD, IS_ALIKE
from crowd_tvcs.campaign.store.queries import count_where
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.schema import (
    ANSWERED,
    CLOSED,
    GOLD,
    OPEN,
    UNLIMITED,
    gold,
    history,
    pair,
    task,
    worker,
)
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.stored_model import interval_around
from tvcs_core.files.display import plural

LEAST_CONFIDENT = 5  # tasks shown
FULL_TASKS = "task has all the workers it may have", "tasks have all the workers they may have"
FULL_WORKERS = "worker has all the tasks they may have", "workers have all the tasks they may have"
MAX_STANDARD_ERRORS = 2.0
"""Standard errors between mean confidence and accuracy that count as a difference."""


@dataclass(frozen=True)
class Figures:
    """The figures of a campaign at one moment.

    `answers`, `pending` and `spent` include gold among the other tasks, which is paid for too;
    tasks and accuracies do not. `gold_tasks` counts the gold that is handed out; gold without
    content is not, if tasks have content. `gold_right` is the share of right answers to it,
    `gold_expected` the mean skill of their workers; None unless each has one (qualities per pair do
    not cover gold). `binding` names the caps that are used up. `expected_accuracy` is that of the
    tasks with a label, None without any, and `unlabelled` counts the others. It has an interval as
    in `campaign status` if gold was measured.
    """

    tasks: int
    answers: int
    pending: int
    budget: int | None
    money: float | None
    spent: float
    expected_accuracy: float | None
    unlabelled: int
    forecast: dict[str, float] | None
    measured: float | None
    measured_on: int
    gold_tasks: int
    gold_answers: int
    gold_right: float | None
    gold_expected: float | None
    warning: str
    paused: bool
    closed: int
    wanted: int
    full: int
    binding: list[str]
    revision: int


def figures(store: Store) -> Figures:
    """Sum up the campaign."""
    with store.read(all_of_it=True) as (connection, settings):
        tasks = connection.execute(_TASKS).one()
        right, known = connection.execute(_RIGHT).one()
        spent = connection.execute(_SPENT).scalar_one() or 0
        idle = connection.execute(_FULL_WORKERS).scalar_one()
        tested = connection.execute(AMONG_OTHERS).one()
        through = _through(connection, tasks.gold or 0)
    measured = None if not known else (right or 0) / known
    has_classes = kind_of(settings).has_classes
    sure = float(tasks.sure) if has_classes and tasks.sure is not None else None
    labelled = tasks.labelled or 0
    hit = tested.right / tested.answers if tested.answers else None
    has_skills = 0 < tested.answers == tested.by_skill
    hoped = tested.expected / tested.answers if has_skills else None
    claimed = float(tasks.sure_of_gold or 0.0)
    apart = [
        _gap(hoped, hit, tested.answers, "answers to gold among the tasks", "skills say {}"),
    ]
    if has_classes:
        answered = "answered tasks whose label is known"
        apart.insert(0, _gap(claimed, measured, known, answered, "{} are claimed"))
    return Figures(
        tasks=tasks.tasks,
        answers=settings.answers,
        pending=settings.pending,
        budget=settings.budget,
        money=None if settings.money is None else settings.money / MILLION,
        spent=spent / MILLION,
        expected_accuracy=sure,
        unlabelled=(tasks.tasks or 0) - labelled,
        forecast=interval_around(sure, settings.dependence, labelled),
        measured=measured,
        measured_on=known,
        gold_tasks=tasks.gold or 0,
        gold_answers=tested.answers,
        gold_right=hit,
        gold_expected=hoped,
        warning="; ".join(filter(None, apart)),
        paused=bool(settings.paused),
        closed=tasks.closed or 0,
        wanted=tasks.wanted or 0,
        full=tasks.full or 0,
        binding=_binding(settings, tasks, idle, len(through)),
        revision=settings.revision,
    )


def without_gold(store: Store) -> tuple[list[str], int]:
    """Return the number of workers without gold left to answer, and the number of gold tasks."""
    with store.read() as (connection, _):
        number = connection.execute(_TASKS).one().gold or 0
        return sorted(_through(connection, number)), number


def _through(connection: Connection, number: int) -> list[str]:
    """Return the workers who had all gold tasks, given their number; none without gold."""
    if not number:
        return []
    return [row.name for row in connection.execute(HAD) if row.tasks == number]


def least_confident(store: Store, rows: int = LEAST_CONFIDENT) -> list[dict[str, Any]]:
    """Return the open tasks that have a label and are least sure, each with its answers."""
    with store.read(all_of_it=True) as (connection, settings):
        kind = kind_of(settings)
        found = connection.execute(_LEAST_SURE.limit(rows)).all()
        out = []
        for row in found:
            given = connection.execute(_ANSWERS_OF.where(pair.c.task_id == row.id)).all()
            out.append(
                {
                    "task": row.name,
                    "label": kind.show(row.label, row.name),
                    "confidence": row.confidence if kind.has_classes else None,
                    "answers": [(name, kind.show(code, row.name)) for name, code in given],
                }
            )
    return out


def note_history(store: Store, now: float) -> bool:
    """Store a point of the curve of expected accuracy, if answers came since the last one.

    A task without a label counts as guessed, so the curve shows the effect of labels. Answers that
    are no classes have no accuracy that is expected.
    """
    with store.read() as (connection, settings):
        if not kind_of(settings).has_classes or not _is_new(connection, settings.answers):
            return False
    with store.write() as (connection, settings, _):
        if not _is_new(connection, settings.answers):
            return False
        sure = connection.execute(_TASKS).one().sure_of_all
        point = {"answers": settings.answers, "at": now, "expected_accuracy": sure}
        connection.execute(insert(history).values(point))
    return True


def curve(store: Store) -> list[tuple[int, float]]:
    """Return the points of the curve, as (labels bought, expected accuracy)."""
    with store.read() as (connection, _):
        order = select(history.c.answers, history.c.expected_accuracy).order_by(history.c.answers)
        return [(int(n), float(p)) for n, p in connection.execute(order)]


def _is_new(connection: Connection, answers: int) -> bool:
    there = select(func.count()).where(history.c.answers == answers)
    return connection.execute(there).scalar_one() == 0


def _gap(claimed: float | None, measured: float | None, number: int, of: str, claim: str) -> str:
    """Warn if a claim about so many of something and its measurement differ significantly."""
    if claimed is None or measured is None:
        return ""
    error = max((claimed * (1.0 - claimed) / number) ** 0.5, 0.5 / number)
    if abs(claimed - measured) <= MAX_STANDARD_ERRORS * error:
        return ""
    side = "more" if claimed > measured else "less"
    return (
        f"of the {number} {of} {measured:.0%} are right, and {claim.format(f'{claimed:.0%}')}: "
        f"{side} than can be chance"
    )


def _binding(settings: Settings, tasks: Any, idle: int, through: int) -> list[str]:
    out = []
    if reason := no_budget(settings):
        out.append(reason)
    if settings.money is not None and settings.committed >= settings.money:
        out.append("the money is used up or out with workers")
    if tasks.full:
        out.append(plural(tasks.full, *FULL_TASKS))
    if idle:
        out.append(plural(idle, *FULL_WORKERS))
    if through:
        who = plural(through, "worker has", "workers have")
        out.append(f"{who} answered all the gold there is, and get no more of it")
    return out


_ORDINARY = task.c.closed != GOLD
_IS_OF_CROWD = _ORDINARY & task.c.settled.is_(None)
_IS_KNOWN = _IS_OF_CROWD & (gold.c.label.is_not(None)) & (task.c.answers > 0)
_HAS_LABEL = (  # as `tasks.has_label`; null: no prior
    (task.c.answers > 0) | (task.c.prior != 0.5) | task.c.settled.is_not(None)
)
_TASKS = select(
    count_where(_ORDINARY).label("tasks"),
    count_where(_ORDINARY & _HAS_LABEL).label("labelled"),
    func.avg(case((_ORDINARY & _HAS_LABEL, task.c.confidence))).label("sure"),
    func.avg(case((_ORDINARY, task.c.confidence))).label("sure_of_all"),
    count_where(task.c.closed == CLOSED).label("closed"),
    count_where((task.c.closed == GOLD) & IS_ALIKE).label("gold"),
    count_where(task.c.wanted == 1).label("wanted"),
    count_where((task.c.slots >= task.c.max_workers) & (task.c.max_workers < UNLIMITED)).label(
        "full"
    ),
    func.avg(case((_IS_KNOWN, task.c.confidence))).label("sure_of_gold"),
).outerjoin_from(task, gold, gold.c.task == task.c.name)
_RIGHT = (
    select(count_where(task.c.label == gold.c.label), func.count())
    .join_from(task, gold, gold.c.task == task.c.name)
    .where(task.c.answers > 0, _IS_OF_CROWD)
)
_SPENT = select(func.sum(worker.c.cost * worker.c.answers))
_FULL_WORKERS = select(func.count()).where(
    worker.c.slots >= worker.c.max_tasks, worker.c.max_tasks < UNLIMITED
)
_LEAST_SURE = (
    select(task.c.id, task.c.name, task.c.label, task.c.confidence)
    .where(task.c.closed == OPEN, _HAS_LABEL)
    .order_by(task.c.confidence, task.c.id)
)
_ANSWERS_OF = (
    select(worker.c.name, pair.c.label)
    .join_from(pair, worker, worker.c.id == pair.c.worker_id)
    .where(pair.c.state == ANSWERED)
    .order_by(pair.c.place)
)

"""Slots of workers on tasks: answers that come in, and leases that lapse or are given up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection

from crowd_tvcs.campaign.answer_kinds.kind import AnswerKind, kind_of
from crowd_tvcs.campaign.store import queries
from crowd_tvcs.campaign.store.rows import FreedPair, PairRow, Settings, TaskRow, WorkerRow
from crowd_tvcs.campaign.store.schema import ANSWERED, GOLD, ISSUED, LEASED
from crowd_tvcs.campaign.store.statements import Call, later, run_together
from crowd_tvcs.campaign.tasks import count, counted, is_needed, is_reserved, settle_each, settled
from tvcs_core.files.display import closest, plural

Row = TypeVar("Row")

ACCEPTED, LATE, KNOWN = "accepted", "accepted late", "known already"


class RejectedError(ValueError):
    """A request that the campaign rejects; the message has the reason."""


@dataclass(frozen=True)
class SubmissionResult:
    """The result of submitting an answer.

    Attributes
    ----------
    task, worker, label
        The answer.
    reason
        ``"accepted"``, ``"accepted late"`` (the lease had expired, but its slot was free) or
        ``"known already"`` (the same answer came before; nothing was changed).
    confidence
        Posterior probability of the likeliest label of the task now; None where answers are no
        classes.
    """

    task: str
    worker: str
    label: str
    reason: str
    confidence: float | None


class Given(NamedTuple):
    """An answer by ids, with its time and duration in seconds if they are known."""

    of_task: int
    who: int
    label: int
    answered_at: float | None = None
    seconds: float | None = None
    swapped: int | None = None

    def written(self, place: int) -> Call:
        """Return the statement that writes it down as the answer of this number."""
        return queries.ANSWER.with_(place=place, **self._asdict())


def before_submit(name: str, task_name: str) -> tuple[Call, Call, Call]:
    """Return the statements a submission begins with: the worker, the task and its pairs."""
    return (
        queries.WORKER.with_(called=name),
        queries.TASK_CALLED.with_(called=task_name),
        queries.PAIRS_CALLED.with_(called=task_name),
    )


def submit(
    connection: Connection,
    settings: Settings,
    found: list[list[Any]],
    answer: tuple[str, str, str],
    now: float,
    timing: tuple[float, float | None] | None = None,
) -> SubmissionResult:
    """Write an answer (worker, task, label) down if its slot is there, or still free.

    `found` answers `before_submit`. `timing` is when a tool says that the answer was given, and in
    how many seconds; by default now, and since the task was given to the worker.

    Raises
    ------
    RejectedError
        If the task was never given to this worker, another label is written down already, or the
        lease has expired and a cap leaves no room any more.
    """
    name, task_name, label = answer
    kind = kind_of(settings)
    who, row = the_one("worker", found[0], name), the_one("task", found[1], task_name)
    pairs = found[2]
    code = read_label(kind, label, task_name, name)
    label = kind.show(code, task_name)
    slot = next((p for p in pairs if p.worker_id == who.id), None)
    reason = judge(connection, settings, who, row, slot, code)
    if reason == KNOWN:
        sure = row.confidence if kind.has_classes else None
        return SubmissionResult(task_name, name, label, reason, sure)
    if reason == LATE:
        take_again(connection, settings, who, row)
        row = queries.TASK.only(connection, of_task=row.id)
    values = settled(
        settings,
        row,
        [p._replace(state=ANSWERED, label=code) if p.worker_id == who.id else p for p in pairs],
    )
    at, seconds = timing or (now, seconds_of(slot, now))
    given = Given(row.id, who.id, code, at, seconds, kind.is_swapped(task_name, name))
    later(
        connection,
        given.written(settings.answers + 1),
        queries.SETTLE.with_(**values),
        queries.MORE_ANSWERS.with_(who=who.id, more=1),
        counted(answers=1),
    )
    sure = values["confidence"] if kind.has_classes else None
    return SubmissionResult(task_name, name, label, reason, sure)


def read_label(kind: AnswerKind, label: str, task: str, worker: str | None = None) -> int:
    """Return the code of an answer, or refuse it by `RejectedError`."""
    try:
        return kind.parse(label, task, worker)
    except ValueError as error:
        raise RejectedError(f"label {error}") from None


def judge(
    connection: Connection,
    settings: Settings,
    who: WorkerRow,
    row: TaskRow,
    slot: PairRow | None,
    code: int,
) -> str:
    """Decide whether an answer can be taken: its slot is open, or lapsed and still free."""
    if slot is None:
        raise RejectedError(
            f"task {row.name!r} was not given to worker {who.name!r}; a campaign takes answers to "
            "tasks that it gave out, by next or in a round: leave this one out"
        )
    if slot.state == ANSWERED and slot.label is not None:
        if slot.label == code:
            return KNOWN
        kind = kind_of(settings)
        before, now = (kind.show(one, row.name) for one in (slot.label, code))
        raise RejectedError(
            f"worker {who.name!r} answered task {row.name!r} with {before!r} before, now {now!r}"
        )
    if slot.state in (ISSUED, LEASED):
        return ACCEPTED
    if taken := no_room(settings, who) or _task_is_taken(connection, settings, who, row):
        raise RejectedError(
            f"the slot of worker {who.name!r} on task {row.name!r} was given up, and {taken}"
        )
    return LATE


def take_again(connection: Connection, settings: Settings, who: WorkerRow, row: TaskRow) -> None:
    """Return its slot to a pair whose slot had lapsed."""
    later(connection, queries.RENEW.with_(of_task=row.id, who=who.id, until=0.0))
    missing = settle_each(connection, settings, [row.id])
    later(connection, queries.MORE_SLOTS.with_(who=who.id, more=1))
    count(connection, slots=1, committed=who.cost, missing=missing)


def write_answers(connection: Connection, settings: Settings, answers: Sequence[Given]) -> None:
    """Write answers into open slots, and settle their tasks."""
    for place, one in enumerate(answers, start=settings.answers + 1):
        later(connection, one.written(place))
    settle_each(connection, settings, [one.of_task for one in answers])
    for i, more in sorted(Counter(one.who for one in answers).items()):
        later(connection, queries.MORE_ANSWERS.with_(who=i, more=more))
    count(connection, answers=len(answers))


def the_one(kind: str, found: Sequence[Row], name: str) -> Row:
    """Return the worker or the task that was found."""
    if not found:
        raise unknown(kind, name)
    return found[0]


def ordinary_task(connection: Connection, name: str) -> TaskRow:
    """Return a task of the operator by its name; the gold that `next` mixes in is none."""
    found = queries.TASK_CALLED(connection, called=name)
    return the_one("task", [row for row in found if row.closed != GOLD], name)


def refuse_unknown(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse the name of a worker or a task that the campaign does not have."""
    for name in names:
        if name not in known:
            raise unknown(kind, name, known)


def unknown(kind: str, name: str, known: Collection[str] = ()) -> RejectedError:
    """Return the error of a worker or a task that the campaign does not have.

    It names the nearest of the `known` ones; workers are not to see other names.
    """
    near = closest(name, known)
    return RejectedError(
        f"there is no {kind} {name!r} in this campaign; write a name that it has"
        f"{f', such as {near!r}' if near else ''}, or add the {kind} by campaign add --{kind}s"
    )


def no_room(settings: Settings, who: WorkerRow) -> str:
    """Which cap leaves no room for one more label of this worker, or ''."""
    if who.slots >= who.max_tasks:
        return f"the worker has their {plural(who.max_tasks, 'task')}"
    if reason := no_budget(settings):
        return reason
    if settings.money is not None and settings.committed + who.cost > settings.money:
        return "the money is used up or out with workers"
    return ""


def no_budget(settings: Settings) -> str:
    """Return the reason why the budget leaves no room for one more label, or ''."""
    if settings.budget is None or settings.slots < settings.budget:
        return ""
    return f"the budget of {plural(settings.budget, 'label')} is used up or out with workers"


def _task_is_taken(connection: Connection, settings: Settings, who: WorkerRow, row: TaskRow) -> str:
    """Why a task has no room for this worker, or ''."""
    if row.slots >= row.max_workers:
        return f"the task has its {plural(row.max_workers, 'worker')}"
    if not row.needy and is_reserved(settings) and is_needed(connection, settings):
        return "the rest of the budget is for tasks with too few workers"
    if who.team and queries.TEAM_MATE(connection, of_task=row.id, of_team=who.team):
        return f"another worker of group {who.team!r} has the task"
    return ""


def free(connection: Connection, settings: Settings, lapsed: Sequence[FreedPair]) -> None:
    """Take slots that were given up off their workers and the campaign; settle their tasks."""
    if lapsed:
        missing = settle_each(connection, settings, [row.task_id for row in lapsed])
        workers = sorted(row.worker_id for row in lapsed)
        less = [queries.ONE_SLOT_LESS.with_(who=i) for i in workers]
        freed = [row for (row,) in run_together(connection, *less)]
        if settings.min_gain is not None and any(row.was_full for row in freed):
            later(connection, queries.RECALL.with_())
        cost = sum(row.cost for row in freed)
        count(connection, slots=-len(lapsed), committed=-cost, missing=missing)


def seconds_of(slot: PairRow | None, now: float) -> float | None:
    """Seconds since the task was given to the worker; None if that is not known."""
    took = now - slot.leased_at if slot is not None and slot.leased_at is not None else 0.0
    return took if took > 0.0 else None

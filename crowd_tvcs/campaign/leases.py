"""Online routing: which task a worker gets next, leases that expire, and answers that come in."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowd_tvcs.campaign.belief import LOOK_AHEAD, affinity
from crowd_tvcs.campaign.store import gold, queries
from crowd_tvcs.campaign.store.rows import FreedPair, PairRow, Settings, TaskRow, WorkerRow
from crowd_tvcs.campaign.store.schema import ANSWERED, ISSUED, LEASED
from crowd_tvcs.campaign.store.statements import Call, later, together
from crowd_tvcs.campaign.tasks import (
    before_first,
    count,
    counted,
    is_needed,
    is_reserved,
    judged,
    known_or_nothing,
    missing_more,
    openness,
    settle,
    settle_each,
    settled,
)

ACCEPTED, LATE, KNOWN = "accepted", "accepted late", "known already"
RENEWED, NOTHING_LEFT = "their open lease, renewed", "no task is left for this worker"


class Refused(ValueError):
    """An answer that the campaign does not take; the message says why."""


@dataclass(frozen=True)
class Offer:
    """The next task of a worker.

    Attributes
    ----------
    task
        Name of the task, or None if there is none for them now.
    reason
        In words: how it was chosen, or why there is none.
    expires
        When the lease ends, in seconds since 1970; None without a task.
    """

    task: str | None
    reason: str
    expires: float | None = None


@dataclass(frozen=True)
class Receipt:
    """The result of submitting an answer.

    Attributes
    ----------
    task, worker, label
        The answer.
    reason
        ``"accepted"``, ``"accepted late"`` (the lease had expired, but its slot was free) or
        ``"known already"`` (the same answer came before; nothing was changed).
    confidence
        Posterior probability of the likeliest label of the task now.
    """

    task: str
    worker: str
    label: str
    reason: str
    confidence: float


class Given(NamedTuple):
    """An answer by ids, with its time and the seconds it took where they are known."""

    task: int
    worker: int
    label: int
    at: float | None = None
    seconds: float | None = None

    def written(self, place: int) -> Call:
        """Return the statement that writes it down as the answer of this number."""
        return queries.ANSWER.with_(
            of_task=self.task,
            who=self.worker,
            given=self.label,
            place=place,
            at=self.at,
            took=self.seconds,
        )


def before_offer(name: str, now: float, per_pair: bool) -> tuple[Call, Call, Call]:
    """Return the statements an offer begins with: leases that lapse, the worker, their best task.

    The last is of no use where something else comes first; asked ahead it costs no message.
    """
    best = queries.SEARCHES[per_pair, False]
    return (
        queries.EXPIRE.with_(now=now),
        queries.WORKER.with_(called=name),
        best.with_(called=name),
    )


def offer(
    connection: Connection,
    settings: Settings,
    found: list[list[Any]],
    name: str,
    now: float,
    gold_share: float = 0.0,
) -> Offer:
    """Offer the worker their open lease again, or the task of largest uncertainty x skill.

    In place of such a share of these they get gold. The caller holds the lock on the campaign;
    `found` answers `before_offer`.
    """
    lapsed, workers, best = found
    if lapsed:
        free(connection, settings, lapsed)
        again = before_offer(name, now, bool(settings.per_pair))[1:]
        (settings,), workers, best = together(connection, queries.SETTINGS.with_(), *again)
    who = the_worker(workers, name)
    expires = now + settings.lease_seconds
    if who.lease is not None:
        later(connection, queries.RENEW.with_(of_task=who.lease, who=who.id, until=expires))
        return Offer(who.lease_name, RENEWED, expires)
    refusals = _is_held_up, _no_room, _below_gate
    if reason := next(filter(None, (refusal(settings, who) for refusal in refusals)), ""):
        return Offer(None, reason)
    chosen = _best_task(connection, settings, who, best[0] if best else None)
    if chosen is None:
        return Offer(None, NOTHING_LEFT)
    if gold_share and _is_for_gold(settings, who, gold_share):
        chosen = _gold_task(connection, who) or chosen
    _take(connection, settings, who, chosen, now)
    left = chosen.uncertainty / (1.0 if chosen.slots else before_first(settings))
    return Offer(chosen.name, why(left, chosen.confidence), expires)


def why(uncertainty: float, confidence: float) -> str:
    """Say why a task was chosen."""
    return f"uncertainty {uncertainty:.4f}, confidence {confidence:.4f}"


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
) -> Receipt:
    """Write an answer (worker, task, label) down if its slot is there, or still free.

    `found` answers `before_submit`.

    Raises
    ------
    Refused
        If the task was never given to this worker, another label is written down already, or the
        lease has expired and a cap leaves no room any more.
    """
    name, task_name, label = answer
    classes = json.loads(settings.classes)
    if label not in classes:
        raise Refused(f"label must be one of {', '.join(map(repr, classes))}, found {label!r}")
    who = the_worker(found[0], name)
    if not found[1]:
        raise Refused(f"there is no task {task_name!r} in this campaign")
    row, pairs = found[1][0], found[2]
    slot = next((p for p in pairs if p.worker_id == who.id), None)
    reason = judge(connection, settings, who, row, slot, label)
    if reason == KNOWN:
        return Receipt(task_name, name, label, reason, row.confidence)
    if reason == LATE:
        take_again(connection, settings, who, row)
        row = queries.TASK.only(connection, of_task=row.id)
    code = classes.index(label)
    values = with_answer(settings, row, pairs, who.id, code)
    given = Given(row.id, who.id, code, now, seconds_of(slot, now))
    later(
        connection,
        given.written(settings.answers + 1),
        queries.SETTLE.with_(**values),
        queries.MORE_ANSWERS.with_(who=who.id, more=1),
        counted(answers=1),
    )
    return Receipt(task_name, name, label, reason, values["confidence"])


def with_answer(
    settings: Settings, row: TaskRow, pairs: Sequence[PairRow], who: int, label: int
) -> dict[str, Any]:
    """Compute the new state of a task after an answer."""
    known = [
        (ANSWERED, label, p.quality, p.habits)
        if p.worker_id == who
        else (p.state, p.label, p.quality, p.habits)
        for p in pairs
    ]
    return settled(settings, row, known)


def judge(
    connection: Connection,
    settings: Settings,
    who: WorkerRow,
    row: TaskRow,
    slot: PairRow | None,
    label: str,
) -> str:
    """Decide whether an answer can be taken: its slot is open, or lapsed and still free.

    Raises
    ------
    Refused
        If not.
    """
    if slot is None:
        raise Refused(f"task {row.name!r} was not given to worker {who.name!r}")
    if slot.state == ANSWERED and slot.label is not None:
        before = json.loads(settings.classes)[slot.label]
        if before == label:
            return KNOWN
        raise Refused(
            f"worker {who.name!r} answered task {row.name!r} with {before!r} before, now {label!r}"
        )
    if slot.state in (ISSUED, LEASED):
        return ACCEPTED
    if taken := _no_room(settings, who) or _task_is_taken(connection, settings, who, row):
        raise Refused(
            f"the slot of worker {who.name!r} on task {row.name!r} was given up, and {taken}"
        )
    return LATE


def take_again(connection: Connection, settings: Settings, who: WorkerRow, row: TaskRow) -> None:
    """Return its slot to a pair whose slot had lapsed."""
    later(connection, queries.RENEW.with_(of_task=row.id, who=who.id, until=0.0))
    missing = settle(connection, settings, row)
    later(connection, queries.ONE_SLOT_MORE.with_(who=who.id))
    count(connection, slots=1, committed=who.cost, missing=missing)


def write_answers(connection: Connection, settings: Settings, answers: Sequence[Given]) -> None:
    """Write answers into open slots, and settle their tasks."""
    for place, one in enumerate(answers, start=settings.answers + 1):
        later(connection, one.written(place))
    settle_each(connection, settings, [one.task for one in answers])
    for i, more in sorted(Counter(one.worker for one in answers).items()):
        later(connection, queries.MORE_ANSWERS.with_(who=i, more=more))
    count(connection, answers=len(answers))


def release(connection: Connection, settings: Settings, number: int) -> int:
    """Release the unanswered pairs of a round; return their number."""
    lapsed = queries.RELEASE(connection, number=number)
    free(connection, settings, lapsed)
    return len(lapsed)


def the_worker(found: Sequence[WorkerRow], name: str) -> WorkerRow:
    """Return the worker that was found.

    Raises
    ------
    Refused
        If there is none of this name.
    """
    if not found:
        raise Refused(f"there is no worker {name!r} in this campaign")
    return found[0]


def _is_held_up(settings: Settings, who: WorkerRow) -> str:
    """Whether the operator lets this worker have no task now, and why; or ''."""
    if settings.paused:
        return "the campaign is paused"
    return "the operator gives this worker no more tasks" if who.blocked else ""


def _no_room(settings: Settings, who: WorkerRow) -> str:
    """Which cap leaves no room for one more label of this worker, or ''."""
    if who.slots >= who.max_tasks:
        return f"the worker has their {who.max_tasks} tasks"
    if settings.budget is not None and settings.slots >= settings.budget:
        return f"the budget of {settings.budget} labels is used up or out with workers"
    if settings.money is not None and settings.committed + who.cost > settings.money:
        return "the money is used up or out with workers"
    return ""


def _task_is_taken(connection: Connection, settings: Settings, who: WorkerRow, row: TaskRow) -> str:
    """Why a task has no room for this worker, or ''."""
    if row.slots >= row.max_workers:
        return f"the task has its {row.max_workers} workers"
    if not row.needy and is_reserved(settings) and is_needed(connection, settings):
        return "the rest of the budget is for tasks with too few workers"
    if who.team and queries.TEAM_MATE(connection, of_task=row.id, of_team=who.team):
        return f"another worker of group {who.team!r} has the task"
    return ""


def _below_gate(settings: Settings, who: WorkerRow) -> str:
    if settings.per_pair:
        return ""
    if who.quality is None:
        return "nothing is known of the worker's quality"
    if who.quality < settings.gate:
        return f"the worker's quality {who.quality:.3f} is below the gate of {settings.gate:g}"
    return ""


def _best_task(
    connection: Connection, settings: Settings, who: WorkerRow, found: TaskRow | None
) -> TaskRow | None:
    """Find the open task of largest uncertainty x skill that the worker has not had.

    `found` is it by itself. If only tasks that lack workers may be given, it is another. Where
    labels must add something, tasks to which nobody who is left adds that are set aside until a
    worker has room again, or anything of the task changes.
    """
    if is_reserved(settings):
        needy = _search(connection, settings, who, only_needy=True)
        if needy is not None or is_needed(connection, settings):
            return needy
    while found is not None and not _is_worth(connection, settings, found):
        later(connection, queries.SET_ASIDE.with_(of_task=found.id))
        found = _search(connection, settings, who, only_needy=False)
    return found


def _search(
    connection: Connection, settings: Settings, who: WorkerRow, *, only_needy: bool
) -> TaskRow | None:
    search = queries.SEARCHES[bool(settings.per_pair), only_needy]
    return search.first(connection, called=who.name)


def _is_worth(connection: Connection, settings: Settings, row: TaskRow) -> bool:
    """Whether labels of those who may still have the task add what they must.

    A task is wanted by what the best whom the gate lets in would add. They may be at their cap, be
    blocked, have had it, or be in a group that has.
    """
    if settings.least_gain is None or row.needy:
        return True
    is_left = queries.LEFT[bool(settings.per_pair)]
    left = is_left.only(connection, of_task=row.id, gate=settings.gate)
    n_classes = len(json.loads(settings.classes))
    low, high = left.low or 0.0, left.high or 0.0
    best = max(high, 1.0 - low) if n_classes == 2 else high
    slots = row.max_workers - row.answers
    room = min(slots, left.workers + row.slots - row.answers)
    if best >= (settings.best or 0.0) and room >= min(slots, LOOK_AHEAD):
        return True
    pairs = [
        (p.state, p.label, p.quality, p.habits) for p in queries.PAIRS(connection, of_task=row.id)
    ]
    return judged(settings, row, pairs).is_worth(settings, best, room)


def _is_for_gold(settings: Settings, who: WorkerRow, share: float) -> bool:
    """Whether gold is due: by chance, so that nobody can count up to it, from the store alone."""
    if is_reserved(settings):
        return False
    moment = f"{settings.seed} {settings.revision} {who.name}".encode()
    key = (settings.secret or "").encode()[:64]
    drawn = hashlib.blake2b(moment, key=key, digest_size=8).digest()
    return int.from_bytes(drawn) < share * 2.0**64


def _gold_task(connection: Connection, who: WorkerRow) -> TaskRow | None:
    """Find gold that the worker has not had, or None."""
    return gold.SEARCH.first(connection, called=who.name)


def _take(
    connection: Connection, settings: Settings, who: WorkerRow, chosen: TaskRow, now: float
) -> None:
    """Lease the task: its slot, what it is expected to leave uncertain, and the counters."""
    n_classes = len(json.loads(settings.classes))
    quality = known_or_nothing(chosen.quality if settings.per_pair else who.quality, n_classes)
    slots = chosen.slots + 1
    left = chosen.uncertainty / (1.0 if chosen.slots else before_first(settings))
    lease = queries.NEW_LEASE if chosen.before is None else queries.LEASE
    later(
        connection,
        lease.with_(of_task=chosen.id, who=who.id, until=now + settings.lease_seconds, now=now),
        queries.TAKE.with_(
            of_task=chosen.id,
            uncertainty=left * affinity(quality, n_classes),
            **openness(settings, chosen, slots, chosen.confidence),
        ),
        queries.ONE_SLOT_MORE.with_(who=who.id),
        counted(slots=1, committed=who.cost, missing=missing_more(chosen, slots)),
    )


def free(connection: Connection, settings: Settings, lapsed: Sequence[FreedPair]) -> None:
    """Take slots that were given up off their workers and the campaign; settle their tasks."""
    if lapsed:
        missing = settle_each(connection, settings, [row.task_id for row in lapsed])
        workers = sorted(row.worker_id for row in lapsed)
        less = [queries.ONE_SLOT_LESS.with_(who=i) for i in workers]
        freed = [row for (row,) in together(connection, *less)]
        if settings.least_gain is not None and any(row.was_full for row in freed):
            later(connection, queries.RECALL.with_())
        cost = sum(row.cost for row in freed)
        count(connection, slots=-len(lapsed), committed=-cost, missing=missing)


def seconds_of(slot: PairRow | None, now: float) -> float | None:
    """Seconds since the task was given to the worker; None if that is not known."""
    took = now - slot.leased_at if slot is not None and slot.leased_at is not None else 0.0
    return took if took > 0.0 else None

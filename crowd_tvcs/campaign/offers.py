"""Online routing: the task that a worker gets next, and its lease."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowd_tvcs.belief.constants import LOOK_AHEAD
from crowd_tvcs.belief.uncertainty import affinity
from crowd_tvcs.campaign.answer_kinds.kind import Preference, kind_of
from crowd_tvcs.campaign.leases import free, no_room, the_one
from crowd_tvcs.campaign.store import gold, queries
from crowd_tvcs.campaign.store.rows import Settings, TaskRow, WorkerRow
from crowd_tvcs.campaign.store.statements import Call, later, run_together
from crowd_tvcs.campaign.tasks import (
    before_first,
    counted,
    fewest_first,
    is_needed,
    is_reserved,
    known_or_nothing,
    missing_more,
    openness,
    task_posterior,
)
from tvcs_core.files.display import plural

RENEWED, NOTHING_LEFT = "their open lease, renewed", "no task is left for this worker"


@dataclass(frozen=True)
class NextTask:
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


class GoldPolicy(NamedTuple):
    """When a worker gets gold: `share` of the time, and before anything else until `first` is had.

    `first` is a number of gold tasks, answered here or before.
    """

    share: float = 0.0
    first: int = 0


NO_GOLD = GoldPolicy()


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
    policy: GoldPolicy = NO_GOLD,
) -> NextTask:
    """Give the worker their open lease again, or the task of largest uncertainty x skill.

    By the policy they get gold instead, the first of it whatever their quality is by then. The
    caller holds the lock on the campaign; `found` answers `before_offer`.
    """
    lapsed, workers, best = found
    if lapsed:
        free(connection, settings, lapsed)
        again = before_offer(name, now, bool(settings.per_pair))[1:]
        (settings,), workers, best = run_together(connection, queries.SETTINGS.with_(), *again)
    who = the_one("worker", workers, name)
    expires = now + settings.lease_seconds
    if who.lease is not None:
        later(connection, queries.RENEW.with_(of_task=who.lease, who=who.id, until=expires))
        return NextTask(who.lease_name, RENEWED, max(expires, who.lease_until or 0.0))
    if settings.paused:
        return NextTask(None, "the campaign is paused")
    if who.blocked:
        return NextTask(None, "the operator gives this worker no more tasks")
    if settings.rounds and settings.answer_kind == Preference.name:
        for planned in queries.ISSUED_TO(connection, called=name):
            given = {"of_task": planned.id, "who": who.id, "until": expires, "now": now}
            later(connection, queries.LEASE.with_(**given))
            return NextTask(planned.name, "the pair that the plan gave them", expires)
    if reason := no_room(settings, who):
        return NextTask(None, reason)
    chosen = None
    if policy.first and not is_reserved(settings):
        had = gold.N_HAD.only(connection, called=who.name).tasks
        chosen = gold.SEARCH.first(connection, called=who.name) if had < policy.first else None
    if chosen is None and (reason := _below_gate(settings, who)):
        return NextTask(None, reason)
    if chosen is None:
        chosen = _best_task(connection, settings, who, best[0] if best else None)
        if chosen is None:
            return NextTask(None, NOTHING_LEFT)
        if policy.share and _is_for_gold(settings, who, policy.share):
            chosen = gold.SEARCH.first(connection, called=who.name) or chosen
    left = chosen.uncertainty / (1.0 if chosen.slots else before_first(settings))
    _take(connection, settings, who, chosen, left, now)
    if kind_of(settings).has_classes:
        reason = f"uncertainty {left:.4f}, confidence {chosen.confidence:.4f}"
    else:
        reason = f"{plural(chosen.slots, 'worker has', 'workers have')} it so far"
    return NextTask(chosen.name, reason, expires)


def _below_gate(settings: Settings, who: WorkerRow) -> str:
    if settings.per_pair:
        return ""
    if who.quality is None:
        return "nothing is known of the worker's quality"
    if who.quality < settings.min_quality:
        least = settings.min_quality
        return f"the worker's quality {who.quality:.3f} is below the minimum of {least:g}"
    return ""


def _best_task(
    connection: Connection, settings: Settings, who: WorkerRow, found: TaskRow | None
) -> TaskRow | None:
    """Find the open task of largest uncertainty x skill that the worker has not had.

    `found` is that task without further conditions. If only tasks that lack workers may be given,
    it is another. If labels must add something, tasks to which no remaining worker adds that are
    set aside, until a worker has room again or the task changes.
    """
    per_pair = bool(settings.per_pair)
    if is_reserved(settings):
        needy = queries.SEARCHES[per_pair, True].first(connection, called=who.name)
        if needy is not None or is_needed(connection, settings):
            return needy
    while found is not None and not _is_worth(connection, settings, found):
        later(connection, queries.SET_ASIDE.with_(of_task=found.id))
        found = queries.SEARCHES[per_pair, False].first(connection, called=who.name)
    return found


def _is_worth(connection: Connection, settings: Settings, row: TaskRow) -> bool:
    """Whether labels of the remaining workers add the required gain.

    A task is wanted for the gain of the best worker above the minimum quality. Such workers may be
    at their cap, be blocked, have had the task, or be in a group that has had it.
    """
    if settings.min_gain is None or row.needy:
        return True
    is_left = queries.LEFT[bool(settings.per_pair)]
    left = is_left.only(connection, of_task=row.id, min_quality=settings.min_quality)
    low, high = left.low or 0.0, left.high or 0.0
    best = max(high, 1.0 - low) if settings.n_classes == 2 else high
    slots = row.max_workers - row.answers
    room = min(slots, left.workers + row.slots - row.answers)
    if best >= (settings.best or 0.0) and room >= min(slots, LOOK_AHEAD):
        return True
    pairs = queries.PAIRS(connection, of_task=row.id)
    return task_posterior(settings, row, pairs).is_worth(settings, best, room)


def _is_for_gold(settings: Settings, who: WorkerRow, share: float) -> bool:
    """Whether gold is due: by chance, so that nobody can count up to it, from the store alone."""
    if is_reserved(settings):
        return False
    moment = f"{settings.seed} {settings.revision} {who.name}".encode()
    key = (settings.secret or "").encode()[:64]
    drawn = hashlib.blake2b(moment, key=key, digest_size=8).digest()
    return int.from_bytes(drawn) < share * 2.0**64


def _take(
    connection: Connection,
    settings: Settings,
    who: WorkerRow,
    chosen: TaskRow,
    left: float,
    now: float,
) -> None:
    """Lease the task: its slot, the counters, and its uncertainty, which is `left` before."""
    slots, kind = chosen.slots + 1, kind_of(settings)
    if kind.has_classes:
        n_classes = len(kind.labels)
        quality = known_or_nothing(chosen.quality if settings.per_pair else who.quality, n_classes)
        uncertainty = left * affinity(quality, n_classes)
    else:
        uncertainty = fewest_first(settings, chosen.id, slots)
    lease = queries.NEW_LEASE if chosen.before is None else queries.LEASE
    later(
        connection,
        lease.with_(of_task=chosen.id, who=who.id, until=now + settings.lease_seconds, now=now),
        queries.TAKE.with_(
            of_task=chosen.id,
            uncertainty=uncertainty,
            **openness(settings, chosen, slots, chosen.confidence),
        ),
        queries.MORE_SLOTS.with_(who=who.id, more=1),
        counted(slots=1, committed=who.cost, missing=missing_more(chosen, slots)),
    )

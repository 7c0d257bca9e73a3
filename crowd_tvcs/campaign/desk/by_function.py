"""Claims and answers by the database's own functions, where it has some: same rules, one call each.

What these do not take they leave to the statements of `leases`, which know all rules.
"""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from crowd_tvcs.campaign import leases
from crowd_tvcs.campaign.belief import FIRST
from crowd_tvcs.campaign.leases import Offer, Receipt
from crowd_tvcs.campaign.store import functions
from crowd_tvcs.campaign.store.schema import ISSUED, LEASED
from crowd_tvcs.campaign.store.store import Store

TRIES = 3
"""How often an answer is computed anew because its task changed meanwhile."""


def _part(fields: Sequence[str]) -> Any:
    return namedtuple("_Part", fields)


_SETTINGS = _part(functions.SETTINGS)
_TASK = _part((*functions.TASK, "seen"))
_PAIR = _part((*functions.PAIR, "quality", "habits"))
_TASK_AT = len(functions.SETTINGS) + 1
_PAIR_AT = _TASK_AT + len(functions.TASK) + 1


def claim(store: Store, name: str, now: float) -> Offer | None:
    """Lease a task to a worker; None where the statements must do it."""
    if not store.has_functions:
        return None
    with store.at_once() as connection:
        return _offer(functions.CLAIM.first(connection, called=name, now=now, first=FIRST))


def _offer(found: Any) -> Offer | None:
    if found.outcome == "leased":
        return Offer(found.task, leases.why(found.uncertainty, found.confidence), found.until)
    if found.outcome == "renewed":
        return Offer(found.task, leases.RENEWED, found.until)
    return Offer(None, leases.NOTHING_LEFT) if found.outcome == "none" else None


def submit(
    store: Store, answer: tuple[str, str, str], now: float, *, and_next: bool = False
) -> tuple[Receipt, Offer | None] | None:
    """Write an answer (worker, task, label) down on the disk; None where the statements must do it.

    With `and_next` the worker is leased their next task too, unless the statements must do that.
    """
    if not store.has_functions:
        return None
    called = answer[0] if and_next else None
    with store.at_once() as connection:
        for _ in range(TRIES):
            computed = _computed(connection, answer, now)
            if computed is None:
                return None
            done = functions.ANSWER.first(connection, called=called, first=FIRST, **computed)
            if done.is_done:
                name, task, label = answer
                receipt = Receipt(task, name, label, leases.ACCEPTED, computed["confidence"])
                return receipt, _offer(done)
    return None


def _computed(
    connection: Connection, answer: tuple[str, str, str], now: float
) -> dict[str, Any] | None:
    """What an answer to an open slot changes; None for any other answer."""
    name, task_name, label = answer
    rows = functions.SEEN(connection, called=name, of_task=task_name)
    who, settings = rows[0].who, _SETTINGS._make(rows[0][: _TASK_AT - 1])
    row = _TASK._make(rows[0][_TASK_AT:_PAIR_AT])
    pairs = [_PAIR._make(cells[_PAIR_AT:]) for cells in rows]
    classes = json.loads(settings.classes)
    slot = next((p for p in pairs if p.worker_id == who), None)
    if who is None or slot is None or label not in classes or slot.state not in (ISSUED, LEASED):
        return None
    code = classes.index(label)
    values = leases.with_answer(settings, row, pairs, who, code)
    took = leases.seconds_of(slot, now)
    return values | {"who": who, "seen": row.seen, "given": code, "at": now, "took": took}

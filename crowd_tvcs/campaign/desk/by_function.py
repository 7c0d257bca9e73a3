"""Claims and answers by the database's own functions, where it has some: same rules, one call each.

What these do not take they leave to the statements of `leases`, which know all rules.
"""

from __future__ import annotations

import json
from collections import namedtuple
from contextlib import suppress
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from crowd_tvcs.campaign import leases
from crowd_tvcs.campaign.belief import FIRST, is_due_now
from crowd_tvcs.campaign.leases import Offer, Receipt
from crowd_tvcs.campaign.store import functions
from crowd_tvcs.campaign.store.errors import StoreError
from crowd_tvcs.campaign.store.schema import ISSUED, LAPSED, LEASED
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.tasks import missing_more, settled

TRIES = 4
"""How often an answer is computed, because its task may have changed meanwhile."""
KEPT = 4096
"""For so many open leases is kept what their answers will be judged by."""
TIDIED = 1000
"""After so many answers the tables are tidied, in a large campaign after about a tenth of all."""


class Done(NamedTuple):
    """What became of an answer, the next task, and whether the model is to be fitted anew."""

    receipt: Receipt
    offer: Offer | None
    is_due: bool


def claim(store: Store, name: str, now: float) -> Offer | None:
    """Lease a task to a worker; None where the statements must do it."""
    if not store.has_functions:
        return None
    with store.at_once() as connection:
        found = functions.NEXT(connection, called=name, at=now, first=FIRST)
        if found.outcome == "lapsed":
            over = read_each(functions.OVER(connection, now=now).seen)
            changes = json.dumps([_lapsed(one, now) for one in over])
            functions.LAPSE(connection, now=now, changes=changes)
            found = functions.NEXT(connection, called=name, at=now, first=FIRST)
    return _offer(store, name, found)


class Seen(NamedTuple):
    """What an answer is judged by, see `functions.SEEN`."""

    settings: Any
    who: int | None
    version: str
    task: Any
    pairs: list[Any]


_Task: Any = namedtuple("_Task", functions.TASK)  # type: ignore[misc]
_Pair: Any = namedtuple("_Pair", functions.PAIR)  # type: ignore[misc]


@lru_cache(maxsize=64)
def _settings(line: str, n_workers: int | None) -> Any:
    """Read the settings of a campaign, which are the same for most answers."""
    return SimpleNamespace(**json.loads(line), n_workers=n_workers)


def read(told: str) -> Seen:
    """Read what `functions.SEEN`, or a claim, tells."""
    settings, _, rest = told.partition("\n")
    return _seen(settings, *json.loads(rest))


def read_each(told: str) -> list[Seen]:
    """Read what `functions.OVER` tells."""
    settings, _, rest = told.partition("\n")
    return [_seen(settings, *one) for one in json.loads(rest)]


def _seen(
    settings: str,
    who: int | None,
    version: str,
    task: list[Any],
    pairs: list[list[Any]],
    n_workers: int | None,
) -> Seen:
    those = [_Pair(*pair) for pair in pairs]
    return Seen(_settings(settings, n_workers), who, version, _Task(*task), those)


def _lapsed(found: Any, now: float) -> dict[str, Any]:
    """Compute what follows for a task from its leases that are over."""
    over = [p for p in found.pairs if p.state == LEASED and p.expires <= now]
    pairs = [(LAPSED if p in over else p.state, p.label, p.quality, p.habits) for p in found.pairs]
    values = settled(found.settings, found.task, pairs)
    return values | {
        "workers": [p.worker_id for p in over],
        "missing": missing_more(found.task, values["slots"]),
        "version": found.version,
    }


def _offer(store: Store, name: str, found: Any) -> Offer | None:
    if found.outcome == "none":
        return Offer(None, leases.NOTHING_LEFT)
    if found.outcome not in ("leased", "renewed"):
        return None
    if len(store.seen) >= KEPT:
        store.seen.clear()
    store.seen[name, found.task] = found.seen
    is_new = found.outcome == "leased"
    reason = leases.why(found.uncertainty, found.confidence) if is_new else leases.RENEWED
    return Offer(found.task, reason, found.until)


def submit(
    store: Store, answer: tuple[str, str, str], now: float, *, and_next: bool = False
) -> Done | None:
    """Write an answer (worker, task, label) down on the disk; None where the statements must do it.

    With `and_next` the worker is leased their next task too, unless the statements must do that.
    """
    if not store.has_functions:
        return None
    name, task, label = answer
    seen = store.seen.pop((name, task), None)
    with store.at_once() as connection:
        for _ in range(TRIES):
            if seen is None:
                seen = functions.SEEN(connection, called=name, of_task=task).seen
            found = read(seen)
            computed = _computed(found, label, now)
            if computed is None:
                return None
            if and_next:
                done = functions.ANSWER_AND_NEXT(connection, called=name, first=FIRST, **computed)
            else:
                done = functions.ANSWER(connection, **computed)
            if done.place is not None:
                if is_to_tidy(done.place):
                    _tidy(store)
                receipt = Receipt(task, name, label, leases.ACCEPTED, computed["confidence"])
                due = is_due_now(found.settings.dependence, done.place)
                return Done(receipt, _offer(store, name, done) if and_next else None, due)
            seen = None
    return None


def is_to_tidy(place: int) -> bool:
    """Whether the tables are to be tidied after an answer: its work grows as the tables do."""
    return place % max(TIDIED, 1 << max(0, place.bit_length() - 4)) == 0


def _tidy(store: Store) -> None:
    with suppress(StoreError), store.outside() as connection:  # the answer is taken in any case
        functions.tidy(connection)


def _computed(found: Any, label: str, now: float) -> dict[str, Any] | None:
    """Compute what an answer to an open slot changes; None for any other answer."""
    slot = next((p for p in found.pairs if p.worker_id == found.who), None)
    classes = json.loads(found.settings.classes)
    if slot is None or slot.state not in (ISSUED, LEASED) or label not in classes:
        return None
    code = classes.index(label)
    values = leases.with_answer(found.settings, found.task, found.pairs, found.who, code)
    took = leases.seconds_of(slot, now)
    this = {"who": found.who, "version": found.version, "given": code}
    return values | this | {"at": now, "took": took}

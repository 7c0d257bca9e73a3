"""Seats of people who sign up by themselves: each person one, under an id that others gave them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from crowd_tvcs.answers.rows import COST_RANGE
from crowd_tvcs.campaign.desk.access import Links, hashed
from crowd_tvcs.campaign.desk.actions import write_audit
from crowd_tvcs.campaign.entries import Worker
from crowd_tvcs.campaign.leases import RejectedError
from crowd_tvcs.campaign.store import queries
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.schema import access, worker

SECOND_SEAT = (
    "this id has a seat already: go on in the browser where you began, or ask the person who sent "
    "you for a link of your own"
)


@dataclass(frozen=True)
class SeatRules:
    """Rules for people who sign up.

    Attributes
    ----------
    is_signed
        Whether an id needs the signature of `sign_id`.
    seats
        Most people who sign up; None for no limit.
    cost
        Price of a label of each; None for nothing.
    """

    is_signed: bool
    seats: int | None = None
    cost: float | None = None


def check_seats(settings: Settings, rules: SeatRules) -> None:
    """Refuse a campaign that people cannot sign up to."""
    if settings.source != "gold":
        raise ValueError(
            "people who sign up are unknown, so the campaign must estimate qualities from gold: "
            "make it with campaign init --gold, without --quality or --kinds"
        )
    if rules.cost is not None and not 0.0 <= rules.cost < COST_RANGE[1]:
        raise ValueError(
            f"--label-cost must be from 0 to below {COST_RANGE[1]:.0f}, found {rules.cost}"
        )
    if settings.money is not None and rules.cost is None:
        raise ValueError("the campaign has a limit of money, so --label-cost must be given")


def is_seated(links: Links, name: str) -> bool:
    """Return whether there is a worker of this name."""
    with links.store.read() as (connection, _):
        return bool(queries.WORKER(connection, called=name))


def take_seat(links: Links, name: str, rules: SeatRules, *, consent: str, now: float) -> str:
    """Give a person a seat and return the token of their link.

    The caller has checked the id, and its signature where ids are signed. Such an id is let in
    again, unless its links were revoked.

    Parameters
    ----------
    consent
        Text that the person agreed to; the audit keeps its hash.

    Raises
    ------
    RejectedError
        If the id has a seat, its links were revoked, or all seats are taken.
    """
    token = links.new_token()
    with links.store.write() as (connection, settings, _):
        row = queries.WORKER.first(connection, called=name)
        if row is None:
            who = _add_person(connection, settings, name, rules)
        else:
            who = row.id
            _refuse_second(connection, who, rules)
        if row is None or row.joined is None:
            change = update(worker).where(worker.c.id == who)
            connection.execute(change.values(joined=now))
        made = {"worker_id": who, "token_hash": hashed(token), "made": now}
        connection.execute(insert(access).values(made))
        text = hashlib.sha256(consent.encode()).hexdigest()[:16] if consent else "no text"
        write_audit(connection, name, "sign up", None, f"consent {text}", now=now)
    return token


def _refuse_second(connection: Connection, who: int, rules: SeatRules) -> None:
    if not rules.is_signed:
        raise RejectedError(SECOND_SEAT)
    revoked = access.c.revoked.is_not(None)
    is_out = select(access.c.id).where(access.c.worker_id == who, revoked).limit(1)
    if connection.scalar(is_out) is not None:
        raise RejectedError("your link was withdrawn; ask the person who sent it for a new one")


def _add_person(connection: Connection, settings: Settings, name: str, rules: SeatRules) -> int:
    """Add a worker of whom nothing is known but how usual people, or this crowd, are."""
    from crowd_tvcs.campaign.estimates import estimate_newcomer
    from crowd_tvcs.campaign.ingest.additions import add_workers

    if rules.seats is not None:
        joined = select(func.count()).select_from(worker).where(worker.c.joined.is_not(None))
        if connection.execute(joined).scalar_one() >= rules.seats:
            raise RejectedError("all seats are taken; thank you for your interest")
    add_workers(connection, settings, [Worker(name, cost=rules.cost)])
    estimate_newcomer(connection, settings, name)
    queries.RECALL(connection)
    return int(queries.WORKER.only(connection, called=name).id)

"""Pages of workers: a list, one worker with their answers and pay, and the table of payouts."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crowd_tvcs.campaign.change.payouts import PAYOUT_COLUMNS, Payout
from crowd_tvcs.campaign.desk import details
from crowd_tvcs.campaign.desk.worker_activity import WorkerActivity, list_worker_activity
from crowd_tvcs.serve.control.accounts import ACT, PAY
from crowd_tvcs.serve.control.door import Door, Name, Short, Token, csv_answer
from crowd_tvcs.serve.control.listing import Choice, listing_of, path_of
from crowd_tvcs.serve.control.settings import read_number

SHOWN: dict[str, Callable[[WorkerActivity], bool]] = {
    "all": lambda one: True,
    "with a task": lambda one: one.open > 0,
    "without answers": lambda one: one.answers == 0,
    "too fast": lambda one: one.is_hasty,
    "blocked": lambda one: one.blocked,
    "without a link": lambda one: one.links == 0,
}
"""Conditions on the workers of a list, by name."""
LAST = float("inf")
ORDERS: dict[str, Callable[[WorkerActivity], Any]] = {
    "most answers": lambda one: -one.answers,
    "fewest answers": lambda one: one.answers,
    "name": lambda one: one.name,
    "least skill": lambda one: LAST if one.quality is None else one.quality,
    "most skill": lambda one: LAST if one.quality is None else -one.quality,
    "least agreement": lambda one: LAST if one.agreement is None else one.agreement,
    "most too fast": lambda one: -one.fast,
    "last seen": lambda one: LAST if one.last_seen is None else -one.last_seen,
}
"""Orders of a list of workers, by name."""


def add_people(routes: APIRouter, door: Door) -> None:
    """Add the list, the page of a worker, and its forms."""
    campaign = door.served.campaign
    store = campaign.store

    @routes.get("/people")
    def people(request: Request) -> Response:
        door.session(request)
        wanted = Choice.of(request.query_params, list(SHOWN), list(ORDERS))
        sought = wanted.search.casefold()
        found = [
            one
            for one in list_worker_activity(store)
            if sought in one.name.casefold() and SHOWN[wanted.show](one)
        ]
        found.sort(key=lambda one: (ORDERS[wanted.order](one), one.name))
        listing = listing_of("/operator/people", wanted, len(found), details.ROWS)
        start = details.ROWS * (wanted.page - 1)
        rows = found[start : start + details.ROWS]
        return door.page(request, "people.html.j2", rows=rows, listing=listing)

    @routes.get("/person")
    def person(request: Request, name: str) -> Response:
        door.session(request)
        most, answers, remarks = details.details_of_worker(store, name)
        found = next(one for one in list_worker_activity(store) if one.name == name)
        pay = next(one for one in campaign.payouts() if one.worker == name)
        shown = {"found": found, "pay": pay, "most": most, "answers": answers, "remarks": remarks}
        return door.page(request, "person.html.j2", **shown)

    @routes.post("/person-cap")
    def cap(
        request: Request,
        name: Name,
        form: Token,
        most: Short = "",
    ) -> Response:
        door.form(request, form, ACT)
        wanted = {name: read_number("the most tasks", most, int)}
        found = campaign.change(worker_caps=wanted)
        changes = "; ".join(found) or "nothing was changed"
        return door.done(changes, path_of("/operator/person", name=name))

    @routes.get("/payout.csv")
    def payout(request: Request) -> Response:
        door.session(request, PAY)
        return _table(campaign.payouts())

    @routes.post("/pay")
    def pay(request: Request, form: Token) -> Response:
        door.form(request, form, PAY)
        found = campaign.payouts()
        campaign.mark_paid(found)
        return _table(found)


def _table(found: list[Payout]) -> Response:
    return csv_answer("payout", PAYOUT_COLUMNS, [one.row for one in found])

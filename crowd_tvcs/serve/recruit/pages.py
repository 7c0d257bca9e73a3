"""The page of consent, and the seat that it gives; ids in addresses are input from strangers."""

import secrets
import time
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from crowd_tvcs.campaign import RejectedError
from crowd_tvcs.campaign.desk.person_ids import check_id, is_signed
from crowd_tvcs.campaign.desk.seats import SECOND_SEAT, is_seated, take_seat
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.limits import RateLimitError
from crowd_tvcs.serve.pages import address_of
from crowd_tvcs.serve.recruit.sign_up import KEY, SignUp
from crowd_tvcs.serve.turn.instructions import rendered
from crowd_tvcs.serve.worker import set_worker

JOIN_BYTES = 18
"""Of the cookie that ties a page of consent to its browser."""
JOIN_SECONDS = 3600
"""Seconds for which it is good."""
OTHER_SEAT = (
    "this browser has the seat of another person already: a person has one seat, so go on there"
)


def router(served: Served) -> APIRouter:
    """Return the pages on which people sign up; without sign-up there are none."""
    routes = APIRouter(include_in_schema=False)

    def sign_up() -> SignUp:
        if served.sign_up is None:
            raise HTTPException(404)
        return served.sign_up

    @routes.get("/join")
    def consent(request: Request) -> Response:
        rules = sign_up()
        _require_pace(served, request)
        given = {name: request.query_params.getlist(name) for name in rules.parameters}
        name, key = rules.id_of(given), request.query_params.get(KEY, "")
        if seated := _seat_of(served, request):
            _refuse_other(seated, name)
            return RedirectResponse(f"{served.root}/", status_code=303)
        _require_right(served, rules, name, key)
        cookie = request.cookies.get(served.cookies.join) or secrets.token_urlsafe(JOIN_BYTES)
        answer = served.page(
            "join.html.j2",
            consent=rendered(rules.consent, served.root) if rules.consent else "",
            name=name,
            key=key,
            form=served.form_token(f"{cookie} {name}"),
        )
        served.set_cookie(answer, served.cookies.join, cookie, JOIN_SECONDS)
        return answer

    @routes.post("/join")
    def join(
        request: Request,
        id: Annotated[str, Form(max_length=200)],
        form: Annotated[str, Form(max_length=400)],
        key: Annotated[str, Form(max_length=100)] = "",
    ) -> Response:
        rules, name = sign_up(), check_id(id)
        _require_pace(served, request)
        if seated := _seat_of(served, request):  # of a second click, or a second id
            _refuse_other(seated, name)
            return RedirectResponse(f"{served.root}/", status_code=303)
        cookie = request.cookies.get(served.cookies.join, "")
        if not cookie or not served.is_form_of(f"{cookie} {name}", form):
            raise RejectedError("this page has expired; open your link again")
        _require_right(served, rules, name, key)
        token = take_seat(served.links, name, rules, consent=rules.consent, now=time.time())
        answer = RedirectResponse(f"{served.root}/", status_code=303)
        answer.delete_cookie(served.cookies.join, path=served.root or "/")
        set_worker(served, answer, token)
        return answer

    return routes


def _require_pace(served: Served, request: Request) -> None:
    if wait := served.guesses.wait(address_of(request)):
        raise RateLimitError(wait)


def _seat_of(served: Served, request: Request) -> str | None:
    """Return the worker of the browser, if their link is good."""
    return served.links.holder(request.cookies.get(served.cookies.worker, ""))


def _refuse_other(seated: str, name: str) -> None:
    if seated != name:
        raise RejectedError(OTHER_SEAT)


def _require_right(served: Served, rules: SignUp, name: str, key: str) -> None:
    """Refuse an id without its signature, or one that has a seat where anybody may write it."""
    if rules.is_signed:
        if not is_signed(served.links.secret, name, key):
            raise RejectedError("this is no link that was made here; open the one you received")
    elif is_seated(served.links, name):
        raise RejectedError(SECOND_SEAT)

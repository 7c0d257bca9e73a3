"""A worker's pages: their task, its answer, skip, undo; images and sounds."""

import time
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Form, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from sqlalchemy import bindparam, select

from crowd_tvcs.campaign import Offer, Refused
from crowd_tvcs.campaign.desk import content
from crowd_tvcs.campaign.desk.access import hashed
from crowd_tvcs.campaign.store.schema import UNLIMITED
from crowd_tvcs.campaign.store.schema import worker as worker_table
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.pages import is_for_script, markdown, page

COOKIE = "tvcs_worker"
LASTS = 90 * 86400
"""Seconds that a browser keeps who its worker is."""
ASK_AGAIN = 15
"""Seconds after which a page without a task asks again."""

_PROGRESS = Statement(
    select(worker_table.c.answers, worker_table.c.max_tasks, worker_table.c.slots).where(
        worker_table.c.name == bindparam("called")
    )
)


class Stranger(Exception):
    """Somebody without a good link."""


class TooFast(Exception):
    """Somebody who asks too often."""

    def __init__(self, wait: float) -> None:
        super().__init__()
        self.wait = wait


def address_of(request: Request) -> str:
    """Where a request came from."""
    return request.client.host if request.client else ""


def require_pace(served: Served, request: Request, name: str) -> None:
    """Hold up who asks too often."""
    if wait := served.per_worker.wait(name):
        raise TooFast(wait)


def require_worker(served: Served, request: Request, token: str | None) -> str:
    """Return whose token this is.

    Raises
    ------
    Stranger, TooFast
        If it is nobody's; guesses are counted by address.
    """
    name = served.links.holder(token) if token else None
    if name is None:
        if token and (wait := served.guesses.wait(address_of(request))):
            raise TooFast(wait)
        raise Stranger
    require_pace(served, request, name)
    return name


def router(served: Served) -> APIRouter:
    """Return the pages of workers."""
    routes = APIRouter()
    campaign = served.campaign

    def who(request: Request) -> str:
        return require_worker(served, request, request.cookies.get(COOKIE))

    def checked(request: Request, form: str) -> str:
        name = who(request)
        if not served.is_form_of(request.cookies.get(COOKIE, ""), form):
            raise Refused("this page is too old: open your task again")
        return name

    def shown(request: Request, name: str, offer: Offer, said: str = "") -> Response:
        token = served.form_token(request.cookies.get(COOKIE, ""))
        template = "turn.html.j2" if is_for_script(request) else "worker.html.j2"
        return page(template, **_values(served, name, offer), form=token, said=said)

    @routes.get("/w/{token}", include_in_schema=False)
    def enter(request: Request, token: str) -> Response:
        require_worker(served, request, token)
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(
            COOKIE,
            token,
            httponly=True,
            samesite="lax",
            secure=served.is_secure,
            max_age=LASTS,
        )
        return answer

    @routes.get("/", include_in_schema=False)
    def turn(request: Request) -> Response:
        name = who(request)
        return shown(request, name, campaign.next(name))

    @routes.post("/answer", include_in_schema=False)
    def answer(
        request: Request,
        task: Annotated[str, Form()],
        label: Annotated[str, Form()],
        form: Annotated[str, Form()],
    ) -> Response:
        name = checked(request, form)
        _, offer = campaign.submit_and_next(name, task, label)
        if is_for_script(request):
            return shown(request, name, offer)
        return RedirectResponse("/", status_code=303)

    @routes.post("/skip", include_in_schema=False)
    def skip(
        request: Request,
        task: Annotated[str, Form()],
        form: Annotated[str, Form()],
        reason: Annotated[str, Form()] = "",
    ) -> Response:
        name = checked(request, form)
        campaign.skip(name, task, reason, address=hashed(address_of(request)))
        if is_for_script(request):
            return shown(request, name, campaign.next(name))
        return RedirectResponse("/", status_code=303)

    @routes.post("/undo", include_in_schema=False)
    def undo(request: Request, form: Annotated[str, Form()]) -> Response:
        name = checked(request, form)
        offer = campaign.undo(name, address=hashed(address_of(request)))
        if is_for_script(request):
            return shown(request, name, offer, "Your last answer is taken back.")
        return RedirectResponse("/", status_code=303)

    @routes.get("/media/{name:path}", include_in_schema=False)
    def media(request: Request, name: str) -> Response:
        if served.links.holder(request.cookies.get(COOKIE, "")) is None:
            raise Stranger
        try:
            return FileResponse(content.inside(served.media, name))
        except ValueError:
            return page("message.html.j2", 404, title="Not found", said="There is no such file.")

    return routes


class Progress(NamedTuple):
    """How far a worker is: ``task``, ``done``, ``paused`` or ``waiting``, and how many answers."""

    state: str
    answers: int
    most: int | None


def progress_of(served: Served, name: str, offer: Offer) -> Progress:
    """Say how far a worker is; the reasons of an offer are the operator's, and tell of others."""
    with served.campaign.store.read() as (connection, settings):
        row = _PROGRESS.first(connection, called=name)
        is_paused = bool(settings.paused)
    if offer.task is not None:
        state = "task"
    elif row.answers >= row.max_tasks:
        state = "done"
    else:
        state = "paused" if is_paused else "waiting"
    return Progress(state, row.answers, None if row.max_tasks == UNLIMITED else row.max_tasks)


def _values(served: Served, name: str, offer: Offer) -> dict[str, Any]:
    """What the page of a worker shows."""
    return {
        **progress_of(served, name, offer)._asdict(),
        "task": offer.task or "",
        "content": served.content_of(offer.task) if offer.task else None,
        "classes": served.classes,
        "minutes": max(1, round((offer.expires - time.time()) / 60)) if offer.expires else 0,
        "instructions": markdown(served.instructions) if served.instructions else "",
        "ask_again": ASK_AGAIN,
    }

"""HTTP API, version 1, for other tools: requests on behalf of a worker or the operator."""

import inspect
import time
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPBasic, HTTPBasicCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from crowd_tvcs.campaign import NextTask, TaskStatus
from crowd_tvcs.campaign.desk import figures
from crowd_tvcs.campaign.desk.actions import acting
from crowd_tvcs.campaign.desk.content import Content
from crowd_tvcs.serve.control.accounts import ACT, ANSWERS
from crowd_tvcs.serve.control.door import require_rights
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.pages import address_of
from crowd_tvcs.serve.worker import progress_of, require_worker

NAME = 1000
"""Largest number of characters of a name."""
CONTENT = "Image, audio and video are paths below /media/; those with _2 are a pair's other side."


def _without_zero(text: str) -> str:
    if "\0" in text:  # which PostgreSQL does not take
        raise ValueError("must have no character 0")
    return text


Text = Annotated[str, AfterValidator(_without_zero)]


class Answer(BaseModel):
    """Answer to a task."""

    task: Text = Field(max_length=NAME)
    label: Text = Field(max_length=NAME)


class Skip(BaseModel):
    """Task that a worker skips."""

    task: Text = Field(max_length=NAME)
    reason: Text = Field(default="", max_length=500)


class CurrentTask(BaseModel):
    """Current task of a worker.

    The state is ``task``, ``done``, ``paused``, ``waiting`` (there may be one later) or ``unknown``
    (the worker's quality is unknown, so there is none until the operator adds it).
    """

    state: str
    task: str | None
    expires: float | None
    content: Content | None = Field(description=CONTENT)
    kind: str = Field(description="class, scale, pairs or multilabel.")
    classes: list[str] = Field(
        description="What may be answered; of multilabel any of these with ; between, or none."
    )


class SubmitResponse(BaseModel):
    """Result of an answer, and the next task."""

    reason: str
    next: CurrentTask
    feedback: str | None = Field(
        default=None, description="The right label, where the desk shows it after an answer."
    )


class Error(BaseModel):
    """Reason for a refusal."""

    detail: str


ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": Error, "description": description}
    for code, description in {
        400: "The request cannot be read",
        401: "The token or password is missing or wrong",
        409: "The campaign refuses it",
        413: "The request is too large",
        429: "Too many requests: see Retry-After",
        503: "The store is unavailable: see Retry-After",
    }.items()
}


BEARER = HTTPBearer(auto_error=False, description="The token at the end of a worker's link.")
BASIC = HTTPBasic(
    auto_error=False, description="The operator's name (of a single one: any) and password."
)
PREFIX = "/api/v1"


def operator_router(served: Served) -> APIRouter:
    """Return the routes of the operator."""
    routes = APIRouter(prefix=PREFIX, responses=ERRORS, tags=["operator"])

    def operator(*rights: str) -> Any:
        async def check(
            request: Request, given: Annotated[HTTPBasicCredentials | None, Depends(BASIC)]
        ) -> None:
            if given is None or not await served.auth.check_password_async(
                given.password, address_of(request), given.username
            ):
                wanted = {"WWW-Authenticate": "Basic"}
                raise HTTPException(401, "give the operator's password", wanted)
            if (account := served.auth.account(given.username)) is not None:
                require_rights(account, rights)
                acting.set(account.actor)

        return Depends(check)

    @routes.get("/status", dependencies=[operator()])
    def status() -> figures.Figures:
        """Return the status of the campaign."""
        return figures.figures(served.campaign.store)

    @routes.get("/labels", dependencies=[operator(ANSWERS)])
    def labels() -> list[TaskStatus]:
        """Return the current label of every task; null without answers."""
        return served.campaign.review_tasks()

    @routes.post("/links", dependencies=[operator(ACT)])
    def links(workers: list[str]) -> dict[str, str]:
        """Make a new token for each of some workers."""
        return served.links.make(workers, now=time.time())

    return routes


def worker_router(served: Served) -> APIRouter:
    """Return the routes of workers, each served by one call in one thread."""
    campaign = served.campaign

    class Direct(APIRoute):
        """Route of a worker, documented like the others."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            return _handler(served, self.endpoint)

    routes = APIRouter(prefix=PREFIX, responses=ERRORS, tags=["worker"], route_class=Direct)
    Name = Annotated[str, Depends(BEARER)]  # for the description; `_handler` gives the name

    def turn(name: str, offer: NextTask) -> CurrentTask:
        return CurrentTask(
            state="task" if offer.task else progress_of(served, name, offer).state,
            task=served.name_of(offer.task) if offer.task else None,
            expires=offer.expires,
            content=served.content_for(offer.task, name) if offer.task else None,
            kind=served.kind.name,
            classes=served.classes,
        )

    @routes.post("/next")
    def next_task(name: Name) -> CurrentTask:
        """Lease a task, or return the one already leased."""
        return turn(name, campaign.next(name))

    @routes.post("/submit")
    def submit(answer: Answer, name: Name) -> SubmitResponse:
        """Submit an answer, and lease the next task; repeating the same answer changes nothing."""
        task = served.task_of(answer.task, name)
        receipt, offer = campaign.submit_and_next(name, task, answer.label)
        known = campaign.feedback(name, task)
        return SubmitResponse(reason=receipt.reason, next=turn(name, offer), feedback=known)

    @routes.post("/skip")
    def skip(what: Skip, name: Name) -> CurrentTask:
        """Skip a task for good, and lease the next one."""
        campaign.skip(name, served.task_of(what.task, name), what.reason)
        return turn(name, campaign.next(name))

    @routes.post("/undo")
    def undo(name: Name) -> CurrentTask:
        """Withdraw the last answer; its task is leased again."""
        return turn(name, campaign.undo(name))

    return routes


def _handler(
    served: Served, work: Callable[..., BaseModel]
) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """Return the handler of a worker's requests, with their name and the body as arguments."""
    models = {
        name: one.annotation
        for name, one in inspect.signature(work).parameters.items()
        if inspect.isclass(one.annotation) and issubclass(one.annotation, BaseModel)
    }

    def answer(request: Request, body: bytes) -> Response:
        scheme, token = get_authorization_scheme_param(request.headers.get("authorization"))
        name = require_worker(served, request, token if scheme.lower() == "bearer" else None)
        read = {key: _read(model, body) for key, model in models.items()}
        with served.unnamed():
            found = work(**read, name=name)
        return Response(found.model_dump_json(), media_type="application/json")

    async def handle(request: Request) -> Response:
        return await served.in_thread(answer, request, await request.body())

    return handle


def _read(model: type[BaseModel], body: bytes) -> BaseModel:
    """Read the body of a request."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        errors = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise RequestValidationError(errors) from None

"""Application of the server: all pages, and the format of every error."""

import asyncio
import json
import math
import os
import threading
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from crowd_tvcs.campaign import RejectedError, StoreError
from crowd_tvcs.campaign.desk.actions import write_audit
from crowd_tvcs.campaign.desk.figures import note_history
from crowd_tvcs.campaign.desk.gold import GATE_SECONDS, LEARN_SECONDS, Learner, learn_of_labels
from crowd_tvcs.campaign.store.errors import ConcurrentUpdateError, Damaged
from crowd_tvcs.campaign.store.server_lock import ServerLock
from crowd_tvcs.serve import api, operator, worker
from crowd_tvcs.serve.address import LOOPBACK
from crowd_tvcs.serve.control.door import NotLoggedInError
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.limits import (
    BodyLimitMiddleware,
    HeadersMiddleware,
    HostMiddleware,
    OriginMiddleware,
    PrefixMiddleware,
    RateLimitError,
)
from crowd_tvcs.serve.pages import HEADERS, is_for_script
from crowd_tvcs.serve.recruit import pages as recruit_pages
from crowd_tvcs.serve.sign_in import UnknownUserError, UserHeader, UserHeaderMiddleware
from crowd_tvcs.serve.turn.texts import carried
from crowd_tvcs.serve.worker import InvalidLinkError
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import message as tidy
from tvcs_core.files.display import quoted

MAX_BODY_BYTES = 64_000
"""Largest number of bytes of a request."""
RETRY_SECONDS = 5
"""Seconds after which to try again while the store is unavailable."""
BY_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
"""Headers of https responses: browsers use https only for a year."""
HISTORY_SECONDS = 10.0
"""Seconds between points of the curve of expected accuracy."""
STATIC = {"desk.css": "text/css", "worker.js": "text/javascript", "operator.js": "text/javascript"}


def create_app(served: Served, sign: ServerLock | None = None) -> FastAPI:
    """Return the application of one campaign, which renews the server's lock."""
    app = FastAPI(
        title="crowd-tvcs",
        version="1",
        docs_url=None,  # its pages would load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        redirect_slashes=False,  # which would trust the header Host
        lifespan=lambda _: _background(served, sign),
    )
    for router in (
        api.worker_router(served),
        worker.router(served),
        api.operator_router(served),
        operator.router(served),
        recruit_pages.router(served),
    ):
        app.include_router(router)
    _add_static(app)
    _add_errors(app, served)
    app.add_middleware(OriginMiddleware, keyed=served.auth.keyed)
    app.add_middleware(BodyLimitMiddleware, size=MAX_BODY_BYTES)
    app.add_middleware(HostMiddleware, url=served.public_url)
    app.add_middleware(HeadersMiddleware, headers=HEADERS, secure=BY_HTTPS)
    app.add_middleware(PrefixMiddleware, prefix=served.root)
    if served.user_header is not None:
        _add_sign_in(app, served, served.user_header)
    return app


def _add_sign_in(app: FastAPI, served: Served, rules: UserHeader) -> None:
    """Let the proxy name the person who signed in, and the source of requests."""

    def note(peer: str) -> None:
        print_message(f"the header {rules.name} from {peer} is ignored: that is not the proxy")
        source = served.auth.keyed(peer)
        with suppress(StoreError), served.campaign.store.write() as (connection, _, _):
            write_audit(connection, "desk", "ignored header", detail=rules.name, address=source)

    async def warn(peer: str) -> None:
        await asyncio.to_thread(note, peer)

    trusted = [*rules.addresses, *os.environ.get("FORWARDED_ALLOW_IPS", LOOPBACK[0]).split(",")]
    app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=trusted)
    app.add_middleware(UserHeaderMiddleware, rules=rules, warn=warn)  # sees who really asks


def static_bodies() -> dict[str, bytes]:
    """Read the files shared by all pages."""
    folder = files("crowd_tvcs.serve") / "static"
    return {name: (folder / name).read_bytes() for name in STATIC}


def _add_static(app: FastAPI) -> None:
    bodies = static_bodies()

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:  # needs no thread, all of which may be busy
        if name not in bodies:
            raise HTTPException(404)
        return Response(bodies[name], media_type=STATIC[name])


class Refusal(NamedTuple):
    """An error as a response; the texts of its page are English without `texts`."""

    status: int
    title: str
    message: str
    headers: Mapping[str, str] = {}
    texts: Mapping[str, str] | None = None


ERRORS = (
    RejectedError,
    ValueError,
    Damaged,
    json.JSONDecodeError,  # of what the store keeps as JSON; requests have none
    StoreError,
    InvalidLinkError,
    UnknownUserError,
    RateLimitError,
    RequestValidationError,
    HTTPException,
)
"""Errors that `_refusal_of` describes."""


def _refusal_of(error: Exception, t: Mapping[str, str]) -> Refusal:
    """Describe an error to a client, some in the texts `t` of their pages."""
    match error:
        case RejectedError():
            return Refusal(409, "Not accepted", str(error))
        case ConcurrentUpdateError():
            message = (
                "New answers arrived during planning, so no task was issued. Please try again."
            )
            return Refusal(409, "Not planned", message)
        case StoreError() | Damaged() | json.JSONDecodeError():
            return Refusal(503, t["moment"], t["away_text"], {"Retry-After": str(RETRY_SECONDS)}, t)
        case InvalidLinkError():
            return Refusal(401, t["log_in"], t["log_in_text"], {"WWW-Authenticate": "Bearer"}, t)
        case UnknownUserError():
            message = (
                f"You are signed in as {quoted(str(error))}, and nobody of this name is in the "
                "campaign. Ask the person who runs it to add you."
            )
            return Refusal(403, "Not in this campaign", message)
        case RateLimitError():
            wait = str(math.ceil(error.wait))
            message = t[error.text].format(seconds=wait)
            return Refusal(error.status, t["moment"], message, {"Retry-After": wait}, t)
        case RequestValidationError():
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            return Refusal(400, "Not readable", f"{place}: {first['msg']}")
        case HTTPException():
            message = "There is no such page." if error.status_code == 404 else str(error.detail)
            return Refusal(error.status_code, "Not done", message, error.headers or {})
    return Refusal(400, "Not possible", str(error))


def _add_errors(app: FastAPI, served: Served) -> None:
    """Add the format of every error; none needs a thread, all of which may be busy."""

    async def refused(request: Request, error: Exception) -> Response:
        path = request.url.path.removeprefix(served.root)
        is_of_worker = not path.startswith(("/api/", "/operator"))
        found = _refusal_of(error, served.texts if is_of_worker else carried())
        message, headers = tidy(found.message), dict(found.headers)
        if path.startswith("/api/") or is_for_script(request):
            return JSONResponse({"detail": message}, found.status, headers)
        texts = found.texts or carried()
        answer = served.page(
            "message.html.j2", found.status, title=found.title, message=message, t=texts
        )
        answer.headers.update(headers)
        return answer

    async def logged_out(request: Request, error: Exception) -> Response:
        if is_for_script(request):
            return JSONResponse({"detail": "log in"}, 401)
        return RedirectResponse(f"{served.root}/operator/login", status_code=303)

    for kind in ERRORS:
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(NotLoggedInError, logged_out)


@asynccontextmanager
async def _background(served: Served, sign: ServerLock | None) -> AsyncIterator[None]:
    """Record points of the curve and learn from new answers, every few seconds, while it runs."""
    over, store = threading.Event(), served.campaign.store
    served.campaign.learns_in_background = True

    def note() -> None:
        seconds = GATE_SECONDS if served.campaign.gold_first else LEARN_SECONDS
        learner, last = Learner(store, seconds), ""
        while not over.wait(min(HISTORY_SECONDS, seconds)):
            try:
                if sign is not None:
                    sign.renew()
                note_history(store, time.time())
                if served.is_mixed:
                    learner.learn(time.monotonic())
                learn_of_labels(store)
                last = ""
            except StoreError:
                pass  # unavailable: the next point will do
            except Exception as error:  # reported once; it may not recur
                if (found := f"{type(error).__name__}: {error}") != last:
                    print_message(f"the curve and gold are not updated now: {tidy(found)}")
                last = found

    thread = threading.Thread(target=note, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=1.0)

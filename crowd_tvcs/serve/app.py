"""The application: all pages, and what every error looks like."""

import json
import math
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Route

from crowd_tvcs.campaign import Refused, StoreError
from crowd_tvcs.campaign.desk.figures import note_history
from crowd_tvcs.campaign.desk.gold import Learner, learn_of_labels
from crowd_tvcs.campaign.store.errors import Damaged, Overtaken
from crowd_tvcs.campaign.store.presence import Presence
from crowd_tvcs.serve import api, operator, worker
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.limits import AtMost, Busy, Headed, Known, TooFast
from crowd_tvcs.serve.operator import LoggedOut
from crowd_tvcs.serve.pages import HEADERS, is_for_script
from crowd_tvcs.serve.prefix import Prefixed
from crowd_tvcs.serve.worker import Stranger
from tvcs_core.command.shell import say
from tvcs_core.files.shown import message as tidy

BODY = 64_000
"""Most bytes of a request."""
AWAY = 5
"""Seconds after which to try again when the store is away."""
BY_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
"""Of what goes by https: for a year browsers come by nothing else."""
HISTORY = 10.0
"""Seconds between points of the curve of expected accuracy."""
STATIC = {
    "desk.css": "text/css",
    "worker.js": "text/javascript",
    "operator.js": "text/javascript",
}


def create_app(served: Served, sign: Presence | None = None) -> FastAPI:
    """Return the application of one campaign, which keeps the sign of its desk hung out."""
    app = FastAPI(
        title="crowd-tvcs",
        version="1",
        docs_url=None,  # its pages would load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        redirect_slashes=False,  # to where the header Host says
        lifespan=lambda _: _noting(served, sign),
    )
    status, turns = api.routers(served)
    pages = worker.router(served)
    operators = operator.router(served)
    for router in (status, turns, operators, pages):
        app.include_router(router)
    app.router.routes[:0] = _first(turns, pages, operators)
    _add_static(app)
    _add_errors(app, served)
    app.add_middleware(AtMost, size=BODY)
    app.add_middleware(Known, url=served.public_url)
    app.add_middleware(Headed, headers=HEADERS, secure=BY_HTTPS)
    app.add_middleware(Prefixed, prefix=served.root)
    return app


def _first(turns: APIRouter, *pages: APIRouter) -> list[Route]:
    """Return the routes of a label and of passwords, to be looked at before all others.

    FastAPI looks through every router, and those inside, several times for each request: a third of
    what a request cost beside the store. The same routes stand in the routers too, for what is told
    of the API (`openapi_url`); there they are never reached.
    """
    calls = [route for route in turns.routes if isinstance(route, APIRoute)]
    found = [Route(one.path, one.get_route_handler(), methods=one.methods) for one in calls]
    return found + [one for some in pages for one in some.routes if type(one) is Route]


def static_bodies() -> dict[str, bytes]:
    """Read the files that all pages share."""
    folder = files("crowd_tvcs.serve") / "static"
    return {name: (folder / name).read_bytes() for name in STATIC}


def _add_static(app: FastAPI) -> None:
    bodies = static_bodies()

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:  # needs no thread, which others may have taken
        if name not in bodies:
            raise HTTPException(404)
        return Response(bodies[name], media_type=STATIC[name])


def _add_errors(app: FastAPI, served: Served) -> None:
    """Add what every error looks like; none needs a thread, which others may have taken."""

    def told(
        request: Request, status: int, title: str, said: str, headers: dict[str, str] | None = None
    ) -> Response:
        said = tidy(said)
        path = request.url.path.removeprefix(served.root)
        if path.startswith("/api/") or is_for_script(request):
            return JSONResponse({"detail": said}, status, headers)
        answer = served.page("message.html.j2", status, title=title, said=said)
        answer.headers.update(headers or {})
        return answer

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> Response:
        return told(request, 409, "Not taken", str(error))

    @app.exception_handler(ValueError)
    async def unfit(request: Request, error: ValueError) -> Response:
        return told(request, 400, "Not possible", str(error))

    @app.exception_handler(Overtaken)
    async def overtaken(request: Request, error: Overtaken) -> Response:
        said = "Answers came in while the round was planned, so nothing was issued; try again."
        return told(request, 409, "Not planned", said)

    @app.exception_handler(Damaged)
    @app.exception_handler(json.JSONDecodeError)  # what the store keeps as JSON; requests have none
    @app.exception_handler(StoreError)
    async def away(request: Request, error: Exception) -> Response:
        said = "The desk cannot reach its store now; nothing is lost: try again in a moment."
        return told(request, 503, "One moment", said, {"Retry-After": str(AWAY)})

    @app.exception_handler(Stranger)
    async def stranger(request: Request, error: Stranger) -> Response:
        said = "Open the link that you were sent; if it does not work any more, ask for a new one."
        return told(request, 401, "Who are you?", said, {"WWW-Authenticate": "Bearer"})

    @app.exception_handler(LoggedOut)
    async def logged_out(request: Request, error: LoggedOut) -> Response:
        if is_for_script(request):
            return JSONResponse({"detail": "log in"}, 401)
        return RedirectResponse(f"{served.root}/operator/login", status_code=303)

    @app.exception_handler(TooFast)
    async def too_fast(request: Request, error: TooFast) -> Response:
        wait = str(math.ceil(error.wait))
        said = f"That was too often; go on in {wait} seconds."
        return told(request, 429, "One moment", said, {"Retry-After": wait})

    @app.exception_handler(Busy)
    async def busy(request: Request, error: Busy) -> Response:
        wait = str(math.ceil(error.wait))
        said = f"Too many ask for this at once; try again in {wait} seconds."
        return told(request, 503, "One moment", said, {"Retry-After": wait})

    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return told(request, 400, "Not readable", f"{place}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        said = "There is no such page." if error.status_code == 404 else str(error.detail)
        headers = dict(error.headers) if error.headers else None
        return told(request, error.status_code, "Not done", said, headers)


@asynccontextmanager
async def _noting(served: Served, sign: Presence | None) -> AsyncIterator[None]:
    """Keep points of the curve and learn of what comes in, every few seconds, while it runs."""
    over, store = threading.Event(), served.campaign.store
    served.campaign.learns_beside = True

    def note() -> None:
        learner, last = Learner(store), ""
        while not over.wait(HISTORY):
            try:
                if sign is not None:
                    sign.renew()
                note_history(store, time.time())
                if served.is_mixed:
                    learner.learn(time.monotonic())
                learn_of_labels(store)
                last = ""
            except StoreError:
                pass  # it is away: the next point will do
            except Exception as error:  # whatever it is, it may be gone the next time
                if (found := f"{type(error).__name__}: {error}") != last:
                    say(f"the curve and gold wait for the store: {tidy(found)}")
                last = found

    thread = threading.Thread(target=note, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=1.0)

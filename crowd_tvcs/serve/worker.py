"""Worker pages: their task, its answer, skip, undo; images and sounds."""

import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import bindparam, exists, func, select

from crowd_tvcs.answer_kinds.words import LEFT, RIGHT, SEPARATOR, TIE, WORDS
from crowd_tvcs.campaign import NextTask
from crowd_tvcs.campaign.answer_kinds.kind import Preference
from crowd_tvcs.campaign.desk.media import NotMedia, open_media
from crowd_tvcs.campaign.desk.remarks import add_remark
from crowd_tvcs.campaign.store.queries import SETTINGS
from crowd_tvcs.campaign.store.schema import ANSWERED, UNLIMITED, pair, skill
from crowd_tvcs.campaign.store.schema import worker as worker_table
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.limits import RateLimitError
from crowd_tvcs.serve.pages import address_of, is_for_script
from crowd_tvcs.serve.recruit.sign_up import FINISH_SECONDS, Finish
from crowd_tvcs.serve.sign_in import UnknownUserError, user_of
from crowd_tvcs.serve.turn.instructions import rendered
from crowd_tvcs.serve.turn.keys import keys_of
from crowd_tvcs.serve.turn.media import sent
from crowd_tvcs.serve.turn.texts import OF_SCRIPT
from tvcs_core.command.shell import print_message

COOKIE_SECONDS = 90 * 86400
"""Seconds that a browser keeps the worker's login."""
MAX_FIELDS = 40
"""Largest number of fields of a form."""
POLL_SECONDS = 15
"""Seconds after which a page without a task reloads."""

Work = Callable[[Served, Request, bytes], Response]
"""Function that answers a request, given its body."""

_PROGRESS = Statement(
    select(
        worker_table.c.answers,
        worker_table.c.max_tasks,
        worker_table.c.quality,
        exists().where(skill.c.worker_id == worker_table.c.id).label("has_skills"),
    ).where(worker_table.c.name == bindparam("called"))
)


_JOINED = Statement(
    select(
        worker_table.c.joined,
        select(func.max(pair.c.answered_at))
        .where(pair.c.worker_id == worker_table.c.id, pair.c.state == ANSWERED)
        .scalar_subquery()
        .label("last"),
    ).where(worker_table.c.name == bindparam("called"))
)


class InvalidLinkError(Exception):
    """Missing or invalid link."""


def require_pace(served: Served, name: str) -> None:
    """Refuse too frequent requests."""
    if wait := served.per_worker.wait(name):
        raise RateLimitError(wait)


def require_worker(served: Served, request: Request, token: str | None) -> str:
    """Return the worker of a token.

    Raises
    ------
    InvalidLinkError, RateLimitError
        If there is none; guesses are counted by address.
    """
    name = served.links.holder(token) if token else None
    if name is None:
        if token and (wait := served.guesses.wait(address_of(request))):
            raise RateLimitError(wait)
        raise InvalidLinkError
    require_pace(served, name)
    return name


def require_person(served: Served, request: Request) -> tuple[str, str]:
    """Return the worker whom the proxy names, or of the browser's link, and the owner of pages."""
    name = user_of(request)
    if name is None:
        token = request.cookies.get(served.cookies.worker)
        return require_worker(served, request, token), token or ""
    require_pace(served, name)
    _require_known(served, name)
    return name, f"user {name}"


def _require_known(served: Served, name: str) -> None:
    """Refuse a name that is no worker's."""
    (rows,) = served.campaign.store.look(_PROGRESS.with_(called=name))
    if not rows:
        raise UnknownUserError(name)


def fields_of(body: bytes) -> dict[str, str]:
    """Read a form as browsers send it."""
    try:
        given = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:  # not UTF-8, or more fields than any of our forms has
        raise ValueError("this form cannot be read") from None
    if any("\0" in value for _, value in given):
        raise ValueError("a form may have no character 0")
    labels = SEPARATOR.join(value for name, value in given if name == "label")
    return dict(given) | ({"label": labels} if any(name == "label" for name, _ in given) else {})


def router(served: Served) -> APIRouter:
    """Return the pages of workers; a label is one call in one thread."""
    routes = APIRouter()
    refused: set[str] = set()

    def add(path: str, method: str, work: Work) -> None:
        async def handle(request: Request) -> Response:
            body = await request.body() if method == "POST" else b""
            return await served.in_thread(work, served, request, body)

        routes.add_route(path, handle, methods=[method])

    add("/", "GET", _turn)
    add("/answer", "POST", _answer)
    add("/skip", "POST", _skip)
    add("/remark", "POST", _remark)
    add("/undo", "POST", _undo)

    @routes.get("/w/{token}", include_in_schema=False)
    def enter(request: Request, token: str) -> Response:
        require_worker(served, request, token)
        answer = RedirectResponse(f"{served.root}/", status_code=303)
        set_worker(served, answer, token)
        return answer

    @routes.get("/media/{name:path}", include_in_schema=False)
    def media(request: Request, name: str) -> Response:
        is_worker = served.links.holder(request.cookies.get(served.cookies.worker, "")) is not None
        if (named := user_of(request)) is not None:
            _require_known(served, named)  # at any pace: a film is asked for in parts
        elif not is_worker and not served.auth.is_session(
            request.cookies.get(served.cookies.operator)
        ):
            raise InvalidLinkError
        try:
            file, kind = open_media(served.media, served.file_of(name))
        except ValueError as error:
            if isinstance(error, NotMedia) and name not in refused:  # it was replaced since
                refused.add(name)
                print_message(f"a file of --media is not sent: {error}")
            message = "There is no such file."
            return served.page("message.html.j2", 404, title="Not found", message=message)
        return sent(file, kind, request.headers.get("range"))

    return routes


def set_worker(served: Served, answer: Response, token: str) -> None:
    """Let a browser be a worker's from now on."""
    served.set_cookie(answer, served.cookies.worker, token, COOKIE_SECONDS)


def _turn(served: Served, request: Request, body: bytes) -> Response:
    name, _ = require_person(served, request)
    return _show_task(served, request, name, served.campaign.next(name))


def _answer(served: Served, request: Request, body: bytes) -> Response:
    name, fields, _ = _checked(served, request, body, "task", "label")
    with served.unnamed():
        task = served.task_of(fields["task"], name)
        _, offer = served.campaign.submit_and_next(name, task, fields["label"])
        known = served.campaign.feedback(name, task)
        code = served.kind.parse(fields["label"], task, name)
    given = served.kind.seen(code, task, name)
    return _after(served, request, name, offer, _feedback(served, given, known))


def _feedback(served: Served, given: str, known: str | None) -> str:
    """Describe whether an answer to gold was right, where its label is to be shown."""
    if known is None:
        return ""
    texts, label_of = served.texts, dict(choices(served))
    if given == known:
        return texts["right"]
    return texts["wrong"].format(right=label_of.get(known, known), given=label_of.get(given, given))


def choices(served: Served) -> list[tuple[str, str]]:
    """Return the possible answers, each with its text on the page."""
    t = served.texts
    if served.kind.name == Preference.name:
        words = (t["one"], t["tie"], t["other"])
        return list(zip((WORDS[LEFT], WORDS[TIE], WORDS[RIGHT]), words, strict=True))
    return [(label, label) for label in served.kind.labels]


def _skip(served: Served, request: Request, body: bytes) -> Response:
    name, fields, _ = _checked(served, request, body, "task")
    campaign = served.campaign
    with served.unnamed():
        campaign.skip(name, served.task_of(fields["task"], name), fields.get("reason", ""))
    return _after(served, request, name, campaign.next(name) if is_for_script(request) else None)


def _remark(served: Served, request: Request, body: bytes) -> Response:
    """Keep a comment or a flag, and show the same task again."""
    name, fields, _ = _checked(served, request, body, "task", "kind")
    campaign = served.campaign
    kind, text = fields["kind"], fields.get("text", "")
    with served.unnamed():
        task = served.task_of(fields["task"], name)
        add_remark(campaign.store, name, task, kind, text, now=time.time())
    offer = campaign.next(name) if is_for_script(request) else None
    return _after(served, request, name, offer, served.texts[f"{kind}_sent"])


def _undo(served: Served, request: Request, body: bytes) -> Response:
    name, _, answers = _checked(served, request, body)
    with served.unnamed():
        offer = served.campaign.undo(name, answers=answers)
    return _after(served, request, name, offer, served.texts["undone"])


def _checked(
    served: Served, request: Request, body: bytes, *needed: str
) -> tuple[str, dict[str, str], int]:
    """Return the worker of a form, its fields, and the worker's number of answers then."""
    (name, owner), fields = require_person(served, request), fields_of(body)
    for field in (*needed, "form"):
        if field not in fields:
            raise ValueError(f"the form lacks the field {field}")
    answers = served.pages.answers(owner, fields.get("task", ""), fields["form"])
    return name, fields, answers


def _after(
    served: Served, request: Request, name: str, offer: NextTask | None, message: str = ""
) -> Response:
    """Show the next task to a script, and redirect a browser without one."""
    if offer is not None and is_for_script(request):
        return _show_task(served, request, name, offer, message)
    return RedirectResponse(f"{served.root}/", status_code=303)


def _show_task(
    served: Served, request: Request, name: str, offer: NextTask, message: str = ""
) -> Response:
    values = _values(served, name, offer)
    owner = request.cookies.get(served.cookies.worker, "")
    owner = owner if user_of(request) is None else f"user {name}"
    token = served.pages.token(owner, values["task"], values["answers"])
    template = "turn.html.j2" if is_for_script(request) else "worker.html.j2"
    return served.page(template, **values, form=token, message=message)


class Progress(NamedTuple):
    """Progress of a worker: state, number of answers, and their limit.

    The state is ``task``, ``done``, ``paused``, ``unknown`` (their quality is unknown, so there is
    no task for them until the operator adds it) or ``waiting``.
    """

    state: str
    answers: int
    most: int | None


def progress_of(served: Served, name: str, offer: NextTask) -> Progress:
    """Return the progress of a worker; the reasons of an offer are for the operator only."""
    look = served.campaign.store.look
    (row,), (settings,) = look(_PROGRESS.with_(called=name), SETTINGS.with_())
    is_known = row.has_skills if settings.per_pair else row.quality is not None
    if offer.task is not None:
        state = "task"
    elif row.answers >= row.max_tasks:
        state = "done"
    elif settings.paused:
        state = "paused"
    else:
        state = "waiting" if is_known else "unknown"
    return Progress(state, row.answers, None if row.max_tasks == UNLIMITED else row.max_tasks)


def finish_of(served: Served, name: str, progress: Progress) -> Finish | None:
    """Return the code and the way back of a person who signed up and has no task any more.

    Without a task for a moment only they are not sent away: skills may be estimated just now.
    """
    is_over = progress.state in ("done", "waiting") and progress.answers > 0
    if served.sign_up is None or not is_over:
        return None
    ((row,),) = served.campaign.store.look(_JOINED.with_(called=name))
    if row.joined is None:
        return None
    idle = time.time() - (row.last or 0.0)
    if progress.state == "waiting" and idle < FINISH_SECONDS:
        return None
    return served.sign_up.finish(served.links.secret, name)


def _values(served: Served, name: str, offer: NextTask) -> dict[str, Any]:
    """Return the values of a worker's page."""
    progress, answers = progress_of(served, name, offer), choices(served)
    return {
        **progress._asdict(),
        "finish": finish_of(served, name, progress),
        "task": served.name_of(offer.task) if offer.task else "",
        "content": served.content_for(offer.task, name) if offer.task else None,
        "kind": served.kind.name,
        "choices": [
            (*one, key) for one, key in zip(answers, keys_of([v for v, _ in answers]), strict=True)
        ],
        "least": served.pages.least,
        "campaign": served.cookies.worker,
        "seconds": max(0, int(offer.expires - time.time())) if offer.expires else 0,
        "instructions": rendered(served.instructions, served.root),
        "ask_again": POLL_SECONDS,
        "script_texts": json.dumps(
            {key: text for key, text in served.texts.items() if key.startswith(OF_SCRIPT)}
            | {key: served.texts[key] for key in ("reserved", "over")}
        ),
    }

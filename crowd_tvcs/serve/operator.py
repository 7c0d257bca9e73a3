"""Operator pages: status of the campaign, and actions."""

import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from crowd_tvcs.campaign import Campaign, RejectedError, Worker
from crowd_tvcs.campaign.desk import figures, tables
from crowd_tvcs.campaign.desk.remarks import REMARK_COLUMNS, remark_rows
from crowd_tvcs.campaign.desk.worker_activity import list_worker_activity, make_index, warn_of_speed
from crowd_tvcs.campaign.settings import count_of
from crowd_tvcs.campaign.store.kinds import SOURCE
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.serve.control.accounts import ACT, ANSWERS
from crowd_tvcs.serve.control.door import Door, Name, Short, Token, csv_answer
from crowd_tvcs.serve.control.people import add_people
from crowd_tvcs.serve.control.settings import add_settings, read_number
from crowd_tvcs.serve.control.tasks import add_tasks
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.operator_auth import SESSION_SECONDS
from crowd_tvcs.serve.pages import address_of, is_for_script
from crowd_tvcs.serve.worker import fields_of
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import plural
from tvcs_core.files.page import Axes, round_numbers

MAX_PASSWORD_CHARACTERS = 1000
"""Characters of a password that are read."""
PLANNING_SECONDS = 30.0
"""Time limit of planning a round, in seconds."""
MAX_POINTS = 300
"""Points of the curve."""
SHOWN_WORKERS = 5
"""Workers on the first page: those who answer too fast, and those of most answers."""
NO_QUALITY_YET = "they get tasks once crowd-tvcs campaign add {} adds their quality"
Labels = Annotated[int, Form(ge=1)]
"""The number of labels of a round."""
REFRESH_SECONDS = 2
"""Seconds after which the page reloads the figures."""


def router(served: Served) -> APIRouter:
    """Return the pages of the operator."""
    routes = APIRouter(prefix="/operator", include_in_schema=False)
    campaign, status_page, door = served.campaign, _StatusPage(served), Door(served)

    @routes.get("")
    def overview(request: Request) -> Response:
        door.session(request)
        is_part = is_for_script(request)
        template = "status.html.j2" if is_part else "operator.html.j2"
        values = status_page.now(may_be_old=is_part)
        return door.page(request, template, **values, refresh=REFRESH_SECONDS)

    @routes.get("/advice")
    def advice(request: Request) -> Response:
        door.session(request)
        counts: dict[str, int] = {}
        for one in campaign.review_tasks():
            counts[one.verdict] = counts.get(one.verdict, 0) + 1
        return served.page("advice.html.j2", counts=sorted(counts.items()))

    @routes.post("/do")
    def act(
        request: Request,
        what: Annotated[str, Form(max_length=40)],
        form: Token,
        name: Annotated[str, Form(max_length=10_000)] = "",
        back: Annotated[str, Form(max_length=10_000)] = "/operator",
    ) -> Response:
        door.form(request, form, ACT)
        if what in CHANGES:
            change, message = CHANGES[what]
            change(campaign, name)
        elif what in ACTIONS:
            message = ACTIONS[what](served, name)
        else:
            raise RejectedError(f"there is no action {what!r}")
        return door.done(message, back if back.startswith("/operator/") else "/operator")

    # Before the tables, one of which is that of the people.
    for add in (_add_login, _add_rounds, _add_workers, add_settings, add_tasks, add_people):
        add(routes, door)

    @routes.get("/{what}.csv")
    def download(request: Request, what: str) -> Response:
        door.session(request, ANSWERS)
        if what not in TABLES:
            message = "There is no such table."
            return served.page("message.html.j2", 404, title="Not found", message=message)
        return csv_answer(what, *TABLES[what](campaign.store))

    return routes


def _add_login(routes: APIRouter, door: Door) -> None:
    """Add the page on which an operator logs in, and the end of a session."""
    served = door.served

    def login_form(status: int = 200, message: str = "") -> Response:
        single = served.auth.is_single
        return served.page("login.html.j2", status, message=message, is_single=single)

    @routes.get("/login")
    def login_page() -> Response:
        return login_form()

    async def login(request: Request) -> Response:
        fields = fields_of(await request.body())
        given = fields.get("password", "")[:MAX_PASSWORD_CHARACTERS]
        name = fields.get("name", "")[:MAX_PASSWORD_CHARACTERS]
        if not await served.auth.check_password_async(given, address_of(request), name):
            what = "The password" if served.auth.is_single else "The name or the password"
            return login_form(401, f"{what} is wrong.")
        answer = RedirectResponse(f"{served.root}/operator", status_code=303)
        session = await run_in_threadpool(served.auth.new_session, name)
        cookie = served.cookies.operator
        served.set_cookie(answer, cookie, session, SESSION_SECONDS, is_strict=True)
        return answer

    routes.add_route("/operator/login", login, methods=["POST"])  # so cheap that guesses are too

    @routes.post("/logout")
    def logout(request: Request, form: Token) -> Response:
        door.form(request, form)
        served.auth.end_session(door.session(request))
        answer = RedirectResponse(f"{served.root}/operator/login", status_code=303)
        answer.delete_cookie(served.cookies.operator, path=served.root or "/")
        return answer


def _add_rounds(routes: APIRouter, door: Door) -> None:
    """Add the forms that plan a round, and that show what it would bring."""
    served, campaign = door.served, door.served.campaign

    @routes.post("/plan")
    def plan(request: Request, labels: Labels, form: Token) -> Response:
        door.form(request, form, ACT)
        found = campaign.plan(labels=labels, time_limit=PLANNING_SECONDS, quick=True)
        if not found.pairs:
            message = f"No label is worth asking now: {found.reason}. No round was issued."
            return served.page("result.html.j2", title="No round", message=message)
        return csv_answer(
            f"round-{found.number}", ["worker", "task"], [list(p) for p in found.pairs]
        )

    @routes.post("/preview")
    def preview(request: Request, labels: Labels, form: Token) -> Response:
        door.form(request, form, ACT)
        from crowd_tvcs.campaign.planning.proposal import RoundRequest
        from crowd_tvcs.campaign.rounds import propose

        state = campaign.state()
        asked = RoundRequest(labels=labels, quick=True, time_limit=PLANNING_SECONDS)
        found = propose(state, asked)
        title = f"A round of {plural(labels, 'label')}"
        if not state.kind.has_classes:
            message = f"{plural(len(found.pairs), 'pair')}: {found.reason}. No task was issued."
            return served.page("result.html.j2", title=title, message=message)
        words = "" if found.forecast is None else f"{found.forecast}."
        forecast = f" {words[:1].upper()}{words[1:]}".rstrip()
        message = (
            f"{plural(len(found.pairs), 'label is', 'labels are')} worth the price: with these and "
            f"the pending ones, expected accuracy rises from {state.expected_accuracy:.2%} to "
            f"{found.expected_accuracy:.2%}.{forecast} No task was issued."
        )
        return served.page("result.html.j2", title=title, message=message)


def _add_workers(routes: APIRouter, door: Door) -> None:
    """Add the forms that add workers and make links."""
    served, campaign = door.served, door.served.campaign

    @routes.post("/link")
    def link(request: Request, name: Name, form: Token) -> Response:
        door.form(request, form, ACT)
        token = served.links.make([name], now=time.time())[name]
        return served.page("link.html.j2", name=name, place=served.link(token))

    @routes.post("/workers")
    def add_workers(
        request: Request,
        names: Annotated[str, Form(max_length=10_000)],
        form: Token,
        max_tasks: Short = "",
        cost: Short = "",
        group: Annotated[str, Form(max_length=200)] = "",
    ) -> Response:
        door.form(request, form, ACT)
        most = count_of("max_tasks", read_number("the most tasks", max_tasks, int))
        price = read_number("the cost of a label", cost, float)
        listed = [
            Worker(name.strip(), most, price, group.strip() or None)
            for name in names.replace(",", "\n").splitlines()
            if name.strip()
        ]
        if not listed:
            raise ValueError("a worker must have a name")
        campaign.add(workers=listed)
        message = f"{plural(len(listed), 'worker')} added; create their links below"
        with campaign.store.read() as (_, settings):
            source = settings.source
        option = "--kinds" if source == SOURCE else "--quality"
        return door.done(
            message if source == "gold" else f"{message}; {NO_QUALITY_YET.format(option)}"
        )

    @routes.post("/links")
    def all_links(request: Request, form: Token) -> Response:
        door.form(request, form, ACT)
        names = [seat.name for seat in list_worker_activity(campaign.store) if not seat.links]
        tokens = served.links.make(names, now=time.time())
        rows = [[name, served.link(token)] for name, token in tokens.items()]
        return csv_answer("links", ["worker", "link"], list(rows))


class _StatusPage:
    """Values of the status page, in parts that are updated only after changes.

    The workers take several times as long as all the rest, so they have their own pace.
    """

    def __init__(self, served: Served) -> None:
        self._store = served.campaign.store
        self._parts = [_Part(_campaign_values), _Part(_worker_values)]
        if message := make_index(self._store):
            print_message(f"{message}; the operator's page works without an index, but is slower")

    def now(self, *, may_be_old: bool) -> dict[str, Any]:
        """Return the values; with `may_be_old` each part takes at most a tenth of the time."""
        with self._store.read() as (_, settings):
            revision = settings.revision
        found: dict[str, Any] = {}
        for part in self._parts:
            found |= part.now(self._store, revision, may_be_old)
        return found


class _Part:
    def __init__(self, summed: Callable[[Store], dict[str, Any]]) -> None:
        self._summed = summed
        self._values: dict[str, Any] = {}
        self._good_until, self._revision = 0.0, -1

    def now(self, store: Store, revision: int, may_be_old: bool) -> dict[str, Any]:
        start = time.monotonic()
        is_good = may_be_old and self._values and start < self._good_until
        if not is_good and revision != self._revision:
            self._values, self._revision = self._summed(store), revision
            end = time.monotonic()
            self._good_until = end + 9.0 * (end - start)
        return self._values


def _worker_values(store: Store) -> dict[str, Any]:
    seats = list_worker_activity(store)
    first = sorted(seats, key=lambda seat: not seat.is_hasty)[:SHOWN_WORKERS]
    return {"seats": first, "n_workers": len(seats), "fast_warning": warn_of_speed(seats)}


def _campaign_values(store: Store) -> dict[str, Any]:
    points = figures.curve(store)
    return {
        "summary": figures.figures(store),
        "least": figures.least_confident(store),
        "curve": _drawn(points) if len(points) > 1 else None,
    }


def _drawn(points: list[tuple[int, float]]) -> dict[str, Any]:
    """Return the picture of expected accuracy against labels bought, with few points."""
    points = [*points[: -1 : 1 + len(points) // MAX_POINTS], points[-1]]
    low, high = min(p for _, p in points), max(p for _, p in points)
    ticks = round_numbers(low, high)
    axes = Axes(max(points[-1][0], 1), ticks[0], ticks[-1])
    marks = [(n, f"{n:g}") for n in round_numbers(0, axes.last) if n <= axes.last]
    return axes.drawn([(y, f"{100 * y:g} %") for y in ticks], marks) | {
        "points": " ".join(f"{axes.across(n)},{axes.down(p)}" for n, p in points)
    }


def _close_unworthy(served: Served, name: str) -> str:
    found = served.campaign.review_tasks(close=True)
    closed = [one for one in found if one.verdict == "not worth it"]
    return f"{plural(len(closed), 'task')} closed, not worth another label"


def _reopen_all(served: Served, name: str) -> str:
    return f"{plural(served.campaign.reopen(), 'task')} reopened"


def _revoke(served: Served, name: str) -> str:
    return f"{plural(served.links.revoke([name], now=time.time()), 'link')} revoked"


TABLES: dict[str, Callable[[Store], tuple[Sequence[str], Sequence[Sequence[Any]]]]] = {
    "labels": lambda store: tables.labels(store)[:2],
    "answers": lambda store: (
        ["task", "worker", "label", "seconds", "too_fast"],
        tables.answers(store),
    ),
    "gold-answers": lambda store: (["task", "worker", "label"], tables.gold_answers(store)),
    "remarks": lambda store: (REMARK_COLUMNS, remark_rows(store)),
}
"""Header and rows of the tables to download."""
CHANGES: dict[str, tuple[Callable[[Campaign, str], None], str]] = {
    "pause": (lambda campaign, _: campaign.pause(), "no tasks are assigned until you resume"),
    "resume": (lambda campaign, _: campaign.pause(False), "tasks are assigned again"),
    "block": (lambda campaign, name: campaign.block(name), "the worker gets no more tasks"),
    "unblock": (lambda campaign, name: campaign.block(name, False), "the worker gets tasks again"),
    "close": (lambda campaign, name: campaign.close_tasks([name]), "the task was closed"),
    "reopen": (lambda campaign, name: campaign.close_tasks([name], False), "the task was reopened"),
}
"""Buttons that change the campaign, given a worker or task, and what is said then."""
ACTIONS: dict[str, Callable[[Served, str], str]] = {
    "reopen all": _reopen_all,
    "close unworthy": _close_unworthy,
    "revoke": _revoke,
}
"""Other buttons; each returns what is said then."""

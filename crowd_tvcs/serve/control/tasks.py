"""Pages of tasks: a list, and one task with its answers, that the operator may settle."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from crowd_tvcs.campaign.desk import details
from crowd_tvcs.serve.control.accounts import ACT, ANSWERS
from crowd_tvcs.serve.control.door import Door, Name, Short, Token
from crowd_tvcs.serve.control.listing import Choice, listing_of, path_of
from crowd_tvcs.serve.control.settings import read_number


def add_tasks(routes: APIRouter, door: Door) -> None:
    """Add the list, the page of a task, and its forms."""
    served, campaign = door.served, door.served.campaign
    store = campaign.store

    @routes.get("/tasks")
    def tasks(request: Request) -> Response:
        door.session(request, ANSWERS)
        wanted = Choice.of(request.query_params, list(details.SHOWN), list(details.ORDERS))
        found, number = details.list_tasks(
            store, search=wanted.search, show=wanted.show, order=wanted.order, page=wanted.page
        )
        listing = listing_of("/operator/tasks", wanted, number, details.ROWS)
        return door.page(request, "tasks.html.j2", rows=found, listing=listing)

    @routes.get("/task")
    def task_page(request: Request, name: str) -> Response:
        door.session(request, ANSWERS)
        found = details.details_of_task(store, name)
        content = served.content_of(name)
        return door.page(
            request, "task.html.j2", found=found, content=content, classes=served.kind.options(name)
        )

    @routes.post("/settle")
    def settle(
        request: Request,
        name: Name,
        form: Token,
        label: Name = "",
        what: Annotated[str, Form(max_length=40)] = "settle",
    ) -> Response:
        door.form(request, form, ACT)
        is_back = what == "take back"
        campaign.settle(name, None if is_back else label)
        outcome = "the answers decide again" if is_back else "the task was settled"
        return door.done(outcome, path_of("/operator/task", name=name))

    @routes.post("/task-caps")
    def caps(
        request: Request,
        name: Name,
        form: Token,
        least: Short = "",
        most: Short = "",
    ) -> Response:
        door.form(request, form, ACT)
        found = campaign.change(
            task_caps={name: read_number("the most workers", most, int)},
            task_minimums={name: read_number("the least workers", least, int) or 0},
        )
        changes = "; ".join(found) or "nothing was changed"
        return door.done(changes, path_of("/operator/task", name=name))

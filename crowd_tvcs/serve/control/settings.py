"""The page of settings that the operator may change while people label."""

import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from crowd_tvcs.answers.values import parse_share
from crowd_tvcs.campaign.settings import MILLION, NEVER_NONE
from crowd_tvcs.serve.control.accounts import ACT
from crowd_tvcs.serve.control.door import Door

Number = TypeVar("Number", int, float)
Text = Annotated[str, Field(max_length=40)]
KINDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "budget": ("Labels in all", int),
    "money": ("Money in all", float),
    "max_workers_per_task": ("Most workers of a task", int),
    "max_tasks_per_worker": ("Most tasks of a worker", int),
    "min_quality": ("Minimum quality of a worker", parse_share),
    "target": ("Confidence at which a task is done", parse_share),
    "min_gain": ("Minimum gain of a label", parse_share),
    "lease_seconds": ("Seconds for which a task is reserved", float),
}
"""Settings of the form, in words, and their kinds."""
MAX_CLASSES = 4000
"""Characters of the names of new classes that are read."""


class ChangeForm(BaseModel):
    """The form of the page: settings as text, and `was`, the texts that it began with."""

    form: str
    was: str = Field(default="", max_length=1000)
    budget: Text = ""
    money: Text = ""
    max_workers_per_task: Text = ""
    max_tasks_per_worker: Text = ""
    min_quality: Text = ""
    target: Text = ""
    min_gain: Text = ""
    lease_seconds: Text = ""
    new_classes: str = Field(default="", max_length=MAX_CLASSES)


def add_settings(routes: APIRouter, door: Door) -> None:
    """Add the page and its form."""
    campaign = door.served.campaign

    @routes.get("/settings")
    def settings_page(request: Request) -> Response:
        door.session(request, ACT)
        with campaign.store.read() as (_, settings):
            values = {name: getattr(settings, name) for name in KINDS}
            classes = json.loads(settings.classes)
        if values["money"] is not None:
            values["money"] /= MILLION
        rows = [(name, words, _shown(values[name])) for name, (words, _) in KINDS.items()]
        was = urlencode({name: shown for name, _, shown in rows})
        return door.page(request, "settings.html.j2", rows=rows, classes=classes, was=was)

    @routes.post("/change")
    def change(request: Request, given: Annotated[ChangeForm, Form()]) -> Response:
        door.form(request, given.form, ACT)
        before = dict(parse_qsl(given.was))  # what another changed since is not changed back
        wanted = {
            name: _read(name, text)
            for name, text in given.model_dump(include=set(KINDS)).items()
            if text.strip() != before.get(name, "")
        }
        if added := [one.strip() for one in given.new_classes.split(",") if one.strip()]:
            wanted["new_classes"] = added
        if not wanted:
            return door.done("nothing was changed", "/operator/settings")
        found = campaign.change(**wanted)
        door.served.forget_classes()
        return door.done("; ".join(found) or "nothing was changed", "/operator/settings")


def _read(name: str, text: str) -> Any:
    words, kind = KINDS[name]
    value = read_number(words, text, kind)
    if value is None and name in NEVER_NONE:
        raise ValueError(f"{words} must be a number, found none")
    return value


def read_number(what: str, text: str, kind: Callable[[str], Number]) -> Number | None:
    """Read a field of a form; None if it is empty."""
    try:
        return kind(text) if text.strip() else None
    except ValueError:
        raise ValueError(f"{what} must be a number, found {text!r}") from None


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.12g}"

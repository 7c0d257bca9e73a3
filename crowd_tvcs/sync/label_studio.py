"""A project of Label Studio: tasks, tabs of the data manager, annotations, a webhook."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from crowd_tvcs.answers.times import parse_time
from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.fields import SourceLocation
from crowd_tvcs.exchange.json_files import Record
from crowd_tvcs.exchange.label_studio import TASK, read_annotation
from crowd_tvcs.sync.connection import DEFAULT, UNAUTHORIZED, Connection, ToolError, Trust
from crowd_tvcs.sync.labelling_tool import (
    Annotation,
    RemoteTask,
    check_payload,
    choose_question,
    in_parts,
)
from tvcs_core.files.display import quoted
from tvcs_core.files.errors import DataError

OLDEST, NEXT_MAJOR = (1, 20), 2
"""Supported versions: from `OLDEST` to the next major one; 1.23 is tested."""
PAGE = 200
"""Tasks per request."""
OVERLAP = 15.0
"""Seconds that are read again, since a change may become visible after one with a later time."""
MODEL = "tvcs"
"""Model version of our predictions."""
WEBHOOK_EVENTS = ["ANNOTATION_CREATED", "ANNOTATION_UPDATED"]
ABSENT_PROJECT = 404


class LabelStudio:
    """See `labelling_tool.LabellingTool`.

    Workers are listed in ``data.assigned``, such as ``|ann|bob|``, as in `exchange.label_studio`,
    and the tab of Ann has the filter "assigned contains |ann|".

    Parameters
    ----------
    url
        URL of the server.
    token
        An access token: a personal one, or one of the older kind.
    project
        Number of the project.
    question
        Name of the Choices tag of the label; None for the only one.
    predictions
        Whether predictions will be sent; the project is then set to hide them from annotators.
    trust
        As for `Connection`.
    """

    title = "Label Studio"

    def __init__(
        self,
        url: str,
        token: str,
        project: int,
        *,
        question: str | None = None,
        predictions: bool = False,
        trust: Trust = DEFAULT,
    ) -> None:
        self._token, self._is_personal = token, token.count(".") == 2
        headers = {} if self._is_personal else {"Authorization": f"Token {token}"}
        self._at = Connection(url, headers, trust)
        self._project, self._question = project, question
        self._predicts = predictions
        self._to_name = ""
        self._inputs: tuple[str, ...] = ()
        self._data: dict[str, tuple[int, dict[str, Any]]] = {}  # of tasks: number and data
        self._predictions: dict[str, int] = {}
        self._people: dict[int, tuple[str, ...]] = {}
        self._tabs: set[str] = set()

    def check(self, classes: Sequence[str], workers: Sequence[str]) -> list[str]:
        """See `LabellingTool`; the filter of a tab must distinguish the names of workers."""
        self._check_version()
        self._check_names(workers)
        project = self._project_settings()
        self._check_question(project, classes)
        return self._set_up(project, len(workers))

    def people(self) -> list[tuple[str, ...]]:
        """Return e-mail address and number of everyone in the organization."""
        users = self._ask("GET", "/api/users/")
        self._people = {
            int(user["id"]): tuple(filter(None, (user.get("email"), str(user["id"]))))
            for user in users
        }
        return list(self._people.values())

    def read(self, since: str | None) -> tuple[list[RemoteTask], str | None]:
        """See `LabellingTool`; of tasks with one name the oldest is shown, and all are read."""
        if since is None:
            self._data.clear()
            self._predictions.clear()
        found: dict[str, RemoteTask] = {}
        latest = since
        for raw in self._tasks(since):
            task = raw["data"].get(TASK)
            latest = max(filter(None, (latest, raw["updated_at"])))
            if not isinstance(task, str) or not task:
                continue
            first = self._data.get(task)
            if first is None or raw["id"] <= first[0]:
                self._data[task] = (raw["id"], raw["data"])
            one = self._shown(task, raw)
            before = found.get(task)
            if before is not None:
                one = replace(before, annotations=before.annotations + one.annotations)
            found[task] = one
        return list(found.values()), latest

    def add(self, payloads: Mapping[str, Mapping[str, str]]) -> None:
        """Import tasks."""
        where = f"the labelling interface of project {self._project}"
        for task, payload in payloads.items():
            check_payload(task, payload, self._inputs, where, mark="$")
        tasks = [{"data": {TASK: t, **payload, "assigned": "|"}} for t, payload in payloads.items()]
        for part in in_parts(tasks, PAGE):
            self._ask("POST", f"/api/projects/{self._project}/import", part)

    def open_tabs(self, workers: Sequence[str]) -> None:
        """See `LabellingTool`: a view of the data manager with the worker's name."""
        if not self._tabs:
            views = self._ask("GET", "/api/dm/views/", project=self._project)
            self._tabs = {str(view.get("data", {}).get("title")) for view in views}
        for worker in workers:
            if worker not in self._tabs:
                mine = _filters("data.assigned", "contains", "String", f"|{worker}|")
                data = {"title": worker, "filters": mine}
                self._ask("POST", "/api/dm/views/", {"project": self._project, "data": data})
                self._tabs.add(worker)

    def show(self, task: str, workers: Sequence[str]) -> None:
        """See `LabellingTool`."""
        number, data = self._data[task]
        data = {**data, "assigned": f"|{'|'.join(workers)}|" if workers else "|"}
        self._ask("PATCH", f"/api/tasks/{number}/", {"data": data})
        self._data[task] = (number, data)

    def predict(self, task: str, label: str, confidence: float) -> None:
        """See `LabellingTool`."""
        choice = {
            "from_name": self._question,
            "to_name": self._to_name,
            "type": "choices",
            "value": {"choices": [label]},
        }
        body = {
            "task": self._data[task][0],
            "result": [choice],
            "score": confidence,
            "model_version": MODEL,
        }
        if task in self._predictions:
            self._ask("PATCH", f"/api/predictions/{self._predictions[task]}/", body)
        else:
            made = self._ask("POST", "/api/predictions/", body)
            self._predictions[task] = int(made["id"])

    def set_webhook(self, url: str | None) -> None:
        """See `LabellingTool`: a webhook without payload; those of killed runs are removed."""
        for hook in self._ask("GET", "/api/webhooks/", project=self._project):
            if hook.get("project") == self._project and hook["headers"].get("X-Sync") == MODEL:
                self._ask("DELETE", f"/api/webhooks/{hook['id']}/")
        if url is not None:
            body = {
                "project": self._project,
                "url": url,
                "send_payload": False,
                "send_for_all_actions": False,
                "actions": WEBHOOK_EVENTS,
                "headers": {"X-Sync": MODEL},
            }
            self._ask("POST", "/api/webhooks/", body)

    def _ask(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Send a request; a personal token is exchanged for a short-lived one, and renewed."""
        if self._is_personal and "Authorization" not in self._at.headers:
            self._refresh()
        try:
            return self._at.ask(method, path, body, **query)
        except ToolError as error:
            if error.status != UNAUTHORIZED or not self._is_personal:
                raise
        self._refresh()
        return self._at.ask(method, path, body, **query)

    def _refresh(self) -> None:
        self._at.headers.pop("Authorization", None)
        found = self._at.ask("POST", "/api/token/refresh/", {"refresh": self._token})
        self._at.headers["Authorization"] = f"Bearer {found['access']}"

    def _check_version(self) -> None:
        try:
            found = self._at.ask("GET", "/api/version")
            release = str(found["release"])
            version = tuple(int(n) for n in re.findall(r"\d+", release)[:2])
        except (ToolError, KeyError, TypeError) as error:
            raise ValueError(f"{self._at.url} is no Label Studio: {error}") from None
        if not OLDEST <= version < (NEXT_MAJOR,):
            raise ValueError(
                f"{self._at.url} is Label Studio {release}; versions from "
                f"{'.'.join(map(str, OLDEST))} to below {NEXT_MAJOR} are supported"
            )

    def _check_names(self, workers: Sequence[str]) -> None:
        """Refuse names that differ in case only, since a filter ignores case."""
        seen: dict[str, str] = {}
        for worker in workers:
            if "|" in worker:
                raise ValueError(f"a worker's name must have no '|' in it here: {quoted(worker)}")
            other = seen.setdefault(worker.casefold(), worker)
            if other != worker:
                raise ValueError(
                    "names of workers must differ in more than capitals here, found "
                    f"{quoted(other)} and {quoted(worker)}"
                )

    def _project_settings(self) -> dict[str, Any]:
        try:
            project: dict[str, Any] = self._ask("GET", f"/api/projects/{self._project}/")
        except ToolError as error:
            if error.status != ABSENT_PROJECT:
                raise
            raise ValueError(
                f"--project: there is no project {self._project} on {self._at.url} that this "
                "token may see"
            ) from None
        return project

    def _check_question(self, project: Mapping[str, Any], classes: Sequence[str]) -> None:
        """Find the tag of the label, and refuse anything but a choice of one class."""
        where = f"the labelling interface of project {self._project}"
        tags = project.get("parsed_label_config") or {}
        labels_of = {
            name: tag.get("labels") or ()
            for name, tag in tags.items()
            if tag.get("type") == "Choices"
        }
        self._question = choose_question(labels_of, self._question, classes, where, "tag Choices")
        several = _choice_of(str(project.get("label_config")), self._question)
        if several.startswith("multiple"):
            raise ValueError(f"{where}: {quoted(self._question)} must take one choice, not several")
        self._to_name = tags[self._question]["to_name"][0]
        inputs = {one["value"] for other in tags.values() for one in other["inputs"]}
        self._inputs = tuple(sorted(inputs))

    def _set_up(self, project: Mapping[str, Any], workers: int) -> list[str]:
        """Change settings that would hide tasks from a worker, or reveal other answers to them."""
        changes: dict[str, object] = {}
        if int(project.get("maximum_annotations") or 1) < workers:
            changes["maximum_annotations"] = workers
        if self._predicts and project.get("show_collab_predictions"):
            changes["show_collab_predictions"] = False
        if changes:
            self._ask("PATCH", f"/api/projects/{self._project}/", changes)
        return [f"project {self._project}: {name} set to {to}" for name, to in changes.items()]

    def _tasks(self, since: str | None) -> Iterator[dict[str, Any]]:
        query = None
        if since is not None:
            moment = datetime.fromtimestamp(parse_time(since) - OVERLAP, UTC)
            text = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            filters = _filters("updated_at", "greater_or_equal", "Datetime", text)
            query = json.dumps({"filters": filters})
        page, seen, total = 1, 0, 1
        while seen < total:
            found = self._ask(
                "GET",
                "/api/tasks",
                project=self._project,
                fields="all",
                page=page,
                page_size=PAGE,
                query=query,
            )
            if not found["tasks"]:
                return
            yield from found["tasks"]
            page, seen, total = page + 1, seen + len(found["tasks"]), int(found["total"])

    def _shown(self, task: str, raw: Mapping[str, Any]) -> RemoteTask:
        assigned = str(raw["data"].get("assigned") or "")
        ours = [p for p in raw.get("predictions") or () if p.get("model_version") == MODEL]
        predicted = None
        if ours:
            self._predictions[task] = int(ours[0]["id"])
            predicted = _predicted(ours[0])
        return RemoteTask(
            task,
            tuple(sorted(filter(None, assigned.split("|")))),
            tuple(self._annotation(task, one) for one in raw.get("annotations") or ()),
            predicted,
        )

    def _annotation(self, task: str, raw: dict[str, Any]) -> Annotation:
        location = SourceLocation(self._at.url, f"annotation {raw['id']}")
        collector = Collector(takes_any_label=True, leave_out_missing=True)  # the campaign judges
        why = ""
        try:
            read_annotation(Record(location, raw), collector, self._question, (TASK, task))
        except DataError as error:
            why = str(error)
        rows = collector.collected().rows
        if not rows and not why and not raw.get("was_cancelled"):
            why = "it has no answer"
        number = raw["completed_by"]
        took = raw.get("lead_time")
        return Annotation(
            f"Label Studio annotation {raw['id']} of project {self._project}",
            self._people.get(number, (str(number),)),
            rows[0][2] if rows else None,
            parse_time(raw["created_at"]),
            float(took) if took and took > 0 else None,
            why,
        )


def _filters(column: str, operator: str, kind: str, value: str) -> dict[str, Any]:
    item = {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}
    return {"conjunction": "and", "items": [item]}


def _predicted(prediction: Mapping[str, Any]) -> tuple[str, float] | None:
    try:
        return str(prediction["result"][0]["value"]["choices"][0]), float(prediction["score"])
    except (LookupError, TypeError, ValueError):  # edited by hand: it is written anew
        return None


def _choice_of(config: str, name: str) -> str:
    """Return the kind of choice of a tag in the interface's XML."""
    try:
        tags = ElementTree.fromstring(config).iter("Choices")
    except ElementTree.ParseError:
        return ""
    return next((tag.get("choice", "") for tag in tags if tag.get("name") == name), "")

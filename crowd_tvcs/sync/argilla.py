"""A dataset of Argilla: records, the metadata by which annotators filter, responses, a webhook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from crowd_tvcs.answers.times import parse_time
from crowd_tvcs.sync.connection import DEFAULT, Connection, ToolError, Trust
from crowd_tvcs.sync.labelling_tool import (
    Annotation,
    RemoteTask,
    check_payload,
    choose_question,
    in_parts,
)
from tvcs_core.files.display import joined, quoted

MAJOR = 2
"""Supported version; 2.8 is tested."""
PAGE = 500
"""Records per request."""
ASSIGNED, LABEL, CONFIDENCE = "assigned", "tvcs_label", "tvcs_confidence"
WEBHOOK_EVENTS = ["response.created", "response.updated"]
OURS = "tvcs sync"
"""The description of our webhooks, before the dataset."""


class Argilla:
    """See `labelling_tool.LabellingTool`.

    Workers are listed in the metadata `assigned`, a terms property, by which an annotator filters:
    Argilla has no personal tabs. The predicted label is kept in metadata hidden from annotators,
    since a suggestion would be shown to them.

    Parameters
    ----------
    url
        URL of the server.
    token
        API key of an owner or of an administrator of the workspace.
    dataset
        Name of the dataset.
    workspace
        Name of its workspace; required if two have a dataset of this name.
    question
        Name of the label question; None for the only one.
    predictions
        Whether predicted labels will be sent.
    trust
        As for `Connection`.
    """

    title = "Argilla"

    def __init__(
        self,
        url: str,
        token: str,
        dataset: str,
        *,
        workspace: str | None = None,
        question: str | None = None,
        predictions: bool = False,
        trust: Trust = DEFAULT,
    ) -> None:
        headers = {"X-Argilla-Api-Key": token}
        self._at = Connection(f"{url.rstrip('/')}/api/v1", headers, trust, "API key")
        self._name, self._workspace_name = dataset, workspace
        self._question, self._predicts = question, predictions
        self._dataset: dict[str, Any] = {}
        self._fields: dict[str, bool] = {}  # whether they are required
        self._records: dict[str, tuple[str, dict[str, Any]]] = {}  # of tasks: id and metadata
        self._people: dict[str, tuple[str, ...]] = {}

    def check(self, classes: Sequence[str], workers: Sequence[str]) -> list[str]:
        """See `LabellingTool`."""
        self._check_version()
        self._dataset = self._find()
        if self._dataset["status"] != "ready":
            raise ValueError(f"dataset {quoted(self._name)} must be published, it is a draft")
        self._check_question(classes)
        fields = self._at.ask("GET", self._path("fields"))["items"]
        self._fields = {one["name"]: bool(one["required"]) for one in fields}
        return self._set_up(len(workers))

    def people(self) -> list[tuple[str, ...]]:
        """Return user name and id of all users of the workspace."""
        path = f"/workspaces/{self._dataset['workspace_id']}/users"
        users = self._at.ask("GET", path)["items"]
        self._people = {user["id"]: (user["username"], user["id"]) for user in users}
        return list(self._people.values())

    def read(self, since: str | None) -> tuple[list[RemoteTask], str | None]:
        """See `LabellingTool`; all records are read each time: there is no filter by change."""
        found, self._records = [], {}
        for raw in self._pages():
            task = raw.get("external_id")
            if task is not None:
                metadata = raw.get("metadata") or {}
                self._records[task] = (raw["id"], metadata)
                found.append(self._shown(task, metadata, raw.get("responses") or ()))
        return found, None

    def add(self, payloads: Mapping[str, Mapping[str, str]]) -> None:
        """Add records, with the columns that are fields of the dataset."""
        required = [name for name, is_required in self._fields.items() if is_required]
        items = []
        for task, payload in payloads.items():
            check_payload(task, payload, required, f"dataset {quoted(self._name)}")
            fields = {name: payload[name] for name in self._fields if name in payload}
            items.append({"external_id": task, "fields": fields, "metadata": {ASSIGNED: []}})
        for part in in_parts(items, PAGE):
            self._at.ask("POST", self._path("records/bulk"), {"items": part})

    def open_tabs(self, workers: Sequence[str]) -> None:
        """Do nothing: annotators filter by `assigned`."""

    def show(self, task: str, workers: Sequence[str]) -> None:
        """See `LabellingTool`."""
        self._note(task, {ASSIGNED: list(workers)})

    def predict(self, task: str, label: str, confidence: float) -> None:
        """See `LabellingTool`."""
        self._note(task, {LABEL: label, CONFIDENCE: confidence})

    def set_webhook(self, url: str | None) -> None:
        """See `LabellingTool`; the webhook's content is not read.

        Webhooks of killed runs are removed.
        """
        ours = f"{OURS}: {self._dataset['id']}"
        for hook in self._at.ask("GET", "/webhooks")["items"]:
            if hook.get("description") == ours:
                self._at.ask("DELETE", f"/webhooks/{hook['id']}")
        if url is not None:
            self._at.ask(
                "POST", "/webhooks", {"url": url, "events": WEBHOOK_EVENTS, "description": ours}
            )

    def _path(self, what: str) -> str:
        return f"/datasets/{self._dataset['id']}/{what}"

    def _check_version(self) -> None:
        try:
            version = str(self._at.ask("GET", "/version")["version"])
            major = int(re.findall(r"\d+", version)[0])
        except (ToolError, LookupError, TypeError) as error:
            raise ValueError(f"{self._at.url} is no Argilla: {error}") from None
        if major != MAJOR:
            raise ValueError(f"{self._at.url} is Argilla {version}; version {MAJOR} is supported")

    def _find(self) -> dict[str, Any]:
        """Find the dataset by its name.

        Raises
        ------
        ValueError
            If there is none, or more than one.
        """
        spaces = {one["id"]: one["name"] for one in self._at.ask("GET", "/me/workspaces")["items"]}
        found = [
            one
            for one in self._at.ask("GET", "/me/datasets")["items"]
            if one["name"] == self._name
            and self._workspace_name in (None, spaces.get(one["workspace_id"]))
        ]
        if len(found) == 1:
            return found[0]
        where = "" if self._workspace_name is None else f" in workspace {self._workspace_name!r}"
        if not found:
            raise ValueError(
                f"--dataset: there is no dataset {quoted(self._name)}{where} on {self._at.url} "
                "that this key may see"
            )
        inside = joined(spaces.get(one["workspace_id"], "?") for one in found)
        raise ValueError(f"dataset {quoted(self._name)} is in {inside}: choose with --workspace")

    def _check_question(self, classes: Sequence[str]) -> None:
        every = self._at.ask("GET", self._path("questions"))["items"]
        labels_of = {
            one["name"]: [option["value"] for option in one["settings"]["options"]]
            for one in every
            if one["settings"]["type"] == "label_selection"
        }
        where = f"dataset {quoted(self._name)}"
        self._question = choose_question(
            labels_of, self._question, classes, where, "label question"
        )

    def _set_up(self, workers: int) -> list[str]:
        """Create the metadata, and keep records in all queues until the campaign is finished."""
        changed = []
        distribution = self._dataset.get("distribution") or {}
        if int(distribution.get("min_submitted") or 1) < workers:
            wanted = {"strategy": "overlap", "min_submitted": workers}
            path = f"/datasets/{self._dataset['id']}"
            try:
                self._at.ask("PATCH", path, {"distribution": wanted})
            except ToolError as error:
                raise ToolError(
                    error.status,
                    f"dataset {quoted(self._name)} calls a record complete after "
                    f"{distribution.get('min_submitted')} responses, and must not before {workers}"
                    f", the workers of the campaign; Argilla does not change it: {error}",
                ) from None
            changed.append(f"dataset {self._name}: min_submitted set to {workers}")
        kinds = {ASSIGNED: ("terms", True)}
        if self._predicts:
            kinds |= {LABEL: ("terms", False), CONFIDENCE: ("float", False)}
        there = self._at.ask("GET", f"/me{self._path('metadata-properties')}")["items"]
        for name in kinds.keys() - {one["name"] for one in there}:
            kind, is_visible = kinds[name]
            property_ = {"name": name, "title": name, "settings": {"type": kind}}
            body = property_ | {"visible_for_annotators": is_visible}
            self._at.ask("POST", self._path("metadata-properties"), body)
        return changed

    def _pages(self) -> Iterator[dict[str, Any]]:
        """Read all records, each once: two pages may share one if records have equal times."""
        seen: set[str] = set()
        offset, total = 0, 1
        while offset < total:
            path = self._path("records")
            found = self._at.ask("GET", path, include="responses", offset=offset, limit=PAGE)
            for raw in found["items"]:
                if raw["id"] not in seen:
                    seen.add(raw["id"])
                    yield raw
            if not found["items"]:
                return
            offset, total = offset + len(found["items"]), int(found["total"])

    def _shown(
        self, task: str, metadata: Mapping[str, Any], responses: Iterable[Mapping[str, Any]]
    ) -> RemoteTask:
        label, confidence = metadata.get(LABEL), metadata.get(CONFIDENCE)
        predicted = None
        if label is not None and isinstance(confidence, int | float):
            predicted = (str(label), float(confidence))
        given = (self._annotation(one) for one in responses if one["status"] != "draft")
        workers = metadata.get(ASSIGNED) or ()
        return RemoteTask(task, tuple(sorted(workers)), tuple(given), predicted)

    def _annotation(self, raw: Mapping[str, Any]) -> Annotation:
        answer = (raw.get("values") or {}).get(self._question) or {}
        label = answer.get("value") if raw["status"] == "submitted" else None
        is_read = isinstance(label, str)
        why = "" if is_read or raw["status"] == "discarded" else "it has no label"
        return Annotation(
            f"Argilla response {raw['id']}",
            self._people.get(raw["user_id"], (raw["user_id"],)),
            label if is_read else None,
            parse_time(raw["updated_at"]),
            unreadable=why,
        )

    def _note(self, task: str, changes: Mapping[str, object]) -> None:
        number, metadata = self._records[task]
        changed = {**metadata, **changes}
        self._at.ask("PATCH", f"/records/{number}", {"metadata": changed})
        self._records[task] = (number, changed)

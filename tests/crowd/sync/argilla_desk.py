"""A small Argilla for tests: it answers as the real one did.

What it answers is made of ``argilla.json``, answers of argilla-server 2.8.0 (as `serve_argilla.py`
runs it): a dataset was made with a text field and a label question, records added, and two people
answered; of each kind one answer was kept. `test_real_argilla.py` holds them against the server.
"""

import copy
import json
import threading
import urllib.request
import uuid
from datetime import UTC, datetime
from pathlib import Path

from tests.crowd.sync.studio import routed

RECORDED = json.loads(Path(__file__).with_name("argilla.json").read_text(encoding="utf-8"))
KEY = "boss.apikey"
NAME = RECORDED["dataset"]["name"]


class ArgillaDesk:
    """The server's state; see `studio.Studio`."""

    def __init__(self):
        self.stranger = RECORDED["wrong key"]["status"], RECORDED["wrong key"]["body"]
        self.version = RECORDED["version"]["version"]
        self.datasets = [copy.deepcopy(RECORDED["dataset"])]
        self.question = copy.deepcopy(RECORDED["question"])
        self.users, self.records, self.properties, self.hooks = [], {}, [], {}
        self.calls, self.fails = [], lambda number: ""
        self.lock, self.clock = threading.RLock(), 1_700_000_000.0

    def lets_in(self, headers, path):
        return path.endswith("/version") or headers.get("X-Argilla-Api-Key") == KEY

    def answer(self, method, path, query, body):
        reply, parts = routed(ROUTES, method, path.removeprefix("/api/v1"))
        return reply(self, query, body, *parts)

    def stamp(self):
        self.clock += 1.0
        return datetime.fromtimestamp(self.clock, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")

    def sign_up(self, name):
        user = {**RECORDED["user"], "id": str(uuid.uuid4()), "username": name}
        self.users.append(user)
        return user

    def called(self, task):
        return next(one for one in self.records.values() if one["external_id"] == task)

    def tab(self, name):
        """The tasks a person finds who filters by their name, and has not answered."""
        me = next(user["id"] for user in self.users if user["username"] == name)
        return [
            one["external_id"]
            for one in self.records.values()
            if name in one["metadata"]["assigned"]
            and me not in [response["user_id"] for response in one["responses"]]
        ]

    def annotate(self, name, task, label, **more):
        """Do what a person does: None discards."""
        kind = "discarded" if label is None else "submitted"
        with self.lock:
            one = {
                **RECORDED[kind],
                "id": str(uuid.uuid4()),
                "user_id": next(user["id"] for user in self.users if user["username"] == name),
                "values": None if label is None else {"label": {"value": label}},
                "updated_at": self.stamp(),
                **more,
            }
            self.called(task)["responses"].append(one)
        for hook in self.hooks.values():
            request = urllib.request.Request(hook["url"], b'{"type": "response.created"}')
            urllib.request.urlopen(request, timeout=60).close()


def _patch_dataset(desk, query, body, number):
    dataset = next(one for one in desk.datasets if one["id"] == number)
    dataset |= body
    return 200, dataset


def _records(desk, query, body, number):
    every = list(desk.records.values())
    at, limit = int(query["offset"]), int(query["limit"])
    assert query["include"] == "responses"
    return 200, {"items": every[at : at + limit], "total": len(every)}


def _add(desk, query, body, number):
    made = [{**copy.deepcopy(RECORDED["record"]), "id": str(uuid.uuid4()), **one}
            for one in body["items"]]  # fmt: skip
    desk.records |= {one["id"]: one for one in made}
    return 201, {"items": made}


def _patch_record(desk, query, body, number):
    desk.records[number] |= body
    return 200, desk.records[number]


def _add_property(desk, query, body, number):
    desk.properties.append({**RECORDED["metadata property"], **body})
    return 201, desk.properties[-1]


def _add_hook(desk, query, body):
    made = {**RECORDED["webhook"], "id": str(uuid.uuid4()), **body}
    desk.hooks[made["id"]] = made
    return 201, made


def _items(found):
    return lambda desk, query, body, *number: (200, {"items": found(desk)})


ROUTES = {
    "GET /version": lambda desk, query, body: (200, {"version": desk.version}),
    "GET /me/workspaces": _items(lambda desk: [RECORDED["workspace"]]),
    "GET /me/datasets": _items(lambda desk: desk.datasets),
    "PATCH /datasets/([^/]+)": _patch_dataset,
    "GET /datasets/([^/]+)/questions": _items(lambda desk: [desk.question]),
    "GET /datasets/([^/]+)/fields": _items(lambda desk: [RECORDED["field"]]),
    "GET /workspaces/([^/]+)/users": _items(lambda desk: desk.users),
    "GET /me/datasets/([^/]+)/metadata-properties": _items(lambda desk: desk.properties),
    "POST /datasets/([^/]+)/metadata-properties": _add_property,
    "GET /datasets/([^/]+)/records": _records,
    "POST /datasets/([^/]+)/records/bulk": _add,
    "PATCH /records/([^/]+)": _patch_record,
    "GET /webhooks": _items(lambda desk: list(desk.hooks.values())),
    "POST /webhooks": _add_hook,
    "DELETE /webhooks/([^/]+)": lambda desk, query, body, number: (200, desk.hooks.pop(number)),
}

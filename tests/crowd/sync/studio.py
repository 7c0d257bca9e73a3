"""A small Label Studio for tests: it answers as the real one did, and can be away or refuse.

What it answers is made of ``label_studio.json``, answers of Label Studio 1.23.2: a project was made
with `CONFIG`, a task imported, annotated and predicted, and what came back was kept, one of each
kind. `test_real_studio.py` holds them against the real server.
"""

import copy
import json
import re
import threading
import urllib.parse
import urllib.request
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

RECORDED = json.loads(Path(__file__).with_name("label_studio.json").read_text(encoding="utf-8"))
TOKEN = "0123456789abcdef0123456789abcdef01234567"
PERSONAL = "aaa.bbb.ccc"
CONFIG = RECORDED["project"]["label_config"]
PROJECT = RECORDED["project"]["id"]


def choice(label, name="label"):
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [label]}}


class Studio:
    """The server's state.

    Attributes
    ----------
    calls
        (method, path) of every request so far.
    stranger
        Status and JSON for who has no good token.
    fails
        Called with the number of a request; a true answer fails it with 503, done or not done.
    """

    def __init__(self):
        self.stranger = _error("wrong token")
        self.release = RECORDED["version"]["release"]
        self.project = copy.deepcopy(RECORDED["project"])
        self.project |= {"maximum_annotations": 1, "show_collab_predictions": True}  # as when new
        self.users, self.tasks, self.views, self.hooks = [], {}, {}, {}
        self.tokens = {f"Token {TOKEN}"}
        self.calls, self.fails, self.refreshed = [], lambda number: "", 0
        self.lock, self.ids, self.clock = threading.RLock(), 0, 1_700_000_000.0

    def number(self):
        self.ids += 1
        return self.ids

    def stamp(self):
        """A moment, each later than the last."""
        self.clock += 1.0
        return datetime.fromtimestamp(self.clock, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def sign_up(self, email):
        with self.lock:
            user = {**RECORDED["user"], "id": self.number(), "email": email}
            self.users.append(user)
            return user

    def called(self, name):
        return next(t for t in self.tasks.values() if t["data"]["task"] == name)

    def tab(self, email):
        """The tasks that a person's tab shows and that they have not done, as next_task does."""
        (view,) = (v for v in self.views.values() if v["data"]["title"] == email)
        (item,) = view["data"]["filters"]["items"]
        assert (item["filter"], item["operator"]) == ("filter:tasks:data.assigned", "contains")
        me = next(u["id"] for u in self.users if u["email"] == email)
        return [
            task["data"]["task"]
            for _, task in sorted(self.tasks.items())
            if item["value"].lower() in task["data"]["assigned"].lower()
            and me not in [a["completed_by"] for a in task["annotations"]]
        ]

    def annotate(self, email, name, label, **more):
        """Do what a person does: None skips; then call the webhooks."""
        with self.lock:
            task, stamp = self.called(name), self.stamp()
            one = {
                **RECORDED["annotation"],
                "id": self.number(),
                "task": task["id"],
                "result": [] if label is None else [choice(label)],
                "was_cancelled": label is None,
                "completed_by": next(u["id"] for u in self.users if u["email"] == email),
                "created_at": stamp,
                **more,
            }
            task["annotations"].append(one)
            task["updated_at"] = self.stamp()
            hooks = list(self.hooks.values())
        for hook in hooks:
            body = json.dumps({"action": "ANNOTATION_CREATED"}).encode()
            request = urllib.request.Request(hook["url"], body, hook["headers"])
            urllib.request.urlopen(request, timeout=60).close()
        return one

    def lets_in(self, headers, path):
        return path in OPEN or headers.get("Authorization") in self.tokens

    def answer(self, method, path, query, body):
        """Status and JSON."""
        reply, numbers = routed(ROUTES, method, path)
        return reply(self, query, body, *map(int, numbers))


def routed(routes, method, path):
    """What answers a request, and the parts of its path."""
    for pattern, reply in routes.items():
        verb, _, route = pattern.partition(" ")
        found = re.fullmatch(route, path)
        if verb == method and found:
            return reply, found.groups()
    raise AssertionError(f"{method} {path} was never recorded")


def _error(name):
    return RECORDED[name]["status"], RECORDED[name]["body"]


def _project(studio, query, body, number):
    if number != PROJECT:
        return _error("no project")
    studio.project |= body or {}
    return 200, studio.project


def _import(studio, query, body, number):
    if any("text" not in one["data"] for one in body):
        return _error("lacks text")
    for one in body:
        task = {**copy.deepcopy(RECORDED["task"]), "id": studio.number(), "data": one["data"]}
        task["updated_at"] = studio.stamp()
        studio.tasks[task["id"]] = task
    return 201, {**RECORDED["imported"], "task_count": len(body)}


def _tasks(studio, query, body):
    found = [task for _, task in sorted(studio.tasks.items())]
    if "query" in query:
        (item,) = json.loads(query["query"])["filters"]["items"]
        assert item["filter"] == "filter:tasks:updated_at"
        assert item["operator"] == "greater_or_equal"
        found = [task for task in found if task["updated_at"] >= item["value"]]
    page, size = int(query["page"]), int(query["page_size"])
    part = found[(page - 1) * size : page * size]
    if not part and page > 1:
        return _error("page after the last")
    assert query["fields"] == "all"
    return 200, {**RECORDED["page of tasks"], "total": len(found), "tasks": part}


def _task(studio, query, body, number):
    if number not in studio.tasks:
        return _error("no task")
    studio.tasks[number] |= {**body, "updated_at": studio.stamp()}
    return 200, studio.tasks[number]


def _views(studio, query, body):
    return 200, list(studio.views.values())


def _new_view(studio, query, body):
    made = {**RECORDED["view"], "id": studio.number(), **body}
    studio.views[made["id"]] = made
    return 201, made


def _predict(studio, query, body, *number):
    every = [p for task in studio.tasks.values() for p in task["predictions"]]
    made = next((p for p in every if p["id"] in number), None)
    if made is None:
        made = {**RECORDED["prediction"], "id": studio.number()}
        studio.tasks[body["task"]]["predictions"].append(made)
    made |= body
    return 200 if number else 201, made


def _hooks(studio, query, body):
    return 200, list(studio.hooks.values())


def _new_hook(studio, query, body):
    made = {**RECORDED["webhook"], "id": studio.number(), **body}
    studio.hooks[made["id"]] = made
    return 201, made


def _no_hook(studio, query, body, number):
    del studio.hooks[number]
    return 204, None


def _refresh(studio, query, body):
    if body["refresh"] != PERSONAL:
        return _error("wrong token")
    studio.refreshed += 1
    studio.tokens = {f"Bearer access{studio.refreshed}"}
    return 200, {"access": f"access{studio.refreshed}"}


ROUTES = {
    "GET /api/version": lambda studio, query, body: (
        200,
        {**RECORDED["version"], "release": studio.release},
    ),
    "GET /api/users/": lambda studio, query, body: (200, studio.users),
    r"GET /api/projects/(\d+)/": _project,
    r"PATCH /api/projects/(\d+)/": _project,
    r"POST /api/projects/(\d+)/import": _import,
    "GET /api/tasks": _tasks,
    r"PATCH /api/tasks/(\d+)/": _task,
    "GET /api/dm/views/": _views,
    "POST /api/dm/views/": _new_view,
    "POST /api/predictions/": _predict,
    r"PATCH /api/predictions/(\d+)/": _predict,
    "GET /api/webhooks/": _hooks,
    "POST /api/webhooks/": _new_hook,
    r"DELETE /api/webhooks/(\d+)/": _no_hook,
    "POST /api/token/refresh/": _refresh,
}
OPEN = ("/api/version", "/api/token/refresh/")


class _Handler(BaseHTTPRequestHandler):
    timeout = 60

    def _do(self):
        studio = self.server.studio
        address = urllib.parse.urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = dict(urllib.parse.parse_qsl(address.query))
        with studio.lock:
            studio.calls.append((self.command, address.path))
            fails = studio.fails(len(studio.calls))
            if fails == "before":
                return self._send(503, {})
            if not studio.lets_in(self.headers, address.path):
                return self._send(*studio.stranger)
            body = json.loads(raw) if raw else None
            status, found = studio.answer(self.command, address.path, query, body)
            return self._send(*((503, {}) if fails else (status, found)))

    do_GET = do_POST = do_PATCH = do_DELETE = _do

    def _send(self, status, body):
        raw = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        """Write no log."""


@contextmanager
def listening(studio, handler=_Handler, wrap=lambda socket: socket):
    """Serve it on a free port of this machine; its address without the scheme."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.socket = wrap(server.socket)
    server.studio = studio
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""A plan in the real Label Studio: people see their tasks and no others; their answers come back.

Run with ``TVCS_LABEL_STUDIO=/path/to/label-studio pytest -m label_studio``; the program is that of
the package label-studio, which needs an environment of its own.
"""

import http.cookiejar
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from crowd_tvcs.exchange import export, import_answers, read_tasks
from tests.crowd import tools
from tvcs_core.files.spreadsheet import shield

PROGRAM = os.environ.get("TVCS_LABEL_STUDIO")
pytestmark = [
    pytest.mark.label_studio,
    pytest.mark.skipif(PROGRAM is None, reason="TVCS_LABEL_STUDIO names no label-studio program"),
]
TOKEN = "0123456789abcdef0123456789abcdef01234567"
PASSWORD = "a-long-password"
CONFIG = (
    '<View><Text name="text" value="$text"/><Choices name="label" toName="text">'
    '<Choice value="yes"/><Choice value="no"/></Choices></View>'
)
WORKERS = [f"w{i}@example.com" for i in range(3)]
TASKS = ["007", "NA", "=SUM(1)", "två", "5"]
PAIRS = [(w, t) for i, w in enumerate(WORKERS) for j, t in enumerate(TASKS) if (i + 2 * j) % 4 < 2]


def answer(task, worker):
    return "yes" if (TASKS.index(task) + WORKERS.index(worker)) % 2 else "no"


class Server:
    """A running Label Studio, spoken to over HTTP."""

    def __init__(self, address):
        self.address = address

    def call(self, method, path, token, body=None):
        """The answer as JSON; None where there is nothing (404)."""
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Token {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 404:
                    return None
                raise AssertionError(f"{method} {path}: {error.read()!r}") from None

    def sign_up(self, email):
        """Make an account as a person does; its token."""
        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        page = f"{self.address}/user/signup/"
        opener.open(page, timeout=60).close()
        fields = {
            "csrfmiddlewaretoken": next(c.value for c in jar if c.name == "csrftoken"),
            "email": email,
            "password": PASSWORD,
            "allow_newsletters": "false",
            "how_find_us": "x",
        }
        data = urllib.parse.urlencode(fields).encode()
        opener.open(urllib.request.Request(page, data, {"Referer": page}), timeout=60).close()
        with opener.open(f"{self.address}/api/current-user/token", timeout=60) as response:
            return json.loads(response.read())["token"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("label-studio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        *(PROGRAM, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)),
        *("--data-dir", str(folder), "--username", "boss@example.com", "--password", PASSWORD),
        *("--user-token", TOKEN, "--enable-legacy-api-token"),
    ]
    quiet = {"COLLECT_ANALYTICS": "0", "LATEST_VERSION_CHECK": "0", "PYTHONWARNINGS": "ignore"}
    quiet["LABEL_STUDIO_BASE_DATA_DIR"] = str(folder)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            words, cwd=folder, env={**os.environ, **quiet}, stdout=log, stderr=log
        )
        try:
            out = Server(f"http://127.0.0.1:{port}")
            wait_for(out, process, folder / "log")
            yield out
        finally:
            process.terminate()
            process.wait(timeout=30)


def wait_for(server, process, log):
    """Give a fresh data base its time."""
    until = time.monotonic() + 300
    while time.monotonic() < until and process.poll() is None:
        try:
            server.call("GET", "/api/version", TOKEN)
        except OSError:
            time.sleep(1)
        else:
            return
    pytest.fail(f"Label Studio did not start: {log.read_text()[-2000:]}")


def open_view(server, project, worker):
    """A tab of the data manager that shows one worker's tasks."""
    only_his = {
        "filter": "filter:tasks:data.assigned",
        "operator": "contains",
        "type": "String",
        "value": f"|{worker}|",
    }
    data = {"title": worker, "filters": {"conjunction": "and", "items": [only_his]}}
    body = {"project": project, "data": data}
    return server.call("POST", "/api/dm/views/", TOKEN, body)["id"], data["filters"]


def work_through(server, project, worker, token, view, filters):
    """Answer what the view gives until it gives nothing; the names of the tasks."""
    seen = []
    while True:
        path = f"/api/dm/actions/?id=next_task&project={project}&tabID={view}"
        body = {"filters": filters, "selectedItems": {"all": True, "excluded": []}}
        given = server.call("POST", path, token, body)
        if given is None:
            return seen
        name = given["data"]["task"]
        seen.append(name)
        assert len(seen) <= len(TASKS)
        result = [tools.choice(answer(name, worker))]
        body = {"result": result, "lead_time": 1.0}
        server.call("POST", f"/api/tasks/{given['id']}/annotations/", token, body)


def test_everybody_gets_his_tasks_and_the_answers_come_back(server, tmp_path):
    shown = [{"task": shield(task), "text": f"is {task}?"} for task in TASKS]
    tools.write(tmp_path / "t.csv", shown)
    export(PAIRS, "label-studio", tmp_path / "tasks.json", tasks=read_tasks(tmp_path / "t.csv"))
    settings = {"title": "a plan", "label_config": CONFIG, "maximum_annotations": len(WORKERS)}
    project = server.call("POST", "/api/projects/", TOKEN, settings)["id"]
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    assert server.call("POST", f"/api/projects/{project}/import", TOKEN, tasks)["task_count"] == 5
    for worker in WORKERS:
        token = server.sign_up(worker)
        seen = work_through(server, project, worker, token, *open_view(server, project, worker))
        assert sorted(seen) == sorted(task for name, task in PAIRS if name == worker)
    expected = sorted((task, worker, answer(task, worker)) for worker, task in PAIRS)
    for kind in ("JSON", "JSON_MIN"):
        path = f"/api/projects/{project}/export?exportType={kind}"
        found = server.call("GET", path, TOKEN)
        (tmp_path / kind).write_text(json.dumps(found), encoding="utf-8")
    users = server.call("GET", "/api/users/", TOKEN)
    accounts = {str(user["id"]): user["email"] for user in users}
    for kind, question in (("JSON", None), ("JSON_MIN", "label")):
        back = import_answers(tmp_path / kind, "label-studio", question=question, accounts=accounts)
        assert back.rows == tuple(expected)

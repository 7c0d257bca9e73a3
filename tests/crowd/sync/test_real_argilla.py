"""The same with Argilla's own server, its search engine and Redis left out.

Run with ``TVCS_ARGILLA=/path/to/python pytest -m argilla``; that Python has the packages
argilla-server and fakeredis, which need an environment of their own.
"""

import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from crowd_tvcs.sync.argilla import Argilla
from crowd_tvcs.sync.loop import Settings, Sync
from tests.crowd.real_studio import wait_for
from tests.crowd.sync.argilla_desk import KEY, NAME, RECORDED
from tests.crowd.sync.conftest import answers, audit

PYTHON = os.environ.get("TVCS_ARGILLA")
pytestmark = [
    pytest.mark.argilla,
    pytest.mark.skipif(PYTHON is None, reason="TVCS_ARGILLA names no Python with Argilla"),
]
TASKS = ["t0", "t1", "t2"]


def call(address, method, path, body=None, key=KEY):
    request = urllib.request.Request(
        f"{address}/api/v1{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"X-Argilla-Api-Key": key, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("argilla")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(__file__).with_name("serve_argilla.py")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [PYTHON, str(script), str(port), str(folder)],
            env=environment, cwd=folder, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            found = f"http://127.0.0.1:{port}"
            wait_for(lambda: call(found, "GET", "/version"), process, folder / "log")
            yield found
        finally:
            process.terminate()
            process.wait(timeout=30)


def make_dataset(address):
    """A dataset with a text and a label, as an operator makes it; keys of two people."""
    (space,) = call(address, "GET", "/me/workspaces")["items"]
    keys = {}
    for name in ("ann", "bob"):
        user = {"username": name, "password": "a-long-password", "first_name": name}
        made = call(address, "POST", "/users", user | {"role": "annotator"})
        call(address, "POST", f"/workspaces/{space['id']}/users", {"user_id": made["id"]})
        keys[name] = made["api_key"]
    dataset = call(address, "POST", "/datasets", {"name": NAME, "workspace_id": space["id"]})["id"]
    text = {"name": "text", "title": "text", "required": True, "settings": {"type": "text"}}
    options = [{"value": "yes", "text": "Yes"}, {"value": "no", "text": "No"}]
    label = {"name": "label", "title": "label", "required": True}
    label["settings"] = {"type": "label_selection", "options": options}
    call(address, "POST", f"/datasets/{dataset}/fields", text)
    call(address, "POST", f"/datasets/{dataset}/questions", label)
    call(address, "PUT", f"/datasets/{dataset}/publish")
    return dataset, keys


def test_two_people_label_a_campaign_in_argilla(address, begin):
    dataset, keys = make_dataset(address)
    workers = {"ann": 0.9, "bob": 0.8}
    campaign = begin(
        workers=workers, tasks=TASKS, qualities=workers, classes=["yes", "no"], budget=5
    )
    settings = Settings(2, None, {}, predictions=True)
    sync = Sync(campaign, Argilla(address, KEY, NAME, predictions=True), settings, print)
    sync.begin()
    sync.tool.set_webhook("http://127.0.0.1:9/x")
    message = _label(sync, address, dataset, keys)
    found = answers(campaign)
    assert found == sorted((*pair, label) for pair, label in message.items())
    assert len(found) == 5  # the budget; the sixth pair was skipped
    assert sum(what == "skip" for _, what, _, _ in audit(campaign)) == 1
    (hook,) = call(address, "GET", "/webhooks")["items"]
    sync.tool.set_webhook(None)
    assert call(address, "GET", "/webhooks")["items"] == []
    records = _records(address, dataset)
    assert all(one["metadata"]["assigned"] == [] for one in records)
    again = Sync(campaign, Argilla(address, KEY, NAME, predictions=True), settings, print)
    again.begin()
    again.step()
    assert answers(campaign) == found
    _hold_against_recorded(address, dataset, records, hook)


def _records(address, dataset):
    path = f"/datasets/{dataset}/records?include=responses&limit=100"
    return call(address, "GET", path)["items"]


def _label(sync, address, dataset, keys):
    """Everybody answers what names them; Bob skips the first."""
    message, is_skipped = {}, False
    for _ in range(10):
        sync.step()
        for one in _records(address, dataset):
            for name in one["metadata"]["assigned"]:
                task, path = one["external_id"], f"/records/{one['id']}/responses"
                if name == "bob" and not is_skipped:
                    is_skipped = True
                    call(address, "POST", path, {"status": "discarded"}, keys[name])
                    continue
                message[name, task] = "yes" if task == "t1" else "no"
                values = {"label": {"value": message[name, task]}}
                body = {"status": "submitted", "values": values}
                call(address, "POST", path, body, keys[name])
    return message


def _hold_against_recorded(address, dataset, records, hook):
    """The small server of the fast tests speaks as this one: same fields."""
    responses = [one for record in records for one in record["responses"]]
    now = {
        "submitted": next(one for one in responses if one["status"] == "submitted"),
        "discarded": next(one for one in responses if one["status"] == "discarded"),
        "record": records[0],
        "webhook": hook,
        "dataset": call(address, "GET", f"/datasets/{dataset}"),
        "question": call(address, "GET", f"/datasets/{dataset}/questions")["items"][0],
        "field": call(address, "GET", f"/datasets/{dataset}/fields")["items"][0],
        "version": call(address, "GET", "/version"),
        "workspace": call(address, "GET", "/me/workspaces")["items"][0],
    }
    for name, found in now.items():
        assert set(RECORDED[name]) <= set(found), name

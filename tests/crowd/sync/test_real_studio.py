"""A campaign kept in step with the real Label Studio, by the command, while two people label.

How it is run: see `tests.crowd.real_studio`.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from crowd_tvcs.sync.label_studio import LabelStudio
from tests.crowd import tools
from tests.crowd.real_studio import MARKS, TOKEN
from tests.crowd.sync import studio as fake
from tests.crowd.sync.conftest import ANN, BOB, TASKS, answers, audit
from tests.crowd.sync.studio import RECORDED
from tests.makers.campaigns import rows_of

pytestmark = MARKS
TIMEOUT_SECONDS = 240.0


@pytest.fixture(scope="module")
def people(real_studio):
    """Tokens of two people."""
    return {who: real_studio.sign_up(who) for who in (ANN, BOB)}


@pytest.fixture
def project(real_studio):
    settings = {"title": "a campaign", "label_config": fake.CONFIG}
    return real_studio.call("POST", "/api/projects/", TOKEN, settings)["id"]


@contextmanager
def syncing(campaign, server, project, log, *more):
    """Run the command until Ctrl-C."""
    words = ["-m", "crowd_tvcs", "sync", "label-studio", campaign.store.place, server.address]
    words += ["--project", str(project), *more]
    environment = {**os.environ, "LABEL_STUDIO_API_KEY": TOKEN}
    with log.open("w") as file:
        process = subprocess.Popen([sys.executable, *words], env=environment, stderr=file)
        try:
            yield process
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == (0 if "--once" in more else 130), log.read_text()
        finally:
            process.kill()
            process.wait()


def next_task(server, project, who, token):
    """What the label stream of a person's tab shows next, or None."""
    views = server.call("GET", f"/api/dm/views/?project={project}", TOKEN)
    view = next((view for view in views if view["data"]["title"] == who), None)
    if view is None:
        return None
    path = f"/api/dm/actions/?id=next_task&project={project}&tabID={view['id']}"
    body = {"filters": view["data"]["filters"], "selectedItems": {"all": True, "excluded": []}}
    return server.call("POST", path, token, body)


def annotate(server, token, given, label, **more):
    result = [] if label is None else [tools.choice(label)]
    body = {"result": result, "lead_time": 2.5, **more}
    return server.call("POST", f"/api/tasks/{given['id']}/annotations/", token, body)


def until(what):
    """Wait until it is so."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not what():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_two_people_label_a_campaign_through_their_tabs(
    real_studio, people, project, make, tmp_path
):
    """Every answer is in the store with its time; nobody gets more than the caps; it all ends."""
    campaign = make(budget=8, max_tasks_per_worker=5)
    more = ["--listen", "127.0.0.1:0", "--every", "20", "--batch", "2", "--predictions"]
    hooks = f"/api/webhooks/?project={project}"
    message = {}
    with syncing(campaign, real_studio, project, tmp_path / "log", *more):
        until(lambda: all(next_task(real_studio, project, w, t) for w, t in people.items()))
        until(lambda: real_studio.call("GET", hooks, TOKEN))
        end = time.monotonic() + TIMEOUT_SECONDS
        while len(answers(campaign)) < 8 and time.monotonic() < end:
            for who, token in people.items():
                given = next_task(real_studio, project, who, token)
                if given is not None:
                    task = given["data"]["task"]
                    assert (who, task) not in message
                    message[who, task] = "yes" if TASKS.index(task) % 2 else "no"
                    annotate(real_studio, token, given, message[who, task])
            time.sleep(0.2)
        until(lambda: not any(next_task(real_studio, project, w, t) for w, t in people.items()))
    assert real_studio.call("GET", hooks, TOKEN) == []
    found = answers(campaign)
    assert found == sorted((*pair, label) for pair, label in message.items())
    assert len(found) == 8
    assert max(Counter(who for who, _, _ in found).values()) <= 5
    assert max(Counter(task for _, task, _ in found).values()) <= 2
    assert set(rows_of(campaign, "SELECT seconds FROM pair WHERE state = 3")) == {(2.5,)}
    page = real_studio.call("GET", f"/api/tasks?project={project}&fields=all&page_size=100", TOKEN)
    result = {t["data"]["task"]: len(t["predictions"]) for t in page["tasks"]}
    assert result == {task: int(any(t == task for _, t, _ in found)) for task in TASKS}


def test_a_look_now_and_then_skips_and_comes_to_the_same(
    real_studio, people, project, campaign, tmp_path
):
    """As cron runs it: an answer, a skip, an answer to what was not given, each seen twice."""

    def look():
        with syncing(campaign, real_studio, project, tmp_path / "log", "--once") as process:
            assert process.wait(timeout=TIMEOUT_SECONDS) == 0, (tmp_path / "log").read_text()

    look()
    token = people[ANN]
    answered = next_task(real_studio, project, ANN, token)
    annotate(real_studio, token, answered, "yes")
    skipped = next_task(real_studio, project, ANN, token)
    annotate(real_studio, token, skipped, None, was_cancelled=True)
    page = real_studio.call("GET", f"/api/tasks?project={project}&page_size=100", TOKEN)
    other = next(t for t in page["tasks"] if BOB not in t["data"]["assigned"])
    annotate(real_studio, people[BOB], other, "no")
    look()
    look()
    assert answers(campaign) == [(ANN, answered["data"]["task"], "yes")]
    whats = [(who, what, task) for who, what, task, _ in audit(campaign)]
    assert sorted(whats) == [
        (ANN, "answer", answered["data"]["task"]),
        (ANN, "skip", skipped["data"]["task"]),
        (BOB, "refused", other["data"]["task"]),
    ]


def test_a_personal_token_is_good_too(real_studio, people, project):
    token = real_studio.call("POST", "/api/token/", TOKEN, {})["token"]
    front = LabelStudio(real_studio.address, token, project)
    front.check(["yes", "no"], [ANN, BOB])
    assert {ANN, BOB} <= {name for names in front.people() for name in names}


def test_what_was_recorded_is_what_it_answers(real_studio, people, project):
    """The small server of the fast tests speaks as the real one: same fields, of the same kinds."""
    front = LabelStudio(real_studio.address, TOKEN, project)
    front.check(["yes", "no"], [ANN])
    front.add({"t0": {"text": "t0"}})
    front.open_tabs([ANN])
    front.set_webhook("http://127.0.0.1:9/x")
    front.read(None)
    front.predict("t0", "yes", 0.9)
    page = real_studio.call("GET", f"/api/tasks?project={project}&fields=all", TOKEN)
    annotate(real_studio, people[ANN], page["tasks"][0], "yes")
    page = real_studio.call("GET", f"/api/tasks?project={project}&fields=all", TOKEN)
    (task,) = page["tasks"]
    (hook,) = real_studio.call("GET", f"/api/webhooks/?project={project}", TOKEN)
    (view,) = real_studio.call("GET", f"/api/dm/views/?project={project}", TOKEN)
    front.set_webhook(None)
    now = {
        "annotation": task["annotations"][0],
        "prediction": task["predictions"][0],
        "task": task,
        "page of tasks": page,
        "webhook": hook,
        "view": view,
        "project": real_studio.call("GET", f"/api/projects/{project}/", TOKEN),
        "user": real_studio.call("GET", "/api/users/", TOKEN)[0],
        "version": real_studio.call("GET", "/api/version", TOKEN),
    }
    for name, found in now.items():
        assert not {k for k in RECORDED[name] if k not in found}, name
        for key in ("id", "updated_at", "data", "result", "completed_by", "headers", "url"):
            if key in RECORDED[name]:
                assert type(found[key]) is type(RECORDED[name][key]), (name, key)

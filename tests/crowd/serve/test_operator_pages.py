"""The operator's pages: the password, the figures, and every button."""

import csv
import io
import re
import time
from types import SimpleNamespace

import argon2
import numpy as np
import pytest
from fastapi.testclient import TestClient

from crowd_tvcs import Quality
from crowd_tvcs.campaign import Campaign, Task, Worker, rounds, summary, task_statuses
from crowd_tvcs.campaign.desk import figures
from crowd_tvcs.campaign.desk.figures import note_history
from crowd_tvcs.campaign.desk.worker_activity import list_worker_activity
from crowd_tvcs.campaign.store.schema import audit
from crowd_tvcs.serve import operator as operator_pages
from crowd_tvcs.serve import operator_auth
from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.limits import RateLimitError
from tests.crowd.serve import conftest
from tests.crowd.serve.conftest import BASE, PASSWORD, hidden, post
from tests.makers.campaigns import rows_of


def do(client, what, name=""):
    return post(client, "do", what=what, name=name)


PAGES = ("", "/advice", "/labels.csv", "/payout.csv", "/tasks", "/people", "/settings",
         "/task?name=t1", "/person?name=ann")  # fmt: skip


def test_without_the_password_there_is_nothing(browse, tokens, served):
    clients = [browse(), browse(tokens["ann"]), browse()]
    clients[-1].cookies.set(served.cookies.operator, "x.y.z")
    for client in clients:
        for path in PAGES:
            answer = client.get(f"/operator{path}", follow_redirects=False)
            assert (answer.status_code, answer.headers["location"]) == (303, "/operator/login")
        for path in ("do", "settle", "task-caps", "person-cap", "pay", "change"):
            given = {"form": "x", "name": "t1", "what": "pause", "budget": "1"}
            answer = client.post(f"/operator/{path}", data=given)
            assert answer.url.path == "/operator/login"
    settings = served.campaign.state().settings
    assert (settings.paused, settings.budget) == (None, None)


def set_clock(monkeypatch, now):
    monkeypatch.setattr(operator_auth, "time", SimpleNamespace(time=lambda: now))


def test_five_wrong_passwords_are_looked_at_whatever_way_they_come(browse, served, monkeypatch):
    set_clock(monkeypatch, 1000.0)
    client, status = browse(), "/api/v1/status"
    assert client.get(status, auth=("x", PASSWORD)).status_code == 200
    tries = [client.post("/operator/login", data={"password": str(k)}) for k in range(3)]
    tries += [client.get(status, auth=("x", str(k))) for k in range(3)]
    assert [page.status_code for page in tries] == [401] * 5 + [429]
    assert int(tries[-1].headers["retry-after"]) == 60
    set_clock(monkeypatch, 1045.5)
    answer = client.post("/operator/login", data={"password": "x"})
    assert int(answer.headers["retry-after"]) == 15
    assert client.post("/operator/login", data={"password": PASSWORD}).status_code == 429
    assert client.get(status, auth=("x", PASSWORD)).status_code == 429  # else it could be guessed
    set_clock(monkeypatch, 1061.0)
    assert client.get(status, auth=("x", PASSWORD)).status_code == 200


def audited(campaign):
    return len(rows_of(campaign, "SELECT id FROM audit"))


def test_a_network_of_ipv6_is_one_address(served, campaign):
    tries = [served.auth.check_password("x", f"2001:db8:0:1::{k:x}") for k in range(5)]
    assert tries == [False] * 5
    with pytest.raises(RateLimitError):
        served.auth.check_password(PASSWORD, "2001:db8:0:1:ffff::")
    for other in ("2001:db8:0:2::", "::ffff:192.0.2.1", "192.0.2.2", "nowhere"):
        assert served.auth.check_password(PASSWORD, other)
    for _ in range(5):
        served.auth.check_password("x", "::ffff:192.0.2.1")
    with pytest.raises(RateLimitError):
        served.auth.check_password(PASSWORD, "192.0.2.1")
    assert audited(campaign) == 10


def test_strangers_cannot_fill_the_audit_nor_guess_more_for_it(served, campaign, monkeypatch):
    monkeypatch.setattr(operator_auth, "MAX_RECORDED", 6)
    set_clock(monkeypatch, 1000.0)
    for k in range(6):
        assert not served.auth.check_password("x", f"192.0.2.{k}")
    for _ in range(5):
        with pytest.raises(RateLimitError) as refused:
            served.auth.check_password("x", "192.0.2.9")
        assert refused.value.wait == 60.0
    assert audited(campaign) == 6
    with pytest.raises(RateLimitError):
        served.auth.check_password(PASSWORD, "192.0.2.9")
    assert served.auth.check_password(PASSWORD, "192.0.2.10")
    with pytest.raises(RateLimitError):
        served.auth.check_password(PASSWORD, "192.0.2.9")  # by its quick hash
    set_clock(monkeypatch, 1060.5)
    assert not served.auth.check_password("x", "192.0.2.9")
    assert audited(campaign) == 7


def test_entries_that_come_late_hide_no_wrong_password(served, campaign):
    for _ in range(5):
        served.auth.check_password("x", "192.0.2.1")
    with campaign.store.write() as (connection, _, _):
        late = operator_auth.time.time() - 500.0  # as of a long round of `sync`
        connection.execute(audit.insert(), [{"at": late, "who": "ann", "what": "answer"}])
    with pytest.raises(RateLimitError):
        served.auth.check_password(PASSWORD, "192.0.2.1")


def test_a_password_is_looked_at_without_a_walk_of_the_audit(served, campaign, monkeypatch):
    """SQLite counts its steps, which no other load changes."""
    steps = []
    for more in (100, 10_000):
        with campaign.store.write() as (connection, _, _):
            row = {"at": 1.0, "who": "ann", "what": "skip"}
            connection.execute(audit.insert(), [row] * more)
        with campaign.store.read() as (connection, _):
            driver = connection.connection.driver_connection
            count = []
            driver.set_progress_handler(lambda count=count: count.append(1) and None, 1)
            operator_auth._WRONG(connection, since=1000.0, old=940.0)
            driver.set_progress_handler(None, 1)
        steps.append(len(count))
    assert steps[1] < steps[0] + 50


def test_a_try_costs_what_is_recommended():
    """Tests of pages make it cheap, see conftest."""
    recommended = argon2.profiles.RFC_9106_LOW_MEMORY
    assert {name: getattr(recommended, name) for name in operator_auth.ARGON2_COST} == conftest.COST


def test_buttons(operator, campaign):
    assert "Paused: no tasks are assigned." in do(operator, "pause").text
    assert campaign.next("ann").task is None
    assert "Paused" not in do(operator, "resume").text
    do(operator, "block", "ann")
    assert campaign.next("ann").task is None
    do(operator, "unblock", "ann")
    assert campaign.next("ann").task == "t1"
    do(operator, "close", "t2")
    assert [t.closed for t in campaign.state().tasks] == [0, 1, 0]
    do(operator, "reopen", "t2")
    assert [t.closed for t in campaign.state().tasks] == [0, 0, 0]
    assert "0 tasks reopened" in do(operator, "reopen all").text
    assert "are closed" in do(operator, "close unworthy").text
    assert do(operator, "block", "eve").status_code == 409
    assert do(operator, "close", "t9").status_code == 409
    assert do(operator, "dance").status_code == 409
    form = {"what": "pause", "form": "x.y.z"}
    assert operator.post("/operator/do", data=form).status_code == 409
    noted = [what for (what,) in rows_of(campaign, "SELECT what FROM audit ORDER BY id")]
    assert noted == ["pause", "resume", "block", "unblock", "close", "reopen"]


def test_workers_are_added_with_their_limits_and_links(operator, campaign, browse):
    limits = {"max_tasks": "2", "cost": "0.5", "group": "night"}
    message = post(operator, "workers", names="dee, eli", **limits).text
    assert "2 workers added" in message
    assert "tasks once crowd-tvcs campaign add --quality adds their quality" in message
    rows = {w.name: w for w in campaign.state().workers}
    dee = rows["dee"]
    assert (dee.max_tasks, dee.cost, dee.team) == (2, 500_000, "night")
    for wrong in ({"names": "dee"}, {"names": " , "}, {"names": "f", "cost": "x"}):
        assert post(operator, "workers", **wrong).status_code == 400
    assert post(operator, "workers", names="f", max_tasks="-1").status_code == 400
    assert "f" not in {w.name for w in campaign.state().workers}
    table = list(csv.reader(io.StringIO(post(operator, "links").text)))
    assert [row[0] for row in table] == ["worker", "ann", "bob", "cy", "dee", "eli"]
    eli = browse()
    page = eli.get(table[-1][1].removeprefix("http://127.0.0.1:8000"))
    assert page.status_code == 200
    assert "Your account is not set up yet" in page.text  # qualities come from a table
    token = {"Authorization": f"Bearer {table[-1][1].rpartition('/')[2]}"}
    assert eli.post("/api/v1/next", headers=token).json()["state"] == "unknown"
    campaign.add(qualities={"eli": 0.9})
    assert "task" in hidden(eli.get("/"))
    assert len(post(operator, "links").text.splitlines()) == 1  # all have one


def test_in_a_campaign_of_kinds_a_new_worker_is_described_by_kinds(tmp_path):
    table = Quality(np.array([[0.9]]), ["ann"], ["dark"])
    given = {"workers": ["ann"], "tasks": [Task("t1", kind="dark")], "kinds": table}
    with Campaign.create(tmp_path / "c.db", **given) as campaign:
        app = create_app(Served(campaign, PASSWORD))
        with TestClient(app, base_url=BASE) as client:
            client.post("/operator/login", data={"password": PASSWORD})
            message = post(client, "workers", names="dee").text
    assert "tasks once crowd-tvcs campaign add --kinds adds their quality" in message


def test_closed_tasks_are_listed_and_what_changed_is_in_the_audit(operator, campaign):
    do(operator, "close", "t2")
    listed = operator.get("/operator/tasks?show=closed").text
    assert "1 to 1 of 1" in listed
    assert "/operator/task?name=t2" in listed
    campaign.add(tasks=["t4"])
    campaign.review_tasks(min_gain=1.0, close=True)
    campaign.reopen()
    rows = rows_of(campaign, "SELECT what, task, detail FROM audit ORDER BY id")
    others = [("close", name, "not worth it") for name in ("t1", "t3", "t4")]
    opened = [("reopen", name, None) for name in ("t1", "t2", "t3", "t4")]
    assert rows == [("close", "t2", None), ("add", None, "1 task"), *others, *opened]
    assert " of 0<" in operator.get("/operator/tasks?show=closed").text


def test_a_preview_of_a_round_issues_nothing(tmp_path, browse):
    """With money too, which not every method honours."""
    workers = [Worker(name, cost=1.0) for name in ("ann", "bob")]
    qualities = {"ann": 0.9, "bob": 0.8}
    options = {"workers": workers, "tasks": ["t1", "t2"], "qualities": qualities, "money": 9.0}
    with Campaign.create(tmp_path / "m.db", **options) as campaign:
        client = TestClient(create_app(Served(campaign, PASSWORD)), base_url=BASE)
        with client:
            client.post("/operator/login", data={"password": PASSWORD})
            result = post(client, "preview", labels=2).text
            assert "2 labels are worth the price" in result
            assert "rises from 50.00% to 90.00%. No task was issued." in result
            assert campaign.state().settings.rounds == 0
            page = post(client, "plan", labels=2)
            assert len(page.text.splitlines()) == 3
            assert campaign.state().settings.rounds == 1


def test_a_round_that_others_overtake_is_reported(operator, campaign, monkeypatch):
    propose = rounds.propose

    def overtaken(state, *asked):
        found = propose(state, *asked)
        campaign.block("ann", campaign.state().settings.revision % 2 == 0)
        return found

    monkeypatch.setattr(rounds, "propose", overtaken)
    page = post(operator, "plan", labels=2)
    assert page.status_code == 409
    assert "no task was issued" in page.text
    assert campaign.state().settings.rounds == 0


def test_the_figures_are_asked_for_often_and_summed_up_seldom(operator, campaign, monkeypatch):
    part, asked, whole = {"X-Part": "main"}, [], figures.figures

    def counted(store):
        asked.append(store)
        return whole(store)

    monkeypatch.setattr(figures, "figures", counted)
    operator.get("/operator")
    for _ in range(3):
        operator.get("/operator", headers=part)
    assert asked == []  # nothing has changed since they logged in
    campaign.submit("ann", campaign.next("ann").task, "good")
    assert "<b>1</b> labels" in operator.get("/operator").text
    assert len(asked) == 1


def test_workers_who_take_long_do_not_hold_the_figures_up(operator, campaign, monkeypatch):
    clock, asked = [time.monotonic() + 1000.0], []

    def taking(seconds, what, whole):
        def summed(store):
            asked.append(what)
            clock[0] += seconds
            return whole(store)

        return summed

    now = SimpleNamespace(monotonic=lambda: clock[0], time=time.time)
    monkeypatch.setattr(operator_pages, "time", now)
    monkeypatch.setattr(
        operator_pages, "list_worker_activity", taking(1.0, "workers", list_worker_activity)
    )
    monkeypatch.setattr(figures, "figures", taking(0.1, "figures", figures.figures))

    def labels_told(number):
        campaign.submit("ann", campaign.next("ann").task, "good")
        page = operator.get("/operator", headers={"X-Part": "main"})
        assert f"<b>{number}</b> labels" in page.text
        result, asked[:] = asked[:], []
        return result

    assert labels_told(1) == ["figures", "workers"]
    clock[0] += 2.0
    assert labels_told(2) == ["figures"]
    clock[0] += 8.0
    assert labels_told(3) == ["figures", "workers"]


def test_a_link_is_made_and_revoked(operator, browse):
    page = post(operator, "link", name="bob")
    link = re.search(r"http://127.0.0.1:8000(/w/[^<]+)", page.text)[1]
    bob = browse()
    assert bob.get(link).status_code == 200
    assert "1 link revoked" in do(operator, "revoke", "bob").text
    assert bob.get("/").status_code == 401


def test_downloads_and_a_round(operator, campaign):
    now = time.time()
    task = campaign.next("ann", now=now).task
    campaign.submit("ann", task, "good", now=now + 0.2)
    rows = list(csv.reader(io.StringIO(operator.get("/operator/answers.csv").text)))
    assert rows[0] == ["task", "worker", "label", "seconds", "too_fast"]
    assert rows[1] == [task, "ann", "good", "0.200", "1"]
    labels = operator.get("/operator/labels.csv")
    assert labels.headers["content-disposition"] == 'attachment; filename="labels.csv"'
    assert len(labels.text.splitlines()) == 4
    assert operator.get("/operator/other.csv").status_code == 404
    page = post(operator, "plan", labels=2)
    assert len(page.text.splitlines()) == 3
    assert campaign.state().settings.rounds == 1
    assert post(operator, "plan", labels=0).status_code == 400


@pytest.mark.parametrize("seed", [0, 1])
def test_the_figures_are_those_of_the_whole_state(tmp_path, seed):
    """Sums that the database makes, against those of `summary`, which reads everything."""
    rng = np.random.default_rng(seed)
    workers = [Worker(f"w{i}", max_tasks=6, cost=0.25 * i) for i in range(6)]
    qualities = {w.name: 0.6 + 0.05 * i for i, w in enumerate(workers)}
    tasks = [Task(f"t{j}") for j in range(9)]
    options = {"workers": workers, "tasks": tasks, "qualities": qualities, "money": 20.0}
    options |= {"gold": {f"t{j}": str(j % 2) for j in range(0, 9, 2)}, "budget": 40}
    with Campaign.create(tmp_path / "c.db", **options, max_workers_per_task=4) as campaign:
        for now in range(1000, 1250, 10):
            name = f"w{rng.integers(6)}"
            task = campaign.next(name, now=now).task
            if task is not None and rng.random() < 0.8:
                campaign.submit(name, task, str(rng.integers(2)), now=now + 10.0 * rng.random())
        state = campaign.state()
        result, found = summary(state, task_statuses(state)), figures.figures(campaign.store)
        for key in ("tasks", "answers", "pending", "budget", "money", "measured_on"):
            assert getattr(found, key) == result[key], key
        assert found.spent == pytest.approx(result["spent"])
        assert found.expected_accuracy == pytest.approx(result["expected_accuracy"], abs=1e-9)
        assert found.measured == pytest.approx(result["measured"])
        seats = {seat.name: seat for seat in list_worker_activity(campaign.store)}
        answers = state.answers
        for i, row in enumerate(state.workers):
            of = answers.worker_of == i
            assert seats[row.name].answers == of.sum()
            assert seats[row.name].open == (state.slots[i] == 2).sum()
            judged = of & (np.bincount(answers.task_of, minlength=9)[answers.task_of] > 1)
            likeliest = np.array([t.label for t in state.tasks])[answers.task_of]
            if judged.any():
                agreed = (answers.label_of == likeliest)[judged].mean()
                assert seats[row.name].agreement == pytest.approx(agreed)
            if of.any():
                assert seats[row.name].last_seen >= answers.when[of].max()
                assert seats[row.name].seconds == pytest.approx(np.median(answers.seconds[of]))
        order = sorted(state.tasks, key=lambda t: (t.confidence, t.id))
        assert [row["task"] for row in figures.least_confident(campaign.store, rows=20)] == [
            t.name for t in order
        ]


def test_the_curve_is_drawn(campaign, operator):
    for name in ("ann", "bob"):
        campaign.submit(name, campaign.next(name).task, "good")
        assert note_history(campaign.store, 3.0)
    assert '<polyline class="curve"' in operator.get("/operator").text

"""What goes wrong around the desk: files, stores, disk and database; each is said, none loses."""

import sqlite3
from functools import partial

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine

from benchmarks.speed.campaign import postgresql
from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.content import read_content
from crowd_tvcs.campaign.desk.gold import mix_in
from crowd_tvcs.campaign.store import store
from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.desk import Served
from tests.crowd.serve.conftest import BASE, PASSWORD, hidden
from tests.makers.commands import crowd_tvcs
from tvcs_core import DataError

served = partial(crowd_tvcs, "serve")

HUGE = 50_000_000


def submit(client, task, label="good"):
    return client.post("/api/v1/submit", json={"task": task, "label": label})


@pytest.fixture
def worker(browse, tokens):
    """A client of the API in a worker's name."""
    client = browse()
    client.headers["Authorization"] = f"Bearer {tokens['ann']}"
    return client


@pytest.mark.parametrize(
    ("name", "before", "after", "message"),
    [
        (
            "a.csv",
            "task,text\nt1,",
            "\n",
            "a cell may have 131072 characters, found one of 50000000",
        ),
        ("a.jsonl", '{"task": "t1", "text": "', '"}\n', "'t1' has more than 1000000 characters"),
    ],
)
def test_a_field_of_50_megabytes_is_named_by_its_line(tmp_path, name, before, after, message):
    (tmp_path / name).write_text(before + "x" * HUGE + after)
    with pytest.raises(DataError, match=rf"{name}:[12]: .*{message}"):
        read_content(tmp_path / name)


def test_a_request_of_50_megabytes_is_not_read(worker, campaign):
    sent = []

    def parts():
        while len(sent) < HUGE // 10_000:
            sent.append(b"x" * 10_000)
            yield sent[-1]

    assert worker.post("/api/v1/submit", content=parts()).status_code == 413
    result = {"Content-Length": str(HUGE)}
    assert worker.post("/api/v1/submit", content=b"{}", headers=result).status_code == 413
    assert campaign.state().settings.answers == 0


def test_what_is_no_answer_is_400_and_json(worker):
    bodies = [
        *(b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"[" * 60_000),
        *(b'{"task": "t1"}', b'{"task": null, "label": "good"}'),
        *(b'{"task": "t\\u00001", "label": "good"}', b'{"task": "\\ud800", "label": "good"}'),
        b'{"task": "t1", "label": ["good"]}',
    ]
    for body in bodies:
        answer = worker.post("/api/v1/submit", content=body)
        assert answer.status_code == 400, body
        assert answer.json()["detail"].startswith("body")


def test_forms_that_no_page_sends(browse, tokens, campaign):
    ann = browse(tokens["ann"])
    fields = hidden(ann.get("/"))
    token = f"form={fields['form']}&task={fields['task']}"
    for body in (b"\xff=1", b"x", b"&".join([b"a=1"] * 30), f"{token}&label=a%00b".encode()):
        assert ann.post("/answer", content=body).status_code == 400
    for content in (b"a" * 100, b"\x00" * 100):
        sent = ann.post("/answer", files={"label": content})  # as browsers send files
        assert sent.status_code == 400
    assert campaign.state().settings.answers == 0


def test_a_full_disk_is_503_and_nothing_is_lost(operator, worker, campaign):
    with campaign.store.read() as (connection, _):
        driver = connection.connection.driver_connection
        (pages,) = driver.execute("PRAGMA page_count").fetchone()
        driver.execute(f"PRAGMA max_page_count = {pages}")
    form = hidden(operator.get("/operator"))["form"]
    for k in range(100):
        names = ",".join(f"{k:03d}{j:03d}" * 30 for j in range(45))
        full = operator.post("/operator/workers", data={"names": names, "form": form})
        if full.status_code != 200:
            break
    assert full.status_code == 503
    assert int(full.headers["retry-after"]) > 0
    assert "Nothing is lost" in full.text
    assert campaign.store.place not in full.text
    there = {w.name for w in campaign.state().workers}
    assert there.isdisjoint(names.split(","))
    assert len(there) == 3 + 45 * k
    task = worker.post("/api/v1/next").json()["task"]
    assert submit(worker, task).json()["reason"] == "accepted"  # there is room for that


def test_an_answer_that_the_disk_does_not_confirm_can_be_sent_again(worker, campaign, monkeypatch):
    def full():
        raise store.StoreError("c.db: No space left on device")

    task = worker.post("/api/v1/next").json()["task"]
    monkeypatch.setattr(campaign.store, "flush", full)
    answer = submit(worker, task)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "device" not in answer.json()["detail"]  # what goes on inside is nobody's business
    monkeypatch.undo()
    assert submit(worker, task).json()["reason"] == "known already"


def test_a_database_that_is_away_is_reported_and_comes_back(browse, tokens, campaign, monkeypatch):
    """Another program holds the store: pages, the API and the operator's figures say so."""
    monkeypatch.setattr(store, "WAIT_SECONDS", 0.05)
    with Campaign(campaign.store.place) as again:  # with little patience
        monkeypatch.setattr(campaign, "store", again.store)
        ann = browse(tokens["ann"])
        page = ann.get("/")
        other = sqlite3.connect(campaign.store.place, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        fields = hidden(page) | {"label": "good"}
        for _ in range(3):
            gone = ann.post("/answer", data=fields)
            assert (gone.status_code, gone.headers["retry-after"]) == (503, "5")
            assert "Nothing is lost" in gone.text
            part = ann.post("/answer", data=fields, headers={"X-Part": "main"})
            assert part.status_code == 503
            assert "try again" in part.json()["detail"]
        other.execute("ROLLBACK")
        other.close()
        assert ann.post("/answer", data=fields).status_code == 200
        assert again.state().settings.answers == 1


@pytest.mark.slow
def test_postgresql_that_ends_every_connection_is_away_for_a_moment(tmp_path):
    """Gold among the tasks too; every request either is 503 or does what it should."""
    gold = {f"g{k}": "1" for k in range(20)}
    names = [f"t{k}" for k in range(20)]
    with postgresql() as url:
        if url is None:
            pytest.skip("there is no PostgreSQL")
        options = {"workers": ["ann"], "tasks": names, "qualities": {"ann": 0.9}, "gold": gold}
        with Campaign.create(url, **options) as campaign:
            assert mix_in(campaign.store, {}, ()) == (20, 0)
            campaign.gold_share = 0.4
            desk = Served(campaign, PASSWORD)
            desk.per_worker.burst = 1000
            token = desk.links.make(["ann"], now=1.0)["ann"]
            app = create_app(desk)
            with TestClient(app, base_url=BASE, raise_server_exceptions=False) as client:
                client.headers["Authorization"] = f"Bearer {token}"
                found, task, done = [], None, 0
                for k in range(60):
                    if k % 5 == 4:
                        end_connections(url)
                    what = {"task": task, "label": "1"}
                    path = "/api/v1/submit" if task else "/api/v1/next"
                    answer = client.post(path, json=what if task else None)
                    found.append(answer.status_code)
                    if answer.status_code == 200:
                        done += task is not None
                        record = answer.json()
                        task = record["next"]["task"] if "next" in record else record["task"]
                        if task is None:
                            break
                status = client.get("/api/v1/status", auth=("operator", PASSWORD))
                if status.status_code == 503:
                    status = client.get("/api/v1/status", auth=("operator", PASSWORD))
        assert set(found) == {200, 503}
        assert status.json()["answers"] == done > 20
        assert status.json()["gold_answers"] > 3
        assert status.json()["gold_right"] == 1.0


def end_connections(url):
    """End all connections to the server but this one."""
    engine = create_engine(url)
    with engine.connect() as connection:
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        others = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
        connection.exec_driver_sql(f"{ended} WHERE {others}")
    engine.dispose()

"""Several desks of one campaign: what one knows the other knows, and none is set up otherwise."""

import os
import signal
import sqlite3
import time
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.campaign.store import server_lock
from crowd_tvcs.campaign.store.server_lock import hold_server_lock
from crowd_tvcs.serve import desk
from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.start import ListenAddress, _run
from tests.crowd.serve.conftest import BASE, PASSWORD, begun, hidden
from tvcs_core.files.errors import RunError


@pytest.fixture
def two(database):
    """Two desks of one campaign on PostgreSQL, each as in a process of its own."""
    with begun(database) as one, Campaign(database) as other:
        both = Served(one, PASSWORD), Served(other, PASSWORD)
        for served in both:
            served.pages.least = 0.0
        yield both


@pytest.fixture
def browse_two(two):
    """Browsers that share their cookies, one at each desk: a proxy may send people to any."""
    clients = [TestClient(create_app(served), base_url=BASE) for served in two]
    for client in clients:
        client.__enter__()
    clients[1].cookies = clients[0].cookies.jar
    yield clients
    for client in clients:
        client.__exit__(None, None, None)


def test_a_worker_and_the_operator_may_be_at_either(two, browse_two):
    here, there = browse_two
    token = two[0].links.make(["ann"], now=1.0)["ann"]
    page = there.get(f"/w/{token}")
    first = hidden(page)["task"]
    page = here.post("/answer", data=hidden(page) | {"label": "good"})
    second = hidden(page)["task"]
    assert second != first
    page = there.post("/undo", data=hidden(page))
    assert hidden(page)["task"] == first
    assert hidden(here.get("/"))["task"] == first

    assert here.post("/operator/login", data={"password": PASSWORD}).url.path == "/operator"
    page = there.get("/operator")
    assert "<b>0</b> labels" in page.text
    there.post("/answer", data=hidden(there.get("/")) | {"label": "good"})
    assert "<b>1</b> labels" in here.get("/operator").text
    assert "<b>1</b> labels" in there.get("/operator").text
    page = here.post("/operator/do", data={"what": "pause", "form": hidden(page)["form"]})
    assert "Paused: no tasks are assigned." in there.get("/operator").text
    assert here.post("/operator/logout", data={"form": hidden(page)["form"]}).status_code == 200


def test_wrong_passwords_count_at_all_desks(browse_two):
    tries = [browse_two[k % 2].post("/operator/login", data={"password": "x"}) for k in range(6)]
    assert [page.status_code for page in tries] == [401] * 5 + [429]


def test_a_session_is_good_where_the_password_is_the_same(campaign):
    one, other = Served(campaign, PASSWORD), Served(campaign, "another password")
    session = one.auth.new_session()
    assert Served(campaign, PASSWORD).auth.is_session(session)  # also after it began anew
    assert not other.auth.is_session(session)


def test_content_that_another_gave_anew_is_shown_after_a_while(campaign, monkeypatch):
    served = Served(campaign, PASSWORD)
    set_content(campaign.store, {"t1": Content("before")}, None)
    assert served.content_of("t1").text == "before"
    set_content(campaign.store, {"t1": Content("after")}, None)
    assert served.content_of("t1").text == "before"
    monkeypatch.setattr(desk, "CONTENT_CACHE_SECONDS", 0.0)
    assert served.content_of("t1").text == "after"


def test_desks_of_one_database_are_set_up_alike(two):
    def lock_server(served, share=0.0):
        return hold_server_lock(served.campaign.store, served.setup(share), desk.SETUP_DIFFERENCES)

    one, other = two
    strange = replace(other, password="another password")
    result = replace(other, password=PASSWORD, instructions="Read *all* of it.")
    with lock_server(one) as sign, lock_server(other):
        for setup in ((strange,), (result,), (other, 0.1)):
            with pytest.raises(RunError, match="by another desk with another password, other"):
                lock_server(*setup).__enter__()
        cut_off(sign, other)
        sign.renew()  # finds that its connection is lost
        sign.renew()
        assert not sign.is_ousted
        with pytest.raises(RunError):
            lock_server(strange).__enter__()
    with lock_server(strange):
        pass


def test_a_desk_that_ends_takes_its_sign_down_before_its_connection_ends(two, monkeypatch):
    one, other = two
    with hold_server_lock(one.campaign.store, b"one", desk.SETUP_DIFFERENCES) as sign:
        monkeypatch.setattr(sign._connection, "invalidate", lambda: None)  # it takes its time
    with hold_server_lock(other.campaign.store, b"other", desk.SETUP_DIFFERENCES) as newer:
        assert newer.is_alone()


def test_a_desk_ends_though_the_database_does_not_answer(two, monkeypatch):
    monkeypatch.setattr(server_lock, "TIMEOUT_SECONDS", 0.1)
    one, other = two
    with hold_server_lock(one.campaign.store, b"one", desk.SETUP_DIFFERENCES) as sign:
        number = sign._connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        os.kill(number, signal.SIGSTOP)
    with pytest.raises(RunError):
        hold_server_lock(other.campaign.store, b"other", desk.SETUP_DIFFERENCES).__enter__()
    os.kill(number, signal.SIGCONT)
    with other.campaign.store.outside() as connection:
        await_none(connection, f"pg_locks WHERE pid = {number}")
    with hold_server_lock(other.campaign.store, b"other", desk.SETUP_DIFFERENCES):
        pass


def test_a_desk_with_many_connections_takes_its_sign_down(two):
    """`select` refuses files above 1,023, which the sign is where it was hung out again late."""
    resource = pytest.importorskip("resource")
    one, other = two
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in (resource.RLIM_INFINITY, -1) and hard < 2048:
        pytest.skip("a process may not open so many files here")
    one.campaign.store.close()  # so that the sign has a new connection
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    with ExitStack() as many:
        many.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1024):
            many.callback(os.close, os.dup(0))
        with hold_server_lock(one.campaign.store, b"one", desk.SETUP_DIFFERENCES):
            pass
        with hold_server_lock(other.campaign.store, b"other", desk.SETUP_DIFFERENCES):
            pass


def cut_off(sign, other):
    """End the connection of a desk's sign, as a restart of the database does."""
    number = sign._connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    with other.campaign.store.outside() as connection:
        connection.exec_driver_sql(f"SELECT pg_terminate_backend({number})")
        await_none(connection, f"pg_locks WHERE pid = {number}")


def await_none(connection, rows):
    """Wait until a connection that was closed has ended at the database, too."""
    until = time.monotonic() + 60.0
    while connection.exec_driver_sql(f"SELECT EXISTS (SELECT FROM {rows})").scalar_one():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_desk_ends_if_one_set_up_otherwise_began_while_the_database_was_away(two):
    one, other = two
    with hold_server_lock(one.campaign.store, b"one", desk.SETUP_DIFFERENCES) as sign:
        cut_off(sign, other)
        with hold_server_lock(other.campaign.store, b"other", desk.SETUP_DIFFERENCES) as newer:
            sign.renew()
            sign.renew()
            assert sign.is_ousted
            newer.renew()
            assert not newer.is_ousted
            with pytest.raises(
                RunError, match=r"another password, .* the database was unavailable"
            ):
                _run(one, ListenAddress(port=0), sign)


def test_one_process_serves_a_file_by_whatever_name(campaign, tmp_path):
    (tmp_path / "other").symlink_to(campaign.store.place)
    with (
        hold_server_lock(campaign.store, b"", desk.SETUP_DIFFERENCES),
        Campaign(tmp_path / "other") as other,
        pytest.raises(RunError, match="another process already"),
    ):
        hold_server_lock(other.store, b"", desk.SETUP_DIFFERENCES).__enter__()


def test_who_waited_at_the_lock_of_a_file_has_the_one_that_others_find(campaign):
    with closing(sqlite3.connect(f"{campaign.store.place}-desk", timeout=0.0)) as waiting:
        with (
            hold_server_lock(campaign.store, b"", desk.SETUP_DIFFERENCES),
            pytest.raises(sqlite3.OperationalError),
        ):
            waiting.execute("BEGIN EXCLUSIVE")
        waiting.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RunError, match="another process already"):
            hold_server_lock(campaign.store, b"", desk.SETUP_DIFFERENCES).__enter__()

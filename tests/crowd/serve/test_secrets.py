"""Files that hold secrets, sessions that end, addresses that nobody can find out."""

import http.client
import os
import random
import sqlite3
import stat
import sys
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.store.server_lock import hold_server_lock
from crowd_tvcs.serve.client import DeskClient, DeskError
from crowd_tvcs.serve.desk import Served
from tests.crowd.serve.conftest import PASSWORD, begun, listening, post
from tests.every_command import call

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes of files are of POSIX")


@pytest.fixture
def open_umask():
    """Files are readable for everybody unless a program says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@posix
def test_stores_links_and_copies_are_for_their_owner_alone(tmp_path, open_umask, capsys):
    place = tmp_path / "c.db"
    with begun(place) as campaign, hold_server_lock(campaign.store, b"", ""):
        campaign.pause(True)
        links = ["crowd-tvcs", "serve", "links", str(place), "--out", str(tmp_path / "links.csv")]
        assert call(links, capsys)[0] == 0
        found = modes(tmp_path)
    assert {"c.db", "c.db-wal", "c.db-shm", "c.db-desk", "links.csv"} <= set(found)
    assert set(found.values()) == {0o600}


REWRITES = [
    "UPDATE audit SET who = 'x'",
    "DELETE FROM audit",
    "INSERT OR REPLACE INTO audit (id, at, who, what) VALUES (1, 1.0, 'x', 'y')",
    "REPLACE INTO audit (id, at, who, what) VALUES (1, 1.0, 'x', 'y')",
    "UPDATE OR REPLACE audit SET id = 2",
    "INSERT INTO audit (id, at, who, what) VALUES (1, 1.0, 'x', 'y') "
    "ON CONFLICT (id) DO UPDATE SET who = 'x'",
]


@pytest.mark.parametrize("statement", REWRITES)
def test_no_statement_rewrites_the_audit(tmp_path, statement):
    place = tmp_path / "c.db"
    with begun(place) as campaign:
        campaign.pause(True)
    with closing(sqlite3.connect(place)) as connection:
        before = connection.execute("SELECT * FROM audit").fetchall()
        with pytest.raises(sqlite3.IntegrityError, match="the audit is only added to"):
            connection.execute(statement)
        connection.rollback()
        assert connection.execute("SELECT * FROM audit").fetchall() == before
    with Campaign(place) as campaign:
        campaign.pause(False)  # what it does itself is still written down


def test_nor_on_postgresql(database):
    with begun(database) as campaign:
        campaign.pause(True)
        rewrites = [one for one in REWRITES if "REPLACE" not in one] + ["TRUNCATE audit"]
        for statement in rewrites:
            with campaign.store.engine.connect() as connection, connection.begin() as change:
                with pytest.raises(Exception, match="the audit is only added to"):
                    connection.exec_driver_sql(statement)
                change.rollback()
        campaign.pause(False)


def test_a_session_that_was_logged_out_is_good_nowhere(operator, served, campaign):
    session = operator.cookies[served.cookies.operator]
    other = Served(campaign, PASSWORD)  # as of a second desk
    assert served.auth.is_session(session)
    assert other.auth.is_session(session)
    assert post(operator, "logout").status_code == 200
    operator.cookies.set(served.cookies.operator, session)  # whoever has copied it
    assert operator.get("/operator", follow_redirects=False).status_code == 303
    assert not other.auth.is_session(session)


def test_addresses_in_the_audit_cannot_be_found_by_trying_all(browse, operator, campaign, tmp_path):
    client = browse()
    client.post("/operator/login", data={"password": "x"})
    post(operator, "do", what="pause")
    with campaign.store.read() as (connection, _):
        rows = connection.exec_driver_sql("SELECT address FROM audit WHERE address IS NOT NULL")
        found = {row.address for row in rows}
    import hashlib

    plain = {hashlib.sha256(text).hexdigest() for text in (b"testclient", b"127.0.0.1")}
    assert len(found) == 1  # the same address is the same
    assert not found & plain
    with begun(tmp_path / "other.db") as other:
        assert found.isdisjoint({Served(other, PASSWORD).auth.keyed("testclient")})


SEEN = []


class _SendsOn(BaseHTTPRequestHandler):
    def do_POST(self):
        SEEN.append((self.path, self.headers["Authorization"]))
        self.send_response(302)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_):
        """Write no log."""


def test_a_client_sends_its_token_to_the_desk_alone():
    with pytest.raises(ValueError, match="others on the network could read the token"):
        DeskClient("http://label.example.org", "T")
    DeskClient("http://label.example.org", "T", trust_network=True)
    server = HTTPServer(("127.0.0.1", 0), _SendsOn)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with pytest.raises(DeskError):
            DeskClient(f"http://127.0.0.1:{server.server_port}", "T").next()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert SEEN == [("/api/v1/next", "Bearer T")]


def test_a_damaged_store_is_503_without_its_path(served, tokens, campaign, browse, tmp_path):
    client = browse(tokens["ann"])
    for end in ("", "-wal", "-shm"):
        Path(f"{campaign.store.place}{end}").unlink(missing_ok=True)
    campaign.store.close()
    damaged = b"SQLite format 3\0" + random.Random(0).randbytes(50_000)
    Path(campaign.store.place).write_bytes(damaged)
    for ask in (lambda: client.get("/"), lambda: client.get(f"/w/{tokens['ann']}")):
        answer = ask()
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert str(tmp_path) not in answer.text
        assert "c.db" not in answer.text
    answer = client.post("/api/v1/next", headers={"Authorization": f"Bearer {tokens['ann']}"})
    assert answer.status_code == 503
    assert set(answer.json()) == {"detail"}
    assert "c.db" not in answer.text


@pytest.mark.parametrize("error", [ValueError("row 3"), sqlite3.DatabaseError("malformed")])
def test_the_thread_that_learns_goes_on_after_any_error(served, monkeypatch, capsys, error):
    from crowd_tvcs.serve import app

    calls, again = [], threading.Event()

    def note(store, now):
        calls.append(now)
        if len(calls) < 4:
            raise error
        again.set()

    monkeypatch.setattr(app, "HISTORY_SECONDS", 0.01)
    monkeypatch.setattr(app, "note_history", note)
    with listening(served):
        assert again.wait(60.0)
    message = capsys.readouterr().err.splitlines()
    assert message == [f"the curve and gold are not updated now: {type(error).__name__}: {error}"]


def test_what_goes_by_https_says_so_for_a_year(served):
    from crowd_tvcs.serve.address import ListenAddress

    served.public_url = "https://label.example.org"
    place = ListenAddress(port=0, behind_proxy=True, public_url=served.public_url)
    with listening(served, place) as address:
        connection = http.client.HTTPConnection(address.removeprefix("http://"))
        seen = {}
        for scheme in ("https", "http"):
            head = {"Host": "label.example.org", "X-Forwarded-Proto": scheme}
            connection.request("GET", "/operator/login", headers=head)
            answer = connection.getresponse()
            seen[scheme] = (answer.status, answer.headers["Strict-Transport-Security"])
            answer.read()
        connection.close()
    assert seen == {"https": (200, "max-age=31536000"), "http": (403, None)}

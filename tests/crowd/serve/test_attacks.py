"""A desk that somebody wants to stop: idle, slow and large requests, and wrong passwords."""

import asyncio
import errno
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlencode, urlsplit

import pytest

pytest.importorskip("fastapi")
from crowd_tvcs.serve import app as desk_app
from crowd_tvcs.serve import connections, operator_auth
from crowd_tvcs.serve.address import ListenAddress
from tests.crowd.serve.conftest import PASSWORD, listening
from tests.makers.ports import free_port

IDLE = 1020
PATIENCE = 60.0
"""Seconds that a busy machine may take for what comes at once elsewhere."""
PROXY = {"behind_proxy": True, "public_url": "https://label.example.org"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def connected(address):
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)


@contextmanager
def idle(address, n):
    """Connections that send nothing."""
    with ExitStack() as held:
        yield [held.enter_context(connected(address)) for _ in range(n)]


def status_of(address, path="/operator/login"):
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    connection.request("GET", path)
    answer = connection.getresponse().status
    connection.close()
    return answer


def is_closed(one, within=PATIENCE):
    """Whether the desk closes a connection in so many seconds."""
    one.settimeout(within)
    try:
        while one.recv(10_000):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def test_connections_that_send_nothing_make_room(served):
    with listening(served, most=20) as address, idle(address, 60) as there:
        assert status_of(address) == 200
        assert all(is_closed(one) for one in there[:40])
        assert not is_closed(there[-1], within=0.1)


def test_who_asked_before_is_closed_last(served):
    with listening(served, most=20) as address:
        known = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
        known.request("GET", "/operator/login")
        known.getresponse().read()
        sock = known.sock
        with idle(address, 60):
            known.request("GET", "/operator/login")
            assert known.getresponse().status == 200
            assert known.sock is sock
        known.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST /answer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nx",
        b"GET /static/desk.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n\r\n",
        b"GET /static/desk.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HTTP/1.1\r\n",
    ],
)
def test_a_request_that_does_not_come_whole_in_time_ends(served, monkeypatch, sent):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    with listening(served) as address, connected(address) as one:
        one.sendall(sent)
        assert is_closed(one)


def test_a_byte_now_and_then_does_not_keep_a_connection(served, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    with listening(served) as address, connected(address) as one:
        one.sendall(b"GET / HTTP/1.1\r\nX: ")
        begun = time.monotonic()
        with pytest.raises(ConnectionError):
            while time.monotonic() < begun + PATIENCE:
                one.sendall(b"x")
                time.sleep(0.05)


@pytest.mark.parametrize("piece", [1_000, 20_000])
@pytest.mark.parametrize("end", ["\r\n\r\n", ""])
def test_a_large_head_is_refused(served, piece, end):
    head = f"GET /static/desk.css HTTP/1.1\r\nHost: 127.0.0.1\r\nX: {'x' * 18_000}{end}".encode()
    with listening(served) as address, connected(address) as one:
        with suppress(ConnectionError):  # refused and closed before the last piece
            for k in range(0, len(head), piece):
                one.sendall(head[k : k + piece])
        assert one.recv(1000).startswith(b"HTTP/1.1 431 ")
    with listening(served) as address, connected(address) as one:
        one.sendall(
            b"GET /static/desk.css HTTP/1.1\r\nHost: 127.0.0.1\r\nX: %b\r\n\r\n" % (b"x" * 9000)
        )
        assert one.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_who_does_not_read_the_answer_is_given_up(served, monkeypatch):
    monkeypatch.setattr(connections, "READ_SECONDS", 0.5)
    given_up, lost = threading.Event(), connections.BoundedConnection.connection_lost

    def connection_lost(self, error):
        lost(self, error)
        given_up.set()

    monkeypatch.setattr(connections.BoundedConnection, "connection_lost", connection_lost)
    large = {"desk.css": "x" * 50_000_000}
    monkeypatch.setattr(desk_app, "static_bodies", lambda: large)
    with listening(served) as address, connected(address) as one:
        one.sendall(b"GET /static/desk.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert given_up.wait(PATIENCE)
        received, part = 0, b"x"
        while part:
            part = one.recv(1_000_000)
            received += len(part)
        assert received < 50_000_000


def test_a_shortage_is_logged_once_a_minute_and_not_as_a_traceback(capsys):
    loop = asyncio.new_event_loop()
    connections.log_shortage(loop)
    error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    for _ in range(100):
        loop.call_exception_handler({"message": "socket.accept()", "exception": error})
    loop.close()
    assert capsys.readouterr().err == "connections cannot be accepted now: Too many open files\n"


@pytest.mark.skipif(sys.platform != "linux", reason="counts files as Linux does")
def test_a_thousand_idle_connections_stop_nobody_and_write_nothing(campaign, tmp_path):
    words = ["-m", "crowd_tvcs", "serve", campaign.store.place, "--port", "0"]
    port = words[-1] = str(free_port())
    limited = ["bash", "-c", 'ulimit -n 1024; exec "$@"', "bash", sys.executable, *words]
    with subprocess.Popen(limited, stderr=subprocess.PIPE, text=True) as desk:
        try:
            assert any(line.startswith("ready") for line in desk.stderr)
            with idle(f"http://127.0.0.1:{port}", IDLE):
                assert [status_of(f"http://127.0.0.1:{port}") for _ in range(5)] == [200] * 5
        finally:
            desk.send_signal(signal.SIGINT)
        assert desk.stderr.read() == "interrupted\n"


def guess(address, k, answers):
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    head = FORM | {"X-Forwarded-For": f"192.0.2.{k}", "X-Forwarded-Proto": "https"}
    connection.request("POST", "/operator/login", urlencode({"password": "x"}), head)
    answer = connection.getresponse()
    answers.append((answer.status, answer.headers["Retry-After"]))
    connection.close()


def test_wrong_passwords_from_many_addresses_hold_no_other_page_up(served, monkeypatch):
    slow = operator_auth._hashed
    begun, go_on = threading.Event(), threading.Event()

    def slower(password, salt):
        begun.set()
        assert go_on.wait(PATIENCE)
        return slow(password, salt)

    monkeypatch.setattr(operator_auth, "_hashed", slower)
    answers = []
    with listening(served, ListenAddress(port=0, **PROXY)) as address:
        threads = [threading.Thread(target=guess, args=(address, k, answers)) for k in range(1, 61)]
        for thread in threads:
            thread.start()
        assert begun.wait(PATIENCE)
        assert status_of(address) == 200
        assert status_of(address, "/static/desk.css") == 200
        assert status_of(address, "/") == 401
        looked_at = operator_auth.MAX_QUEUED + 1
        end = time.monotonic() + PATIENCE
        while len(answers) < 60 - looked_at and time.monotonic() < end:
            time.sleep(0.02)
        go_on.set()
        for thread in threads:
            thread.join()
    assert Counter(answers) == {(401, None): looked_at, (503, "2"): 60 - looked_at}


def test_an_operator_who_was_let_in_is_not_held_up_by_a_full_queue(served, browse):
    client = browse()
    assert client.post("/operator/login", data={"password": PASSWORD}).status_code == 200
    served.auth._waiting = operator_auth.MAX_QUEUED + 1
    assert client.post("/operator/login", data={"password": PASSWORD}).status_code == 200
    assert client.get("/api/v1/status", auth=("x", PASSWORD)).status_code == 200
    refused = client.post("/operator/login", data={"password": "x"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert client.get("/api/v1/status", auth=("x", "y")).status_code == 503


def test_another_host_is_refused_and_makes_no_link(served, operator, monkeypatch):
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""):
        answer = operator.get("/operator", headers={"Host": host}, follow_redirects=False)
        assert answer.status_code == 421
        assert "evil" not in answer.text + str(answer.headers)
    for host in ("127.0.0.1", "localhost:1", "[::1]:8000", "LOCALHOST"):
        assert operator.get("/operator", headers={"Host": host}).status_code == 200
    answer = operator.get("/operator/", headers={"Host": "localhost"}, follow_redirects=False)
    assert answer.status_code == 404  # and is not sent on to what the header says


ENDLESS = -1  # as Linux says that there is no limit


@pytest.mark.parametrize(
    ("limits", "raised", "found"),
    [
        ((ENDLESS, ENDLESS), False, 512),
        ((1024, ENDLESS), False, 512),
        ((256, ENDLESS), True, 512),
        ((256, 1024), True, 512),
        ((256, 1023), False, 16),
        ((500, 500), False, 44),
        ((968, 1000), False, 512),
        ((967, 1000), False, 511),
        ((4096, 4096), False, 512),
    ],
)
def test_connections_leave_files_for_the_store(monkeypatch, limits, raised, found):
    resource, given = pytest.importorskip("resource"), []
    monkeypatch.setattr(resource, "RLIM_INFINITY", ENDLESS)
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: given.append(pair))
    assert connections.max_connections() == found
    assert given == ([(connections.WANTED_FILES, limits[1])] if raised else [])

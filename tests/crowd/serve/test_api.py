"""The API: a worker's turns by token, the operator's figures by password, the small client."""

import collections
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from hypothesis import HealthCheck, given, seed, settings

from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.client import DeskClient, DeskError
from tests.crowd.serve.conftest import BASE, PASSWORD, listening

OPERATOR = ("operator", PASSWORD)


def test_a_worker_by_token(browse, tokens, campaign):
    client = browse()
    client.headers["Authorization"] = f"Bearer {tokens['ann']}"
    turn = client.post("/api/v1/next").json()
    assert turn["state"] == "task"
    assert turn["content"]["text"] == turn["task"]
    assert turn["classes"] == ["bad", "good"]
    record = client.post("/api/v1/submit", json={"task": turn["task"], "label": "good"}).json()
    assert record["reason"] == "accepted"
    back = client.post("/api/v1/undo").json()
    assert back["task"] == turn["task"]
    after = client.post("/api/v1/skip", json={"task": turn["task"], "reason": "no"}).json()
    assert after["task"] not in (None, turn["task"])
    refused = client.post("/api/v1/submit", json={"task": "t9", "label": "good"})
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("there is no task 't9' in this campaign; write")
    assert client.post("/api/v1/submit", json={"task": 1}).status_code == 400
    assert client.get("/api/v1/nothing").status_code == 404
    assert "confidence" not in str(record)  # it would tell of others' answers


def test_without_a_token_or_password_there_is_nothing(browse):
    client = browse()
    assert client.post("/api/v1/next").status_code == 401
    assert client.post("/api/v1/next", headers={"Authorization": "Bearer x"}).status_code == 401
    for path in ("status", "labels"):
        assert client.get(f"/api/v1/{path}").status_code == 401
        assert client.get(f"/api/v1/{path}", auth=("operator", "no")).status_code == 401


def test_the_operator(browse, campaign):
    client = browse()
    status = client.get("/api/v1/status", auth=OPERATOR).json()
    assert status["tasks"] == 3
    labels = client.get("/api/v1/labels", auth=OPERATOR).json()
    assert [row["task"] for row in labels] == ["t1", "t2", "t3"]
    token = client.post("/api/v1/links", json=["ann"], auth=OPERATOR).json()["ann"]
    headers = {"Authorization": f"Bearer {token}"}
    assert client.post("/api/v1/next", headers=headers).status_code == 200
    assert client.post("/api/v1/links", json=["eve"], auth=OPERATOR).status_code == 409


def test_the_description_lists_what_there_is(browse):
    described = browse().get("/api/v1/openapi.json").json()
    assert sorted(described["paths"]) == [
        f"/api/v1/{name}"
        for name in ("labels", "links", "next", "skip", "status", "submit", "undo")
    ]


def test_another_method_is_refused_with_the_one_that_is_allowed(browse):
    refused = browse().get("/api/v1/submit")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


def test_the_client_labels_everything(served, tokens, campaign):
    with listening(served) as url:
        label_everything(url, tokens, campaign)


def label_everything(url, tokens, campaign):
    client = DeskClient(url, tokens["ann"])
    turn, done = client.next(), []
    while turn["task"]:
        done.append(turn["task"])
        turn = client.submit(turn["task"], "bad")["next"]
    assert sorted(done) == ["t1", "t2", "t3"]
    assert client.undo()["task"] == done[-1]
    assert client.skip(done[-1])["task"] is None
    assert campaign.state().settings.answers == 2
    with pytest.raises(DeskError, match="'ann' does not have task") as refused:
        client.skip("t1")
    assert refused.value.status == 409
    with pytest.raises(DeskError) as stranger:
        DeskClient(url, "x").next()
    assert stranger.value.status == 401


@contextmanager
def answering(sent):
    """A server that answers one request with these bytes: its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                with suppress(ConnectionError):
                    while connection.recv(65536):  # unread bytes would reset the connection
                        pass

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\n\r\n{",
        b"x\r\n\r\n",
        b'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 99\r\n\r\n{"detail": "',
        b"HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{",
    ],
)
def test_a_desk_that_goes_away_in_the_middle_is_a_connection_error(sent):
    with answering(sent) as url, pytest.raises(ConnectionError):
        DeskClient(url, "x").next()


@pytest.mark.parametrize(
    ("sent", "status", "wait"),
    [
        (b'308 Moved\r\nLocation: /b\r\n\r\n{"detail": "moved"}', 308, 0.0),
        (b"307 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", 307, 0.0),
        (b"503 Away\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n\r\n{}", 503, 0.0),
        (b"429 Slower\r\nRetry-After: 7\r\n\r\n{}", 429, 7.0),
    ],
)
def test_what_does_not_take_an_answer_is_an_error_of_the_desk(sent, status, wait):
    with answering(b"HTTP/1.1 " + sent) as url, pytest.raises(DeskError) as refused:
        DeskClient(url, "x").submit("t1", "good")
    assert (refused.value.status, refused.value.wait) == (status, wait)


@pytest.mark.slow
def test_nothing_that_the_description_allows_is_a_failure_of_the_server(served, tokens):
    """10,000 requests, with a worker's token and the password."""
    schemathesis = pytest.importorskip("schemathesis")
    for limit in (served.per_worker, served.guesses):
        limit.per_second = limit.burst = 1e9
    schema = schemathesis.openapi.from_asgi(
        "/api/v1/openapi.json", create_app(served), headers={"Host": "127.0.0.1"}
    )
    seen = []

    def ask(case):
        if "worker" in case.operation.definition.raw["tags"]:
            case.headers = {"Authorization": f"Bearer {tokens['ann']}"}
            answer = case.call(base_url=BASE)
        else:
            answer = case.call(base_url=BASE, auth=OPERATOR)
        seen.append(answer.status_code)
        assert answer.status_code < 500, case.as_curl_command()

    every = settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
    operations = [one.ok() for one in schema.get_all_operations()]
    begun, number = time.monotonic(), 0
    while len(seen) < 10_000:  # few are enough of those without a body, others go on
        before = len(seen)
        for operation in operations:
            strategy = operation.as_strategy()
            every(seed(number)(given(case=strategy)(ask)))()
        assert len(seen) > before
        number += 1
    print(len(seen), collections.Counter(seen), f"{time.monotonic() - begun:.0f} s")
    assert {200, 400, 409} <= set(seen)

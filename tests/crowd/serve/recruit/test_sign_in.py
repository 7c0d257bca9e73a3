"""Sign-in by the header of a proxy: believed from its address alone, of people of the campaign."""

import http.client
import urllib.parse

import pytest

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient
from sqlalchemy import select

from crowd_tvcs.campaign.store.schema import audit
from crowd_tvcs.serve.address import ListenAddress
from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.desk import Served
from crowd_tvcs.serve.sign_in import UserHeader
from tests.crowd.serve.conftest import BASE, PASSWORD, hidden, listening
from tests.crowd.serve.turn.files import png

HEADER = "X-Forwarded-User"
PROXY = "10.0.0.7"


@pytest.fixture
def served(campaign, tmp_path):
    (tmp_path / "media").mkdir()
    made = Served(campaign, PASSWORD, tmp_path / "media", user_header=UserHeader(HEADER, (PROXY,)))
    made.pages.least = 0.0
    return made


@pytest.fixture
def come(served):
    """`come(name, address)` is a browser of a person, behind whatever has this address."""
    app, opened = create_app(served), []

    def _come(name=None, address=PROXY):
        client = TestClient(
            app, base_url=BASE, client=(address, 5), raise_server_exceptions=False,
            headers={} if name is None else {HEADER: name},
        )  # fmt: skip
        client.__enter__()
        opened.append(client)
        return client

    yield _come
    for client in opened:
        client.__exit__(None, None, None)


def answers(served):
    return [(one.task, one.worker, one.label) for one in served.campaign.answers()]


def test_who_signed_in_at_the_proxy_labels_without_a_link(come, served):
    ann = come("ann")
    page = ann.get("/")
    assert page.status_code == 200
    assert "Your task" in page.text
    done = ann.post("/answer", data={**hidden(page), "label": "good"})
    assert "You have answered 1" in done.text
    assert come("bob").post("/answer", data={**hidden(page), "label": "bad"}).status_code == 409
    assert "You have answered 0" in come("bob").get("/").text


def test_a_person_who_is_not_in_the_campaign_learns_so(come):
    answer = come("eve <script>").get("/")
    assert answer.status_code == 403
    assert "nobody of this name is in the campaign" in answer.text
    assert "<script>" not in answer.text
    assert come("eve").get("/media/x.png").status_code == 403


def test_a_film_in_many_parts_is_not_too_many_requests(come, served):
    (served.media / "x.png").write_bytes(png())
    served.per_worker.burst, served.per_worker.per_second = 1.0, 1e-3
    ann = come("ann")
    for _ in range(5):
        assert ann.get("/media/x.png").status_code == 200
    assert [ann.get("/").status_code for _ in range(2)] == [200, 429]


def test_the_header_of_anybody_else_is_ignored_and_noted(come, served, capsys):
    for _ in range(2):
        assert come("ann", "203.0.113.9").get("/").status_code == 401
    assert "X-Forwarded-User from 203.0.113.9 is ignored" in capsys.readouterr().err
    with served.campaign.store.read() as (connection, _):
        (row,) = connection.execute(select(audit).where(audit.c.what == "ignored header")).all()
    assert row.detail == HEADER
    assert "203" not in (row.address or "")  # kept as a hash


def test_who_says_to_be_the_proxy_in_another_header_is_not(come):
    client = come("ann", "203.0.113.9")
    assert client.get("/", headers={"X-Forwarded-For": PROXY}).status_code == 401


def test_two_names_are_nobody_and_none_is_a_link(come, served, tokens):
    twice = come().get("/", headers=[(HEADER, "ann"), (HEADER, "bob")])
    assert twice.status_code == 400
    assert "came twice: the proxy must replace it" in twice.text
    client = come()
    assert client.get("/").status_code == 401
    assert client.get(f"/w/{tokens['bob']}").status_code == 200
    assert "Your task" in client.get("/").text


def test_the_header_is_nothing_to_the_operator_and_to_programs(come):
    assert come("operator").get("/operator", follow_redirects=False).status_code == 303
    assert come("ann").post("/api/v1/next").status_code == 401


def test_over_a_socket_with_https_of_the_proxy(campaign):
    served = Served(
        campaign, PASSWORD, is_secure=True, public_url="https://label.example.org",
        user_header=UserHeader(HEADER, ("127.0.0.0/8",)),
    )  # fmt: skip
    place = ListenAddress(port=0, behind_proxy=True, public_url="https://label.example.org")
    with listening(served, place) as url:

        def get(**headers):
            there = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=60)
            headers = {name.replace("_", "-"): text for name, text in headers.items()}
            there.request("GET", "/", headers={"Host": "label.example.org", **headers})
            answer = there.getresponse()
            found = answer.status, answer.read().decode()
            there.close()
            return found

        status, text = get(X_Forwarded_User="ann", X_Forwarded_Proto="https")
        assert status == 200
        assert "Your task" in text
        assert get(X_Forwarded_User="ann")[0] == 403  # not by https
        assert get(X_Forwarded_Proto="https")[0] == 401
    served.user_header = UserHeader(HEADER, (PROXY,))  # now this machine is not the proxy
    with listening(served, place) as url:
        assert get(X_Forwarded_User="ann", X_Forwarded_Proto="https")[0] == 401

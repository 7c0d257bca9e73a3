"""The labelling desk over PostgreSQL: workers, the operator's buttons, a server that recovers."""

import os
import signal
import time
from contextlib import suppress

import pytest

from benchmarks.speed import campaign as speed
from crowd_tvcs.campaign import Campaign, StoreError
from crowd_tvcs.campaign.store.store import POOL
from tests.crowd.serve.conftest import begun, hidden, post
from tests.makers.campaigns import rows_of

PATIENCE = 60.0
"""Seconds within which the database must be there again."""


@pytest.fixture
def campaign(database):
    with begun(database) as made:
        yield made


def test_turns_and_buttons(browse, operator, tokens, campaign):
    ann, bob = browse(tokens["ann"]), browse()
    bob.headers["Authorization"] = f"Bearer {tokens['bob']}"

    def do(what, name=""):
        return post(operator, "do", what=what, name=name)

    page = ann.get("/")
    first = hidden(page)["task"]
    page = ann.post("/answer", data=hidden(page) | {"label": "good"})
    second = hidden(page)["task"]
    assert second != first
    assert hidden(ann.post("/undo", data=hidden(page)))["task"] == first
    page = ann.post("/answer", data=hidden(ann.get("/")) | {"label": "bad"})
    page = ann.post("/skip", data=hidden(page) | {"reason": "dark"})
    assert hidden(page)["task"] not in (first, second)

    turn = bob.post("/api/v1/next").json()
    answer = {"task": turn["task"], "label": "good"}
    assert bob.post("/api/v1/submit", json=answer).json()["reason"] == "accepted"
    assert bob.post("/api/v1/submit", json=answer).json()["reason"] == "known already"
    assert bob.post("/api/v1/submit", json=answer | {"label": "bad"}).status_code == 409

    assert "Paused: no tasks are assigned." in do("pause").text
    cy = browse(tokens["cy"])
    assert "task" not in hidden(cy.get("/"))
    assert "Paused" not in do("resume").text
    do("block", "cy")
    assert "task" not in hidden(cy.get("/"))
    do("unblock", "cy")
    assert "task" in hidden(cy.get("/"))
    assert do("dance").status_code == 409

    state = campaign.state()
    assert (state.settings.answers, int((state.slots == 3).sum())) == (2, 2)
    noted = rows_of(campaign, "SELECT who, what FROM audit ORDER BY id")
    assert [row for row in noted if row[1] != "links"] == [
        ("ann", "undo"),
        ("ann", "skip"),
        *(("operator", what) for what in ("pause", "resume", "block", "unblock")),
    ]


def opened(database):
    """Open the store; why it could not be, or ''."""
    try:
        Campaign(database).close()
    except StoreError as error:
        return str(error)
    return ""


def await_words(database, words):
    until = time.monotonic() + PATIENCE
    while words not in (message := opened(database)) or bool(words) != bool(message):
        assert time.monotonic() < until, message
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_a_database_that_recovers_is_away_and_comes_back(browse, tokens, campaign, database):
    """A process of it that was stopped holds its new beginning up for five seconds."""
    ann = browse(tokens["ann"])
    fields = hidden(ann.get("/")) | {"label": "good"}
    campaign.store.flush()  # a lease that is not on the disk may be lost
    with speed.psycopg_of(database) as held, speed.psycopg_of(database) as killed:
        os.kill(held.info.backend_pid, signal.SIGSTOP)
        try:
            os.kill(killed.info.backend_pid, signal.SIGKILL)
            await_words(database, "is starting, ending or recovering; try again in a moment (")
            away = ann.post("/answer", data=fields)
            assert (away.status_code, away.headers["retry-after"]) == (503, "5")
            assert "Nothing is lost" in away.text
        finally:
            with suppress(ProcessLookupError):
                os.kill(held.info.backend_pid, signal.SIGCONT)
    await_words(database, "")
    result = []
    while 200 not in result and len(result) < POOL + 1:  # lost connections are found one by one
        result.append(ann.post("/answer", data=fields).status_code)
    assert (set(result[:-1]) <= {503}, result[-1]) == (True, 200)
    assert campaign.state().settings.answers == 1

"""The labelling desk over PostgreSQL: turns of workers and the operator's buttons."""

import pytest

from tests.crowd.serve.conftest import begun, hidden


@pytest.fixture
def campaign(database):
    with begun(database) as made:
        yield made


def test_turns_and_buttons(browse, operator, tokens, campaign):
    ann, bob = browse(tokens["ann"]), browse()
    bob.headers["Authorization"] = f"Bearer {tokens['bob']}"

    def do(what, name=""):
        form = hidden(operator.get("/operator"))["form"]
        return operator.post("/operator/do", data={"what": what, "name": name, "form": form})

    page = ann.get("/")
    first = hidden(page)["task"]
    page = ann.post("/answer", data=hidden(page) | {"label": "good"})
    second = hidden(page)["task"]
    assert second != first
    assert hidden(ann.post("/undo", data={"form": hidden(page)["form"]}))["task"] == first
    page = ann.post("/answer", data=hidden(ann.get("/")) | {"label": "bad"})
    page = ann.post("/skip", data=hidden(page) | {"reason": "dark"})
    assert hidden(page)["task"] not in (first, second)

    turn = bob.post("/api/v1/next").json()
    answer = {"task": turn["task"], "label": "good"}
    assert bob.post("/api/v1/submit", json=answer).json()["reason"] == "accepted"
    assert bob.post("/api/v1/submit", json=answer).json()["reason"] == "known already"
    assert bob.post("/api/v1/submit", json=answer | {"label": "bad"}).status_code == 409

    assert "Paused: nobody gets a task." in do("pause").text
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
    with campaign.store.read() as (connection, _):
        told = connection.exec_driver_sql("SELECT who, what FROM audit ORDER BY id").all()
    assert [tuple(row) for row in told if row.what != "links"] == [
        ("ann", "undo"),
        ("ann", "skip"),
        *(("operator", what) for what in ("pause", "resume", "block", "unblock")),
    ]

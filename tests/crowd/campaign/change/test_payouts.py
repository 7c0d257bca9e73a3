"""Pay: what people earned, what they got, and nobody twice."""

import csv
from dataclasses import replace

import pytest

from crowd_tvcs.campaign import Campaign, RejectedError, Worker
from tests.makers.campaigns import rows_of
from tests.makers.commands import run_done, run_refused


@pytest.fixture
def paid(begin):
    """Ann has answered two tasks at .1, bob one at .25, cy none."""
    costs = {"ann": 0.1, "bob": 0.25, "cy": 0.0}
    campaign = begin(
        workers=[Worker(name, cost=cost) for name, cost in costs.items()],
        tasks=["t1", "t2", "t3", "t4"],
        max_workers_per_task=1,
    )
    for name in ("ann", "ann", "bob"):
        campaign.submit(name, campaign.next(name).task, "1")
    return campaign


def test_everybody_is_due_what_they_earned_and_did_not_get(paid):
    first = paid.payouts()
    assert [(p.worker, p.answers, p.earned, p.paid, p.due) for p in first] == [
        ("ann", 2, 0.2, 0.0, 0.2),
        ("bob", 1, 0.25, 0.0, 0.25),
        ("cy", 0, 0.0, 0.0, 0.0),
    ]
    assert paid.mark_paid(first) == 2
    assert [p.due for p in paid.payouts()] == [0.0, 0.0, 0.0]
    paid.submit("ann", paid.next("ann").task, "1")
    ann = paid.payouts()[0]
    assert (ann.earned, ann.paid, ann.due) == pytest.approx((0.3, 0.2, 0.1))
    paid.undo("bob")
    assert paid.payouts()[1].due == -0.25
    assert paid.mark_paid(paid.payouts()) == 1  # nobody pays back


def test_nobody_is_paid_twice(paid):
    found = paid.payouts()
    with pytest.raises(RejectedError, match="worker 'ann' would be paid twice; give each once"):
        paid.mark_paid([*found, found[0]])
    paid.mark_paid(found[:1])
    with pytest.raises(RejectedError, match="'ann' was recorded since; make the payouts anew"):
        paid.mark_paid(found)
    with pytest.raises(RejectedError, match="there is no worker 'eve'"):
        paid.mark_paid([replace(found[1], worker="eve")])
    assert [p.paid for p in paid.payouts()] == [0.2, 0.0, 0.0]


def test_the_command(paid, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = paid.store.place
    paid.close()
    words = ["campaign", "payout", place]
    assert "--mark-paid needs --out FILE" in run_refused(*words, "--mark-paid")
    done = run_done(*words, "--out", "pay.csv", "--mark-paid")
    assert done.stderr == "0.45 is due to 2 people\nrecorded as paid to 2 people\n"
    with open("pay.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "worker": "ann", "answers": "2", "gold_answers": "0", "gold_right": "0",
        "cost": "0.1", "earned": "0.2", "paid": "0", "due": "0.2", "code": "",
    }  # fmt: skip
    assert "0 is due to 0 people" in run_done(*words).stderr
    with Campaign(place) as campaign:
        assert rows_of(campaign, "SELECT what, detail FROM audit") == [("pay", "2 people, 0.45")]

"""The tool or the store is away, comes back, or calls."""

import pytest

from benchmarks.speed import campaign as speed
from crowd_tvcs.campaign import Campaign, StoreError
from crowd_tvcs.sync import loop
from crowd_tvcs.sync.loop import run
from tests.crowd.sync.conftest import ANN, BOB, TASKS, WORKERS, answers, audit
from tvcs_core.files.errors import RunError


def test_an_outage_is_survived_and_reported_once(campaign, studio, keep, monkeypatch):
    monkeypatch.setattr(loop, "FIRST_WAIT", 0.001)
    message, rounds = [], []
    sync = keep(campaign, message=message)
    down = iter([True] * 6)

    def wait(_):
        rounds.append(len(answers(campaign)))
        if len(rounds) == 1:
            studio.annotate(ANN, studio.tab(ANN)[0], "yes")
            studio.fails = lambda number: next(down, "") and "before"
        else:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(sync, every=1.0, once=False, patience=0.0, wait=wait)
    assert rounds == [0, 1]
    assert sum("trying again" in line for line in message) == 1
    assert message.count("Label Studio is back") == 1


def test_a_store_that_is_away_is_waited_for_too(campaign, studio, keep, monkeypatch):
    monkeypatch.setattr(loop, "FIRST_WAIT", 0.001)
    message = []
    sync = keep(campaign, message=message)
    tries = iter([StoreError("c.db: is locked by another program")])
    step = sync.step

    def stepping():
        for error in tries:
            raise error
        step(studio.clock)

    sync.step = stepping
    run(sync, every=1.0, once=True, patience=10.0)
    assert sum("trying again" in line for line in message) == 1


def test_what_never_answers_is_given_up_after_the_patience(campaign, studio, keep, monkeypatch):
    monkeypatch.setattr(loop, "FIRST_WAIT", 0.001)
    sync = keep(campaign)
    studio.fails = lambda number: "before"
    with pytest.raises(RunError, match=r"503 Service Unavailable; given up after 0\.02 s"):
        run(sync, every=1.0, once=True, patience=0.02)


@pytest.mark.slow
def test_a_store_on_postgresql_is_kept_in_step_likewise(studio, keep):
    with speed.postgresql() as url:
        if url is None:
            pytest.skip("PostgreSQL is not installed, or there is no user to run it")
        with Campaign.create(
            url, workers=WORKERS, tasks=TASKS, qualities=WORKERS, classes=["yes", "no"], budget=8
        ) as campaign:
            for _ in range(20):
                keep(campaign).step(studio.clock)
                for who in (ANN, BOB):
                    for task in studio.tab(who)[:1]:
                        studio.annotate(who, task, "yes")
            assert len(answers(campaign)) == 8
            assert studio.tab(ANN) == studio.tab(BOB) == []
            assert sum(what == "answer" for _, what, _, _ in audit(campaign)) == 8

"""The tool or the store is away, comes back, or calls."""

import threading
import time
import urllib.error
import urllib.request

import pytest

from benchmarks.speed import campaign as speed
from crowd_tvcs.campaign import Campaign, StoreError
from crowd_tvcs.sync import loop
from crowd_tvcs.sync.loop import run
from crowd_tvcs.sync.webhook import WebhookListener, listen
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


def test_a_call_brings_the_answer_in_at_once_and_is_taken_back_at_the_end(campaign, studio, keep):
    listener, sync = WebhookListener(), keep(campaign)
    rung = threading.Event()

    def wait(seconds):
        if rung.is_set():
            raise KeyboardInterrupt
        threading.Timer(0.0, studio.annotate, (ANN, studio.tab(ANN)[0], "yes")).start()
        listener.wait(seconds)
        rung.set()

    with listen(listener, "127.0.0.1", 0) as url:
        sync.webhook_url = url
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            run(sync, every=600.0, once=False, patience=0.0, wait=wait)
    assert time.monotonic() - begun < 300.0
    assert len(answers(campaign)) == 1
    assert studio.hooks == {}


def test_calls_of_a_run_that_was_killed_are_taken_back(campaign, studio, keep):
    sync = keep(campaign)
    sync.tool.set_webhook("http://127.0.0.1:9/killed")
    sync.tool.set_webhook("http://127.0.0.1:9/now")
    assert [hook["url"] for hook in studio.hooks.values()] == ["http://127.0.0.1:9/now"]
    assert all(not hook["send_payload"] for hook in studio.hooks.values())


def test_a_stranger_does_not_ring(campaign):
    listener = WebhookListener()
    with listen(listener, "127.0.0.1", 0) as url:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{url}x", b"{}", timeout=60)
        refused.value.close()
        assert not listener.called.is_set()
        urllib.request.urlopen(url, b"{}", timeout=60).close()
        assert listener.called.is_set()


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

"""What others change between a worker's claim and their answer, on both stores."""

import shutil
import threading
import time

import pytest

from benchmarks.speed import campaign as speed
from crowd_tvcs.campaign import Campaign, StoreError, Task, Worker
from crowd_tvcs.campaign.store import schema, store
from crowd_tvcs.campaign.store.queries import GATE
from crowd_tvcs.campaign.stored_model import FIRST_FIT
from tests.crowd.campaign.store.test_both_stores import outcome
from tests.makers.campaigns import tables

NAMES = [f"w{i}" for i in range(6)]
GOLD = {f"g{j:02d}": "abc"[j % 3] for j in range(40)}
GOLD_ANSWERS = [
    (task, name, label if (7 * j + 3 * i) % 10 < 6 + i % 4 else "abc"[(j + 1) % 3])
    for j, (task, label) in enumerate(GOLD.items())
    for i, name in enumerate(NAMES)
]


def of_gold(place):
    """Three classes, a model fitted to gold, and one label less than it is fitted anew at.

    Returns the task that each worker has.
    """
    with Campaign.create(
        place,
        workers=[Worker(name, max_tasks=30, team="x" if name < "w2" else None) for name in NAMES],
        tasks=[Task(f"t{j:02d}", max_workers=5) for j in range(12)],
        gold=GOLD,
        gold_answers=GOLD_ANSWERS,
        classes=list("abc"),
        prior=[0.3, 0.3, 0.4],
        target=0.97,
        lease_seconds=300.0,
    ) as campaign:
        tasks = {name: campaign.next(name, now=1000.0).task for name in NAMES}
        for k in range(FIRST_FIT - 1):
            name, label = NAMES[k % len(NAMES)], "abc"[(k * k) % 3]
            _, offer = campaign.submit_and_next(name, tasks[name], label, now=1001.0 + k)
            tasks[name] = offer.task
    return tasks


@pytest.fixture(scope="module")
def of_gold_once(server, tmp_path_factory):
    """A file and a database with the campaign `of_gold`, to be copied, and who has which task."""
    path = tmp_path_factory.mktemp("meanwhile") / "c.db"
    held = of_gold(path)
    assert of_gold(speed.new_database(server, "of_gold")) == held
    yield path, held
    with speed.psycopg_of(server) as connection:
        connection.execute("DROP DATABASE of_gold WITH (FORCE)")


@pytest.fixture
def copied(of_gold_once, server, tmp_path):
    """A copy of that file and of that database, and who has which task."""
    path, held = of_gold_once
    shutil.copy(path, tmp_path / "c.db")
    yield (tmp_path / "c.db", speed.new_database(server, "copied", "of_gold")), held
    with speed.psycopg_of(server) as connection:
        connection.execute("DROP DATABASE copied WITH (FORCE)")


# What the operator and others do, given a second `Campaign` of the store and who holds which task.
MEANWHILE = {
    "nothing": lambda other, held: [],
    "the model is fitted anew": lambda other, held: [
        other.submit("w1", held["w1"], "b", now=1030.0).reason
    ],
    "they are blocked": lambda other, held: [other.block("w5", now=1030.0)],
    "the campaign is paused": lambda other, held: [other.pause(now=1030.0)],
    "their task is closed": lambda other, held: [other.close_tasks([held["w5"]], now=1030.0)],
    "the others' leases are over": lambda other, held: [
        other.next("w5", now=1200.0),
        other.next("w2", now=1310.0),
    ],
    "another skips": lambda other, held: [other.skip("w4", held["w4"], now=1030.0)],
    "another takes an answer back": lambda other, held: [other.undo("w4", now=1030.0)],
    "they answer twice": lambda other, held: [
        other.submit("w5", held["w5"], "c", now=1030.0).reason
    ],
    "they skip": lambda other, held: [other.skip("w5", held["w5"], now=1030.0)],
    "a round is planned": lambda other, held: [other.plan(labels=4, method="greedy").pairs],
    "workers and tasks come": lambda other, held: [
        other.add(workers=["w6", Worker("w7", team="x")], tasks=["t12"])
    ],
    "gold answers come": lambda other, held: [
        other.add(gold={"g90": "a", "g91": "b"}, gold_answers=[("g90", "w5", "a")])
    ],
    "a table of answers comes": lambda other, held: [
        other.add_answers([(held[name], name, "a") for name in ("w2", "w3")])
    ],
}


@pytest.mark.parametrize("case", MEANWHILE)
def test_an_answer_is_judged_by_what_is_there_when_it_comes(case, copied):
    places, held = copied
    kept = []
    for place in places:
        with Campaign(place) as campaign, Campaign(place) as other:
            error_text = MEANWHILE[case](other, held)
            error_text.append(outcome(campaign, held, "submit_and_next", ("w5", ..., "c"), 1320.0))
            error_text += [outcome(campaign, held, "next", (name,), 1321.0) for name in NAMES]
            kept.append((error_text, tables(campaign)))
    assert kept[0] == kept[1]


CLOSE_GATE = f"SELECT pg_advisory_xact_lock({GATE})"


def meanwhile_another(database, call, change):
    """Make a call that waits for another program, until this has made a change."""
    with speed.psycopg_of(database) as other:
        with other.transaction():
            other.execute(CLOSE_GATE)
            waiting = threading.Thread(target=call)
            waiting.start()
            while not other.execute(IS_WAITED).fetchone()[0]:
                assert waiting.is_alive()
                time.sleep(0.01)
            other.execute(change)
        waiting.join()


IS_WAITED = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
TURN = "UPDATE campaign SET revision = revision + 1"
MORE = "INSERT INTO worker (name, max_tasks, cost, slots, answers) VALUES ('dan', 9, 0, 0, 0)"


def test_who_waited_for_their_turn_counts_the_workers_that_came_meanwhile(database):
    found = []

    def take_turn():
        with campaign.store.turn() as (_, settings, _):
            found.append(settings.n_workers)

    names = {"ann": 0.9, "bob": 0.8}
    with Campaign.create(database, workers=names, tasks=["t1"], qualities=names) as campaign:
        meanwhile_another(database, take_turn, f"{TURN}; {MORE}")
        assert found == [3]


def test_a_claim_or_an_answer_that_waited_goes_by_what_changed_meanwhile(database):
    names = {"ann": 0.9, "bob": 0.8}
    found = []
    with Campaign.create(
        database, workers=names, tasks=["t1", "t2", "t3"], qualities=names
    ) as campaign:
        meanwhile_another(
            database, lambda: found.append(campaign.next("ann")), f"{TURN}, paused = 1"
        )
        assert (found[0].task, found[0].reason) == (None, "the campaign is paused")
        campaign.pause(False)
        first = campaign.next("ann").task
        meanwhile_another(
            database,
            lambda: found.append(campaign.submit_and_next("ann", first, "1")),
            f"{TURN}; UPDATE worker SET blocked = 1 WHERE name = 'ann'",
        )
        receipt, offer = found[1]
        assert (receipt.reason, offer.task) == ("accepted", None)
        state = campaign.state()
        assert (state.settings.slots, state.settings.answers) == (1, 1)
        assert [(w.slots, w.answers) for w in state.workers] == [(1, 1), (0, 0)]


def two(database):
    """Two workers, and three tasks that are wanted in the order of their names."""
    names = {"ann": 0.9, "bob": 0.8}
    tasks = [Task(f"t{j}", prior=0.5 + 0.1 * j) for j in range(3)]
    return Campaign.create(database, workers=names, tasks=tasks, qualities=names)


def is_locked(call):
    """Whether a call waits in vain."""
    try:
        call()
    except StoreError as error:
        return "locked by another program" in str(error)
    return False


def test_who_waits_for_whom(database, monkeypatch):
    monkeypatch.setattr(store, "WAIT_SECONDS", 0.1)
    with two(database) as campaign, speed.psycopg_of(database) as other:
        tasks = {name: campaign.next(name).task for name in ("ann", "bob")}
        calls = {
            "next": lambda: campaign.next("ann"),
            "submit": lambda: campaign.submit("ann", tasks["ann"], "1"),
            "skip": lambda: campaign.skip("bob", tasks["bob"]),
        }
        with other.transaction():
            other.execute(CLOSE_GATE)
            assert {name for name, call in calls.items() if is_locked(call)} == set(calls)
        assert {name for name, call in calls.items() if is_locked(call)} == set()


def test_a_lease_that_was_answered_meanwhile_is_not_renewed(database):
    found = []
    with two(database) as campaign:
        assert campaign.next("ann").task == "t0"
        meanwhile_another(
            database,
            lambda: found.append(campaign.next("ann").task),
            "UPDATE pair SET state = 3, label = 1, expires = NULL; "
            "UPDATE worker SET answers = 1 WHERE name = 'ann'; UPDATE task SET answers = slots, "
            "wanted = 0 WHERE name = 't0'",
        )
        assert found == ["t1"]
        with campaign.store.read() as (connection, _):
            rows = connection.execute(schema.pair.select()).mappings().all()
        assert {row["state"]: row["expires"] is None for row in rows} == {3: True, 2: False}

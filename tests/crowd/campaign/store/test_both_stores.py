"""SQLite and PostgreSQL: the same calls say and keep the same; what PostgreSQL alone may do."""

import os
import random
import signal
import threading
import time
from contextlib import ExitStack

import pytest
from sqlalchemy import text

from benchmarks.speed import campaign as speed
from crowd_tvcs import Quality
from crowd_tvcs.campaign import Campaign, RejectedError, StoreError, Task, Worker
from crowd_tvcs.campaign.store import schema, store
from crowd_tvcs.campaign.store.queries import GATE, WORKER
from crowd_tvcs.campaign.store.statements import Statement
from tests.makers.campaigns import tables

NAMES = [f"w{i}" for i in range(7)]
TASKS = [f"t{j:02d}" for j in range(15)]


def crowd(rng, *, classes, per_pair=False):
    """Workers with costs, caps and teams, tasks with caps, minimums and priors, and qualities."""
    workers = [
        Worker(
            name,
            cost=rng.choice([0.01, 0.05, 0.2]),
            max_tasks=rng.choice([None, 5, 9]),
            team=rng.choice([None, None, "x", "y"]),
        )
        for name in NAMES
    ]
    tasks = []
    for name in TASKS:
        least = rng.choice([0, 0, 1, 2])
        prior = rng.choice([None, round(rng.uniform(0.1, 0.9), 3)]) if classes == 2 else None
        most = rng.choice([None, max(1, least), 4])
        tasks.append(Task(name, min_workers=least, max_workers=most, prior=prior))
    values = {name: round(rng.uniform(0.45, 1.0), 3) for name in NAMES[:-1]}
    if per_pair:
        cells = [[round(rng.uniform(0.45, 1.0), 3) for _ in TASKS] for _ in NAMES]
        allowed = [[rng.random() < 0.9 for _ in TASKS] for _ in NAMES]
        values = Quality(cells, NAMES, TASKS, allowed)
    return {"workers": workers, "tasks": tasks, "qualities": values}


def of_gold(rng):
    """Qualities, habits and a model that come from gold answers of three classes."""
    gold = {f"g{j:02d}": rng.choice("abc") for j in range(40)}
    answers = [
        (task, name, label if rng.random() < 0.6 + 0.05 * i else rng.choice("abc"))
        for task, label in gold.items()
        for i, name in enumerate(NAMES)
    ]
    return crowd(rng, classes=3) | {"qualities": None, "gold": gold, "gold_answers": answers}


def options(kind, rng):
    """A campaign of one kind, drawn."""
    common = {"lease_seconds": 300.0, "budget": rng.randrange(20, 60), "money": 6.0}
    if kind == "gold":
        return of_gold(rng) | common | {"classes": list("abc"), "target": 0.9}
    if kind == "per pair":
        return crowd(rng, classes=2, per_pair=True) | common | {"min_quality": 0.6}
    if kind == "independent":
        own = {"model": "independent", "classes": list("abcd"), "max_workers_per_task": 3}
        return crowd(rng, classes=4) | common | own
    if kind == "few workers":  # so that there are fewer than labels are looked ahead
        found = crowd(rng, classes=2)
        few = {"workers": found["workers"][:3], "min_gain": 0.01, "model": "independent"}
        few["qualities"] = {name: found["qualities"][name] for name in NAMES[:3]}
        return found | common | few
    return crowd(rng, classes=2) | common | {"min_quality": 0.5, "target": 0.95}


KINDS = ("dependent", "gold", "per pair", "independent", "few workers")


def history(rng, length, labels):
    """Calls as (method, arguments), in time; `...` is the task that the worker was given last."""
    clock, names, tasks = 1000.0, list(NAMES), list(TASKS)
    for _ in range(length):
        clock += rng.choice([0.0, 1.5, 7.25, 7.25, 7.25, 90.0])
        name = rng.choice([*names, *names, "nobody"])
        draw = rng.random()
        if draw < 0.3:
            yield "next", (name,), clock
        elif draw < 0.7:
            task = rng.choice([..., ..., ..., ..., rng.choice(tasks), "nothing"])
            method = rng.choice(["submit", "submit_and_next", "submit_and_next"])
            yield method, (name, task, rng.choice([*labels * 5, "z"])), clock
        elif draw < 0.77:
            yield "skip", (name, ..., "dark"), clock
        elif draw < 0.82:
            yield "undo", (name,), clock
        elif draw < 0.85:
            yield "pause", (rng.random() < 0.15,), clock
        elif draw < 0.88:
            yield "block", (name, rng.random() < 0.2), clock
        elif draw < 0.91:
            yield "close_tasks", ([rng.choice(tasks)], rng.random() < 0.3), clock
        elif draw < 0.93:
            yield "add_answers", (name, ..., rng.choice(labels)), clock
        elif draw < 0.96:
            yield "plan", (3,), clock
        elif draw < 0.97:
            yield "release", (1,), clock
        elif draw < 0.985:
            names.append(f"v{len(names)}")
            tasks.append(f"u{len(tasks):02d}")
            yield "add", (names[-1], tasks[-1], rng.choice([None, "x"])), clock
        else:
            yield "stop", (rng.random() < 0.3,), clock


def outcome(campaign, held, method, given, clock):
    """What a campaign says to a call, in words or as it is."""
    try:
        if method == "plan":
            return campaign.plan(labels=given[0], method="greedy").pairs
        if method == "release":
            return campaign.release(*given)
        if method == "add":
            new, task, team = given
            return campaign.add(workers=[Worker(new, cost=0.02, team=team)], tasks=[task])
        if method == "stop":
            campaign.review_tasks(min_gain=0.001, close=True)
            return campaign.reopen() if given[0] else None
        given = [held[given[0]] if one is ... else one for one in given]
        if method == "add_answers":
            name, task, label = given
            return campaign.add_answers([(task, name, label)])
        return getattr(campaign, method)(*given, now=clock)
    except (RejectedError, ValueError) as error:
        return str(error)


def hold_equal(place, database, kind, seed, length=90):
    """Run a random history on both and compare all that is said and kept; return the claims.

    Each store is open twice, and calls go by one or the other.
    """
    rng = random.Random(seed)
    given = options(kind, rng)
    labels = given.get("classes", ["0", "1"])
    held, n_claims = {}, 0
    with ExitStack() as stack:
        hands = []
        for where in (place, database):
            made = stack.enter_context(Campaign.create(where, **given))
            hands.append((made, stack.enter_context(Campaign(where))))
        for step, (method, arguments, clock) in enumerate(history(rng, length, labels)):
            if ... in arguments and arguments[0] not in held:
                method, arguments = "next", arguments[:1]
            one, other = hands[0][step % 3 == 0], hands[1][step % 3 == 0]
            error_text = outcome(one, held, method, arguments, clock)
            assert outcome(other, held, method, arguments, clock) == error_text, (
                seed,
                method,
                arguments,
            )
            offer = error_text[1] if isinstance(error_text, tuple) else error_text
            if method in ("next", "submit_and_next") and getattr(offer, "task", None):
                held[arguments[0]] = offer.task
                n_claims += 1
            elif method == "submit" and not isinstance(error_text, str) and step % 5:
                held.pop(arguments[0], None)  # else they hand it in once more
            if step % 30 == 0 or step == length - 1:
                assert tables(other) == tables(one), (seed, method, arguments)
    return n_claims


@pytest.mark.parametrize("kind", KINDS)
def test_both_stores_say_and_keep_the_same(database, tmp_path, kind):
    assert hold_equal(tmp_path / "c.db", database, kind, seed=1) > 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(100, 125))
def test_both_stores_say_and_keep_the_same_in_many_histories(database, tmp_path, kind, seed):
    hold_equal(tmp_path / "c.db", database, kind, seed=seed, length=150)


def test_an_answer_of_a_round_that_is_taken_back_is_a_lease_of_none(database, tmp_path):
    names = {"ann": 0.9, "bob": 0.8}
    places = (tmp_path / "c.db", database)
    kept = []
    for place in places:
        with Campaign.create(place, workers=names, tasks=["t1"], qualities=names) as campaign:
            assert ("ann", "t1") in campaign.plan(labels=2, method="greedy").pairs
            campaign.submit("ann", "t1", "1", now=1000.0)
            campaign.undo("ann", now=1001.0)
            for now in (1001.0, 1002.0):  # as it was taken back, and renewed
                rounds = [row["round"] for row in pairs(campaign) if row["worker_id"] == 1]
                assert rounds == [None]
                campaign.next("ann", now=now + 1.0)
            kept.append(tables(campaign))
    assert kept[0] == kept[1]


def pairs(campaign):
    with campaign.store.read() as (connection, _):
        return connection.execute(schema.pair.select()).mappings().all()


def three(database):
    """A small campaign on PostgreSQL."""
    names = {"ann": 0.9, "bob": 0.8, "cy": 0.7}
    return Campaign.create(database, workers=names, tasks=["t1", "t2", "t3"], qualities=names)


def test_names_go_to_the_database_as_they_are(database):
    names = {"änn ☃": 0.9, "%s $1 '\\": 0.8}
    with Campaign.create(database, workers=names, tasks=["tâ\nche"], qualities=names) as campaign:
        for name in names:
            assert campaign.next(name).task == "tâ\nche"
            assert campaign.submit(name, "tâ\nche", "1").worker == name
        assert [row["label"] for row in pairs(campaign)] == [1, 1]
        with pytest.raises(StoreError, match="nothing was changed"):
            campaign.store.look(WORKER.with_(called="änn ☃\0"))  # libpq would end it there
        assert campaign.next("änn ☃").task is None


def press_ctrl_c(database):
    """Interrupt this process once a call waits for another program."""
    waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
    with speed.psycopg_of(database) as watching:
        end = time.monotonic() + store.WAIT_SECONDS / 2
        while not watching.execute(waits).fetchone()[0] and time.monotonic() < end:
            time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


def end_all_others(connection):
    """End the other connections to its database, and wait until they have ended."""
    others = (
        "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND backend_type = 'client backend'"
    )
    connection.execute(f"SELECT pg_terminate_backend(pid) {others}")
    end = time.monotonic() + 60.0
    while connection.execute(f"SELECT EXISTS (SELECT {others})").fetchone()[0]:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_ends_a_call_that_waits_and_changes_nothing(database):
    # The processes of pytest ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGINT, before)
        campaign = stack.enter_context(three(database))
        other = stack.enter_context(speed.psycopg_of(database))
        task = campaign.next("ann").task
        for call in (campaign.next, lambda name: campaign.submit(name, task, "1")):
            with other.transaction():
                other.execute(f"SELECT pg_advisory_xact_lock({GATE})")
                pressed = threading.Thread(target=press_ctrl_c, args=(database,))
                with pytest.raises(KeyboardInterrupt):
                    pressed.start()
                    call("ann")
                pressed.join()
        assert [row["state"] for row in pairs(campaign)] == [schema.LEASED]
        assert campaign.submit("ann", task, "1").reason == "accepted"
        assert campaign.next("ann").task != task


def test_connections_that_others_had_after_an_error_are_kept_again(database):
    """The server forgets what was prepared on them, so it is prepared anew."""
    with three(database) as campaign:
        for _ in range(3 * store.POOL):
            task = campaign.next("ann").task
            with pytest.raises(RejectedError):
                campaign.submit("ann", task, "nothing")  # gives its connection back to the pool
            campaign.pause(False)  # takes it, or another
            with pytest.raises(RejectedError):
                campaign.block("nobody")
        assert campaign.submit("ann", task, "1").reason == "accepted"


def test_a_change_that_the_tables_refuse_is_taken_back_whole(database):
    with three(database) as campaign:
        task = campaign.next("ann").task
        with speed.psycopg_of(database) as other:
            other.execute("ALTER TABLE pair ADD CHECK (label IS NULL)")
            with pytest.raises(StoreError, match=r"violates check constraint.*nothing was changed"):
                campaign.submit("ann", task, "1")
            assert [row["state"] for row in pairs(campaign)] == [schema.LEASED]
            assert campaign.state().settings.answers == 0
            other.execute("ALTER TABLE pair DROP CONSTRAINT pair_label_check")
        assert campaign.submit("ann", task, "1").reason == "accepted"


def test_a_database_that_was_away_costs_one_call(database):
    with three(database) as campaign:
        task = campaign.next("ann").task
        with ExitStack() as stack:
            for _ in range(store.POOL):
                stack.enter_context(campaign.store._kept.one())
        with speed.psycopg_of(database) as other:
            end_all_others(other)
        with pytest.raises(StoreError, match="nothing was changed"):
            campaign.next("ann")
        for _ in range(store.POOL):
            assert campaign.next("ann").task == task


@pytest.mark.parametrize("and_next", [False, True])
def test_answers_have_the_tables_tidied(database, monkeypatch, and_next):
    monkeypatch.setattr(store, "VACUUM_EVERY", 2)
    asked = "SELECT relname, vacuum_count FROM pg_stat_user_tables WHERE relname = ANY(%s)"
    with three(database) as campaign, speed.psycopg_of(database) as other:
        submit = campaign.submit_and_next if and_next else campaign.submit
        for number, found in ((1, 0), (2, 1), (3, 1)):
            submit("ann", campaign.next("ann").task, "1")
            told = other.execute(asked, (["task", "pair", "worker"],)).fetchall()
            assert dict(told) == {"task": found, "pair": found, "worker": 0}, number


def test_tables_that_may_not_be_tidied_stop_no_answer(database, monkeypatch):
    monkeypatch.setattr(store, "VACUUM_EVERY", 1)
    monkeypatch.setattr(store, "_TIDY", Statement(text("VACUUM nothing")))
    with three(database) as campaign:
        assert campaign.submit("ann", campaign.next("ann").task, "1").reason == "accepted"


def test_a_file_is_not_tidied(begin, monkeypatch):
    monkeypatch.setattr(store, "_TIDY", None)
    begin().store.tidy(store.VACUUM_EVERY)


def test_large_tables_are_tidied_more_seldom():
    assert [n for n in range(1, 5000) if store.is_to_tidy(n)] == [1000, 2000, 3000, 4000]
    large = [n for n in range(2**20, 2**21) if store.is_to_tidy(n)]
    assert large == [2**20 + k * 2**17 for k in range(8)]

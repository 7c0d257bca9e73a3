"""Copies of stores: the same rows in every table, from each kind of store to each, in use."""

import random
import sqlite3
import stat
import threading
from contextlib import closing

import pytest
from sqlalchemy import select

from crowd_tvcs import Quality
from crowd_tvcs.campaign import Campaign, StoreError, Task, copy
from crowd_tvcs.campaign.store import kinds, schema
from crowd_tvcs.campaign.store.store import Store
from tests.crowd.campaign.store.test_both_stores import KINDS, options
from tvcs_core import DataError


def rows_of(place):
    """All rows of all tables, sorted; the view of kinds in place of the table of pairs."""
    store = Store(place)
    try:
        with store.read(all_of_it=True) as (connection, settings):
            tables = list(schema.metadata.sorted_tables)
            if settings.source == kinds.SOURCE:
                tables += kinds.tables.sorted_tables
            return {
                table.name: sorted(map(repr, connection.execute(select(table)).all()))
                for table in tables
            }
    finally:
        store.close()


def answered_in(path):
    """Count the answered pairs of a file."""
    query = "SELECT count(*) FROM pair WHERE state = ?"
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, (schema.ANSWERED,)).fetchone()[0]


def worked_on(campaign, rng, *, steps=25):
    """Let workers answer, skip and take back, and plan a round."""
    names = [one.name for one in campaign.state().workers]
    classes = campaign.state().classes
    for _ in range(steps):
        who = rng.choice(names)
        task = campaign.next(who).task
        if task is None:
            continue
        if rng.random() < 0.15:
            campaign.skip(who, task, "too dark")
        else:
            campaign.submit(who, task, rng.choice(classes))
            if rng.random() < 0.1:
                campaign.undo(who)


@pytest.fixture
def used(tmp_path):
    """A store of each kind of campaign, with a history."""

    def make(kind):
        rng = random.Random(kind)
        with Campaign.create(tmp_path / "used.db", **options(kind, rng)) as campaign:
            worked_on(campaign, rng)
        return tmp_path / "used.db"

    return make


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_has_every_row_and_goes_on_alike(used, tmp_path, kind):
    place, target = used(kind), tmp_path / "copy.db"
    n_answers = copy(place, target)
    before = rows_of(place)
    assert rows_of(target) == before
    assert n_answers == answered_in(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    for one in (place, target):
        with Campaign(one) as campaign:
            worked_on(campaign, random.Random(1), steps=10)
    ours, theirs = rows_of(place), rows_of(target)
    for name in ("task", "worker", "campaign"):  # pairs have the time of day
        assert theirs[name] == ours[name]


def test_sessions_of_operators_are_not_copied(used, tmp_path):
    place = used("dependent")
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("INSERT INTO session VALUES ('hash', 1.0)")
    copy(place, tmp_path / "copy.db")
    assert rows_of(place)["session"]
    assert rows_of(tmp_path / "copy.db")["session"] == []


def test_through_postgresql_and_back_every_row_is_the_same(used, tmp_path, database):
    place = used("gold")
    copy(place, database)
    assert rows_of(database) == rows_of(place)
    with Campaign(database) as campaign:
        campaign.add(tasks=["new"])  # gets a number of its own
        assert "new" in [one.name for one in campaign.state().tasks]
    copy(database, tmp_path / "back.db")
    assert rows_of(tmp_path / "back.db") == rows_of(database)


def test_a_copy_made_while_people_answer_is_one_state(begin, tmp_path):
    tasks = [f"t{k}" for k in range(60)]
    with begin(tasks=tasks) as campaign:
        done = threading.Event()

        def label():
            with Campaign(campaign.store.place) as own:
                for task in tasks:
                    own.submit("ann", own.next("ann").task or task, "0")
            done.set()

        worker = threading.Thread(target=label)
        worker.start()
        copies = []
        while not done.is_set() or not copies:
            copies.append(tmp_path / f"copy{len(copies)}.db")
            n_answers = copy(campaign.store.place, copies[-1])
            assert n_answers == answered_in(copies[-1])
        worker.join()


def test_a_copy_of_kinds_has_their_tables_and_the_view(tmp_path, begin):
    table = Quality([[0.9, 0.6], [0.7, 0.8]], ["ann", "bob"], ["birds", "cats"])
    tasks = [Task("t1", kind="birds"), Task("t2", kind="cats")]
    with begin(workers=["ann", "bob"], tasks=tasks, qualities=None, kinds=table) as campaign:
        place = campaign.store.place
        campaign.submit("ann", campaign.next("ann").task, "0")
        copy(place, tmp_path / "copy.db")
    assert rows_of(tmp_path / "copy.db") == rows_of(place)
    with Campaign(tmp_path / "copy.db") as campaign:
        assert campaign.next("bob").task is not None


def test_a_place_that_holds_something_is_left_alone(used, tmp_path):
    place, target = used("dependent"), tmp_path / "copy.db"
    copy(place, target)
    before = rows_of(target)
    with pytest.raises(DataError, match=r"copy\.db: holds tables already; name a new file"):
        copy(place, target)
    assert rows_of(target) == before
    with pytest.raises(DataError, match="must be another file than the store itself"):
        copy(place, place.parent / "." / place.name)
    with pytest.raises(DataError, match="there is no such store"):
        copy(tmp_path / "none.db", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_copy_that_fails_leaves_no_file(used, tmp_path, monkeypatch):
    place = used("dependent")

    def fail(*_):
        raise StoreError("disk full")

    monkeypatch.setattr("crowd_tvcs.campaign.store.copying._copy_rows", fail)
    with pytest.raises(StoreError):
        copy(place, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()

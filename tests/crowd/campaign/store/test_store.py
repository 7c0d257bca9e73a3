"""The store: what it refuses, what the disk and others may do to it, and hostile names."""

import os
import sqlite3

import pytest
from sqlalchemy import event

from crowd_tvcs.campaign import Campaign, StoreError, Worker
from crowd_tvcs.campaign.store import store
from crowd_tvcs.campaign.store.schema import VERSION, metadata
from tvcs_core import DataError

WORKERS = {"ann": 0.9, "bob": 0.8}
HOSTILE = [
    "007",
    "7",
    "NA",
    "none",
    "=cmd()",
    "-1+1",
    "'; DROP TABLE pair; --",
    "a b",
    "Zoë",
    "Null",
]


def create(path, **options):
    options = {"workers": WORKERS, "tasks": ["t1", "t2"], "qualities": WORKERS} | options
    return Campaign.create(path, **options)


@pytest.fixture
def place(tmp_path):
    create(tmp_path / "c.db").close()
    return tmp_path / "c.db"


@pytest.mark.parametrize("version", [0, 1, 2, VERSION + 1])
def test_a_store_of_another_version_is_refused_and_left_alone(place, version):
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE campaign SET schema_version = ?", (version,))
    connection.close()
    with pytest.raises(DataError, match=r"of another version.*go on with the version that made it"):
        Campaign(place)


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(DataError, match="there is no such store"):
        Campaign(tmp_path / "nothing.db")
    assert not (tmp_path / "nothing.db").exists()
    (tmp_path / "text.db").write_text("no database, but long enough to be looked at" * 20)
    with pytest.raises(DataError, match="is not the store of a campaign"):
        Campaign(tmp_path / "text.db")
    sqlite3.connect(tmp_path / "empty.db").execute("CREATE TABLE other (x)").connection.close()
    with pytest.raises(DataError, match="is not the store of a campaign"):
        Campaign(tmp_path / "empty.db")
    with pytest.raises(ValueError, match=r"a path .* or a postgresql:// URL, found mysql://"):
        Campaign("mysql://host/name")


def test_a_store_in_use_is_not_overwritten(place):
    before = place.read_bytes()
    with pytest.raises(DataError, match="holds tables already"):
        create(place)
    assert place.read_bytes() == before
    with pytest.raises(DataError, match="its folder does not exist"):
        create(place.parent / "missing" / "c.db")


def test_a_locked_store_is_a_clear_error_and_nothing_is_lost(place, monkeypatch):
    monkeypatch.setattr(store, "WAIT_SECONDS", 0.1)
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Campaign(place) as campaign:
        with pytest.raises(StoreError, match=r"locked by another program for more than .* nothing"):
            campaign.next("ann")
        assert len(campaign.state().tasks) == 2  # reading goes on
        other.execute("ROLLBACK")
        other.close()
        assert campaign.next("ann").task == "t1"


def test_a_full_disk_is_a_clear_error_and_nothing_is_lost(place):
    with Campaign(place) as campaign:
        task = campaign.next("ann").task
        with campaign.store.read() as (connection, _):
            driver = connection.connection.driver_connection
            pages = driver.execute("PRAGMA page_count").fetchone()[0]
            driver.execute(f"PRAGMA max_page_count = {pages}")
        many = [Worker(f"{i:04d}" * 50) for i in range(500)]
        with pytest.raises(StoreError, match=r"the disk is full .*; nothing was changed"):
            campaign.add(workers=many)
        assert len(campaign.state().workers) == 2
        assert campaign.submit("ann", task, "1").reason == "accepted"


@pytest.mark.parametrize("pages", [1, 6])
def test_a_creation_on_a_full_disk_leaves_no_file(tmp_path, monkeypatch, pages):
    """Full before the first table, and full in the middle."""
    make = store._engine

    def on_a_small_disk(path):
        engine = make(path)
        event.listen(
            engine, "connect", lambda c, _: c.execute(f"PRAGMA max_page_count = {pages}").close()
        )
        return engine

    monkeypatch.setattr(store, "_engine", on_a_small_disk)
    with pytest.raises(StoreError, match=r"c\.db: the disk is full .*; nothing was changed"):
        create(tmp_path / "c.db")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "own.db").touch()  # a file that the operator made is theirs
    with pytest.raises(StoreError, match="the disk is full"):
        create(tmp_path / "own.db")
    assert (tmp_path / "own.db").exists()


def test_a_creation_that_fails_leaves_what_another_made_meanwhile(tmp_path, monkeypatch):
    make = store.schema.metadata.create_all

    def too_late(connection, **options):
        other = sqlite3.connect(tmp_path / "c.db")
        other.execute("CREATE TABLE campaign (x)")
        other.close()
        make(connection, **options)

    monkeypatch.setattr(store.schema.metadata, "create_all", too_late)
    with pytest.raises(StoreError, match="already exists"):
        create(tmp_path / "c.db")
    other = sqlite3.connect(tmp_path / "c.db")
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("campaign",)]
    other.close()


@pytest.mark.parametrize(
    ("is_made", "error", "says"),
    [
        (True, "disk I/O error", "so that it may have been made or not"),
        (False, "disk I/O error", "so that it may have been made or not"),
        (False, "database or disk is full", "; nothing was changed$"),
        (False, "database is locked", "; nothing was changed$"),
    ],
)
def test_what_is_lost_while_it_is_confirmed_is_not_called_unchanged(
    place, monkeypatch, is_made, error, says
):
    with Campaign(place) as campaign:
        task = campaign.next("ann").task
        commit = store.COMMIT

        def fail(connection):
            if is_made:
                commit(connection)
            raise sqlite3.OperationalError(error)

        monkeypatch.setattr(store, "COMMIT", fail)
        with pytest.raises(StoreError, match=says):
            campaign.submit("ann", task, "1")
        monkeypatch.undo()
        assert campaign.state().settings.answers == is_made
        again = campaign.submit("ann", task, "1")
        assert again.reason == ("known already" if is_made else "accepted")


def test_a_store_that_may_not_be_written_is_a_clear_error(place):
    """As root no file mode helps, so SQLite itself is told that it may only read."""
    with Campaign(place) as campaign:
        with campaign.store.read() as (connection, _):
            connection.connection.driver_connection.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match=r"may not be written .*; nothing was changed"):
            campaign.next("ann")


def test_a_failure_in_the_middle_takes_everything_back(place, monkeypatch):
    from crowd_tvcs.campaign import offers

    def fail(*_, **__):
        raise KeyboardInterrupt

    with Campaign(place) as campaign:
        monkeypatch.setattr(offers, "counted", fail)
        with pytest.raises(KeyboardInterrupt):
            campaign.next("ann")
        monkeypatch.undo()
        state = campaign.state()
        assert not state.slots.any()
        assert [w.slots for w in state.workers] == [0, 0]
        assert state.settings.revision == 0


def test_hostile_names_are_names(tmp_path):
    qualities = {name: 0.6 + 0.03 * i for i, name in enumerate(HOSTILE)}
    with create(
        tmp_path / "c.db", workers=HOSTILE, tasks=HOSTILE, qualities=qualities, classes=HOSTILE[:2]
    ) as campaign:
        for name in HOSTILE:
            task = campaign.next(name).task
            campaign.submit(name, task, "007")
        state = campaign.state()
        assert state.quality.workers == tuple(sorted(HOSTILE))
        assert state.quality.tasks == tuple(sorted(HOSTILE))
        assert {w for _, w, _ in state.answers.rows()} == set(HOSTILE)
        assert {label for _, _, label in state.answers.rows()} == {"007"}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("UPDATE campaign SET slots = 6", "within_budget"),
        ("UPDATE campaign SET committed = 2000001", "within_money"),
        ("UPDATE worker SET slots = 4", "within_max_tasks"),
        ("UPDATE task SET slots = 3", "within_max_workers"),
    ],
)
def test_the_tables_themselves_refuse_what_breaks_a_cap(tmp_path, change, name):
    workers = [Worker(name, cost=1.0) for name in WORKERS]
    caps = {"max_tasks_per_worker": 3, "max_workers_per_task": 2}
    create(tmp_path / "c.db", workers=workers, budget=5, money=2, **caps).close()
    connection = sqlite3.connect(tmp_path / "c.db")
    with pytest.raises(sqlite3.IntegrityError, match=name):
        connection.execute(change)
    connection.close()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks Linux for a file's name")
def test_an_answer_is_flushed_before_it_is_acknowledged(place, monkeypatch):
    """The log is on the disk after the change and before the receipt, outside the lock."""
    flushed = []
    fsync = os.fsync

    def watch(number):
        name = os.readlink(f"/proc/self/fd/{number}")
        with sqlite3.connect(place, timeout=0) as other:
            count = other.execute("SELECT answers FROM campaign").fetchone()[0]
            other.execute("BEGIN IMMEDIATE").connection.rollback()  # nobody holds the lock
        other.close()
        flushed.append((os.path.basename(name), count))
        fsync(number)

    with Campaign(place) as campaign:
        task = campaign.next("ann").task
        monkeypatch.setattr(os, "fsync", watch)
        campaign.submit("ann", task, "1")
        assert flushed == [("c.db-wal", 1)]

        def broken(number):
            raise OSError(5, "Input/output error")

        task = campaign.next("ann").task
        monkeypatch.setattr(os, "fsync", broken)
        with pytest.raises(StoreError, match="the disk has not confirmed"):
            campaign.submit("ann", task, "1")
        monkeypatch.undo()
        assert campaign.submit("ann", task, "1").reason == "known already"


EMPTY = """
access.revoked audit.address audit.detail audit.task campaign.answer_kind campaign.best
campaign.budget campaign.confidence_threshold campaign.dependence campaign.max_tasks_per_worker
campaign.max_workers_per_task campaign.min_gain campaign.money campaign.paused campaign.secret
campaign.shares_of_gold pair.answered_at pair.expires pair.label pair.leased_at pair.place
pair.round pair.seconds pair.swapped planned.bound task.prior task.settled worker.blocked
worker.habits worker.joined worker.quality worker.team
"""


def test_nothing_else_may_be_empty():
    found = {f"{at.table.name}.{at.name}" for of in metadata.sorted_tables for at in of.columns
             if at.nullable}  # fmt: skip
    assert found == set(EMPTY.split())

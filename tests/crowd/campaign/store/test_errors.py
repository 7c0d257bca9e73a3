"""What a store says of errors of its database, and what it asks of PostgreSQL; none is needed."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest
from sqlalchemy import bindparam, select
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from crowd_tvcs.campaign import Campaign, StoreError
from crowd_tvcs.campaign.store import schema, store
from crowd_tvcs.campaign.store.connection_cache import MAX_IDLE_CONNECTIONS
from crowd_tvcs.campaign.store.errors import error_text, in_words
from crowd_tvcs.campaign.store.queries import SETTINGS, WORKER
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.campaign.store.store import Store
from tvcs_core import DataError


@pytest.mark.parametrize(
    ("raised", "kind", "says"),
    [
        (SQLAlchemyError("one\n  two"), StoreError, ": one two; nothing was changed$"),
        (sqlite3.OperationalError("disk I/O error"), StoreError, "reports an error or is full"),
        (sqlite3.OperationalError("database is locked"), StoreError, "for more than 30 s; try"),
        (
            OperationalError("", {}, sqlite3.OperationalError("odd\n error")),
            StoreError,
            ": odd error; nothing was changed$",
        ),
        (sqlite3.DatabaseError("file is not a database"), DataError, "is not the store of a camp"),
        (sqlite3.DatabaseError("image is malformed"), DataError, "store of a campaign .image is"),
    ],
)
def test_errors_of_the_database_are_reported_in_one_line(begin, raised, kind, says):
    opened = begin().store
    with pytest.raises(kind, match=says), opened.read():
        raise raised
    with opened.read() as (_, settings):
        assert settings.revision == 0


def test_a_statement_is_compiled_once_for_each_kind_of_database(begin):
    echo = Statement(select(bindparam("x").label("x")))
    with begin().store.read() as (connection, _):
        assert echo.first(connection, x=3).x == 3
        assert [row.x for row in echo(connection, x=4)] == [4]
        assert echo.compiled(connection) is echo.compiled(connection)
        nobody = Statement(select(schema.worker.c.id).where(schema.worker.c.name == "nobody"))
        assert nobody.first(connection) is None


def test_what_the_driver_says_is_shortened():
    class Diagnosis(Exception):
        diag = type("Diag", (), {"message_primary": "short\n and clear"})

    assert error_text(Diagnosis("long")) == "short and clear"
    assert error_text(ValueError("as\n\tit is")) == "as it is"
    assert in_words("attempt to write a readonly database").startswith("may not be written (att")
    assert in_words("something else") == "something else"
    for state in ("starting up", "shutting down", "in recovery mode"):
        found = f"FATAL:  the database system is {state}"
        assert (
            in_words(found) == f"is starting, ending or recovering; try again in a moment ({found})"
        )


def test_a_new_file_that_cannot_be_looked_into_is_removed_again(tmp_path, monkeypatch):
    def broken(_):
        raise OperationalError("", {}, sqlite3.OperationalError("unable to open database file"))

    monkeypatch.setattr(store, "inspect", broken)
    options = {"workers": ["ann"], "tasks": ["t1"], "qualities": {"ann": 0.9}}
    with pytest.raises(StoreError, match="cannot be opened; its folder must exist"):
        Campaign.create(tmp_path / "c.db", **options)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="cannot be made: its folder does not exist"):
        Campaign.create(tmp_path / "none" / "c.db", **options)
    with pytest.raises(StoreError, match=r"xx\.db: File name too long; nothing was changed$"):
        Campaign.create(tmp_path / f"{'x' * 300}.db", **options)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="its folder does not exist"):
        Campaign.create(tmp_path / "file" / "c.db", **options)


def test_a_new_file_is_for_its_owner_alone_whatever_the_umask(begin):
    before = os.umask(0)
    try:
        place = Path(begin().store.place)
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_nobody_changes_a_store_beside_one_who_locks_it(begin):
    opened = begin().store
    other = sqlite3.connect(opened.place, timeout=0.0)
    with opened.write() as (connection, _, _):
        connection.exec_driver_sql("UPDATE campaign SET revision = 7")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
    assert other.execute("SELECT revision FROM campaign").fetchone() == (7,)
    other.close()
    assert (opened.is_file, opened.name) == (True, opened.place)


@pytest.mark.parametrize("flush", [True, False])
def test_what_goes_first_is_answered_whether_the_disk_is_waited_for_or_not(begin, flush):
    first = SETTINGS.with_(), WORKER.with_(called="bob")
    with begin().store.write(*first, flush=flush) as (connection, settings, found):
        assert found[0] == [settings]
        assert [row.name for row in found[1]] == ["bob"]
        waits = connection.exec_driver_sql("PRAGMA synchronous").scalar_one()
    assert waits == (2 if flush else 1)  # FULL, NORMAL


def test_what_is_asked_of_postgresql(monkeypatch):
    asked = {}
    monkeypatch.setattr(store, "create_engine", lambda url, **more: asked.update(url=url, **more))
    store._server("postgresql://ann@host/name")
    assert asked["url"].drivername == "postgresql+psycopg"
    assert asked["pool_size"] == 5 + MAX_IDLE_CONNECTIONS
    assert set(asked["connect_args"]["options"].split("-c ")) == {
        "", "lock_timeout=30000 ", "jit=off ", "enable_sort=off ", "enable_bitmapscan=off ",
        "enable_seqscan=off", "plan_cache_mode=force_generic_plan ",
    }  # fmt: skip
    assert asked["connect_args"]["client_encoding"] == "utf8"
    store._server("postgresql+pg8000://ann@host/name")
    assert asked["url"].drivername == "postgresql+pg8000"
    for wrong in ("mysql://host/name", "sqlite:///c.db"):
        with pytest.raises(ValueError, match=r"is a path \(SQLite\) or a postgresql:// URL"):
            Store(wrong)

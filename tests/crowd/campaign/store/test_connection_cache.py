"""Connections that are kept between labels, and statements that are planned once."""

import re
from contextlib import ExitStack
from sqlite3 import OperationalError

import pytest
from sqlalchemy import select, text

from crowd_tvcs.campaign.store import connection_cache, gold, queries, rows, schema
from crowd_tvcs.campaign.store.errors import StoreError
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.serve.desk import THREADS

STATEMENTS = {
    **{name: one for name, one in vars(queries).items() if isinstance(one, Statement)},
    **{f"search {kind}": one for kind, one in queries.SEARCHES.items()},
    "gold search": gold.SEARCH,
}


def driver(connection):
    return connection.connection.driver_connection


def test_the_connection_used_last_is_taken_first(begin):
    lend = begin().store._kept.one
    with lend() as one, lend() as other:
        first, second = driver(one), driver(other)
    assert first is not second
    with lend() as again:
        assert driver(again) is first  # given back last
        assert driver(again).execute("PRAGMA synchronous").fetchone() == (1,)


def test_only_a_few_are_kept(begin):
    opened = begin().store
    lent = [opened._kept.one() for _ in range(connection_cache.MAX_IDLE_CONNECTIONS + 2)]
    for one in lent:
        one.__enter__()
    assert opened.engine.pool.checkedout() == connection_cache.MAX_IDLE_CONNECTIONS + 2
    for one in lent:
        one.__exit__(None, None, None)
    assert opened.engine.pool.checkedout() == connection_cache.MAX_IDLE_CONNECTIONS
    opened._kept.close()
    assert opened.engine.pool.checkedout() == 0


def test_with_all_threads_of_labels_busy_a_read_still_comes(begin):
    opened = begin().store
    opened.engine.pool._timeout = 0.5  # else it would wait 30 s in vain
    with ExitStack() as idle:
        for _ in range(connection_cache.MAX_IDLE_CONNECTIONS):
            idle.enter_context(opened._kept.one())
    with ExitStack() as busy:
        for _ in range(THREADS):  # such as `undo`, which takes none that is kept
            busy.enter_context(opened.engine.connect())
        assert opened.engine.pool.checkedout() == connection_cache.MAX_IDLE_CONNECTIONS + THREADS
        with opened.read() as (_, settings):
            assert settings.revision == 0


def test_a_connection_that_cannot_be_set_up_goes_back(begin):
    engine = begin().store.engine
    before = engine.pool.checkedout()
    with (
        pytest.raises(OperationalError, match="nothing"),
        connection_cache.ConnectionCache(engine, "SELECT 1 FROM nothing").one(),
    ):
        pytest.fail("it was lent")
    assert engine.pool.checkedout() == before


def test_a_connection_on_which_sqlalchemy_began_is_not_kept(begin):
    opened = begin().store
    with (
        pytest.raises(RuntimeError, match="SQLAlchemy began a transaction"),
        opened._kept.one() as connection,
    ):
        connection.execute(text("UPDATE campaign SET revision = 9"))
    assert opened.engine.pool.checkedout() == 0
    with opened.read() as (_, settings):
        assert settings.revision == 0


def test_what_was_begun_ends_with_an_error(begin):
    campaign = begin()
    with pytest.raises(KeyError), campaign.store._kept.one() as connection:
        driver(connection).execute("BEGIN IMMEDIATE")
        driver(connection).execute("UPDATE campaign SET revision = 9")
        raise KeyError
    with campaign.store.read() as (_, settings):
        assert settings.revision == 0
    assert campaign.next("ann").task is not None


def test_a_look_sees_what_was_changed_and_names_the_store_where_it_fails(begin):
    campaign = begin()
    look = campaign.store.look
    called = queries.WORKER.with_(called="ann")
    task = campaign.next("ann").task
    ((settings,), (ann,)) = look(queries.SETTINGS.with_(), called)
    assert (settings.slots, ann.lease_name) == (1, task)
    with pytest.raises(StoreError, match=r"c0\.db.*; nothing was changed"):
        look(Statement(text("SELECT 1 FROM nothing")).with_())


def test_a_store_is_used_again_after_it_was_closed(begin):
    campaign = begin()
    task = campaign.next("ann").task
    campaign.close()
    assert campaign.next("ann").task == task


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_parameter_decides_whether_an_index_of_some_rows_may_be_used(begin, name):
    """SQLite plans such a statement anew at every run, which takes four times what it does."""
    with begin().store.read() as (connection, _):
        words = STATEMENTS[name].compiled(connection)[0]
    conditions = re.split(r"\b(?:WHERE|ON|JOIN)\b", words)[1:]
    assert not [one for one in conditions if re.search(r"(state|wanted|closed) = [:?]", one)]


def test_a_statement_whose_columns_are_not_those_of_its_rows_is_refused():
    columns = schema.worker.c
    with pytest.raises(TypeError, match=r"columns must be \('id', 'name', .*found \('name', 'id'"):
        Statement(select(columns.name, columns.id), rows.WorkerRow)
    assert rows.Settings._fields == (*schema.campaign.c.keys(), "n_workers")


def test_fields_that_are_not_asked_for_have_their_defaults(begin):
    with begin().store.read() as (connection, _):
        (ann, *_), (task, *_) = queries.WORKERS(connection), queries.TASKS(connection)
    assert isinstance(ann, rows.WorkerRow)
    assert (ann.name, ann.lease, task.name, task.before) == ("ann", None, "t1", None)

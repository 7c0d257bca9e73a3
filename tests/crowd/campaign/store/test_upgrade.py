"""Stores of older versions: brought up whole or not at all, with a copy of what they were."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from crowd_tvcs.campaign import Campaign, StoreError, task_statuses, upgrade
from crowd_tvcs.campaign.store import schema, store
from crowd_tvcs.campaign.store import upgrade as upgrading
from crowd_tvcs.campaign.store.schema import VERSION
from tests.makers.campaigns import make_older
from tvcs_core import DataError
from tvcs_core.files.partial import create_partial_file

WORKERS = ["ann", "bob", "cy"]
VERSION_1 = Path(__file__).parent / "version_1.sql"


@pytest.fixture
def old(tmp_path):
    """A store that the program made before there was a model."""
    connection = sqlite3.connect(tmp_path / "old.db")
    connection.executescript(VERSION_1.read_text(encoding="utf-8"))
    connection.close()
    return tmp_path / "old.db"


def dump(path):
    connection = sqlite3.connect(path)
    out = list(connection.iterdump())
    connection.close()
    return out


def test_an_older_store_is_refused_with_the_remedy(old):
    before = dump(old)
    with pytest.raises(DataError, match=r"version 1, .* campaign upgrade brings it up .* changed$"):
        Campaign(old)
    assert dump(old) == before


def test_it_goes_on_with_independent_workers_and_the_copy_is_what_it_was(old):
    before = dump(old)
    assert upgrade(old) == (1, str(old.with_name("old.version-1.db")))
    assert dump(old.with_name("old.version-1.db")) == before
    with Campaign(old) as campaign:
        state = campaign.state()
        assert state.settings.schema_version == VERSION
        assert state.model is None
        confidence = [0.7615384615384615, 0.9520865533230294, 0.8615384615384615]
        assert [t.confidence for t in state.tasks] == confidence
        assert state.posterior.max(axis=1).tolist() == confidence
        assert state.answers.when is None
        verdicts = [one.verdict for one in task_statuses(state)]
        assert verdicts == ["waiting", "confident", "worth a label"]
        receipt = campaign.submit("bob", "t1", "b")
        odds = 0.7615384615384615 / 0.2384615384615385 * 0.1384615384615385 / 0.8615384615384615
        assert receipt.confidence == pytest.approx(1.0 / (1.0 + odds), abs=1e-12)
        campaign.add(gold={"g9": "a"}, gold_answers=[("g9", "ann", "a")])
        assert campaign.state().model is None
        campaign.pause()
    assert upgrade(old) == (VERSION, "")  # once is enough


def test_a_copy_in_the_way_is_kept(old):
    copy = old.with_name("old.version-1.db")
    copy.write_text("mine")
    with pytest.raises(DataError, match="is there already"):
        upgrade(old)
    assert copy.read_text() == "mine"
    with pytest.raises(DataError, match="campaign upgrade"):
        Campaign(old)


def test_the_copy_of_an_upgrade_that_was_killed_is_taken(old):
    before, copy = dump(old), old.with_name("old.version-1.db")
    upgrading._copy_file(old, copy)  # killed here: the store is as it was
    assert upgrade(old) == (1, str(copy))
    assert dump(copy) == before
    assert upgrade(old) == (VERSION, "")


def test_where_no_copy_can_be_written_nothing_is_changed(old, monkeypatch):
    before = dump(old)

    def refuse(path, _write, **_):
        raise DataError("cannot be written (Permission denied)", path=path)

    monkeypatch.setattr(upgrading, "write_whole", refuse)
    with pytest.raises(StoreError, match=r"Permission denied\); nothing was changed$"):
        upgrade(old)
    assert dump(old) == before


def test_half_a_copy_of_an_upgrade_that_was_killed_is_removed(old):
    before, copy = dump(old), old.with_name("old.version-1.db")
    half = create_partial_file(copy)
    half.path.write_bytes(b"half")
    half.close()  # what the system does when a process ends
    assert upgrade(old) == (1, str(copy))
    assert dump(copy) == before
    assert not half.path.exists()


def test_a_copy_of_other_answers_is_kept(old):
    copy = old.with_name("old.version-1.db")
    upgrading._copy_file(old, copy)
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute("UPDATE task SET prior = 0.25")
    before, kept = dump(old), dump(copy)
    with pytest.raises(DataError, match="is there already"):
        upgrade(old)
    assert (dump(old), dump(copy)) == (before, kept)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_upgrade_that_fails_changes_nothing(old, monkeypatch, error):
    before = dump(old)
    bring_up = upgrading._bring_up

    def fail(connection, version):
        bring_up(connection, version)
        raise error

    monkeypatch.setattr(upgrading, "_bring_up", fail)
    with pytest.raises(error):
        upgrade(old)
    assert dump(old) == before
    assert not old.with_name("old.version-1.db").exists()


def test_a_full_disk_changes_nothing(old, monkeypatch):
    before = dump(old)
    make = store._engine

    def on_a_full_disk(path):
        engine = make(path)
        event.listen(engine, "connect", lambda c, _: c.execute("PRAGMA max_page_count = 1").close())
        return engine

    monkeypatch.setattr(store, "_engine", on_a_full_disk)
    with pytest.raises(StoreError, match="the disk is full"):
        upgrade(old)
    monkeypatch.undo()
    assert dump(old) == before
    assert not old.with_name("old.version-1.db").exists()


def test_columns_and_keys_of_version_4_get_their_names_of_today(tmp_path):
    path = tmp_path / "c.db"
    gold = {f"g{i}": "01"[i % 2] for i in range(40)}
    answers = [(task, name, label) for task, label in gold.items() for name in WORKERS]
    options = {"gold": gold, "gold_answers": answers, "min_quality": 0.6, "min_gain": 0.02}
    with Campaign.create(path, workers=WORKERS, tasks=["t1"], target=0.9, **options) as campaign:
        settings = campaign.state().settings
    with closing(sqlite3.connect(path)) as connection, connection:
        make_older(connection, 4)
        for before, after in schema.RENAMED.items():
            connection.execute(f"ALTER TABLE campaign RENAME COLUMN {after} TO {before}")
        model = settings.dependence
        for before, after in schema.RENAMED_KEYS.items():
            assert f'"{after}":' in model
            model = model.replace(f'"{after}":', f'"{before}":')
        connection.execute("UPDATE campaign SET dependence = ?", (model,))
    assert upgrade(path) == (4, str(tmp_path / "c.version-4.db"))
    with Campaign(path) as campaign:
        assert campaign.state().settings == settings
        assert campaign.state().model is not None


def test_a_newer_store_and_none_are_refused(old, tmp_path):
    with sqlite3.connect(old) as connection:
        connection.execute("UPDATE campaign SET schema_version = ?", (VERSION + 1,))
    connection.close()
    with pytest.raises(DataError, match="a newer version"):
        upgrade(old)
    with pytest.raises(DataError, match="there is no such store"):
        upgrade(tmp_path / "none.db")
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".db") == ["old.db"]

"""Upgrade the store of an older version; a copy is kept beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import zip_longest
from pathlib import Path

from sqlalchemy import Connection, inspect, select, text, update

from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.errors import NOTHING, StoreError
from crowd_tvcs.campaign.store.store import Store
from tvcs_core.files.errors import DataError, WriteError
from tvcs_core.files.folders import write_whole


def upgrade(place: str | Path) -> tuple[int, str]:
    """Upgrade a store to the version of this program, whole or not at all.

    New columns and tables are empty: the campaign goes on as it was.

    Parameters
    ----------
    place
        Path of an SQLite file, or a ``postgresql://`` URL.

    Returns
    -------
    version, copy
        Its former version, and the place of the copy: ``animals.version-1.db`` beside
        ``animals.db``, or the schema ``tvcs_version_1`` of the same database. Empty if the store
        was of this version already.

    Raises
    ------
    DataError
        If there is no store, it is of a newer version, or a file is in the way that is no copy
        of the store.
    StoreError
        If the disk is full or the store is locked; it is as it was then.
    """
    store = Store(place)
    try:
        found = store.version()
        if found == schema.VERSION:
            return schema.VERSION, ""
        if found is None or found not in schema.ADDED:
            store.check()
        with store.locked() as connection, _copied(store, connection) as (version, copy):
            _bring_up(connection, version)
        return version, copy
    finally:
        store.close()


@contextmanager
def _copied(store: Store, connection: Connection) -> Iterator[tuple[int, str]]:
    """Copy the store, and remove the copy if the upgrade fails."""
    version = int(connection.execute(text("SELECT schema_version FROM campaign")).scalar_one())
    if not store.is_file:
        yield version, _copy_tables(store, connection, version)  # in the same transaction
        return
    path = Path(store.place)
    copy = path.with_name(f"{path.stem}.version-{version}{path.suffix}")
    is_there = copy.exists()
    if is_there and not _is_same(path, copy):
        raise DataError(
            "is there already, so the store cannot be copied there first; move it away", path=copy
        )
    if not is_there:  # else a run made it that was killed before the store was changed
        _copy_file(path, copy)
    try:
        yield version, str(copy)
    except BaseException:
        if not is_there:
            copy.unlink(missing_ok=True)
        raise


def _is_same(path: Path, copy: Path) -> bool:
    """Whether a file equals the store."""
    try:
        with closing(sqlite3.connect(path)) as ours, closing(sqlite3.connect(copy)) as theirs:
            return all(a == b for a, b in zip_longest(ours.iterdump(), theirs.iterdump()))
    except (sqlite3.Error, UnicodeError):
        return False


def _copy_file(path: Path, copy: Path) -> None:
    def back_up(partial: Path) -> None:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as target:
            source.backup(target)

    try:
        write_whole(copy, back_up, is_secret=True)
    except DataError as error:
        raise StoreError(f"{error}; {NOTHING}") from None
    except (sqlite3.Error, WriteError) as error:
        raise StoreError(f"{copy}: {getattr(error, 'strerror', error)}; {NOTHING}") from None


def _copy_tables(store: Store, connection: Connection, version: int) -> str:
    name = f"tvcs_version_{version}"
    inspector = inspect(connection)
    if name in inspector.get_schema_names():
        raise DataError(
            f"has a schema {name} already, so the tables cannot be copied there first; rename it",
            path=store.name,
        )
    connection.execute(text(f"CREATE SCHEMA {name}"))
    for table in inspector.get_table_names():
        if table in schema.metadata.tables:
            connection.execute(text(f"CREATE TABLE {name}.{table} AS TABLE {table}"))
    return f"schema {name}"


def _bring_up(connection: Connection, version: int) -> None:
    """Rename columns, and add missing tables and columns."""
    there = {column["name"] for column in inspect(connection).get_columns("campaign")}
    for before, after in schema.RENAMED.items():
        if before in there:
            renamed = f"ALTER TABLE campaign RENAME COLUMN {before} TO {after}"
            connection.execute(text(renamed))
    for old in range(version, schema.VERSION):
        for column in schema.ADDED[old]:
            kind = column.type.compile(connection.dialect)
            added = f"ALTER TABLE {column.table.name} ADD COLUMN {column.name} {kind}"
            connection.execute(text(added))
    schema.metadata.create_all(connection)
    schema.protect(connection)
    _rename_keys(connection)
    connection.execute(text(f"UPDATE campaign SET schema_version = {schema.VERSION}"))


def _rename_keys(connection: Connection) -> None:
    """Give the stored model of dependence the names of its fields today."""
    column = schema.campaign.c.dependence
    model = connection.scalar(select(column))
    for before, after in schema.RENAMED_KEYS.items():
        model = model and model.replace(f'"{before}":', f'"{after}":')
    connection.execute(update(schema.campaign).values({column: model}))

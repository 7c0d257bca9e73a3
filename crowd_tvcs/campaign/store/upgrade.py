"""Bring the store of an older version up to this one; what it was is kept beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from crowd_tvcs.campaign.store import functions, schema
from crowd_tvcs.campaign.store.store import NOTHING, Store, StoreError
from tvcs_core.files.errors import DataError


def upgrade(place: str | Path) -> tuple[int, str]:
    """Bring a store to the version of this program, whole or not at all.

    New columns and tables are empty: the campaign goes on as it was.

    Parameters
    ----------
    place
        Path of an SQLite file, or a ``postgresql://`` URL.

    Returns
    -------
    version, copy
        The version it had, and where the copy is: ``animals.version-1.db`` beside
        ``animals.db``, or the schema ``tvcs_version_1`` of the same database. Empty if the store
        was of this version already; then nothing is done, but that a database which lacks the
        `functions` of this program is given them.

    Raises
    ------
    DataError
        If there is no store, it is of a newer version, or a copy is in the way.
    StoreError
        If the disk is full or the store is locked; it is as it was then.
    """
    store = Store(place)
    try:
        found = store.version()
        if found == schema.VERSION:
            if not (store.is_file or store.has_functions):
                with store.locked() as connection:
                    functions.create(connection)
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
    """Copy the store, and remove the copy again if what follows fails."""
    version = int(connection.execute(text("SELECT schema_version FROM campaign")).scalar_one())
    if not store.is_file:
        yield version, _copy_tables(store, connection, version)  # in the same transaction
        return
    path = Path(store.place)
    copy = path.with_name(f"{path.stem}.version-{version}{path.suffix}")
    _copy_file(path, copy)
    try:
        yield version, str(copy)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def _copy_file(path: Path, copy: Path) -> None:
    try:
        copy.touch(exist_ok=False)
    except FileExistsError:
        raise DataError(
            "is there already, so the store cannot be copied there first; move it away",
            path=copy,
        ) from None
    except OSError as error:
        raise StoreError(f"{copy}: {error.strerror}; {NOTHING}") from None
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
    except BaseException as error:
        copy.unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error):
            raise StoreError(f"{copy}: {error}; {NOTHING}") from None
        raise


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
    """Add what the store lacks."""
    for old in range(version, schema.VERSION):
        for column in schema.ADDED[old]:
            kind = column.type.compile(connection.dialect)
            added = f"ALTER TABLE {column.table.name} ADD COLUMN {column.name} {kind}"
            connection.execute(text(added))
    schema.metadata.create_all(connection)
    functions.create(connection)
    connection.execute(text(f"UPDATE campaign SET schema_version = {schema.VERSION}"))

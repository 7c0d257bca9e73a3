"""Copy a store while people label: a backup, its restoration, or a move to another database."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Table, func, insert, inspect, select, text

from crowd_tvcs.campaign.store import kinds, schema
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.store import Store
from tvcs_core.files.errors import DataError

ROWS_AT_ONCE = 10_000  # that are held in memory
NOT_COPIED = {"session"}  # an operator logs in again


def copy(source: str | Path, target: str | Path) -> int:
    """Copy a campaign into a new store, of either kind, in one state of the source.

    The source may be in use: answers that come meanwhile are not in the copy. Links of workers
    work on the copy too, as it has the secret of the campaign. Operators log in again.

    Parameters
    ----------
    source, target
        Path of an SQLite file, or a ``postgresql://`` URL. The target must be new: a path that
        does not exist, or a database without tables. A file is readable by its owner alone.

    Returns
    -------
    int
        Number of answers in the copy.

    Raises
    ------
    DataError
        If the source is no store of this version, or the target holds tables already.
    StoreError
        If the disk is full or a database is away. A file that was begun is removed.
    """
    from_store, to_store = Store(source), Store(target)
    try:
        from_store.check()
        are_files = from_store.is_file and to_store.is_file
        if are_files and Path(source).resolve() == Path(target).resolve():
            raise DataError("must be another file than the store itself", path=to_store.name)
        with from_store.read(all_of_it=True) as (reading, settings), to_store.create() as writing:
            _copy_tables(reading, writing, settings)
            return settings.answers
    finally:
        from_store.close()
        to_store.close()


def _copy_tables(reading: Connection, writing: Connection, settings: Settings) -> None:
    """Copy all rows of all tables, referenced tables first."""
    tables = list(schema.metadata.sorted_tables)
    if settings.source == kinds.SOURCE:
        kinds.create(writing)  # in place of the table `skill`
        tables.remove(schema.skill)
        tables += kinds.tables.sorted_tables
    there = set(inspect(reading).get_table_names())
    for table in tables:
        if table.name in there and table.name not in NOT_COPIED:
            _copy_rows(reading, writing, table)
            _count_on(writing, table)


def _copy_rows(reading: Connection, writing: Connection, table: Table) -> None:
    options = {"yield_per": ROWS_AT_ONCE}
    found = reading.execute(select(table), execution_options=options)
    for rows in found.mappings().partitions():
        writing.execute(insert(table), [dict(row) for row in rows])


def _count_on(connection: Connection, table: Table) -> None:
    """Let PostgreSQL number new rows after those of the copy; SQLite does so by itself."""
    if connection.dialect.name != "postgresql" or table.autoincrement_column is None:
        return
    column = table.autoincrement_column
    last = connection.scalar(select(func.max(column)))
    if last is not None:
        name = connection.scalar(
            text("SELECT pg_get_serial_sequence(:table, :column)"),
            {"table": table.name, "column": column.name},
        )
        if name is not None:
            connection.execute(text("SELECT setval(:name, :last)"), {"name": name, "last": last})

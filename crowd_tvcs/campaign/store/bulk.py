"""Many rows of one table at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, insert, select, update

Rows = Sequence[Mapping[str, Any]]


def insert_rows(connection: Connection, table: Table, rows: Rows) -> None:
    """Insert rows, if there are any."""
    if rows:
        connection.execute(insert(table), rows)


def update_rows(connection: Connection, table: Table, key: str, rows: Rows) -> None:
    """Give the rows that have the value of the column `key` the other values."""
    if rows:
        others: dict[str, Any] = {name: bindparam(f"new_{name}") for name in rows[0] if name != key}
        change = update(table).where(table.c[key] == bindparam(f"new_{key}")).values(others)
        given = [{f"new_{name}": value for name, value in row.items()} for row in rows]
        connection.execute(change, given)


def ids_of(connection: Connection, table: Table) -> dict[str, int]:
    """Return the ids of the rows of a table by their names."""
    return dict(connection.execute(select(table.c.name, table.c.id)).all())

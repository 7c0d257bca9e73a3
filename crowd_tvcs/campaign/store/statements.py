"""Statements that a claim runs: written once with SQLAlchemy, run by the driver itself.

A claim and a submission are some fifteen small statements under one lock, and SQLAlchemy takes
longer to run one than the database does. So they are compiled once for each kind of database, and
go to the driver's cursor in the same transaction. To PostgreSQL those that do not depend on one
another go in one message.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.sql import ClauseElement


class Statement:
    """One statement; called with a connection and its parameters, it gives its rows.

    Parameters
    ----------
    statement
        A select, or a change with or without RETURNING, of columns whose values drivers take and
        give as they are (numbers and text).
    """

    def __init__(self, statement: ClauseElement) -> None:
        self.statement = statement
        self._compiled: dict[str, tuple[str, dict[str, Any], Any]] = {}

    def __call__(self, connection: Connection, **parameters: Any) -> list[Any]:
        """Run it; rows are named tuples, none for a change without RETURNING."""
        return together(connection, self.with_(**parameters))[0]

    def first(self, connection: Connection, **parameters: Any) -> Any:
        """Run it; the first row, or None."""
        rows = self(connection, **parameters)
        return rows[0] if rows else None

    def with_(self, **parameters: Any) -> Call:
        """Put parameters to it, to run later."""
        return self, parameters

    def compiled(self, connection: Connection) -> tuple[str, dict[str, Any], Any]:
        """Text for the driver, parameters that never change, and what makes a row of cells."""
        dialect = connection.dialect.name
        if dialect not in self._compiled:
            done: Any = self.statement.compile(connection.engine)
            names = [column.name for column in getattr(self.statement, "exported_columns", ())]
            row = namedtuple("Row", names) if names else None
            self._compiled[dialect] = (str(done), dict(done.params), row)
        return self._compiled[dialect]


Call = tuple[Statement, dict[str, Any]]


def together(connection: Connection, *calls: Call) -> list[list[Any]]:
    """Run statements one after the other, in one message if the driver can; rows of each."""
    driver: Any = connection.connection.driver_connection
    if len(calls) == 1 or not hasattr(driver, "pipeline"):
        return [_rows(_run(connection, driver, call)) for call in calls]
    with driver.pipeline():
        running = [_run(connection, driver, call) for call in calls]
    return [_rows(one) for one in running]


def _run(connection: Connection, driver: Any, call: Call) -> tuple[Any, Any]:
    """Run one; its cursor, and what makes a row of cells."""
    statement, parameters = call
    text, constants, row = statement.compiled(connection)
    cursor = driver.cursor()
    cursor.execute(text, {**constants, **parameters} if constants else parameters)
    return cursor, row


def _rows(running: tuple[Any, Any]) -> list[Any]:
    cursor, row = running
    found = [] if row is None else [row._make(cells) for cells in cursor.fetchall()]
    cursor.close()
    return found

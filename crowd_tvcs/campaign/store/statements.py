"""Statements of a claim: written once with SQLAlchemy, run by the driver itself.

A claim and a submission are some fifteen small statements under one lock, and SQLAlchemy takes
longer to run one than the database does. So they are compiled once for each kind of database, and
go to the driver itself in the same transaction. To PostgreSQL independent ones go in one message,
and changes with the next message (`later`), so the database waits for this program only while it
computes.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Generic, TypeVar, overload

from sqlalchemy import Connection
from sqlalchemy.sql import ClauseElement

from crowd_tvcs.campaign.store.pipeline import Pipeline

Row = TypeVar("Row")


class Statement(Generic[Row]):
    """One statement; called with a connection and its parameters, it gives its rows.

    Parameters
    ----------
    statement
        A select, or a change with or without RETURNING, of columns whose values drivers take and
        give as they are (numbers and text).
    row
        Type of its rows, a NamedTuple that begins with these columns; None for any.
    """

    @overload
    def __init__(self: Statement[Any], statement: ClauseElement) -> None: ...
    @overload
    def __init__(self, statement: ClauseElement, row: type[Row]) -> None: ...
    def __init__(self, statement: ClauseElement, row: Any = None) -> None:
        self.statement = statement
        self.names = names = tuple(
            column.name for column in getattr(statement, "exported_columns", ())
        )
        row = namedtuple("Row", names) if row is None else row
        if row._fields[: len(names)] != names:
            raise TypeError(f"the columns must be {row._fields}, found {names}")
        self.make: Callable[[Iterable[Any]], Row] | None = _maker(row, names) if names else None
        self._compiled: dict[str, tuple[str, dict[str, Any]]] = {}

    def __call__(self, connection: Connection, **parameters: Any) -> list[Row]:
        """Run it; rows are named tuples, none for a change without RETURNING."""
        return run_together(connection, self.with_(**parameters))[0]

    def first(self, connection: Connection, **parameters: Any) -> Row | None:
        """Run it; the first row, or None."""
        rows = self(connection, **parameters)
        return rows[0] if rows else None

    def only(self, connection: Connection, **parameters: Any) -> Row:
        """Run it; its one row, or the first of several."""
        return self(connection, **parameters)[0]

    def columns(self, connection: Connection) -> list[Sequence[Any]]:
        """Run it alone; its cells by column, which for many rows takes a fifth of the time."""
        cursor, _ = _run(connection, connection.connection.driver_connection, self.with_())
        rows = cursor.fetchall()
        cursor.close()
        return list(zip(*rows, strict=True)) or [()] * len(self.names)

    def with_(self, **parameters: Any) -> Call:
        """Put parameters to it, to run later."""
        return self, parameters

    def compiled(self, connection: Connection) -> tuple[str, dict[str, Any]]:
        """Text for a cursor of the driver, and parameters that never change."""
        dialect = connection.dialect.name
        if dialect not in self._compiled:
            done: Any = self.statement.compile(connection.engine)
            self._compiled[dialect] = (str(done), dict(done.params))
        return self._compiled[dialect]


Call = tuple[Statement[Any], dict[str, Any]]


def _maker(row: Any, names: tuple[str, ...]) -> Callable[[Iterable[Any]], Any]:
    """Return the function that makes a row of cells; fields that are not selected have defaults."""
    make = partial(tuple.__new__, row)  # half the time of `_make`
    rest = tuple(row._field_defaults[name] for name in row._fields[len(names) :])
    return (lambda cells: make((*cells, *rest))) if rest else make


PIPELINE, _LATER = "pipeline", "statements put off"
"""Names under which a connection of SQLAlchemy keeps them."""


def run_together(connection: Connection, *calls: Call) -> list[list[Any]]:
    """Run statements one after the other, in one message if the driver can; return rows of each.

    Changes that `later` put off go first.
    """
    info = connection.info
    waiting = info.get(_LATER)
    n_before = 0
    if waiting:
        n_before = len(waiting)
        calls = (*waiting, *calls)
        waiting.clear()
    pipeline: Pipeline | None = info.get(PIPELINE)
    if pipeline is not None:
        return pipeline.run(calls)[n_before:]
    driver: Any = connection.connection.driver_connection
    if len(calls) == 1 or not hasattr(driver, "pipeline"):
        return [_rows(_run(connection, driver, call)) for call in calls][n_before:]
    with driver.pipeline():
        running = [_run(connection, driver, call) for call in calls]
    return [_rows(one) for one in running]


def later(connection: Connection, *calls: Call) -> None:
    """Run changes without result rows; within `put_off` in one message with the next statement."""
    waiting = connection.info.get(_LATER)
    if waiting is None:
        run_together(connection, *calls)
    else:
        waiting.extend(calls)


@contextmanager
def put_off(connection: Connection) -> Iterator[None]:
    """Let changes wait for the next statements, which must come before the end."""
    connection.info[_LATER] = []
    try:
        yield
    finally:
        del connection.info[_LATER]


def _run(connection: Connection, driver: Any, call: Call) -> tuple[Any, Any]:
    """Run one statement; return its cursor and the function that makes a row of cells."""
    statement, parameters = call
    text, constants = statement.compiled(connection)
    cursor = driver.cursor()
    cursor.execute(text, {**constants, **parameters} if constants else parameters)
    return cursor, statement.make


def _rows(running: tuple[Any, Any]) -> list[Any]:
    cursor, make = running
    found = [] if make is None else [make(cells) for cells in cursor.fetchall()]
    cursor.close()
    return found

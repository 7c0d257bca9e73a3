"""Statements that go to PostgreSQL in one message, on a connection that is kept for them.

A cursor of psycopg sends every statement by itself, in its pipeline too, and wakes the server for
each: that takes half of the processor that a label costs, all of it while others wait for the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

from sqlalchemy import Connection

READ: dict[int, Callable[[bytes], Any]] = {
    16: b"t".__eq__,
    **dict.fromkeys((20, 21, 23), int),
    **dict.fromkeys((700, 701), float),
    **dict.fromkeys((25, 1043), bytes.decode),
    2278: bytes.decode,  # no value, which comes as an empty text
}
"""What reads a value, by the number of its type in PostgreSQL's table `pg_type`."""
_NUMBERS = count()


class Prepared(NamedTuple):
    """A statement that a connection knows: its name there, and how its rows are made.

    Attributes
    ----------
    name
        On the connection, never given to another one there.
    parameters
        Their names, in order.
    constants
        Values of some of them that never change.
    make
        Makes a row of its cells; None for a statement without rows.
    """

    name: bytes
    parameters: Sequence[str]
    constants: dict[str, Any]
    make: Callable[[list[Any]], Any] | None


class Pipeline:
    """A connection of psycopg, and the statements that it has prepared.

    No other code may use it: after a rollback psycopg lets the server forget all statements.

    Parameters
    ----------
    connection
        A connection on which only the statements themselves begin transactions.
    """

    def __init__(self, connection: Connection) -> None:
        dialect: Any = type(connection.dialect)
        self._dialect = dialect(paramstyle="numeric_dollar")
        self._psycopg: Any = connection.dialect.loaded_dbapi
        driver: Any = connection.connection.driver_connection
        self._driver, self._pgconn = driver, driver.pgconn
        self._prepared: dict[Any, Prepared] = {}

    def run(self, calls: Sequence[tuple[Any, dict[str, Any]]]) -> list[list[Any]]:
        """Run statements with their parameters one after the other; return the rows of each.

        The first that fails ends it.
        """
        self._pgconn.enter_pipeline_mode()
        try:
            n_before = []  # messages that were sent before the one whose rows are wanted
            n_sent = 0
            for statement, given in calls:
                if statement not in self._prepared:
                    self._prepare(statement)
                    n_sent += 1
                self._send(self._prepared[statement], given)
                n_before.append(n_sent)
                n_sent += 1
            self._pgconn.pipeline_sync()
            results = self._driver.wait(self._results(n_sent + 1))
        finally:
            # Of a connection that is lost, or on which results are left: psycopg closed it then.
            with suppress(self._psycopg.Error):
                self._pgconn.exit_pipeline_mode()
        self._check(results)
        return [
            self._rows(self._prepared[statement], results[i])
            for i, (statement, _) in zip(n_before, calls, strict=True)
        ]

    def _prepare(self, statement: Any) -> None:
        compiled = statement.statement.compile(dialect=self._dialect)
        name = b"tvcs_%d" % next(_NUMBERS)
        self._pgconn.send_prepare(name, str(compiled).encode())
        parameters, constants = tuple(compiled.positiontup or ()), dict(compiled.params)
        self._prepared[statement] = Prepared(name, parameters, constants, statement.make)

    def _send(self, prepared: Prepared, given: dict[str, Any]) -> None:
        values: list[bytes | None] = []
        formats = []
        for name in prepared.parameters:
            value = given[name] if name in given else prepared.constants[name]
            is_text = isinstance(value, str)  # with its length, so that it may hold any character
            formats.append(int(is_text))
            if value is None:
                values.append(None)
            else:
                values.append(value.encode() if is_text else repr(value).encode())
        self._pgconn.send_query_prepared(prepared.name, values, formats)

    def _results(self, number: int) -> Generator[Any, Any, list[Any]]:
        """Send the pending messages, and wait for so many results; for `wait` of psycopg."""
        generators, found = self._psycopg.generators, []
        yield from generators.send(self._pgconn)
        for _ in range(number):
            found.extend((yield from generators.fetch_many(self._pgconn)))
        return found

    def _check(self, results: Sequence[Any]) -> None:
        """Raise the first error that is among them."""
        status = self._psycopg.pq.ExecStatus
        for result in results:
            if result.status == status.FATAL_ERROR:
                raise self._psycopg.errors.error_from_result(result)
        if not results or results[-1].status != status.PIPELINE_SYNC:
            raise self._psycopg.OperationalError("the connection is lost")

    @staticmethod
    def _rows(prepared: Prepared, result: Any) -> list[Any]:
        if prepared.make is None:
            return []
        read = [READ[result.ftype(j)] for j in range(result.nfields)]
        get, make = result.get_value, prepared.make
        return [
            make([None if (cell := get(i, j)) is None else of(cell) for j, of in enumerate(read)])
            for i in range(result.ntuples)
        ]

"""Connections that stay open between the small changes and looks of a label.

To take a connection from SQLAlchemy's pool, begin, end and give it back costs .1 to .2 ms of
processor each time, as much as five statements.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn

from sqlalchemy import Connection, Engine

from crowd_tvcs.campaign.store.errors import NOTHING, PERHAPS

MOST = 4
"""Idle connections that are kept; SQLAlchemy's pool, which lends them, is made larger by these."""

SQLITE = ("PRAGMA synchronous = NORMAL", "PRAGMA cache_size = -16000")
"""Settings of SQLite: changes wait for no disk (see `Store.turn`); 16 MB of pages stay."""

ENDING = ("57", "58", "XX")  # errors of PostgreSQL after which a change may be there


class Kept:
    """Connections of an engine on which every statement is a change of its own.

    Only statements of the driver run on them (`statements`): SQLAlchemy would begin a transaction,
    so that a connection on which it did is not kept. The one used last is taken first, since it
    has its statements prepared and pages read.

    Parameters
    ----------
    engine
        Whose they are.
    settings
        Statements that set a new one up.
    """

    def __init__(self, engine: Engine, *settings: str) -> None:
        self._engine, self._settings = engine, settings
        self._idle: list[Connection] = []
        self._lock = threading.Lock()  # threads that count at once would keep too many

    @contextmanager
    def one(self) -> Iterator[Connection]:
        """Lend a connection; after an error it goes back to the pool, which ends what it began."""
        connection = self.take()
        try:
            yield connection
        except BaseException:
            self.give_up(connection)
            raise
        self.give_back(connection)

    def take(self) -> Connection:
        """Lend a connection, until it is given back or up."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._set_up()

    def give_up(self, connection: Connection) -> None:
        """Take one back on which something went wrong."""
        driver: Any = connection.connection.driver_connection
        if getattr(driver, "closed", False):  # the database was away: the others are lost too
            connection.invalidate()
            while self._idle:
                self._idle.pop().invalidate()
            self._engine.dispose()  # those in the pool
        connection.close()

    def give_back(self, connection: Connection) -> None:
        """Take one back for the next who asks."""
        if connection.in_transaction():
            connection.close()
            raise RuntimeError("SQLAlchemy began a transaction on a connection that is kept")
        with self._lock:
            if is_kept := len(self._idle) < MOST:
                self._idle.append(connection)
        if not is_kept:
            connection.close()

    def close(self) -> None:
        """Give back what is idle."""
        while self._idle:
            self._idle.pop().close()

    def _set_up(self) -> Connection:
        connection = self._engine.connect()
        driver: Any = connection.connection.driver_connection
        try:
            for setting in self._settings:
                driver.execute(setting)
        except BaseException:
            connection.close()
            raise
        return connection


class AtOnce:
    """See `Store.at_once`. Written out, since it is a sixth of the Python of a label otherwise.

    Parameters
    ----------
    kept
        Where the connection comes from.
    translated
        Opened with what became of the change where an error is raised.
    """

    def __init__(
        self, kept: Kept, translated: Callable[[str], AbstractContextManager[None]]
    ) -> None:
        self._kept, self._translated = kept, translated

    def __enter__(self) -> Connection:
        try:
            self._connection = self._kept.take()
        except Exception as error:
            self._raise(error, PERHAPS)
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        kept, connection = self._kept, self._connection
        if error is None:
            kept.give_back(connection)
            return
        driver: Any = connection.connection.driver_connection
        is_lost = getattr(driver, "closed", False)
        code = getattr(error, "sqlstate", None) or ENDING[0]
        kept.give_up(connection)
        self._raise(error, NOTHING if not is_lost and code[:2] not in ENDING else PERHAPS)

    def _raise(self, error: BaseException, otherwise: str) -> NoReturn:
        """Raise an error, one of the database in the operator's words."""
        with self._translated(otherwise):
            raise error

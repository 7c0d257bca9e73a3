"""Connections that stay open between the small changes and looks of a label.

To take a connection from SQLAlchemy's pool, begin, end and give it back costs .1 to .2 ms of
processor each time, as much as five statements.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine

from crowd_tvcs.campaign.store.pipeline import Pipeline
from crowd_tvcs.campaign.store.statements import PIPELINE

MAX_IDLE_CONNECTIONS = 4
"""Idle connections that are kept; SQLAlchemy's pool, which lends them, is made larger by these."""

SQLITE = ("PRAGMA synchronous = NORMAL", "PRAGMA cache_size = -16000")
"""Settings of SQLite: changes wait for no disk (see `Store.turn`); 16 MB of pages stay."""


class ConnectionCache:
    """Connections of an engine on which every statement is a change of its own.

    Only statements of the driver run on them (`statements`): SQLAlchemy would begin a transaction,
    so that a connection on which it did is not kept. The one used last is taken first, since it
    has its statements prepared and pages read. The `settings` set a new one up.
    """

    def __init__(self, engine: Engine, *settings: str) -> None:
        self._engine, self._settings = engine, settings
        self._idle: list[Connection] = []
        self._lock = threading.Lock()  # threads that count at once would keep too many

    @contextmanager
    def one(self) -> Iterator[Connection]:
        """Lend a connection; after an error it goes back to the pool, which rolls it back."""
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
        _close(connection)

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next caller."""
        if connection.in_transaction():
            _close(connection)
            raise RuntimeError("SQLAlchemy began a transaction on a connection that is kept")
        with self._lock:
            if is_kept := len(self._idle) < MAX_IDLE_CONNECTIONS:
                self._idle.append(connection)
        if not is_kept:
            _close(connection)

    def close(self) -> None:
        """Close idle connections."""
        while self._idle:
            _close(self._idle.pop())

    def _set_up(self) -> Connection:
        connection = self._engine.connect()
        driver: Any = connection.connection.driver_connection
        try:
            for setting in self._settings:
                driver.execute(setting)
            if hasattr(driver, "pipeline"):
                connection.info[PIPELINE] = Pipeline(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _close(connection: Connection) -> None:
    """Give a connection back to the pool, for anybody."""
    if not connection.invalidated:
        connection.info.pop(PIPELINE, None)
    connection.close()

"""Locks of the servers of a campaign, and a check that their settings agree."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any

from sqlalchemy import Connection, TextClause, text
from sqlalchemy.exc import SQLAlchemyError

from crowd_tvcs.campaign.store.errors import StoreError
from crowd_tvcs.campaign.store.store import Store
from tvcs_core.files.errors import RunError
from tvcs_core.files.folders import PRIVATE

DESKS = 0x74766373
"""What all locks of desks have in common."""
TIMEOUT_SECONDS = 2.0
"""Seconds after which a database that does not answer a desk that ends counts as away."""

_LOCK = text("SELECT pg_advisory_lock_shared(:desks, :number)")
_UNLOCK = b"SELECT pg_advisory_unlock_all()"
_IS_LOCKED = text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 "
    "AND classid = :desks AND objid = :number AND pid = pg_backend_pid())"
)
_OTHERS = text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 "
    "AND classid = :desks AND objid <> :number AND database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database()))"
)


class ServerLock:
    """The lock of one desk, which ends with its process or its connection, in whatever way.

    Attributes
    ----------
    is_ousted
        Whether a desk of another setup began while the lock was lost.
    """

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._given = {"desks": DESKS, "number": number}
        self._is_sure, self.is_ousted = True, False

    def lock_server(self) -> None:
        """Take the lock."""
        self._connection.execute(_LOCK, self._given)

    def renew(self) -> None:
        """Take the lock again if it was lost with its connection; if that fails, next time.

        Another may have begun meanwhile: it was here first, and this one is ousted.
        """
        try:
            if not self._ask(_IS_LOCKED):
                self._is_sure = False
                self.lock_server()
            if not self._is_sure:
                self.is_ousted = not self.is_alone()
                self._is_sure = True
        except SQLAlchemyError:
            with suppress(SQLAlchemyError):
                self._connection.rollback()  # of nothing, but else it would stay lost

    def unlock_server(self) -> None:
        """Release the lock, and close the connection.

        Closing the connection releases it too, but later, and a server that starts at once must not
        find it. A database that does not answer is not waited for: it has released the lock, or
        will.
        """
        try:
            if not self._connection.invalidated:
                driver: Any = self._connection.connection.driver_connection
                driver.pgconn.send_query(_UNLOCK)
                with DefaultSelector() as waiting:
                    waiting.register(driver.pgconn.socket, EVENT_READ)
                    if waiting.select(TIMEOUT_SECONDS):
                        while driver.pgconn.get_result() is not None:  # then it is released
                            pass
        except (SQLAlchemyError, OSError, self._connection.dialect.loaded_dbapi.Error):
            pass
        finally:
            self._connection.invalidate()  # others that use it would keep the lock

    def is_alone(self) -> bool:
        """Whether no desk of another setup is there."""
        return not self._ask(_OTHERS)

    def _ask(self, question: TextClause) -> bool:
        return bool(self._connection.execute(question, self._given).scalar_one())


@contextmanager
def hold_server_lock(store: Store, setup: bytes, ways: str) -> Iterator[ServerLock | None]:
    """Hold the lock of a server: alone on SQLite, on PostgreSQL with servers of the same setup.

    Parameters
    ----------
    store
        The campaign's.
    setup
        Bytes that differ between servers that would treat workers differently.
    ways
        Description of possible differences.
    """
    if store.is_file:
        with _alone(store):
            yield None
        return
    number = int.from_bytes(hashlib.sha256(setup).digest()[:4], "big") >> 1
    with store.outside() as connection:
        lock = ServerLock(connection, number)
        try:
            lock.lock_server()
            if not lock.is_alone():
                raise RunError(
                    f"{store.name} is served by another desk with {ways}: several must have the "
                    "same"
                )
            yield lock
        finally:
            lock.unlock_server()


@contextmanager
def _alone(store: Store) -> Iterator[None]:
    """Lock a file beside the store by SQLite, which works on every system.

    The file stays. Otherwise one process could lock the removed file, and another a new one.
    """
    path = Path(f"{Path(store.place).resolve()}-desk")
    try:
        with suppress(OSError):  # SQLite says itself why it cannot
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE))
        connection = sqlite3.connect(path, timeout=0.0, isolation_level=None)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error:
            connection.close()
            raise
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise RunError(
                f"{store.name} is served by another process already; several need PostgreSQL"
            ) from None
        raise StoreError(f"{path}: {error}; the campaign is not served") from None
    try:
        yield
    finally:
        connection.close()

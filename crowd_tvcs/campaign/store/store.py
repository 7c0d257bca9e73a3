"""A store of a campaign: SQLite in a file or PostgreSQL by URL, every change one transaction."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.connection_cache import MAX_IDLE_CONNECTIONS, SQLITE, ConnectionCache
from crowd_tvcs.campaign.store.errors import (
    NOT_CONFIRMED,
    NOTHING,
    PERHAPS,
    WAIT_SECONDS,
    StoreError,
    error_text,
    in_words,
    is_refused,
    translated,
)
from crowd_tvcs.campaign.store.queries import (
    BEGIN,
    BEGIN_IMMEDIATE,
    CLOSE_GATE,
    COMMIT,
    SETTINGS,
    TAKE_TURN,
)
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.statements import Call, Statement, put_off, run_together
from tvcs_core.files.errors import DataError
from tvcs_core.files.folders import PRIVATE

VACUUM_EVERY = 1000
"""After so many answers the tables are tidied, in a large campaign after about a tenth of all."""
POOL = 5 + MAX_IDLE_CONNECTIONS  # connections at hand; SQLAlchemy makes up to 10 more for a while


class Store:
    """A database with the tables of `schema`.

    Changes come one after the other: SQLite by ``BEGIN IMMEDIATE``, PostgreSQL by a lock that every
    change takes first. So the rows that a change has read are still current when it writes, and two
    changes at once cannot break a cap.

    Parameters
    ----------
    place
        Path of an SQLite file, or a URL such as ``postgresql+psycopg://user@host/name``.
    """

    def __init__(self, place: str | Path) -> None:
        self.place = str(place)
        self.is_file = "://" not in self.place
        if self.is_file and os.path.isdir(self.place):  # of a name too long too
            raise DataError("must be a file, found a folder", path=self.place)
        self.engine = _engine(self.place) if self.is_file else _server(self.place)
        self._kept = (
            ConnectionCache(self.engine, *SQLITE)
            if self.is_file
            else ConnectionCache(self._autocommit)
        )

    @cached_property
    def name(self) -> str:
        """The place without a password."""
        return self.place if self.is_file else self.engine.url.render_as_string()

    @contextmanager
    def create(self) -> Iterator[Connection]:
        """Open a connection for the first change of all, which makes the tables.

        If the change fails, a file that was made for it is removed.
        """
        is_ours = self._claim()
        try:
            with self._translated():
                if inspect(self.engine).get_table_names():
                    raise DataError(
                        "holds tables already; name a new file or an empty database", path=self.name
                    )
            with self._changed() as connection:
                schema.metadata.create_all(connection, checkfirst=False)
                schema.protect(connection)
                yield connection
        except BaseException:
            self.close()
            if is_ours:
                self._remove()
            raise

    def check(self) -> None:
        """Refuse files that are no store of this version."""
        if self.is_file and not Path(self.place).exists():
            raise DataError(
                "there is no such store; crowd-tvcs campaign init makes one", path=self.place
            )
        with self._translated():
            if not inspect(self.engine).has_table("campaign"):
                raise DataError("is not the store of a campaign", path=self.name)
            with self.engine.connect() as connection:
                found = connection.exec_driver_sql("SELECT schema_version FROM campaign").scalar()
        if found != schema.VERSION:
            raise DataError(
                "is the store of another version of this program (its tables have version "
                f"{found}, this program reads version {schema.VERSION}); go on with the version "
                "that made it, or make a new store with crowd-tvcs campaign init; nothing was "
                "changed",
                path=self.name,
            )

    @contextmanager
    def read(self, *, all_of_it: bool = False) -> Iterator[tuple[Connection, Settings]]:
        """Open a connection that sees one state of the store, and read the row of the campaign.

        For sums over most of the tables set `all_of_it`, so that PostgreSQL may plan freely.
        """
        with self._translated(), self.engine.connect() as connection:
            if not self.is_file:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                if all_of_it and not self.is_file:
                    connection.execute(_PLAN_FREELY)
                yield connection, SETTINGS.only(connection)

    @contextmanager
    def write(
        self, *first: Call, flush: bool = True
    ) -> Iterator[tuple[Connection, Settings, list[list[Any]]]]:
        """Open a connection whose changes appear together at the end, or not at all.

        Waits for its turn; with the lock come the row of the campaign and the rows of the
        statements that go `first`. Without `flush` it does not wait for the disk: the change
        survives the end of the program at any moment, but until the next `flush` the machine may
        lose it with its power.
        """
        options = {"begin": "BEGIN IMMEDIATE", "flush": "FULL" if flush else "NORMAL"}
        with self._changed(**options) as connection:
            closing = () if self.is_file else (CLOSE_GATE[flush].with_(),)
            found = run_together(connection, *closing, TAKE_TURN.with_(), *first)[len(closing) :]
            yield connection, found[0][0], found[1:]

    @contextmanager
    def turn(self, *first: Call) -> Iterator[tuple[Connection, Settings, list[list[Any]]]]:
        """Open a connection for one change by `statements` alone, until a `flush` not on the disk.

        As `write` without `flush`, and in half the time: the connection is kept, and changes that
        `statements.later` puts off go to PostgreSQL in one message with the end of the turn. So
        the database waits for this program only while it computes.
        """
        begin = (BEGIN_IMMEDIATE,) if self.is_file else (BEGIN, CLOSE_GATE[False])
        with self._translated(), self._kept.one() as connection, put_off(connection):
            opened = [one.with_() for one in begin]
            found = run_together(connection, *opened, TAKE_TURN.with_(), *first)[len(begin) :]
            yield connection, found[0][0], found[1:]
            try:
                COMMIT(connection)
            except self.engine.dialect.loaded_dbapi.Error as error:
                became = NOTHING if is_refused(error, connection) else PERHAPS
                raise StoreError(f"{self.name}: {in_words(error_text(error))}; {became}") from error

    def look(self, *calls: Call) -> list[list[Any]]:
        """Run statements that only read, each as of its own moment; rows of each."""
        with self._translated(), self._kept.one() as connection:
            return run_together(connection, *calls)

    def flush(self) -> None:
        """Wait until all changes so far are on the disk, without holding up the others.

        Inside the change everybody would wait for the disk, one after the other; here many share
        it. SQLite: of the log. PostgreSQL: of an empty message, with all that was written before.
        """
        if not self.is_file:
            with self._translated(NOT_CONFIRMED), self._kept.one() as connection:
                _MESSAGE(connection)
            return
        try:
            number = os.open(f"{self.place}-wal", os.O_RDWR)
            try:
                os.fsync(number)
            finally:
                os.close(number)
        except OSError as error:
            raise StoreError(f"{self.name}: {error.strerror}; {NOT_CONFIRMED}") from None

    def tidy(self, answers: int) -> None:
        """Let PostgreSQL remove old versions of rows, if it is time.

        Every answer leaves some where searches begin: at the head of the best tasks and of the
        leases that end first. The server does this by itself too, but once a minute at most.

        Parameters
        ----------
        answers
            Number of answers so far.
        """
        if self.is_file or not is_to_tidy(answers):
            return
        with suppress(StoreError), self._translated(), self._kept.one() as connection:
            _TIDY(connection)

    @cached_property
    def is_per_pair(self) -> bool:
        """Whether every pair has a quality of its own, which a campaign does not change."""
        ((settings,),) = self.look(SETTINGS.with_())
        return bool(settings.per_pair)

    @cached_property
    def _autocommit(self) -> Engine:
        return self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def outside(self) -> Iterator[Connection]:
        """Open a connection that lasts, on which every statement is a change of its own."""
        with self._translated(), self._autocommit.connect() as connection:
            yield connection

    def close(self) -> None:
        """Close the database."""
        self._kept.close()
        self.engine.dispose()

    @contextmanager
    def _changed(self, **options: str) -> Iterator[Connection]:
        """Open a connection and commit its changes at the end; errors state the outcome."""
        with self._translated(), self.engine.connect() as connection:
            transaction = connection.execution_options(**options).begin()
            try:
                yield connection
            except BaseException:
                with suppress(SQLAlchemyError):  # of a connection that is lost; it says why itself
                    transaction.rollback()
                raise
            try:
                transaction.commit()
            except DatabaseError as error:
                became = NOTHING if is_refused(error, connection) else PERHAPS
                with suppress(SQLAlchemyError):
                    transaction.rollback()
                raise StoreError(f"{self.name}: {in_words(error_text(error))}; {became}") from error

    def _translated(self, otherwise: str = NOTHING) -> AbstractContextManager[None]:
        """Translate an error of the database into the operator's words."""
        return translated(self.name, self.engine, otherwise)

    def _claim(self) -> bool:
        """Make the file of a new store; whether it was not there before.

        SQLite gives the files beside it, `-wal` and `-shm`, the rights that it has.
        """
        if not self.is_file:
            return False
        if not Path(self.place).absolute().parent.is_dir():
            raise DataError("cannot be made: its folder does not exist", path=self.place)
        try:
            os.close(os.open(self.place, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
        except FileExistsError:
            return False
        except OSError as error:
            raise StoreError(f"{self.name}: {error.strerror}; {NOTHING}") from None
        return True

    def _remove(self) -> None:
        """Remove a file that holds no tables; another process may have made some meanwhile."""
        try:
            with self.engine.connect() as connection:
                is_empty = not inspect(connection).get_table_names()
        except (SQLAlchemyError, self.engine.dialect.loaded_dbapi.Error):
            is_empty = True
        self.close()
        if is_empty:
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(f"{self.place}{suffix}").unlink(missing_ok=True)


UNWANTED = ("enable_sort", "enable_bitmapscan", "enable_seqscan")
"""Ways to the best task, the first of an index, that PostgreSQL would take without statistics."""
_PLAN_FREELY = text(
    "SELECT set_config('plan_cache_mode', 'auto', true), "
    + ", ".join(f"set_config('{way}', 'on', true)" for way in UNWANTED)
)
_MESSAGE = Statement(text("SELECT pg_logical_emit_message(true, 'tvcs', '')"))
_TIDY = Statement(text("VACUUM (SKIP_LOCKED, TRUNCATE FALSE) task, pair"))


def is_to_tidy(answers: int) -> bool:
    """Return whether tables are to be tidied after so many answers: its work grows as they do."""
    return answers % max(VACUUM_EVERY, 1 << max(0, answers.bit_length() - 4)) == 0


def _engine(path: str) -> Engine:
    """SQLite with a log beside the file (WAL), and locks taken before anything is read."""
    url = URL.create("sqlite", database=path)
    patience = {"timeout": WAIT_SECONDS, "check_same_thread": False}
    engine = create_engine(url, connect_args=patience, paramstyle="named", pool_size=POOL)

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        driver: Any = connection.connection
        driver.execute(f"PRAGMA synchronous = {options.get('flush', 'FULL')}")
        driver.execute(options.get("begin", "BEGIN"))

    return engine


def _server(place: str) -> Engine:
    """PostgreSQL; a lock that does not come in time is an error."""
    url = make_url(place)
    if url.get_backend_name() != "postgresql":
        raise ValueError(
            f"a store is a path (SQLite) or a postgresql:// URL, found {url.get_backend_name()}://"
        )
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    wait = int(WAIT_SECONDS * 1000)
    options = f"-c lock_timeout={wait} -c jit=off -c plan_cache_mode=force_generic_plan"
    options += "".join(f" -c {way}=off" for way in UNWANTED)
    given = {"options": options, "client_encoding": "utf8"}
    return create_engine(url, connect_args=given, pool_size=POOL)

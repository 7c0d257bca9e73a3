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

from crowd_tvcs.campaign.store import functions, schema
from crowd_tvcs.campaign.store.errors import (
    NOT_CONFIRMED,
    NOTHING,
    PATIENCE,
    PERHAPS,
    StoreError,
    in_words,
    is_refused,
    said,
    translated,
)
from crowd_tvcs.campaign.store.kept import MOST, SQLITE, AtOnce, Kept
from crowd_tvcs.campaign.store.queries import CLOSE_GATE, SETTINGS, TAKE_TURN
from crowd_tvcs.campaign.store.statements import Call, Statement, together
from tvcs_core.files.errors import DataError
from tvcs_core.files.folders import PRIVATE

POOL = 5 + MOST  # connections at hand; SQLAlchemy makes up to 10 more for a while


class Store:
    """A database with the tables of `schema`.

    Changes come one after the other: SQLite by ``BEGIN IMMEDIATE``, PostgreSQL by a lock that every
    change takes first, and `functions` share. So what a change has read is still true when it
    writes, and no cap can be broken by two at once.

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
        self._kept = Kept(self.engine, *SQLITE) if self.is_file else Kept(self._autocommit)
        self.seen: dict[tuple[str, str], str] = {}  # by worker and task, see `functions.SEEN`

    @cached_property
    def name(self) -> str:
        """The place without a password."""
        return self.place if self.is_file else self.engine.url.render_as_string()

    @contextmanager
    def create(self) -> Iterator[Connection]:
        """Open a connection for the first change of all, which makes the tables.

        If the change fails, a file that was made for it is removed.

        Raises
        ------
        DataError
            If there are tables already, or the folder is missing.
        """
        is_ours = self._claim()
        try:
            with self._translated():
                if inspect(self.engine).get_table_names():
                    raise DataError("holds tables already; init makes a new store", path=self.name)
            with self._changed(NOTHING) as connection:
                schema.metadata.create_all(connection, checkfirst=False)
                schema.protect(connection)
                functions.create(connection)
                yield connection
        except BaseException:
            self.close()
            if is_ours:
                self._remove()
            raise

    def check(self) -> None:
        """Refuse what is not a store of this version.

        Raises
        ------
        DataError
            If it is missing, something else, or of another version.
        """
        found = self.version()
        if found != schema.VERSION:
            is_old = found in schema.ADDED
            remedy = "crowd-tvcs campaign upgrade brings it up to that and keeps a copy; "
            age = "an older" if found is not None and found < schema.VERSION else "a newer"
            raise DataError(
                f"is the store of {age} version of this program (its tables have version {found}, "
                f"this program reads version {schema.VERSION}); {remedy if is_old else ''}"
                "nothing was changed",
                path=self.name,
            )

    def version(self) -> int | None:
        """Read the version of the tables.

        Raises
        ------
        DataError
            If there is no store, or it is something else.
        """
        if self.is_file and not Path(self.place).exists():
            raise DataError(
                "there is no such store; crowd-tvcs campaign init makes one", path=self.place
            )
        with self._translated():
            if not inspect(self.engine).has_table("campaign"):
                raise DataError("is not the store of a campaign", path=self.name)
            with self.engine.connect() as connection:
                found = connection.exec_driver_sql("SELECT schema_version FROM campaign").scalar()
        return None if found is None else int(found)

    @contextmanager
    def locked(self) -> Iterator[Connection]:
        """Open a connection that nobody changes the store beside, whatever its version."""
        with self._changed(NOTHING, begin="BEGIN IMMEDIATE") as connection:
            if not self.is_file:
                CLOSE_GATE(connection)  # first, as everybody
                connection.execute(text("LOCK TABLE campaign IN ACCESS EXCLUSIVE MODE"))
            yield connection

    @contextmanager
    def read(self, *, all_of_it: bool = False) -> Iterator[tuple[Connection, Any]]:
        """Open a connection that sees one state of the store, and read the row of the campaign.

        Whoever sums up most of the tables reads `all_of_it`: PostgreSQL may plan freely then.
        """
        with self._translated(), self.engine.connect() as connection:
            if not self.is_file:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                if all_of_it and not self.is_file:
                    connection.execute(_PLAN_FREELY)
                yield connection, SETTINGS.first(connection)

    @contextmanager
    def write(
        self, *first: Call, flush: bool = True
    ) -> Iterator[tuple[Connection, Any, list[list[Any]]]]:
        """Open a connection whose changes appear together at the end, or not at all.

        Waits for its turn; with the lock come the row of the campaign and the rows of the
        statements that go `first`. Without `flush` nobody waits for the disk: the change survives
        the end of the program at any moment, but until the next `flush` the machine may lose it
        with its power.
        """
        options = {"begin": "BEGIN IMMEDIATE", "flush": "FULL" if flush else "NORMAL"}
        with self._changed(NOTHING, **options) as connection:
            ahead = [TAKE_TURN.with_()]
            if not self.is_file:  # beside a row that it waits for a statement reads what was before
                ahead = [LET_GO] * (not flush) + [CLOSE_GATE.with_(), *ahead, SETTINGS.with_()]
            found = together(connection, *ahead, *first)
            yield connection, found[len(ahead) - 1][0], found[len(ahead) :]

    @contextmanager
    def turn(self, *first: Call) -> Iterator[tuple[Connection, Any, list[list[Any]]]]:
        """Open a connection for one change by `statements` alone, until a `flush` not on the disk.

        As `write` without `flush`, and with SQLite in half the time: the connection is kept.
        """
        if not self.is_file:
            with self.write(*first, flush=False) as opened:
                yield opened
            return
        do = self.engine.dialect
        with self._translated(), self._kept.one() as connection:
            driver: Any = connection.connection.driver_connection
            driver.execute("BEGIN IMMEDIATE")
            try:
                turn, *found = together(connection, TAKE_TURN.with_(), *first)
                yield connection, turn[0], found
            except BaseException:
                do.do_rollback(driver)
                raise
            try:
                do.do_commit(driver)
            except do.loaded_dbapi.Error as error:
                became = NOTHING if is_refused(error, connection) else PERHAPS
                do.do_rollback(driver)
                raise StoreError(f"{self.name}: {in_words(said(error))}; {became}") from error

    def look(self, *calls: Call) -> list[list[Any]]:
        """Run statements that only read, each as of its own moment; rows of each."""
        with self._translated(), self._kept.one() as connection:
            return together(connection, *calls)

    def flush(self) -> None:
        """Wait until all changes so far are on the disk, without holding up the others.

        Inside the change everybody would wait for the disk, one after the other; here many share
        it. SQLite: of the log. PostgreSQL: of an empty message, with all that was written before.
        """
        if not self.is_file:
            with self._translated(NOT_CONFIRMED), self._autocommit.connect() as connection:
                connection.execute(_MESSAGE)
            return
        try:
            number = os.open(f"{self.place}-wal", os.O_RDWR)
            try:
                os.fsync(number)
            finally:
                os.close(number)
        except OSError as error:
            raise StoreError(f"{self.name}: {error.strerror}; {NOT_CONFIRMED}") from None

    @cached_property
    def has_functions(self) -> bool:
        """Whether the database has the functions of this program."""
        with self.outside() as connection:
            return functions.are_there(connection)

    @cached_property
    def _autocommit(self) -> Engine:
        return self.engine.execution_options(isolation_level="AUTOCOMMIT")

    def at_once(self) -> AtOnce:
        """Open a connection on which every one of the `functions` is a change of its own.

        A server that says no has changed nothing; one that ends, or is cut off, may have.
        """
        return AtOnce(self._kept, self._translated)

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
    def _changed(self, otherwise: str, **options: str) -> Iterator[Connection]:
        """Open a connection and commit its changes at the end; errors tell what became of them.

        Parameters
        ----------
        otherwise
            What is true where the change was surely not made.
        """
        with self._translated(otherwise), self.engine.connect() as connection:
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
                became = otherwise if is_refused(error, connection) else PERHAPS
                with suppress(SQLAlchemyError):
                    transaction.rollback()
                raise StoreError(f"{self.name}: {in_words(said(error))}; {became}") from error

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
_MESSAGE = text("SELECT pg_logical_emit_message(true, 'tvcs', '')")
LET_GO: Call = (Statement(text("SET LOCAL synchronous_commit TO off")), {})


def _engine(path: str) -> Engine:
    """SQLite with a log beside the file (WAL), and locks taken before anything is read."""
    url = URL.create("sqlite", database=path)
    patience = {"timeout": PATIENCE, "check_same_thread": False}
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
    wait = int(PATIENCE * 1000)
    options = f"-c lock_timeout={wait} -c jit=off -c plan_cache_mode=force_generic_plan"
    options += "".join(f" -c {way}=off" for way in UNWANTED)
    given = {"options": options, "client_encoding": "utf8"}
    return create_engine(url, connect_args=given, pool_size=POOL)

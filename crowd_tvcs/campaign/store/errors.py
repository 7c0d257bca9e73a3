"""Errors of a store's database in the operator's words, and the fate of the change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from tvcs_core.files.errors import DataError

WAIT_SECONDS = 30.0  # seconds that a change waits for the others

NOTHING = "nothing was changed"
PERHAPS = (
    "this happened while the change was being confirmed, so that it may have been made or not: "
    "look at the store before you do it again (an answer may be handed in again in any case)"
)
NOT_CONFIRMED = (
    "the change was made, but the disk has not confirmed it: hand the answer in again, which is "
    "harmless"
)

_LOCKED = f"is locked by another program for more than {WAIT_SECONDS:g} s; try again"
SAYINGS = {
    "is locked": _LOCKED,
    "lock timeout": _LOCKED,
    "disk is full": "the disk is full",
    "readonly": "may not be written",
    "unable to open": "cannot be opened; its folder must exist and be writable",
    "disk I/O error": "the disk reports an error or is full",
    "the database system is": "is starting, ending or recovering; try again in a moment",
}


class StoreError(RuntimeError):
    """A failure of the store, not of the data; the message names the changes made."""


class Damaged(DataError):
    """The file of a store is no database, or a part of it cannot be read any more."""


class ConcurrentUpdateError(StoreError):
    """Others changed the campaign again and again while something was computed from it."""


@contextmanager
def translated(name: str, engine: Engine, otherwise: str = NOTHING) -> Iterator[None]:
    """Translate an error of the database of a store of this name."""
    try:
        yield
    except (DatabaseError, engine.dialect.loaded_dbapi.Error) as error:
        what = error_text(error)
        if "not a database" in what or "malformed" in what:
            raise Damaged(f"is not the store of a campaign ({what})", path=name) from None
        raise StoreError(f"{name}: {in_words(what)}; {otherwise}") from error
    except SQLAlchemyError as error:
        what = " ".join(str(error).split())
        raise StoreError(f"{name}: {what}; {otherwise}") from error


def error_text(error: BaseException) -> str:
    """Return the message of the database driver in one line."""
    error = getattr(error, "orig", error)
    short = getattr(getattr(error, "diag", None), "message_primary", None)  # of PostgreSQL
    return " ".join((short or str(error)).split())


def is_refused(error: BaseException, connection: Connection) -> bool:
    """Whether a commit that failed was certainly not made: the database answered and refused it.

    If the connection was lost or a disk reported an error, the change may have been written.
    """
    if connection.invalidated or getattr(error, "connection_invalidated", False):
        return False
    driver: Any = connection.connection.driver_connection
    return not getattr(driver, "closed", False) and "disk I/O error" not in error_text(error)


def in_words(what: str) -> str:
    """Return a driver's message, after ours if there is one."""
    for part, words in SAYINGS.items():
        if part in what:
            return f"{words} ({what})"
    return what

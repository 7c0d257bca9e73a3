"""PostgreSQL's own functions for claims and answers: one call each, and nobody waits for a client.

A change by statements holds the lock on the campaign over several messages, and while a client is
not running everybody waits for it. `functions.sql` does the same within the server. It knows the
rules of a claim that come every time, and of answers and leases that are over none: what follows
from them is computed before, from what `SEEN` reads, and written if the task has not changed since.
Whatever is rare is left to the statements (`queries`), which know all rules.

A store that was made before there were functions works without them.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.queries import GATE, SETTLED

LOOK_AHEAD = 5  # as in `belief`
_TEXT = Path(__file__).with_name("functions.sql").read_text(encoding="utf-8")
for _task, _team in (("t.id", "here.team"), ("it.id", "w.team")):
    _TEXT = _TEXT.replace(
        f"{{MATE OF {_team} ON {_task}}}",
        "EXISTS (SELECT FROM pair theirs JOIN worker mate ON mate.id = theirs.worker_id WHERE "
        f"theirs.task_id = {_task} AND theirs.state > {{LAPSED}} AND mate.team = {_team})",
    )
for _state in ("LAPSED", "LEASED", "ANSWERED", "ASIDE"):
    _TEXT = _TEXT.replace(f"{{{_state}}}", str(getattr(schema, _state)))
_TEXT = _TEXT.replace("{LOOK_AHEAD}", str(LOOK_AHEAD))
_SETTINGS = ("classes", "prior", "dependence", "target", "sure_at", "least_gain", "best")
for _row in ("c", "here"):
    _NAMED = ", ".join(f"'{name}', {_row}.{name}" for name in (*_SETTINGS, "shares_of_gold"))
    _TEXT = _TEXT.replace(f"{{SETTINGS OF {_row}}}", _NAMED)
_TEXT = _TEXT.replace("{GATE}", GATE)
_TEXT = _TEXT.replace("{N_WORKERS}", "(SELECT id FROM worker ORDER BY id DESC LIMIT 1)")
_TEXT = _TEXT.replace("{VERSION}", "concat_ws(' ', t.xmin, t.ctid, t.uncertainty)")
NUMBER = f"{schema.VERSION}_{hashlib.sha256(_TEXT.encode()).hexdigest()[:8]}"
"""In the names of the functions: version of the tables, and what their text is."""
_TEXT = _TEXT.replace("{NUMBER}", NUMBER)


def create(connection: Connection) -> bool:
    """Make the functions where the database can have some and lacks them; whether it did."""
    if connection.dialect.name != "postgresql" or are_there(connection):
        return False
    driver: Any = connection.connection.driver_connection
    driver.execute(_TEXT)
    return True


def are_there(connection: Connection) -> bool:
    """Whether the database has the functions of this program."""
    if connection.dialect.name != "postgresql":
        return False
    last = text("SELECT to_regproc(:name) IS NOT NULL")
    return bool(connection.execute(last, {"name": f"tvcs_answer_{NUMBER}"}).scalar_one())


def tidy(connection: Connection) -> None:
    """Let the server clear versions of rows away that nobody sees any more, if it can now.

    Every answer leaves some where searches begin: at the head of the best tasks and of the leases
    that end first. The server does this by itself too, but once a minute at most.
    """
    connection.execute(_TIDY)


_TIDY = text(f"VACUUM (SKIP_LOCKED, TRUNCATE FALSE) {schema.task.name}, {schema.pair.name}")


class _Kind(NamedTuple):
    """A type of PostgreSQL: its number there, and a value as the bytes that stand for it."""

    number: int
    pack: Callable[[Any], bytes]
    unpack: Callable[[bytes], Any]


def _packed(number: int, layout: str) -> _Kind:
    one = struct.Struct(layout)
    return _Kind(number, one.pack, lambda given: one.unpack(given)[0])


_WORDS = _Kind(25, str.encode, bytes.decode)
_WHOLE, _REAL, _TRUTH = _packed(23, "!i"), _packed(701, "!d"), _packed(16, "!?")


class Function:
    """A function of the database, called by libpq's own messages with values as bytes.

    A cursor of psycopg takes half of what a label takes its client: it finds out anew at every
    call how to send each value and to read it. Here that is known before.

    Parameters
    ----------
    name
        Of the prepared statement, which every connection makes once, and anew once it forgot it.
    text
        Of the statement; ``%s`` stands for the list of the values that are given.
    given, found
        Kinds of the values that go there, and of the columns of the one row that comes back.
    """

    def __init__(
        self, name: str, text: str, given: Mapping[str, _Kind], found: Mapping[str, _Kind]
    ) -> None:
        self._name = name.encode()
        places = ", ".join(f"${i}" for i in range(1, len(given) + 1))
        self._text = (text % places).encode()
        self._numbers = [kind.number for kind in given.values()]
        self._packs = [(name, kind.pack) for name, kind in given.items()]
        self._unpacks = [(name, kind.unpack) for name, kind in found.items()]
        self._formats = [1] * len(given)

    def __call__(self, connection: Connection, **values: Any) -> Any:
        """Run it on a connection of its own transactions; the row, by the names of `found`."""
        errors: Any = connection.dialect.loaded_dbapi.errors
        packed = [
            None if (value := values[name]) is None else pack(value) for name, pack in self._packs
        ]
        if self._name not in connection.info.setdefault("prepared", set()):
            self._prepare(connection)
        try:
            cells = self._run(connection, packed)
        except errors.InvalidSqlStatementName:
            # After a rollback psycopg has the server forget all statements, not only its own.
            self._prepare(connection)
            cells = self._run(connection, packed)
        found = {
            name: None if (cell := cells.get_value(0, i)) is None else unpack(cell)
            for i, (name, unpack) in enumerate(self._unpacks)
        }
        return SimpleNamespace(**found)

    def _prepare(self, connection: Connection) -> None:
        errors: Any = connection.dialect.loaded_dbapi.errors
        driver: Any = connection.connection.driver_connection
        driver.pgconn.send_prepare(self._name, self._text, self._numbers)
        # It is there already if somebody pressed Ctrl-C while it was made.
        with suppress(errors.DuplicatePreparedStatement):
            self._wait(connection, driver)
        connection.info["prepared"].add(self._name)

    def _run(self, connection: Connection, packed: list[bytes | None]) -> Any:
        driver: Any = connection.connection.driver_connection
        driver.pgconn.send_query_prepared(self._name, packed, self._formats, result_format=1)
        return self._wait(connection, driver)

    @staticmethod
    def _wait(connection: Connection, driver: Any) -> Any:
        psycopg: Any = connection.dialect.loaded_dbapi
        result = driver.wait(psycopg.generators.execute(driver.pgconn))[-1]
        if result.status not in (psycopg.pq.ExecStatus.TUPLES_OK, psycopg.pq.ExecStatus.COMMAND_OK):
            raise psycopg.errors.error_from_result(result)
        return result


_ASKED = {"at": _REAL, "called": _WORDS, "first": _REAL}
_TAKEN = {"of_task": _WHOLE, "who": _WHOLE, "version": _WORDS, "given": _WHOLE, "took": _REAL}
_TAKEN |= dict.fromkeys(SETTLED, _WHOLE) | dict.fromkeys(("confidence", "uncertainty"), _REAL)
_OFFER = {"outcome": _WORDS, "task": _WORDS, "until": _REAL}
_OFFER |= {"uncertainty": _REAL, "confidence": _REAL, "seen": _WORDS}


def _empty(kinds: Mapping[str, _Kind]) -> str:
    return ", ".join(["NULL"] * len(kinds))


NEXT = Function(
    "tvcs_next",
    f"CALL tvcs_answer_{NUMBER}(%s, {_empty(_TAKEN)}, false, NULL, {_empty(_OFFER)})",
    _ASKED,
    {"is_done": _TRUTH, "place": _WHOLE} | _OFFER,
)
ANSWER = Function(
    "tvcs_answer",
    f"CALL tvcs_answer_{NUMBER}(%s, false, NULL, {_empty(_OFFER)})",
    _ASKED | _TAKEN,
    {"is_done": _TRUTH, "place": _WHOLE} | _OFFER,
)
_SEEN = {"seen": _WORDS}
SEEN = Function(
    "tvcs_seen",
    f"SELECT tvcs_seen_{NUMBER}((SELECT w.id FROM worker w WHERE w.name = p.called), "
    "(SELECT t.id FROM task t WHERE t.name = p.of_task)) FROM (VALUES (%s)) p (called, of_task)",
    {"called": _WORDS, "of_task": _WORDS},
    _SEEN,
)
OVER = Function("tvcs_over", f"SELECT tvcs_over_{NUMBER}(%s)", {"now": _REAL}, _SEEN)
_CHANGES = {"now": _REAL, "changes": _WORDS}
LAPSE = Function("tvcs_lapse", f"SELECT tvcs_lapse_{NUMBER}(%s)", _CHANGES, {"n_freed": _WHOLE})

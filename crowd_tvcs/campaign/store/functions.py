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
import select
import struct
from collections import namedtuple
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.queries import GATE, SETTLED

LOOK_AHEAD = 5  # as in `belief`
BEAT = 1000  # milliseconds
TASK = ("id", "prior", "min_workers", "max_workers", "closed", "slots")
"""What `SEEN` tells of a task, in this order."""
PAIR = ("worker_id", "state", "label", "leased_at", "expires", "quality", "habits")
"""Likewise of each of its pairs; the last two are of the worker."""
SETTINGS = (
    *("classes", "prior", "dependence", "target", "sure_at", "least_gain", "best"),
    "shares_of_gold",
)
"""And of the campaign."""
_TEXT = Path(__file__).with_name("functions.sql").read_text(encoding="utf-8")
_PARTS = {
    "ANSWER": "of_task integer, who integer, version text, given integer, took double precision, "
    "n_slots integer, n_answers integer, likeliest integer, sure double precision, "
    "rest double precision, is_wanted integer, is_needy integer",
    "SETTLE": "UPDATE task t SET slots = n_slots, answers = n_answers, label = likeliest, "
    "confidence = sure, uncertainty = rest, wanted = is_wanted, needy = is_needy "
    "WHERE t.ctid = split_part(version, ' ', 2)::tid AND id = of_task AND {VERSION} = version",
    "WRITE DOWN": "UPDATE pair SET state = {ANSWERED}, label = given, place = number, "
    "answered_at = at, seconds = took, expires = NULL WHERE task_id = of_task AND worker_id = who",
    "WHERE FREE": "LEFT JOIN pair own ON own.task_id = t.id AND own.worker_id = here.he "
    "WHERE t.wanted = 1 AND (own.state IS NULL OR own.state = {LAPSED}) "
    "AND (NOT here.is_reserved OR t.needy = 1)",
    # PostgreSQL refuses products that are too small for a number.
    **{
        f"FOUND WITH {quality}": "t.id, t.name, t.slots, t.answers, t.min_workers, t.max_workers, "
        "t.confidence, t.needy, t.ctid AS spot, t.xmin AS writer, own.state AS before, "
        f"{quality} AS known, (1 - {quality}) / (here.n_classes - 1) AS wrong, "
        "CASE WHEN t.uncertainty < 1e-100 THEN NULL WHEN t.slots = 0 AND here.is_joint "
        "THEN t.uncertainty / first ELSE t.uncertainty END AS remains INTO it"
        for quality in ("s.quality", "here.quality")
    },
    **{
        f"MATE OF {team} ON {task}": "EXISTS (SELECT FROM pair theirs JOIN worker mate "
        f"ON mate.id = theirs.worker_id WHERE theirs.task_id = {task} "
        f"AND theirs.state > {{LAPSED}} AND mate.team = {team})"
        for task, team in (("t.id", "here.team"), ("it.id", "w.team"))
    },
    "FIELDS OF t": ", ".join(f"t.{name}" for name in TASK),
    "FIELDS OF p": ", ".join(f"p.{name}" for name in PAIR[:-2]),
    "SETTINGS OF c": "json_build_object("
    + ", ".join(f"'{name}', c.{name}" for name in SETTINGS)
    + ")::text",
    "N_WORKERS": "(SELECT id FROM worker ORDER BY id DESC LIMIT 1)",
    "VERSION": "concat_ws(' ', t.xmin, t.ctid, t.uncertainty)",
    "TURN": "{GATE} + (1::bigint << 32)",
    "GATE": GATE,
    "LOOK_AHEAD": str(LOOK_AHEAD),
    **{name: str(getattr(schema, name)) for name in ("LAPSED", "LEASED", "ANSWERED", "ASIDE")},
}
for _name, _part in _PARTS.items():
    _TEXT = _TEXT.replace(f"{{{_name}}}", _part)
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
_WHOLE, _REAL = _packed(23, "!i"), _packed(701, "!d")


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
        self._unpacks = [(i, kind.unpack) for i, kind in enumerate(found.values())]
        row = namedtuple("row", list(found))  # type: ignore[misc]
        self._row: Callable[[list[Any]], Any] = row._make
        self._formats = [1] * len(given)

    def __call__(self, connection: Connection, **values: Any) -> Any:
        """Run it on a connection of its own transactions; the row, by the names of `found`."""
        driver: Any = connection.connection.driver_connection
        line = connection.info.get("line") or _Line(connection, driver)
        packed = [
            None if (value := values[name]) is None else pack(value) for name, pack in self._packs
        ]
        if self._name not in line.prepared:
            self._prepare(line)
        try:
            cells = self._run(line, packed)
        except line.errors.InvalidSqlStatementName:
            # After a rollback psycopg has the server forget all statements, not only its own.
            self._prepare(line)
            cells = self._run(line, packed)
        get = cells.get_value
        return self._row(
            [None if (cell := get(0, i)) is None else unpack(cell) for i, unpack in self._unpacks]
        )

    def _prepare(self, line: _Line) -> None:
        line.pgconn.send_prepare(self._name, self._text, self._numbers)
        # It is there already if somebody pressed Ctrl-C while it was made.
        with suppress(line.errors.DuplicatePreparedStatement):
            line.result()
        line.prepared.add(self._name)

    def _run(self, line: _Line, packed: list[bytes | None]) -> Any:
        line.pgconn.send_query_prepared(self._name, packed, self._formats, result_format=1)
        return line.result()


class _Line:
    """A connection of psycopg, and which statements it has prepared.

    To wait for results by psycopg is an eighth of what a label takes its client, so what comes
    whole is waited for and taken here, and all else by psycopg.
    """

    def __init__(self, connection: Connection, driver: Any) -> None:
        psycopg: Any = connection.dialect.loaded_dbapi
        self.prepared: set[bytes] = set()
        self.pgconn, self.errors, self._driver = driver.pgconn, psycopg.errors, driver
        self._execute, status = psycopg.generators.execute, psycopg.pq.ExecStatus
        self._good = (status.TUPLES_OK, status.COMMAND_OK)
        self._poll = None
        if hasattr(select, "poll"):
            self._poll = select.poll()
            self._poll.register(driver.pgconn.socket, select.POLLIN)
        connection.info["line"] = self

    def result(self) -> Any:
        """Wait for the result of what was sent, the last one if there are several."""
        pgconn, found = self.pgconn, None
        if self._poll is not None and not pgconn.flush():
            try:
                # Ctrl-C that strikes just before a wait does not end it: it must end by itself.
                while not self._poll.poll(BEAT):
                    pass
            except BaseException:
                with suppress(self.errors.Error):  # of a connection that is lost
                    self._driver.cancel()
                    while not self._poll.poll(BEAT):  # it came before the call was begun
                        self._driver.cancel()
                    self._driver.wait(self._execute(pgconn))
                raise
            pgconn.consume_input()
        while self._poll is not None and not pgconn.is_busy():
            last, found = found, pgconn.get_result()
            if found is None:
                return self._checked(last)
        return self._checked([found, *self._driver.wait(self._execute(pgconn))][-1])

    def _checked(self, result: Any) -> Any:
        if result.status not in self._good:
            raise self.errors.error_from_result(result)
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
    f"CALL tvcs_next_{NUMBER}(%s, {_empty(_TAKEN)}, NULL, {_empty(_OFFER)})",
    _ASKED,
    {"place": _WHOLE} | _OFFER,
)
ANSWER = Function(
    "tvcs_answer",
    f"CALL tvcs_answer_{NUMBER}(%s, NULL)",
    {"at": _REAL} | _TAKEN,
    {"place": _WHOLE},
)
ANSWER_AND_NEXT = Function(
    "tvcs_answer_and_next",
    f"CALL tvcs_next_{NUMBER}(%s, NULL, {_empty(_OFFER)})",
    _ASKED | _TAKEN,
    {"place": _WHOLE} | _OFFER,
)
_LINES = f"concat(tvcs_settings_{NUMBER}(), E'\\n', %s)"
_SEEN = {"seen": _WORDS}
SEEN = Function(
    "tvcs_seen",
    "SELECT " + _LINES % f"tvcs_seen_{NUMBER}((SELECT w.id FROM worker w WHERE w.name = p.called), "
    "(SELECT t.id FROM task t WHERE t.name = p.of_task))"
    + " FROM (VALUES (%s)) p (called, of_task)",
    {"called": _WORDS, "of_task": _WORDS},
    _SEEN,
)
OVER = Function("tvcs_over", "SELECT " + _LINES % f"tvcs_over_{NUMBER}(%s)", {"now": _REAL}, _SEEN)
_CHANGES = {"now": _REAL, "changes": _WORDS}
LAPSE = Function("tvcs_lapse", f"SELECT tvcs_lapse_{NUMBER}(%s)", _CHANGES, {"n_freed": _WHOLE})

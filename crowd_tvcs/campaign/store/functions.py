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
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, column, text

from crowd_tvcs.campaign.belief import LOOK_AHEAD
from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.queries import SETTLED
from crowd_tvcs.campaign.store.statements import Statement

_TEXT = Path(__file__).with_name("functions.sql").read_text(encoding="utf-8")
for _state in ("LAPSED", "LEASED", "ANSWERED", "ASIDE"):
    _TEXT = _TEXT.replace(f"{{{_state}}}", str(getattr(schema, _state)))
_TEXT = _TEXT.replace("{LOOK_AHEAD}", str(LOOK_AHEAD))
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


_REAL = "double precision"
_OFFER = ("outcome", "task", "until", "uncertainty", "confidence", "seen")
_EMPTY = ", ".join(["NULL"] * len(_OFFER))
NEXT = Statement(
    text(
        f"CALL tvcs_next_{NUMBER}(CAST(:called AS text), CAST(:now AS {_REAL}), "
        f"CAST(:first AS {_REAL}), {_EMPTY})"
    ).columns(*map(column, _OFFER))
)
SEEN = Statement(
    text(f"SELECT tvcs_seen_{NUMBER}(CAST(:called AS text), CAST(:of_task AS text))").columns(
        column("seen")
    )
)
OVER = Statement(text(f"SELECT tvcs_over_{NUMBER}(CAST(:now AS {_REAL}))").columns(column("seen")))
LAPSE = Statement(
    text(f"SELECT tvcs_lapse_{NUMBER}(CAST(:now AS {_REAL}), CAST(:changes AS json))").columns(
        column("n_freed")
    )
)
_TAKEN = {"of_task": "integer", "who": "integer", "version": "text", "given": "integer"}
_TAKEN |= {"at": _REAL, "took": _REAL}
_TAKEN |= dict.fromkeys(SETTLED, "integer") | dict.fromkeys(("confidence", "uncertainty"), _REAL)
_TAKEN |= {"called": "text", "first": _REAL}
ANSWER = Statement(
    text(
        f"CALL tvcs_answer_{NUMBER}("
        + ", ".join(f"CAST(:{name} AS {kind})" for name, kind in _TAKEN.items())
        + f", false, {_EMPTY})"
    ).columns(*map(column, ("is_done", *_OFFER)))
)

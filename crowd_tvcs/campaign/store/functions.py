"""PostgreSQL's own functions for claims and answers: one call each, and nobody waits for a client.

A change by statements holds the lock on the campaign over several messages, and while a client is
not running everybody waits for it. `functions.sql` does the same within the server. It knows the
rules of a claim that come every time, and of an answer none: what follows from an answer is
computed before, from what `SEEN` reads, and written only if its task has not changed since.
Whatever is rare is left to the statements (`queries`), which know all rules.

A store that was made before there were functions works without them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, bindparam, column, func, literal_column, select, text

from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.queries import SETTLED
from crowd_tvcs.campaign.store.schema import campaign, pair, skill, task, worker
from crowd_tvcs.campaign.store.statements import Statement

_TEXT = Path(__file__).with_name("functions.sql").read_text(encoding="utf-8")
for _state in ("LAPSED", "LEASED", "ANSWERED"):
    _TEXT = _TEXT.replace(f"{{{_state}}}", str(getattr(schema, _state)))
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
_OFFER = ("outcome", "task", "until", "uncertainty", "confidence")
CLAIM = Statement(
    text(
        f"SELECT * FROM tvcs_claim_{NUMBER}(CAST(:called AS text), CAST(:now AS {_REAL}), "
        f"CAST(:first AS {_REAL}))"
    ).columns(*map(column, _OFFER))
)
_TAKEN = {"of_task": "integer", "who": "integer", "seen": "text", "given": "integer"}
_TAKEN |= {"at": _REAL, "took": _REAL}
_TAKEN |= dict.fromkeys(SETTLED, "integer") | dict.fromkeys(("confidence", "uncertainty"), _REAL)
_TAKEN |= {"called": "text", "first": _REAL}
ANSWER = Statement(
    text(
        f"CALL tvcs_answer_{NUMBER}("
        + ", ".join(f"CAST(:{name} AS {kind})" for name, kind in _TAKEN.items())
        + ", false, NULL, NULL, NULL, NULL, NULL)"
    ).columns(*map(column, ("is_done", *_OFFER)))
)

# What `SEEN` reads of the campaign, the task and its pairs.
SETTINGS = (
    "classes",
    "prior",
    "dependence",
    "target",
    "sure_at",
    "least_gain",
    "best",
    "shares_of_gold",
)
TASK = ("id", "name", "prior", "min_workers", "max_workers", "closed", "slots", "confidence")
PAIR = ("worker_id", "state", "label", "leased_at")

_he = worker.alias()
_HIS = worker.c.id == pair.c.worker_id
_seen = (
    select(
        *(campaign.c[name].label(f"of_{name}") for name in SETTINGS),
        _he.c.id.label("who"),
        *(task.c[name] for name in TASK),
        literal_column("task.xmin::text").label("seen"),
        *(pair.c[name].label(f"pair_{name}") for name in PAIR),
        func.coalesce(skill.c.quality, worker.c.quality).label("quality"),
        worker.c.habits,
    )
    .select_from(campaign)
    .outerjoin(_he, _he.c.name == bindparam("called"))
    .outerjoin(task, task.c.name == bindparam("of_task"))
    .outerjoin(pair, pair.c.task_id == task.c.id)
    .outerjoin(worker, _HIS)
    .outerjoin(skill, (skill.c.worker_id == worker.c.id) & (skill.c.task_id == task.c.id))
    .order_by(pair.c.worker_id)
)
SEEN = Statement(_seen)

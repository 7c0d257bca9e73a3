"""The tables of a campaign, and the version that a store must have.

A pair of a worker and a task has at most one row, and that row is one slot: it is issued by a plan,
or leased, or answered; or it has lapsed, or its worker skipped it, and counts for nothing.
Everything else that changes (`slots`, `answers`, `confidence`, `uncertainty`, ...) follows from
these rows and is kept beside them so that a claim need not read them all. The caps are constraints
of the tables too: even a mistake of this program could not break one.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

VERSION = 7  # of the tables; a store of another version is refused
SKIPPED, LAPSED, ISSUED, LEASED, ANSWERED = -1, 0, 1, 2, 3  # above LAPSED a pair is a slot
OPEN, CLOSED, GOLD = 0, 1, 2  # a task: handed out; closed by the operator; gold among the others
ASIDE = 2  # of a task's `wanted`: not handed out until somebody better has room
UNLIMITED = 2**31 - 1  # as a cap: the largest integer of PostgreSQL

metadata = MetaData()

campaign = Table(
    "campaign",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("schema_version", Integer, nullable=False),
    Column("revision", Integer, nullable=False),  # one more with every change
    Column("seed", BigInteger, nullable=False),
    Column("classes", Text, nullable=False),  # JSON list of labels
    Column("prior", Text, nullable=False),  # JSON list of one probability per class
    Column("budget", Integer),  # labels
    Column("money", BigInteger),  # in millionths
    Column("max_workers_per_task", Integer),
    Column("max_tasks_per_worker", Integer),
    Column("min_quality", Float, nullable=False),
    Column("target", Float, nullable=False),  # a task this sure is done
    Column("lease_seconds", Float, nullable=False),
    Column("per_pair", Integer, nullable=False),  # whether qualities are in `skill`
    Column("source", Text, nullable=False),  # where the qualities come from
    Column("slots", Integer, nullable=False),  # issued + leased + answered
    Column("answers", Integer, nullable=False),
    Column("committed", BigInteger, nullable=False),  # cost of the slots, in millionths
    Column("missing", Integer, nullable=False),  # slots that the minimums still ask for
    Column("rounds", Integer, nullable=False),
    Column("dependence", Text),  # JSON of `Dependence`; None: independent errors
    Column("shares_of_gold", Integer),  # whether `prior` are the class shares of gold
    Column("confidence_threshold", Float),  # from which gold reaches the target; None: the target
    Column("min_gain", Float),  # that a label must add to be handed out; None: any
    Column("best", Float),  # largest quality there is
    Column("paused", Integer),  # whether no task is handed out for now
    Column("secret", Text),  # that signs links and forms; made by the first server
    Column("answer_kind", Text),  # see `campaign.answer_kinds`; None: one of K classes
    CheckConstraint("slots <= budget", name="within_budget"),
    CheckConstraint("committed <= money", name="within_money"),
)

worker = Table(
    "worker",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("max_tasks", Integer, nullable=False),
    Column("cost", BigInteger, nullable=False),  # of one label, in millionths
    Column("team", Text),  # at most one of a team may see a task
    Column("quality", Float),  # None: not known
    Column("habits", Text),  # JSON of the confusion matrix; None: mistakes spread evenly
    Column("slots", Integer, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("blocked", Integer),  # by the operator: gets no task any more
    Column("joined", Float),  # when they signed up, seconds since 1970; None: the operator's
    CheckConstraint("answers <= slots AND slots <= max_tasks", name="within_max_tasks"),
)

task = Table(
    "task",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("prior", Float),  # of the second of two classes; None: the campaign's
    Column("min_workers", Integer, nullable=False),
    Column("max_workers", Integer, nullable=False),
    Column("closed", Integer, nullable=False),  # OPEN, CLOSED or GOLD; only open ones are routed
    Column("slots", Integer, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("label", Integer, nullable=False),  # the likeliest so far
    Column("confidence", Float, nullable=False),  # its posterior
    # Expected, once the open slots are answered; more before the first, see `FIRST_LABEL_BOOST`.
    Column("uncertainty", Float, nullable=False),
    # 1: may be handed out: not full, closed or sure; 0: not; or ASIDE.
    Column("wanted", Integer, nullable=False),
    Column("needy", Integer, nullable=False),  # has fewer slots than its minimum
    Column("settled", Integer),  # the label that the operator settled; None: by the answers
    CheckConstraint("answers <= slots AND slots <= max_workers", name="within_max_workers"),
)
Index(
    "task_wanted",
    task.c.uncertainty.desc(),
    task.c.id,
    sqlite_where=task.c.wanted == 1,
    postgresql_where=task.c.wanted == 1,
)

skill = Table(
    "skill",
    metadata,
    Column("worker_id", ForeignKey("worker.id"), nullable=False),
    Column("task_id", ForeignKey("task.id"), nullable=False),
    Column("quality", Float, nullable=False),
    Column("gain", Float, nullable=False),  # share of a task's uncertainty that an answer takes
    PrimaryKeyConstraint("worker_id", "task_id"),
)

pair = Table(
    "pair",
    metadata,
    Column("task_id", ForeignKey("task.id"), nullable=False),
    Column("worker_id", ForeignKey("worker.id"), nullable=False),
    Column("state", Integer, nullable=False),
    Column("round", Integer),  # that issued it; None for a lease
    Column("expires", Float),  # of a lease, seconds since 1970
    Column("label", Integer),  # code of the answer, as `campaign.answer_kinds` reads it
    Column("place", Integer),  # which answer of the campaign it is, from 1
    Column("leased_at", Float),  # of a task that `next` gave, seconds since 1970
    Column("answered_at", Float),  # likewise
    Column("seconds", Float),  # that the answer took
    Column("swapped", Integer),  # of two items: whether the second was on the left
    PrimaryKeyConstraint("task_id", "worker_id"),
)
Index("pair_of_worker", pair.c.worker_id, pair.c.state)
Index(
    "pair_leased",
    pair.c.expires,
    sqlite_where=pair.c.state == LEASED,
    postgresql_where=pair.c.state == LEASED,
)

gold = Table(
    "gold",
    metadata,
    Column("task", Text, primary_key=True),
    Column("label", Integer, nullable=False),
)

gold_answer = Table(
    "gold_answer",
    metadata,
    Column("task", Text, nullable=False),
    Column("worker", Text, nullable=False),
    Column("label", Integer, nullable=False),
    UniqueConstraint("task", "worker"),
)

content = Table(
    "content",
    metadata,
    Column("task_id", ForeignKey("task.id"), primary_key=True),
    Column("body", Text, nullable=False),  # JSON of what a worker sees: text, image, audio, ...
)

access = Table(
    "access",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("worker_id", ForeignKey("worker.id"), nullable=False),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("made", Float, nullable=False),
    Column("revoked", Float),  # seconds since 1970; None: good
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("who", Text, nullable=False),  # a worker's name, or `operator`
    Column("what", Text, nullable=False),
    Column("task", Text),
    Column("detail", Text),
    Column("address", Text),  # hash of where it came from
)

history = Table(
    "history",
    metadata,
    Column("answers", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("expected_accuracy", Float, nullable=False),
)

planned = Table(
    "planned",
    metadata,
    Column("round", Integer, primary_key=True),
    Column("method", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("pairs", Integer, nullable=False),
    Column("answers_before", Integer, nullable=False),
    Column("expected_accuracy", Float, nullable=False),
    Column("bound", Float),
)

payment = Table(
    "payment",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("worker_id", ForeignKey("worker.id"), nullable=False),
    Column("answers", Integer, nullable=False),  # that it is for
    Column("amount", BigInteger, nullable=False),  # in millionths
)

session = Table(
    "session",
    metadata,
    Column("hashed", Text, primary_key=True),  # of an operator's cookie, until they log out
    Column("made", Float, nullable=False),
)

_KEEP = "the audit is only added to"
_PROTECTION = {
    # `INSERT OR REPLACE` deletes without a trigger of deletions, so the insertion is looked at.
    "sqlite": [
        *(f"DROP TRIGGER IF EXISTS audit_no_{kind}" for kind in ("update", "delete", "replace")),
        f"CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit "
        f"BEGIN SELECT RAISE(ABORT, '{_KEEP}'); END",
        f"CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit "
        f"BEGIN SELECT RAISE(ABORT, '{_KEEP}'); END",
        f"CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit "
        f"WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id) "
        f"BEGIN SELECT RAISE(ABORT, '{_KEEP}'); END",
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION tvcs_only_added_to() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_KEEP}'; END $$",
        "DROP TRIGGER IF EXISTS audit_no_change ON audit",
        "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION tvcs_only_added_to()",
    ],
}


def protect(connection: Connection) -> None:
    """Let the database refuse to change an entry of the audit, in whatever way."""
    for statement in _PROTECTION[connection.dialect.name]:
        connection.execute(text(statement))

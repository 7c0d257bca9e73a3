"""Count the earnings of workers, and record that they were paid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from crowd_tvcs.campaign.desk.person_ids import completion_code
from crowd_tvcs.campaign.leases import RejectedError, refuse_unknown
from crowd_tvcs.campaign.settings import MILLION
from crowd_tvcs.campaign.store.bulk import ids_of, insert_rows
from crowd_tvcs.campaign.store.gold import RIGHT
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.schema import payment, worker

PAYOUT_COLUMNS = (
    "worker", "answers", "gold_answers", "gold_right", "cost", "earned", "paid", "due", "code"
)  # fmt: skip


@dataclass(frozen=True)
class Payout:
    """The earnings of a worker, in the unit of the costs.

    Attributes
    ----------
    worker
        Name.
    answers
        Number of answers, those to gold among the tasks too.
    gold, right
        Answers to gold, and how many of them are right.
    cost
        Of one label.
    earned, paid, due
        Cost of the answers, sum of the recorded payments, and the difference, which is below 0 if
        a paid answer was taken back.
    code
        Completion code of a worker who signed up, or ``""``.
    """

    worker: str
    answers: int
    gold: int
    right: int
    cost: float
    earned: float
    paid: float
    due: float
    code: str

    @property
    def row(self) -> list[Any]:
        """Its cells in a table with the columns `PAYOUT_COLUMNS`."""
        sums = (self.cost, self.earned, self.paid, self.due)
        counts = (self.worker, self.answers, self.gold, self.right)
        return [*counts, *(f"{value:.12g}" for value in sums), self.code]


def list_payouts(connection: Connection, settings: Settings) -> list[Payout]:
    """Return every worker's, by name."""
    paid = dict(connection.execute(_PAID).all())
    tested = {row.worker: (row.answers, row.right) for row in connection.execute(RIGHT)}
    out = []
    for row in connection.execute(select(worker)).all():
        gold, right = tested.get(row.name, (0, 0))
        earned, given = row.cost * row.answers, int(paid.get(row.id, 0))
        secret = settings.secret if row.joined is not None else None
        out.append(
            Payout(
                row.name,
                row.answers,
                gold,
                int(right),
                row.cost / MILLION,
                earned / MILLION,
                given / MILLION,
                (earned - given) / MILLION,
                "" if secret is None else completion_code(secret, row.name),
            )
        )
    return sorted(out, key=lambda one: one.worker)


def record_payments(
    connection: Connection, payouts: Sequence[Payout], now: float
) -> tuple[int, float]:
    """Record the sums due as paid; return the number of people and the amount."""
    ids = ids_of(connection, worker)
    paid = dict(connection.execute(_PAID).all())
    refuse_unknown("worker", [one.worker for one in payouts], ids)
    rows, seen = [], set()
    for one in payouts:
        if one.worker in seen:
            raise RejectedError(f"worker {one.worker!r} would be paid twice; give each once")
        seen.add(one.worker)
        if int(paid.get(ids[one.worker], 0)) != round(one.paid * MILLION):
            raise RejectedError(
                f"a payment to worker {one.worker!r} was recorded since; make the payouts anew"
            )
        if (amount := round(one.due * MILLION)) > 0:
            about = {"at": now, "worker_id": ids[one.worker], "answers": one.answers}
            rows.append(about | {"amount": amount})
    insert_rows(connection, payment, rows)
    return len(rows), sum(row["amount"] for row in rows) / MILLION


_PAID = select(payment.c.worker_id, func.sum(payment.c.amount)).group_by(payment.c.worker_id)

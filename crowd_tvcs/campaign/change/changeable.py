"""Methods of a `Campaign` that change its settings, close tasks, settle labels and count pay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from sqlalchemy import Connection, select

from crowd_tvcs.campaign.change.changes import Changes, checked_changes
from crowd_tvcs.campaign.change.payouts import Payout, list_payouts, record_payments
from crowd_tvcs.campaign.desk.actions import OPERATOR, write_audit
from crowd_tvcs.campaign.entries import TaskStatus
from crowd_tvcs.campaign.leases import RejectedError, ordinary_task
from crowd_tvcs.campaign.settings import check_range, check_text, moment_of
from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.bulk import update_rows
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.tasks import settle_all
from tvcs_core.arguments import check_type, items_of


class Changeable:
    """Methods that change a campaign while it runs; see `Campaign`."""

    store: Store

    def settle(self, task: str, label: str | None, *, now: float | None = None) -> None:
        """Settle the label of a task, which is closed with it; None takes that back.

        The label is the result with confidence 1, and gold; no measure of the crowd counts it,
        since such tasks are chosen for their doubt.

        Raises
        ------
        RejectedError
            If there is no such task, its label is known already, or it was not settled.
        """
        from crowd_tvcs.campaign.change.settling import settle_label

        check_text("task", task)
        check_text("label", label, or_none=True)
        moment = moment_of(now)
        with self.store.write() as (connection, settings, _):
            settle_label(connection, settings, task, label)
            detail = "taken back" if label is None else label
            write_audit(connection, OPERATOR, "settle", task, detail, now=moment)

    def review_tasks(
        self,
        *,
        min_gain: float | None = None,
        value: float | None = None,
        target: float | None = None,
        close: bool = False,
    ) -> list[TaskStatus]:
        """Judge for every task whether a further label is worth its price.

        Parameters
        ----------
        min_gain
            Least expected accuracy of a task that a label must add; None for the campaign's.
        value
            Value of a correct label in money, so that a label must add its cost; None: costs are
            not looked at.
        target
            Share of right labels among those that are called sure; None for the campaign's.
        close
            Close the tasks that are not worth a label: no plan and no `next` gives them out again,
            until `reopen`.
        """
        from crowd_tvcs.campaign.read_state import read_state
        from crowd_tvcs.campaign.stopping import task_statuses

        check_type("close", close, bool)
        asked: dict[str, Any] = {"min_gain": min_gain, "value": value, "target": target}
        for name, number in asked.items():
            if number is not None:
                check_range(name, number, 0.0, 1e12 if name == "value" else 1.0)
        if not close:
            with self.store.read() as (connection, settings):
                state = read_state(connection, settings)
            return task_statuses(state, **asked)
        with self.store.write() as (connection, settings, _):
            found = task_statuses(read_state(connection, settings), **asked)
            names = [one.task for one in found if one.verdict == "not worth it"]
            _set_closed(connection, names, True, "not worth it")
        return found

    def close_tasks(
        self,
        tasks: Iterable[str],
        is_closed: bool = True,
        *,
        now: float | None = None,
    ) -> None:
        """Close or reopen tasks; pending answers are still taken.

        Raises
        ------
        RejectedError
            If there is no such task.
        """
        given = items_of("tasks", tasks)
        for name in given:
            check_text("name of a task", name)
        check_type("is_closed", is_closed, bool)
        with self.store.write() as (connection, _, _):
            for name in given:
                if ordinary_task(connection, name).settled is not None:
                    raise RejectedError(
                        f"task {name!r} is settled, so it stays closed; take its label back first"
                    )
            _set_closed(connection, sorted(given), is_closed, now=moment_of(now))

    def reopen(self) -> int:
        """Open all closed tasks again, but settled ones; how many they were."""
        with self.store.write() as (connection, _, _):
            closed = select(schema.task.c.name).where(
                schema.task.c.closed == schema.CLOSED, schema.task.c.settled.is_(None)
            )
            names = sorted(connection.scalars(closed))
            _set_closed(connection, names, False)
        return len(names)

    def payouts(self) -> list[Payout]:
        """Return how much every worker has earned and was paid, by name."""
        with self.store.read() as (connection, settings):
            return list_payouts(connection, settings)

    def mark_paid(self, payouts: Iterable[Payout], *, now: float | None = None) -> int:
        """Record the sums due by `payouts` as paid; return the number of people.

        Raises
        ------
        RejectedError
            If somebody recorded a payment since, so that people would be paid twice.
        """
        given = items_of("payouts", payouts, "payouts")
        for one in given:
            if not isinstance(one, Payout):
                raise TypeError(f"payouts must be those of Campaign.payouts, found {one!r:.60}")
        moment = moment_of(now)
        with self.store.write() as (connection, _, _):
            number, amount = record_payments(connection, given, moment)
            detail = f"{number} people, {amount:.12g}"
            write_audit(connection, OPERATOR, "pay", None, detail, now=moment)
        return number

    def change(self, *, now: float | None = None, **wanted: Unpack[Changes]) -> list[str]:
        """Change settings while people label, all or none; each change is in the audit.

        Promises stay: no limit falls below the labels that are answered or out with
        workers, no class goes away, and an open lease keeps its end.

        Parameters
        ----------
        budget, money, min_quality, target, min_gain, lease_seconds
            As for `create`; None is no limit.
        max_workers_per_task, max_tasks_per_worker
            Caps of the tasks and workers whose cap is the campaign's now, and of later ones.
        new_classes
            Labels to add behind those that there are.
        prior
            One probability per class, the new ones last. None for the rule that gave the present
            ones: class shares of gold, or equal ones.
        worker_caps, task_caps
            Caps of single workers and tasks; None for the campaign's.
        task_minimums
            Minimum numbers of workers of single tasks.
        now
            As for all methods of the desk.

        Returns
        -------
        list of str
            The changes, in words; empty if everything was so already.

        Raises
        ------
        RejectedError
            If a change breaks a promise or names a worker or task that is not there; the message
            names the possible values.
        TypeError, ValueError
            If a value is none that the setting may have, or nothing is to be changed.
        """
        from crowd_tvcs.campaign.change.apply import apply_changes

        checked, moment = checked_changes(wanted), moment_of(now)
        with self.store.write() as (connection, settings, _):
            notes = apply_changes(connection, settings, checked, moment)
            for task, detail in notes:
                write_audit(connection, OPERATOR, "change", task, detail, now=moment)
        return [detail if task is None else f"task {task!r}, {detail}" for task, detail in notes]


def _set_closed(
    connection: Connection,
    names: Sequence[str],
    closed: bool,
    detail: str | None = None,
    now: float | None = None,
) -> None:
    """Close tasks, or open them again, and settle all tasks anew."""
    if names:
        rows = [{"name": name, "closed": int(closed)} for name in names]
        update_rows(connection, schema.task, "name", rows)
        settle_all(connection)
    for name in names:
        write_audit(connection, OPERATOR, "close" if closed else "reopen", name, detail, now=now)

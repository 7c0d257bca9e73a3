"""Assignment: pairs of workers and tasks, with their expected accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.plan.accuracy_of_pairs import accuracies_and_errors
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.certificate import Duals, PlanProof
from crowd_tvcs.plan.costs import spent
from crowd_tvcs.plan.leaves import as_json
from crowd_tvcs.plan.plan import Plan, by_name
from crowd_tvcs.plan.proof import CERTIFIED_WITHIN, gap_between, is_certified, statement
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """An assignment of workers to tasks.

    Attributes
    ----------
    plan
        The plan that the assignment answers; workers and tasks are in its order.
    assigned
        The pairs.
    method
        Name of the method that made the assignment.
    reason
        Why the method stopped, in words.
    duals
        Duals of the caps, or None.
    facts
        Further figures of the method, such as the number of iterations.
    certificate
        Bound on the accuracy of any assignment; None if no bound was proved.
    """

    plan: Plan
    assigned: Assigned
    method: str
    reason: str
    duals: Duals | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    certificate: PlanProof | None = None

    def __post_init__(self) -> None:
        plan, pairs = self.plan, self.assigned
        is_kept = (
            pairs.shape == plan.quality.shape
            and (self.loads <= plan.max_tasks_per_worker).all()
            and (self.answers <= plan.max_workers_per_task).all()
            and self.size <= plan.budget
            and not pairs.has_twice
            and plan.quality.allows(pairs.workers, pairs.tasks).all()
        )
        if not is_kept:
            raise ValueError("pairs must keep every cap of the plan and be allowed")

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({plural(self.size, 'answer')} by {self.method}, "
            f"expected accuracy {self.expected_accuracy:.4f})"
        )

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the workers and of the tasks."""
        return self.plan.quality.workers, self.plan.quality.tasks

    @property
    def size(self) -> int:
        """Number of pairs, which is the number of answers to be paid."""
        return self.assigned.size

    @property
    def support(self) -> Bools:
        """The pairs as a Boolean matrix of shape (workers, tasks)."""
        return self.assigned.support

    @property
    def loads(self) -> Integers:
        """Number of tasks of every worker."""
        return self.assigned.loads

    @property
    def answers(self) -> Integers:
        """Number of workers of every task."""
        return self.assigned.answers

    @cached_property
    def _accuracies(self) -> tuple[Floats, Floats]:
        return accuracies_and_errors(self.plan, self.assigned)

    @property
    def task_accuracy(self) -> Floats:
        """Expected accuracy of the Bayes-weighted vote on every task."""
        return self._accuracies[0]

    @property
    def standard_error(self) -> float:
        """Standard error of `expected_accuracy`: 0 unless large teams of K classes were sampled.

        All tasks use the same random numbers, so it is the mean of their standard errors.
        """
        return float(self._accuracies[1].mean())

    @property
    def expected_accuracy(self) -> float:
        """Mean expected accuracy over the tasks."""
        return float(self.task_accuracy.mean())

    @property
    def bound(self) -> float | None:
        """No assignment within the caps has a larger expected accuracy; None if none is proved."""
        return None if self.certificate is None else self.certificate.bound

    @property
    def gap(self) -> float | None:
        """Bound minus expected accuracy, >= 0; None without a bound."""
        return gap_between(self.expected_accuracy, self.bound)

    @property
    def certified(self) -> bool:
        """Whether `gap` is proved to be at most `proof.CERTIFIED_WITHIN`; see there."""
        return is_certified(self.expected_accuracy, self.bound, self.standard_error)

    @property
    def statement(self) -> str:
        """The proved gap, in one sentence."""
        return statement(self.expected_accuracy, self.bound, self.standard_error)

    @property
    def prices(self) -> Floats | None:
        """Price of one more task for every worker, in mean expected accuracy, or None."""
        return None if self.certificate is None else self.certificate.prices

    @property
    def budget_price(self) -> float | None:
        """Price of one more label in the budget, in mean expected accuracy, or None."""
        return None if self.certificate is None else self.certificate.budget_price

    @property
    def money_price(self) -> float | None:
        """Price of one more unit of money, in mean expected accuracy, or None."""
        return None if self.certificate is None else self.certificate.money_price

    @property
    def spent(self) -> float | None:
        """Money that the answers cost; None if the plan has no costs."""
        return None if self.plan.cost is None else spent(self.plan.cost, self.support)

    def binding(self) -> dict[str, Any]:
        """Count the caps that bind: used up, and below the number of allowed pairs."""
        plan = self.plan
        per_worker, per_task = plan.room
        most_tasks, most_workers = plan.max_tasks_per_worker, plan.max_workers_per_task
        workers = (self.loads == most_tasks) & (most_tasks < per_worker)
        tasks = (self.answers == most_workers) & (most_workers < per_task)
        return {
            "max_workers_per_task": int(tasks.sum()),
            "max_tasks_per_worker": int(workers.sum()),
            "budget": self.size == plan.budget < int(per_task.sum()),
        }

    def pairs(self) -> list[tuple[str, str]]:
        """List the (worker, task) pairs, sorted by worker and then by task."""
        return list(self.rows())

    def to_frame(self) -> pd.DataFrame:
        """Return the pairs as a pandas table of `worker` and `task`, names as they are."""
        import pandas as pd

        return pd.DataFrame(self.pairs(), columns=["worker", "task"])

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the (worker, task) pairs, sorted by worker and then by task."""
        workers, tasks = self.names
        rank, place = (np.argsort(by_name(names)) for names in self.names)
        of_task, of_worker = self.assigned.tasks, self.assigned.workers
        order = np.lexsort((place[of_task], rank[of_worker]))
        for i, j in zip(of_worker[order].tolist(), of_task[order].tolist(), strict=True):
            yield workers[i], tasks[j]

    def task_rows(self) -> Iterator[tuple[str, int, float]]:
        """Yield name, answers and expected accuracy of every task, sorted by name."""
        for j in by_name(self.names[1]):
            yield self.names[1][j], int(self.answers[j]), float(self.task_accuracy[j])

    def kinds(self) -> dict[str, dict[str, float]]:
        """Return tasks, answers and mean expected accuracy of every kind that has tasks."""
        kind, names = self.plan.factors.kind, self.plan.factors.table.tasks
        count = np.bincount(kind, minlength=len(names))
        answers = np.bincount(kind, self.answers, len(names))
        accuracy = np.bincount(kind, self.task_accuracy, len(names))
        return {
            names[k]: {
                "tasks": int(count[k]),
                "answers": int(answers[k]),
                "expected_accuracy": float(accuracy[k] / count[k]),
            }
            for k in sorted(np.flatnonzero(count).tolist(), key=names.__getitem__)
        }

    def price_rows(self) -> list[tuple[str, float]]:
        """Return the prices, sorted by worker; empty without a bound."""
        if self.prices is None:
            return []
        return sorted(zip(self.names[0], self.prices.tolist(), strict=True))

    def branches(self) -> list[dict[str, Any]]:
        """Return the parts of the proof for `branches.json`; empty if the prices prove it alone."""
        quality = self.plan.quality
        leaves = () if self.certificate is None else self.certificate.leaves
        return as_json(leaves, quality.workers, quality.tasks)

    def summary(self) -> dict[str, Any]:
        """Return everything about the assignment that `summary.json` holds.

        Of a crowd in factors it has kinds of tasks, no single ones.
        """
        (workers, tasks), plan = self.names, self.plan
        out: dict[str, Any] = {
            "method": self.method,
            "reason": self.reason,
            "expected_accuracy": self.expected_accuracy,
            "bound": self.bound,
            "gap": self.gap,
            "certified": self.certified,
            "certified_within": CERTIFIED_WITHIN,
            "budget_price": self.budget_price,
            "assignments": self.size,
            "budget": plan.budget,
            "binding": self.binding(),
            **self.facts,
        }
        of_classes = {"n_classes": plan.n_classes, "standard_error": self.standard_error}
        loads = {"loads": _by_name(workers, self.loads)}
        if plan.is_table:
            out |= loads
            out["answers_per_task"] = _by_name(tasks, self.answers)
            out["task_accuracy"] = _by_name(tasks, self.task_accuracy)
        else:
            out |= of_classes | {"n_tasks": len(tasks)} | loads | {"kinds": self.kinds()}
        if self.certificate is not None and self.certificate.leaves:
            out["bound_by_prices"] = self.certificate.bound_by_prices
        if self.certificate is not None and self.certificate.slack > 0.0:
            out["pricing_slack"] = self.certificate.slack
        if self.certificate is not None and self.certificate.knots is not None:
            out["knots"] = self.certificate.knots.as_json(workers)
        if plan.model is not None:
            out |= of_classes
        if plan.common_error > 0.0:
            out["common_error"] = plan.common_error
        if self.spent is not None:
            out |= {"money": plan.money, "money_spent": self.spent}
        if self.money_price is not None:
            out["money_price"] = self.money_price
        if self.duals is not None:
            out["duals"] = {
                "unit": self.duals.unit,
                "budget": self.duals.budget,
                "workers": _by_name(workers, self.duals.workers),
                "tasks": _by_name(tasks, self.duals.tasks),
            }
        return out

    def reorder(self, plan: Plan, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Assignment:
        """Return the same for `plan`: its workers are `rows` of these, its tasks `columns`."""
        duals = self.duals
        if duals is not None:
            duals = Duals(
                duals.workers[rows], duals.tasks[columns], duals.budget, duals.unit, duals.is_price
            )
        proof = None if self.certificate is None else self.certificate.reorder(rows, columns)
        pairs = self.assigned.reorder(rows, columns)
        return Assignment(plan, pairs, self.method, self.reason, duals, self.facts, proof)


def _by_name(names: tuple[str, ...], values: NDArray[Any]) -> dict[str, Any]:
    return dict(sorted(zip(names, values.tolist(), strict=True)))

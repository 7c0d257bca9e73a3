"""Assignment: which worker labels which task, and what can be expected of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.plan.accuracy import accuracy_and_error
from crowd_tvcs.plan.costs import spent
from crowd_tvcs.plan.leaves import Leaf, as_json
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.planned import Planned
from tvcs_core import Projection
from tvcs_core.files.spreadsheet import shield

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Duals:
    """What one more unit of each cap is worth to the score that a method projects.

    Attributes
    ----------
    workers, tasks, budget
        Dual of every worker's cap, of every task's cap and of the budget, all >= 0. One more
        unit of a cap adds at most this much to the score.
    unit
        What the score is. It is the expected accuracy for no method so far.
    is_price
        Whether the score means something to an operator.
    """

    workers: NDArray[np.float64]
    tasks: NDArray[np.float64]
    budget: float
    unit: str
    is_price: bool = False

    @classmethod
    def of(cls, projection: Projection, unit: str, *, is_price: bool = False) -> Duals:
        """Take the duals of a projection."""
        return cls(
            projection.row_duals, projection.col_duals, projection.total_dual, unit, is_price
        )


@dataclass(frozen=True, eq=False)
class PlanProof:
    """A bound on the mean expected accuracy of every assignment within the caps, with its proof.

    For any prices >= 0 and with m tasks, no assignment has a larger mean than

        budget_price * budget + sum over workers i of prices[i] * max_tasks_per_worker[i]
        + money_price * money
        + mean over tasks of [max over sets S of at most max_workers_per_task allowed workers of
          (accuracy(S) - m * sum over i in S of (prices[i] + budget_price
          + money_price * cost[i]))],

    where S has at most one worker of a group.

    Attributes
    ----------
    bound
        That number, every task having been priced exactly.
    prices
        Price of one more task for every worker, >= 0.
    budget_price
        Price of one more label in the budget, >= 0. All are per label and in units of the mean
        expected accuracy: one more unit of a cap adds at most its price to the bound.
    leaves
        Parts that all assignments fall into, each with prices and a bound of its own. If there
        are any, `bound` is the largest of theirs, and the prices above prove `bound_by_prices`.
    bound_by_prices
        The same as `bound` without leaves.
    money_price
        Price of one more unit of money, >= 0; None for a plan without money.
    """

    bound: float
    prices: NDArray[np.float64]
    budget_price: float
    leaves: tuple[Leaf, ...] = ()
    bound_by_prices: float | None = None
    money_price: float | None = None

    def reorder(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> PlanProof:
        """Return the same for workers that are `rows` of these and tasks that are `columns`."""
        leaves = tuple(leaf.reorder(rows, columns) for leaf in self.leaves)
        return replace(self, prices=self.prices[rows], leaves=leaves)


@dataclass(frozen=True, eq=False, repr=False)
class Assignment(Planned):
    """Which worker labels which task.

    Attributes
    ----------
    plan
        The plan that it answers; rows and columns are in its order.
    support
        Boolean, of shape (workers, tasks).
    method
        Name of the method that made it.
    reason
        Why the method stopped, in words.
    duals
        Duals of the caps, or None.
    facts
        What else the method has to say, such as the number of iterations.
    certificate
        Bound on what any assignment can reach, or None: no bound was proved.
    """

    plan: Plan
    support: NDArray[np.bool_]
    method: str
    reason: str
    duals: Duals | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    certificate: PlanProof | None = None

    def __post_init__(self) -> None:
        if not self.plan.constraint.is_feasible(self.support):
            raise ValueError("support must keep every cap of the plan and assign allowed pairs")

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the workers and of the tasks."""
        return self.plan.quality.workers, self.plan.quality.tasks

    @property
    def size(self) -> int:
        """Number of pairs, which is the number of answers to be paid."""
        return int(self.support.sum())

    @cached_property
    def task_accuracy(self) -> NDArray[np.float64]:
        """Expected accuracy of the Bayes-weighted vote on every task."""
        return self.plan.accuracy(self.support)

    @cached_property
    def standard_error(self) -> float:
        """Standard error of `expected_accuracy`: 0 unless large teams of K classes were sampled.

        All tasks use the same random numbers, so it is the mean of theirs.
        """
        if self.plan.model is None:
            return 0.0
        return float(accuracy_and_error(self.plan, self.support)[1].mean())

    @property
    def spent(self) -> float | None:
        """Money that the answers cost; None if the plan has no costs."""
        return None if self.plan.cost is None else spent(self.plan.cost, self.support)

    @property
    def loads(self) -> NDArray[np.int64]:
        """Number of tasks of every worker."""
        return self.support.sum(axis=1)

    @property
    def answers(self) -> NDArray[np.int64]:
        """Number of workers of every task."""
        return self.support.sum(axis=0)

    def pairs(self) -> list[tuple[str, str]]:
        """List the (worker, task) pairs, sorted by worker and then by task."""
        workers, tasks = self.plan.quality.workers, self.plan.quality.tasks
        rows, columns = self.support.nonzero()
        return sorted((workers[i], tasks[j]) for i, j in zip(rows, columns, strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Return the pairs as a pandas table of `worker` and `task`, names as they are."""
        import pandas as pd

        return pd.DataFrame(self.pairs(), columns=["worker", "task"])

    def rows(self) -> list[tuple[str, str]]:
        """Return the pairs for a file: names that look like formulas get an apostrophe."""
        return [(shield(worker), shield(task)) for worker, task in self.pairs()]

    def branches(self) -> list[dict[str, Any]]:
        """Return the parts of the proof for `branches.json`; empty if the prices prove it alone."""
        quality = self.plan.quality
        leaves = () if self.certificate is None else self.certificate.leaves
        return as_json(leaves, quality.workers, quality.tasks)

    def summary(self) -> dict[str, Any]:
        """Everything about the assignment that `summary.json` holds, sorted by name."""
        workers, tasks = self.names
        out = self._told() | {
            "loads": _by_name(workers, self.loads),
            "answers_per_task": _by_name(tasks, self.answers),
            "task_accuracy": _by_name(tasks, self.task_accuracy),
        }
        if self.certificate is not None and self.certificate.leaves:
            out["bound_by_prices"] = self.certificate.bound_by_prices
        if self.plan.model is not None:
            out["n_classes"] = self.plan.n_classes
            out["standard_error"] = self.standard_error
        if self.plan.common_error > 0.0:
            out["common_error"] = self.plan.common_error
        if self.spent is not None:
            out |= {"money": self.plan.money, "money_spent": self.spent}
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
        support = self.support[np.ix_(rows, columns)]
        return Assignment(plan, support, self.method, self.reason, duals, self.facts, proof)


def _by_name(names: tuple[str, ...], values: NDArray[Any]) -> dict[str, Any]:
    return dict(sorted(zip(names, values.tolist(), strict=True)))

"""What any assignment tells of itself, whether its pairs are a table or a list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.plan.proof import CERTIFIED_WITHIN, gap_between, is_certified, statement
from tvcs_core.files.spreadsheet import shield

if TYPE_CHECKING:
    from crowd_tvcs.plan.assignment import PlanProof


class Planned(ABC):
    """Facts that follow from the pairs, the plan that they answer and the proof of a bound.

    What inherits it has these as fields, and counts pairs in its own way.
    """

    plan: Any
    method: str
    reason: str
    facts: Mapping[str, Any]
    certificate: PlanProof | None

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of pairs."""

    @property
    @abstractmethod
    def task_accuracy(self) -> NDArray[np.float64]:
        """Expected accuracy of the Bayes-weighted vote on every task."""

    @property
    @abstractmethod
    def standard_error(self) -> float:
        """Standard error of `expected_accuracy`: 0 unless it is sampled."""

    @property
    @abstractmethod
    def loads(self) -> NDArray[np.int64]:
        """Number of tasks of every worker."""

    @property
    @abstractmethod
    def answers(self) -> NDArray[np.int64]:
        """Number of workers of every task."""

    @property
    @abstractmethod
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the workers and of the tasks."""

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.size} answers by {self.method}, "
            f"expected accuracy {self.expected_accuracy:.4f})"
        )

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
        """What is proved, in one sentence."""
        return statement(self.expected_accuracy, self.bound, self.standard_error)

    @property
    def prices(self) -> NDArray[np.float64] | None:
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

    def binding(self) -> dict[str, Any]:
        """Count the caps that bind: those that are used up and lie below what is possible."""
        plan = self.plan
        per_worker, per_task = plan.room
        workers = (self.loads == plan.max_tasks_per_worker) & (
            plan.max_tasks_per_worker < per_worker
        )
        tasks = (self.answers == plan.max_workers_per_task) & (plan.max_workers_per_task < per_task)
        return {
            "max_workers_per_task": int(tasks.sum()),
            "max_tasks_per_worker": int(workers.sum()),
            "budget": self.size == plan.budget < int(per_task.sum()),
        }

    def price_rows(self) -> list[tuple[str, float]]:
        """Return the prices for a file, sorted by worker; empty without a bound."""
        if self.prices is None:
            return []
        priced = zip(self.names[0], self.prices.tolist(), strict=True)
        return [(shield(worker), price) for worker, price in sorted(priced)]

    def _told(self) -> dict[str, Any]:
        """Return what `summary.json` has of any assignment."""
        return {
            "method": self.method,
            "reason": self.reason,
            "expected_accuracy": self.expected_accuracy,
            "bound": self.bound,
            "gap": self.gap,
            "certified": self.certified,
            "certified_within": CERTIFIED_WITHIN,
            "budget_price": self.budget_price,
            "assignments": self.size,
            "budget": self.plan.budget,
            "binding": self.binding(),
            **self.facts,
        }

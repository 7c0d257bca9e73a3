"""The assignment of a plan in factors: its pairs, its accuracy and what is proved of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.factors.accuracy import accuracies_and_errors
from crowd_tvcs.factors.plan import FactoredPlan
from crowd_tvcs.plan.assignment import PlanProof
from crowd_tvcs.plan.planned import Planned
from tvcs_core.files.spreadsheet import shield

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class FactoredAssignment(Planned):
    """Which worker labels which task, as a list of pairs.

    Attributes
    ----------
    plan
        The plan that it answers.
    tasks, workers
        Task and worker of every pair, sorted by task.
    method
        Name of the method that made it.
    reason
        Why the method stopped, in words.
    facts
        What else the method has to say.
    certificate
        Bound on what any assignment can reach, or None: no bound was proved.
    """

    plan: FactoredPlan
    tasks: NDArray[np.int32]
    workers: NDArray[np.int32]
    method: str
    reason: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    certificate: PlanProof | None = None

    def __post_init__(self) -> None:
        plan = self.plan
        same = (np.diff(self.tasks) == 0) & (np.diff(self.workers) == 0)
        is_kept = (
            (self.loads <= plan.max_tasks_per_worker).all()
            and (self.answers <= plan.max_workers_per_task).all()
            and (self.answers >= plan.min_workers_per_task).all()
            and self.size <= plan.budget
            and not same.any()
            and plan.factors.allows(self.workers, self.tasks).all()
        )
        if not is_kept:
            raise ValueError("pairs must keep every cap and minimum of the plan and be allowed")

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the workers and of the tasks."""
        return self.plan.workers, self.plan.tasks

    @property
    def size(self) -> int:
        """Number of pairs."""
        return self.tasks.size

    @property
    def task_accuracy(self) -> Floats:
        """Expected accuracy of the Bayes-weighted vote on every task."""
        return self._accuracies[0]

    @property
    def standard_error(self) -> float:
        """Standard error of `expected_accuracy`: 0 unless large teams of K classes were sampled."""
        return float(self._accuracies[1].mean())

    @cached_property
    def _accuracies(self) -> tuple[Floats, Floats]:
        return accuracies_and_errors(self.plan, self.tasks, self.workers)

    @property
    def spent(self) -> None:
        """Money that the answers cost: a plan in factors has no costs."""
        return None

    @cached_property
    def loads(self) -> Integers:
        """Number of tasks of every worker."""
        return np.bincount(self.workers, minlength=len(self.plan.workers))

    @cached_property
    def answers(self) -> Integers:
        """Number of workers of every task."""
        return np.bincount(self.tasks, minlength=len(self.plan.tasks))

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs for a file, sorted by worker and then by task."""
        workers = [shield(name) for name in self.plan.workers]
        tasks = [shield(name) for name in self.plan.tasks]
        rank = np.argsort(np.array(_order(self.plan.workers)))
        place = np.argsort(np.array(_order(self.plan.tasks)))
        order = np.lexsort((place[self.tasks], rank[self.workers]))
        for i, j in zip(self.workers[order].tolist(), self.tasks[order].tolist(), strict=True):
            yield workers[i], tasks[j]

    def task_rows(self) -> Iterator[tuple[str, int, float]]:
        """Yield name, answers and expected accuracy of every task for a file, sorted by name."""
        for j in _order(self.plan.tasks):
            name = shield(self.plan.tasks[j])
            yield name, int(self.answers[j]), float(self.task_accuracy[j])

    def kinds(self) -> dict[str, dict[str, float]]:
        """Tasks, answers and mean expected accuracy of every kind that has tasks."""
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

    def summary(self) -> dict[str, Any]:
        """Everything about the assignment that `summary.json` holds; single tasks are not there."""
        return self._told() | {
            "n_classes": self.plan.n_classes,
            "standard_error": self.standard_error,
            "n_tasks": len(self.plan.tasks),
            "loads": dict(zip(self.plan.workers, self.loads.tolist(), strict=True)),
            "kinds": self.kinds(),
        }


def _order(names: tuple[str, ...]) -> list[int]:
    return sorted(range(len(names)), key=names.__getitem__)

"""A plan in factors: how good each worker is at each kind of task, and the kind of every task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.accuracy.model import checked_classes, checked_prior
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.plan.checks import (
    Caps,
    checked_budget,
    checked_caps,
    checked_chance,
    checked_minimums,
)
from crowd_tvcs.plan.plan import Plan

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class FactoredPlan:
    """Who may label what, of a crowd in factors; parameters are those of `Plan`, one per task.

    It has caps, minimums, priors and classes. Forced pairs, money, groups, confusion matrices and a
    common error are for a `Plan`. Tasks of excluded pairs have no minimum; what is proved of the
    plan is proved without excluding them too.

    Raises
    ------
    ValueError, TypeError
        If a cap, a prior or an excluded pair does not hold what it must, or if no assignment can
        keep the caps and meet the minimums.
    """

    factors: Factors
    max_workers_per_task: Integers
    max_tasks_per_worker: Integers
    budget: int
    prior: Floats
    min_workers_per_task: Integers
    n_classes: int
    class_prior: Floats | None
    # What a `Plan` may have beside, for what is told of both alike.
    forced: ClassVar[None] = None
    cost: ClassVar[None] = None
    money: ClassVar[None] = None
    group: ClassVar[None] = None
    common_error: ClassVar[float] = 0.0

    def __init__(
        self,
        factors: Factors,
        *,
        max_workers_per_task: Caps = None,
        max_tasks_per_worker: Caps = None,
        budget: int | None = None,
        prior: ArrayLike = 0.5,
        min_workers_per_task: int | ArrayLike = 0,
        n_classes: int = 2,
        class_prior: ArrayLike | None = None,
    ) -> None:
        object.__setattr__(self, "factors", factors)
        tasks, k = factors.tasks, checked_classes(n_classes)
        per_worker, per_task = self.room
        chance, chances = checked_chance(prior, tasks), None
        if k > 2:
            chances = checked_prior(class_prior, len(tasks), k)
            chance = np.full(len(tasks), np.nan)
        for name, value in (
            (
                "max_workers_per_task",
                checked_caps("max_workers_per_task", max_workers_per_task, per_task, tasks),
            ),
            (
                "max_tasks_per_worker",
                checked_caps(
                    "max_tasks_per_worker", max_tasks_per_worker, per_worker, factors.table.workers
                ),
            ),
            ("budget", checked_budget(budget, int(per_task.sum()))),
            ("prior", chance),
            ("min_workers_per_task", checked_minimums(min_workers_per_task, per_task, tasks)),
            ("n_classes", k),
            ("class_prior", chances),
        ):
            object.__setattr__(self, name, value)
        self._refuse_minimums_of_excluded()
        self._refuse_minimums()

    def __repr__(self) -> str:
        return f"FactoredPlan({self.factors!r}, budget={self.budget})"

    @property
    def workers(self) -> tuple[str, ...]:
        """Names of the workers."""
        return self.factors.table.workers

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks."""
        return self.factors.tasks

    @property
    def demands(self) -> tuple[str, ...]:
        """What must be, beyond the caps."""
        return ("min_workers_per_task",) if self.min_workers_per_task.any() else ()

    @property
    def room(self) -> tuple[Integers, Integers]:
        """How many tasks every worker may do, and workers every task may get, without caps."""
        return self.factors.room()

    @cached_property
    def guess(self) -> Floats:
        """Accuracy of every task without any answer."""
        if self.class_prior is not None:
            return self.class_prior.max(axis=1)
        return np.maximum(self.prior, 1.0 - self.prior)

    def part(
        self, tasks: Integers, prior: Floats | None = None, chances: Floats | None = None
    ) -> Plan:
        """Return the plan of some tasks as a table of workers x these.

        Caps of workers and the budget are left out, but that nobody labels who has no room. The
        tasks may have other priors, or chances of their classes, than their own.
        """
        quality = self.factors.columns(tasks)
        allowed = np.repeat((self.max_tasks_per_worker > 0)[:, None], tasks.size, axis=1)
        if quality.allowed is not None:
            allowed &= quality.allowed
        if chances is None and self.class_prior is not None:
            chances = self.class_prior[tasks]
        if prior is None:
            prior = self.prior[tasks] if self.n_classes == 2 else np.full(tasks.size, 0.5)
        return Plan(
            Quality(quality.values, quality.workers, quality.tasks, allowed),
            max_workers_per_task=self.max_workers_per_task[tasks],
            prior=prior,
            min_workers_per_task=np.minimum(self.min_workers_per_task[tasks], allowed.sum(axis=0)),
            n_classes=self.n_classes,
            class_prior=chances,
        )

    def by_name(self) -> FactoredPlan:
        """Return the same plan with workers, kinds and tasks sorted by name."""
        rows, tasks = _order(self.workers), _order(self.tasks)
        return self._copy(
            factors=self.factors.reorder(rows, tasks),
            max_workers_per_task=self.max_workers_per_task[tasks],
            max_tasks_per_worker=self.max_tasks_per_worker[rows],
            prior=self.prior[tasks],
            min_workers_per_task=self.min_workers_per_task[tasks],
            class_prior=None if self.class_prior is None else self.class_prior[tasks],
        )

    def with_budget(self, budget: int) -> FactoredPlan:
        """Copy the plan with another budget."""
        out = self._copy(budget=checked_budget(budget, int(self.room[1].sum())))
        out._refuse_minimums()
        return out

    def _copy(self, **changes: Any) -> FactoredPlan:
        out = object.__new__(FactoredPlan)
        for field in fields(self):
            object.__setattr__(out, field.name, changes.get(field.name, getattr(self, field.name)))
        return out

    def _refuse_minimums_of_excluded(self) -> None:
        of_task = self.factors.excluded // len(self.workers)
        wrong = of_task[self.min_workers_per_task[of_task] > 0]
        if wrong.size:
            j = int(wrong[0])
            raise ValueError(
                f"min_workers_per_task must be 0 of tasks of excluded pairs, but that of task "
                f"{self.tasks[j]!r} is {self.min_workers_per_task[j]}"
            )

    def _refuse_minimums(self) -> None:
        least, tasks = self.min_workers_per_task, self.tasks
        over = least - self.max_workers_per_task
        if (over > 0).any():
            j = int(np.argmax(over))
            raise ValueError(
                f"min_workers_per_task of task {tasks[j]!r} is {least[j]}, but at most "
                f"{self.max_workers_per_task[j]} may label it: {over[j]} too few"
            )
        if (total := int(least.sum())) > self.budget:
            raise ValueError(
                f"the budget of {self.budget} is below the {total} answers that "
                f"min_workers_per_task ask for: {total - self.budget} too few"
            )


def _order(names: Sequence[str]) -> NDArray[np.intp]:
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)

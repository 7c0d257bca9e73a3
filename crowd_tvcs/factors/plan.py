"""A plan in factors: how good each worker is at each kind of task, and the kind of every task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.accuracy.model import checked_classes, checked_prior
from crowd_tvcs.answers.names import require_names
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

_NO_PAIRS = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class Factors:
    """Who is how good at which kind of task, and which task is of which kind.

    Attributes
    ----------
    table
        Quality of every worker on every kind, of shape (workers, kinds); its tasks are the kinds.
        A pair that it does not allow may not be assigned on any task of the kind.
    tasks
        Names of the tasks: not empty, no two the same.
    kind
        Column of `table` of every task.

    Raises
    ------
    ValueError, TypeError
        If a name is empty or repeated, or a kind is no column of the table.
    """

    table: Quality
    tasks: tuple[str, ...]
    kind: Integers

    def __init__(self, table: Quality, tasks: Sequence[str], kind: ArrayLike) -> None:
        names, of_task = tuple(tasks), np.asarray(kind)
        require_names("tasks", names)
        if of_task.dtype.kind not in "iu" or of_task.shape != (len(names),):
            raise ValueError(
                f"kind must be {len(names)} integers, one per task, found {of_task.dtype} of "
                f"shape {of_task.shape}"
            )
        wrong = (of_task < 0) | (of_task >= len(table.tasks))
        if wrong.any():
            j = int(np.argmax(wrong))
            raise ValueError(
                f"kind must be from 0 to {len(table.tasks) - 1}, but that of task {names[j]!r} is "
                f"{of_task[j]}"
            )
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "tasks", names)
        object.__setattr__(self, "kind", of_task.astype(np.int64))

    def __repr__(self) -> str:
        n_workers, n_kinds = self.table.shape
        return f"Factors({n_workers} workers x {len(self.tasks)} tasks of {n_kinds} kinds)"

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of workers and tasks."""
        return len(self.table.workers), len(self.tasks)

    def quality(self) -> Quality:
        """Return the table of workers x tasks; of a large crowd it is too large to be had."""
        table, kind = self.table, self.kind
        allowed = None if table.allowed is None else table.allowed[:, kind]
        allowed = None if allowed is None or allowed.all() else allowed
        return Quality(table.values[:, kind], table.workers, self.tasks, allowed)


@dataclass(frozen=True, eq=False, repr=False)
class FactoredPlan:
    """Who may label what, of a crowd in factors; parameters are those of `Plan`, one per task.

    It has caps, minimums, priors and classes. Forced pairs, money, groups, confusion matrices and a
    common error are for a `Plan`. `excluded` are pairs (task, worker), as two arrays, that may not
    be assigned beside those of the table; their tasks have no minimum. What is proved of the plan
    is proved without them too.

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
    excluded: Integers
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
        excluded: tuple[Integers, Integers] | None = None,
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
            ("excluded", self._pairs(*_checked_pairs(excluded, factors))),
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
        table, kind = self.factors.table, self.factors.kind
        n, m = self.factors.shape
        if table.allowed is None:
            return np.full(n, m), np.full(m, n)
        of_kind = np.bincount(kind, minlength=len(table.tasks))
        return table.allowed @ of_kind, table.allowed.sum(axis=0)[kind]

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
        table, kind = self.factors.table, self.factors.kind[tasks]
        allowed = np.repeat((self.max_tasks_per_worker > 0)[:, None], tasks.size, axis=1)
        if table.allowed is not None:
            allowed &= table.allowed[:, kind]
        if chances is None and self.class_prior is not None:
            chances = self.class_prior[tasks]
        if prior is None:
            prior = self.prior[tasks] if self.n_classes == 2 else np.full(tasks.size, 0.5)
        return Plan(
            Quality(
                table.values[:, kind], table.workers, list(map(str, range(kind.size))), allowed
            ),
            max_workers_per_task=self.max_workers_per_task[tasks],
            prior=prior,
            min_workers_per_task=np.minimum(self.min_workers_per_task[tasks], allowed.sum(axis=0)),
            n_classes=self.n_classes,
            class_prior=chances,
        )

    def by_name(self) -> FactoredPlan:
        """Return the same plan with workers, kinds and tasks sorted by name."""
        table = self.factors.table
        rows, columns = _order(table.workers), _order(table.tasks)
        tasks = _order(self.tasks)
        place = np.argsort(columns)
        names = tuple(self.tasks[j] for j in tasks.tolist())
        of_task, worker = np.divmod(self.excluded, len(self.workers))
        factors = object.__new__(Factors)
        object.__setattr__(factors, "table", table.reorder(rows, columns))
        object.__setattr__(factors, "tasks", names)
        object.__setattr__(factors, "kind", place[self.factors.kind[tasks]])
        return self._copy(
            factors=factors,
            max_workers_per_task=self.max_workers_per_task[tasks],
            max_tasks_per_worker=self.max_tasks_per_worker[rows],
            prior=self.prior[tasks],
            min_workers_per_task=self.min_workers_per_task[tasks],
            class_prior=None if self.class_prior is None else self.class_prior[tasks],
            excluded=self._pairs(np.argsort(tasks)[of_task], np.argsort(rows)[worker]),
        )

    def excludes(self, tasks: NDArray[Any], workers: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether pairs are excluded."""
        pairs = tasks.astype(np.int64) * len(self.workers) + workers
        if not self.excluded.size:
            return np.zeros(pairs.shape, dtype=bool)
        at = np.searchsorted(self.excluded, pairs)
        return np.asarray(self.excluded[np.minimum(at, self.excluded.size - 1)] == pairs)

    def with_budget(self, budget: int) -> FactoredPlan:
        """Copy the plan with another budget."""
        out = self._copy(budget=checked_budget(budget, int(self.room[1].sum())))
        out._refuse_minimums()
        return out

    def _pairs(self, tasks: Integers, workers: Integers) -> Integers:
        """Number pairs task by task, sorted."""
        return np.sort(tasks.astype(np.int64) * len(self.workers) + workers)

    def _copy(self, **changes: Any) -> FactoredPlan:
        out = object.__new__(FactoredPlan)
        for field in fields(self):
            object.__setattr__(out, field.name, changes.get(field.name, getattr(self, field.name)))
        return out

    def _refuse_minimums_of_excluded(self) -> None:
        of_task = self.excluded // len(self.workers)
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


def _checked_pairs(
    excluded: tuple[Integers, Integers] | None, factors: Factors
) -> tuple[Integers, Integers]:
    """Return numbers of tasks and of workers, one of each per pair."""
    if excluded is None:
        return _NO_PAIRS
    if len(excluded) != 2:
        raise ValueError(f"excluded must be two arrays, tasks and workers, found {len(excluded)}")
    tasks, workers = (np.asarray(numbers) for numbers in excluded)
    n_workers, n_tasks = factors.shape
    for name, numbers, size in (("tasks", tasks, n_tasks), ("workers", workers, n_workers)):
        if numbers.dtype.kind not in "iu" or numbers.shape != (tasks.size,):
            raise ValueError(
                f"{name} of excluded must be integers, one per pair, found {numbers.dtype} of "
                f"shape {numbers.shape}"
            )
        wrong = (numbers < 0) | (numbers >= size)
        if wrong.any():
            raise ValueError(
                f"{name} of excluded must be from 0 to {size - 1}, found {numbers[wrong][0]}"
            )
    return tasks, workers


def _order(names: Sequence[str]) -> NDArray[np.intp]:
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)

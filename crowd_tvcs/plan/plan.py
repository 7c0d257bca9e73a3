"""Plan: the assignment problem, checked once: quality, caps, demands and priors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.accuracy.model import AnswerModel, adding_up_to_one
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.plan.accuracy import accuracy_and_error, answers_of
from crowd_tvcs.plan.checks import (
    Caps,
    checked_budget,
    checked_caps,
    checked_forced,
    checked_minimums,
    class_settings,
    common_error_settings,
)
from crowd_tvcs.plan.costs import is_paid, money_settings, per_group, refuse_what_cannot_be
from tvcs_core import TVCS, Projection, project

LISTED = 3


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Who may label what: the quality of every pair, the three caps, and what must be.

    Pairs that may not be assigned are those that ``quality.allowed`` leaves out.

    Parameters
    ----------
    quality
        Who is how good at what.
    max_workers_per_task
        Most answers for a task: an integer >= 0 or one per task in the order of
        `quality.tasks`; None for no cap. (The paper's s^worker.)
    max_tasks_per_worker
        Most tasks for a worker, likewise in the order of `quality.workers`. (The paper's
        s^task.)
    budget
        Most answers in all; None for no cap.
    prior
        Probability in [0, 1] that the label of a task is 1: one number, or one per task. Only for
        two classes.
    min_workers_per_task
        Least answers for a task: an integer >= 0 or one per task.
    forced
        Boolean, of the shape of `quality`: pairs that must be assigned; None for none.
    n_classes
        Number of classes K that a task may have, from 2 to 100. With more than two, the
        mistakes of a worker are spread evenly over the other classes.
    class_prior
        Probability of every class, of shape (classes,) or (tasks, classes), for more than two
        classes; None for equal ones.
    confusion
        One matrix per worker, of shape (workers, classes, classes): chance of each answer (column)
        where the truth is the row. It goes before `quality`; None for none.
    cost
        What a label of a worker costs: a number >= 0, or one per worker; None if it does not
        matter.
    money
        Most money for all labels, >= 0, in the unit of `cost`; None for no limit.
    group
        A name or None per worker: at most one worker of a group gets a task. None for no groups.
    common_error
        With this chance, >= 0 and below 1, a task misleads all workers alike: it seems to be of a
        class that is drawn, whatever it is (`crowd_tvcs.accuracy.common_error`). `quality` and
        `confusion` stay what one answer tells.
    error_shares
        Chance of every class to be drawn then, of shape (classes,); None for the task's prior. Give
        the class shares where priors are what is known after answers, by which a task may have
        misled already.

    Attributes
    ----------
    max_workers_per_task, max_tasks_per_worker, budget, prior, min_workers_per_task
        As above, one per task or worker; a cap is never more than there are pairs allowed.
    forced
        As above; None if no pair is forced.
    n_classes, confusion, money, common_error, error_shares
        As above.
    cost, group
        As above, one per worker; None if there are none (or no two workers share a group).
    class_prior
        As above, of shape (tasks, classes); None for two classes. With more than two, `prior` is
        not a number.

    Raises
    ------
    ValueError, TypeError
        If a cap or a prior does not hold what it must, or if no assignment can keep the caps and
        meet the minimums and the forced pairs; the message names which, and by how much.

    Examples
    --------
    >>> from crowd_tvcs import Plan, Quality
    >>> quality = Quality([[.9, .6], [.7, .8]], workers=["ann", "bob"], tasks=["t1", "t2"])
    >>> Plan(quality, min_workers_per_task=2, max_tasks_per_worker=[2, 1])
    Traceback (most recent call last):
    ValueError: min_workers_per_task asks for 4 answers on tasks 't1', 't2', but within
    max_tasks_per_worker they can get 3: 1 too few
    """

    quality: Quality
    max_workers_per_task: NDArray[np.int64]
    max_tasks_per_worker: NDArray[np.int64]
    budget: int
    prior: NDArray[np.float64]
    min_workers_per_task: NDArray[np.int64]
    forced: NDArray[np.bool_] | None
    n_classes: int
    class_prior: NDArray[np.float64] | None
    confusion: NDArray[np.float64] | None
    cost: NDArray[np.float64] | None
    money: float | None
    group: tuple[str | None, ...] | None
    common_error: float
    error_shares: NDArray[np.float64] | None

    def __init__(
        self,
        quality: Quality,
        *,
        max_workers_per_task: Caps = None,
        max_tasks_per_worker: Caps = None,
        budget: int | None = None,
        prior: ArrayLike = 0.5,
        min_workers_per_task: int | ArrayLike = 0,
        forced: ArrayLike | None = None,
        n_classes: int = 2,
        class_prior: ArrayLike | None = None,
        confusion: ArrayLike | None = None,
        cost: ArrayLike | None = None,
        money: float | None = None,
        group: Sequence[str | None] | None = None,
        common_error: float = 0.0,
        error_shares: ArrayLike | None = None,
    ) -> None:
        if not isinstance(quality, Quality):
            raise TypeError(f"quality must be a Quality, found {type(quality).__name__}")
        object.__setattr__(self, "quality", quality)
        per_worker, per_task = self.room
        for name, value in (
            (
                "max_workers_per_task",
                checked_caps("max_workers_per_task", max_workers_per_task, per_task, quality.tasks),
            ),
            (
                "max_tasks_per_worker",
                checked_caps(
                    "max_tasks_per_worker", max_tasks_per_worker, per_worker, quality.workers
                ),
            ),
            ("budget", checked_budget(budget, int(per_task.sum()))),
            (
                "min_workers_per_task",
                checked_minimums(min_workers_per_task, per_task, quality.tasks),
            ),
            ("forced", checked_forced(forced, quality)),
            *class_settings(n_classes, prior, class_prior, confusion, quality),
            *money_settings(cost, money, group, quality.workers),
            *common_error_settings(common_error, error_shares, n_classes),
        ):
            object.__setattr__(self, name, value)
        self._refuse_forced_beyond_caps()
        self._refuse_forced_beyond_budget()
        self._refuse_minimums_beyond_caps()
        self._refuse_minimums_beyond_budget()
        self._refuse_minimums_beyond_workers()
        refuse_what_cannot_be(self)

    def __repr__(self) -> str:
        return f"Plan({self.quality!r}, budget={self.budget})"

    @property
    def room(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many tasks every worker may do, and workers every task may get, without caps."""
        n_workers, n_tasks = self.quality.shape
        allowed = self.quality.allowed
        if allowed is None:
            return np.full(n_workers, n_tasks), np.full(n_tasks, n_workers)
        return allowed.sum(axis=1), allowed.sum(axis=0)

    @cached_property
    def model(self) -> AnswerModel | None:
        """How workers answer what a task seems to be.

        None for two classes without confusion matrices and, if errors are common, of equal shares.
        """
        return answers_of(self)

    def accuracy(self, support: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Expected accuracy of the vote on every task, of pairs of shape (workers, tasks)."""
        return accuracy_and_error(self, support)[0]

    @property
    def told(self) -> NDArray[np.float64]:
        """What one answer adds to a guess among equal classes, of shape (workers, tasks)."""
        if self.model is None:
            return np.abs(self.quality.values - 0.5)
        return self.model.informativeness[self.model.kind]

    @property
    def demands(self) -> tuple[str, ...]:
        """What must be, beyond the caps: a method has to honour these or refuse."""
        out = ("min_workers_per_task",) if self.min_workers_per_task.any() else ()
        for name in ("forced", "money", "group"):
            out = out if getattr(self, name) is None else (*out, name)
        return out

    @property
    def least_budget(self) -> int:
        """The smallest budget with which the minimums and the forced pairs can be had."""
        forced = 0 if self.forced is None else self.forced.sum(axis=0)
        return int(np.maximum(self.min_workers_per_task, forced).sum())

    def unmet(self, support: NDArray[np.bool_]) -> tuple[str, ...]:
        """Which of `demands` an assignment of shape (workers, tasks) does not meet."""
        is_short = (support.sum(axis=0) < self.min_workers_per_task).any()
        out = ("min_workers_per_task",) if is_short else ()
        if self.forced is not None and (self.forced & ~support).any():
            out = (*out, "forced")
        if not is_paid(self, support):
            out = (*out, "money")
        if self.group is not None and (per_group(self, support) > 1).any():
            out = (*out, "group")
        return out

    @cached_property
    def constraint(self) -> TVCS:
        """The caps as a constraint; rows are workers and columns tasks."""
        return self.rest(np.zeros(self.quality.shape, dtype=bool))

    def rest(self, fixed: NDArray[np.bool_], bounds: tuple[float, float] | None = None) -> TVCS:
        """Constrain what may be added to pairs that are fixed, of shape (workers, tasks)."""
        allowed = self.quality.allowed
        if fixed.any():
            allowed = ~fixed if allowed is None else allowed & ~fixed
        return TVCS.matrix(
            self.quality.shape,
            row_caps=self.max_tasks_per_worker - fixed.sum(axis=1),
            col_caps=self.max_workers_per_task - fixed.sum(axis=0),
            total=self.budget - int(fixed.sum()),
            allowed=allowed,
            bounds=bounds,
        )

    def settle(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Fix the forced pairs, and for the minimums the pairs of largest `scores` >= 0.

        One projection onto what the forced pairs leave, with the minimums as caps of the tasks. The
        number of pairs goes before their scores, so every minimum is met; the sum of the squared
        scores is the largest with which they can be. Returns pairs of shape (workers, tasks).
        """
        fixed = np.zeros(self.quality.shape, dtype=bool) if self.forced is None else self.forced
        missing = self.min_workers_per_task - fixed.sum(axis=0)
        if (missing <= 0).all():
            return fixed
        gains = scores**2
        first = 1.0 + 2.0 * sum(self.quality.shape) * gains.max()  # any longer path costs less
        chosen = self._on_the_missing(np.sqrt(first + gains), fixed).support
        both: NDArray[np.bool_] = fixed | chosen
        return both

    def _on_the_missing(self, scores: NDArray[np.float64], fixed: NDArray[np.bool_]) -> Projection:
        """Project onto what the minimums still ask for beyond `fixed`; the budget left out."""
        rest = self.rest(fixed)
        missing = np.maximum(0, self.min_workers_per_task - fixed.sum(axis=0))
        allowed = rest.allowed
        caps = TVCS.matrix(
            self.quality.shape, row_caps=rest.row_caps, col_caps=missing, allowed=allowed
        )
        return project(scores, caps)

    def _refuse_forced_beyond_caps(self) -> None:
        if self.forced is None:
            return
        for cap, caps, count, kind, names in (
            (
                "max_tasks_per_worker",
                self.max_tasks_per_worker,
                self.forced.sum(axis=1),
                "worker",
                self.quality.workers,
            ),
            (
                "max_workers_per_task",
                self.max_workers_per_task,
                self.forced.sum(axis=0),
                "task",
                self.quality.tasks,
            ),
        ):
            over = count - caps
            if (over > 0).any():
                i = int(np.argmax(over))
                raise ValueError(
                    f"forced pairs break {cap}: {kind} {names[i]!r} has {count[i]} of them and a "
                    f"cap of {caps[i]}, {over[i]} too many"
                )

    def _refuse_forced_beyond_budget(self) -> None:
        total = 0 if self.forced is None else int(self.forced.sum())
        if total > self.budget:
            raise ValueError(
                f"forced pairs break the budget: {total} pairs, a budget of {self.budget}, "
                f"{total - self.budget} too many"
            )

    def _refuse_minimums_beyond_caps(self) -> None:
        least, tasks = self.min_workers_per_task, self.quality.tasks
        over = least - self.max_workers_per_task
        if (over > 0).any():
            j = int(np.argmax(over))
            raise ValueError(
                f"min_workers_per_task of task {tasks[j]!r} is {least[j]}, but at most "
                f"{self.max_workers_per_task[j]} may label it: {over[j]} too few"
            )

    def _refuse_minimums_beyond_budget(self) -> None:
        total = self.least_budget if self.min_workers_per_task.any() else 0
        if total > self.budget:
            raise ValueError(
                f"the budget of {self.budget} is below the {total} answers that "
                f"min_workers_per_task {'' if self.forced is None else 'and forced pairs '}ask "
                f"for: {total - self.budget} too few"
            )

    def _refuse_minimums_beyond_workers(self) -> None:
        """Find tasks whose workers cannot together give what the minimums ask for (Hall)."""
        if not self.min_workers_per_task.any():
            return
        fixed = np.zeros(self.quality.shape, dtype=bool) if self.forced is None else self.forced
        rest = self.rest(fixed)
        missing = np.maximum(0, self.min_workers_per_task - fixed.sum(axis=0))
        flow = self._on_the_missing(np.ones(self.quality.shape), fixed)
        if flow.support.sum() == missing.sum():
            return
        # The duals are a smallest cut: tasks of price 0 are short of workers.
        short = (flow.col_duals <= 0.5) & (missing > 0)
        allowed = np.ones_like(fixed) if rest.allowed is None else rest.allowed
        able = np.minimum(rest.row_caps, allowed[:, short].sum(axis=1)).sum()
        names = [self.quality.tasks[j] for j in np.flatnonzero(short)]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        asked = int(missing[short].sum())
        raise ValueError(
            f"min_workers_per_task asks for {asked} {'more ' if fixed.any() else ''}answers on "
            f"tasks {', '.join(map(repr, names[:LISTED]))}{more}, but within "
            f"max_tasks_per_worker they can get {able}: {asked - able} too few"
        )

    def reorder(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Plan:
        """Put the workers in the order of `rows` and the tasks in that of `columns`."""
        return self._copy(
            quality=self.quality.reorder(rows, columns),
            max_workers_per_task=self.max_workers_per_task[columns],
            max_tasks_per_worker=self.max_tasks_per_worker[rows],
            prior=self.prior[columns],
            min_workers_per_task=self.min_workers_per_task[columns],
            forced=None if self.forced is None else self.forced[np.ix_(rows, columns)],
            class_prior=None if self.class_prior is None else self.class_prior[columns],
            confusion=None if self.confusion is None else self.confusion[rows],
            cost=None if self.cost is None else self.cost[rows],
            group=None if self.group is None else tuple(self.group[i] for i in rows),
        )

    def with_budget(self, budget: int) -> Plan:
        """Copy the plan with another budget; only what depends on the budget is checked."""
        out = self._copy(budget=checked_budget(budget, int(self.room[1].sum())))
        out._refuse_forced_beyond_budget()
        out._refuse_minimums_beyond_budget()
        return out

    def _copy(self, **changes: Any) -> Plan:
        """Copy a plan, which was checked, with changes that keep it right; nothing is checked."""
        out = object.__new__(Plan)
        values = {field.name: getattr(self, field.name) for field in fields(self)} | changes
        for name in ("class_prior", "confusion"):  # to the last bit what the constructor would hold
            if values[name] is not None:
                values[name] = adding_up_to_one(values[name])
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(out, name, value)
        return out

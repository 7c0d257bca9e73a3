"""Plan: the assignment problem, checked once: quality, caps, demands and priors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.accuracy.model import AnswerModel, adding_up_to_one
from crowd_tvcs.answers.factors import CrowdQuality
from crowd_tvcs.answers.quality import Quality, as_quality
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.plan.accuracy import accuracy_and_error, answers_of
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.checks import (
    Caps,
    checked_budget,
    checked_caps,
    checked_forced,
    checked_minimums,
    class_settings,
    common_error_settings,
)
from crowd_tvcs.plan.costs import is_paid, money_settings, per_group, refuse_impossible
from crowd_tvcs.plan.refusals import (
    on_the_missing,
    refuse_forced_beyond_budget,
    refuse_forced_beyond_caps,
    refuse_minimums_beyond_budget,
    refuse_minimums_beyond_caps,
    refuse_minimums_beyond_workers,
    refuse_minimums_of_excluded,
    refuse_table_options,
)
from crowd_tvcs.plan.terms import Terms
from tvcs_core import TVCS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Terms):
    """An assignment problem: the quality of every pair, the three caps, and the demands.

    Pairs that may not be assigned are those that ``quality.allowed`` leaves out. Numbers per worker
    or task may also come by name, as a mapping or a Series of all of them.

    Parameters
    ----------
    quality
        Accuracy of every worker on every task: a `Quality`, or a DataFrame (as for
        `crowd_tvcs.read_quality`) or an array of shape (workers, tasks), which become one. For a
        crowd too large for a table, `crowd_tvcs.answers.factors.Factors`. These allow caps,
        minimums, priors and classes; forced pairs, money, groups, confusion matrices and a common
        error need a table. With factors, a task with single excluded pairs has no minimum, and a
        bound also covers plans that use these pairs.
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
        given the true class (row). It replaces `quality`; None for none.
    cost
        Cost of a label: a number >= 0, or one per worker; None for no costs.
    money
        Most money for all labels, >= 0, in the unit of `cost`; None for no limit.
    group
        A name or None per worker: at most one worker of a group gets a task. None for no groups.
    common_error
        Probability, >= 0 and below 1, that a task misleads all workers alike: it then seems to
        belong to a random class (`crowd_tvcs.accuracy.common_error`). `quality` and `confusion`
        still describe a single answer.
    error_shares
        Probability of each random class, of shape (classes,); None for the task's prior. Give the
        class shares if the priors are posteriors after answers, because a task may have misled
        those workers already.

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
        If an argument is out of its range, or if no assignment can keep the caps and meet the
        minimums and the forced pairs; the message names the limit, and by how much it is broken.

    Examples
    --------
    >>> from crowd_tvcs import Plan, Quality
    >>> quality = Quality([[.9, .6], [.7, .8]], workers=["ann", "bob"], tasks=["t1", "t2"])
    >>> Plan(quality, min_workers_per_task=2, max_tasks_per_worker=[2, 1])
    Traceback (most recent call last):
    ValueError: min_workers_per_task asks for 4 answers on tasks 't1', 't2', but within
    max_tasks_per_worker they can get 3: 1 too few; lower these minimums, or raise the caps of
    workers or add workers who may label them
    """

    def __init__(
        self,
        quality: CrowdQuality | ArrayLike | pd.DataFrame,
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
        if not isinstance(quality, CrowdQuality):
            quality = as_quality(quality)
        object.__setattr__(self, "quality", quality)
        if not self.is_table:
            refuse_table_options(
                quality, forced=forced, confusion=confusion, cost=cost, money=money, group=group,
                common_error=common_error or None, error_shares=error_shares,
            )  # fmt: skip
        workers, tasks = quality.workers, quality.tasks
        per_worker, per_task = self.room
        most_workers = checked_caps("max_workers_per_task", max_workers_per_task, per_task, tasks)
        most_tasks = checked_caps("max_tasks_per_worker", max_tasks_per_worker, per_worker, workers)
        for name, value in (
            ("max_workers_per_task", most_workers),
            ("max_tasks_per_worker", most_tasks),
            ("budget", checked_budget(budget, int(per_task.sum()))),
            ("min_workers_per_task", checked_minimums(min_workers_per_task, per_task, tasks)),
            ("forced", None if forced is None else checked_forced(forced, self.table)),
            *class_settings(n_classes, prior, class_prior, confusion, quality),
            *money_settings(cost, money, group, workers),
            *common_error_settings(common_error, error_shares, n_classes),
        ):
            object.__setattr__(self, name, value)
        refuse_forced_beyond_caps(self)
        refuse_forced_beyond_budget(self)
        refuse_minimums_beyond_caps(self)
        refuse_minimums_beyond_budget(self)
        if not self.is_table:
            refuse_minimums_of_excluded(self)
        refuse_minimums_beyond_workers(self)
        if self.is_table:
            refuse_impossible(self)

    def __repr__(self) -> str:
        return f"Plan({self.quality!r}, budget={self.budget})"

    @cached_property
    def model(self) -> AnswerModel | None:
        """Model of the answers of workers, given the seeming class of a task.

        None for two classes without confusion matrices and, if errors are common, of equal shares;
        and of a crowd in factors, of which only parts are a table.
        """
        return answers_of(self) if self.is_table else None

    def accuracy(self, support: Bools) -> Floats:
        """Expected accuracy of the vote on every task, of pairs of shape (workers, tasks)."""
        return accuracy_and_error(self, self.model, support)[0]

    @property
    def answer_gain(self) -> Floats:
        """Gain of one answer over a guess among equal classes, of shape (workers, tasks)."""
        if self.model is None:
            return np.abs(self.table.values - 0.5)
        return self.model.informativeness[self.model.kind]

    def unmet(self, support: Bools) -> tuple[str, ...]:
        """Return the `demands` that an assignment of shape (workers, tasks) does not meet."""
        return self.unmet_by(Assigned.of_support(support))

    def unmet_by(self, pairs: Assigned) -> tuple[str, ...]:
        """Return the `demands` that some pairs do not meet."""
        out = ("min_workers_per_task",) if (pairs.answers < self.min_workers_per_task).any() else ()
        if self.forced is not None and (self.forced & ~pairs.support).any():
            out = (*out, "forced")
        if self.money is not None and not is_paid(self, pairs.support):
            out = (*out, "money")
        if self.group is not None and (per_group(self, pairs.support) > 1).any():
            out = (*out, "group")
        return out

    @cached_property
    def constraint(self) -> TVCS:
        """The caps as a constraint; rows are workers and columns tasks."""
        return self.rest(np.zeros(self.quality.shape, dtype=bool))

    def settle(self, scores: Floats) -> Bools:
        """Fix the forced pairs, and for the minimums the pairs of largest `scores` >= 0.

        One projection onto the room that the forced pairs leave, with the minimums as caps of
        tasks. The number of pairs goes before their scores, so every minimum is met; the sum of the
        squared scores is the largest with which they can be. Returns pairs of shape (workers,
        tasks).
        """
        fixed = np.zeros(self.quality.shape, dtype=bool) if self.forced is None else self.forced
        missing = self.min_workers_per_task - fixed.sum(axis=0)
        if (missing <= 0).all():
            return fixed
        gains = scores**2
        first = 1.0 + 2.0 * sum(self.quality.shape) * gains.max()  # any longer path costs less
        chosen = on_the_missing(self, np.sqrt(first + gains), fixed).support
        return fixed | chosen

    def part(
        self,
        tasks: Integers,
        prior: Floats | None = None,
        chances: Floats | None = None,
    ) -> Plan:
        """Return the plan of some tasks of a crowd in factors as a table of workers x these.

        Caps of workers and the budget are left out, but workers whose cap is 0 may label nothing.
        `prior`, or `chances` of the classes, replaces those of the tasks.
        """
        quality = self.quality.columns(tasks)
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
        """Copy the plan with another budget; only checks that depend on the budget are made."""
        out = self._copy(budget=checked_budget(budget, int(self.room[1].sum())))
        refuse_forced_beyond_budget(out)
        refuse_minimums_beyond_budget(out)
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


def by_name(names: Sequence[str]) -> NDArray[np.intp]:
    """Return the order in which names are sorted."""
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)

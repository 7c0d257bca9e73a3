"""All sets of workers that the tasks of a tiny plan may have, with their accuracies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowd_tvcs.accuracy.many_classes import MAX_OUTCOMES, accuracy_under
from crowd_tvcs.accuracy.model import AnswerModel
from crowd_tvcs.accuracy.two_classes import expected_accuracy
from crowd_tvcs.arrays import Floats
from crowd_tvcs.plan.forced import beyond_forced
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.rations import Rations

MOST_TASKS, MOST_WORKERS = 20, 10
MOST_WORK = 2_000_000_000  # outcomes of all sets of all kinds of tasks


class AllSets:
    """All sets of workers that tasks may have beyond the forced ones, kind by kind.

    A set is a number, bit i for worker i.

    Attributes
    ----------
    caps
        The rest of every worker's cap after the forced pairs, then of the budget.
    kind, first, times
        Kind of every task, the first task of every kind, and the number of its tasks.
    rations, limits
        The rest of the money after the forced pairs; the caps, and that if there is any.
    member, size
        Members of every set, of shape (sets, workers), and their number.
    cost
        The cost of every set, in the unit of `rations`; (0,) without money.
    valid
        Which sets a kind may have, of shape (kinds, sets).
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.forced, self.caps, need, may = beyond_forced(plan)
        self.n, self.m = plan.quality.shape
        self.rations = Rations.of(plan, self.forced)
        self.limits = self.rations.limits(self.caps)
        room = plan.max_workers_per_task - self.forced.sum(axis=0)
        columns = plan.table.values.T if plan.model is None else plan.model.kind.T
        prior = plan.prior[:, None] if plan.model is None else plan.model.prior
        same = np.column_stack([columns, prior, need, room, may, self.forced.T])
        _, first, kind = np.unique(same, axis=0, return_index=True, return_inverse=True)
        self.kind, self.first = kind.reshape(-1), first
        self.times = np.bincount(self.kind)
        self.member = (np.arange(2**self.n)[:, None] >> np.arange(self.n) & 1).astype(bool)
        self.size = self.member.sum(axis=1)
        self.cost = self.member @ self.rations.cost if self.rations.has_money else np.empty(0)
        fits = (self.size >= need[first][:, None]) & (self.size <= room[first][:, None])
        self.valid = fits & ~(~may[first].astype(bool) @ self.member.T)
        self.valid &= self.rations.able(self.member) == self.size  # one of a group

    @property
    def work(self) -> float:
        """How many outcomes all sets have together; infinite if some would be sampled."""
        k = self.plan.n_classes
        voters = self.size + self.forced.sum(axis=0)[self.first][:, None]
        outcomes = np.where(self.valid, float(k) ** voters, 0.0)
        if self.plan.model is not None and outcomes.max(initial=0.0) > MAX_OUTCOMES:
            return np.inf
        return float(outcomes.sum()) * k

    def accuracies(self) -> Floats:
        """Accuracy of every set of every kind of task; -inf where a task may not have it."""
        out = np.full(self.valid.shape, -np.inf)
        plan = self.plan
        for t, j in enumerate(self.first.tolist()):
            sets = np.flatnonzero(self.valid[t])
            support = np.ascontiguousarray((self.member[sets] | self.forced[:, j]).T)
            if plan.model is None:
                quality = np.repeat(plan.table.values[:, [j]], sets.size, axis=1)
                out[t, sets] = expected_accuracy(quality, support, plan.prior[j])
            else:
                out[t, sets] = accuracy_under(_repeated(plan.model, j, sets.size), support)[0]
        return out


def fits(plan: Plan) -> bool:
    """Whether all sets of a plan can be looked at: few tasks and workers, nothing sampled."""
    n, m = plan.quality.shape
    return n <= MOST_WORKERS and m <= MOST_TASKS and AllSets(plan).work <= MOST_WORK


def _repeated(model: AnswerModel, j: int, times: int) -> AnswerModel:
    """Repeat one task of a model."""
    kind = np.repeat(model.kind[:, [j]], times, axis=1)
    return replace(model, kind=kind, prior=np.repeat(model.prior[[j]], times, axis=0))

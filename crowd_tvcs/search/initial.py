"""Cheap assignments that the methods start from: greedy, and the LP with odd sizes."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.arrays import Bools, Integers
from crowd_tvcs.plan.costs import cheapest_that_meets, is_rationed, kept_within
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.kernels.records import TaskSets
from crowd_tvcs.search.relaxation import Relaxation
from tvcs_core import TVCS, project

LEAST_COST = 1e-9  # of a label, to divide by


def quick(relaxation: Relaxation, deadline: Deadline | None = None) -> tuple[str, TaskSets]:
    """Take the better of two cheap assignments, and how it was made.

    For two classes workers then change places: two of them with each other, or one with somebody
    who has room, while the accuracy grows. After the deadline there is but the quicker one, that of
    equal sizes.
    """
    plan, deadline = relaxation.plan, deadline or Deadline.after(None)
    if is_rationed(plan):
        return "the least that must be", relaxation.sets_of(cheapest_that_meets(plan))
    tried = {}
    if not deadline.has_passed:
        tried["greedy on the probability of truth"] = climb(relaxation, exact=False)
    tried["equal odd sizes"] = odd_sizes(relaxation)
    made = {
        name: relaxation.sets_of(met(plan, s) if plan.unmet(s) else s) for name, s in tried.items()
    }
    name = max(made, key=lambda name: float(made[name].accuracy.sum()))
    chosen = made[name]
    if relaxation.voters.is_folded:
        chosen = relaxation.exchange(chosen, deadline)
    return f"the better of two: {name}", chosen


def climb(relaxation: Relaxation, *, exact: bool, start: TaskSets | None = None) -> Bools:
    """Add pair after pair, always the one of the largest gain that the caps still allow.

    With `exact` by gain in expected accuracy, and where all gains are 0 by gain in probability of
    truth; without, by the latter alone. Tasks below their minimum go first. Uses up the budget
    where the caps allow it, but without uninformative workers. Begins with `start` if there is one.
    """
    begin = relaxation.nobody() if start is None else start.copy()
    support = relaxation.climb(begin, exact=exact)
    if start is None and relaxation.plan.unmet(support):
        begin = relaxation.sets_of(met(relaxation.plan, support))
        return climb(relaxation, exact=exact, start=begin)
    return support


def regardless_of_costs(relaxation: Relaxation) -> Bools:
    """Climb without costs and groups, and keep the pairs of most gain per cost that fit."""
    plan = relaxation.plan
    cost = np.ones(relaxation.n_workers) if plan.money is None or plan.cost is None else plan.cost
    support = relaxation.climb(relaxation.nobody(), exact=False)
    return kept_within(plan, support, plan.answer_gain / np.maximum(cost, LEAST_COST)[:, None])


def met(plan: Plan, support: Bools) -> Bools:
    """Meet the minimums and forced pairs, keeping as many pairs of `support` as may be."""
    gain = plan.answer_gain
    if is_rationed(plan):
        return kept_within(plan, support, gain)
    fixed = plan.settle(np.where(support, 2.0, 1.0) + gain)
    kept = project(np.where(support & ~fixed, 1.0 + gain, 0.0), plan.rest(fixed)).support
    return fixed | kept


def odd_sizes(relaxation: Relaxation) -> Bools:
    """Keep the largest sum of qualities with odd numbers of voters, as equal as can be.

    Every task gets the same odd number, and two more as many of them as the budget has room for:
    those whose best workers are the weakest.
    """
    caps = relaxation.candidates.cap
    budget = min(int(relaxation.caps[-1]), int(relaxation.caps[:-1].sum()))
    odd = np.where(caps % 2 == 1, caps, np.maximum(caps - 1, 0))
    equal = max(1, 2 * int((budget / relaxation.n_tasks - 1) // 2) + 1)
    sizes = np.minimum(odd, equal)
    able = np.flatnonzero(odd >= sizes + 2)
    quality = relaxation.candidates.quality
    strength = quality[able, : equal + 2].mean(axis=1) if able.size else np.empty(0)
    spare = max(0, budget - int(sizes.sum())) // 2
    sizes[able[np.argsort(strength, kind="stable")[:spare]]] += 2
    return largest_sum(relaxation.plan, sizes)


def largest_sum(plan: Plan, sizes: Integers) -> Bools:
    """Keep the largest sum of qualities within the caps and these numbers of voters per task."""
    caps = TVCS.matrix(
        plan.quality.shape,
        row_caps=plan.max_tasks_per_worker,
        col_caps=sizes,
        total=plan.budget,
        allowed=plan.table.allowed,
    )
    return project(np.sqrt(plan.answer_gain), caps).support

"""Compute the bound of `prices.csv`, by pricing every task in plain NumPy.

The bound is computed by `crowd_tvcs.verification.pricing*` and here. Of the method it has
only which tasks of a crowd in factors are priced at which priors; any others would prove a bound
as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.factors.grid import lines_of, priors_of
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.verification import pricing_many_classes as multiclass
from crowd_tvcs.verification.pricing import MAX_KNOTS, Priced, knots_of, price_task
from crowd_tvcs.verification.pricing_common_error import (
    scale_of_equals,
    seeming_chances,
    seeming_right,
    weights_and_scale,
)
from crowd_tvcs.verification.side_constraints import (
    groups_of,
    label_prices,
    outside_exclusion_groups,
    worth_of_money,
)

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_LINES = 20  # different tasks of a table that is priced by knots; with more, seldom worth it
PROGRESS_STEP = 100  # priced tasks between two messages of progress
# Factors of the slack, one after the other where pricing takes too long.
SLACK_FACTORS = (1.0, 8.0, 64.0)


class _Line(NamedTuple):
    """Tasks that differ by a number at most, their prior, and the tasks that are priced for them.

    Attributes
    ----------
    tasks, prior
        The tasks, and the prior of each.
    part, columns, at
        The columns of a plan that are priced, and the prior of each, in ascending order. The least
        and the largest are those of the tasks.
    """

    tasks: Integers
    prior: Floats
    part: Plan
    columns: Integers
    at: Floats


def bound_by_prices(
    plan: Plan,
    prices: tuple[Floats, float, float],
    pairs: Assigned,
    values: Floats,
    log: Callable[[str], object],
    *,
    slack: float = 0.0,
    by_knots: bool = False,
) -> float:
    """Return the bound that the prices of workers, budget and money prove.

    It is the value of the caps, the budget and the money at these prices, plus the mean over
    tasks of the best accuracy less prices (weak duality of the Lagrangian relaxation). Tasks that
    are alike are priced once. The best accuracy less prices is convex in the prior, so that of a
    task between two priors is at most on their chord.

    Parameters
    ----------
    plan, pairs, values
        The plan, an assignment and its accuracy of every task. Any other pairs prove the same
        bound, but pricing takes longer.
    prices
        Price of a label of every worker, of any label, and of a unit of money.
    log
        Function that is called with messages of progress.
    slack
        Accuracy of a task by which its price may be off, and 8 and 64 times that, where exact
        pricing takes too long; the bound is that much larger.
    by_knots
        Whether to price by knots (`crowd_tvcs.verification.pricing.knots_of`), which is quick, a
        plan that `may_have_knots`. The bound may be larger than by exact pricing.

    Raises
    ------
    ValueError
        Naming a task that could not be priced exactly.
    """
    m = len(plan.quality.tasks)
    price, groups = m * label_prices(plan, *prices), groups_of(plan)
    net = values - np.bincount(pairs.tasks, price[pairs.workers], m)
    net[~_meets_demands(plan, pairs, groups)] = -np.inf
    worth, most, done = np.empty(m), np.empty(m), 0
    for line in _lines_of_table(plan) if plan.is_table else _lines_of_kinds(plan):
        found = []
        for j, prior in zip(line.columns.tolist(), line.at, strict=True):
            if done and done % PROGRESS_STEP == 0:
                log(f"priced {done} groups of tasks")
            done += 1
            known = float(net[line.tasks[line.prior == prior]].max(initial=-np.inf))
            found.append(_priced(line.part, j, price, groups, known, slack, by_knots))
        best, largest = np.array(found).T
        worth[line.tasks] = np.interp(line.prior, line.at, best)
        most[line.tasks] = largest.max()
    of_workers, of_budget, of_money = prices
    caps = math.fsum(of_workers * plan.max_tasks_per_worker) + of_budget * plan.budget
    caps += worth_of_money(plan, of_money)
    return min(caps + math.fsum(worth) / m, math.fsum(most) / m)


def may_have_knots(plan: Plan) -> bool:
    """Whether to try pricing by knots: of a crowd in factors, or a table of few kinds of tasks."""
    if not plan.is_table:
        return True
    is_limited = plan.forced is not None or plan.group is not None or plan.money is not None
    if plan.confusion is not None or plan.common_error or is_limited:
        return False
    return sum(1 for _ in islice(_lines_of_table(plan), MOST_LINES + 1)) <= MOST_LINES


def _meets_demands(plan: Plan, pairs: Assigned, groups: Integers) -> Bools:
    """Mark tasks whose pairs meet all demands; the value of a set that does not proves nothing."""
    answers = pairs.answers
    out = (plan.min_workers_per_task <= answers) & (answers <= plan.max_workers_per_task)
    out[pairs.tasks[~plan.quality.allows(pairs.workers, pairs.tasks)]] = False
    if plan.forced is not None:
        out &= ~(plan.forced & ~pairs.support).any(axis=0)
    group = groups[pairs.workers]
    key = pairs.tasks[group >= 0] * (groups.max(initial=0) + 1) + group[group >= 0]
    seen, count = np.unique(key, return_counts=True)
    out[seen[count > 1] // (groups.max(initial=0) + 1)] = False
    return out


def _lines_of_table(plan: Plan) -> Iterator[_Line]:
    """Join the tasks of a table that are the same in everything."""
    free = np.ones(plan.quality.shape, bool) if plan.forced is None else ~plan.forced
    allowed = free if plan.table.allowed is None else free & plan.table.allowed
    same: dict[tuple[Any, ...], list[int]] = {}
    for j in range(len(plan.quality.tasks)):
        skills = b"" if plan.confusion is not None else plan.table.values[:, j].tobytes()
        prior = plan.prior[j] if plan.class_prior is None else plan.class_prior[j].tobytes()
        limits = plan.min_workers_per_task[j], plan.max_workers_per_task[j]
        key = (skills, allowed[:, j].tobytes(), free[:, j].tobytes(), *limits, prior)
        same.setdefault(key, []).append(j)
    for tasks in same.values():
        yield _Line(np.array(tasks), np.zeros(len(tasks)), plan, np.array(tasks[:1]), np.zeros(1))


def _lines_of_kinds(plan: Plan) -> Iterator[_Line]:
    """Join the tasks of a crowd in factors that have kind and limits in common, prior by prior."""
    line, member = lines_of(plan)
    prior, group_line, group_prior = priors_of(plan, line)
    if plan.class_prior is None:
        part = plan.part(member[group_line], group_prior)
    else:  # the priors of lines are numbers of rows of chances
        row = np.unique(prior, return_index=True)[1][group_prior.astype(np.int64)]
        part = plan.part(member[group_line], chances=plan.class_prior[row])
    order = np.argsort(line, kind="stable")
    of_tasks = np.split(order, np.cumsum(np.bincount(line))[:-1])
    of_groups = np.split(np.arange(group_line.size), np.cumsum(np.bincount(group_line))[:-1])
    for tasks, columns in zip(of_tasks, of_groups, strict=True):
        at, own = group_prior[columns], prior[tasks]
        if own.min() < at[0] or own.max() > at[-1]:
            raise ValueError("a prior lies beyond those that were priced")
        yield _Line(tasks, own, part, columns, at)


def _priced(
    plan: Plan,
    j: int,
    price: Floats,
    groups: Integers,
    known: float,
    slack: float,
    by_knots: bool,
) -> tuple[float, float]:
    """Return the largest accuracy of task j less prices, or a bit more, and without prices."""
    e, prior = plan.common_error, float(seeming_chances(plan)[j])
    scale = scale_of_equals(e)
    if plan.model is not None:
        matrices, seems = multiclass.chances(plan, j)
        chance, scale = weights_and_scale(seems, multiclass.shares(plan, j), e)
    fixed = np.zeros(price.size, bool) if plan.forced is None else plan.forced[:, j]
    may = ~fixed & outside_exclusion_groups(groups, fixed)
    if plan.table.allowed is not None:
        may &= plan.table.allowed[:, j]
    n_fixed = int(fixed.sum())
    cap = int(plan.max_workers_per_task[j]) - n_fixed
    least = max(0, int(plan.min_workers_per_task[j]) - n_fixed)
    cost = price / scale.factor
    spent = float(cost[fixed].sum())

    if by_knots:
        # Of two classes exact pricing is as quick where the knots are most of the workers.
        many = MAX_KNOTS if plan.model is not None else min(MAX_KNOTS, int(may.sum()) // 2)
        quality = plan.table.values[may, j]
        quality = np.maximum(quality, 1.0 - quality) if plan.model is None else quality
        knots = knots_of(quality, cost[may], many)
        if knots is None:
            return 1.0, 1.0
        if plan.model is not None:
            voters = multiclass.even_matrices(knots[0], plan.n_classes)
            best = multiclass.best_multiset(chance[:, None], voters, knots[1], cap, least)
            return min(1.0, best), 1.0
        priced = price_task(*knots, cap, prior, known, least=least, repeated=True)
        return (priced.value if priced.exact else 1.0), 1.0

    def at_least(value: float) -> Priced:
        """Price the task; sets of at most `value` are not searched for."""
        if plan.model is not None:
            return multiclass.price_task(
                matrices[may], cost[may], cap, chance, value,
                least=least, fixed=matrices[fixed], group=groups[may],
            )  # fmt: skip
        q = seeming_right(plan.table.values[:, j], e)
        return price_task(
            q[may], cost[may], cap, prior, value, least=least, fixed=q[fixed], group=groups[may]
        )

    for more in (0.0, *(slack * factor for factor in SLACK_FACTORS if slack)):
        priced = at_least(scale.back(known + more) + spent)
        if priced.exact:
            return scale.of(priced.value - spent), scale.of(1.0)
    raise ValueError(f"task {plan.quality.tasks[j]!r} could not be priced exactly here")

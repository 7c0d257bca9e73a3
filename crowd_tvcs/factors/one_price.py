"""A bound that needs no search: one price for all labels, without caps of single workers.

At one price for all, the strongest workers of a group are its best set of any size: the answers of
a stronger worker, garbled, are those of a weaker one (Blackwell 1951), and one more answer never
lowers the accuracy. So sizes alone are compared, and the bound takes no time worth a limit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowd_tvcs.arrays import Floats
from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.relaxation import DualBound, Relaxation

MAX_SIZE = 12  # workers of sets whose accuracy is computed outcome by outcome, with two classes
MAX_OUTCOMES = 2**20  # outcomes of such sets with more classes, to bound the time
STEPS = 80  # steps of golden section: .618**80 of the interval is below 1e-16
GOLDEN = (5.0**0.5 - 1.0) / 2.0


def bound_at_one_price(groups: Groups, relaxation: Relaxation) -> DualBound | None:
    """Return the best bound that one price for all labels proves, in units of the sum of tasks.

    The price is the budget's, or where caps of workers allow fewer labels, that of every worker.
    None with more than two classes if a worker is right less often than by chance: the answers of
    no stronger worker replace theirs.
    """
    plan, members = groups.plan, groups.members
    values = members.table.values
    if plan.n_classes > 2 and (values < 1.0 / plan.n_classes).any():
        return None
    sizes, accuracy = _accuracy_by_size(members)
    caps = int(plan.max_tasks_per_worker.sum())
    labels = min(plan.budget, caps)

    def value(price: float) -> Floats:
        return np.asarray((accuracy - price * sizes).max(axis=1))

    def bound(price: float) -> float:
        return float(price * labels + groups.weight @ value(price))

    price = _least(bound, 1.0)
    n = len(plan.quality.workers)
    prices = np.zeros(n + 1)
    if caps < plan.budget:
        prices[:n] = price
    else:
        prices[n] = price
    return DualBound(prices, bound(price), True, relaxation.nobody(), value(price))


def _accuracy_by_size(members: Plan) -> tuple[Floats, Floats]:
    """Return sizes and accuracies of the strongest sets of one task of every group.

    Of shape (groups, sizes). Sets too large to be computed count as one more than the largest that
    is, with accuracy 1; sizes that cannot be have -inf.
    """
    k, cap = members.n_classes, members.max_workers_per_task
    most = MAX_SIZE if k == 2 else int(np.log(MAX_OUTCOMES) / np.log(k))
    allowed = members.table.allowed
    may = np.ones(members.quality.shape, bool) if allowed is None else allowed
    strength = np.where(may, members.answer_gain, -1.0)
    rank = np.argsort(np.argsort(-strength, axis=0, kind="stable"), axis=0, kind="stable")
    largest = np.minimum(cap, may.sum(axis=0))
    top = int(min(most, largest.max(initial=0)))
    accuracy = np.full((cap.size, top + 2), -np.inf)
    for size in range(top + 1):
        is_there = (members.min_workers_per_task <= size) & (size <= largest)
        found = members.accuracy(may & (rank < size))
        accuracy[:, size] = np.where(is_there, found, -np.inf)
    sizes = np.broadcast_to(np.arange(top + 2.0), accuracy.shape).copy()
    sizes[:, top + 1] = np.maximum(top + 1, members.min_workers_per_task)
    accuracy[:, top + 1] = np.where(largest > top, 1.0, -np.inf)
    return sizes, accuracy


def _least(function: Callable[[float], float], high: float) -> float:
    """Return the minimizer of a convex function on [0, high], by golden sections."""
    low = 0.0
    for _ in range(STEPS):
        width = GOLDEN * (high - low)
        if function(high - width) <= function(low + width):
            high = low + width
        else:
            low = high - width
    return min((low, high, 0.0), key=function)

"""The forced pairs of a plan, and the room, needs and pairs that they leave."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.many_classes import accuracy_under
from crowd_tvcs.accuracy.two_classes import accuracy_bounds
from crowd_tvcs.arrays import Bools
from crowd_tvcs.plan.costs import open_pairs
from crowd_tvcs.plan.plan import Plan


def beyond_forced(plan: Plan) -> tuple[NDArray[Any], ...]:
    """Return the forced pairs, the room and the needs that they leave, and the open pairs.

    Room is that of every worker and then of the budget. Open pairs may be chosen: of shape (tasks,
    workers), without workers of the group of a forced worker of the task.
    """
    forced = np.zeros(plan.quality.shape, dtype=bool) if plan.forced is None else plan.forced
    caps = np.append(
        plan.max_tasks_per_worker - forced.sum(axis=1), plan.budget - int(forced.sum())
    ).astype(np.int64)
    need = np.maximum(0, plan.min_workers_per_task - forced.sum(axis=0))
    may = (caps[:-1] > 0) & ~forced.T
    if plan.table.allowed is not None:
        may &= plan.table.allowed.T
    if plan.group is not None:
        may &= open_pairs(plan, forced).T
    return forced, caps, need, may


def exact_teams(plan: Plan) -> Bools:
    """Mark the tasks whose accuracy of the forced workers is neither a lower bound nor a sample."""
    if plan.forced is None:
        return np.ones(len(plan.quality.tasks), dtype=bool)
    if plan.model is not None:
        is_sampled: Bools = accuracy_under(plan.model, plan.forced)[1] > 0.0
        return ~is_sampled
    low, high = accuracy_bounds(plan.table.values, plan.forced, plan.prior)
    return low == high

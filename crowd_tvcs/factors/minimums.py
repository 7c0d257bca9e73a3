"""Teams that meet the minimums of all tasks within the caps of the workers."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.factors.teams import Teams
from crowd_tvcs.plan.minimum_flow import minimum_flow
from crowd_tvcs.plan.plan import Plan


def least_teams(plan: Plan, most: int) -> Teams:
    """Give every task as many workers as it must have, and no more; accuracies are not computed.

    The labels of a class of `crowd_tvcs.plan.minimum_flow` are dealt to its tasks in turn, worker
    by worker, so that none is dealt to a task twice (the wrap-around rule of McNaughton 1959).
    """
    caps = np.append(plan.max_tasks_per_worker, plan.budget).astype(np.int64)
    teams = Teams.nobody(plan.guess, caps, most)
    if not plan.min_workers_per_task.any():
        return teams
    flow = minimum_flow(plan)
    order = np.argsort(flow.class_of, kind="stable")
    ends = np.cumsum(np.bincount(flow.class_of + 1, minlength=flow.need.size + 1))
    for c, least in enumerate(flow.need.tolist()):
        tasks = order[ends[c] : ends[c + 1]]
        dealt = np.repeat(np.arange(flow.labels.shape[0]), flow.labels[:, c])
        rows = dealt.reshape(least, tasks.size).T
        teams.put(tasks, rows, np.full(tasks.size, least), plan.guess[tasks])
    return teams

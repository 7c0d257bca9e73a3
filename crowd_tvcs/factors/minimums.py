"""Teams that meet the minimums of all tasks within the caps of the workers, or why none do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.factors.teams import Teams
from crowd_tvcs.plan.plan import Plan

Integers = NDArray[np.int64]


def least_teams(plan: Plan, most: int) -> Teams:
    """Give every task as many workers as it must have, and no more; accuracies are not computed.

    Tasks that the same workers may label and that need as many are of one class. A flow from
    workers to classes, of at most one label per task, meets all minimums if any teams do; the
    labels of a class are then dealt to its tasks in turn, worker by worker, so that none is dealt
    to a task twice (the wrap-around rule of McNaughton 1959).

    Raises
    ------
    ValueError
        If the caps of the workers do not leave room for all minimums.
    """
    caps = np.append(plan.max_tasks_per_worker, plan.budget).astype(np.int64)
    teams = Teams.nobody(plan.guess, caps, most)
    if not plan.min_workers_per_task.any():
        return teams
    need, may, of_task = _classes(plan)
    flow = _flow(plan, need, may, np.bincount(of_task[of_task >= 0], minlength=need.size))
    order = np.argsort(of_task, kind="stable")
    ends = np.cumsum(np.bincount(of_task + 1, minlength=need.size + 1))
    for c, least in enumerate(need.tolist()):
        tasks = order[ends[c] : ends[c + 1]]
        dealt = np.repeat(np.arange(flow.shape[0]), flow[:, c])
        rows = dealt.reshape(least, tasks.size).T
        teams.put(tasks, rows, np.full(tasks.size, least), plan.guess[tasks])
    return teams


def _classes(plan: Plan) -> tuple[Integers, NDArray[np.bool_], Integers]:
    """Minimum and workers of every class with a minimum, and the class of every task, else -1."""
    table = plan.factors.table
    allowed = np.ones(table.shape, dtype=bool) if table.allowed is None else table.allowed
    same = np.unique(allowed, axis=1, return_inverse=True)[1].reshape(-1)
    pairs = np.column_stack([same[plan.factors.kind], plan.min_workers_per_task])
    known, inverse = np.unique(pairs, axis=0, return_inverse=True)
    has_need = known[:, 1] > 0
    number = np.where(has_need, np.cumsum(has_need) - 1, -1)
    first = np.unique(same, return_index=True)[1]
    return known[has_need, 1], allowed[:, first[known[has_need, 0]]], number[inverse.reshape(-1)]


def _flow(plan: Plan, need: Integers, may: NDArray[np.bool_], count: Integers) -> Integers:
    """How many tasks of every class each worker labels, of shape (workers, classes)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    n, k = may.shape
    worker, of = np.nonzero(may)
    rows = np.concatenate([np.zeros(n, int), 1 + worker, 1 + n + np.arange(k)])
    columns = np.concatenate([1 + np.arange(n), 1 + n + of, np.full(k, 1 + n + k)])
    capacity = np.concatenate([plan.max_tasks_per_worker, count[of], need * count])
    size = n + k + 2
    graph = coo_array((capacity.astype(np.int32), (rows, columns)), shape=(size, size)).tocsr()
    found = maximum_flow(graph, 0, size - 1)
    asked = int((need * count).sum())
    if found.flow_value < asked:
        raise ValueError(
            f"min_workers_per_task asks for {asked} answers, but within max_tasks_per_worker and "
            f"the pairs of the table of kinds tasks can get {found.flow_value} of them: "
            f"{asked - found.flow_value} too few"
        )
    return np.maximum(0, found.flow[1 : n + 1, n + 1 : n + 1 + k].toarray()).astype(np.int64)

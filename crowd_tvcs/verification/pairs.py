"""The pairs of an assignment.csv, and the caps and demands that they break."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowd_tvcs.answers.coded import encode_columns, first_duplicate
from crowd_tvcs.answers.columns import open_exactly
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.verification.side_constraints import violated_side_constraints

LISTED = 10  # violations of one sort


def read_pairs(path: Path, plan: Plan, violations: list[str]) -> Assigned:
    """Read the pairs; a name that is unknown or a pair that is there twice is a violation."""
    table = open_exactly(path, "worker", "task")
    if len(table.rows) < 2:
        return Assigned.of(np.empty(0, int), np.empty(0, int), plan.quality.shape)
    places = []
    kinds = (("worker", plan.quality.workers), ("task", plan.quality.tasks))
    for (kind, names), coded in zip(kinds, encode_columns(table, [0, 1]), strict=True):
        place = {name: i for i, name in enumerate(names)}
        at = np.array([place.get(name, -1) for name in coded.names], dtype=np.int64)
        for code in np.flatnonzero(at < 0)[:LISTED].tolist():
            line = table.lines[int(np.argmax(coded.codes == code)) + 1]
            violations.append(f"line {line}: {coded.names[code]!r} is no {kind} of the tables")
        places.append(at[coded.codes])
    is_known = (places[0] >= 0) & (places[1] >= 0)
    workers, tasks = places[0][is_known], places[1][is_known]
    keys = tasks * len(plan.quality.workers) + workers
    if (again := first_duplicate(keys)) is not None:
        i, j = int(workers[again[0]]), int(tasks[again[0]])
        line = table.lines[int(np.flatnonzero(is_known)[again[0]]) + 1]
        pair = f"{plan.quality.workers[i]!r} has {plan.quality.tasks[j]!r}"
        violations.append(f"line {line}: {pair} twice")
    keys = np.unique(keys)
    n = len(plan.quality.workers)
    return Assigned.of(keys // n, keys % n, plan.quality.shape)


def broken(plan: Plan, pairs: Assigned) -> list[str]:
    """List which caps and demands the pairs break, and by how much."""
    out = []
    workers, tasks = plan.quality.workers, plan.quality.tasks
    for name, kind, names, count, caps in (
        ("max_tasks_per_worker", "worker", workers, pairs.loads, plan.max_tasks_per_worker),
        ("max_workers_per_task", "task", tasks, pairs.answers, plan.max_workers_per_task),
    ):
        for i in np.flatnonzero(count > caps)[:LISTED].tolist():
            out.append(f"{name}: {kind} {names[i]!r} has {count[i]}, the cap is {caps[i]}")
    if pairs.size > plan.budget:
        out.append(f"budget: {pairs.size} answers, the budget is {plan.budget}")
    wrong = ~plan.quality.allows(pairs.workers, pairs.tasks)
    for p in np.flatnonzero(wrong)[:LISTED].tolist():
        pair = f"{workers[int(pairs.workers[p])]!r} on {tasks[int(pairs.tasks[p])]!r}"
        out.append(f"a pair that is not allowed: {pair}")
    least = plan.min_workers_per_task
    for j in np.flatnonzero(pairs.answers < least)[:LISTED].tolist():
        out.append(f"min_workers: task {tasks[j]!r} has {pairs.answers[j]}, must have {least[j]}")
    if plan.forced is not None:
        for i, j in np.argwhere(plan.forced & ~pairs.support)[:LISTED].tolist():
            out.append(f"a forced pair is missing: {workers[i]!r} on {tasks[j]!r}")
    return out + (violated_side_constraints(plan, pairs.support) if plan.is_table else [])

"""Refusals of demands that no assignment can meet, beyond caps, the budget or the workers."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.answers.factors import CrowdQuality
from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.plan.minimum_flow import minimum_flow
from crowd_tvcs.plan.terms import Terms
from tvcs_core import TVCS, Projection, project

LISTED = 3  # names of tasks in a message


def refuse_table_options(quality: CrowdQuality, **given: object) -> None:
    """Refuse arguments of a crowd in factors that only a table of workers x tasks can have."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is for a table of workers x tasks, found {quality!r}")


def refuse_forced_beyond_caps(terms: Terms) -> None:
    """Refuse forced pairs of which a worker or a task has more than its cap."""
    if terms.forced is None:
        return
    for cap, caps, count, kind, names in (
        (
            "max_tasks_per_worker",
            terms.max_tasks_per_worker,
            terms.forced.sum(axis=1),
            "worker",
            terms.quality.workers,
        ),
        (
            "max_workers_per_task",
            terms.max_workers_per_task,
            terms.forced.sum(axis=0),
            "task",
            terms.quality.tasks,
        ),
    ):
        over = count - caps
        if (over > 0).any():
            i = int(np.argmax(over))
            raise ValueError(
                f"forced pairs break {cap}: {kind} {names[i]!r} has {count[i]} of them and a "
                f"cap of {caps[i]}, {over[i]} too many"
            )


def refuse_forced_beyond_budget(terms: Terms) -> None:
    """Refuse more forced pairs than the budget has labels."""
    total = 0 if terms.forced is None else int(terms.forced.sum())
    if total > terms.budget:
        raise ValueError(
            f"forced pairs break the budget: {total} pairs, a budget of {terms.budget}, "
            f"{total - terms.budget} too many"
        )


def refuse_minimums_beyond_caps(terms: Terms) -> None:
    """Refuse a minimum above the cap of its task."""
    least, tasks = terms.min_workers_per_task, terms.quality.tasks
    over = least - terms.max_workers_per_task
    if (over > 0).any():
        j = int(np.argmax(over))
        raise ValueError(
            f"min_workers_per_task of task {tasks[j]!r} is {least[j]}, but at most "
            f"{terms.max_workers_per_task[j]} may label it: {over[j]} too few"
        )


def refuse_minimums_beyond_budget(terms: Terms) -> None:
    """Refuse minimums and forced pairs that ask for more than the budget."""
    total = terms.least_budget if terms.min_workers_per_task.any() else 0
    if total > terms.budget:
        raise ValueError(
            f"the budget of {terms.budget} is below the {total} answers that "
            f"min_workers_per_task {'' if terms.forced is None else 'and forced pairs '}ask "
            f"for: {total - terms.budget} too few"
        )


def refuse_minimums_of_excluded(terms: Terms) -> None:
    """Refuse minimums of tasks of which single pairs are excluded."""
    of_task = terms.factors.excluded // len(terms.quality.workers)
    wrong = of_task[terms.min_workers_per_task[of_task] > 0]
    if wrong.size:
        j = int(wrong[0])
        raise ValueError(
            f"min_workers_per_task must be 0 of tasks of excluded pairs, but that of task "
            f"{terms.quality.tasks[j]!r} is {terms.min_workers_per_task[j]}"
        )


def refuse_minimums_beyond_workers(terms: Terms) -> None:
    """Refuse minimums of tasks whose workers have too few labels together (Hall)."""
    if not terms.min_workers_per_task.any():
        return
    flow = minimum_flow(terms)
    short = np.append(flow.short, False)[flow.class_of]  # class -1 needs nothing
    if not short.any():
        return
    names = [terms.quality.tasks[j] for j in np.flatnonzero(short)[:LISTED]]
    more = f" and {short.sum() - LISTED} more" if short.sum() > LISTED else ""
    asked = int(flow.need[flow.class_of[short]].sum())
    raise ValueError(
        f"min_workers_per_task asks for {asked} {'' if terms.forced is None else 'more '}answers "
        f"on tasks {', '.join(map(repr, names))}{more}, but within max_tasks_per_worker they can "
        f"get {flow.able}: {asked - flow.able} too few; lower these minimums, or raise the caps of "
        "workers or add workers who may label them"
    )


def on_the_missing(terms: Terms, scores: Floats, fixed: Bools) -> Projection:
    """Project onto the labels that the minimums lack beyond `fixed`, without the budget."""
    rest = terms.rest(fixed)
    missing = np.maximum(0, terms.min_workers_per_task - fixed.sum(axis=0))
    allowed = rest.allowed
    caps = TVCS.matrix(
        terms.quality.shape, row_caps=rest.row_caps, col_caps=missing, allowed=allowed
    )
    return project(scores, caps)

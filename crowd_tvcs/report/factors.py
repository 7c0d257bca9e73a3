"""Report of a factored plan: its size does not grow with the number of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.report.assignment import LEAST_SURE, facts_of
from tvcs_core.files.page import fill_page

MAX_KINDS = 40  # shown


def render(assignment: Assignment, *, source: str, command: str, caps: Mapping[str, Any]) -> str:
    """Return the report as HTML; see `crowd_tvcs.report.assignment.render`.

    It lists the tasks and kinds of lowest expected accuracy, and counts all others.
    """
    return fill_page(
        **facts_of(assignment, source, command, caps),
        guess=float(assignment.plan.guess.mean()),
        least_sure=_least_sure(assignment),
        duals=None,
        curve=None,
        kinds=_kinds(assignment),
        all_tasks="accuracy.csv",
        measured=(),
    )


def _kinds(assignment: Assignment) -> dict[str, Any]:
    kinds = assignment.kinds()
    least = sorted(kinds.items(), key=lambda item: (item[1]["expected_accuracy"], item[0]))
    return {"all": len(kinds), "shown": least[:MAX_KINDS]}


def _least_sure(assignment: Assignment) -> list[dict[str, Any]]:
    """Return the tasks of lowest expected accuracy, with their workers and qualities."""
    plan, accuracy = assignment.plan, assignment.task_accuracy
    pairs, out = assignment.assigned, []
    last = np.partition(accuracy, min(LEAST_SURE, accuracy.size) - 1)[
        min(LEAST_SURE, accuracy.size) - 1
    ]
    weak = np.flatnonzero(accuracy <= last).tolist()
    for j in sorted(weak, key=lambda j: (accuracy[j], plan.quality.tasks[j]))[:LEAST_SURE]:
        at = slice(*np.searchsorted(pairs.tasks, [j, j + 1]))
        quality = plan.quality.columns(np.array([j])).values[:, 0]
        members = sorted(pairs.workers[at].tolist(), key=lambda i: -quality[i])
        who = ", ".join(f"{plan.quality.workers[i]} ({quality[i]:.2f})" for i in members)
        out.append({"task": plan.quality.tasks[j], "accuracy": float(accuracy[j]), "who": who})
    return out

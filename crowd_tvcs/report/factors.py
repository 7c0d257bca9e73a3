"""The report of a plan in factors: its size does not grow with the number of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from crowd_tvcs.factors.assignment import FactoredAssignment
from crowd_tvcs.methods import METHODS
from crowd_tvcs.report.assignment import (
    LEAST_SURE,
    MOST_BARS,
    accuracy_bars,
    counts,
    dearest,
    load_bars,
)
from tvcs_core.files.page import fill_page

MOST_KINDS = 40


def render(
    assignment: FactoredAssignment, *, source: str, command: str, caps: Mapping[str, Any]
) -> str:
    """Write the report as HTML; see `crowd_tvcs.report.assignment.render`.

    It has the tasks and the kinds that are least sure, and counts of all others.
    """
    plan = assignment.plan
    return fill_page(
        "crowd_tvcs.report",
        "assignment.html.j2",
        title=f"Who labels what: {source}",
        source=source,
        command=command,
        caps=caps,
        assignment=assignment,
        method_name=METHODS[assignment.method].about,
        n_workers=len(plan.workers),
        n_tasks=len(plan.tasks),
        guess=float(plan.guess.mean()),
        binding=assignment.binding(),
        idle=int((assignment.loads == 0).sum()),
        unanswered=int((assignment.answers == 0).sum()),
        names_loads=len(plan.workers) <= MOST_BARS,
        load_bars=load_bars(plan.workers, assignment.loads),
        answer_bars=counts(assignment.answers),
        accuracy_bars=accuracy_bars(assignment.task_accuracy),
        least_sure=_least_sure(assignment),
        n_priced=_n_priced(assignment),
        duals=None,
        prices=_prices(assignment),
        curve=None,
        kinds=_kinds(assignment),
        all_tasks="accuracy.csv",
        measured=(),
    )


def _kinds(assignment: FactoredAssignment) -> dict[str, Any]:
    kinds = assignment.kinds()
    least = sorted(kinds.items(), key=lambda item: (item[1]["expected_accuracy"], item[0]))
    return {"all": len(kinds), "shown": least[:MOST_KINDS]}


def _least_sure(assignment: FactoredAssignment) -> list[dict[str, Any]]:
    """Tasks of lowest expected accuracy, with who labels them and how good they are."""
    plan, accuracy = assignment.plan, assignment.task_accuracy
    table, out = plan.factors.table, []
    last = np.partition(accuracy, min(LEAST_SURE, accuracy.size) - 1)[
        min(LEAST_SURE, accuracy.size) - 1
    ]
    weak = np.flatnonzero(accuracy <= last).tolist()
    for j in sorted(weak, key=lambda j: (accuracy[j], plan.tasks[j]))[:LEAST_SURE]:
        at = slice(*np.searchsorted(assignment.tasks, [j, j + 1]))
        quality = table.values[:, plan.factors.kind[j]]
        members = sorted(assignment.workers[at].tolist(), key=lambda i: -quality[i])
        who = ", ".join(f"{plan.workers[i]} ({quality[i]:.2f})" for i in members)
        out.append({"task": plan.tasks[j], "accuracy": float(accuracy[j]), "who": who})
    return out


def _n_priced(assignment: FactoredAssignment) -> int:
    proof = assignment.certificate
    return 0 if proof is None else int((proof.prices > 0).sum())


def _prices(assignment: FactoredAssignment) -> dict[str, Any] | None:
    proof, m = assignment.certificate, len(assignment.plan.tasks)
    if proof is None:
        return None
    workers = dearest(assignment.plan.workers, proof.prices)
    return {
        "budget": proof.budget_price,
        "budget_tasks": proof.budget_price * m,
        "money": None,
        "workers": [(name, price, price * m) for name, price in workers],
    }

"""The report for the operator: one HTML file that opens without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.methods import METHODS
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.skills.dependence import Claimed
from crowd_tvcs.what_if import BudgetPoint, steps
from tvcs_core.files.page import Axes, fill_page, round_numbers

LEAST_SURE = 12
MOST_BARS = 60
PRICES = 8
BINS = 20


def render(
    assignment: Assignment,
    *,
    source: str,
    command: str,
    caps: Mapping[str, Any],
    curve: tuple[str, Sequence[BudgetPoint]] | None = None,
    measured: Sequence[Claimed] = (),
) -> str:
    """Write the report of `assignment` as HTML.

    Parameters
    ----------
    assignment
        What to report.
    source
        Name of the quality file.
    command
        The command line that made it.
    caps
        `max_workers_per_task`, `max_tasks_per_worker` and `budget` as given, None for no cap, and
        the names of the tables `workers`, `tasks`, `forced` and `forbidden` if there are any.
    curve
        What other budgets buy, and by which method; None to leave the curve out.
    measured
        What votes claim of the gold tasks behind the skills and what they reach, if that is known.

    Returns
    -------
    str
        The page. Names of workers and tasks are escaped; it loads nothing and runs no script.
    """
    plan = assignment.plan
    return fill_page(
        **facts_of(assignment, source, command, caps),
        guess=float(plan.accuracy(np.zeros_like(assignment.support)).mean()),
        least_sure=_least_sure(assignment),
        duals=_duals(assignment),
        curve=None if curve is None else _curve(assignment, *curve),
        kinds=None,
        all_tasks="summary.json",
        measured=measured,
    )


def facts_of(
    assignment: Assignment, source: str, command: str, caps: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the page and what it has of any assignment; see `render`."""
    method, (workers, tasks) = assignment.method, assignment.names
    return {
        "package": "crowd_tvcs.report",
        "template": "assignment.html.j2",
        "title": f"Who labels what: {source}",
        "source": source,
        "command": command,
        "caps": caps,
        "assignment": assignment,
        "method_name": METHODS[method].about if method in METHODS else method,
        "n_workers": len(workers),
        "n_tasks": len(tasks),
        "binding": assignment.binding(),
        "idle": int((assignment.loads == 0).sum()),
        "unanswered": int((assignment.answers == 0).sum()),
        "names_loads": len(workers) <= MOST_BARS,
        "load_bars": load_bars(workers, assignment.loads),
        "answer_bars": counts(assignment.answers),
        "accuracy_bars": accuracy_bars(assignment.task_accuracy),
        "n_priced": 0 if assignment.prices is None else int((assignment.prices > 0).sum()),
        "prices": _prices(assignment),
    }


def load_bars(workers: Sequence[str], loads: NDArray[np.int64]) -> list[tuple[str, int]]:
    """Tasks of every worker, busiest first; of many workers, how many have which load."""
    if len(workers) > MOST_BARS:
        return counts(loads)
    pairs = zip(workers, loads.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def counts(values: NDArray[np.int64]) -> list[tuple[str, int]]:
    """How often each value occurs, from the smallest to the largest, binned if there are many."""
    low, high = int(values.min()), int(values.max())
    width = -(-(high - low + 1) // MOST_BARS)
    out = []
    for first in range(low, high + 1, width):
        last = first + width - 1
        label = str(first) if width == 1 else f"{first}-{last}"
        out.append((label, int(((values >= first) & (values <= last)).sum())))
    return out


def accuracy_bars(accuracy: NDArray[np.float64]) -> list[tuple[str, int]]:
    """Count tasks by expected accuracy."""
    low = min(1.0 - 1.0 / BINS, float(np.floor(accuracy.min() * BINS) / BINS))
    counts, edges = np.histogram(accuracy, bins=BINS, range=(low, 1.0))
    return [(f"{left:.3g}", int(count)) for left, count in zip(edges[:-1], counts, strict=True)]


def _least_sure(assignment: Assignment) -> list[dict[str, Any]]:
    """Tasks of lowest expected accuracy, with who labels them and how good they are."""
    quality = assignment.plan.table
    accuracy = assignment.task_accuracy
    order = sorted(range(len(quality.tasks)), key=lambda j: (accuracy[j], quality.tasks[j]))
    out = []
    for j in order[:LEAST_SURE]:
        members = sorted(
            np.flatnonzero(assignment.support[:, j]), key=lambda i: -quality.values[i, j]
        )
        who = ", ".join(f"{quality.workers[i]} ({quality.values[i, j]:.2f})" for i in members)
        out.append({"task": quality.tasks[j], "accuracy": float(accuracy[j]), "who": who})
    return out


def _prices(assignment: Assignment) -> dict[str, Any] | None:
    """The dearest workers, in points of mean expected accuracy, where a bound is proved."""
    if assignment.prices is None or assignment.budget_price is None:
        return None
    names, tasks = assignment.names
    workers = dearest(names, assignment.prices)
    return {
        "budget": assignment.budget_price,
        "budget_tasks": assignment.budget_price * len(tasks),
        "money": assignment.money_price,
        "workers": [(name, price, price * len(tasks)) for name, price in workers],
    }


def _curve(assignment: Assignment, method: str, offers: Sequence[BudgetPoint]) -> dict[str, Any]:
    """Places of the curve's points, of the lines, and of this plan if its method made the curve.

    A plan of another method beside the line would say that budgets differ where methods do.
    """
    points = [(offer.budget, offer.expected_accuracy) for offer in offers]
    own = [(assignment.size, assignment.expected_accuracy)] if method == assignment.method else []
    right = max(x for x, _ in [*points, *own, (1, 0.0)])
    heights = [y for _, y in [*points, *own]]
    lines = round_numbers(min(heights), max(heights))
    axes = Axes(right, lines[0], lines[-1])

    def placed(at: Sequence[tuple[int, float]]) -> list[tuple[float, float, int, float]]:
        return [(axes.across(x), axes.down(y), x, y) for x, y in at]

    return axes.drawn(
        [(y, f"{100 * y:.4g} %") for y in lines],
        [(x, f"{x:g}") for x in round_numbers(0, right) if x <= right],
    ) | {"method": method, "points": placed(points), "found": placed(own), "steps": steps(offers)}


def _duals(assignment: Assignment) -> dict[str, Any] | None:
    """The dearest caps, where duals mean something to an operator."""
    duals = assignment.duals
    if duals is None or not duals.is_price:
        return None
    quality = assignment.plan.table
    return {
        "unit": duals.unit,
        "budget": duals.budget,
        "workers": dearest(quality.workers, duals.workers),
        "tasks": dearest(quality.tasks, duals.tasks),
    }


def dearest(names: tuple[str, ...], prices: NDArray[np.float64]) -> list[tuple[str, float]]:
    """Return the names of the largest prices above 0, and these."""
    pairs = sorted(zip(names, prices.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    return [(name, price) for name, price in pairs[:PRICES] if price > 0]

"""Report of an assignment: one HTML file, readable offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.methods import METHODS
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.skills.dependence import CalibrationBin
from crowd_tvcs.what_if import BudgetPoint, steps
from tvcs_core.files.page import Axes, fill_page, round_numbers

LEAST_CONFIDENT = 12  # tasks shown
MAX_BARS = 60  # of a chart 920 pixels wide
PRICES = 8  # shown
BINS = 20  # of expected accuracy
MAX_KINDS = 40  # shown


def render(
    assignment: Assignment,
    *,
    source: str,
    command: str,
    caps: Mapping[str, Any],
    curve: tuple[str, Sequence[BudgetPoint]] | None = None,
    measured: Sequence[CalibrationBin] = (),
) -> str:
    """Return the report of `assignment` as HTML.

    Given kinds of tasks, it lists the tasks and kinds of lowest expected accuracy and counts all
    others: its size does not grow with the number of tasks.

    Parameters
    ----------
    assignment
        The assignment.
    source
        Name of the quality file.
    command
        Command line of the run.
    caps
        `max_workers_per_task`, `max_tasks_per_worker` and `budget` as given, None for no cap, and
        the names of the tables `workers`, `tasks`, `forced` and `forbidden` if there are any.
    curve
        Method and points of other budgets; None if the time limit left none for them.
    measured
        Calibration of votes on the gold tasks behind the skills, if known.

    Returns
    -------
    str
        The page. Names of workers and tasks are escaped; it loads nothing and runs no script.
    """
    plan, method, (workers, tasks) = assignment.plan, assignment.method, assignment.names
    return fill_page(
        package="crowd_tvcs.report",
        template="assignment.html.j2",
        title=f"Assignment of tasks: {source}",
        source=source,
        command=command,
        caps=caps,
        assignment=assignment,
        method_name=METHODS[method].about if method in METHODS else method,
        n_workers=len(workers),
        n_tasks=len(tasks),
        binding=assignment.binding(),
        idle=int((assignment.loads == 0).sum()),
        unanswered=int((assignment.answers == 0).sum()),
        names_loads=len(workers) <= MAX_BARS,
        load_bars=load_bars(workers, assignment.loads),
        answer_bars=counts(assignment.answers),
        accuracy_bars=accuracy_bars(assignment.task_accuracy),
        n_priced=0 if assignment.prices is None else int((assignment.prices > 0).sum()),
        prices=_prices(assignment),
        guess=float(plan.guess.mean()),
        least_confident=_least_sure(assignment),
        duals=_duals(assignment),
        curve=None if curve is None else _curve(assignment, *curve),
        kinds=None if plan.is_table else _kinds(assignment),
        all_tasks="summary.json" if plan.is_table else "accuracy.csv",
        measured=measured,
    )


def load_bars(workers: Sequence[str], loads: Integers) -> list[tuple[str, int]]:
    """Return the tasks of every worker, busiest first; for many workers a histogram."""
    if len(workers) > MAX_BARS:
        return counts(loads)
    pairs = zip(workers, loads.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def counts(values: Integers) -> list[tuple[str, int]]:
    """Return the frequency of each value in ascending order, binned if there are many."""
    low, high = int(values.min()), int(values.max())
    width = -(-(high - low + 1) // MAX_BARS)
    out = []
    for first in range(low, high + 1, width):
        last = first + width - 1
        label = str(first) if width == 1 else f"{first}-{last}"
        out.append((label, int(((values >= first) & (values <= last)).sum())))
    return out


def accuracy_bars(accuracy: Floats) -> list[tuple[str, int]]:
    """Return the histogram of tasks by expected accuracy."""
    low = min(1.0 - 1.0 / BINS, float(np.floor(accuracy.min() * BINS) / BINS))
    counts, edges = np.histogram(accuracy, bins=BINS, range=(low, 1.0))
    return [(f"{left:.3g}", int(count)) for left, count in zip(edges[:-1], counts, strict=True)]


def _kinds(assignment: Assignment) -> dict[str, Any]:
    kinds = assignment.kinds()
    least = sorted(kinds.items(), key=lambda item: (item[1]["expected_accuracy"], item[0]))
    return {"all": len(kinds), "shown": least[:MAX_KINDS]}


def _least_sure(assignment: Assignment) -> list[dict[str, Any]]:
    """Return the tasks of lowest expected accuracy, with their workers and qualities."""
    plan, accuracy = assignment.plan, assignment.task_accuracy
    pairs, out = assignment.assigned, []
    last = np.partition(accuracy, min(LEAST_CONFIDENT, accuracy.size) - 1)[
        min(LEAST_CONFIDENT, accuracy.size) - 1
    ]
    weak = np.flatnonzero(accuracy <= last).tolist()
    for j in sorted(weak, key=lambda j: (accuracy[j], plan.quality.tasks[j]))[:LEAST_CONFIDENT]:
        at = slice(*np.searchsorted(pairs.tasks, [j, j + 1]))
        quality = plan.quality.columns(np.array([j])).values[:, 0]
        members = sorted(pairs.workers[at].tolist(), key=lambda i: -quality[i])
        who = ", ".join(f"{plan.quality.workers[i]} ({quality[i]:.2f})" for i in members)
        out.append({"task": plan.quality.tasks[j], "accuracy": float(accuracy[j]), "who": who})
    return out


def _prices(assignment: Assignment) -> dict[str, Any] | None:
    """Return the highest worker prices, in points of expected accuracy, given a bound."""
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
    """Return positions of the curve's points and grid lines, and of this plan.

    This plan is drawn only if its method made the curve; otherwise the difference of the methods
    would look like one of the budgets.
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
    """Return the highest cap prices, if duals are meaningful to an operator."""
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


def dearest(names: tuple[str, ...], prices: Floats) -> list[tuple[str, float]]:
    """Return the names of the largest prices above 0, and these."""
    pairs = sorted(zip(names, prices.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    return [(name, price) for name, price in pairs[:PRICES] if price > 0]

"""The report for the operator: one HTML file that opens without a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.assignment import Assignment

LEAST_SURE = 12
MOST_BARS = 60
PRICES = 8
BINS = 20

METHOD_NAMES = {
    "tvcs": "stochastic iterative hard thresholding on the expected accuracy",
    "qlp": "the largest sum of qualities",
    "random": "random pairs within the caps",
}


def render(assignment: Assignment, *, source: str, command: str, caps: Mapping[str, Any]) -> str:
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
        `max_workers_per_task`, `max_tasks_per_worker` and `budget` as given, None for no cap.

    Returns
    -------
    str
        The page. Names of workers and tasks are escaped; it loads nothing and runs no script.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("crowd_tvcs"), PackageLoader("tvcs_core")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        title=f"Who labels what: {source}",
        source=source,
        command=command,
        caps=caps,
        assignment=assignment,
        method_name=METHOD_NAMES.get(assignment.method, assignment.method),
        n_workers=len(assignment.plan.quality.workers),
        n_tasks=len(assignment.plan.quality.tasks),
        guess=float(np.maximum(assignment.plan.prior, 1 - assignment.plan.prior).mean()),
        binding=assignment.binding(),
        idle=int((assignment.loads == 0).sum()),
        unanswered=int((assignment.answers == 0).sum()),
        names_loads=len(assignment.plan.quality.workers) <= MOST_BARS,
        load_bars=_load_bars(assignment),
        answer_bars=_counts(assignment.answers),
        accuracy_bars=_accuracy_bars(assignment.task_accuracy),
        least_sure=_least_sure(assignment),
        prices=_prices(assignment),
    )


def _load_bars(assignment: Assignment) -> list[tuple[str, int]]:
    """Tasks of every worker, busiest first; of many workers, how many have which load."""
    if len(assignment.plan.quality.workers) > MOST_BARS:
        return _counts(assignment.loads)
    pairs = zip(assignment.plan.quality.workers, assignment.loads.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def _counts(values: NDArray[np.int64]) -> list[tuple[str, int]]:
    """How often each value occurs, from the smallest to the largest, binned if there are many."""
    low, high = int(values.min()), int(values.max())
    width = -(-(high - low + 1) // MOST_BARS)
    out = []
    for first in range(low, high + 1, width):
        last = first + width - 1
        label = str(first) if width == 1 else f"{first}-{last}"
        out.append((label, int(((values >= first) & (values <= last)).sum())))
    return out


def _accuracy_bars(accuracy: NDArray[np.float64]) -> list[tuple[str, int]]:
    low = min(0.5, float(np.floor(accuracy.min() * BINS) / BINS))
    counts, edges = np.histogram(accuracy, bins=BINS, range=(low, 1.0))
    return [(f"{left:.3g}", int(count)) for left, count in zip(edges[:-1], counts, strict=True)]


def _least_sure(assignment: Assignment) -> list[dict[str, Any]]:
    """Tasks of lowest expected accuracy, with who labels them and how good he is."""
    quality = assignment.plan.quality
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
    """The dearest caps, where duals mean something to an operator."""
    duals = assignment.duals
    if duals is None or not duals.is_price:
        return None
    quality = assignment.plan.quality
    return {
        "unit": duals.unit,
        "budget": duals.budget,
        "workers": _dearest(quality.workers, duals.workers),
        "tasks": _dearest(quality.tasks, duals.tasks),
    }


def _dearest(names: tuple[str, ...], prices: NDArray[np.float64]) -> list[tuple[str, float]]:
    pairs = sorted(zip(names, prices.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    return [(name, price) for name, price in pairs[:PRICES] if price > 0]

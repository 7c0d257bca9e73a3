"""Every file of a plan in factors beside what it must be; see `crowd_tvcs.verification.factors`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import CERTIFIED_WITHIN, gap_between, is_certified, usable
from crowd_tvcs.verification.claims import LARGE_ERROR, uncertified
from crowd_tvcs.verification.factors import (
    accuracies,
    bound_by_prices,
    broken,
    read_accuracies,
    read_pairs,
)
from crowd_tvcs.verification.rations import TOLERANCE
from crowd_tvcs.verification.result import Verification
from crowd_tvcs.verification.written import (
    ACCURACY,
    PRICES,
    Record,
    is_count,
    is_number,
    read_prices,
)
from tvcs_core.files.shown import shown

SLACK = 1e-5  # of the error, where exact pricing takes too long
OWN = ("groups", "rounds")  # what the search says of itself

Floats = NDArray[np.float64]
Wanted = Iterator[tuple[str, bool, object]]  # a field, whether it holds, what was recomputed


def verify_factors(
    out: Verification,
    folder: Path,
    record: Record,
    plan: Plan,
    summary: Mapping[str, Any],
    say: Callable[[str], object],
) -> None:
    """Fill in what was found of a plan in factors: violations, accuracy and bound."""
    pairs = read_pairs(folder / "assignment.csv", plan, out.violations)
    out.violations += broken(plan, pairs)
    values, least, most = accuracies(plan, pairs)
    out.accuracy = math.fsum(values) / values.size
    out.violations += uncertified(summary)
    out.violations += _wrong_tasks(folder / ACCURACY, plan, pairs, (least, most))
    if (summary.get("bound") is not None) != (PRICES in record.outputs):
        out.violations.append(f"bound: summary.json says {shown(summary.get('bound'))}")
    elif PRICES in record.outputs:
        prices = read_prices(folder / PRICES, plan.quality.workers, None, summary)
        slack = SLACK * (1.0 - out.accuracy)
        try:
            found = bound_by_prices(plan, prices[0], prices[1], pairs, values, slack, say)
            out.bound = usable(found)
        except ValueError as error:
            out.violations.append(str(error))
    wanted = list(_wanted(summary, plan, pairs, (values, least, most), out.bound))
    names = {name for name, _, _ in wanted} | set(OWN)
    out.violations += [f"{name}: is missing in summary.json" for name in names - set(summary)]
    out.violations += [f"{shown(n)}: is no field of summary.json" for n in set(summary) - names]
    out.violations += [
        f"{name}: summary.json says {shown(summary.get(name))}, recomputed {shown(found)}"
        for name, holds, found in wanted
        if name in summary and not holds
    ]
    out.unchecked += [
        "that best with this seed and time limit gives this plan: for that, run it again",
        "reason, groups and rounds, which the search says of itself",
        "versions in run.json, but that each is named",
        "words and pictures of report.html, but its SHA-256",
    ]


def _wrong_tasks(
    path: Path, plan: Plan, pairs: Assigned, within: tuple[Floats, Floats]
) -> list[str]:
    """List tasks of which accuracy.csv says what is not so."""
    (least, most), (answers, said) = within, read_accuracies(path, plan)
    wrong = (said < least - TOLERANCE) | (said > most + TOLERANCE)
    wrong |= answers != pairs.answers
    return [
        f"{path.name}: task {plan.quality.tasks[j]!r} has {said[j]} by {answers[j]} answers, "
        f"recomputed {least[j]}" + (f" to {most[j]}" if most[j] > least[j] else "")
        for j in np.flatnonzero(wrong)[:10].tolist()
    ]


def _wanted(
    summary: Mapping[str, Any],
    plan: Plan,
    pairs: Assigned,
    found: tuple[Floats, Floats, Floats],
    bound: float | None,
) -> Wanted:
    """Yield every field of the summary, whether it is right, and what was recomputed."""
    loads, answers = pairs.loads, pairs.answers
    (values, least, most), size = found, pairs.tasks.size
    accuracy = math.fsum(values) / values.size
    per_worker, per_task = plan.room
    binding = {
        "max_workers_per_task": int(
            ((answers == plan.max_workers_per_task) & (answers < per_task)).sum()
        ),
        "max_tasks_per_worker": int(
            ((loads == plan.max_tasks_per_worker) & (loads < per_worker)).sum()
        ),
        "budget": size == plan.budget < int(per_task.sum()),
    }
    exact: dict[str, Any] = {
        "method": "best",
        "certified_within": CERTIFIED_WITHIN,
        "assignments": size,
        "budget": plan.budget,
        "binding": binding,
        "n_classes": plan.n_classes,
        "n_tasks": len(plan.quality.tasks),
        "loads": dict(zip(plan.quality.workers, loads.tolist(), strict=True)),
        "classes": [str(k) for k in range(plan.n_classes)],
    }
    for name, value in exact.items():
        yield name, summary.get(name) == value, value
    yield "reason", isinstance(summary.get("reason"), str), "a text"
    yield from ((name, is_count(summary.get(name)), "an integer >= 0") for name in OWN)
    yield (
        "kinds",
        _are_kinds(summary.get("kinds"), plan, answers, (least, most)),
        "others by accuracy.csv",
    )
    said, mean = summary.get("bound"), summary.get("expected_accuracy")
    is_mean = _within(mean, float(least.mean()), float(most.mean()))
    yield "expected_accuracy", is_mean, accuracy
    accuracy = mean if is_number(mean) and is_mean else accuracy
    error, is_large = summary.get("standard_error"), bool((most > least).any())
    is_one = is_number(error) and 0.0 <= error <= (LARGE_ERROR if is_large else 0.0)
    yield "standard_error", is_one and (plan.n_classes > 2 or error == 0.0), 0.0
    holds = said is None if bound is None else is_number(said) and said >= bound - TOLERANCE
    yield "bound", holds, f"{bound!r} by prices.csv and budget_price"
    gap = gap_between(accuracy, said) if said is None or is_number(said) else None
    yield "gap", _near(summary.get("gap"), gap), gap
    error = float(error) if is_number(error) else math.inf
    certified = is_certified(accuracy, said, error) if is_number(said) else False
    yield "certified", summary.get("certified") is certified, certified
    price = summary.get("budget_price")
    yield "budget_price", price is None if said is None else is_number(price), "a price"


def _near(said: object, value: float | None) -> bool:
    if value is None:
        return said is None
    return is_number(said) and abs(said - value) <= TOLERANCE


def _within(said: object, least: float, most: float) -> bool:
    return is_number(said) and least - TOLERANCE <= said <= most + TOLERANCE


def _are_kinds(
    said: object,
    plan: Plan,
    answers: NDArray[np.int64],
    within: tuple[Floats, Floats],
) -> bool:
    """Whether the table of kinds is what the tasks of each kind have."""
    kind, names = plan.factors.kind, plan.factors.table.tasks
    count = np.bincount(kind, minlength=len(names))
    given = np.bincount(kind, answers, len(names))
    least, most = (np.bincount(kind, values, len(names)) for values in within)
    there = np.flatnonzero(count).tolist()
    if not isinstance(said, dict) or set(said) != {names[k] for k in there}:
        return False
    return all(
        isinstance(said[names[k]], dict)
        and set(said[names[k]]) == {"tasks", "answers", "expected_accuracy"}
        and said[names[k]]["tasks"] == count[k]
        and said[names[k]]["answers"] == given[k]
        and _within(
            said[names[k]]["expected_accuracy"],
            float(least[k] / count[k]),
            float(most[k] / count[k]),
        )
        for k in there
    )

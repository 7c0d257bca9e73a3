"""Compare every field of a summary.json with its value recomputed by code of its own.

A field that cannot be recomputed is checked for consistency, and `unchecked` lists it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import CERTIFIED_WITHIN, gap_between, is_certified, statement
from crowd_tvcs.verification.record_checks import is_number
from crowd_tvcs.verification.side_constraints import TOLERANCE, cost_of
from tvcs_core.files.display import quoted

LISTED = 3  # names of one field
NO_BOUND = ("fast", "greedy", "tvcs", "qlp", "random")
KNOWN = ("best", *NO_BOUND)  # what another method says of itself is not checked
OWN = {  # what a method says of itself, beside its reason
    "tvcs": ("iterations", "best_iteration", "duals"),
    "qlp": ("projection_gap", "duals"),
}
OWN_OF_KINDS = ("groups", "rounds")  # the same of a crowd in factors
LARGE_ERROR = 0.002  # standard error of a sampled accuracy is below

Floats = NDArray[np.float64]
Place = tuple[str, ...]  # of a value: its field, then the names within
Facts = Iterator[tuple[Place | str, bool, object]]  # where, whether it holds, what was recomputed


@dataclass(frozen=True)
class Found:
    """Recomputed figures of a plan.

    Attributes
    ----------
    plan, pairs
        The plan of the tables, and its pairs.
    parameters
        Those of run.json.
    class_names
        Names of the classes.
    least, most
        Lowest and highest accuracy that may be stated for every task.
    accuracy
        Mean accuracy, from below.
    listed
        Accuracy of every task in accuracy.csv; None if that is wrong, or there is none.
    bound
        Bound that the files prove; None if there is none, or it could not be had.
    by_prices
        Bound that the prices prove alone, likewise.
    is_branched
        Whether there are branches beside the prices.
    forecast
        Function from the accuracy of every task to the forecast; None without a forecast model.
    slack
        Accuracy by which tasks may be priced too high.
    above
        How far the stated bound may be above the recomputed one, which may be closer.
    has_knots
        Whether voters were priced in place of the workers.
    """

    plan: Plan
    pairs: Assigned
    parameters: Mapping[str, Any]
    class_names: tuple[str, ...]
    least: Floats
    most: Floats
    accuracy: float
    listed: Floats | None
    bound: float | None
    by_prices: float | None
    is_branched: bool
    forecast: Callable[[Floats], dict[str, float]] | None
    slack: float
    above: float
    has_knots: bool

    @property
    def is_large(self) -> NDArray[np.bool_]:
        """Tasks whose accuracy is not computed outcome by outcome."""
        return self.most > self.least

    @property
    def own(self) -> tuple[str, ...]:
        """Fields in which the method speaks of itself, beside its reason."""
        return OWN.get(self.parameters["method"], ()) if self.plan.is_table else OWN_OF_KINDS

    @property
    def has_classes(self) -> bool:
        """Whether the summary has a number of classes."""
        return self.plan.model is not None or not self.plan.is_table


def refuted(summary: Mapping[str, Any], found: Found) -> list[str]:
    """List the fields of `summary` that differ from the recomputed ones, with both values."""
    wanted = _fields(found, has_bound=summary.get("bound") is not None)
    out = [f"{name}: is missing in summary.json" for name in wanted if name not in summary]
    more = set(summary) - set(wanted) if found.parameters["method"] in KNOWN else ()
    out += [f"{quoted(n)}: is no field of this method's summary.json" for n in summary if n in more]
    if out:
        return out
    for facts in (_counts, _accuracies, _proof):
        for place, holds, recomputed in facts(summary, found):
            if not holds:
                at = (place,) if isinstance(place, str) else place
                stated = quoted(_stated(summary, at))
                where = ", ".join([at[0], *map(repr, at[1:])])
                must = recomputed if isinstance(recomputed, str) else quoted(recomputed)
                out.append(f"{where}: summary.json says {stated}, recomputed {must}")
    return out


def unchecked(found: Found) -> list[str]:
    """List the contents of the files that were not checked, or not to the last digit."""
    method = found.parameters["method"]
    out = [f"that {method} with this seed and time limit gives this plan: for that, run it again"]
    own = ", ".join(found.own)
    own = own if method in KNOWN else "what else its summary.json has"
    out.append(f"what {method} says of itself: reason" + (f", {own}" if own else ""))
    if found.is_large.any():
        off = float((found.most - found.least).max())
        out.append(
            f"the accuracy of {found.is_large.sum()} tasks with large teams closer than {off:.2g}"
        )
    return [
        *out,
        "versions in run.json, but that each is named",
        "words and pictures of report.html, but its SHA-256",
    ]


def _stated(summary: Mapping[str, Any], at: Place) -> object:
    value: Any = summary
    for part in at:
        value = value[part]
    return value


def _fields(found: Found, *, has_bound: bool) -> list[str]:
    """Names that a summary of this method and plan has."""
    out = ["method", "reason", "expected_accuracy", "bound", "gap", "certified", "certified_within"]
    out += ["budget_price", "assignments", "budget", "binding", "loads", *found.own]
    out += ["answers_per_task", "task_accuracy"] if found.plan.is_table else ["n_tasks", "kinds"]
    method = found.parameters["method"]
    if found.is_branched:
        out.append("bound_by_prices")
    if found.plan.is_table and found.slack > 0.0:
        out.append("pricing_slack")
    out += ["knots"] if found.has_knots else []
    out += ["sum_of_qualities"] if method == "qlp" else []
    if found.forecast is not None:
        out.append("forecast")
    if found.has_classes:
        out += ["n_classes", "standard_error"]
    out += ["common_error"] if found.plan.common_error > 0.0 else []
    if found.plan.cost is not None:
        out += ["money", "money_spent"]
    if found.plan.money is not None and has_bound:
        out.append("money_price")
    return [*out, "classes"]


def _alike(a: object, b: object) -> bool:
    """Whether two values are the same JSON."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_alike, a, b))
    return type(a) is type(b) and a == b


def _near(stated: object, least: float, most: float | None = None) -> bool:
    if type(stated) is not float and type(stated) is not int:
        return False
    most = least if most is None else most
    return is_number(stated) and least - TOLERANCE <= stated <= most + TOLERANCE


def _by_name(at: Place, names: tuple[str, ...], stated: object, holds: list[Any]) -> Facts:
    """Compare one value per name; `holds` has a test or a value for each."""
    if not isinstance(stated, dict) or set(stated) != set(names):
        yield at, False, f"one value for each of {len(names)} names"
        return
    wrong = 0
    for name, wanted in zip(names, holds, strict=True):
        is_range = isinstance(wanted, tuple)
        is_right = _near(stated[name], *wanted) if is_range else _alike(stated[name], wanted)
        wrong += not is_right
        if not is_right and wrong <= LISTED:
            yield (*at, name), False, wanted[0] if is_range else wanted


def _counts(summary: Mapping[str, Any], found: Found) -> Facts:
    plan, pairs, (per_worker, per_task) = found.plan, found.pairs, found.plan.room
    workers, tasks = plan.quality.workers, plan.quality.tasks
    size, room, loads, answers = pairs.size, int(per_task.sum()), pairs.loads, pairs.answers
    full = (answers == plan.max_workers_per_task) & (answers < per_task)
    busy = (loads == plan.max_tasks_per_worker) & (loads < per_worker)
    given = found.parameters["budget"]
    budget = room if given is None else min(given, room)
    binding = {
        "max_workers_per_task": int(full.sum()),
        "max_tasks_per_worker": int(busy.sum()),
        "budget": size == budget < room,
    }
    method = found.parameters["method"]
    yield "method", _alike(summary["method"], method), method
    yield "reason", isinstance(summary["reason"], str) and summary["reason"] != "", "a text"
    yield "assignments", _alike(summary["assignments"], size), size
    yield "budget", _alike(summary["budget"], budget), budget
    yield from _by_name(("binding",), tuple(binding), summary["binding"], list(binding.values()))
    yield from _by_name(("loads",), workers, summary["loads"], loads.tolist())
    if plan.is_table:
        stated = summary["answers_per_task"]
        yield from _by_name(("answers_per_task",), tasks, stated, answers.tolist())
    else:
        yield "n_tasks", _alike(summary["n_tasks"], len(tasks)), len(tasks)
        yield "kinds", _are_kinds(summary["kinds"], found), "others by accuracy.csv"
    classes = list(found.class_names)
    yield "classes", _alike(summary["classes"], classes), classes
    if found.has_classes:
        yield "n_classes", _alike(summary["n_classes"], len(classes)), len(classes)
    if plan.common_error > 0.0:
        yield "common_error", _alike(summary["common_error"], plan.common_error), plan.common_error
    if method == "qlp":
        total = math.fsum(plan.table.values[pairs.support].tolist())
        off = TOLERANCE * (1.0 + total)
        is_near = _near(summary["sum_of_qualities"], total - off, total + off)
        yield "sum_of_qualities", is_near, total
    if plan.cost is not None:
        money, spent = found.parameters["money"], float(cost_of(plan, pairs.support))
        money = None if money is None else float(money)
        yield "money", _alike(summary["money"], money), money
        off = TOLERANCE * (1.0 + spent)
        yield "money_spent", _near(summary["money_spent"], spent - off, spent + off), spent


def _accuracies(summary: Mapping[str, Any], found: Found) -> Facts:
    tasks, values, mean = found.plan.quality.tasks, found.listed, found.accuracy
    if found.plan.is_table:
        ranges = list(zip(found.least.tolist(), found.most.tolist(), strict=True))
        stated = summary["task_accuracy"]
        wrong = list(_by_name(("task_accuracy",), tasks, stated, ranges))
        yield from wrong
        values = None if wrong else np.array([stated[name] for name in tasks])
    if values is not None:  # it may be more exact than ours, and is the mean of what it says
        mean = math.fsum(values.tolist()) / len(tasks)
    yield "expected_accuracy", _near(summary["expected_accuracy"], mean), mean
    if found.has_classes:
        may_be_sampled = found.plan.model is not None or found.plan.n_classes > 2
        most = LARGE_ERROR if may_be_sampled and found.is_large.any() else -TOLERANCE
        error = summary["standard_error"]
        yield "standard_error", _near(error, 0.0, most + TOLERANCE) and error >= 0.0, 0.0
    if found.forecast is not None and values is not None:  # it follows from these
        forecast = found.forecast(values)
        wanted = [(v, v) if isinstance(v, float) else v for v in forecast.values()]
        yield from _by_name(("forecast",), tuple(forecast), summary["forecast"], wanted)


def _proof(summary: Mapping[str, Any], found: Found) -> Facts:
    """Yield the bound and the fields that follow from it; all of them or none."""
    within = summary["certified_within"]
    yield "certified_within", _alike(within, CERTIFIED_WITHIN), CERTIFIED_WITHIN
    names = ("bound", "gap", "budget_price", "money_price")
    stated = {name: summary[name] for name in names if name in summary}
    if stated["bound"] is None:
        for name in ("gap", "budget_price"):
            yield name, stated[name] is None, None
        yield "certified", summary["certified"] is False, False
        return
    if found.parameters["method"] in NO_BOUND:
        yield "bound", False, None
        return
    for name, number in stated.items():
        most = math.inf if name.endswith("_price") else 1.0
        if not (is_number(number) and 0.0 <= number <= most):
            yield name, False, "a number >= 0" + ("" if most > 1.0 else " and at most 1")
            return
    if found.bound is not None:
        words = "branches.json" if found.is_branched else _prices_in(found)
        is_one = -TOLERANCE <= stated["bound"] - found.bound <= found.above + TOLERANCE
        yield "bound", is_one, f"{found.bound!r} by {words}"
    if found.is_branched and found.by_prices is not None:
        words = f"{found.by_prices!r} by {_prices_in(found)}"
        yield "bound_by_prices", _near(summary["bound_by_prices"], found.by_prices), words
    accuracy = summary["expected_accuracy"]
    if is_number(accuracy):
        yield "bound", stated["bound"] >= accuracy - TOLERANCE, f"no less than {accuracy}"
        gap = gap_between(accuracy, stated["bound"])
        assert gap is not None
        yield "gap", _near(stated["gap"], gap), gap
        certified = is_certified(accuracy, stated["bound"], _error(summary))
        yield "certified", summary["certified"] is certified, certified


def _prices_in(found: Found) -> str:
    return "prices.csv and budget_price" + " and money_price" * (found.plan.money is not None)


def _error(summary: Mapping[str, Any]) -> float:
    error = summary.get("standard_error", 0.0)
    return float(error) if is_number(error) else math.inf


def uncertified(summary: Mapping[str, Any]) -> list[str]:
    """List the reasons why the summary proves no plan; empty if it does, or cannot be read."""
    accuracy, bound = summary.get("expected_accuracy"), summary.get("bound")
    if bound is None:
        return ["summary.json claims no bound: not certified"]
    if not (is_number(accuracy) and is_number(bound)):
        return []
    error = _error(summary)
    return [] if is_certified(accuracy, bound, error) else [statement(accuracy, bound, error)]


def _are_kinds(stated: object, found: Found) -> bool:
    """Whether the table of kinds agrees with the tasks of each kind."""
    kind, names = found.plan.factors.kind, found.plan.factors.table.tasks
    count, given, least, most = (
        np.bincount(kind, values, len(names))
        for values in (None, found.pairs.answers, found.least, found.most)
    )
    there = np.flatnonzero(count).tolist()
    if not isinstance(stated, dict) or set(stated) != {names[k] for k in there}:
        return False
    return all(
        isinstance(stated[names[k]], dict)
        and set(stated[names[k]]) == {"tasks", "answers", "expected_accuracy"}
        and stated[names[k]]["tasks"] == count[k]
        and stated[names[k]]["answers"] == given[k]
        and _near(stated[names[k]]["expected_accuracy"], least[k] / count[k], most[k] / count[k])
        for k in there
    )

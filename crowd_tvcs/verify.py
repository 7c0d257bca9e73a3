"""Check anew what `crowd-tvcs assign` wrote: caps, accuracy and bound, without the method's code.

The files are read by the readers of the package; everything computed from them is computed by
`crowd_tvcs.repricing`, which uses no kernel and nothing of the method.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.branch_check import bound_of_branches
from crowd_tvcs.demands import read_plan
from crowd_tvcs.multiclass import repricing as multiclass
from crowd_tvcs.plan import Plan
from crowd_tvcs.proof import is_certified, statement, usable
from crowd_tvcs.quality import read_quality
from crowd_tvcs.repricing import accuracy, price_task
from tvcs_core.errors import DataError
from tvcs_core.files import read_table
from tvcs_core.spreadsheet import unshield

TOLERANCE = 1e-9
JOINED = 1e-4  # what the method may lose by joining outcomes of large teams
EVERY = 100  # tasks between two words of progress
TABLES = ("workers", "tasks", "forced", "forbidden", "confusion")
NUMBERS = (
    "max_workers_per_task",
    "max_tasks_per_worker",
    "budget",
    "classes",
    "class_prior",
    "money",
)


@dataclass
class Verification:
    """What was found.

    Attributes
    ----------
    violations
        What is not as the files say, in words.
    accuracy, bound
        Mean expected accuracy and the bound that the prices prove, as recomputed; None where
        they could not be.
    """

    violations: list[str] = field(default_factory=list)
    accuracy: float | None = None
    bound: float | None = None

    @property
    def proved(self) -> bool:
        """Whether everything holds and the bound is one."""
        return not self.violations and self.bound is not None

    @property
    def gap(self) -> float | None:
        """Bound minus accuracy."""
        if self.accuracy is None or self.bound is None:
            return None
        return self.bound - self.accuracy


def verify(
    folder: Path, quality: Path | None = None, *, say: Callable[[str], object] = lambda _: None
) -> Verification:
    """Recompute accuracy, caps and bound from assignment.csv, prices.csv and the quality table.

    Parameters
    ----------
    folder
        What `crowd-tvcs assign` wrote.
    quality
        The quality table; by default the one named in run.json, here or beside the folder. Tables
        of workers, tasks and pairs are looked for beside it. Each must have the SHA-256 in
        run.json.
    say
        Is called with words of progress.

    Raises
    ------
    DataError, OSError
        If a file is missing, is not what it should be, or is not the one that was read.
    """
    record = _read_json(folder / "run.json")
    if record.get("command") != "crowd-tvcs assign" or not record.get("inputs"):
        raise DataError("must be the record of crowd-tvcs assign", path=str(folder / "run.json"))
    summary = _read_json(folder / "summary.json")
    plan = _plan(record, _find(folder, quality, record["inputs"][0]))
    out = Verification()
    support = _support(folder / "assignment.csv", plan, out)
    out.violations += _broken(plan, support)
    low, high = _accuracies(plan, support)
    out.accuracy = math.fsum(low) / low.size
    slack = 0.0 if (low == high).all() else JOINED
    _compare(out, "expected_accuracy", out.accuracy - slack, summary, high.mean() + TOLERANCE)
    if plan.cost is not None:
        cost = float(_cost(plan, support))
        said = summary.get("money_spent")
        if not isinstance(said, float | int) or abs(said - cost) > TOLERANCE * (1.0 + cost):
            out.violations.append(f"money_spent: summary.json says {said!r}, recomputed {cost!r}")
    if summary.get("bound") is None:
        out.violations.append("summary.json claims no bound: not certified")
    else:
        prices, budget_price = _prices(folder / "prices.csv", plan, summary)
        out.bound = _bound(plan, prices, budget_price, support, low, out, say)
        if out.bound is not None and "bound_by_prices" in summary:
            _compare(out, "bound_by_prices", out.bound, summary, out.bound + TOLERANCE)
            out.bound = _bound_of_branches(folder / "branches.json", plan)
        if out.bound is not None:
            _compare(out, "bound", out.bound, summary, out.bound + TOLERANCE)
            out.violations += _uncertified(out, summary)
    return out


def _uncertified(out: Verification, summary: dict[str, Any]) -> list[str]:
    """Say why the plan is not certified, by the one definition of `crowd_tvcs.proof`."""
    accuracy, bound = summary.get("expected_accuracy"), summary.get("bound")
    if not (isinstance(accuracy, float | int) and isinstance(bound, float | int)):
        return []  # a violation already
    error = float(summary.get("standard_error", 0.0))
    certified = is_certified(accuracy, bound, error)
    said = summary.get("certified")
    if said is not certified:
        return [f"certified: summary.json says {said!r}, recomputed {certified!r}"]
    return [] if certified else [statement(accuracy, bound, error)]


def _plan(record: dict[str, Any], quality: Path) -> Plan:
    given = record["parameters"]
    for entry in record["inputs"]:
        _check(quality if entry is record["inputs"][0] else quality.parent / entry["file"], entry)
    tables = {k: quality.parent / given[k] for k in TABLES if given.get(k)}
    numbers = {k: given.get(k) for k in NUMBERS}
    return read_plan(
        read_quality(quality).quality, prior=given.get("prior", 0.5), **tables, **numbers
    )


def _find(folder: Path, quality: Path | None, entry: dict[str, str]) -> Path:
    if quality is not None:
        return quality
    places = [Path(entry["file"]), folder / entry["file"], folder.resolve().parent / entry["file"]]
    for place in places:
        if place.is_file():
            return place
    raise DataError(
        f"the quality table {entry['file']!r} is neither here nor beside {folder}; name it",
        path=str(folder / "run.json"),
    )


def _check(path: Path, entry: dict[str, str]) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != entry["sha256"]:
        raise DataError(
            f"is not the file that was read: its SHA-256 begins with {found[:12]}, in run.json "
            f"with {entry['sha256'][:12]}",
            path=str(path),
        )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        out = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", path=str(path)) from None
    if not isinstance(out, dict):
        raise DataError("must hold names and values", path=str(path))
    return out


def _support(path: Path, plan: Plan, out: Verification) -> NDArray[np.bool_]:
    """Read the pairs; a name that is unknown or a pair that is there twice is a violation."""
    table = read_table(path)
    table.require_rectangle()
    if table.rows[0] != ["worker", "task"]:
        raise table.error("must have the columns worker, task", 0)
    row_of = {name: i for i, name in enumerate(plan.quality.workers)}
    column_of = {name: j for j, name in enumerate(plan.quality.tasks)}
    support = np.zeros(plan.quality.shape, dtype=bool)
    for line, row in zip(table.lines[1:], table.rows[1:], strict=True):
        worker, task = unshield(row[0]), unshield(row[1])
        if worker not in row_of or task not in column_of:
            kind, name = ("task", task) if worker in row_of else ("worker", worker)
            out.violations.append(f"line {line}: {name!r} is no {kind} of the quality table")
        elif support[row_of[worker], column_of[task]]:
            out.violations.append(f"line {line}: {worker!r} has {task!r} twice")
        else:
            support[row_of[worker], column_of[task]] = True
    return support


def _broken(plan: Plan, support: NDArray[np.bool_]) -> list[str]:
    """Say which caps and demands the pairs break, and by how much."""
    out = []
    for name, kind, names, count, caps in (
        ("max_tasks_per_worker", "worker", plan.quality.workers, support.sum(axis=1),
         plan.max_tasks_per_worker),
        ("max_workers_per_task", "task", plan.quality.tasks, support.sum(axis=0),
         plan.max_workers_per_task),
    ):  # fmt: skip
        for i in np.flatnonzero(count > caps):
            out.append(f"{name}: {kind} {names[i]!r} has {count[i]}, the cap is {caps[i]}")
    if support.sum() > plan.budget:
        out.append(f"budget: {support.sum()} answers, the budget is {plan.budget}")
    if plan.quality.allowed is not None:
        for i, j in np.argwhere(support & ~plan.quality.allowed):
            pair = f"{plan.quality.workers[i]!r} on {plan.quality.tasks[j]!r}"
            out.append(f"a pair that is not allowed: {pair}")
    out += _together(plan, support)
    unmet = [demand for demand in plan.unmet(support) if demand not in ("money", "group")]
    return out + [f"{demand} is not met" for demand in unmet]


def _cost(plan: Plan, support: NDArray[np.bool_]) -> Fraction:
    """Cost of the pairs, without rounding."""
    cost = [Fraction(0)] if plan.cost is None else [Fraction(c) for c in plan.cost.tolist()]
    return sum((cost[i] for i in support.nonzero()[0].tolist()), Fraction(0))


def _together(plan: Plan, support: NDArray[np.bool_]) -> list[str]:
    """Say which groups have several workers on a task, and what cannot be paid."""
    out = []
    if plan.money is not None:
        cost = _cost(plan, support)
        if cost > Fraction(plan.money) * (1 + Fraction(TOLERANCE)):
            out.append(f"money: the answers cost {float(cost):g}, the money is {plan.money:g}")
    if plan.group is not None:
        seen: dict[tuple[str, int], int] = {}
        for i, j in np.argwhere(support).tolist():
            group = plan.group[i]
            if group is not None and seen.setdefault((group, j), i) != i:
                names = f"{plan.quality.workers[seen[group, j]]!r} and {plan.quality.workers[i]!r}"
                out.append(f"group {group!r}: {names} both have {plan.quality.tasks[j]!r}")
    return out


def _accuracies(
    plan: Plan, support: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds below and above the accuracy of every task; equal for teams that are not large."""
    if plan.model is not None:
        each = [(*multiclass.chances(plan, j), s) for j, s in enumerate(support.T)]
        low, high = np.array([multiclass.accuracy(m[s], prior) for m, prior, s in each]).T
        return low, high
    values = plan.quality.values
    voters = [q[s & (q != 0.5)] for q, s in zip(values.T, support.T, strict=True)]
    bounds = [accuracy(q, p) for q, p in zip(voters, plan.prior.tolist(), strict=True)]
    low, high = np.array(bounds).T
    return low, high


def _prices(path: Path, plan: Plan, summary: dict[str, Any]) -> tuple[NDArray[np.float64], float]:
    table = read_table(path)
    table.require_rectangle()
    if table.rows[0] != ["worker", "price"]:
        raise table.error("must have the columns worker, price", 0)
    values = table.numbers(1, [1])[:, 0]
    price_of = {unshield(row[0]): v for row, v in zip(table.rows[1:], values, strict=True)}
    missing = [name for name in plan.quality.workers if name not in price_of]
    if missing or len(price_of) != len(plan.quality.workers):
        raise table.error(f"must have one price per worker; without: {', '.join(missing[:3])}", 0)
    prices = np.array([price_of[name] for name in plan.quality.workers])
    budget_price = summary.get("budget_price")
    if not isinstance(budget_price, float | int) or budget_price < 0 or (prices < 0).any():
        raise table.error("prices, and budget_price in summary.json, must be numbers >= 0", 0)
    return prices, float(budget_price)


def _bound(
    plan: Plan,
    prices: NDArray[np.float64],
    budget_price: float,
    support: NDArray[np.bool_],
    values: NDArray[np.float64],
    out: Verification,
    say: Callable[[str], object],
) -> float | None:
    """Price every task; tasks that are the same in everything are priced once."""
    m = len(plan.quality.tasks)
    price = m * (prices + budget_price)
    free = np.ones(support.shape, bool) if plan.forced is None else ~plan.forced
    allowed = free if plan.quality.allowed is None else free & plan.quality.allowed
    best: dict[tuple[Any, ...], float] = {}
    terms = []
    for j, name in enumerate(plan.quality.tasks):
        if j and j % EVERY == 0:
            say(f"priced {j} of {m} tasks")
        quality, fixed, may = plan.quality.values[:, j], ~free[:, j], allowed[:, j]
        cap = int(plan.max_workers_per_task[j]) - int(fixed.sum())
        least = max(0, int(plan.min_workers_per_task[j]) - int(fixed.sum()))
        prior = float(plan.prior[j])
        classes = b"" if plan.class_prior is None else plan.class_prior[j].tobytes()
        told = b"" if plan.confusion is not None else quality.tobytes()
        key = (told, may.tobytes(), fixed.tobytes(), least, cap, classes or prior)
        if key not in best:
            chosen = support[:, j] & ~fixed
            known = float(values[j] - price[chosen].sum())
            # A hand-made set that breaks the demands proves nothing about those that do not.
            is_one = may[chosen].all() and support[fixed, j].all() and least <= chosen.sum() <= cap
            known = known if is_one else -np.inf
            if plan.model is not None:
                matrices, chance = multiclass.chances(plan, j)
                priced = multiclass.price_task(
                    matrices[may], price[may], cap, chance, known, least=least,
                    fixed=matrices[fixed],
                )  # fmt: skip
            else:
                priced = price_task(
                    quality[may], price[may], cap, prior, known, least=least, fixed=quality[fixed]
                )
            if not priced.exact:
                out.violations.append(f"task {name!r} could not be priced exactly here")
                return None
            best[key] = priced.value - float(price[fixed].sum())
        terms.append(best[key])
    caps = math.fsum(prices * plan.max_tasks_per_worker) + budget_price * plan.budget
    return usable(caps + math.fsum(terms) / m)


def _bound_of_branches(path: Path, plan: Plan) -> float | None:
    """Give the bound of a tiny plan whose gap was branched on."""
    try:
        return usable(bound_of_branches(plan, _read_json(path)))
    except ValueError as error:
        raise DataError(str(error), path=str(path)) from None


def _compare(
    out: Verification, name: str, found: float, summary: dict[str, Any], most: float
) -> None:
    """Note a number that summary.json has not between `found` and `most`, but for rounding."""
    said = summary.get(name)
    if not isinstance(said, float | int) or not found - TOLERANCE <= said <= most:
        out.violations.append(f"{name}: summary.json says {said!r}, recomputed {found!r}")

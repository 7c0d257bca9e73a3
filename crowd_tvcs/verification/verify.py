"""Check the files of `crowd-tvcs assign`: caps, figures and bound, without the method's code.

The readers of the package read the files. All figures are computed by
`crowd_tvcs.verification.pricing`, which uses no kernel and nothing of the method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.confusion import read_confusion
from crowd_tvcs.answers.quality import QualityFile, read_quality
from crowd_tvcs.factors.tables import FactorsFile, read_factored_plan, read_factors
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import usable
from crowd_tvcs.plan.tables import read_plan
from crowd_tvcs.verification.accuracies import accuracies, read_accuracies, wrong_tasks
from crowd_tvcs.verification.bound_by_prices import bound_by_prices, may_have_knots
from crowd_tvcs.verification.branches import bound_of_branches
from crowd_tvcs.verification.forecast import recompute_forecast
from crowd_tvcs.verification.matrix_knots import MARGIN, bound_of_matrix_knots
from crowd_tvcs.verification.pairs import broken, read_pairs
from crowd_tvcs.verification.record_checks import (
    ACCURACY,
    BRANCHES,
    PRICES,
    TABLES,
    Record,
    changed_outputs,
    is_number,
    read_forecast_model,
    read_json,
    read_prices,
    read_record,
    read_slack,
)
from crowd_tvcs.verification.result import Verification
from crowd_tvcs.verification.side_constraints import TOLERANCE
from crowd_tvcs.verification.summary_checks import Found, refuted, uncertified, unchecked
from crowd_tvcs.verification.tables import find_tables
from tvcs_core.files.display import quoted
from tvcs_core.files.errors import DataError

Floats = NDArray[np.float64]

PRICING_SLACK = 1e-5  # of the error, where exact pricing of kinds takes too long
NUMBERS = (
    "max_workers_per_task",
    "max_tasks_per_worker",
    "budget",
    "prior",
    "classes",
    "class_prior",
    "money",
)


def verify(
    folder: str | Path,
    quality: str | Path | None = None,
    *,
    methods: Collection[str] = (),
    log: Callable[[str], object] = lambda _: None,
) -> Verification:
    """Recompute summary.json from assignment.csv, prices.csv and the tables.

    Every field of summary.json is compared, run.json must be whole and have the SHA-256 of every
    file, and the bound is recomputed from the prices. Contents that cannot be checked are in
    `unchecked`.

    Parameters
    ----------
    folder
        Folder that `crowd-tvcs assign` wrote.
    quality
        The quality table; by default the one named in run.json, at its old path, here or beside the
        folder. Other tables are found likewise, beside this one first. Each must have the SHA-256
        in run.json.
    methods
        Methods there are; a plan of another is refused. Without any it may be of any method.
    log
        Function that is called with messages of progress.

    Raises
    ------
    DataError, OSError
        If a file is missing, faulty, or not the one that was read.
    """
    folder, quality = Path(folder), None if quality is None else Path(quality)
    record = read_record(folder / "run.json", methods)
    summary = read_json(folder / "summary.json")
    tables = find_tables(folder, quality, record)
    plan, names = _plan(record, tables)
    out = Verification(changed_outputs(folder, record))
    pairs = read_pairs(folder / "assignment.csv", plan, out.violations)
    out.violations += broken(plan, pairs)
    values, least, most = accuracies(plan, pairs)
    out.accuracy = math.fsum(values) / values.size
    out.violations += uncertified(summary)
    listed = None if plan.is_table else _listed(folder / ACCURACY, plan, pairs, (least, most), out)
    slack, stated = read_slack(folder / "summary.json", summary), summary.get("bound")
    by_prices, above = None, slack
    has_prices = PRICES in record.outputs
    if (stated is not None) != has_prices:
        there = "a file prices.csv" if has_prices else "no file prices.csv"
        out.violations.append(f"bound: summary.json says {quoted(stated)}, run.json names {there}")
    elif has_prices:
        prices = read_prices(folder / PRICES, plan.quality.workers, plan.money, summary)
        try:
            by_prices, above = _by_prices(plan, prices, (pairs, values), summary, slack, log)
        except ValueError as error:
            out.violations.append(str(error))
        by_prices = out.bound = usable(by_prices)
        if BRANCHES in record.outputs:
            out.bound = _bound_of_branches(folder / BRANCHES, plan, out)
    found = Found(
        plan, pairs, record.parameters, names, least, most, out.accuracy, listed, out.bound,
        by_prices, BRANCHES in record.outputs,
        _forecast(plan, pairs, record, tables),
        slack, above, "knots" in summary,
    )  # fmt: skip
    out.violations += refuted(summary, found)
    out.unchecked += unchecked(found)
    return out


def _listed(
    path: Path, plan: Plan, pairs: Assigned, ranges: tuple[Floats, Floats], out: Verification
) -> Floats | None:
    """Return the accuracy of every task in a file; None if one is wrong."""
    given = read_accuracies(path, plan)
    wrong = wrong_tasks(plan, pairs, given, ranges)
    out.violations += wrong
    return None if wrong else given[1]


def _by_prices(
    plan: Plan,
    prices: tuple[Floats, float, float],
    known: tuple[Assigned, Floats],
    summary: Mapping[str, Any],
    slack: float,
    log: Callable[[str], object],
) -> tuple[float, float]:
    """Return the bound of the prices, and by how much the stated one may be above it.

    `known` are pairs and the accuracy of every task with them.
    """
    if "knots" in summary:
        log("pricing the knots of the workers")
        margin = MARGIN * int(plan.max_workers_per_task.max())
        return bound_of_matrix_knots(plan, prices, summary["knots"]), margin
    if may_have_knots(plan):
        bound = bound_by_prices(plan, prices, *known, log, by_knots=True)
        if is_number(summary["bound"]) and bound <= summary["bound"] + TOLERANCE:
            return bound, math.inf
    if plan.is_table:
        return bound_by_prices(plan, prices, *known, log, slack=slack), slack
    off = PRICING_SLACK * (1.0 - math.fsum(known[1]) / known[1].size)
    return bound_by_prices(plan, prices, *known, log, slack=off), math.inf


def _plan(record: Record, found: Mapping[str, Path]) -> tuple[Plan, tuple[str, ...]]:
    """Read the plan and the names of its classes from tables with the hashes of the record."""
    given, quality = record.parameters, found[record.quality]
    tables: dict[str, Any] = {k: found[given[k]] for k in TABLES if given[k] is not None}
    read: QualityFile | FactorsFile = (
        read_factors(quality, tables["tasks"]) if record.has_kinds else read_quality(quality)
    )
    if read.layout != record.layout:
        raise DataError(
            f"layout must be {quoted(read.layout)}, found {quoted(record.layout)}", path=record.path
        )
    numbers = {k: given[k] for k in (*NUMBERS, "common_error") if k in given}
    if isinstance(read, FactorsFile) and ACCURACY in record.outputs:
        asked = {k: numbers[k] for k in NUMBERS}
        if asked.pop("money") is not None:
            raise DataError("money must be null for a plan by kinds of tasks", path=record.path)
        factored = read_factored_plan(read, workers=tables.get("workers"), **asked)
        return factored, tuple(map(str, range(factored.n_classes)))
    values = read.factors.quality() if isinstance(read, FactorsFile) else read.quality
    plan = read_plan(values, **tables, **numbers, has_kinds=record.has_kinds)
    if "confusion" in tables:
        return plan, read_confusion(tables["confusion"], plan.quality.workers)[0]
    return plan, tuple(map(str, range(plan.n_classes)))


def _forecast(
    plan: Plan, pairs: Assigned, record: Record, found: Mapping[str, Path]
) -> Callable[[Floats], dict[str, float]] | None:
    """Return a function from the accuracy of every task to the forecast; None without a file."""
    name = record.parameters.get("dependence")
    if name is None or not plan.is_table:
        return None
    plan_error, model = read_forecast_model(found[name])
    if model is None or plan_error != plan.common_error:
        return None
    return partial(recompute_forecast, model, plan.table.values, pairs.support)


def _bound_of_branches(path: Path, plan: Plan, out: Verification) -> float | None:
    """Return the bound of a tiny plan whose gap was branched on."""
    document = read_json(path)
    try:
        return usable(bound_of_branches(plan, document))
    except ValueError as error:
        out.violations.append(f"{path.name}: {error}")
        return None

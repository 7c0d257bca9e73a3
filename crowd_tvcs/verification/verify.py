"""Check anew what `crowd-tvcs assign` wrote: caps, figures and bound, without the method's code.

The files are read by the readers of the package; everything computed from them is computed by
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
from crowd_tvcs.skills.plan_deviation import read_deviations
from crowd_tvcs.verification import factors
from crowd_tvcs.verification import pricing_many_classes as multiclass
from crowd_tvcs.verification.bound_by_prices import bound_by_prices
from crowd_tvcs.verification.claims import LARGE_ERROR, Found, refuted, uncertified, unchecked
from crowd_tvcs.verification.deviation import deviation
from crowd_tvcs.verification.foresight import foreseen
from crowd_tvcs.verification.pairs import broken, read_pairs
from crowd_tvcs.verification.pricing import JOINED, accuracy
from crowd_tvcs.verification.pricing_common_error import (
    payoff,
    scale_of_equals,
    seeming_chances,
    seeming_right,
)
from crowd_tvcs.verification.result import Verification
from crowd_tvcs.verification.tables import find_tables
from crowd_tvcs.verification.written import (
    ACCURACY,
    PRICES,
    TABLES,
    Record,
    changed_outputs,
    read_foresight,
    read_json,
    read_prices,
    read_record,
)
from tvcs_core.files.errors import DataError
from tvcs_core.files.shown import shown

Floats = NDArray[np.float64]

MOST_SLOPED = 12  # voters
SLACK = 1e-5  # of the error, where exact pricing of kinds takes too long
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
    folder: Path,
    quality: Path | None = None,
    *,
    methods: Collection[str] = (),
    say: Callable[[str], object] = lambda _: None,
) -> Verification:
    """Recompute what summary.json says from assignment.csv, prices.csv and the tables.

    Every field of summary.json is compared, run.json must be whole and name the SHA-256 of every
    file, and the bound is that of the prices. What cannot be checked is in `unchecked`.

    Parameters
    ----------
    folder
        What `crowd-tvcs assign` wrote.
    quality
        The quality table; by default the one named in run.json, where it lay, here or beside the
        folder. Other tables are found likewise, beside this one first. Each must have the SHA-256
        in run.json.
    methods
        Methods there are; a plan of another is refused. Without any it may be of any method.
    say
        Is called with words of progress.

    Raises
    ------
    DataError, OSError
        If a file is missing, is not what it should be, or is not the one that was read.
    """
    record = read_record(folder / "run.json", methods)
    summary = read_json(folder / "summary.json")
    tables = find_tables(folder, quality, record)
    plan, names = _plan(record, tables)
    out = Verification(changed_outputs(folder, record))
    pairs = read_pairs(folder / "assignment.csv", plan, out.violations)
    out.violations += broken(plan, pairs)
    values, least, most = _accuracies(plan, pairs)
    out.accuracy = math.fsum(values) / values.size
    out.violations += uncertified(summary)
    listed = None
    if not plan.is_table:
        given = factors.read_accuracies(folder / ACCURACY, plan)
        wrong = factors.wrong_tasks(plan, pairs, given, (least, most))
        out.violations += wrong
        listed = None if wrong else given[1]
    said, has_prices = summary.get("bound"), PRICES in record.outputs
    if (said is not None) != has_prices:
        there = "a file prices.csv" if has_prices else "no file prices.csv"
        out.violations.append(f"bound: summary.json says {shown(said)}, run.json names {there}")
    elif has_prices:
        prices = read_prices(folder / PRICES, plan.quality.workers, plan.money, summary)
        try:
            out.bound = usable(_bound(plan, prices, pairs, values, say))
        except ValueError as error:
            out.violations.append(str(error))
    found = Found(
        plan, pairs, record.parameters, names, least, most, out.accuracy, listed, out.bound,
        _deviation(plan, pairs, record, tables, out),
        _foreseen(plan, pairs, record, tables),
    )  # fmt: skip
    out.violations += refuted(summary, found)
    out.unchecked += unchecked(found)
    return out


def _plan(record: Record, found: Mapping[str, Path]) -> tuple[Plan, tuple[str, ...]]:
    """Read the plan and the names of its classes from tables with the hashes of the record."""
    given, quality = record.parameters, found[record.quality]
    tables: dict[str, Any] = {k: found[given[k]] for k in TABLES if given[k] is not None}
    read: QualityFile | FactorsFile = (
        read_factors(quality, tables["tasks"]) if record.has_kinds else read_quality(quality)
    )
    if read.layout != record.layout:
        raise DataError(
            f"layout must be {shown(read.layout)}, found {shown(record.layout)}", path=record.path
        )
    numbers = {k: given[k] for k in (*NUMBERS, "common_error") if k in given}
    if isinstance(read, FactorsFile) and ACCURACY in record.outputs:
        asked = {k: numbers[k] for k in NUMBERS if k != "money"}
        factored = read_factored_plan(read, workers=tables.get("workers"), **asked)
        return factored, tuple(map(str, range(factored.n_classes)))
    values = read.factors.quality() if isinstance(read, FactorsFile) else read.quality
    plan = read_plan(values, **tables, **numbers, has_kinds=record.has_kinds)
    if "confusion" in tables:
        return plan, read_confusion(tables["confusion"], plan.quality.workers)[0]
    return plan, tuple(map(str, range(plan.n_classes)))


def _bound(
    plan: Plan,
    prices: tuple[Floats, float, float],
    pairs: Assigned,
    values: Floats,
    say: Callable[[str], object],
) -> float:
    """Return the bound that the prices of workers, budget and money prove."""
    if plan.is_table:
        return bound_by_prices(plan, *prices, pairs.support, values, say)
    slack = SLACK * (1.0 - math.fsum(values) / values.size)
    return factors.bound_by_prices(plan, *prices[:2], pairs, values, slack, say)


def _accuracies(plan: Plan, pairs: Assigned) -> tuple[Floats, Floats, Floats]:
    """Accuracy of every task, from below, and the range in which another may give it.

    The range is a point for teams that are not large.
    """
    if not plan.is_table:
        return factors.accuracies(plan, pairs)
    support = pairs.support
    if plan.model is not None:
        bounds = []
        for j, chosen in enumerate(support.T):
            matrices, prior = multiclass.chances(plan, j)
            pays = payoff(multiclass.shares(plan, j), plan.common_error)
            bounds.append(multiclass.accuracy(matrices[chosen], prior, pays))
        low, high = np.array(bounds).T
        # The method draws outcomes where it has more than these and workers differ.
        is_large = plan.n_classes ** support.sum(axis=0).astype(float) > multiclass.MOST_OUTCOMES
        off = np.where(is_large | (low < high), multiclass.SURE * LARGE_ERROR, 0.0)
        return low, np.maximum(low - off, 0.0), np.minimum(high + off, 1.0)
    values = seeming_right(plan.table.values, plan.common_error)
    voters = [q[s & (q != 0.5)] for q, s in zip(values.T, support.T, strict=True)]
    priors = seeming_chances(plan).tolist()
    bounds = [accuracy(q, p) for q, p in zip(voters, priors, strict=True)]
    low, high = scale_of_equals(plan.common_error).of(np.array(bounds)).T
    return low, np.where(low < high, low - JOINED, low), high


def _deviation(
    plan: Plan,
    pairs: Assigned,
    record: Record,
    found: Mapping[str, Path],
    out: Verification,
) -> float | None:
    """Standard deviation of the mean accuracy by the skills table."""
    if record.parameters["skills"] is None:
        return None
    known = read_deviations(found[record.parameters["skills"]], plan.table)
    if pairs.answers.max(initial=0) > MOST_SLOPED:
        out.unchecked.append(f"accuracy_deviation, where a task has more than {MOST_SLOPED} voters")
        return None
    return deviation(plan, pairs.support, known)


def _foreseen(
    plan: Plan, pairs: Assigned, record: Record, found: Mapping[str, Path]
) -> Callable[[Floats], dict[str, float]] | None:
    """What gold foresees, by the accuracy of every task and the file named in the record."""
    name = record.parameters.get("dependence")
    if name is None or not plan.is_table:
        return None
    plan_error, told = read_foresight(found[name])
    if told is None or plan_error != plan.common_error:
        return None
    return partial(foreseen, told, plan.table.values, pairs.support)

"""What another budget would buy: expected accuracy against budget."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from crowd_tvcs.methods import METHODS, assign, methods_for
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import is_certified
from crowd_tvcs.skills.foresight import Foreseen, Foresight
from tvcs_core.streams import seed_of

MOST_PAIRS = 8_000_000  # of worker and task, over all budgets of `around`


@dataclass(frozen=True)
class BudgetPoint:
    """What one budget buys.

    Attributes
    ----------
    budget
        Most answers in all.
    answers
        Answers of the assignment, at most `budget`.
    expected_accuracy
        Its mean expected accuracy.
    bound
        No assignment within this budget has more; None if none is proved.
    certified
        Whether the accuracy is proved to be near the largest; see `crowd_tvcs.plan.proof`.
    standard_error
        Of the accuracy: 0 unless large teams of K classes were sampled.
    found_at
        The budget that the assignment was made for: a smaller one where the method found nothing
        better with more.
    foreseen
        What gold foresees of it; None where no gold says anything.
    """

    budget: int
    answers: int
    expected_accuracy: float
    bound: float | None
    certified: bool
    standard_error: float
    found_at: int
    foreseen: Foreseen | None = None


def what_if(
    plan: Plan,
    budgets: Sequence[int],
    method: str = "best",
    *,
    rng: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    foresight: Foresight | None = None,
) -> tuple[BudgetPoint, ...]:
    """Assign at every budget, from the smallest to the largest.

    The largest expected accuracy cannot fall when the budget grows, but what a method finds can.
    An assignment within a smaller budget is one within a larger, so it is kept where the method
    found less: the accuracies never fall, by construction, and `BudgetPoint.found_at` says where
    that was needed. Every budget starts from the same seed.

    Parameters
    ----------
    plan
        The problem; its own budget is not looked at. One in factors is for the method `best`.
    budgets
        Integers >= 0; sorted, and each once. One beyond what the caps leave room for buys nothing
        more.
    method
        One of `METHODS`.
    rng
        Seed or generator.
    time_limit
        Seconds for all budgets together, shared equally among those that are left.
    foresight
        What gold says of plans with this common error; not of plans in factors, which have none.

    Raises
    ------
    ValueError, TypeError
        If there is no budget, one is not an integer >= 0 or below what the plan demands, or
        `assign` refuses.

    Examples
    --------
    >>> from crowd_tvcs import Plan, Quality
    >>> quality = Quality([[.9, .6], [.7, .8]], workers=["ann", "bob"], tasks=["t1", "t2"])
    >>> [round(offer.expected_accuracy, 3) for offer in what_if(Plan(quality), [0, 1, 2], "qlp")]
    [0.5, 0.7, 0.85]
    """
    if not len(budgets):
        raise ValueError("budgets must hold at least one integer >= 0, found none")
    plans = {given: plan.with_budget(given) for given in sorted(set(budgets))}
    seed = seed_of(rng)
    began = time.monotonic()
    offers: list[BudgetPoint] = []
    for i, (given, within) in enumerate(plans.items()):
        share = None
        if time_limit is not None:
            left = began + time_limit - time.monotonic()
            share = max(left, 0.01 * time_limit) / (len(plans) - i)
        found = assign(within, method, rng=seed, time_limit=share)
        offer = _better(offers[-1] if offers else None, given, found)
        if foresight is not None and plan.is_table and offer.found_at == given:
            told = foresight.of_plan(found.plan.table.values, found.support, found.task_accuracy)
            offer = replace(offer, foreseen=told)
        offers.append(offer)
    return tuple(offers)


def _better(before: BudgetPoint | None, budget: int, found: Assignment) -> BudgetPoint:
    if before is not None and before.expected_accuracy > found.expected_accuracy:
        certified = is_certified(before.expected_accuracy, found.bound, before.standard_error)
        return replace(before, budget=budget, bound=found.bound, certified=certified)
    return BudgetPoint(
        budget, found.size, found.expected_accuracy, found.bound, found.certified,
        found.standard_error, budget,
    )  # fmt: skip


def around(found: Assignment, *, rng: int | None = None) -> tuple[str, tuple[BudgetPoint, ...]]:
    """Compute what a quarter to twice of a plan's answers would buy, and by which method.

    By the plan's own method if that is quick: the plan is then one of the assignments. Else by the
    first quick one that honours what the plan demands: `fast`, or `greedy` with money or groups.
    The larger the plan, the fewer the budgets: at most 10, at least 4.

    Parameters
    ----------
    found
        The plan.
    rng
        The seed that it was made with.
    """
    plan, size = found.plan, found.size
    method = found.method
    if method not in METHODS or not METHODS[method].is_quick:
        method = next(name for name in methods_for(plan) if METHODS[name].is_quick)
    most = int(min(plan.max_tasks_per_worker.sum(), plan.max_workers_per_task.sum()))
    count = int(np.clip(MOST_PAIRS // plan.table.values.size, 4, 9))
    top = min(most, 2 * size if size else len(plan.quality.tasks))
    least = min(max(plan.least_budget, size // 4), top)
    budgets = {round(b) for b in np.linspace(least, top, count)} | {max(least, min(size, top))}
    if method != found.method:
        return method, what_if(plan, sorted(budgets), method, rng=0)
    offers: list[BudgetPoint] = []
    for budget in sorted(budgets | {size}):
        own = found if budget == size else assign(plan.with_budget(budget), method, rng=rng)
        offers.append(_better(offers[-1] if offers else None, budget, own))
    return method, tuple(offers)


def steps(offers: Sequence[BudgetPoint]) -> list[dict[str, Any]]:
    """Rows for a table: every offer, and what one more answer adds on the way from the one before.

    `per_answer` is the difference of the accuracies over the difference of the answers, None where
    there is none; what gold foresees is there by the names of its fields.
    """
    gains: list[float | None] = [None]
    for a, b in pairwise(offers):
        more = b.answers - a.answers
        gains.append((b.expected_accuracy - a.expected_accuracy) / more if more > 0 else None)
    rows = []
    for offer, gain in zip(offers, gains, strict=True):
        told = None if offer.foreseen is None else offer.foreseen._asdict()
        rows.append({**vars(offer), "foreseen": told, "per_answer": gain})
    return rows

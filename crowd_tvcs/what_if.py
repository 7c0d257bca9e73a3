"""Expected accuracy of a plan against its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from crowd_tvcs.methods import METHODS, assign_until, check_time_limit, methods_for
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import is_certified
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.skills.accuracy_forecast import AccuracyForecast, ForecastModel
from tvcs_core.streams import seed_of

MAX_PAIRS = 8_000_000  # pairs of worker and task over all budgets of `around`, to bound its time
PER_PAIR = 7e-7  # seconds of a budget by `fast`, at least, before one is timed


@dataclass(frozen=True)
class BudgetPoint:
    """Assignment at one budget.

    Attributes
    ----------
    budget
        Largest number of answers.
    answers
        Answers of the assignment, at most `budget`.
    expected_accuracy
        Mean expected accuracy.
    bound
        Upper bound of it within this budget; None if none is proved.
    certified
        Whether the accuracy is proved to be near the largest; see `crowd_tvcs.plan.proof`.
    standard_error
        Standard error of the accuracy: 0 unless large teams of K classes were sampled.
    found_at
        Budget for which the assignment was made: a smaller one if the method found nothing better
        with more.
    forecast
        Forecast of the accuracy; None without gold.
    """

    budget: int
    answers: int
    expected_accuracy: float
    bound: float | None
    certified: bool
    standard_error: float
    found_at: int
    forecast: AccuracyForecast | None = None


def what_if(
    plan: Plan,
    budgets: Sequence[int],
    method: str = "best",
    *,
    rng: int | np.random.Generator | None = None,
    time_limit: float | None = None,
    forecast_model: ForecastModel | None = None,
) -> tuple[BudgetPoint, ...]:
    """Assign at every budget, from the smallest to the largest.

    The largest expected accuracy cannot fall when the budget grows, but that of a method can. An
    assignment within a smaller budget is feasible within a larger one, so it is kept if the method
    found a worse one: the accuracies never fall, and `BudgetPoint.found_at` records the budget.
    Every budget starts from the same seed.

    Parameters
    ----------
    plan
        The problem; its own budget is ignored. A factored plan needs the method `best`.
    budgets
        Integers >= 0; sorted, without duplicates. A budget beyond the caps buys nothing more.
    method
        One of `METHODS`.
    rng
        Seed or generator.
    time_limit
        Seconds for all budgets together, shared equally among the remaining ones.
    forecast_model
        Forecast model of plans with this common error; not for factored plans, which have none.

    Raises
    ------
    ValueError, TypeError
        If there is no budget, one is not an integer >= 0 or is below the demands of the plan, or
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
    check_time_limit(time_limit)
    plans = {given: plan.with_budget(given) for given in sorted(set(budgets))}
    seed = seed_of(rng)
    deadline = Deadline.after(time_limit)
    offers: list[BudgetPoint] = []
    for i, (given, within) in enumerate(plans.items()):
        share = deadline.part(1.0 / (len(plans) - i))
        found = assign_until(share, within, method, rng=seed)
        offer = _better(offers[-1] if offers else None, given, found)
        if forecast_model is not None and plan.is_table and offer.found_at == given:
            forecast_of_plan = forecast_model.forecast_plan(
                found.plan.table.values, found.support, found.task_accuracy
            )
            offer = replace(offer, forecast=forecast_of_plan)
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


def around(
    found: Assignment, *, rng: int | None = None, deadline: Deadline | None = None
) -> tuple[str, tuple[BudgetPoint, ...]] | None:
    """Return the points from a quarter to twice of a plan's answers, and their method.

    The method is the plan's own if it is quick, and the plan is then one of the points; else the
    first quick one that supports the demands of the plan: `fast`, or `greedy` with costs or groups.
    The larger the plan, the fewer the budgets: at most 10, at least 4. None if they would take
    longer than the deadline leaves.

    Parameters
    ----------
    found
        The plan.
    rng
        The seed of the plan.
    """
    plan, size = found.plan, found.size
    method = found.method
    if method not in METHODS or not METHODS[method].is_quick:
        method = next(name for name in methods_for(plan) if METHODS[name].is_quick)
    most = int(min(plan.max_tasks_per_worker.sum(), plan.max_workers_per_task.sum()))
    count = int(np.clip(MAX_PAIRS // plan.table.values.size, 4, 9))
    top = min(most, 2 * size if size else len(plan.quality.tasks))
    least = min(max(plan.least_budget, size // 4), top)
    budgets = {round(b) for b in np.linspace(least, top, count)} | {max(least, min(size, top))}
    is_own = method == found.method
    budgets |= {size} if is_own else set()
    deadline = deadline or Deadline.after(None)
    offers: list[BudgetPoint] = []
    took = PER_PAIR * plan.table.values.size
    for i, budget in enumerate(sorted(budgets)):
        if not deadline.leaves((len(budgets) - i) * took):
            return None
        before = deadline.left
        own = found
        if not is_own or budget != size:
            seed = rng if is_own else 0
            own = assign_until(deadline, plan.with_budget(budget), method, rng=seed)
            if deadline.has_passed:
                return None
            took = before - deadline.left
        offers.append(_better(offers[-1] if offers else None, budget, own))
    return method, tuple(offers)


def steps(offers: Sequence[BudgetPoint]) -> list[dict[str, Any]]:
    """Return rows for a table: every point, with the gain per answer since the previous one.

    `per_answer` is the difference of the accuracies over that of the answers, None without one; the
    forecast has the names of its fields.
    """
    gains: list[float | None] = [None]
    for a, b in pairwise(offers):
        more = b.answers - a.answers
        gains.append((b.expected_accuracy - a.expected_accuracy) / more if more > 0 else None)
    rows = []
    for offer, gain in zip(offers, gains, strict=True):
        as_dict = None if offer.forecast is None else offer.forecast._asdict()
        rows.append({**vars(offer), "forecast": as_dict, "per_answer": gain})
    return rows

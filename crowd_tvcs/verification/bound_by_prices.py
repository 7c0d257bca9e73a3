"""Compute the bound of `prices.csv`, by pricing every task in plain NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.verification import pricing_many_classes as multiclass
from crowd_tvcs.verification.pricing import price_task
from crowd_tvcs.verification.pricing_common_error import (
    scale_of_equals,
    seeming_chances,
    seeming_right,
    weights_and_scale,
)
from crowd_tvcs.verification.side_constraints import (
    groups_of,
    label_prices,
    outside_exclusion_groups,
    worth_of_money,
)

Floats = NDArray[np.float64]

EVERY = 100  # tasks between two words of progress


def bound_by_prices(
    plan: Plan,
    prices: Floats,
    budget_price: float,
    money_price: float,
    support: NDArray[np.bool_],
    values: Floats,
    log: Callable[[str], object],
) -> float:
    """Price every task, equal tasks only once, and return the bound that this proves.

    Raises
    ------
    ValueError
        Naming a task that could not be priced exactly.
    """
    m = len(plan.quality.tasks)
    price, groups = m * label_prices(plan, prices, budget_price, money_price), groups_of(plan)
    free = np.ones(support.shape, bool) if plan.forced is None else ~plan.forced
    allowed = free if plan.table.allowed is None else free & plan.table.allowed
    best: dict[tuple[Any, ...], tuple[float, float]] = {}
    terms = []
    for j, name in enumerate(plan.quality.tasks):
        if j and j % EVERY == 0:
            log(f"priced {j} of {m} tasks")
        fixed = ~free[:, j]
        may = allowed[:, j] & outside_exclusion_groups(groups, fixed)
        cap = int(plan.max_workers_per_task[j]) - int(fixed.sum())
        least = max(0, int(plan.min_workers_per_task[j]) - int(fixed.sum()))
        prior = plan.prior[j] if plan.class_prior is None else plan.class_prior[j].tobytes()
        table = b"" if plan.confusion is not None else plan.table.values[:, j].tobytes()
        key = (table, may.tobytes(), fixed.tobytes(), least, cap, prior)
        if key not in best:
            # A hand-made set that breaks the demands proves nothing about those that do not.
            chosen = support[:, j] & ~fixed
            is_one = may[chosen].all() and support[fixed, j].all() and least <= chosen.sum() <= cap
            seen = groups[chosen & (groups >= 0)]
            is_one = is_one and seen.size == np.unique(seen).size
            known = float(values[j] - price[support[:, j]].sum()) if is_one else -np.inf
            priced = _priced(plan, j, price, groups, may, fixed, least, cap, known)
            if priced is None:
                raise ValueError(f"task {name!r} could not be priced exactly here")
            best[key] = priced
        terms.append(best[key])
    caps = math.fsum(prices * plan.max_tasks_per_worker) + budget_price * plan.budget
    caps += worth_of_money(plan, money_price)
    found, most = (math.fsum(column) / m for column in zip(*terms, strict=True))
    return min(caps + found, most)


def _priced(
    plan: Plan,
    j: int,
    price: Floats,
    groups: NDArray[np.int64],
    may: NDArray[np.bool_],
    fixed: NDArray[np.bool_],
    least: int,
    cap: int,
    known: float,
) -> tuple[float, float] | None:
    """Largest accuracy minus prices of task j, and its largest accuracy; None if given up."""
    e, prior = plan.common_error, float(seeming_chances(plan)[j])
    scale = scale_of_equals(e)
    if plan.model is not None:
        matrices, seems = multiclass.chances(plan, j)
        chance, scale = weights_and_scale(seems, multiclass.shares(plan, j), e)
    cost = price / scale.factor
    spent = float(cost[fixed].sum())
    task, known = (cost[may], cap), scale.back(known) + spent
    if plan.model is not None:
        priced = multiclass.price_task(
            matrices[may], *task, chance, known,
            least=least, fixed=matrices[fixed], group=groups[may],
        )  # fmt: skip
    else:
        q = seeming_right(plan.table.values[:, j], e)
        priced = price_task(
            q[may], *task, prior, known, least=least, fixed=q[fixed], group=groups[may]
        )
    return (scale.of(priced.value - spent), scale.of(1.0)) if priced.exact else None

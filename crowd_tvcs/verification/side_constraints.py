"""Recomputed money and groups: costs of pairs, compatible workers, violations.

Nothing here is shared with the method but the plan itself.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.plan.plan import Plan

TOLERANCE = 1e-9  # of rounding

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def cost_of(plan: Plan, support: Bools) -> Fraction:
    """Cost of the pairs, without rounding."""
    cost = [Fraction(0)] if plan.cost is None else [Fraction(c) for c in plan.cost.tolist()]
    return sum((cost[i] for i in support.nonzero()[0].tolist()), Fraction(0))


def violated_side_constraints(plan: Plan, support: Bools) -> list[str]:
    """List the groups with several workers on a task, and costs above the limit."""
    out = []
    if plan.money is not None:
        cost = cost_of(plan, support)
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


def label_prices(plan: Plan, prices: Floats, budget_price: float, money_price: float) -> Floats:
    """Return the total price of a label of every worker."""
    each: Floats = prices + budget_price
    return each if plan.money is None or plan.cost is None else each + money_price * plan.cost


def worth_of_money(plan: Plan, money_price: float) -> float:
    """Price times money; forced pairs that cost more by rounding set how much there is."""
    if plan.money is None:
        return 0.0
    there = Fraction(plan.money)
    if plan.forced is not None:
        there = max(there, cost_of(plan, plan.forced))
    return money_price * float(there)


def groups_of(plan: Plan) -> NDArray[np.int64]:
    """Number the group of every worker; -1 for none."""
    if plan.group is None:
        return np.full(len(plan.quality.workers), -1)
    known = sorted({name for name in plan.group if name is not None})
    return np.array([-1 if name is None else known.index(name) for name in plan.group])


def outside_exclusion_groups(groups: NDArray[np.int64], fixed: Bools) -> Bools:
    """Mark the workers who are in no group of a fixed worker of the task."""
    taken = groups[fixed & (groups >= 0)]
    return ~np.isin(groups, taken)

"""Money and groups as the search takes them: costs of labels, and mates of every worker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.plan.costs import cheapest_minimums, group_codes, money_there_is, spent
from crowd_tvcs.plan.plan import Plan

SLACK = 1e-12  # of the money; sums of costs are rounded


@dataclass(frozen=True, eq=False)
class Rations:
    """The money beyond the forced pairs, and the groups of which one worker may join a task.

    Attributes
    ----------
    cost
        The cost of a label of every worker, in units of the mean of those who can be paid; (0,)
        if nothing limits that.
    owed
        The least that the minimum of every task costs, likewise.
    money
        The money, in the same unit; below 0 by rounding alone. 0 without a limit.
    unit
        That mean, in the unit of the plan's costs.
    group
        Number of the group of every worker, -1 for a worker without mates; (0,) without groups.
    """

    cost: Floats
    owed: Floats
    money: float
    unit: float
    group: Integers

    @classmethod
    def of(cls, plan: Plan, forced: Bools) -> Rations:
        """Read them off a plan; costs without money, or of nothing, limit nothing."""
        group = np.empty(0, dtype=np.int64)
        if plan.group is not None:
            codes = group_codes(plan)
            group = np.where(np.bincount(codes)[codes] > 1, codes, -1)
        if plan.money is None or plan.cost is None or not plan.cost.any():
            return cls(np.empty(0), np.empty(0), 0.0, 1.0, group)
        left = money_there_is(plan) - spent(plan.cost, forced)
        payable = (plan.cost > 0.0) & (plan.cost <= left)
        unit = float(plan.cost[payable if payable.any() else plan.cost > 0.0].mean())
        owed = cheapest_minimums(plan, forced, plan.cost) / unit
        return cls(plan.cost / unit, owed, left / unit, unit, group)

    @property
    def has_money(self) -> bool:
        """Whether costs limit anything."""
        return self.cost.size > 0

    @property
    def slack(self) -> float:
        """Money beyond the limit that rounding may spend."""
        return SLACK * max(0.0, self.money)

    def left(self, loads: Integers) -> float:
        """Return the money left after some loads of the workers; infinite without a limit."""
        if not self.has_money:
            return np.inf
        return self.money + self.slack - float(self.cost @ loads[: self.cost.size])

    def room(self, tasks: Integers, loads: Integers) -> Floats:
        """Return the money, and the least that these tasks must spend; (0,) without money."""
        if not self.has_money:
            return np.empty(0)
        return np.array([self.left(loads), self.owed[tasks].sum()])

    def limits(self, caps: Integers) -> Integers | Floats:
        """Return the caps of the workers and the budget, and the money if there is any."""
        return np.append(caps, self.money) if self.has_money else caps

    def priced_out(self, prices: Floats, caps: Integers, most_gain: float) -> Floats:
        """Raise prices of unusable pairs, which costs nothing in the bound.

        `most_gain` is the most that labels can add to the accuracy of a task.
        """
        n = caps.size
        out: Floats = np.where(caps == 0, prices[:n].max() + most_gain, prices[:n])
        if not self.has_money:
            return out
        of_money = float(prices[n])
        if self.money <= 0.0:
            of_money = max(of_money, most_gain / float(self.cost[self.cost > 0.0].min()))
        return np.append(out, of_money)

    def able(self, useful: Bools) -> Integers:
        """How many of some workers, of shape (tasks, workers), each task may have together."""
        if not self.group.size:
            return useful.sum(axis=1)
        out: Integers = useful[:, self.group < 0].sum(axis=1)
        for code in np.unique(self.group[self.group >= 0]):
            out += useful[:, self.group == code].any(axis=1)
        return out


def money_price_of(plan: Plan, rations: Rations, prices: Floats) -> float | None:
    """Read the price of money, in the plan's own unit, off all prices; None without money."""
    if plan.money is None:
        return None
    return float(prices[plan.quality.shape[0] + 1]) / rations.unit if rations.has_money else 0.0

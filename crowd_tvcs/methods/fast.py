"""The better of two assignments that take a fraction of a second."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.assignment import Assignment
from crowd_tvcs.deadline import Deadline
from crowd_tvcs.plan import Plan
from crowd_tvcs.starts import climb, largest_sum, market_of, met, odd_sizes


def fast(plan: Plan, *, rng: np.random.Generator, deadline: Deadline) -> Assignment:
    """Take the best, by exact expected accuracy, of greedy and of largest sums with odd sizes.

    Greedy adds the pair that adds most to the expected posterior probability of the truth; it is
    good where workers differ. The largest sum of qualities with an odd number of voters on every
    task is good where there are many equally good pairs. With more than two classes even numbers
    count as well, so equal numbers of any kind are a third try. It draws no random number and does
    not look at the deadline.
    """
    market = market_of(plan)
    tried = {
        "greedy on the probability of truth": climb(market, exact=False),
        "equal odd sizes": odd_sizes(market),
    }
    if plan.n_classes > 2:
        equal = np.full(market.n_tasks, -(-plan.budget // market.n_tasks))
        tried["equal sizes"] = largest_sum(plan, np.minimum(equal, market.offers[4]))
    tried = {name: met(plan, s) if plan.unmet(s) else s for name, s in tried.items()}
    accuracy = {name: plan.accuracy(support).mean() for name, support in tried.items()}
    best = max(accuracy, key=accuracy.__getitem__)
    return Assignment(plan, tried[best], "fast", f"the best of {len(tried)}: {best}")

"""The better of two assignments that take a fraction of a second."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.accuracy import expected_accuracy
from crowd_tvcs.assignment import Assignment
from crowd_tvcs.deadline import Deadline
from crowd_tvcs.plan import Plan
from crowd_tvcs.pricing import Market
from crowd_tvcs.starts import climb, met, odd_sizes


def fast(plan: Plan, *, rng: np.random.Generator, deadline: Deadline) -> Assignment:
    """Take the best, by exact expected accuracy, of greedy and of largest sums with odd sizes.

    Greedy adds the pair that adds most to the expected posterior probability of the truth; it is
    good where workers differ. The largest sum of qualities with an odd number of voters on every
    task is good where there are many equally good pairs. It draws no random number and does
    not look at the deadline.
    """
    market = Market.of(plan)
    tried = {
        "greedy on the probability of truth": climb(market, exact=False),
        "equal odd sizes": odd_sizes(market),
    }
    tried = {name: met(plan, s) if plan.unmet(s) else s for name, s in tried.items()}
    accuracy = {
        name: expected_accuracy(plan.quality.values, support, plan.prior).mean()
        for name, support in tried.items()
    }
    best = max(accuracy, key=accuracy.__getitem__)
    return Assignment(plan, tried[best], "fast", f"the best of {len(tried)}: {best}")

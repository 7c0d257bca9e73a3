"""Greedy assignment by exact gains."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.costs import is_rationed
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.greedy_with_costs import bargain
from crowd_tvcs.search.initial import climb
from crowd_tvcs.search.relaxation import Relaxation


def greedy(plan: Plan, *, rng: np.random.Generator, deadline: Deadline) -> Assignment:
    """Add pair after pair, always the one of the largest exact gain in expected accuracy.

    The gain is not submodular: a second voter who is not better than the first adds exactly 0, and
    a third may add a lot. If no pair adds anything, the one goes in that adds most to
    the expected posterior probability of the truth, which is never 0, so that the next may gain.
    Gains are kept until a voter joins the task. It draws no random number. Gains on tasks of more
    than 12 voters are approximate. With money the largest gain per cost goes first; until the
    deadline that is tried again with roots of the cost and with the gain alone, and the best is
    taken (`crowd_tvcs.search.greedy_with_costs`).
    """
    ended = "no pair with a gain has room"
    if is_rationed(plan):
        support = bargain(plan, deadline)
        ended = deadline.reason if deadline.has_passed else ended
    else:
        support = climb(Relaxation.of(plan), exact=True)
    return Assignment(plan, Assigned.of_support(support), "greedy", ended)

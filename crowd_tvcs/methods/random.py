"""Random assignment within the caps."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from tvcs_core import project


def random(plan: Plan, *, rng: np.random.Generator, deadline: Deadline) -> Assignment:
    """Keep the caps with random pairs: one projection of scores drawn from (0, 1].

    Qualities are not looked at, so a worker below 1/2 is as likely as any other. Forced pairs go
    first, then random ones that meet the minimums.
    """
    scores = 1.0 - rng.random(plan.quality.shape)
    fixed = plan.settle(scores)
    support = fixed | project(scores, plan.rest(fixed)).support
    return Assignment(
        plan, Assigned.of_support(support), "random", "one projection of random scores"
    )

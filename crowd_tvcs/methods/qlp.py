"""Q-based linear programming (Ho et al., 2013): the largest sum of qualities."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.certificate import Duals
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from tvcs_core import project


def qlp(plan: Plan, *, rng: np.random.Generator, deadline: Deadline) -> Assignment:
    """Maximise the sum of Q_ij X_ij by one exact projection, of the square root of Q.

    The projection keeps the largest sum of squares. It does not know how votes combine: it gives a
    task two equal workers where the second adds nothing, and prefers a worker of quality 1/2
    (uninformative) to one of .1 (whom the vote turns around); a quality of 0 is never
    taken. It draws no random number, and its one projection does not look at the deadline.

    Forced pairs are taken first, then the best pairs that meet the minimums, then the rest; with
    minimums the sum is the largest in each of these steps, not in all.
    """
    scores = np.sqrt(plan.table.values)
    fixed = plan.settle(scores)
    projection = project(scores, plan.rest(fixed))
    duals = Duals.of(projection, "sum of qualities", is_price=True)
    total = projection.objective + float(plan.table.values[fixed].sum())
    facts = {"sum_of_qualities": total, "projection_gap": projection.gap}
    support = fixed | projection.support
    return Assignment(
        plan, Assigned.of_support(support), "qlp", "one exact projection", duals, facts
    )

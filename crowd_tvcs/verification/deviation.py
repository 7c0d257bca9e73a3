"""How sure a plan is, by a skills table: from slopes of our own, in plain NumPy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.verification.pricing import accuracy
from crowd_tvcs.verification.pricing_common_error import (
    scale_of_equals,
    seeming_chances,
    seeming_right,
)

Floats = NDArray[np.float64]

QUALITY_STEP = 1e-4  # of a quality, for slopes


def deviation(plan: Plan, support: NDArray[np.bool_], known: Floats) -> float:
    """Standard deviation of the mean accuracy; `known` has the deviations of every worker."""
    e, prior = plan.common_error, seeming_chances(plan)
    slope = np.zeros(support.shape[0])
    for j, chosen in enumerate(support.T):
        voters = np.flatnonzero(chosen)
        for place, i in enumerate(voters):
            ends = []
            for step in (-QUALITY_STEP, QUALITY_STEP):
                q = plan.table.values[voters, j].copy()
                q[place] = min(max(q[place] + step, 0.0), 1.0)
                value = accuracy(seeming_right(q, e), float(prior[j]))[0]
                ends.append((q[place], scale_of_equals(e).of(value)))
            (left, before), (right, after) = ends
            slope[i] += (after - before) / (right - left) / support.shape[1]
    alone, shared = (slope * known[:, 0]) ** 2, (slope @ known[:, 1:]) ** 2
    return math.sqrt(math.fsum([*alone.tolist(), *shared.tolist()]))

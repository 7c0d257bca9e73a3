"""Interval of a share, and of the share of right labels of tasks given gold tasks."""

from __future__ import annotations

import math

Z = 1.96
"""Standard deviations around the mean of a normal distribution that hold 95 % of it."""


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of Wilson (1927) of a share of hits in `n` tries."""
    middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n)
    half = Z / (1.0 + Z * Z / n) * math.sqrt(share * (1.0 - share) / n + Z * Z / (4.0 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def prediction_interval(share: float, gold_tasks: float, tasks: int) -> tuple[float, float]:
    """Return the 95 % interval of the share of right labels of `tasks`, from `gold_tasks`.

    Gold tasks and tasks are both random samples, so the variances of both shares add up.
    """
    return wilson(share, 1.0 / (1.0 / gold_tasks + 1.0 / tasks))

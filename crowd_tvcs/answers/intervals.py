"""The interval of a share, and of one of tasks that gold tasks tell."""

from __future__ import annotations

import math

Z = 1.96
"""Standard deviations of a normal distribution within which .95 of it lie."""


def wilson(share: float, n: float) -> tuple[float, float]:
    """Interval that holds the true share with chance .95, of `n` tries with this share of hits."""
    middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n)
    half = Z / (1.0 + Z * Z / n) * math.sqrt(share * (1.0 - share) / n + Z * Z / (4.0 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def interval(share: float, gold_tasks: int, tasks: int) -> tuple[float, float]:
    """Where the share of right labels of so many tasks lies with chance .95, by so much gold.

    Gold tasks and tasks are both drawn, so the variances of both shares add up.
    """
    return wilson(share, 1.0 / (1.0 / gold_tasks + 1.0 / tasks))

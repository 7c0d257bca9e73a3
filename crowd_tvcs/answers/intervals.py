"""The interval of a share."""

from __future__ import annotations

import math

Z = 1.96
"""Standard deviations of a normal distribution within which .95 of it lie."""


def wilson(share: float, n: float) -> tuple[float, float]:
    """Interval that holds the true share with chance .95, of `n` tries with this share of hits."""
    middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n)
    half = Z / (1.0 + Z * Z / n) * math.sqrt(share * (1.0 - share) / n + Z * Z / (4.0 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)

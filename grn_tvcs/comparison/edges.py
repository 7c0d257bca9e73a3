"""An edge in both conditions and its type of change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from grn_tvcs.comparison.differences import Differences

INTERVAL = 0.95  # confidence level of intervals
KINDS = ("gained", "lost", "changed", "reversed")

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """An edge in both conditions.

    Attributes
    ----------
    rank
        1 for the edge with the highest probability to differ.
    regulator, target
        Names.
    kind
        One of `KINDS`. If both intervals exclude 0, ``"changed"``, or ``"reversed"`` with opposite
        signs; otherwise ``"gained"`` or ``"lost"``, by the stronger condition.
    probability
        Probability that the edge differs, in [0, 1].
    false_discovery
        Expected fraction of unchanged edges among all edges up to this rank, of all pairs of
        conditions where several are compared.
    p
        Fraction of permutations with at least such a difference.
    strength_a, strength_b, difference
        Correlation of the regulator's past with the target's next level, given its own level, in
        each condition, and the second less the first.
    intervals
        Lower and upper ends of the three.
    """

    rank: int
    regulator: str
    target: str
    kind: str
    probability: float
    false_discovery: float
    p: float
    strength_a: float
    strength_b: float
    difference: float
    intervals: tuple[tuple[float, float], tuple[float, float], tuple[float, float]]


def kind_of(a: float, b: float, of_a: tuple[float, float], of_b: tuple[float, float]) -> str:
    """Return the type of change, by strengths and their intervals; see `Difference`."""
    in_both = of_a[0] * of_a[1] > 0 and of_b[0] * of_b[1] > 0
    if in_both:
        return "changed" if a * b > 0 else "reversed"
    return "gained" if abs(b) > abs(a) else "lost"


def intervals(found: Differences, n_series: tuple[int, int]) -> list[tuple[Array, Array]]:
    """Return the ends of the intervals of both strengths and of the difference."""
    z = np.arctanh(found.first), np.arctanh(found.second)
    errors = found.first_error, found.second_error
    ends = []
    for mid, error, n in zip(z, errors, n_series, strict=True):
        reach = stats.t.isf((1 - INTERVAL) / 2, n - 1) * error
        ends.append((np.tanh(mid - reach), np.tanh(mid + reach)))
    # Interval of the difference of two correlations from their own intervals (Zou 2007).
    (low_a, high_a), (low_b, high_b) = ends
    between = found.second - found.first
    below = np.hypot(found.second - low_b, high_a - found.first)
    above = np.hypot(high_b - found.second, found.first - low_a)
    return [*ends, (between - below, between + above)]

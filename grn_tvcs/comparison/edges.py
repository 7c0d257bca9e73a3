"""An edge in both conditions and its type of change."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("gained", "lost", "changed", "reversed")


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
        Expected fraction of unchanged edges among all edges up to this rank; 1 if the global test
        is not significant.
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

    @property
    def description(self) -> str:
        """The tooltip of the drawing."""
        return f"{self.regulator} to {self.target}: {self.kind}, probability {self.probability:.2f}"


def kind_of(a: float, b: float, of_a: tuple[float, float], of_b: tuple[float, float]) -> str:
    """Return the type of change, by strengths and their intervals; see `Difference`."""
    in_both = of_a[0] * of_a[1] > 0 and of_b[0] * of_b[1] > 0
    if in_both:
        return "changed" if a * b > 0 else "reversed"
    return "gained" if abs(b) > abs(a) else "lost"

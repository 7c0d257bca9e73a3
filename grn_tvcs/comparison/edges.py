"""An edge in both conditions, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("gained", "lost", "changed", "reversed")


@dataclass(frozen=True)
class Difference:
    """An edge in both conditions.

    Attributes
    ----------
    rank
        1 for the edge that most likely differs.
    regulator, target
        Names.
    kind
        One of `KINDS`: both intervals leave 0 out in ``"changed"`` and, of two signs,
        ``"reversed"``; else the stronger side says ``"gained"`` or ``"lost"``.
    chance
        How likely the edge differs, in [0, 1].
    false_discovery
        Expected share of edges that do not differ among all edges up to this rank; 1 where the
        exchanges find no difference at all.
    p
        Share of the exchanges of series with at least such a difference.
    strength_a, strength_b, difference
        Correlation of the regulator's past with the target's next level, its own level taken out,
        in each condition, and the second less the first.
    intervals
        Of the three, lower and upper ends.
    """

    rank: int
    regulator: str
    target: str
    kind: str
    chance: float
    false_discovery: float
    p: float
    strength_a: float
    strength_b: float
    difference: float
    intervals: tuple[tuple[float, float], tuple[float, float], tuple[float, float]]

    @property
    def said(self) -> str:
        """What a drawing says of it."""
        return f"{self.regulator} to {self.target}: {self.kind}, chance {self.chance:.2f}"


def kind_of(a: float, b: float, of_a: tuple[float, float], of_b: tuple[float, float]) -> str:
    """What became of an edge, by strengths and their intervals; see `Difference`."""
    in_both = of_a[0] * of_a[1] > 0 and of_b[0] * of_b[1] > 0
    if in_both:
        return "changed" if a * b > 0 else "reversed"
    return "gained" if abs(b) > abs(a) else "lost"

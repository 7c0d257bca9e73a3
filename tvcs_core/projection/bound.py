"""What a gap says of all other supports."""

from __future__ import annotations

import math


class Bounded:
    """A support that keeps `kept`, of which any other keeps at most `gap` more."""

    kept: float
    gap: float

    @property
    def bound(self) -> float:
        """No feasible support keeps more than this (weak duality)."""
        return self.kept + self.gap

    @property
    def relative_gap(self) -> float:
        """`gap` as a fraction of `kept`."""
        if self.gap == 0:
            return 0.0
        return self.gap / self.kept if self.kept else math.inf

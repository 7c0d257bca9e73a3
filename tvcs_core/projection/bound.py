"""The bound on all other supports that follows from a gap."""

from __future__ import annotations

import math


class Bounded:
    """A support with its `objective`; any other feasible support exceeds it by at most `gap`."""

    objective: float
    gap: float

    @property
    def bound(self) -> float:
        """Upper bound on the objective of every feasible support (weak duality)."""
        return self.objective + self.gap

    @property
    def relative_gap(self) -> float:
        """`gap` as a fraction of the objective."""
        if self.gap == 0:
            return 0.0
        return self.gap / self.objective if self.objective else math.inf

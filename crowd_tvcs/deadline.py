"""The time limit of a method, and what it tells people when it struck."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """The moment at which a method must return the best it has.

    Attributes
    ----------
    seconds
        The limit; infinity for none.
    moment
        When it strikes, on the clock of `time.monotonic`.
    """

    seconds: float
    moment: float

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Start the clock now."""
        limit = math.inf if seconds is None else float(seconds)
        return cls(limit, time.monotonic() + limit)

    @property
    def has_passed(self) -> bool:
        """Whether it is time to stop."""
        return time.monotonic() >= self.moment

    def __str__(self) -> str:
        return f"{self.seconds:g} s"

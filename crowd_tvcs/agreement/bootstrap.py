"""Bootstrap over tasks: the draws, and the interval of a statistic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_tvcs.arrays import Floats


@dataclass(frozen=True)
class Estimate:
    """A statistic and its bootstrap interval.

    Attributes
    ----------
    value
        None if undefined, for the reason `why`.
    low, high
        Ends of the interval; None without one.
    lost
        Draws with an undefined value, which the interval leaves out.
    why
        Reason for a missing value; empty otherwise.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    lost: int = 0
    why: str = ""

    @classmethod
    def of(cls, value: float, drawn: Floats, interval: float) -> Estimate:
        """Make an estimate from a value and the values of the draws, nan if undefined."""
        lost = int(np.isnan(drawn).sum())
        if lost == drawn.size:
            return cls(value, lost=lost)
        low, high = percentiles(drawn, interval)
        return cls(value, float(low), float(high), lost)


def draw_tasks(draws: int, m: int, rng: np.random.Generator) -> Floats:
    """Return how often each of m tasks occurs in m draws with replacement: (draws, m)."""
    chosen = rng.integers(0, m, size=(draws, m)) + m * np.arange(draws)[:, None]
    return np.bincount(chosen.ravel(), minlength=draws * m).reshape(draws, m).astype(np.float64)


def percentiles(values: Floats, interval: float) -> tuple[Floats, Floats]:
    """Return the ends of the central interval over the last axis, without nan; nan if all are."""
    ordered = np.sort(values, axis=-1)  # nan come last
    last = np.maximum((~np.isnan(values)).sum(axis=-1) - 1, 0)
    ends = []
    for share in ((1.0 - interval) / 2.0, (1.0 + interval) / 2.0):
        at = share * last
        below = np.floor(at).astype(np.int64)
        above = np.minimum(below + 1, last)
        left, right = (
            np.take_along_axis(ordered, b[..., None], -1)[..., 0] for b in (below, above)
        )
        ends.append(left + (at - below) * (right - left))
    return ends[0], ends[1]

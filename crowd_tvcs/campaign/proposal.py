"""A round before it is issued."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.skills.accuracy_forecast import AccuracyForecast

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Proposal:
    """A round before it is issued.

    Attributes
    ----------
    pairs
        New pairs of worker and task, of shape (pairs, 2), sorted.
    method, reason
        How it was made, and why it ended.
    expected_accuracy
        Mean over the tasks once all that is out is answered.
    bound
        No plan for this round has a larger one; None if none is proved.
    left_out
        Pairs that the plan had and that were not worth their price.
    standard_error
        Of `expected_accuracy`, see `crowd_tvcs.Assignment.standard_error`.
    forecast
        Predicted accuracy by gold after all pending answers; None without.
    """

    pairs: Integers
    method: str
    reason: str
    expected_accuracy: float
    bound: float | None
    left_out: int
    standard_error: float
    forecast: AccuracyForecast | None = None


def labels_left(settings: Settings, labels: int | None) -> int | None:
    """Return the most new labels by the budget and the request; None for no limit."""
    new = None if settings.budget is None else settings.budget - settings.slots
    if labels is not None:
        new = labels if new is None else min(new, labels)
    return new

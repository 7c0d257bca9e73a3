"""A round before it is issued, and planning shared by tables and factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import CLOSED
from crowd_tvcs.skills.accuracy_forecast import AccuracyForecast
from tvcs_core.files.display import plural
from tvcs_core.streams import stream

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_GAIN = 1e-12  # in chance of a right label; below, a label adds nothing


@dataclass(frozen=True, kw_only=True)
class RoundRequest:
    """What is asked of a round; attributes as the arguments of `Campaign.plan`."""

    labels: int | None = None
    method: str | None = None
    time_limit: float | None = None
    min_gain: float | None = None
    quick: bool = False
    max_per_side: int | None = None


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
    return min((n for n in (settings.left, labels) if n is not None), default=None)


def reason_of(found: Assignment, kept: float, left_out: int) -> str:
    """Why a plan ended, of whose labels some may have been left out."""
    if kept >= found.expected_accuracy - CLOSED:
        return found.reason
    return f"{plural(left_out, 'label')} left out of a plan that ended so: {found.reason}"


def rng_of(settings: Settings) -> int | np.random.Generator:
    """Randomness of the next round; of the first it is that of `assign`."""
    if settings.rounds:
        return stream(settings.seed, "round", str(settings.rounds))
    return int(settings.seed)


def worth_their_price(plan: Plan, pending: Bools, chosen: Bools, min_gain: float) -> Bools:
    """Drop new labels that add less than they must; return the others.

    The weakest new worker of a task goes if the task does about as well without them, and then the
    next; all go if together they add too little per label. Minimums stay met.
    """
    min_gain = max(min_gain, LEAST_GAIN)
    chosen, gains = chosen.copy(), plan.answer_gain
    accuracy = plan.accuracy(chosen | pending)
    before = plan.accuracy(pending)
    spare = (chosen | pending).sum(axis=0) - plan.min_workers_per_task
    columns = np.arange(chosen.shape[1])
    while True:
        weakest = np.where(chosen, gains, 2.0).argmin(axis=0)
        fewer = chosen.copy()
        fewer[weakest, columns] = False
        without = plan.accuracy(fewer | pending)
        goes = chosen.any(axis=0) & (spare > 0) & (accuracy - without < min_gain)
        if not goes.any():
            break
        chosen[:, goes] = fewer[:, goes]
        accuracy[goes] = without[goes]
        spare[goes] -= 1
    new = chosen.sum(axis=0)
    vain = (new > 0) & (spare >= new) & (accuracy - before < min_gain * new)
    chosen[:, vain] = False
    return chosen

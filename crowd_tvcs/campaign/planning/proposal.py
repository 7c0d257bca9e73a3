"""The request of a round, and planning shared by tables and factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowd_tvcs.campaign.settings import check_range, count_of
from crowd_tvcs.campaign.state import Bools, Integers, State
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import CLOSED
from tvcs_core.arguments import check_type
from tvcs_core.files.display import plural
from tvcs_core.streams import stream

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

    def __post_init__(self) -> None:
        count_of("labels", self.labels, least=1)
        count_of("max_per_side", self.max_per_side)
        check_type("quick", self.quick, bool)
        if self.min_gain is not None:
            check_range("min_gain", self.min_gain, 0.0, 1.0)


def beliefs_of(state: State, number: Integers | slice = slice(None)) -> dict[str, Any]:
    """Return the priors of a plan of all tasks, or of some: their posteriors."""
    if len(state.classes) > 2:
        return {"n_classes": len(state.classes), "class_prior": state.posterior[number]}
    return {"prior": state.posterior[number, 1]}


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

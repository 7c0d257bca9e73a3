"""The cases of the crowd study: which plans, by which method, and what is measured on each."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass

import numpy as np

from crowd_tvcs import Plan, Quality, assign, sampled_accuracy, simulate
from crowd_tvcs.routing.outcomes import NO_LIMIT

SIZES = {"100x1000": (100, 1000), "200x10000": (200, 10000)}
FAMILIES = ("iid", "worker", "skilldiff", "topic")
RATIOS = (0.01, 0.02, 0.03, 0.05, 0.1)
METHODS = ("random", "qlp", "greedy", "fast", "tvcs", "best")  # the quick ones first
SHARE = 0.8  # of what the caps of workers or tasks allow
SEED = 731_900_417  # of this study alone: nothing was tuned on it
TIME_LIMIT = 60.0
Key = tuple[str, str, float, int, str]


@dataclass(frozen=True)
class Case:
    """One assignment: `error` is 1 - exact expected accuracy, `sampled` is the paper's estimate."""

    size: str
    family: str
    ratio: float
    repeat: int
    method: str
    answers: int
    error: float
    sampled: float
    bound: float  # on the error: no assignment has less; nan if not certified
    seconds: float

    @property
    def key(self) -> Key:
        return self.size, self.family, self.ratio, self.repeat, self.method


def order(case: Case) -> tuple[int, int, float, int, int]:
    """By size, family and ratio; the repeats of a method together."""
    size, family = list(SIZES).index(case.size), FAMILIES.index(case.family)
    return size, family, case.ratio, METHODS.index(case.method), case.repeat


def plan_of(quality: Quality, ratio: float) -> Plan:
    """Caps at ratio r: r n workers per task, r m tasks per worker, .8 of what these allow."""
    n, m = quality.values.shape
    per_task, per_worker = max(1, round(ratio * n)), max(1, round(ratio * m))
    return Plan(
        quality,
        max_workers_per_task=per_task,
        max_tasks_per_worker=per_worker,
        budget=int(SHARE * min(n * per_worker, m * per_task)),
    )


def draw(size: str, family: str, ratio: float, repeat: int) -> Plan:
    quality = simulate(*SIZES[size], family=family, rng=SEED + repeat).quality
    return plan_of(quality, ratio)


@functools.cache
def warm(method: str) -> None:
    """Compile before the clock runs."""
    assign(draw("100x1000", "iid", 0.01, 10**6), method, rng=0, time_limit=2.0)


def compute(
    size: str, family: str, ratio: float, repeat: int, method: str, limit: float = TIME_LIMIT
) -> Case:
    warm(method)
    plan = draw(size, family, ratio, repeat)
    began = time.perf_counter()
    found = assign(plan, method, rng=repeat, time_limit=limit)
    seconds = time.perf_counter() - began
    # Samples of their own, as in the paper: independent of those used to assign.
    sampled = sampled_accuracy(plan.quality.values, found.support, n_samples=200, rng=SEED - repeat)
    return Case(
        size,
        family,
        ratio,
        repeat,
        method,
        found.size,
        1.0 - found.expected_accuracy,
        1.0 - float(sampled.mean()),
        np.nan if found.bound is None else 1.0 - found.bound,
        round(seconds, 2),
    )


# Of `benchmarks.crowd.confidence`.
GOLD = (0.2, 0.05, 0.01)
LABELS = (1, 2, 3, 5, NO_LIMIT)
MODELS = ("dependent", "independent")
LEFT_OUT = "left out"  # of the sets that the usual numbers are from
RIVALS = ("MajorityVote", "DawidSkene", "OneCoinDawidSkene")
SLOW = ("GLAD",)  # computed last; MACE takes minutes
ASKED = (1, 2, 3)


@dataclass(frozen=True)
class Claim:
    """What is claimed of the labels of one set and what is reached, the mean over the splits.

    Attributes
    ----------
    data, gold, order, model, labels
        The set, the share of gold, whose labels, the model, and labels per task (0: all).
    splits
        How many.
    claimed, reached, log_score
        Mean confidence, share of right labels, and mean logarithm of the chance of the true one.
    reached_error, gap_error
        Standard errors of `reached` and of claimed - reached: of the draw of gold, not of the data.
    sure, sure_wrong
        Share of the tasks called .95 sure or surer, and share of wrong labels among all of those;
        None where there are none.
    """

    data: str
    gold: float
    order: str
    model: str
    labels: int
    splits: int
    claimed: float
    reached: float
    log_score: float
    reached_error: float
    gap_error: float
    sure: float
    sure_wrong: float | None

    @property
    def key(self) -> tuple[str, float, str, str, int, int]:
        return self.data, self.gold, self.order, self.model, self.labels, self.splits

    @property
    def gap(self) -> float:
        """How much too much is claimed."""
        return self.claimed - self.reached


@dataclass(frozen=True)
class Labels:
    """Right labels of one set by one method, the mean over the splits and its standard error."""

    data: str
    method: str
    labels: int
    splits: int
    accuracy: float
    error: float

    @property
    def key(self) -> tuple[str, str, int]:
        return self.data, self.method, self.splits


@dataclass(frozen=True)
class Policy:
    """What one policy reaches with so many labels per task on average, the mean over the splits.

    Attributes
    ----------
    data, model, policy, labels, splits
        As in `Claim` and `crowd_tvcs.routing.outcomes.Outcome`.
    claimed, reached, reached_error
        As in `Claim`.
    ahead, ahead_error
        How many more labels are right than of balanced ones on the same split, and its standard
        error.
    """

    data: str
    model: str
    policy: str
    labels: int
    splits: int
    claimed: float
    reached: float
    reached_error: float
    ahead: float
    ahead_error: float

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        return self.data, self.model, self.policy, self.labels, self.splits


@dataclass(frozen=True)
class Cost:
    """Gold tasks, answers to them, classes, and seconds of processor time: the middle one."""

    data: str
    tasks: int
    answers: int
    classes: int
    seconds: float

    @property
    def key(self) -> str:
        return self.data

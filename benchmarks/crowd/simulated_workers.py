"""Simulated crowds with some deviant workers, and the times of their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import Answers, Gold
from tvcs_core.streams import stream

START_TIME = 1_700_000_000.0  # seconds since 1970
SESSION_ANSWERS = 40  # answers without a pause
BREAK_SECONDS, DAY_SECONDS = 8 * 3600.0, 86_400.0
MIN_SKILL_LOGIT = 0.5  # so that honest workers are better than chance
HONEST = "honest"
KINDS = (HONEST, "guessing", "same label", "pattern", "copying", "drift", "fatigue", "too fast")


@dataclass(frozen=True)
class SimulatedWorkers:
    """Simulated answers with their times, gold, and the kind of every worker."""

    answers: Answers
    gold: Gold
    kinds: Mapping[str, str]


def simulate_workers(
    kinds: Mapping[int, str] | None = None,
    *,
    n_workers: int = 20,
    n_tasks: int = 200,
    n_classes: int = 2,
    n_gold: int = 80,
    per_task: int | None = None,
    difficulty: float = 1.0,
    rng: int | np.random.Generator | None = None,
) -> SimulatedWorkers:
    """Simulate workers, some of whom deviate.

    The logit of a right answer is the skill of the worker, normal (1.5, .7) and at least
    `MIN_SKILL_LOGIT`, less the difficulty of the task, normal (0, `difficulty`), which all share. A
    wrong label is with probability .6 the most attractive one of the task. Durations are
    log-normal, in sessions of `SESSION_ANSWERS` answers.

    Parameters
    ----------
    kinds
        Kinds of deviant workers, by their number; the others are honest. A worker who copies takes
        four in five answers of the previous worker. Drift and fatigue lower the logit by 4, from
        the first answer to the last or within each session. Workers who are too fast take a second
        for half of their answers, and guess these.
    n_workers, n_tasks, n_classes, n_gold
        Sizes; the first `n_gold` of the tasks, which come in random order, are gold.
    per_task
        Workers of each task, drawn; None for all.
    difficulty
        Deviation of the difficulty of the tasks.
    rng
        Seed or generator.
    """
    rng = stream(rng, "workforce")
    doing = [HONEST if kinds is None else kinds.get(i, HONEST) for i in range(n_workers)]
    truth = rng.integers(0, n_classes, n_tasks)
    attracts = (truth + rng.integers(1, n_classes, n_tasks)) % n_classes
    hard = rng.normal(0.0, difficulty, n_tasks)
    skill = np.maximum(MIN_SKILL_LOGIT, rng.normal(1.5, 0.7, n_workers))
    given = np.zeros((n_workers, n_tasks), dtype=np.int64)
    has = np.ones((n_workers, n_tasks), dtype=bool)
    if per_task is not None:
        has = rng.random((n_workers, n_tasks)).argsort(axis=0).argsort(axis=0) < per_task
    tasks = _Tasks(truth, attracts, hard, n_classes)
    rows, when, seconds = [], [], []
    for i, kind in enumerate(doing):
        order = rng.permutation(np.flatnonzero(has[i]))
        labels, took = _work(kind, skill[i], tasks, order, rng)
        if kind == "copying":
            copied = has[i - 1, order] & (rng.random(order.size) < 0.8)
            labels = np.where(copied, given[i - 1, order], labels)
        given[i, order] = labels
        pauses = BREAK_SECONDS * (np.arange(order.size) // SESSION_ANSWERS)
        times = (
            START_TIME + DAY_SECONDS * i + np.cumsum(took) + pauses
        )  # each after the worker before
        rows += [(f"t{j:04d}", f"w{i:03d}", str(k)) for j, k in zip(order, labels, strict=True)]
        when += times.tolist()
        seconds += took.tolist()
    gold = {f"t{j:04d}": str(truth[j]) for j in range(n_gold)}
    classes = [str(k) for k in range(n_classes)]
    names = [f"w{i:03d}" for i in range(n_workers)]
    answers = Answers.of(rows, workers=names, classes=classes, when=when, seconds=seconds)
    return SimulatedWorkers(answers, Gold(gold, classes), dict(zip(names, doing, strict=True)))


class _Tasks(NamedTuple):
    """Label, attractive wrong label and difficulty of every task, and the number of classes."""

    truth: NDArray[np.int64]
    attracts: NDArray[np.int64]
    hard: NDArray[np.float64]
    n_classes: int


def _work(
    kind: str,
    skill: float,
    tasks: _Tasks,
    order: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and durations of one worker for tasks in this order."""
    took = np.exp(rng.normal(np.log(12.0) + rng.normal(0.0, 0.3), 0.5, order.size))
    place = np.arange(order.size)
    logit = skill - tasks.hard[order]
    if kind == "drift":
        logit -= 4.0 * place / order.size
    elif kind == "fatigue":
        logit -= 4.0 * (place % SESSION_ANSWERS) / SESSION_ANSWERS
    right = rng.random(order.size) < 1.0 / (1.0 + np.exp(-logit))
    other = tasks.truth[order] + rng.integers(1, tasks.n_classes, order.size)
    wrong = np.where(rng.random(order.size) < 0.6, tasks.attracts[order], other % tasks.n_classes)
    labels = np.where(right, tasks.truth[order], wrong)
    return _deviant_answers(kind, labels, took, tasks.n_classes, rng)


def _deviant_answers(
    kind: str,
    labels: np.ndarray,
    took: np.ndarray,
    n_classes: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Replace labels and durations of an honest worker by those of a deviant one."""
    n = labels.size
    if kind == "guessing":
        return rng.integers(0, n_classes, n), took
    if kind == "same label":
        return np.where(rng.random(n) < 0.98, 0, labels), took
    if kind == "pattern":
        period = np.r_[0, np.arange(n_classes)]
        return period[np.arange(n) % period.size], took
    if kind == "too fast":
        fast = rng.random(n) < 0.5
        guessed = np.where(fast, rng.integers(0, n_classes, n), labels)
        return guessed, np.where(fast, rng.uniform(0.6, 1.4, n), took)
    return labels, took

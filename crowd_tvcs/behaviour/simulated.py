"""Simulated crowds in which some workers do what is looked for, with the times of their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import Answers, Gold
from tvcs_core.streams import stream

BEGIN = 1_700_000_000.0
SESSION = 40  # answers without a pause
BREAK, DAY = 8 * 3600.0, 86_400.0
LEAST_SKILL = 0.5  # logit; an honest worker knows something
HONEST = "honest"
KINDS = (HONEST, "guessing", "same label", "pattern", "copying", "drift", "fatigue", "too fast")


@dataclass(frozen=True)
class Workforce:
    """A simulated crowd: its answers with their times, gold, and who does what."""

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
) -> Workforce:
    """Simulate workers of whom some behave otherwise.

    The logit of a right answer is the skill of the worker, normal (1.5, .7)
    and at least `LEAST_SKILL`, less the difficulty of
    the task, normal (0, `difficulty`), which all share; the wrong label is with chance .6 the one
    that attracts most on this task. Workers take about as long as others, log-normal, in sessions
    of `SESSION` answers.

    Parameters
    ----------
    kinds
        What some workers do, by their number; the others are honest. A worker who copies takes four
        in five answers of the worker before. Who drifts or tires falls by 4 in the logit, from the
        first answer to the last or within each session. Of those too fast half the answers take a
        second and are guessed.
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
    skill = np.maximum(LEAST_SKILL, rng.normal(1.5, 0.7, n_workers))
    given = np.zeros((n_workers, n_tasks), dtype=np.int64)
    has = np.ones((n_workers, n_tasks), dtype=bool)
    if per_task is not None:
        has = rng.random((n_workers, n_tasks)).argsort(axis=0).argsort(axis=0) < per_task
    tasks = _Tasks(truth, attracts, hard, n_classes)
    rows, when, seconds = [], [], []
    for i, what in enumerate(doing):
        order = rng.permutation(np.flatnonzero(has[i]))
        labels, took = _work(what, skill[i], tasks, order, rng)
        if what == "copying":
            copied = has[i - 1, order] & (rng.random(order.size) < 0.8)
            labels = np.where(copied, given[i - 1, order], labels)
        given[i, order] = labels
        pauses = BREAK * (np.arange(order.size) // SESSION)
        times = BEGIN + DAY * i + np.cumsum(took) + pauses  # each after the worker before
        rows += [(f"t{j:04d}", f"w{i:03d}", str(k)) for j, k in zip(order, labels, strict=True)]
        when += times.tolist()
        seconds += took.tolist()
    gold = {f"t{j:04d}": str(truth[j]) for j in range(n_gold)}
    classes = [str(k) for k in range(n_classes)]
    names = [f"w{i:03d}" for i in range(n_workers)]
    answers = Answers.of(rows, workers=names, classes=classes, when=when, seconds=seconds)
    return Workforce(answers, Gold(gold, classes), dict(zip(names, doing, strict=True)))


class _Tasks(NamedTuple):
    """Of every task its label, the wrong one that attracts, and how hard it is; and the classes."""

    truth: NDArray[np.int64]
    attracts: NDArray[np.int64]
    hard: NDArray[np.float64]
    n_classes: int


def _work(
    what: str,
    skill: float,
    tasks: _Tasks,
    order: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Labels and durations of one worker, who answers the tasks in this order."""
    took = np.exp(rng.normal(np.log(12.0) + rng.normal(0.0, 0.3), 0.5, order.size))
    place = np.arange(order.size)
    logit = skill - tasks.hard[order]
    if what == "drift":
        logit -= 4.0 * place / order.size
    elif what == "fatigue":
        logit -= 4.0 * (place % SESSION) / SESSION
    right = rng.random(order.size) < 1.0 / (1.0 + np.exp(-logit))
    other = tasks.truth[order] + rng.integers(1, tasks.n_classes, order.size)
    wrong = np.where(rng.random(order.size) < 0.6, tasks.attracts[order], other % tasks.n_classes)
    labels = np.where(right, tasks.truth[order], wrong)
    return _otherwise(what, labels, took, tasks.n_classes, rng)


def _otherwise(
    what: str,
    labels: np.ndarray,
    took: np.ndarray,
    n_classes: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Replace the labels and durations of an honest worker by those of one who is not."""
    n = labels.size
    if what == "guessing":
        return rng.integers(0, n_classes, n), took
    if what == "same label":
        return np.where(rng.random(n) < 0.98, 0, labels), took
    if what == "pattern":
        period = np.r_[0, np.arange(n_classes)]
        return period[np.arange(n) % period.size], took
    if what == "too fast":
        fast = rng.random(n) < 0.5
        guessed = np.where(fast, rng.integers(0, n_classes, n), labels)
        return guessed, np.where(fast, rng.uniform(0.6, 1.4, n), took)
    return labels, took

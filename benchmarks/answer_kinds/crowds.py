"""Simulated crowds of each kind of answers; they differ from the fitted models on purpose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import Answers, Gold

Integers = NDArray[np.int64]
SCALES = ("honest", "biased", "compressed", "spammers", "hard", "steps", "tails", "all")


def names(letter: str, n: int) -> list[str]:
    """Return n names whose order as text is that of their numbers."""
    return [f"{letter}{k:05d}" for k in range(n)]


def scale_crowd(
    kind: str, n_steps: int, per_task: int, rng: np.random.Generator, *, tasks: int = 200,
    workers: int = 30,
) -> tuple[Answers, Integers]:  # fmt: skip
    """Simulate answers on a scale, and the right step of every task.

    Workers of a kind are biased, use a part of the scale, or spam (one step, or any); tasks are
    hard (one error shared by all), steps are unequally wide, errors have heavy tails.
    """
    half, centre = (n_steps - 1) / 4, (n_steps - 1) / 2
    right = rng.choice(n_steps, tasks, p=rng.dirichlet(np.full(n_steps, 4.0)))
    task = np.repeat(np.arange(tasks), per_task)
    worker = np.concatenate([rng.choice(workers, per_task, replace=False) for _ in range(tasks)])
    noise = half * 0.6 * np.exp(0.4 * rng.standard_normal(workers))
    bias, slope = np.zeros(workers), np.ones(workers)
    score, cuts = right.astype(np.float64), np.arange(n_steps - 1) + 0.5
    if kind in ("biased", "all"):
        bias = 0.8 * half * rng.standard_normal(workers)
    if kind in ("compressed", "all"):
        slope = rng.uniform(0.35, 1, workers)
    if kind in ("hard", "all"):
        score = score + 0.5 * half * rng.standard_normal(tasks)
    if kind == "steps":
        cuts = np.sort(cuts + 0.35 * rng.standard_normal(n_steps - 1))
    error = rng.standard_t(2, task.size) if kind == "tails" else rng.standard_normal(task.size)
    seen = centre + bias[worker] + slope[worker] * (score[task] - centre) + noise[worker] * error
    label = np.searchsorted(cuts, seen)
    if kind in ("spammers", "all"):
        is_spam = rng.random(workers) < 0.3
        constant = np.where(rng.random(workers) < 0.5, -1, rng.integers(0, n_steps, workers))
        any_step = rng.integers(0, n_steps, task.size)
        spam = np.where(constant[worker] < 0, any_step, constant[worker])
        label = np.where(is_spam[worker], spam, label)
    scale = [str(k + 1) for k in range(n_steps)]
    return Answers(names("t", tasks), names("w", workers), scale, task, worker, label), right


def gold_of(
    answers: Answers, right: Integers, share: float, rng: np.random.Generator
) -> tuple[Gold | None, NDArray[np.bool_]]:
    """Draw a share of the tasks as gold; return it, and the mask of the others."""
    known = rng.permutation(right.size)[: int(share * right.size)]
    rest = np.ones(right.size, dtype=bool)
    rest[known] = False
    if not known.size:
        return None, rest
    labels = {answers.tasks[j]: answers.classes[right[j]] for j in known.tolist()}
    return Gold(labels, answers.classes), rest

"""Simulated crowds of each kind of answers; they differ from the fitted models on purpose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answer_kinds.comparisons import Comparisons
from crowd_tvcs.answer_kinds.label_sets import LabelSets
from crowd_tvcs.answers.answers import Answers, Gold

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
SETS = ("independent", "truth depends", "lazy", "hard", "all")
PAIRS = ("honest", "spammers", "contrary", "sides", "no ties", "intransitive")
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


class PairWorld:
    """Items with scores, and workers who compare them.

    Workers of a kind spam (30 %), answer the other way round (15 %), prefer the left, never tie, or
    have a taste of every pair that no scores explain.
    """

    def __init__(self, kind: str, items: int, workers: int, rng: np.random.Generator) -> None:
        self.score = 1.2 * rng.standard_normal(items)
        self.weight = np.exp(0.4 * rng.standard_normal(workers))
        self.weight /= self.weight.mean()
        self.side = 0.3 * rng.standard_normal(workers)
        self.tie = -0.7 + 0.6 * rng.standard_normal(workers)
        self.taste = np.zeros((items, items))
        if kind == "spammers":
            n = int(0.3 * workers)
            self.weight[:n], self.side[:n] = 0, 1.5 * rng.standard_normal(n)
        if kind == "contrary":
            self.weight[: int(0.15 * workers)] *= -1
        if kind == "sides":
            self.side += 0.8
        if kind == "no ties":
            self.tie[:] = -30
        if kind == "intransitive":
            upper = np.triu(0.8 * rng.standard_normal((items, items)), 1)
            self.taste = upper - upper.T

    @property
    def typical_score(self) -> Floats:
        """The scores as a worker of mean weight uses them."""
        found: Floats = (self.score - self.score.mean()) * self.weight.mean()
        return found

    def answer(
        self, left: Integers, right: Integers, worker: Integers, rng: np.random.Generator
    ) -> Integers:
        """Return the answers 0 (left), 1 (right) or 2 (tie)."""
        differs = self.score[left] - self.score[right] + self.taste[left, right]
        u = (self.weight[worker] * differs + self.side[worker]) / 2
        logs = np.column_stack([u, -u, self.tie[worker]])
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        drawn: Integers = (rng.random(u.size)[:, None] > chances.cumsum(axis=1)[:, :2]).sum(axis=1)
        return drawn


def pair_crowd(
    kind: str, items: int, workers: int, answers: int, rng: np.random.Generator
) -> tuple[Comparisons, PairWorld]:
    """Simulate comparisons of random pairs by random workers."""
    world = PairWorld(kind, items, workers, rng)
    left = rng.integers(0, items, answers)
    right = (left + rng.integers(1, items, answers)) % items
    worker = rng.integers(0, workers, answers)
    answer = world.answer(left, right, worker, rng)
    named = tuple(names("i", items)), tuple(names("w", workers))
    return Comparisons(*named, left, right, worker, answer), world


def set_crowd(
    kind: str, rng: np.random.Generator, *, labels: int = 6, per_task: int = 4, tasks: int = 250,
    workers: int = 25,
) -> tuple[LabelSets, NDArray[np.bool_]]:  # fmt: skip
    """Simulate answers of several labels, and the right labels of every task.

    The truth of labels depends on each other by one hidden topic of the task; lazy workers (40 %)
    mark one label at most; hard tasks (20 %) are answered nearly by lot by all.
    """
    share = rng.uniform(0.08, 0.45, labels)
    truth = rng.random((tasks, labels)) < share
    if kind in ("truth depends", "all"):
        likely = rng.random((4, labels)) < 0.35
        topic = rng.integers(0, 4, tasks)
        truth = rng.random((tasks, labels)) < np.where(likely[topic], 0.75, 0.08)
    task = np.repeat(np.arange(tasks), per_task)
    worker = np.concatenate([rng.choice(workers, per_task, replace=False) for _ in range(tasks)])
    hits, false = rng.uniform(0.6, 0.97, workers), rng.uniform(0.01, 0.15, workers)
    chance = np.where(truth[task], hits[worker][:, None], false[worker][:, None])
    if kind in ("hard", "all"):
        is_hard = rng.random(tasks) < 0.2
        chance = np.where(is_hard[task][:, None], 0.5 * chance + 0.15, chance)
    marks = rng.random(chance.shape) < chance
    if kind in ("lazy", "all"):
        is_lazy = rng.random(workers) < 0.4
        first = np.zeros_like(marks)
        kept = (marks * rng.random(marks.shape)).argmax(axis=1)
        first[np.arange(kept.size), kept] = marks[np.arange(kept.size), kept]
        marks = np.where(is_lazy[worker][:, None], first, marks)
    named = tuple(names("t", tasks)), tuple(names("w", workers)), tuple(names("l", labels))
    return LabelSets(*named, task, worker, marks), truth


def sets_of(
    data: LabelSets, truth: NDArray[np.bool_], tasks: Integers
) -> dict[str, frozenset[str]]:
    """Return the right labels of some tasks, by name."""
    return {
        data.tasks[j]: frozenset(data.labels[k] for k in np.flatnonzero(truth[j]).tolist())
        for j in tasks.tolist()
    }

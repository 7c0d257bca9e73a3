"""Simulated crowds: qualities to plan with, and gold answers to estimate them from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.quality import Quality
from tvcs_core.files import write_table

DECIMALS = 4


@dataclass(frozen=True, eq=False)
class Crowd:
    """A simulated crowd.

    Attributes
    ----------
    quality
        True quality of every worker on every task that waits for answers.
    gold
        Names of the gold tasks, whose labels are known.
    gold_labels
        Their labels, 0 or 1.
    gold_answers
        What every worker answered to every gold task: 0 or 1, of shape (workers, gold tasks).
    """

    quality: Quality
    gold: tuple[str, ...]
    gold_labels: NDArray[np.int64]
    gold_answers: NDArray[np.int64]


def simulate(
    n_workers: int,
    n_tasks: int,
    *,
    low: float = 0.5,
    high: float = 0.9,
    n_gold: int = 0,
    rng: int | np.random.Generator | None = None,
) -> Crowd:
    """Simulate the paper's crowd: the quality of every pair is uniform between two limits.

    Gold tasks are further tasks of the same kind, with labels 0 and 1 equally likely: every
    worker answers each of them, rightly with a probability drawn from the same limits.

    Parameters
    ----------
    n_workers, n_tasks
        Size, >= 1.
    low, high
        Limits of the qualities, ``0 <= low <= high <= 1``; values have 4 decimals.
    n_gold
        Number of gold tasks, >= 0.
    rng
        Seed or generator.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> crowd = simulate(3, 5, n_gold=2, rng=0)
    >>> crowd.quality, crowd.gold
    (Quality(3 workers x 5 tasks), ('gold1', 'gold2'))
    """
    for name, value, least in (
        ("n_workers", n_workers, 1),
        ("n_tasks", n_tasks, 1),
        ("n_gold", n_gold, 0),
    ):
        if value < least:
            raise ValueError(f"{name} must be >= {least}, found {value}")
    if not 0.0 <= low <= high <= 1.0:
        raise ValueError(f"low and high must hold 0 <= low <= high <= 1, found {low} and {high}")
    rng = np.random.default_rng(rng)
    drawn = rng.uniform(low, high, (n_workers, n_tasks)).round(DECIMALS)
    quality = Quality(np.clip(drawn, low, high), _numbered("w", n_workers), _numbered("t", n_tasks))
    labels = rng.integers(0, 2, n_gold)
    chance = rng.uniform(low, high, (n_workers, n_gold))
    is_right = rng.random((n_workers, n_gold)) < chance
    answers = np.where(is_right, labels, 1 - labels)
    return Crowd(quality, _numbered("gold", n_gold), labels, answers)


def write_crowd(crowd: Crowd, folder: Path) -> None:
    """Write `crowd` into a folder: quality.csv, and gold.csv and answers.csv if there is gold.

    quality.csv is a wide table that `read_quality` reads, gold.csv has `task, label` and
    answers.csv `task, worker, label`, one row per answer.
    """
    workers, tasks = crowd.quality.workers, crowd.quality.tasks
    rows = [[w, *row] for w, row in zip(workers, crowd.quality.values.tolist(), strict=True)]
    write_table(folder / "quality.csv", ["worker", *tasks], rows, ",")
    if crowd.gold:
        gold = list(zip(crowd.gold, crowd.gold_labels.tolist(), strict=True))
        write_table(folder / "gold.csv", ["task", "label"], gold, ",")
        answers = [
            (task, worker, int(crowd.gold_answers[i, j]))
            for j, task in enumerate(crowd.gold)
            for i, worker in enumerate(workers)
        ]
        write_table(folder / "answers.csv", ["task", "worker", "label"], answers, ",")


def _numbered(prefix: str, count: int) -> tuple[str, ...]:
    width = len(str(count))
    return tuple(f"{prefix}{i:0{width}d}" for i in range(1, count + 1))

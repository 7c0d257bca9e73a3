"""Simulated crowds: qualities for plans, gold answers to estimate them, and answers to vote on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.arrays import Floats, Integers
from tvcs_core.arguments import check_choice, check_number
from tvcs_core.files.display import summary
from tvcs_core.files.spreadsheet import write_csv
from tvcs_core.streams import stream

DECIMALS = 4  # of a quality
LOW, HIGH = 0.5, 0.9  # qualities of the paper
SKILL_SHAPE, SKILL_SCALE = 2.0, 0.6  # Gamma distribution of the skills of skilldiff
EASE_SPREAD = 0.5  # deviation of the logarithm of the ease
MAX_QUALITY = 0.97  # of skilldiff
TOPICS = 5
TOPIC_BETA = (4.0, 2.2)  # Beta distribution of the qualities of topic: mean .65


@dataclass(frozen=True, eq=False)
class Crowd:
    """Simulated crowd.

    Attributes
    ----------
    quality
        True quality of every worker on every open task.
    labels
        True labels of these tasks, 0 or 1.
    answers
        Answer of every worker to each of them: 0 or 1, of shape (workers, tasks).
    gold
        Names of the gold tasks, whose labels are known.
    gold_labels
        Labels of the gold tasks, 0 or 1.
    gold_answers
        Answer of every worker to every gold task: 0 or 1, of shape (workers, gold tasks).
    """

    quality: Quality
    labels: Integers
    answers: Integers
    gold: tuple[str, ...]
    gold_labels: Integers
    gold_answers: Integers

    __repr__ = summary


def simulate(
    n_workers: int,
    n_tasks: int,
    *,
    family: str = "iid",
    low: float | None = None,
    high: float | None = None,
    n_gold: int = 0,
    rng: int | np.random.Generator | None = None,
) -> Crowd:
    """Simulate a crowd of one of four families.

    - ``iid``: the quality of every pair is uniform between `low` and `high`, as in the paper.
    - ``worker``: every worker has one quality for all tasks, uniform between `low` and `high`.
    - ``skilldiff``: logit of the quality = skill of the worker times ease of the task (GLAD), with
      skills of Gamma(2, .6) and the logarithm of the ease normal (0, .5); clipped to [.5, .97].
    - ``topic``: every task has one of five topics, every worker a quality for each, Beta(4, 2.2).

    Gold tasks are further tasks of the same kind, answered by every worker; the same workers have
    the same skills there. Labels 0 and 1 are equally likely, and answers are independent.

    Parameters
    ----------
    n_workers, n_tasks
        Size, >= 1.
    family
        One of `FAMILIES`.
    low, high
        Limits of the qualities of ``iid`` and ``worker``, ``0 <= low <= high <= 1``; None for the
        paper's .5 and .9. Qualities have 4 decimals in every family.
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
        check_number(name, value, whole=True, least=least)
    check_choice("family", family, FAMILIES)
    if family not in LIMITED and not (low is None and high is None):
        raise ValueError(f"low and high are for {' and '.join(LIMITED)}, not for {family}")
    low, high = LOW if low is None else low, HIGH if high is None else high
    check_number("low", low)
    check_number("high", high)
    if not 0.0 <= low <= high <= 1.0:
        raise ValueError(f"low and high must hold 0 <= low <= high <= 1, found {low} and {high}")
    rng = stream(rng, "crowd", family)
    values, chance = FAMILIES[family](n_workers, (n_tasks, n_gold), low, high, rng)
    quality = Quality(values, numbered("w", n_workers), numbered("t", n_tasks))
    gold_labels, gold_answers = _answer(chance, rng)
    labels, answers = _answer(values, rng)
    gold = numbered("gold", n_gold)
    return Crowd(quality, labels, answers, gold, gold_labels, gold_answers)


def _iid(
    n: int, counts: tuple[int, int], low: float, high: float, rng: np.random.Generator
) -> list[Floats]:
    return [_rounded(rng.uniform(low, high, (n, m)), low, high) for m in counts]


def _worker(
    n: int, counts: tuple[int, int], low: float, high: float, rng: np.random.Generator
) -> list[Floats]:
    skill = _rounded(rng.uniform(low, high, (n, 1)), low, high)
    return [np.repeat(skill, m, axis=1) for m in counts]


def _skilldiff(
    n: int, counts: tuple[int, int], low: float, high: float, rng: np.random.Generator
) -> list[Floats]:
    skill = rng.gamma(SKILL_SHAPE, SKILL_SCALE, (n, 1))
    ease = [rng.lognormal(0.0, EASE_SPREAD, m) for m in counts]
    return [_rounded(1.0 / (1.0 + np.exp(-skill * e)), 0.5, MAX_QUALITY) for e in ease]


def _topic(
    n: int, counts: tuple[int, int], low: float, high: float, rng: np.random.Generator
) -> list[Floats]:
    skill = rng.beta(*TOPIC_BETA, (n, TOPICS))
    return [_rounded(skill[:, rng.integers(0, TOPICS, m)], 0.0, 1.0) for m in counts]


FAMILIES: dict[str, Callable[..., list[Floats]]] = {
    "iid": _iid,
    "worker": _worker,
    "skilldiff": _skilldiff,
    "topic": _topic,
}
LIMITED = ("iid", "worker")


def _rounded(values: Floats, low: float, high: float) -> Floats:
    return np.clip(values.round(DECIMALS), low, high)


def _answer(chance: Floats, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Draw labels of the tasks, and answers that are right with probability `chance`."""
    labels = rng.integers(0, 2, size=(chance.shape[1],))
    is_right = rng.random(chance.shape) < chance
    return labels, np.where(is_right, labels, 1 - labels)


def write_crowd(crowd: Crowd, folder: Path, *, full_answers: bool = False) -> None:
    """Write `crowd` into a folder: quality.csv, and gold.csv and answers.csv if there is gold.

    quality.csv is a wide table for `read_quality`, gold.csv has `task, label` and answers.csv
    `task, worker, label`, one row per answer. With `full_answers`, labels.csv and recorded.csv have
    the labels of the open tasks and every worker's answer to each.
    """
    workers, tasks = crowd.quality.workers, crowd.quality.tasks
    rows = [[w, *row] for w, row in zip(workers, crowd.quality.values.tolist(), strict=True)]
    write_csv(folder / "quality.csv", ["worker", *tasks], rows)
    if crowd.gold:
        _write_labels(folder / "gold.csv", crowd.gold, crowd.gold_labels)
        _write_answers(folder / "answers.csv", workers, crowd.gold, crowd.gold_answers)
    if full_answers:
        _write_labels(folder / "labels.csv", tasks, crowd.labels)
        _write_answers(folder / "recorded.csv", workers, tasks, crowd.answers)


def _write_labels(path: Path, tasks: tuple[str, ...], labels: Integers) -> None:
    write_csv(path, ["task", "label"], list(zip(tasks, labels.tolist(), strict=True)))


def _write_answers(
    path: Path, workers: tuple[str, ...], tasks: tuple[str, ...], answers: Integers
) -> None:
    rows = [
        (task, worker, int(answers[i, j]))
        for j, task in enumerate(tasks)
        for i, worker in enumerate(workers)
    ]
    write_csv(path, ["task", "worker", "label"], rows)


def numbered(prefix: str, count: int) -> tuple[str, ...]:
    """Return so many names, with numbers of one width from 1."""
    width = len(str(count))
    return tuple(f"{prefix}{i:0{width}d}" for i in range(1, count + 1))

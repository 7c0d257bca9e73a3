"""Vote on several labels: each label a question of its own, with one answer row per worker.

A worker marks a label that is there with one probability and one that is not with another, the same
for all labels; how common a label is, is its own. Fitted by expectation-maximisation; a worker's
row leaves out all of the answer that it judges. Posteriors are calibrated on gold as those of
scales are. Labels depend on each other, so the product of their probabilities is no claim on the
whole set: only where gold measured its exponent is one stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from crowd_tvcs.answer_kinds.calibration import (
    MEANS,
    MIN_GOLD,
    Calibration,
    Evidence,
    calibrated_posterior,
    fit_calibration,
)
from crowd_tvcs.answer_kinds.label_sets import LabelSets
from crowd_tvcs.arrays import Floats, Integers, sum_by
from tvcs_core.arguments import check_type
from tvcs_core.files.display import joined, plural, quoted

TASK_COLUMNS = ("task", "label", "confidence", "answers")
LABEL_COLUMNS = ("task", "label", "present", "confidence", "marked", "answers")
WORKER_COLUMNS = ("worker", "answers", "marks_if_present", "marks_if_absent")
ROUNDS = 15
STRENGTH = 10.0  # pseudo-labels of the crowd in a worker's row
SHARE_STRENGTH = 5.0  # pseudo-tasks in the share of a label
MIN_SHARE = 1e-3
MIN_GOLD_OF_SETS = 20  # gold tasks from which the dependence of labels is measured
EXPONENT_SD = 0.25  # of the log exponent of the whole set
# As of scales, but rare labels have a small share by right: contamination of .011, not of .03.
LABEL_MEANS = np.array([*MEANS[:3], -4.5, MEANS[4]])


@dataclass(frozen=True, eq=False)
class SetVotes:
    """Outcome of a vote on several labels.

    Attributes
    ----------
    data
        The answers.
    posterior
        Probability that the label is there, of shape (tasks, labels); a gold task is judged by its
        answers alone.
    gold
        1 for a label that is known to be there, 0 for one that is not, -1 where it is not known, of
        the same shape.
    calibration
        The calibration on gold, of all labels together; its `gold` counts labels of tasks.
    exponent
        The whole set is right with the product of the claims to this power; None if not measured.
    rows
        Probability to mark a label that is there, and one that is not, of shape (workers, 2).
    """

    data: LabelSets
    posterior: Floats
    gold: Integers
    calibration: Calibration
    exponent: float | None
    rows: Floats

    def __repr__(self) -> str:
        return (
            f"SetVotes({plural(len(self.data.tasks), 'task')}, "
            f"{plural(len(self.data.labels), 'label')})"
        )

    @property
    def is_measured(self) -> bool:
        """Whether gold calibrated the claims; without it none is stated."""
        return self.calibration.gold > 0

    @property
    def present(self) -> Integers:
        """Whether each label is there: as known, else if it is more likely than not."""
        return np.where(self.gold >= 0, self.gold, self.posterior > 0.5)

    @property
    def confidence(self) -> Floats:
        """Probability that the marks of a label are right, of shape (tasks, labels)."""
        return np.maximum(self.posterior, 1 - self.posterior)

    @property
    def set_confidence(self) -> Floats:
        """Probability that all labels of a task are right; NaN where the exponent is not known."""
        if self.exponent is None:
            return np.full(self.posterior.shape[0], np.nan)
        return np.exp(self.exponent * np.log(self.confidence).sum(axis=1))

    def reached_on_gold(self) -> dict[str, float | None] | None:
        """Compare the claimed accuracy on the answered gold tasks with the measured one."""
        if not self.is_measured:
            return None
        known = (self.gold >= 0) & (self.data.per_task > 0)[:, None]
        voted = self.posterior > 0.5
        right, marked = (voted == self.gold)[known], voted[known]
        sure = self.confidence[known]
        return {
            "labels": int(right.size),
            "claimed": float(sure.mean()),
            "right": float(right.mean()),
            "present": int(marked.sum()),
            "claimed_of_present": float(sure[marked].mean()) if marked.any() else None,
            "right_of_present": float(right[marked].mean()) if marked.any() else None,
        }

    def task_rows(self, separator: str, none: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of `TASK_COLUMNS`; None stands for no measurement."""
        present, sets, n = self.present, self.set_confidence, self.data.per_task
        for j, task in enumerate(self.data.tasks):
            names = [self.data.labels[k] for k in np.flatnonzero(present[j]).tolist()]
            sure: float | None = None if self.exponent is None else float(sets[j])
            if self.gold[j, 0] >= 0:
                sure = 1.0
            yield task, separator.join(names) or none, sure, int(n[j])

    def label_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of `LABEL_COLUMNS`; None stands for no measurement."""
        data, present, sure = self.data, self.present, self.confidence
        n = data.per_task
        marked = sum_by(data.task_of, data.marks.astype(np.float64), n.size)
        for j, task in enumerate(data.tasks):
            for k, label in enumerate(data.labels):
                stated: float | None = float(sure[j, k]) if self.is_measured else None
                stated = 1.0 if self.gold[j, k] >= 0 else stated
                yield task, label, int(present[j, k]), stated, int(marked[j, k]), int(n[j])

    def worker_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of `WORKER_COLUMNS`."""
        columns = self.data.workers, self.data.per_worker.tolist(), self.rows.tolist()
        for name, n, (present, absent) in zip(*columns, strict=True):
            yield name, n, present, absent

    def sentences(self) -> list[str]:
        """Describe the claims, and how they were measured."""
        reached = self.reached_on_gold()
        tasks = int(((self.gold[:, 0] >= 0) & (self.data.per_task > 0)).sum())
        if reached is None:
            return [
                f"confidence not measured: {MIN_GOLD} gold tasks with answers are needed, found "
                f"{tasks}; give --gold"
            ]
        out = [
            f"on {plural(tasks, 'gold task')}, each judged without its own labels: a label is "
            "right with "
            f"{reached['right']:.3f} (claimed {reached['claimed']:.3f})"
        ]
        if reached["present"]:
            out[0] += (
                f", one that is said to be there with {reached['right_of_present']:.3f} (claimed "
                f"{reached['claimed_of_present']:.3f})"
            )
        if self.exponent is None:
            out.append(
                f"nothing is claimed of whole sets: {MIN_GOLD_OF_SETS} gold tasks with answers are "
                f"needed to measure how labels depend on each other, found {tasks}"
            )
        else:
            out.append(
                "a whole set is right with the product of its claims to the power of "
                f"{self.exponent:.2f}, as measured on {plural(tasks, 'gold task')}"
            )
        return out


def vote_on_sets(data: LabelSets, gold: Mapping[str, frozenset[str]] | None = None) -> SetVotes:
    """Vote on every label of every task.

    Parameters
    ----------
    data
        The answers.
    gold
        The labels of tasks where they are known. Claims are stated only if at least five have
        answers, and of whole sets only if at least twenty have.

    Raises
    ------
    ValueError
        If a label of gold is none of the labels.

    Examples
    --------
    >>> data = LabelSets.of([("t1", "ann", ["cat", "dog"]), ("t1", "bob", ["cat"])])
    >>> votes = vote_on_sets(data)
    >>> votes.present.shape, votes.is_measured
    ((1, 2), False)
    """
    check_type("data", data, LabelSets)
    known = _known(data, gold or {})
    evidence, rows = _fit(data, known)
    calibration = _calibrate(data, evidence, known)
    posterior = calibrated_posterior(evidence, calibration)[:, 1].reshape(known.shape)
    return SetVotes(data, posterior, known, calibration, _exponent(data, posterior, known), rows)


def _known(data: LabelSets, gold: Mapping[str, frozenset[str]]) -> Integers:
    out = np.full((len(data.tasks), len(data.labels)), -1)
    for j, task in enumerate(data.tasks):
        if task in gold:
            for name in gold[task]:
                if name not in data.labels:
                    names = joined(data.labels, quoted)
                    raise ValueError(
                        f"the gold labels of task {quoted(task)} must be of {names}, found "
                        f"{quoted(name)}"
                    )
            out[j] = [name in gold[task] for name in data.labels]
    return out


def _fit(data: LabelSets, known: Integers) -> tuple[Evidence, Floats]:
    """Return the evidence of every label of every task, in rows, and the rows of the workers."""
    n_tasks, n_workers = known.shape[0], len(data.workers)
    marks, n = data.marks.astype(np.float64), data.per_task[:, None]
    chances = (sum_by(data.task_of, marks, n_tasks) + 0.5) / (n + 1.0)
    is_gold = known[:, 0] >= 0
    for _ in range(ROUNDS):
        chances[is_gold] = known[is_gold]
        prior = _shares(chances, known)
        own = _counts(marks, chances[data.task_of])
        of_worker = sum_by(data.worker_of, own, n_workers)
        rows = _rows(of_worker[data.worker_of] - own, own.sum(axis=0))
        given, absent = rows[:, :1], rows[:, 1:]
        ratio = marks * np.log(given / absent) + (1 - marks) * np.log((1 - given) / (1 - absent))
        total = sum_by(data.task_of, ratio, n_tasks)
        chances = 1 / (1 + np.exp(-total) * (1 - prior) / prior)
    whole = np.broadcast_to(prior, total.shape).ravel()
    evidence = Evidence(
        np.column_stack([1 - whole, whole]),
        np.column_stack([np.zeros(total.size), total.ravel()]),
        np.repeat(data.per_task, known.shape[1]),
    )
    return evidence, _rows(of_worker, own.sum(axis=0))


def _shares(chances: Floats, known: Integers) -> Floats:
    """Return the share of tasks with each label: of gold, shrunk to that of the answers."""
    by_answers = chances.mean(axis=0)
    gold = known[known[:, 0] >= 0]
    shares = (gold.sum(axis=0) + SHARE_STRENGTH * by_answers) / (gold.shape[0] + SHARE_STRENGTH)
    return np.clip(shares, MIN_SHARE, 1 - MIN_SHARE)


def _counts(marks: Floats, chances: Floats) -> Floats:
    """Return for every answer: labels there, those marked, labels not there, those marked."""
    columns = [chances, chances * marks, 1 - chances, (1 - chances) * marks]
    return np.column_stack([column.sum(axis=1) for column in columns])


def _rows(counts: Floats, of_crowd: Floats) -> Floats:
    """Return the probabilities to mark a label that is there and one that is not, shrunk."""
    crowd = (of_crowd[[1, 3]] + [3.0, 1.0]) / (of_crowd[[0, 2]] + 4.0)
    return (counts[:, [1, 3]] + STRENGTH * crowd) / (counts[:, [0, 2]] + STRENGTH)


def _calibrate(data: LabelSets, evidence: Evidence, known: Integers) -> Calibration:
    """Fit the calibration to the labels of gold, if enough gold tasks have answers."""
    answered = (known[:, 0] >= 0) & (data.per_task > 0)
    used = known if answered.sum() >= MIN_GOLD else np.full_like(known, -1)
    return fit_calibration(evidence, used.ravel(), LABEL_MEANS)


def _exponent(data: LabelSets, posterior: Floats, known: Integers) -> float | None:
    """Return the exponent of the product of claims that whole sets of gold are right with."""
    gold = np.flatnonzero((known[:, 0] >= 0) & (data.per_task > 0))
    if gold.size < MIN_GOLD_OF_SETS:
        return None
    right = ((posterior[gold] > 0.5) == known[gold]).all(axis=1)
    sure = np.maximum(posterior, 1 - posterior)[gold]
    product = np.minimum(np.log(sure).sum(axis=1), -1e-9)

    def loss(log_exponent: float) -> float:
        claim = np.exp(log_exponent) * product
        fit = np.where(right, claim, np.log(-np.expm1(claim))).sum()
        return float(0.5 * (log_exponent / EXPONENT_SD) ** 2 - fit)

    return float(np.exp(minimize_scalar(loss, bounds=(-3, 3), method="bounded").x))

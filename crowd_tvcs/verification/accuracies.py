"""Check the accuracies of the tasks of a plan, in plain NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.coded import encode_columns
from crowd_tvcs.answers.columns import open_exactly
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.verification import pricing_many_classes as multiclass
from crowd_tvcs.verification.pricing import MAX_EXACT_VOTERS, MAX_JOINING_LOSS, accuracy
from crowd_tvcs.verification.pricing_common_error import (
    Scale,
    payoff,
    scale_of_equals,
    seeming_chances,
    seeming_right,
)
from crowd_tvcs.verification.side_constraints import TOLERANCE
from crowd_tvcs.verification.summary_checks import LARGE_ERROR
from tvcs_core.files.errors import DataError

MAX_ARRAY_NUMBERS = 4_000_000  # outcomes in one array
LISTED = 10  # violations of one sort

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def accuracies(plan: Plan, pairs: Assigned) -> tuple[Floats, Floats, Floats]:
    """Return the accuracy of every task, from below, and the range in which another may give it.

    The range is a point for teams that are computed outcome by outcome.
    """
    answers, e = pairs.answers, plan.common_error
    start = np.concatenate([[0], np.cumsum(answers)])
    scale, is_binary = scale_of_equals(e), plan.n_classes == 2 and plan.model is None
    prior = plan.prior if plan.class_prior is None else plan.class_prior
    seems = seeming_chances(plan)
    out = np.empty((3, answers.size))
    known: dict[Any, tuple[float, float, float]] = {}
    for size in np.unique(answers).tolist():
        tasks = np.flatnonzero(answers == size)
        rows = pairs.workers[start[tasks][:, None] + np.arange(size)]
        quality = plan.quality.of_pairs(rows, tasks[:, None])
        if is_binary and size <= MAX_EXACT_VOTERS:
            out[:, tasks] = scale.of(_of_equals(seeming_right(quality, e), seems[tasks]))
            continue
        for j, workers, q in zip(tasks.tolist(), rows, quality, strict=True):
            team = np.sort(q) if plan.confusion is None else workers
            key = (prior[j].tobytes(), team.tobytes())
            if key not in known and is_binary:
                known[key] = _of_two(seeming_right(q, e), float(seems[j]), scale)
            elif key not in known:
                known[key] = _of(plan, j, workers)
            out[:, j] = known[key]
    low, least, most = out
    return low, least, most


def _of_equals(quality: Floats, prior: Floats) -> Floats:
    """Accuracy of tasks with as many voters each, of qualities of shape (tasks, voters)."""
    out, size = np.empty(prior.size), max(1, MAX_ARRAY_NUMBERS >> quality.shape[1])
    for at in range(0, prior.size, size):
        q, p = quality[at : at + size], prior[at : at + size, None]
        m1, m0 = p, 1.0 - p
        for voter in q.T:
            v = voter[:, None]
            m1, m0 = np.hstack([m1 * v, m1 * (1.0 - v)]), np.hstack([m0 * (1.0 - v), m0 * v])
        out[at : at + size] = np.maximum(m1, m0).sum(axis=1)
    return out


def _of_two(quality: Floats, prior: float, scale: Scale) -> tuple[float, float, float]:
    """Return the accuracy of one task of two classes from below, and its range."""
    low, high = (scale.of(value) for value in accuracy(quality[quality != 0.5], prior))
    return low, low if low == high else low - MAX_JOINING_LOSS, high


def _of(plan: Plan, j: int, workers: Integers) -> tuple[float, float, float]:
    """Return the accuracy of task j by the matrices of its workers from below, and its range."""
    matrices, prior = multiclass.chances(plan, j)
    pays = payoff(multiclass.shares(plan, j), plan.common_error)
    low, high = multiclass.accuracy(matrices[workers], prior, pays)
    # The method draws outcomes where it has more than these and workers differ.
    is_large = float(plan.n_classes) ** workers.size > multiclass.MAX_EXACT_OUTCOMES or low < high
    off = multiclass.N_STANDARD_ERRORS * LARGE_ERROR if is_large else 0.0
    return low, max(low - off, 0.0), min(high + off, 1.0)


def read_accuracies(path: Path, plan: Plan) -> tuple[Integers, Floats]:
    """Read answers and expected accuracy of every task from accuracy.csv."""
    table = open_exactly(path, "task", "answers", "expected_accuracy")
    (task,) = encode_columns(table, [0])
    if sorted(task.names) != sorted(plan.quality.tasks) or len(task.names) < task.codes.size:
        raise DataError("must have one row for every task of the table of tasks", path=path)
    numbers = table.numbers(1, [1, 2])
    place = {name: j for j, name in enumerate(plan.quality.tasks)}
    at = np.array([place[name] for name in task.names])[task.codes]
    answers, stated = np.empty(at.size, np.int64), np.empty(at.size)
    answers[at], stated[at] = numbers[:, 0].astype(np.int64), numbers[:, 1]
    return answers, stated


def wrong_tasks(
    plan: Plan, pairs: Assigned, given: tuple[Integers, Floats], within: tuple[Floats, Floats]
) -> list[str]:
    """List the tasks whose row in accuracy.csv is wrong."""
    (least, most), (answers, stated) = within, given
    wrong = (stated < least - TOLERANCE) | (stated > most + TOLERANCE) | (answers != pairs.answers)
    return [
        f"accuracy.csv: task {plan.quality.tasks[j]!r} has {stated[j]} by {answers[j]} answers, "
        f"recomputed {least[j]}" + (f" to {most[j]}" if most[j] > least[j] else "")
        for j in np.flatnonzero(wrong)[:LISTED].tolist()
    ]

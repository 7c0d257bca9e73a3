"""Loopy belief propagation between the scores of tasks and the types of workers.

Every answer is an edge. Its message to the task is the likelihood of its scores, given the type of
the worker as all *other* tasks show it; its message to the worker is that of the types, given the
score as all *other* workers show it. So a task never judges itself through its workers, and the
messages at a task with a known step are those that it would get without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from crowd_tvcs.answer_kinds.worker_types import WorkerTypes
from crowd_tvcs.arrays import Floats, Integers, softmax, sum_by

SWEEPS = 8
PART = 4096  # answers at a time, to bound memory


class Edges(NamedTuple):
    """Task, worker and step of every answer, as indices."""

    task: Integers
    worker: Integers
    label: Integers


def propagate(
    edges: Edges,
    types: WorkerTypes,
    type_prior: Floats,
    log_prior: Floats,
    n_workers: int,
    sweeps: int = SWEEPS,
) -> tuple[Floats, Floats]:
    """Pass messages for some sweeps, those to workers damped by half after the first.

    Parameters
    ----------
    edges
        The answers.
    types, type_prior
        The grid of worker types, and the probability of each before any answer.
    log_prior
        Log probability of every score of every task, of shape (tasks, scores).
    n_workers
        Number of workers.
    sweeps
        On a tree of answers two reach the exact marginals if nothing is damped.

    Returns
    -------
    tuple
        Log likelihood of every score by every answer, of shape (answers, scores), and posterior of
        the types of every worker, of shape (workers, types).
    """
    n_tasks = log_prior.shape[0]
    to_worker = np.zeros((edges.task.size, type_prior.size), dtype=np.float32)
    to_task = np.empty((edges.task.size, types.scores.size))
    total = np.zeros((n_workers, type_prior.size))
    for sweep in range(sweeps):
        for part, step in _parts(edges.label):
            others = softmax(np.log(type_prior) + total[edges.worker[part]] - to_worker[part])
            to_task[part] = np.log(others @ types.likelihood[:, :, step])
        scores = log_prior + sum_by(edges.task, to_task, n_tasks)
        total[:] = 0
        for part, step in _parts(edges.label):
            others = softmax(scores[edges.task[part]] - to_task[part])
            new = np.log(others @ types.likelihood[:, :, step].T)
            if sweep:
                new = (new + to_worker[part]) / 2
            to_worker[part] = new
            total += sum_by(edges.worker[part], to_worker[part].astype(np.float64), n_workers)
    log_types = np.log(type_prior) + total
    return to_task, np.exp(log_types - logsumexp(log_types, axis=1, keepdims=True))


def _parts(label: Integers) -> Iterator[tuple[Integers, int]]:
    """Yield some answers of one step at a time."""
    for step in range(int(label.max(initial=-1)) + 1):
        answers = np.flatnonzero(label == step)
        for start in range(0, answers.size, PART):
            yield answers[start : start + PART], step

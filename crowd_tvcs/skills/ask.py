"""Which tasks to have labelled by an expert next: those whose gold tells most of the workers.

A gold answer more of a worker with a Beta posterior of variance v, worth s answers, is expected to
leave v s / (s + 1): it takes away v / (s + 1), whatever it turns out to be. A task tells the sum
of that over its workers, each as often as they answer tasks that are not gold. Who answered
decides, never what: so the class shares of the gold and its difficulty stay those of the tasks, as
far as workers do not choose their tasks.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, together
from crowd_tvcs.skills.skill import Skill

COLUMNS = ("task", "answers", "tells")


def ask(answers: Answers, gold: Gold, skill: Skill, count: int) -> list[tuple[str, int, float]]:
    """Choose tasks to make gold, each in view of those before.

    Parameters
    ----------
    answers, gold
        What `skill` was estimated from.
    skill
        How sure the accuracies are.
    count
        How many tasks, >= 1; fewer where fewer have answers and no known label.

    Returns
    -------
    list of tuple
        Of every task its name, its number of answers and what it tells: how much the variance of
        the accuracy of the worker of an answer to an open task falls on average. Largest first;
        of equals the first in `answers`.
    """
    if count < 1:
        raise ValueError(f"count must be >= 1, found {count}")
    answers = together(answers, gold)
    is_open = gold.codes(answers.tasks, answers.classes) == UNKNOWN
    a, b = skill.beta
    worth, variance = a + b, skill.deviation**2
    place = {name: i for i, name in enumerate(skill.workers)}
    rows = np.array([place[name] for name in answers.workers], dtype=np.intp)
    worth, variance = worth[rows], variance[rows]
    keep = is_open[answers.task_of]
    task_of, worker_of = answers.task_of[keep], answers.worker_of[keep]
    often = np.bincount(worker_of, minlength=rows.size) / max(1, task_of.size)
    workers_of = _by_task(task_of, worker_of, len(answers.tasks))

    def tells(task: int) -> float:
        who = workers_of[task]
        return float((often[who] * variance[who] / (worth[who] + 1.0)).sum())

    # What a task tells only falls as others are chosen, so an old value is a bound.
    heap = [(-tells(j), j) for j in np.flatnonzero(is_open).tolist() if workers_of[j].size]
    heapq.heapify(heap)
    out: list[tuple[str, int, float]] = []
    while heap and len(out) < count:
        _, task = heapq.heappop(heap)
        now = tells(task)
        if heap and (-now, task) > heap[0]:
            heapq.heappush(heap, (-now, task))
            continue
        who = workers_of[task]
        out.append((answers.tasks[task], int(who.size), now))
        variance[who] *= worth[who] / (worth[who] + 1.0)
        worth[who] += 1.0
    return out


def _by_task(
    task_of: NDArray[np.int64], worker_of: NDArray[np.int64], n_tasks: int
) -> list[NDArray[np.int64]]:
    """Workers of every task."""
    order = np.argsort(task_of, kind="stable")
    ends = np.cumsum(np.bincount(task_of, minlength=n_tasks))
    return np.split(worker_of[order], ends[:-1])

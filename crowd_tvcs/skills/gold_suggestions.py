"""Choose the tasks whose gold label would be most informative about worker accuracy.

One more gold answer of a worker whose Beta posterior has variance v and counts s answers is
expected to reduce the variance by v / (s + 1), whatever the answer is. The value of a task is the
sum of this over its workers, each weighted by their share of the open answers. The content of the
answers plays no part, so the chosen gold keeps the class prevalence and the difficulty of the
tasks, as long as workers do not select their tasks.
"""

from __future__ import annotations

import heapq

import numpy as np

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, with_shared_classes
from crowd_tvcs.arrays import Integers
from crowd_tvcs.skills.skill import Skill
from tvcs_core.arguments import check_number


def suggest_gold_tasks(
    answers: Answers, gold: Gold, skill: Skill, count: int
) -> list[tuple[str, int, float]]:
    """Choose tasks to label as gold, greedily, each given the earlier ones.

    Parameters
    ----------
    answers, gold
        The data that `skill` was estimated from.
    skill
        Posterior accuracies of the workers.
    count
        Number of tasks, >= 1; fewer if fewer tasks have answers and no known label.

    Returns
    -------
    list of tuple
        Name, number of answers and expected variance reduction of each task. The last is the mean
        fall of the variance of a worker's accuracy, over the answers to open tasks. Sorted from the
        largest reduction; ties keep the order of `answers`.
    """
    check_number("count", count, least=1)
    answers = with_shared_classes(answers, gold)
    is_open = gold.codes(answers.tasks, answers.classes) == UNKNOWN
    a, b = skill.beta
    strength, variance = a + b, skill.deviation**2
    position = {name: i for i, name in enumerate(skill.workers)}
    rows = np.array([position[name] for name in answers.workers], dtype=np.intp)
    strength, variance = strength[rows], variance[rows]
    keep = is_open[answers.task_of]
    task_of, worker_of = answers.task_of[keep], answers.worker_of[keep]
    frequency = np.bincount(worker_of, minlength=rows.size) / max(1, task_of.size)
    workers_of = _by_task(task_of, worker_of, len(answers.tasks))

    def gain_of(task: int) -> float:
        members = workers_of[task]
        return float((frequency[members] * variance[members] / (strength[members] + 1.0)).sum())

    # The gain of a task never rises as others are chosen (submodularity), so a stale value on the
    # heap is an upper bound (lazy greedy; Minoux, 1978).
    heap = [(-gain_of(j), j) for j in np.flatnonzero(is_open).tolist() if workers_of[j].size]
    heapq.heapify(heap)
    chosen: list[tuple[str, int, float]] = []
    while heap and len(chosen) < count:
        _, task = heapq.heappop(heap)
        gain = gain_of(task)
        if heap and (-gain, task) > heap[0]:
            heapq.heappush(heap, (-gain, task))
            continue
        members = workers_of[task]
        chosen.append((answers.tasks[task], int(members.size), gain))
        variance[members] *= strength[members] / (strength[members] + 1.0)
        strength[members] += 1.0
    return chosen


def _by_task(task_of: Integers, worker_of: Integers, n_tasks: int) -> list[Integers]:
    """Return the workers of every task."""
    order = np.argsort(task_of, kind="stable")
    ends = np.cumsum(np.bincount(task_of, minlength=n_tasks))
    return np.split(worker_of[order], ends[:-1])

"""Crowds without names of their own."""

import numpy as np

from crowd_tvcs import Answers, Gold, Quality


def named(values, allowed=None):
    """The quality of workers w0, w1, ... on tasks t0, t1, ...: an array of workers x tasks."""
    values = np.asarray(values, dtype=float)
    n, m = values.shape
    return Quality(values, [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)], allowed)


def drawn(n, m, seed=0, low=0.5, high=0.9, allowed=None):
    """The same, of qualities that are drawn between two numbers."""
    return named(np.random.default_rng(seed).uniform(low, high, (n, m)), allowed)


def answered(
    rng, accuracy, n_tasks, *, per_task=None, n_classes=2, n_gold=None, habit=0.0, common=0.0
):
    """Answers of workers with these accuracies to tasks, gold of the first, and the classes of all.

    With chance `habit` a worker names the first class, whatever is true; with chance `common` all
    see the class of another task.
    """
    n, per_task = len(accuracy), per_task or len(accuracy)
    truth = rng.integers(0, n_classes, n_tasks)
    seen = truth
    if common:
        is_lost = rng.random(n_tasks) < common
        seen = np.where(is_lost, rng.integers(0, n_classes, n_tasks), truth)
    worker_of = rng.random((n_tasks, n)).argsort(axis=1)[:, :per_task].ravel()
    task_of = np.repeat(np.arange(n_tasks), per_task)
    other = (seen[task_of] + rng.integers(1, n_classes, task_of.size)) % n_classes
    is_right = rng.random(task_of.size) < np.asarray(accuracy)[worker_of]
    label_of = np.where(is_right, seen[task_of], other)
    if habit:
        label_of[rng.random(task_of.size) < habit] = 0
    tasks, workers, classes = (
        [f"{letter}{k:05d}" for k in range(size)]
        for letter, size in (("t", n_tasks), ("w", n), ("c", n_classes))
    )
    answers = Answers(tasks, workers, classes, task_of, worker_of, label_of)
    known = range(n_tasks if n_gold is None else n_gold)
    return answers, Gold({tasks[j]: classes[truth[j]] for j in known}, classes), truth


def scattered(rng, n_workers=6, n_tasks=12, n_classes=3):
    """Answers drawn at random to some pairs; nobody answers the last task."""
    rows = [
        (f"t{j:02d}", f"w{i}", str(rng.integers(n_classes)))
        for j in range(n_tasks - 1)
        for i in range(n_workers)
        if rng.random() < 0.6
    ]
    tasks, classes = [f"t{j:02d}" for j in range(n_tasks)], [str(k) for k in range(n_classes)]
    return Answers.of(rows, tasks=tasks, classes=classes)

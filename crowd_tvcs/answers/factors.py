"""Factors: how good each worker is at each kind of task, and the kind of every task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.names import check_names
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.arrays import Bools, Floats, Integers
from tvcs_core.files.display import plural


@dataclass(frozen=True, eq=False, repr=False)
class Factors:
    """The quality of every worker on every kind of task, and the kind of every task.

    Attributes
    ----------
    table
        Quality of every worker on every kind, of shape (workers, kinds); its tasks are the kinds.
        A pair that it does not allow may not be assigned on any task of the kind.
    tasks
        Names of the tasks: not empty, no two the same.
    kind
        Column of `table` of every task.
    excluded
        Single pairs that may not be assigned either: numbers of tasks and of workers, as two
        arrays; None for none. Kept as one sorted array of task * workers + worker.

    Raises
    ------
    ValueError, TypeError
        If a name is empty or repeated, a kind is no column of the table, or an excluded pair is
        none of these workers and tasks.
    """

    table: Quality
    tasks: tuple[str, ...]
    kind: Integers
    excluded: Integers

    def __init__(
        self,
        table: Quality,
        tasks: Sequence[str],
        kind: ArrayLike,
        excluded: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        names, of_task = tuple(tasks), np.asarray(kind)
        check_names("tasks", names)
        if of_task.dtype.kind not in "iu" or of_task.shape != (len(names),):
            raise ValueError(
                f"kind must be {len(names)} integers, one per task, found {of_task.dtype} of "
                f"shape {of_task.shape}"
            )
        wrong = (of_task < 0) | (of_task >= len(table.tasks))
        if wrong.any():
            j = int(np.argmax(wrong))
            raise ValueError(
                f"kind must be from 0 to {len(table.tasks) - 1}, but that of task {names[j]!r} is "
                f"{of_task[j]}"
            )
        vars(self).update(table=table, tasks=names, kind=of_task.astype(np.int64))
        vars(self).update(excluded=_checked_pairs(excluded, self.shape))

    def __repr__(self) -> str:
        n_workers, n_kinds = self.table.shape
        return (
            f"Factors({plural(n_workers, 'worker')} x {plural(len(self.tasks), 'task')} of "
            f"{plural(n_kinds, 'kind')})"
        )

    @property
    def workers(self) -> tuple[str, ...]:
        """Names of the workers."""
        return self.table.workers

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of workers and tasks."""
        return len(self.table.workers), len(self.tasks)

    def room(self) -> tuple[Integers, Integers]:
        """Count the tasks of the kinds of every worker, and the workers of every task's kind."""
        n, m = self.shape
        if self.table.allowed is None:
            return np.full(n, m), np.full(m, n)
        of_kind = np.bincount(self.kind, minlength=len(self.table.tasks))
        return self.table.allowed @ of_kind, self.table.allowed.sum(axis=0)[self.kind]

    def columns(self, tasks: Integers) -> Quality:
        """Return the table of workers x these tasks, which are named by their places.

        A task may be there twice. Pairs that are excluded one by one are allowed in it.
        """
        return self.table.columns(self.kind[tasks])

    def of_pairs(self, workers: NDArray[np.integer], tasks: NDArray[np.integer]) -> Floats:
        """Return the quality of pairs."""
        return self.table.of_pairs(workers, self.kind[tasks])

    def allows(self, workers: NDArray[np.integer], tasks: NDArray[np.integer]) -> Bools:
        """Whether pairs may be assigned."""
        return self.table.allows(workers, self.kind[tasks]) & ~self.excludes(tasks, workers)

    def excludes(self, tasks: NDArray[np.integer], workers: NDArray[np.integer]) -> Bools:
        """Whether single pairs are excluded."""
        pairs = tasks.astype(np.int64) * len(self.workers) + workers
        if not self.excluded.size:
            return np.zeros(pairs.shape, dtype=bool)
        at = np.searchsorted(self.excluded, pairs)
        return np.asarray(self.excluded[np.minimum(at, self.excluded.size - 1)] == pairs)

    def quality(self) -> Quality:
        """Return the table of workers x tasks; of a large crowd it is too large to be had."""
        out = self.columns(np.arange(len(self.tasks)))
        allowed = None if out.allowed is None or out.allowed.all() else out.allowed
        return Quality(out.values, out.workers, self.tasks, allowed)

    def reorder(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Factors:
        """Put the workers in the order of `rows`, the tasks in that of `columns`, kinds by name."""
        kinds = np.array(sorted(range(len(self.table.tasks)), key=self.table.tasks.__getitem__))
        of_task, worker = np.divmod(self.excluded, max(1, len(self.workers)))
        excluded = np.argsort(columns)[of_task] * len(self.workers) + np.argsort(rows)[worker]
        out = object.__new__(Factors)  # what is right stays right
        vars(out).update(
            table=self.table.reorder(rows, kinds),
            tasks=tuple(self.tasks[j] for j in columns.tolist()),
            kind=np.argsort(kinds)[self.kind[columns]],
            excluded=np.sort(excluded).astype(np.int64),
        )
        return out


CrowdQuality = Quality | Factors  # both count room, and give columns, pairs and what is allowed


def _checked_pairs(
    excluded: tuple[ArrayLike, ArrayLike] | None, shape: tuple[int, int]
) -> Integers:
    """Return pairs as numbers task * workers + worker, sorted."""
    if excluded is None:
        return np.empty(0, dtype=np.int64)
    if len(excluded) != 2:
        raise ValueError(f"excluded must be two arrays, tasks and workers, found {len(excluded)}")
    tasks, workers = (np.asarray(numbers) for numbers in excluded)
    n_workers, n_tasks = shape
    for name, numbers, size in (("tasks", tasks, n_tasks), ("workers", workers, n_workers)):
        if numbers.dtype.kind not in "iu" or numbers.shape != (tasks.size,):
            raise ValueError(
                f"{name} of excluded must be integers, one per pair, found {numbers.dtype} of "
                f"shape {numbers.shape}"
            )
        wrong = (numbers < 0) | (numbers >= size)
        if wrong.any():
            raise ValueError(
                f"{name} of excluded must be from 0 to {size - 1}, found {numbers[wrong][0]}"
            )
    return np.sort(tasks.astype(np.int64) * n_workers + workers)

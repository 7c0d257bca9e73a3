"""The pairs of an assignment, as two arrays: as good for a million tasks as for ten."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.arrays import Bools, Integers
from tvcs_core.files.display import summary


@dataclass(frozen=True, eq=False)
class Assigned:
    """Pairs of a worker and a task, sorted by task and then by worker.

    Attributes
    ----------
    tasks, workers
        Task and worker of every pair.
    shape
        Numbers of workers and tasks.
    """

    tasks: NDArray[np.int32]
    workers: NDArray[np.int32]
    shape: tuple[int, int]

    __repr__ = summary

    @classmethod
    def of(
        cls, tasks: NDArray[np.integer], workers: NDArray[np.integer], shape: tuple[int, int]
    ) -> Assigned:
        """Sort pairs."""
        order = np.lexsort((workers, tasks))
        return cls(tasks[order].astype(np.int32), workers[order].astype(np.int32), shape)

    @classmethod
    def of_support(cls, support: Bools) -> Assigned:
        """Take the pairs of a Boolean matrix of shape (workers, tasks)."""
        n, m = support.shape
        tasks, workers = np.nonzero(support.T)
        return cls(tasks.astype(np.int32), workers.astype(np.int32), (n, m))

    @property
    def size(self) -> int:
        """Number of pairs."""
        return self.tasks.size

    @cached_property
    def support(self) -> Bools:
        """The pairs as a Boolean matrix of shape (workers, tasks)."""
        out = np.zeros(self.shape, dtype=bool)
        out[self.workers, self.tasks] = True
        return out

    @cached_property
    def loads(self) -> Integers:
        """Number of tasks of every worker."""
        return np.bincount(self.workers, minlength=self.shape[0])

    @cached_property
    def answers(self) -> Integers:
        """Number of workers of every task."""
        return np.bincount(self.tasks, minlength=self.shape[1])

    @property
    def has_twice(self) -> bool:
        """Whether a pair is there twice."""
        return bool(((np.diff(self.tasks) == 0) & (np.diff(self.workers) == 0)).any())

    def part(self, is_kept: Bools) -> Assigned:
        """Return some of the pairs."""
        return Assigned(self.tasks[is_kept], self.workers[is_kept], self.shape)

    def reorder(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Assigned:
        """Put the workers in the order of `rows` and the tasks in that of `columns`."""
        tasks, workers = np.argsort(columns)[self.tasks], np.argsort(rows)[self.workers]
        return Assigned.of(tasks, workers, (rows.size, columns.size))

"""Teams of very many tasks: the set of workers of each, and the room they leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.plan.assigned import Assigned


@dataclass(eq=False)
class Teams:
    """The workers of every task, with the accuracy of their vote; filled while a plan is made.

    Attributes
    ----------
    workers
        (tasks, most): those of task j in the first sizes[j] places of row j.
    sizes
        (tasks,): how many.
    accuracy
        (tasks,): expected accuracy of every task.
    room
        (workers + 1,): labels that every worker may give yet, then that the budget allows.
    """

    workers: NDArray[np.int32]
    sizes: Integers
    accuracy: Floats
    room: Integers

    @classmethod
    def nobody(cls, guess: Floats, caps: Integers, most: int) -> Teams:
        """Make teams without any worker."""
        m = guess.size
        return cls(np.zeros((m, most), np.int32), np.zeros(m, np.int64), guess.copy(), caps.copy())

    def copy(self) -> Teams:
        """Copy everything."""
        return Teams(self.workers.copy(), self.sizes.copy(), self.accuracy.copy(), self.room.copy())

    def put(self, tasks: Integers, workers: Integers, sizes: Integers, accuracy: Floats) -> None:
        """Put teams, one row per task, in the place of those that some tasks have."""
        self.room += self.loads(tasks)
        most = min(workers.shape[1], self.workers.shape[1])
        self.workers[tasks, :most] = workers[:, :most]
        self.sizes[tasks] = sizes
        self.accuracy[tasks] = accuracy
        self.room -= self.loads(tasks)

    def loads(self, tasks: Integers) -> Integers:
        """Return the labels of every worker on some tasks, then of all."""
        rows, sizes = self.workers[tasks], self.sizes[tasks]
        chosen = rows[np.arange(rows.shape[1]) < sizes[:, None]]
        loads = np.bincount(chosen, minlength=self.room.size - 1)
        return np.append(loads, chosen.size)

    def of(self, tasks: Integers) -> tuple[Integers, Integers, Floats]:
        """Return workers, sizes and accuracies of some tasks, as `put` takes them."""
        rows = self.workers[tasks].astype(np.int64)
        return rows, self.sizes[tasks], self.accuracy[tasks]

    def pairs(self, tasks: Integers | None = None) -> Assigned:
        """Return the pairs of some tasks, or of all, task by task."""
        tasks = np.arange(self.sizes.size) if tasks is None else tasks
        sizes = self.sizes[tasks]
        place = np.arange(self.workers.shape[1]) < sizes[:, None]
        shape = (self.room.size - 1, self.sizes.size)
        return Assigned(np.repeat(tasks.astype(np.int32), sizes), self.workers[tasks][place], shape)

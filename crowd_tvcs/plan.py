"""Plan: the assignment problem, checked once: quality, caps and priors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.quality import Quality
from tvcs_core import TVCS

Caps = int | ArrayLike | None


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Who may label what: the quality of every pair, and the three caps.

    Parameters
    ----------
    quality
        Who is how good at what.
    max_workers_per_task
        Most answers for a task: an integer >= 0 or one per task in the order of
        `quality.tasks`; None for no cap. (The paper's s^worker.)
    max_tasks_per_worker
        Most tasks for a worker, likewise in the order of `quality.workers`. (The paper's
        s^task.)
    budget
        Most answers in all; None for no cap.
    prior
        Probability in [0, 1] that the label of a task is 1: one number, or one per task.

    Attributes
    ----------
    max_workers_per_task, max_tasks_per_worker, budget, prior
        As above, one per task or worker; a cap is never more than there are pairs allowed.

    Raises
    ------
    ValueError, TypeError
        If a cap or a prior does not hold what it must; the message names it.
    """

    quality: Quality
    max_workers_per_task: NDArray[np.int64]
    max_tasks_per_worker: NDArray[np.int64]
    budget: int
    prior: NDArray[np.float64]

    def __init__(
        self,
        quality: Quality,
        *,
        max_workers_per_task: Caps = None,
        max_tasks_per_worker: Caps = None,
        budget: int | None = None,
        prior: ArrayLike = 0.5,
    ) -> None:
        if not isinstance(quality, Quality):
            raise TypeError(f"quality must be a Quality, found {type(quality).__name__}")
        object.__setattr__(self, "quality", quality)
        per_worker, per_task = self.room
        for name, value in (
            (
                "max_workers_per_task",
                _caps("max_workers_per_task", max_workers_per_task, per_task, quality.tasks),
            ),
            (
                "max_tasks_per_worker",
                _caps("max_tasks_per_worker", max_tasks_per_worker, per_worker, quality.workers),
            ),
            ("budget", _budget(budget, int(per_task.sum()))),
            ("prior", _prior(prior, quality.tasks)),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Plan({self.quality!r}, budget={self.budget})"

    @property
    def room(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many tasks every worker may do, and workers every task may get, without caps."""
        n_workers, n_tasks = self.quality.shape
        allowed = self.quality.allowed
        if allowed is None:
            return np.full(n_workers, n_tasks), np.full(n_tasks, n_workers)
        return allowed.sum(axis=1), allowed.sum(axis=0)

    @cached_property
    def constraint(self) -> TVCS:
        """The caps as a constraint; rows are workers and columns tasks."""
        return self._constraint(None)

    @cached_property
    def box(self) -> TVCS:
        """The same constraint on entries that must lie in [0, 1]."""
        return self._constraint((0.0, 1.0))

    def _constraint(self, bounds: tuple[float, float] | None) -> TVCS:
        return TVCS.matrix(
            self.quality.shape,
            row_caps=self.max_tasks_per_worker,
            col_caps=self.max_workers_per_task,
            total=self.budget,
            allowed=self.quality.allowed,
            bounds=bounds,
        )

    def reorder(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Plan:
        """Put the workers in the order of `rows` and the tasks in that of `columns`."""
        return Plan(
            self.quality.reorder(rows, columns),
            max_workers_per_task=self.max_workers_per_task[columns],
            max_tasks_per_worker=self.max_tasks_per_worker[rows],
            budget=self.budget,
            prior=self.prior[columns],
        )


def _caps(
    name: str, caps: Caps, room: NDArray[np.int64], names: Sequence[str]
) -> NDArray[np.int64]:
    """One cap per name, none above the room there is."""
    given = np.asarray(room if caps is None else caps)
    if given.dtype.kind not in "iu":
        raise TypeError(f"{name} must be an integer >= 0, or None for no cap, found {caps!r}")
    if given.ndim > 1 or (given.ndim == 1 and given.size != len(names)):
        raise ValueError(
            f"{name} must be one integer or {len(names)} of them, found shape {given.shape}"
        )
    if (given < 0).any():
        i = int(np.argmax(given < 0))
        whose = f" for {names[i]!r}" if given.ndim else ""
        raise ValueError(
            f"{name} must be an integer >= 0, or left out for no cap, found {given.flat[i]}{whose}"
        )
    out = np.minimum(given, room).astype(np.int64)
    out.setflags(write=False)
    return out


def _budget(budget: int | None, most: int) -> int:
    if budget is None:
        return most
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer):
        raise TypeError(f"budget must be an integer >= 0, or None for no cap, found {budget!r}")
    if budget < 0:
        raise ValueError(f"budget must be an integer >= 0, or left out for no cap, found {budget}")
    return min(int(budget), most)


def _prior(prior: ArrayLike, tasks: Sequence[str]) -> NDArray[np.float64]:
    given = np.asarray(prior, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and given.size != len(tasks)):
        raise ValueError(
            f"prior must be one number or {len(tasks)} of them, found shape {given.shape}"
        )
    out = np.array(np.broadcast_to(given, len(tasks)))
    wrong = ~((out >= 0.0) & (out <= 1.0))
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(f"prior must be in [0, 1], but that of task {tasks[j]!r} is {out[j]}")
    out.setflags(write=False)
    return out

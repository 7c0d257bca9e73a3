"""Plan: the assignment problem, checked once: quality, caps, demands and priors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.quality import Quality
from tvcs_core import TVCS, Projection, project

Caps = int | ArrayLike | None
LISTED = 3


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Who may label what: the quality of every pair, the three caps, and what must be.

    Pairs that may not be assigned are those that ``quality.allowed`` leaves out.

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
    min_workers_per_task
        Least answers for a task: an integer >= 0 or one per task.
    forced
        Boolean, of the shape of `quality`: pairs that must be assigned; None for none.

    Attributes
    ----------
    max_workers_per_task, max_tasks_per_worker, budget, prior, min_workers_per_task
        As above, one per task or worker; a cap is never more than there are pairs allowed.
    forced
        As above; None if no pair is forced.

    Raises
    ------
    ValueError, TypeError
        If a cap or a prior does not hold what it must, or if no assignment can keep the caps and
        meet the minimums and the forced pairs; the message names which, and by how much.

    Examples
    --------
    >>> from crowd_tvcs import Plan, Quality
    >>> quality = Quality([[.9, .6], [.7, .8]], workers=["ann", "bob"], tasks=["t1", "t2"])
    >>> Plan(quality, min_workers_per_task=2, max_tasks_per_worker=[2, 1])
    Traceback (most recent call last):
    ValueError: min_workers_per_task asks for 4 answers on tasks 't1', 't2', but within
    max_tasks_per_worker they can get 3: 1 too few
    """

    quality: Quality
    max_workers_per_task: NDArray[np.int64]
    max_tasks_per_worker: NDArray[np.int64]
    budget: int
    prior: NDArray[np.float64]
    min_workers_per_task: NDArray[np.int64]
    forced: NDArray[np.bool_] | None

    def __init__(
        self,
        quality: Quality,
        *,
        max_workers_per_task: Caps = None,
        max_tasks_per_worker: Caps = None,
        budget: int | None = None,
        prior: ArrayLike = 0.5,
        min_workers_per_task: int | ArrayLike = 0,
        forced: ArrayLike | None = None,
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
            ("min_workers_per_task", _minimums(min_workers_per_task, per_task, quality.tasks)),
            ("forced", _forced(forced, quality)),
        ):
            object.__setattr__(self, name, value)
        self._refuse_forced_beyond_caps()
        self._refuse_minimums_beyond_caps()

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

    @property
    def demands(self) -> tuple[str, ...]:
        """What must be, beyond the caps: a method has to honour these or refuse."""
        out = ("min_workers_per_task",) if self.min_workers_per_task.any() else ()
        return out if self.forced is None else (*out, "forced")

    @property
    def least_budget(self) -> int:
        """The smallest budget with which the minimums and the forced pairs can be had."""
        forced = 0 if self.forced is None else self.forced.sum(axis=0)
        return int(np.maximum(self.min_workers_per_task, forced).sum())

    def unmet(self, support: NDArray[np.bool_]) -> tuple[str, ...]:
        """Which of `demands` an assignment of shape (workers, tasks) does not meet."""
        is_short = (support.sum(axis=0) < self.min_workers_per_task).any()
        out = ("min_workers_per_task",) if is_short else ()
        if self.forced is not None and (self.forced & ~support).any():
            out = (*out, "forced")
        return out

    @cached_property
    def constraint(self) -> TVCS:
        """The caps as a constraint; rows are workers and columns tasks."""
        return self.rest(np.zeros(self.quality.shape, dtype=bool))

    def rest(self, fixed: NDArray[np.bool_], bounds: tuple[float, float] | None = None) -> TVCS:
        """Constrain what may be added to pairs that are fixed, of shape (workers, tasks)."""
        allowed = self.quality.allowed
        if fixed.any():
            allowed = ~fixed if allowed is None else allowed & ~fixed
        return TVCS.matrix(
            self.quality.shape,
            row_caps=self.max_tasks_per_worker - fixed.sum(axis=1),
            col_caps=self.max_workers_per_task - fixed.sum(axis=0),
            total=self.budget - int(fixed.sum()),
            allowed=allowed,
            bounds=bounds,
        )

    def settle(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Fix the forced pairs, and for the minimums the pairs of largest `scores` >= 0.

        One projection onto what the forced pairs leave, with the minimums as caps of the tasks. The
        number of pairs goes before their scores, so every minimum is met; the sum of the squared
        scores is the largest with which they can be. Returns pairs of shape (workers, tasks).
        """
        fixed = np.zeros(self.quality.shape, dtype=bool) if self.forced is None else self.forced
        missing = self.min_workers_per_task - fixed.sum(axis=0)
        if (missing <= 0).all():
            return fixed
        gains = scores**2
        first = 1.0 + 2.0 * sum(self.quality.shape) * gains.max()  # any longer path costs less
        chosen = self._on_the_missing(np.sqrt(first + gains), fixed).support
        both: NDArray[np.bool_] = fixed | chosen
        return both

    def _on_the_missing(self, scores: NDArray[np.float64], fixed: NDArray[np.bool_]) -> Projection:
        """Project onto what the minimums still ask for beyond `fixed`; the budget left out."""
        rest = self.rest(fixed)
        missing = np.maximum(0, self.min_workers_per_task - fixed.sum(axis=0))
        allowed = rest.allowed
        caps = TVCS.matrix(
            self.quality.shape, row_caps=rest.row_caps, col_caps=missing, allowed=allowed
        )
        return project(scores, caps)

    def _refuse_forced_beyond_caps(self) -> None:
        if self.forced is None:
            return
        for cap, caps, count, kind, names in (
            (
                "max_tasks_per_worker",
                self.max_tasks_per_worker,
                self.forced.sum(axis=1),
                "worker",
                self.quality.workers,
            ),
            (
                "max_workers_per_task",
                self.max_workers_per_task,
                self.forced.sum(axis=0),
                "task",
                self.quality.tasks,
            ),
        ):
            over = count - caps
            if (over > 0).any():
                i = int(np.argmax(over))
                raise ValueError(
                    f"forced pairs break {cap}: {kind} {names[i]!r} has {count[i]} of them and a "
                    f"cap of {caps[i]}, {over[i]} too many"
                )
        total = int(self.forced.sum())
        if total > self.budget:
            raise ValueError(
                f"forced pairs break the budget: {total} pairs, a budget of {self.budget}, "
                f"{total - self.budget} too many"
            )

    def _refuse_minimums_beyond_caps(self) -> None:
        least, tasks = self.min_workers_per_task, self.quality.tasks
        if not least.any():
            return
        over = least - self.max_workers_per_task
        if (over > 0).any():
            j = int(np.argmax(over))
            raise ValueError(
                f"min_workers_per_task of task {tasks[j]!r} is {least[j]}, but at most "
                f"{self.max_workers_per_task[j]} may label it: {over[j]} too few"
            )
        fixed = np.zeros(self.quality.shape, dtype=bool) if self.forced is None else self.forced
        total = self.least_budget
        if total > self.budget:
            raise ValueError(
                f"the budget of {self.budget} is below the {total} answers that "
                f"min_workers_per_task {'and forced pairs ' if fixed.any() else ''}ask for: "
                f"{total - self.budget} too few"
            )
        self._refuse_minimums_beyond_workers(fixed)

    def _refuse_minimums_beyond_workers(self, fixed: NDArray[np.bool_]) -> None:
        """Find tasks whose workers cannot together give what the minimums ask for (Hall)."""
        rest = self.rest(fixed)
        missing = np.maximum(0, self.min_workers_per_task - fixed.sum(axis=0))
        flow = self._on_the_missing(np.ones(self.quality.shape), fixed)
        if flow.support.sum() == missing.sum():
            return
        # The duals are a smallest cut: tasks of price 0 are short of workers.
        short = (flow.col_duals <= 0.5) & (missing > 0)
        allowed = np.ones_like(fixed) if rest.allowed is None else rest.allowed
        able = np.minimum(rest.row_caps, allowed[:, short].sum(axis=1)).sum()
        names = [self.quality.tasks[j] for j in np.flatnonzero(short)]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        asked = int(missing[short].sum())
        raise ValueError(
            f"min_workers_per_task asks for {asked} {'more ' if fixed.any() else ''}answers on "
            f"tasks {', '.join(map(repr, names[:LISTED]))}{more}, but within "
            f"max_tasks_per_worker they can get {able}: {asked - able} too few"
        )

    def reorder(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Plan:
        """Put the workers in the order of `rows` and the tasks in that of `columns`."""
        return Plan(
            self.quality.reorder(rows, columns),
            max_workers_per_task=self.max_workers_per_task[columns],
            max_tasks_per_worker=self.max_tasks_per_worker[rows],
            budget=self.budget,
            prior=self.prior[columns],
            min_workers_per_task=self.min_workers_per_task[columns],
            forced=None if self.forced is None else self.forced[np.ix_(rows, columns)],
        )

    def with_budget(self, budget: int) -> Plan:
        """Give the same plan with another budget."""
        return Plan(
            self.quality,
            max_workers_per_task=self.max_workers_per_task,
            max_tasks_per_worker=self.max_tasks_per_worker,
            budget=budget,
            prior=self.prior,
            min_workers_per_task=self.min_workers_per_task,
            forced=self.forced,
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
            f"{name} must be an integer >= 0, or left out for none, found {given.flat[i]}{whose}"
        )
    out = np.minimum(given, room).astype(np.int64)
    out.setflags(write=False)
    return out


def _minimums(
    given: int | ArrayLike, room: NDArray[np.int64], tasks: Sequence[str]
) -> NDArray[np.int64]:
    """One minimum per task, none above the number of workers allowed."""
    unbounded = np.full(len(tasks), np.iinfo(np.int64).max)
    out = np.array(
        np.broadcast_to(_caps("min_workers_per_task", given, unbounded, tasks), len(tasks))
    )
    over = out - room
    if (over > 0).any():
        j = int(np.argmax(over))
        raise ValueError(
            f"min_workers_per_task of task {tasks[j]!r} is {out[j]}, but {room[j]} workers are "
            f"allowed on it: {over[j]} too few"
        )
    out.setflags(write=False)
    return out


def _forced(forced: ArrayLike | None, quality: Quality) -> NDArray[np.bool_] | None:
    if forced is None:
        return None
    out = np.array(forced)
    if out.dtype != np.bool_:
        raise TypeError(f"forced must be booleans, found {out.dtype}")
    if out.shape != quality.shape:
        raise ValueError(f"forced must have shape {quality.shape}, found {out.shape}")
    if quality.allowed is not None and (out & ~quality.allowed).any():
        i, j = np.argwhere(out & ~quality.allowed)[0]
        raise ValueError(
            f"a forced pair must be allowed, but worker {quality.workers[i]!r} may not label task "
            f"{quality.tasks[j]!r}"
        )
    out.setflags(write=False)
    return out if out.any() else None


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

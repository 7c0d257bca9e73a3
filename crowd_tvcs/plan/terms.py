"""The terms of a plan: its quality, caps, demands and priors, and values derived from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowd_tvcs.answers.factors import CrowdQuality, Factors
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.arrays import Bools, Floats, Integers
from tvcs_core import TVCS


@dataclass(frozen=True, eq=False, repr=False)
class Terms:
    """The fields of a plan, see `crowd_tvcs.Plan`; checks and prices of plans need no more."""

    quality: CrowdQuality
    max_workers_per_task: Integers
    max_tasks_per_worker: Integers
    budget: int
    prior: Floats
    min_workers_per_task: Integers
    forced: Bools | None
    n_classes: int
    class_prior: Floats | None
    confusion: Floats | None
    cost: Floats | None
    money: float | None
    group: tuple[str | None, ...] | None
    common_error: float
    error_shares: Floats | None

    @property
    def is_table(self) -> bool:
        """Whether the quality is a table of workers x tasks, not given by kinds of tasks."""
        return isinstance(self.quality, Quality)

    @property
    def table(self) -> Quality:
        """The table of workers x tasks; a plan whose quality is given by kinds has none."""
        if not isinstance(self.quality, Quality):
            raise TypeError(f"{self.quality!r} is no table of workers x tasks")
        return self.quality

    @property
    def factors(self) -> Factors:
        """The quality by kinds of tasks; a plan of a table has none."""
        if not isinstance(self.quality, Factors):
            raise TypeError(f"{self.quality!r} is not given by kinds of tasks")
        return self.quality

    @property
    def room(self) -> tuple[Integers, Integers]:
        """Tasks that every worker may do, and workers every task may get, without caps."""
        return self.quality.room()

    @cached_property
    def guess(self) -> Floats:
        """Accuracy of every task without any answer."""
        if self.class_prior is not None:
            return self.class_prior.max(axis=1)
        return np.maximum(self.prior, 1.0 - self.prior)

    @property
    def demands(self) -> tuple[str, ...]:
        """Names of the demands beyond the caps: a method has to honour these or refuse."""
        out: tuple[str, ...] = () if self.is_table else ("kinds",)
        out = (*out, "min_workers_per_task") if self.min_workers_per_task.any() else out
        for name in ("forced", "money", "group"):
            out = out if getattr(self, name) is None else (*out, name)
        return out

    @property
    def least_budget(self) -> int:
        """The smallest budget with which the minimums and the forced pairs can be had."""
        forced = 0 if self.forced is None else self.forced.sum(axis=0)
        return int(np.maximum(self.min_workers_per_task, forced).sum())

    def rest(self, fixed: Bools, bounds: tuple[float, float] | None = None) -> TVCS:
        """Return the constraint on pairs that join the fixed ones, of shape (workers, tasks)."""
        allowed = self.table.allowed
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

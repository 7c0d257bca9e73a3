"""Prices of a plan in factors, and the bound they prove: every group of tasks is priced once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.factors.grid import MAX_GROUPS, Groups
from crowd_tvcs.factors.master import GroupColumns
from crowd_tvcs.factors.one_price import bound_at_one_price
from crowd_tvcs.search.column_generation import MasterSolution
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.kernels.records import TaskSets
from crowd_tvcs.search.relaxation import DualBound, Relaxation, price_everything
from crowd_tvcs.search.search import EPOCHS, steps_of

# Own choices on simulated crowds of up to 1,000 workers (docs/decisions, 71 and 339).
VISITS_PER_WORKER = 5  # visits of groups in an epoch
MIN_VISITS, MAX_VISITS = 2_000, 20_000  # visits of groups in an epoch
MAX_ROUNDS = 50  # rounds of column generation
FIRST = 0.4  # part of the time for prices that move task by task
ROUGH = 0.5  # part of the time left for prices before any is proved
AT_VERTEX = 0.5  # part of the time left for a vertex of the linear program, to make a plan of
MANY_WORKERS = 150  # workers from which on central prices take fewer rounds than those of a vertex
ROUGH_NODES = 2_000  # nodes of branch and bound per group, as long as that finds better prices
PROOF_NODES = 200_000  # the same for a proof
SLACK = 2e-5  # part of the error by which a proof may be off
MAX_COLUMNS = 400_000  # sets of workers in the linear program
CLOSE = 2e-5  # gap of bound and linear program, as a part of the error, at which to stop


@dataclass(frozen=True, eq=False)
class GroupRelaxation:
    """The relaxation of the groups of a plan, each of which stands for many tasks.

    Attributes
    ----------
    groups
        The groups of tasks that are priced together.
    relaxation
        That of one task of every group, under the caps of the whole plan.
    """

    groups: Groups
    relaxation: Relaxation

    @classmethod
    def of(cls, groups: Groups) -> GroupRelaxation:
        """Relax a plan."""
        plan = groups.plan
        caps = np.append(plan.max_tasks_per_worker, plan.budget).astype(np.int64)
        each = np.arange(groups.size)
        relaxation = replace(
            Relaxation.of(groups.members), caps=caps, kind=each, first=each, weight=groups.weight
        )
        return cls(groups, relaxation)

    @property
    def n_tasks(self) -> int:
        """Number of tasks of the whole plan."""
        return len(self.groups.plan.quality.tasks)

    def price(
        self, prices: Floats, start: TaskSets, deadline: Deadline, nodes: int, slack: float = 0.0
    ) -> DualBound | None:
        """Price every group; the bound is in units of the sum over all tasks.

        See `crowd_tvcs.search.relaxation.price_everything`. None if the deadline struck.
        """
        relaxation, plan = self.relaxation, self.groups.plan
        prices = relaxation.rations.priced_out(prices, relaxation.caps, 1.0 - 1.0 / plan.n_classes)
        return price_everything(relaxation, prices, start, deadline, nodes, slack=slack)


class PriceSearch:
    """The best prices so far, the sets that were seen, and the linear program over them."""

    def __init__(
        self,
        relaxed: GroupRelaxation,
        rng: np.random.Generator,
        deadline: Deadline,
        *,
        needs_sets: bool = True,
    ) -> None:
        self.relaxed = relaxed
        self.columns = GroupColumns(relaxed.relaxation)
        self.moved = np.zeros(relaxed.relaxation.caps.size)
        self.guide: DualBound | None = None
        self.proved: DualBound | None = None
        self.master: MasterSolution | None = None
        self.rounds = 0
        self._is_central = False
        self._rng = rng
        self._deadline = deadline
        self._needs_sets = needs_sets
        self._nodes, self._slack = ROUGH_NODES, 0.0

    def use(self, dual: DualBound) -> None:
        """Keep a bound that is proved if it is the best."""
        if self.proved is None or dual.bound < self.proved.bound:
            self.proved, self.moved = dual, dual.prices

    def run(self) -> None:
        """Move prices task by task, then by linear programs; then prove the bound they give."""
        if self.proved is None:
            with self._part_of_the_time(FIRST):
                self.moved = self._first_prices()
        self._price(self.moved)
        self._improve_until(ROUGH)
        self._look_closer()
        self._improve_until(1.0)

    def _improve_until(self, part: float) -> None:
        """Generate columns until prices are close, for at most a part of the time that is left."""
        with self._part_of_the_time(part) as deadline:
            for _ in range(MAX_ROUNDS):
                if deadline.has_passed or not self._improve():
                    break

    @contextmanager
    def _part_of_the_time(self, part: float) -> Iterator[Deadline]:
        """Have the deadline at a part of the time that is left."""
        whole = self._deadline
        with whole.part(part) as self._deadline:
            yield self._deadline
        self._deadline = whole

    def _look_closer(self) -> None:
        """Price again at the best prices, with the nodes of a proof."""
        if self.guide is None:
            return
        self._nodes, before = PROOF_NODES, self.guide
        self._slack = SLACK * max(0.0, 1.0 - before.bound / self.relaxed.n_tasks)
        self.guide = None
        self._price(before.prices, before.sets)
        if self.guide is None:  # the deadline struck
            self.guide = before

    def _first_prices(self) -> Floats:
        """Average prices of the last third of the epochs."""
        relaxation, groups = self.relaxed.relaxation, self.relaxed.groups
        n, m = relaxation.n_workers, self.relaxed.n_tasks
        start = 0.3 * 2.0 ** -(relaxation.caps[n] / m)
        prices = np.zeros(n + 1)
        prices[n] = start
        visits = int(np.clip(VISITS_PER_WORKER * n, MIN_VISITS, MAX_VISITS))
        kept = []
        # Without a plan to begin with, the first epoch is not broken off: its sets make one.
        limit = Deadline.after(None) if self._needs_sets else self._deadline
        for epoch, (step, is_kept) in enumerate(steps_of(start, EPOCHS)):
            order, sets = self._draw(groups.weight, visits), relaxation.nobody()
            relaxation.visit(order, prices, sets, limit, step=step, of=m)
            limit = self._deadline
            if epoch == 0 or is_kept:
                self.columns.add(sets)
            if is_kept:
                kept.append(prices.copy())
            if self._deadline.has_passed:
                break
        return np.mean(kept or [prices], axis=0)

    def _draw(self, weight: Floats, count: int) -> Integers:
        """Draw groups by their weights, as evenly as can be, in random order."""
        ends = np.cumsum(weight)
        places = (np.arange(count) + self._rng.random()) * (ends[-1] / count)
        drawn = np.minimum(np.searchsorted(ends, places, side="right"), weight.size - 1)
        return self._rng.permutation(drawn).astype(np.int64)

    def _price(self, prices: Floats, start: TaskSets | None = None) -> int:
        """Price all groups; keep the best bound, and the best proved; return how many sets new."""
        if start is None:
            start = self.columns.best_at(prices)
        dual = self.relaxed.price(prices, start, self._deadline, self._nodes, self._slack)
        if dual is None:
            return 0
        new = self.columns.add(dual.sets)
        if self.guide is None or dual.bound < self.guide.bound:
            self.guide = dual
        if dual.proved and (self.proved is None or dual.bound < self.proved.bound):
            self.proved = dual
        return new

    def _improve(self) -> bool:
        """One round of column generation; whether the next may find more."""
        is_large = self.relaxed.groups.size > MAX_GROUPS
        if is_large or self.guide is None or not 0 < len(self.columns) < MAX_COLUMNS:
            return False
        master = None
        if self.relaxed.relaxation.n_workers >= MANY_WORKERS:
            master = self.columns.central_master(self.guide, self._within(), self._deadline)
        is_central = master is not None
        if master is None and not self._deadline.has_passed:
            master = self.columns.solve_master(self.guide, self._deadline)
        if master is None:
            return False
        self.master, self._is_central = master, is_central
        self.rounds += 1
        if self.is_near(master, CLOSE):
            return False
        new = 0 if self._is_central else self._price(0.5 * (master.prices + self.guide.prices))
        return bool(new or self._price(master.prices)) and not self.is_near(master, CLOSE)

    def prove_at_one_price(self) -> None:
        """Prove a bound that needs no search, if none is proved yet."""
        if self.proved is None:
            self.proved = bound_at_one_price(self.relaxed.groups, self.relaxed.relaxation)

    def whole(self, deadline: Deadline) -> MasterSolution | None:
        """Return a solution for a plan: one at a vertex, whose shares are whole but for few."""
        master = self.master
        if master is None and len(self.columns) and self.relaxed.groups.size <= MAX_GROUPS:
            usual = Deadline.after(None) if self._needs_sets else deadline
            return self.columns.solve_master(self.guide, usual)
        if master is not None and self._is_central:
            return self.columns.vertex_master(master, deadline.part(AT_VERTEX)) or master
        return master

    def _within(self) -> float:
        """Gap of a central solution: a tenth of the last, but not far below `CLOSE`."""
        assert self.guide is not None
        error = max(self.relaxed.n_tasks - self.guide.bound, 1e-9 * self.relaxed.n_tasks)
        gap = error if self.master is None else self.guide.bound - self.master.optimum
        return max(0.1 * gap, 0.25 * CLOSE * error)

    def is_near(self, master: MasterSolution, part: float) -> bool:
        """Whether a linear program is within a part of the error of the best bound."""
        if self.guide is None:
            return False
        error = max(self.relaxed.n_tasks - self.guide.bound, 1e-9 * self.relaxed.n_tasks)
        return self.guide.bound - master.optimum <= part * error

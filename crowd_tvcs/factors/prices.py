"""Prices of a plan in factors, and the bound they prove: every group of tasks is priced once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.factors.grid import MOST_GROUPS, Groups
from crowd_tvcs.search.column_generation import Columns, MasterSolution
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.initial import relax
from crowd_tvcs.search.kernels.records import Limit, Prices, Room, TaskSets, TaskValues
from crowd_tvcs.search.relaxation import THREADS, DualBound, Relaxation

EPOCHS = 30
FIRST_STEP, LAST_STEP = 0.05, 0.001  # of the first price, as for a plan that is a table
VISITS_PER_WORKER = 5  # in an epoch
LEAST_VISITS, MOST_VISITS = 2_000, 20_000  # in an epoch
ROUNDS = 30  # of column generation
ROUGH_NODES = 2_000  # of branch and bound per group, as long as that finds better prices
PROOF_NODES = 200_000
SLACK = 2e-5  # of the error, by which a proof may be off; WIDENED so often where nodes run out
WIDER, WIDENED = 5, 8.0
MOST_COLUMNS = 400_000
CLOSE = 2e-5  # of bound and linear program, as a part of the error, at which to stop

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GroupRelaxation:
    """The relaxation of the groups of a plan, each of which stands for many tasks.

    Attributes
    ----------
    groups
        What tasks are priced together.
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
        relaxation = replace(relax(groups.members), caps=caps, kind=each, first=each)
        return cls(groups, relaxation)

    @property
    def n_tasks(self) -> int:
        """Number of tasks of the whole plan."""
        return len(self.groups.plan.tasks)

    def visit(self, order: Integers, prices: Floats, step: float, deadline: Deadline) -> TaskSets:
        """Let groups, drawn like tasks, take their best sets in turn, each moving the prices."""
        relaxation, sets = self.relaxation, self.relaxation.nobody()
        size = relaxation.n_tasks
        found = TaskValues(np.zeros(size), np.zeros(size, dtype=bool))
        moving = Prices(prices, step, relaxation.caps / self.n_tasks, np.empty(0), 0.0)
        free = Room(np.empty(0, dtype=np.int64), np.array([-1]), np.empty(0))
        relaxation._visit(order, moving, free, sets, found, Limit(0, deadline.stop))
        return sets

    def price(
        self, prices: Floats, start: TaskSets, deadline: Deadline, nodes: int, slack: float = 0.0
    ) -> DualBound | None:
        """Price every group; the bound is in units of the sum over all tasks.

        With a `slack`, in accuracy of a task, what is worth at most so much more than the set in
        `start` is not looked for, and the value of the group is that much larger: a bound all the
        same, which takes a fraction of the nodes where many sets are worth nearly the same. Where
        the nodes do not do, the slack grows. None if the deadline struck.
        """
        relaxation, plan = self.relaxation, self.groups.plan
        prices = relaxation.rations.priced_out(prices, relaxation.caps, 1.0 - 1.0 / plan.n_classes)
        sets, every = start.copy(), np.arange(self.groups.size)
        value, proved = np.empty(every.size), np.zeros(every.size, dtype=bool)

        def part(tasks: Integers) -> None:
            found = relaxation.visit(tasks, prices, sets, deadline, node_limit=nodes)
            value[tasks], proved[tasks] = found.value[tasks], found.proved[tasks]

        left = every
        for _ in range(WIDER if slack > 0.0 else 1):
            true = sets.accuracy.copy()
            sets.accuracy[left] += slack
            raised = sets.accuracy.copy()
            with ThreadPoolExecutor(THREADS) as pool:
                for done in [pool.submit(part, x) for x in np.array_split(left, 2 * THREADS)]:
                    done.result()
            # A set that was found has its own accuracy; the others get theirs back.
            sets.accuracy[:] = np.where(sets.accuracy == raised, true, sets.accuracy)
            if deadline.has_passed:
                return None
            left, slack = np.flatnonzero(~proved), slack * WIDENED
            if not left.size:
                break
        bound = float(prices @ relaxation.caps + self.groups.weight @ value)
        return DualBound(prices, bound, bool(proved.all()), sets, value)


class PriceSearch:
    """The best prices so far, the sets that were seen, and the linear program over them."""

    def __init__(
        self, relaxed: GroupRelaxation, rng: np.random.Generator, deadline: Deadline
    ) -> None:
        self.relaxed = relaxed
        self.columns = Columns(relaxed.relaxation, relaxed.groups.weight)
        self.guide: DualBound | None = None
        self.proved: DualBound | None = None
        self.master: MasterSolution | None = None
        self.rounds = 0
        self._rng = rng
        self._deadline = deadline
        self._nodes, self._slack = ROUGH_NODES, 0.0

    def run(self) -> None:
        """Move prices task by task, then by linear programs, then prove what they are worth."""
        self._price(self._first_prices())
        for _ in range(ROUNDS):
            if self._deadline.has_passed or not (self._improve() or self._look_closer()):
                break
        self._look_closer()

    @property
    def is_guided(self) -> bool:
        """Whether there are prices yet."""
        return self.guide is not None

    def _look_closer(self) -> bool:
        """Price again at the best prices, with the nodes of a proof; False if that was done."""
        if self.guide is None or self._nodes == PROOF_NODES:
            return False
        self._nodes, before = PROOF_NODES, self.guide
        self._slack = SLACK * max(0.0, 1.0 - before.bound / self.relaxed.n_tasks)
        self.guide = None
        self._price(before.prices, before.sets)
        if not self.is_guided:  # the deadline struck
            self.guide = before
        return self.guide is not before

    def _first_prices(self) -> Floats:
        """Average prices of the last third of the epochs."""
        relaxation, groups = self.relaxed.relaxation, self.relaxed.groups
        n, m = relaxation.n_workers, self.relaxed.n_tasks
        start = 0.3 * 2.0 ** -(relaxation.caps[n] / m)
        prices = np.zeros(n + 1)
        prices[n] = start
        visits = int(np.clip(VISITS_PER_WORKER * n, LEAST_VISITS, MOST_VISITS))
        factor = (LAST_STEP / FIRST_STEP) ** (1.0 / (EPOCHS - 1))
        kept = []
        for epoch in range(EPOCHS):
            order = self._draw(groups.weight, visits)
            step = FIRST_STEP * start * factor**epoch
            # The first epoch is never broken off, so that there are sets to make a plan of.
            limit = Deadline.after(None) if epoch == 0 else self._deadline
            sets = self.relaxed.visit(order, prices, step, limit)
            if epoch == 0:
                self.columns.add(sets)
            if epoch >= EPOCHS - (EPOCHS + 2) // 3:
                kept.append(prices.copy())
                self.columns.add(sets)
            if self._deadline.has_passed:
                break
        average: Floats = np.mean(kept or [prices], axis=0)
        return average

    def _draw(self, weight: Floats, count: int) -> Integers:
        """Draw groups by their weights, as evenly as can be, in random order."""
        ends = np.cumsum(weight)
        places = (np.arange(count) + self._rng.random()) * (ends[-1] / count)
        drawn = np.minimum(np.searchsorted(ends, places, side="right"), weight.size - 1)
        return self._rng.permutation(drawn).astype(np.int64)

    def _price(self, prices: Floats, start: TaskSets | None = None) -> int:
        """Price all groups; keep the best bound, and the best proved; return how many sets new."""
        if start is None:
            nobody = self.relaxed.relaxation.nobody
            start = nobody() if self.guide is None else self.guide.sets
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
        is_large = self.relaxed.groups.size > MOST_GROUPS
        if is_large or self.guide is None or not 0 < len(self.columns) < MOST_COLUMNS:
            return False
        master = self.columns.solve_master(self.guide, self._deadline)
        if master is None:
            return False
        self.master = master
        self.rounds += 1
        if self._is_close(master):
            return False
        new = self._price(0.5 * (master.prices + self.guide.prices))
        return bool(new or self._price(master.prices)) and not self._is_close(master)

    def _is_close(self, master: MasterSolution) -> bool:
        assert self.guide is not None
        error = max(self.relaxed.n_tasks - self.guide.bound, 1e-9 * self.relaxed.n_tasks)
        return self.guide.bound - master.optimum <= CLOSE * error

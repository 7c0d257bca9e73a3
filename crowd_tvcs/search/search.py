"""The search behind the method `best`: prices, assignments from prices, columns, exchanges."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.plan.costs import is_rationed
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import CERTIFIED_WITHIN, CLOSED, LARGEST, NEARLY
from crowd_tvcs.search.column_generation import Columns
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.greedy_with_costs import bargain
from crowd_tvcs.search.initial import met, quick, regardless_of_costs
from crowd_tvcs.search.kernels.records import TaskSets
from crowd_tvcs.search.matrix_knots import bound_by_matrix_knots, has_hard_sets
from crowd_tvcs.search.relaxation import (
    PROOF_NODES,
    TOLERANCE,
    DualBound,
    Relaxation,
    price_everything,
)

EPOCHS = 30
LEAST_EPOCHS = 6
FIRST_STEP, LAST_STEP = 0.05, 0.001  # of the first price
ORDERS = 3
ROUNDS = 30
ROUNDS_UNPROVED = 8  # rounds without a bound, after which tasks are priced with a slack
SLACK = 0.3 * CERTIFIED_WITHIN  # of the accuracy of a task, where exact pricing gives up
CLOSER_NODES = 30_000_000  # of few kinds of tasks together, with a slack: some 25 s at most
FAR = 0.01  # gap of a rough bound: knots of matrices prove a closer one, if any do
ROUGH_NODES = 20_000  # of a task: a tenth of the time of exact pricing that gives up, or less
MOST_COLUMNS = 40_000
# Pairs of a plan with money or groups that is tried greedily as well: always, or if uncertified.
FEW_BARGAINED, MOST_BARGAINED = 10_000, 200_000
NO_MORE = "no step found more"
OUT_OF_ROUNDS = f"the limit of {ROUNDS} rounds"
OUT_OF_SETS = f"the limit of {MOST_COLUMNS} sets"
CLOSE = 1e-4  # a gap, as a part of the error, at which to stop
CLOSED_NEARLY = NEARLY.format(CLOSE)


def steps_of(first_price: float, epochs: int) -> Iterator[tuple[float, bool]]:
    """Yield the step of every epoch of moving prices, and whether it is one that is averaged."""
    factor = (LAST_STEP / FIRST_STEP) ** (1.0 / (epochs - 1))
    for epoch in range(epochs):
        yield FIRST_STEP * first_price * factor**epoch, epoch >= epochs - (epochs + 2) // 3


class Search:
    """The best assignment and the best bound so far, and the steps that improve them."""

    def __init__(self, plan: Plan, rng: np.random.Generator, deadline: Deadline) -> None:
        self.relaxation = Relaxation.of(plan)
        self.best = quick(self.relaxation, deadline)[1]
        self.dual: DualBound | None = None
        self._guide: DualBound | None = None
        self._traded: TaskSets | None = None
        self._slack = 0.0
        self._rng = rng
        self._deadline = deadline
        self._columns = Columns(self.relaxation)

    @property
    def gap(self) -> float:
        """Bound minus accuracy, as a mean over the tasks; infinite without a bound."""
        if self.dual is None:
            return np.inf
        return (self.dual.bound - float(self.best.accuracy.sum())) / self.relaxation.n_tasks

    def offer(self, support: Bools) -> None:
        """Keep an assignment if it is the best so far."""
        if self.relaxation.plan.unmet(support):
            support = met(self.relaxation.plan, support)
        self._keep(self.relaxation.sets_of(support))

    def run(self) -> str:
        """Take all steps, or those that the deadline leaves; return the reason for the end."""
        plan = self.relaxation.plan
        self._columns.add(self.best)
        if self._is_late():
            return self._deadline.reason
        if has_hard_sets(plan):
            self._bound_by_knots()
        prices, ended = self._first_prices(), OUT_OF_ROUNDS
        self._price(prices)
        self._bound_roughly()
        self._assign_by(prices)
        for n in range(ROUNDS):
            if n >= ROUNDS_UNPROVED and (self.dual is None or self.dual.slack > 0.0):
                self._look_closer()
            self._trade()
            if closed := self._closed():
                return closed
            if self._is_late():
                return self._deadline.reason
            if len(self._columns) > MOST_COLUMNS:
                ended = OUT_OF_SETS
                break
            if not self._generate():
                ended = NO_MORE
                break
        self._trade()
        if is_rationed(plan) and not self._closed() and not self._is_late():
            self._bargain()
        return self._closed() or (self._deadline.reason if self._is_late() else ended)

    def begin_greedily(self) -> None:
        """Try greedy assignments with money or groups after the deadline, by exact gains if few."""
        plan = self.relaxation.plan
        if plan.table.values.size <= FEW_BARGAINED:
            self.offer(bargain(plan, Deadline.after(None)))
        else:
            self.offer(regardless_of_costs(self.relaxation))

    def _trade(self) -> None:
        """With money or groups, exchange workers in the best assignment if it is a new one."""
        plan = self.relaxation.plan
        is_new = self._traded is None or self.best.accuracy.sum() > self._traded.accuracy.sum()
        if is_rationed(plan) and self.relaxation.voters.is_folded and is_new and not self._closed():
            self._keep(self.relaxation.exchange(self.best, self._deadline))
            self._traded = self.best

    def _bargain(self) -> None:
        """Try greedy assignments too, and all sets seen in whole numbers.

        Where that is cheap, or nothing is certified.
        """
        plan = self.relaxation.plan
        few = MOST_BARGAINED if self.gap > CERTIFIED_WITHIN else FEW_BARGAINED
        if plan.table.values.size <= few:
            self.offer(bargain(plan, self._deadline))
            self._columns.add(self.best)
            whole = self._columns.solve_whole(self._deadline) if len(self._columns) else None
            if whole is not None:
                self.offer(self.relaxation.support_of(self._columns.round(whole)))
            self._trade()

    def _closed(self) -> str | None:
        """Return whether the gap is closed, and note it if it is."""
        if self.gap <= CLOSED:
            return LARGEST
        if self.gap <= CLOSE * (1.0 - self.best.accuracy.mean()):
            return CLOSED_NEARLY
        return None

    def _is_late(self) -> bool:
        return self._deadline.has_passed

    def _keep(self, sets: TaskSets) -> None:
        if sets.accuracy.sum() > self.best.accuracy.sum():
            self.best = sets.copy()

    def _first_prices(self) -> Floats:
        """Move the prices after every task; their average over the last third of the epochs."""
        relaxation = self.relaxation
        n, m = relaxation.n_workers, relaxation.n_tasks
        limits = relaxation.rations.limits(relaxation.caps)
        start = 0.3 * 2.0 ** -(limits[n:].min() / m)  # money in labels of the mean cost
        prices = np.zeros(limits.size)
        prices[n + limits[n:].argmin()] = start
        epochs = max(LEAST_EPOCHS, min(EPOCHS, relaxation.voters.updates // m))
        kept = []
        sets = relaxation.nobody()
        for step, is_kept in steps_of(start, epochs):
            order = self._rng.permutation(m)
            relaxation.visit(order, prices, sets, self._deadline, step=step)
            if is_kept:
                kept.append(prices.copy())
                self._columns.add(sets)
            if self._is_late():
                break
        kept = kept or [prices]
        return np.mean(kept, axis=0)

    def _price(self, prices: Floats) -> None:
        """Price all tasks; keep the best bound, and the best proved."""
        start = self.best if self._guide is None else self._guide.sets
        # What may not be used at all costs nothing in the bound and is worth at most what labels
        # can add to the likeliest of the classes.
        most_gain = 1.0 - 1.0 / self.relaxation.plan.n_classes
        prices = self.relaxation.rations.priced_out(prices, self.relaxation.caps, most_gain)
        nodes = PROOF_NODES
        if self._slack > 0.0:
            nodes = max(nodes, CLOSER_NODES // self.relaxation.first.size)
        dual = price_everything(
            self.relaxation, prices, start, self._deadline, nodes, slack=self._slack
        )
        if dual is None:
            return
        self._columns.add(dual.sets)
        if self._guide is None or dual.bound < self._guide.bound:
            self._guide = dual
        if dual.proved and (self.dual is None or dual.bound < self.dual.bound):
            self.dual = dual

    def _bound_roughly(self) -> None:
        """Prove a bound with a slack and few nodes, where exact pricing ran out of nodes."""
        unproved = self._guide
        if unproved is None or unproved.proved:
            return
        dual = price_everything(
            self.relaxation,
            unproved.prices,
            unproved.sets,
            self._deadline,
            ROUGH_NODES,
            slack=SLACK,
        )
        known = self.relaxation.n_tasks if self.dual is None else self.dual.bound
        if dual is not None and dual.proved and dual.bound < known:
            self.dual = dual
        if self.gap > FAR and not has_hard_sets(self.relaxation.plan):
            self._bound_by_knots()

    def _bound_by_knots(self) -> None:
        """Prove a bound by knots of the workers' matrices, where pricing of sets proves little."""
        found = bound_by_matrix_knots(self.relaxation.plan, self._deadline)
        if found is None:
            return
        bound, of_workers, of_label, knots = found
        m = self.relaxation.n_tasks
        prices = m * np.append(of_workers, of_label)
        if m * bound < (m if self.dual is None else self.dual.bound):
            nobody = self.relaxation.nobody()
            self.dual = DualBound(prices, m * bound, True, nobody, np.empty(0), knots=knots)

    def _look_closer(self) -> bool:
        """Price again at the best prices, with a slack; False if they were priced exactly."""
        before = self._guide
        if before is None or before.proved or self._slack > 0.0:
            return False
        self._slack, self._guide = SLACK, None
        self._price(before.prices)
        return True

    def _assign_by(self, prices: Floats, fixed: TaskSets | None = None) -> None:
        """Assign the tasks that `fixed` leaves open their best sets, in a few orders."""
        relaxation = self.relaxation
        begin = relaxation.nobody() if fixed is None else fixed
        room = relaxation.caps - begin.loads(relaxation.n_workers)
        for _ in range(ORDERS):
            sets = begin.copy()
            order = self._rng.permutation(np.flatnonzero(begin.sizes == 0))
            relaxation.visit(order, prices, sets, self._deadline, room=room.copy())
            # Where `fixed` leaves a task less room than its minimum, it takes that all the same.
            is_over = (sets.loads(relaxation.n_workers) > relaxation.caps).any()
            if is_over or (sets.sizes < relaxation.need).any():
                sets = relaxation.sets_of(met(relaxation.plan, relaxation.support_of(sets)))
            self._columns.add(sets)
            self._keep(sets)

    def _generate(self) -> bool:
        """One round of column generation; whether the next may find more."""
        if not len(self._columns):  # no label is worth anything
            relaxation = self.relaxation
            self._price(np.zeros(relaxation.rations.limits(relaxation.caps).size))
            return False
        master = self._columns.solve_master(self._guide, self._deadline)
        if master is None:
            return False
        prices, known = master.prices, len(self._columns)
        self._assign_by(prices, self._columns.round(master))
        before = len(self._columns)
        if self._guide is not None:
            apart = self._guide.bound - master.optimum
            if apart <= TOLERANCE * self.relaxation.n_tasks:
                return self._look_closer()
            # Between the LP's prices, which jump about, and the best ones so far.
            self._price(0.5 * (prices + self._guide.prices))
        if len(self._columns) == before:
            self._price(prices)
        # Beside greedy starts the master knows nearly all sets; without them it may not know
        # those that were just assigned.
        known = known if is_rationed(self.relaxation.plan) else before
        return len(self._columns) > known or self._look_closer()

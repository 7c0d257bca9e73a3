"""The Lagrangian relaxation of a plan: prices of the caps, and the bound that prices prove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.kernels.two_class_table import EXACT, TABLE
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.plan.certificate import Knots
from crowd_tvcs.plan.forced import beyond_forced, exact_teams
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.kernels import exchange
from crowd_tvcs.search.kernels.records import (
    Candidates,
    Climb,
    Limit,
    Places,
    Prices,
    Room,
    TaskSets,
    TaskValues,
)
from crowd_tvcs.search.kernels.scratch import Tables
from crowd_tvcs.search.rations import Rations
from crowd_tvcs.search.voters import Voters, strengths_of, voters_of
from tvcs_core.engines import in_threads

NODES = 0  # in the search for prices: exchanges alone do as well
PROOF_NODES = 3_000_000
THREADS = 2
WIDER, WIDENED = 5, 8.0  # a slack grows so often, by so much, where nodes run out
TOLERANCE = 1e-12
EXCHANGE_WORK = 130_000_000  # multiplications that `Relaxation.exchange` may take


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A plan without the constraints that join its tasks.

    Prices take the place of caps of the workers, budget and money: every task pays for its
    workers. Only free pairs count here, beyond the forced ones.

    Attributes
    ----------
    plan
        The plan.
    candidates
        For every task the workers who may help, how many it must and may have, and who labels it
        in any case.
    caps
        The rest of every worker's cap after the forced pairs, then of the budget.
    kind, first
        Tasks with the same candidates are of one kind: the kind of every task, and the first task
        of every kind.
    weight
        How many tasks of a larger plan every task stands for, none of which is like another; not
        always whole. None if each is one task.
    rations
        The rest of the money, and the groups that may not work together.
    voters
        How the candidates answer: by qualities of two classes, or by matrices.
    """

    plan: Plan
    candidates: Candidates
    caps: Integers
    kind: Integers
    first: Integers
    rations: Rations
    voters: Voters
    weight: Floats | None = None

    @classmethod
    def of(cls, plan: Plan) -> Relaxation:
        """Leave out workers who are not allowed, have no room or are uninformative.

        Uninformative workers stay where the task must have somebody.
        """
        forced, caps, need, open_pairs = beyond_forced(plan)
        known = strengths_of(plan, forced)
        useful = (known.telling | (need > 0)[:, None]) & open_pairs
        strength, kind = np.where(useful, known.value, 0.0), np.where(useful, known.kind, 0)
        worker = np.lexsort((kind, -strength), axis=1).astype(np.int64)
        count, rations = useful.sum(axis=1), Rations.of(plan, forced)
        candidates = Candidates(
            quality=np.ascontiguousarray(np.take_along_axis(strength, worker, axis=1)),
            worker=worker,
            size=count,
            need=need,
            cap=np.minimum(plan.max_workers_per_task - forced.sum(axis=0), rations.able(useful)),
            fixed=known.fixed,
            n_fixed=known.n_fixed,
            base=known.base,
            cost=rations.cost,
            owed=rations.owed,
            group=rations.group,
        )
        voters = voters_of(plan, np.ascontiguousarray(np.take_along_axis(kind, worker, axis=1)))
        alike = kinds_of_tasks(candidates, *voters.alike)
        return cls(plan, candidates, caps, *alike, rations, voters)

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return self.caps.size - 1

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return self.candidates.size.size

    @property
    def need(self) -> Integers:
        """How many workers every task must have beyond the forced ones."""
        return self.candidates.need

    @property
    def tasks_of_kind(self) -> NDArray[Any]:
        """How many tasks are of every kind; not always whole if tasks have weights."""
        return np.bincount(self.kind) if self.weight is None else self.weight

    def total(self, values: Floats) -> float:
        """Add up values of the tasks, each as often as it counts."""
        return float(values.sum() if self.weight is None else self.weight @ values)

    @cached_property
    def is_exact(self) -> bool:
        """Whether the accuracy of all forced workers is computed exactly."""
        return bool(exact_teams(self.plan).all())

    @property
    def free(self) -> Bools:
        """The pairs that may be chosen, of shape (tasks, workers)."""
        out = np.zeros((self.n_tasks, self.n_workers), dtype=bool)
        is_candidate = np.arange(self.n_workers) < self.candidates.size[:, None]
        np.put_along_axis(out, self.candidates.worker, is_candidate, axis=1)
        return out

    def nobody(self) -> TaskSets:
        """Sets without any worker, but for the forced ones."""
        most = max(int(self.candidates.cap.max(initial=0)), EXACT)
        m = self.n_tasks
        return TaskSets(
            np.zeros((m, most), dtype=np.int64),
            np.zeros(m, dtype=np.int64),
            self.candidates.base.copy(),
        )

    def sets_of(self, support: Bools) -> TaskSets:
        """Choose the informative workers of `support`, of shape (workers, tasks)."""
        out = self.nobody()
        chosen = support.T & self.free
        j, i = np.nonzero(chosen)
        out.sizes[:] = chosen.sum(axis=1)
        out.workers[j, np.arange(j.size) - (np.cumsum(out.sizes) - out.sizes)[j]] = i
        out.accuracy[:] = self.plan.accuracy(self.support_of(out))
        return out

    def support_of(self, sets: TaskSets) -> Bools:
        """Boolean matrix of shape (workers, tasks), with the forced pairs."""
        out = np.zeros((self.n_workers, sets.sizes.size), dtype=bool)
        j, place = sets.pairs()
        out[sets.workers[j, place], j] = True
        if self.plan.forced is not None:
            out |= self.plan.forced
        return out

    def visit(
        self,
        order: Integers,
        prices: Floats,
        sets: TaskSets,
        deadline: Deadline,
        *,
        step: float = 0.0,
        room: Integers | None = None,
        node_limit: int = NODES,
        of: int | None = None,
    ) -> TaskValues:
        """Assign the tasks in `order` their best sets, into `sets`; return their values.

        With a `step` the prices move after every task; with `room` only workers who have some are
        asked, and used room is taken off. The caps are those `of` so many tasks; None for these.
        """
        found = TaskValues(np.zeros(self.n_tasks), np.zeros(self.n_tasks, dtype=bool))
        labels, m = prices[: self.n_workers + 1], self.n_tasks if of is None else of
        money = prices[self.n_workers + 1 :]
        moving = Prices(labels, step, self.caps / m, money, self.rations.money / m)
        if room is None:
            left = Room(np.empty(0, dtype=np.int64), np.array([-1]), np.empty(0))
        else:
            owed = np.array([int(self.need[order].sum())])
            left = Room(room, owed, self.rations.room(order, sets.loads(self.n_workers)))
        limit = Limit(node_limit, deadline.stop)
        self.voters.visit(order, self.candidates, moving, left, sets, found, limit)
        return found

    def climb(self, sets: TaskSets, *, exact: bool) -> Bools:
        """Add pair after pair to `sets`, in place, always the one of the largest gain.

        Return the pairs, of shape (workers, tasks); see `crowd_tvcs.search.initial.climb`.
        """
        n, m = self.n_workers, self.n_tasks
        rank = np.argsort(self.candidates.worker, axis=1)
        state = Climb(
            sets=sets,
            places=np.take_along_axis(rank, sets.workers, axis=1),
            room=self.caps - sets.loads(n),
            tree=np.full(2 * max(2, 1 << (m - 1).bit_length()), -np.inf),
            best=np.zeros(m, dtype=np.int64),
            scores=np.full((m, n), -np.inf),
            gain=np.empty(n),
        )
        self.voters.climb(self.candidates, state, exact=exact)
        return self.support_of(sets)

    def scorer(self) -> Callable[[int, list[int]], Floats]:
        """Return the scorer of the candidates of a task, by exact gain, beside some of them."""
        n, places = self.n_workers, np.zeros(max(1, self.n_workers), dtype=np.int64)
        fill = self.voters.filler(self.candidates)

        def score(j: int, team: list[int]) -> Floats:
            places[: len(team)] = team
            scores = np.full(n, -np.inf)
            fill(j, places[: len(team)], scores)
            return scores[: self.candidates.size[j]]

        return score

    def exchange(self, sets: TaskSets, deadline: Deadline) -> TaskSets:
        """Exchange workers of folded voters while the accuracy grows, for a fixed amount of work.

        Or until the deadline strikes.
        """
        n, most = self.n_workers, max(1, int(sets.sizes.max(initial=0)))
        work = min(2 ** (most - 1), exchange.COARSE) * n + 2 ** min(most, EXACT)
        limit = (EXCHANGE_WORK - self.n_tasks * most * work) // (2 * most * work)
        if limit <= 0:
            return sets
        out = TaskSets(
            np.ascontiguousarray(sets.workers[:, :most]), sets.sizes.copy(), sets.accuracy
        )
        exchange.exchange(
            self.candidates,
            out,
            self._places_of(out),
            Tables.empty(2, 2 * TABLE),
            np.empty(n),
            np.empty(most, dtype=np.int64),
            Limit(limit, deadline.stop),
        )
        out = self.sets_of(self.support_of(out))
        return out if out.accuracy.sum() > sets.accuracy.sum() else sets

    def _places_of(self, sets: TaskSets) -> Places:
        """List the places that every worker has in some sets, and the room and the money left."""
        n, most, caps = self.n_workers, sets.workers.shape[1], self.caps[:-1]
        loads = sets.loads(n)
        load = loads[:-1]
        j, s = sets.pairs()
        order = np.argsort(sets.workers[j, s], kind="stable")
        holder = sets.workers[j, s][order]
        held = np.zeros((n, max(1, int(caps.max(initial=0)))), dtype=np.int64)
        held[holder, np.arange(j.size) - (np.cumsum(load) - load)[holder]] = (j * most + s)[order]
        return Places(
            held=held,
            load=load,
            room=caps - load,
            rank=np.argsort(self.candidates.worker, axis=1),
            better=np.empty((sets.sizes.size * most, n)),
            money=np.array([self.rations.left(loads)]),
        )


def kinds_of_tasks(candidates: Candidates, *more: NDArray[Any]) -> tuple[Integers, Integers]:
    """Kind of every task by its candidates and its rows of `more`; the first task of every kind."""
    # Rows of `fixed` are padded with 0, which is also the number of a worker: only with `n_fixed`
    # do they say who is forced.
    rows = (candidates.quality, candidates.worker, candidates.fixed, *more)
    counts = (candidates.size, candidates.need, candidates.cap, candidates.n_fixed)
    kinds: dict[tuple[Any, ...], int] = {}
    kind = [
        kinds.setdefault((*(x[j].tobytes() for x in rows), *(x[j] for x in counts)), len(kinds))
        for j in range(candidates.size.size)
    ]
    first = np.unique(kind, return_index=True)[1]
    return np.array(kind), first.astype(np.int64)


@dataclass(frozen=True, eq=False)
class DualBound:
    """Prices and the bound they prove, in units of the sum of the tasks' accuracies.

    Attributes
    ----------
    prices
        Price of a label of every worker, then of any label, then of money in the unit of
        `Rations.cost` if there is any.
    bound
        No assignment within the caps has a larger sum of accuracies, if `proved`.
    proved
        Whether every task was priced exactly.
    sets
        The best set of every task at these prices.
    values
        Its accuracy minus its prices.
    slack
        Accuracy by which the values of some tasks may be too large; 0 if all are exact.
    knots
        Voters that were priced in place of the workers, see `crowd_tvcs.search.matrix_knots`.
    """

    prices: Floats
    bound: float
    proved: bool
    sets: TaskSets
    values: Floats
    slack: float = 0.0
    knots: Knots | None = None


def price_everything(
    relaxation: Relaxation,
    prices: Floats,
    start: TaskSets,
    deadline: Deadline,
    node_limit: int = PROOF_NODES,
    *,
    slack: float = 0.0,
) -> DualBound | None:
    """Price every task exactly; the bound is sum(prices * limits) + sum of the best values.

    With a `slack`, in accuracy of a task, sets that gain at most that much on the set in `start`
    are not searched for, and the value of the task is that much larger. It is a bound all the same,
    at a fraction of the nodes where many sets have nearly the same value. Where the nodes do not
    do, the slack grows. None if the deadline struck.
    """
    sets, first = start.copy(), relaxation.first
    value, proved = np.empty(relaxation.n_tasks), np.zeros(relaxation.n_tasks, dtype=bool)

    def part(tasks: Integers) -> None:
        found = relaxation.visit(tasks, prices, sets, deadline, node_limit=node_limit)
        value[tasks], proved[tasks] = found.value[tasks], found.proved[tasks]

    left = first
    for _ in range(WIDER if slack > 0.0 else 1):
        true = sets.accuracy.copy()
        sets.accuracy[left] += slack
        raised = sets.accuracy.copy()
        # Kernels hold no lock, and no task depends on another.
        in_threads(part, np.array_split(left, 2 * THREADS), THREADS)
        # A set that was found has its own accuracy; the others get theirs back.
        sets.accuracy[:] = np.where(sets.accuracy == raised, true, sets.accuracy)
        if deadline.has_passed:
            return None
        left, used = first[~proved[first]], slack
        slack *= WIDENED
        if not left.size:
            break
    like = first[relaxation.kind]
    limits = relaxation.rations.limits(relaxation.caps)
    bound = float(prices @ limits) + relaxation.total(value[like])
    are_proved = bool(proved[first].all() and relaxation.is_exact)
    return DualBound(prices, bound, are_proved, sets.of_tasks(like), value[like], used)

"""Prices of the caps: what a label of every worker costs, and the bound that prices prove."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.kernels.outcome_lists import EXACT, TABLE
from crowd_tvcs.plan.forced import beyond_forced, exact_teams
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.kernels import exchange, greedy
from crowd_tvcs.search.kernels import pricing as kernels
from crowd_tvcs.search.kernels.bounds import SLOPES

NODES = 0  # in the search for prices: exchanges alone do as well
PROOF_NODES = 3_000_000
UPDATES = 60_000  # of prices; larger plans get fewer epochs, since every task moves them
THREADS = 2
TOLERANCE = 1e-12
EXCHANGE_WORK = 130_000_000  # multiplications that `Market.exchange` may take

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Offers = tuple[Floats, Integers, Integers, Integers, Integers, NDArray[Any], Integers, Floats]


@dataclass(frozen=True, eq=False)
class Market:
    """A plan as the kernels see it: what is free, beyond the forced pairs.

    Attributes
    ----------
    plan
        The plan.
    offers
        For every task the workers that may help, best first, how many of them it must and may
        have, and who labels it in any case (see `crowd_tvcs.search.kernels.pricing`).
    caps
        What the forced pairs leave of every worker's cap, then of the budget.
    kind, first
        Tasks with the same offers are of one kind: the kind of every task, and the first task of
        every kind.
    """

    plan: Plan
    offers: Offers
    caps: Integers
    kind: Integers
    first: Integers

    @classmethod
    def of(cls, plan: Plan) -> Market:
        """Leave out who is not allowed, has no room or tells nothing; fold q < 1/2.

        Who tells nothing is left in where the task must have somebody.
        """
        forced, caps, need, open_pairs = beyond_forced(plan)
        folded = np.maximum(plan.quality.values, 1.0 - plan.quality.values).T
        base = plan.accuracy(forced)
        fixed, n_fixed = _fixed_voters(plan, folded, forced)
        folded = np.where((base == 1.0)[:, None], 0.5, folded)
        useful = ((folded > 0.5) | (need > 0)[:, None]) & open_pairs
        folded = np.where(useful, folded, 0.0)
        who = np.argsort(-folded, axis=1, kind="stable").astype(np.int64)
        count = useful.sum(axis=1)
        offers = (
            np.ascontiguousarray(np.take_along_axis(folded, who, axis=1)),
            who,
            count,
            need,
            np.minimum(plan.max_workers_per_task - forced.sum(axis=0), count),
            fixed,
            n_fixed,
            base,
        )
        return cls(plan, offers, caps, *kinds_of_tasks(offers))

    @property
    def updates(self) -> int:
        """How many tasks may move the prices."""
        return UPDATES

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return self.caps.size - 1

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return self.offers[2].size

    @property
    def need(self) -> Integers:
        """How many workers every task must have beyond the forced ones."""
        return self.offers[3]

    @cached_property
    def is_exact(self) -> bool:
        """Whether the accuracy of all forced workers is computed exactly."""
        return bool(exact_teams(self.plan).all())

    @property
    def free(self) -> NDArray[np.bool_]:
        """The pairs that may be chosen, of shape (tasks, workers)."""
        out = np.zeros((self.n_tasks, self.n_workers), dtype=bool)
        is_offer = np.arange(self.n_workers) < self.offers[2][:, None]
        np.put_along_axis(out, self.offers[1], is_offer, axis=1)
        return out

    def visit(
        self,
        order: Integers,
        prices: Floats,
        choice: Choice,
        deadline: Deadline,
        *,
        step: float = 0.0,
        room: Integers | None = None,
        node_limit: int | None = None,
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Let the tasks in `order` take their best sets, into `choice`: values and whether proved.

        With a `step` the prices move after every task; with `room` only workers who have some are
        asked, and what is taken is taken off.
        """
        found = np.zeros((2, self.n_tasks))
        kernels.visit(
            order,
            self.offers,
            self._terms(order, prices, step, room),
            choice.sets,
            choice.sizes,
            choice.accuracy,
            found,
            NODES if node_limit is None else node_limit,
            _scratch(self),
            deadline.stop,
        )
        return found[0], found[1] == 1.0

    def _terms(
        self, order: Integers, prices: Floats, step: float, room: Integers | None
    ) -> tuple[NDArray[Any], ...]:
        """The `market` of the kernels `visit`: prices, how they move, and the room."""
        waiting = -1 if room is None else int(self.need[order].sum())
        return (
            prices,
            np.array([step, step]),
            self.caps / self.n_tasks,
            np.empty(0, dtype=np.int64) if room is None else room,
            np.array([waiting]),
        )

    def _climber(self, choice: Choice) -> tuple[NDArray[Any], ...]:
        """What the kernels `climb` keep: room, tree, sets, sizes, places, choices and scores."""
        n, m = self.n_workers, self.n_tasks
        rank = np.argsort(self.offers[1], axis=1)
        return (
            self.caps - choice.loads(n),
            np.full(2 * max(2, 1 << (m - 1).bit_length()), -np.inf),
            choice.sets,
            choice.sizes,
            np.take_along_axis(rank, choice.sets, axis=1),
            np.zeros(m, dtype=np.int64),
            np.full((m, n), -np.inf),
            np.empty(n),
        )

    def climb(self, choice: Choice, *, exact: bool, sharp: bool = False) -> NDArray[np.bool_]:
        """Add pair after pair to `choice`, in place, always the one of the largest gain.

        Gives the pairs, of shape (workers, tasks); see `crowd_tvcs.search.initial.climb`.
        """
        greedy.climb(
            self.offers,
            exact,
            sharp,
            *self._climber(choice),
            np.empty((2, 2 * TABLE)),
            np.empty((2, 2 * TABLE)),
        )
        return choice.support(self)

    def exchange(self, choice: Choice, deadline: Deadline, at_most: int = EXCHANGE_WORK) -> Choice:
        """Let workers change places while the accuracy grows and there is work and time left."""
        n, most = self.n_workers, max(1, int(choice.sizes.max(initial=0)))
        work = min(2 ** (most - 1), exchange.COARSE) * n + 2 ** min(most, EXACT)
        limit = (at_most - self.n_tasks * most * work) // (2 * most * work)
        if limit <= 0:
            return choice
        out, loads = choice.copy(), choice.loads(n)[:-1]
        sets = np.ascontiguousarray(out.sets[:, :most])
        j, s = np.nonzero(np.arange(most) < out.sizes[:, None])
        order = np.argsort(sets[j, s], kind="stable")
        holder = sets[j, s][order]
        places = np.zeros((n, max(1, int(self.caps[:-1].max(initial=0)))), dtype=np.int64)
        places[holder, np.arange(j.size) - (np.cumsum(loads) - loads)[holder]] = (j * most + s)[
            order
        ]
        exchange.exchange(
            self.offers,
            self.caps[:-1] - loads,
            sets,
            out.sizes,
            np.argsort(self.offers[1], axis=1),
            places,
            loads,
            np.empty((self.n_tasks * most, n)),
            np.empty((2, 2 * TABLE)),
            np.empty((2, 2 * TABLE)),
            np.empty(n),
            np.empty(most, dtype=np.int64),
            limit,
            deadline.stop,
        )
        out.sets[:, :most] = sets
        out = Choice.of(self, out.support(self))
        return out if out.accuracy.sum() > choice.accuracy.sum() else choice


def kinds_of_tasks(offers: Offers, *more: NDArray[Any]) -> tuple[Integers, Integers]:
    """Kind of every task by its offers and its rows of `more`; the first task of every kind."""
    # Rows of `fixed` are padded with 0, which is also the number of a worker: only with `n_fixed`
    # do they say who is forced.
    fixed, counts = offers[5], (*offers[2:5], offers[6])
    kinds: dict[tuple[Any, ...], int] = {}
    kind = [
        kinds.setdefault(
            (*(x[j].tobytes() for x in (*offers[:2], fixed, *more)), *(x[j] for x in counts)),
            len(kinds),
        )
        for j in range(fixed.shape[0])
    ]
    first = np.unique(kind, return_index=True)[1]
    return np.array(kind), first.astype(np.int64)


def _fixed_voters(plan: Plan, folded: Floats, forced: NDArray[np.bool_]) -> tuple[Floats, Integers]:
    """Folded prior of every task, then the folded qualities of those forced who tell something."""
    telling = forced.T & (folded > 0.5)
    n_fixed = 1 + telling.sum(axis=1)
    fixed = np.zeros((n_fixed.size, int(n_fixed.max(initial=1))))
    fixed[:, 0] = np.maximum(plan.prior, 1.0 - plan.prior)
    j, i = np.nonzero(telling)
    place = np.arange(j.size) - np.concatenate([[0], np.cumsum(n_fixed - 1)])[j] + 1
    fixed[j, place] = folded[j, i]
    return fixed, n_fixed


@dataclass(frozen=True, eq=False)
class Choice:
    """One set of workers per task, beyond the forced ones.

    Attributes
    ----------
    sets
        Workers of task j in the first sizes[j] places of row j.
    sizes, accuracy
        Number of workers, and expected accuracy of every task (with the forced workers).
    """

    sets: Integers
    sizes: Integers
    accuracy: Floats

    @classmethod
    def nobody(cls, market: Market) -> Choice:
        """No worker anywhere, but for the forced ones."""
        most = max(int(market.offers[4].max(initial=0)), EXACT)
        m = market.n_tasks
        return cls(
            np.zeros((m, most), dtype=np.int64),
            np.zeros(m, dtype=np.int64),
            market.offers[7].copy(),
        )

    @classmethod
    def of(cls, market: Market, support: NDArray[np.bool_]) -> Choice:
        """Say the same as `support`, of shape (workers, tasks), but for those who tell nothing."""
        out = cls.nobody(market)
        chosen = support.T & market.free
        j, i = np.nonzero(chosen)
        out.sizes[:] = chosen.sum(axis=1)
        out.sets[j, np.arange(j.size) - (np.cumsum(out.sizes) - out.sizes)[j]] = i
        out.accuracy[:] = market.plan.accuracy(out.support(market))
        return out

    def copy(self) -> Choice:
        """Copy everything."""
        return Choice(self.sets.copy(), self.sizes.copy(), self.accuracy.copy())

    def support(self, market: Market) -> NDArray[np.bool_]:
        """Boolean matrix of shape (workers, tasks), with the forced pairs."""
        out = np.zeros((market.n_workers, self.sizes.size), dtype=bool)
        j, place = np.nonzero(np.arange(self.sets.shape[1]) < self.sizes[:, None])
        out[self.sets[j, place], j] = True
        if market.plan.forced is not None:
            out |= market.plan.forced
        return out

    def loads(self, n_workers: int) -> Integers:
        """Labels of every worker beyond the forced ones, then of all."""
        j, place = np.nonzero(np.arange(self.sets.shape[1]) < self.sizes[:, None])
        loads = np.bincount(self.sets[j, place], minlength=n_workers)
        return np.append(loads, loads.sum()).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Dual:
    """Prices and the bound they prove, in units of the sum of the tasks' accuracies.

    Attributes
    ----------
    prices
        Price of a label of every worker, then of any label.
    bound
        No assignment within the caps has a larger sum of accuracies, if `proved`.
    proved
        Whether every task was priced exactly.
    choice
        The best set of every task at these prices.
    values
        Its accuracy minus its prices.
    """

    prices: Floats
    bound: float
    proved: bool
    choice: Choice
    values: Floats


def _scratch(market: Market) -> tuple[Any, ...]:
    n = market.n_workers
    depth = EXACT + 1
    branch = (
        *(np.empty(n + 2) for _ in range(4)),
        np.empty((n + 2, depth + 1)),
        np.empty((depth + 1, n + 1)),
        np.empty(depth + 2),
        *(np.empty(depth + 2, dtype=np.int64) for _ in range(5)),
        np.empty((2, depth + 2, depth + 2)),
        np.empty((depth + 2, depth + 2)),
        np.zeros((depth + 2, 2)),
    )
    inner = (
        np.empty(n),
        np.empty(n),
        *(np.empty(n, dtype=np.int64) for _ in range(4)),
        np.empty(SLOPES + 1, dtype=np.int64),
        np.empty(n + 1),
        np.empty((depth, 2 * TABLE)),
        np.empty((depth, 2 * TABLE)),
        branch,
    )
    return np.empty(n), np.empty(market.n_tasks, dtype=np.int64), inner


def price_everything(
    market: Market,
    prices: Floats,
    start: Choice,
    deadline: Deadline,
    node_limit: int = PROOF_NODES,
) -> Dual | None:
    """Price every task exactly; the bound is sum(prices * caps) + sum of the best values.

    None if the deadline struck.
    """
    choice = start.copy()
    value, proved = np.empty(market.n_tasks), np.zeros(market.n_tasks, dtype=bool)

    def part(tasks: Integers) -> None:
        values, are_proved = market.visit(tasks, prices, choice, deadline, node_limit=node_limit)
        value[tasks], proved[tasks] = values[tasks], are_proved[tasks]

    # Kernels hold no lock, and no task depends on another.
    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(part, some) for some in np.array_split(market.first, 2 * THREADS)]:
            done.result()
    if deadline.has_passed:
        return None
    like = market.first[market.kind]
    choice = Choice(choice.sets[like], choice.sizes[like], choice.accuracy[like])
    bound = float(prices @ market.caps + value[like].sum())
    are_proved = bool(proved[market.first].all() and market.is_exact)
    return Dual(prices, bound, are_proved, choice, value[like])

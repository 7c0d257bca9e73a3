"""Prices of the caps: what a label of every worker costs, and the bound that prices prove."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs import pricing_kernels as kernels
from crowd_tvcs.accuracy import expected_accuracy
from crowd_tvcs.deadline import Deadline
from crowd_tvcs.plan import Plan

NODES = 300
PROOF_NODES = 300_000
THREADS = 2
AT_ONCE = 64  # tasks between two looks at the deadline
TOLERANCE = 1e-12

Offers = tuple[
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
]


@dataclass(frozen=True, eq=False)
class Market:
    """A plan as the kernels see it: for every task the workers that may help, best first.

    Attributes
    ----------
    plan
        The plan.
    offers
        Folded qualities, workers, their number, the cap and the folded prior of every task
        (see `crowd_tvcs.pricing_kernels`).
    caps
        Cap of every worker, then the budget.
    kind, first
        Tasks with the same offers are of one kind: the kind of every task, and the first task of
        every kind.
    """

    plan: Plan
    offers: Offers
    caps: NDArray[np.int64]
    kind: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def of(cls, plan: Plan) -> Market:
        """Leave out who is not allowed, has no room or tells nothing; fold q < 1/2."""
        folded = np.maximum(plan.quality.values, 1.0 - plan.quality.values).T
        base = np.maximum(plan.prior, 1.0 - plan.prior)
        useful = (folded > 0.5) & (plan.max_tasks_per_worker > 0) & (base < 1.0)[:, None]
        if plan.quality.allowed is not None:
            useful &= plan.quality.allowed.T
        folded = np.where(useful, folded, 0.0)
        who = np.argsort(-folded, axis=1, kind="stable").astype(np.int64)
        count = useful.sum(axis=1)
        offers = (
            np.ascontiguousarray(np.take_along_axis(folded, who, axis=1)),
            who,
            count,
            np.minimum(plan.max_workers_per_task, count),
            np.ascontiguousarray(base),
        )
        caps = np.append(plan.max_tasks_per_worker, plan.budget)
        rows = zip(offers[0], offers[1], offers[3].tolist(), base.tolist(), strict=True)
        kinds: dict[tuple[bytes, bytes, int, float], int] = {}
        kind = [
            kinds.setdefault((q.tobytes(), w.tobytes(), c, b), len(kinds)) for q, w, c, b in rows
        ]
        first = np.unique(kind, return_index=True)[1]
        return cls(plan, offers, caps, np.array(kind), first.astype(np.int64))

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return self.caps.size - 1

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return self.offers[2].size


@dataclass(frozen=True, eq=False)
class Choice:
    """One set of workers per task.

    Attributes
    ----------
    sets
        Workers of task j in the first sizes[j] places of row j.
    sizes, accuracy
        Number of workers and expected accuracy of every task.
    """

    sets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    accuracy: NDArray[np.float64]

    @classmethod
    def nobody(cls, market: Market) -> Choice:
        """No worker anywhere."""
        most = max(int(market.offers[3].max(initial=0)), kernels.EXACT)
        m = market.n_tasks
        return cls(
            np.zeros((m, most), dtype=np.int64),
            np.zeros(m, dtype=np.int64),
            market.offers[4].copy(),
        )

    @classmethod
    def of(cls, market: Market, support: NDArray[np.bool_]) -> Choice:
        """Say the same as `support`, of shape (workers, tasks), but for those who tell nothing."""
        out = cls.nobody(market)
        plan = market.plan
        useful = np.zeros((market.n_tasks, market.n_workers), dtype=bool)
        np.put_along_axis(
            useful,
            market.offers[1],
            np.arange(market.n_workers) < market.offers[2][:, None],
            axis=1,
        )
        chosen = support.T & useful
        for j, row in enumerate(chosen):
            members = np.flatnonzero(row)
            out.sets[j, : members.size] = members
        out.sizes[:] = chosen.sum(axis=1)
        out.accuracy[:] = expected_accuracy(
            plan.quality.values, np.ascontiguousarray(chosen.T), plan.prior
        )
        return out

    def copy(self) -> Choice:
        """Copy everything."""
        return Choice(self.sets.copy(), self.sizes.copy(), self.accuracy.copy())

    def support(self, n_workers: int) -> NDArray[np.bool_]:
        """Boolean matrix of shape (workers, tasks)."""
        out = np.zeros((n_workers, self.sizes.size), dtype=bool)
        j, place = np.nonzero(np.arange(self.sets.shape[1]) < self.sizes[:, None])
        out[self.sets[j, place], j] = True
        return out

    def loads(self, n_workers: int) -> NDArray[np.int64]:
        """Labels of every worker, then of all."""
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

    prices: NDArray[np.float64]
    bound: float
    proved: bool
    choice: Choice
    values: NDArray[np.float64]


def price_everything(
    market: Market,
    prices: NDArray[np.float64],
    start: Choice,
    deadline: Deadline | None = None,
    node_limit: int = PROOF_NODES,
) -> Dual | None:
    """Price every task exactly; the bound is sum(prices * caps) + sum of the best values.

    None if the deadline struck.
    """
    choice = start.copy()
    value, proved = np.empty(market.n_tasks), np.zeros(market.n_tasks, dtype=bool)
    together = prices[:-1] + prices[-1]

    def part(tasks: NDArray[np.int64]) -> None:
        kernels.price_tasks(
            tasks,
            market.offers,
            together,
            choice.sets,
            choice.sizes,
            choice.accuracy,
            node_limit,
            value,
            proved,
        )

    for some in np.array_split(market.first, 1 + market.first.size // AT_ONCE):
        if deadline is not None and deadline.has_passed:
            return None
        in_parallel(part, some)
    like = market.first[market.kind]
    choice = Choice(choice.sets[like], choice.sizes[like], choice.accuracy[like])
    bound = float(prices @ market.caps + value[like].sum())
    return Dual(prices, bound, bool(proved[market.first].all()), choice, value[like])


def in_parallel(part: Callable[[NDArray[np.int64]], None], tasks: NDArray[np.int64]) -> None:
    """Run `part` for all tasks on two threads; no task may depend on another."""
    if tasks.size < 16:
        part(tasks)
        return
    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(part, some) for some in np.array_split(tasks, 2 * THREADS)]:
            done.result()

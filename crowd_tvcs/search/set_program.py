"""The linear program over all sets of a tiny plan, and the bound that its prices prove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.search.all_sets import AllSets

ROUNDS = 60
FIRST = 40  # sets of a kind to begin with, at most
MORE = 3  # sets of a kind that may enter in a round
NEW = 1e-11  # by which a set must beat those of its kind to enter
TINY = 1e-6  # a share that is none
PENALTY = 1e4  # for a task without a set and for a broken branch


@dataclass(frozen=True, eq=False)
class Test:
    """Count the tasks of some kinds that have at least `least` of the set `workers`.

    `counts` marks the sets of every kind that count.
    """

    kinds: tuple[int, ...]
    workers: int
    least: int
    counts: Bools

    @classmethod
    def of(cls, sets: AllSets, kinds: tuple[int, ...], workers: int, least: int) -> Test:
        """Find which sets count."""
        counts = np.zeros(sets.valid.shape, dtype=bool)
        counts[list(kinds)] = sets.size[np.arange(sets.size.size) & workers] >= least
        return cls(kinds, workers, least, counts)


# Of each test whether at most so many tasks count, or at least, and how many.
Halves = tuple[tuple[Test, bool, int], ...]


@dataclass(frozen=True, eq=False)
class SetSolution:
    """A solution over the sets that took part.

    Attributes
    ----------
    prices
        Of the workers, of the budget, of the money if there is any, then of the halves.
    bound
        The bound that they prove, over all sets.
    share
        How many tasks take each (kind, set); empty if the halves could not be kept.
    """

    prices: Floats
    bound: float
    share: dict[tuple[int, int], float]


class SetProgram:
    """The sets that take part so far, and their accuracies."""

    def __init__(self, sets: AllSets) -> None:
        self.sets = sets
        self.accuracy = sets.accuracies()
        self._columns: dict[tuple[int, int], None] = {}

    def start(self, chosen: Integers, prices: Floats) -> None:
        """Begin with a set per task, and those of each kind that are worth most at the prices."""
        self._columns |= dict.fromkeys(zip(self.sets.kind.tolist(), chosen.tolist(), strict=True))
        left = self._left(prices, ())
        for t, row in enumerate(left):
            best = np.argsort(-row, kind="stable")[:FIRST]
            self._columns |= dict.fromkeys((t, s) for s in best[row[best] > -np.inf].tolist())

    def bound(self, prices: Floats, halves: Halves) -> float:
        """Bound the sum of the accuracies of all plans in the halves, by weak duality."""
        return self._bound(prices, halves, self._left(prices, halves).max(axis=1))

    def _bound(self, prices: Floats, halves: Halves, top: Floats) -> float:
        at = self.sets.limits.size
        out = float(prices[:at] @ self.sets.limits + self.sets.times @ top)
        for (_, most, count), price in zip(halves, prices[at:].tolist(), strict=True):
            out += price * count if most else -price * count
        return out

    def _left(self, prices: Floats, halves: Halves) -> Floats:
        """Accuracy minus prices of every set of every kind."""
        sets, n = self.sets, self.sets.n
        left: Floats = self.accuracy - (sets.member @ prices[:n] + prices[n] * sets.size)
        if sets.rations.has_money:
            left -= prices[n + 1] * sets.cost
        for (test, most, _), price in zip(halves, prices[sets.limits.size :].tolist(), strict=True):
            if price > 0.0:
                left -= np.where(test.counts, price if most else -price, 0.0)
        return left

    def solve(self, halves: Halves) -> Iterator[SetSolution]:
        """Solve, let sets enter that beat the solution's prices, and solve again."""
        for _ in range(ROUNDS):
            solved = self._solve(halves)
            if solved is None:
                return
            prices, worth, share = solved
            left = self._left(prices, halves)
            top = left.max(axis=1)
            yield SetSolution(prices, self._bound(prices, halves, top), share)
            before = len(self._columns)
            for t in np.flatnonzero(top > worth + NEW).tolist():
                best = np.argsort(-left[t], kind="stable")[:MORE]
                best = best[left[t, best] > worth[t] + NEW]
                self._columns |= dict.fromkeys((t, s) for s in best.tolist())
            if len(self._columns) == before:
                return

    def _solve(self, halves: Halves) -> tuple[Floats, Floats, dict[tuple[int, int], float]] | None:
        """Solve over the sets so far: prices, the value of a task of every kind, and shares."""
        from scipy.optimize import linprog

        sets = self.sets
        kind, number = np.array(list(self._columns)).T
        at, n_kinds, n_halves = kind.size, sets.times.size, len(halves)
        signs = np.array([1.0 if most else -1.0 for _, most, _ in halves])
        counted = [test.counts[kind, number] for test, _, _ in halves]
        rows = [sets.member[number].T, sets.size[number]]
        rows += [sets.cost[number]] if sets.rations.has_money else []
        most = np.vstack([*rows, *map(np.multiply, signs, counted)]).astype(np.float64)
        # A task without a set and a broken half are paid for dearly, so that there are prices.
        spare = np.zeros((len(most), n_kinds + n_halves))
        spare[sets.limits.size :, n_kinds:] = -np.eye(n_halves)
        each = np.zeros((n_kinds, at + n_kinds + n_halves))
        each[kind, np.arange(at)] = 1.0
        each[:, at : at + n_kinds] = np.eye(n_kinds)
        counts = signs * np.array([count for _, _, count in halves])
        options: dict[str, Any] = {"presolve": False, "dual_feasibility_tolerance": 1e-10,
                                   "primal_feasibility_tolerance": 1e-10}  # fmt: skip
        solved = linprog(
            np.concatenate([-self.accuracy[kind, number], np.full(n_kinds + n_halves, PENALTY)]),
            A_ub=np.hstack([most, spare]),
            b_ub=np.concatenate([sets.limits, counts]),
            A_eq=each,
            b_eq=sets.times,
            method="highs-ds",
            options=options,
        )
        if solved.status != 0:
            return None
        share = zip(self._columns, solved.x.tolist(), strict=False)
        is_kept = solved.x[at:].max(initial=0.0) <= TINY
        prices: Floats = np.maximum(0.0, -solved.ineqlin.marginals)
        kept = {c: x for c, x in share if x > TINY} if is_kept else {}
        return prices, -solved.eqlin.marginals, kept

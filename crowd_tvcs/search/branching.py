"""Close the gap of a tiny plan: branch on fractional values of the linear program over all sets.

A *test* counts tasks: those of some kinds that have at least so many of some workers. In a plan
that is a whole number; in the linear program it may lie between k and k + 1. One half of all plans
has at most k, the other at least k + 1. With a price for the test, the prices of a half prove a
bound for it as they do for all plans, and the largest bound of the parts is one for all plans.

The linear program (HiGHS) only proposes prices: the bound of a part is computed from them anew, by
pricing all sets of all tasks. `verification.branches` does the same with code of its own.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.plan.leaves import Branch, Leaf
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import CLOSED
from crowd_tvcs.search.all_sets import AllSets
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.rations import money_price_of
from crowd_tvcs.search.set_program import Halves, SetProgram, Test

MOST_SOLVED = 5_000  # linear programs
EASY = 20  # of them, before several tests are tried at every node
TRIED, PER_LEVEL = 8, 5
WITHIN = 0.2 * CLOSED  # of the mean: where a part is closed
BETTER = 1e-12  # of the mean, by which another assignment must be better
FRACTION = 1e-5  # off a whole number: what can be branched on
FLOOR = 0.01  # of the gap, added to what a half leaves of it


@dataclass(frozen=True, eq=False)
class Part:
    """A part of all plans: its halves, the best prices for it, and the solution they come from.

    Attributes
    ----------
    halves
        Tests, each with the side that is meant.
    prices
        Of the workers, of the budget, of the money if there is any, then of the halves.
    bound
        On the sum of the accuracies.
    share
        How many tasks take each (kind, set); empty if nothing is known.
    """

    halves: Halves
    prices: Floats
    bound: float
    share: dict[tuple[int, int], float]


class Branching:
    """Branch and bound over all sets of a tiny plan.

    Attributes
    ----------
    best
        Sum of the accuracies of the best assignment so far.
    chosen
        Its set of every task.
    """

    def __init__(self, plan: Plan, deadline: Deadline) -> None:
        self.sets = AllSets(plan)
        self.best = -np.inf
        self.chosen = np.zeros(self.sets.m, dtype=np.int64)
        self._deadline = deadline
        self._solved = 0
        self._program = SetProgram(self.sets)

    @property
    def support(self) -> Bools:
        """The best assignment so far, of shape (workers, tasks)."""
        return self.sets.member[self.chosen].T | self.sets.forced

    def close(self, support: Bools, prices: Floats) -> tuple[Part, list[Part]]:
        """Branch until the bound is reached; all plans as one part, and the parts they fall into.

        Starts from an assignment of shape (workers, tasks), and from prices of the workers, the
        budget and the money in units of the sum of the accuracies.
        """
        sets = self.sets
        bits = (support & ~sets.forced).T @ (1 << np.arange(sets.n))
        self.best = float(self._program.accuracy[sets.kind, bits].sum())
        self.chosen = bits.astype(np.int64)
        self._program.start(self.chosen, prices)
        root = self._part((), prices)
        heap, whole, number = [(-root.bound, 0, root)], [], 0
        while heap and -heap[0][0] > self._enough:
            if self._solved >= MOST_SOLVED or self._deadline.has_passed:
                break
            part = heapq.heappop(heap)[2]
            halves = self._split(part)
            if not halves:
                whole.append(part)  # whole but for rounding: there is nothing to branch on
            for half in halves:
                number += 1
                heapq.heappush(heap, (-half.bound, number, half))
        return root, whole + [part for _, _, part in sorted(heap, key=lambda entry: entry[1])]

    @property
    def _enough(self) -> float:
        return self.best + WITHIN * self.sets.m

    def _part(self, halves: Halves, prices: Floats) -> Part:
        """Solve the linear program over all sets of a part; begins with prices that are known."""
        self._solved += 1
        bound, share = self._program.bound(prices, halves), {}
        for solution in self._program.solve(halves):
            if solution.bound < bound:
                bound, prices = solution.bound, solution.prices
            share = solution.share
            if bound <= self._enough or self._deadline.has_passed:
                break
        self._offer(share)
        return Part(halves, prices, bound, share)

    def _split(self, part: Part) -> list[Part]:
        """Halve a part by the test that leaves the least of the gap, of the few that are tried."""
        best: list[Part] = []
        least = np.inf
        for test, k in self._tests(part.share, TRIED if self._solved > EASY else 1):
            halves = [
                self._part((*part.halves, side), np.append(part.prices, 0.0))
                for side in ((test, True, k), (test, False, k + 1))
            ]
            floor = FLOOR * max(0.0, part.bound - self._enough)
            left = np.prod([max(0.0, half.bound - self._enough) + floor for half in halves])
            if not best or left < least:
                best, least = halves, float(left)
        return best

    def _offer(self, share: dict[tuple[int, int], float]) -> None:
        """Keep a solution that is whole, if it is the best so far."""
        sets = self.sets
        times = {column: round(part) for column, part in share.items()}
        if not share or any(abs(times[c] - share[c]) > FRACTION for c in share):
            return
        value = sum(k * float(self._program.accuracy[c]) for c, k in times.items())
        kinds = np.repeat([t for t, _ in times], list(times.values()))
        chosen = np.zeros(sets.m, dtype=np.int64)
        taken = np.repeat([s for _, s in times], list(times.values()))
        if (np.bincount(kinds, minlength=sets.times.size) != sets.times).any():
            return
        chosen[np.argsort(sets.kind, kind="stable")] = taken[np.argsort(kinds, kind="stable")]
        loads = sets.member[chosen].sum(axis=0)
        is_within = (np.append(loads, loads.sum()) <= sets.caps).all()
        if sets.rations.has_money:
            spent = float(sets.cost[chosen].sum())
            is_within &= spent <= sets.rations.money + sets.rations.slack
        if is_within and value > self.best + BETTER * sets.m:
            self.best, self.chosen = value, chosen

    def _tests(self, share: dict[tuple[int, int], float], most: int) -> list[tuple[Test, int]]:
        """List fractional counts to branch on, the simplest and most fractional first."""
        if not share:
            return []
        kind, number = np.array(list(share)).T
        part = np.array(list(share.values()))
        out: list[tuple[Test, int]] = []
        seen = set()
        for level in self._levels(list(share)):
            found: list[tuple[float, int, Test, int]] = []
            for test in level:
                here = test.counts[kind, number]
                count = float(part[here].sum())
                off = abs(count - round(count))
                if off > FRACTION and here.tobytes() not in seen:
                    seen.add(here.tobytes())
                    found.append((-round(off, 9), len(found), test, int(np.floor(count))))
            out += [(test, k) for _, _, test, k in sorted(found)[:PER_LEVEL]]
            if len(out) >= most:
                break
        return out[:most]

    def _levels(self, columns: list[tuple[int, int]]) -> Iterator[Iterator[Test]]:
        """Yield tests from the simplest to those that separate every set from every other."""
        sets = self.sets
        every = tuple(range(sets.times.size))
        all_workers = 2**sets.n - 1
        one = [1 << i for i in range(sets.n)]
        sizes = range(1, sets.n + 1)
        yield (Test.of(sets, every, w, k) for w, k in _size_or_worker(all_workers, sizes, one))
        yield (
            Test.of(sets, (t,), w, k)
            for t in every
            for w, k in _size_or_worker(all_workers, sizes, one)
        )
        yield (Test.of(sets, (t,), a | b, 2) for t in every for a in one for b in one if a < b)
        yield (Test.of(sets, (t,), s, int(sets.size[s])) for t, s in columns if s)

    def leaf(self, part: Part) -> Leaf:
        """Express a part by tasks and workers, in units of the mean accuracy."""
        sets = self.sets
        prices = part.prices / sets.m
        each = prices[: sets.n].copy()
        branches = tuple(
            Branch(
                tuple(np.flatnonzero(np.isin(sets.kind, test.kinds)).tolist()),
                tuple(np.flatnonzero(sets.member[test.workers]).tolist()),
                test.least,
                most,
                count,
                price,
            )
            for (test, most, count), price in zip(
                part.halves, prices[sets.limits.size :].tolist(), strict=True
            )
        )
        # Workers without room may not be chosen: free in the bound, they cost more than they add.
        reward = sum(b.price for b in branches if not b.most)
        each[sets.caps[:-1] == 0] = 0.0
        each[sets.caps[:-1] == 0] = each.max(initial=0.0) + 1.0 / sets.m + reward
        money_price = money_price_of(sets.plan, sets.rations, prices)
        return Leaf(branches, each, float(prices[sets.n]), part.bound / sets.m, money_price)


def _size_or_worker(everybody: int, sizes: range, one: list[int]) -> Iterator[tuple[int, int]]:
    yield from ((everybody, k) for k in sizes)
    yield from ((w, 1) for w in one)

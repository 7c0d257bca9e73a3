"""Greedy assignments within money and groups."""

from __future__ import annotations

import heapq

import numpy as np

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.plan.costs import ROUNDING, cheapest_that_meets, group_codes, open_pairs, spent
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.initial import regardless_of_costs
from crowd_tvcs.search.kernels.greedy import BEFORE, BEHIND
from crowd_tvcs.search.relaxation import Relaxation

POWERS = (1.0, 0.75, 0.5, 0.25, 0.0)  # of the cost that a gain is divided by; 0 is the gain alone

Offer = tuple[float, float, float, int, int]  # smallest first: urgency, ratio, gain, task, place


def bargain(plan: Plan, deadline: Deadline) -> Bools:
    """Add pair after pair within caps, money and groups; pairs of shape (workers, tasks).

    With money by gain per cost to each of `POWERS`, and the best of these is taken. Where a climb
    leaves a minimum unmet, it starts again from the cheapest pairs that meet all. The deadline ends
    a climb with the pairs that it has; then pairs chosen without costs and groups are tried too.

    Raises
    ------
    ValueError
        If the minimums cannot be met within caps, groups and money.
    """
    relaxation = Relaxation.of(plan)
    nobody = np.zeros(plan.quality.shape, dtype=bool) if plan.forced is None else plan.forced
    found: list[Bools] = []
    least: Bools | None = None
    for power in POWERS if plan.money is not None else (0.0,):
        if deadline.has_passed:
            break
        climb = _Climb(relaxation, power, deadline)
        support = climb.run(nobody)
        if plan.unmet(support):
            least = cheapest_that_meets(plan) if least is None else least
            support = climb.run(least)
        found.append(support)
    if deadline.has_passed:
        found.append(regardless_of_costs(relaxation))
    return max(found, key=lambda support: float(plan.accuracy(support).sum()))


class _Climb:
    """One climb: the chosen pairs, the rest of caps and money, and the best offer of a task.

    A score changes only with the voters of its task, and a worker who is out stays out. So the
    leading offer is the best there is if it still stands.
    """

    def __init__(self, relaxation: Relaxation, power: float, deadline: Deadline) -> None:
        self.relaxation, plan, self.deadline = relaxation, relaxation.plan, deadline
        self.cost = np.zeros(relaxation.n_workers) if plan.cost is None else plan.cost
        self.weight = self.cost**power
        self.score = relaxation.scorer()

    def run(self, start: Bools) -> Bools:
        """Climb from pairs that hold the forced ones."""
        relaxation, plan = self.relaxation, self.relaxation.plan
        who, fixed = relaxation.candidates.worker, plan.forced
        new = start if fixed is None else start & ~fixed
        rank = np.argsort(who, axis=1)
        self.room = plan.max_tasks_per_worker - start.sum(axis=1)
        self.money = np.inf
        if plan.money is not None:
            self.money = plan.money * (1.0 + 0.5 * ROUNDING) - spent(self.cost, start)
        self.out = ~open_pairs(plan, start)
        self.mates = _mates(plan)
        out = start.copy()
        teams = [rank[j, np.flatnonzero(new[:, j])].tolist()
                 for j in range(relaxation.n_tasks)]  # fmt: skip
        scores: list[Floats] = []
        offers: list[Offer] = []
        for j, team in enumerate(teams):
            if self.deadline.has_passed:
                return out
            scores.append(self.score(j, team))
            if (offer := self._best(j, scores[j])) is not None:
                offers.append(offer)
        heapq.heapify(offers)
        left = plan.budget - int(start.sum())
        while left > 0 and offers and not self.deadline.has_passed:
            *_, j, place = heapq.heappop(offers)
            i = who[j, place]
            if self._is_open(i, j):
                out[i, j] = True
                self.out[self.mates[i], j] = True
                self.room[i] -= 1
                self.money -= self.cost[i]
                left -= 1
                teams[j].append(place)
                scores[j] = self.score(j, teams[j])
            if (offer := self._best(j, scores[j])) is not None:
                heapq.heappush(offers, offer)
        return out

    def _is_open(self, who: Integers, j: int) -> Bools:
        return (self.room[who] > 0) & ~self.out[who, j] & (self.cost[who] <= self.money)

    def _best(self, j: int, scores: Floats) -> Offer | None:
        """Return the best offer of a task: first where it must have more, then where it gains."""
        who = self.relaxation.candidates.worker[j, : scores.size]
        at = np.flatnonzero(self._is_open(who, j) & (scores > -np.inf))
        if not at.size:
            return None
        s = scores[at]
        ahead = s > BEFORE / 2
        s = s - np.where(ahead, BEFORE, 0.0)
        behind = s < -BEHIND / 2
        s = s + np.where(behind, BEHIND, 0.0)
        rank = 2.0 * ~ahead + behind
        weight = self.weight[who[at]]
        ratio = np.divide(s, weight, out=np.full(s.size, np.inf), where=weight > 0.0)
        first = int(np.lexsort((-s, -ratio, rank))[0])
        return rank[first], -ratio[first], -s[first], j, int(at[first])


def _mates(plan: Plan) -> list[Integers]:
    """Return the workers of the group of every worker, and the worker."""
    codes = group_codes(plan)
    members = [np.flatnonzero(codes == g) for g in range(int(codes.max(initial=-1)) + 1)]
    return [members[g] for g in codes]

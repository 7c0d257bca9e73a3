"""Assign a crowd in factors: prices by groups, a linear program over sets, and its rounding."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.factors.from_knots import is_enough, of_few_kinds, plans_by_knots
from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.factors.minimums import least_teams
from crowd_tvcs.factors.prices import GroupRelaxation, PriceSearch
from crowd_tvcs.factors.rounding import assign_by, fill_remaining, take_whole_parts
from crowd_tvcs.factors.start import no_teams, starts
from crowd_tvcs.factors.teams import Teams
from crowd_tvcs.plan.accuracy_of_pairs import accuracies
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.certificate import PlanProof
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import CLOSED, LARGEST, NEARLY, is_largest, nearly, usable
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.relaxation import DualBound

# Own choices on simulated crowds (benchmarks/crowd/factors.py), but where another source is named.
MIN_PLACES = 24  # workers per task: places in the table of teams, at least; starts may use them all
SHARE_OF_PRICES = 0.7  # part of the time limit that prices may take
CLOSE, ENOUGH = 1e-4, 1e-3  # gap, as a part of the error, at which to stop; and of many tasks
MANY_TASKS = 50_000  # tasks from which on `ENOUGH` is close
MAX_PASSES = 3  # passes over all tasks if the linear program leaves a gap
RELIEF = (1.0, 0.5, 0.0)  # factors of the prices for tasks that the linear program leaves over
FAR = 0.05  # part of the error: a program so far below its bound has seen too few sets
MIN_GAIN = 1e-9  # mean accuracy of a task: a pass that gains less has found nothing but rounding
NO_MORE = "no step found more"
STILL_GAINED = "the last of {} passes over all tasks still gained {:.2g}"


def assign_in_factors(plan: Plan, *, rng: np.random.Generator, deadline: Deadline) -> Assignment:
    """Assign a crowd in factors by the method `best`, by groups of tasks that are alike.

    1. A start: the teams of `fast` on a table of a part of the tasks, repeated, or nearly equal
       numbers of labels for all tasks (see `crowd_tvcs.factors.start`). No plan is worse. With
       many workers and few kinds a program over knots of quality gives a bound and a better plan
       (see `crowd_tvcs.factors.from_knots`), mostly a certified one, which ends all.
    2. Prices of the caps: groups, drawn as often as they have tasks, take their best sets in turn,
       and the prices move at once. Then column generation: the linear program shares the tasks
       of a group among sets of workers.
    3. The bound: every group priced exactly, times its tasks (see `crowd_tvcs.factors.grid`). If
       no time is left for that: the bound at one price for all labels (`one_price`).
    4. Whole parts of the linear program; the tasks left over take, in random order, their best
       sets among the workers with room, and again at lower prices. The better of that and of the
       start is kept.
    5. While the gap is above 1e-4 of the error, all tasks once more in random order, in blocks.

    Sets of more than 12 workers are not searched.
    """
    teams = least_teams(plan, _most_workers(plan))
    relaxed = GroupRelaxation.of(Groups.of(plan))
    with _one_blas_thread():
        with deadline.part(SHARE_OF_PRICES) as first:
            best = _begin(relaxed, teams)
            search = PriceSearch(relaxed, rng, first, needs_sets=not best.sizes.any())
            state = _State(relaxed, search, best, teams, rng, deadline)
            for dual, made in plans_by_knots(relaxed, no_teams(teams), first):
                search.use(dual)
                state.keep(made)
            if is_enough(state.gap / relaxed.n_tasks, relaxed.relaxation.n_workers):
                return _with_proof(plan, state, nearly(state.gap, state.error))
            search.run()
        state.fill()
        reason = state.improve()
        search.prove_at_one_price()
    return _with_proof(plan, state, reason)


def begin_by_knots(plan: Plan, deadline: Deadline) -> tuple[DualBound, Bools] | None:
    """Return a bound and a plan of a table by knots of quality; None if it has no such bound."""
    factored = of_few_kinds(plan)
    if factored is None:
        return None
    relaxed = GroupRelaxation.of(Groups.of(factored))
    best = least = least_teams(factored, _most_workers(factored))
    with _one_blas_thread():
        found = list(plans_by_knots(relaxed, no_teams(least), deadline))
    for _, teams in found:
        best = _better(relaxed, best, teams)
    duals = [dual for dual, _ in found]
    return (min(duals, key=lambda dual: dual.bound), best.pairs().support) if duals else None


def _most_workers(plan: Plan) -> int:
    """Return the places for workers of a task: more than are searched if the budget allows it."""
    least, m = int(plan.min_workers_per_task.max(initial=0)), len(plan.quality.tasks)
    most = max(MIN_PLACES, least, math.ceil(2.0 * plan.budget / m))
    return max(1, min(most, int(plan.max_workers_per_task.max(initial=1))))


def _begin(relaxed: GroupRelaxation, least: Teams) -> Teams:
    """Return the best of the plans that need no prices."""
    best, plan = least.copy(), relaxed.groups.plan
    if best.sizes.any():
        best.accuracy[:] = accuracies(plan, best.pairs())
    for teams in starts(relaxed.groups, least):
        fill_remaining(relaxed, teams)
        best = _better(relaxed, best, teams)
    return best


def _better(relaxed: GroupRelaxation, teams: Teams, other: Teams) -> Teams:
    """Return the other teams if they meet the minimums and are better."""
    is_better = other.accuracy.sum() > teams.accuracy.sum() and _is_met(relaxed, other)
    return other if is_better else teams


def _is_met(relaxed: GroupRelaxation, teams: Teams) -> bool:
    """Whether teams keep the caps and meet the minimums."""
    is_within = bool((teams.room >= 0).all())
    return is_within and bool((teams.sizes >= relaxed.groups.plan.min_workers_per_task).all())


def _one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread, so that prices are the same to the last bit on any machine.

    Its threads also cost more than they save: the matrices of central prices are small and many.
    """
    import scipy.linalg  # noqa: F401  its BLAS is another than NumPy's, and must be there by now

    from tvcs_core.engines import one_blas_thread

    return one_blas_thread()


@dataclass(eq=False)
class _State:
    """The best teams so far, the least that meet the minimums, and the sources of new ones."""

    relaxed: GroupRelaxation
    search: PriceSearch
    teams: Teams
    least: Teams
    rng: np.random.Generator
    deadline: Deadline

    @property
    def prices(self) -> Floats:
        """The best prices so far."""
        best = self.search.proved or self.search.guide
        return self.search.moved if best is None else best.prices

    @property
    def gap(self) -> float:
        """Bound minus accuracy, in units of the sum over all tasks."""
        proved = self.search.proved
        return math.inf if proved is None else proved.bound - float(self.teams.accuracy.sum())

    @property
    def error(self) -> float:
        """1 minus accuracy, in units of the sum over all tasks."""
        return self.relaxed.n_tasks - float(self.teams.accuracy.sum())

    @property
    def is_close(self) -> bool:
        """Whether the gap is small enough."""
        return self._is_within(CLOSE)

    @property
    def is_done(self) -> bool:
        """Whether one more pass over all tasks is not worth its time."""
        return self._is_within(CLOSE if self.relaxed.n_tasks <= MANY_TASKS else ENOUGH)

    def fill(self) -> None:
        """Take the whole parts of the linear program, and complete them."""
        search, relaxed = self.search, self.relaxed
        master = search.whole(self.deadline)
        teams = self.least.copy()
        if master is not None:
            take_whole_parts(relaxed, search.columns, master, teams)
        teams = teams if _is_met(relaxed, teams) else self.least.copy()
        left = np.flatnonzero(teams.sizes == self.least.sizes)
        is_trusted = master is not None and search.is_near(master, FAR)
        prices = master.prices if master is not None and is_trusted else self.prices
        for relief in RELIEF:
            assign_by(relaxed, self._shuffled(left), relief * prices, teams, self.deadline)
        fill_remaining(relaxed, teams)
        self.keep(teams)

    def improve(self) -> str:
        """Let all tasks choose again while that gains; return the reason for stopping, in words."""
        step = 0.001 * float(self.prices.max(initial=0.0))
        m, passes, gain = self.relaxed.n_tasks, 0, 0.0
        while passes < MAX_PASSES and not (self.is_done or self.deadline.has_passed):
            before = float(self.teams.accuracy.sum())
            every, prices = self._shuffled(np.arange(m)), self.prices.copy()
            assign_by(self.relaxed, every, prices, self.teams, self.deadline, step=step)
            passes, gain = passes + 1, float(self.teams.accuracy.sum()) - before
            little = 0.1 * self.gap if self.gap < math.inf else 0.0
            if gain <= max(MIN_GAIN * m, little):
                break
        if self.is_done:
            return NEARLY.format(CLOSE if self.is_close else ENOUGH)
        if self.deadline.has_passed:
            return self.deadline.reason
        return NO_MORE if gain <= MIN_GAIN * m else STILL_GAINED.format(passes, gain / m)

    def keep(self, teams: Teams) -> None:
        """Keep teams if they are the best."""
        self.teams = _better(self.relaxed, self.teams, teams)

    def _is_within(self, part: float) -> bool:
        return self.gap <= max(part * self.error, CLOSED * self.relaxed.n_tasks)

    def _shuffled(self, tasks: Integers) -> Integers:
        return self.rng.permutation(tasks)


def _with_proof(plan: Plan, state: _State, reason: str) -> Assignment:
    """Return the assignment with the bound that its prices prove."""
    teams, dual = state.teams, state.search.proved
    m, n = len(plan.quality.tasks), len(plan.quality.workers)
    proof = None
    if dual is not None and (bound := usable(dual.bound / m)) is not None:
        prices = dual.prices / m
        proof = PlanProof(bound, prices[:n], float(prices[n]))
    facts = {"groups": state.relaxed.groups.size, "rounds": state.search.rounds}
    pairs = teams.pairs()
    pairs = Assigned.of(pairs.tasks, pairs.workers, pairs.shape)
    found = Assignment(plan, pairs, "best", reason, facts=facts, certificate=proof)
    is_best = is_largest(found.expected_accuracy, found.bound)
    return replace(found, reason=LARGEST) if is_best else found

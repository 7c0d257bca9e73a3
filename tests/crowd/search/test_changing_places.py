"""Exchanges: never worse, within the caps, and none is left, by trying every one."""

import itertools

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign, expected_accuracy
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.relaxation import Relaxation
from crowd_tvcs.simulation import simulate


def best_exchange(plan, support):
    """The most that two workers changing places, or one giving way to another, would add."""
    q, prior = plan.quality.values, plan.prior
    now = expected_accuracy(q, support, prior)
    room = plan.max_tasks_per_worker - support.sum(axis=1)

    def after(j, out, into):
        column = support[:, [j]].copy()
        column[[out, into], 0] = False, True
        return expected_accuracy(q[:, [j]], column, prior[j])[0] - now[j]

    best = 0.0
    pairs = [(i, j) for i, j in np.argwhere(support)]
    for i, j in pairs:
        for w in np.flatnonzero(~support[:, j] & (room > 0)):
            best = max(best, after(j, i, w))
    for (i, j), (a, b) in itertools.combinations(pairs, 2):
        if j != b and not support[a, j] and not support[i, b]:
            best = max(best, after(j, i, a) + after(b, a, i))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_exchanges_gain_keep_the_caps_and_leave_none(seed):
    family = ["iid", "worker", "skilldiff"][seed % 3]
    quality = simulate(7, 12, family=family, rng=seed).quality
    plan = Plan(quality, max_workers_per_task=3, max_tasks_per_worker=5, budget=30, prior=0.4)
    relaxation = Relaxation.of(plan)
    start = relaxation.sets_of(assign(plan, "random", rng=seed).support)
    found = relaxation.exchange(start, Deadline.after(None))
    support = relaxation.support_of(found)
    assert plan.constraint.is_feasible(support)
    assert (found.sizes == start.sizes).all()
    assert found.accuracy.sum() > start.accuracy.sum()
    assert best_exchange(plan, support) < 1e-8


def test_exchanges_leave_forced_pairs_and_pairs_that_are_not_allowed_alone():
    rng = np.random.default_rng(3)
    allowed = rng.random((8, 10)) < 0.7
    forced = allowed & (rng.random((8, 10)) < 0.15)
    names = [f"w{i}" for i in range(8)], [f"t{j}" for j in range(10)]
    quality = Quality(rng.uniform(0.5, 0.9, (8, 10)), *names, allowed)
    plan = Plan(quality, max_workers_per_task=5, forced=forced, budget=35, min_workers_per_task=1)
    relaxation = Relaxation.of(plan)
    start = relaxation.sets_of(assign(plan, "random", rng=0).support)
    support = relaxation.support_of(relaxation.exchange(start, Deadline.after(None)))
    assert plan.constraint.is_feasible(support)
    assert plan.unmet(support) == ()


def test_without_anybody_there_is_nothing_to_exchange():
    relaxation = Relaxation.of(Plan(simulate(4, 5, rng=0).quality, budget=0))
    assert relaxation.exchange(relaxation.nobody(), Deadline.after(None)).sizes.sum() == 0

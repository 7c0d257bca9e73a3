"""Greedy and fast: what they promise."""

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign, expected_accuracy, smooth_accuracy
from crowd_tvcs.simulation import simulate


def greedy_by_loops(plan):
    """Greedy, literally: try every pair, by exact gain and then by gain in smooth accuracy."""
    q, prior = plan.quality.values, plan.prior
    support = np.zeros(q.shape, dtype=bool)
    while support.sum() < plan.budget:
        best, where = (-1.0, -1.0), None
        for i, j in np.argwhere(~support):
            if support[i].sum() >= plan.max_tasks_per_worker[i]:
                continue
            if support[:, j].sum() >= plan.max_workers_per_task[j]:
                continue
            more = support.copy()
            more[i, j] = True
            exact = (expected_accuracy(q, more, prior) - expected_accuracy(q, support, prior))[j]
            smooth = (smooth_accuracy(q, more, prior) - smooth_accuracy(q, support, prior))[j]
            key = (exact if exact > 1e-13 else 0.0, smooth)
            if key > (best[0] + 1e-12, best[1]) or (
                abs(key[0] - best[0]) <= 1e-12 and key[1] > best[1] and key[0] == 0.0
            ):
                best, where = key, (i, j)
        if where is None:
            break
        support[where] = True
    return support


@pytest.mark.parametrize("seed", range(6))
def test_greedy_takes_the_pair_of_the_largest_gain_each_time(seed):
    quality = simulate(5, 6, low=0.51, high=0.95, rng=seed).quality
    plan = Plan(quality, max_workers_per_task=4, max_tasks_per_worker=4, budget=18)
    assert (assign(plan, "greedy").support == greedy_by_loops(plan)).all()


def test_greedy_goes_on_where_a_second_worker_adds_nothing():
    quality = Quality([[0.8], [0.7], [0.7]], ["a", "b", "c"], ["t"])
    found = assign(Plan(quality, budget=3), "greedy")
    assert found.size == 3
    assert found.expected_accuracy == pytest.approx(0.826)


def test_greedy_and_fast_use_no_one_who_tells_nothing():
    quality = Quality([[0.5, 0.8], [0.2, 0.5]], ["a", "b"], ["s", "t"])
    for method in ("greedy", "fast", "best"):
        assert assign(Plan(quality), method).pairs() == [("a", "t"), ("b", "s")]

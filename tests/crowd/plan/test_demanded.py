"""Minimums and forced pairs: `best`, `fast` and `greedy` against trying every assignment."""

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign

LOOKING = ("best", "fast", "greedy")  # for the largest accuracy, demands and all


@pytest.mark.parametrize("method", LOOKING)
def test_a_minimum_beyond_those_who_tell_something_is_filled_with_others(method):
    quality = Quality([[0.9, 0.8], [0.5, 0.5], [0.5, 0.5]], ["a", "b", "c"], ["s", "t"])
    plan = Plan(quality, min_workers_per_task=[3, 1], max_workers_per_task=3)
    found = assign(plan, method, rng=0)
    assert found.answers.tolist() == [3, 1]
    assert found.expected_accuracy == pytest.approx(0.85)


@pytest.mark.parametrize("method", LOOKING)
def test_forced_pairs_use_the_caps_and_count_in_the_vote(method):
    quality = Quality([[0.9, 0.9], [0.2, 0.6], [0.5, 0.7]], ["a", "b", "c"], ["s", "t"])
    forced = [[False, False], [True, False], [True, False]]
    plan = Plan(quality, forced=forced, budget=3, max_tasks_per_worker=1)
    found = assign(plan, method, rng=0)
    assert found.pairs() == [("a", "t"), ("b", "s"), ("c", "s")]
    assert found.expected_accuracy == pytest.approx((0.8 + 0.9) / 2)
    if method == "best":
        assert found.gap == pytest.approx(0.0, abs=1e-9)


def test_demands_on_a_larger_plan_cost_little_and_the_bound_stays_near():
    rng = np.random.default_rng(5)
    quality = Quality(
        rng.uniform(0.5, 0.9, (20, 60)), [f"w{i}" for i in range(20)], [f"t{j}" for j in range(60)]
    )
    caps = {"max_workers_per_task": 4, "max_tasks_per_worker": 10, "budget": 150}
    free = assign(Plan(quality, **caps), "best", rng=0)
    forced = rng.random((20, 60)) < 0.02
    plan = Plan(quality, **caps, min_workers_per_task=2, forced=forced)
    found = assign(plan, "best", rng=0)
    assert plan.unmet(found.support) == ()
    assert found.bound < free.bound
    assert found.gap <= 0.01 * (1 - found.expected_accuracy)
    for method in ("fast", "greedy", "qlp"):
        assert assign(plan, method, rng=0).expected_accuracy <= found.expected_accuracy + 1e-12

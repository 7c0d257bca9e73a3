"""`best` against trying every assignment, and the bound against its own definition."""

import pytest

from crowd_tvcs import METHODS, Plan, assign
from crowd_tvcs.simulation import simulate


@pytest.mark.parametrize("family", ["iid", "worker", "skilldiff", "topic"])
@pytest.mark.parametrize("ratio", [0.05, 0.2])
def test_best_is_certified_and_never_worse_than_any_other_method(family, ratio):
    quality = simulate(20, 60, family=family, rng=11).quality
    a, b = round(ratio * 20), round(ratio * 60)
    plan = Plan(quality, max_workers_per_task=a, max_tasks_per_worker=b, budget=int(0.8 * 60 * a))
    found = assign(plan, "best", rng=0)
    assert found.certified
    assert found.gap <= 0.01 * (1 - found.expected_accuracy)
    for method in METHODS:
        assert assign(plan, method, rng=0).expected_accuracy <= found.expected_accuracy + 1e-12


def test_without_caps_the_bound_is_reached():
    found = assign(Plan(simulate(5, 8, rng=1).quality), "best", rng=0)
    assert found.certified
    assert found.gap < 1e-9


def test_a_limit_that_strikes_leaves_the_best_so_far_without_a_bound():
    plan = Plan(simulate(30, 200, rng=1).quality, max_workers_per_task=3, budget=400)
    found = assign(plan, "best", rng=0, time_limit=1e-6)
    assert not found.certified
    assert found.bound is None
    assert found.gap is None
    assert "time limit of 1e-06 s" in found.reason
    assert found.expected_accuracy >= assign(plan, "fast").expected_accuracy
    assert found.summary()["certified"] is False


def test_large_teams_are_answered_but_a_bound_is_not_claimed_unless_proved():
    quality = simulate(40, 10, low=0.5, high=0.6, rng=2).quality
    plan = Plan(quality, max_workers_per_task=25, max_tasks_per_worker=6)
    found = assign(plan, "best", rng=0)
    assert found.expected_accuracy >= assign(plan, "qlp").expected_accuracy
    if found.certified:
        assert found.bound >= found.expected_accuracy - 1e-9

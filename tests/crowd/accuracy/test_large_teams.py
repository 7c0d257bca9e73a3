"""Teams of more than 12: every method answers, what is claimed is checked by other code."""

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, accuracy_bounds, assign
from crowd_tvcs.simulation import simulate
from crowd_tvcs.verification.pricing import accuracy
from tests.makers.crowds import named


def crowd_of(n, m, low=0.5, high=0.6, seed=2):
    return simulate(n, m, low=low, high=high, rng=seed).quality


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("demands", [{}, {"min_workers_per_task": 14}])
def test_every_method_takes_caps_of_30_per_task(method, demands):
    plan = Plan(crowd_of(31, 3), max_workers_per_task=30, max_tasks_per_worker=2, **demands)
    found = assign(plan, method, rng=0)
    assert plan.unmet(found.support) == ()
    assert found.answers.max() > 12
    weak = Plan(crowd_of(31, 3), max_workers_per_task=12, max_tasks_per_worker=2)
    assert found.expected_accuracy > assign(weak, "random", rng=0).expected_accuracy
    if found.certified:
        assert found.bound >= found.expected_accuracy


def test_a_cap_of_30_that_no_one_needs_is_certified():
    quality = crowd_of(30, 10, 0.5, 0.9)
    plan = Plan(quality, max_workers_per_task=30, budget=40)
    found = assign(plan, "best", rng=0)
    assert found.certified
    assert found.gap <= 1e-3 * (1 - found.expected_accuracy)
    low = Plan(quality, max_workers_per_task=9, budget=40)
    assert found.expected_accuracy >= assign(low, "best", rng=0).expected_accuracy - 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_a_bound_for_large_teams_is_never_below_a_plan_that_exists(seed):
    rng = np.random.default_rng(seed)
    n, m = 18, 3
    quality = named(rng.uniform(0.5, 0.7, (n, m)))
    plan = Plan(quality, max_workers_per_task=n, budget=int(rng.integers(20, 54)))
    found = assign(plan, "best", rng=0)
    tried = [assign(plan, name, rng=0).expected_accuracy for name in METHODS if name != "best"]
    assert found.expected_accuracy >= max(tried) - 1e-12
    if found.certified:
        assert found.bound >= max(tried) - 1e-12


def test_many_forced_workers_are_counted_but_nothing_is_claimed_that_is_not_proved():
    quality = crowd_of(25, 4, 0.5, 0.7)
    forced = np.zeros((25, 4), dtype=bool)
    forced[:16, 0] = True
    plan = Plan(quality, forced=forced, budget=30)
    for method in METHODS:
        found = assign(plan, method, rng=0)
        assert plan.unmet(found.support) == ()
        assert found.size <= 30
        assert found.method != "best" or not found.certified or found.gap >= 0


@pytest.mark.parametrize("size", [20, 22, 23, 30])
def test_the_plain_accuracy_of_large_teams_holds_that_of_the_kernels(size):
    quality = np.random.default_rng(size).uniform(0.3, 0.7, (size, 1))
    everybody = np.ones((size, 1), dtype=bool)
    low, high = accuracy_bounds(quality, everybody, 0.4)
    plain_low, plain_high = accuracy(quality[:, 0], 0.4)
    assert plain_low <= high[0] + 1e-12
    assert low[0] <= plain_high + 1e-12
    assert plain_high - plain_low < 1e-5

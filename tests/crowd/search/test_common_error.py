"""Plans of crowds that err together, each against trying every assignment, and without the error.

The fast tests look at some of the plans of the slow ones.
"""

import json

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, Quality, assign
from crowd_tvcs.what_if import what_if
from tests.crowd.small_plans import check, check_others, small_plan

ERRORS = [0.01, 0.1, 0.3, 0.9]


def is_tight(plan):
    """Whether the bound that is searched is the accuracy."""
    shares = plan.class_prior if plan.error_shares is None else plan.error_shares
    return plan.n_classes == 2 or bool((shares.min(axis=-1) == shares.max(axis=-1)).all())


def held(seed, **more):
    """Hold the claims of every method for a small plan to all assignments there are."""
    plan = small_plan(seed, common_error=ERRORS[seed % 4], **more)
    _, found = check(plan, seed, is_tight=is_tight(plan))
    check_others(plan, seed, found.bound)


@pytest.mark.parametrize("seed", range(24))
def test_no_bound_is_beaten_and_equal_or_two_classes_are_solved_to_the_end(seed):
    held(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_no_bound_of_2000_plans_is_beaten(first):
    for seed in range(first, first + 100):
        held(seed)


@pytest.mark.parametrize("seed", range(100, 120))
def test_with_money_and_groups_no_bound_is_beaten_either(seed):
    held(seed, together=True)


def crowd(n, m, seed=1, **options):
    values = np.random.default_rng(seed).uniform(0.4, 0.95, (n, m))
    quality = Quality(values, [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)])
    return Plan(quality, max_workers_per_task=3, max_tasks_per_worker=m // 2, **options)


@pytest.mark.parametrize("k", [2, 3])
def test_plans_of_equal_classes_too_large_to_be_branched_on_are_certified(k):
    for e in (0.0, 0.05, 0.3):
        found = assign(crowd(14, 40, n_classes=k, common_error=e), "best", rng=0)
        assert found.certified
        assert found.bound - found.expected_accuracy <= 1e-4 * (1.0 - found.expected_accuracy)


def test_a_plan_without_a_common_error_is_the_plan_of_before():
    for method in METHODS:
        before = assign(crowd(6, 9), method, rng=2)
        after = assign(crowd(6, 9, common_error=0.0), method, rng=2)
        assert json.dumps(before.summary()) == json.dumps(after.summary())
        assert "common_error" not in after.summary()


def test_larger_budgets_of_a_crowd_that_errs_together_buy_less():
    together = what_if(crowd(8, 12, common_error=0.3), [12, 36], rng=0)
    apart = what_if(crowd(8, 12), [12, 36], rng=0)
    gains = [
        offers[1].expected_accuracy - offers[0].expected_accuracy for offers in (together, apart)
    ]
    assert 0.0 < gains[0] < gains[1]
    assert all(offer.certified for offer in together)

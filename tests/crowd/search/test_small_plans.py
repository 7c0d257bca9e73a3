"""Random small plans with every demand, each against trying every assignment.

The fast tests look at some of the plans of the slow one, which looks at 5,000.
"""

import json

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, Quality, assign
from crowd_tvcs.methods import methods_for
from crowd_tvcs.plan.proof import LARGEST, is_largest
from crowd_tvcs.search.relaxation import Relaxation
from crowd_tvcs.verification.branches import bound_of_branches
from tests.crowd.small_plans import (
    accuracy_of,
    best_by_enumeration,
    bound_of_prices,
    round_of,
    small_plan,
)

ROUNDING = 1e-10


def check(plan, seed):
    """Let `best` plan, and hold every claim to all assignments there are."""
    optimum = best_by_enumeration(plan)
    found = assign(plan, "best", rng=seed)
    reached = accuracy_of(plan, found.support)
    assert found.expected_accuracy == pytest.approx(reached, abs=ROUNDING)
    assert reached <= optimum + ROUNDING
    assert found.bound is not None
    assert optimum - ROUNDING <= found.bound <= 1.0, "a bound that is beaten"
    proof = found.certificate
    prices = found.prices, found.budget_price, found.money_price
    by_prices = min(1.0, bound_of_prices(plan, *prices))
    result = proof.bound_by_prices if proof.leaves else found.bound
    assert result == pytest.approx(by_prices, abs=ROUNDING)
    if proof.leaves:
        branches = json.loads(json.dumps({"leaves": found.branches()}))
        assert found.bound == pytest.approx(bound_of_branches(plan, branches), abs=ROUNDING)
    assert found.certified
    assert is_largest(reached, found.bound), "not solved to the end"
    assert found.reason == LARGEST
    assert reached >= optimum - 2e-9, "proved to be the largest, and it is not"
    return optimum, found


def check_others(plan, seed, bound):
    """No method may beat what is proved, or be called certified without a bound."""
    for method in methods_for(plan):
        if not METHODS[method].proves_bound:
            found = assign(plan, method, rng=seed)
            reached = accuracy_of(plan, found.support)
            assert found.expected_accuracy == pytest.approx(reached, abs=ROUNDING)
            assert reached <= bound + ROUNDING, method
            assert not found.certified


@pytest.mark.parametrize("seed", range(60))
def test_no_bound_of_a_small_plan_is_beaten_and_no_proof_is_false(seed):
    plan = small_plan(seed)
    optimum, found = check(plan, seed)
    if seed % 6 == 0:
        check_others(plan, seed, optimum)
    if seed % 3 == 0:
        check(round_of(plan, found.support, seed), seed)


@pytest.mark.parametrize("seed", range(1, 60, 2))
def test_best_with_money_and_groups_is_proved(seed):
    plan = small_plan(seed, together=True)
    _, found = check(plan, seed)
    assert plan.unmet(found.support) == ()


@pytest.mark.parametrize("seed", range(0, 60, 4))
def test_greedy_keeps_money_and_groups_and_never_has_more_than_the_best(seed):
    plan = small_plan(seed, together=True)
    found = assign(plan, "greedy", rng=seed)
    reached = accuracy_of(plan, found.support)
    assert reached == pytest.approx(found.expected_accuracy, abs=ROUNDING)
    assert reached <= best_by_enumeration(plan) + ROUNDING
    if plan.money is not None:
        assert plan.cost @ found.support.sum(axis=1) <= plan.money * (1 + 1e-9)


def test_a_minimum_that_rounding_left_no_budget_for_breaks_no_cap():
    # The rounded linear program gave one task 4 of 5 labels; the other must have 2.
    check(small_plan(2981), 2981)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 5000, 250))
def test_no_bound_of_5000_small_plans_is_beaten_and_no_proof_is_false(first):
    for seed in range(first, first + 250):
        plan = small_plan(seed)
        optimum, found = check(plan, seed)
        if seed % 2 == 0:
            check(round_of(plan, found.support, seed), seed)
        else:
            check_others(plan, seed, optimum)
        test_best_with_money_and_groups_is_proved(seed)
        test_greedy_keeps_money_and_groups_and_never_has_more_than_the_best(seed)


def test_a_task_with_a_forced_worker_and_one_without_are_not_of_one_kind():
    # The forced worker has number 0 among the matrices, and no room left; rows are padded with 0.
    quality = Quality([[0.6, 0.6], [0.8, 0.8]], ["ann", "bob"], ["t1", "t2"])
    forced = [[True, False], [False, False]]
    plan = Plan(quality, n_classes=3, max_tasks_per_worker=[1, 2], budget=2, forced=forced)
    assert Relaxation.of(plan).kind.tolist() == [0, 1]
    check(plan, 0)
    two = Plan(quality, max_tasks_per_worker=[1, 2], budget=2, forced=forced)
    assert isinstance(Relaxation.of(two), Relaxation)
    assert Relaxation.of(two).kind.tolist() == [0, 1]


def test_a_worker_without_room_is_priced_out_of_every_task_of_many_classes():
    # Their one label would add .68 to a task of four classes: half a label is too low a price.
    quality = Quality([[0.93, 0.93], [0.3, 0.3]], ["ann", "bob"], ["t1", "t2"])
    forced = [[True, False], [False, False]]
    plan = Plan(quality, n_classes=4, max_tasks_per_worker=[1, 2], forced=forced)
    check(plan, 0)


def test_a_plan_in_which_no_label_is_worth_anything_has_its_bound():
    quality = Quality(np.full((3, 1), 0.8), ["ann", "bob", "cy"], ["t1"])
    found = assign(Plan(quality, budget=2, prior=1.0), "best", rng=0)
    assert found.bound == 1.0 == found.expected_accuracy
    assert found.reason == LARGEST

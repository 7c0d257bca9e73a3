"""Random small plans with every demand, each against trying every assignment.

The fast tests look at some of the plans of the slow one, which looks at 5,000.
"""

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.plan.proof import LARGEST
from crowd_tvcs.search.relaxation import Relaxation
from tests.crowd.small_plans import (
    ROUNDING,
    accuracy_of,
    best_by_enumeration,
    check,
    check_others,
    round_of,
    small_plan,
)

CHEAP = ("fast", "greedy")


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
    check(small_plan(seed, together=True), seed)


@pytest.mark.parametrize("seed", range(0, 60, 2))
def test_greedy_keeps_money_and_groups_and_never_has_more_than_the_best(seed):
    plan = small_plan(seed, together=True)
    found = assign(plan, "greedy", rng=seed)
    reached = accuracy_of(plan, found.support)
    assert reached == pytest.approx(found.expected_accuracy, abs=ROUNDING)
    assert reached <= best_by_enumeration(plan) + ROUNDING


def test_the_cheap_methods_are_mostly_at_the_optimum_and_never_far_from_it():
    lost = []
    for seed in range(100, 140):
        plan, rationed = small_plan(seed), small_plan(seed, together=True)
        best = best_by_enumeration(plan)
        lost.append([best - assign(plan, name, rng=0).expected_accuracy for name in CHEAP])
        best = best_by_enumeration(rationed)
        lost[-1].append(best - assign(rationed, "greedy").expected_accuracy)
    assert (np.mean(lost, axis=0) < 0.005).all()
    assert (np.mean(np.array(lost) < 1e-9, axis=0) >= 0.85).all()


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

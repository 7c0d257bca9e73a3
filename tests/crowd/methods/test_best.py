"""`best` against trying every assignment, and the bound against its own definition."""

import itertools
import json

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, assign, expected_accuracy
from crowd_tvcs.simulation import simulate
from tests.makers.crowds import named


def tiny_plan(seed, n=3, m=3):
    rng = np.random.default_rng(seed)
    low = 0.5 if seed % 2 else 0.05
    values = rng.uniform(low, 0.95, (n, m)).round(1 + seed % 3)
    allowed = rng.random((n, m)) < 0.8 if seed % 4 == 0 else None
    return Plan(
        named(values, allowed),
        max_workers_per_task=rng.integers(0, n + 1, m),
        max_tasks_per_worker=rng.integers(0, m + 1, n),
        budget=int(rng.integers(0, n * m + 1)),
        prior=rng.choice([0.5, 0.5, 0.3, 0.9, 1.0], m),
    )


def sets_of(plan, j):
    """Every set that task j may have, with its expected accuracy."""
    n = plan.quality.shape[0]
    for bits in itertools.product([False, True], repeat=n):
        chosen = np.array(bits)
        allowed = plan.quality.allowed
        is_allowed = allowed is None or not (chosen & ~allowed[:, j]).any()
        if is_allowed and chosen.sum() <= plan.max_workers_per_task[j]:
            column = plan.quality.values[:, [j]]
            yield chosen, expected_accuracy(column, chosen[:, None], plan.prior[j])[0]


def best_by_enumeration(plan):
    best = 0.0
    m = plan.quality.shape[1]
    for choice in itertools.product(*(list(sets_of(plan, j)) for j in range(m))):
        loads = sum(chosen.astype(int) for chosen, _ in choice)
        if (loads <= plan.max_tasks_per_worker).all() and loads.sum() <= plan.budget:
            best = max(best, sum(value for _, value in choice) / m)
    return best


def bound_by_definition(found):
    plan = found.plan
    m = plan.quality.shape[1]
    price = m * (found.prices + found.budget_price)
    terms = [max(v - price[s].sum() for s, v in sets_of(plan, j)) for j in range(m)]
    caps = found.prices @ plan.max_tasks_per_worker + found.budget_price * plan.budget
    return caps + np.mean(terms)


@pytest.mark.parametrize("seed", range(60))
def test_the_best_of_all_assignments_lies_between_the_answer_and_the_bound(seed):
    plan = tiny_plan(seed)
    found = assign(plan, "best", rng=seed)
    optimum = best_by_enumeration(plan)
    assert found.certified
    assert found.expected_accuracy <= optimum + 1e-12
    assert optimum <= found.bound + 1e-12
    assert found.gap <= 1e-9


def test_on_tiny_plans_the_answer_is_the_best_there_is():
    plans = [tiny_plan(seed) for seed in range(100, 160)]
    lost = [best_by_enumeration(p) - assign(p, "best", rng=0).expected_accuracy for p in plans]
    assert max(lost) < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_is_what_its_prices_prove(seed):
    found = assign(tiny_plan(seed, n=4), "best", rng=seed)
    proof = found.certificate
    by_prices = proof.bound_by_prices if proof.leaves else proof.bound
    assert by_prices == pytest.approx(bound_by_definition(found), abs=1e-11)
    assert (found.prices >= 0).all()
    assert found.budget_price >= 0


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


def test_the_same_seed_gives_the_same_bytes():
    plan = Plan(simulate(15, 80, rng=3).quality, max_tasks_per_worker=12, budget=150)
    first, again = (assign(plan, "best", rng=5) for _ in range(2))
    assert json.dumps(first.summary()) == json.dumps(again.summary())
    assert first.price_rows() == again.price_rows()


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

"""Minimums and forced pairs: `best`, `fast` and `greedy` against trying every assignment."""

import itertools

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality, assign, expected_accuracy
from crowd_tvcs.verification.pricing import price_task

LOOKING = ("best", "fast", "greedy")  # for the largest accuracy, demands and all


def demanding_plan(seed, n=4, m=3):
    """Caps and demands around a random assignment, which shows that they can be met."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.05 if seed % 2 else 0.5, 0.95, (n, m)).round(1 + seed % 2)
    values[rng.random((n, m)) < 0.25] = 0.5
    values[rng.random((n, m)) < 0.05] = rng.choice([0.0, 1.0])
    allowed = rng.random((n, m)) < 0.9
    example = allowed & (rng.random((n, m)) < 0.5)
    forced = example & (rng.random((n, m)) < [0.0, 0.4, 1.0][seed % 3])
    answers, loads = example.sum(axis=0), example.sum(axis=1)
    return Plan(
        Quality(values, [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)], allowed),
        max_workers_per_task=answers + rng.integers(0, 3, m),
        max_tasks_per_worker=loads + rng.integers(0, 2, n),
        budget=int(example.sum() + rng.integers(0, 3)),
        min_workers_per_task=np.maximum(0, answers - rng.integers(0, 2, m)),
        forced=forced,
        prior=rng.choice([0.5, 0.5, 0.3, 0.9, 0.0, 1.0], m),
    )


def sets_of(plan, j):
    """Every set that task j may have, with its expected accuracy."""
    n = plan.quality.shape[0]
    forced = np.zeros(n, bool) if plan.forced is None else plan.forced[:, j]
    least, most = plan.min_workers_per_task[j], plan.max_workers_per_task[j]
    allowed = plan.quality.allowed[:, j]
    for bits in itertools.product([False, True], repeat=n):
        chosen = np.array(bits)
        if (chosen & ~allowed).any() or (forced & ~chosen).any():
            continue
        if least <= chosen.sum() <= most:
            column = plan.quality.values[:, [j]]
            yield chosen, expected_accuracy(column, chosen[:, None], plan.prior[j])[0]


def best_by_enumeration(plan):
    n, m = plan.quality.shape
    best = {(0,) * n: 0.0}
    for j in range(m):
        grown = {}
        for loads, value in best.items():
            for chosen, accuracy in sets_of(plan, j):
                now = tuple(np.array(loads) + chosen)
                if sum(now) <= plan.budget and (now <= plan.max_tasks_per_worker).all():
                    grown[now] = max(grown.get(now, 0.0), value + accuracy)
        best = grown
    return max(best.values()) / m


@pytest.mark.parametrize("seed", range(80))
def test_the_best_that_meets_all_demands_lies_between_the_answer_and_the_bound(seed):
    plan = demanding_plan(seed)
    found = assign(plan, "best", rng=seed)
    assert plan.unmet(found.support) == ()
    optimum = best_by_enumeration(plan)
    assert found.certified
    assert found.expected_accuracy <= optimum + 1e-12
    assert optimum <= found.bound + 1e-12


def test_the_best_is_nearly_always_found_and_the_cheap_methods_are_not_far():
    lost = {method: [] for method in LOOKING}
    for seed in range(100, 140):
        plan = demanding_plan(seed)
        optimum = best_by_enumeration(plan)
        for method in LOOKING:
            found = assign(plan, method, rng=0)
            assert plan.unmet(found.support) == ()
            lost[method].append(optimum - found.expected_accuracy)
    assert min(map(min, lost.values())) > -1e-12
    assert np.mean(np.array(lost["best"]) < 1e-9) >= 0.9
    assert np.mean(lost["greedy"]) < 0.02
    assert np.mean(lost["fast"]) < 0.02


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_what_its_prices_prove_and_the_plain_code_finds_the_same(seed):
    plan = demanding_plan(seed)
    found = assign(plan, "best", rng=seed)
    m = plan.quality.shape[1]
    price = m * (found.prices + found.budget_price)
    terms = []
    for j in range(m):
        terms.append(max(v - price[s].sum() for s, v in sets_of(plan, j)))
        fixed = np.zeros(price.size, bool) if plan.forced is None else plan.forced[:, j]
        may = plan.quality.allowed[:, j] & ~fixed
        quality = plan.quality.values[:, j]
        cap, least = plan.max_workers_per_task[j], plan.min_workers_per_task[j]
        priced = price_task(
            quality[may],
            price[may],
            int(cap - fixed.sum()),
            float(plan.prior[j]),
            least=max(0, int(least - fixed.sum())),
            fixed=quality[fixed],
        )
        assert priced.exact
        assert priced.value - price[fixed].sum() == pytest.approx(terms[-1], abs=1e-11)
    caps = found.prices @ plan.max_tasks_per_worker + found.budget_price * plan.budget
    assert found.bound == pytest.approx(caps + np.mean(terms), abs=1e-11)


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

"""The search of `verify` for the best set of a task, held against all sets."""

from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from crowd_tvcs.verification import pricing
from crowd_tvcs.verification import pricing_many_classes as multiclass


def best_of_all(quality, price, cap, prior, least=0):
    """Value and members of the best set, by trying every one."""
    return max(
        (pricing.accuracy(quality[list(s)], prior)[0] - price[list(s)].sum(), s)
        for size in range(least, cap + 1)
        for s in combinations(range(quality.size), size)
    )


@pytest.mark.parametrize("least", [0, 2])
@pytest.mark.parametrize("seed", range(12))
def test_who_is_left_out_is_in_no_best_set(seed, least):
    rng = np.random.default_rng(seed)
    cap, prior = int(rng.integers(2, 5)), float(rng.choice([0.5, 0.7]))
    quality = rng.uniform(0.5, 0.95, 12).round(2)
    price = (0.3 * (quality - 0.5) ** 2 + rng.uniform(0.0, 0.01, 12)).round(4)
    value, _ = best_of_all(quality, price, cap, prior, least)
    found = pricing.price_task(quality, price, cap, prior, least=least)
    assert found.exact
    assert found.value == pytest.approx(value, abs=1e-12)
    kept = pricing.are_ever_among(quality, price, cap)
    assert best_of_all(quality[kept], price[kept], cap, prior, least)[0] == pytest.approx(value)


@pytest.mark.parametrize("seed", range(30))
def test_the_best_set_beside_those_who_label_anyway_and_of_groups(monkeypatch, seed):
    """Ties, those who are mostly wrong, priors at the ends, and few sets looked at in one array."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(pricing, "MAX_ARRAY_NUMBERS", int(rng.choice([30, 4_000_000])))
    n, cap, digits = 8, int(rng.integers(1, 6)), int(rng.choice([1, 2, 16]))
    least, prior = int(rng.integers(0, min(cap, 3))), float(rng.choice([0.0, 0.3, 0.5, 0.999]))
    quality, price = rng.random(n).round(digits), (0.1 * rng.random(n)).round(digits)
    fixed, group = rng.random(int(rng.integers(0, 3))).round(digits), rng.integers(-1, 4, n)

    def alone(s):
        return all(group[i] < 0 or group[i] != group[k] for i, k in combinations(s, 2))

    value = max(
        pricing.accuracy(np.append(fixed, quality[list(s)]), prior)[0] - price[list(s)].sum()
        for size in range(least, cap + 1)
        for s in combinations(range(n), size)
        if alone(s)
    )
    found = pricing.price_task(quality, price, cap, prior, least=least, fixed=fixed, group=group)
    assert found.exact
    assert found.value == pytest.approx(value, abs=1e-12)


def test_a_task_of_very_many_workers_is_priced_with_few_sets(monkeypatch):
    rng = np.random.default_rng(0)
    quality = rng.uniform(0.52, 0.95, 1000)
    price = 0.25 * (quality - 0.5) ** 2 + rng.uniform(0.001, 0.004, 1000)
    kept = pricing.not_replaceable(quality, price, 5, 0, np.full(1000, -1), 0.5)
    among = pricing.are_ever_among(quality[kept], price[kept], 5)
    assert among.sum() < 0.6 * kept.size
    monkeypatch.setattr(pricing, "MAX_SETS", 20_000)
    found = pricing.price_task(quality, price, 4, 0.5)
    assert found.exact


@pytest.mark.parametrize("seed", range(12))
def test_the_best_multiset(seed):
    rng = np.random.default_rng(seed)
    cap, least, prior = int(rng.integers(1, 5)), int(rng.integers(0, 2)), 0.6
    quality, price = rng.uniform(0.3, 0.95, 7), rng.uniform(0.0, 0.05, 7).round(2)
    value = max(
        pricing.accuracy(quality[list(s)], prior)[0] - price[list(s)].sum()
        for size in range(least, cap + 1)
        for s in combinations_with_replacement(range(7), size)
    )
    found = pricing.price_task(quality, price, cap, prior, least=least, repeated=True)
    assert found.exact
    assert found.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_multiset_of_many_classes(seed):
    rng = np.random.default_rng(seed)
    cap, least, k = int(rng.integers(1, 4)), int(rng.integers(0, 2)), int(rng.integers(3, 5))
    prior, price = rng.dirichlet(np.ones(k)), rng.uniform(0.0, 0.05, 5).round(2)
    voters = multiclass.even_matrices(rng.uniform(0.1, 0.95, 5), k)
    value = max(
        multiclass.accuracy(voters[list(s)], prior)[0] - price[list(s)].sum()
        for size in range(least, cap + 1)
        for s in combinations_with_replacement(range(5), size)
    )
    found = multiclass.best_multiset(prior[:, None], voters, price, cap, least)
    assert found == pytest.approx(value, abs=1e-12)
    nobody = voters[:0], price[:0], cap
    assert multiclass.best_multiset(prior[:, None], *nobody) == prior.max()


def test_knots_are_where_prices_bend():
    quality = np.linspace(0.5, 0.9, 41)
    price = np.interp(quality, [0.5, 0.6, 0.75, 0.9], [0.0, 0.01, 0.04, 0.1])
    places, there = pricing.knots_of(quality, price, pricing.MAX_KNOTS)
    assert places == pytest.approx([0.5, 0.6, 0.75, 0.9])
    assert there == pytest.approx([0.0, 0.01, 0.04, 0.1])
    assert pricing.knots_of(quality, quality**2, quality.size // 2) is None

"""The numbers under the flags: sums of chances, adjusted p-values, permutation tests."""

from itertools import permutations, product

import numpy as np
import pytest

from crowd_tvcs.behaviour.evidence import Flag, prob_at_least, prob_at_most, significant_flags
from crowd_tvcs.behaviour.trends import falling_p_value, sessions


def test_a_sum_of_chances_is_that_of_all_outcomes(rng):
    chances = rng.uniform(0.05, 0.95, 7)
    for count in range(9):
        wanted = sum(
            np.prod(np.where(outcome, chances, 1 - chances))
            for outcome in product([True, False], repeat=7)
            if sum(outcome) >= count
        )
        assert prob_at_least(count, chances) == pytest.approx(wanted, abs=1e-12)


def test_equal_chances_are_binomial_and_many_are_nearly_so():
    for n, count in ((30, 21), (399, 220), (2000, 1080)):
        exact = 1 - prob_at_most(count - 1, n, 0.5)
        assert prob_at_least(count, np.full(n, 0.5)) == pytest.approx(exact, rel=0.02)
    assert prob_at_most(5, 5, 0.3) == 1.0


def test_adjusted_p_values_are_those_of_the_definition(rng):
    p = rng.random(30) ** 3
    ranked = np.sort(p)
    wanted = [
        min(1.0, min(ranked[k] * 30 / (k + 1) for k in range(30) if ranked[k] >= one)) for one in p
    ]
    found = significant_flags([Flag("ann", "drift", 9, one, "") for one in p], 1.0)
    assert [flag.adjusted for flag in found] == pytest.approx(wanted)
    assert significant_flags([], 1.0) == []


def test_a_fall_has_the_p_value_of_all_orders(rng):
    value = np.array([0.9, 0.4, 0.5, 0.1, 0.2, -0.4, -0.5])
    rank, one = np.arange(7.0), np.zeros(7, dtype=np.int64)
    fall = rank @ value
    exact = np.mean([rank @ np.array(order) <= fall + 1e-12 for order in permutations(value)])
    assert exact < 0.002  # too rare to be drawn often: the normal law, which is not smaller here
    assert exact <= falling_p_value(rank, value, one, rng) < 0.02
    milder = value[[1, 0, 4, 2, 3, 6, 5]]
    exact = np.mean([rank @ np.array(o) <= rank @ milder + 1e-12 for o in permutations(value)])
    assert falling_p_value(rank, milder, one, rng) == pytest.approx(exact, abs=0.02)
    assert falling_p_value(rank, -value, one, rng) > 0.95
    assert falling_p_value(rank, np.ones(7), one, rng) == 1.0


def test_a_fall_between_groups_is_none_within(rng):
    groups = np.repeat([0, 1], 20)
    value = np.where(groups == 0, 1.0, 0.0) + rng.normal(0, 0.01, 40)
    rank = np.tile(np.arange(20.0), 2)
    assert falling_p_value(np.arange(40.0), value, np.zeros(40, dtype=np.int64), rng) < 1e-4
    assert falling_p_value(rank, value, groups, rng) > 0.01


def test_p_values_of_falls_are_uniform_where_nothing_falls(rng):
    found = [
        falling_p_value(
            np.arange(30.0), (rng.random(30) < 0.7) - 0.7, np.zeros(30, dtype=np.int64), rng
        )
        for _ in range(400)
    ]
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(found) <= level) == pytest.approx(level, abs=0.06)


def test_a_pause_begins_a_session():
    assert sessions(np.array([0.0, 60, 2000, 2060, 4000])).tolist() == [0, 0, 1, 1, 2]
    assert sessions(np.array([5.0])).tolist() == [0]

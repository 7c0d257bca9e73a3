"""Expected accuracy against enumeration, and the laws it obeys."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_tvcs import accuracy_bounds, expected_accuracy, gains, sampled_accuracy, smooth_accuracy

NASTY = [0.0, 1e-12, 0.1, 0.3, 0.5, 0.5 + 1e-15, 0.7, 0.7, 0.9, 1.0 - 1e-12, 1.0]
EXACT = {"abs": 1e-12, "rel": 0}


def outcomes(voters, prior):
    """Probability of every pattern of answers together with label 1, and with label 0."""
    for answers in itertools.product((0, 1), repeat=len(voters)):
        one, zero = prior, 1.0 - prior
        for says_one, q in zip(answers, voters, strict=True):
            one *= q if says_one else 1.0 - q
            zero *= 1.0 - q if says_one else q
        yield one, zero


def by_enumeration(voters, prior):
    return sum(max(one, zero) for one, zero in outcomes(voters, prior))


def smooth_by_enumeration(voters, prior):
    pairs = (pair for pair in outcomes(voters, prior) if sum(pair) > 0)
    return sum((one**2 + zero**2) / (one + zero) for one, zero in pairs)


def of_task(function, voters, prior=0.5):
    column = np.array(voters, dtype=float).reshape(-1, 1)
    return function(column, np.ones(column.shape, dtype=bool), prior)[0]


some_quality = st.one_of(st.sampled_from(NASTY), st.floats(0.0, 1.0))
some_voters = st.lists(some_quality, max_size=9)
some_prior = st.one_of(st.sampled_from([0.0, 1e-9, 0.3, 0.5, 1.0]), st.floats(0.0, 1.0))


@settings(deadline=None, max_examples=300)
@given(some_voters, some_prior)
def test_expected_accuracy_equals_enumeration(voters, prior):
    assert of_task(expected_accuracy, voters, prior) == pytest.approx(
        by_enumeration(voters, prior), **EXACT
    )


@settings(deadline=None, max_examples=150)
@given(some_voters, some_prior)
def test_smooth_accuracy_equals_enumeration_and_is_never_above(voters, prior):
    smooth = of_task(smooth_accuracy, voters, prior)
    assert smooth == pytest.approx(smooth_by_enumeration(voters, prior), **EXACT)
    assert smooth <= of_task(expected_accuracy, voters, prior) + 1e-12


@settings(deadline=None, max_examples=200)
@given(some_voters, st.lists(some_quality, min_size=1, max_size=4), some_prior)
def test_gains_are_what_one_more_voter_adds(voters, candidates, prior):
    found = gains(voters, candidates, prior)
    now = by_enumeration(voters, prior)
    for q, gain in zip(candidates, found, strict=True):
        assert gain == pytest.approx(by_enumeration([*voters, q], prior) - now, **EXACT)
        assert gain >= 0


def test_gains_of_a_large_group_are_what_one_more_voter_adds():
    rng = np.random.default_rng(3)
    voters, candidates = rng.uniform(0.2, 0.8, 15), np.array([0.0, 0.1, 0.5, 0.77, 1.0])
    now = of_task(expected_accuracy, voters, 0.4)
    then = [of_task(expected_accuracy, [*voters, q], 0.4) for q in candidates]
    assert gains(voters, candidates, 0.4) == pytest.approx(np.array(then) - now, **EXACT)


def test_many_tasks_at_once_equal_each_alone():
    rng = np.random.default_rng(0)
    quality = rng.choice(NASTY, (8, 60))
    assignment = rng.random((8, 60)) < rng.random(60)
    prior = rng.choice([0.0, 0.2, 0.5, 1.0], 60)
    expected = [by_enumeration(quality[assignment[:, j], j], prior[j]) for j in range(prior.size)]
    assert expected_accuracy(quality, assignment, prior) == pytest.approx(expected, **EXACT)


def test_twenty_voters_equal_enumeration():
    rng = np.random.default_rng(5)
    voters = rng.uniform(0.4, 0.8, 20)
    one, zero = np.array([0.3]), np.array([0.7])
    for q in voters:
        one = np.concatenate((one * q, one * (1 - q)))
        zero = np.concatenate((zero * (1 - q), zero * q))
    assert of_task(expected_accuracy, voters, 0.3) == pytest.approx(
        np.maximum(one, zero).sum(), **EXACT
    )


def test_equal_voters_are_exact_in_any_number():
    # Equal voters: a majority vote, whose accuracy is a binomial tail.
    from scipy.stats import binom

    for count, q in ((27, 0.6), (41, 0.55), (101, 0.55)):
        exact = binom.sf(count // 2, count, q)
        column = np.full((count, 1), q)
        low, high = accuracy_bounds(column, np.ones((count, 1), dtype=bool))
        assert low[0] == pytest.approx(exact, **EXACT)
        assert high[0] == pytest.approx(exact, **EXACT)


@pytest.mark.parametrize("count", [23, 26, 40, 100])
def test_bounds_are_as_close_as_the_module_says(count):
    rng = np.random.default_rng(count)
    for top in (0.6, 0.9, 0.999):
        quality = rng.uniform(0.5, top, (count, 5))
        low, high = accuracy_bounds(quality, np.ones(quality.shape, dtype=bool), rng.random(5))
        assert ((high - low >= 0) & (high - low <= 5e-5)).all()


def test_the_bounds_hold_the_exact_value():
    # Two qualities: the outcomes are two binomials, so the exact value is a double sum.
    from scipy.stats import binom

    strong, weak, n_strong, n_weak = 0.83, 0.57, 14, 21
    i, j = np.arange(n_strong + 1)[:, None], np.arange(n_weak + 1)
    one = binom.pmf(i, n_strong, strong) * binom.pmf(j, n_weak, weak)
    zero = binom.pmf(i, n_strong, 1 - strong) * binom.pmf(j, n_weak, 1 - weak)
    exact = np.maximum(0.4 * one, 0.6 * zero).sum()
    # A jitter of 1e-9 keeps equal outcomes apart, so that lists must be halved.
    rng = np.random.default_rng(0)
    column = np.repeat([strong, weak], [n_strong, n_weak]) + rng.uniform(-1e-9, 1e-9, 35)
    column = rng.permutation(column)[:, None]
    low, high = accuracy_bounds(column, np.ones(column.shape, dtype=bool), 0.4)
    assert high[0] - low[0] > 1e-9
    assert low[0] - 1e-8 <= exact <= high[0] + 1e-8


def test_up_to_22_voters_the_bounds_agree():
    quality = np.random.default_rng(1).uniform(0.5, 0.9, (22, 3))
    low, high = accuracy_bounds(quality, np.ones(quality.shape, dtype=bool))
    assert (low == high).all()


def test_certain_voters_and_useless_voters():
    assert of_task(expected_accuracy, [1.0, 0.6]) == 1.0
    assert of_task(expected_accuracy, [0.0]) == 1.0
    assert of_task(expected_accuracy, [0.5] * 40) == 0.5
    assert of_task(expected_accuracy, [], 0.2) == pytest.approx(0.8)
    assert of_task(expected_accuracy, [0.6] * 3, 1.0) == 1.0
    assert of_task(expected_accuracy, [1.0 - 1e-16 * k for k in range(5)] * 8) == 1.0


def test_a_second_equal_worker_adds_exactly_nothing():
    assert gains([0.8], [0.8, 0.2, 0.5, 0.75]).tolist() == [0.0, 0.0, 0.0, 0.0]
    assert gains([0.8, 0.8], [0.8])[0] == pytest.approx(0.096)


@settings(deadline=None, max_examples=50)
@given(some_voters, some_prior)
def test_an_inverted_worker_is_worth_the_same(voters, prior):
    inverted = [1.0 - q for q in voters]
    assert of_task(expected_accuracy, voters, prior) == pytest.approx(
        of_task(expected_accuracy, inverted, prior), **EXACT
    )


def test_the_sampled_accuracy_lies_within_its_error():
    rng = np.random.default_rng(2)
    quality = np.vstack((rng.uniform(0.3, 0.9, (6, 30)), np.ones((1, 30)), np.zeros((1, 30))))
    assignment = rng.random(quality.shape) < 0.5
    assignment[6:, :25] = False
    prior = rng.choice([0.0, 0.3, 0.5], 30)
    exact = expected_accuracy(quality, assignment, prior)
    sampled = sampled_accuracy(quality, assignment, prior, n_samples=4000, rng=0)
    assert np.abs(sampled - exact).max() < 4 * 0.5 / np.sqrt(4000)
    assert (sampled == sampled_accuracy(quality, assignment, prior, n_samples=4000, rng=0)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.5, 1.2]], [[True, True]]), r"must be in \[0, 1\], but quality\[0, 1\] is 1.2"),
        (([[0.5, np.nan]], [[True, True]]), r"quality\[0, 1\] is nan"),
        (([[0.5]], [[1]]), "assignment must be booleans"),
        (([[0.5]], [[True, True]]), "assignment must have the shape of quality"),
        (([[0.5]], [[True]], [0.5, 0.5]), "prior must be one number or 1 of them"),
        (([[0.5]], [[True]], 2.0), "prior must be in"),
        (([0.5], [True]), "quality must be a matrix"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        expected_accuracy(*arguments)

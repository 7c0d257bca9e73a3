"""What is drawn for halves: spread evenly, and each by itself as an independent draw."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN, lagged_regression
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.stability import draws
from grn_tvcs.stability.draws import (
    ComplementaryPair,
    Subsample,
    SubsamplingPlan,
    draw_pairs,
    even_halves,
    spread,
)

PLAN = SubsamplingPlan(("tvcs", "omp"), 40, (0.3, 0.7), (0.6, 1.0), (1, 3), (1.0, 3.0), 5)


def independent_pairs(plan, n_inputs, n_blocks, rng):
    """Every number and every half drawn by itself."""

    def half():
        weights = rng.uniform(*plan.column_weights, n_inputs)
        degree = int(rng.integers(plan.in_degrees[0], plan.in_degrees[1] + 1))
        return Subsample(weights, degree, rng.uniform(*plan.edges_per_gene))

    def pair():
        in_first = np.isin(range(n_blocks), rng.permutation(n_blocks)[: n_blocks // 2])
        return ComplementaryPair(rng.uniform(*plan.memory), in_first, half(), half())

    return tuple(pair() for _ in range(plan.pairs))


def parts_of(numbers, bounds, n):
    """Which of `n` equal parts of a range each number is from, sorted."""
    low, high = bounds
    return np.sort(np.floor((np.asarray(numbers) - low) / (high - low) * n)).astype(int).tolist()


def test_numbers_are_one_of_each_part_of_their_range():
    pairs = draw_pairs(PLAN, 7, 8, np.random.default_rng(0))
    halves = [half for pair in pairs for half in (pair.first, pair.second)]
    assert parts_of([pair.memory for pair in pairs], PLAN.memory, 20) == list(range(20))
    for weights in np.array([half.column_weights for half in halves]).T:
        assert parts_of(weights, PLAN.column_weights, 40) == list(range(40))
    edges = [half.edges_per_gene for half in halves]
    assert parts_of(edges, PLAN.edges_per_gene, 40) == list(range(40))
    counts = np.bincount([half.in_degree for half in halves])
    assert counts[0] == 0
    assert set(counts[1:]) <= {13, 14}


def test_inputs_have_orders_of_their_own():
    pairs = draw_pairs(PLAN, 300, 8, np.random.default_rng(0))
    weights = np.array(
        [half.column_weights for pair in pairs for half in (pair.first, pair.second)]
    )
    others = np.corrcoef(weights.T)[~np.eye(300, dtype=bool)]
    assert abs(others.mean()) < 0.01
    assert others.std() == pytest.approx(1 / 39**0.5, rel=0.05)


@pytest.mark.parametrize("n_blocks", [6, 8, 9, 20])
def test_any_two_blocks_are_together_about_equally_often(n_blocks):
    def together(halves):
        sides = np.where(halves, 1.0, -1.0)
        return (sides.T @ sides)[~np.eye(n_blocks, dtype=bool)]

    rng = np.random.default_rng(0)
    even = together(even_halves(n_blocks, 50, rng))
    pairs = independent_pairs(replace(PLAN, resamples=100), 1, n_blocks, rng)
    assert even.std() < 0.6 * together(np.array([pair.in_first for pair in pairs])).std()
    expected = -50 / (n_blocks - 1) if n_blocks % 2 == 0 else -50 / n_blocks
    assert even.mean() == pytest.approx(expected)


@pytest.mark.parametrize("n_blocks", [1, 2, 5, 8, 301])
def test_the_first_half_is_the_smaller_one_whatever_their_number(n_blocks):
    for n in (1, 2, 3):
        halves = even_halves(n_blocks, n, np.random.default_rng(n))
        assert halves.shape == (n, n_blocks)
        assert (halves.sum(axis=1) == n_blocks // 2).all()


def test_blocks_are_in_the_first_half_as_often_as_others():
    """A half by itself is any half: what is chosen evenly favours no block."""
    often = np.mean([even_halves(6, 3, np.random.default_rng(k)) for k in range(3000)], axis=0)
    assert np.abs(often - 0.5).max() < 5 * (0.25 / 3000) ** 0.5
    last = [even_halves(6, 3, np.random.default_rng(k))[2] for k in range(3000)]
    found = np.unique(last, axis=0, return_counts=True)[1]
    assert len(found) == len(list(combinations(range(6), 3)))
    assert np.abs(found - 150).max() < 5 * 150**0.5


def test_both_ways_to_count_who_is_together_choose_the_same_halves(monkeypatch):
    few = even_halves(9, 40, np.random.default_rng(3))
    monkeypatch.setattr(draws, "MAX_COUNTED_BLOCKS", 8)
    many = even_halves(9, 8, np.random.default_rng(3))
    assert np.array_equal(few[:8], many)  # the last eight are all there are


def test_no_number_leaves_its_range(monkeypatch):
    """The last part and a number that is next to 1 round to 1."""
    monkeypatch.setattr(draws, "spread", lambda rows, n, rng: np.ones((rows, n)))
    for pair in draw_pairs(PLAN, 2, 4, np.random.default_rng(0)):
        assert pair.memory <= 0.7
        assert pair.first.in_degree == 3
        assert pair.second.column_weights.max() <= 1.0


def test_spread_numbers_are_in_any_order():
    first = np.array([spread(1, 4, np.random.default_rng(k))[0, 0] for k in range(2000)])
    counts = np.bincount((4 * first).astype(int), minlength=4)
    assert np.abs(counts - 500).max() < 5 * 500**0.5


def test_the_same_stream_draws_the_same_and_another_does_not():
    def drawn(seed):
        return repr(draw_pairs(PLAN, 3, 8, np.random.default_rng(seed)))

    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize("resamples", [1, 2, 3, 7])
def test_any_number_of_halves_can_be_drawn(resamples):
    made = draw_example(Design(5, 5, 3, 9), "mid", 0)
    plan = replace(DEFAULT_PLAN, resamples=resamples)
    assert len(draw_pairs(plan, 5, 8, np.random.default_rng(0))) == (resamples + 1) // 2
    found = lagged_regression(made.expression, made.rules, np.random.default_rng(0), plan)
    assert np.isfinite(found.scores).all()


def test_even_draws_scatter_less_and_stand_for_the_same(monkeypatch):
    """The slow twin draws every number by itself."""
    made = draw_example(Design(10, 10, 5, 21), "mid", 3)

    def gains(name, n):
        rngs = [np.random.default_rng([k, name]) for k in range(n)]
        return np.array([lagged_regression(made.expression, made.rules, x).gains for x in rngs])

    even = gains(0, 12)
    monkeypatch.setattr("grn_tvcs.stability.stability.draw_pairs", independent_pairs)
    independent = gains(1, 24)
    varied = [x.var(axis=0, ddof=1).mean() for x in (even, independent)]
    assert varied[0] < 0.6 * varied[1]
    # Means of 12 and 24 runs differ by as much as runs scatter, and no more.
    error = varied[0] / 12 + varied[1] / 24
    assert ((even.mean(axis=0) - independent.mean(axis=0)) ** 2).mean() < 1.5 * error

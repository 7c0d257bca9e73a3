"""Permutations of series: all if they are few, and the smallest p that they can give."""

import math

import numpy as np
import pytest
from scipy import stats

from grn_tvcs.comparison.permutations import (
    ALPHA,
    MIN_PERMUTATIONS,
    count_permutations,
    draw_permutations,
    series_needed,
)


@pytest.mark.parametrize(("a", "b"), [(2, 2), (3, 3), (2, 5), (4, 3), (5, 5)])
def test_few_series_are_exchanged_in_every_way_once(a, b):
    drawn = draw_permutations(a, b, 200, np.random.default_rng(0))
    rows = {tuple(row) for row in drawn.in_first.tolist()}
    assert len(drawn.in_first) == drawn.possible
    assert len(rows) == len(drawn.in_first) == count_permutations(a, b)
    assert drawn.in_first[0].tolist() == [True] * a + [False] * b
    assert (drawn.in_first.sum(axis=1) == a).all()
    # Whoever is called first: no way and its opposite are both there.
    assert a != b or not any(tuple(not x for x in row) in rows for row in rows)


def test_many_series_are_exchanged_at_random_by_the_seed():
    first, again, other = (
        draw_permutations(10, 10, 50, np.random.default_rng(s)) for s in (1, 1, 2)
    )
    assert first.in_first.shape == (50, 20)
    assert (first.in_first == again.in_first).all()
    assert (first.in_first != other.in_first).any()
    assert first.possible == math.comb(20, 10) // 2


def test_how_many_series_are_needed_is_the_least_number_that_is_enough():
    for alpha in (0.1, 0.05, 0.01):
        n = series_needed(2, 2, alpha)
        assert 1 / count_permutations(n, n) <= alpha < 1 / count_permutations(n - 1, n - 1)
    assert series_needed(2, 2) == 4
    assert series_needed(2, 7) == 7


def test_the_level_leaves_room_for_19_of_20_and_takes_nothing_from_four_series_a_side():
    for pairs in (200, 400, 800):
        assert stats.binom.sf(pairs // 20, pairs, ALPHA) < 0.05
    assert count_permutations(4, 4) >= MIN_PERMUTATIONS
    assert 1 / MIN_PERMUTATIONS <= ALPHA < 1 / (MIN_PERMUTATIONS - 1)


def test_a_p_value_counts_what_was_measured_among_the_exchanges():
    drawn = draw_permutations(3, 3, 200, np.random.default_rng(0))
    statistics = np.arange(10.0)[::-1]  # measured the largest
    assert drawn.p_values(statistics) == 0.1
    assert drawn.p_values(-statistics) == 1.0
    assert drawn.p_values(np.zeros(10)) == 1.0

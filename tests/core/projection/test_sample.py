"""The sample of lines for first prices: what it holds, and how near the prices are."""

import numpy as np
import pytest

from benchmarks.speed import matrices
from tvcs_core.projection.exact import dispatch, prices, search, solve_dense, solve_edges
from tvcs_core.projection.exact.prices import by_caps


def test_lines_of_equal_caps_stay_in_their_order():
    order = np.random.default_rng(0).permutation(1000)
    assert np.array_equal(by_caps(order, np.full(1000, 7), 25), order)


@pytest.mark.parametrize("step", [1, 2, 999, 1000])
def test_no_line_is_lost(step):
    rng = np.random.default_rng(step)
    order, caps = rng.permutation(1000), rng.integers(0, 9, 1000)
    assert np.array_equal(np.sort(by_caps(order, caps, step)), np.arange(1000))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("step", [2, 10, 25, 50])
def test_a_sample_has_the_caps_and_the_places_of_all_lines(step, seed):
    rng = np.random.default_rng(seed)
    order, caps, place = rng.permutation(1000), rng.integers(0, 400, 1000), np.empty(1000)
    place[order] = np.arange(1000)
    drawn = by_caps(order, caps, step)[step // 2 :: step]
    # A random draw of as many lines has this standard error in its mean.
    for numbers in (caps, place):
        error = numbers.std() / np.sqrt(drawn.size)
        assert abs(numbers[drawn].mean() - numbers.mean()) < error


def separable(family, n, m, seed):
    rng = np.random.default_rng(seed)
    values = matrices.scaled(matrices.FAMILIES[family](rng, n, m))
    return values, matrices.draw_caps(rng, n, m, 0.2 * m, 0.2 * n, "varied", None), rng


@pytest.mark.parametrize("family", ["logistic", "products", "sums"])
@pytest.mark.parametrize("transposed", [False, True])
def test_varied_caps_of_long_tables_take_few_pivots(family, transposed):
    # Every step-th line as its values come had any caps: 6,100 to 19,100 pivots, or 53,000 turns
    # of the scan after as many.
    for seed in range(2):
        values, (a, b, total), _ = separable(family, 100, 1500, seed)
        if transposed:
            values, a, b = np.ascontiguousarray(values.T), b, a
        found = solve_dense(values, a, b, total, squared=True)
        assert found.stats["path"] == "simplex"
        assert found.stats["pivots in all"] < 5_000


@pytest.mark.parametrize(("n", "m", "most"), [(100, 1500, 15_000), (600, 600, 6_000)])
@pytest.mark.parametrize("family", ["logistic", "products", "sums"])
def test_lists_of_separable_values_take_few_pivots(family, n, m, most):
    # They had every step-th line as it came, and none where they were short: 17,900 pivots for
    # logistic values of 600 x 600, 58,700 of 100 x 1,500.
    values, (a, b, total), rng = separable(family, n, m, 1)
    row, col = np.divmod(np.flatnonzero(rng.random(n * m) < 0.3), m)
    caps = np.maximum(a // 3, 1), np.maximum(b // 3, 1)
    keys = np.zeros(row.size, np.int64)
    found = solve_edges(row, col, keys, values[row, col], n, m, *caps, total, squared=True)
    assert found.stats["pivots in all"] < most


@pytest.mark.parametrize("caps", ["uniform", "varied"])
def test_earlier_prices_that_are_a_little_off_take_the_place_of_a_sample(caps, monkeypatch):
    family, seed = ("products", 1) if caps == "uniform" else ("minima", 1)
    rng = np.random.default_rng(seed)
    values = matrices.scaled(matrices.FAMILIES[family](rng, 400, 400))
    caps = matrices.draw_caps(rng, 400, 400, 80, 80, caps, None)
    moved = values * (1.0 + 0.01 * rng.normal(size=values.shape))
    earlier = solve_dense(values, *caps, squared=True)
    cold = solve_dense(moved, *caps, squared=True)
    off = []
    misfit = search.misfit

    def told(i, near):
        off.append(misfit(i, near))
        return off[-1]

    monkeypatch.setattr(search, "misfit", told)
    monkeypatch.setattr(prices, "sampled_prices", None)  # it is not asked
    warm = solve_dense(moved, *caps, squared=True, warm=earlier.warm)
    assert dispatch.USABLE < off[0] <= dispatch.CLOSE
    assert np.array_equal(warm.keep, cold.keep)

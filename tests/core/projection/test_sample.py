"""First prices: the sample of lines they come from, and thresholds of lines near a guess."""

import numpy as np
import pytest

from benchmarks.speed import matrices
from tvcs_core.projection.exact import solve_dense
from tvcs_core.projection.exact.sample import (
    choose_line_count,
    order_by_caps,
    scale_caps,
    stratum_middles,
)
from tvcs_core.projection.kernels.prices import threshold_of

pytestmark = pytest.mark.usefixtures("all_steps")


def test_lines_of_equal_caps_stay_in_their_order():
    order = np.random.default_rng(0).permutation(1000)
    assert np.array_equal(order_by_caps(order, np.full(1000, 7), 40), order)


@pytest.mark.parametrize("count", [1, 2, 41, 500, 1000])
def test_no_line_is_lost(count):
    rng = np.random.default_rng(count)
    order, caps = rng.permutation(1000), rng.integers(0, 9, 1000)
    assert np.array_equal(np.sort(order_by_caps(order, caps, count)), np.arange(1000))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("count", [20, 41, 100, 499])
def test_a_sample_has_the_caps_and_the_places_of_all_lines(count, seed):
    rng = np.random.default_rng(seed)
    order, caps, place = rng.permutation(1000), rng.integers(0, 400, 1000), np.empty(1000)
    place[order] = np.arange(1000)
    drawn = order_by_caps(order, caps, count)[stratum_middles(1000, count)]
    assert np.unique(drawn).size == count
    # A random draw of as many lines has this standard error in its mean.
    for numbers in (caps, place):
        error = numbers.std() / np.sqrt(drawn.size)
        assert abs(numbers[drawn].mean() - numbers.mean()) < error


def test_equal_caps_are_whole_in_the_sample():
    # 191 of 1,043 lines: 7.5 of 41 would be 8 in every row, a fifteenth too many.
    count = choose_line_count(np.full(937, 191), 1043, 41)
    assert 41 <= count < 52
    assert abs(191 * count / 1043 - round(191 * count / 1043)) < 0.05
    assert choose_line_count(np.full(937, 200), 1000, 40) == 40
    varied = np.random.default_rng(0).integers(0, 400, 937)
    assert choose_line_count(varied, 1043, 41) == 41  # no number of lines suits them
    assert choose_line_count(np.full(3, 1), 10, 10) == 10  # nor are there more than all


@pytest.mark.parametrize("seed", range(10))
def test_what_is_rounded_off_a_cap_goes_to_the_next_line(seed):
    rng = np.random.default_rng(seed)
    caps, order, share = rng.integers(0, 40, 300), rng.permutation(300), rng.uniform(0.01, 0.5)
    scaled = scale_caps(caps, share, order)
    assert (scaled >= 0).all()
    assert (np.abs(scaled - caps * share) < 1.0).all()
    assert (np.abs(np.cumsum(scaled[order]) - share * np.cumsum(caps[order])) <= 0.5 + 1e-9).all()
    assert (scaled[caps == 0] == 0).all()


def separable(family, n, m, seed):
    rng = np.random.default_rng(seed)
    values = matrices.scaled(matrices.FAMILIES[family](rng, n, m))
    return values, matrices.draw_caps(rng, n, m, 0.2 * m, 0.2 * n, "varied", None), rng


@pytest.mark.parametrize("family", ["products", "sums", "logistic"])
@pytest.mark.parametrize(
    ("n", "m", "ratio", "caps"),
    [
        (600, 623, 0.183, "uniform"),
        (600, 623, 0.006, "uniform"),
        (600, 623, 0.006, "varied"),
        (1130, 300, 0.17, "uniform"),
        (1130, 300, 0.01, "varied"),
    ],
)
def test_caps_that_are_no_round_share_of_the_sample_take_few_pivots(n, m, ratio, caps, family):
    # All caps of a side were rounded the same way, and those below 1 up to 1: of 45 tables of
    # these kinds the simplex gave 44 up, after 100,000 pivots or so.
    pivots = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        values = matrices.scaled(matrices.FAMILIES[family](rng, n, m))
        a, b, total = matrices.draw_caps(rng, n, m, ratio * m, ratio * n, caps, 0.8)
        found = solve_dense(values, a, b, total, squared=True)
        if found.stats["path"] == "simplex":
            pivots.append(found.stats["pivots in all"])
        else:  # cost scaling ends two tables, soon after the simplex would have done
            assert (family, ratio) == ("logistic", 0.183)
            assert found.stats["turns"] < 50 * (n + m)
    assert np.mean(pivots) < 70_000


@pytest.mark.parametrize("family", ["logistic", "products", "sums"])
@pytest.mark.parametrize("transposed", [False, True])
def test_varied_caps_of_long_tables_take_few_pivots(family, transposed):
    # Every step-th line as its values come had any caps: 6,100 to 19,100 pivots, or 53,000 turns
    # of the scan after as many.
    pivots = []
    for seed in range(6):
        values, (a, b, total), _ = separable(family, 100, 1500, seed)
        if transposed:
            values, a, b = np.ascontiguousarray(values.T), b, a
        found = solve_dense(values, a, b, total, squared=True)
        assert found.stats["path"] == "simplex"
        pivots.append(found.stats["pivots in all"])
    assert np.mean(pivots) < (7_000 if family == "logistic" else 4_000)


LINES = {
    "steps": lambda rng, size: np.arange(size, 0.0, -1.0),
    "gauss": lambda rng, size: rng.normal(size=size),
    "ties": lambda rng, size: rng.integers(-2, 4, size).astype(float),
    "zeros": lambda rng, size: np.zeros(size),
    "nothing above 0": lambda rng, size: -rng.random(size),
    "heavy tails": lambda rng, size: rng.standard_cauchy(size) ** 3,
    "tiny": lambda rng, size: rng.random(size) * 1e-300,
}


def by_sorting(line, rank, width):
    """Threshold, low and high by the definition of `bracket`."""
    order, size = np.sort(line)[::-1], line.size
    if rank - width >= size:
        return 0.0, 0.0, 0.0
    last_in = order[min(max(rank, 1), size) - 1]
    first_out = max(order[max(rank, 1)], 0.0) if max(rank, 1) < size else 0.0
    threshold = 0.5 * (last_in + first_out) if first_out > 0.0 else 0.0
    threshold = max(last_in, 0.0) if rank <= 0 else 0.0 if rank >= size else threshold
    if width == 0:
        return threshold, threshold, threshold
    low = max(0.0, min(order[min(max(rank, 0) + width, size - 1)], threshold))
    high = max(threshold, order[max(rank - 1 - width, 0)])
    return threshold, low if rank < size else 0.0, high


def found_near(line, rank, width, guess):
    work = line.copy()
    return threshold_of(work, line.size, rank, width, guess, np.empty(line.size + 1))


@pytest.mark.parametrize("kind", LINES)
def test_any_guess_finds_the_threshold_that_sorting_finds(kind, rng):
    for size in (1, 2, 32, 33, 40, 64, 97, 400):
        line = LINES[kind](rng, size)
        least = line[line > 0.0].min(initial=np.inf)
        top = max(np.abs(line).max(), 1e-308)
        for rank in {0, 1, size // 4, size // 3, size - 1, size, size + 3}:
            for width in (0, 1, 5, size):
                right = by_sorting(line, rank, width)
                for guess in (0.0, right[0], 0.9 * right[0], 1.1 * right[0], top, 10 * top):
                    found = found_near(line, rank, width, guess)
                    assert found[::2] == right[::2], (size, rank, width)
                    is_above = rank + width < (line > 0.0).sum()  # else anything near 0 will do
                    assert found[1] == right[1] if is_above else found[1] <= least


def test_a_guess_between_two_values_keeps_the_first_that_is_left_out():
    """It was sorted out, and the threshold was 0: such lines took all of a small table's paths."""
    line = np.arange(40.0, 0.0, -1.0)
    assert found_near(line, 10, 0, 30.5) == (30.5, 30.5, 30.5)

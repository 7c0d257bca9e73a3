"""Thresholds of lines near a guess: what sorting says, from the few values that matter."""

import numpy as np
import pytest

from tvcs_core.projection.kernels import prices

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
    return prices.threshold_of(work, line.size, rank, width, guess, np.empty(line.size + 1))


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

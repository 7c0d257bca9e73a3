"""What is measured of a pair, beside regressions that are done step by step."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from grn_tvcs.comparison.differences import (
    interaction,
    jackknife,
    measure_differences,
    partial_correlation,
    sums_of,
)
from grn_tvcs.comparison.permutations import draw_permutations
from grn_tvcs.comparison.steps import make_steps, pool_conditions
from tvcs_core.engines import Processes, Threads


@pytest.fixture(scope="module")
def steps(conditions):
    both, _ = pool_conditions(*conditions)
    return make_steps(both, np.arange(8))


def unexplained(columns, y):
    """Sum of squares that least squares leaves."""
    return float(((y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]) ** 2).sum())


def series_of(steps):
    """Number of the series of each step."""
    return np.searchsorted(steps.starts, np.arange(len(steps.past)), side="right") - 1


@pytest.mark.parametrize("target", [1, 6])
def test_the_difference_is_that_of_two_least_squares(steps, target):
    drawn = draw_permutations(10, 10, 3, np.random.default_rng(3))
    common = steps.common[target]
    found = interaction(
        sums_of(steps, target), drawn.in_first.astype(float), common, len(steps.past)
    )
    y, own = steps.following[:, target], steps.own[:, target]
    for in_first, row in zip(drawn.in_first, found, strict=True):
        sign = np.where(in_first[series_of(steps)], 1.0, -1.0)
        shared = [np.ones_like(y), own, *steps.past[:, list(common)].T, sign, sign * own]
        for regulator in set(range(8)) - {target}:
            x = steps.past[:, regulator]
            less = np.column_stack([*shared, x])
            more = np.column_stack([less, sign * x])
            left = unexplained(more, y)
            free = len(y) - len(shared) - 2
            wanted = free * (unexplained(less, y) - left) / left
            assert_allclose(row[regulator], wanted, rtol=1e-4, atol=1e-6)


def test_the_strength_is_a_partial_correlation_and_its_error_leaves_series_out(steps):
    in_first = np.arange(20) < 10
    target, regulator = 6, 0
    sums = sums_of(steps, target)

    def by_hand(kept):
        rows = kept[series_of(steps)]
        x, y, own = (
            part[rows]
            for part in (steps.past[:, regulator], steps.following[:, target], steps.own[:, target])
        )
        base = np.column_stack([np.ones(rows.sum()), own])
        rest = [v - base @ np.linalg.lstsq(base, v, rcond=None)[0] for v in (x, y)]
        return np.corrcoef(*rest)[0, 1]

    found = partial_correlation(sums, in_first[None].astype(float))[0]
    assert_allclose(found[regulator], by_hand(in_first))
    left_out = [np.arctanh(by_hand(in_first & (np.arange(20) != s))) for s in range(10)]
    wanted = np.sqrt(9 / 10 * ((left_out - np.mean(left_out)) ** 2).sum())
    assert_allclose(jackknife(sums, np.arange(10))[regulator], wanted)


def test_an_exchange_of_all_series_changes_nothing(steps):
    in_first = np.arange(20) < 10
    both = np.array([in_first, ~in_first]).astype(float)
    one, other = interaction(sums_of(steps, 3), both, steps.common[3], len(steps.past))
    assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_engines_find_the_same_bytes(steps):
    drawn = draw_permutations(10, 10, 20, np.random.default_rng(0))
    result = []
    alone = measure_differences(steps, drawn, progress=lambda done, of: result.append((done, of)))
    assert result[-1] == (8, 8)
    with Threads(2) as threads, Processes(2) as processes:
        for engine in (threads, processes):
            found = measure_differences(steps, drawn, engine=engine)
            for one, other in zip(vars(alone).values(), vars(found).values(), strict=True):
                assert one.tobytes() == other.tobytes()


def test_a_knocked_out_series_counts_by_its_changes_alone(conditions):
    """Whatever is added to all of a series in which a perturbation lasts, its steps stay."""
    first, second = conditions
    on = np.zeros(len(first.times), dtype=bool)
    on[:41] = on[123:164] = True  # the first and the fourth series
    lifted = first.values.copy()
    lifted[on, 1:] += 5.0  # the first gene gives series their order
    parts = [
        make_steps(pool_conditions(replace(first, values=v, perturbed=on), second)[0], np.arange(8))
        for v in (first.values, lifted)
    ]
    assert parts[0].n_lost == parts[1].n_lost > 1
    for name in ("past", "own", "following"):
        assert np.allclose(getattr(parts[0], name), getattr(parts[1], name))
    assert np.allclose(parts[0].own[parts[0].ones == 0].mean(axis=0), 0.0)

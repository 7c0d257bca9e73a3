"""What is drawn for halves: every number and every half by itself."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN, lagged_regression
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.stability.draws import SubsamplingPlan, draw_pairs

PLAN = SubsamplingPlan(("tvcs", "omp"), 4000, 0.5, (0.6, 1.0), (1, 3), 2.0)


def drawn(n_inputs=7, n_blocks=6, plan=PLAN, seed=0):
    return draw_pairs(plan, n_inputs, n_blocks, np.random.default_rng(seed))


def halves_of(pairs):
    return [half for pair in pairs for half in (pair.first, pair.second)]


def test_weights_and_caps_are_uniform_and_independent():
    halves = halves_of(drawn())
    weights = np.array([half.column_weights for half in halves])
    assert weights.shape == (4000, 7)
    assert weights.min() >= 0.6
    assert weights.max() <= 1.0
    assert weights.mean(axis=0) == pytest.approx(0.8, abs=5 * 0.4 / 12**0.5 / 4000**0.5)
    others = np.corrcoef(weights.T)[~np.eye(7, dtype=bool)]
    assert np.abs(others).max() < 5 / 4000**0.5
    counts = np.bincount([half.in_degree for half in halves])
    assert counts[0] == 0
    assert np.abs(counts[1:] - 4000 / 3).max() < 5 * (4000 * 2 / 9) ** 0.5


@pytest.mark.parametrize("n_blocks", [1, 2, 5, 8, 301])
def test_the_first_half_is_the_smaller_one(n_blocks):
    halves = np.array([pair.in_first for pair in drawn(1, n_blocks)])
    assert halves.shape == (2000, n_blocks)
    assert (halves.sum(axis=1) == n_blocks // 2).all()


def test_every_half_is_drawn_equally_often():
    halves = [pair.in_first for pair in drawn(1, 6)]
    found = np.unique(halves, axis=0, return_counts=True)[1]
    assert len(found) == len(list(combinations(range(6), 3)))
    assert np.abs(found - 100).max() < 5 * 100**0.5


def test_the_same_stream_draws_the_same_and_another_does_not():
    plan = replace(PLAN, resamples=40)
    assert repr(drawn(plan=plan)) == repr(drawn(plan=plan)) != repr(drawn(plan=plan, seed=1))


@pytest.mark.parametrize("resamples", [1, 2, 3, 7])
def test_any_number_of_halves_can_be_drawn(resamples):
    made = draw_example(Design(5, 5, 3, 9), "mid", 0)
    plan = replace(DEFAULT_PLAN, resamples=resamples)
    assert len(drawn(5, 8, plan)) == (resamples + 1) // 2
    found = lagged_regression(made.expression, made.rules, np.random.default_rng(0), plan)
    assert np.isfinite(found.scores).all()

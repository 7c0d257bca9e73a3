"""Log-odds become chances by maximum likelihood."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from grn_tvcs.combine.platt_scaling import PRIOR_WEIGHT, fit_platt_scaling, sigmoid


def drawn(rng, offset, slope, n_networks=4, n_pairs=60, spread=2.0):
    logits = [rng.normal(-1.5, spread, n_pairs + 7 * k) for k in range(n_networks)]
    truths = [rng.random(z.size) < sigmoid(offset + slope * z) for z in logits]
    return logits, truths


def penalised(at, logits, truths):
    """Minus the logarithm of the likelihood, and of the prior: the slow twin."""
    total, weight = 0.0, len(truths) / max(sum(int(true.sum()) for true in truths), 1)
    for z, true in zip(logits, truths, strict=True):
        t = at[0] + at[1] * z
        total += weight * np.logaddexp(0, np.where(true, -t, t)).sum()
    return total + PRIOR_WEIGHT / 2 * (at[0] ** 2 + (at[1] - 1) ** 2)


@given(
    st.integers(0, 2**32 - 1),
    st.floats(-4, 3),
    st.floats(-0.5, 3),
    st.sampled_from([0.1, 2.0, 8.0]),
)
def test_it_is_where_the_likelihood_is_largest(seed, offset, slope, spread):
    data = drawn(np.random.default_rng(seed), offset, slope, spread=spread)
    at = np.array(fit_platt_scaling(*data))
    steps = 1e-5 * np.eye(2)
    gradient = [(penalised(at + s, *data) - penalised(at - s, *data)) / 2e-5 for s in steps]
    assert np.abs(gradient).max() < 1e-4
    twin = minimize(penalised, [0.0, 1.0], args=data, method="BFGS", options={"gtol": 1e-7})
    assert penalised(at, *data) <= twin.fun + 1e-9
    assert at == pytest.approx(twin.x, abs=1e-4)


def test_it_finds_what_the_edges_were_drawn_with(rng):
    data = drawn(rng, -0.7, 0.6, n_networks=40, n_pairs=4000)
    offset, slope = fit_platt_scaling(*data)
    assert offset == pytest.approx(-0.7, abs=0.1)
    assert slope == pytest.approx(0.6, abs=0.05)


def test_honest_log_odds_stay_as_they_are(rng):
    assert fit_platt_scaling(*drawn(rng, 0, 1, 40, 4000)) == pytest.approx((0, 1), abs=0.06)


def test_as_many_edges_are_claimed_as_there_are_however_few_a_network_has(rng):
    """Networks of few edges, of which too much is said, are no more than a part of all."""
    z = [rng.normal(-1.5, 2.0, 300) for _ in range(60)]
    truths = [
        rng.random(300) < sigmoid(part + (1.5 if k % 2 else -2.5)) for k, part in enumerate(z)
    ]
    offset, slope = fit_platt_scaling(z, truths)
    claimed = sum(sigmoid(offset + slope * part).sum() for part in z)
    assert claimed == pytest.approx(sum(true.sum() for true in truths), rel=0.02)


def test_edges_weigh_together_as_much_as_there_are_networks():
    z, true = np.array([-2.0, 0.0, 1.0, 3.0]), np.array([False, False, True, True])
    once = fit_platt_scaling([z], [true])
    assert fit_platt_scaling([np.tile(z, 9)], [np.tile(true, 9)]) == pytest.approx(once, abs=1e-9)
    assert fit_platt_scaling([z, z], [true, true]) != pytest.approx(once, abs=1e-3)


def test_networks_without_edges_pull_chances_down():
    z = np.linspace(-3, 3, 20)
    offset, slope = fit_platt_scaling([z, z], [np.zeros(20, bool), np.zeros(20, bool)])
    assert sigmoid(offset + slope * z).max() < sigmoid(z).max()
    assert np.isfinite([offset, slope]).all()
    assert fit_platt_scaling([np.empty(0)], [np.empty(0, bool)]) == (0.0, 1.0)


@pytest.mark.parametrize("size", [1e3, 1e6])
@pytest.mark.parametrize("is_right", [False, True])
def test_huge_log_odds_do_not_overflow(size, is_right):
    z = np.array([-size, -size, size, 0.5])
    true = np.array([False, False, True, True]) == is_right
    offset, slope = fit_platt_scaling([z], [true])
    assert np.isfinite([offset, slope]).all()
    p = sigmoid(offset + slope * z)
    assert ((p >= 0) & (p <= 1)).all()


def test_a_chance_is_the_logistic_function():
    z = np.array([-np.inf, -1e9, -2.0, 0.0, 2.0, 1e9, np.inf])
    p = sigmoid(z)
    assert p[[2, 4]] == pytest.approx([1 / (1 + np.e**2), 1 / (1 + np.e**-2)])
    assert p[3] == 0.5
    assert p == pytest.approx(1 - p[::-1], abs=1e-15)
    assert (np.diff(p) >= 0).all()

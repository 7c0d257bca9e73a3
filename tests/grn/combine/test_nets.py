"""Small nets say what plain NumPy says, and learn the same from the same."""

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.learning import nets
from benchmarks.learning.nets import learn_net
from grn_tvcs.combine.nets import Net, evaluate_net

N_FEATURES = 7


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Few rows are then still many steps."""
    monkeypatch.setattr(nets, "BATCH", 32)


def drawn(seed, rows=1500):
    """Features with gaps, one constant and one never known; and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, N_FEATURES)).astype(np.float32)
    y = X[:, 0] * X[:, 1] > 0.3 * rng.normal(size=rows)
    X[rng.random(rows) < 0.3, 2:4] = np.nan  # two features of the same gaps
    X[rng.random(rows) < 0.2, 4] = np.nan
    X[:, 5], X[:, 6] = 3.0, np.nan
    return X, y


def learned(seed=0, rows=1500):
    X, y = drawn(seed, rows)
    return learn_net(X, y, np.ones(len(y)), seed)


def slowly(net: Net, X):
    """The same by matrices, of double precision."""
    with np.errstate(invalid="ignore"):
        z = np.clip((X.astype(float) - net.means) / net.sizes, -4, 4)
    result = np.concatenate([np.nan_to_num(z), np.isnan(X[:, net.gaps])], axis=1)
    one = np.maximum(result @ net.first.astype(float) + net.first_base, 0)
    two = np.maximum(one @ net.second.astype(float) + net.second_base, 0)
    return two @ net.last.astype(float) + net.base[0]


def test_a_net_says_what_matrices_say():
    net, X = learned(), drawn(9)[0]
    X[0], X[1] = np.nan, 1e30
    claimed = evaluate_net(net, X)
    assert claimed == pytest.approx(slowly(net, X), rel=1e-5, abs=1e-5)
    assert np.ptp(claimed) > 1
    assert np.isfinite(claimed).all()


def test_a_row_has_the_same_prediction_whatever_is_beside_it():
    net, X = learned(), drawn(4)[0]
    whole = evaluate_net(net, X)
    for rows in (slice(0, 1), slice(3, 40), slice(None, None, -1)):
        assert np.array_equal(evaluate_net(net, X[rows]), whole[rows])


def test_a_net_learns_what_no_sum_of_features_tells():
    net, (X, y) = learned(rows=6000), drawn(7)
    claimed = evaluate_net(net, X)
    assert ((claimed > 0) == y).mean() > 0.8
    known = [np.corrcoef(X[:, k], y)[0, 1] for k in (0, 1)]
    assert max(map(abs, known)) < 0.1


def test_the_same_rows_and_seed_give_the_same_net_and_another_seed_another():
    one, again, other = learned(), learned(), learn_net(*drawn(0), np.ones(1500), 1)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one.first, other.first)


def test_what_was_constant_or_never_known_says_nothing_later():
    net, X = learned(), drawn(5)[0]
    assert np.isinf(net.sizes[[5, 6]]).all()
    other = X.copy()
    other[:, 5], other[:, 6] = -20.0, 7.0
    assert np.array_equal(evaluate_net(net, other), evaluate_net(net, X))


def test_gaps_that_features_share_are_one_input():
    assert learned().gaps.tolist() == [2, 4]


def test_rows_that_weigh_nothing_teach_nothing():
    X, y = drawn(3, 3000)
    wrong = np.arange(len(y)) % 2 == 1
    net = learn_net(X, y ^ wrong, np.where(wrong, 1e-6, 1.0), 0)
    assert ((evaluate_net(net, X) > 0) == y).mean() > 0.8


def test_slopes_are_those_of_differences(rng):
    result, true = rng.normal(size=(20, 5)), rng.random(20) > 0.5
    weight = rng.random(20)
    widths = (5, 6, 4, 1)
    weights = [rng.normal(size=pair) for pair in pairwise(widths)]
    bases = [rng.normal(size=n) for n in widths[1:]]

    def loss():
        x = result
        for w, b in zip(weights[:-1], bases[:-1], strict=True):
            x = np.maximum(x @ w + b, 0)
        claimed = (x @ weights[-1] + bases[-1])[:, 0]
        return weight @ np.logaddexp(0, np.where(true, -claimed, claimed))

    found = nets._slopes(result, true.astype(float), weight, weights, bases)
    for array, slope in zip([*weights, *bases], found, strict=True):
        for at in [tuple(rng.integers(0, array.shape)) for _ in range(4)]:
            array[at] += 1e-6
            up = loss()
            array[at] -= 2e-6
            down = loss()
            array[at] += 1e-6
            assert slope[at] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-6)


def test_a_feature_of_any_size_has_the_same_prediction():
    """Its unit says nothing: it counts in deviations."""
    X, y = drawn(2)
    unit = np.float32(2.0) ** np.arange(-3, N_FEATURES - 3, dtype=np.float32)
    one, other = (learn_net(x, y, np.ones(len(y)), 0) for x in (X, X * unit))
    claimed = evaluate_net(one, X), evaluate_net(other, X * unit)
    assert claimed[0] == pytest.approx(claimed[1], rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("shared", [[5, 6], [3, 4, 6], [0, 1], range(N_FEATURES)])
def test_features_that_all_rows_share_may_go_into_the_bias(shared):
    net, X = learned(), drawn(6)[0]
    is_shared = np.isin(np.arange(N_FEATURES), shared)
    for values in (X[0, is_shared].copy(), np.nan):
        X[:, is_shared] = values
        found = evaluate_net(net, X, is_shared)
        assert found == pytest.approx(evaluate_net(net, X), rel=1e-12, abs=1e-12)
        assert np.array_equal(evaluate_net(net, X[7:40], is_shared), found[7:40])
    assert evaluate_net(net, X[:0], is_shared).size == 0

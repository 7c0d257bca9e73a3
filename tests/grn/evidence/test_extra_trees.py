"""Extremely randomised trees against plain recursion, and against scikit-learn's in the mean."""

import numpy as np
import pytest

from grn_tvcs.evidence.extra_trees import importances
from grn_tvcs.evidence.kernels import grow

WRAP = 2**64


class Stream:
    """SplitMix64 in whole numbers of Python."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % WRAP
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WRAP
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WRAP
        return ((z ^ (z >> 31)) >> 11) * 2.0**-53


def by_recursion(x, y, tries, stream, inputs, importance):
    """One tree of Geurts et al. on the rows of x; the right child first, as a stack has it."""
    if len(y) < 2:
        return
    square = len(y) * np.var(y)
    found, unseen = [], len(inputs)
    while len(found) < tries and unseen:
        k = int(stream.uniform() * unseen)
        unseen -= 1
        inputs[k], inputs[unseen] = inputs[unseen], inputs[k]
        j = inputs[unseen]
        low, high = x[:, j].min(), x[:, j].max()
        if low < high:
            cut = low + stream.uniform() * (high - low)
            is_below = x[:, j] <= cut
            inside = sum(side.sum() * np.var(y[side]) for side in (is_below, ~is_below))
            found.append((round(square - inside, 7), j, is_below))
    if found:
        gain, j, is_below = max(found, key=lambda one: one[0])  # of equal ones the first
        importance[j] += gain
        for side in (~is_below, is_below):
            by_recursion(x[side], y[side], tries, stream, inputs, importance)


@pytest.mark.parametrize(("n_samples", "n_inputs"), [(2, 1), (7, 3), (40, 9), (60, 20)])
def test_trees_are_those_of_plain_recursion(rng, n_samples, n_inputs):
    x = np.round(rng.normal(size=(n_samples, n_inputs)), 1)  # with ties
    x[:, 0] = 1.0
    y = rng.normal(size=n_samples)
    y = (y - y.mean()) / y.std()
    tries = max(1, int(n_inputs**0.5))
    fast, slow = np.zeros(n_inputs), np.zeros(n_inputs)
    grow(
        np.ascontiguousarray(x.T), y, 4, tries, np.array([9], dtype=np.uint64),
        np.arange(n_inputs), np.empty(n_samples, dtype=np.int64),
        np.empty((n_samples + 1, 2), dtype=np.int64), fast,
    )  # fmt: skip
    stream, inputs = Stream(9), list(range(n_inputs))
    for _ in range(4):
        by_recursion(x, y, tries, stream, inputs, slow)
    assert fast == pytest.approx(slow)
    assert fast[0] == 0


def test_importances_add_up_to_the_variance_where_all_samples_differ(rng):
    x, y = rng.normal(size=(50, 6)), 3 * rng.normal(size=50) + 7
    found = importances(x, y, rng, trees=3)
    assert found.sum() == pytest.approx(y.var())
    assert not importances(x, np.ones(50), rng, trees=3).any()
    assert not importances(np.ones((50, 6)), y, rng, trees=3).any()


def test_many_trees_agree_with_those_of_scikit_learn(rng):
    from sklearn.ensemble import ExtraTreesRegressor

    x = rng.normal(size=(80, 9))
    y = x[:, 2] + 0.5 * x[:, 5] + 0.3 * rng.normal(size=80)
    ours = importances(x, y, rng, trees=2000)
    forest = ExtraTreesRegressor(400, max_features="sqrt", random_state=0).fit(x, y)
    trees = [tree.tree_.compute_feature_importances(normalize=False) for tree in forest.estimators_]
    assert ours == pytest.approx(np.mean(trees, axis=0), abs=0.03 * y.var())


def test_units_and_shifts_of_inputs_do_not_matter(rng):
    x, y = rng.normal(size=(40, 4)), rng.normal(size=40)
    first = importances(x, y, np.random.default_rng(1), trees=5)
    again = importances(x * 8 + 64, 2 * y, np.random.default_rng(1), trees=5)
    assert again == pytest.approx(4 * first)

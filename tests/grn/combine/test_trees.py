"""Trees as arrays say what scikit-learn says."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from benchmarks.learning.training import floor, trees_from_classifier
from grn_tvcs.combine.trees import Trees, evaluate

N_FEATURES = 6


def drawn(seed, rows=400):
    """Features with gaps, whole numbers and a column that nothing depends on; and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, N_FEATURES)).astype(np.float32)
    X[:, 1] = rng.integers(0, 4, rows)
    X[:, 5] = 3.0
    y = np.where(X[:, 0] > 0, X[:, 1] > 1, X[:, 2] + 0.5 * rng.normal(size=rows) > 0)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def fitted(seed, **more):
    shape = {"max_iter": 25, "max_leaf_nodes": 8, "early_stopping": False, "random_state": 0}
    with threadpool_limits(1, user_api="openmp"):
        return HistGradientBoostingClassifier(**shape | more).fit(*drawn(seed))


SHAPES = {
    "usual": {},
    "monotone": {"monotonic_cst": [1, 0, -1, 0, 0, 0]},
    "one leaf": {"min_samples_leaf": 300},
    "deep": {"max_leaf_nodes": 31, "min_samples_leaf": 2, "max_features": 0.3},
    "one tree": {"max_iter": 1},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_trees_predict_as_in_scikit_learn(shape, seed):
    classifier = fitted(seed, **SHAPES[shape])
    trees = trees_from_classifier(classifier)
    rng = np.random.default_rng(seed)
    X = np.concatenate([drawn(seed)[0], drawn(seed + 9)[0], np.full((1, N_FEATURES), np.nan)])
    X = np.concatenate([X, 1e30 * rng.normal(size=(20, N_FEATURES))]).astype(np.float32)
    claimed = evaluate(trees, X)
    largest = float(np.abs(trees.value).max())
    rounding = 2.0**-24 * largest * classifier.n_iter_  # leaves are float32
    assert claimed == pytest.approx(classifier.decision_function(X), rel=0, abs=rounding + 1e-12)
    assert np.ptp(claimed) > 0 or shape == "one leaf"
    assert len(trees.starts) == classifier.n_iter_ + 1


def test_a_stump_of_one_leaf_says_the_same_of_all():
    trees = trees_from_classifier(fitted(0, min_samples_leaf=300))
    assert (trees.feature == -1).all()
    assert len(set(evaluate(trees, drawn(3)[0]))) == 1


def test_a_feature_that_is_never_asked_for_says_nothing():
    classifier = fitted(2)
    trees, X = trees_from_classifier(classifier), drawn(2)[0]
    assert 5 not in trees.feature
    other = X.copy()
    other[:, 5] = np.nan
    assert np.array_equal(evaluate(trees, X), evaluate(trees, other))


def test_rows_at_the_threshold_and_rows_that_do_not_know_go_as_the_node_says():
    tree = Trees(
        base=np.array([10.0]),
        starts=np.array([0, 3, 4], dtype=np.int32),
        feature=np.array([1, -1, -1, -1], dtype=np.int8),
        threshold=np.array([0.5, 0, 0, 0], dtype=np.float32),
        right=np.array([2, 0, 0, 0], dtype=np.int16),
        nan_left=np.array([False, False, False, False]),
        value=np.array([0.0, 1.0, 2.0, 0.25], dtype=np.float32),
    )
    X = np.array([[9, 0.5], [9, 0.5000001], [9, -np.inf], [9, np.inf], [9, np.nan]], np.float32)
    assert evaluate(tree, X).tolist() == [11.25, 12.25, 11.25, 12.25, 12.25]
    is_left = tree._replace(nan_left=~tree.nan_left)
    assert evaluate(is_left, X)[4] == 11.25
    assert evaluate(tree, X[:0]).size == 0


def test_the_order_of_memory_does_not_matter():
    trees, X = trees_from_classifier(fitted(0)), drawn(5)[0]
    assert np.array_equal(evaluate(trees, np.asfortranarray(X)), evaluate(trees, X))
    assert np.array_equal(evaluate(trees, X[::2]), evaluate(trees, X)[::2])


def test_a_tree_may_be_one_long_branch():
    """One side of every node is a leaf, and the other one goes on."""
    n = 300
    inner = np.arange(0, 2 * n, 2)
    feature, right = np.full((2, 2 * n + 1), -1)
    threshold, value = np.zeros((2, 2 * n + 1), dtype=np.float32)
    feature[inner], threshold[inner] = 0, np.arange(n)
    right[inner] = 2
    value[inner + 1], value[2 * n] = np.arange(n), n
    tree = Trees(
        base=np.array([0.5]),
        starts=np.array([0, 2 * n + 1], dtype=np.int32),
        feature=feature.astype(np.int8),
        threshold=threshold,
        right=right.astype(np.int16),
        nan_left=np.zeros(2 * n + 1, dtype=bool),
        value=value,
    )
    X = np.arange(-1, n + 1, dtype=np.float32)[::-1, None]
    assert evaluate(tree, X).tolist() == [max(x, 0.0) + 0.5 for x in X[:, 0].tolist()]


def test_thresholds_of_four_bytes_part_the_rows_of_those_of_eight():
    rng = np.random.default_rng(0)
    exact = np.concatenate([rng.normal(size=999), [np.inf, 1e300, -1e300, 0.0, 0.1, -1e-50]])
    threshold = floor(exact)
    assert (threshold <= exact).all()
    with np.errstate(over="ignore", under="ignore"):
        near = np.nextafter(threshold, np.float32([[-np.inf], [np.inf]])).astype(np.float32)
    for x in (*near, threshold, exact.clip(-3e38, 3e38).astype(np.float32)):
        assert ((x <= threshold) == (x.astype(np.float64) <= exact)).all()

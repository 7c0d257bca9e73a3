"""The exclusive lasso proves itself, agrees with a slow twin, and the comparators drop views."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from benchmarks.synthetic.convex import (
    column_wise,
    exclusive_lasso,
    exclusive_penalty,
    overall,
    row_wise,
)
from tvcs_core import TVCS, LeastSquares, SquaredHinge, project

SHAPE = (6, 5)
MATRIX = TVCS.matrix(SHAPE, row_caps=2, col_caps=3, total=8)
STRENGTHS = [0.01, 1.0, 30.0]


def least_squares(rng, shape=SHAPE, n=25):
    X = rng.standard_normal((n, *shape))
    W = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    return LeastSquares(X, X.reshape(n, -1) @ W.ravel() + 0.1 * rng.standard_normal(n))


def squared_hinge(rng, shape=SHAPE, n=25):
    X = rng.standard_normal((n, *shape))
    W = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    return SquaredHinge(X, np.where(X.reshape(n, -1) @ W.ravel() > 0, 1, -1))


LOSSES = [least_squares, squared_hinge]


def grouped(rng, p=30):
    """Variables in groups of both views, some in one view only."""
    row_of = rng.integers(-1, 6, p)
    return TVCS.groups(row_of, np.where(row_of < 0, rng.integers(0, 4, p), rng.integers(-1, 4, p)))


def crowding(W, constraint):
    """For each entry the sum of the l1 norms of its groups, one entry at a time."""
    row_of, col_of = constraint.labels
    size = np.abs(np.ravel(W))
    total = np.zeros(size.size)
    for e in range(size.size):
        for labels in (row_of, col_of):
            if labels[e] >= 0:
                total[e] += size[labels == labels[e]].sum()
    return total.reshape(np.shape(W))


def violation(found, loss, constraint, strength):
    """Largest violation of the stationarity conditions, entry by entry."""
    gradient = loss.gradient(found.matrix)
    price = 2 * strength * crowding(found.matrix, constraint)
    at_work = np.abs(gradient + price * np.sign(found.matrix))
    at_rest = np.maximum(np.abs(gradient) - price, 0)
    return np.where(found.matrix != 0, at_work, at_rest).max()


def twin(loss, constraint, strength):
    """The same minimum by L-BFGS-B: positive and negative parts make the penalty smooth."""

    row_of, col_of = constraint.labels
    same = (row_of[:, None] == row_of) & (row_of >= 0)
    both = same.astype(float) + ((col_of[:, None] == col_of) & (col_of >= 0))

    def objective(parts):
        plus, minus = parts.reshape(2, *loss.shape)
        size, W = plus + minus, plus - minus
        crowd = (both @ size.ravel()).reshape(loss.shape)
        slope, gradient = 2 * strength * crowd, loss.gradient(W)
        value = loss.value(W) + strength * float((crowd * size).sum())
        return value, np.concatenate([(slope + gradient).ravel(), (slope - gradient).ravel()])

    size = 2 * int(np.prod(loss.shape))
    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-13, "gtol": 1e-7}
    bounds = [(0, None)] * size
    return minimize(objective, np.zeros(size), jac=True, bounds=bounds, options=options).fun


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("make", LOSSES)
def test_the_answer_is_stationary_and_its_gap_says_so(make, strength, rng):
    loss = make(rng)
    found = exclusive_lasso(loss, MATRIX, strength, tol=1e-12)
    assert found.converged
    assert found.relative_gap <= 1e-12
    scale = np.abs(loss.gradient(np.zeros(SHAPE))).max()
    assert violation(found, loss, MATRIX, strength) < 1e-5 * scale


@pytest.mark.parametrize("strength", [0.1, 3.0])
@pytest.mark.parametrize("make", LOSSES)
def test_the_objective_is_that_of_a_slow_twin(make, strength, rng):
    loss = make(rng)
    found = exclusive_lasso(loss, MATRIX, strength, tol=1e-9)
    assert found.objective == pytest.approx(twin(loss, MATRIX, strength), rel=1e-6)


def test_groups_of_any_labels_agree_with_a_slow_twin(rng):
    constraint = grouped(rng)
    loss = LeastSquares(rng.standard_normal((20, 30)), rng.standard_normal(20))
    found = exclusive_lasso(loss, constraint, 0.5, tol=1e-9)
    assert found.objective == pytest.approx(twin(loss, constraint, 0.5), rel=1e-6)
    assert violation(found, loss, constraint, 0.5) < 1e-3


@pytest.mark.parametrize("make", LOSSES)
def test_the_gap_is_never_below_the_true_distance_to_the_minimum(make, rng):
    loss = make(rng)
    best = exclusive_lasso(loss, MATRIX, 1.0, tol=1e-12).objective
    for steps in (1, 3, 10, 40):
        found = exclusive_lasso(loss, MATRIX, 1.0, max_iter=steps, tol=0)
        assert found.reason == "max_iter"
        assert found.iterations == steps
        assert found.objective - found.gap <= best + 1e-9 * best


def test_the_penalty_is_the_sum_of_squared_l1_norms(rng):
    W = rng.standard_normal(SHAPE)
    by_hand = (np.abs(W).sum(axis=0) ** 2).sum() + (np.abs(W).sum(axis=1) ** 2).sum()
    assert exclusive_penalty(W, MATRIX) == pytest.approx(by_hand)
    assert exclusive_penalty(W, MATRIX) == pytest.approx((crowding(W, MATRIX) * np.abs(W)).sum())


def test_one_strong_price_on_one_group_keeps_its_largest_entry():
    loss = LeastSquares(np.eye(3), [3.0, -2.0, 1.0])
    found = exclusive_lasso(loss, TVCS.groups([0, 0, 0], None), 50.0, tol=1e-12)
    assert found.support.tolist() == [True, False, False]
    assert found.matrix[0] == pytest.approx(3 / 101)


def test_permuting_rows_and_columns_permutes_the_answer(rng):
    X, y = rng.standard_normal((25, *SHAPE)), rng.standard_normal(25)
    rows, cols = rng.permutation(SHAPE[0]), rng.permutation(SHAPE[1])
    found = exclusive_lasso(LeastSquares(X, y), MATRIX, 0.3, tol=1e-12)
    moved = exclusive_lasso(LeastSquares(X[:, rows][:, :, cols], y), MATRIX, 0.3, tol=1e-12)
    assert moved.matrix == pytest.approx(found.matrix[rows][:, cols], abs=1e-5)


def test_scaling_y_scales_the_answer(rng):
    X, y = rng.standard_normal((25, *SHAPE)), rng.standard_normal(25)
    found = exclusive_lasso(LeastSquares(X, y), MATRIX, 0.3, tol=1e-12)
    larger = exclusive_lasso(LeastSquares(X, 1e6 * y), MATRIX, 0.3, tol=1e-12)
    assert larger.matrix == pytest.approx(1e6 * found.matrix, rel=1e-4, abs=1.0)


def test_a_higher_price_never_leaves_a_larger_penalty(rng):
    loss = least_squares(rng)
    penalties = [
        exclusive_penalty(exclusive_lasso(loss, MATRIX, s, tol=1e-9).matrix, MATRIX)
        for s in (0.01, 0.1, 1, 10, 100)
    ]
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(penalties))


def test_a_warm_start_changes_the_time_and_not_the_answer(rng):
    loss = least_squares(rng)
    near = exclusive_lasso(loss, MATRIX, 0.02, tol=1e-12)
    cold = exclusive_lasso(loss, MATRIX, 0.01, tol=1e-12)
    warm = exclusive_lasso(loss, MATRIX, 0.01, tol=1e-12, start=near.matrix)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-10)
    assert exclusive_lasso(loss, MATRIX, 0.01, tol=1e-9, start=cold.matrix).iterations == 10


def test_entries_that_are_not_allowed_stay_zero_and_the_gap_leaves_them_out(rng):
    allowed = rng.random(SHAPE) < 0.6
    constraint = TVCS.matrix(SHAPE, allowed=allowed)
    X, y = rng.standard_normal((25, *SHAPE)), rng.standard_normal(25)
    found = exclusive_lasso(LeastSquares(X, y), constraint, 0.3, tol=1e-10)
    alone = exclusive_lasso(LeastSquares(X * allowed, y), MATRIX, 0.3, tol=1e-10)
    assert not found.support[~allowed].any()
    assert found.converged
    assert found.objective == pytest.approx(alone.objective)


def test_nothing_to_learn_gives_zero():
    found = exclusive_lasso(
        LeastSquares(np.ones((4, 3)), np.zeros(4)), TVCS.groups([0, 0, 1], None), 1
    )
    assert not found.support.any()
    assert (found.gap, found.relative_gap, found.converged) == (0.0, 0.0, True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strength": 0}, "strength must be a number > 0, found 0"),
        ({"strength": np.nan}, "strength must be a number > 0, found nan"),
        ({"constraint": TVCS.matrix((5, 6))}, r"found \(6, 5\) and \(5, 6\)"),
        ({"constraint": TVCS.matrix(SHAPE, bounds=(0, 1))}, "knows no bounds"),
        ({"start": np.zeros(3)}, "start must be finite and of shape"),
        ({"start": np.full(SHAPE, np.nan)}, "start must be finite and of shape"),
        ({"max_iter": 0}, "max_iter must be >= 1"),
        ({"tol": -1.0}, "tol >= 0"),
    ],
)
def test_bad_input_is_refused_by_name(change, message, rng):
    arguments = {"loss": least_squares(rng), "constraint": MATRIX, "strength": 1.0} | change
    with pytest.raises(ValueError, match=message):
        exclusive_lasso(**arguments)


def test_an_entry_in_no_group_is_refused():
    loss = LeastSquares(np.eye(3), np.ones(3))
    with pytest.raises(ValueError, match="but entry 1"):
        exclusive_lasso(loss, TVCS.groups([0, -1, 0], None), 1.0)


def test_a_loss_of_another_kind_is_refused():
    with pytest.raises(TypeError, match="found ndarray and TVCS"):
        exclusive_lasso(np.zeros(SHAPE), MATRIX, 1.0)


def test_the_comparators_keep_the_views_they_are_named_for():
    assert overall(MATRIX).total == row_wise(MATRIX).total == column_wise(MATRIX).total == 8
    assert (overall(MATRIX).row_caps == 5).all()
    assert (overall(MATRIX).col_caps == 6).all()
    assert (row_wise(MATRIX).row_caps == 2).all()
    assert (row_wise(MATRIX).col_caps == 6).all()
    assert (column_wise(MATRIX).row_caps == 5).all()
    assert (column_wise(MATRIX).col_caps == 3).all()


def test_a_comparator_keeps_at_least_as_much_as_all_views(rng):
    V = rng.standard_normal(30)
    constraint = TVCS.groups(rng.integers(-1, 6, 30), rng.integers(-1, 4, 30), row_caps=1, total=9)
    kept = project(V, constraint).objective
    for fewer in (overall, row_wise, column_wise):
        assert project(V, fewer(constraint)).objective >= kept

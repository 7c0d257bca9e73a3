"""What every loss promises, and what each one is by itself."""

import warnings

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from scipy import sparse
from scipy.optimize import lsq_linear

from tvcs_core import TVCS, Huber, LeastSquares, Logistic, Loss, Problem, SquaredHinge, solve
from tvcs_core.loss import LOSSES

FORMS = ["vector", "matrix", "samples of matrices", "sparse"]


def make(kind, form="vector", seed=0, n=40, **options):
    """A loss of one kind on noisy data, with X and y."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3, 4)) if "samples" in form else rng.standard_normal((n, 12))
    if form == "sparse":
        X = sparse.random_array((n, 12), density=0.5, rng=rng, format="coo")
    flat = X.reshape(n, 12)
    W = rng.standard_normal((12, 5) if form == "matrix" else 12)
    y = flat @ W + 2 * rng.standard_normal((n, *W.shape[1:]))
    if kind in (SquaredHinge, Logistic):
        y = np.where(y > 0, 1.0, -1.0)
    return kind(X, y, **options), X, y


every_kind = pytest.mark.parametrize("kind", LOSSES)
every_form = pytest.mark.parametrize("form", FORMS)
WITH_INTERCEPT = [(form, there) for form in FORMS for there in (False, True)]
WITH_INTERCEPT.remove(("sparse", True))  # which is refused


def test_a_loss_of_ones_own_cannot_change_predictions_and_targets(rng):
    class InPlace(LeastSquares):
        def slopes(self, predicted, Y):
            predicted -= Y
            return predicted

    class Targets(LeastSquares):
        def terms(self, predicted, Y):
            Y -= predicted
            return 0.5 * Y * Y

    X, y = rng.normal(size=(9, 3)), rng.normal(size=9)
    for kind, what in ((InPlace, "gradient"), (Targets, "value")):
        with pytest.raises(ValueError, match="read-only"):
            getattr(kind(X, y), what)(np.ones(3))


@every_kind
@every_form
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_the_gradient_equals_differences_of_values(kind, form, ridge, rng):
    loss, _, _ = make(kind, form, ridge=ridge)
    W = 0.3 * rng.standard_normal(loss.shape)
    gradient = loss.gradient(W)
    assert gradient.shape == loss.shape
    for place in np.ndindex(loss.shape):
        step = np.zeros(loss.shape)
        step[place] = 1e-6
        slope = (loss.value(W + step) - loss.value(W - step)) / 2e-6
        assert gradient[place] == approx(slope, rel=1e-5, abs=1e-5)


@every_kind
@every_form
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_the_gradients_on_parts_of_the_terms_add_up(kind, form, ridge, rng):
    loss, _, _ = make(kind, form, ridge=ridge)
    W = rng.standard_normal(loss.shape)
    parts = np.array_split(rng.permutation(loss.n_terms), 7)
    assert sum(loss.gradient_on(W, part) for part in parts) == approx(loss.gradient(W))


@every_kind
@every_form
def test_no_change_of_gradient_exceeds_the_lipschitz_bound(kind, form, rng):
    loss, _, _ = make(kind, form, ridge=0.5)
    for size in (1e-3, 1.0, 30.0):
        W, step = rng.standard_normal(loss.shape), size * rng.standard_normal(loss.shape)
        length = np.linalg.norm(step) * (1 + 1e-9)
        change = loss.gradient(W + step) - loss.gradient(W)
        assert np.linalg.norm(change) <= loss.lipschitz() * length


@pytest.mark.parametrize("shape", [(30, 20), (300, 200), (90, 400)])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_lipschitz_bound_of_least_squares_is_a_thousandth_too_high_at_most(
    shape, is_sparse, rng
):
    X = rng.standard_normal(shape)
    exact = np.linalg.norm(X, 2) ** 2
    loss = LeastSquares(sparse.csr_array(X) if is_sparse else X, np.zeros(shape[0]))
    assert exact * (1 - 1e-12) <= loss.lipschitz() <= exact * 1.002


@every_kind
@every_form
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_the_restricted_minimiser_has_no_gradient_on_the_support(kind, form, ridge, rng):
    loss, _, _ = make(kind, form, ridge=ridge)
    support = rng.random(loss.shape) < 0.4
    W = loss.minimize_on(support)
    assert (W[~support] == 0).all()
    scale = np.abs(loss.gradient(np.zeros(loss.shape))).max()
    assert np.abs(loss.gradient(W)[support]).max() <= 1e-8 * scale


@every_kind
def test_the_restricted_minimiser_agrees_with_the_default_of_a_loss(kind, rng):
    loss, _, _ = make(kind)
    support = rng.random(loss.shape) < 0.4
    slow = Loss.minimize_on(loss, support)
    assert loss.minimize_on(support) == approx(slow, abs=1e-6)


@pytest.mark.parametrize("kind", [LeastSquares, SquaredHinge, Logistic])
def test_the_defaults_of_a_loss_agree_with_what_a_linear_one_knows(kind, rng):
    loss, _, _ = make(kind, n=400)
    W, direction = 1e-3 * rng.standard_normal((2, *loss.shape))
    some = np.arange(200)
    assert Loss.curvature(loss, direction) == approx(loss.curvature(direction), rel=0.01)
    default = Loss.curvature_on(loss, direction, some)
    assert default == approx(loss.curvature_on(direction, some), rel=0.01)
    assert Loss.mean_curvature(loss) == approx(loss.mean_curvature(), rel=0.35)
    assert Loss.lipschitz(loss) == approx(loss.lipschitz(), rel=0.35)
    with pytest.raises(NotImplementedError, match="has no terms"):
        Loss.gradient_on(loss, W, some)


@every_kind
@every_form
def test_no_slope_changes_faster_along_a_direction_than_the_curvature_says(kind, form, rng):
    loss, _, _ = make(kind, form, ridge=0.5)
    some = np.arange(0, loss.n_terms, 3)
    for size in (1e-3, 1.0, 30.0):
        W, step = rng.standard_normal(loss.shape), size * rng.standard_normal(loss.shape)
        change = np.vdot(loss.gradient(W + step) - loss.gradient(W), step)
        assert change <= loss.curvature(step) * (1 + 1e-9)
        change = np.vdot(loss.gradient_on(W + step, some) - loss.gradient_on(W, some), step)
        assert change <= loss.curvature_on(step, some) * (1 + 1e-9)


@every_kind
def test_a_sparse_X_gives_what_the_same_dense_X_gives(kind, rng):
    thin, X, y = make(kind, "sparse")
    full = kind(X.toarray(), y)
    W, support = rng.standard_normal(12), rng.random(12) < 0.5
    assert thin.value(W) == approx(full.value(W))
    assert thin.gradient(W) == approx(full.gradient(W))
    assert thin.lipschitz() == approx(full.lipschitz(), rel=2e-3)
    assert thin.mean_curvature() == approx(full.mean_curvature())
    assert thin.minimize_on(support) == approx(full.minimize_on(support), abs=1e-8)


@every_kind
def test_targets_are_solved_as_if_each_were_alone(kind, rng):
    loss, X, Y = make(kind, "matrix")
    support = rng.random(loss.shape) < 0.4
    support[:, 1] = support[:, 0]  # two that share a support
    support[:, 2] = False
    W = loss.minimize_on(support)
    for j in range(Y.shape[1]):
        assert W[:, j] == approx(kind(X, Y[:, j]).minimize_on(support[:, j]), abs=1e-8)


def test_many_targets_are_solved_as_if_each_were_alone(rng):
    X, Y = rng.standard_normal((50, 100)), rng.standard_normal((50, 30))
    X[:, 3] = X[:, 4]  # singular where both are in the support
    support = rng.random((100, 30)) < rng.random(30) * 0.8
    W = LeastSquares(X, Y).minimize_on(support)
    for j in range(30):
        best = np.linalg.lstsq(X[:, support[:, j]], Y[:, j], rcond=None)[0]
        assert W[support[:, j], j] == approx(best, abs=1e-7)


@pytest.mark.parametrize("case", ["repeated column", "more variables than samples", "zero column"])
def test_a_singular_restricted_system_gets_the_solution_of_least_norm(case, rng):
    X, y = rng.standard_normal((20, 30)), rng.standard_normal(20)
    active = np.arange(30 if "more" in case else 8)
    X[:, 1] = 0.0 if "zero" in case else X[:, 0] if "repeated" in case else X[:, 1]
    best = np.linalg.lstsq(X[:, active], y, rcond=None)[0]
    support = np.isin(np.arange(30), active)
    assert LeastSquares(X, y).minimize_on(support)[active] == approx(best, abs=1e-8)


def test_a_ridge_makes_a_singular_restricted_system_regular(rng):
    X, y = rng.standard_normal((20, 30)), rng.standard_normal(20)
    everywhere = np.ones(30, dtype=bool)
    best = np.linalg.solve(X.T @ X + 0.5 * np.eye(30), X.T @ y)
    assert LeastSquares(X, y, ridge=0.5).minimize_on(everywhere) == approx(best)
    best = np.linalg.pinv(X) @ y
    assert LeastSquares(X, y, ridge=1e-14).minimize_on(everywhere) == approx(best, abs=1e-5)


def test_columns_of_very_different_size_are_no_singular_system(rng):
    X = rng.standard_normal((40, 6)) * 10.0 ** np.arange(-9, 9, 3)
    W = 1.0 / 10.0 ** np.arange(-9, 9, 3)
    loss = LeastSquares(X, X @ W)
    assert loss.minimize_on(np.ones(6, dtype=bool)) == approx(W, rel=1e-9)


def test_a_column_of_X_too_wide_for_its_gram_matrix_is_solved_all_the_same(rng):
    X, y = rng.standard_normal((30, 1100)), rng.standard_normal(30)
    loss = LeastSquares(X, y)
    assert loss.gram is None
    support = rng.random(1100) < 0.01
    best = np.linalg.lstsq(X[:, support], y, rcond=None)[0]
    assert loss.minimize_on(support)[support] == approx(best)


def test_a_logistic_loss_that_a_plane_separates_ends_where_the_slope_is_nothing(rng):
    X = rng.standard_normal((30, 4))
    y = np.sign(X @ [1.0, -2.0, 0.5, 1.0])
    loss = Logistic(X, y)
    W = loss.minimize_on(np.ones(4, dtype=bool))
    assert np.isfinite(W).all()
    assert np.abs(loss.gradient(W)).max() <= 1e-8 * np.abs(loss.gradient(np.zeros(4))).max()
    assert (np.sign(X @ W) == y).all()


def test_a_squared_hinge_with_more_variables_than_samples_comes_down_to_zero(rng):
    X = rng.standard_normal((20, 40))
    loss = SquaredHinge(X, np.where(rng.random(20) < 0.5, 1.0, -1.0))
    assert loss.value(loss.minimize_on(np.ones(40, dtype=bool))) == approx(0.0, abs=1e-12)


@every_kind
@pytest.mark.parametrize("form", ["vector", "matrix", "samples of matrices"])
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_with_an_intercept_a_loss_is_that_of_the_best_constant(kind, form, ridge, rng):
    _, X, y = make(kind, form, n=80, ridge=ridge)
    X = X + 5.0
    loss = kind(X, y, ridge=ridge, intercept=True)
    W = 0.3 * rng.standard_normal(loss.shape)
    ones = np.ones((80, 1))
    flat, rest = X.reshape(80, -1), 0.5 * ridge * np.vdot(W, W)

    def with_constant(W, b):
        predicted = flat @ W.reshape(flat.shape[1], -1) + b
        return kind(ones, y).terms(predicted, y.reshape(80, -1)).sum()

    b = loss.intercept_at(W)
    assert loss.value(W) == approx(with_constant(W, b) + rest)
    for change in (-1e-3, 1e-3):
        assert with_constant(W, b + change) + rest > loss.value(W)
    place = tuple(0 for _ in loss.shape)
    step = np.zeros(loss.shape)
    step[place] = 1e-5
    slope = (loss.value(W + step) - loss.value(W - step)) / 2e-5
    assert loss.gradient(W)[place] == approx(slope, rel=1e-4, abs=1e-4)
    parts = np.array_split(rng.permutation(80), 3)
    assert sum(loss.gradient_on(W, part) for part in parts) == approx(loss.gradient(W))
    support = rng.random(loss.shape) < 0.5
    slopes = loss.gradient(loss.minimize_on(support))[support]
    assert np.abs(slopes).max() <= 1e-7 * np.abs(loss.gradient(np.zeros(loss.shape))).max()


def test_an_intercept_refuses_a_sparse_X():
    with pytest.raises(ValueError, match="X must not be sparse with an intercept"):
        LeastSquares(sparse.csr_array(np.eye(3)), np.ones(3), intercept=True)


@every_kind
@pytest.mark.parametrize(("form", "intercept"), WITH_INTERCEPT)
def test_a_weight_counts_like_so_many_copies_of_a_sample(kind, form, intercept, rng):
    _, X, y = make(kind, form)
    weights = rng.integers(0, 4, 40)
    X = X.tocsr() if form == "sparse" else X
    copies = np.repeat(np.arange(40), weights)
    options = {"ridge": 0.7, "intercept": intercept}
    one = kind(X, y, sample_weight=weights, **options)
    other = kind(X[copies], y[copies], **options)
    W, d = rng.standard_normal((2, *one.shape))
    assert one.value(W) == approx(other.value(W))
    assert one.gradient(W) == approx(other.gradient(W))
    assert one.curvature(d) == approx(other.curvature(d))
    assert one.mean_curvature() == approx(other.mean_curvature())
    assert one.lipschitz() == approx(other.lipschitz(), rel=2e-3)
    assert one.intercept_at(W) == approx(other.intercept_at(W))
    support = rng.random(one.shape) < 0.5
    assert one.minimize_on(support) == approx(other.minimize_on(support), rel=1e-5, abs=1e-6)
    parts = np.array_split(rng.permutation(40), 7)
    assert sum(one.gradient_on(W, part) for part in parts) == approx(one.gradient(W))
    curved = sum(one.curvature_on(d, part) for part in parts)
    assert curved == approx(one.curvature(d))


@every_kind
@pytest.mark.parametrize(("form", "intercept"), WITH_INTERCEPT)
def test_the_model_of_second_order_has_the_loss_s_slopes(kind, form, intercept, rng):
    loss, _, _ = make(kind, form, ridge=0.3, intercept=intercept)
    W, features = 0.1 * rng.standard_normal(loss.shape), np.arange(12)
    grams, sides = loss.quadratic_model(W, loss.gradient(W), features)
    at, q = W.reshape(12, -1), loss.n_targets
    slopes = np.array([grams[j % len(grams)] @ at[:, j] - sides[j] for j in range(q)]).T
    assert slopes.reshape(W.shape) == approx(loss.gradient(W), rel=1e-9, abs=1e-9)
    step = 1e-6 * rng.standard_normal(W.shape)
    change = (loss.gradient(W + step) - loss.gradient(W)).reshape(12, -1)
    moved = step.reshape(12, -1)
    expected = np.array([grams[j % len(grams)] @ moved[:, j] for j in range(q)]).T
    assert change == approx(expected, rel=1e-3, abs=1e-9)


@every_kind
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"one weight per sample \(40\), found shape \(2,\)"),
        (np.r_[-1.0, np.ones(39)], r"sample_weight\[0\] is -1.0"),
        (np.zeros(40), "must not be zero for all samples"),
        (np.r_[np.ones(39), np.nan], r"sample_weight\[39\] is nan"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(kind, weights, message):
    with pytest.raises(ValueError, match=message):
        make(kind, sample_weight=weights)


def test_hubers_loss_gives_little_to_a_gross_error(rng):
    X = rng.standard_normal((60, 3))
    W = np.array([1.0, -2.0, 3.0])
    y = X @ W + 0.01 * rng.standard_normal(60)
    y[:5] += 1000.0
    everywhere = np.ones(3, dtype=bool)
    assert Huber(X, y, delta=0.05).minimize_on(everywhere) == approx(W, abs=0.02)
    assert np.abs(LeastSquares(X, y).minimize_on(everywhere) - W).max() > 1.0
    errors = np.array([[-3.0], [0.5], [2.0]])
    terms = Huber(X, y, delta=1.0).terms(errors, np.zeros((3, 1)))
    assert terms.ravel() == approx([2.5, 0.125, 1.5])


def test_within_a_box_the_restricted_minimiser_is_the_best_in_the_box(rng):
    X, y = rng.standard_normal((40, 8)), 3 * rng.standard_normal(40)
    box = (-0.1, 0.2)
    problem = Problem(LeastSquares(X, y), TVCS.groups(np.arange(8), None, bounds=box))
    support = np.arange(8) < 6
    best = lsq_linear(X[:, :6], y, bounds=box, tol=1e-14).x
    W = problem.minimize_on(support)
    assert W[:6] == approx(best, abs=1e-6)
    assert (W[6:] == 0).all()


def test_losses_of_a_changed_array_are_those_of_its_new_content():
    loss = LeastSquares(np.eye(2), [1.0, 2.0])
    W = np.zeros(2)
    assert loss.value(W) == 2.5
    W[1] = 2.0
    assert loss.value(W) == 0.5


@every_kind
def test_an_X_of_nothing_but_zeros_has_zero_for_an_answer(kind):
    for X in (np.zeros((6, 100)), sparse.csr_array((6, 100))):
        loss = kind(X, [1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
        assert loss.lipschitz() == 0.0
        assert (loss.minimize_on(np.ones(100, dtype=bool)) == 0).all()
        for method in ("iht", "htp", "cosamp", "gradmp", "stoiht", "stogradmp"):
            constraint = TVCS.groups(np.arange(100) % 5, None, row_caps=2)
            solution = solve(Problem(loss, constraint), method, rng=0)
            assert not solution.support.any()
            assert solution.converged
            assert solution.residual == 0.0


BAD = [
    ({"X": np.ones(3), "y": np.ones(3)}, "X must have 2 or 3 dimensions"),
    ({"X": np.ones((0, 3)), "y": np.ones(0)}, "no empty one"),
    ({"X": np.ones((3, 2)), "y": np.ones(4)}, r"one row per sample of X \(3, 2\), found \(4,\)"),
    ({"X": np.ones((3, 2, 2)), "y": np.ones((3, 2))}, "one row per sample"),
    ({"X": np.ones((3, 2)), "y": np.ones((3, 0))}, "one row per sample"),
    ({"X": [[1, 2], [np.nan, 1]], "y": [1, 1]}, r"X must be finite, but X\[1, 0\] is nan"),
    ({"X": np.ones((2, 2)), "y": [1, np.inf]}, r"y must be finite, but y\[1\] is inf"),
    ({"X": sparse.csr_array([[0.0, np.nan]]), "y": [1.0]}, "X must be finite"),
    ({"X": np.ones((2, 2)), "y": np.ma.array([1, 1], mask=[0, 1])}, "y must have no masked values"),
    ({"X": np.ma.array(np.eye(2), mask=np.eye(2)), "y": [1, 1]}, "X must have no masked values"),
    ({"X": np.ones((2, 2)), "y": [1, 1], "ridge": -1}, "ridge must be a number >= 0, found -1"),
]


@every_kind
def test_a_loss_refuses_targets_in_another_order_than_x(kind):
    X, y = pd.DataFrame(np.eye(2), index=["a", "b"]), pd.Series([1.0, -1.0], index=["b", "a"])
    with pytest.raises(ValueError, match=r"y has the index of X in another order.*y.loc\[X.index"):
        kind(X, y)
    assert kind(X, y[X.index]).n_terms == 2


@every_kind
@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_a_loss_refuses_what_it_cannot_use(kind, arguments, message):
    with pytest.raises(ValueError, match=message):
        kind(**arguments)


@pytest.mark.parametrize("size", [1e-160, 1e160])
@pytest.mark.parametrize("name", ["X", "y"])
def test_a_loss_refuses_values_whose_squares_are_out_of_range(name, size):
    given = {"X": np.eye(3), "y": np.ones(3)}
    given[name] = size * given[name]
    with pytest.raises(ValueError, match=f"largest value of {name} must be between 1e-150 and"):
        LeastSquares(**given)


@every_kind
def test_a_loss_refuses_what_is_no_number(kind):
    with pytest.raises(TypeError, match="y must be real numbers"):
        kind(np.ones((2, 2)), ["a", "b"])
    with pytest.raises(TypeError, match="X must be real numbers"):
        kind(np.ones((2, 2)) * 1j, [1, 1])


@pytest.mark.parametrize("kind", [SquaredHinge, Logistic])
def test_labels_must_be_minus_one_and_one(kind):
    with pytest.raises(ValueError, match=r"labels -1 and 1 only, found 0, 1; give 2 . y - 1"):
        kind(np.ones((2, 2)), [0, 1])


def test_huber_refuses_a_delta_that_is_not_above_zero():
    with pytest.raises(ValueError, match="delta must be a number > 0, found 0"):
        Huber(np.ones((2, 2)), [0, 1], delta=0)


def test_extreme_margins_do_not_overflow():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss = Logistic([[1e6], [-1e6]], [1, 1])
        assert loss.value(np.array([1.0])) == approx(1e6)
        assert loss.gradient(np.array([1.0])) == approx([1e6])

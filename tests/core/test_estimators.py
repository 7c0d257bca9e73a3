"""scikit-learn's face: its own checks, labels and caps, pipelines and searches."""

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tvcs_core import (
    TVCS,
    LeastSquares,
    Problem,
    TVCSClassifier,
    TVCSRegressor,
    TVCSRegressorCV,
    project,
    solve,
)


def expected_failures(estimator):
    """Every check that fails, with its reason; one that is here and does not fail fails too."""
    given = estimator.get_params()
    if given["solver"].startswith("sto"):
        reason = "copies of a sample fall into several batches"
    elif given.get("ridge") == 0 and (given["loss"] == "huber" or is_classifier(estimator)):
        reason = "without a ridge, fewer samples than features have many minimisers or none"
    else:
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_checks(
    [
        TVCSRegressor(),
        TVCSRegressor(loss="huber", solver="gradmp"),
        TVCSRegressorCV(totals=[1, 3], ridges=[0.1, 1.0]),
        TVCSClassifier(total=3, polish=True, ridge=1.0),
        TVCSClassifier(),
        TVCSClassifier(solver="stogradmp", max_iter=5, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_is_content_with(estimator, check):
    check(estimator)


def regression(rng, n=200):
    X = rng.standard_normal((n, 12)) + 3.0
    W = np.zeros((3, 4))
    W[0, 1], W[1, 2], W[2, 0] = 2.0, -3.0, 1.5
    return X, X @ W.ravel() + 7.0 + 0.01 * rng.standard_normal(n), W.ravel()


def test_a_regressor_finds_planted_coefficients_and_the_constant(rng):
    X, y, W = regression(rng)
    model = TVCSRegressor(shape=(3, 4), row_caps=1, col_caps=1).fit(X, y)
    assert model.coef_ == approx(W, abs=0.01)
    assert model.intercept_ == approx(7.0, abs=0.05)
    assert (model.get_support() == (W != 0)).all()
    assert model.get_support(indices=True).tolist() == [1, 6, 8]
    assert model.score(X, y) > 0.999


def test_labels_and_shape_say_the_same(rng):
    X, y, _ = regression(rng)
    rows, cols = np.indices((3, 4)).reshape(2, -1)
    by_shape = TVCSRegressor(shape=(3, 4), row_caps=[1, 1, 2], col_caps=1).fit(X, y)
    names = np.array(["north", "south", "west"])[rows]
    caps = {"north": 1, "south": 1, "west": 2}
    by_label = TVCSRegressor(row_groups=names, col_groups=cols, row_caps=caps, col_caps=1)
    assert (by_label.fit(X, y).coef_ == by_shape.coef_).all()


def test_labels_and_caps_with_an_index_go_by_name(rng):
    X, y, _ = regression(rng)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(12)])
    groups = pd.Series(["n"] * 4 + ["s"] * 4 + ["w"] * 4, index=frame.columns)
    wanted = TVCSRegressor(row_groups=groups.to_numpy(), row_caps=[2, 1, 0]).fit(frame, y)
    caps = pd.Series({"w": 0, "n": 2, "s": 1})
    for labels in (groups, groups[::-1], groups.to_dict(), groups.reset_index(drop=True)):
        model = TVCSRegressor(row_groups=labels, row_caps=caps).fit(frame, y)
        assert (model.coef_ == wanted.coef_).all()
    with pytest.raises(ValueError, match="row_groups must have a label of the feature 'x11'"):
        TVCSRegressor(row_groups=groups[:-1], row_caps=1).fit(frame, y)
    with pytest.raises(TypeError, match="row_caps by label go with one target"):
        TVCSRegressor(row_caps=caps).fit(frame, np.column_stack([y, y]))


def test_a_feature_without_a_label_is_in_no_group_and_a_label_without_a_cap_is_free(rng):
    X, y, _ = regression(rng)
    groups = ["a", "a", None, "a", float("nan"), "a", "a", "b", "b", "b", "b", "b"]
    model = TVCSRegressor(row_groups=groups, row_caps={"a": 0, groups[-1]: None}).fit(X, y)
    support = model.get_support()
    assert not support[[0, 1, 3, 5, 6]].any()
    assert support[[2, 4, 7, 8, 9, 10, 11]].all()
    for kind in (float, object, "Int64"):  # pandas writes None as NaN, None and NA
        caps = pd.Series({"a": 0, "b": None}, dtype=kind)
        other = TVCSRegressor(row_groups=groups, row_caps=caps).fit(X, y)
        assert (other.get_support() == support).all()
    texts = pd.array([x if isinstance(x, str) else None for x in groups], dtype="string")
    other = TVCSRegressor(row_groups=texts, row_caps=caps).fit(X, y)
    assert (other.get_support() == support).all()


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_minus_1_is_no_group_as_in_a_constraint(kind, rng):
    X, y, _ = regression(rng)
    groups = [-1, 0, 0, 2, -1, 0, 2, 2, -1, 0, 2, -1]
    constraint = TVCSRegressor(row_groups=kind(groups), row_caps=1).fit(X, y).constraint_
    of_groups = TVCS.groups(groups, None, row_caps=1)
    full = np.ones(12, bool)
    assert not constraint.is_feasible(full)
    for support in ([0, 4, 8, 11, 1, 3], [1, 2], [3, 6]):
        at = np.isin(np.arange(12), support)
        assert constraint.is_feasible(at) == of_groups.is_feasible(at)
    with pytest.raises(ValueError, match="row_caps caps -1, which is no label of a feature"):
        TVCSRegressor(row_groups=kind(groups), row_caps={-1: 1}).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*did not converge")  # few iterations will do
def test_an_estimator_is_thin_over_solve(rng):
    X, y, _ = regression(rng)
    constraint = TVCS.groups(np.arange(12) // 4, None, row_caps=1)
    for solver in ("iht", "htp", "gradmp"):
        model = TVCSRegressor(
            row_groups=np.arange(12) // 4, row_caps=1, solver=solver, fit_intercept=False
        ).fit(X, y)
        solution = solve(Problem(LeastSquares(X / model.scale_, y), constraint), solver)
        assert (model.coef_ == solution.matrix / model.scale_).all()
        assert model.intercept_ == 0.0
        assert model.solution_.objective == solution.objective


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_a_classifier_separates_classes_of_very_different_size(loss, rng):
    X = rng.standard_normal((600, 8))
    margin = 4 * X[:, 1] - 4 * X[:, 6] - 5.0
    y = np.where(margin + 0.3 * rng.standard_normal(600) > 0, "rare", "common")
    model = TVCSClassifier(row_groups=[0] * 4 + [1] * 4, row_caps=1, loss=loss).fit(X, y)
    assert model.get_support(indices=True).tolist() == [1, 6]
    assert model.score(X, y) > 0.95
    assert (model.decision_function(X) > 0).mean() == approx((y == "rare").mean(), abs=0.04)
    if loss == "logistic":
        chances = model.predict_proba(X)
        assert chances.sum(axis=1) == approx(1.0)
        assert chances[:, 1].mean() == approx((y == "rare").mean(), abs=1e-6)
    else:
        assert not hasattr(model, "predict_proba")


def test_classes_that_a_plane_separates_have_finite_coefficients(rng):
    X = rng.standard_normal((40, 60))
    model = TVCSClassifier().fit(X, X[:, 0] > 0)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, X[:, 0] > 0) == 1.0


def test_a_search_over_the_caps_in_a_pipeline_finds_the_planted_ones(rng):
    X, y, _ = regression(rng)
    model = make_pipeline(StandardScaler(), TVCSRegressor(shape=(3, 4)))
    grid = {"tvcsregressor__row_caps": [0, 1], "tvcsregressor__total": [1, 2, 3]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"tvcsregressor__row_caps": 1, "tvcsregressor__total": 3}


def test_names_of_features_are_kept_and_checked(rng):
    X, y, _ = regression(rng)
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(12)])
    model = TVCSRegressor(total=3).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == 12
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_sparse_X_gives_what_the_same_dense_X_gives(fit_intercept, rng):
    X = sparse.random_array((60, 12), density=0.4, rng=rng, format="csr")
    y = X.toarray() @ rng.standard_normal(12)
    model = TVCSRegressor(total=6, fit_intercept=fit_intercept)
    thin, full = clone(model).fit(X, y), clone(model).fit(X.toarray(), y)
    assert thin.coef_ == approx(full.coef_)
    assert thin.predict(X) == approx(full.predict(X.toarray()))


@pytest.mark.filterwarnings("ignore:.*did not converge")  # few iterations will do
def test_the_same_seed_gives_the_same_answer(rng):
    X, y, _ = regression(rng)
    model = TVCSRegressor(total=5, solver="stogradmp", max_iter=4, random_state=3)
    assert (clone(model).fit(X, y).coef_ == clone(model).fit(X, y).coef_).all()


BAD = [
    ({"row_groups": ["a", 1] * 6}, "labels of groups must be of one kind, found int and str"),
    ({"row_groups": [1, 2]}, r"row_groups must have one label per feature \(12\)"),
    ({"row_groups": {"a": 1}}, "row_groups by the names of features need X with names"),
    ({"row_groups": [1, 2] * 6, "row_caps": [1, 2, 3]}, r"one cap per group \(2\), found 3"),
    ({"shape": 12}, r"shape must be two integers whose product .* \(12\), found 12"),
    ({"shape": (1, 3, 4)}, r"shape must be two integers .*, found \(1, 3, 4\)"),
    ({"shape": "34"}, "shape must be two integers .*, found '34'"),
    ({"fit_intercept": "no"}, "fit_intercept must be a bool, found str"),
    ({"solver_options": {"rng": 1}}, "must hold options of the method, found 'rng'"),
    ({"solver_options": ["step"]}, "solver_options must be a Mapping, found list"),
    ({"shape": (5, 5)}, r"number of features \(12\), found \(5, 5\)"),
    ({"shape": (3, 4), "row_groups": [0] * 12}, "give a shape or groups, found both"),
    ({"row_caps": 1}, "row_caps were given, but not the groups that they cap"),
    ({"row_groups": ["a"] * 12, "row_caps": {"b": 1}}, "row_caps caps 'b', which is no label"),
    ({"total": -1}, "total must be >= 0"),
    ({"loss": "hinge"}, "loss must be one of squared, huber, found 'hinge'"),
    ({"solver": "newton"}, "solver must be one of iht"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_a_parameter_that_does_not_hold_what_it_must_is_refused_in_fit(parameters, message, rng):
    X, y, _ = regression(rng)
    with pytest.raises((ValueError, TypeError), match=message):
        TVCSRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize("labels", [[1] * 12, np.linspace(0, 1, 12), ["a", None] * 6])
def test_a_classifier_refuses_labels_that_are_no_classes(labels, rng):
    with pytest.raises(
        ValueError, match=r"one class|Unknown label type|of one kind, found NoneType and str"
    ):
        TVCSClassifier().fit(rng.standard_normal((12, 3)), labels)


def several(rng, n=300, p=20, q=6):
    """Samples, targets and coefficients, of which a feature serves two targets at most."""
    X = rng.standard_normal((n, p)) + 1.0
    W = np.zeros((p, q))
    for j in range(q):
        W[[j, j + 1, 19 - j], j] = 2.0, -1.5, 1.0
    return X, X @ W + np.arange(q) + 0.01 * rng.standard_normal((n, q)), W


def test_several_targets_are_a_matrix_under_all_three_caps(rng):
    X, Y, W = several(rng)
    model = TVCSRegressor(row_caps=2, col_caps=3, total=18).fit(X, Y)
    assert model.coef_ == approx(W.T, abs=0.02)
    assert model.intercept_ == approx(np.arange(6), abs=0.05)
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) > 0.999
    assert (model.get_support() == (W != 0)).all()
    assert model.get_support(indices=True).tolist() == np.argwhere(W).tolist()
    tvcs = TVCS.matrix(W.shape, row_caps=2, col_caps=3, total=18)
    same = solve(Problem(LeastSquares(X / model.scale_, Y, intercept=True), tvcs), "htp")
    assert (same.matrix.T / model.scale_ == model.coef_).all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_units_of_features_change_no_selection_and_no_prediction(kind, intercept, rng):
    X, y, _ = regression(rng)
    units = 10.0 ** rng.integers(-160, 160, size=12)
    caps = {"shape": (3, 4), "row_caps": 1, "total": 2, "ridge": 3.0, "fit_intercept": intercept}
    targets = {TVCSRegressor: y, TVCSClassifier: y > 0}
    for estimator, target in targets.items():
        model, other = (estimator(**caps).fit(kind(A), target) for A in (X, X * units))
        assert (model.get_support() == other.get_support()).all()
        assert other.predict(kind(X * units)) == approx(model.predict(kind(X)))
        assert other.scale_ == approx(model.scale_ * units)
    caps |= {"total": None, "bounds": (-0.5, np.linspace(0, 1, 12))}
    model = TVCSRegressor(**caps).fit(kind(X), y)
    caps["bounds"] = tuple(side / units for side in caps["bounds"])
    other = TVCSRegressor(**caps).fit(kind(X * units), y)
    assert other.coef_ * units == approx(model.coef_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_coefficient_is_beyond_its_bounds(dtype, rng):
    at_bounds = 0
    for n_targets in 20 * [1, 3]:
        X = (rng.standard_normal((40, 6)) * rng.random(6) + 1.0).astype(dtype)
        y = (X @ rng.standard_normal((6, n_targets))).astype(dtype)
        lower, upper = -rng.random((6, n_targets)), rng.random((6, n_targets))
        if n_targets == 1:
            y, lower, upper = y[:, 0], lower[:, 0], upper[:, 0]
        coefficients = TVCSRegressor(total=5, bounds=(lower, upper)).fit(X, y).coef_.T
        assert coefficients.dtype == dtype
        assert (coefficients >= lower).all()
        assert (coefficients <= upper).all()
        at_bounds += (coefficients == lower.astype(dtype)).sum()
        at_bounds += (coefficients == upper.astype(dtype)).sum()
    assert at_bounds > 20


def test_weights_and_constants_count_in_the_scale_of_a_feature(rng):
    X, y, _ = regression(rng)
    X[:, 3], X[:, 4], X[:, 5] = 1e9, 0.0, 1e6 + X[:, 5]
    weights = rng.integers(0, 3, size=len(y)).astype(float)
    model = TVCSRegressor(total=3).fit(X, y, weights)
    copies = np.repeat(X, weights.astype(int), axis=0)
    expected = np.where(np.ptp(X, axis=0) > 0, copies.std(axis=0), 1.0)
    assert model.scale_ == approx(expected)
    assert not model.get_support()[3:5].any()
    same = TVCSRegressor(total=3).fit(copies, np.repeat(y, weights.astype(int)))
    assert model.coef_ == approx(same.coef_)
    free = TVCSRegressor().fit(X, y, rng.uniform(0.1, 1.0, len(y)))
    assert (free.coef_[3:5] == 0).all()
    X[0], weights[0] = 1e20, 0.0  # an outlier that does not count
    assert TVCSRegressor(total=3).fit(X, y, weights).scale_ == approx(
        TVCSRegressor(total=3).fit(X[1:], y[1:], weights[1:]).scale_
    )


def test_a_feature_of_single_precision_is_constant_within_it(rng):
    X, y, _ = regression(rng)
    X = X.astype(np.float32)
    X[:, 2] = np.float32(0.1)
    X[::2, 2] = np.nextafter(np.float32(0.1), np.float32(1))
    model = TVCSRegressor().fit(X, y)
    assert model.scale_[2] == 1.0
    assert model.coef_[2] == 0.0
    X[:, 2] = X[:, 5] * np.float32(1e-40)
    with pytest.raises(ValueError, match="the coefficient of feature 2 is beyond the range of flo"):
        TVCSRegressor().fit(X, y)


def test_repeated_labels_of_samples_do_not_look_like_another_order(rng):
    X, y, _ = regression(rng)
    names = [0] * (len(y) - 1) + [1]
    frame, target = pd.DataFrame(X, index=names), pd.Series(y, index=names[::-1])
    assert TVCSRegressor(total=2).fit(frame, target).get_support().sum() == 2


def test_caps_that_bind_hold_for_several_targets(rng):
    X, Y, _ = several(rng)
    model = TVCSRegressor(row_caps=1, col_caps=[3, 2, 1, 3, 3, 0], total=9).fit(X, Y)
    support = model.get_support()
    assert support.sum(axis=1).max() == 1
    assert (support.sum(axis=0) <= [3, 2, 1, 3, 3, 0]).all()
    assert support.sum() <= 9


def test_a_column_of_targets_has_predictions_like_it(rng):
    X, Y, _ = several(rng)
    model = TVCSRegressor(total=3).fit(X, Y[:, :1])
    alone = TVCSRegressor(total=3).fit(X, Y[:, 0])
    assert model.predict(X).shape == (300, 1)
    assert model.coef_[0] == approx(alone.coef_)


def test_several_targets_are_searched_like_one(rng):
    X, Y, _ = several(rng)
    search = GridSearchCV(TVCSRegressor(row_caps=2), {"col_caps": [1, 3]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"col_caps": 3}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shape": (4, 5)}, "shape needs coefficients of one column, but there are 6 targets"),
        ({"row_groups": ["a"] * 20}, "row_groups needs coefficients of one column"),
        ({"row_groups": None, "row_caps": {"a": 1}}, "row_caps by label go with one target"),
    ],
)
def test_groups_of_features_do_not_go_with_several_targets(parameters, message, rng):
    X, Y, _ = several(rng)
    with pytest.raises((ValueError, TypeError), match=message):
        TVCSRegressor(**parameters).fit(X, Y)


def test_a_fit_that_was_cut_short_warns(rng):
    X, y, _ = regression(rng)
    with pytest.warns(ConvergenceWarning, match="iht did not converge in 1 iterations"):
        TVCSRegressor(total=3, solver="iht", max_iter=1).fit(X, y)


def test_weights_count_like_copies_and_zeros_like_absence(rng):
    X, y, _ = regression(rng, n=60)
    weights = rng.integers(0, 3, 60)
    copies = np.repeat(np.arange(60), weights)
    for model in (
        TVCSRegressor(total=4, polish=True),
        TVCSRegressor(total=4, loss="huber"),
        TVCSClassifier(total=4, ridge=1.0),
    ):
        target = (y > np.median(y)) if isinstance(model, TVCSClassifier) else y
        one = clone(model).fit(X, target, sample_weight=weights)
        other = clone(model).fit(X[copies], target[copies])
        assert one.coef_ == approx(other.coef_, abs=1e-6)
        assert one.intercept_ == approx(other.intercept_, abs=1e-5)
        plain = clone(model).fit(X, target)
        assert clone(model).fit(X, target, sample_weight=1).coef_ == approx(plain.coef_, abs=1e-9)


def test_a_class_without_weight_is_no_class(rng):
    X = rng.standard_normal((30, 3))
    y = np.repeat(["a", "b", "c"], 10)
    weights = np.repeat([1.0, 2.0, 0.0], 10)
    model = TVCSClassifier(ridge=1.0).fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == ["a", "b"]


def classes(rng, n=600):
    """Samples of four classes, each far out along a feature of its own."""
    y = rng.integers(0, 4, n)
    X = rng.standard_normal((n, 12))
    X[np.arange(n), 2 * y] += 3.0
    return X, np.array(["art", "law", "sport", "trade"])[y]


def test_several_classes_share_features_within_the_caps(rng):
    X, y = classes(rng)
    model = TVCSClassifier(row_caps=1, col_caps=1, total=4, ridge=1.0).fit(X, y)
    assert model.classes_.tolist() == ["art", "law", "sport", "trade"]
    assert model.coef_.shape == (4, 12)
    assert model.intercept_.shape == (4,)
    assert model.get_support(indices=True).tolist() == [[0, 0], [2, 1], [4, 2], [6, 3]]
    assert model.score(X, y) > 0.85
    chances = model.predict_proba(X)
    assert chances.sum(axis=1) == approx(1.0)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(X)).all()
    assert np.exp(model.predict_log_proba(X)) == approx(chances)
    assert model.decision_function(X).shape == (600, 4)
    margin = TVCSClassifier(col_caps=1, loss="squared_hinge").fit(X, y)
    assert margin.score(X, y) > 0.85
    far = model.predict_proba(1e6 * X)
    assert np.isfinite(far).all()
    assert far.sum(axis=1) == approx(1.0)


def test_groups_do_not_go_with_several_classes(rng):
    X, y = classes(rng)
    message = "shape needs coefficients of one column, but there are 4 classes"
    with pytest.raises(ValueError, match=message):
        TVCSClassifier(shape=(3, 4)).fit(X, y)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_kind_of_floats_is_kept(kind, is_sparse, rng):
    X, y, _ = regression(rng)
    X = sparse.csr_array(X.astype(kind)) if is_sparse else X.astype(kind)
    Y = np.column_stack([y, -y]).astype(kind)
    for target in (Y[:, 0], Y):
        for model in (TVCSRegressor(total=3), TVCSRegressorCV(totals=[3], ridges=[0.0], cv=2)):
            fitted = model.fit(X, target)
            assert fitted.coef_.dtype == kind
            assert fitted.predict(X).dtype == kind
    for labels in (y > np.median(y), np.digitize(y, np.quantile(y, [0.3, 0.6]))):
        fitted = TVCSClassifier(total=3, ridge=1.0).fit(X, labels)
        assert fitted.coef_.dtype == fitted.intercept_.dtype == kind
        assert fitted.predict_proba(X).dtype == kind


def test_a_path_finds_the_planted_total_under_the_group_caps(rng):
    X, y, W = regression(rng)
    model = TVCSRegressorCV(shape=(3, 4), row_caps=1, col_caps=1).fit(X, y)
    assert model.total_ == 3
    assert model.ridge_ == 0.0
    assert model.totals_.tolist() == [1, 2, 3]
    assert model.mse_path_.shape == (3, 6, 5)
    assert (model.get_support() == (W != 0)).all()
    same = TVCSRegressor(shape=(3, 4), row_caps=1, col_caps=1, total=3, polish=True).fit(X, y)
    assert (same.coef_ == model.coef_).all()


def test_a_path_in_noise_shrinks_and_predicts_better_than_one_that_does_not(rng):
    X = rng.standard_normal((300, 40))
    W = np.where(np.arange(40) < 10, 0.3, 0.0)
    y = X @ W + 2.0 * rng.standard_normal(300)
    few = slice(0, 60)
    shrunk = TVCSRegressorCV(cv=5).fit(X[few], y[few])
    plain = TVCSRegressorCV(cv=5, ridges=[0.0]).fit(X[few], y[few])
    assert shrunk.ridge_ > 0
    risks = [np.sum((model.coef_ - W) ** 2) for model in (shrunk, plain)]
    assert risks[0] < risks[1]


def test_a_path_averages_fits_by_their_errors_within_the_caps(rng):
    X = rng.standard_normal((40, 12))
    y = X[:, :3].sum(axis=1) + 2.0 * rng.standard_normal(40)
    caps = {"shape": (3, 4), "row_caps": 2, "col_caps": 1, "polish": True}
    model = TVCSRegressorCV(totals=[1, 2, 4], ridges=[1.0, 20.0], **caps).fit(X, y)
    mean = model.mse_path_.mean(axis=2)
    expected = np.exp(-40 * (mean / mean.min() - 1) / 6)
    assert (model.weights_ > 0).sum() > 2
    assert model.weights_ == approx(expected / expected.sum(), abs=2e-3)
    fits = [
        share * TVCSRegressor(total=total, ridge=ridge, **caps).fit(X, y).coef_
        for total, shares in zip(model.totals_, model.weights_, strict=True)
        for ridge, share in zip(model.ridges_, shares, strict=True)
    ]
    best = project(np.sum(fits, axis=0) * model.scale_, model.constraint_)
    assert model.coef_ * model.scale_ == approx(best.matrix)
    assert model.constraint_.total == model.total_


def test_errors_of_a_path_are_those_of_the_fits_it_stands_for(rng):
    X, Y, _ = several(rng, n=80)
    X[40:] = X[:40][::-1]  # so that features have one scale in both folds
    folds = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    model = TVCSRegressorCV(row_caps=2, totals=[4, 9], ridges=[0.0, 5.0], cv=folds).fit(X, Y)
    for k, (train, test) in enumerate(folds):
        for j, ridge in enumerate(model.ridges_):
            fit = TVCSRegressor(row_caps=2, total=4, ridge=ridge, polish=True)
            fit.fit(X[train], Y[train])
            error = np.square(fit.predict(X[test]) - Y[test]).mean()
            assert model.mse_path_[0, j, k] == approx(error)


def test_a_path_keeps_groups_of_samples_together(rng):
    X, y, _ = regression(rng, n=60)
    groups = rng.integers(0, 7, 60)
    model = TVCSRegressorCV(totals=[1, 3], ridges=[0.1], cv=GroupKFold(3))
    found = model.fit(X, y, groups=groups).mse_path_
    folds = list(GroupKFold(3).split(X, y, groups))
    assert (found == clone(model).set_params(cv=folds).fit(X, y).mse_path_).all()
    with pytest.raises(ValueError, match="groups"):
        clone(model).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"totals": [1.5]}, "totals must be a list of integers >= 0"),
        ({"totals": 3}, "totals must be a list of integers >= 0, found 3"),
        ({"ridges": [-1.0]}, "ridges must be a list of numbers >= 0"),
        ({"cv": 1}, "k-fold cross-validation requires at least one"),
    ],
)
def test_a_path_refuses_what_it_cannot_try(parameters, message, rng):
    X, y, _ = regression(rng)
    with pytest.raises(ValueError, match=message):
        TVCSRegressorCV(**parameters).fit(X, y)


@pytest.mark.parametrize("Estimator", [TVCSRegressor, TVCSRegressorCV, TVCSClassifier])
def test_samples_in_another_order_than_those_of_x_are_refused(Estimator):
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.normal(size=(30, 4))), pd.Series(rng.integers(0, 2, 30))
    with pytest.raises(ValueError, match=r"y has the index of X in another order.*y.loc\[X.index"):
        Estimator().fit(X, y[::-1])
    with pytest.raises(ValueError, match="sample_weight has the index of X in another order"):
        Estimator().fit(X, y, pd.Series(np.ones(30))[::-1])
    shuffled = rng.permutation(30)
    Estimator().fit(X.iloc[shuffled], y.iloc[shuffled])
    Estimator().fit(X, y.set_axis(range(100, 130)))


def test_masked_samples_are_refused():
    X = np.ma.masked_greater(np.random.default_rng(0).normal(size=(30, 4)), 1.0)
    with pytest.raises(ValueError, match="X must have no masked values"):
        TVCSRegressor().fit(X, np.zeros(30))
    with pytest.raises(ValueError, match="X must have no masked values"):
        TVCSRegressor().fit(X.data, np.arange(30.0)).predict(X)

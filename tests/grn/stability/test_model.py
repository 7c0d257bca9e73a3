import time
import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from grn_tvcs import Expression, simulate
from grn_tvcs.expression.scales import log_levels
from grn_tvcs.stability.edges import Edges
from grn_tvcs.stability.kernels.pursuit import SHARE_STEPS
from grn_tvcs.stability.matching_pursuit import gradmp
from grn_tvcs.stability.model import RIDGE, StepLoss, transitions
from tvcs_core import TVCS, Problem, solve

GENES = np.arange(2)


class HalfResult:
    """What a loss explains on a support or by pursuit, as arrays of [input, target]."""

    def __init__(self, loss, *, support=None, size=None):
        added = np.zeros(loss.shape[::-1], np.int64)
        if support is None:
            found = loss.pursued(size, added)
        else:
            found = loss.explained(np.flatnonzero(support.T), added)
        self.added = added.T / SHARE_STEPS
        self.weights = found.edges.dense
        places = found.edges.places
        self.dropped = Edges(loss.shape, places, found.dropped).dense
        self.t_squared = Edges(loss.shape, places, found.t_squared).dense


def expression(values, times=None, **more):
    values = np.array(values, dtype=float)
    n, genes = values.shape
    times = np.arange(n) if times is None else times
    return Expression(values, times, ("1",) * n, tuple("ABCDEF"[:genes]), **more)


def test_levels_and_counts_are_taken_as_logarithms_and_logarithms_as_they_are():
    x = np.array([[1.0, -2.0], [3.0, 4.0]])
    assert np.array_equal(log_levels(x, 0.1, "log"), x)
    for scale in ("levels", "counts"):
        found = log_levels(np.array([[2.0], [0.0]]), 0.1, scale)
        assert found == pytest.approx(np.log([[1.1], [0.1]]))


def test_the_past_fades_with_every_step():
    steps = transitions(expression([[1.0, 0], [3, 0], [5, 0], [0, -1]]), 0.1)
    assert steps.past(GENES, 0.5)[:, 0].tolist() == [1, 2, 3.5]
    assert steps.past(GENES, 0.0)[:, 0].tolist() == [1, 3, 5]


def test_the_past_fades_with_time_where_spacing_is_uneven():
    steps = transitions(expression([[0.0], [8], [4], [-1], [0]], [0, 1, 3, 4, 5]), 0.1)
    assert steps.past(np.array([0]), 0.5)[:, 0].tolist() == [0, 4, 4, 1.5]


def test_the_past_of_a_series_does_not_reach_into_the_one_before():
    two = Expression([[9.0], [9], [-1], [3]], [0, 1, 0, 1], ("1", "1", "2", "2"), ("A",))
    steps = transitions(two, 0.1)
    assert steps.past(np.array([0]), 0.5)[:, 0].tolist() == [9, -1]
    assert steps.following[:, 0].tolist() == [9, 3]
    assert steps.series.tolist() == [0, 1]


def test_a_perturbed_part_is_a_segment_with_an_intercept_of_its_own():
    on = [True, True, False, False]
    two = Expression(np.ones((8, 1)), [0, 1, 2, 3] * 2, ("1",) * 4 + ("2",) * 4, ("A",), on * 2)
    steps = transitions(two, 0.1)
    assert steps.segments.tolist() == [1, 1, 0, 3, 3, 2]
    assert steps.intercepts.tolist() == [1, 1, 0, 2, 2, 0]


class TestStepLoss:
    """The covariance form against regressions on the rows themselves."""

    @pytest.fixture(params=["series alone", "perturbed until 250"])
    def case(self, request, rng):
        made = simulate(6, 3, 11, n_edges=8, rng=1).expression
        if request.param != "series alone":
            made = made.with_perturbation_until(250)
        steps = transitions(made, 0.1)
        weights = rng.uniform(0.6, 1.0, 6)
        past = steps.past(np.arange(6), 0.5)
        loss = StepLoss(past, steps.own, steps.following, steps.intercepts, weights)
        support = rng.uniform(size=(6, 6)) < 0.5
        np.fill_diagonal(support, False)
        return steps, weights, loss, support

    @staticmethod
    def rows_of(steps, weights, target):
        """Response and inputs of one target, own level and intercepts regressed out, scaled."""
        intercepts = steps.intercepts[:, None] == np.unique(steps.intercepts)
        own = np.column_stack([intercepts, steps.own[:, target]])

        def rest(x):
            x = x - own @ np.linalg.lstsq(own, x, rcond=None)[0]
            return x / np.sqrt(np.mean(x * x, axis=0))

        return rest(steps.past(np.arange(6), 0.5)) * weights, rest(steps.following[:, target])

    def unexplained(self, case, i, on):
        X, y = self.rows_of(case[0], case[1], i)
        return np.mean((y - X[:, on] @ np.linalg.lstsq(X[:, on], y, rcond=None)[0]) ** 2)

    def test_minimum_is_that_of_least_squares_on_rows(self, case):
        steps, weights, loss, support = case
        W = loss.minimize_on(support)
        for i in range(6):
            X, y = self.rows_of(steps, weights, i)
            on = np.flatnonzero(support[:, i])
            assert np.allclose(W[on, i], np.linalg.lstsq(X[:, on], y, rcond=None)[0], atol=1e-4)
            assert not W[~support[:, i], i].any()

    def test_dropped_and_added_are_what_leaving_out_and_taking_in_an_edge_change(self, case):
        _, _, loss, support = case
        found = HalfResult(loss, support=support)
        for i in range(6):
            on = np.flatnonzero(support[:, i])
            now = self.unexplained(case, i, on)
            for j in np.flatnonzero(~np.eye(6, dtype=bool)[:, i]):
                if support[j, i]:
                    change = self.unexplained(case, i, on[on != j]) - now
                    assert found.dropped[j, i] == pytest.approx(change, abs=1e-4)
                    assert found.added[j, i] == 0
                else:
                    change = now - self.unexplained(case, i, np.append(on, j))
                    assert found.added[j, i] == pytest.approx(change, abs=1e-4)
                    assert found.dropped[j, i] == 0

    def test_t_squared_is_that_of_a_regression_on_rows(self, case):
        steps, weights, loss, support = case
        t_squared = HalfResult(loss, support=support).t_squared
        fitted = np.unique(steps.intercepts).size + 1
        for i in range(6):
            X, y = self.rows_of(steps, weights, i)
            on = np.flatnonzero(support[:, i])
            left = y - X[:, on] @ np.linalg.lstsq(X[:, on], y, rcond=None)[0]
            variance = left @ left / (len(y) - fitted - on.size)
            W = np.linalg.lstsq(X[:, on], y, rcond=None)[0]
            slow = W**2 / np.diagonal(variance * np.linalg.inv(X[:, on].T @ X[:, on]))
            assert t_squared[on, i] == pytest.approx(slow, rel=1e-3)
            assert not t_squared[~support[:, i], i].any()

    def test_t_squared_of_an_edge_alone(self, case):
        loss, support = case[2], np.zeros((6, 6), dtype=bool)
        assert not HalfResult(loss, support=support).t_squared.any()
        for j, i in ((0, 1), (4, 2)):
            support[j, i] = True
            found = HalfResult(loss, support=support).t_squared[j, i]
            weight = case[1][j] ** 2  # `alone` is of a loss whose inputs have equal weights
            assert weight > 0
            steps = case[0]
            past = steps.past(np.arange(6), 0.5)
            equal = StepLoss(past, steps.own, steps.following, steps.intercepts, np.ones(6))
            assert equal.alone[j, i] == pytest.approx(found, rel=1e-3)

    def test_matching_pursuit_takes_what_goes_best_with_the_rest(self, case):
        steps, weights, _, _ = case
        allowed = ~np.eye(6, dtype=bool)
        past = steps.past(np.arange(6), 0.5)
        loss = StepLoss(past, steps.own, steps.following, steps.intercepts, weights, allowed)
        for size in (0, 1, 3):
            found = HalfResult(loss, size=size).weights != 0
            for i in range(6):
                X, y = self.rows_of(steps, weights, i)
                slow = []
                rest = y
                for _ in range(size):
                    match = np.abs(X.T @ rest) * allowed[:, i]
                    match[slow] = 0
                    slow.append(int(np.argmax(match)))
                    rest = y - X[:, slow] @ np.linalg.lstsq(X[:, slow], y, rcond=None)[0]
                assert sorted(slow) == np.flatnonzero(found[:, i]).tolist()

    def test_a_refitted_solution_is_the_best_on_its_support(self, case):
        _, _, loss, _ = case
        constraint = TVCS.matrix((6, 6), col_caps=2, total=8, allowed=~np.eye(6, dtype=bool))
        solution = solve(Problem(loss, constraint), "gradmp", refit=True, max_iter=5)
        assert constraint.is_feasible(solution.support)
        assert np.allclose(solution.matrix, loss.minimize_on(solution.support))

    def test_value_is_half_the_unexplained_variance_and_gradient_its_slope(self, case, rng):
        steps, weights, loss, _ = case
        W = rng.normal(size=(6, 6)) * ~np.eye(6, dtype=bool)
        slow = 0.0
        for i in range(6):
            X, y = self.rows_of(steps, weights, i)
            slow += 0.5 * np.mean((y - X @ W[:, i]) ** 2)
        assert loss.value(W) == pytest.approx(slow)
        direction = rng.normal(size=(6, 6)) * ~np.eye(6, dtype=bool)
        slope = (loss.value(W + 1e-5 * direction) - loss.value(W - 1e-5 * direction)) / 2e-5
        assert np.vdot(loss.gradient(W), direction) == pytest.approx(slope, rel=1e-6)

    def test_a_regulator_twice_is_used_once_and_keeps_all_finite(self, case):
        steps = case[0]
        past = np.repeat(steps.past(np.arange(6), 0.5)[:, :1], 2, axis=1)
        loss = StepLoss(past, steps.own, steps.following, steps.intercepts, np.ones(2))
        found = HalfResult(loss, support=np.ones((2, 6), dtype=bool))
        assert np.isfinite(found.weights).all()
        assert ((found.weights != 0).sum(axis=0) <= 1).all()

    def test_value_and_gradient_are_those_of_the_dense_products(self, case, rng):
        _, _, loss, support = case
        W = rng.normal(size=(6, 6)) * support
        inputs = loss._inputs
        c, d, b = inputs.c.T, inputs.d.T, inputs.b.T
        V = d * W
        curved = d * (inputs.S @ V - c * (c * V).sum(axis=0))
        value = 0.5 * (np.count_nonzero(loss._y) - np.vdot(W, 2 * b - curved))
        assert loss.value(W) == pytest.approx(value, abs=1e-10)
        assert loss.gradient(W) == pytest.approx(curved - b, abs=1e-10)
        assert loss.curvature(W) == pytest.approx(np.vdot(W, curved), abs=1e-10)

    def test_what_edges_would_add_is_that_of_the_dense_normal_equations(self, case):
        _, _, loss, support = case
        found = HalfResult(loss, support=support)
        for i in range(6):
            c, d, b = (part[i] for part in (loss._inputs.c, loss._inputs.d, loss._inputs.b))
            H = np.outer(d, d) * (loss._inputs.S - np.outer(c, c)) + RIDGE * np.eye(6)
            on = np.flatnonzero(support[:, i])
            inverse = np.linalg.inv(H[np.ix_(on, on)])
            weights = inverse @ b[on]
            assert found.weights[on, i] == pytest.approx(weights, abs=1e-10)
            assert found.dropped[on, i] == pytest.approx(weights**2 / np.diag(inverse), abs=1e-10)
            for j in np.flatnonzero(~support[:, i]):
                left = b[j] - H[j, on] @ weights
                variance = H[j, j] - H[j, on] @ inverse @ H[on, j]
                assert found.added[j, i] == pytest.approx(left**2 / variance, abs=1e-10)

    def test_the_steepest_are_the_largest_slopes_of_each_target_and_all_that_equal_them(self, case):
        _, _, loss, support = case
        edges = Edges.of(loss.minimize_on(support))
        slopes = np.abs(loss.gradient_at(edges))
        for size in (1, 2, 6, 9):
            found = loss.steepest(edges, size)
            least = np.sort(slopes, axis=0)[-min(size, 6)]
            assert np.array_equal(found.dense != 0, (slopes >= least) & (slopes > 0))
        loss._inputs.b[:] = 0.25
        assert (loss.steepest(Edges.none((6, 6)), 2).dense == -0.25).all()

    def test_pairs_that_may_be_no_edge_explain_nothing(self, case):
        steps, weights, whole, _ = case
        allowed = np.random.default_rng(3).uniform(size=(6, 6)) < 0.6
        past = steps.past(np.arange(6), 0.5)
        loss = StepLoss(past, steps.own, steps.following, steps.intercepts, weights, allowed)
        everything = np.ones((6, 6), dtype=bool)
        found = HalfResult(loss, support=everything)
        assert np.array_equal(found.weights != 0, allowed)
        assert np.array_equal(found.weights, loss.minimize_on(allowed))
        assert np.array_equal(found.weights, whole.minimize_on(allowed))
        assert not HalfResult(loss, support=~everything).added[~allowed].any()
        assert not loss.gradient(found.weights)[~allowed].any()

    def test_levels_that_cannot_be_squared_are_refused(self, case):
        steps = case[0]
        past = steps.past(np.arange(6), 0.5)
        past[0, 0] = 1e200
        with (
            np.errstate(all="ignore"),
            pytest.raises(ValueError, match="sum of squares is not finite"),
        ):
            StepLoss(past, steps.own, steps.following, steps.intercepts, np.ones(6))


def large(n_inputs, n_targets):
    """A loss of random walks and three edges for each target."""
    rng = np.random.default_rng(0)
    levels = np.cumsum(rng.normal(size=(41, n_targets)), axis=0)
    places = n_inputs * np.arange(n_targets)[:, None] + rng.choice(n_inputs, 3, replace=False)
    loss = StepLoss(
        levels[:-1, :n_inputs], levels[:-1], levels[1:], np.zeros(40, np.int64), np.ones(n_inputs)
    )
    return loss, np.sort(places.ravel())


def test_value_gradient_and_fit_take_a_small_part_of_a_dense_product():
    loss, places = large(1200, 1200)
    edges, S, dense = loss.fitted(places), loss._inputs.S, np.ones((1200, 1200))
    with threadpool_limits(1, "blas"):
        product = least_time(lambda: S @ dense)
    assert least_time(lambda: loss.value_of(edges)) < product / 10
    assert least_time(lambda: loss.fitted(places)) < product / 4
    assert least_time(lambda: loss.gradient_at(edges)) < product / 2


def least_time(function):
    """Processor seconds of the fastest of three calls."""
    times = [0.0] * 3
    for k in range(3):
        began = time.thread_time()
        function()
        times[k] = time.thread_time() - began
    return min(times)


def test_memory_grows_with_inputs_times_targets():
    loss, places = large(10, 2500)  # an array of all genes would take 50 MB
    added = np.zeros(loss.shape[::-1], np.int64)
    loss.explained(places, added)
    tracemalloc.start()
    try:
        gradmp(large(10, 2500)[0], TVCS.matrix((10, 2500), col_caps=3, total=5000), 5)
        loss.explained(places, added)
        loss.pursued(3, added)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 15e6

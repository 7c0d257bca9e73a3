"""Certified best subsets: their optimum is that of brute force, and their bound never too high."""

import math

import numpy as np
import pytest
from pytest import approx
from threadpoolctl import threadpool_info, threadpool_limits

from tests.core.solvers.test_polish import KINDS, best_of_all, problem_of
from tvcs_core import TVCS, LeastSquares, Logistic, Problem, best_subset
from tvcs_core.solvers import best_subset as searching
from tvcs_core.solvers.relaxation import Relaxation, uniform_split


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_subset_is_that_of_brute_force(kind, seed, monkeypatch):
    problem = problem_of(kind, seed=seed)
    optimum = best_of_all(problem)
    # From a bad start the search itself must find the optimum.
    monkeypatch.setattr(searching, "started", lambda problem, start: np.zeros(problem.loss.shape))
    found = best_subset(problem, max_seconds=math.inf)
    assert found.objective == approx(optimum, rel=2e-6)
    assert found.reason == "proved"
    assert optimum - 1e-9 * optimum >= found.bound - 2e-9 * optimum
    assert found.gap <= 1e-6 * optimum
    assert problem.constraint.is_feasible(found.support)
    assert found.objective == problem.loss.value(found.matrix)


def planted(seed, shape, snr=2.0):
    rng = np.random.default_rng(seed)
    n, size = 4 * shape[0] * shape[1], shape[0] * shape[1]
    likeness = 0.9 ** np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    X = (rng.standard_normal((n, size)) @ np.linalg.cholesky(likeness).T).reshape(n, *shape)
    constraint = TVCS.matrix(shape, row_caps=2, col_caps=2, total=shape[0])
    W = Problem(LeastSquares(X, np.zeros(n)), constraint).project(rng.standard_normal(shape)).matrix
    signal = X.reshape(n, size) @ W.ravel()
    y = signal + rng.standard_normal(n) * np.std(signal) / np.sqrt(snr)
    return Problem(LeastSquares(X, y), constraint)


@pytest.fixture(scope="module")
def hard():
    """A problem whose proof takes hundreds of nodes, and what is proved."""
    problem = planted(0, (6, 6), snr=0.3)
    whole = best_subset(problem, max_seconds=math.inf)
    assert whole.reason == "proved"
    return problem, whole


@pytest.mark.parametrize("size", [2.0**-300, 2.0**300])
def test_the_size_of_the_variables_changes_no_node(size, rng):
    X, y = rng.normal(size=(40, 8)), rng.normal(size=40)
    constraint = TVCS.groups(np.arange(8) // 3, None, row_caps=1, total=3)
    wanted, found = (
        best_subset(Problem(LeastSquares(one, y), constraint)) for one in (X, X * size)
    )
    assert (found.objective, found.bound) == approx((wanted.objective, wanted.bound))
    assert (found.nodes, found.reason) == (wanted.nodes, "proved")


@pytest.mark.parametrize("max_nodes", [0, 1, 5, 20])
def test_a_search_that_is_cut_short_says_how_far_it_may_be_off(max_nodes, hard):
    problem, whole = hard
    short = best_subset(problem, max_nodes=max_nodes, max_seconds=math.inf)
    assert short.nodes <= max(1, max_nodes) + 1  # both children of a node are bounded
    assert short.bound <= whole.objective * (1 + 1e-9)
    assert short.gap >= short.objective - whole.objective - 1e-9
    assert short.gap == max(0.0, short.objective - short.bound)
    assert (short.reason == "max_nodes") == (short.nodes < whole.nodes)


def test_time_that_is_up_ends_a_search():
    found = best_subset(planted(0, (6, 6), snr=0.3), max_seconds=0)
    assert found.reason == "max_seconds"
    assert found.gap > 0


def test_a_search_waits_for_no_threads(monkeypatch):
    """Threads of BLAS made 40 nodes of 100 entries take twenty times as long."""
    threads, branch = set(), searching._Search.branch

    def watched(search):
        threads.update(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        branch(search)

    monkeypatch.setattr(searching._Search, "branch", watched)
    with threadpool_limits(2, "blas"):
        best_subset(planted(0, (6, 6), snr=0.3), max_nodes=3)
    assert threads == {1}


def test_fewer_samples_than_variables_are_bounded_with_and_without_a_ridge(rng):
    X = rng.standard_normal((8, 3, 4))
    y = rng.standard_normal(8)
    tvcs = TVCS.matrix((3, 4), row_caps=1, col_caps=1, total=2)
    for ridge in (0.0, 1.0):
        problem = Problem(LeastSquares(X, y, ridge=ridge), tvcs)
        found = best_subset(problem, max_seconds=math.inf)
        assert found.objective == approx(best_of_all(problem), rel=2e-6)
        assert found.reason == "proved"


def test_a_bound_of_a_relaxation_is_below_the_loss_of_every_support():
    problem = problem_of("matrix", seed=2)
    search = searching._Search(problem, np.zeros(problem.loss.shape), 0.0, math.inf)
    assert search.count == 1
    assert search.bound <= best_of_all(problem) * (1 + 1e-12)
    unlimited = problem.loss.value(problem.loss.minimize_on(np.ones((3, 4), dtype=bool)))
    assert search.bound > unlimited  # the caps raise it above leaps and bounds


def loss_of_free(G, b, D, lines, room):
    """The relaxation by a general solver: the least of all its shares."""
    from scipy.optimize import LinearConstraint, minimize

    def value(z):
        w = np.linalg.solve(G - np.diag(D) + np.diag(D / z), b)
        return -0.5 * b @ w, -0.5 * D * (w / z) ** 2

    start = np.full(b.size, 0.5 * (room / lines.sum(axis=1)).min())
    return minimize(
        value, start, jac=True, bounds=[(1e-6, 1.0)] * b.size, method="trust-constr",
        constraints=LinearConstraint(lines, -np.inf, room), options={"maxiter": 300},
    ).fun  # fmt: skip


def test_a_relaxation_is_that_of_a_general_solver_and_better_splits_raise_it(rng):
    X = rng.standard_normal((30, 8)) + rng.standard_normal((30, 1))
    G, b = X.T @ X, X.T @ (X[:, :3].sum(axis=1) + rng.standard_normal(30))
    lines, room = np.repeat(np.eye(2), 4, axis=1), np.array([1.0, 2.0])
    relaxed = Relaxation(G, b, lines, room, 0.5 * uniform_split(G), np.full(8, 0.5))
    least = [loss_of_free(G, b, relaxed.split, lines, room)]
    for barrier in np.geomspace(1.0, 1e-6, 60) * abs(least[0]):
        relaxed.improve_shares(barrier)
    assert (lines @ relaxed.shares < room).all()
    gains, value = relaxed.tangent()
    best = sum(np.sort(gains[s] ** 2)[-k:].sum() for s, k in ((slice(4), 1), (slice(4, 8), 2)))
    assert value - 0.5 * best == approx(least[0], rel=1e-3)
    for _ in range(30):
        relaxed.weigh_entries()
        relaxed.improve_split(relaxed.split_barrier)
        relaxed.improve_shares(1e-6 * abs(least[0]))
        assert np.linalg.eigvalsh(G - np.diag(relaxed.split))[0] > 0
    least.append(loss_of_free(G, b, relaxed.split, lines, room))
    assert least[1] > least[0] + 0.01 * abs(least[0])


def test_a_variable_that_is_zero_or_twice_there_is_no_obstacle(rng):
    X = rng.standard_normal((20, 2, 5))
    X[:, 0, 0], X[:, 1, 3] = 0.0, X[:, 1, 2]
    tvcs = TVCS.matrix((2, 5), row_caps=2, total=3)
    problem = Problem(LeastSquares(X, X[:, 1].sum(axis=1) + rng.standard_normal(20)), tvcs)
    found = best_subset(problem, max_seconds=math.inf)
    assert found.objective == approx(best_of_all(problem), rel=2e-6)
    assert found.reason == "proved"
    assert not found.support[0, 0]


def test_what_has_no_proof_is_refused():
    with pytest.raises(TypeError, match="best_subset needs the loss LeastSquares, found Logistic"):
        best_subset(problem_of("matrix", Logistic))
    large = Problem(LeastSquares(np.eye(2001), np.ones(2001)), TVCS.groups([0] * 2001, None))
    with pytest.raises(ValueError, match="at most 2000 entries, found 2001"):
        best_subset(large)
    for name in ("tol", "max_seconds", "max_nodes"):
        with pytest.raises(ValueError, match=f"{name} must be >= 0, found -1"):
            best_subset(problem_of("matrix"), **{name: -1})

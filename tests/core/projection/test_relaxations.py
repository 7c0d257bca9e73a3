"""The three ways to the linear program: feasible always, honest about the gap, exact where easy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference
from tests.strategies import groups, matrices
from tvcs_core import TVCS, certify, project
from tvcs_core.projection.entries import enter
from tvcs_core.projection.projection import Projection, proved
from tvcs_core.projection.relaxations import (
    METHODS,
    Program,
    gradient_step,
    highs,
    lipschitz,
    perturbed,
    program_of,
    projected_gradient,
    solve,
)

FAST = {"lp": {}, "pgd": {"max_iter": 300}, "pdhg": {"max_iter": 3000}}


def arguments(V, constraint):
    entries = enter(V, constraint).as_list()
    return entries, (*entries.labels(constraint), entries.gains, *constraint.caps)


def run(method, V, constraint, **options) -> Projection:
    entries, call = arguments(V, constraint)
    return proved(entries, constraint, solve(method, *call, **options))


def program(V, constraint) -> Program:
    _, call = arguments(np.where(V == 0, 1.0, V), constraint)
    return program_of(*call)


def dense(p: Program) -> np.ndarray:
    """A, one row per group."""
    of = [np.flatnonzero((p.row_of == g) | (p.col_of == g)) for g in range(p.caps.size)]
    A = np.zeros((p.caps.size, p.gains.size))
    for g, members in enumerate(of):
        A[g, members] = 1
    A[-1] = 1
    return A


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(case=matrices(max_side=5) | groups())
def test_every_method_keeps_the_caps_and_bounds_the_best(method, case):
    V, constraint = case
    found = run(method, V, constraint, **FAST[method])
    best = project(V, constraint).objective
    assert reference.is_feasible(found.support, constraint)
    assert found.objective <= best * (1 + 1e-9)
    assert found.bound >= best * (1 - 1e-9)
    assert certify(found).feasible


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_pdhg_reaches_the_best_support_of_distinct_gains(n, m, seed):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(n, m))
    constraint = TVCS.matrix(
        (n, m),
        row_caps=rng.integers(0, m + 1, n),
        col_caps=rng.integers(0, n + 1, m),
        total=int(rng.integers(0, n * m + 1)),
    )
    found = run("pdhg", V, constraint)
    assert found.objective == pytest.approx(run("lp", V, constraint).objective, rel=2e-6)
    assert found.relative_gap <= 3e-6


def test_pgd_reaches_the_best_support_of_a_small_matrix():
    V = [[3.0, 2.9], [2.5, 1.0]]
    constraint = TVCS.matrix((2, 2), row_caps=1, col_caps=1)
    found = run("pgd", V, constraint, max_iter=5000)
    assert found.support.tolist() == [[False, True], [True, False]]


def test_ties_are_settled_by_the_perturbation():
    constraint = TVCS.matrix((6, 6), row_caps=2, col_caps=2, total=9)
    found = run("pdhg", np.ones((6, 6)), constraint)
    assert found.objective == 9
    assert found.relative_gap < 1e-5


@pytest.mark.parametrize("method", ["pgd", "pdhg"])
@pytest.mark.parametrize("max_iter", [0, 1, 33])
def test_the_limit_holds_and_what_was_reached_is_feasible(method, max_iter, rng):
    V = rng.normal(size=(12, 9))
    constraint = TVCS.matrix((12, 9), row_caps=2, col_caps=3, total=17)
    entries, call = arguments(V, constraint)
    solved = solve(method, *call, max_iter=max_iter)
    assert solved.stats["iterations"] <= max_iter
    assert constraint.is_feasible(solved.mask.reshape(12, 9))
    assert proved(entries, constraint, solved).gap >= 0


@pytest.mark.parametrize("method", METHODS)
def test_a_power_of_two_scales_the_prices_and_nothing_else(method, rng):
    V = rng.normal(size=(5, 6))
    _, call = arguments(V, TVCS.matrix((5, 6), row_caps=2, col_caps=1))
    large = (*call[:2], np.ldexp(call[2], 300), *call[3:])
    small, large = (solve(method, *c, **FAST[method]) for c in (call, large))
    np.testing.assert_array_equal(small.mask, large.mask)
    np.testing.assert_array_equal(np.ldexp(small.row_duals, 300), large.row_duals)
    assert small.stats == large.stats


@pytest.mark.parametrize("method", METHODS)
def test_where_nothing_gains_nothing_is_kept(method):
    found = run(method, np.zeros((3, 2)), TVCS.matrix((3, 2), row_caps=1))
    assert found.objective == found.gap == 0
    assert not found.support.any()


@settings(max_examples=30)
@given(case=groups())
def test_products_are_those_of_the_matrix_of_indicators(case):
    p = program(*case)
    A, rng = dense(p), np.random.default_rng(0)
    x, y = rng.random(p.gains.size), rng.random(p.caps.size)
    np.testing.assert_allclose(p.times(x), A @ x)
    np.testing.assert_allclose(p.transposed_times(y), A.T @ y)


@settings(max_examples=30)
@given(case=groups())
def test_a_step_of_pgd_is_the_projected_gradient_of_equation_6(case):
    p = program(*case)
    A, rng = dense(p), np.random.default_rng(0)
    n, g = p.gains.size, p.caps.size

    def objective(z):
        x, y, t = np.split(z, [n, n + g])
        gap = p.caps @ y + t.sum() - p.gains @ x
        short = np.maximum(p.gains - A.T @ y - t, 0)
        over = np.maximum(A @ x - p.caps, 0)
        return (gap**2 + short @ short + over @ over) / 2

    z = rng.random(2 * n + g)
    h = 1e-6
    gradient = [(objective(z + h * e) - objective(z - h * e)) / (2 * h) for e in np.eye(z.size)]
    expected = np.maximum(z - 1e-3 * np.array(gradient), 0)
    expected[:n] = np.minimum(expected[:n], 1)
    np.testing.assert_allclose(
        np.concatenate(gradient_step(p, 1e-3, *np.split(z, [n, n + g]))), expected, atol=1e-6
    )


@settings(max_examples=30)
@given(case=groups())
def test_the_step_is_no_longer_than_one_over_l(case):
    p = program(*case)
    A, n = dense(p), p.gains.size
    residuals = np.block([
        [-p.gains, p.caps, np.ones(n)],
        [np.zeros((n, n)), A.T, np.eye(n)],
        [A, np.zeros((A.shape[0], A.shape[0] + n))],
    ])  # fmt: skip
    assert lipschitz(p) >= np.linalg.norm(residuals, 2) ** 2 * (1 - 1e-12)


def test_pgd_never_moves_away_from_a_solution(rng):
    p = perturbed(program(rng.normal(size=(4, 5)), TVCS.matrix((4, 5), row_caps=2, col_caps=1)), 0)
    x, y, _ = highs(p)
    solution = np.concatenate([x, y, np.maximum(p.gains - p.transposed_times(y), 0)])
    distances = []
    for iteration, z in enumerate(projected_gradient(p)):
        distances.append(np.linalg.norm(np.concatenate(z) - solution))
        if iteration == 2000:
            break
    assert (np.diff(distances) <= 1e-9).all()
    assert distances[-1] < distances[0]


def test_rounding_drops_the_least_gains_of_a_full_group():
    p = Program(
        row_of=np.array([0, 0, 0, 1, 5]),
        col_of=np.array([2, 3, 3, 3, 5]),
        gains=np.array([0.9, 0.5, 0.7, 0.3, 0.2]),
        caps=np.array([2.0, 1.0, 1.0, 1.0, 2.0]),
    )
    assert p.rounded(np.array([0.9, 0.9, 0.9, 0.9, 0.4])).tolist() == [1, 0, 1, 0, 0]
    assert p.rounded(np.array([0.9, 0.1, 0.9, 0.1, 0.9])).tolist() == [1, 0, 1, 0, 0]

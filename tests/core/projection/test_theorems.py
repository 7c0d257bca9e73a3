"""Lemma 1 and Theorem 1 of the paper, on random instances."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from tests import reference
from tests.strategies import groups, matrices
from tvcs_core import TVCS, project


def indicators(constraint: TVCS) -> np.ndarray:
    """The matrix A of Lemma 1: the row of every group holds 1 for its variables."""
    row_of, col_of = constraint.labels
    rows = [row_of == r for r in range(constraint.row_caps.size)]
    cols = [col_of == c for c in range(constraint.col_caps.size)]
    return np.array([np.ones(row_of.size, bool), *rows, *cols], dtype=float)


def caps(constraint: TVCS) -> np.ndarray:
    """The vector s, in the order of `indicators`."""
    return np.array([constraint.total, *constraint.row_caps, *constraint.col_caps])


@settings(max_examples=50)
@given(case=groups(max_size=9))
def test_the_nearest_point_is_v_on_a_best_support(case):
    """Lemma 1: by enumeration of all supports, with the best point on each."""
    V, constraint = case
    scale = np.abs(V).max() or 1.0
    v = V / scale
    nearest = np.inf
    for size in range(v.size + 1):
        for chosen in combinations(range(v.size), size):
            w = np.zeros(v.size)
            w[list(chosen)] = v[list(chosen)]
            if reference.is_feasible(w != 0, constraint):
                nearest = min(nearest, float(np.sum((v - w) ** 2)))
    found = project(v, constraint).matrix
    assert np.sum((v - found) ** 2) == pytest.approx(nearest, rel=1e-12, abs=1e-15)
    best = reference.best_by_enumeration(v, constraint)
    assert nearest == pytest.approx(v @ v - best, rel=1e-9, abs=1e-12)


@given(case=groups(), seed=st.integers(0, 2**32 - 1))
def test_no_point_that_keeps_the_caps_is_nearer(case, seed):
    """Lemma 1: other values on any feasible support do not help."""
    V, constraint = case
    v = V / (np.abs(V).max() or 1.0)
    rng = np.random.default_rng(seed)
    found = project(v, constraint)
    w = np.where(project(rng.random(v.size), constraint).support, v + rng.normal(size=v.size), 0)
    assert reference.is_feasible(w != 0, constraint)
    assert np.sum((v - found.matrix) ** 2) <= np.sum((v - w) ** 2) + 1e-12


@settings(max_examples=60)
@given(case=groups() | matrices(max_side=3, max_size=9), seed=st.integers(0, 2**32 - 1))
def test_the_integer_and_the_linear_program_have_one_value(case, seed):
    """Theorem 1: enumeration, branch and bound, and the relaxation agree."""
    _, constraint = case
    V = np.random.default_rng(seed).normal(size=constraint.shape)
    worth = reference.gains(V, constraint).ravel()
    A, s = indicators(constraint), caps(constraint)
    relaxed = linprog(-worth, A_ub=A, b_ub=s, bounds=(0, 1), method="highs-ds")
    integer = milp(
        -worth, constraints=LinearConstraint(A, ub=s), bounds=Bounds(0, 1),
        integrality=np.ones(worth.size),
    )  # fmt: skip
    best = reference.best_by_enumeration(V, constraint)
    assert -relaxed.fun == pytest.approx(best, abs=1e-6)
    assert -integer.fun == pytest.approx(best, abs=1e-6)


@settings(max_examples=60)
@given(case=groups(max_size=40), seed=st.integers(0, 2**32 - 1))
def test_a_vertex_is_integer_whatever_the_objective(case, seed):
    """Theorem 1: the simplex method stops at vertices."""
    V, constraint = case
    objective = np.random.default_rng(seed).normal(size=V.size)
    x = linprog(
        -objective, A_ub=indicators(constraint), b_ub=caps(constraint), bounds=(0, 1),
        method="highs-ds",
    ).x  # fmt: skip
    np.testing.assert_allclose(x, np.round(x), atol=1e-9)


@settings(max_examples=25)
@given(case=groups(max_size=6))
def test_every_square_submatrix_has_determinant_0_or_1_or_minus_1(case):
    """Lemma 4: A is totally unimodular, by all submatrices."""
    _, constraint = case
    A = indicators(constraint)
    for size in range(1, min(A.shape) + 1):
        rows = np.array(list(combinations(range(A.shape[0]), size)))
        cols = np.array(list(combinations(range(A.shape[1]), size)))
        squares = A[rows[:, None, :, None], cols[None, :, None, :]]
        check_unimodular(np.linalg.det(squares))


@given(case=groups(max_size=60), seed=st.integers(0, 2**32 - 1))
def test_square_submatrices_of_larger_models_are_unimodular_too(case, seed):
    """Lemma 4 again, with the identity below A (Proposition 1), by a sample."""
    _, constraint = case
    A = indicators(constraint)
    A = np.vstack([A, np.eye(A.shape[1])])
    rng = np.random.default_rng(seed)
    for _ in range(20):
        size = rng.integers(1, min(A.shape) + 1)
        rows = rng.choice(A.shape[0], size, replace=False)
        cols = rng.choice(A.shape[1], size, replace=False)
        check_unimodular(np.linalg.det(A[np.ix_(rows, cols)]))


def check_unimodular(determinants) -> None:
    assert np.abs(determinants - np.round(determinants)).max() < 1e-6
    assert np.abs(np.round(determinants)).max() <= 1


def test_a_further_view_would_break_the_theorem():
    """Three views of groups beside the total: a determinant of 2 and a vertex of halves."""
    A = np.array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]])  # one group of each of three views
    assert round(np.linalg.det(A)) == 2
    x = linprog([-1, -1, -1], A_ub=A, b_ub=[1, 1, 1], bounds=(0, 1), method="highs-ds").x
    np.testing.assert_allclose(x, 0.5)

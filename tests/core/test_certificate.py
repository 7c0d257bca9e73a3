from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from pytest import approx

from tests.strategies import matrices
from tvcs_core import TVCS, certify, project


@pytest.fixture
def projection(rng):
    V = rng.standard_normal((6, 5))
    return project(V, TVCS.matrix((6, 5), row_caps=2, col_caps=2, total=7))


def test_a_sound_projection_is_optimal(projection):
    certificate = certify(projection)
    assert certificate.optimal
    assert not certificate.violations
    assert certificate.kept == approx(projection.kept, rel=1e-14)


def test_every_kind_of_violation_is_named(projection):
    everything = np.ones((6, 5), dtype=bool)
    found = certify(replace(projection, support=everything, matrix=projection.values))
    assert not found.feasible
    assert "row 0 keeps 5, its cap is 2" in found.violations
    assert "column 0 keeps 6, its cap is 2" in found.violations
    assert "30 entries are kept, the total cap is 7" in found.violations


def test_a_forbidden_entry_is_named(rng):
    V = rng.standard_normal((3, 3))
    sound = project(V, TVCS.matrix((3, 3), allowed=~np.eye(3, dtype=bool)))
    found = certify(replace(sound, support=np.ones((3, 3), bool), matrix=V))
    assert "the entry in row 1, column 1 is not allowed but kept" in found.violations


def test_a_value_that_is_not_that_of_v_is_named(projection):
    found = certify(replace(projection, matrix=projection.matrix * 1.01))
    assert not found.feasible
    assert "must be" in found.violations[0]


def test_a_negative_price_proves_nothing(projection):
    found = certify(replace(projection, row_duals=projection.row_duals - 1))
    assert found.violations == ("a price is negative or not a number",)


def test_prices_too_low_or_too_high_leave_a_gap(projection):
    for factor in (0.0, 3.0):
        found = certify(replace(projection, total_dual=projection.total_dual * factor))
        assert found.feasible
        assert not found.optimal
        assert found.gap > 0


def test_a_worse_support_leaves_a_gap(projection):
    support = projection.support.copy()
    support[np.unravel_index(np.argmax(support), support.shape)] = False
    found = certify(
        replace(projection, support=support, matrix=np.where(support, projection.values, 0.0))
    )
    assert found.feasible
    assert not found.optimal


@given(matrices(max_side=4))
def test_the_bound_is_the_sum_of_its_terms_in_exact_arithmetic(problem):
    V, constraint = problem
    projection = project(V, constraint)
    u, w = ([Fraction(p) for p in d] for d in (projection.row_duals, projection.col_duals))
    total_dual = Fraction(projection.total_dual)
    bound = sum(p * int(c) for p, c in zip(u, constraint.row_caps, strict=True))
    bound += sum(p * int(c) for p, c in zip(w, constraint.col_caps, strict=True))
    bound += total_dual * constraint.total
    for (r, c), v in np.ndenumerate(V):
        if constraint.allowed is not None and not constraint.allowed[r, c]:
            continue
        lower, upper = constraint.bounds or (-np.inf, np.inf)
        nearest = Fraction(float(np.clip(v, lower, upper)))
        gain = nearest * (2 * Fraction(float(v)) - nearest)
        bound += max(Fraction(0), gain - u[r] - w[c] - total_dual)
    assert certify(projection).bound == approx(float(bound), rel=1e-12, abs=1e-300)

"""Rows of other scales: small values are chosen by what they are worth, not by the hash."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from tests.core.projection.test_range import best_by_fractions, exact_gains
from tvcs_core import TVCS, project, project_blocks
from tvcs_core.projection.entries import enter
from tvcs_core.projection.exact import solve_dense
from tvcs_core.projection.kernels.gains import MIN_STEPS
from tvcs_core.projection.scales import solve_by_scales

SCALES = [(0, 10), (10, 20), (20, 28), (24, 60), (60, 400), (400, 480)]


def rows_of_scales(seed, low, high, shape=(4, 6)):
    """Draw a table whose rows, but the first, are divided by powers of two."""
    rng = np.random.default_rng(seed)
    scale = 2.0 ** -rng.integers(low, high, size=shape[0])
    scale[0] = 1.0
    caps = {"row_caps": rng.integers(1, 4, shape[0]), "col_caps": rng.integers(1, 4, shape[1])}
    total = [None, 7, 9][seed % 3]
    return rng.normal(size=shape) * scale[:, None], TVCS.matrix(shape, **caps, total=total)


def is_dominated(V, constraint, support):
    """Whether an entry could give its place to a larger one of its row, or one more could join."""
    sizes = np.abs(V)
    is_full = support.sum(axis=0) >= constraint.col_caps
    has_room = support.sum() < constraint.total
    for row, kept, cap in zip(sizes, support, constraint.row_caps, strict=True):
        best = row[~kept & ~is_full].max(initial=0.0)
        joins = has_room and kept.sum() < cap and best > 0.0
        if joins or best > row[kept].min(initial=np.inf):
            return True
    return False


@pytest.mark.parametrize(("low", "high"), SCALES)
def test_no_entry_is_kept_where_a_larger_one_of_its_row_or_column_is_free(low, high):
    for seed in range(60):
        V, constraint = rows_of_scales(seed, low, high)
        found = project(V, constraint)
        turned = TVCS.matrix(
            V.T.shape,
            row_caps=constraint.col_caps,
            col_caps=constraint.row_caps,
            total=constraint.total,
        )
        assert not is_dominated(V, constraint, found.support), seed
        assert not is_dominated(V.T, turned, found.support.T), seed
        assert (found.support.sum(axis=1) <= constraint.row_caps).all()
        assert (found.support.sum(axis=0) <= constraint.col_caps).all()
        assert found.support.sum() <= constraint.total
        again = project(sparse.csr_array(V), constraint)
        assert np.array_equal(again.support.toarray(), found.support)


@pytest.mark.parametrize(("low", "high"), SCALES[2:])
def test_what_is_kept_is_the_most_in_exact_arithmetic(low, high):
    for seed in range(3):
        V, constraint = rows_of_scales(seed, low, high, shape=(3, 4))
        found = project(V, constraint)
        kept = sum(Fraction(float(v)) ** 2 for v in V[found.support])
        assert kept == best_by_fractions(exact_gains(V, constraint), constraint)


def test_values_of_three_scales_in_groups_a_box_and_a_mask_are_chosen_by_worth():
    V = np.array([[1.0, 0.5], [2e-12, 3e-12], [5e-30, 4e-30]])
    allowed = np.array([[True, True], [True, True], [True, True]])
    plain = TVCS.matrix(V.shape, row_caps=1)
    masked = TVCS.matrix(V.shape, row_caps=1, allowed=allowed)
    boxed = TVCS.matrix(V.shape, row_caps=1, bounds=(0.0, 10.0))
    grouped = TVCS.groups(np.repeat([0, 1, 2], 2), None, row_caps=[1, 1, 1])
    wanted = [[True, False], [False, True], [True, False]]
    for constraint in (plain, masked, boxed):
        assert project(V, constraint).support.tolist() == wanted
    found = project(V.ravel(), grouped).support
    assert found.reshape(V.shape).tolist() == wanted


@pytest.mark.parametrize("spread", [2.0, 6.0])
@pytest.mark.parametrize("total", [None, 1700])
def test_tables_and_lists_of_rows_of_many_scales_agree(spread, total, rng):
    V = rng.normal(size=(160, 150)) * np.exp(spread * rng.normal(size=160))[:, np.newaxis]
    V[3, :140] = 0.0
    constraint = TVCS.matrix(V.shape, row_caps=12, col_caps=15, total=total)
    found, listed = project(V, constraint), project(sparse.csr_array(V), constraint)
    assert np.array_equal(found.support, listed.support.toarray())
    assert not is_dominated(V, constraint, found.support)
    assert max(found.relative_gap, listed.relative_gap) < 1e-11


@pytest.mark.parametrize("shape", [(12, 15), (70, 80)])
def test_gains_that_round_to_0_decide_no_ties(shape, rng):
    """One call for small tables had them, with their hashes; lists had not."""
    for _ in range(8):
        V = rng.integers(1, 11, shape) * np.exp(6 * rng.normal(size=shape[0]))[:, np.newaxis]
        caps = rng.integers(1, shape[1], shape[0]), rng.integers(1, shape[0], shape[1])
        constraint = TVCS.matrix(shape, row_caps=caps[0], col_caps=caps[1])
        listed = project(sparse.csr_array(V), constraint).support.toarray()
        assert np.array_equal(project(V, constraint).support, listed)


@pytest.mark.parametrize("shape", [(5, 7), (20, 20), (3, 60), (40, 55)])
@pytest.mark.parametrize("is_assigned", [False, True])
def test_the_scales_of_a_small_table_in_one_call_and_one_by_one(shape, is_assigned, rng):
    n, m = shape
    for _ in range(40):
        V = rng.integers(-9, 10, shape) * np.exp(rng.choice([4, 12]) * rng.normal(size=(n, 1)))
        caps = (1, 1) if is_assigned else (rng.integers(1, m, n), rng.integers(1, n, m))
        total = None if is_assigned or rng.random() < 0.5 else int(rng.integers(1, n * m // 2))
        constraint = TVCS.matrix(shape, row_caps=caps[0], col_caps=caps[1], total=total)
        expected = solve_by_scales(enter(V, constraint), constraint)
        assert np.array_equal(project(V, constraint).support, expected.mask)


def test_gains_that_round_to_0_are_no_ties(rng):
    """Cost scaling and simplex would order them by their hashes, for nothing."""
    V = rng.normal(size=(160, 150))
    V[80:] *= 1e-11
    constraint = TVCS.matrix(V.shape, row_caps=12, col_caps=15)
    entries = enter(V, constraint)
    first, alone = solve_by_scales(entries, constraint), np.where(np.abs(V) < 1e-9, 0.0, V)
    expected = solve_dense(alone, *constraint.caps, squared=True)
    assert first.stats == expected.stats
    assert np.array_equal(first.row_duals, expected.row_duals)


def test_closed_groups_do_not_set_the_scale():
    V = np.array([[1e100, 1e99, 1e98], [3.0, 2.0, 1.0], [2.0, 3.0, 1e-20]])
    constraint = TVCS.matrix(V.shape, row_caps=[0, 1, 2], col_caps=1)
    found = project(V, constraint)
    assert np.argwhere(found.support).tolist() == [[1, 0], [2, 1], [2, 2]]
    assert found.gap <= 1e-15 * found.objective


def test_blocks_keep_the_same_where_no_small_value_is_kept(rng):
    V = rng.normal(size=(60, 40))
    V[30:] *= 2.0**-12
    constraint = TVCS.matrix(V.shape, row_caps=3, col_caps=4)
    found = project_blocks([V[:20], V[20:]], constraint)
    assert np.array_equal(found.matrix.toarray(), project(V, constraint).matrix)


def test_integers_below_2_20_are_never_small():
    """Their gains are whole steps of the grid, which one projection tells apart exactly."""
    assert MIN_STEPS <= 2.0 ** (56 - 2 * 18)

"""Small tables in one call: the same as by the usual way, bit by bit."""

import numpy as np
import pytest
from scipy import sparse

from tvcs_core import TVCS, certify, project
from tvcs_core.projection import projection, small
from tvcs_core.projection.exact import solve_dense
from tvcs_core.projection.small import project_small


def in_one_call(V, constraint):
    """The projection in one call, which has to take it."""
    found = project_small(V, constraint)
    assert found is not None
    return found


def by_usual_way(V, constraint):
    """The projection as of tables that are not small."""
    entries = projection.enter(V, constraint)
    solved = projection.solve_by_scales(entries, constraint)
    return projection.proved(entries, constraint, solved)


def assert_same(found, usual):
    for name in ("support", "row_duals", "col_duals", "objective", "total_dual", "gap"):
        np.testing.assert_array_equal(getattr(found, name), getattr(usual, name), err_msg=name)
    assert found.matrix.tobytes() == np.ascontiguousarray(usual.matrix).tobytes()


FAMILIES = {
    "gauss": lambda rng, shape: rng.normal(size=shape),
    "integers": lambda rng, shape: rng.integers(-3, 11, shape).astype(float),
    "tenths": lambda rng, shape: rng.integers(1, 11, shape) / 10,
    "far apart": lambda rng, shape: rng.normal(size=shape) * 2.0 ** rng.integers(-600, 150, shape),
    "products": lambda rng, shape: np.outer(rng.random(shape[0]), rng.random(shape[1])),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_one_call_says_what_the_usual_way_says(family):
    rng = np.random.default_rng(0)
    for _ in range(60):
        n, m = (int(side) for side in rng.integers(2, 30, 2))
        V = FAMILIES[family](rng, (n, m))
        V[0, 0] = 1.0  # so that none is too small as a whole
        V.setflags(write=bool(rng.integers(2)))
        total = int(rng.integers(1, n * m + 1)) if rng.integers(2) else None
        row_caps, col_caps = rng.integers(1, m + 1, n), rng.integers(1, n + 1, m)
        constraint = TVCS.matrix((n, m), row_caps=row_caps, col_caps=col_caps, total=total)
        assert_same(in_one_call(V, constraint), by_usual_way(V, constraint))


def test_a_gap_that_floats_cannot_tell_is_looked_at_exactly(monkeypatch):
    looks = []
    monkeypatch.setattr(small, "measure", lambda *what: looks.append(what) or (4.0, 0.125))
    constraint = TVCS.matrix((2, 2), total=3)
    clear = in_one_call(np.array([[1.0, 0.0], [0.5, 1.0]]), constraint)
    assert (clear.objective, clear.gap, looks) == (2.25, 0.0, [])
    # The square of 1e-165 is below all floats: whether it is worth its price they do not say.
    unclear = in_one_call(np.array([[1.0, 1e-165], [0.5, 1.0]]), constraint)
    assert (unclear.objective, unclear.gap, len(looks)) == (4.0, 0.125, 1)


def test_what_rounding_hides_is_in_the_gap():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(200):
        V = rng.integers(1, 4, (4, 4)) + 2.0**-40
        constraint = TVCS.matrix((4, 4), row_caps=2, col_caps=2)
        found.append(in_one_call(V, constraint).gap)
        assert found[-1] == by_usual_way(V, constraint).gap
    assert max(found) > 0.0


@pytest.mark.parametrize("given", [np.asfortranarray, np.ndarray.tolist, np.int64, np.float32])
def test_what_holds_the_same_numbers_takes_the_same_call(given, monkeypatch):
    V = np.arange(12.0).reshape(3, 4)
    constraint = TVCS.matrix((3, 4), row_caps=2, col_caps=1)
    usual = by_usual_way(V, constraint)
    monkeypatch.setattr(projection, "solve_by_scales", None)  # a second way would be compiled, too
    assert_same(project(given(V), constraint), usual)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2.0**501])
def test_what_is_refused_is_refused_as_ever(value):
    V = np.ones((3, 3))
    V[1, 2] = value
    with pytest.raises(ValueError, match="V must be"):
        project(V, TVCS.matrix((3, 3), row_caps=1))


@pytest.mark.parametrize("scale", [0.0, 2.0**-300, 2.0**300])
def test_values_that_are_scaled_or_all_0_take_the_usual_way(scale):
    V = scale * np.arange(9.0).reshape(3, 3)
    constraint = TVCS.matrix((3, 3), row_caps=1)
    assert project_small(V, constraint) is None
    assert project(V, constraint).objective == np.square(V).max(axis=1).sum()


@pytest.mark.parametrize(
    "constraint",
    [
        TVCS.matrix((3, 3), row_caps=[1, 0, 2]),
        TVCS.matrix((3, 3), col_caps=[1, 0, 2]),
        TVCS.matrix((3, 3), total=0),
        TVCS.matrix((3, 3), row_caps=1, bounds=(-1, 1)),
        TVCS.matrix((3, 3), row_caps=1, allowed=~np.eye(3, dtype=bool)),
        TVCS.groups(np.arange(9).reshape(3, 3) // 3, None, row_caps=1),
    ],
)
def test_caps_of_0_masks_boxes_and_groups_take_the_usual_way(constraint):
    V = np.arange(1.0, 10.0).reshape(3, 3)
    assert project_small(V, constraint) is None
    projection = project(V, constraint)
    assert projection.gap == 0.0
    assert certify(projection).optimal


def test_other_arrays_take_the_usual_way():
    V, constraint = np.arange(1.0, 10.0).reshape(3, 3), TVCS.matrix((3, 3), row_caps=1)
    expected = in_one_call(V, constraint)
    subclass = V.view(type("Other", (np.ndarray,), {}))
    for other in (V.tolist(), V.astype(int), V.astype(np.float32), subclass):
        assert project_small(other, constraint) is None
        assert project(other, constraint).objective == expected.objective
    with pytest.raises(ValueError, match="shape"):
        project(V[:2], constraint)


@pytest.mark.parametrize("family", FAMILIES)
def test_one_call_assigns_as_the_usual_way_does(family):
    rng = np.random.default_rng(1)
    for shape in [(21, 21), (30, 17), (17, 30), (60, 60), (1, 500), (500, 1)]:
        V = FAMILIES[family](rng, shape)
        V[0, 0] = 1.0
        V.setflags(write=bool(rng.integers(2)))
        constraint = TVCS.matrix(shape, row_caps=1, col_caps=1, total=max(shape))
        assert_same(in_one_call(V, constraint), by_usual_way(V, constraint))


@pytest.mark.parametrize("total", [20, 21])
def test_an_assignment_with_a_total_that_binds_is_solved_as_other_tables_are(total):
    V = np.random.default_rng(0).normal(size=(21, 21))
    constraint = TVCS.matrix((21, 21), row_caps=1, col_caps=1, total=total)
    found = in_one_call(V, constraint)
    assert (found.total_dual > 0.0) == (total == 20)
    assert found.support.sum() == total
    assert_same(found, by_usual_way(V, constraint))


@pytest.mark.parametrize("shape", [(30, 30), (25, 40)])
def test_assignments_where_all_fits_or_that_are_too_large_take_the_usual_way(shape):
    constraint = TVCS.matrix(shape, row_caps=1, col_caps=1)
    assert project_small(np.eye(*shape), constraint) is None
    assert not project(np.eye(*shape), constraint).row_duals.any()
    assert project_small(2.0**300 * np.ones(shape), constraint) is None
    side = int(small.MAX_SINGLE_CALL**0.5) + 1
    large = TVCS.matrix((side, side), row_caps=1, col_caps=1)
    assert project_small(np.ones((side, side)), large) is None


def test_the_input_is_neither_changed_nor_shared():
    V = np.random.default_rng(0).normal(size=(5, 6))
    before = V.copy()
    projection = project(V, TVCS.matrix((5, 6), row_caps=2, col_caps=2))
    projection.matrix[:] = 7.0
    assert (before == V).all()
    assert projection.values is V


def path_of(values, cap):
    n, m = values.shape
    row_caps, col_caps = np.full(n, cap), np.full(m, cap)
    return solve_dense(values, row_caps, col_caps, n * m, squared=True).stats["path"]


def test_tables_without_ties_take_one_call():
    rng = np.random.default_rng(0)
    for family in ("gauss", "products"):
        assert {path_of(FAMILIES[family](rng, (20, 20)), 4) for _ in range(20)} == {"small"}


def test_paths_give_up_where_few_rows_compete_for_many_columns():
    """Hundreds of units are misplaced, and each looks at all nodes."""
    values = np.random.default_rng(0).normal(size=(3, 800))
    constraint = TVCS.matrix((3, 800), row_caps=266, col_caps=1)
    by_paths = in_one_call(values, constraint)
    as_list = project(sparse.csr_array(values), constraint)
    np.testing.assert_array_equal(by_paths.support, as_list.support.toarray())
    caps = np.full(3, 266), np.ones(800, dtype=np.int64)
    assert solve_dense(values, *caps, 2400, squared=True).stats["sent"] > 0


def test_equal_values_among_others_are_ordered_in_one_call():
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = rng.random((20, 20))
        values.flat[rng.permutation(400)[:30]] = 0.8
        assert path_of(values, 4) == "small"
        constraint = TVCS.matrix((20, 20), row_caps=4, col_caps=4)
        found = in_one_call(values, constraint)
        other = project(sparse.csr_array(values), constraint)  # a list: paths
        np.testing.assert_array_equal(found.support, other.support.toarray())


def test_prices_stand_between_what_is_kept_and_what_is_not():
    """At an end of that an entry is worth just its prices, and rounding may take either side."""
    values = np.array([[3.1, 2.3, 0.7], [1.1, 2.9, 0.3]])
    found = project(values, TVCS.matrix((2, 3), row_caps=1, col_caps=1, total=2))
    assert found.support.nonzero()[0].tolist() == [0, 1]
    surplus = values**2 - found.row_duals[:, None] - found.col_duals - found.total_dual
    assert (surplus[found.support] > 0.1).all()
    assert (surplus[~found.support] < -0.1).all()


def test_a_full_group_that_wants_no_more_has_no_price():
    found = project(np.array([[0.7, 0.0], [0.3, 0.4]]), TVCS.matrix((2, 2), row_caps=1, col_caps=1))
    assert found.support.tolist() == [[True, False], [False, True]]
    assert found.row_duals[0] == 0.0
    assert found.gap == 0.0

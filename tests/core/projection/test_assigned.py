"""Caps of 1: bids assign most rows, paths the others, and hashes settle what is worth the same."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from tests.core.projection.test_exact import FAMILIES, INTEGER, as_edges, proven, scaled
from tvcs_core import TVCS, project
from tvcs_core.projection.exact import assigned, grid_steps_for, search, solve_dense
from tvcs_core.projection.kernels import assignment, gains, pairing, tied
from tvcs_core.projection.kernels.records import UnitCapTable
from tvcs_core.projection.small import project_small

NEARLY_TIED = {
    "tenths": lambda rng, n, m: np.round(rng.random((n, m)), 1),
    "rounded": lambda rng, n, m: np.round(rng.normal(size=(n, m)), 1),
    "thirds": lambda rng, n, m: rng.integers(0, 3, (n, m)) / 3,
    "roots": lambda rng, n, m: np.sqrt(rng.integers(0, 5, (n, m))),
    "integers": lambda rng, n, m: rng.integers(1, 11, (n, m)).astype(float),
    "a few far away": lambda rng, n, m: np.where(rng.random((n, m)) < 0.1, 1.0, 1e-7),
}
ALL = FAMILIES | NEARLY_TIED


def ones(n, m):
    return np.ones(n, np.int64), np.ones(m, np.int64), n * m


def check(rng, family, n, m):
    """Solve it, check the proof, and compare with the simplex on a list; return the result."""
    values = scaled(ALL[family](rng, n, m))
    result = solve_dense(values, *ones(n, m), squared=True)
    proven(values, *ones(n, m), result, integer=family in INTEGER)
    keep, _ = as_edges(values, *ones(n, m), rng)
    assert np.array_equal(keep, result.mask)
    return result


def even(values):
    """Gains in whole half steps of a grid."""
    return 2 * np.rint(np.square(values) * 2.0**50).astype(np.int64)


def nobody_yet(n, m):
    return np.zeros(n, np.int64), np.zeros(m, np.int64), np.full(n, -1), np.full(m, -1)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize(("n", "m"), [(60, 60), (40, 90), (1, 3)])
def test_bids_leave_prices_that_prove_what_they_assign(family, n, m):
    worth = even(scaled(FAMILIES[family](np.random.default_rng([n, m]), n, m)))
    u, w, col_of, row_of = nobody_yet(n, m)
    assignment.bid(worth, 0, n, pairing.BIDS_PER_ROW * n, u, w, col_of, row_of)
    rows = np.flatnonzero(col_of >= 0)
    assert np.array_equal(row_of[col_of[rows]], rows)
    assert (row_of >= 0).sum() == rows.size
    assert min(u.min(), w.min()) >= 0
    assert not w[row_of < 0].any()
    slack = u[:, None] + w - worth
    assert slack[rows].min(initial=0) >= 0
    assert not slack[rows, col_of[rows]].any()
    if family in ("gauss", "constant", "ties"):
        assert rows.size > 0.7 * n


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize(("n", "m"), [(60, 60), (40, 90), (1, 3)])
def test_paths_assign_every_row_as_scipy_does(family, n, m):
    worth = even(scaled(FAMILIES[family](np.random.default_rng([n, m, 1]), n, m)))
    u, w, col_of, row_of = nobody_yet(n, m)
    assignment.assign(worth, 0, n, u, w, col_of, row_of)
    assert np.array_equal(row_of[col_of], np.arange(n))
    assert min(u.min(), w.min()) >= 0
    assert not w[row_of < 0].any()
    slack = u[:, None] + w - worth
    assert slack.min() >= 0
    assert not slack[np.arange(n), col_of].any()
    row, col = linear_sum_assignment(worth, maximize=True)
    kept, most = (sum(map(int, worth[at])) for at in ((np.arange(n), col_of), (row, col)))
    assert abs(kept - most) <= 1e-15 * most  # scipy's is in float64
    assert kept == int(u.sum()) + int(w.sum())


@pytest.fixture
def never_small(monkeypatch):
    """Small tables are assigned as large ones are."""
    monkeypatch.setattr(search, "MAX_SMALL_UNIT_CAPS", 0)


@pytest.mark.parametrize("family", sorted(ALL))
def test_caps_of_one_keep_what_the_simplex_keeps_of_a_list(family, never_small):
    rng = np.random.default_rng(sorted(ALL).index(family))
    for n, m in [(1, 1), (1, 9), (9, 1), (2, 2), (20, 20), (12, 35), (35, 12), (61, 61)]:
        result = check(rng, family, n, m)
        assert result.stats["path"] in ("assignment", "nothing", "everything")


@pytest.mark.parametrize(
    "values",
    [np.diag([0.1, 0.3]), np.diag(np.arange(1, 31) / 10), np.diag(np.arange(1, 81) / 10)],
    ids=len,
)
def test_where_everything_fits_no_cap_has_a_price_and_the_gap_is_0(values):
    n = len(values)
    projection = project(values, TVCS.matrix((n, n), row_caps=1, col_caps=1, total=n))
    assert projection.gap == 0.0
    assert not projection.row_duals.any()
    assert not projection.col_duals.any()


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(ALL))
def test_a_thousand_tables_with_caps_of_one_keep_what_the_simplex_keeps(family, never_small):
    rng = np.random.default_rng([7, sorted(ALL).index(family)])
    for _ in range(1000):
        check(rng, family, *rng.integers(1, 50, 2))


@pytest.mark.parametrize("shape", [(70, 60), (60, 70)])
@pytest.mark.parametrize("family", ["gauss", "ties", "tenths", "constant", "sparse ties"])
def test_every_way_to_an_assignment_keeps_the_same(family, shape, monkeypatch):
    """By the simplex, row by row, and in one call of `project`."""
    values = scaled(ALL[family](np.random.default_rng(3), *shape))
    found = solve_dense(values, *ones(*shape), squared=True)
    assert found.stats["path"] == "assignment"
    in_one_call = project_small(values, TVCS.matrix(shape, row_caps=1, col_caps=1))
    assert np.array_equal(in_one_call.support, found.mask)
    assert np.array_equal(in_one_call.row_duals, found.row_duals)
    assert np.array_equal(in_one_call.col_duals, found.col_duals)
    monkeypatch.setattr(assigned, "MAX_STAGE_ENTRIES", 1)
    by_rows = solve_dense(values, *ones(*shape), squared=True)
    assert np.array_equal(by_rows.mask, found.mask)
    assert by_rows.stats["path"] == "assignment"
    monkeypatch.setattr(assigned, "MAX_HASHED_LINES", 1)
    by_simplex = solve_dense(values, *ones(*shape), squared=True)
    assert np.array_equal(by_simplex.mask, found.mask)
    assert by_simplex.stats["path"] != "assignment"


@pytest.mark.parametrize("family", ["constant", "ties", "integers", "sparse ties", "gauss"])
def test_ties_of_wide_rows_are_settled_with_prices_that_prove_it(family):
    n, m = 90, 500
    values = scaled(ALL[family](np.random.default_rng(5), n, m))
    table, keep = UnitCapTable(values, True, False, 1.0, grid_steps_for(n)), np.empty((n, m), bool)
    found, clock = initial_state(n, m), np.zeros(3, np.int64)
    assert pairing.settle(table, found, clock, n, keep)
    slack = found.p[:, None] + found.q - found.gains
    assert (slack >= 0).all()
    assert family == "gauss" or not slack[np.arange(n), found.col_of].any()


def test_rows_of_one_number_have_prices_to_the_last_digit():
    """On the grid alone they were some 1e-13 of what is kept away."""
    values = np.repeat(np.random.default_rng(3).random((400, 1)), 1000, axis=1)
    projection = project(values, TVCS.matrix(values.shape, row_caps=1, col_caps=1))
    assert projection.gap < 4e-15 * (projection.matrix**2).sum()


def test_of_equal_assignments_the_one_of_the_largest_hashes_is_kept():
    for n, m in [(4, 4), (3, 5), (5, 3)]:
        keep = solve_dense(np.full((n, m), 0.75), *ones(n, m), squared=True).mask
        hashes = np.array([[gains.tie.py_func(r, c, 0) for c in range(m)] for r in range(n)])
        side = hashes if n <= m else hashes.T
        few, many = side.shape
        best = max(side[range(few), list(p)].sum() for p in permutations(range(many), few))
        assert hashes[keep].sum() == best


def initial_state(n, m):
    return pairing.initial_state(np.empty((n, m), np.int64))


def test_tied_entries_are_counted_until_there_is_a_choice():
    n, m = 30, 40
    found = initial_state(n, m)
    table = UnitCapTable(np.ones((n, m)), True, False, 1.0, grid_steps_for(n))
    found.gains[:], found.u[:] = 2, 2
    assert tied.count_tied(table, found, 0, n) == m
    found.u[5:] = 4  # of these rows nothing is tied
    found.gains[:, 6:] = 0
    assert tied.count_tied(table, found, 0, n) == 5 * 6


def test_whole_numbers_hold_what_the_longest_tables_need():
    """Twice the prices of lines that must not be left out, and paths of three of them."""
    worth = 2 * (2 * assigned.MAX_HASHED_LINES * tied.MAX_HASH + tied.MAX_HASH)
    assert 3 * worth < assignment.INFINITE_LENGTH < assignment.SETTLED_PRICE
    assert assignment.SETTLED_PRICE + 2 * worth < 2**63
    assert all(2 * grid_steps_for(few) <= 2**57 for few in range(1, 5000))

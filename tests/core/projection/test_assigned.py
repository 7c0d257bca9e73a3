"""Caps of 1: bids assign most rows, paths the others, and hashes settle what is worth the same."""

from itertools import permutations

import numpy as np
import pytest

from tests.core.projection.test_exact import FAMILIES, INTEGER, as_edges, proven, scaled
from tvcs_core import TVCS, project
from tvcs_core.projection.exact import assigned, search, solve_dense
from tvcs_core.projection.exact.candidates import grid_steps
from tvcs_core.projection.kernels import assignment, gains, pairing, tied
from tvcs_core.projection.kernels.records import Candidates, Counts, Tied

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
    assert np.array_equal(keep, result.keep)
    return result


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize(("n", "m"), [(60, 60), (40, 90), (1, 3)])
def test_bids_leave_prices_that_prove_what_they_assign(family, n, m):
    gains = scaled(FAMILIES[family](np.random.default_rng([n, m]), n, m)) ** 2
    u, w, col_of, row_of = np.zeros(n), np.zeros(m), np.full(n, -1), np.full(m, -1)
    assignment.bid(gains.reshape(-1), m, 0, n, pairing.BIDS * n, u, w, col_of, row_of)
    rows = np.flatnonzero(col_of >= 0)
    assert np.array_equal(row_of[col_of[rows]], rows)
    assert (row_of >= 0).sum() == rows.size
    assert min(u.min(), w.min()) >= 0.0
    assert not w[row_of < 0].any()
    slack = u[:, None] + w - gains
    assert slack[rows].min(initial=0.0) >= -1e-15
    assert np.abs(slack[rows, col_of[rows]]).max(initial=0.0) <= 1e-15
    if family in ("gauss", "constant", "ties"):
        assert rows.size > 0.7 * n


@pytest.fixture
def never_small(monkeypatch):
    """Small tables are assigned as large ones are."""
    monkeypatch.setattr(search, "SMALL_ONES", 0)


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


def test_the_gap_of_small_tables_of_whole_numbers_is_0():
    rng = np.random.default_rng(0)
    for n, m in [(1, 1), (6, 4), (15, 25), (20, 20)]:
        values = rng.integers(-(2**26), 2**26, (n, m)).astype(float)
        constraint = TVCS.matrix((n, m), row_caps=1, col_caps=1, total=min(n, m))
        assert project(values, constraint).gap == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(ALL))
def test_a_thousand_tables_with_caps_of_one_keep_what_the_simplex_keeps(family, never_small):
    rng = np.random.default_rng([7, sorted(ALL).index(family)])
    for _ in range(1000):
        check(rng, family, *rng.integers(1, 50, 2))


@pytest.mark.parametrize("family", ["gauss", "ties", "tenths", "constant"])
def test_every_way_to_an_assignment_keeps_the_same(family, monkeypatch):
    values = scaled(ALL[family](np.random.default_rng(3), 70, 60))
    keep = solve_dense(values, *ones(70, 60), squared=True).keep
    for place, changed in [
        (search, {"solve_assignment": lambda *_: None}),  # it gives up
        (assigned, {"AT_ONCE": 1}),  # a row in a call
    ]:
        with monkeypatch.context() as patch:
            for name, value in changed.items():
                patch.setattr(place, name, value)
            other = solve_dense(values, *ones(70, 60), squared=True)
        assert np.array_equal(other.keep, keep)
        assert (other.stats["path"] == "assignment") == (place is assigned)


def test_of_equal_assignments_the_one_of_the_largest_hashes_is_kept():
    for n, m in [(4, 4), (3, 5), (5, 3)]:
        keep = solve_dense(np.full((n, m), 0.75), *ones(n, m), squared=True).keep
        hashes = np.array([[gains.tie.py_func(r, c, 0) for c in range(m)] for r in range(n)])
        side = hashes if n <= m else hashes.T
        few, many = side.shape
        best = max(side[range(few), list(p)].sum() for p in permutations(range(many), few))
        assert hashes[keep].sum() == best


def draw_tied(rng, n, m, size):
    """Tied entries of random worth, with rows and columns that may not be left out."""
    hashes = np.where(rng.random((n, m)) < size, rng.integers(1, tied.HASHES, (n, m)), -1)
    col_of = np.where(rng.permutation(m)[:n] >= 0, rng.permutation(m)[:n], 0)
    hashes[np.arange(n), col_of] = rng.integers(1, tied.HASHES, n)
    rows, cols = np.nonzero(hashes >= 0)
    start = np.append(0, np.cumsum(np.bincount(rows, minlength=n)))
    alone = np.where(rng.random(n) < 0.5, -tied.MUST, 0)
    q = np.zeros(m, np.int64)
    q[col_of[rng.random(n) < 0.5]] = -tied.MUST
    listed = Tied(start, start[1:].copy(), cols.astype(np.int32), hashes[rows, cols], alone)
    return hashes, listed, q


@pytest.mark.parametrize("size", [0.1, 0.5, 1.0])
def test_tied_entries_are_assigned_with_potentials_that_prove_it(size):
    rng = np.random.default_rng(int(10 * size))
    for _ in range(20):
        n = int(rng.integers(1, 60))
        m = n + int(rng.integers(0, 20))
        hashes, listed, q = draw_tied(rng, n, m, size)
        at_first, p = q.copy(), listed.alone.copy()
        col_of, row_of = np.full(n, tied.FREE), np.full(m, tied.FREE)
        tied.bid_tied(listed, 0, n, 4 * n, p, q, col_of, row_of)
        tied.assign_tied(listed, 0, n, p, q, col_of, row_of)
        assert tied.is_proven(listed, p, q)
        rows = np.flatnonzero(col_of >= 0)
        assert np.array_equal(row_of[col_of[rows]], rows)
        slack = p[:, None] + q - hashes
        assert (slack[hashes >= 0] >= 0).all()
        assert not slack[rows, col_of[rows]].any()
        assert np.array_equal(p[col_of < 0], listed.alone[col_of < 0])
        assert np.array_equal(q[row_of < 0], at_first[row_of < 0])
        assert (p >= listed.alone).all()
        assert (q >= at_first).all()


def test_what_is_left_aside_of_a_full_list_is_looked_at_in_the_end():
    rng = np.random.default_rng(0)
    hashes, listed, q = draw_tied(rng, 100, 100, 1.0)
    before = {(r, c): hashes[r, c] for r in range(100) for c in range(100)}
    tied.shorten(listed, 100)
    assert (listed.stop - listed.start[:-1]).sum() < 0.4 * hashes.size
    rows = np.repeat(np.arange(100), 100)
    assert {(r, c): x for r, c, x in zip(rows, listed.col, listed.worth, strict=True)} == before
    # An entry behind the stop that is worth more than its potentials.
    p, q = np.full(100, tied.HASHES), np.zeros(100, np.int64)
    assert tied.is_proven(listed, p, q)
    p[7] = listed.worth[listed.start[8] - 1] - 1
    assert not tied.is_proven(listed, p, q)


def test_what_tied_entries_fall_short_of_fits_into_whole_numbers():
    for few in range(1, 5000):
        caps = Counts(np.ones(few, np.int64), np.ones(few, np.int64), few)
        table = Candidates(np.empty(0), np.empty(0), np.empty(0), np.empty(0), True, True)
        given = assigned.as_ones(table, caps)
        assert given.steps == grid_steps(table, caps)
        assert given.near * given.steps * given.weight <= 2**61
        assert (given.weight == 0) == (given.steps <= assigned.COARSE)

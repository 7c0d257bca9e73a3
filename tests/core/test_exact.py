"""The exact solver: every answer proves itself, whatever the values, the caps and the start."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import coo_matrix, vstack

from tvcs_core.exact import solve_dense, solve_edges

FAMILIES = {
    "gauss": lambda rng, n, m: rng.normal(size=(n, m)),
    "ties": lambda rng, n, m: rng.integers(-3, 4, (n, m)).astype(float),
    "zeros": lambda rng, n, m: rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.2),
    "sparse ties": lambda rng, n, m: (rng.random((n, m)) < 0.3).astype(float),
    "constant": lambda rng, n, m: np.ones((n, m)),
    "constant rows": lambda rng, n, m: np.repeat(rng.normal(size=(n, 1)), m, axis=1),
    "separable": lambda rng, n, m: rng.normal(size=(n, 1)) + rng.normal(size=(1, m)),
    "low rank": lambda rng, n, m: rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)),
    "heavy tails": lambda rng, n, m: np.exp(5 * rng.normal(size=(n, m))),
    "very heavy tails": lambda rng, n, m: np.exp(30 * rng.normal(size=(n, m))),
    "large integers": lambda rng, n, m: rng.integers(0, 2**19, (n, m)).astype(float),
    "huge": lambda rng, n, m: 1e150 * rng.normal(size=(n, m)),
    "tiny": lambda rng, n, m: 1e-300 * rng.normal(size=(n, m)),
    "all zero": lambda rng, n, m: np.zeros((n, m)),
}
INTEGER = {"ties", "sparse ties", "constant", "large integers", "all zero"}
CAPS = ("uniform", "varied", "ones", "zeros", "beyond", "rows only", "columns only", "total only")


def scaled(values):
    """The values over a power of two, none above 1: what the caller of the solver does."""
    largest = np.abs(values).max(initial=0)
    return np.ldexp(values, -int(np.frexp(largest)[1])) if largest else values


def draw_caps(rng, n, m, kind):
    """Row caps, column caps and a total of one kind, clipped as the caller clips them."""
    rows, cols = rng.integers(1, m + 1), rng.integers(1, n + 1)
    a, b = np.full(n, rows), np.full(m, cols)
    if kind == "varied":
        a, b = rng.integers(1, rows + 1, n), rng.integers(1, cols + 1, m)
    elif kind == "ones":
        a[:], b[:] = 1, 1
    elif kind == "zeros":
        a, b = a * (rng.random(n) < 0.7), b * (rng.random(m) < 0.7)
    elif kind == "beyond":
        a[:], b[:] = m, n
        a[rng.integers(n)], b[rng.integers(m)] = 1, 1
    elif kind == "rows only" or kind == "total only":
        b[:] = n
    if kind == "columns only" or kind == "total only":
        a[:] = m
    total = n * m
    if kind == "total only" or rng.random() < 0.5:
        total = int(rng.integers(0, min(a.sum(), b.sum()) + 1))
    return a.astype(np.int64), b.astype(np.int64), total


def draw(rng, family, largest=12):
    n, m = rng.integers(1, largest + 1, 2)
    values = scaled(FAMILIES[family](rng, n, m))
    return values, *draw_caps(rng, n, m, CAPS[rng.integers(len(CAPS))])


def proven(values, a, b, total, result, squared=True, integer=False):
    """Check caps, signs and the bound of a dense result; return what it keeps."""
    gains = values * values if squared else values
    keep, u, w, price = result.keep, result.row_duals, result.col_duals, result.total_dual
    assert keep.shape == values.shape and keep.dtype == bool
    assert (keep.sum(axis=1) <= a).all() and (keep.sum(axis=0) <= b).all() and keep.sum() <= total
    assert not (keep & (values == 0)).any()
    assert (u >= 0).all() and (w >= 0).all() and price >= 0
    assert u.shape == a.shape and w.shape == b.shape
    kept = gains[keep].sum()
    excess = np.maximum(0, gains - u[:, None] - w - price).sum()
    bound = (u * a).sum() + (w * b).sum() + price * total + excess
    if integer:
        assert bound == kept
    assert abs(bound - kept) <= 1e-11 * kept
    return kept


def as_edges(values, a, b, total, rng=None, **options):
    """The same problem as a list of its nonzero candidates, shuffled; the support as a matrix."""
    row, col = np.nonzero(values)
    if rng is not None:
        order = rng.permutation(row.size)
        row, col = row[order], col[order]
    n, m = values.shape
    key = np.zeros(row.size, np.int64)
    options = {"squared": True} | options
    result = solve_edges(row, col, key, values[row, col], n, m, a, b, total, **options)
    keep = np.zeros(values.shape, bool)
    keep[row, col] = result.keep
    return keep, result


def by_highs(gains, a, b, total):
    n, m = gains.shape
    row, col, p = np.repeat(np.arange(n), m), np.tile(np.arange(m), n), n * m
    rows = coo_matrix((np.ones(p), (row, np.arange(p))), (n, p))
    cols = coo_matrix((np.ones(p), (col, np.arange(p))), (m, p))
    matrix = vstack([rows, cols, np.ones((1, p))]).tocsr()
    caps = np.concatenate([a, b, [total]])
    return -linprog(-gains.ravel(), A_ub=matrix, b_ub=caps, bounds=(0, 1)).fun


def by_enumeration(gains, a, b, total):
    best = 0.0
    for bits in product((False, True), repeat=gains.size):
        keep = np.array(bits).reshape(gains.shape)
        if (keep.sum(1) <= a).all() and (keep.sum(0) <= b).all() and keep.sum() <= total:
            best = max(best, gains[keep].sum())
    return best


def check_instance(rng, family, largest):
    values, a, b, total = draw(rng, family, largest)
    result = solve_dense(values, a, b, total, squared=True)
    proven(values, a, b, total, result, integer=family in INTEGER)
    keep, _ = as_edges(values, a, b, total, rng)
    assert np.array_equal(keep, result.keep)
    again = solve_dense(values, a, b, total, squared=True, warm=result.warm)
    assert np.array_equal(again.keep, result.keep)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_small_instance_proves_itself_dense_as_edges_and_warm(family):
    rng = np.random.default_rng(1)
    for _ in range(40):
        check_instance(rng, family, 12)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_thousand_instances_of_each_family_prove_themselves(family):
    rng = np.random.default_rng(2)
    for _ in range(1000):
        check_instance(rng, family, 40)


def test_it_keeps_what_the_best_of_all_supports_keeps():
    rng = np.random.default_rng(3)
    for _ in range(30):
        n, m = [(1, 8), (8, 1), (2, 4), (3, 3)][rng.integers(4)]
        values = scaled(FAMILIES[list(FAMILIES)[rng.integers(len(FAMILIES))]](rng, n, m))
        a, b, total = draw_caps(rng, n, m, CAPS[rng.integers(len(CAPS))])
        result = solve_dense(values, a, b, total, squared=True)
        best = by_enumeration(values * values, a, b, total)
        assert proven(values, a, b, total, result) == pytest.approx(best, rel=1e-12, abs=0)


def test_it_keeps_what_highs_keeps():
    rng = np.random.default_rng(4)
    for _ in range(20):
        values, a, b, total = draw(rng, "gauss", 20)
        kept = proven(values, a, b, total, solve_dense(values, a, b, total, squared=True))
        assert kept == pytest.approx(by_highs(values * values, a, b, total), rel=1e-7, abs=1e-9)


def test_caps_of_one_keep_what_the_assignment_keeps():
    rng = np.random.default_rng(5)
    for n, m in [(1, 1), (7, 7), (5, 30), (30, 5), (60, 60)]:
        values = scaled(rng.normal(size=(n, m)))
        a, b = np.ones(n, np.int64), np.ones(m, np.int64)
        kept = proven(values, a, b, n * m, solve_dense(values, a, b, n * m, squared=True))
        gains = values * values
        assert kept == pytest.approx(gains[linear_sum_assignment(gains, maximize=True)].sum())


def test_gains_may_be_given_as_they_are():
    rng = np.random.default_rng(6)
    gains = rng.random((9, 11)) * (rng.random((9, 11)) < 0.8)
    a, b, total = np.full(9, 3), np.full(11, 2), 15
    result = solve_dense(gains, a, b, total, squared=False)
    proven(gains, a, b, total, result, squared=False)
    keep, _ = as_edges(gains, a, b, total, rng, squared=False)
    assert np.array_equal(keep, result.keep)


def test_without_caps_every_nonzero_entry_is_kept_however_small():
    values = np.array([[1.0, 1e-12, 0.0], [1e-170, -1e-300, 5e-324]])
    result = solve_dense(values, np.full(2, 3), np.full(3, 2), 6, squared=True)
    assert np.array_equal(result.keep, values != 0)
    result = solve_dense(values, np.array([1, 3]), np.full(3, 2), 6, squared=True)
    assert np.array_equal(result.keep, [[True, False, False], [True, True, True]])


def test_candidates_without_a_group_meet_no_cap_and_many_may_share_a_pair():
    row = np.array([0, 0, 0, -1, -1, 1, 1])
    col = np.array([0, 0, 0, 0, -1, -1, -1])
    key = np.array([0, 1, 2, 0, 0, 0, 1])
    values = np.array([0.9, 0.8, 0.7, 0.6, 0.1, 0.5, 0.4])
    caps = np.array([2, 1]), np.array([2])
    result = solve_edges(row, col, key, values, 2, 1, *caps, 7, squared=True)
    assert result.keep.tolist() == [True, True, False, False, True, True, False]
    result = solve_edges(row, col, key, values, 2, 1, *caps, 3, squared=True)
    assert result.keep.tolist() == [True, True, False, False, False, True, False]


def test_equal_entries_of_a_pair_are_told_apart_by_their_key():
    row = col = np.zeros(6, np.int64)
    values, key = np.ones(6), np.arange(6)
    caps = np.array([3]), np.array([6])
    first = solve_edges(row, col, key, values, 1, 1, *caps, 6, squared=True)
    order = np.random.default_rng(7).permutation(6)
    second = solve_edges(row, col, key[order], values, 1, 1, *caps, 6, squared=True)
    assert set(key[first.keep]) == set(key[order][second.keep])


def test_an_empty_problem_has_an_empty_answer():
    none = np.zeros(0, np.int64)
    for n, m in [(0, 0), (0, 3), (2, 0)]:
        a, b = np.zeros(n, np.int64), np.zeros(m, np.int64)
        assert solve_dense(np.zeros((n, m)), a, b, 0, squared=True).keep.shape == (n, m)
        result = solve_edges(none, none, none, np.zeros(0), n, m, a, b, 0, squared=True)
        assert result.keep.size == 0 and result.row_duals.size == n and result.col_duals.size == m


def test_read_only_values_are_taken_and_left_alone():
    values = scaled(np.random.default_rng(8).normal(size=(6, 7)))
    before = values.copy()
    values.flags.writeable = False
    result = solve_dense(values, np.full(6, 2), np.full(7, 2), 42, squared=True)
    proven(values, np.full(6, 2), np.full(7, 2), 42, result)
    assert np.array_equal(values, before) and not values.flags.writeable

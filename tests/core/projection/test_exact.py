"""The exact solver: every answer proves itself, whatever the values, the caps and the start."""

import math
import signal
import time
from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, vstack

from tvcs_core.projection.exact import candidates, search, solve_dense, solve_edges

pytestmark = pytest.mark.usefixtures("all_steps")

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
    keep, u, w, price = result.mask, result.row_duals, result.col_duals, result.total_dual
    assert keep.shape == values.shape
    assert keep.dtype == bool
    assert (keep.sum(axis=1) <= a).all()
    assert (keep.sum(axis=0) <= b).all()
    assert keep.sum() <= total
    assert not (keep & (values == 0)).any()
    assert (u >= 0).all()
    assert (w >= 0).all()
    assert price >= 0
    assert u.shape == a.shape
    assert w.shape == b.shape
    kept = gains[keep].sum()
    excess = np.maximum(0, gains - u[:, None] - w - price).sum()
    bound = (u * a).sum() + (w * b).sum() + price * total + excess
    if integer:  # without rounding: what is kept, and price * total, may have more than 53 bits
        over = np.maximum(0, gains - u[:, None] - w - price).flat
        assert math.fsum([*u * a, *w * b, *[price] * int(total), *over, *-gains[keep]]) == 0.0
    assert abs(bound - kept) <= 1e-11 * kept
    return kept


def as_edges(values, a, b, total, rng=None, **options):
    """The same problem as a list of its nonzero candidates, shuffled; the support as a matrix."""
    row, col = np.nonzero(values)
    if rng is not None:
        order = rng.permutation(row.size)
        row, col = row[order], col[order]
    key = np.zeros(row.size, np.int64)
    options = {"squared": True} | options
    result = solve_edges(row, col, key, values[row, col], a, b, total, **options)
    keep = np.zeros(values.shape, bool)
    keep[row, col] = result.mask
    return keep, result


def by_highs(gains, a, b, total):
    n, m = gains.shape
    row, col, p = np.repeat(np.arange(n), m), np.tile(np.arange(m), n), n * m
    rows = coo_matrix((np.ones(p), (row, np.arange(p))), (n, p))
    cols = coo_matrix((np.ones(p), (col, np.arange(p))), (m, p))
    matrix = vstack([rows, cols, np.ones((1, p))]).tocsr()
    caps = np.concatenate([a, b, [total]])
    return -linprog(-gains.ravel(), A_ub=matrix, b_ub=caps, bounds=(0, 1)).fun


def check_instance(rng, family, largest):
    values, a, b, total = draw(rng, family, largest)
    result = solve_dense(values, a, b, total, squared=True)
    proven(values, a, b, total, result, integer=family in INTEGER)
    keep, _ = as_edges(values, a, b, total, rng)
    assert np.array_equal(keep, result.mask)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("largest", "times"), [(12, 40), pytest.param(40, 1000, marks=pytest.mark.slow)]
)
def test_every_small_instance_proves_itself_dense_and_as_edges(family, largest, times):
    rng = np.random.default_rng(1)
    for _ in range(times):
        check_instance(rng, family, largest)


def test_it_keeps_what_highs_keeps():
    rng = np.random.default_rng(4)
    for _ in range(20):
        values, a, b, total = draw(rng, "gauss", 20)
        kept = proven(values, a, b, total, solve_dense(values, a, b, total, squared=True))
        assert kept == pytest.approx(by_highs(values * values, a, b, total), rel=1e-7, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gauss", "ties", "separable", "low rank", "constant rows"])
def test_larger_instances_keep_what_highs_keeps(family):
    rng = np.random.default_rng(14)
    for caps, total in [("uniform", None), ("uniform", 0.8), ("varied", None), ("varied", 0.3)]:
        for seed in range(2):
            n, m = rng.integers(55, 110, 2)
            values, a, b, k = large(family, n, m, caps, total, seed)
            kept = proven(values, a, b, k, solve_dense(values, a, b, k, squared=True))
            assert kept == pytest.approx(by_highs(values * values, a, b, k), rel=1e-7)


CLOSED = {
    "rows": lambda n, m: (np.arange(n) % (m // 2) + 1, np.full(m, n), n * m),
    "columns": lambda n, m: (np.full(n, m), np.arange(m) % (n // 2) + 1, n * m),
    "rows and total": lambda n, m: (np.arange(n) % (m // 2) + 1, np.full(m, n), n * m // 9),
    "columns and total": lambda n, m: (np.full(n, m), np.arange(m) % (n // 2) + 1, n * m // 9),
    "total": lambda n, m: (np.full(n, m), np.full(m, n), n * m // 9),
    "loose caps": lambda n, m: (np.full(n, m // 2), np.full(m, n // 2), n * m // 9),
}


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("kind", CLOSED)
def test_caps_of_one_side_have_a_closed_form_that_the_search_agrees_with(family, kind, monkeypatch):
    n, m = 60, 70
    values = scaled(FAMILIES[family](np.random.default_rng(13), n, m))
    a, b, total = CLOSED[kind](n, m)
    result = solve_dense(values, a, b, total, squared=True)
    proven(values, a, b, total, result, integer=family in INTEGER)
    keep, edges = as_edges(values, a, b, total, np.random.default_rng(1))
    assert np.array_equal(keep, result.mask)
    if family == "gauss":
        assert result.stats["path"] == edges.stats["path"] == "closed form"
    monkeypatch.setattr(search, "closed_form", lambda *_: None)
    searched = solve_dense(values, a, b, total, squared=True)
    assert np.array_equal(searched.mask, result.mask)


def test_gains_may_be_given_as_they_are():
    rng = np.random.default_rng(6)
    gains = rng.random((9, 11)) * (rng.random((9, 11)) < 0.8)
    a, b, total = np.full(9, 3), np.full(11, 2), 15
    result = solve_dense(gains, a, b, total, squared=False)
    proven(gains, a, b, total, result, squared=False)
    keep, _ = as_edges(gains, a, b, total, rng, squared=False)
    assert np.array_equal(keep, result.mask)


def test_without_caps_every_nonzero_entry_is_kept_however_small():
    values = np.array([[1.0, 1e-12, 0.0], [1e-170, -1e-300, 5e-324]])
    result = solve_dense(values, np.full(2, 3), np.full(3, 2), 6, squared=True)
    assert np.array_equal(result.mask, values != 0)
    result = solve_dense(values, np.array([1, 3]), np.full(3, 2), 6, squared=True)
    assert np.array_equal(result.mask, [[True, False, False], [True, True, True]])


def test_candidates_without_a_group_meet_no_cap_and_many_may_share_a_pair():
    row = np.array([0, 0, 0, -1, -1, 1, 1])
    col = np.array([0, 0, 0, 0, -1, -1, -1])
    key = np.array([0, 1, 2, 0, 0, 0, 1])
    values = np.array([0.9, 0.8, 0.7, 0.6, 0.1, 0.5, 0.4])
    caps = np.array([2, 1]), np.array([2])
    result = solve_edges(row, col, key, values, *caps, 7, squared=True)
    assert result.mask.tolist() == [True, True, False, False, True, True, False]
    result = solve_edges(row, col, key, values, *caps, 3, squared=True)
    assert result.mask.tolist() == [True, True, False, False, False, True, False]


def test_equal_entries_of_a_pair_are_ordered_by_their_key():
    row = col = np.zeros(6, np.int64)
    values, key = np.ones(6), np.arange(6)
    caps = np.array([3]), np.array([6])
    first = solve_edges(row, col, key, values, *caps, 6, squared=True)
    order = np.random.default_rng(7).permutation(6)
    second = solve_edges(row, col, key[order], values, *caps, 6, squared=True)
    assert set(key[first.mask]) == set(key[order][second.mask])


def test_an_empty_problem_has_an_empty_answer():
    none = np.zeros(0, np.int64)
    for n, m in [(0, 0), (0, 3), (2, 0)]:
        a, b = np.zeros(n, np.int64), np.zeros(m, np.int64)
        assert solve_dense(np.zeros((n, m)), a, b, 0, squared=True).mask.shape == (n, m)
        result = solve_edges(none, none, none, np.zeros(0), a, b, 0, squared=True)
        assert result.mask.size == 0
        assert result.row_duals.size == n
        assert result.col_duals.size == m


def large(family, n, m, caps, total, seed=0):
    """An instance of the large path, with caps of about a fifth of the group."""
    rng = np.random.default_rng([seed, n, m])
    values = scaled(FAMILIES[family](rng, n, m))
    a, b = np.full(n, max(1, m // 5)), np.full(m, max(1, n // 5))
    if caps == "varied":
        a, b = rng.integers(0, 2 * m // 5 + 1, n), rng.integers(0, 2 * n // 5 + 1, m)
    elif caps == "ones":
        a[:], b[:] = 1, 1
    return values, a, b, n * m if total is None else int(total * min(a.sum(), b.sum()))


LARGE = [
    ("gauss", 60, 70, "varied", 0.8),
    ("gauss", 70, 60, "uniform", None),
    ("gauss", 240, 300, "uniform", None),
    ("gauss", 300, 240, "varied", 0.8),
    ("gauss", 40, 2000, "varied", None),
    ("ties", 80, 90, "uniform", None),
    ("ties", 260, 270, "varied", 0.8),
    ("zeros", 100, 100, "varied", None),
    ("constant", 70, 70, "varied", 0.8),
    ("constant rows", 90, 80, "uniform", None),
    ("separable", 80, 80, "varied", None),
    ("low rank", 90, 90, "uniform", 0.8),
    ("heavy tails", 250, 250, "varied", None),
    ("very heavy tails", 100, 100, "varied", 0.8),
    ("large integers", 90, 90, "uniform", None),
    ("huge", 80, 80, "varied", None),
    ("tiny", 80, 80, "uniform", 0.8),
    ("gauss", 120, 100, "ones", None),
    ("gauss", 60, 300, "ones", None),
    ("ties", 80, 80, "ones", None),
]


@pytest.mark.parametrize(("family", "n", "m", "caps", "total"), LARGE)
def test_large_instances_prove_themselves_dense_and_as_edges(family, n, m, caps, total):
    values, a, b, total = large(family, n, m, caps, total)
    result = solve_dense(values, a, b, total, squared=True)
    proven(values, a, b, total, result, integer=family in INTEGER)
    keep, _ = as_edges(values, a, b, total, np.random.default_rng(1))
    assert np.array_equal(keep, result.mask)


SEPARABLE = {
    "sums": lambda rng, n: rng.normal(size=(n, 1)) + rng.normal(size=(1, n)),
    "products": lambda rng, n: rng.normal(size=(n, 1)) * rng.normal(size=(1, n)),
    "logistic": lambda rng, n: 1 / (1 + np.exp(rng.normal(size=(1, n)) - rng.normal(size=(n, 1)))),
}


@pytest.mark.parametrize("family", SEPARABLE)
def test_values_of_one_number_per_row_and_column_take_few_pivots(family):
    # The sample of columns used to be every 25th: between 1.7 and 6.7 million pivots.
    n = 1000
    values = scaled(SEPARABLE[family](np.random.default_rng(1), n))
    a = b = np.full(n, n // 5)
    total = int(0.8 * a.sum())
    result = solve_dense(values, a, b, total, squared=True)
    assert result.stats["pivots in all"] < 300_000
    assert result.stats["core"] < n * n // 10
    proven(values, a, b, total, result)


def test_what_the_machine_has_no_memory_for_is_refused(monkeypatch):
    monkeypatch.setattr(candidates, "estimate_memory", lambda size, of_each: 10**15)
    with pytest.raises(MemoryError, match="needs about 1,000,000,000 MB"):
        solve_dense(*large("gauss", 70, 80, "varied", 0.8), squared=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("family", FAMILIES)
def test_two_hundred_larger_instances_prove_themselves(family, seed):
    rng = np.random.default_rng([seed, 9])
    n, m = rng.integers(60, 400, 2)
    caps = ("uniform", "varied", "ones")[rng.integers(3)]
    total = (None, 0.8, 0.3)[rng.integers(3)]
    values, a, b, total = large(family, n, m, caps, total, seed)
    result = solve_dense(values, a, b, total, squared=True)
    proven(values, a, b, total, result, integer=family in INTEGER)
    keep, _ = as_edges(values, a, b, total, rng)
    assert np.array_equal(keep, result.mask)


def test_integer_gains_below_2_to_the_40_have_no_gap_at_all():
    rng = np.random.default_rng(10)
    for n, m in [(6, 9), (70, 80), (300, 310)]:
        gains = np.ldexp(rng.integers(0, 2**40, (n, m)).astype(float), -40)
        a, b = rng.integers(0, m // 2, n), rng.integers(0, n // 2, m)
        result = solve_dense(gains, a, b, n * m // 8, squared=False)
        proven(gains, a, b, n * m // 8, result, squared=False, integer=True)


def check_interrupted(solve):
    """An interrupt in the middle of a call ends it long before its end, in processor time."""
    whole = seconds_of(solve)
    assert seconds_to_interrupt(solve, whole / 4) < 0.8 * whole


def seconds_of(solve):
    """Return the processor seconds of a call, with the kernels loaded."""
    solve()  # loading them would not be interrupted
    began = time.process_time()
    solve()
    return time.process_time() - began


def seconds_to_interrupt(solve, after):
    """Return the processor seconds that a call takes if it is interrupted after some."""

    def interrupt(*_):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, after)
    began = time.process_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            solve()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, previous)
    return time.process_time() - began


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
def test_an_interrupt_stops_a_long_projection_and_leaves_the_solver_usable():
    small = large("gauss", 70, 80, "varied", 0.8)
    before = solve_dense(*small, squared=True).mask
    problem = large("separable", 900, 900, "uniform", 0.8)
    check_interrupted(partial(solve_dense, *problem, squared=True))
    assert np.array_equal(solve_dense(*small, squared=True).mask, before)


def by_or_tools(gains, a, b, total):
    flow = pytest.importorskip("ortools.graph.python.min_cost_flow").SimpleMinCostFlow()
    n, m = gains.shape
    p, source, sink, units = n * m, n + m, n + m + 1, int(min(total, a.sum(), b.sum()))
    cost = -np.rint(gains.ravel() * (2.0**46 / gains.max())).astype(np.int64)
    flow.add_arcs_with_capacity_and_unit_cost(
        np.concatenate(
            [np.full(n, source), np.repeat(np.arange(n), m), np.arange(n, n + m), [source]]
        ),
        np.concatenate([np.arange(n), np.tile(np.arange(n, n + m), n), np.full(m, sink), [sink]]),
        np.concatenate([a, np.ones(p, np.int64), b, [units]]),
        np.concatenate([np.zeros(n, np.int64), cost, np.zeros(m + 1, np.int64)]),
    )
    flow.set_node_supply(source, units)
    flow.set_node_supply(sink, -units)
    assert flow.solve() == flow.OPTIMAL
    return gains.ravel()[flow.flows(np.arange(n, n + p)) > 0].sum()


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_it_keeps_what_or_tools_keeps(family):
    rng = np.random.default_rng(11)
    for _ in range(300):
        values, a, b, total = draw(rng, family, 40)
        gains = values * values
        kept = proven(values, a, b, total, solve_dense(values, a, b, total, squared=True))
        if gains.any() and min(total, a.sum(), b.sum()) > 0:
            theirs = by_or_tools(gains, a, b, total)
            assert kept >= theirs * (1 - 1e-12)
            if "heavy" not in family:  # its 46 bits do not tell the small ones apart
                assert kept == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (0, 0), (1, 3), (3, 0)])
def test_a_great_many_candidates_may_be_in_few_groups(n, m):
    rng = np.random.default_rng(12)
    size = 70_000
    values = scaled(rng.normal(size=size))
    row, col = rng.integers(-1, n, size), rng.integers(-1, m, size)
    row[:65_000], col[:65_000] = n - 1, m - 1
    a, b = np.full(n, 20_000), np.full(m, 15_000)
    result = solve_edges(row, col, np.arange(size), values, a, b, 18_000, squared=True)
    gains, keep = values * values, result.mask
    assert (np.bincount(row[keep] + 1, minlength=n + 1)[1:] <= a).all()
    assert (np.bincount(col[keep] + 1, minlength=m + 1)[1:] <= b).all()
    assert keep.sum() <= 18_000
    u, w = np.append(result.row_duals, 0.0), np.append(result.col_duals, 0.0)
    excess = np.maximum(0, gains - u[row] - w[col] - result.total_dual).sum()
    bound = (u[:n] * a).sum() + (w[:m] * b).sum() + result.total_dual * 18_000 + excess
    assert abs(bound - gains[keep].sum()) <= 1e-11 * bound

"""The scan, and the dispatch: whichever way is taken, the support is the same."""

import contextlib
import signal
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.speed import matrices
from tests.core.projection.test_exact import (
    FAMILIES,
    INTEGER,
    large,
    proven,
    scaled,
)
from tvcs_core.projection.exact import (
    candidates,
    dispatch,
    network,
    prices,
    search,
    solve_dense,
)
from tvcs_core.projection.exact.candidates import Instance, draw_sizes
from tvcs_core.projection.exact.shortcuts import solve_small
from tvcs_core.projection.kernels import table
from tvcs_core.projection.kernels.records import Candidates, Counts

pytestmark = pytest.mark.usefixtures("all_steps")

BUDGETS = {"simplex": None, "small": -1}  # pivots, by the path that is taken then


def forced(monkeypatch, path):
    monkeypatch.setattr(search, "pivot_budget", lambda *_: BUDGETS[path])
    monkeypatch.setattr(network, "PIVOTS_PER_CALL", 20)  # between two looks at the budget


def instance(values, a, b, total):
    """What the search is given, or None where it is not needed."""
    n, m = values.shape
    start, columns = np.arange(n + 1, dtype=np.int64) * m, np.arange(m, dtype=np.int32)
    flat = values.reshape(-1)
    candidates = Candidates(flat, start, columns, np.zeros(m, np.int64), True, True)
    caps, per_row, per_col = Counts(a, b, total), np.zeros(n, np.int64), np.zeros(m, np.int64)
    largest = table.survey(candidates, per_row, per_col)
    fits = (per_row <= a).all() and (per_col <= b).all() and per_row.sum() <= total
    if largest == 0.0 or total == 0 or fits:
        return None
    return Instance(candidates, caps, largest, per_row, per_col)


def swept(i):
    """First prices of an instance, by a sweep over each side, with their band."""
    n, m = i.shape
    return prices.full_sweeps(i, prices.zero_prices(n, m), rows_first=n > m, count=2)


def scanned(values, a, b, total):
    """What cost scaling finds and keeps, wherever it is asked."""
    i = instance(values, a, b, total)
    found = None if i is None else solve_small(i.candidates, i.caps)
    return found, np.zeros(values.shape, bool) if found is None else found.mask.reshape(
        *values.shape
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("caps", "total"), [("uniform", None), ("varied", 0.8)])
def test_every_path_ends_in_the_same_support(family, caps, total, monkeypatch):
    values, a, b, k = large(family, 60, 75, caps, total)
    found = {}
    for path in BUDGETS:
        forced(monkeypatch, path)
        found[path] = solve_dense(values, a, b, k, squared=True)
        proven(values, a, b, k, found[path], integer=family in INTEGER)
        assert np.array_equal(found[path].mask, found["simplex"].mask)
    assert found["simplex"].stats["path"] != "small"
    if family == "separable":  # many pivots
        assert found["small"].stats["path"] == "small"


def test_long_lines_take_all_steps_and_others_one_call(monkeypatch):
    monkeypatch.setattr(search, "MAX_ONE_CALL", 100_000)
    problem = large("gauss", 40, 500, "uniform", 0.8)
    assert solve_dense(*problem, squared=True).stats["path"] == "simplex"
    problem = large("gauss", 80, 90, "uniform", 0.8)
    assert solve_dense(*problem, squared=True).stats["path"] == "small"
    monkeypatch.setattr(search, "solve_small", lambda *_: None)  # it gave up
    assert solve_dense(*problem, squared=True).stats["path"] == "simplex"


def test_little_memory_leaves_it_to_the_simplex(monkeypatch):
    i, network = instance(*large("gauss", 80, 90, "uniform", 0.8)), SimpleNamespace(size=100)
    need = dispatch.BYTES_PER_ENTRY * 80 * 90
    for memory, may in ((need, False), (need + 1, True), (None, True)):
        monkeypatch.setattr(dispatch, "available_memory", lambda memory=memory: memory)
        assert (dispatch.pivot_budget(i, network) is not None) == may


@pytest.mark.parametrize("family", ["separable", "ties"])
def test_where_the_scan_gives_up_the_simplex_goes_on(family, monkeypatch):
    forced(monkeypatch, "small")
    problem = large(family, 70, 80, "varied", 0.8)
    expected = solve_dense(*problem, squared=True)
    assert expected.stats["path"] == "small"
    monkeypatch.setattr(search, "solve_small", lambda *_: None)
    found = solve_dense(*problem, squared=True)
    assert found.stats["path"] == "simplex"
    assert np.array_equal(found.mask, expected.mask)


@pytest.mark.parametrize("family", ["gauss", "separable"])
def test_a_total_that_takes_all_that_lines_want_is_not_looked_for(family, monkeypatch):
    i = instance(*large(family, 60, 60, "uniform", None))
    asked, price_total = [], prices.sweeps.price_total
    counted = lambda *what: asked.append(what) or price_total(*what)  # noqa: E731
    monkeypatch.setattr(prices.sweeps, "price_total", counted)
    short = swept(i)
    assert not asked
    i.row_capacity = i.col_capacity = i.capacity + 1
    whole = swept(i)
    assert len(asked) == 2
    for found, expected in zip(short.prices + short.band, whole.prices + whole.band, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
def test_no_interrupt_ends_the_process(monkeypatch, rng):
    """A kernel that returned tuples with names to Python ended it once in some hundred."""
    forced(monkeypatch, "simplex")
    problem = large("separable", 900, 900, "uniform", None)
    solve_dense(*problem, squared=True)
    seen = []

    def interrupt(*_):
        seen.append(1)
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        for seconds in rng.uniform(0.001, 0.08, 1000):
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
                solve_dense(*problem, squared=True)
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, previous)
    assert len(seen) > 500


@pytest.mark.parametrize("shape", [(20, 600), (600, 20)])
def test_equal_lines_across_the_longer_side_are_seen(shape, monkeypatch):
    """A draw had one entry of each: no hash in first prices, and all entries in the core."""
    rng = np.random.default_rng(0)
    long = rng.normal(size=max(shape))
    values = scaled(np.broadcast_to(long if shape[0] < 600 else long[:, None], shape).copy())
    a, b = np.full(shape[0], shape[1] // 5), np.full(shape[1], shape[0] // 5)
    assert instance(values, a, b, values.size).grid.nudged
    found = solve_dense(values, a, b, values.size, squared=True)
    assert found.stats["core"] < values.size // 2
    monkeypatch.setattr(candidates, "equal_neighbour_share", lambda c: 0.0)
    assert np.array_equal(solve_dense(values, a, b, values.size, squared=True).mask, found.mask)


def test_tables_of_long_lines_come_to_the_scan_once_pivots_are_too_many(monkeypatch):
    rng = np.random.default_rng(0)
    values = scaled(1 / (1 + np.exp(-rng.normal(size=(60, 1)) - rng.normal(size=(1, 3000)))))
    a, b, total = matrices.draw_caps(rng, 60, 3000, 600, 12, "varied", None)
    usual = solve_dense(values, a, b, total, squared=True)
    monkeypatch.setattr(dispatch, "MAX_PIVOTS_PER_ARC", -1.0)
    monkeypatch.setattr(network, "PIVOTS_PER_CALL", 20)
    found = solve_dense(values, a, b, total, squared=True)
    assert (usual.stats["path"], found.stats["path"]) == ("simplex", "small")
    assert np.array_equal(usual.mask, found.mask)


def test_ties_are_nudged_unless_that_would_drown_what_values_differ_by():
    rng = np.random.default_rng(0)
    caps = np.full(60, 9), np.full(80, 6), 400
    percent = np.round(1 / (1 + np.exp(rng.normal(size=(60, 1)) + rng.normal(size=(1, 80)))), 2)
    lines = np.repeat(rng.normal(size=(60, 1)), 80, axis=1)
    near = 1 + 1e-13 * rng.normal(size=(60, 80))
    for values, is_nudged in ((percent, True), (lines, True), (near, False)):
        found = instance(scaled(values), *caps)
        assert found.has_ties
        assert found.grid.nudged == is_nudged
        assert found.has_equal_lines == (values is lines)
    nothing = np.zeros((60, 80))
    for place in (1, 2):  # where the draw of every third has none
        nothing.reshape(-1)[place::300] = 1.0
    assert draw_sizes(nothing.reshape(-1)).size == 0
    found = solve_dense(nothing, np.full(60, 1), np.full(80, 2), 400, squared=True)
    assert found.mask.sum() == 16

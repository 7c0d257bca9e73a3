"""Ties of dense tables: exact prices among them, and the best support by hash."""

from itertools import product

import numpy as np
import pytest

from tests.core.projection.test_cost_scaling import instance, scanned, swept
from tests.core.projection.test_exact import CAPS, as_edges, draw_caps, scaled
from tvcs_core import TVCS
from tvcs_core.projection.exact import search, solve_dense
from tvcs_core.projection.exact.shortcuts import solve_small
from tvcs_core.projection.kernels.cost_scaling import direct
from tvcs_core.projection.kernels.cost_scaling.flow import TURNS, lay_out
from tvcs_core.projection.kernels.cost_scaling.potentials import make_exact
from tvcs_core.projection.kernels.cost_scaling.refine import refine
from tvcs_core.projection.kernels.cost_scaling.unique import is_only_best
from tvcs_core.projection.kernels.gains import tie
from tvcs_core.projection.small import project_small

pytestmark = pytest.mark.usefixtures("all_steps")

KINDS = {
    "few values": lambda rng, n, m: rng.integers(1, 4, (n, m)),
    "rows": lambda rng, n, m: np.repeat(rng.integers(1, 50, (n, 1)), m, axis=1),
    "columns": lambda rng, n, m: np.repeat(rng.normal(size=(1, m)), n, axis=0),
    "some columns": lambda rng, n, m: np.where(
        rng.random((1, m)) < 0.4, rng.random((1, m)), rng.random((n, 1)) * rng.random((1, m))
    ),
    "minima": lambda rng, n, m: np.minimum(rng.random((n, 1)), rng.random((1, m))),
    "maxima": lambda rng, n, m: np.maximum(rng.random((n, 1)), rng.random((1, m))),
    "clipped": lambda rng, n, m: np.minimum(np.abs(rng.normal(size=(n, m))), 0.7),
    "censored": lambda rng, n, m: np.maximum(np.abs(rng.normal(size=(n, m))), 0.7),
    "products": lambda rng, n, m: rng.integers(1, 11, (n, 1)) * rng.integers(1, 11, (1, m)),
    "steps": lambda rng, n, m: np.kron(rng.random((3, 3)), np.ones((n, m)))[::3, ::3],
    "zeros": lambda rng, n, m: rng.integers(0, 3, (n, m)),
    "one value": lambda rng, n, m: np.ones((n, m)),
}


def table(kind, rng, n, m):
    return scaled(np.ascontiguousarray(KINDS[kind](rng, n, m), dtype=float))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_the_scan_keeps_of_ties_what_a_list_keeps(kind, seed):
    rng = np.random.default_rng(seed)
    for n, m in ((30, 40), (55, 20), (3, 60)):
        problem = table(kind, rng, n, m), *draw_caps(rng, n, m, CAPS[rng.integers(len(CAPS))])
        found, keep = scanned(*problem)
        if found is not None:
            np.testing.assert_array_equal(keep, as_edges(*problem)[0])


def test_of_supports_that_are_as_good_the_one_of_the_best_hashes_is_kept():
    """Brute force: all supports of some cells, by gain and then by the sum of hashes."""
    rng, several = np.random.default_rng(8), 0
    for _ in range(40):
        n, m = [(2, 4), (3, 3), (4, 2), (2, 3)][rng.integers(4)]
        gains = rng.integers(1, 4, (n, m))
        a, b, total = draw_caps(rng, n, m, CAPS[rng.integers(len(CAPS))])
        i = instance(scaled(gains.astype(float)), a, b, total)
        if i is None:
            continue
        i.candidates = i.candidates._replace(squared=False)
        best, ties = (-1, -1), 0
        hashes = np.array([[tie(r, c, 0) for c in range(m)] for r in range(n)])
        for bits in product((False, True), repeat=n * m):
            keep = np.array(bits).reshape(n, m)
            if (keep.sum(1) > a).any() or (keep.sum(0) > b).any() or keep.sum() > total:
                continue
            worth = int(gains[keep].sum()), int(hashes[keep].sum())
            ties = 1 if worth[0] > best[0] else ties + (worth[0] == best[0])
            if worth > best:
                best, expected = worth, keep
        found = solve_small(i.candidates, i.caps)
        np.testing.assert_array_equal(found.mask.reshape(n, m), expected)
        several += ties > 1
    assert several > 15


def laid_out(i):
    """Return the flow of cost scaling at first prices, with the needs of all lines at the ends."""
    grid, caps = i.grid._replace(nudged=False), i.caps
    flow = direct.flow_at(caps, swept(i).prices, grid.steps)
    lay_out(i.candidates, caps, grid, flow)
    direct.lay_ends(flow, min(caps.total, min(caps.rows.sum(), caps.cols.sum()) + 1))
    return flow


def turns_of(i, has_ties):
    """Return the number of turns that cost scaling takes."""
    flow, clock = laid_out(i), np.zeros(4, np.int64)
    fits = np.int64(i.capacity)
    assert direct.settle_flow(flow, clock, swept(i).prices, i.grid.steps, fits, has_ties)
    return clock[TURNS]


@pytest.mark.parametrize("kind", KINDS)
def test_exact_prices_prove_the_flow_or_nothing_is_changed(kind):
    rng, right = np.random.default_rng(2), set()
    problem = table(kind, rng, 60, 70), *draw_caps(rng, 60, 70, CAPS[1])
    i = instance(*problem)
    flow, clock, nodes = laid_out(i), np.zeros(4, np.int64), 60 + 70 + 2
    eps, tail, head = i.grid.steps, *np.empty((2, 20 * nodes), np.int64)
    while eps > 1 and True not in right:
        assert refine(flow, int(eps), clock, 2**40)
        before = flow.price.copy()
        table_before = flow.table.copy()
        right.add(bool(make_exact(flow, clock, 5 * nodes)))
        np.testing.assert_array_equal(flow.table, table_before)
        assert (is_only_best(flow, tail, head) >= 0) == (True in right)
        if True not in right:
            np.testing.assert_array_equal(flow.price, before)
        eps /= 6
    assert True in right


@pytest.mark.parametrize("kind", KINDS)
def test_one_call_keeps_of_ties_what_the_usual_way_keeps(kind):
    rng = np.random.default_rng(5)
    for n, m in ((60, 70), (140, 100), (12, 240), (240, 12)):
        a, b, total = draw_caps(rng, n, m, CAPS[rng.integers(len(CAPS))])
        values = table(kind, rng, n, m)
        a, b, total = np.maximum(a, 1), np.maximum(b, 1), max(total, 1)
        expected = solve_dense(values, a, b, total, squared=True)
        tvcs = TVCS.matrix((n, m), row_caps=a, col_caps=b, total=total)
        found = project_small(values, tvcs)
        if found is not None:
            np.testing.assert_array_equal(found.support, expected.mask)
            assert found.gap <= 1e-12 * found.objective


@pytest.mark.parametrize("kind", ["columns", "maxima", "clipped", "some columns"])
def test_ties_end_phases_long_before_eps_does(kind):
    """20 phases down to eps 0, and up to 780 turns of each node."""
    rng = np.random.default_rng(3)
    values, caps = table(kind, rng, 100, 100), np.full(100, 20)
    for total in (1_600, 10_000):
        assert turns_of(instance(values, caps, caps, total), True) < 202 * 160


@pytest.mark.parametrize("n", [100, 300])
def test_values_that_hardly_differ_begin_with_an_eps_as_small(n):
    """It was a part of the prices themselves: 18 phases, of which 13 did nothing."""
    values, caps = 1 + 1e-13 * np.random.default_rng(1).normal(size=(n, n)), np.full(n, n // 5)
    for total, most in ((n * n, 60), (int(0.8 * n * n // 5), 200)):
        i = instance(scaled(values), caps, caps, total)
        assert turns_of(i, False) < most * 2 * (n + 1)


@pytest.mark.parametrize("of_rows", [True, False])
def test_ties_of_large_tables_come_to_the_scan_once_pivots_are_too_many(of_rows, monkeypatch):
    # The simplex alone took 2,500,000 pivots for such a table of 1000 x 1000.
    rng = np.random.default_rng(1)
    values = scaled(np.repeat(rng.normal(size=330)[:, None], 330, axis=1))
    values = values if of_rows else np.ascontiguousarray(values.T)
    a, b = rng.integers(1, 330, (2, 330))
    problem = values, a, b, values.size
    found = solve_dense(*problem, squared=True)
    assert found.stats["path"] == "small"
    monkeypatch.setattr(search, "pivot_budget", lambda *_: None)
    pivots = solve_dense(*problem, squared=True)
    assert pivots.stats["path"] == "simplex"
    assert pivots.stats["pivots in all"] > values.size // 4
    assert np.array_equal(pivots.mask, found.mask)


@pytest.mark.parametrize("of_rows", [True, False])
def test_equal_lines_of_which_a_total_takes_some_are_nearly_found_by_sweeps(of_rows):
    # A sample's price of the total was off by whole lines: up to 39,000 pivots.
    for seed in range(2):
        rng = np.random.default_rng(seed)
        values = scaled(np.repeat(rng.normal(size=(300, 1)), 2000, axis=1))
        a, b = np.full(300, 400), np.full(2000, 60)
        total = int(0.8 * min(a.sum(), b.sum()))
        if not of_rows:
            values, a, b = np.ascontiguousarray(values.T), b, a
        found = solve_dense(values, a, b, total, squared=True)
        assert found.stats["path"] == "simplex"
        assert found.stats["pivots in all"] < 3_000
        assert np.count_nonzero(found.mask) == total

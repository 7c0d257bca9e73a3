"""Caps of 1: bids assign most rows, paths the others, and the support is the only best one."""

import numpy as np
import pytest

from tests.core.projection.test_exact import FAMILIES, INTEGER, as_edges, proven, scaled
from tvcs_core.projection.exact import solve_dense
from tvcs_core.projection.exact.assigned import BIDS
from tvcs_core.projection.kernels import assignment


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize(("n", "m"), [(60, 60), (40, 90), (1, 3)])
def test_bids_leave_prices_that_prove_what_they_assign(family, n, m):
    gains = scaled(FAMILIES[family](np.random.default_rng([n, m]), n, m)) ** 2
    u, w, col_of, row_of = np.zeros(n), np.zeros(m), np.full(n, -1), np.full(m, -1)
    assignment.bid(gains.reshape(-1), m, 0, n, BIDS * n, u, w, col_of, row_of)
    rows = np.flatnonzero(col_of >= 0)
    assert np.array_equal(row_of[col_of[rows]], rows)
    assert (row_of >= 0).sum() == rows.size
    assert min(u.min(), w.min()) >= 0.0
    assert not w[row_of < 0].any()
    slack = u[:, None] + w - gains
    assert slack[rows].min(initial=0.0) >= -1e-15
    assert np.abs(slack[rows, col_of[rows]]).max(initial=0.0) <= 1e-15
    if family == "gauss":
        assert rows.size > 0.7 * n


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_caps_of_one_keep_what_the_simplex_keeps_of_a_list(family):
    rng = np.random.default_rng(sorted(FAMILIES).index(family))
    for _ in range(20):
        n, m = rng.integers(51, 90, 2)
        values = scaled(FAMILIES[family](rng, n, m))
        a, b = np.ones(n, np.int64), np.ones(m, np.int64)
        result = solve_dense(values, a, b, n * m, squared=True)
        proven(values, a, b, n * m, result, integer=family in INTEGER)
        keep, _ = as_edges(values, a, b, n * m, rng)
        assert np.array_equal(keep, result.keep)

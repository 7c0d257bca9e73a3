"""Tables of few lines: the support of the search of lists, and a proof."""

import numpy as np
import pytest
from scipy import sparse

from tvcs_core import TVCS, certify, project
from tvcs_core.projection.exact import solve_dense
from tvcs_core.projection.kernels.few import solve as few

VALUES = {
    "gauss": lambda rng, shape: rng.normal(size=shape),
    "products": lambda rng, shape: np.outer(rng.normal(size=shape[0]), rng.normal(size=shape[1])),
    "ties": lambda rng, shape: rng.integers(-3, 4, shape).astype(float),
    "binary": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "equal rows": lambda rng, shape: np.tile(rng.integers(0, 5, shape[1]) * 1.0, (shape[0], 1)),
    "equal columns": lambda rng, shape: np.repeat(
        rng.integers(0, 5, (shape[0], 1)) * 1.0, shape[1], 1
    ),
    "zeros": lambda rng, shape: rng.normal(size=shape) * (rng.random(shape) < 0.2),
    "row scales": lambda rng, shape: rng.normal(size=shape) * np.exp(9 * rng.random((shape[0], 1))),
    "near ties": lambda rng, shape: 1 + 1e-13 * rng.normal(size=shape),
}


def draw_caps(rng, k, m):
    """Caps and a total, now and then of 0, of 1, or none."""
    row_caps = rng.integers(0, rng.choice([2, 5, m]), k)
    col_caps = rng.integers(rng.integers(2), rng.choice([2, 3, k + 2]), m)
    total = rng.integers(0, min(row_caps.sum(), col_caps.sum()) + 2) if rng.random() < 0.5 else None
    if rng.random() < 0.1:
        row_caps[:] = 10**9
    return row_caps, col_caps, total


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("values", VALUES)
def test_few_lines_keep_what_the_list_of_their_entries_keeps(values, is_turned):
    rng = np.random.default_rng(3)
    for k in (1, 1, 2, 3, 4, 5, 6, 8, 11, 16, 32) * 2:
        m = int(rng.integers(few.MIN_ASPECT_RATIO * k + 1, 18 * k + 60))
        V, (row_caps, col_caps, total) = VALUES[values](rng, (k, m)), draw_caps(rng, k, m)
        V *= rng.choice([1.0, 1e100, 1e-100])
        if is_turned:
            V, row_caps, col_caps = V.T.copy(), col_caps, row_caps
        constraint = TVCS.matrix(V.shape, row_caps=row_caps, col_caps=col_caps, total=total)
        found, listed = project(V, constraint), project(sparse.csr_array(V), constraint)
        assert found.gap <= 1e-11 * found.objective
        differ = found.support != listed.support.toarray()
        assert not (differ & (V != 0)).any(), k


@pytest.mark.parametrize("values", ["gauss", "products", "ties"])
@pytest.mark.parametrize("shape", [(10, 1000), (1000, 10), (16, 300), (2, 6000)])
def test_sampled_columns_give_the_first_prices_of_long_tables(values, shape):
    rng = np.random.default_rng(4)
    V = VALUES[values](rng, shape)
    caps = np.full(shape[0], max(1, shape[1] // 5)), np.full(shape[1], max(1, shape[0] // 5))
    for total in (V.size, int(0.7 * min(caps[0].sum(), caps[1].sum()))):
        found = solve_dense(V, *caps, total, squared=True)
        # Without the samples every unit beyond a cap would be sent: some thousands.
        assert found.stats["path"] == "closed form" or found.stats["sent"] < 700
        constraint = TVCS.matrix(shape, row_caps=caps[0], col_caps=caps[1], total=total)
        projection = project(V, constraint)
        assert certify(projection).optimal
        assert np.array_equal(projection.support, found.mask)


def test_prices_are_the_middle_between_what_is_kept_and_what_is_not():
    V = np.sqrt(np.arange(1.0, 21.0))[np.newaxis]
    projection = project(V, TVCS.matrix(V.shape, row_caps=3))
    assert projection.support.sum() == 3
    assert 17.0 < projection.row_duals[0] < 18.0
    by_total = project(V, TVCS.matrix(V.shape, total=3))
    assert 17.0 < by_total.total_dual < 18.0

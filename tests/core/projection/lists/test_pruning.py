"""Entries that no best support needs are not looked at, and that changes nothing."""

import numpy as np
import pytest
from scipy import sparse

from tvcs_core import TVCS, certify, project
from tvcs_core.projection.exact import pruning, search, solve_dense

VALUES = {
    "gauss": lambda rng, shape: rng.normal(size=shape),
    "ties": lambda rng, shape: rng.integers(-3, 4, shape).astype(float),
    "binary": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "heavy tails": lambda rng, shape: np.exp(3 * rng.normal(size=shape)),
    "zeros": lambda rng, shape: rng.normal(size=shape) * (rng.random(shape) < 0.3),
    "near ties": lambda rng, shape: 1 + 1e-13 * rng.normal(size=shape),
}


@pytest.fixture
def masks(monkeypatch):
    """Return the masks of needed entries, None where all were looked at."""
    found, prune = [], search.prune
    monkeypatch.setattr(search, "prune", lambda *a: found.append(prune(*a)) or found[-1])
    monkeypatch.setattr(search, "is_small_table", lambda *_: False)
    monkeypatch.setattr(pruning, "MIN_PRUNED", 0)
    return found


@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("values", VALUES)
def test_the_needed_entries_alone_have_the_best_support(values, as_list, masks, monkeypatch):
    rng = np.random.default_rng(5)
    for k in range(40):
        shape = int(rng.integers(1, 6)), int(rng.integers(40, 200))
        V = VALUES[values](rng, shape)
        caps = rng.integers(k % 2, 6, shape[0]), rng.integers(k % 3 > 0, 3, shape[1])
        if k % 4 > 1:
            V, caps = V.T.copy(), caps[::-1]
        total = None if k % 3 else int(rng.integers(1, 12))
        constraint = TVCS.matrix(V.shape, row_caps=caps[0], col_caps=caps[1], total=total)
        found = project(sparse.csr_array(V) if as_list else V * 1.0, constraint)
        assert certify(found).optimal, k
        with monkeypatch.context() as patched:
            patched.setattr(search, "prune", lambda *_: None)
            whole = project(sparse.csr_array(V), constraint)
        support = found.support.toarray() if as_list else found.support
        assert np.array_equal(support & (V != 0), whole.support.toarray()), k
    used = [mask for mask in masks if mask is not None]
    assert len(used) > 5


def test_long_rows_with_small_caps_are_cut_to_a_few_entries(masks):
    V = np.random.default_rng(6).normal(size=(10, 1000))
    a, b = np.full(10, 3), np.ones(1000, np.int64)
    found = solve_dense(V, a, b, V.size, squared=True)
    # Others keep 27 entries, in as many columns: 3 + 27 + 1 of each row.
    assert np.count_nonzero(masks[0]) == 10 * 31
    assert found.stats["needed"] == 310
    kept = np.sort(-np.abs(V), axis=1)[:, 30]
    assert (masks[0].reshape(V.shape) == (-np.abs(V) <= kept[:, None])).all()


def test_how_many_are_needed():
    caps, sizes = np.array([2, 0, 9]), np.array([50, 0, 4])
    across, sizes_across = np.array([1, 2, 3, 0, 5]), np.array([3, 3, 3, 0, 5])
    # At most 6 are kept. Columns with caps of 3, 0 and 5 are never full of others.
    needed = pruning.most_needed(6, caps, sizes, across, sizes_across)
    assert needed.tolist() == [2 + 2 + 1, 0, 4]


def test_entries_that_share_row_and_column_are_all_looked_at(masks):
    rng = np.random.default_rng(7)
    row, col = np.repeat([0, 1], 300), rng.integers(0, 40, 600)
    constraint = TVCS.groups(row, col, row_caps=2, col_caps=1)
    assert certify(project(rng.normal(size=600), constraint)).optimal
    assert masks == [None]

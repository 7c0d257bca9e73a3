"""Lists of candidates: paths keep what HiGHS keeps, and their work grows like the list."""

import signal
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from tests.core.projection.test_exact import (
    by_highs,
    check_interrupted,
    seconds_of,
    seconds_to_interrupt,
)
from tvcs_core import TVCS, certify, project
from tvcs_core.projection.exact import listed, search, solve_edges

VALUES = {
    "gauss": lambda rng, size: rng.normal(size=size),
    "ties": lambda rng, size: rng.integers(0, 4, size).astype(float),
    "ones": lambda rng, size: np.ones(size),
    "huge and tiny": lambda rng, size: 10.0 ** rng.integers(-60, 60, size),
}
SHAPES = [(1, 1), (1, 9), (9, 1), (3, 3), (6, 8), (4, 20)]
CAPS = [(0, 2), (1, 2), (0, 4), (2, 30)]


def random_list(rng, side, size, values="gauss"):
    """Return rows, columns and values of entries drawn anywhere in a square."""
    at = np.unique(rng.integers(0, side * side, size))
    return at // side, at % side, VALUES[values](rng, at.size)


@pytest.fixture
def paths_only(monkeypatch):
    """Send lists of every size to the paths; return the ways that were taken."""
    taken, solve_list = [], search.solve_list

    def solve(*arguments):
        taken.append(found := solve_list(*arguments))
        return found

    monkeypatch.setattr(search, "is_small_table", lambda *_: False)
    monkeypatch.setattr(search, "prune", lambda *_: None)
    monkeypatch.setattr(search, "closed_form", lambda *_: None)
    monkeypatch.setattr(search, "solve_list", solve)
    return taken


@pytest.mark.parametrize("values", VALUES)
def test_paths_keep_what_the_table_and_highs_keep(values, paths_only):
    rng = np.random.default_rng(1)
    for k in range(60):
        shape, (least, most) = SHAPES[k % len(SHAPES)], CAPS[k % len(CAPS)]
        V = VALUES[values](rng, shape) * (rng.random(shape) < 0.7)
        caps = [rng.integers(least, most, size) for size in shape]
        total = None if k % 2 else int(rng.integers(1, V.size + 1))
        constraint = TVCS.matrix(shape, row_caps=caps[0], col_caps=caps[1], total=total)
        found = project(sparse.csr_array(V), constraint)
        assert np.array_equal(found.support.toarray(), project(V, constraint).support & (V != 0)), k
        assert certify(found).optimal, k
        if values != "huge and tiny":
            best = by_highs(V * V, constraint.row_caps, constraint.col_caps, constraint.total)
            assert found.objective == pytest.approx(best, rel=1e-7, abs=1e-9), k
    assert len(paths_only) > 20


@pytest.mark.parametrize("total", [None, 300])
@pytest.mark.parametrize("values", ["gauss", "ties", "ones"])
def test_any_first_prices_lead_to_the_same_support(values, total, paths_only, monkeypatch):
    rng = np.random.default_rng(2)
    row, col, v = random_list(rng, 60, 1800, values)
    V = sparse.coo_array((v, (row, col)), shape=(60, 60))
    constraint = TVCS.matrix((60, 60), row_caps=7, col_caps=5, total=total)
    monkeypatch.setattr(listed, "MIN_ENTRIES_SCALED", 10**9)
    cold = project(V, constraint)
    monkeypatch.setattr(listed, "MIN_ENTRIES_SCALED", 0)
    scaled = [project(V, constraint)]
    monkeypatch.setattr(listed, "LOOKS_PER_CALL", 1)
    scaled.append(project(V, constraint))
    monkeypatch.setattr(listed, "MAX_LOOKS_PHASE", 2)  # phases are cut short
    scaled.append(project(V, constraint))
    for most in (2, 2**55):
        prices = rng.integers(0, most, 61)
        monkeypatch.setattr(listed.ListSearch, "first_prices", lambda *_, of=prices: (of, 0))
        scaled.append(project(V, constraint))
    for other in scaled:
        assert (other.support != cold.support).nnz == 0
        assert certify(other).optimal


@pytest.mark.parametrize(("n", "m"), [(100, 1500), (600, 600)])
@pytest.mark.parametrize("share", [None, 0.5])
@pytest.mark.parametrize("cap", [1, 5, 20])
def test_thick_lists_of_separable_values_take_few_looks(cap, share, n, m, paths_only):
    for family in ("sums", "products"):
        rng = np.random.default_rng(cap)
        row, col = np.divmod(np.flatnonzero(rng.random(n * m) < 0.2), m)
        of_row, of_col = rng.normal(size=n)[row], rng.normal(size=m)[col]
        values = of_row + of_col if family == "sums" else of_row * of_col
        V = sparse.coo_array((values, (row, col)), shape=(n, m))
        total = None if share is None else int(share * cap * n)
        constraint = TVCS.matrix((n, m), row_caps=cap, col_caps=cap, total=total)
        assert certify(project(V, constraint)).optimal
        assert paths_only[-1].stats["looks"] < 200 * row.size


@pytest.mark.parametrize("values", ["gauss", "ties", "ones"])
@pytest.mark.parametrize("share", [None, 0.5])
def test_the_work_of_a_thin_list_grows_like_its_size(values, share, monkeypatch):
    looks = []
    solve_list = search.solve_list
    monkeypatch.setattr(search, "solve_list", lambda *a: looks.append(solve_list(*a)) or looks[-1])
    for side in (1_000, 16_000):
        row, col, v = random_list(np.random.default_rng(3), side, 3 * side, values)
        total = None if share is None else int(share * side)
        constraint = TVCS.matrix((side, side), row_caps=1, col_caps=1, total=total)
        V = sparse.coo_array((v, (row, col)), shape=(side, side))
        assert certify(project(V, constraint)).optimal
    small, large = (found.stats["looks"] for found in looks)
    assert large < 16**1.2 * small


def test_entries_with_the_same_hash_do_not_stop_the_search(paths_only):
    row, col = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 0, 1])
    none, values = np.zeros(5, np.int64), np.ones(5)
    for total in (1, 2, 5):
        caps = np.array([1, 2]), np.array([2, 1])
        found = solve_edges(row, col, none, values, *caps, total, squared=True)
        assert np.count_nonzero(found.mask) == min(total, 3)


def test_a_row_that_has_no_group_takes_all_that_it_wants_at_once(paths_only):
    rng, size = np.random.default_rng(4), 3000
    constraint = TVCS.groups(None, rng.integers(0, 700, size), col_caps=2, total=1000)
    found = project(rng.normal(size=size), constraint)
    assert certify(found).optimal
    assert paths_only[0].stats["looks"] < 60 * size


@pytest.mark.parametrize("values", ["gauss", "ties", "ones"])
def test_of_several_entries_in_one_row_and_column_the_best_are_kept(values, paths_only):
    rng = np.random.default_rng(6)
    for k in range(40):
        row_of, col_of = rng.integers(-1, 8, 150), rng.integers(-1, 20, 150)
        caps, total = (int(rng.integers(1, 8)), int(rng.integers(1, 5))), int(rng.integers(1, 60))
        constraint = TVCS.groups(row_of, col_of, row_caps=caps[0], col_caps=caps[1], total=total)
        V = VALUES[values](rng, 150)
        assert certify(project(V, constraint)).optimal, k
        program = project(V, constraint, method="lp")
        assert project(V, constraint).objective == pytest.approx(program.objective, rel=1e-9), k
    assert len(paths_only) > 40


@pytest.mark.parametrize("values", ["gauss", "ties", "ones"])
def test_a_wrong_guess_of_the_price_of_the_total_changes_nothing(values, paths_only, monkeypatch):
    rng = np.random.default_rng(5)
    row, col, v = random_list(rng, 60, 1800, values)
    V = sparse.coo_array((v, (row, col)), shape=(60, 60))
    for cap, total in ((1, 20), (5, 150), (20, 600)):
        constraint = TVCS.matrix((60, 60), row_caps=cap, col_caps=cap, total=total)
        found = []
        for guess in (0.0, 2.0**-20, 0.05, 0.1, 0.25):
            monkeypatch.setattr(listed, "likely_price", lambda _, of=guess: of)
            found.append(project(V, constraint))
        assert all((other.support != found[0].support).nnz == 0 for other in found)
        assert all(certify(other).optimal for other in found)


@pytest.mark.parametrize("values", ["gauss", "ties"])
def test_entries_below_the_price_of_the_total_are_left_out(values, paths_only, monkeypatch):
    sizes, list_search = [], listed.ListSearch
    rng = np.random.default_rng(7)

    def searched(instance, least):
        search = list_search(instance, least)
        sizes.append(search.position.size)
        return search

    monkeypatch.setattr(listed, "ListSearch", searched)
    row, col, v = random_list(rng, 200, 8000, values)
    V = sparse.coo_array((v, (row, col)), shape=(200, 200))
    found = project(V, TVCS.matrix((200, 200), row_caps=2, col_caps=2, total=150))
    assert certify(found).optimal
    assert len(sizes) == 1
    assert sizes[0] < 0.3 * row.size


def sparse_list(side, size):
    row, col, values = random_list(np.random.default_rng(0), side, size)
    return sparse.csr_array((values, (row, col)), shape=(side, side))


needs_timer = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="needs a timer that interrupts"
)


@needs_timer
def test_an_interrupt_stops_a_long_projection_of_a_list():
    constraint = TVCS.matrix((100_000, 100_000), row_caps=1, col_caps=1, total=50_000)
    check_interrupted(partial(project, sparse_list(100_000, 300_000), constraint))


@needs_timer
@pytest.mark.slow
@pytest.mark.parametrize("side", [1000, 300_000])
def test_an_interrupt_ends_a_projection_of_a_million_entries_within_a_second(side, rng):
    V = rng.normal(size=(side, side)) if side == 1000 else sparse_list(side, 1_000_000)
    constraint = TVCS.matrix((side, side), row_caps=1, col_caps=2, total=side // 2)
    projected = partial(project, V, constraint)
    whole = seconds_of(projected)
    for after in (whole / 16, whole / 8, whole / 4, whole / 2):
        assert seconds_to_interrupt(projected, after) < after + 1.0

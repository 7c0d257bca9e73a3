"""What prices leave between a support and any other, by hand."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from tvcs_core import TVCS, certify, project
from tvcs_core.projection.entries import enter
from tvcs_core.projection.gap import _exact_violation, _with_room, upwards

V = np.array([[3.0, 2.0], [1.0, 5.0]])
# Gains less prices: 4.5 and -4, -4.5 and 16.
SOLVED = SimpleNamespace(
    mask=np.array([[True, True], [False, False]]),
    row_duals=np.array([1.0, 2.0]),
    col_duals=np.array([0.5, 4.0]),
    total_dual=3.0,
)


def wrong(constraint, places, values=V, solved=SOLVED):
    return _exact_violation(enter(values, constraint), constraint, solved, np.array(places))


def test_only_what_is_on_the_wrong_side_of_its_prices_counts():
    free = TVCS.matrix((2, 2))
    assert wrong(free, [0, 1, 2, 3]) == 4 + 16
    assert (wrong(free, [1]), wrong(free, [3]), wrong(free, [0, 2])) == (4, 16, 0)


@pytest.mark.parametrize(
    ("caps", "hidden"),
    [({"row_caps": [1, 0]}, 4), ({"col_caps": [1, 0]}, 0), ({"total": 0}, 0), ({"total": 1}, 20)],
)
def test_what_a_cap_of_0_leaves_out_is_on_no_side(caps, hidden):
    assert wrong(TVCS.matrix((2, 2), **caps), [0, 1, 2, 3]) == hidden


def test_an_entry_in_no_group_has_no_price_of_one():
    constraint = TVCS.groups([0, -1, 0], [-1, 0, 0])
    solved = SimpleNamespace(
        mask=np.array([False, False, False]),
        row_duals=np.array([1.0]),
        col_duals=np.array([2.0]),
        total_dual=0.5,
    )
    found = [wrong(constraint, [e], np.array([2.0, 2.0, 2.0]), solved) for e in range(3)]
    assert found == [4 - 1.5, 4 - 2.5, 4 - 3.5]


def test_stored_entries_are_looked_up_where_they_stand():
    constraint = TVCS.matrix((2, 2), row_caps=2)
    stored = sparse.csr_array(np.array([[0.0, 2.0], [0.0, 5.0]]))
    solved = SimpleNamespace(**{**vars(SOLVED), "mask": np.array([True, False])})
    assert wrong(constraint, [0, 1], stored, solved) == 4 + 16


def test_what_is_hidden_is_never_rounded_down():
    constraint = TVCS.groups([0, 1], None)
    solved = SimpleNamespace(
        mask=np.array([False, True]),
        row_duals=np.array([0.0, 2.0**-60]),
        col_duals=np.zeros(0),
        total_dual=0.0,
    )
    assert wrong(constraint, [0, 1], np.array([1.0, 0.0]), solved) == np.nextafter(1.0, 2)


def test_prices_of_caps_with_room_are_paid_for_what_is_left():
    constraint = TVCS.groups(
        [0, 0, 1, -1], [0, 1, -1, 1], row_caps=[2, 1], col_caps=[1, 2], total=3
    )
    solved = SimpleNamespace(
        mask=np.array([True, False, True, False]),
        row_duals=np.array([1.0, 10.0]),
        col_duals=np.array([100.0, 1000.0]),
        total_dual=10_000.0,
    )
    entries = enter(np.ones(4), constraint)
    assert _with_room(entries, constraint, solved, 0.5) == 0.5 + 1 + 2 * 1000 + 10_000


@pytest.mark.parametrize(
    ("number", "unit", "up"),
    [(1.0, 3, 8.0), (1.0, -1075, 2.0**-1074), (3.0, -1075, 2.0**-1073), (2.0, -1075, 2.0**-1074)],
)
def test_what_underflows_is_rounded_up(number, unit, up):
    assert upwards(number, unit) == up


def test_a_bound_is_what_is_kept_and_the_gap():
    sound = project([3.0, 0.0], TVCS.groups([0, 0], None, total=1))
    assert (sound.bound, sound.relative_gap) == (9.0, 0.0)
    loose = replace(sound, gap=1.5)
    assert (loose.bound, loose.relative_gap) == (10.5, 1.5 / 9)
    assert replace(loose, objective=0.0).relative_gap == math.inf


@pytest.mark.parametrize(
    "kind", ["plain", "ones", "mask", "matrix", "halves", "one-sided", "sparse", "groups"]
)
@pytest.mark.parametrize("seed", range(8))
def test_whole_numbers_are_proved_without_a_gap(kind, seed):
    rng = np.random.default_rng([seed, len(kind)])
    shape = tuple(rng.integers(2, 14, 2))
    large = (3, 9, 50, 1000)[seed % 4]
    values = rng.integers(-large, large + 1, shape)
    lower, upper = -rng.integers(0, large + 1, shape), rng.integers(0, large + 1, shape)
    caps = {"total": int(rng.integers(1, sum(shape)))}
    if kind == "halves":
        caps["bounds"] = lower / 2, upper / 2
    elif kind == "one-sided":
        caps["bounds"] = -np.inf, upper.astype(float)
    elif kind == "mask":
        caps["allowed"] = rng.random(shape) < 0.8
    elif kind not in ("plain", "ones"):
        caps["bounds"] = lower, upper
    if kind == "groups":
        labels = rng.integers(-1, 4, (2, *shape))
        constraint = TVCS.groups(*labels, row_caps=2, col_caps=3, **caps)
    else:
        rows, cols = rng.integers(0, 4, shape[0]), rng.integers(0, 4, shape[1])
        if kind == "ones":
            rows, cols, caps = 1, 1, {}
        constraint = TVCS.matrix(shape, row_caps=rows, col_caps=cols, **caps)
    values = values * 2.0 ** (-300 if kind == "plain" else 0)
    values = sparse.coo_array(values) if kind == "sparse" else values
    assert project(values, constraint).gap == 0.0


def test_caps_above_the_allowed_entries_of_one_line_have_no_price(rng):
    for _ in range(300):
        size = int(rng.integers(1, 40))
        V = rng.integers(-4, 5, (1, size)) * 2.0**-5
        allowed = rng.random((1, size)) < rng.random()
        most = min(size, int(allowed.sum()) + int(rng.integers(0, 4)))
        constraint = TVCS.matrix(V.shape, row_caps=most, total=most, allowed=allowed)
        found = project(V, constraint)
        assert certify(found).exact
        assert found.gap == 0.0
        assert most == allowed.sum() or found.row_duals[0] == found.total_dual == 0.0
        assert np.array_equal(found.support, allowed & (V != 0))


@pytest.mark.parametrize(
    "caps",
    [
        {"total": 90},
        {"row_caps": 3},
        {"col_caps": 4, "total": 50},
        {"row_caps": [0, *[3] * 59], "total": 120},
    ],
)
def test_the_best_of_every_line_leave_no_gap(caps, all_steps, rng):
    constraint = TVCS.matrix((60, 60), **caps)
    for _ in range(5):
        found = project(rng.normal(size=(60, 60)), constraint)
        assert found.gap == 0.0
        assert certify(found).optimal
    found = project(rng.integers(-90, 91, (60, 60)), constraint)
    prices = np.concatenate([found.row_duals, found.col_duals, [found.total_dual]])
    assert (prices == np.rint(prices)).all()
    assert certify(found).exact

import copy
import pickle

import numpy as np
import pytest

from tvcs_core import TVCS


def test_a_cap_may_be_one_integer_or_a_vector_and_none_means_no_cap():
    constraint = TVCS.matrix((2, 3), row_caps=2, col_caps=[0, 1, 9])
    assert constraint.row_caps.tolist() == [2, 2]
    assert constraint.col_caps.tolist() == [0, 1, 2]
    assert constraint.total == 6


def test_whole_floats_are_caps_and_caps_beyond_the_group_are_clipped():
    assert TVCS.matrix((2, 3), row_caps=2.0, total=1e300).total == 6
    assert TVCS.matrix((2, 3), row_caps=2.0, total=10**300).total == 6
    assert TVCS.matrix((2, 3), row_caps=np.float32(7)).row_caps.tolist() == [3, 3]


def test_a_vector_of_caps_says_how_many_groups_there_are():
    constraint = TVCS.groups([0, 0, -1], None, row_caps=[1, 5, 5])
    assert constraint.row_caps.tolist() == [1, 0, 0]
    assert constraint.col_caps.size == 0


def test_doubling_doubles_every_cap_and_the_total_within_the_groups():
    doubled = TVCS.matrix((2, 3), row_caps=[1, 2], col_caps=1, total=2, bounds=(0, 1)).doubled
    assert doubled.row_caps.tolist() == [2, 3]
    assert doubled.col_caps.tolist() == [2, 2, 2]
    assert doubled.total == 4
    assert doubled.bounds is None


def test_a_constraint_cannot_be_changed_behind_its_back():
    caps = np.array([1, 2])
    constraint = TVCS.matrix((2, 3), row_caps=caps)
    caps[0] = 3
    assert constraint.row_caps.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        constraint.row_caps[0] = 3


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_a_copy_cannot_be_changed_either(again):
    constraint = TVCS.groups(
        [0, 1, 1], [0, 0, -1], row_caps=1, allowed=[True, True, False], bounds=(0.0, [1, 2, 3])
    )
    assert constraint.labels[0].size == 3  # what is kept at hand is not what makes it another
    copied = again(constraint)
    arrays = [copied.row_of, copied.col_of, copied.row_caps, copied.col_caps, copied.allowed]
    for array in (*arrays, *copied.bounds):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    assert copied.total == constraint.total
    assert (copied.bounds[1] == [1, 2, 3]).all()


def test_a_support_is_feasible_if_it_keeps_every_cap_the_total_and_what_is_allowed():
    allowed = np.array([[True, True, True], [True, True, False]])
    constraint = TVCS.matrix((2, 3), row_caps=2, col_caps=[1, 2, 1], total=3, allowed=allowed)
    rows = np.array([[False, True, True], [True, False, False]])
    assert constraint.is_feasible(rows)
    for more, why in (((1, 1), "total"), ((0, 0), "row"), ((1, 2), "not allowed")):
        support = rows.copy()
        support[more] = True
        assert not constraint.is_feasible(support), why
    assert not constraint.is_feasible(np.array([[True, False, False], [True, False, False]]))
    only_total = TVCS.matrix((2, 3), total=3)
    assert only_total.is_feasible(rows)
    assert not only_total.is_feasible(np.array([[True, True, True], [True, False, False]]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"row_caps": -1}, "row_caps must be >= 0, but row_caps is -1"),
        ({"row_caps": [1, -2]}, r"row_caps must be >= 0, but row_caps\[1\] is -2"),
        ({"col_caps": [1, 2]}, "col_caps must be one integer or 3 of them"),
        ({"col_caps": 1.5}, "col_caps must be an integer, but col_caps is 1.5"),
        ({"total": np.nan}, "total must be an integer, but total is nan"),
        ({"total": -3}, "total must be >= 0"),
        ({"row_caps": "many"}, "row_caps must be integers >= 0, found"),
        ({"row_caps": True}, "row_caps must be integers >= 0, found bool"),
        ({"allowed": np.ones((3, 2), bool)}, r"allowed must have shape \(2, 3\), found \(3, 2\)"),
        ({"allowed": np.ones((2, 3))}, "allowed must be booleans, found float64"),
        ({"bounds": (1, 2)}, "lower must be <= 0 so that 0 lies inside, found 1.0"),
        ({"bounds": (0, np.nan)}, "upper must be >= 0 so that 0 lies inside, found nan"),
        ({"bounds": (0, [1, 2])}, r"upper must broadcast to shape \(2, 3\), found \(2,\)"),
        ({"bounds": 1}, "bounds must be a pair"),
    ],
)
def test_what_is_wrong_with_a_constraint_is_said(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TVCS.matrix((2, 3), **arguments)


@pytest.mark.parametrize(
    ("row_of", "col_of", "caps", "message"),
    [
        ([0, -2], None, {}, r"row_of must be >= -1, but row_of\[1\] is -2"),
        (
            [0, 3],
            None,
            {"row_caps": [1, 1]},
            r"below the number of row_caps \(2\), but row_of\[1\]",
        ),
        ([0.5, 1], None, {}, "row_of must be integers >= -1, found float64"),
        ([0, 1], [0], {}, r"must have one shape, found \(2,\) and \(1,\)"),
        (None, None, {}, "at least one must be given"),
        ([], None, {}, "must hold at least one label"),
    ],
)
def test_what_is_wrong_with_labels_is_said(row_of, col_of, caps, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TVCS.groups(row_of, col_of, **caps)


@pytest.mark.parametrize("shape", [(0, 3), (2,), (2.5, 3), 4, (2, 3, 4)])
def test_a_shape_is_two_positive_integers(shape):
    with pytest.raises(ValueError, match="shape must be two integers >= 1, found"):
        TVCS.matrix(shape)

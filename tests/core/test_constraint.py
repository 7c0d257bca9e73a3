import copy
import importlib
import importlib.metadata
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


@pytest.mark.parametrize("cap", [2**70, 10**30])
def test_integers_beyond_those_of_numpy_are_no_caps(cap):
    wide = TVCS.matrix((1, 200), row_caps=cap)
    assert wide.row_caps.tolist() == [200]
    assert TVCS.matrix((1, 200), row_caps=150).row_caps.tolist() == [150]
    with pytest.raises(ValueError, match="row_caps must be >= 0"):
        TVCS.matrix((1, 200), row_caps=-cap)


def test_a_view_without_groups_has_every_variable_in_none():
    by_row = TVCS.groups([0, 1, 1], None, row_caps=1)
    by_col = TVCS.groups(None, [0, 1, 1], col_caps=1)
    assert by_row.col_of.tolist() == by_col.row_of.tolist() == [-1, -1, -1]
    assert by_row.row_of.tolist() == by_col.col_of.tolist() == [0, 1, 1]
    assert (by_col.row_caps.size, by_col.col_caps.tolist()) == (0, [1, 1])


def test_what_is_shown_says_of_which_kind_it_is():
    matrix = TVCS.matrix((2, 3), row_caps=1, total=2)
    assert repr(matrix) == "TVCS.matrix(shape=(2, 3), rows=2, columns=3, total=2)"
    groups = TVCS.groups([0, 1, 1], None, row_caps=1)
    assert repr(groups) == "TVCS.groups(shape=(3,), rows=2, columns=0, total=3)"


def test_the_groups_of_a_matrix_are_its_rows_and_columns():
    constraint = TVCS.matrix((2, 3), row_caps=1)
    assert [sizes.tolist() for sizes in constraint.group_sizes] == [[3, 3], [2, 2, 2]]
    assert [labels.tolist() for labels in constraint.labels] == [[0, 0, 0, 1, 1, 1], [0, 1, 2] * 2]
    at = constraint.labels_at(np.array([4, 2]))
    assert [labels.tolist() for labels in at] == [[1, 0], [1, 2]]
    assert constraint.pair_ranks.tolist() == [0] * 6


def test_groups_are_counted_and_looked_up_in_the_order_of_the_variables():
    row_of = [[1, 0, 1], [1, -1, 0]]
    col_of = [[2, 0, 2], [2, 1, 1]]
    constraint = TVCS.groups(row_of, col_of, row_caps=[1, 2, 1], col_caps=1, total=2)
    assert [sizes.tolist() for sizes in constraint.group_sizes] == [[2, 3, 0], [1, 2, 3]]
    at = constraint.labels_at(np.array([5, 0]))
    assert [labels.tolist() for labels in at] == [[0, 1], [1, 2]]
    assert constraint.pair_ranks.tolist() == [0, 0, 1, 2, 0, 0]  # of (1, 2) there are three
    assert TVCS.groups([0, 0, 1, 0], [0, 0, 0, 0]).pair_ranks.tolist() == [0, 1, 0, 2]
    doubled = constraint.doubled
    assert (doubled.row_caps.tolist(), doubled.col_caps.tolist()) == ([2, 3, 0], [1, 2, 2])
    assert doubled.total == 4


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
    ("caps", "is_feasible"),
    [
        ({}, True),
        ({"row_caps": [2, 1]}, True),
        ({"row_caps": [1, 1]}, False),  # the other row keeps its cap
        ({"col_caps": [2, 1, 1]}, True),
        ({"col_caps": [1, 1, 1]}, False),
        ({"total": 2}, False),
        ({"allowed": [[True, True, True], [True, False, False]]}, True),
        ({"allowed": [[True, False, True], [True, True, True]]}, False),
    ],
)
def test_one_cap_that_is_not_kept_is_enough(caps, is_feasible):
    support = np.array([[True, True, False], [True, False, False]])
    assert TVCS.matrix((2, 3), **caps).is_feasible(support) == is_feasible


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"row_caps": -1}, "row_caps must be >= 0, but row_caps is -1"),
        ({"row_caps": [1, -2]}, r"row_caps must be >= 0, but row_caps\[1\] is -2"),
        ({"row_caps": [0, -1]}, r"row_caps must be >= 0, but row_caps\[1\] is -1"),
        (
            {"row_caps": [[1], [1]]},
            r"one integer or 2 of them, one per group, found shape \(2, 1\)",
        ),
        ({"col_caps": [2, 1.5, 1]}, r"col_caps must be an integer, but col_caps\[1\] is 1.5"),
        ({"bounds": (0, -0.5)}, r"upper bounds must be >= 0 .* upper bounds is -0.5"),
        (
            {"bounds": ([-1, 0.5, 0], 0)},
            r"lower bounds must be <= 0 so that 0 .* but lower bounds\[1\] is 0.5",
        ),
        ({"col_caps": [1, 2]}, "col_caps must be one integer or 3 of them"),
        ({"row_caps": [[1, 2], [3]]}, "row_caps must be an array with rows of one length"),
        ({"row_caps": MASKED.astype(int)}, "row_caps must have no masked values, found 1"),
        ({"allowed": [[True], [True, False]]}, "allowed must be an array with rows of one length"),
        ({"bounds": (0, MASKED)}, "bounds must have no masked values, found 1"),
        ({"row_caps": []}, r"one integer or 2 of them, one per group, found shape \(0,\)"),
        ({"total": [3]}, "total must be one integer, found list"),
        ({"col_caps": 1.5}, "col_caps must be an integer, but col_caps is 1.5"),
        ({"total": np.nan}, "total must be an integer, but total is nan"),
        ({"total": -3}, "total must be >= 0"),
        ({"row_caps": "many"}, "row_caps must be integers >= 0, found"),
        ({"row_caps": True}, "row_caps must be integers >= 0, found bool"),
        ({"row_caps": [1, None]}, "found None among them; a cap as large as the group is no cap"),
        ({"total": np.inf}, "total must be finite, found inf; a cap as large"),
        ({"allowed": np.ones((3, 2), bool)}, r"allowed must have shape \(2, 3\), found \(3, 2\)"),
        ({"allowed": np.ones((2, 3))}, "allowed must be booleans, found float64"),
        ({"bounds": (1, 2)}, "lower bounds must be <= 0 so that 0 .* is 1.0"),
        ({"bounds": (0, np.nan)}, r"\(inf and -inf are no bound\), but upper bounds is nan"),
        ({"bounds": (None, 1)}, "lower bounds is nan"),
        ({"bounds": (0, [1, 2])}, r"upper must broadcast to shape \(2, 3\), found \(2,\)"),
        ({"bounds": 1}, "bounds must be a pair"),
        ({"bounds": (0, np.array([1j]))}, "bounds must be an array of real numbers"),
    ],
)
def test_a_wrong_constraint_is_refused(arguments, message):
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
            r"below the number of row_caps \(2\), but row_of\[1\] is 3",
        ),
        ([0.5, 1], None, {}, "row_of must be integers >= -1, found float64"),
        (["a", "b"], None, {}, r"found <U1; np.unique\(labels, return_inverse=True\)\[1\] numbers"),
        ([[0, 1], [2]], None, {}, "row_of must be an array with rows of one length, found list"),
        ([0, 1], [0], {}, r"must have one shape, found \(2,\) and \(1,\)"),
        (None, None, {}, "at least one must be given"),
        ([0, 1], None, {"row_caps": [[1], [2, 3]]}, "row_caps must be an array with rows of one"),
        ([0, 1], None, {"col_caps": 2}, "col_caps were given, but no col_of, the groups they cap"),
        ([], None, {}, "must hold at least one label"),
        (
            [0, 10**12],
            None,
            {"row_caps": 1},
            r"row_of must be counted from 0, .* but row_of\[1\] is 1000000000000",
        ),
        (None, [[2**62, 0]], {}, r"col_of must be counted from 0, .* but col_of\[0, 0\] is 4611"),
        ([2**64 - 1], None, {}, r"row_of must be below 2\*\*63, but row_of\[0\] is 18446744073709"),
        (
            np.array([0, 2**64 - 1], dtype=np.uint64),
            None,
            {},
            r"row_of must be below 2\*\*63, but row_of\[1\] is 18446744073709551615",
        ),
        ([2**63 - 1], None, {}, r"counted from 0, .* but row_of\[0\] is 9223372036854775807"),
    ],
)
def test_wrong_labels_are_refused(row_of, col_of, caps, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TVCS.groups(row_of, col_of, **caps)


@pytest.mark.parametrize(
    "support", [np.ones((3, 2), bool), np.ones(6, bool), np.ones((2, 3)), [[True], [True, False]]]
)
def test_a_support_of_another_kind_is_refused(support):
    with pytest.raises((ValueError, TypeError), match="support must be"):
        TVCS.matrix((2, 3)).is_feasible(support)


def test_the_caps_are_copies_in_the_order_of_the_kernels():
    constraint = TVCS.matrix((2, 3), row_caps=[1, 2], col_caps=[0, 1, 2], total=2)
    rows, cols, total = constraint.caps
    assert (rows.tolist(), cols.tolist(), total) == ([1, 2], [0, 1, 2], 2)
    rows[:], cols[:] = 9, 9  # a kernel may do with them what it likes
    assert (constraint.row_caps.tolist(), constraint.col_caps.tolist()) == ([1, 2], [0, 1, 2])


@pytest.mark.parametrize(
    ("options", "is_plain"),
    [
        ({}, True),
        ({"row_caps": [1, 2], "col_caps": 1, "total": 1}, True),
        ({"total": 0}, False),
        ({"row_caps": [0, 2]}, False),
        ({"col_caps": [1, 0, 1]}, False),
        ({"allowed": [[True, False, True]] * 2}, False),
        ({"bounds": (-1.0, 1.0)}, False),
    ],
)
def test_a_matrix_is_plain_if_caps_alone_bind_and_none_is_zero(options, is_plain):
    assert TVCS.matrix((2, 3), **options).is_plain is is_plain


def test_groups_are_not_plain():
    assert TVCS.groups([0, 0, 1], [0, 1, 1], row_caps=1).is_plain is False


def test_groups_may_be_empty():
    constraint = TVCS.groups([0, 1_000_000], None, row_caps=1)
    assert (constraint.row_caps.size, int(constraint.row_caps.sum())) == (1_000_001, 2)


def test_as_many_groups_may_be_empty_as_stated_and_no_more(monkeypatch):
    monkeypatch.setattr("tvcs_core.constraint.MAX_EMPTY_GROUPS", 3)
    assert TVCS.groups([0, 4], None, row_caps=1).row_caps.tolist() == [1, 0, 0, 0, 1]
    with pytest.raises(ValueError, match="with at most 3 groups that hold no variable"):
        TVCS.groups([0, 5], None, row_caps=1)


def test_a_vector_of_caps_may_end_with_the_last_label():
    assert TVCS.groups([0, 1], None, row_caps=[1, 1]).row_caps.tolist() == [1, 1]


@pytest.mark.parametrize("upper", [0.0, 0.5])
def test_a_box_may_end_at_0_or_shortly_after(upper):
    lower, found = TVCS.matrix((2, 3), bounds=(-1.0, upper)).bounds
    assert (float(lower), float(found)) == (-1.0, upper)


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (1, 1)])
def test_one_row_or_column_is_a_matrix(shape):
    assert TVCS.matrix(shape).shape == shape


@pytest.mark.parametrize("shape", [(0, 3), (2,), (2.5, 3), 4, (2, 3, 4), (3, 0), [[2, 2], [1]]])
def test_a_shape_is_two_positive_integers(shape):
    with pytest.raises(ValueError, match="shape must be two integers >= 1, found"):
        TVCS.matrix(shape)


def test_a_shape_has_positions_of_64_bits():
    with pytest.raises(ValueError, match="63 entries, found 18446744073709551616 x 2"):
        TVCS.matrix((2**64, 2))


def test_an_array_in_place_of_its_shape_is_not_printed():
    with pytest.raises(ValueError, match=r"found an array; give its shape, \(6, 5\)$"):
        TVCS.matrix(np.ones((6, 5)))


@pytest.mark.parametrize("package", ["tvcs_core", "grn_tvcs", "crowd_tvcs"])
def test_a_package_knows_its_version(package):
    module = importlib.import_module(package)
    assert module.__version__ == importlib.metadata.version("tvcs")

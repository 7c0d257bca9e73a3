"""Columns that are asked for, by name or by place."""

import pytest

from grn_tvcs.expression.sheet import find_place


@pytest.mark.parametrize(
    ("name", "place"),
    [("a", 0), ("B", 1), ("1", 0), ("2", 1), ("0", None), ("3", None), ("", None)],
)
def test_a_column_is_found_by_its_name_or_counted_from_1(name, place):
    assert find_place(["a", "b"], name) == place


def test_a_name_goes_before_a_place_and_its_letters_before_others():
    assert find_place(["x", "1"], "1") == 1
    assert find_place(["A", "a"], "a") == 1

"""Which key answers which class: the digit of its name, and never that of another."""

import re
from itertools import product

import pytest

from crowd_tvcs.serve.turn.keys import DIGITS, keys_of


@pytest.mark.parametrize(
    ("classes", "keys"),
    [
        (["0", "1"], "01"),
        (["bad", "good"], "12"),
        (["1", "2", "3"], "123"),
        (["3", "1", "2"], "312"),
        ([str(k) for k in range(10)], "0123456789"),
        ([str(k) for k in range(1, 13)], "1234567890AB"),
        (["1", "10", "11", "12", "2", "3"], "156423"),
        (["3 stars", "1 star", "2 stars"], "312"),
        (["0: none", "1: some", "not sure"], "013"),
        (["-1", "0", "1"], "201"),
        (["00", "01", "02"], "012"),
        (["10", "20", "30"], "123"),
        (["1a", "1b", "2a"], "342"),
        (["cat", "1"], "21"),
        ([f"c{k}" for k in range(12)], "1234567890AB"),
        (["٣", "²"], "12"),
    ],
)
def test_the_key_of_a_class(classes, keys):
    assert keys_of(classes) == [key.replace("-", "") for key in keys]


def test_no_key_is_that_of_another_class():
    names = ["0", "1", "2", "10", "1x", "2 y", "a", "-1", "02"]
    for classes in product(names, repeat=3):
        if len(set(classes)) < 3:
            continue
        keys = keys_of(classes)
        given = [key for key in keys if key]
        assert len(set(given)) == len(given) == 3
        assert set(given) <= set(DIGITS)
        for name, key in zip(classes, keys, strict=True):
            for other in set(classes) - {name}:
                assert not re.match(rf"0*{key}(?!\d)", other), (classes, keys)

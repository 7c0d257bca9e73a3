"""Halves of real series: what is stored is what the code gives, and what the page says of it."""

import pytest

from benchmarks import two_conditions
from benchmarks.study import RESULTS, load
from benchmarks.two_conditions import Half, halve, real, real_table


@pytest.mark.parametrize("series", two_conditions.REAL_SERIES)
def test_halves_that_are_stored_are_found_again(series):
    stored = {half.key: half for half in load(RESULTS / "compare" / "halves.csv", Half)}
    [found] = halve((series, 1))
    assert found.p == pytest.approx(stored[found.key].p, rel=1e-3)
    assert found.named == stored[found.key].named


def test_both_sides_of_a_half_are_other_series_of_the_same_genes(monkeypatch):
    given = {}

    def compared(a, b, **_):
        given.update(a=a, b=b)
        raise LookupError

    monkeypatch.setattr(two_conditions, "compare", compared)
    with pytest.raises(LookupError):
        halve((16, 0))
    a, b = given["a"], given["b"]
    assert a.genes == b.genes
    assert len(a.genes) == two_conditions.REAL_GENES
    assert len(a.pieces) == len(b.pieces) == 16
    assert not set(a.pieces) & set(b.pieces)
    assert real().n_steady == 0


def test_the_table_counts_pairs_claimed_to_differ():
    halves = [Half(5, 0, 0.02, 0), Half(5, 1, 0.03, 2), Half(5, 2, 0.04, 0), Half(10, 0, 0.9, 1)]
    assert real_table(halves).splitlines()[2:] == ["| 5 | 3 | 2 | 1 |", "| 10 | 1 | 0 | 1 |"]

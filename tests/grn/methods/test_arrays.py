"""Levels in an array, with names beside it: what `Expression.of` and `infer` make of them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from grn_tvcs import Expression, infer

RNG = np.random.default_rng(0)
LEVELS = np.round(np.exp(RNG.normal(3, 1, (12, 4))), 3)
GENES = ["time", "NA", "RIN", "lexA"]  # names are genes, whatever else they may mean


@pytest.mark.parametrize("kind", ["array", "lists", "sparse"])
def test_an_array_is_at_rest_without_times(kind):
    made = {"array": LEVELS, "lists": LEVELS.tolist(), "sparse": sparse.csr_array(LEVELS)}[kind]
    found = Expression.of(made, gene_names=GENES)
    assert (found.genes, found.n_steady, found.series) == (tuple(GENES), 12, ())
    assert np.array_equal(found.steady_values, LEVELS)


def test_times_and_series_are_one_for_each_sample():
    times = np.tile([0.0, 1, 2, 4, 8, np.nan], 2)
    found = Expression.of(LEVELS, gene_names=GENES, times=times, series=["a"] * 6 + ["b"] * 6)
    assert found.series == ("a",) * 5 + ("b",) * 5
    assert found.times.tolist() == [0, 1, 2, 4, 8] * 2
    assert np.array_equal(found.steady_values, LEVELS[[5, 11]])
    words = Expression.of(LEVELS, gene_names=GENES, times=["0", "30min", "1h", "2h", "4h", ""] * 2)
    assert words.times.tolist() == [0, 30, 60, 120, 240] * 2
    falling = Expression.of(LEVELS, gene_names=GENES, times=[*range(6)] * 2)
    assert list(falling.pieces) == ["1", "2"]  # as in a table


def test_infer_takes_what_expression_of_takes():
    times, words = [*range(6)] * 2, {"rng": 0, "scale": "levels"}
    frame = pd.DataFrame(LEVELS, columns=list("ABCD")).assign(hour=times)
    read = Expression.of(frame, time_column="hour")
    expected = infer(read, "clr", **words).edges()
    assert infer(frame, "clr", time_column="hour", **words).edges() == expected
    array = infer(LEVELS, "clr", gene_names=[*"ABCD"], times=times, **words)
    assert array.edges() == expected
    with pytest.raises(TypeError, match=r"^time_column is for data that are read here, but expres"):
        infer(read, "clr", time_column="hour")


@pytest.mark.parametrize(
    ("data", "words", "error", "message"),
    [
        (LEVELS, {}, TypeError, r"an array has no names of genes: give gene_names=\[...\], one"),
        (LEVELS, {"gene_names": GENES[:3]}, ValueError, "each of the 4 columns, found 3 names$"),
        (LEVELS.T, {"gene_names": GENES}, ValueError, r"found 4 names; give data.T if genes stan"),
        (LEVELS[0], {"gene_names": GENES}, ValueError, "two dimensions, samples x genes"),
        (LEVELS, {"gene_names": GENES, "times": [1, 2]}, ValueError, "times must have one for ea"),
        (LEVELS, {"gene_names": GENES, "times": LEVELS[:, :1]}, ValueError, "found 12 x 1"),
        (
            LEVELS,
            {"gene_names": GENES, "times": "012345678901"},
            TypeError,
            "times must be a list of times, found '012345678901'",
        ),
        (LEVELS, {"gene_names": "ABCD"}, TypeError, "gene_names must be a list of names, found 'A"),
        (
            LEVELS,
            {"gene_names": GENES, "times": np.ma.masked_less(range(12), 1)},
            ValueError,
            "times must have no masked values, found 1",
        ),
        (
            LEVELS,
            {"gene_names": GENES, "times": pd.DataFrame({"h": range(12)})},
            TypeError,
            "found a DataFrame; give one column of it",
        ),
        (
            LEVELS,
            {"gene_names": GENES, "times": pd.to_timedelta(range(12), "h")},
            ValueError,
            "that is a duration: write its hours",
        ),
        (LEVELS, {"gene_names": GENES, "series": ["a"] * 12}, TypeError, "give times=.* too"),
        (LEVELS, {"gene_names": ["A"] * 4}, ValueError, "must be different, found twice: A"),
        (pd.DataFrame({"A": [1]}), {"times": [1]}, TypeError, "times is for an array, found Data"),
    ],
)
def test_what_does_not_go_with_an_array_is_named(data, words, error, message):
    with pytest.raises(error, match=message):
        Expression.of(data, **words)

"""Steady-state samples: tables without a time, and samples without one."""

import numpy as np
import pytest

from grn_tvcs import Expression, write_expression
from grn_tvcs.expression.scales import on_scale
from tvcs_core import DataError


@pytest.mark.parametrize(
    "text",
    [
        "A\tB\n1\t2\n3\t4\n",
        "sample\tA\tB\ns1\t1\t2\ns2\t3\t4\n",
        "condition,replicate,perturbed,A,B\nheat,1,,1,2\nheat,2,,3,4\n",
        "Time\tA\tB\n\t1\t2\nNA\t3\t4\n",
        "series\tTime\tA\tB\n\t\t1\t2\n\t\t3\t4\n",
    ],
    ids=["no time", "named samples", "conditions", "empty times", "no series either"],
)
def test_without_a_time_all_samples_are_in_steady_state(write, text):
    data = Expression.of(write(text))
    assert data.genes == ("A", "B")
    assert data.steady_values.tolist() == data.levels.tolist() == [[1, 2], [3, 4]]
    assert data.values.shape == (0, 2)
    assert data.pieces == {}
    assert data.perturbed is None


def test_an_empty_time_is_a_steady_sample_and_parts_no_series(write):
    data = Expression.of(write("Time\tA\n0\t1\n\t9\n1\t2\nna\t8\n\n0\t3\n1\t4\n"))
    assert data.series == ("1", "1", "2", "2")
    assert data.values[:, 0].tolist() == [1, 2, 3, 4]
    assert data.steady_values[:, 0].tolist() == [9, 8]
    blank = Expression.of(write("Time\tA\n0\t1\n1\t2\n\n\t9\n2\t3\n3\t4\n"))
    assert blank.series == ("1", "1", "2", "2")  # the blank line counts, wherever the rest stands
    named = Expression.of(write("series,time,perturbed,A\nb,1,0,4\n,,,7\nb,0,1,3\n"))
    assert named.values[:, 0].tolist() == [3, 4]
    assert named.perturbed.tolist() == [True, False]
    assert named.steady_values.tolist() == [[7]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Time\tA\n0\t1\n1\t2\n\t3\n0\t5\n", r"x.tsv:5, column 'Time': a series must have"),
        ("Time\tA\n0\t1\ninf\t2\n\t3\n", r"x.tsv:3, column 'Time': must be a finite number"),
        ("condition\nheat\n", "found only condition"),
    ],
)
def test_what_is_no_table_of_steady_samples_is_refused(write, text, message):
    with pytest.raises(DataError, match=message):
        Expression.of(write(text))


def test_a_gene_may_be_called_like_the_beginning_of_a_time(write):
    assert Expression.of(write("TIMELESS\tTIMP1\tT\n1\t2\t3\n")).genes[0] == "TIMELESS"


def test_missing_levels_in_steady_state_take_the_mean_of_the_gene_or_are_left_out(write):
    path = write("time,A,B\n0,1,5\n1,NA,7\n2,5,6\n,NA,2\n,9,3\n")
    with pytest.warns(UserWarning, match="filled 2 of 10 values"):
        filled = Expression.of(path, missing="interpolate")
    assert filled.values[:, 0].tolist() == [1, 3, 5]  # along time
    assert filled.steady_values[:, 0].tolist() == [5, 9]  # the mean of 1, 5 and 9
    with pytest.warns(UserWarning, match="left out 2 of 5 samples"):
        dropped = Expression.of(path, missing="drop")
    assert dropped.times.tolist() == [0, 2]
    assert dropped.steady_values.tolist() == [[9, 3]]
    with (
        pytest.warns(UserWarning, match="left out 2 of 2 samples"),
        pytest.raises(DataError, match="must have a sample with all levels"),
    ):
        Expression.of(write("A\tB\n1\tNA\nNA\t2\n"), missing="drop")


def test_what_is_written_is_read_again(tmp_path):
    data = Expression([[1, 2], [3, 4]], [0, 1], ("1", "1"), ("A", "B"), steady_values=[[5, 6]])
    write_expression(data, tmp_path / "x.tsv")
    again = Expression.of(tmp_path / "x.tsv")
    assert np.array_equal(again.values, data.values)
    assert np.array_equal(again.steady_values, data.steady_values)


def test_a_sheet_names_steady_samples_and_one_sample_in_two_series(write):
    levels = write(",A\ns1,1\ns2,2\ns3,3\ns4,4\n", "l.csv")
    sheet = write("sample,series,time\ns1,a,0\ns2,a,1\ns1,b,0\ns3,b,1\ns4,,\n", "s.csv")
    data = Expression.of(levels, samples=sheet)
    assert data.series == ("a", "a", "b", "b")
    assert data.values[:, 0].tolist() == [1, 2, 1, 3]
    assert data.steady_values.tolist() == [[4]]
    for text in ("s1,a,0\ns2,a,1\ns1,a,2\n", "s1,a,0\ns2,a,1\ns1,,\n"):
        bad = write("sample,series,time\n" + text, "bad.csv")
        with pytest.raises(DataError, match="samples must be different, found twice: s1"):
            Expression.of(levels, samples=bad)


def test_genes_in_rows_and_several_files_hold_steady_samples_too(write):
    rest = Expression.of(write("\ts1\ts2\nA\t1\t2\nB\t5\t6\n"), genes_in_rows=True)
    assert rest.steady_values.tolist() == [[1, 5], [2, 6]]
    series = write("Time\tperturbed\tA\tB\n0\t1\t1\t2\n1\t0\t3\t4\n", "series.tsv")
    steady = write("B\tA\n8\t7\n", "steady.tsv")
    data = Expression.of(
        [series, steady]
    )  # no warning: in steady state nothing can be told of a perturbation
    assert data.steady_values.tolist() == [[7, 8]]
    assert data.perturbed.tolist() == [True, False]
    again = write("B\tA\n9\t6\n", "again.tsv")
    assert Expression.of([steady, again]).n_steady == 2


def test_the_order_of_steady_samples_is_forgotten_and_parts_keep_them():
    rng = np.random.default_rng(0)
    x, rest = rng.random((4, 3)), rng.random((5, 3))
    data = Expression(x, [0, 1, 0, 1], ("1", "1", "2", "2"), ("C", "A", "B"), steady_values=rest)
    turned = Expression(x, data.times, data.series, data.genes, steady_values=rest[::-1])
    assert np.array_equal(data.in_name_order().steady_values, turned.in_name_order().steady_values)
    assert data.in_name_order().levels.shape == (9, 3)
    assert data.part(np.array([True, True, False, False])).n_steady == 5
    assert data.of_series().levels.shape == (4, 3)


@pytest.mark.parametrize(
    ("steady_values", "message"),
    [
        ([[1, 2, 3]], "a column for each of the 2 genes"),
        ([[1, np.nan]], "levels in steady state must be finite"),
        ([], "must have samples, found none"),
    ],
)
def test_bad_steady_samples_are_refused(steady_values, message):
    rest = np.array(steady_values, dtype=float).reshape(
        len(steady_values), -1 if steady_values else 2
    )
    with pytest.raises(ValueError, match=message):
        Expression(np.zeros((0, 2)), [], (), ("A", "B"), steady_values=rest)


def test_the_scale_is_that_of_all_samples():
    values, rest = np.array([[1.0, 0.5], [0.2, 0.4]]), np.array([[-1.0, -2.0], [0.3, -0.4]])
    data = on_scale(Expression(values, [0, 1], ("1", "1"), ("A", "B"), steady_values=rest))
    assert data.scale == "log"
    assert np.array_equal(data.steady_values, rest)
    with pytest.raises(ValueError, match="-2 of gene B in steady-state sample 1"):
        on_scale(data, "levels")
    counts = Expression(
        [[60, 0], [0, 60]], [0, 1], ("1", "1"), ("A", "B"), steady_values=[[120, 60]]
    )
    sized = on_scale(counts, "counts")
    assert np.allclose(sized.levels.sum(axis=1), 60)

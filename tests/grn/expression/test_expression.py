import gzip

import numpy as np
import pytest

from grn_tvcs import Expression, write_expression
from grn_tvcs.expression.expression import describe_samples, spacing
from tvcs_core import DataError
from tvcs_core.files import rows

DREAM = '"Time"\tNA\t007\n\n0\t1\t2\n1\t3\t4\n\n0\t5\t6\n1\t7\t8\n'


def test_the_dream_layout_is_read_with_names_kept_as_text(write):
    data = Expression.of(write(DREAM))
    assert data.genes == ("NA", "007")
    assert data.series == ("1", "1", "2", "2")
    assert data.values.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


@pytest.mark.parametrize(
    "text",
    [
        DREAM.replace("\n", "\r\n"),
        "\ufeff" + DREAM,
        DREAM.replace("\t", ","),
        DREAM.replace("\n\n", "\n"),
        DREAM.replace('"Time"', "time"),
    ],
    ids=["CRLF", "byte-order mark", "commas", "time falls back", "lower case"],
)
def test_the_same_table_in_other_clothes_is_the_same(write, text):
    data = Expression.of(write(text))
    assert data.series == ("1", "1", "2", "2")
    assert data.genes == ("NA", "007")
    assert data.values.sum() == 36


def test_a_gz_file_is_read(tmp_path):
    path = tmp_path / "x.tsv.gz"
    path.write_bytes(gzip.compress(DREAM.encode()))
    assert len(Expression.of(path).times) == 4


def test_a_series_column_gathers_samples_in_time_order(write):
    data = Expression.of(write("series,time,A\nb,2,5\na,0,1\nb,1,4\na,1,2\n"))
    assert data.series == ("b", "b", "a", "a")
    assert data.values[:, 0].tolist() == [4, 5, 1, 2]


def test_writing_and_reading_gives_the_same_expression(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.uniform(size=(6, 3)).round(6)
    data = Expression(values, [0, 1, 2.5] * 2, ("1",) * 3 + ("2",) * 3, ("A", "B", "C"))
    write_expression(data, tmp_path / "x.tsv")
    write_expression(data, str(tmp_path / "y.tsv"))
    assert (tmp_path / "x.tsv").read_bytes() == (tmp_path / "y.tsv").read_bytes()
    again = Expression.of(tmp_path / "x.tsv")
    assert np.array_equal(again.values, data.values)
    assert np.array_equal(again.times, data.times)
    assert (again.series, again.genes) == (data.series, data.genes)


BAD = {
    "empty": ("", "x.tsv: the file is empty"),
    "series without time": ("series\tA\n1\t2\n1\t4\n", "column named Time, for there are ser"),
    "samples without a heading": ("\tA\ns1\t2\ns2\t4\n", "if it names samples, call it sample"),
    "no header": ("0\t1\n1\t2\n", "the first row must name the columns"),
    "text": ("Time\tA\tB\n0\t1\t2\n1\tx\t4\n", "x.tsv:3, column 'A': must be a number, found 'x'"),
    "NaN": ("Time\tA\tB\n0\t1\tnan\n1\t2\t4\n", "x.tsv:2, column 'B': must be a number, found"),
    "infinite": ("Time\tA\tB\n0\t1\tinf\n1\t2\t4\n", "x.tsv:2, column 'B': must be a finite"),
    "empty cell": ("Time\tA\tB\n0\t1\t\n1\t2\t4\n", "x.tsv:2, column 'B': must be a number"),
    "perturbed": (
        "Time\tperturbed\tA\n0\tLPS\t1\n1\t0\t2\n",
        "x.tsv:2, column 'perturbed': must be 0 or 1 (or no and yes, false and true), found 'LPS'",
    ),
    "two times": (
        "Time\ttime\tA\n0\t0\t1\n",
        "x.tsv:1: must have one column of each kind, found twice: time",
    ),
    "one time point": ("Time\tA\n0\t1\n", "at least 2 time points"),
    "lonely sample": ("Time\tA\n0\t1\n1\t2\n0\t5\n", "x.tsv:4, column 'Time': a series must have"),
    "header only": ("Time\tA\n", "must have samples"),
    "time only": ("Time\n0\n1\n", "must have a column for each gene"),
    "a sheet of samples": ("\ttime\na\t0\n", "found only column 1, time; a sheet of samples is"),
    "a list of genes": ("lexA\nrecA\numuD\n", "x.tsv:1: must hold levels, but no cell is a number"),
    "a word": ("Time\tA\n0\t1\n1\tBDL\n", "'BDL'; where it marks a missing value, leave the"),
    "twice": (
        "Time\tA\tB\tA\n0\t1\t2\t3\n1\t1\t2\t3\n",
        "x.tsv:1: gene names must be different, found twice: A",
    ),
    "no name": ("Time\tA\t\n0\t1\t2\n1\t1\t2\n", "column 3: a gene must have a name"),
    "ragged": ("Time\tA\tB\n0\t1\t2\n1\t2\n", "x.tsv:3: must have 3 cells"),
    "time twice": ("Time\tA\n0\t1\n0\t2\n1\t3\n", "x.tsv:3, column 'Time': time 0 comes twice"),
    "time twice in b": (
        "series\ttime\tA\na\t0\t1\na\t1\t2\nb\t0\t1\nb\t0\t2\n",
        "x.tsv:5, column 'time': time 0 comes twice in series b",
    ),
    "a sample called 5": (
        "gene\t5\nG1\t1\nG2\t2\nG3\t3\nG4\t4\n",
        "such as G1, G2, G3; give genes_in_rows=True",
    ),
    "transposed": ("\ts1\ts2\nG1\t1\t2\nG2\t3\t4\n", "such as G1, G2; give genes_in_rows=True"),
    "time in a row": ("Time\t0\t50\nG1\t1\t2\nG2\t3\t4\n", "x.tsv:1: genes seem to stand in rows"),
    "times with and without a unit": (
        "Time\tA\n0h\t1\n1h\t2\nlate\t3\n",
        "x.tsv:4, column 'Time': must be a time, perhaps with a unit, found",
    ),
    "a unit in the heading and another in the cells": (
        "Time (min)\tA\n0h\t1\n1h\t2\n",
        "x.tsv:1, column 1: must hold times in one unit, found min in the heading and h",
    ),
    "a number among times with a unit": (
        "Time\tA\n0\t1\n30min\t2\n4\t3\n",
        "x.tsv:4, column 'Time': must be a time, perhaps with a unit, found '4'",
    ),
    "no series": ("series\ttime\tA\n\t0\t1\na\t1\t2\n", "x.tsv:2, column 'series': every sample"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_refused_with_its_place(write, text, message):
    path = write(text)
    with pytest.raises(DataError) as error:
        Expression.of(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": [[1.0, np.nan]] * 4}, "finite"),
        ({"genes": ("A", "A")}, "different"),
        ({"times": [0, 1, 1, 0]}, "rise"),
        ({"times": [0, 1, 1, 1]}, "rise"),
        ({"series": ("1", "2", "1", "2")}, "stand together"),
        ({"series": ("1", "1", "1", "2"), "times": [0, 1, 2, 0]}, "at least 2"),
        ({"genes": ("A",)}, "shape"),
        ({"series": ("1",)}, "a series"),
        ({"times": [0, 1, 0, np.inf]}, "values and times must be finite"),
        ({"perturbed": [True, False]}, r"one flag per sample, found \(2,\) for 4 samples"),
        ({"scale": "log2"}, "scale must be one of levels, log, counts"),
        ({"steady_values": [1.0, 2.0]}, r"a column for each of the 2 genes, found the shape \(2,"),
        ({"steady_values": [[1.0]]}, r"a column for each of the 2 genes, found the shape \(1, 1"),
        ({"steady_values": [[1.0, np.nan]]}, "levels in steady state must be finite"),
        ({"cells": [1, 2, 3]}, "one finite number above 0 per sample"),
        ({"cells": [1, 2, 3, 0]}, "one finite number above 0 per sample"),
        ({"cells": [1, 2, 3, np.inf]}, "one finite number above 0 per sample"),
    ],
)
def test_the_constructor_refuses_what_does_not_hold(change, message):
    good = {
        "values": [[1.0, 2.0]] * 4,
        "times": [0, 1, 0, 1],
        "series": ("1", "1", "2", "2"),
        "genes": ("A", "B"),
    }
    Expression(**good)
    with pytest.raises(ValueError, match=message):
        Expression(**(good | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"perturbed": ["no", "yes"]}, "perturbed must be an array of booleans, found list"),
        ({"perturbed": [1, np.nan]}, "perturbed must be an array of booleans, found list"),
        ({"times": np.array([0, 3600], "m8[s]")}, r"times must be .* real numbers, .*timedelta64"),
    ],
)
def test_the_constructor_makes_no_flags_of_words_and_no_numbers_of_durations(change, message):
    good = {"values": [[1.0], [2.0]], "times": [0, 1], "series": ("1", "1"), "genes": ("A",)}
    assert Expression(**good, perturbed=[1, 0]).perturbed.tolist() == [True, False]
    with pytest.raises(TypeError, match=message):
        Expression(**(good | change))


def test_constant_genes_are_named():
    data = Expression([[1, 5], [2, 5]], [0, 1], ("1", "1"), ("A", "B"))
    assert data.constant_genes == ("B",)


def test_samples_of_series_and_in_steady_state_are_counted_in_words():
    data = Expression([[1], [2]], [0, 1], ("a", "a"), ("A",))
    assert describe_samples(data) == "2 samples in 1 series"
    rest = Expression([[1], [2]], [0, 1], ("a", "a"), ("A",), steady_values=[[3], [4], [5]])
    assert describe_samples(rest) == "2 samples in 1 series and 3 steady-state samples"


def test_a_finer_unit_may_stand_beside_that_of_the_heading(write):
    data = Expression.of(write("Time (h)\tA\n0\t1\n30min\t2\n1h30min\t3\n2h\t4\n"))
    assert data.times.tolist() == [0, 30, 90, 120]


def test_a_name_in_a_column_of_names_is_no_missing_value(write):
    with pytest.raises(DataError, match=r"found 'Fos'$"):
        Expression.of(write("Time\tB\n0\tFos\n1\tMyc\n2\t44256\n"))


def test_one_cell_that_is_no_number_does_not_make_its_column_no_gene(write):
    with pytest.raises(DataError, match=r"found 'x'; where it marks a missing value"):
        Expression.of(write("Time\tA\n0\t1\n1\tx\n"))


def test_gaps_are_those_of_their_block(write, monkeypatch):
    monkeypatch.setattr(rows, "CHUNK_BYTES", 8)
    path = write("time,A,B\n" + "".join(f"{t},{t if t % 4 else 'NA'},1\n" for t in range(1, 16)))
    with pytest.warns(UserWarning, match="filled 3 of 30 values"):
        found = Expression.of(path, missing="interpolate")
    assert found.values[:, 0].tolist() == list(range(1, 16))


def test_missing_values_are_dropped_or_filled_and_reported(write):
    path = write("series,time,A,B\na,0,1,5\na,1,NA,6\na,3,7,\nb,0,3,1\nb,1,4,2\n")
    with pytest.warns(UserWarning, match="filled 2 of 10 values"):
        filled = Expression.of(path, missing="interpolate")
    assert filled.values[:3].tolist() == [[1, 5], [3, 6], [7, 6]]
    more = write("series,time,A,B\na,0,1,0\na,1,3,0\nb,0,NA,0\nb,1,NA,0\n")
    with pytest.warns(UserWarning, match="filled 2 of 8"):
        assert Expression.of(more, missing="interpolate").values[2:, 0].tolist() == [2, 2]
    path = write("series,time,A,B\na,0,1,5\na,1,NA,6\na,3,7,8\nb,0,3,1\nb,1,4,2\n")
    with pytest.warns(UserWarning, match="left out 1 of 5 samples"):
        dropped = Expression.of(path, missing="drop")
    assert dropped.times.tolist() == [0, 3, 0, 1]
    with pytest.raises(ValueError, match="missing must be one of error, drop, interpolate"):
        Expression.of(path, missing="guess")
    empty = write("time,A,B,C\n0,1,NA,NA\n1,2,NA,NA\n2,,,\n")
    for missing, times in (("interpolate", [0, 1]), ("drop", [0, 1])):
        with (
            pytest.warns(UserWarning, match="left out 2 genes without any value: B, C"),
            pytest.warns(UserWarning, match="left out 1 of 3 samples with"),
        ):
            left = Expression.of(empty, missing=missing)
        assert (left.genes, left.times.tolist()) == (("A",), times)
    with pytest.raises(DataError, match="a gene must have a value in some sample, but none has"):
        Expression.of(write("time,A\n0,NA\n1,NA\n"), missing="drop")


def test_replicates_are_series_of_their_own(write):
    text = "sample,condition,replicate,time,A\ns1,heat,1,0,1\ns2,heat,2,0,2\n"
    text += "s3,heat,1,1,3\ns4,heat,2,1,4\n"
    data = Expression.of(write(text))
    assert data.series == ("heat/1", "heat/1", "heat/2", "heat/2")
    assert data.values[:, 0].tolist() == [1, 3, 2, 4]
    assert data.genes == ("A",)


def test_a_column_says_when_a_perturbation_was_on(write):
    text = "Time,perturbed,A\n0,1,1\n1,0,2\n0,1,3\n1,0,4\n"
    data = Expression.of(write(text))
    assert data.genes == ("A",)
    assert data.perturbed.tolist() == [True, False, True, False]
    assert data.in_name_order().perturbed.tolist() == [True, False, True, False]
    with pytest.warns(UserWarning, match="perturbed never changes and is not used"):
        assert Expression.of(write(text.replace("0,1,", "0,0,"))).perturbed is None


def test_a_perturbation_ends_within_the_series():
    data = Expression([[1], [2], [3]], [0, 50, 100], ("1",) * 3, ("A",))
    assert data.with_perturbation_until(100).perturbed.tolist() == [True, True, False]
    for time, few in ((0, "no sample"), (101, "every sample")):
        with pytest.raises(ValueError, match=f"{few} is before {time}; times go from 0 to 100"):
            data.with_perturbation_until(time)


def test_spacing_is_reported_as_even_or_not():
    values = [[1.0], [2], [3]]
    assert spacing(Expression(values, [0, 5, 10], ("1",) * 3, ("A",))) == "even, every 5"
    uneven = spacing(Expression(values, [0, 1, 10], ("1",) * 3, ("A",)))
    assert uneven == "uneven, 1 to 9; memory decays with time"


@pytest.mark.parametrize("missing", ["drop", "interpolate"])
def test_an_option_for_missing_values_says_where_none_is_missing(tmp_path, missing):
    path = tmp_path / "t.tsv"
    path.write_text("Time\tA\tB\n0\t1\t2\n1\t2\t3\n2\t3\t5\n")
    with pytest.warns(UserWarning, match=f"no value is missing, so missing='{missing}' changes"):
        Expression.of(path, missing=missing)

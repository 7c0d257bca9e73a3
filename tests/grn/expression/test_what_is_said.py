"""Small faults of tables, each by its place and its own sentence; and what is no fault."""

import warnings

import numpy as np
import pytest

from grn_tvcs import Expression
from grn_tvcs.expression.formats.geo import is_series_matrix
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.genes_in_rows import without
from grn_tvcs.expression.join import _cells
from grn_tvcs.expression.missing_values import gap_notes
from grn_tvcs.expression.sample_sheet import rows_by_name
from tests.every_command import GEO
from tests.makers.commands import grn_tvcs
from tvcs_core import DataError

TWO = {"values": [[1.0, 2.0], [3.0, 5.0]], "times": [0.0, 1.0], "series": "aa", "genes": "GH"}
SHEET = "sample,time,series\ns1,0,a\ns2,1,a\n"


def test_flags_and_scales_of_an_expression_are_checked():
    with pytest.raises(ValueError, match=r"one flag per sample, found \(3,\) for 2 samples"):
        Expression(**TWO, perturbed=[True, False, False])
    with pytest.raises(ValueError, match=r"scale must be one of .*, found 'cubic'"):
        Expression(**TWO, scale="cubic")


def test_a_perturbation_of_steady_samples_has_no_end():
    rest = Expression(np.zeros((0, 2)), [], (), "GH", steady_values=[[1.0, 2.0], [3.0, 5.0]])
    with pytest.raises(ValueError, match="all samples are in steady state"):
        rest.with_perturbation_until(1.0)


def test_parts_without_cells_count_as_one_cell_a_sample():
    plain, of_cells = Expression(**TWO), Expression(**TWO, cells=[3.0, 4.0])
    assert _cells([plain, of_cells]).tolist() == [1, 1, 3, 4]
    assert _cells([plain, plain]) is None


def test_cells_are_counted_where_pseudotimes_are_shared(write):
    levels = write(",c1,c2,c3,c4\nG1,1,2,3,4\nG2,5,6,7,8\n", "l.csv")
    alone = write(",p\nc1,0\nc2,0.1\nc3,0.2\nc4,0.3\n", "p.csv")
    assert Expression.of(levels, pseudotime=alone).cells is None
    shared = write(",p\nc1,0\nc2,0\nc3,0.2\nc4,0.2\n", "q.csv")
    assert Expression.of(levels, pseudotime=shared).cells.tolist() == [2, 2]


def test_a_list_of_paths_and_others_is_no_list_of_files(write):
    with pytest.raises(TypeError, match="found list"):
        Expression.of([write("x"), 3])


def test_a_series_matrix_is_recognised_by_its_first_bytes(write):
    assert is_series_matrix(write(GEO))
    assert not is_series_matrix(write(b"\x1f\x8bjunk"))
    assert Expression.of(write(GEO)).times.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GEO.replace("time: ", "batch: ").replace("h", ""), r"\(such as c1\) and time"),
        (
            '!series_matrix_table_begin\n"ID_REF"\t"c1"\n!series_matrix_table_end\n',
            "without levels",
        ),
        (
            '!series_matrix_table_begin\n"ID_REF"\n"G1"\n"G2"\n!series_matrix_table_end\n',
            "must have a first row and a first column of names, and cells",
        ),
    ],
)
def test_missing_parts_of_a_series_matrix_are_reported(write, text, message):
    with pytest.raises(DataError, match=message):
        Expression.of(write(text))


def test_what_is_to_be_ignored_is_among_the_columns_that_are_named(write):
    table = open_sheet(write("name\tA\tB\nx\t1\t2\ny\t3\t4\n"))
    with pytest.raises(DataError, match=r"its columns are '?name'?, '?A'?, '?B'?$"):
        without(table, ["zz"])


def test_an_empty_name_is_named_by_its_line(write):
    table = open_sheet(write("name\tA\nx\t1\n\t3\ny\t4\n"))
    with pytest.raises(DataError, match=r"x\.tsv:3, .*a cell must have a name"):
        rows_by_name(table, "cell")


def test_samples_on_the_other_side_are_named_by_the_first_line(write):
    sheet = write(SHEET, "s.csv")
    with pytest.raises(DataError, match=r"x\.tsv:1.*leave genes_in_rows=True out"):
        Expression.of(write("\tG\tH\ns1\t1\t2\ns2\t3\t5\n"), samples=sheet, genes_in_rows=True)


def test_samples_with_gaps_are_counted_and_not_genes():
    values = np.array([[np.nan, 1.0], [np.nan, 2.0], [3.0, 4.0]])
    assert gap_notes(values, [0], ["a"], 3, "drop") == (
        "2 of 3 samples had missing values and were left out.",
    )


def test_a_table_of_r_may_have_one_row(write):
    assert open_sheet(write("a\tb\nr1\t1\t2\n")).heads == ["", "a", "b"]


def test_one_comma_that_is_no_sign_of_thousands_makes_all_decimal(write):
    table = open_sheet(write("a\tb\n1,234\t1,5\n2,5\t3,456\n")).grid.table
    assert table.rows[1] == ["1.234", "1.5"]


def test_a_series_may_begin_at_the_time_where_the_one_before_ends(write):
    text = "Time\tseries\tG\tH\n0\ta\t1\t2\n1\ta\t2\t3\n1\tb\t3\t1\n2\tb\t4\t2\n"
    assert Expression.of(write(text)).times.tolist() == [0, 1, 1, 2]


def test_python_names_keywords_and_the_command_options(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("Time,A,B\n0,1,2\n1,,3\n2,2,4\n")
    with pytest.raises(DataError, match=r"give missing='drop' or missing='interpolate'$"):
        Expression.of(path)
    command = grn_tvcs("check", path)
    assert "give --missing drop or --missing interpolate" in command.stderr


@pytest.mark.parametrize("alone", [False, True])
def test_replicated_conditions_in_one_network_are_named(alone, tmp_path):
    rows = [
        f"{t},{c},{r},{t + 1}.5,{3 - t}.5"
        for c in ("wt", "cold")
        for r in ((1,) if alone else (1, 2))
        for t in (0, 1, 2)
    ]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["Time,condition,replicate,A,B", *rows]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert Expression.of(path).n_series == (2 if alone else 4)
        Expression.of(path, series_column=["condition", "replicate"])
    found = [str(one.message) for one in caught if "conditions" in str(one.message)]
    assert len(found) == (0 if alone else 1)
    assert alone or "the series of 2 conditions (wt, cold) are taken as of one network" in found[0]

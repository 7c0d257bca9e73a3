"""A sheet is a view: turned, cut and joined, it names the places where cells stand."""

import gzip
from dataclasses import fields
from inspect import signature
from typing import get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression
from grn_tvcs.cli.check import check
from grn_tvcs.cli.compare import compare
from grn_tvcs.cli.infer import infer
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.readable_options import readable_options
from grn_tvcs.expression.sheet import Text, find_place
from tests.makers.processes import run_python
from tests.memory import PEAK
from tvcs_core import DataError
from tvcs_core.arguments import Help
from tvcs_core.files import input_size

TURNED = "gene,s1,s2,s3\nA,1,2,3\nB,4,5,6\nC,7,8,9\n"
DREAM = "Time,A\n0,1\n1,2\n\n0,3\n1,4\n"


def test_a_turned_sheet_has_the_cells_of_the_other_direction_and_names_their_places(write):
    sheet = open_sheet(write(TURNED)).turned("sample")
    assert sheet.heads == ["sample", "A", "B", "C"]
    assert (list(sheet.cells(0)), list(sheet.cells(2))) == (["s1", "s2", "s3"], ["4", "5", "6"])
    assert sheet.numbers([1, 3]).tolist() == [[1, 7], [2, 8], [3, 9]]
    assert str(sheet.error("is wrong", 1, 2)).endswith("x.tsv:3, column 's2': is wrong")
    assert sheet.name_of_row(1) == "column 3"


def test_rows_are_taken_in_any_order_and_as_often_as_they_are_asked_for(write):
    plain = open_sheet(write(TURNED)).take([2, 0, 2])
    assert list(plain.cells(0)) == ["C", "A", "C"]
    assert plain.numbers([1, 2]).tolist() == [[7, 8], [1, 2], [7, 8]]
    assert str(plain.error("is wrong", 0, 1)).endswith("x.tsv:4, column 's1': is wrong")
    some = open_sheet(write(TURNED)).turned("").take([2, 0])
    assert some.numbers([1, 2, 3]).tolist() == [[3, 6, 9], [1, 4, 7]]


def test_a_blank_line_parts_what_is_left_of_both_sides(write):
    sheet = open_sheet(write(DREAM))
    assert [sheet.is_after_blank(i) for i in range(4)] == [False, False, True, False]
    some = sheet.take([1, 3])
    assert [some.is_after_blank(i) for i in range(2)] == [False, True]


def test_what_a_sheet_of_samples_says_wrong_is_named_by_its_own_line(write):
    levels = write("sample,A,B\ns1,1,2\ns2,3,4\ns3,5,6\ns4,7,9\n")
    result = write("sample,time,series\ns4,0,x\ns3,1,x\ns2,0,y\ns1,1,\n", "s.csv")
    with pytest.raises(DataError, match=r"s\.csv:5, column 'series': every sample needs a series"):
        Expression.of(levels, samples=result)


def test_levels_of_samples_that_a_sheet_leaves_out_are_not_looked_at(write):
    levels = write("gene,s1,s2,s3\nA,1,2,broken\nB,3,5,6\n")
    result = write("sample,time\ns1,0\ns2,1\n", "s.csv")
    with pytest.warns(UserWarning, match="left out 1 sample: s3"):
        found = Expression.of(levels, samples=result, genes_in_rows=True)
    assert found.values.tolist() == [[1, 3], [2, 5]]


def test_a_star_leaves_columns_of_a_time_course_out(write):
    table = write("time,qc_a,A,B,QC_b\n0,1,1,5,1\n1,2,3,4,2\n")
    assert Expression.of(table, ignore="qc*").genes == ("A", "B")


def test_the_heading_of_a_sheet_tells_the_unit_of_its_times(write):
    levels = write("sample,A,B\ns1,1,2\ns2,3,4\n")
    result = write("sample,time_h\ns1,0\ns2,6\n", "s.csv")
    assert Expression.of(levels, samples=result).notes == ("Times are in h, as the file says.",)


def test_a_column_that_may_tell_series_apart_is_named_as_its_sheet_names_it(write):
    levels = write("sample,A,B\ns1,1,2\ns2,3,4\ns3,1,2\ns4,3,5\n")
    result = write("sample,time,Donor,note\ns1,0,a,w\ns2,0,b,x\ns3,1,a,y\ns4,1,b,z\n", "s.csv")
    with pytest.raises(DataError, match="or give series_column='Donor'; where") as error:
        Expression.of(levels, samples=result)
    assert error.value.remedies[0] == {"series_column": ("Donor",)}


@pytest.mark.parametrize("command", [infer, check, compare])
def test_every_option_of_reading_is_one_of_the_command_with_its_help(command):
    hints = get_type_hints(Options, include_extras=True)
    known = signature(command).parameters
    for field in fields(Options):
        helped = get_args(hints[field.name])[1]
        assert isinstance(helped, Help)
        assert get_args(known[field.name].annotation)[1].help == helped.text
        assert helped.text in (Options.__doc__ or "")


@pytest.mark.parametrize(
    ("name", "place"),
    [("a", 0), ("B", 1), ("1", 0), ("2", 1), ("0", None), ("3", None), ("", None)],
)
def test_a_column_is_found_by_its_name_or_counted_from_1(name, place):
    assert find_place(["a", "b"], name) == place


def test_a_name_goes_before_a_place_and_its_letters_before_others():
    assert find_place(["x", "1"], "1") == 1
    assert find_place(["A", "a"], "a") == 1


@pytest.mark.parametrize("genes_in_rows", [False, True])
def test_a_wide_table_is_not_read_column_by_column(tmp_path, monkeypatch, genes_in_rows):
    """Each column of a text is a pass over the file: 2,000 genes took minutes."""
    numbers = np.random.default_rng(0).random((20, 300)).round(3)
    frame = pd.DataFrame(numbers, columns=[f"G{j}" for j in range(300)])
    frame.insert(0, "Time", range(20))
    (frame.T if genes_in_rows else frame).to_csv(
        tmp_path / "t.csv", index=genes_in_rows, header=not genes_in_rows
    )
    asked, column = [], Text.column
    monkeypatch.setattr(Text, "column", lambda self, j: asked.append(j) or column(self, j))
    assert len(Expression.of(tmp_path / "t.csv", genes_in_rows=genes_in_rows).genes) == 300
    assert len(asked) < 30


def test_a_small_file_of_very_many_columns_costs_little(tmp_path):
    """A header of 15 million cells in 29 kB: 4 GB before its width was looked at."""
    path = tmp_path / "wide.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"a," * 15_000_000 + b"\n")
    script = (
        f"{PEAK}\nfrom grn_tvcs import Expression\n"
        f"try: Expression.of({str(path)!r})\n"
        "except ValueError as error: print(error)\n"
        "print(peak_memory())"
    )
    done = run_python(script, check=False)
    message, memory = done.stdout.splitlines()
    assert "wide.csv.gz:1: must have at most 1,000,000 columns, found 15,000,001; see" in message
    assert int(memory) < 512 * 2**20


def test_a_table_that_cannot_fit_into_memory_is_refused_by_its_shape(write, monkeypatch):
    path = write("Time,A,B\n0,1,2\n1,2,5\n2,4,8\n")
    size = 4 * 3 * (24 + 150 // 3)
    monkeypatch.setattr(input_size, "available_memory", lambda: size)
    assert len(Expression.of(path).genes) == 2
    monkeypatch.setattr(input_size, "available_memory", lambda: size - 1)
    with pytest.raises(DataError, match=r"its 4 rows x 3 columns take 888 bytes: leave out rows"):
        Expression.of(path)


def test_options_are_looked_for_by_reading_a_file_again_only_where_it_is_small(write, monkeypatch):
    path = write(TURNED)
    with pytest.raises(DataError) as refused:
        Expression.of(path)

    def found():
        readings = readable_options([path], refused.value, Options.of())
        return [reading.options.given() for reading in readings]

    whole = found()
    assert len(whole) > 1
    for most, n in ((2 * len(TURNED) - 1, 1), (len(TURNED) - 1, 0)):
        monkeypatch.setattr("grn_tvcs.expression.readable_options.MOST_BYTES", most)
        assert found() == whole[:n]

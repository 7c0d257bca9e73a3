"""Tables as R, pandas, Excel and GEO write them: read, or refused with the remedy by name.

pandas and openpyxl write theirs here. R is not needed to run the tests: what it wrote stands below
with the line of R that wrote it (R 4, defaults of `write.table` and `write.csv`), for

    d <- data.frame(Time = c(0, 2, 4.5), NA. = c(1.5, 2, 3), G2 = c(0.25, 1, 4))
    m <- matrix(c(1, 3, 5, 2, 4, 6.5), 2, byrow = TRUE,
                dimnames = list(c("G1", "G2"), c("c1", "c2", "c3")))
"""

import gzip
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression, read_steady_states
from grn_tvcs.expression.readable_options import command_of
from tests.grn.tables import refused, ways_out
from tvcs_core import DataError

R = {
    "write.table(d, f)": '"Time" "NA." "G2"\n"1" 0 1.5 0.25\n"2" 2 2 1\n"3" 4.5 3 4\n',
    'write.table(d, f, sep = "\\t")': (
        '"Time"\t"NA."\t"G2"\n"1"\t0\t1.5\t0.25\n"2"\t2\t2\t1\n"3"\t4.5\t3\t4\n'
    ),
    'write.table(d, f, sep = "\\t", quote = FALSE)': (
        "Time\tNA.\tG2\n1\t0\t1.5\t0.25\n2\t2\t2\t1\n3\t4.5\t3\t4\n"
    ),
    "write.csv(d, f)": '"","Time","NA.","G2"\n"1",0,1.5,0.25\n"2",2,2,1\n"3",4.5,3,4\n',
    "write.csv2(d, f)": '"";"Time";"NA.";"G2"\n"1";0;1,5;0,25\n"2";2;2;1\n"3";4,5;3;4\n',
}
OF_R = '"c1" "c2" "c3"\n"G1" 1 3 5\n"G2" 2 4 6.5\n'  # write.table(m, f)
# write.csv of slingshot's slingPseudotime(): the names of cells are names of rows
PSEUDOTIME = '"Lineage1","Lineage2"\n"c1",0,NA\n"c2",0.5,0.25\n"c3",1.5,1\n'

GENES = ("NA.", "G2")
LEVELS = [[1.5, 0.25], [2, 1], [3, 4]]
FRAME = pd.DataFrame({"Time": [0.0, 2, 4.5], "NA.": [1.5, 2, 3], "G2": [0.25, 1, 4]})


def check(found, times=(0, 2, 4.5)):
    assert found.genes == GENES
    assert found.times.tolist() == list(times)
    assert found.values.tolist() == LEVELS
    assert found.steady_values is None


@pytest.mark.parametrize("line", R)
def test_tables_of_r_are_read(line, write):
    check(Expression.of(write(R[line])))


def test_a_matrix_of_r_has_genes_in_rows_and_a_header_one_cell_short(write):
    levels, clock = write(OF_R), write(PSEUDOTIME, "PseudoTime.csv")
    found = Expression.of(levels, genes_in_rows=True)
    assert found.genes == ("G1", "G2")
    assert found.steady_values.tolist() == [[1, 2], [3, 4], [5, 6.5]]
    assert refused(levels)[1][0] == {"genes_in_rows": True}
    cells = Expression.of(levels, pseudotime=clock)
    assert cells.series == ("Lineage1",) * 3 + ("Lineage2",) * 2
    assert cells.times.tolist() == [0, 0.5, 1.5, 0.25, 1]
    one = Expression.of(levels, pseudotime=clock, ignore=["Lineage2", "G1"])
    assert (set(one.series), one.genes) == ({"Lineage1"}, ("G2",))


@pytest.mark.parametrize(
    "arguments", [{}, {"index": False}, {"sep": "\t"}, {"sep": ";", "decimal": ","},
                  {"encoding": "utf-16"}, {"encoding": "utf-8-sig"}]
)  # fmt: skip
def test_tables_of_pandas_are_read_with_and_without_their_index(arguments, tmp_path):
    FRAME.to_csv(tmp_path / "x.tsv", **arguments)
    check(Expression.of(tmp_path / "x.tsv"))


def test_an_index_that_was_read_as_a_column_is_no_gene(tmp_path):
    FRAME.to_csv(tmp_path / "x.tsv")
    pd.read_csv(tmp_path / "x.tsv").to_csv(tmp_path / "y.csv", index=False)
    assert (tmp_path / "y.csv").read_text().startswith("Unnamed: 0,")
    check(Expression.of(tmp_path / "y.csv"))
    FRAME.drop(columns="Time").to_csv(tmp_path / "rest.csv")
    assert Expression.of(tmp_path / "rest.csv").steady_values.tolist() == LEVELS


@pytest.mark.parametrize("header", ["X,Time", ",X,Time"])
def test_names_of_rows_that_r_read_and_wrote_again_are_no_gene(header, write):
    names = "{0}," * header.count(",")
    rows = [names.format(k) + f"{k % 4},{k * k}" for k in range(1, 7)]
    text = "\n".join([f"{header},G1", *rows]) + "\n"
    assert Expression.of(write(text)).genes == ("G1",)
    levels = text.replace("5,1,25", "9,1,25")
    assert Expression.of(write(levels)).genes == ("X", "G1")  # no longer counts the rows


def test_an_empty_column_that_pandas_gave_a_name_is_left_out(write):
    path = write("Time,G1,Unnamed: 2\n0,1,\n1,2,\n")
    assert Expression.of(path).genes == ("G1",)


def test_cells_that_pseudotime_does_not_reach_are_left_out_of_a_table_too(write):
    levels, clock = write(OF_R), write(PSEUDOTIME.replace("NA", "Inf"), "PseudoTime.csv")
    with pytest.warns(UserWarning, match="left out 1 infinite pseudotime"):
        cells = Expression.of(levels, pseudotime=clock)
    assert cells.times.tolist() == [0, 0.5, 1.5, 0.25, 1]


def test_names_of_samples_and_other_columns_may_be_given(write):
    path = write("who,kit,Time,NA.,G2\na,x,0,1.5,0.25\nb,x,2,2,1\nc,x,4.5,3,4\n")
    check(Expression.of(path, sample_column="who", ignore=["kit"]))
    check(Expression.of(path, ignore=["1", "KIT"]))
    with pytest.raises(DataError, match="no column 'whom' for sample_column; did you mean 'who'"):
        Expression.of(path, sample_column="whom")
    with pytest.raises(DataError, match="no column 'kits' for ignore; did you mean 'kit'"):
        Expression.of(path, ignore=["kits"])


def test_empty_columns_and_marks_of_nothing_are_those_of_excel(write):
    check(Expression.of(write("Time;NA.;G2;;\n0;1,5;0,25;;\n2;2;1;;\n4,5;3;4;;\n")))
    check(Expression.of(write("Time\tNA.\tG2\n0\t1.5\t.25\t\n2\t2\t1\t\n4.5\t3\t4\t\n")))
    path = write("Time\tNA.\tG2\n0\t1.5\t0.25\n2\t#N/A\t1\n4.5\t3\t4\n")
    with pytest.raises(DataError, match="found '#N/A'; it is the only value that is missing"):
        Expression.of(path)
    assert refused(path)[1] == [{"missing": "interpolate"}]
    with pytest.raises(
        DataError, match=r"tsv:1, column 4: a gene must have a name.*give ignore='4'"
    ):
        Expression.of(write("Time\tNA.\tG2\t\n0\t1.5\t0.25\tgood\n2\t2\t1\t\n"))
    with pytest.raises(DataError, match=r"tsv:1: .* 'Table S1' alone: remove what stands above"):
        Expression.of(write("Table S1,,\nTime,NA.,G2\n0,1,2\n2,2,1\n"))


def test_a_comma_that_may_be_thousands_is_refused_and_points_beside_it_too(write):
    with pytest.raises(DataError, match=r"'1,500': thousands or a decimal comma; write 1500 or"):
        Expression.of(write("Time\tA\n0\t1,500\n1\t2,250\n"))
    with pytest.raises(DataError, match="'1,500': thousands or a decimal comma; write 1500 or"):
        Expression.of(write("Time\tA,b\n0\t1,500\n1\t2,250\n"))
    found = Expression.of(write("Time;A,b;C\n0;1,500;2\n1;2,250;3\n"))
    assert (found.genes, found.values[0].tolist()) == (("A,b", "C"), [1.5, 2])
    with pytest.raises(
        DataError, match=r"must be a number, found '1,5'; that is a decimal comma: write 1\.5"
    ):
        Expression.of(write("Time\tA\n0\t1,5\n1\t2.5\n"))


@pytest.mark.parametrize("name", ["Timepoint", "time_h", "TIME.min", "Hours"])
def test_a_time_of_another_name_is_named_by_an_option(name, write):
    path = write(f"{name},NA.,G2\n0,1.5,0.25\n2,2,1\n4.5,3,4\n")
    with pytest.raises(DataError, match=r"seems to be it: give time_column"):
        Expression.of(path)
    assert refused(path)[1] == [{"time_column": name}]
    check(Expression.of(path, time_column=name))
    check(Expression.of(path, time_column="1"))


@pytest.mark.parametrize(
    ("time", "cells"),
    [("TimePoint", ["T0", "T2", "T4.5"]), ("Time Point", ["0 hr", "2 hr", "4.5 hr"])],
)
def test_times_with_units_in_front_are_no_names_of_samples(time, cells, write):
    levels = ["1.5,0.25", "2,1", "3,4"]
    rows = [f"{c},R{k},{x}\n" for k in (1, 2) for c, x in zip(cells, levels, strict=True)]
    path = write(f"{time},Bio_Rep,NA.,G2\n" + "".join(rows))
    with pytest.raises(DataError, match=f"{time} seems to be it: give time_column"):
        Expression.of(path)
    first = refused(path)[1][0]
    assert first == {"time_column": time, "series_column": ("Bio_Rep",)}
    assert Expression.of(path, **first).series == ("R1",) * 3 + ("R2",) * 3


@pytest.mark.parametrize(
    ("cells", "times", "unit"),
    [
        (["0h", "2h", "4.5h"], (0, 2, 4.5), "h"),
        (["0", "2 hours", "4.5 hours"], (0, 2, 4.5), "hours"),
        (["T0", "T2", "T4.5"], (0, 2, 4.5), "t"),
        (["day 0", "day 2", "day 4.5"], (0, 2, 4.5), "day"),
        (["0 min", "30min", "1h"], (0, 30, 60), "min"),
    ],
)
def test_times_may_have_a_unit(cells, times, unit, write):
    rows = zip(cells, ("1.5,0.25", "2,1", "3,4"), strict=True)
    text = "Time,NA.,G2\n" + "".join(f"{time},{levels}\n" for time, levels in rows)
    found = Expression.of(write(text))
    check(found, times)
    assert found.notes == ((f"Times are in {unit}, as the file says.",) if unit != "t" else ())
    turned = ",".join(["gene", *cells]) + "\nNA.,1.5,2,3\nG2,0.25,1,4\n"
    if unit != "t":
        check(Expression.of(write(turned), genes_in_rows=True), times)
    else:  # T0 may be the name of a sample as well
        with pytest.warns(UserWarning, match="names of samples seem to hold times"):
            assert Expression.of(write(turned), genes_in_rows=True).n_steady == 3
        check(Expression.of(write(turned), genes_in_rows=True, time_column="gene"), times)


def test_units_that_do_not_agree_are_refused(write):
    hours, minutes = write("Time,A\n0h,1\n2h,2\n"), write("Time,A\n0min,1\n9min,2\n", "y.csv")
    with pytest.raises(DataError, match=r"in the unit of the other files.*in h, Times are in min"):
        Expression.of([hours, minutes])
    again = write(hours.read_bytes(), "z.csv")
    assert len(Expression.of([hours, again]).pieces) == 2
    with pytest.raises(
        DataError, match=r"column 'Time': must be a time, .* the units dpi, h in one co"
    ):
        Expression.of(write("Time,A\n0h,1\n2dpi,2\n"))


def test_durations_of_pandas_name_the_line_that_makes_hours_of_them():
    frame = FRAME.assign(Time=pd.to_timedelta(FRAME["Time"], unit="h"))
    with pytest.raises(DataError, match=r"is a duration: write its hours .*total_seconds") as why:
        Expression.of(frame)
    line = str(why.value).split("times.")[1].rstrip(")")
    hours = eval(f"frame['Time'].{line}")
    check(Expression.of(frame.assign(Time=hours)))


def test_numbers_in_the_first_row_are_times_unless_they_count_the_samples(write):
    found = Expression.of(write("gene,0,2,4.5\nNA.,1.5,2,3\nG2,0.25,1,4\n"), genes_in_rows=True)
    check(found)
    two = Expression.of(write("gene,0,10,0,10\nA,1,2,3,4\nB,1,5,3,4\n"), genes_in_rows=True)
    assert two.series == ("1", "1", "2", "2")
    counted = write("gene,0,1,2\nA,1,2,3\nB,1,5,3\n")
    with pytest.warns(UserWarning, match="count from 0 to 2, taken for numbers of steady-state s"):
        assert Expression.of(counted, genes_in_rows=True).n_steady == 3
    assert Expression.of(write("hours,0,1,2\nA,1,2,3\n"), genes_in_rows=True).times.size == 3


def test_a_row_of_words_above_genes_is_named_with_what_it_may_be(write):
    path = write("id,a,b,c,d\nTime,0,2,0,2\narm,x,x,y,y\nG1,1,2,3,4\n")
    given = {"genes_in_rows": True}
    with pytest.raises(DataError, match=r"tsv:3, .*no cell of 'arm' is: .* series_column='arm'"):
        Expression.of(path, **given)
    assert refused(path, **given)[1] == [
        {"series_column": ("arm",)},
        {"ignore": ("arm",)},
    ]
    assert set(Expression.of(path, **given, series_column="arm").series) == {"x", "y"}


def test_annotation_beside_genes_in_rows_is_ignored_by_name(write):
    path = write("id,symbol,0h,2h\nENS1,A,1,2\nENS2,B,3,4\nspike,C,9,9\n")
    with pytest.raises(DataError, match="column 'symbol': must be a number, found 'A'"):
        Expression.of(path, genes_in_rows=True)
    assert refused(path, genes_in_rows=True)[1] == [{"ignore": ("symbol",)}]
    found = Expression.of(path, genes_in_rows=True, ignore=["symbol", "spike"])
    assert (found.genes, found.times.tolist()) == (("ENS1", "ENS2"), [0, 2])
    with pytest.raises(DataError, match="neither a column nor a row 'symbl' for ignore; did you"):
        Expression.of(path, genes_in_rows=True, ignore=["symbl"])


SHEET = "SampleID,Time (h),donor,arm,note\ns1,0h,d1,a,x\ns2,2h,d1,a,x\ns3,0h,d2,a,x\ns4,2h,d2,a,x\n"
BESIDE = ",A,B\ns1,1,2\ns2,3,4\ns3,5,6\ns4,7,8\n"


def test_a_sheet_of_samples_may_have_names_of_its_own(write):
    levels, sheet = write(BESIDE), write(SHEET, "s.csv")
    found = Expression.of(levels, samples=sheet, series_column="donor")
    assert found.series == ("d1", "d1", "d2", "d2")
    assert found.times.tolist() == [0, 2, 0, 2]
    both = Expression.of(levels, samples=sheet, series_column=["arm", "donor"])
    assert both.series == ("a/d1", "a/d1", "a/d2", "a/d2")
    named = {"time_column": "time (H)", "sample_column": "sampleid", "series_column": "donor"}
    assert Expression.of(levels, samples=sheet, **named).series == found.series
    unnamed = write(SHEET.replace("SampleID", "").replace(" (h)", "point"), "u.csv")
    assert Expression.of(levels, samples=unnamed, series_column="donor").series == found.series
    with pytest.raises(DataError, match="no column 'doner' for series_column; did you mean 'don"):
        Expression.of(levels, samples=sheet, series_column="doner")
    two = write(SHEET.replace("note", "time_min").replace(",x", ",0"), "two.csv")
    with pytest.warns(UserWarning, match=r"no times that differ stand in time_min, so Time \(h\)"):
        assert Expression.of(levels, samples=two, series_column="donor").series == found.series
    two = write(SHEET.replace("note", "time_min").replace("0h,d1,a,x", "0h,d1,a,5"), "two.csv")
    two.write_text(two.read_text().replace(",x", ",0"))
    with pytest.raises(DataError, match=r"must have one column time.*give time_column='Time \(h"):
        Expression.of(levels, samples=two, series_column="donor")
    without = Expression.of(levels, samples=sheet, series_column="donor", ignore=["A", "note"])
    assert without.genes == ("B",)


def test_a_column_of_a_sheet_that_parts_no_replicates_is_no_remedy(write):
    """`group` has a value for each time, so it would make a series of every time."""
    levels = write("gene,a,b,c,d\nA,1,2,3,4\nB,2,1,4,3\n")
    rows = [f"{name},{time},{time}h" for name, time in zip("abcd", (0, 0, 2, 2), strict=True)]
    sheet = write("\n".join(["sample,time,group", *rows]), "s.csv")
    given = {"samples": sheet, "genes_in_rows": True}
    with pytest.raises(DataError, match=r"time 0 comes twice") as why:
        Expression.of(levels, **given)
    assert "--series-column" not in str(why.value)
    ways = refused(levels, **given)[1]
    assert [way["replicates"] for way in ways] == ["unpaired", "average"]


@pytest.mark.parametrize(
    ("more", "remedy"),
    [
        ("x,0,d3\n", "1 sample has none: x; .*or remove these rows"),
        ("A1,0,d1\n", "leave one row of each"),
    ],
)
def test_rows_of_a_sheet_that_are_too_many_are_refused_with_what_to_do(more, remedy, write):
    levels = write("sample,A,B\nA1,1,2\nA2,3,1\n")
    sheet = write("sample,time,series\nA1,0,d1\nA2,2,d1\n" + more, "s.csv")
    with pytest.raises(DataError, match=remedy):
        Expression.of(levels, samples=sheet)


GEO = """!Series_title\t"A course"
!Series_geo_accession\t"GSE1"

!Sample_title\t"wt, 0 h"\t"wt, 2 h"\t"wt, 4.5 h"
!Sample_geo_accession\t"GSM1"\t"GSM2"\t"GSM3"
!Sample_characteristics_ch1\t"strain: 168"\t"strain: 168"\t"strain: 168"
!Sample_characteristics_ch1\t"time: 0 h"\t"time: 2 h"\t"time: 4.5 h"
!series_matrix_table_begin
"ID_REF"\t"GSM1"\t"GSM2"\t"GSM3"
"NA."\t1.5\t2\t3
"G2"\t0.25\t1\t4
!series_matrix_table_end
"""


def test_the_time_of_a_series_matrix_is_what_differs_from_sample_to_sample(write):
    text = (
        '!Sample_characteristics_ch1\t"time: 2 h"\t"time: 2 h"\n'
        '!Sample_characteristics_ch1\t"age: 1 h"\t"age: 2 h"\n'
        '!series_matrix_table_begin\n"ID_REF"\t"c1"\t"c2"\n'
        '"G1"\t1\t2\n"G2"\t3\t2\n!series_matrix_table_end\n'
    )
    with pytest.warns(UserWarning, match="no times that differ stand in time, so age is"):
        found = Expression.of(write(text, "GSE2_series_matrix.txt"))
    assert found.times.tolist() == [1, 2]


def test_a_series_matrix_of_geo_may_be_the_sheet_of_another_table(write):
    levels = write("gene,GSM1,GSM2,GSM3\nA,1,2,4\nB,3,1,2\n", "levels.csv")
    sheet = write(GEO, "GSE1_series_matrix.txt")
    assert Expression.of(levels, samples=sheet, genes_in_rows=True).times.tolist() == [0, 2, 4.5]


def test_a_series_matrix_of_geo_is_read_by_its_characteristics(write):
    check(Expression.of(write(GEO, "GSE1_series_matrix.txt")))
    path = write(gzip.compress(GEO.encode()), "GSE1_series_matrix.txt.gz")
    found = Expression.of(path, series_column="strain")
    check(found)
    assert set(found.series) == {"168"}
    assert "Times are in h, as the file says." in found.notes
    untold = write(GEO.replace("time: ", "dose: ").replace(' h"', ' g"'), "untold.txt")
    with pytest.raises(DataError, match=r"one column time.*'NAME', or samples.*such as GSM1"):
        Expression.of(untold)
    sheet = write("geo_accession,time\nGSM1,0\nGSM2,2\nGSM3,4.5\n", "s.csv")
    check(Expression.of(untold, samples=sheet))
    for text in (GEO.partition("!series_matrix_t")[0], '!Series_title\t"x"\n'):
        with pytest.raises(DataError, match=r"without levels: .* supplementary files of the"):
            Expression.of(write(text, "none.txt"))


DAYS, HOURS = ([f"{i}{unit}" for i in range(4)] for unit in "dh")


@pytest.mark.parametrize("time", ["", "NA"])
@pytest.mark.parametrize("name", ["time", "hours"])
def test_samples_without_any_time_stay_at_rest_beside_a_column_of_ages(both, name, time):
    table, sheet = both(**{name: [time] * 4, "age": DAYS})
    found = Expression.of(table, samples=sheet)
    assert (len(found.times), len(found.steady_values)) == (0, 4)


@pytest.mark.parametrize("name", ["time", "hours", "time of day"])
@pytest.mark.parametrize("time", ["0", "8h", "am"])
@pytest.mark.parametrize("of_geo", [False, True])
def test_a_column_called_like_a_time_of_one_value_yields_to_one_that_holds_times(
    both, name, time, of_geo
):
    columns = {name: [time] * 4, "post infection": HOURS}
    table, sheet = both(**columns, of_geo=of_geo)
    message = f"no times that differ stand in {name}, so post infection is taken as the time"
    with pytest.warns(UserWarning, match=message):
        assert Expression.of(table, samples=sheet).times.tolist() == [0, 1, 2, 3]
    with pytest.raises(DataError, match="must be a number" if time == "am" else "comes twice"):
        Expression.of(table, samples=sheet, time_column=name)


def test_a_wrong_cell_among_times_is_named_and_no_other_column_taken(both):
    table, sheet = both(hours=["0h", "1h", "2h", "three"], age=DAYS)
    with pytest.raises(DataError, match=r"column 'hours': must be a time.*found 'three'"):
        Expression.of(table, samples=sheet)


@pytest.mark.parametrize("of_geo", [False, True])
def test_where_no_column_or_several_may_be_the_time_the_ways_out_are_those_of_the_reader(
    both, of_geo
):
    table, sheet = both(**{"age": DAYS, "post infection": HOURS}, of_geo=of_geo)
    message = "may each be it; give time_column='age' or time_column='post infection'$"
    with pytest.raises(DataError, match=message) as raised:
        Expression.of(table, samples=sheet)
    assert len(raised.value.remedies) == 2
    way = r"samples='SHEET' with columns sample \(such as s0\) and time" if of_geo else "add a col"
    table, sheet = both(strain=["a"] * 4, of_geo=of_geo)
    with pytest.raises(DataError, match=f"give time_column='NAME', or {way}"):
        Expression.of(table, samples=sheet)
    table, sheet = both(**{"post infection": ["control", "1h", "2h", "3h"]}, of_geo=of_geo)
    with pytest.raises(DataError, match="post infection holds times, but also 'control', which"):
        Expression.of(table, samples=sheet)


@pytest.fixture
def both(write):
    """A table of four samples and a sheet, or a series matrix of both and no sheet."""

    def make(*, of_geo=False, **columns):
        names = "s0 s1 s2 s3"
        if of_geo:
            facts = [[f"{name}: {c}" for c in cells] for name, cells in columns.items()]
            return write(series_matrix(facts, names), "GSE3_series_matrix.txt"), None
        table = "sample,A,B\ns0,1,4\ns1,2,3\ns2,3,2\ns3,4,5\n"
        rows = zip(names.split(), *columns.values(), strict=True)
        sheet = "\n".join(",".join(row) for row in [("sample", *columns), *rows]) + "\n"
        return write(table, "levels.csv"), write(sheet, "sheet.csv")

    return make


def matrix(*characteristics):
    """A series matrix of two genes in which every time comes twice, with more of its samples."""
    times = ["time: 0 h", "time: 0 h", "time: 2 h", "time: 2 h"]
    return series_matrix([times, *characteristics])


def series_matrix(characteristics, names="GSM1 GSM2 GSM3 GSM4"):
    rows = (chr(9).join(["!Sample_characteristics_ch1", *cells]) for cells in characteristics)
    levels = "\t".join(["ID_REF", *names.split()]) + "\nA\t1\t2\t3\t4\nB\t4\t3\t2\t5\n"
    begin, end = (f"!series_matrix_table_{word}\n" for word in ("begin", "end"))
    return "\n".join(["!Series_title\tx", *rows, f"{begin}{levels}{end}"])


STRAINS, DONORS = ["strain: wt", "strain: mutant"] * 2, ["donor: D1", "donor: D2"] * 2


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (matrix(STRAINS), {"series_column": ("strain",)}),
        # Of two that may be times the one that is called so; a column that parts all is in front.
        (
            matrix(["dose: 1", "dose: 1", "dose: 1", "dose: 2"], DONORS),
            {"series_column": ("donor",)},
        ),
    ],
)
def test_of_a_series_matrix_whose_times_come_twice_check_says_what_reads_it(write, text, options):
    path = write(text, "GSE2_series_matrix.txt")
    with pytest.raises(
        DataError, match="time 0 comes twice in series 1; tell replicates"
    ) as raised:
        Expression.of(path)
    first, *_ = ways_out(path, raised.value)
    assert first == options
    found = Expression.of(path, **first)
    assert [len(found.pieces), found.times.tolist()] == [2, [0, 2, 0, 2]]


def test_where_nothing_tells_series_of_a_series_matrix_apart_a_sheet_is_one_way_out(write):
    path = write(matrix(["strain: wt"] * 4), "GSE2_series_matrix.txt")
    message = "series_column='NAME', or samples='SHEET' with columns sample, time and replicate"
    with pytest.raises(DataError, match=message) as raised:
        Expression.of(path)
    found = ways_out(path, raised.value)
    assert found == [{"replicates": "unpaired"}, {"replicates": "average"}]
    sheet = write("sample,time,replicate\nGSM1,0,1\nGSM2,0,2\nGSM3,2,1\nGSM4,2,2\n", "s.csv")
    assert len(Expression.of(path, samples=sheet).pieces) == 2
    untold = write("sample,time,note\nGSM1,0,x\nGSM2,0,x\nGSM3,2,x\nGSM4,2,x\n", "u.csv")
    with pytest.raises(DataError, match="twice in series 1; tell replicates apart by a column rep"):
        Expression.of(path, samples=untold)
    result = write("sample,time,note\nGSM1,0,x\nGSM2,0,y\nGSM3,2,x\nGSM4,2,y\n", "t.csv")
    with pytest.raises(DataError, match="or give series_column='note'"):
        Expression.of(path, samples=result)


def test_a_series_matrix_of_one_gene_of_titles_and_with_empty_cells_behind(write):
    titles = '!Sample_title\t"wt, 0 h"\t"wt, 2 h"\t"wt, 4.5 h"'
    text = GEO.replace(titles, '!Sample_title\t"0 h"\t"2 h"\t"4.5 h"').replace("time:", "dose:")
    text = text.replace(' h"\n!series', ' g"\n!series')
    check(Expression.of(write(text, "titles.txt"), time_column="title"))
    alone = Expression.of(write(GEO.replace('"G2"\t0.25\t1\t4\n', ""), "alone.txt"))
    assert (alone.genes, alone.values[:, 0].tolist()) == (("NA.",), [1.5, 2, 3])
    odd = write(GEO.replace("time: 2 h", "time: late"), "odd.txt")
    with pytest.raises(DataError, match=r"odd\.txt:1, column 'time': must be a time"):
        Expression.of(odd, time_column="time")
    # As a spreadsheet saves it: all lines are as long as the longest
    lines = [line + "\t" * (3 - line.count("\t")) for line in GEO.splitlines()]
    check(Expression.of(write("\n".join(lines) + "\n", "wide.txt")))


@pytest.fixture
def book(tmp_path):
    """A workbook as pandas writes it by openpyxl."""

    def make(name="x.xlsx", **frames):
        with pd.ExcelWriter(tmp_path / name, engine="openpyxl") as writer:
            for sheet, frame in (frames or {"Sheet1": FRAME}).items():
                frame.to_excel(writer, sheet_name=sheet, index=sheet.startswith("with"))
        return tmp_path / name

    return make


def test_a_workbook_is_read_and_one_of_several_sheets_is_named(book):
    check(Expression.of(book()))
    check(Expression.of(book(with_index=FRAME)))
    samples = pd.DataFrame({"sample": ["s1", "s2", "s3"], "time": ["0h", "2h", "4.5h"]})
    levels = FRAME.drop(columns="Time").set_index(samples["sample"])
    path = book("two.xlsx", with_levels=levels, design=samples)
    message = (
        r"two\.xlsx: has the sheets with_levels, design; name one with sheet, such as .*levels'$"
    )
    with pytest.raises(DataError, match=message):
        Expression.of(path)
    words = {"samples": path, "sheet": "with_levels", "samples_sheet": "design"}
    check(Expression.of(path, **words))
    with pytest.raises(DataError, match="has no sheet 'desing'; did you mean 'design'"):
        Expression.of(path, **words | {"samples_sheet": "desing"})
    frame = pd.read_excel(path, sheet_name="with_levels")
    beside = {"samples": path, "samples_sheet": "design"}
    check(Expression.of(frame, **beside))
    with pytest.raises(TypeError, match="the sheet of a workbook, found samples in a DataFrame"):
        Expression.of(frame, samples=frame, samples_sheet="design")
    with pytest.raises(DataError, match="is no workbook, so it has no sheet 'a'"):
        FRAME.to_csv(path.with_suffix(".csv"))
        Expression.of(path.with_suffix(".csv"), sheet="a")


def test_several_sheets_are_tried_by_check(book):
    timed = FRAME.rename(columns={"Time": "Timepoint"})
    path = book("two.xlsx", notes=pd.DataFrame({"a": ["b"]}), data=timed)
    assert {"sheet": "data", "time_column": "Timepoint"} in refused(path)[1]
    assert command_of([path], {"sheet": "my data", "ignore": ("a", "b")}) == (
        f"grn-tvcs check {path} --sheet 'my data' --ignore a --ignore b"
    )
    longest = f"{'folder/' * 30}my data.csv"  # as in a deep folder: a command is never cut
    assert command_of([longest], {}) == f"grn-tvcs check '{longest}'"


def test_workbooks_with_merged_cells_or_damage_are_refused(tmp_path, book, write):
    openpyxl = pytest.importorskip("openpyxl")
    path = book()
    merged = openpyxl.load_workbook(path)
    merged.active.insert_cols(1)
    merged.active["A1"], merged.active["A2"] = "condition", "a"
    merged.active.merge_cells("A2:A4")
    merged.save(tmp_path / "merged.xlsx")
    with pytest.raises(DataError, match=r"found the merged cells A2:A4 in the sheet Sheet1: unm"):
        Expression.of(tmp_path / "merged.xlsx")
    for content in (b"no zip", path.read_bytes()[:-300]):
        with pytest.raises(DataError, match=r"bad\.xlsx: is not an Excel workbook, or damaged"):
            Expression.of(write(content, "bad.xlsx"))
    old = write(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old", "old.xls")
    with pytest.raises(DataError, match=r"is an old Excel workbook \(\.xls\): save it as"):
        Expression.of(old)
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    with pytest.raises(DataError, match="must hold a cell that is not empty, found none in Sheet"):
        Expression.of(tmp_path / "empty.xlsx")
    with pytest.raises(FileNotFoundError):
        Expression.of(tmp_path / "gone.xlsx")


@pytest.mark.parametrize("text", ["<!DOCTYPE html>\n<html>\n", "<html><body>404</body></html>\n"])
def test_a_web_page_in_place_of_a_table_is_named(write, text):
    with pytest.raises(DataError, match=r"a\.tsv:1: must be a table, found a web page or XML: dow"):
        Expression.of(write(text, "a.tsv"))


def test_formulas_whose_values_a_program_did_not_store_are_refused(book, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = book()
    edited = openpyxl.load_workbook(path)
    edited.active["B3"] = "=B2*2"  # openpyxl writes the formula and no value
    edited.save(tmp_path / "formula.xlsx")
    with pytest.raises(DataError, match=r"values of formulas, found none in B3 of the sheet Sh"):
        Expression.of(tmp_path / "formula.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "formula.xlsx") as before,
        zipfile.ZipFile(tmp_path / "stored.xlsx", "w") as after,
    ):
        for name in before.namelist():  # as Excel stores it
            after.writestr(name, re.sub(rb"<v ?/>|<v></v>", b"<v>0.5</v>", before.read(name)))
    stored, plain = Expression.of(tmp_path / "stored.xlsx"), Expression.of(path)
    assert stored.genes == plain.genes
    assert (stored.values != plain.values).sum() == 1


def test_without_openpyxl_the_message_names_its_installation(book, monkeypatch):
    import sys

    path = book()
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataError, match=r"needs openpyxl.*pip install '\.\[excel\]' in the folder"):
        Expression.of(path)


def test_numbers_of_a_workbook_come_back_exactly(book):
    rng = np.random.default_rng(0)
    levels = rng.random((5, 3)) * 10.0 ** rng.integers(-8, 8, (5, 3))
    frame = pd.DataFrame(levels, columns=["A", "B", "C"])
    frame.insert(0, "Time", np.arange(5))
    path = book(a=frame)  # which holds 16 digits of each
    assert np.array_equal(Expression.of(path).values, pd.read_excel(path)[["A", "B", "C"]])


def test_steady_states_may_have_names_of_rows_too(tmp_path):
    genes = pd.DataFrame([[0, 2.5], [1, 0.5]], columns=["A", "B"], index=["A", "B"])
    wild = pd.DataFrame([[1.5, 2.5]], columns=["A", "B"], index=["wt"])
    expected = None
    for index, arguments in ((True, {}), (False, {}), (True, {"sep": ";", "decimal": ","})):
        genes.to_csv(tmp_path / "ko.csv", index=index, **arguments)
        wild.to_csv(tmp_path / "wt.csv", index=index, **arguments)
        found = read_steady_states(knockouts=tmp_path / "ko.csv", wildtype=tmp_path / "wt.csv")
        expected = expected or found
        assert (found.changed, found.genes) == (expected.changed, expected.genes)
        assert np.array_equal(found.levels, expected.levels)

"""Tables as people at the bench keep them: read, warned of, or refused with what to do."""

import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression
from grn_tvcs.cli.genes import names_in
from grn_tvcs.expression.clock import rise_like_times
from grn_tvcs.expression.formats.steady import read_steady_states
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.missing_values import MARKS_OF_LEVELS
from grn_tvcs.expression.scales import on_scale, scale_like
from tests.grn.tables import refused
from tvcs_core import DataError

BODY = "0,1.5,2\n1,2.5,3\n2,0.5,4\n"
REPLICATES = [{"replicates": "unpaired"}, {"replicates": "average"}]


@pytest.mark.parametrize("mark", ["N.A.", "n.d.", "-", ".", "?", "ND", "#DIV/0!", "#VALUE!"])
def test_what_people_and_excel_write_for_nothing_is_missing_and_never_read_unasked(mark, write):
    path = write(f"Time,A,B\n0,1.5,2\n1,{mark},3\n2,0.5,4\n")
    message, ways = refused(path)
    assert "give missing='drop'" in message
    assert ways == [{"missing": "interpolate"}]
    assert mark.lower() in MARKS_OF_LEVELS
    with pytest.warns(UserWarning, match="filled 1 of 6"):
        assert Expression.of(path, missing="interpolate").values[1].tolist() == [1.0, 3.0]


@pytest.mark.parametrize("mark", ["#REF!", "?", "-", "nd", "steady"])
def test_a_broken_time_is_no_steady_sample(mark, write):
    message, _ = refused(write(f"Time,A,B\n0,1,2\n1,2,3\n{mark},4,4\n{mark},5,4\n"))
    assert f"x.tsv:4, column 'Time': must be a number, found '{mark}'" in message
    levels = write("sample,A,B\nS1,1,2\nS2,2,3\nS3,4,4\n", "levels.csv")
    sheet = write(f"sample,time\nS1,0\nS2,1\nS3,{mark}\n", "sheet.csv")
    message, _ = refused(levels, samples=sheet)
    assert f"sheet.csv:4, column 'time': must be a number, found '{mark}'; a time is" in message
    assert "empty for a steady-state sample" in message
    cells = write("gene,C1,C2,C3\nA,1,2,3\nB,2,3,4\n", "cells.csv")
    times = write(f"cell,PT\nC1,0\nC2,1\nC3,{mark}\n", "times.csv")
    weights = write(f"cell,PT\nC1,1\nC2,1\nC3,{mark}\n", "weights.csv")
    good = write("cell,PT\nC1,0\nC2,1\nC3,2\n", "good.csv")
    assert "must be a number" in refused(cells, pseudotime=times)[0]
    assert "must be a number" in refused(cells, pseudotime=good, lineage_weights=weights)[0]


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ("late", "a time is a number, perhaps with a unit"),
        ("2024-03-01", "that is a date"),
        ("1/3/2024", "that is a date"),
        ("0:30", "that is a time of the clock"),
        ("01:30:00", "that is a time of the clock"),
    ],
)
def test_what_is_no_time_is_refused_with_what_to_write(cell, what, write):
    message, ways = refused(write(f"Time,A,B\n0,1.5,2\n{cell},2.5,3\n2,0.5,4\n"))
    assert f"x.tsv:3, column 'Time': must be a number, found '{cell}'; " in message
    assert what in message
    assert not ways  # not to ignore the time


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        (("0_5h", "1h", "2h"), ("0.5h", "1h", "2h")),
        (("E8.5", "E9.5", "P0"), ("8.5dpc", "9.5dpc", "19dpc")),
        (("iPSC", "d2", "d4"), ("0", "d2", "d4")),
    ],
)
def test_a_time_in_other_words_is_refused_with_a_form_that_is_read(cells, written, write):
    rows = "Time,A\n{},1.5\n{},2.5\n{},4\n"
    message, _ = refused(write(rows.format(*cells)))
    assert "write a number and one of these (0.5h, 19dpc), and 0 for the start" in message
    assert len(Expression.of(write(rows.format(*written))).times) == 3


def test_results_of_tests_are_kept_by_the_options_that_are_named(write):
    path = write("gene,baseMean,pvalue,padj\nA,1.5,.2,.3\nB,2.5,.3,.4\nC,.5,.4,.5\n")
    message, _ = refused(path, genes_in_rows=True)
    assert "give keep=['baseMean', 'pvalue', 'padj'])" in message
    found = Expression.of(path, genes_in_rows=True, keep=("baseMean", "pvalue", "padj"))
    assert found.steady_values.shape == (3, 3)


def test_files_whose_genes_differ_in_case_alone_get_one_name_by_a_file(write):
    paths = write(f"Time,Fos,Jun\n{BODY}"), write(f"Time,FOS,JUN\n{BODY}", "y.csv")
    with pytest.raises(DataError, match="differ in case alone: write them alike, or give both"):
        Expression.of(paths)
    names = write("id,name\nFos,Fos\nJun,Jun\n", "names.csv")
    with pytest.warns(UserWarning, match="are called by its names"):
        assert Expression.of(paths, gene_names=names).genes == ("Fos", "Jun")
    other = write(f"Time,Fos,Myc\n{BODY}", "z.csv")
    with pytest.raises(DataError, match="in one of the two only: Jun, Myc; remove them, or give"):
        Expression.of([paths[0], other])


def test_a_sheet_without_names_of_samples_is_refused_with_where_they_stand(write):
    levels = write("gene,S1,S2,S3\nA,1.5,2,3\nB,2.5,3,1\n")
    with pytest.raises(DataError, match="none holds names of samples, put them in a first column"):
        Expression.of(levels, samples=write("time,replicate\n0,1\n1,1\n2,1\n", "s.csv"))
    named = write("time,replicate\nS1,0,1\nS2,1,1\nS3,2,1\n", "s.csv")  # as R writes it
    assert Expression.of(levels, samples=named, genes_in_rows=True).times.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["Zeit", "t", "h"])
@pytest.mark.parametrize("times", [(0, 2, 4) * 2, (0, 0, 2, 2, 4, 4), range(6)])
def test_a_first_column_that_rises_like_a_time_is_refused_with_all_it_may_be(name, times, write):
    rows = "".join(f"{t},{7 * k % 5 + 0.5},{2 - k / 9}\n" for k, t in enumerate(times))
    path = write(f"{name},A,B\n{rows}")
    message, ways = refused(path)
    assert f"time_column='{name}' if it is one; ignore='{name}' if it counts" in message
    assert {"ignore": (name,)} in ways
    assert {"keep": (name,)} in ways
    assert Expression.of(path, keep=[name]).genes == (name, "A", "B")
    assert Expression.of(path, ignore=[name]).genes == ("A", "B")


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("clock", ["", "Time,"])
def test_a_column_that_counts_the_samples_is_no_gene_and_reported(first, clock, write):
    body = "".join(f"{k + first},{clock and f'{k % 3},'}{(5 * k) % 7}\n" for k in range(6))
    path = write(f"ID,{clock}A\n{body}")
    with pytest.warns(UserWarning, match="left out ID, .* count the samples; .* give keep='ID'"):
        assert Expression.of(path).genes == ("A",)
    assert Expression.of(path, keep=["ID"]).genes == ("ID", "A")
    assert Expression.of(path, ignore=["ID"]).genes == ("A",)


def test_levels_do_not_rise_like_times(rng):
    for _ in range(2000):
        assert not rise_like_times(rng.random(8))
    assert not rise_like_times([0, 0, 3, 0, 0, 5, 0, 2])  # counts with zeros
    assert not rise_like_times([0, 1, 2])  # too few to tell
    assert not rise_like_times([0, 1, float("nan"), 3, 4, 5, 6])


def test_a_column_that_rises_beside_series_is_offered_as_the_time(write):
    body = "".join(f"{s},{t},{(7 * t) % 5},{(3 * t + 1) % 4}\n" for s in "ab" for t in (0, 5, 10))
    path = write(f"series,Zeit,A,B\n{body}")
    message, ways = refused(path)
    assert "Zeit seems to be it: give time_column='Zeit'" in message
    assert ways == [{"time_column": "Zeit"}]
    assert Expression.of(path, time_column="Zeit").times.tolist() == [0, 5, 10] * 2
    assert "or give time_column='NAME'" in refused(write(f"series,Zeit,A,B\n{body[:8]}"))[0]


def test_names_of_samples_that_hold_times_are_pointed_out(write):
    table = "gene,0h_rep1,6h_rep1,0h_rep2,6h_rep2\nA,1,2,3,4.5\nB,2,3,4,5\n"
    message, ways = refused(write(table))
    assert "give genes_in_rows=True" in message
    with pytest.warns(UserWarning, match=r"seem to hold times \(0h_rep1, .* samples='SHEET'"):
        Expression.of(write(table), **ways[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Expression.of(write(table.replace("h_", "_")), genes_in_rows=True)


@pytest.mark.parametrize("name", ["Rep", "biorep", "Donor", "batch no"])
def test_a_column_that_may_tell_series_apart_is_no_gene_in_silence(name, write):
    rows = "0,1,1.5\n1,1,2.5\n2,1,0.5\n0,2,1\n1,2,2\n2,2,4\n"
    with pytest.warns(UserWarning, match=f"left out {name}, .* number groups .*series_column"):
        assert Expression.of(write(f"Time,{name},A\n{rows}")).genes == ("A",)
    by_time = "".join(sorted(rows.splitlines(keepends=True)))
    path = write(f"Time,{name},A\n{by_time}")
    with pytest.warns(UserWarning, match="left out"):
        message, ways = refused(path)
    assert "time 0 comes twice" in message
    assert ways == [{"series_column": (name,)}, *REPLICATES]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Expression.of(path, **ways[0]).genes == ("A",)
        Expression.of(write(f"Time,{name},A\n0,1.5,1\n1,2,2\n2,1,1\n"))  # levels of a gene


def test_one_more_column_of_series_keeps_those_apart_that_were(write):
    rows = (
        "0,ctl,1,1\n0,ctl,2,2\n2,ctl,1,3\n2,ctl,2,4\n1,trt,1,5\n1,trt,2,6\n3,trt,1,7\n3,trt,2,8\n"
    )
    path = write(f"Time,Condition,Rep,A\n{rows}")
    with pytest.warns(UserWarning, match="left out Rep, .* number groups of samples"):
        message, ways = refused(path)
    assert "or give series_column=['Condition', 'Rep']" in message
    assert ways == [{"series_column": ("Condition", "Rep")}, *REPLICATES]
    data = Expression.of(path, **ways[0])
    assert list(dict.fromkeys(data.series)) == ["ctl/1", "ctl/2", "trt/1", "trt/2"]
    result = {"series_column": "Condition"}
    with pytest.warns(UserWarning, match="left out Rep"):
        assert refused(path, **result)[1][0] == ways[0]
    message, ways = refused(write("Time,replicate,A,B\n0,1,1,2\n0,1,2,3\n1,1,3,4\n"))
    assert "give series_column='NAME'" in message
    assert ways == REPLICATES  # replicate is used already


@pytest.mark.parametrize("name", ["batch", "Rep"])
def test_without_a_time_nothing_tells_series_apart(name, write):
    path = write(f"{name},A,B\n1,1.5,2\n1,2.5,3\n2,0.5,4\n2,1.5,1\n")
    with pytest.warns(UserWarning, match=f"left out {name}, no genes .* give keep='{name}'"):
        assert Expression.of(path).genes == ("A", "B")
    assert Expression.of(path, keep=[name]).genes == (name, "A", "B")


def test_a_gene_with_two_probes_is_not_a_sample_and_times_are_no_genes(write):
    path = write("gene,0h,6h,12h\nTP53,1,2,3\nTP53,1,2,4\nB,2,3,4\n")
    assert not refused(path)[1]
    message, _ = refused(path, genes_in_rows=True)
    assert "found twice: TP53; rename or remove them, or average" in message
    _, ways = refused(write("gene,0h,6h,12h\nA,1,2,3\nB,2,3,4\n"))
    assert ways == [{"genes_in_rows": True}]


def test_a_column_of_words_called_gene_is_no_gene(write):
    path = write("Time,gene,A,B\n0,WT,1,2\n1,WT,2,3\n2,WT,1.5,4\n")
    message, ways = refused(path)
    assert "if the column is no gene, give ignore='gene'" in message
    assert ways == [{"ignore": ("gene",)}]


def test_names_of_samples_may_repeat_and_those_of_genes_not(write):
    rows = "WT,1,2\nWT,2,3\nmut,3,4\nmut,4,5.5\n"
    assert refused(write(f"strain,A,B\n{rows}"))[1] == [{"sample_column": "strain"}]
    assert not refused(write(f"gene,S1,S2\n{rows}"))[1]


def test_words_that_may_tell_series_apart_do_so_first(write):
    rows = "0,D1,1,2\n1,D1,2,3\n0,D2,2,4\n1,D2,1.5,5\n"
    path = write(f"Time,Donor,A,B\n{rows}")
    message, ways = refused(path)
    assert "apart, give series_column='Donor', and if it is no gene, ignore='Donor'" in message
    assert ways == [{"series_column": ("Donor",)}, {"ignore": ("Donor",)}]
    by_time = "".join(sorted(rows.splitlines(keepends=True)))
    path = write(f"Time,Donor,A,B\n{by_time}")
    ignored = [{"ignore": ("Donor",)} | way for way in REPLICATES]
    assert refused(path)[1] == [{"series_column": ("Donor",)}, *ignored]
    steady_values = write("A,Donor,B\n1,D1,2\n2,D1,3\n3,D2,4\n1.5,D2,5\n", "rest.csv")
    assert refused(steady_values)[1] == [{"ignore": ("Donor",)}]


FIVE = "Time,A,B,C,D\n0,1,2,3,4\n1,2,3,4,5\n"
GO = "remove what stands above"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Time|A|B\n0|1.5|2\n1|2.5|3\n", "between cells must stand tabs, .* found '|'"),
        (f"Fig. 3, levels\n{FIVE}", f"the first line must name the columns, .*{GO}"),
        (f"Fig. 3,,\n,,\n{FIVE}", f"the first line must name the columns, .*{GO}"),
        (f"My title\n\n{FIVE}", f"the first line must name the columns, .*{GO}"),
        (f"Levels\n{FIVE}", f"the first line must name the columns, .*{GO}"),
        (f"Levels of genes over time\n\n{FIVE}", "delete the lines above the column names"),
        ("Fig. 3, levels\nTime,A,B\n0,1,2\n1,2,3\n", f"holds 'Fig. 3 levels' alone: {GO}"),
    ],
)
def test_a_title_and_bars_between_cells_must_go(text, message, write):
    found, ways = refused(write(text))
    assert re.search(f"x.tsv:[13]: .*{message}", found)
    assert not ways


def test_tables_of_r_have_no_title(write):
    table = open_sheet(write("time strain\ns1 NA wt\ns2 1 mut\n")).grid.table
    assert table.rows[0] == ["", "time", "strain"]
    assert open_sheet(write("A,B\ns1,NA,NA\ns2,1,2\n")).heads == ["", "A", "B"]


@pytest.mark.parametrize(
    "table",
    [
        "gene,0,10\nlexA,1,2\nrecA,2,3\n",
        "gene,0,10,20\nlexA,1,2,3\nrecA,2,3,4\n",
        ",0,10\nlexA,1,2\nrecA,2,3\n",
        "0,10,20\nlexA,1,2,3\nrecA,2,3,4\n",
        "Time,A,B,C\n0,3,4,5\n1,2,3,4\n",
    ],
)
@pytest.mark.parametrize("options", [{}, {"genes_in_rows": True}])
def test_a_title_above_a_header_of_numbers_must_go(table, options, write):
    message, ways = refused(write(f"Fig. 3, levels\n{table}"), **options)
    assert "x.tsv:1: the first line must name the columns" in message
    assert "holds 'Fig. 3 levels' alone: remove what stands above" in message
    assert not ways
    message, ways = refused(write("Fig. 3, levels\n0,10\nlexA,1,2\nrecA,2,3\n"), **options)
    assert "x.tsv:3: must have 2 cells like the first row, found 3; delete the lines" in message


@pytest.mark.parametrize(
    "table",
    [
        "a,b\nTime,0,10\nlexA,1,2\nrecA,2,3\n",  # R, genes in rows
        "a,b\nlexA,0,10\nrecA,2,3\n",
        "gene,s1\n,1\nA,2\n",
        "0,10\nlexA,1,2\nrecA,2,3\n",
    ],
)
def test_a_header_is_no_title(table, write):
    assert open_sheet(write(table)).heads[-1] in {"b", "s1", "10"}


def test_notes_beside_a_table_may_be_ignored(write):
    path = write("Time,A,B,,,,,\n0,1,2,a,b,c,d,e\n1,2,3,a,b,c,d,e\n")
    assert refused(path)[1] == [{"ignore": ("4", "5", "6", "7", "8")}]


@pytest.mark.parametrize("header", ["# Time A B\n", "# x A B\n", "# Time,A,B\n", "#time\tA\tB\n"])
def test_the_sign_before_names_of_columns_must_go(header, write):
    mark = next((mark for mark in ",\t" if mark in header), " ")
    message, _ = refused(write(header + BODY.replace(",", mark)))
    assert "x.tsv:1: " in message
    assert message.endswith("remove the #")
    assert open_sheet(write(f"#,A,B\n{BODY}")).heads == ["#", "A", "B"]


def test_delimiters_at_the_end_of_rows_are_left_out_however_many(write):
    body = BODY.replace("\n", ",,\n")
    assert Expression.of(write(f"Time,A,B\n{body}")).values.tolist()[2] == [0.5, 4]
    assert "must have 3 cells" in refused(write(f"Time,A,B\n{body[:-2]}7\n"))[0]


def test_a_zip_archive_is_to_be_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.tsv.zip", "w") as archive:
        archive.writestr("x.tsv", "Time,A,B\n" + BODY)
    assert "it is a .zip archive: unpack it" in refused(tmp_path / "x.tsv.zip")[0]


def test_a_sheet_says_which_way_the_levels_stand(write):
    levels = write("gene,S1,S2,S3\nA,1,2,3\nB,2,3,4.5\n", "levels.csv")
    sheet = write("sample,time,strain\nS1,0,A\nS2,1,B\nS3,2,A\n", "sheet.csv")
    message, ways = refused(levels, samples=sheet)
    assert "samples of " in message
    assert "give genes_in_rows=True" in message
    assert ways == [{"genes_in_rows": True}]
    turned = write("sample,A,B\nS1,1,2\nS2,2,3\nS3,3,4.5\n", "turned.csv")
    assert "leave genes_in_rows=True out" in refused(turned, samples=sheet, genes_in_rows=True)[0]
    small = write("sample,time\ns-1,0\ns-2,1\ns-3,2\n", "small.csv")
    assert "did you mean 'S1'?" in refused(levels, samples=small, genes_in_rows=True)[0]


@pytest.mark.parametrize(
    "names",
    [
        ("ΔlexA", "∆A1"), ("dlexA", "dA1"), ("lexA_KO", "KO-A1"), ("lexA_KO_rep1", "A1-/-_rep2"),
        ("delta-lexA", "del A1"), ("LEXA", "a1"), ("lexA::kan", "A1 null"), ("lexA_1", "A1_2"),
        ("lexAΔ", "A1 knock-out 3"), ("shlexA", "A1 kd"),
    ],
)  # fmt: skip
def test_strains_are_read_as_the_gene_that_was_changed(names, write):
    path = write(f"strain,lexA,A1\nWT,1,2\n{names[0]},0,2\n{names[1]},2,3\n")
    message = f"2 were read as the gene that was changed: {names[0]} as lexA"
    with (
        pytest.warns(UserWarning, match=re.escape(message)),
        pytest.warns(UserWarning, match="1 row is taken for the wild type: WT"),
    ):
        found = read_steady_states(knockouts=path)
    rows = zip(found.changed, found.is_knockout, found.levels.tolist(), strict=True)
    assert {(gene, bool(out), *levels) for gene, out, levels in rows} == {
        ("", False, 1, 2), ("lexA", True, 0, 2), ("A1", True, 2, 3)
    }  # fmt: skip


@pytest.mark.parametrize("name", ["ΔlexAΔA1", "recA_KO", "KO", "lexA A1", "ΔB", "_1", "rep1"])
def test_a_strain_of_no_gene_or_of_several_is_refused(name, write):
    path = write(f"strain,lexA,A1,b,B_1,b_1\n{name},0,2,1,1,1\nB_1,0,2,1,1,1\n")
    if name == "ΔB":  # b alone is called so in any case of letters
        with pytest.warns(UserWarning, match="ΔB as b"):
            assert set(read_steady_states(knockouts=path).changed) == {"b", "B_1"}
        return
    with pytest.raises(
        DataError, match=f"x.tsv:2, column 'strain': .* found '{name}'.*own, wildtype"
    ):
        read_steady_states(knockouts=path)
    two = write("strain,lexA,LexA\nΔlexa,0,1\n", "two.csv")
    with pytest.raises(DataError, match="found 'Δlexa'"):
        read_steady_states(knockouts=two)


def test_a_gene_that_is_called_like_a_strain_is_itself(write):
    path = write("gene,dnaA,naA,A_1,A\ndnaA,0,1,1,1\nA_1,1,1,0,1\nA_1_KO,1,1,0,1\n")
    with pytest.warns(UserWarning, match="1 was read as the gene that was changed: A_1_KO as A_1"):
        assert sorted(read_steady_states(knockouts=path).changed) == ["A_1", "A_1", "dnaA"]


@pytest.mark.parametrize("name", ["t{}h", "T{} h", "t={}h", "time {}h", "T_{}", "t={}"])
def test_times_with_a_t_before_them_are_read(name, write):
    rows = "".join(f"{name.format(t)},{t % 5},{t / 3}\n" for t in (0, 6, 12))
    assert Expression.of(write(f"Time,A,B\n{rows}")).times.tolist() == [0, 6, 12]


@pytest.mark.parametrize(
    "names",
    ["t0min_rep1,t5min_rep1", "wt_t=0,wt_t=5", "a t_0h,a t_6h", "X0,X10,X20", "X0h,X2h,X4h",
     "h0,h2,h4", "WT_d0,WT_d3,WT_d7", "ZT0,ZT4,ZT8", "08:00,10:00,12:00",
     "2024-05-01,2024-05-02,2024-05-03"],
)  # fmt: skip
def test_names_with_a_t_or_of_r_hold_times_too(names, write):
    n = names.count(",") + 1
    text = f"gene,{names}\nA,{','.join('123'[:n])}\nB,{','.join('231'[:n])}\n"
    with pytest.warns(UserWarning, match="names of samples seem to hold times"):
        Expression.of(write(text), genes_in_rows=True)


@pytest.mark.parametrize(
    ("heading", "unit"), [("Time (s)", "s"), ("time_min", "min"), ("hours", "hours"), ("h", "h")]
)
def test_the_heading_of_times_may_say_their_unit(heading, unit, write):
    body = "0,1.5,2\n1,2.5,3\n2,0.5,4\n"
    one = write(f"{heading},A,B\n{body}")
    read = Expression.of(one, time_column=heading)
    assert read.notes == (f"Times are in {unit}, as the file says.",)
    other = write(f"time_d,A,B\n{body}", "other.csv")
    with pytest.raises(DataError, match="must give times in the unit of the other files"):
        Expression.of([one, other], time_column="1")


def test_times_of_two_files_that_may_have_other_units_are_pointed_out(write):
    one = write("Time,A,B\n0,1.5,2\n60,2.5,3\n120,0.5,4\n")
    other = write("Time,A,B\n0,1.5,2\n1,2.5,3\n2,0.5,4\n", "y.csv")
    with pytest.warns(UserWarning, match=r"is 1 in .*y.csv and 60 in .*x.tsv: all"):
        Expression.of([one, other])


def test_logarithms_beside_counts_are_refused(write):
    logs = write("Time,A,B\n0,7.5,12\n1,8.5,13\n2,8,14\n")
    counts = write("Time,A,B\n0,150,4000\n1,260,8000\n2,251,16000\n", "y.csv")
    for paths in ([logs, counts], [counts, logs]):
        message = f"{paths[1]}: must hold values of the unit of {paths[0]}, found the medians"
        with pytest.raises(DataError, match=re.escape(message)):
            Expression.of(paths)
    outs = np.full((2, 2), 300.5)
    with pytest.raises(ValueError, match="steady states must be in the unit of the series"):
        scale_like(on_scale(Expression.of(logs), "log"), outs)


def test_knock_outs_as_changes_are_refused_with_how_levels_are_made_of_them(write):
    levels = on_scale(Expression.of(write("Time,A,B\n0,40,200\n1,36,800\n2,51,600\n")), "levels")
    changes = np.array([[-2.9, 0.4], [0.3, -3.1]])
    with pytest.raises(ValueError, match=r"changes against the wild type: .* wild type times 2 \*"):
        scale_like(levels, changes)
    assert np.isfinite(scale_like(levels, [40, 200] * 2**changes)).all()


@pytest.mark.parametrize(
    "control",
    ["AFFX-BioB-5_at", "AFFX.r2.Bs.dap.3_at", "ERCC-00002", "__no_feature", "N_unmapped",
     "DarkCorner", "(+)E1A_r60_1"],
)  # fmt: skip
def test_controls_are_no_genes_and_reported(control, write):
    message = "left out 1 control probe, no genes: "
    path = write(f"Time,A,{control},ERCC1\n0,1.5,9,3\n1,2,8,1\n2,3,7,2.5\n")
    with pytest.warns(UserWarning, match=re.escape(message + control)):
        found = Expression.of(path)
    assert (found.genes, found.values[:, 1].tolist()) == (("A", "ERCC1"), [3, 1, 2.5])
    frame = pd.DataFrame({"Time": [0, 1, 2], control: [9, 8, 7.0], "A": [1.5, 2, 3]})
    with pytest.warns(UserWarning, match=re.escape(message + control)):
        assert Expression.of(frame).values[:, 0].tolist() == [1.5, 2, 3]


FEATURE_COUNTS = "Geneid\tChr\tStart\tEnd\tStrand\tLength\ta.bam\tb.bam\tc.bam\n" + "".join(
    f"G{k}\tchr1;chr1\t{k}1;{k}4\t{k}2;{k}9\t+;+\t9\t{k}00\t{k}50\t{7 * k}\n" for k in range(1, 4)
)


@pytest.mark.filterwarnings("ignore:.*samples were found by name")
def test_columns_that_tell_of_genes_are_no_samples(write):
    path = write(FEATURE_COUNTS, "x.txt")
    sheet = write("sample,time\na,0\nb,1\nc,2\n", "sheet.csv")
    for given in ({}, {"samples": sheet}):
        with pytest.warns(UserWarning, match="Chr, Start, End, Strand, Length, which"):
            found = Expression.of(path, genes_in_rows=True, **given)
        assert found.levels[0].tolist() == [100, 200, 300]
    Expression.of(write("gene,start,end\nA,1,2\nB,2,3\n"), genes_in_rows=True)  # two samples


@pytest.mark.filterwarnings("ignore:.*left out Chr")
def test_comments_above_a_table_are_left_out_and_lines_keep_their_numbers(write):
    line = '# Program:featureCounts v2.0.1; Command:"featureCounts" "-a" "x.gtf" "a.bam" \n'
    found = Expression.of(write(line + FEATURE_COUNTS, "x.txt"), genes_in_rows=True)
    assert found.genes == ("G1", "G2", "G3")
    for above in ("# made by me\n", "# made\n# by me\n", "#\n"):
        path = write(f"{above}Time,A,B,C,D\n0,1,2,3,4\n1,2,3,4,x\n")
        assert f"x.tsv:{3 + above.count(chr(10))}, column 'D': must be" in refused(path)[0]


def test_a_list_may_stand_in_one_line(write, capsys):
    assert names_in(write("A, B,C\n", "x.txt"), ["A", "B", "C", "D"]) == ["A", "B", "C"]
    assert "3 of 3 names are genes, in one line: A, B, C" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line", ["MYC,MAX, ABL1", "MYC MAX ABL1", "MYC; MAX\tABL1", '"MYC","MAX","ABL1"']
)
def test_a_comment_above_a_list_is_no_name(line, write):
    genes = ["TP53", "MYC", "MAX", "ABL1"]
    assert names_in(write(f"# TP53 targets\n{line}\n"), genes) == genes[1:]
    assert names_in(write("# TP53 targets\nmyc\nmax\n"), genes) == ["MYC", "MAX"]


def test_names_in_one_line_may_hold_spaces(write):
    assert names_in(write("G 1,G 2\n"), ["G 1", "G 2", "G"]) == ["G 1", "G 2"]

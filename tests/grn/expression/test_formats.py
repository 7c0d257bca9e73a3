import bz2
import json
import lzma

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression
from tests.makers.commands import check_done, grn_tvcs
from tvcs_core import DataError

SHEET = """sample,series,time,perturbed,replicate,note
s4,a,10,0,1,x
s1,a,0,1,1,x
s2,b,0,1,1,x
s3,b,5,0,1,x
"""
LEVELS = "\tNA\t007\ns1\t1\t2\ns2\t3\t4\ns3\t5\t6\ns4\t7\t8\n"
TURNED = "gene\ts1\ts2\ts3\ts4\nNA\t1\t3\t5\t7\n007\t2\t4\t6\t8\n"
CELLS = ",c1,c2,c3,c4\nG1,1,2,3,4\nG2,5,6,7,8\n"
CLOCK = ",PseudoTime1,PseudoTime2\nc3,0.5,NA\nc1,0,0.1\nc2,0.5,\nc4,1,0.9\n"


@pytest.mark.parametrize(("text", "turned"), [(LEVELS, False), (TURNED, True)])
def test_a_sheet_tells_time_and_series_of_the_samples(write, text, turned):
    found = Expression.of(write(text), samples=write(SHEET, "s.csv"), genes_in_rows=turned)
    assert found.genes == ("NA", "007")
    assert found.series == ("a/1", "a/1", "b/1", "b/1")
    assert found.times.tolist() == [0, 10, 0, 5]
    assert found.values.tolist() == [[1, 2], [7, 8], [3, 4], [5, 6]]
    assert found.perturbed is not None
    assert found.perturbed.tolist() == [True, False, True, False]


def test_a_sheet_without_series_is_one_series(write):
    sheet = write("sample\ttime\ns3\t2\ns1\t1\ns2\t0\n", "s.tsv")
    with pytest.warns(UserWarning, match="left out 1 sample: s4"):
        found = Expression.of(write(LEVELS), samples=sheet)
    assert found.series == ("1", "1", "1")
    assert found.values[:, 0].tolist() == [3, 1, 5]


def test_genes_in_rows_are_turned_only_on_request(write):
    turned = write("\ta\tb\tc\td\nTime\t0\t1\t0\t1\nG1\t1\t2\t3\t4\nG2\t5\t6\t7\t9\n")
    plain = write("Time\tG1\tG2\n0\t1\t5\n1\t2\t6\n\n0\t3\t7\n1\t4\t9\n", "plain.tsv")
    with pytest.raises(DataError, match="genes seem to stand in rows"):
        Expression.of(turned)
    with pytest.raises(DataError, match=r"short\.tsv:2: must have 3 cells like the first row"):
        Expression.of(write("\ta\tb\nG1\t1\n", "short.tsv"), genes_in_rows=True)
    found, expected = Expression.of(turned, genes_in_rows=True), Expression.of(plain)
    assert found.genes == expected.genes
    assert np.array_equal(found.values, expected.values)
    assert found.series == expected.series == ("1", "1", "2", "2")


def test_beeline_is_cells_in_the_order_of_pseudotime(write):
    found = Expression.of(
        write(CELLS, "ExpressionData.csv"), pseudotime=write(CLOCK, "PseudoTime.csv")
    )
    assert found.genes == ("G1", "G2")
    assert found.series == ("PseudoTime1",) * 3 + ("PseudoTime2",) * 2
    assert found.times.tolist() == [0, 0.5, 1, 0.1, 0.9]
    assert found.values[:, 0].tolist() == [1, 2.5, 4, 1, 4]


def test_the_side_of_genes_is_not_asked_for_beside_pseudotimes(write):
    cells, clock = write(CELLS, "c.csv"), write(CLOCK, "p.csv")
    with pytest.raises(ValueError, match="genes_in_rows is not for a file of pseudotimes"):
        Expression.of(cells, pseudotime=clock, genes_in_rows=True)


def test_missing_levels_beside_a_sheet_are_filled_or_refused(write):
    text, sheet = TURNED.replace("8\n", "\n"), write(SHEET, "s.csv")
    with pytest.raises(DataError, match=r"x\.tsv:3, column 's4': must be a number"):
        Expression.of(write(text), samples=sheet, genes_in_rows=True)
    with pytest.warns(UserWarning, match="filled 1 of 8"):
        found = Expression.of(write(text), samples=sheet, genes_in_rows=True, missing="interpolate")
    assert found.values[1, 1] == 2


@pytest.mark.parametrize(
    ("levels", "sheet", "message"),
    [
        (
            LEVELS,
            SHEET.replace("s3", "zz"),
            "but 1 sample has none: zz; there stands s1, s2, s3, s4",
        ),
        (LEVELS, SHEET.replace("s3", "s2"), "samples must be different, found twice: s2"),
        (LEVELS, SHEET.replace("sample", "who").replace("s3", "s9"), "must have one column sample"),
        (LEVELS, SHEET.replace("10", "x"), r"s\.csv:2, column 'time': must be a number"),
        (LEVELS.replace("s3", "s2"), SHEET, "samples must be different, found twice: s2"),
        (LEVELS.replace("007", "time"), SHEET, r"x\.tsv:1: a gene must not be called time"),
        (LEVELS.replace("007", "NA"), SHEET, "gene names must be different"),
        (LEVELS.replace("s3", ""), SHEET, "a sample must have a name"),
        ("x\n", SHEET, "must have a first row and a first column"),
        ("x\ny\nz\n", SHEET, r"x\.tsv:1: must have a first row and a first column"),
    ],
)
def test_levels_and_sheets_that_do_not_fit_are_refused(write, levels, sheet, message):
    with pytest.raises(DataError, match=message):
        Expression.of(write(levels), samples=write(sheet, "s.csv"))


def test_a_sample_at_several_times_is_warned_of(write, recwarn):
    sheet = SHEET.replace("s3,b,5", "s4,b,{}")
    for time in ("10", "10.0"):  # one time, two series
        Expression.of(write(LEVELS), samples=write(sheet.format(time), "s.csv"))
    assert not [one for one in recwarn if "several times" in str(one.message)]
    with pytest.warns(UserWarning, match=r"s\.csv: used at several times: s4; if a sample was"):
        Expression.of(write(LEVELS), samples=write(sheet.format(5), "s.csv"))


@pytest.mark.parametrize(
    ("cells", "clock", "message"),
    [
        (CELLS, CLOCK.replace("c4", "c9"), "1 cell has none: c9"),
        (CELLS, CLOCK.replace("0.9", ""), "at least 2 different pseudotimes, found 1"),
        (CELLS, ",t,branch\nc1,0,a\nc2,1,a\nc3,2,b\n", "give each of them a column of pseudo"),
        (CELLS.replace("c4", "c1"), CLOCK, "cells must be different"),
        (CELLS.replace("G2", "G1"), CLOCK, "genes must be different, found twice: G1"),
        (CELLS.replace("8", "NA"), CLOCK, r"c\.csv:3, column 'c4': must be"),
    ],
)
def test_files_of_beeline_that_do_not_fit_are_refused(write, cells, clock, message):
    with pytest.raises(DataError, match=message):
        Expression.of(write(cells, "c.csv"), pseudotime=write(clock, "p.csv"))


WEIGHTS = ",PseudoTime2,PseudoTime1\nc1,0.5,1\nc2,1,3\nc3,0,1\nc4,1,0\n"


def test_weights_say_how_far_cells_belong_to_lineages(write):
    cells, clock = write(CELLS, "c.csv"), write(CLOCK, "p.csv")
    found = Expression.of(cells, pseudotime=clock, lineage_weights=write(WEIGHTS, "w.csv"))
    assert found.times.tolist() == [0, 0.5, 0.1, 0.9]
    assert found.values[:, 0].tolist() == [1, (3 * 2 + 3) / 4, 1, 4]
    assert found.cells.tolist() == [1, 4, 0.5, 1]
    assert found.notes == ("5 cells were averaged to 4 samples, one for each time of a series.",)


def test_the_corner_of_levels_says_nothing(write):
    clock = write(CLOCK, "p.csv")
    for corner in ("gene", "c1"):
        assert Expression.of(write(corner + CELLS, "c.csv"), pseudotime=clock).genes == ("G1", "G2")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            WEIGHTS.replace("Time2", "Time3"),
            r"lineages of .*p\.csv, .*only: PseudoTime2, PseudoTime3",
        ),
        (
            ",PseudoTime1,PseudoTime1,PseudoTime2\n"
            + "".join(f"c{k},1,1,1\n" for k in range(1, 5)),
            r"w\.csv:1: lineages must be different, found twice: PseudoTime1",
        ),
        (WEIGHTS.replace("c4", "c9"), "cells of .*only: c4, c9"),
        (
            WEIGHTS.replace("c4,1,0", "c4,1,-2"),  # after a weight of 0
            r"w\.csv:5, column 'PseudoTime1': a weight must be >= 0, found -2",
        ),
    ],
)
def test_weights_that_do_not_fit_are_refused(write, weights, message):
    with pytest.raises(DataError, match=message):
        Expression.of(
            write(CELLS, "c.csv"),
            pseudotime=write(CLOCK, "p.csv"),
            lineage_weights=write(weights, "w.csv"),
        )


def test_the_sheet_of_a_workbook_of_samples_needs_the_workbook(write):
    with pytest.raises(ValueError, match="samples_sheet is the sheet of samples"):
        Expression.of(write(LEVELS), samples_sheet="design")


def test_a_sample_without_the_name_of_a_series_is_named_by_its_line(write):
    sheet = write(SHEET.replace("series", "").replace("s1,a", "s1,"), "s.csv")
    with pytest.raises(DataError, match=r"s\.csv:3, column 2: every sample needs a series"):
        Expression.of(write(LEVELS), samples=sheet, series_column="2")


def test_a_first_column_of_names_offers_the_likeliest_reading_first(write):
    path = write("who,A,B\na,1,5\nb,2,6\n")
    with pytest.raises(DataError, match="genes seem to stand in rows") as error:
        Expression.of(path)
    assert error.value.remedies == ({"genes_in_rows": True}, {"sample_column": "who"})
    with pytest.raises(DataError) as error:
        Expression.of(write("who,series,A\na,x,1\nb,x,2\n"))
    assert error.value.remedies == ({"sample_column": "who"}, {"genes_in_rows": True})
    with pytest.raises(DataError) as error:
        Expression.of(write("who,Time_h,Hours,A\na,0,0,1\nb,1,1,2\nc,2,2,3\n"))
    assert error.value.remedies[0] == {"sample_column": "who", "time_column": "Time_h"}


def test_a_workbook_that_opens_and_cannot_be_read_is_damaged(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    openpyxl.Workbook().save(tmp_path / "x.xlsx")

    def broken(*_):
        raise KeyError("sheet1.xml")

    monkeypatch.setattr("tvcs_core.files.workbook._rows", broken)
    with pytest.raises(DataError, match=r"x\.xlsx.* is a damaged Excel workbook \('sheet1.xml'"):
        Expression.of(tmp_path / "x.xlsx")


def test_the_commands_take_every_layout_and_record_it(write, tmp_path):
    rows = [[f"G{g}", *(((3 * t + 5 * g + t * g) % 11) / 10 for t in range(12))] for g in range(4)]
    lines = [",".join(["", *(f"c{t}" for t in range(12))])]
    lines += [",".join(map(str, row)) for row in rows]
    levels = write("\n".join(lines) + "\n", "x.csv")
    sheet = write("sample,time\n" + "".join(f"c{t},{t}\n" for t in range(12)), "s.csv")
    clock = write(",PseudoTime\n" + "".join(f"c{t},{t}\n" for t in range(12)), "p.csv")
    for options in (["--samples", sheet, "--genes-in-rows"], ["--pseudotime", clock]):
        message = check_done(grn_tvcs("check", levels, *options))
        assert "orientation  genes in rows, samples in columns" in message.output
        words = ["infer", levels, *options, "--method", "pcc", "--out", tmp_path / options[0]]
        check_done(grn_tvcs(*words))
        record = json.loads((tmp_path / options[0] / "run.json").read_text())
        assert [given["file"] for given in record["inputs"]] == ["x.csv", options[1].name]
        page = (tmp_path / options[0] / "report.html").read_text()
        assert f"{options[0]} {options[1].name}" in page
        assert ("--genes-in-rows" in page) == ("--genes-in-rows" in options)
        assert "--genes-in-rows True" not in page


def test_several_files_of_the_same_genes_are_taken_together(write, tmp_path):
    one = write("Time\tA\tB\n0\t1\t2\n1\t3\t4\n", "one.tsv")
    two = write("Time\tB\tA\n0\t6\t5\n1\t8\t7\n", "two.tsv")
    found = Expression.of([one, two])
    assert found.genes == ("A", "B")
    assert found.series == ("1: 1", "1: 1", "2: 1", "2: 1")
    assert found.values.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    named = write("Time\tseries\tA\tB\n0\tx\t1\t2\n1\tx\t3\t4\n", "named.tsv")
    assert Expression.of([one, named]).series == ("1", "1", "x", "x")
    result = write("Time\tperturbed\tA\tB\n0\t1\t1\t2\n1\t0\t3\t4\n", "told.tsv")
    with pytest.warns(UserWarning, match=r"taken as never perturbed.*one\.tsv"):
        assert Expression.of([result, one]).perturbed.tolist() == [True, False, False, False]
    other = write("Time\tA\tC\n0\t1\t2\n1\t3\t4\n", "other.tsv")
    with pytest.raises(DataError, match=r"other\.tsv: must have the genes of .*only: B, C"):
        Expression.of([one, other])
    with pytest.raises(DataError, match=r"one\.tsv: is given twice"):
        Expression.of([one, two, one])
    hours = write("Time\tA\tB\n0h\t1\t2\n2h\t3\t4\n", "hours.tsv")
    with pytest.raises(DataError, match=r"hours\.tsv: must give times .*none of them any"):
        Expression.of([hours, two])
    for path, most in ((one, 9), (two, 8)):
        lines = [f"{t}\t{(3 * t) % 7}\t{(5 * t + 1) % most}" for t in range(8)]
        path.write_text("\n".join(["Time\tA\tB", *lines]) + "\n")
    words = ["infer", one, two, "--out", tmp_path / "out", "--method", "pcc"]
    check_done(grn_tvcs(*words))
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [given["file"] for given in record["inputs"]] == ["one.tsv", "two.tsv"]
    assert "grn-tvcs infer one.tsv two.tsv --out DIR" in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize(
    "name", ["folder", "matrix.mtx", "matrix.mtx.gz", "GSM1_matrix.mtx", "x.h5"]
)
def test_cells_of_10x_are_refused_with_what_makes_them_readable(tmp_path, name):
    folder = tmp_path / "filtered_feature_bc_matrix"
    folder.mkdir()
    (folder / ("matrix.mtx.gz" if name == "folder" else name)).write_bytes(b"%%MatrixMarket\n")
    path = folder if name == "folder" else folder / name
    reads = "read_10x_h5('x.h5')" if name == "x.h5" else f"read_10x_mtx('{folder.name}')"
    with pytest.raises(DataError, match=r"as Cell Ranger .10x. writes it") as refused:
        Expression.of(path)
    assert reads in str(refused.value)
    assert "with time_column='NAME'" in str(refused.value)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="must be a file, found a folder"):
        Expression.of(tmp_path / "empty")


COUNTS = (
    "gene_id\tgene_name\tc_0h\tc_2h\tc_6h\n"
    "ENSG1.2\tFOS\t1\t2\t3\nENSG2.1\tJUN\t4\t5\t7\nENSG3.5\tJUN\t2\t4\t9\nENSG4.1\t\t3\t3\t8\n"
)


def test_a_column_names_the_genes_of_a_text_table(tmp_path):
    """As of nf-core/rnaseq, whose names repeat and may be empty; in memory too."""
    path, sheet = tmp_path / "counts.tsv", tmp_path / "sheet.csv"
    path.write_text(COUNTS)
    sheet.write_text("sample,time\nc_0h,0\nc_2h,2\nc_6h,6\n")
    words = {"genes_in_rows": True, "samples": sheet}
    ids = ("ENSG1.2", "ENSG2.1", "ENSG3.5", "ENSG4.1")
    names = ("FOS", "ENSG2.1", "ENSG3.5", "ENSG4.1")
    message = "named by gene_name; 3 of 4 by gene_id, .*to name all by gene_id, give gene_column="
    with pytest.warns(UserWarning, match=message):
        assert Expression.of(path, **words).genes == names
    assert Expression.of(path, gene_column="gene_id", **words).genes == ids
    assert Expression.of(path, ignore=["gene_name"], **words).genes == ids
    with pytest.warns(UserWarning, match="by gene_name; 3 of 4 by gene_id, for it is empty"):
        assert Expression.of(path, gene_column="gene_name", **words).genes == names
    with pytest.raises(DataError, match="no column 'gene' for gene_column; did you mean"):
        Expression.of(path, gene_column="gene", **words)
    frame = pd.read_csv(path, sep="\t", keep_default_na=False)
    words["samples"] = pd.read_csv(sheet)
    assert Expression.of(frame, gene_column="gene_id", **words).genes == ids
    path.write_text(COUNTS.replace("gene_name", "Beschreibung"))
    words["samples"] = sheet
    with pytest.warns(UserWarning, match="3 of 4 by gene_id"):
        assert Expression.of(path, gene_column="Beschreibung", **words).genes == names


def test_a_column_of_names_is_of_genes_in_rows(tmp_path):
    (tmp_path / "x.tsv").write_text("Time\tA\n0\t1\n1\t2\n")
    with pytest.raises(
        ValueError, match="is for genes that stand in rows: give genes_in_rows=True too"
    ):
        Expression.of(tmp_path / "x.tsv", gene_column="A")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gene,start,0,1,2,4,8\nA,10,1,2,3,4,5\nB,90,2,3,1,5,2\n", "but for start: .* be called 0"),
        ("sample,Time,A,B\ns1,0,1,2\ns2,1,2,3\n", "columns are called Time, so samples seem to"),
        ("A,B,C\n1.5,2.5,3\n2.5,1,1\n", "must name genes, found the numbers 1.5, 2.5: leave"),
        ("cell,Time,A\nAAACGTCA-1,0,2\nAAACGTTA-1,1,3\n", "barcodes of cells AAACGTCA-1, .*leave"),
        ("Time,A,B\n0,1,2\n1,2,3\n2,3,1\n", "names of genes are numbers, and of samples names"),
        ("gene,0,1,2\nA,1,2,4\ngene,0,1,2\n", r":3: repeats the row of column names"),
        ("Time,0,x,2\nG1,1,2,3\nG2,4,5,6\n", r"csv:1, column 3: must be a number, found 'x'"),
        ("Time,0,1,2\nG1,7,x,y\nG2,4,5,6\n", "column '1': must be a number, found 'x'; where it m"),
    ],
)
def test_a_table_that_genes_in_rows_does_not_fit_is_refused(write, text, message):
    with pytest.raises(DataError, match=message):
        Expression.of(write(text, "x.csv"), genes_in_rows=True)


@pytest.mark.parametrize(("head", "words"), [("gene", {}), ("ASV", {"gene_column": "ASV"})])
def test_sequences_may_name_genes(write, head, words):
    path = write(f"{head},s1,s2\nACGTACGTAA,1,2\nCCGTACGTAA,2,3\n", "x.csv")
    assert Expression.of(path, genes_in_rows=True, **words).genes == ("ACGTACGTAA", "CCGTACGTAA")


@pytest.mark.parametrize("corner", ["gene", "Time (h)"])
@pytest.mark.parametrize(
    "heads",
    ["0,2,4,8", "0h,2h,4h,8h", "time_0,time_2,time_4,time_8"],
)
def test_heads_are_times_whatever_stands_above_the_genes(write, corner, heads):
    path = write(f"{corner},{heads}\nA,10,1,2,3\nB,9,2,3,1\n", "x.csv")
    assert Expression.of(path, genes_in_rows=True).times.tolist() == [0, 2, 4, 8]


def test_most_heads_that_begin_with_time_are_samples(write):
    path = write("gene,time_wt_0,time_wt_5,time_ko_0\nA,10,1,2\nB,9,2,3\n", "x.csv")
    assert Expression.of(path, genes_in_rows=True).n_steady == 3


def test_heads_beside_times_may_be_samples_at_rest(write):
    path = write("gene,WT,0,1,2,4,8\nA,10,1,2,3,4,5\nB,90,2,3,1,5,2\n", "x.csv")
    assert Expression.of(path, genes_in_rows=True, keep="WT").n_steady == 6


@pytest.mark.parametrize("head", ["sample", "Condition", "day", "Time"])
def test_a_sample_may_be_called_as_a_fact_of_samples(write, head):
    path = write(f"gene,c1,{head},c3\nsample,1,2,4\nTime,3,1,2\n", "x.csv")
    found = Expression.of(path, genes_in_rows=True, keep=[head, "sample", "Time"])
    assert (found.n_steady, found.genes) == (3, ("sample", "Time"))


@pytest.mark.parametrize(("corner", "options"), [("feature", {}), ("mz", {"gene_column": "mz"})])
def test_decimals_name_genes_where_the_head_or_an_option_says_so(write, corner, options):
    path = write(f"{corner},0h,2h,4h\n101.25,1,2,4\n99.5,3,1,2\n", "x.csv")
    assert Expression.of(path, genes_in_rows=True, **options).genes == ("101.25", "99.5")


def test_numbers_of_rows_before_names_of_genes_are_left_out(write):
    path = write(",gene,0,1,3\n1,A,1,2,4\n2,B,3,1,2\n", "x.csv")
    found = Expression.of(path, genes_in_rows=True)
    assert found.genes == ("A", "B")
    assert found.times.tolist() == [0, 1, 3]


def test_a_last_column_that_numbers_the_samples_is_no_gene(write):
    body = "".join(f"{t},{7 * t % 5},{t * t % 11},{t + 1}\n" for t in range(8))
    with pytest.warns(UserWarning, match="left out No, no genes but columns that count"):
        assert Expression.of(write(f"Time,A,B,No\n{body}", "x.csv")).genes == ("A", "B")


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_text_packed_otherwise_is_to_be_unpacked(tmp_path, pack):
    path = tmp_path / "x.csv.packed"
    path.write_bytes(pack(b"Time,A\n0,1\n1,2\n"))
    with pytest.raises(DataError, match=r"is compressed, and only .gz is read: unpack it"):
        Expression.of(path)

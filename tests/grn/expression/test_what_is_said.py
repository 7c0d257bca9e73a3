"""Small faults of tables, each by its place and its own sentence; and what is no fault."""

import warnings

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression
from grn_tvcs.expression.formats.geo import is_series_matrix
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.genes_in_rows import without
from grn_tvcs.expression.join import _cells
from grn_tvcs.expression.missing_values import without_gaps
from grn_tvcs.expression.sample_sheet import rows_by_name
from grn_tvcs.expression.scales import on_scale
from tests.every_command import GEO
from tests.makers.commands import grn_tvcs
from tvcs_core import DataError
from tvcs_core.files.tables import read_table

TWO = {"values": [[1.0, 2.0], [3.0, 5.0]], "times": [0, 1], "series": ["a"] * 2, "genes": [*"GH"]}
SHEET = "sample,time,series\ns1,0,a\ns2,1,a\n"


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
    assert is_series_matrix(read_table(write(GEO)))
    assert Expression.of(write(GEO)).times.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GEO.replace("time: ", "batch: ").replace("h", ""), "and time, empty in steady state"),
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
    with pytest.raises(DataError, match=r"'zz' for ignore; it has name, A, B, x, y$"):
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
    with pytest.warns(UserWarning, match="left out 2 of 3 samples with missing values"):
        is_kept, notes = without_gaps("x", values, np.zeros(3, bool), "drop")
    assert is_kept.tolist() == [False, False, True]
    assert notes == ("2 of 3 samples had missing values and were left out.",)


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
    assert alone or found[0].endswith("conditions, compare them by the column condition")


# ---- what people bring: each as a file and as a DataFrame

GENES = ("TP53", "MYC", "JUN", "FOS", "EGR1", "ATF3")
HOURS = [0, 1, 2, 4, 8]


def course(n_series=1, low=0.5, high=9.0):
    """Return levels with a time."""
    values = np.random.default_rng(0).uniform(low, high, (n_series * len(HOURS), len(GENES)))
    table = pd.DataFrame(np.round(values, 2), columns=GENES)
    table.insert(0, "Time", HOURS * n_series)
    return table


@pytest.fixture(params=["file", "frame"])
def brought(request, tmp_path):
    """Return a function that brings a table to `Expression.of`, and what it warns of."""

    def bring(table, **words):
        path = tmp_path / "x.csv"
        table.to_csv(path, index=False)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            read = Expression.of(path if request.param == "file" else table, **words)
            read = on_scale(read)
        return read, " ".join(str(one.message) for one in found)

    return bring


def renamed(table, form):
    """Return the table with genes of other names."""
    return table.rename(columns={gene: form.format(gene) for gene in GENES})


def test_an_average_that_averages_nothing_is_pointed_out(brought):
    table = course(2)
    table.insert(1, "replicate", [1] * 5 + [2] * 5)
    read, said = brought(table, replicates="average")
    assert read.n_series == 2
    assert "replicates='average' changes nothing, as replicate makes each replicate a" in said
    assert "for their mean give ignore='replicate' too" in said
    read, said = brought(table, replicates="average", ignore="replicate")
    assert "changes nothing" not in said
    assert read.n_series == 1
    assert "replicates='average' changes nothing" in brought(course(), replicates="average")[1]


@pytest.mark.parametrize("head", ["cell", "Cell ID", "sample_name", "barcode"])
def test_a_first_column_of_cells_names_samples_unless_the_others_are_cells(head, brought):
    table = course().drop(columns="Time")
    codes = ["AAACGT", "AACCGT", "ACACGT", "AGACGT", "ATACGT"]
    table.insert(0, head, [f"{code}GGTA-1" for code in codes])
    with pytest.raises(DataError, match=f"{head} seems to name samples: give sample_") as why:
        brought(table)
    assert why.value.remedies[0] == {"sample_column": head}
    assert brought(table, **why.value.remedies[0])[0].genes == GENES
    table = table.set_index(head).T.rename_axis(head).reset_index()
    with pytest.raises(DataError, match="genes seem to stand in rows") as why:
        brought(table)
    assert why.value.remedies[0] == {"genes_in_rows": True}


@pytest.mark.parametrize("form", ["{}_Ct", "Ct {}", "{} Cq Mean", "dCt_{}", "ΔΔCt {}"])
def test_cycles_of_qpcr_are_no_levels(form, brought):
    table = course(low=17, high=34)
    with pytest.raises(DataError, match=r"17.* are those of threshold cycles .*Ct of a reference"):
        brought(renamed(table, form))
    turned = table.set_index("Time").T.rename_axis("gene").reset_index()
    turned.columns = ["gene", *(form.format(f"S{k}") for k in range(5))]
    with pytest.raises(DataError, match="threshold cycles"):
        brought(turned, genes_in_rows=True)
    levels = renamed(course(), form)  # a gene may be called so
    if not form.startswith(("d", "Δ")):
        assert brought(levels)[0].n_series == 1


def test_cycles_are_known_by_the_file_and_pointed_out_by_their_values(brought, tmp_path):
    table = course(low=17, high=34)
    read, said = brought(table)
    assert read.scale == "levels"
    assert "so do threshold cycles of qPCR" in said
    table.to_csv(path := tmp_path / "plate1_Ct.csv", index=False)
    with pytest.raises(DataError, match="its name and values of 17"):
        Expression.of(path)
    for form in ("-ddCt {}", "2^-ddCt {}"):
        brought(renamed(course(), form))
    turned = table.set_index("Time").T.rename_axis("gene").reset_index()
    for form in ("CT{}", "CT_{}"):  # circadian times, and controls
        turned.columns = ["gene", *(form.format(4 * k) for k in range(5))]
        assert "so do threshold cycles" in brought(turned, genes_in_rows=True)[1]
    for others in ((0, 40), (17, 60), (5, 15)):
        assert "cycles" not in brought(course(low=others[0], high=others[1]))[1]
    whole = course(low=17, high=34).round(0)
    assert "cycles" not in brought(whole)[1]


@pytest.mark.parametrize("gene", ["gene", "Target Name", "Assay", "Detector"])
def test_a_long_table_of_several_columns_is_to_be_made_wide(gene, brought):
    rows = [(f"S{t}", t, name, 20.5 + k) for t in HOURS for k, name in enumerate(GENES)]
    table = pd.DataFrame(rows, columns=["Sample Name", "Time", gene, "CT"])
    with pytest.raises(DataError, match=r"this is a long table, .* pandas: pivot"):
        brought(table)


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ("Undetermined", "as of threshold cycles of qPCR"),
        ("<0.5", "a level is one number alone"),
        ("12.5%", "write 0.125"),
        ("1,813.20", "write 1813.20"),
        ("1.813.200", "write 1813200"),
        ("3 TPM", "a level is one number alone"),
        ("1.5±0.2", "a level is one number alone"),
        ("nd", "it is the only value that is missing: give missing='drop'"),
    ],
)
def test_a_cell_that_is_no_number_has_its_remedy(cell, what, brought):
    table = course().astype(object)
    table.iloc[1, 2] = cell
    with pytest.raises(DataError, match=f"column 'MYC': must be a number, found .*{what}") as why:
        brought(table)
    assert "is no gene" not in str(why.value)
    if "missing" in what:
        assert brought(table, missing="interpolate")[0].n_steps == 4


@pytest.mark.parametrize("head", ["t", "hr", "Zeit", "stage", "generation", "frame"])
def test_a_short_course_under_another_name_is_not_taken_for_steady_states(head, brought):
    table = course().rename(columns={"Time": head})
    with pytest.raises(DataError, match=f"column '{head}': rises like a time") as why:
        brought(table)
    assert brought(table, **why.value.remedies[0])[0].n_series == 1
    falling = table.assign(**{head: [2.5, 0.3, 1.7, 0.9, 1.1]})
    assert brought(falling)[0].genes == (head, *GENES)


@pytest.mark.parametrize("head", ["light", "Treated", "control", "strain", "infected"])
def test_a_treatment_is_no_gene(head, brought):
    table = course(2)
    table.insert(1, head, [0] * 5 + [1] * 5)
    read, said = brought(table)
    assert read.genes == GENES
    assert f"left out {head}, no genes" in said
    table[head] = ["wt"] * 5 + ["mut"] * 5
    with pytest.raises(DataError, match=f"if it tells series apart, give series_column='{head}'"):
        brought(table)


@pytest.mark.parametrize("head", ["OD", "od600", "Biomass"])
def test_the_density_of_a_culture_is_no_gene(head, brought):
    read, said = brought(course().assign(**{head: [0.1, 0.2, 0.4, 0.8, 1.2]}))
    assert read.genes == GENES
    assert f"left out {head}" in said


def test_samples_of_a_drug_beside_a_control_may_be_a_course(brought):
    table = course().set_index("Time").T.rename_axis("gene").reset_index()
    table.columns = ["gene", "ctrl", "drug_1h", "drug_2h", "drug_4h", "drug_8h"]
    assert "seem to hold times" in brought(table, genes_in_rows=True)[1]
    table.columns = ["gene", "ctrl", "drug_1h", "liver", "brain", "drug_8h"]
    assert "hold times" not in brought(table, genes_in_rows=True)[1]


def test_files_that_are_no_tables_are_named(tmp_path):
    for suffix, what in {
        ".rds": "of R", ".RData": "of R", ".parquet": "Parquet", ".loom": "loom", ".pdf": "PDF",
        ".json": "JSON", ".ods": "LibreOffice", ".fasta.gz": "sequences", ".CEL": "microarray",
    }.items():  # fmt: skip
        path = tmp_path / f"x{suffix}"
        path.write_bytes(b"X\nY")
        with pytest.raises(DataError, match=f"must be a table of text or .xlsx, found .*{what}"):
            Expression.of(path)
    with pytest.raises(DataError, match="is an address: download the file"):
        Expression.of("https://example.org/x.csv")
    with pytest.raises(TypeError, match="found text of several lines: write it to a file"):
        Expression.of(course().to_csv())
    with pytest.raises(FileNotFoundError):
        Expression.of(tmp_path / "none.rds")


@pytest.mark.parametrize("frames", [[course(), course()], {"a": course(), "b": course()}])
def test_frames_of_several_series_are_joined_as_the_error_writes_it(frames):
    with pytest.raises(TypeError, match=r"DataFrames: if each is a series, give pandas") as why:
        Expression.of(frames)
    joined = eval(str(why.value).split("give ")[1], {"pandas": pd, "data": frames})
    assert Expression.of(joined).n_series == 2
    for others in ([], {}, [1, 2], {"a": [1]}):
        with pytest.raises(TypeError) as why:
            Expression.of(others)
        assert "concat" not in str(why.value)


@pytest.mark.parametrize(
    "text",
    [
        "regulator\ttarget\tscore\nG1\tG2\t.5\nG1\tG3\t.3\nG2\tG3\t.2\n",
        "TF,target,importance\nA,B,3.2\nA,C,1.1\n",
        "Gene1\tGene2\tEdgeWeight\nG1\tG2\t.5\nG2\tG3\t.2\n",
        "G1\tG2\t+\nG2\tG3\t-\n",
    ],
)
@pytest.mark.parametrize("in_rows", [False, True])
def test_a_list_of_edges_is_no_expression(text, in_rows, write):
    with pytest.raises(DataError, match="are the ends of edges, as in a network") as error:
        Expression.of(write(text), genes_in_rows=in_rows)
    assert not error.value.remedies


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("gene_id\tgene_name\ts1\nE1\tE1\t3\nE2\tFOS\t4\n", {"genes_in_rows": True}),
        ("source\ttarget\tA\tB\nliver\tsi1\t1\t2\nheart\tsi2\t2\t1.5\n",
         {"sample_column": "source", "ignore": ["target"]}),
        ("source\ttarget\tfrom\n1\t2.5\t3\n2\t1\t2\n", {}),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*genes are named")
def test_names_in_two_columns_are_not_always_edges(text, options, write):
    assert len(Expression.of(write(text), **options).levels) in (1, 2)


def test_missing_levels_of_the_first_of_two_samples_are_no_ends_of_edges(write):
    with pytest.raises(DataError, match="must be a number, found ''; 3 values are missing"):
        Expression.of(write(",s1,s2\nG1,,2\nG2,,3\nG3,,1\n"), genes_in_rows=True)


HEADS_OF_TIMES = [
    f"{stem}_{time}_{k}" for stem in ("wt", "ko") for time in (0, 6, 24) for k in (1, 2)
]


@pytest.mark.parametrize(
    ("heads", "are_times"),
    [
        (HEADS_OF_TIMES, True),
        (["wt.0.rep1", "wt.1.rep1", "wt.2.rep1", "wt.0.rep2"], True),
        (["drug_0", "drug_4", "drug_8"], True),
        (["wt_0", "wt_1", "wt_2", "ko_0"], False),
        (["wt_1_1", "wt_2_1", "ko_1_1", "ko_3_1"], False),
        (["wt_0_1", "wt_0_2", "ko_1_1", "ko_1_2"], False),
        (["GSM1_0_1", "GSM2_6_1", "GSM3_24_1"], False),
    ],
)
def test_numbers_behind_words_are_pointed_out_where_they_may_be_times(heads, are_times, rng, write):
    rows = [["gene", *heads], *([g, *rng.normal(8, 1, len(heads)).round(3)] for g in "ABCDE")]
    text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert not Expression.of(write(text), genes_in_rows=True).series
    assert any("seem to hold times" in str(one.message) for one in found) == are_times


@pytest.mark.parametrize(
    ("heads", "first", "is_read"),
    [
        (("night", "day"), (1.5, 2.25, 4.5, 0.5), True),
        (("Control", "Condition"), (7, 2.25, 7.125, 0.5), True),
        (("s1", "day"), (0, 1.5, 3, 6), False),  # rises as times
        (("s1", "day"), (3, 1, 2, 4), False),  # whole numbers may be days
        (("s1", "replicate"), (1.5, 1.5, 2, 2), False),  # few numbers, of groups
        (("s1", "Time"), (1.5, 2.25, 4.5, 0.5), False),
        (("s1", "dpt_pseudotime"), (1.5, 2.25, 4.5, 0.5), False),  # of cells in any order
        (("s1", "condition"), ("a", "b", "a", "b"), False),
    ],
)
def test_a_sample_may_be_called_as_facts_of_samples_are(heads, first, is_read, write):
    rows = [f"g{k}\t{k * 7 % 5 + 0.5}\t{x}\n" for k, x in enumerate(first)]
    path = write("\t".join(("gene", *heads)) + "\n" + "".join(rows))
    if is_read:
        assert len(Expression.of(path, genes_in_rows=True).levels) == 2
    else:
        with pytest.raises(DataError, match="samples seem to stand in rows"):
            Expression.of(path, genes_in_rows=True)


@pytest.mark.parametrize("in_rows", [False, True])
def test_a_table_and_its_sheet_that_are_swapped_are_named(in_rows, tmp_path):
    sheet, levels = tmp_path / "sheet.csv", tmp_path / "levels.tsv"
    sheet.write_text("sample,time\ns1,0\ns2,1\ns3,2\n")
    table = pd.DataFrame([[1, 2.5], [2, 1], [4, 3]], ["s1", "s2", "s3"], ["A", "B"])
    (table.T if in_rows else table).to_csv(levels, sep="\t")
    assert Expression.of(levels, samples=sheet, genes_in_rows=in_rows).genes == ("A", "B")
    for option in ({}, {"genes_in_rows": True}):
        with pytest.raises(DataError, match="seem to be swapped: give the levels first"):
            Expression.of(sheet, samples=levels, **option)
    levels.write_text("sample\tA\ns1\t1\n")
    with pytest.raises(DataError, match="must have one column time"):
        Expression.of(levels, samples=levels)

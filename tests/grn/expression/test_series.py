"""Which way a table stands, its series and replicates, layouts of others; remedies that read."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression
from grn_tvcs.expression.bins import average_in_bins
from grn_tvcs.expression.clock import repeats_in_header
from grn_tvcs.expression.judge.shape import are_genes
from tests.grn.tables import TIMES, course, levels, refused, turned
from tvcs_core import DataError

# ---- which way, and series


@pytest.mark.usefixtures("quietly")
@pytest.mark.parametrize("head", ["entrez", "GeneID", "", "X", "locus"])
def test_numbers_of_entrez_never_make_genes_of_samples(head, rng, write):
    samples = [f"{t}h_rep{k}" for k in (1, 2, 3) for t in TIMES]
    numbers = [14281, 16476, 13653, 17869, 11910, 16600, 19697, 20846, 16362, 16193, 21926, 20997]
    table = turned(levels(rng), samples).rename(columns={"gene": head})
    table[head] = numbers
    message, ways = refused(write(table))
    assert "seems to name genes" in message
    assert ways[0] == {"genes_in_rows": True}
    assert Expression.of(write(table), **ways[0]).genes == tuple(map(str, numbers))
    with pytest.raises(ValueError, match="its index seems to name genes"):
        Expression.of(table.set_index(head).rename_axis(head or None))


def test_columns_called_by_numbers_of_entrez_and_whole_levels_stay_genes(rng):
    assert (
        are_genes("14281", [str(k) for k in rng.integers(0, 9999, 20)], ["16476", "13653"]) is None
    )
    assert are_genes("Actb", ["140", "231", "99", "310"], ["Gapdh", "Rplp0", "Fos"]) is None
    assert are_genes("", ["0", "1", "2", "3"], ["a1", "a2"]) is None


@pytest.mark.parametrize(("unit", "is_named"), [(60.0, True), (24.0, True), (10.0, False)])
def test_series_in_another_unit_of_time_are_named(unit, is_named, rng, recwarn):
    times = np.arange(6.0)
    table = pd.DataFrame(levels(rng)).iloc[:6]
    parts = [table.assign(Time=times, series="p"), table.assign(Time=times * unit, series="q") * 1]
    Expression.of(pd.concat(parts))
    message = [str(one.message) for one in recwarn if "must have one unit" in str(one.message)]
    assert bool(message) == is_named


@pytest.mark.parametrize(
    ("heads", "times", "n"),
    [
        ("0,0.1,0.2,1,1.1,1.2,24,24.1,24.2", [0, 1, 24], 3),
        ("0,1,24,0.1,1.1,24.1", [0, 1, 24], 2),
        ("X0,X0.1,X4,X4.1", [0, 4], 2),
        ("0h,0h.1,6h,6h.1", [0, 6], 2),
    ],
)
def test_repeats_that_r_and_pandas_number_are_series(heads, times, n, rng, write):
    names = heads.split(",")
    values = rng.random((3, len(names))).round(3)
    table = pd.DataFrame(values, columns=names).assign(gene=[*"ABC"]).set_index("gene")
    with pytest.warns(UserWarning, match=f"{n} repeats of each time"):
        found = Expression.of(write(table.reset_index()), genes_in_rows=True)
    with pytest.warns(UserWarning, match=f"{n} repeats of each time"):
        frame = Expression.of(table, genes_in_rows=True)
    for data in (found, frame):
        assert list(data.pieces) == [str(k + 1) for k in range(n)]
        assert all(data.times[rows].tolist() == times for rows in data.pieces.values())


@pytest.mark.parametrize(
    "heads", ["0,0.1,0.2,0.3,0.4", "0,0.5,1,1.5", "0,2,4", "1.1,2.1,3.1", "S1.1,S1"]
)
def test_times_of_tenths_are_no_repeats(heads):
    assert repeats_in_header(heads.split(",")) is None


def test_times_in_the_order_of_the_alphabet_are_one_series_and_reported(rng, write):
    table = course(rng, 1)
    table = table.iloc[np.argsort([str(t) for t in TIMES])]
    with pytest.warns(UserWarning, match=r"out of order \(0, 1, 2, 24, 4, 8\), and none "):
        found = Expression.of(write(table))
    assert (found.times.tolist(), set(found.series)) == ([*TIMES], {"1"})
    both = pd.concat([table, table * 1.5 - table["Time"].max() * 0])
    with pytest.warns(UserWarning, match="read as 2 series, sorted by time"):
        twice = Expression.of(write(both.assign(Time=[0, 1, 2, 24, 4, 8] * 2)))
    assert [twice.times[rows].tolist() for rows in twice.pieces.values()] == [[*TIMES]] * 2


def test_a_fall_that_may_be_read_in_two_ways_is_refused_and_a_blank_line_decides(rng, write):
    table = pd.concat([course(rng, 1), course(rng, 1)])
    table["Time"] = [0, 10, 20, 30, 40, 50, 5, 10, 15, 25, 35, 45]
    text = table.to_csv(sep="\t", index=False)
    message, _ = refused(write(text))
    assert "x.tsv:8, column 'Time': times fall back to 5" in message
    assert "put a blank line before it" in message
    lines = text.splitlines(keepends=True)
    assert len(Expression.of(write("".join([*lines[:7], "\n", *lines[7:]]))).pieces) == 2


UNPAIRED = "Time,A,B\n0,1.5,2\n0,2.5,3\n0,3.5,4\n2,4,5\n2,5,6\n2,6,8\n5,7,9\n5,8,1\n"


def test_replicates_that_nothing_pairs_are_series_or_averaged_by_option(write):
    path = write(UNPAIRED, "x.csv")
    message, ways = refused(path)
    assert "give replicates='unpaired'" in message
    assert ways == [{"replicates": "unpaired"}, {"replicates": "average"}]
    apart, mean = (Expression.of(path, **way) for way in ways)
    assert [apart.times[rows].tolist() for rows in apart.pieces.values()] == [
        [0, 2, 5], [0, 2, 5], [0, 2],
    ]  # fmt: skip
    assert apart.values[:3, 0].tolist() == [1.5, 4, 7]
    assert "series of their own" in " ".join(apart.notes)
    assert mean.values.tolist() == [[2.5, 3], [5, 19 / 3], [7.5, 5]]
    assert "8 samples were averaged to 3" in " ".join(mean.notes)
    frame = pd.read_csv(path)
    assert Expression.of(frame, replicates="average").values.tolist() == mean.values.tolist()
    with pytest.raises(ValueError, match="replicates must be one of"):
        Expression.of(path, replicates="paired")


def test_the_sample_that_no_other_goes_with_is_left_out(write):
    path = write(UNPAIRED + "0,9,9\n", "x.csv")
    with pytest.warns(UserWarning, match=r"left out 1 sample .* \(line 10\)"):
        assert len(Expression.of(path, replicates="unpaired").values) == 8


def test_a_perturbation_must_agree_where_replicates_are_averaged(write):
    text = "Time,perturbed,A,B\n0,yes,1,2\n0,yes,2,3\n2,no,4,5\n2,no,5,6\n"
    found = Expression.of(write(text, "x.csv"), replicates="average")
    assert found.perturbed.tolist() == [True, False]
    bad = write(text.replace("2,no,5", "2,yes,5"), "x.csv")
    with pytest.raises(DataError, match="must agree in it, to be averaged"):
        Expression.of(bad, replicates="average")


# ---- layouts of others


META = "isTs\tis1stLast\tprevCol\tdel.t\tcondName\n"


@pytest.mark.usefixtures("quietly")
def test_the_meta_data_of_inferelator_are_a_sheet(rng, write):
    table = turned(levels(rng, 1), ["a0", "a1", "a2", "b1", "r", "q"])
    rows = "TRUE\tf\tNA\tNA\ta0\nTRUE\tm\ta0\t5\ta1\nTRUE\tl\ta1\t10\ta2\nTRUE\tl\ta0\t20\tb1\n"
    sheet = write(f"{META}{rows}FALSE\te\tNA\tNA\tr\nFALSE\te\tNA\tNA\tq\n", "meta.tsv")
    found = Expression.of(write(table), samples=sheet, genes_in_rows=True)
    assert found.times.tolist() == [0, 5, 15, 0, 20]
    assert (found.series, found.n_steady) == (("a2",) * 3 + ("b1",) * 2, 2)
    for bad, message in (
        (("a0\t5\ta1", "x\t5\ta1"), "must be a sample of condName"),
        (("a0\t5", "a0\t0"), "above 0, found '0'"),
        (("NA\tNA\ta0", "a2\t5\ta0"), "must follow each other in time"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=message):
            path = write(f"{META}{rows}".replace(*bad), "bad.tsv")
            Expression.of(write(table), samples=path, genes_in_rows=True)


def test_names_of_samples_in_a_sheet_match_without_folder_ending_case_and_marks(rng, write):
    names = [
        "/a/b/0h_r1.sorted.bam",
        "/a/b/1h_r1.sorted.bam",
        "/a/b/2h_r1.bam",
        "X4h.r1",
        "8H-R1",
        "24h_r1",
    ]
    table = turned(levels(rng, 1), names)
    sheet = write("sample,time\n" + "".join(f"{t}h_r1,{t}\n" for t in TIMES), "s.csv")
    with pytest.warns(UserWarning, match="5 samples were found by name without folder"):
        found = Expression.of(write(table), samples=sheet, genes_in_rows=True)
    assert found.times.tolist() == [*TIMES]
    two = table.rename(columns={"24h_r1": "0H.r1"})
    with pytest.raises(DataError, match="every sample must have levels"):
        Expression.of(write(two), samples=sheet, genes_in_rows=True)


def test_masigpro_numbers_groups_of_replicates(rng, write):
    samples = [f"{t}h_{k}" for k in (1, 2, 3) for t in TIMES]
    body = "".join(f"{t}h_{k},{t},{n + 1},1\n" for k in (1, 2, 3) for n, t in enumerate(TIMES))
    sheet = write(f"sample,Time,Replicate,Cold\n{body}", "s.csv")
    path = write(turned(levels(rng), samples))
    message, ways = refused(path, samples=sheet, genes_in_rows=True)
    assert "Replicate makes series of one time each: it numbers groups" in message
    assert ways == [
        {"ignore": ("Replicate",), "replicates": one} for one in ("unpaired", "average")
    ]
    found = Expression.of(path, samples=sheet, genes_in_rows=True, **ways[0])
    assert [len(found.times[rows]) for rows in found.pieces.values()] == [6, 6, 6]


@pytest.mark.parametrize("replicates", ["unpaired", "average"])
def test_conditions_of_masigpro_are_not_pooled(rng, write, replicates):
    """Its edesign marks them by 0 and 1."""
    cells = [(c, t, k) for c in ("ctrl", "cold") for t in TIMES for k in (1, 2, 3)]
    numbers = {group: n for n, group in enumerate(dict.fromkeys((c, t) for c, t, _ in cells), 1)}
    rows = [f"{c}_{t}h_{k},{t},{numbers[c, t]},{int(c == 'ctrl')},{int(c == 'cold')}"
            for c, t, k in cells]  # fmt: skip
    sheet = write("\n".join(["sample,Time,Replicate,Control,Cold", *rows, ""]), "s.csv")
    table = pd.DataFrame(rng.uniform(4, 9, (5, len(cells))).round(3), index=list("ABCDE"))
    table.columns = [row.partition(",")[0] for row in rows]
    path = write(table.rename_axis("gene").reset_index())
    _, ways = refused(path, samples=sheet, genes_in_rows=True)
    way = {"series_column": ("Control", "Cold"), "replicates": replicates}
    assert way in ways
    found = Expression.of(path, samples=sheet, genes_in_rows=True, **way)
    of_cold = np.concatenate([
        found.values[rows] for name, rows in found.pieces.items() if name.startswith("0/1")
    ])  # fmt: skip
    assert of_cold.mean(axis=0) == pytest.approx(table.iloc[:, len(cells) // 2 :].mean(axis=1))


@pytest.mark.parametrize("cell", ["30'", "0,5h", "30,25"])
def test_times_with_a_prime_or_a_decimal_comma_are_read(cell, write):
    number = float(cell.strip("'h").replace(",", "."))
    found = Expression.of(write(f"Time\tA\tB\n0\t1.5\t2\n{cell}\t2\t3\n"))
    assert found.times.tolist() == [0, number]


# ---- each refusal names what to do, and that reads it

LINES = "Time\tA\tB\tC\n0\t1.5\t2\t3\n1\t2\t3\t5\n2\t3\t1\t4\n"
NAMES = ("Fos", "Fos", "Jun", "Egr1", "Myc", "Atf3", "Tnf", "Il6", "Rela", "Stat1", "Irf1", "Klf4")


def gene_twice(unit):
    """A table of genes in rows with a gene twice; values are so many units."""
    rows = [
        [name, *(f"{((7 * i + 3 * j + i * j) % 97 + 20) * unit:g}" for j in range(9))]
        for i, name in enumerate(NAMES)
    ]
    head = ["gene", *(f"{j}h" for j in range(9))]
    return "".join("\t".join(row) + "\n" for row in [head, *rows])


def averaged(text):
    """The rows of one gene as their mean, as the refusal advises it."""
    table = pd.read_csv(StringIO(text), sep="\t")
    return table.groupby("gene", sort=False).mean().to_csv(sep="\t")


REMEDIES = {
    "logarithm of 0": (
        LINES.replace("1.5", "-Inf"),
        "the logarithm of 0 is -Inf: .* write NA and give missing='drop' or missing='interp",
        (lambda text: text.replace("-Inf", "NA"), {"missing": "interpolate"}),
    ),
    "a gene twice, averaged": (
        gene_twice(0.013),
        "gene names must be different, found twice: Fos; .*average what has one name",
        (averaged, {"genes_in_rows": True}),
    ),
    "a gene twice, renamed": (
        gene_twice(0.013),
        "gene names must be different, found twice: Fos; rename or remove them",
        (lambda text: text.replace("Fos", "Fos_2", 1), {"genes_in_rows": True}),
    ),
    "a long table": (
        "gene\ttime\ttpm\nFos\t0\t1\nFos\t1\t2\nJun\t0\t3\nJun\t1\t1\n",
        r"this is a long table, .*make it wide.*pandas: pivot",
        (
            lambda text: (
                pd.read_csv(StringIO(text), sep="\t")
                .pivot(index="time", columns="gene", values="tpm")
                .to_csv(sep="\t")
            ),
            {},
        ),
    ),
    "times of the clock": (
        LINES.replace("\n0", "\n00:00").replace("\n1", "\n00:30").replace("\n2", "\n01:00"),
        "that is a time of the clock: write how many minutes or hours after the start it was",
        (lambda text: text.replace("00:00", "0").replace("00:30", "30").replace("01:00", "60"), {}),
    ),
    "times in words": (
        LINES.replace("\n0", "\nbaseline").replace("\n1", "\n1 hr").replace("\n2", "\novernight"),
        "and 0 for the start",
        (lambda text: text.replace("baseline", "0").replace("overnight", "12 h"), {}),
    ),
    "series of one time, removed": (
        f"series\t{LINES}".replace("\n0", "\na\t0")
        .replace("\n1", "\na\t1")
        .replace("\n2", "\nb\t2"),
        "series b has 1: remove its sample, or empty its time",
        (lambda text: text[: text.index("b\t2")], {}),
    ),
    "series of one time, in steady state": (
        f"series\t{LINES}".replace("\n0", "\na\t0")
        .replace("\n1", "\na\t1")
        .replace("\n2", "\nb\t2"),
        "remove its sample, or empty its time, so that it is a steady-state sample",
        (lambda text: text.replace("b\t2", "b\t"), {}),
    ),
    "a blank in a name": (
        "s1 s2 s3\nFos 1 2 3\nHis 3 1 5 7\n",
        "spaces part cells here, so a name must hold none: write tabs",
        (lambda _: "\ts1\ts2\ts3\nFos\t1\t2\t3\nHis 3\t1\t5\t7\n", {"genes_in_rows": True}),
    ),
    "dates for names": (
        "Time\t1-Mar\tFos\t1-Mar\n0\t1\t2\t3\n1\t2\t3\t1\n",
        "a spreadsheet made dates of .*do not average them, take the names from the source",
        (lambda text: text.replace("1-Mar", "MARCHF1", 1).replace("1-Mar", "MTARC1"), {}),
    ),
    "a row of totals": (
        f"{LINES}Total\t6.5\t6\t12\n",
        "a row that is no sample must go",
        (lambda text: text[: text.index("Total")], {}),
    ),
    "a perturbation in words": (
        LINES.replace("C", "perturbed").replace("\t3\n", "\tLPS\n"),
        r"must be 0 or 1 \(or no and yes, false and true\), found 'LPS'",
        (
            lambda text: text.replace("LPS", "yes").replace("\t5", "\tyes").replace("\t4", "\tno"),
            {},
        ),
    ),
    "a gene called as a label of a sheet": (
        "sample\tA\tB\tTime\ns1\t1\t2\t3\ns2\t2\t1\t5\n",
        "a gene must not be called Time: rename it, or leave it out by ignore='Time'",
        (lambda text: text.replace("Time", "Tim"), {}),
    ),
}


@pytest.mark.usefixtures("quietly")
@pytest.mark.parametrize("kind", REMEDIES)
def test_the_remedy_that_a_refusal_names_reads_the_file(kind, write):
    text, message, (mend, options) = REMEDIES[kind]
    if "sheet" in kind:
        options = {"samples": write("sample,time\ns1,0\ns2,1\n", "s.csv")}
    given = {k: v for k, v in options.items() if k in ("samples", "genes_in_rows")}
    with pytest.raises(DataError, match=message):
        Expression.of(write(text), **given)
    assert Expression.of(write(mend(text)), **options).genes


def test_a_heading_that_a_spreadsheet_wrapped_is_read_and_lines_keep_their_numbers(write):
    path = write('"Time\n(h)",A,"B\nb"\n0,1,2\n1,2,x\n', "x.csv")
    with pytest.raises(DataError, match=r"x.csv:5, column 'B b': must be a number, found 'x'"):
        Expression.of(path)
    found = Expression.of(write('"Time\n(h)",A,"B\nb"\n0,1,2\n1,2,3\n', "x.csv"))
    assert (found.genes, found.times.tolist()) == (("A", "B b"), [0, 1])
    assert found.notes == ("Times are in h, as the file says.",)


def test_gaps_in_steady_state_are_filled_with_means_and_called_so(write):
    path = write("sample\tA\tB\nu\t1\tNA\nv\t2\t4\nw\t5\t8\n")
    with pytest.warns(UserWarning, match="filled 1 of 6 values with the mean of the gene over"):
        found = Expression.of(path, missing="interpolate")
    assert found.steady_values[0].tolist() == [1, 6]
    assert "were filled with the mean of the gene over the other samples." in found.notes[0]
    both = write("Time\tA\tB\n0\t1\t2\n1\tNA\t4\n2\t5\t8\n\tNA\t3\n", "both.tsv")
    with pytest.warns(
        UserWarning, match="by interpolation in time, 1 of them, in steady state, with the m"
    ):
        Expression.of(both, missing="interpolate")


ROW = "\t1\t2\n"


@pytest.mark.parametrize(
    ("head", "labels", "message", "ways"),
    [
        (  # each replicate has one time, but the conditions have several
            "condition\treplicate",
            [("0", "a", "1"), ("1", "a", "2"), ("0", "b", "1"), ("1", "b", "2")],
            "replicate makes series of one time each.*give ignore='replicate', replicates='unpai",
            [{"ignore": ("replicate",), "replicates": one} for one in ("unpaired", "average")],
        ),
        (  # replicates that cannot be matched
            "replicate",
            [("0", "1"), ("0", "2"), ("1", "1"), ("1", "2"), ("2", "3")],
            "nothing follows replicates from time to time, give ignore='replicate', replicates='u",
            [{"ignore": ("replicate",), "replicates": "unpaired"}],
        ),
    ],
)
def test_replicates_that_cannot_be_matched_are_refused_with_what_reads_them(
    tmp_path, head, labels, message, ways
):
    path = tmp_path / "x.tsv"
    rows = "".join("\t".join(label) + ROW for label in labels)
    path.write_text(f"Time\t{head}\tA\tB\n{rows}")
    with pytest.raises(DataError, match=message) as refused:
        Expression.of(path)
    assert list(refused.value.remedies) == ways
    assert len(Expression.of(path, **ways[0]).pieces) == 2


def test_options_of_series_are_refused_for_steady_states(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("sample\tA\tB\n" + "".join(f"s{k}\t{k}\t{k * k}\n" for k in range(5)))
    with pytest.raises(DataError, match="replicates='unpaired' says how series are made: leave"):
        Expression.of(path, replicates="unpaired")
    data = Expression.of(path)
    with pytest.raises(ValueError, match=r"all samples are in steady state: leave it out"):
        data.with_perturbation_until(3)
    with pytest.raises(ValueError, match=r"all samples are in steady state: leave bins out"):
        average_in_bins(data, 3)


@pytest.mark.parametrize(
    ("cells", "times"),
    [
        (("0", "30 min", "1 h", "1h30min", "1d"), (0, 30, 60, 90, 1440)),
        (("0h", "1 h 30 min", "2h", "1d 2h"), (0, 90, 120, 1560)),
        (("0 hours", "0.5 hours", "1 hr", "1 day", "1 week"), (0, 0.5, 1, 24, 168)),
    ],
)
def test_times_of_mixed_units_are_in_the_finest(tmp_path, cells, times):
    path = tmp_path / "x.tsv"
    path.write_text("Time\tA\tB\n" + "".join(f"{cell}\t1\t{k}\n" for k, cell in enumerate(cells)))
    assert Expression.of(path).times.tolist() == list(times)
    path.write_text("gene\t" + "\t".join(cells) + "\nA" + "\t1" * len(cells) + "\nB"
                    + "".join(f"\t{k}" for k in range(len(cells))) + "\n")  # fmt: skip
    assert Expression.of(path, genes_in_rows=True).times.tolist() == list(times)


def test_conditions_above_a_row_of_times_are_no_genes(write):
    rows = ["condition,a,a,a,b,b,b", "time,0,1,2,0,1,2", "A,1,5,3,4,9,6", "B,6,5,8,3,2,1", ""]
    path = write("\n".join(rows), "x.csv")
    message, ways = refused(path)
    assert "a row of times stands below, so they seem to be samples" in message
    assert {"genes_in_rows": True} in ways
    assert len(Expression.of(path, genes_in_rows=True).pieces) == 2


def test_a_column_of_units_is_refused(write):
    path = write("Time\tunit\tA\tB\n0\tmin\t1\t5\n30\tmin\t4\t2\n2\th\t3\t7\n")
    message, ways = refused(path)
    assert "column 'unit': holds units of time ('min'): write them behind the times" in message
    assert ways == []

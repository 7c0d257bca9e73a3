"""What is no gene never becomes one in silence, through no door; and genes stay genes."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression, read_steady_states
from grn_tvcs.expression.clock import repeats_in_header
from grn_tvcs.expression.formats import read_layout
from grn_tvcs.expression.judge.genes import genes_by_name, genes_by_numbers, odd_signs
from grn_tvcs.expression.judge.names import is_of_samples
from grn_tvcs.expression.judge.shape import are_genes
from grn_tvcs.expression.scales import guess_scale
from grn_tvcs.expression.ways import ways_that_read
from tvcs_core import DataError

NAMES = ("Fos", "Jun", "Egr1", "Myc", "Atf3", "Klf4", "Rela", "Stat1", "Irf1", "Il6", "Tnf", "T")
TIMES = (0, 1, 2, 4, 8, 24)
# Symbols that look like something else: of man, mouse, fly, yeast, worm, E. coli, B. subtilis.
SYMBOLS = re.findall(
    r"\S+",
    """
T NA TOTAL STAT1 P53 TP53 RIN1 RIN2 RIN3 REP15 REPIN1 SERIES1 TIMELESS TIMM8A MARCHF1 SEPTIN2 DEC1
MT-CO1 MT-ND1 HLA-A HLA-DRB1 NKX2-5 SEX1 AGER SAMPLEX BATCH1 RUNX1 LINC00511 PC PCK1 LEP TPM1 RAW1
CPM LENG8 LANCL1 ENO1 GAPDH ACTB B2M INS INSR EGFR CDKN1A FDX1 FDXR FDFT1 LR B F STAT BETA1 SCORE1
Actb Gapdh Tnf Il6 Rin3 Rep15 H2-Ab1 mt-Co1 Nkx2-5 Tbx21 Hbb-bs Rps4l Trp53 Time1 Day1 Hour1 Rep
run ph sex-1 pct-1 let-7 lin-12 Sxl Ubx E(spl)m8 mt:ND1 Hsp70Aa CycE Act5C l(2)gl fs(1)h a b
YAL001C YBR160W-A CDC28 CLN3 RAD51 HIS3 URA3 ARS1 TOT1 PHO5 LEU2 COX1 SUM1 ALL1 REP1 RIM15 TIM23
lacZ lacI araC rep rho fis fnr crp hns dnaA rpoS tot tatA totA repA timeA umuD recA lexA sulA dinB
abrB spo0A sigA sigB comK ccpA rok yabA BSU00010 yyaA ytpP rnhB qcrA repU sumA gapA gapB
ENSG00000141510.18 ENSMUSG00000000103 AT1G01010 1415670_at 7SK U6 5S_rRNA FBgn0000490 14281
NM_000546
""",
)


@pytest.fixture
def write(tmp_path):
    def make(table, name="x.tsv"):
        path = tmp_path / name
        if isinstance(table, str):
            path.write_text(table)
        else:
            table.to_csv(path, sep="\t", index=False)
        return path

    return make


def levels(rng, n_series=3, names=NAMES):
    """Levels of genes in so many series of the same times."""
    rows = n_series * len(TIMES)
    return pd.DataFrame(np.round(np.exp(rng.normal(4, 1, (rows, len(names)))), 3), columns=names)


def course(rng, n_series=3):
    table = levels(rng, n_series)
    table.insert(0, "Time", [*TIMES] * n_series)
    return table


def turned(table, samples):
    """Genes in rows, in samples of these names."""
    made = table.T
    made.columns = samples
    return made.rename_axis("gene").reset_index()


def refused(path, **given):
    with pytest.raises(ValueError, match=r".") as why:
        read_layout(path, **given)
    ways = ways_that_read([path], why.value, given)
    return str(why.value), [
        {k: v for k, v in way.options.items() if given.get(k) != v} for way in ways
    ]


@pytest.fixture
def quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# ---- names and numbers of columns


def test_symbols_of_genes_are_genes_whatever_they_look_like(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert genes_by_name("x", SYMBOLS, has_time=True).all()
        logs = np.round(rng.normal(8, 2, (18, len(SYMBOLS))), 3)
        for values in (logs, np.exp(logs), rng.poisson(np.exp(logs[0] / 2), logs.shape) * 1.0):
            assert genes_by_numbers("x", SYMBOLS, values).all()
            assert genes_by_numbers("x", SYMBOLS[::-1], values).all()


@pytest.mark.parametrize("seed", range(20))
def test_genes_of_all_scales_are_not_odd(seed):
    rng = np.random.default_rng(seed)
    names = [f"G{k}" for k in range(300)]
    mean = rng.normal(5, 2.5, 300)
    for n in (6, 12, 40):
        logs = mean + rng.normal(0, 0.5, (n, 300))
        counts = rng.poisson(2.0**logs)
        tables = (logs, np.round(logs, 2), 2**logs, np.round(2**logs, 1), counts)
        few_digits = np.array([[float(f"{x:.4g}") for x in row] for row in 2**logs])
        for values in (*tables, few_digits, np.log2(counts + 1), rng.poisson(0.3, logs.shape)):
            assert not odd_signs(names, values.astype(float))


OF_SAMPLES = {
    "scanpy": "total_counts n_genes_by_counts pct_counts_mt log1p_total_counts leiden S_score",
    "Seurat": "nCount_RNA nFeature_RNA percent.mt seurat_clusters S.Score RNA_snn_res.0.8",
    "edgeR": "lib.size norm.factors sizeFactor",
    "core facility": "RIN total_reads RQN DV200 OD600 library_size mapping_rate",
}


@pytest.mark.parametrize("program", OF_SAMPLES)
@pytest.mark.parametrize("at", [1, 6, 13])
def test_columns_of_quality_control_are_left_out_and_said(program, at, rng, write):
    for name in OF_SAMPLES[program].split():
        table = course(rng)
        table.insert(at, name, np.round(rng.uniform(1, 9, len(table)), 3))
        with pytest.warns(UserWarning, match=f"left out {name}, no genes .* give --keep {name}"):
            assert read_layout(write(table)).genes == NAMES
        assert set(read_layout(write(table), keep=[name]).genes) == {*NAMES, name}


@pytest.mark.parametrize(
    "name",
    ["% Dups", "M Seqs aligned", "Q30 Bases in CB+UMI", "Fraction Reads in Cells", "5'-3' % bias",
     "Unassigned_Unmapped reads", "Uniquely mapped reads number", "percent_gc"],
)  # fmt: skip
def test_several_words_of_quality_control_are_no_gene(name):
    assert is_of_samples(name)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("mito", lambda rng: rng.uniform(0.01, 0.2, 18).round(2)),
        ("Glucose_mM", lambda rng: rng.uniform(5, 20, 18).round(3)),
        ("InputNg", lambda rng: rng.integers(200, 900, 18)),
        ("DepthM", lambda rng: rng.integers(2 * 10**7, 4 * 10**7, 18)),
        ("Purity", lambda rng: rng.uniform(1.8, 2.1, 18).round(1)),
    ],
)
def test_numbers_unlike_those_of_genes_are_refused_with_both_readings(name, make, rng, write):
    table = course(rng)
    table.insert(1, name, make(rng))
    path = write(table)
    if name == "mito":  # is on the list
        with pytest.warns(UserWarning, match="left out mito"):
            assert read_layout(path).genes == NAMES
        return
    said, ways = refused(path)
    assert f"may be none ('{name}': " in said
    assert f"give --ignore {name}, or if they are genes --keep {name}" in said
    assert ways == [{"ignore": (name,)}, {"keep": (name,)}]
    assert read_layout(path, **ways[0]).genes == NAMES
    assert read_layout(path, **ways[1]).genes == (name, *NAMES)


def test_a_total_is_no_gene_unless_it_is_another_number(rng, write):
    table = course(rng)
    table["Total"] = table[list(NAMES)].sum(axis=1).round(2)
    with pytest.warns(UserWarning, match="left out Total, .* are sums of the others"):
        assert read_layout(write(table)).genes == NAMES
    table["Total"] = table["Jun"].to_numpy()[::-1]
    assert read_layout(write(table)).genes == (*NAMES, "Total")


# ---- results of tests, annotation, units

RESULTS = {
    "DESeq2": "baseMean log2FoldChange lfcSE stat pvalue padj",
    "limma": "logFC AveExpr t P.Value adj.P.Val B",
    "edgeR": "logFC logCPM LR PValue FDR",
    "Seurat": "p_val avg_log2FC pct.1 pct.2 p_val_adj",
    "scanpy": "scores logfoldchanges pvals pvals_adj",
    "sleuth": "pval qval b se_b mean_obs var_obs tech_var sigma_sq",
}


@pytest.mark.parametrize("program", RESULTS)
def test_results_of_tests_are_no_samples_and_no_genes(program, rng, write):
    heads = RESULTS[program].split()
    table = pd.DataFrame(rng.random((12, len(heads))), columns=heads)
    said, ways = refused(write(table))
    assert "results of a test of genes: give the table of counts or levels" in said
    table.insert(0, "", NAMES)
    for given in ({}, {"genes_in_rows": True}):
        assert "results of a test" in refused(write(table), **given)[0]
        assert not [way for way in ways if "keep" not in way]
    with pytest.raises(ValueError, match="results of a test"):
        Expression.from_frame(table.set_index(""), genes_in_rows=True)
    with pytest.raises(ValueError, match="results of a test"):
        Expression.from_frame(table.drop(columns=""))


def test_levels_beside_results_are_read_without_them(rng, write):
    table = turned(levels(rng, 1), [f"s{t}" for t in TIMES])
    table = table.assign(log2FoldChange=0.5, padj=0.1, stat=2.0)
    said, ways = refused(write(table), genes_in_rows=True)
    assert "give --ignore log2FoldChange --ignore padj --ignore stat, if the other" in said
    assert len(read_layout(write(table), genes_in_rows=True, **ways[0]).levels) == len(TIMES)


def test_units_side_by_side_are_refused_and_each_option_leaves_one(rng, write):
    one, other = levels(rng, 1), levels(rng, 1)
    counts = turned(one.round(), [f"s{t}_count" for t in TIMES])
    both = counts.join(turned(other, [f"s{t}_tpm" for t in TIMES]).drop(columns="gene"))
    said, ways = refused(write(both), genes_in_rows=True)
    assert "count, tpm stand side by side" in said
    assert [way["ignore"] for way in ways] == [("*_tpm",), ("*_count",)]
    found = [read_layout(write(both), genes_in_rows=True, **way).levels for way in ways]
    assert np.allclose(found[0], one.round())
    assert np.allclose(found[1], other)
    frame = both.set_index("gene")
    with pytest.raises(ValueError, match="side by side"):
        Expression.from_frame(frame, genes_in_rows=True)
    assert len(Expression.from_frame(frame, genes_in_rows=True, ignore=["*_tpm"]).levels) == 6


def test_numbers_that_go_with_no_sample_are_no_sample(rng, write):
    names = [f"G{k}" for k in range(60)]
    mean = rng.normal(5, 2, 60)
    table = pd.DataFrame(2 ** (mean + rng.normal(0, 0.2, (6, 60))).round(3), columns=names)
    table = turned(table, [*"uvwxyz"])
    table["mw"] = rng.integers(20, 900, 60)
    said, ways = refused(write(table), genes_in_rows=True)
    assert "but mw may be none" in said
    assert ways == [{"ignore": ("mw",)}, {"keep": ("mw",)}]
    assert len(read_layout(write(table), genes_in_rows=True, keep=["mw"]).levels) == 7
    with pytest.raises(ValueError, match="but mw may be none"):
        Expression.from_frame(table.set_index("gene"), genes_in_rows=True)
    with pytest.raises(ValueError, match="neither a column nor a row 'mv' for --keep; did you"):
        read_layout(write(table), genes_in_rows=True, keep=["mw", "mv"])


@pytest.mark.usefixtures("quietly")
def test_a_second_column_of_names_names_the_genes_where_it_can(write):
    path = write("gene_id\tgene_name\tu\tv\nE1.1\tFos\t1\t2\nE2.4\tU6\t2\t3\nE3.1\tU6\t3\t5\n"
                 "E4.2\t\t2\t7\n")  # fmt: skip
    with pytest.warns(UserWarning, match="named by gene_name, 3 of 4 by gene_id"):
        found = read_layout(path, genes_in_rows=True)
    assert found.genes == ("Fos", "E2.4", "E3.1", "E4.2")
    same = read_layout(path, genes_in_rows=True, ignore=["gene_name"])
    assert same.genes == ("E1.1", "E2.4", "E3.1", "E4.2")


# ---- which way, and series


@pytest.mark.usefixtures("quietly")
@pytest.mark.parametrize("head", ["entrez", "GeneID", "", "X", "locus"])
def test_numbers_of_entrez_never_make_genes_of_samples(head, rng, write):
    samples = [f"{t}h_rep{k}" for k in (1, 2, 3) for t in TIMES]
    numbers = [14281, 16476, 13653, 17869, 11910, 16600, 19697, 20846, 16362, 16193, 21926, 20997]
    table = turned(levels(rng), samples).rename(columns={"gene": head})
    table[head] = numbers
    said, ways = refused(write(table))
    assert "seems to name genes" in said
    assert ways[0] == {"genes_in_rows": True}
    assert read_layout(write(table), **ways[0]).genes == tuple(map(str, numbers))
    with pytest.raises(ValueError, match="its index seems to name genes"):
        Expression.from_frame(table.set_index(head).rename_axis(head or None))


def test_columns_called_by_numbers_of_entrez_and_whole_levels_stay_genes(rng):
    assert (
        are_genes("14281", [str(k) for k in rng.integers(0, 9999, 20)], ["16476", "13653"]) is None
    )
    assert are_genes("Actb", ["140", "231", "99", "310"], ["Gapdh", "Rplp0", "Fos"]) is None
    assert are_genes("", ["0", "1", "2", "3"], ["a1", "a2"]) is None


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
        found = read_layout(write(table.reset_index()), genes_in_rows=True)
    with pytest.warns(UserWarning, match=f"{n} repeats of each time"):
        frame = Expression.from_frame(table, genes_in_rows=True)
    for data in (found, frame):
        assert list(data.pieces()) == [str(k + 1) for k in range(n)]
        assert all(data.times[rows].tolist() == times for rows in data.pieces().values())


@pytest.mark.parametrize(
    "heads", ["0,0.1,0.2,0.3,0.4", "0,0.5,1,1.5", "0,2,4", "1.1,2.1,3.1", "S1.1,S1"]
)
def test_times_of_tenths_are_no_repeats(heads):
    assert repeats_in_header(heads.split(",")) is None


def test_times_in_the_order_of_the_alphabet_are_one_series_and_said(rng, write):
    table = course(rng, 1)
    table = table.iloc[np.argsort([str(t) for t in TIMES])]
    with pytest.warns(UserWarning, match=r"out of order \(0, 1, 2, 24, 4, 8\), and none "):
        found = read_layout(write(table))
    assert (found.times.tolist(), set(found.series)) == ([*TIMES], {"1"})
    with pytest.warns(UserWarning, match="read as 2 series, sorted by time"):
        twice = read_layout(write(pd.concat([table, table * 1.5 - table["Time"].max() * 0]).assign(
            Time=[0, 1, 2, 24, 4, 8] * 2)))  # fmt: skip
    assert [twice.times[rows].tolist() for rows in twice.pieces().values()] == [[*TIMES]] * 2


def test_a_fall_that_may_be_read_in_two_ways_is_refused_and_a_blank_line_decides(rng, write):
    table = pd.concat([course(rng, 1), course(rng, 1)])
    table["Time"] = [0, 10, 20, 30, 40, 50, 5, 10, 15, 25, 35, 45]
    text = table.to_csv(sep="\t", index=False)
    said, _ = refused(write(text))
    assert "x.tsv:8, column 'Time': times fall back to 5" in said
    assert "put a blank line before it" in said
    lines = text.splitlines(keepends=True)
    assert len(read_layout(write("".join([*lines[:7], "\n", *lines[7:]]))).pieces()) == 2


UNPAIRED = "Time,A,B\n0,1.5,2\n0,2.5,3\n0,3.5,4\n2,4,5\n2,5,6\n2,6,8\n5,7,9\n5,8,1\n"


def test_replicates_that_nothing_pairs_are_series_or_averaged_as_told(write):
    path = write(UNPAIRED, "x.csv")
    said, ways = refused(path)
    assert "give --replicates unpaired" in said
    assert ways == [{"replicates": "unpaired"}, {"replicates": "average"}]
    apart, mean = (read_layout(path, **way) for way in ways)
    assert [apart.times[rows].tolist() for rows in apart.pieces().values()] == [
        [0, 2, 5], [0, 2, 5], [0, 2],
    ]  # fmt: skip
    assert apart.values[:3, 0].tolist() == [1.5, 4, 7]
    assert "series of their own" in " ".join(apart.notes)
    assert mean.values.tolist() == [[2.5, 3], [5, 19 / 3], [7.5, 5]]
    assert "8 samples were averaged to 3" in " ".join(mean.notes)
    frame = pd.read_csv(path)
    assert (
        Expression.from_frame(frame, replicates="average").values.tolist() == mean.values.tolist()
    )
    with pytest.raises(ValueError, match="replicates must be one of"):
        read_layout(path, replicates="paired")


def test_the_sample_that_no_other_goes_with_is_left_out(write):
    path = write(UNPAIRED + "0,9,9\n", "x.csv")
    with pytest.warns(UserWarning, match=r"left out 1 samples .* \(line 10\)"):
        assert len(read_layout(path, replicates="unpaired").values) == 8


def test_a_perturbation_must_agree_where_replicates_are_averaged(write):
    text = "Time,perturbed,A,B\n0,yes,1,2\n0,yes,2,3\n2,no,4,5\n2,no,5,6\n"
    found = read_layout(write(text, "x.csv"), replicates="average")
    assert found.perturbed.tolist() == [True, False]
    bad = write(text.replace("2,no,5", "2,yes,5"), "x.csv")
    with pytest.raises(DataError, match="must agree in it, to be averaged"):
        read_layout(bad, replicates="average")


# ---- values


def test_small_counts_of_cells_are_counts(rng):
    assert guess_scale(rng.poisson(1.5, (60, 40)).astype(float)).scale == "counts"
    assert guess_scale(rng.integers(3, 9, (60, 40)).astype(float)).scale == "levels"


def test_a_failed_sample_and_one_that_is_there_twice_are_pointed_out(rng, write):
    table = course(rng)
    table.iloc[9, 1:] = 0
    table.iloc[4, 1:] = table.iloc[3, 1:]
    with pytest.warns(UserWarning, match=r".") as said:
        read_layout(write(table))
    text = "\n".join(str(one.message) for one in said)
    assert "1 of 18 samples are 0 in every gene" in text
    assert "(sample 10)" in text
    assert "1 sample is the same as another in every gene" in text


def test_a_sample_of_two_series_in_a_sheet_is_not_one_measured_twice(rng, write):
    table = levels(rng, 1)
    table.insert(0, "sample", [f"s{k}" for k in range(6)])
    sheet = write("sample,time,series\n" + "".join(
        f"s{k},{k},{s}\n" for s in "ab" for k in ((0, 1, 2) if s == "a" else (0, 3, 4))
    ), "s.csv")  # fmt: skip
    with pytest.warns(UserWarning, match=r".") as said:
        read_layout(write(table), samples=sheet)
    assert ["left out 1 samples" in str(one.message) for one in said] == [True]


def test_names_that_differ_in_case_alone_are_pointed_out(write):
    with pytest.warns(UserWarning, match="2 gene names differ from another in case alone"):
        read_layout(write("Time,Fos,FOS,Jun\n0,1.5,2,3\n1,2,3,1\n", "x.csv"))


# ---- every door


def _doors(table, tmp_path, name):
    """The same levels, with a column that is no gene, through every reader; name of each."""
    from openpyxl import Workbook

    genes = table.drop(columns="Time")
    book = Workbook()
    for row in [list(table.columns), *table.astype(float).to_numpy().tolist()]:
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    samples = [f"s{k}" for k in range(len(table))]
    sheet = pd.DataFrame(
        {"sample": samples, "time": table["Time"], "series": [*"aaaaaabbbbbbcccccc"]}
    )
    sheet.to_csv(tmp_path / "s.csv", index=False)
    rows = turned(genes, samples)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    table.to_csv(tmp_path / "x.csv", index=False)
    rows.set_index("gene").to_csv(tmp_path / "ExpressionData.csv")
    sheet.set_index("sample")[["time"]].to_csv(tmp_path / "PseudoTime.csv")
    facts = sheet.drop(columns="sample")
    cells = "\t".join(f'"{s}"' for s in samples)
    times = "\t".join(f'"time: {t} h"' for t in table["Time"])
    series = "\t".join(f'"replicate: {s}"' for s in sheet["series"])
    body = rows.to_csv(sep="\t", index=False, header=False)
    (tmp_path / "GSE1_series_matrix.txt").write_text(
        f'!Series_title\t"x"\n!Sample_geo_accession\t{cells}\n'
        f"!Sample_characteristics_ch1\t{times}\n!Sample_characteristics_ch1\t{series}\n"
        f'!series_matrix_table_begin\n"ID_REF"\t{cells}\n{body}!series_matrix_table_end\n'
    )
    beside = {"samples": tmp_path / "s.csv", "genes_in_rows": True}
    return {
        "text": lambda **o: read_layout(tmp_path / "x.csv", **o),
        "workbook": lambda **o: read_layout(tmp_path / "x.xlsx", **o),
        "sheet": lambda **o: read_layout(tmp_path / "rows.csv", **beside, **o),
        "rows": lambda **o: read_layout(tmp_path / "rows.csv", genes_in_rows=True, **o),
        "GEO": lambda **o: read_layout(tmp_path / "GSE1_series_matrix.txt", **o),
        "BEELINE": lambda **o: read_layout(
            tmp_path / "ExpressionData.csv", pseudotime=tmp_path / "PseudoTime.csv", **o
        ),
        "frame": lambda **o: Expression.from_frame(table, **o),
        "frame beside a sheet": lambda **o: Expression.from_frame(genes, samples=facts, **o),
    }  # fmt: skip


DOORS = ("text", "workbook", "sheet", "rows", "GEO", "BEELINE", "frame", "frame beside a sheet")


@pytest.mark.parametrize("door", DOORS)
def test_no_door_takes_facts_of_samples_for_genes(door, rng, tmp_path, recwarn):
    pytest.importorskip("openpyxl")
    table = course(rng)
    table["total_reads"] = rng.integers(10**7, 2 * 10**7, 18)
    read = _doors(table, tmp_path, "total_reads")[door]
    assert read().genes == NAMES
    assert any("left out total_reads" in str(one.message) for one in recwarn)
    assert set(read(keep=["total_reads"]).genes) == {*NAMES, "total_reads"}
    odd = table.rename(columns={"total_reads": "DepthM"})
    read = _doors(odd, tmp_path, "DepthM")[door]
    with pytest.raises(ValueError, match=r"may be none .*give --ignore DepthM"):
        read()
    assert read(ignore=["DepthM"]).genes == NAMES


def test_an_anndata_and_its_file_take_no_facts_of_samples_for_genes(rng, tmp_path, recwarn):
    anndata = pytest.importorskip("anndata")
    table = course(rng).assign(total_counts=1000.5)
    data = anndata.AnnData(table.drop(columns="Time"))
    data.obs["time"] = table["Time"].to_numpy()
    data.obs["series"] = [*"aaaaaabbbbbbcccccc"]
    data.write_h5ad(tmp_path / "x.h5ad")
    for read in (lambda **o: Expression.from_anndata(data, **o),
                 lambda **o: read_layout(tmp_path / "x.h5ad", **o)):  # fmt: skip
        assert read().genes == NAMES
        assert read(keep=["total_counts"]).genes == (*NAMES, "total_counts")
    assert any("left out total_counts" in str(one.message) for one in recwarn)


def test_steady_states_take_no_facts_of_samples_for_genes(write):
    path = write("gene,A,B,RIN\nA,1,2,8.5\nB,2,1,9\nNTC,2,2,9\nsafe harbor,2,3,8\n", "ko.csv")
    with pytest.warns(UserWarning, match="left out RIN|for the wild type: NTC, safe harbor"):
        found = read_steady_states(knockouts=path)
    assert (found.genes, found.changed) == (("A", "B"), ("", "", "A", "B"))


# ---- layouts of others


META = "isTs\tis1stLast\tprevCol\tdel.t\tcondName\n"


@pytest.mark.usefixtures("quietly")
def test_the_meta_data_of_inferelator_are_a_sheet(rng, write):
    table = turned(levels(rng, 1), ["a0", "a1", "a2", "b1", "r", "q"])
    rows = "TRUE\tf\tNA\tNA\ta0\nTRUE\tm\ta0\t5\ta1\nTRUE\tl\ta1\t10\ta2\nTRUE\tl\ta0\t20\tb1\n"
    sheet = write(f"{META}{rows}FALSE\te\tNA\tNA\tr\nFALSE\te\tNA\tNA\tq\n", "meta.tsv")
    found = read_layout(write(table), samples=sheet, genes_in_rows=True)
    assert found.times.tolist() == [0, 5, 15, 0, 20]
    assert (found.series, found.n_at_rest) == (("a2",) * 3 + ("b1",) * 2, 2)
    for bad, said in (
        (("a0\t5\ta1", "x\t5\ta1"), "must be a sample of condName"),
        (("a0\t5", "a0\t0"), "above 0, found '0'"),
        (("NA\tNA\ta0", "a2\t5\ta0"), "must follow each other in time"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=said):
            path = write(f"{META}{rows}".replace(*bad), "bad.tsv")
            read_layout(write(table), samples=path, genes_in_rows=True)


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
    with pytest.warns(UserWarning, match="5 samples were found by their names without folder"):
        found = read_layout(write(table), samples=sheet, genes_in_rows=True)
    assert found.times.tolist() == [*TIMES]
    two = table.rename(columns={"24h_r1": "0H.r1"})
    with pytest.raises(DataError, match="every sample must have levels"):
        read_layout(write(two), samples=sheet, genes_in_rows=True)


def test_masigpro_numbers_groups_of_replicates(rng, write):
    samples = [f"{t}h_{k}" for k in (1, 2, 3) for t in TIMES]
    body = "".join(f"{t}h_{k},{t},{n + 1},1\n" for k in (1, 2, 3) for n, t in enumerate(TIMES))
    sheet = write(f"sample,Time,Replicate,Cold\n{body}", "s.csv")
    path = write(turned(levels(rng), samples))
    said, ways = refused(path, samples=sheet, genes_in_rows=True)
    assert "replicate makes series of one time each: it numbers groups" in said
    assert ways == [
        {"ignore": ("replicate",), "replicates": one} for one in ("unpaired", "average")
    ]
    found = read_layout(path, samples=sheet, genes_in_rows=True, **ways[0])
    assert [len(found.times[rows]) for rows in found.pieces().values()] == [6, 6, 6]


@pytest.mark.parametrize("cell", ["30'", "0,5h", "30,25"])
def test_times_with_a_prime_or_a_decimal_comma_are_read(cell, write):
    number = float(cell.strip("'h").replace(",", "."))
    found = read_layout(write(f"Time\tA\tB\n0\t1.5\t2\n{cell}\t2\t3\n"))
    assert found.times.tolist() == [0, number]


# ---- each refusal names what to do, and that reads it

LINES = "Time\tA\tB\tC\n0\t1.5\t2\t3\n1\t2\t3\t5\n2\t3\t1\t4\n"
ALONE = "series\tTime\tA\tB\na\t0\t1.5\t2\na\t1\t2\t3\nb\t2\t3\t1\n"
REMEDIES = {
    "logarithm of 0": (
        LINES.replace("1.5", "-Inf"),
        "the logarithm of 0 is -Inf: .* write NA and give --missing",
        (lambda text: text.replace("-Inf", "NA"), {"missing": "interpolate"}),
    ),
    "series of one time, removed": (
        f"series\t{LINES}".replace("\n0", "\na\t0")
        .replace("\n1", "\na\t1")
        .replace("\n2", "\nb\t2"),
        "series b has 1: remove its sample, or empty its time",
        (lambda text: text[: text.index("b\t2")], {}),
    ),
    "series of one time, at rest": (
        f"series\t{LINES}".replace("\n0", "\na\t0")
        .replace("\n1", "\na\t1")
        .replace("\n2", "\nb\t2"),
        "remove its sample, or empty its time, so that it is a sample at rest",
        (lambda text: text.replace("b\t2", "b\t"), {}),
    ),
    "a blank in a name": (
        "s1 s2 s3\nFos 1 2 3\nHis 3 1 5 7\n",
        "spaces part cells here, so a name must hold none: write tabs between cells",
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
        "a gene must not be called Time: rename it, or leave it out by --ignore Time",
        (lambda text: text.replace("Time", "Tim"), {}),
    ),
}


@pytest.mark.usefixtures("quietly")
@pytest.mark.parametrize("kind", REMEDIES)
def test_the_remedy_that_a_refusal_names_reads_the_file(kind, write):
    text, said, (mend, options) = REMEDIES[kind]
    if "sheet" in kind:
        options = {"samples": write("sample,time\ns1,0\ns2,1\n", "s.csv")}
    given = {k: v for k, v in options.items() if k in ("samples", "genes_in_rows")}
    with pytest.raises(DataError, match=said):
        read_layout(write(text), **given)
    assert read_layout(write(mend(text)), **options).genes


def test_a_heading_that_a_spreadsheet_wrapped_is_read_and_lines_keep_their_numbers(write):
    path = write('"Time\n(h)",A,"B\nb"\n0,1,2\n1,2,x\n', "x.csv")
    with pytest.raises(DataError, match=r"x.csv:5, column 'B b': must be a number, found 'x'"):
        read_layout(path)
    found = read_layout(write('"Time\n(h)",A,"B\nb"\n0,1,2\n1,2,3\n', "x.csv"))
    assert (found.genes, found.times.tolist()) == (("A", "B b"), [0, 1])
    assert found.notes == ("Times are in h, as the file says.",)


def test_gaps_at_rest_are_filled_with_means_and_called_so(write):
    path = write("sample\tA\tB\nu\t1\tNA\nv\t2\t4\nw\t5\t8\n")
    with pytest.warns(UserWarning, match="filled 1 of 6 values with the mean of the gene over"):
        found = read_layout(path, missing="interpolate")
    assert found.at_rest[0].tolist() == [1, 6]
    assert "were filled with the mean of the gene over the other samples." in found.notes[0]
    both = write("Time\tA\tB\n0\t1\t2\n1\tNA\t4\n2\t5\t8\n\tNA\t3\n", "both.tsv")
    with pytest.warns(
        UserWarning, match="by interpolation in time, 1 of them, at rest, with the m"
    ):
        read_layout(both, missing="interpolate")

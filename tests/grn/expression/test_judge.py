"""What is no gene never becomes one in silence, through no door; and genes stay genes."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression, infer, read_steady_states
from grn_tvcs.expression.judge.genes import genes_by_name, genes_by_numbers, odd_signs
from grn_tvcs.expression.judge.names import Names, is_of_samples
from grn_tvcs.expression.scales import guess_scale
from tests.grn.tables import NAMES, TIMES, course, levels, refused, turned
from tests.makers.commands import grn_tvcs

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


# ---- names and numbers of columns


def test_symbols_of_genes_are_genes_whatever_they_look_like(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert genes_by_name(Names("x", SYMBOLS), has_time=True).all()
        logs = np.round(rng.normal(8, 2, (18, len(SYMBOLS))), 3)
        for values in (logs, np.exp(logs), rng.poisson(np.exp(logs[0] / 2), logs.shape) * 1.0):
            assert genes_by_numbers(Names("x", SYMBOLS), values).all()
            assert genes_by_numbers(Names("x", SYMBOLS[::-1]), values).all()


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
def test_columns_of_quality_control_are_left_out_and_reported(program, at, rng, write):
    for name in OF_SAMPLES[program].split():
        table = course(rng)
        table.insert(at, name, np.round(rng.uniform(1, 9, len(table)), 3))
        with pytest.warns(UserWarning, match=f"left out {name}, no genes .* give keep='{name}'"):
            assert Expression.of(write(table)).genes == NAMES
        assert set(Expression.of(write(table), keep=[name]).genes) == {*NAMES, name}


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
            assert Expression.of(path).genes == NAMES
        return
    message, ways = refused(path)
    assert f"may be none ('{name}': " in message
    assert f"give ignore='{name}', or if they are genes keep='{name}'" in message
    assert ways == [{"ignore": (name,)}, {"keep": (name,)}]
    assert Expression.of(path, **ways[0]).genes == NAMES
    assert Expression.of(path, **ways[1]).genes == (name, *NAMES)


def test_a_total_is_no_gene_unless_it_is_another_number(rng, write):
    table = course(rng)
    table["Total"] = table[list(NAMES)].sum(axis=1).round(2)
    with pytest.warns(UserWarning, match="left out Total, .* are sums or means of the others"):
        assert Expression.of(write(table)).genes == NAMES
    means = table.drop(columns="Total").assign(Mean=table[list(NAMES)].mean(axis=1).round(2))
    with pytest.warns(UserWarning, match="left out Mean, .* are sums or means of the others"):
        assert Expression.of(write(means)).genes == NAMES
    table["Total"] = table["Jun"].to_numpy()[::-1]
    assert Expression.of(write(table)).genes == (*NAMES, "Total")


# ---- results of tests, annotation, units

RESULTS = {
    "DESeq2": "baseMean log2FoldChange lfcSE stat pvalue padj",
    "limma": "logFC AveExpr t P.Value adj.P.Val B",
    "edgeR": "logFC logCPM LR PValue FDR",
    "Seurat": "p_val avg_log2FC pct.1 pct.2 p_val_adj",
    "scanpy": "scores logfoldchanges pvals pvals_adj",
    "contrasts of DESeq2": "2h_log2FC 2h_padj 4h_log2FC 4h_padj",
    "contrasts of limma": "Coef.T2 p.value.T2 p.value.adj.T2",
    "sleuth": "pval qval b se_b mean_obs var_obs tech_var sigma_sq",
}


@pytest.mark.parametrize("program", RESULTS)
def test_results_of_tests_are_no_samples_and_no_genes(program, rng, write):
    heads = RESULTS[program].split()
    table = pd.DataFrame(rng.random((12, len(heads))), columns=heads)
    message, ways = refused(write(table))
    assert "results of a test of genes: give the table of counts or levels" in message
    table.insert(0, "", NAMES)
    for given in ({}, {"genes_in_rows": True}):
        assert "results of a test" in refused(write(table), **given)[0]
        assert not [way for way in ways if "keep" not in way]
    with pytest.raises(ValueError, match="results of a test"):
        Expression.of(table.set_index(""), genes_in_rows=True)
    with pytest.raises(ValueError, match="results of a test"):
        Expression.of(table.drop(columns=""))


def test_rows_of_results_or_of_times_are_no_samples(rng, write):
    heads = RESULTS["DESeq2"].split()
    results = pd.DataFrame(rng.random((6, 12)), index=heads, columns=[f"g{i}" for i in range(12)])
    with pytest.raises(ValueError, match="lfcSE, pvalue, padj are results of a test of genes"):
        Expression.of(results)
    message, _ = refused(write(results.rename_axis("sample").reset_index()))
    assert "rows baseMean, log2FoldChange, lfcSE, pvalue, padj are results" in message
    table = course(rng, 1).T.rename_axis("sample")
    with pytest.raises(ValueError, match="a sample is called 'Time', as times are: if genes"):
        Expression.of(table)
    assert len(Expression.of(table, genes_in_rows=True).times) == len(TIMES)
    table.index = [f"time_{i}" for i in range(len(table))]
    with pytest.warns(UserWarning, match="names of samples seem to hold times"):
        assert len(Expression.of(table.rename_axis("sample")).steady_values) == len(table)


def test_levels_beside_results_are_read_without_them(rng, write):
    table = turned(levels(rng, 1), [f"s{t}" for t in TIMES])
    table = table.assign(log2FoldChange=0.5, padj=0.1, stat=2.0)
    message, ways = refused(write(table), genes_in_rows=True)
    assert "give ignore=['log2FoldChange', 'padj', 'stat'], if the other" in message
    assert len(Expression.of(write(table), genes_in_rows=True, **ways[0]).levels) == len(TIMES)


def test_units_side_by_side_are_refused_and_each_option_leaves_one(rng, write):
    one, other = levels(rng, 1), levels(rng, 1)
    counts = turned(one.round(), [f"s{t}_count" for t in TIMES])
    both = counts.join(turned(other, [f"s{t}_tpm" for t in TIMES]).drop(columns="gene"))
    message, ways = refused(write(both), genes_in_rows=True)
    assert "count, tpm stand side by side" in message
    assert [way["ignore"] for way in ways] == [("*_tpm",), ("*_count",)]
    found = [Expression.of(write(both), genes_in_rows=True, **way).levels for way in ways]
    assert np.allclose(found[0], one.round())
    assert np.allclose(found[1], other)
    frame = both.set_index("gene")
    with pytest.raises(ValueError, match="side by side"):
        Expression.of(frame, genes_in_rows=True)
    assert len(Expression.of(frame, genes_in_rows=True, ignore=["*_tpm"]).levels) == 6


@pytest.mark.usefixtures("quietly")
@pytest.mark.parametrize("name", ["{}_sd", "{}.SEM", "{} std", "se_{}"])
@pytest.mark.parametrize("mean", ["{}", "{}_mean"])
@pytest.mark.parametrize("in_rows", [False, True])
def test_standard_deviations_beside_means_are_refused_and_left_out(name, mean, in_rows, rng, write):
    table = levels(rng, 1)
    table = turned(table, [f"{t}h" for t in TIMES]) if in_rows else table.assign(time=TIMES)
    heads = [head for head in table if head not in ("gene", "time")]
    spreads = table[heads].rename(columns=name.format) * 0.1
    path = write(table.rename(columns={h: mean.format(h) for h in heads}).join(spreads))
    message, ways = refused(path, genes_in_rows=in_rows)
    assert "are standard deviations or errors of others" in message
    assert ways == [{"ignore": (name.format("*"),)}]
    found = Expression.of(path, genes_in_rows=in_rows, **ways[0])
    assert found.levels.shape == (len(TIMES), len(NAMES))


def test_a_symmetric_matrix_is_refused_and_a_square_table_is_not(rng, write):
    table = levels(rng, 2, NAMES)
    for values in (table.corr(), 1 - table.corr(), (table.corr() > 0.5).astype(float)):
        message, _ = refused(write(values.rename_axis("gene").reset_index()), genes_in_rows=True)
        assert "12 rows and columns are a symmetric matrix" in message
    knockouts = turned(table, [f"{gene}-" for gene in NAMES])
    assert Expression.of(write(knockouts), genes_in_rows=True).levels.shape == (12, 12)


def test_numbers_that_go_with_no_sample_are_no_sample(rng, write):
    names = [f"G{k}" for k in range(60)]
    mean = rng.normal(5, 2, 60)
    table = pd.DataFrame(2 ** (mean + rng.normal(0, 0.2, (6, 60))).round(3), columns=names)
    table = turned(table, [*"uvwxyz"])
    table["mw"] = rng.integers(20, 900, 60)
    message, ways = refused(write(table), genes_in_rows=True)
    assert "but mw may be none" in message
    assert ways == [{"ignore": ("mw",)}, {"keep": ("mw",)}]
    assert len(Expression.of(write(table), genes_in_rows=True, keep=["mw"]).levels) == 7
    with pytest.raises(ValueError, match="but mw may be none"):
        Expression.of(table.set_index("gene"), genes_in_rows=True)
    with pytest.raises(ValueError, match="neither a column nor a row 'mv' for keep; did you"):
        Expression.of(write(table), genes_in_rows=True, keep=["mw", "mv"])


# ---- values


def test_small_counts_of_cells_are_counts(rng):
    assert guess_scale(rng.poisson(1.5, (60, 40)).astype(float)).scale == "counts"
    assert guess_scale(rng.integers(3, 9, (60, 40)).astype(float)).scale == "levels"


def test_a_failed_sample_and_one_that_is_there_twice_are_pointed_out(rng, write):
    table = course(rng)
    table.iloc[9, 1:] = 0
    table.iloc[4, 1:] = table.iloc[3, 1:]
    with pytest.warns(UserWarning, match=r".") as message:
        Expression.of(write(table))
    text = "\n".join(str(one.message) for one in message)
    assert "1 of 18 samples are 0 in every gene" in text
    assert "(sample 10)" in text
    assert "1 sample is the same as another in every gene" in text


def test_series_with_the_same_values_are_named_once(rng, write):
    made = course(rng, 1)
    nearly = made + np.where(made.columns == "Time", 0, 1e-9)
    table = pd.concat({"a": made, "again": made, "c": nearly}, names=["series"]).reset_index(0)
    sentence = r"^series with the same values as another count once more: again \(as a\); remove"
    for data in (write(table), Expression.of(table)):
        with pytest.warns(UserWarning, match=sentence) as message:
            infer(data, "pcc", rng=0, scale="levels")
        assert len(message) == 1
    done = grn_tvcs("check", write(table))
    assert "once more: again (as a)" in done.output


def test_a_gene_that_is_there_twice_under_two_names_is_pointed_out(rng, write, recwarn):
    table = course(rng)
    assert Expression.of(write(table)).genes == NAMES
    assert "the same numbers" not in " ".join(str(one.message) for one in recwarn)
    table["Jun.1"] = table["Jun"]
    with pytest.warns(UserWarning, match=r"two names \(Jun\.1 is Jun\), .* ignore='Jun\.1'"):
        assert Expression.of(write(table)).genes == (*NAMES, "Jun.1")
    assert Expression.of(write(table), ignore=("Jun.1",)).genes == NAMES


def test_times_that_look_like_numbered_repeats_are_pointed_out(rng, write):
    table = course(rng).iloc[:6]
    table["Time"] = ["0", "0.1", "1", "1.1", "4", "4.1"]
    with pytest.warns(UserWarning, match=r"0, 0\.1, 1.*look like repeats .* in a column replicate"):
        assert len(set(Expression.of(write(table)).series)) == 1
    table["Time"], table["replicate"] = [0, 0, 1, 1, 4, 4], [1, 2] * 3
    assert len(set(Expression.of(write(table)).series)) == 2


def test_a_sample_of_two_series_in_a_sheet_is_not_one_measured_twice(rng, write):
    table = levels(rng, 1)
    table.insert(0, "sample", [f"s{k}" for k in range(6)])
    sheet = write("sample,time,series\n" + "".join(
        f"s{k},{k},{s}\n" for s in "ab" for k in ((0, 1, 2) if s == "a" else (0, 3, 4))
    ), "s.csv")  # fmt: skip
    with pytest.warns(UserWarning, match=r".") as message:
        Expression.of(write(table), samples=sheet)
    assert ["left out 1 sample" in str(one.message) for one in message] == [True]


def test_names_that_differ_in_case_alone_are_pointed_out(write):
    with pytest.warns(UserWarning, match="2 gene names differ from another in case alone"):
        Expression.of(write("Time,Fos,FOS,Jun\n0,1.5,2,3\n1,2,3,1\n", "x.csv"))


@pytest.mark.parametrize(
    "name", ["1-Mar", "2-SEP", "Sep-02", "2021-03-01", "3/1/2021", "01.03.21", "2.31E+13"]
)
def test_names_that_a_spreadsheet_made_are_pointed_out(name, write):
    with pytest.warns(
        UserWarning, match=f"1 gene names look like dates .* of them: {re.escape(name)}$"
    ):
        found = Expression.of(write(f"Time,{name},H2-Ab1,1.3.2\n0,1.5,2,3\n1,2,3,1\n", "x.csv"))
    assert found.genes == (name, "H2-Ab1", "1.3.2")


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
        "text": lambda **o: Expression.of(tmp_path / "x.csv", **o),
        "workbook": lambda **o: Expression.of(tmp_path / "x.xlsx", **o),
        "sheet": lambda **o: Expression.of(tmp_path / "rows.csv", **beside, **o),
        "rows": lambda **o: Expression.of(tmp_path / "rows.csv", genes_in_rows=True, **o),
        "GEO": lambda **o: Expression.of(tmp_path / "GSE1_series_matrix.txt", **o),
        "BEELINE": lambda **o: Expression.of(
            tmp_path / "ExpressionData.csv", pseudotime=tmp_path / "PseudoTime.csv", **o
        ),
        "frame": lambda **o: Expression.of(table, **o),
        "frame beside a sheet": lambda **o: Expression.of(genes, samples=facts, **o),
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
    with pytest.raises(ValueError, match=r"may be none .*give ignore='DepthM'"):
        read()
    assert read(ignore=["DepthM"]).genes == NAMES


def test_an_anndata_and_its_file_take_no_facts_of_samples_for_genes(rng, tmp_path, recwarn):
    anndata = pytest.importorskip("anndata")
    table = course(rng).assign(total_counts=1000.5)
    data = anndata.AnnData(table.drop(columns="Time"))
    data.obs["time"] = table["Time"].to_numpy()
    data.obs["series"] = [*"aaaaaabbbbbbcccccc"]
    data.write_h5ad(tmp_path / "x.h5ad")
    for read in (lambda **o: Expression.of(data, **o),
                 lambda **o: Expression.of(tmp_path / "x.h5ad", **o)):  # fmt: skip
        assert read().genes == NAMES
        assert read(keep=["total_counts"]).genes == (*NAMES, "total_counts")
    assert any("left out total_counts" in str(one.message) for one in recwarn)


def test_steady_states_take_no_facts_of_samples_for_genes(write):
    path = write("gene,A,B,RIN\nA,1,2,8.5\nB,2,1,9\nNTC,2,2,9\nsafe harbor,2,3,8\n", "ko.csv")
    with pytest.warns(UserWarning, match="left out RIN|for the wild type: NTC, safe harbor"):
        found = read_steady_states(knockouts=path)
    assert (found.genes, found.changed) == (("A", "B"), ("", "", "A", "B"))


@pytest.mark.parametrize(("what", "row"), [("sum", np.sum), ("mean", np.mean)])
def test_a_row_that_summarises_all_others_is_pointed_out(rng, write, recwarn, what, row):
    """A row of totals without a time is read as a sample in steady state."""
    table = course(rng)
    Expression.of(write(table))
    assert "of all others" not in " ".join(str(one.message) for one in recwarn)
    numbers = table.select_dtypes("number").columns[1:]
    table.loc[len(table)] = {name: round(row(table[name]), 3) for name in numbers}
    with pytest.warns(UserWarning, match=rf"sample {len(table)} is the {what} of all others, and"):
        Expression.of(write(table))


@pytest.mark.parametrize("n_samples", [6, 8, 9, 12, 15])
@pytest.mark.parametrize("n_values", [2, 3, 4])
def test_few_values_are_at_most_three_and_one_of_three_samples(n_samples, n_values, rng):
    values = rng.normal(8, 2, (n_samples, 60))
    values[:, 5] = np.resize(np.arange(n_values) + 0.123456, n_samples)
    found = odd_signs([f"G{k}" if k != 5 else "total reads of it" for k in range(60)], values)
    is_few = n_values <= 3 and n_values <= n_samples / 3
    assert ("few values, none of them 0" in found[5]) == is_few
    values[0, 5] = 0.0  # another value
    again = odd_signs([f"G{k}" if k != 5 else "total reads of it" for k in range(60)], values)
    n_now = len(np.unique(values[:, 5]))
    assert ("few values" in again[5]) == (n_now <= 3 and n_now <= n_samples / 3)


# ---- what people have beside the measured tables

GENES_OF_COURSE = ("lexA", "recA", "umuD", "uvrA")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([f"{g}_rep{k}" for k in (1, 2) for g in GENES_OF_COURSE], "4 genes with rep1, rep2"),
        ([f"{g}.{k}" for k in "AB" for g in GENES_OF_COURSE], "4 genes with A, B behind"),
        (["lexA", "lexA.1", "recA", "umuD"], "1 gene name looks like a repeat that R or pandas"),
        (["a_rep1", "a_rep2", "b_rep1", "b_rep3"], None),
        (["hoxA1", "hoxA2", "hoxB1", "hoxB2", "hoxC1", "hoxC2"], None),
        (["ZK1.1", "ZK1.2", "F3.1", "F3.2"], None),
    ],
)
def test_one_gene_in_several_columns_is_pointed_out(names, message, rng, write, recwarn):
    frame = pd.DataFrame(rng.normal(8, 1, (4, len(names))), columns=names)
    Expression.of(write(frame.assign(Time=[0, 1, 2, 4]).to_csv(index=False)))
    assert [message in str(w.message) for w in recwarn] == [True] * (message is not None)


def test_a_gene_without_means_of_probes_is_as_good_as_one_with_some(rng):
    values = np.round(rng.normal(10, 2, (18, 12)), 4)
    values[4, 1:] = np.round(rng.normal(10, 2, 11), 9)  # a sample that is a mean of two
    assert not odd_signs([f"g{k}" for k in range(12)], values)
    values[:, 0] = np.round(values[:, 0], 1)
    assert odd_signs([f"g{k}" for k in range(12)], values) == {0: ["other decimals"]}


def test_points_that_may_separate_thousands_are_pointed_out(rng, write, recwarn):
    counts = rng.integers(100, 20_000, (6, 8))
    head = "\t".join(["Time", *"ABCDEFGH"])
    rows = ["\t".join(f"{c:,}".replace(",", ".") for c in row) for row in counts.tolist()]
    path = write("\n".join([head, *(f"{t}\t{row}" for t, row in enumerate(rows))]), "de.tsv")
    Expression.of(path, keep=list("ABCDEFGH"))
    assert ["if the point separates thousands" in str(w.message) for w in recwarn] == [True]
    recwarn.clear()
    levels = pd.DataFrame(np.round(rng.lognormal(6, 1, (6, 8)), 3), columns=list("ABCDEFGH"))
    Expression.of(write(levels.assign(Time=range(6)).to_csv(index=False)))
    assert not recwarn


def test_abundances_beside_counts_and_lengths_are_refused(rng, write):
    names = [f"{unit}.s{k}" for unit in ("abundance", "counts", "length") for k in range(3)]
    table = pd.DataFrame(rng.random((5, 9)), columns=names, index=[f"g{k}" for k in range(5)])
    message, ways = refused(write(table.to_csv()), genes_in_rows=True)
    assert "abundance, counts, length stand side by side" in message
    assert {"ignore": ("counts.*", "length.*")} in ways


def test_cells_with_errors_are_no_words(write):
    path = write("gene,0h,2h\nlexA,1.2 ± 0.1,3.4 ± 0.2\nrecA,2.2 ± 0.1,1.4 ± 0.2\n")
    message, _ = refused(path, genes_in_rows=True)
    assert "a level is one number alone, without a unit, an error or a limit" in message


@pytest.mark.parametrize("names", [["t0_a", "t2_a", "t4_a"], ["g0h_a", "g2h_a", "g4h_a"]])
def test_an_index_that_holds_times_is_pointed_out(names, rng):
    frame = pd.DataFrame(rng.random((3, 4)), columns=list(GENES_OF_COURSE), index=names)
    with pytest.warns(UserWarning, match="a column Time and a column replicate, or samples="):
        assert Expression.of(frame).n_steady == 3


def test_an_anndata_the_other_way_round_is_refused(rng):
    anndata = pytest.importorskip("anndata")
    frame = pd.DataFrame(rng.random((4, 3)), columns=["0h_a", "2h_a", "4h_a"])
    data = anndata.AnnData(frame.set_axis(list(GENES_OF_COURSE)))
    with pytest.raises(ValueError, match=r"obs must hold samples, but seems to name genes.*data.T"):
        Expression.of(data)
    with pytest.warns(UserWarning, match="give times and replicates: columns time and .* of obs"):
        assert Expression.of(data.T).n_steady == 3
    facts = pd.DataFrame({"time": [0, 2, 4]}, index=["a", "b", "c"])
    data = anndata.AnnData(frame.set_axis(list(GENES_OF_COURSE)).to_numpy().T, obs=facts)
    with pytest.raises(ValueError, match=r"for var has a column.*: give data.T; or rename"):
        Expression.of(data.T)

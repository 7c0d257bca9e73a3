"""Names of genes in other files: found however they are written, counted, never guessed."""

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import (
    Expression,
    SteadyStates,
    infer,
    read_prior,
    read_reference,
    read_steady_states,
    score,
)
from grn_tvcs.expression.judge.same_names import same_names
from grn_tvcs.network.edge_files import names_in_edges
from tests.makers.commands import grn_tvcs

ENS = [f"ENSG{k:011d}" for k in range(4)]


def test_each_way_is_counted_and_the_plainest_comes_first():
    genes = ["Fos", "FOS", "Jun", f"{ENS[0]}.4", "GRCh38_TP53", "NM_000546.6", "mm10___Egr1"]
    names = ["FOS", "jun", ENS[0], "TP53", "NM_000546.2", "egr1", "nothing"]
    found = same_names(names, genes)
    assert found.gene_of == {
        "jun": "Jun", ENS[0]: f"{ENS[0]}.4", "NM_000546.2": "NM_000546.6", "TP53": "GRCh38_TP53",
        "egr1": "mm10___Egr1",
    }  # fmt: skip
    assert (found.n_names, found.n_found, found.unclear) == (7, 6, {})
    assert found.describe() == (
        "6 of 7 names are genes: 1 as written, 1 in another case of letters (jun is Jun), 2 "
        f"without their version ({ENS[0]} is {ENS[0]}.4, NM_000546.2 is NM_000546.6), 1 without "
        "the prefix of a species (TP53 is GRCh38_TP53), 1 without version, prefix and case of "
        "letters (egr1 is mm10___Egr1)"
    )
    assert same_names(["FOS", "x"], genes).describe() == ""  # a stranger is counted elsewhere


def test_a_name_that_would_be_several_genes_is_none_and_reported():
    found = same_names(["fos", ENS[0]], ["Fos", "FOS", f"{ENS[0]}.1", f"{ENS[0]}.2"])
    assert found.gene_of == {}
    assert found.unclear == {"fos": ("FOS", "Fos"), ENS[0]: (f"{ENS[0]}.1", f"{ENS[0]}.2")}
    assert found.describe() == (
        "0 of 2 names are genes; 2 would be several genes each and are none: fos (FOS, Fos), "
        f"{ENS[0]} ({ENS[0]}.1, {ENS[0]}.2)"
    )
    assert "1 would be several genes and is none" in same_names(["fos"], ["Fos", "FOS"]).describe()


@pytest.mark.parametrize("name", ["Y74C9A.3", "HLA-DRB1.2", "F28C1.1", "AC0001.5", "T.1"])
def test_what_is_no_version_stays(name):
    assert same_names([name], [name.partition(".")[0], f"{name[:-1]}9"]).gene_of == {}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    levels = np.round(np.exp(rng.normal(4, 1, (12, 4))), 3)
    return pd.DataFrame(levels, columns=[f"{one}.{k}" for k, one in enumerate(ENS)]).assign(
        Time=[0, 1, 2, 4, 8, 24] * 2
    )


NAMES = "gene_id\tgene_name\n" + "".join(
    f"{one}\t{name}\n" for one, name in zip(ENS, ("Fos", "Jun", "Egr1", ""), strict=True)
)
SAID = (
    "3 of 4 genes are called by its names; 1 have no name there (ENSG00000000003.3): these keep "
    "their own (of the identifiers there, 4 of 5 names are genes: 4 without their version "
)
CALLED = ("Fos", "Jun", "Egr1", f"{ENS[3]}.3")


@pytest.mark.filterwarnings("ignore:.*averaged")
def test_a_file_of_names_calls_the_genes_of_any_source(table, tmp_path):
    table.to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    (tmp_path / "names.tsv").write_text(NAMES)
    for data in (tmp_path / "x.tsv", table):
        with pytest.warns(UserWarning, match="genes are called") as message:
            found = Expression.of(data, gene_names=tmp_path / "names.tsv")
        assert found.genes == CALLED
        assert SAID in str(message[0].message)
    anndata = pytest.importorskip("anndata")
    made = anndata.AnnData(
        table[table.columns[:-1]].to_numpy(),
        pd.DataFrame({"time": [*table["Time"]]}, index=[f"s{i}" for i in range(12)]),
        pd.DataFrame(index=table.columns[:-1]),
    )
    with pytest.warns(UserWarning, match=r"genes are called|averaged"):
        assert Expression.of(made, gene_names=tmp_path / "names.tsv").genes == CALLED


@pytest.mark.parametrize(
    ("pairs", "genes", "message"),
    [
        ({"A": "x", "B": "x"}, ("A", "B", "C"), "2 have a name that other genes have too .A, B"),
        ({"A": "B", "C": "y"}, ("A", "B", "y"), "1 have a name that other genes have too .A"),
        ({"C": "NA", "A": "x"}, ("x", "B", "C"), "1 of 3 genes are called.*2 have no name there"),
    ],
)
def test_a_gene_keeps_its_own_name_where_another_would_be_unclear(pairs, genes, message):
    frame = pd.DataFrame(np.arange(9.0).reshape(3, 3) ** 1.5, columns=["A", "B", "C"])
    with pytest.warns(UserWarning, match=message):
        assert Expression.of(frame, gene_names=pairs).genes == genes


def test_a_gene_with_two_names_keeps_its_own(tmp_path):
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2) ** 1.5, columns=["A", "B"])
    (tmp_path / "n.csv").write_text("A,x\nA,y\nB,z\n")
    with pytest.warns(UserWarning, match=r"1 have several names there \(A\)"):
        assert Expression.of(frame, gene_names=tmp_path / "n.csv").genes == ("A", "z")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\nB\n", "must have two columns, identifiers and names of genes, found 1"),
        ("p,q\nr,s\n", r"must name genes of the table .*found none: here stands p, r; there A, B"),
        ("A,x,1\nB,y,2\n", "or one column called name or symbol beside the identifiers; found A"),
    ],
)
def test_a_file_that_names_no_genes_is_refused(tmp_path, text, message):
    (tmp_path / "n.csv").write_text(text)
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2) ** 1.5, columns=["A", "B"])
    with pytest.raises(ValueError, match=message):
        Expression.of(frame, gene_names=tmp_path / "n.csv")
    with pytest.raises(TypeError, match="gene_names must be a file or a mapping"):
        Expression.of(frame, gene_names=3)


def test_a_table_of_transcripts_has_its_names_by_the_heading(tmp_path):
    (tmp_path / "tx2gene.tsv").write_text(
        "transcript_id\tgene_id\tgene_name\nT1\tA\tx\nT2\tA\tx\nT3\tB\ty\n"
    )
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2) ** 1.5, columns=["A", "B"])
    with pytest.warns(UserWarning, match="2 of 2 genes are called by its names"):
        found = Expression.of(frame, gene_names=tmp_path / "tx2gene.tsv")
    assert found.genes == ("x", "y")


@pytest.mark.filterwarnings("default")
def test_the_command_finds_names_in_every_list(table, tmp_path):
    """Names of a file, regulators, prior edges, a reference and knock-outs, none as the table's."""
    table.to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    (tmp_path / "names.tsv").write_text(NAMES)
    (tmp_path / "tfs.txt").write_text("FOS\nJUN\n")
    (tmp_path / "prior.tsv").write_text("FOS\tEGR1\tActivation\t123\n")
    (tmp_path / "true.tsv").write_text("FOS\tJUN\nJUN\tEGR1\n")
    out = table.drop(columns="Time").iloc[:3].set_axis(ENS, axis=1)
    out.insert(0, "gene", ["FOS", "WT", f"{ENS[3]}.7"])
    out.to_csv(tmp_path / "ko.tsv", sep="\t", index=False)
    words = ["--calibrate", "off", "--option", "resamples=2"]
    for option, name in {
        "gene-names": "names.tsv", "regulators": "tfs.txt", "prior": "prior.tsv",
        "reference": "true.tsv", "knockouts": "ko.tsv",
    }.items():  # fmt: skip
        words += [f"--{option}", tmp_path / name]
    done = grn_tvcs("infer", tmp_path / "x.tsv", *words, "--out", tmp_path / "o")
    assert done.exit_code == 0, done.stderr
    assert SAID in done.stderr
    assert "2 of 2 names are genes: 2 in another case of letters (FOS is Fos" in done.stderr
    assert names_in_edges(tmp_path / "o" / "edges.tsv") == sorted(CALLED)


def test_columns_of_steady_states_are_found_among_the_genes(table):
    data = Expression.of(table)
    steady = SteadyStates(np.ones((1, 4)), (ENS[1],), np.array([True]), tuple(ENS))
    with pytest.warns(UserWarning, match="of the genes of steady states, 4 of 4 names are genes"):
        made = steady.of(data.genes)
    assert (made.genes, made.changed) == (data.genes, (f"{ENS[1]}.1",))


def test_a_knock_out_is_found_without_its_version(tmp_path):
    lines = ["gene\tENSG00000000001.4\tB", "ENSG00000000001\t1\t2", "b\t3\t4", "WT\t2\t3"]
    (tmp_path / "ko.tsv").write_text("\n".join(lines) + "\n")
    with pytest.warns(UserWarning, match="read as the gene|wild type"):
        found = read_steady_states(knockouts=tmp_path / "ko.tsv")
    assert found.changed == ("", "B", "ENSG00000000001.4")


@pytest.mark.filterwarnings("default")
def test_a_score_finds_the_genes_of_the_reference(tmp_path):
    (tmp_path / "edges.tsv").write_text("TF\ttarget\timportance\nFos\tJun\t3\nJun\tEgr1\t2\n")
    (tmp_path / "true.tsv").write_text("FOS\tJUN\tActivation\t1\n")
    done = grn_tvcs("score", tmp_path / "edges.tsv", tmp_path / "true.tsv")
    assert done.exit_code == 0, done.stderr
    assert "all pairs of the 3 genes" in done.stderr
    assert "1 of them true; true edges 1 of 6 pairs" in done.stdout


def test_regulators_in_python_are_found_and_counted(table):
    data = Expression.of(table.rename(columns=dict(zip(table.columns[:4], "ABCD", strict=True))))
    with (
        pytest.warns(UserWarning, match="regulators: 2 of 3 names are genes: 1 as written, 1 in"),
        pytest.warns(UserWarning, match="1 of 3 regulators are no genes: x"),
    ):
        found = infer(data, "clr", regulators=["a", "B", "x"], scale="levels")
    assert {edge.regulator for edge in found.edges()} == {"A", "B"}


def test_names_that_are_found_change_no_number(table, tmp_path):
    """A prior list by other names is the prior list."""
    renamed = table.rename(columns=dict(zip(table.columns[:4], "ABCD", strict=True)))
    with pytest.warns(UserWarning, match="genes are called"):
        called = Expression.of(table, gene_names=dict(zip(ENS, "ABCD", strict=True)))
    one, two = (infer(data, "clr", scale="levels") for data in (Expression.of(renamed), called))
    assert one.edges() == two.edges()


@pytest.fixture
def both_names(tmp_path):
    """A table whose rows have an identifier and a name; two names share one identifier."""
    rng = np.random.default_rng(1)
    ids = [f"{one}.{k}" for k, one in enumerate((*ENS, ENS[3]), start=1)]
    rows = zip(ids, "ABCDE", np.round(rng.uniform(0, 9, (5, 12)), 3).astype(str), strict=True)
    head = "\t".join(["gene_id", "gene_name", *(f"s{k}" for k in range(12))])
    lines = [head, *("\t".join([one, name, *levels]) for one, name, levels in rows)]
    path = tmp_path / "both.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.filterwarnings("default")
def test_identifiers_beside_the_names_of_a_table_are_known_in_lists(both_names, tmp_path):
    listed = [ENS[0], f"{ENS[1]}.2", "C", ENS[3]]
    (tmp_path / "tfs.txt").write_text("\n".join(listed) + "\n")
    (tmp_path / "caps.tsv").write_text(f"{ENS[0]}\t1\n")
    (tmp_path / "edges.tsv").write_text(f"{ENS[0]}\tC\n")
    files = {"regulators": "tfs.txt", "out-degrees": "caps.tsv", "reference": "edges.tsv"}
    words = [w for name, file in files.items() for w in (f"--{name}", str(tmp_path / file))]
    done = grn_tvcs(
        "infer", str(both_names), "--genes-in-rows", "--method", "pcc", "--max-edges", "9", *words,
        "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert (
        f"tfs.txt: 3 of 4 names are genes: 1 as written, 2 by gene_id ({ENS[1]}.2 is B, {ENS[0]} "
        f"is A); 1 would be several genes and is none: {ENS[3]} (D, E)" in done.stderr
    )
    assert f"regulators with a cap: 1 of 1 names are genes: 1 by gene_id ({ENS[0]} is A)" in (
        done.stderr
    )
    edges = [line.split("\t") for line in (tmp_path / "out" / "edges.tsv").read_text().splitlines()]
    assert {edge[0] for edge in edges[1:]} == {"A", "B", "C"}
    assert done.stderr.count("by gene_id (") == 3  # once for each file


def test_identifiers_of_an_expression_name_genes_in_python(both_names):
    with pytest.warns(UserWarning, match="genes are named by gene_name"):
        expression = Expression.of(both_names, genes_in_rows=True)
    assert expression.identifiers.columns == ("gene_id",)
    with pytest.warns(UserWarning, match="regulators: 1 of 1 names are genes: 1 by gene_id"):
        network = infer(expression, "pcc", regulators=[ENS[1]], scale="levels", max_edges=2)
    assert {edge.regulator for edge in network.edges()} == {"B"}
    edges = pd.DataFrame({"source": [ENS[0]], "target": [ENS[2]]})
    for read in (read_prior, read_reference):
        with pytest.warns(UserWarning, match="2 of 2 names are genes: 2 by gene_id"):
            found = read(edges, expression.genes, expression.identifiers)
        assert "1 edge" in repr(found)


@pytest.mark.parametrize(("heads", "first"), [("ABCDE", ENS[1]), (ENS, "B")])
def test_knockouts_are_called_by_identifiers(both_names, tmp_path, heads, first):
    with pytest.warns(UserWarning, match="genes are named by gene_name"):
        known = Expression.of(both_names, genes_in_rows=True).identifiers
    known = known._replace(pairs=frozenset((one.split(".")[0], gene) for one, gene in known.pairs))
    levels = "\t".join(["1.5"] * len(heads))
    path = tmp_path / "ko.tsv"
    path.write_text("\t".join(["changed", *heads]) + f"\nWT\t{levels}\n{first}\t{levels}\n")
    with pytest.warns(UserWarning, match="read as the gene|wild type"):
        states = read_steady_states(knockouts=path, identifiers=known)
    assert states.changed[1] == heads[1]


def test_gene_names_and_anndata_keep_the_identifiers(table, tmp_path):
    (tmp_path / "names.tsv").write_text(NAMES)
    with pytest.warns(UserWarning, match="3 of 4 genes are called by its names"):
        renamed = Expression.of(table, gene_names=tmp_path / "names.tsv")
    assert (f"{ENS[0]}.0", "Fos") in renamed.identifiers.pairs
    anndata = pytest.importorskip("anndata")
    var = pd.DataFrame({"gene_ids": list(ENS)}, index=["Fos", "Jun", "Egr1", "Myc"])
    obs = pd.DataFrame(index=[f"c{k}" for k in range(len(table))])
    found = Expression.of(anndata.AnnData(table[table.columns[:4]].to_numpy(), obs=obs, var=var))
    assert found.identifiers.columns == ("gene_ids",)
    assert (ENS[3], "Myc") in found.identifiers.pairs


@pytest.mark.filterwarnings("always")
def test_a_network_is_scored_by_the_identifiers_beside_its_genes(table, tmp_path):
    genes = ["Fos", "Jun", "Egr1", "Tp53"]
    turned = table[table.columns[:-1]].T
    turned.insert(0, "gene_name", genes)
    turned.to_csv(tmp_path / "x.tsv", sep="\t", index_label="gene_id")
    (tmp_path / "true.tsv").write_text(f"{ENS[0]}\t{ENS[1]}\n{ENS[2]}\t{ENS[1]}\n")
    made = grn_tvcs(
        "infer", tmp_path / "x.tsv", "--genes-in-rows", "--method", "pcc", "--out", tmp_path / "o"
    )
    assert made.exit_code == 0, made.stderr
    found = grn_tvcs("score", tmp_path / "o" / "edges.tsv", tmp_path / "true.tsv", "--json")
    assert '"n_edges": 2' in found.stdout, found.stderr
    assert "by gene_id" in found.stderr
    with pytest.warns(UserWarning, match="named by gene_name|heads of samples count from"):
        network = infer(tmp_path / "x.tsv", "pcc", genes_in_rows=True)
    with pytest.warns(UserWarning, match="of 3 names are genes: 3 by gene_id"):
        assert score(network, tmp_path / "true.tsv").n_edges == 2
    (tmp_path / "o" / "run.json").write_text('{"genes": ["Fos", "Jun"], "identifiers": [1]}')
    bad = grn_tvcs("score", tmp_path / "o" / "edges.tsv", tmp_path / "true.tsv")
    assert "run.json: must list columns, and pairs of identifier and gene" in bad.stderr

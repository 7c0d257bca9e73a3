"""Every format that is written and read keeps score and sign, or is refused with what to do."""

import warnings

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import FORMATS, Network, read_network, read_prior, write_edges, write_network
from grn_tvcs.network.edge_files import read_reference
from grn_tvcs.network.edge_table import write_reference
from grn_tvcs.network.export import LEFT_OUT
from tests.makers.commands import grn_tvcs
from tvcs_core import DataError

GENES = ("A", "B", "C", "D")
SIGNS = {("A", "B"): "+", ("B", "C"): "-", ("A", "D"): "?", ("D", "C"): "+"}
SCORES = {("A", "B"): 0.9, ("B", "C"): 0.7, ("A", "D"): 0.5, ("D", "C"): 0.3}


@pytest.fixture
def network():
    scores, signs = np.zeros((4, 4)), np.zeros((4, 4), np.int8)
    for (a, b), score in SCORES.items():
        at = GENES.index(a), GENES.index(b)
        scores[at], signs[at] = score, {"+": 1, "-": -1, "?": 0}[SIGNS[a, b]]
    return Network.of(GENES, scores, signs)


def known(network):
    edges = network.edges()
    return (
        {(e.regulator, e.target): e.score for e in edges},
        {(e.regulator, e.target): e.sign for e in edges},
    )


KEEPS_BOTH = ("arboreto", "beeline", "edge-table", "decoupler", "celloracle")
NO_LIST = {
    "graphml": "found XML, such as GraphML .*; give edges.tsv, from which it was written",
    "cyjs": "found JSON, such as Cytoscape's .*; give edges.tsv, from which it was written",
    "cytoscape-style": "found XML",
    "sif": "is SIF, .* and no scores; give edges.tsv",
    "celloracle-base": "is a base GRN of CellOracle, which has neither scores nor signs; give",
}


def test_every_format_is_here():
    assert {*KEEPS_BOTH, *NO_LIST, "dream"} == set(FORMATS)
    assert set(LEFT_OUT) == {"dream", "sif", "celloracle-base"}


@pytest.mark.parametrize("door", ["edges.tsv", *KEEPS_BOTH, "networkx", "frame", "links"])
def test_scores_and_signs_come_back(door, network, tmp_path):
    path = tmp_path / "n.csv"
    if door == "networkx":
        again = Network.from_networkx(network.to_networkx())
    else:
        if door == "edges.tsv":
            write_edges(network, path)
        elif door in ("frame", "links"):
            frame = network.to_decoupler() if door == "frame" else network.to_celloracle()
            frame.to_csv(path)  # with pandas' numbers of rows
        else:
            write_network(network, path, door)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing is lost, so nothing is warned of
            again = read_network(path)
    assert known(again) == (SCORES, SIGNS)


def test_dream_keeps_scores_and_has_no_signs(network, tmp_path):
    write_network(network, tmp_path / "n.tsv", "dream")
    assert known(read_network(tmp_path / "n.tsv")) == (SCORES, dict.fromkeys(SIGNS, "?"))


@pytest.mark.parametrize("name", NO_LIST)
@pytest.mark.parametrize("door", [read_network, read_prior, read_reference])
def test_what_is_no_list_of_edges_is_refused_with_the_remedy(name, door, network, tmp_path):
    write_network(network, tmp_path / "n.txt", name)
    with pytest.raises(DataError, match=NO_LIST[name]) as refused:
        door(tmp_path / "n.txt", GENES)
    assert "write regulator, target and perhaps" in str(refused.value)


@pytest.mark.parametrize("door", ["edges.tsv", *KEEPS_BOTH])
def test_a_file_of_ours_is_a_prior_with_its_weights_and_signs(door, network, tmp_path):
    if door == "edges.tsv":
        write_edges(network, tmp_path / "n.csv")
    else:
        write_network(network, tmp_path / "n.csv", door)
    prior = read_prior(tmp_path / "n.csv", GENES)
    for (a, b), score in SCORES.items():
        at = GENES.index(a), GENES.index(b)
        assert prior.weights[at] == score
        assert prior.signs[at] == {"+": 1, "-": -1, "?": 0}[SIGNS[a, b]]


def test_a_reference_keeps_its_signs(network, tmp_path):
    write_reference(network, tmp_path / "gold.tsv")
    assert known(read_reference(tmp_path / "gold.tsv", GENES))[1] == SIGNS


def test_an_anndata_keeps_scores_and_signs(network):
    anndata = pytest.importorskip("anndata")
    var = pd.DataFrame(index=list(network.genes))
    data = network.to_anndata(anndata.AnnData(np.zeros((2, len(var)), dtype=np.float32), var=var))
    assert known(Network.from_anndata(data)) == (SCORES, SIGNS)


LINKS = """,source,target,coef_mean,coef_abs,p,-logp
0,A,B,0.21,0.21,1e-4,4
1,B,C,-0.11,0.11,.01,2
"""


@pytest.mark.parametrize(
    ("text", "scores", "signs"),
    [
        (LINKS, [0.21, 0.11], "+-"),  # CellOracle
        ('"regulatoryGene" "targetGene" "weight"\n"1" "A" "B" 0.42\n"2" "B" "C" 0.31\n',
         [0.42, 0.31], "??"),  # GENIE3 by R's write.table
        ("source,target,weight\nA,B,2\nB,C,-1\n", [2, 1], "+-"),  # decoupler
        ("source,target,weight\nA,B,2\nB,C,1\n", [2, 1], "??"),
        ("tf\tconfidence\ttarget\tmor\nA\tA\tB\t1\nB\tB\tC\t-1\n", [1, 1], "+-"),  # DoRothEA
        ("Gene1\tGene2\tEdgeWeight\nA\tB\t.5\nB\tC\t-.4\n", [0.5, 0.4], "+-"),
        ("TF,target,importance,regulation,rho\nA,B,3,1,.4\nB,C,2,-1,-.3\n", [3, 2], "+-"),
        ("A\tB\tActivation\nB\tC\tRepression\n", [1, 1], "+-"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*so every edge has the score 1")
def test_networks_of_others_keep_score_and_sign(text, scores, signs, tmp_path):
    (tmp_path / "n.csv").write_text(text)
    edges = read_network(tmp_path / "n.csv").edges()
    ends = [(e.regulator, e.target) for e in sorted(edges, key=lambda e: e.regulator)]
    assert ends == [("A", "B"), ("B", "C")]
    assert [e.score for e in sorted(edges, key=lambda e: e.regulator)] == scores
    assert "".join(e.sign for e in sorted(edges, key=lambda e: e.regulator)) == signs


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("A\tB\tActivation\t123;456\nB\tC\tUnknown\t7\nA\tC\tRepression\t8\n", (1, 0, -1)),
        ("A\tB\tActivation\nB\tC\tActivation\nA\tC\tRepression\n", (1, 1, -1)),
        ("A\tB\t+\nB\tC\t+-\nA\tC\t-\n", (1, 0, -1)),
        ("tf\tconfidence\ttarget\tmor\nA\tA\tB\t1\nB\tA\tC\t1\nA\tB\tC\t-1\n", (1, 1, -1)),
        ("source,target,weight\nA,B,1\nB,C,1\nA,C,-1\n", (1, 1, -1)),
    ],
)
def test_a_prior_of_a_database_loses_neither_its_first_row_nor_its_signs(text, signs, tmp_path):
    (tmp_path / "prior.tsv").write_text(text)
    prior = read_prior(tmp_path / "prior.tsv", GENES)
    assert (prior.signs[0, 1], prior.signs[1, 2], prior.signs[0, 2]) == signs
    assert prior.n_edges == 3


def test_two_signs_of_one_edge_are_refused(tmp_path):
    (tmp_path / "n.csv").write_text("source,target,weight,sign\nA,B,-2,+\n")
    with pytest.raises(DataError, match=r"csv:2, column 'sign': says activation, but the score"):
        read_network(tmp_path / "n.csv")


def test_a_matrix_is_refused_with_the_remedy(tmp_path):
    (tmp_path / "m.csv").write_text('"","A","B","C"\n"A",0,.4,0\n"B",0,0,.1\n"C",.3,0,0\n')
    with pytest.raises(DataError, match=r"is a matrix of genes x genes.*m\.stack\(\)"):
        read_network(tmp_path / "m.csv", GENES)
    matrix = pd.read_csv(tmp_path / "m.csv", index_col=0)
    for name, turned in (("rows", matrix), ("columns", matrix.T)):
        turned.stack().to_csv(tmp_path / f"{name}.csv", header=False)
    with pytest.warns(UserWarning, match="left out 3 edges of a gene on itself"):
        found = [read_network(tmp_path / f"{name}.csv", GENES) for name in ("rows", "columns")]
    rows, columns = ({(e.regulator, e.target): e.score for e in one.edges()} for one in found)
    assert rows == {("A", "B"): 0.4, ("B", "C"): 0.1, ("C", "A"): 0.3}
    assert columns == {(target, regulator): score for (regulator, target), score in rows.items()}


def test_convert_and_score_take_the_genes_that_files_name(tmp_path):
    (tmp_path / "links.csv").write_text(LINKS)
    words = ["convert", tmp_path / "links.csv", "--to", "sif", "--out", tmp_path / "n.sif"]
    done = grn_tvcs(*words)
    assert done.exit_code == 0
    assert "2 edges among 3 genes that EDGES names written to" in done.stderr
    assert "sif has no place for scores" in done.stderr
    assert (tmp_path / "n.sif").read_text() == "A\tactivates\tB\nB\trepresses\tC\n"
    (tmp_path / "gold.tsv").write_text("A\tB\nA\tD\n")
    done = grn_tvcs("score", words[1], tmp_path / "gold.tsv")
    assert done.exit_code == 0
    assert "all pairs of the 4 genes in EDGES and REFERENCE count" in done.stderr
    assert "true edges 2 of 12 pairs" in done.stdout


@pytest.mark.parametrize(
    ("reference", "genes", "message"),
    [
        ("", None, "the file is empty"),
        ("p\tq\n", None, "must name genes of EDGES, found none: it names p, q, and EDGES A, B"),
        ("A\tB\n", "A,B,C\n", "genes.txt: must name one gene per line, found the line 'A,B,C'"),
    ],
)  # fmt: skip
def test_a_reference_of_other_genes_is_no_reference(reference, genes, message, tmp_path):
    (tmp_path / "edges.tsv").write_text("regulator\ttarget\tscore\nA\tB\t0.9\n")
    (tmp_path / "ref.tsv").write_text(reference)
    words = ["score", tmp_path / "edges.tsv", tmp_path / "ref.tsv"]
    if genes:
        (tmp_path / "genes.txt").write_text(genes)
        words += ["--genes", tmp_path / "genes.txt"]
    done = grn_tvcs(*words)
    assert done.exit_code == 2
    assert message in done.stderr

"""Every format that is written and read keeps score and sign, or is refused with what to do."""

import json
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from grn_tvcs import FORMATS, Network, read_network, read_prior, write_edges, write_network
from grn_tvcs.network.edge_files import read_reference
from grn_tvcs.network.edge_table import write_reference
from grn_tvcs.network.evidence import CODES
from grn_tvcs.network.export import LEFT_OUT
from grn_tvcs.network.pairs import EXTRA, KINDS
from tests.makers.commands import check_done, check_refused, grn_tvcs
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


@pytest.fixture
def rich(network):
    """The same with all that may be known of edges, of which three are selected."""
    scores = network.scores
    return Network.of(
        GENES, scores, network.signs, stability=scores / 2, own=scores > 0.4,
        evidence=np.where(scores > 0, CODES["series+knock-out"], 0),
        confidence=scores / 2, false_discovery=np.where(scores > 0, 1 - scores / 2, 1.0),
        undirected=(scores > 0.8) | (scores.T > 0.8),
    ).select_top(3)  # fmt: skip


def known(network):
    edges = network.edges()
    return (
        {(e.regulator, e.target): e.score for e in edges},
        {(e.regulator, e.target): e.sign for e in edges},
    )


def graph_in(path):
    """The graph of a file of GraphML or of Cytoscape."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".graphml":
        return nx.read_graphml(path)
    return nx.cytoscape_graph(json.loads(text))


@pytest.mark.parametrize("door", ["edges.tsv", "networkx", "n.graphml", "n.cyjs", "anndata"])
def test_all_that_is_known_of_edges_comes_back(door, rich, tmp_path):
    path, edges = tmp_path / door, rich.edges(selected_only=True)
    if door == "edges.tsv":
        write_edges(rich, path)
        again, edges = read_network(path, GENES), rich.edges()
        assert list(rich.to_frame().columns) == path.read_text().splitlines()[0].split("\t")
        has_score = rich.scores > 0
        for name in KINDS:
            found, given = getattr(again, name), getattr(rich, name)
            assert np.array_equal(found[has_score], given[has_score]), name
        assert "verdict: not recorded; 0 edges have a confidence of 0.5 or more\n" in str(again)
    elif door == "anndata":
        anndata = pytest.importorskip("anndata")
        data = anndata.AnnData(np.zeros((2, 4), np.float32), var=pd.DataFrame(index=GENES))
        assert rich.to_anndata(data) is data
        data.write_h5ad(tmp_path / "x.h5ad")
        again = Network.from_anndata(anndata.read_h5ad(tmp_path / "x.h5ad"))
        assert again.to_frame()["stability"].tolist() == [0.45, 0.35, 0.25]
    else:
        if door != "networkx":
            write_network(rich, path, path.suffix[1:])
        graph = rich.to_networkx() if door == "networkx" else graph_in(path)
        again = Network.from_networkx(graph)
        node = {"in_degree": 1, "out_degree": 0, "is_regulator": False}
        assert {name: graph.nodes["D"][name] for name in node} == node
        facts = dict(graph.edges["B", "C"])
        assert {name: facts[name] for name in (*EXTRA, "interaction", "rank")} == {
            "stability": 0.35, "own": True, "evidence": "series+knock-out",
            "confidence": 0.35, "false_discovery": 0.65, "undirected": False,
            "interaction": "represses", "rank": 2,
        }  # fmt: skip
    assert again.genes == GENES
    assert again.edges() == edges


@pytest.mark.parametrize("name", ["edges.tsv", "n.graphml"])
def test_facts_that_are_not_known_leave_no_column(name, network, tmp_path):
    path = tmp_path / name
    write_edges(network, path) if name == "edges.tsv" else write_network(network, path, "graphml")
    assert not [fact for fact in EXTRA if fact in path.read_text()]


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


@pytest.mark.parametrize("door", [*KEEPS_BOTH, "frame", "links"])
def test_scores_and_signs_come_back(door, network, tmp_path):
    path = tmp_path / "n.csv"
    if door in ("frame", "links"):
        frame = network.to_decoupler() if door == "frame" else network.to_celloracle()
        frame.to_csv(path)  # with pandas' numbers of rows
    else:
        write_network(network, path, door)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost, so nothing is warned of
        again = read_network(path)
    assert known(again) == (SCORES, SIGNS)


@pytest.mark.parametrize("is_file", [False, True])
def test_the_frame_of_a_network_is_read_back_with_all_that_is_known(is_file, rich, tmp_path):
    frame = rich.to_frame()
    if is_file:
        frame.to_csv(tmp_path / "n.csv", index=False)
    again = read_network(tmp_path / "n.csv" if is_file else frame, GENES)
    assert again.edges() == rich.edges()


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
        ("TF\ttarget\timportance\nA\tB\t2.5\nB\tC\t1\n", [2.5, 1], "??"),
        ("A,B,2.5\nB,C,1\n", [2.5, 1], "??"),
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


def test_a_matrix_is_refused_with_the_remedy(tmp_path):
    for corner in ("gene", ""):
        (tmp_path / "m.csv").write_text(f"{corner},A,B,C\nA,0,.4,0\nB,0,0,.1\nC,.3,0,0\n")
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
    done = check_done(grn_tvcs(*words))
    assert "2 edges among 3 genes that EDGES names written to" in done.stderr
    assert "sif has no place for scores" in done.stderr
    assert (tmp_path / "n.sif").read_text() == "A\tactivates\tB\nB\trepresses\tC\n"
    (tmp_path / "gold.tsv").write_text("A\tB\nA\tD\n")
    done = check_done(grn_tvcs("score", words[1], tmp_path / "gold.tsv"))
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
    assert message in check_refused(grn_tvcs(*words))

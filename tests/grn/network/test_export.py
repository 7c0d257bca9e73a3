import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grn_tvcs import FORMATS, Network, read_network, write_edges, write_network
from tests.makers.commands import grn_tvcs
from tvcs_core.files.spreadsheet import shield, unshield

GENES = ("B", "A", "NA", "007", "=1+1", "-x", "'=y", '<b>"&', "a,b", "gene one")
RANKINGS = ("dream", "arboreto", "beeline")


@pytest.fixture
def network():
    rng = np.random.default_rng(1)
    shape = (len(GENES), len(GENES))
    scores = rng.uniform(size=shape) * (rng.uniform(size=shape) < 0.7)
    np.fill_diagonal(scores, 0.0)
    signs = np.where(scores > 0.5, 1, np.where(scores > 0.2, -1, 0)) * (scores > 0)
    return Network.of(GENES, scores, signs).select_top(20)


def test_edges_tsv_holds_no_formula_and_every_name_comes_back(network, tmp_path):
    write_edges(network, tmp_path / "edges.tsv")
    frame = pd.read_csv(tmp_path / "edges.tsv", sep="\t", keep_default_na=False)
    for cell in [*frame["regulator"], *frame["target"]]:
        assert cell[0] not in "=+-@"
    assert read_network(tmp_path / "edges.tsv", GENES).edges() == network.edges()


@given(st.text(max_size=6) | st.from_regex(r"'*[=+\-@]['0-9a-z=]*", fullmatch=True))
def test_a_shielded_name_comes_back_and_is_no_formula(name):
    assert unshield(shield(name)) == name
    assert shield(name)[:1] not in ("=", "@", "\t", "\r")


@pytest.mark.parametrize("name", RANKINGS)
def test_a_ranking_comes_back_from_the_formats_of_others(name, network, tmp_path):
    write_network(network, tmp_path / "n.tsv", name)
    again = read_network(tmp_path / "n.tsv", GENES)
    assert np.array_equal(again.scores, network.scores)
    assert np.array_equal(again.signs, network.signs * (name != "dream"))


def test_arboreto_writes_commas_into_a_csv_file(network, tmp_path):
    write_network(network, tmp_path / "adj.csv", "arboreto")
    frame = pd.read_csv(tmp_path / "adj.csv", keep_default_na=False)
    assert list(frame.columns) == ["TF", "target", "importance", "sign"]
    assert frame["importance"].is_monotonic_decreasing
    assert np.array_equal(read_network(tmp_path / "adj.csv", GENES).scores, network.scores)


def test_cytoscape_json_has_the_surest_edge_first(network, tmp_path):
    write_network(network, tmp_path / "n.cyjs", "cyjs")
    graph = json.loads((tmp_path / "n.cyjs").read_text())
    edges = [(one["data"]["source"], one["data"]["target"]) for one in graph["elements"]["edges"]]
    assert edges == [(e.regulator, e.target) for e in network.edges(selected_only=True)]
    assert nx.utils.graphs_equal(
        nx.DiGraph(nx.cytoscape_graph(graph).edges), nx.DiGraph(network.to_networkx().edges)
    )


def test_dream_has_no_header_no_own_edges_and_scores_up_to_one(network, tmp_path):
    large = Network.of(network.genes, network.scores * 40, network.signs)
    write_network(large, tmp_path / "dream.tsv", "dream")
    rows = [line.split("\t") for line in (tmp_path / "dream.tsv").read_text().splitlines()]
    assert {len(row) for row in rows} == {3}
    assert [(a, b) for a, b, _ in rows] == [(e.regulator, e.target) for e in network.edges()]
    assert all(a != b for a, b, _ in rows)
    scores = [float(score) for *_, score in rows]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1


def test_a_column_evidence_of_another_program_is_its_own(tmp_path):
    (tmp_path / "n.tsv").write_text("TF\ttarget\timportance\tevidence\nA\tB\t2\tStrong\n")
    network = read_network(tmp_path / "n.tsv", GENES)
    assert network.evidence is None
    assert len(network.edges()) == 1


def test_sif_names_the_relation_and_lists_lonely_genes(tmp_path):
    scores = np.zeros((4, 4))
    scores[0, 1], scores[1, 2], scores[2, 0] = 3, 2, 1
    signs = np.sign([[0, 1, 0, 0], [0, 0, -1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    write_network(Network.of(("a\tb", "c", "d", "e"), scores, signs), tmp_path / "n", "sif")
    assert (tmp_path / "n").read_text().splitlines() == [
        "a b\tactivates\tc",
        "c\trepresses\td",
        "d\tregulates\ta b",
        "e",
    ]


@pytest.mark.parametrize("name", ["sif", "dream"])
def test_names_that_a_format_cannot_tell_apart_are_refused(name, tmp_path):
    network = Network.of(("a b", "a\tb"), 1 - np.eye(2))
    with pytest.raises(ValueError, match="same name: a b"):
        write_network(network, tmp_path / "n", name)


def test_a_plain_graph_is_a_network():
    plain = Network.from_networkx(nx.DiGraph([(1, 2), (2, 3)]))
    assert plain.genes == ("1", "2", "3")
    assert plain.scores.sum() == 2
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=-3.0)
    edge = Network.from_networkx(graph).edges()[0]
    assert (edge.score, edge.sign) == (3, "-")
    for graph in (nx.Graph([(1, 2)]), nx.MultiDiGraph([(1, 2)])):
        with pytest.raises(ValueError, match=r"networkx\.DiGraph"):
            Network.from_networkx(graph)
    with pytest.raises(ValueError, match="itself"):
        Network.from_networkx(nx.DiGraph([(1, 1)]))


@pytest.mark.parametrize("name", FORMATS)
def test_convert_writes_every_format_and_replaces_only_on_request(name, network, tmp_path):
    write_edges(network, tmp_path / "edges.tsv")
    (tmp_path / "run.json").write_text(json.dumps({"genes": GENES}))
    words = ["convert", tmp_path / "edges.tsv", "--to", name, "--out", tmp_path / "out.txt"]
    words = list(map(str, words))
    write_network(network, tmp_path / "direct", name)
    assert grn_tvcs(*words).exit_code == 0
    assert (tmp_path / "out.txt").read_bytes() == (tmp_path / "direct").read_bytes()
    refused = grn_tvcs(*words)
    assert refused.exit_code == 2
    assert grn_tvcs(*words, "--force").exit_code == 0


def test_an_unknown_format_is_refused(network, tmp_path):
    with pytest.raises(ValueError, match=r"format must be one of dream, arboreto.*found 'xlsx'"):
        write_network(network, tmp_path / "n", "xlsx")
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"weight": "high"}, "weight of the edge A -> B must be a number, found 'high'"),
        ({"score": None}, "score of the edge A -> B must be a number, found None"),
        ({"weight": float("nan")}, "score of the edge A -> B must be finite and >= 0, found nan"),
        ({"score": -1}, "score of the edge A -> B must be finite and >= 0, found -1"),
        ({"sign": "up"}, r"sign of the edge A -> B must be one of \+, -, \?, found 'up'"),
        ({"sign": -1}, r"sign of the edge A -> B must be one of \+, -, \?, found -1"),
        ({"confidence": "high", "false_discovery": 0.1}, "confidence must be an array of real num"),
    ],
)
def test_a_graph_is_refused_by_what_an_edge_holds(facts, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        Network.from_networkx(nx.DiGraph([("A", "B", facts)]))


@pytest.mark.parametrize("graph", [None, [("A", "B")], "network.graphml"])
def test_what_is_no_graph_is_refused(graph):
    with pytest.raises(TypeError, match=r"^graph must be a networkx\.DiGraph, found"):
        Network.from_networkx(graph)


def test_convert_does_not_write_over_what_it_reads(network, tmp_path):
    write_edges(network, tmp_path / "edges.tsv")
    before = (tmp_path / "edges.tsv").read_bytes()
    (tmp_path / "genes.txt").write_text("\n".join(GENES))
    words = ["edges.tsv", "--to", "sif", "--out", "edges.tsv", "--force", "--genes", "genes.txt"]
    paths = [str(tmp_path / word) if "." in word else word for word in words]
    done = grn_tvcs("convert", *paths)
    assert (done.exit_code, "must be another file than EDGES" in done.stderr) == (2, True)
    assert (tmp_path / "edges.tsv").read_bytes() == before

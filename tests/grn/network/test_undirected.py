"""Undirected pairs: one edge each, in caps, counts, files and drawings."""

import csv

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

from grn_tvcs import Network, Rules, read_network
from grn_tvcs.network.edge_table import write_edges
from grn_tvcs.network.export import write_network
from grn_tvcs.network.pairs import undirected_pairs
from grn_tvcs.report.explorer import explorer
from grn_tvcs.report.layout import draw

N = 12
GENES = tuple(f"G{i:02d}" for i in range(N))


def drawn_network(rng, share=0.5):
    """Scores of which a share of the pairs is undirected."""
    scores = rng.gamma(0.5, size=(N, N))
    np.fill_diagonal(scores, 0.0)
    undirected = np.triu(rng.uniform(size=(N, N)) < share, 1)
    undirected |= undirected.T
    scores = np.where(
        undirected, np.maximum(scores, scores.T) * rng.uniform(0.6, 1, (N, N)), scores
    )
    return Network.of(GENES, scores, undirected=undirected)


def readings(network, rng):
    """Degrees of the selected edges, undirected ones read one way or the other at random."""
    for _ in range(20):
        ins, outs = np.zeros(N, int), np.zeros(N, int)
        for i, j in zip(*np.nonzero(network.selected), strict=True):
            a, b = (j, i) if network.undirected[i, j] and rng.uniform() < 0.5 else (i, j)
            outs[a] += 1
            ins[b] += 1
        yield ins, outs


def best_sum(network, rules):
    """The largest sum of scores under the caps, by integer programming."""
    caps = rules.constraint(network.genes)
    ways = [
        (i, j)
        for i in range(N)
        for j in range(N)
        if i != j
        and not (
            network.undirected[i, j] and (network.scores[j, i], -i) > (network.scores[i, j], -j)
        )
    ]
    limits = np.zeros((2 * N + 1, len(ways)))
    for k, (i, j) in enumerate(ways):
        for a, b in {(i, j), (j, i)} if network.undirected[i, j] else {(i, j)}:
            limits[a, k] = limits[N + b, k] = 1
        limits[2 * N, k] = 1
    most = [*caps.row_caps, *caps.col_caps, caps.total]
    values = np.array([network.scores[way] for way in ways])
    found = milp(-values, integrality=np.ones(len(ways)), bounds=(0, 1),
                 constraints=LinearConstraint(limits, ub=most))  # fmt: skip
    return -found.fun


def test_caps_hold_whichever_way_undirected_edges_are_read():
    rng = np.random.default_rng(0)
    for _ in range(40):
        network = drawn_network(rng)
        caps = [int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 30))]
        network = network.select_under_caps(Rules(*caps))
        assert 0 < network.n_selected <= caps[2]
        assert not (network.selected & network.selected.T & network.undirected).any()
        assert network.in_degrees.max() <= caps[0]
        assert network.out_degrees.max() <= caps[1]
        for ins, outs in readings(network, rng):
            assert (ins <= network.in_degrees).all()
            assert (outs <= network.out_degrees).all()


def test_edges_from_the_surest_down_add_up_to_nearly_the_most():
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(40):
        network, rules = drawn_network(rng), Rules(2, 3, int(rng.integers(4, 24)))
        kept = network.select_under_caps(rules)
        best = best_sum(network, rules)
        parts.append(kept.scores[kept.selected].sum() / best)
    assert max(parts) <= 1 + 1e-9
    assert min(parts) > 0.9
    assert np.mean(parts) > 0.98


def test_a_number_of_edges_alone_takes_the_surest_pairs_and_each_once():
    network = drawn_network(np.random.default_rng(2), share=1.0)
    pairs = np.sort(np.maximum(network.scores, network.scores.T)[np.triu_indices(N, 1)])[::-1]
    for found in (network.select_under_caps(Rules(max_edges=15)), network.select_top(15)):
        assert found.n_selected == found.n_undirected == 15
        assert np.sort(found.scores[found.selected])[::-1] == pytest.approx(pairs[:15])
    assert network.n_scored == N * (N - 1) / 2


def test_a_hub_at_its_cap_leaves_room_for_other_edges():
    scores = np.triu(np.ones((N, N)), 1)
    scores[0] *= 5 + np.arange(N)
    scores = np.maximum(scores, scores.T)
    network = Network.of(GENES, scores, undirected=scores > 0)
    found = network.select_under_caps(Rules(1, 1, 4))
    assert found.n_selected == 4
    assert found.in_degrees.tolist().count(1) == 8


def test_ways_that_score_alike_are_undirected():
    scores = np.array([[0, 4, 4, 0], [3, 0, 1, 0], [1, 1, 0, 2], [0, 0, 0, 0.0]])
    network = Network.of(GENES[:4], scores)
    allowed = ~np.eye(4, dtype=bool)
    found = undirected_pairs(network.pairs, allowed)
    assert np.argwhere(found).tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    allowed[1, 0] = False  # only one way may be an edge, so it has a direction
    assert np.argwhere(undirected_pairs(network.pairs, allowed)).tolist() == [[1, 2], [2, 1]]
    allowed[1, 2] = False
    assert undirected_pairs(network.pairs, allowed) is None


def test_confidences_of_an_undirected_pair_are_one_edge_of_the_verdict():
    chances = np.array([[0, 0.9, 0.6], [0.8, 0, 0.2], [0.1, 0.1, 0]])
    undirected = np.zeros((3, 3), bool)
    undirected[0, 1] = undirected[1, 0] = True
    one = Network.of(GENES[:3], chances, confidence=chances, undirected=undirected).with_verdict()
    two = Network.of(GENES[:3], chances, confidence=chances).with_verdict()
    assert (one.verdict.n_edges, two.verdict.n_edges) == (2, 3)
    assert one.verdict.expected_true == pytest.approx(1.5)
    assert one.verdict.n_scored == 5


@pytest.fixture
def small():
    """A - B undirected, A -> C."""
    scores = np.array([[0, 3, 2], [2.5, 0, 0], [0, 0, 0.0]])
    undirected = np.zeros((3, 3), bool)
    undirected[0, 1] = undirected[1, 0] = True
    network = Network.of(("A", "B", "C"), scores, undirected=undirected)
    return network.select_under_caps(Rules(max_edges=2))


def test_files_hold_an_undirected_pair_once(small, tmp_path):
    write_edges(small, tmp_path / "edges.tsv")
    with (tmp_path / "edges.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [(r["regulator"], r["target"], r["selected"], r["undirected"]) for r in rows] == [
        ("A", "B", "1", "1"), ("B", "A", "0", "1"), ("A", "C", "1", "0"),
    ]  # fmt: skip
    again = read_network(tmp_path / "edges.tsv")
    assert np.array_equal(again.undirected, small.undirected)
    assert np.array_equal(again.selected, small.selected)
    write_network(small, tmp_path / "network.sif", "sif")
    lines = (tmp_path / "network.sif").read_text().splitlines()
    assert lines == ["A\tassociated-with\tB", "A\tregulates\tC"]
    write_network(small, tmp_path / "network.graphml", "graphml")
    graph = nx.read_graphml(tmp_path / "network.graphml")
    assert {(a, b): facts["interaction"] for a, b, facts in graph.edges(data=True)} == {
        ("A", "B"): "associated-with", ("A", "C"): "regulates",
    }  # fmt: skip
    assert graph.edges["A", "B"]["undirected"] is True
    assert np.array_equal(
        Network.from_networkx(small.to_networkx()).undirected[0], small.undirected[0]
    )


def test_a_drawing_has_one_line_without_an_arrow(small):
    nodes, lines = draw(small.edges(selected_only=True))
    assert [line.kind for line in lines] == ["associated-with", "regulates"]
    assert [node.is_regulator for node in nodes] == [True, True, False]
    columns = explorer(small, nodes)["edges"]
    assert (columns["selected"], columns["undirected"]) == ("101", "110")

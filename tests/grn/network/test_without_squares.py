"""Files, graphs and scores over regulators x targets give what the same over all genes gives."""

import csv
import tracemalloc
from contextlib import contextmanager

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression, Network, infer, read_network, read_reference, score, write_edges
from grn_tvcs.network.edge_table import write_reference
from grn_tvcs.network.scores import CUTS, PAIRS
from grn_tvcs.report.explorer import truth
from tests.makers.networks import over_all_genes, random_network, random_reference

MANY = 4000
SQUARE = MANY**2  # bytes: of flags, the smallest kind of number


@contextmanager
def less_than_a_square():
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < SQUARE


def test_letters_of_a_report_are_those_over_all_genes():
    rows, columns = (part.ravel() for part in np.indices((9, 9)))
    for seed in range(10):
        network, reference = random_network(seed), random_reference(seed)
        for pairs in PAIRS:
            judged = score(network, reference, pairs=pairs)
            message = truth(network, reference, judged, rows, columns)
            assert message == truth(network, over_all_genes(reference), judged, rows, columns)


def test_a_network_read_is_over_its_regulators_and_targets(tmp_path):
    for seed in range(10):
        network = random_network(seed)
        known = network.replace(
            stability=np.random.default_rng(seed).uniform(size=network.pairs.shape).round(3),
            confidence=network.pairs.scores / 2, false_discovery=1 - network.pairs.scores / 2,
            own=network.pairs.scores > 0.5,
        )  # fmt: skip
        write_edges(known, tmp_path / "edges.tsv")
        again = read_network(tmp_path / "edges.tsv", known.genes)
        assert set(again.pairs.regulators) <= set(known.pairs.regulators)
        assert set(again.pairs.targets) <= set(known.pairs.targets)
        has_score = known.scores > 0
        for name in ("scores", "selected"):
            assert np.array_equal(getattr(again, name), getattr(known, name))
        for name in ("signs", "stability", "own", "confidence", "false_discovery"):
            found, given = getattr(again, name), getattr(known, name)
            assert found[has_score] == pytest.approx(given[has_score], rel=1e-5)
            assert (found[~has_score] == (name == "false_discovery")).all()


def test_an_edge_without_a_score_and_a_file_without_edges_are_read(tmp_path):
    header = "regulator\ttarget\tscore\tselected\tstability\n"
    (tmp_path / "edges.tsv").write_text(header + "A\tB\t0\t1\t.5\nB\tC\t2\t1\t\n")
    network = read_network(tmp_path / "edges.tsv", [*"ABC"])
    assert network.selected.sum() == 1
    assert np.isnan(network.stability).all()
    (tmp_path / "edges.tsv").write_text(header)
    nothing = read_network(tmp_path / "edges.tsv", [*"ABC"])
    assert nothing.edges() == []
    assert nothing.select_top(2).n_scored == 0
    assert nothing.scores.shape == (3, 3)


def test_of_many_genes_a_file_of_edges_is_read_and_scored_without_a_square(tmp_path, rng):
    genes = [f"G{j:04d}" for j in range(MANY)]
    lines = [(genes[i], genes[j], f"{rng.uniform():.6g}") for i in (1, 7) for j in range(8, 2000)]
    with (tmp_path / "edges.tsv").open("w", newline="") as file:
        csv.writer(file, delimiter="\t").writerows(lines)
    edges = [(int(i), int(j)) for i, j in rng.integers(0, 60, (80, 2)) if i != j]
    (tmp_path / "true.tsv").write_text("".join(f"{genes[i]}\t{genes[j]}\n" for i, j in set(edges)))
    with less_than_a_square():
        network = read_network(tmp_path / "edges.tsv", genes)
        reference = read_reference(tmp_path / "true.tsv", genes)
        for cut in CUTS:
            for pairs in PAIRS:
                found = score(network.select_top(100), reference, pairs=pairs, cut=cut)
                assert found.n_edges == len(set(edges))
        truth(network, reference, found, *np.nonzero(network.pairs.selected))
        write_reference(reference, tmp_path / "again.tsv")
    assert score(network, reference).n_pairs == MANY * (MANY - 1)


def test_graphs_and_anndata_of_many_genes_are_read_without_a_square():
    anndata = pytest.importorskip("anndata")
    graph = nx.DiGraph()
    graph.add_nodes_from(range(MANY))
    graph.add_edge(3, 9, score=2.5, sign="-", evidence="series")
    graph.add_edge(4, 9, weight=-1.5)
    var = pd.DataFrame(index=[str(i) for i in range(MANY)])
    data = anndata.AnnData(np.ones((2, MANY)), var=var)
    with less_than_a_square():
        network = Network.from_networkx(graph)
        again = Network.from_anndata(network.to_anndata(data))
    for found in (network, again):
        result = [(e.regulator, e.target, e.score, e.sign, e.selected) for e in found.edges()]
        assert result == [("3", "9", 2.5, "-", True), ("4", "9", 1.5, "-", True)]


def random_series(n_points, n_genes):
    values = np.random.default_rng(0).uniform(1.0, 2.0, (n_points, n_genes))
    genes = tuple(f"G{i}" for i in range(n_genes))
    return Expression(values, np.arange(n_points, dtype=float), ("A",) * n_points, genes)


def test_the_model_of_the_paper_is_solved_over_regulators_x_targets():
    table, genes = random_series(8, MANY), [f"G{i}" for i in range(MANY)]
    infer(table, "tvcs-plain", regulators=genes[:2], targets=genes[:3], rng=0)  # loads its modules
    with less_than_a_square():
        network = infer(table, "tvcs-plain", regulators=genes[:3], max_in_degree=1, rng=0)
    assert network.pairs.shape == (3, MANY)
    assert 0 < network.n_scored <= MANY


def test_the_model_of_the_paper_does_not_depend_on_how_all_genes_are_named():
    table, genes = random_series(12, 7), [f"G{i}" for i in range(7)]
    caps = {"max_out_degree": {"G1": 0, "G4": 1}, "max_edges": 5}
    whole = infer(table, "tvcs-plain", rng=0, **caps)
    named = infer(table, "tvcs-plain", regulators=genes, targets=genes, rng=0, **caps)
    assert np.array_equal(whole.scores, named.scores)
    some = infer(table, "tvcs-plain", regulators=genes[1:5], rng=0, **caps)
    assert not some.scores[0].any()
    assert not some.scores[1].any()
    assert np.count_nonzero(some.scores[4]) <= 1
    assert some.n_scored == 5

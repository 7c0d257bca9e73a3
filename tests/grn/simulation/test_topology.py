import numpy as np
import pytest

from grn_tvcs.simulation.topology import MAX_IN_DEGREE, _make_room, grow, read_topology
from tvcs_core import DataError


@pytest.mark.parametrize("seed", range(5))
def test_grown_networks_have_the_edges_asked_for_degree_limits_and_hubs(seed):
    network = grow(60, 90, rng=seed)
    assert network.scores.sum() == 90
    assert network.in_degrees.max() <= MAX_IN_DEGREE
    assert network.out_degrees.max() >= 3 * 90 / 60
    assert (network.in_degrees + network.out_degrees > 0).all()
    assert set(network.signs[network.scores > 0].tolist()) == {-1, 1}


@pytest.mark.parametrize("seed", range(3))
def test_all_limits_hold_together(seed):
    network = grow(40, max_in_degree=3, max_out_degree=5, min_regulators=20, rng=seed)
    assert network.scores.sum() == 64
    assert network.in_degrees.max() <= 3
    assert network.out_degrees.max() <= 5
    assert (network.out_degrees > 0).sum() >= 20


@pytest.mark.parametrize("seed", range(20))
def test_the_fullest_network_fits(seed):
    full = grow(6, 30, max_in_degree=5, min_regulators=6, rng=seed)
    assert full.scores.sum() == 30
    tight = grow(9, 18, max_in_degree=2, max_out_degree=2, min_regulators=9, rng=seed)
    assert set(tight.in_degrees) == set(tight.out_degrees) == {2}


def test_every_gene_may_regulate_and_a_pair_is_the_smallest_network():
    assert (grow(10, 10, min_regulators=10, rng=0).out_degrees == 1).all()
    assert grow(2, rng=0).scores.sum() == 2
    assert grow(2, 1, rng=0).scores.sum() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_genes": 1}, "n_genes must be >= 2, found 1"),
        ({"n_genes": 5, "n_edges": 21}, r"n_edges must be in \[4, 16\]"),
        ({"n_genes": 5, "min_regulators": 6}, "min_regulators must be <= the number of genes, 5"),
        ({"n_genes": 5, "n_edges": 2, "min_regulators": 3}, r"n_edges must be in \[3, "),
        ({"n_genes": 5, "max_in_degree": 0}, "max_in_degree must be >= 1"),
        ({"n_genes": 9, "n_edges": 10, "max_out_degree": 1}, r"n_edges must be in \[5, 5\]"),
    ],
)
def test_what_cannot_be_grown_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        grow(**arguments)


def read(tmp_path, text):
    path = tmp_path / "topology.tsv"
    path.write_text(text)
    return read_topology(path)


def test_genes_come_in_the_order_of_their_numbers_and_zero_is_no_edge(tmp_path):
    found = read(tmp_path, "regulator\ttarget\tsign\nG10\tG2\t-\nG2\tG1\t+\nG1\tG9\t0\nG2\tG9\t1\n")
    assert found.genes == ("G1", "G2", "G9", "G10")
    edges = {(e.regulator, e.target): e.sign for e in found.edges()}
    assert edges == {("G10", "G2"): "-", ("G2", "G1"): "+", ("G2", "G9"): "?"}


def test_two_columns_have_no_signs(tmp_path):
    found = read(tmp_path, "a,b\nb,c\n")
    assert [e.sign for e in found.edges()] == ["?", "?"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\tx\n", r":1: a sign must be one of \+ - \? 1 -1 0, or a word .*, found 'x'"),
        ("a\tb\t+\nb\tb\t+\n", ":2: a gene must not regulate itself, but b does"),
        ("a\tb\t+\nc\tb\t+\na\tb\t-\n", ":3: the edge a -> b is in line 1 too"),
        ("a\tb\t0\n", "a topology must have an edge"),
        ("a\tb\t+\t1\n", "a topology must have 2 or 3 columns, found 4"),
        ("a\t\t+\n", ":1: a gene must have a name"),
        ("regulator\ttarget\n", "a topology must have an edge"),
        ("TF\tgene\na\tb\n", "name of a column, found gene; if the first line is a header"),
        ("Time\ta\n", "name of a column, found Time"),
        ("a\tb\na\tb\tc\n", ":2: must have 2 cells"),
    ],
)
def test_bad_topologies_are_refused_with_their_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, text)


def test_growing_is_seeded():
    assert np.array_equal(grow(20, rng=1).signs, grow(20, rng=1).signs)
    assert not np.array_equal(grow(20, rng=1).signs, grow(20, rng=2).signs)


def test_one_edge_makes_room_for_two_where_only_one_can():
    edges = np.zeros((3, 3), dtype=bool)
    edges[0, 1] = edges[1, 0] = True  # 2 may neither regulate nor be regulated but by a swap
    loops = np.eye(3, dtype=bool)
    loops[1, 2] = True
    _make_room(edges, loops, 1, 1)
    assert np.argwhere(edges).tolist() == [[0, 2], [1, 0], [2, 1]]
    with pytest.raises(ValueError, match="the edges do not fit into the degrees"):
        _make_room(edges, loops, 1, 1)
    alone = np.array([[False, True], [False, False]])
    with pytest.raises(ValueError, match="do not fit"):
        _make_room(alone, ~alone, 1, 1)

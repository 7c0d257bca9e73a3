"""The drawing of a network."""

import os
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from grn_tvcs.report.layout import spring_layout


def test_a_network_in_parts_is_drawn_the_same_way_by_every_process():
    script = (
        "from grn_tvcs import Edge\n"
        "from grn_tvcs.report.layout import draw\n"
        "pairs = [('A', 'B'), ('B', 'C'), ('C', 'A'), ('D', 'E'), ('F', 'G'), ('G', 'H')]\n"
        "print(draw([Edge(r, t, 1.0, '+', 1, True) for r, t in pairs]))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(said) == 1


@pytest.mark.parametrize("seed", range(4))
def test_springs_place_genes_as_those_of_networkx_do(seed):
    rng = np.random.default_rng(seed)
    graph = nx.random_labeled_tree(int(rng.integers(2, 60)), seed=seed)
    graph.add_edges_from(rng.choice(len(graph), (len(graph) // 2, 2)).tolist())
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    length = 2.4 / np.sqrt(len(graph))
    placed = nx.spring_layout(graph, k=length, iterations=300, seed=0, scale=None)
    places = np.array([placed[node] for node in graph])
    ours = spring_layout(nx.to_numpy_array(graph) > 0, length, 300)
    np.testing.assert_allclose(ours, places - places.mean(axis=0), atol=1e-9)

"""Topologies of all kinds."""

import numpy as np
import pytest

from grn_tvcs.evidence.hubs import concentration
from grn_tvcs.simulation.kinds import ACTIVATING, KINDS, MAX_IN_DEGREE, draw_topology


def edge_by_edge(kind, n_genes, rng):
    """The slow twin: each edge is one of all free pairs, with the chance of its regulator."""
    n_regulators, pull = KINDS[kind](n_genes, rng)
    regulators = rng.permutation(n_genes)[: max(1, min(n_genes, round(n_regulators)))]
    edges = np.zeros((n_genes, n_genes), dtype=bool)
    for _ in range(round(rng.uniform(1, 2.6) * n_genes)):
        free = np.zeros_like(edges)
        free[regulators] = True
        np.fill_diagonal(free, False)
        free &= ~edges
        free[:, edges.sum(axis=0) >= MAX_IN_DEGREE] = False
        weight = free * ((edges.sum(axis=1) + 1.0) ** pull)[:, None]
        weight /= np.maximum(free.sum(axis=1), 1)[:, None]
        if not weight.any():
            break
        edges.flat[rng.choice(edges.size, p=weight.ravel() / weight.sum())] = True
    return edges, np.where(rng.random(edges.shape) < ACTIVATING, 1, -1) * edges


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_genes", [2, 5, 17, 40])
def test_a_topology_is_the_one_drawn_from_all_free_pairs(kind, n_genes):
    for seed in range(4):
        made = draw_topology(kind, n_genes, np.random.default_rng(seed))
        edges, signs = edge_by_edge(kind, n_genes, np.random.default_rng(seed))
        assert np.array_equal(made.scores > 0, edges)
        assert np.array_equal(made.signs, signs)


@pytest.mark.parametrize("kind", KINDS)
def test_only_candidates_regulate_and_degrees_are_bounded(kind):
    candidates = np.array([3, 7, 8, 20])
    for seed in range(5):
        edges = draw_topology(kind, 30, np.random.default_rng(seed), candidates).scores > 0
        assert set(np.flatnonzero(edges.any(axis=1))) <= set(candidates)
        assert edges.any()
        assert edges.sum() <= 2.6 * 30
        assert edges.sum(axis=0).max() <= MAX_IN_DEGREE


def test_kinds_differ_in_how_far_few_regulators_have_all_targets():
    found = {
        kind: np.median(
            [
                concentration(
                    draw_topology(kind, 100, np.random.default_rng(seed)).scores.sum(axis=1)
                )
                for seed in range(7)
            ]
        )
        for kind in KINDS
    }
    assert 1 < found["flat"] < 2.5
    assert found["flat"] < found["mid"] < found["hub"] < found["star"]
    assert found["star"] > 30

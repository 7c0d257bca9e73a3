"""Pairs of conditions: as many edges differ as asked, and nothing else does."""

import numpy as np
import pytest

from benchmarks.learning.condition_pairs import _changed, draw_pair
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.kinds import KINDS, draw_topology
from grn_tvcs.simulation.kinetics import draw_kinetics

DESIGN = Design(12, 12, 2, 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_a_share_of_the_edges_differs(kind, share):
    pair = draw_pair(DESIGN, kind, share, 5)
    n_edges = int((pair.before.scores > 0).sum())
    assert pair.is_changed.sum() == max(1, round(share * n_edges))
    assert not pair.is_changed.diagonal().any()
    assert pair.a.genes == pair.b.genes == pair.before.genes
    assert pair.a.values.shape == pair.b.values.shape == (8, 12)
    assert max(pair.a.values.max(), pair.b.values.max()) == 1


def test_without_a_share_both_networks_are_the_same_and_the_series_are_not():
    pair = draw_pair(DESIGN, "mid", 0.0, 3)
    assert not pair.is_changed.any()
    assert (pair.a.values != pair.b.values).any()
    moved = draw_pair(DESIGN, "mid", 0.0, 3, moved=1.0)
    assert not moved.is_changed.any()
    assert (moved.b.values != pair.b.values).any()


def test_the_same_seed_draws_the_same_pair():
    one, again, other = (draw_pair(DESIGN, "hub", 0.2, seed) for seed in (1, 1, 2))
    assert one.b.values.tobytes() == again.b.values.tobytes()
    assert (one.is_changed == again.is_changed).all()
    assert (one.b.values != other.b.values).any()


@pytest.mark.parametrize("seed", range(12))
def test_a_change_leaves_all_other_edges_and_genes_as_they_were(seed):
    rng = np.random.default_rng(seed)
    before = draw_kinetics(draw_topology("mid", 10, rng), seed)
    touched = set()
    after = _changed(before, touched, rng)
    [(source, target)] = touched
    for j, (one, other) in enumerate(zip(before.genes, after.genes, strict=True)):
        assert (one is other) == (j != target)
    is_same = before.network.signs == after.network.signs
    assert np.argwhere(~is_same).tolist() == [[source, target]]
    gene = after.genes[target]
    assert gene.alphas.size == 2 ** len(gene.modules)
    assert ((gene.alphas >= 0) & (gene.alphas <= 1)).all()
    assert before.genes[target].half_lives == gene.half_lives

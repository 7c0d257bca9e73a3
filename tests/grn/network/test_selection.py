"""Edges under caps: those of the projection of a table of all genes."""

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Network, Rules
from grn_tvcs.network.pairs import Pairs
from tvcs_core import TVCS, project

N = 40
GENES = tuple(f"G{i:02d}" for i in range(N))
KINDS = ("plain", "ties", "hubs", "sparse", "equal", "tiny")


def scores_of(kind, rng):
    scores = rng.gamma(0.5, size=(N, N))
    if kind == "ties":
        scores = rng.integers(0, 4, (N, N)).astype(float)
    elif kind == "hubs":
        scores *= rng.gamma(0.3, size=(N, 1)) ** 2
    elif kind == "sparse":
        scores *= rng.uniform(size=(N, N)) < 0.05
    elif kind == "equal":
        scores[:] = 1.0
    elif kind == "tiny":
        scores = scores.round(2) * 1e-12 + (rng.uniform(size=(N, N)) < 0.01)
    scores[rng.integers(0, N)] = 0.0
    np.fill_diagonal(scores, 0.0)
    return scores


def rules_of(rng):
    """Caps of every kind, some of them 0 and some by name."""

    def some(most, share):
        return int(rng.integers(0, most)) if rng.uniform() < share else None

    out = some(N, 0.5)
    if rng.uniform() < 0.3:
        out = {gene: int(rng.integers(0, 6)) for gene in rng.permutation(GENES)[:15]}
    names = {
        kind: frozenset(rng.permutation(GENES)[: rng.integers(1, N)].tolist())
        for kind in ("regulators", "targets")
        if rng.uniform() < 0.5
    }
    return Rules(some(8, 0.7), out, some(200, 0.7), **names)


def by_projection_of_all(network, rules):
    """Return the edges by the definition."""
    genes = network.genes
    constraint = TVCS.matrix(
        (len(genes), len(genes)), row_caps=rules.out_caps(genes), col_caps=rules.max_in_degree,
        total=rules.max_edges, allowed=rules.allowed(genes),
    )  # fmt: skip
    return project(np.sqrt(network.scores), constraint).support & (network.scores > 0)


@pytest.mark.parametrize("kind", KINDS)
def test_selected_are_the_edges_of_the_projection_of_all_pairs(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(25):
        network, rules = Network.of(GENES, scores_of(kind, rng)), rules_of(rng)
        found = network.select_under_caps(rules).selected
        assert np.array_equal(found, by_projection_of_all(network, rules)), rules


def test_pairs_of_few_regulators_are_selected_as_in_the_whole_square():
    rng = np.random.default_rng(4)
    for kind in KINDS:
        scores = scores_of(kind, rng)
        regulators = np.sort(rng.permutation(N)[:9])
        targets = np.sort(rng.permutation(N)[:31])
        is_in = np.zeros((N, N), bool)
        is_in[np.ix_(regulators, targets)] = True
        square = Network.of(GENES, np.where(is_in, scores, 0.0))
        part = scores[np.ix_(regulators, targets)]
        lean = Network(
            GENES, Pairs(regulators, targets, part, np.zeros(part.shape, np.int8), part > 0)
        )
        for _ in range(5):
            rules = Rules(int(rng.integers(1, 5)), int(rng.integers(1, 9)), int(rng.integers(80)))
            assert np.array_equal(
                lean.select_under_caps(rules).selected, square.select_under_caps(rules).selected
            )


def test_a_selection_by_anything_but_rules_or_a_number_is_refused(tmp_path):
    network = Network.of(("A", "B"), [[0, 1], [0.5, 0]])
    with pytest.raises(TypeError, match="rules must be a Rules, found dict"):
        network.select_under_caps({"max_edges": 1})
    with pytest.raises(TypeError, match=r"n_edges must be an integer, found 1\.5"):
        network.select_top(1.5)
    with pytest.raises(TypeError, match="regulators must be a list of names, found 'tfs"):
        Rules(regulators="tfs.txt")
    with pytest.raises(TypeError, match="give one column of it"):
        Rules(regulators=pd.DataFrame({"TF": ["A"]}))
    with pytest.raises(ValueError, match="found an empty list"):
        Rules(targets=[])
    assert Rules(max_out_degree=pd.Series({"A": 0})) == Rules(max_out_degree={"A": 0})
    with pytest.raises(
        ValueError, match="max_out_degree must have one value of each name, found two"
    ):
        Rules(max_out_degree=pd.Series([1, 2], index=["A", "A"]))

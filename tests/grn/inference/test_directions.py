"""Which pairs `infer` calls undirected, and what it says of them."""

from dataclasses import replace

import numpy as np
import pytest

from grn_tvcs import Expression, SteadyStates, infer
from grn_tvcs.inference.directions import describe_undirected, without_direction
from grn_tvcs.inference.inputs import Inputs
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.network.rules import Rules
from grn_tvcs.report.methods_text import methods_paragraph

GENES = tuple("ABCDEFGH")


@pytest.fixture(scope="module")
def at_rest():
    """Two pairs that go together, at rest."""
    rng = np.random.default_rng(0)
    values = rng.gamma(4.0, size=(40, len(GENES)))
    values[:, 1] = values[:, 0] * rng.uniform(0.9, 1.1, 40)
    values[:, 3] = values[:, 2] * rng.uniform(0.8, 1.2, 40)
    none = np.empty((0, len(GENES)))
    return Expression(none, np.empty(0), (), GENES, steady_values=values, scale="levels")


def inputs(data, steady=None, prior=None):
    return Inputs(data, Rules(), Rules().candidates(GENES), steady, prior)


@pytest.mark.parametrize("method", ["clr", "genie3", "combined"])
def test_at_rest_a_pair_is_one_edge(at_rest, method):
    options = {"calibrate": 0} if method == "combined" else {}
    network = infer(at_rest, method, max_edges=2, rng=0, **options)
    pairs = {frozenset((e.regulator, e.target)) for e in network.edges(selected_only=True)}
    assert pairs == {frozenset("AB"), frozenset("CD")}
    assert network.n_undirected == 2
    assert describe_undirected(network).startswith("2 of the 2 selected edges are undirected")
    text = methods_paragraph(network, Provenance(at_rest, Rules(2), method, seed=0))
    assert "2 of the 2 selected edges are undirected" in text


def test_a_list_of_regulators_a_perturbed_gene_or_a_prior_gives_a_direction(at_rest):
    network = infer(at_rest, "spearman", regulators=["A", "C"], max_edges=2, rng=0)
    assert network.undirected[0, 2]
    assert not network.undirected[0, 1]
    whole = infer(at_rest, "genie3", max_edges=2, rng=0)
    steady = SteadyStates(np.ones((1, len(GENES))), ("A",), np.array([True]), GENES)
    pairs = replace(whole.pairs, undirected=None)
    found = without_direction(pairs, inputs(at_rest, steady=steady), "genie3")
    assert not found[0].any()
    assert not found[:, 0].any()
    assert found[2, 3]
    assert found[3, 2]
    weights = np.zeros((len(GENES), len(GENES)))
    weights[2, 3] = 1.0
    found = without_direction(pairs, inputs(at_rest, prior=Prior(GENES, weights)), "genie3")
    assert found[0, 1]
    assert not found[2, 3]
    assert not found[3, 2]


def test_lags_and_probabilities_of_series_have_a_direction():
    rng = np.random.default_rng(1)
    values = np.exp(np.cumsum(rng.normal(0, 0.3, (24, len(GENES))), axis=0))
    series = tuple(name for name in "pqr" for _ in range(8))
    data = Expression(values, np.tile(np.arange(8.0), 3), series, GENES, scale="levels")
    for method in ("tvcs", "lagged-correlation", "dyngenie3"):
        assert infer(data, method, rng=0).undirected is None
    network = infer(data, "clr", rng=0)
    assert network.undirected.sum() == network.scores.astype(bool).sum()
    chances = replace(network.pairs, undirected=None, confidence=np.full((8, 8), 0.5))
    assert without_direction(chances, inputs(data), "combined") is None

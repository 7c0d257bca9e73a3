"""Memory goes with regulators x genes: no array of all pairs of genes is made on the way."""

import gc
import tracemalloc

import numpy as np
import pytest

from grn_tvcs import Expression, SteadyStates, infer
from grn_tvcs.combine import evidence_scores
from grn_tvcs.evidence import correlation
from grn_tvcs.evidence.decomposition import partial_information
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.prior import ListedEdges, Prior

N_GENES, N_REGULATORS = 4000, 2
FEWER = {  # which look at every pair of genes, or grow forests
    "clr": 2200, "aracne": 2200, "mrnet": 2200, "pidc": 2200, "genie3": 2200, "dyngenie3": 2200,
}  # fmt: skip


def inferred(method, n_genes, **options):
    """A network of walks, with knock-outs and, where the method takes them, prior edges."""
    rng = np.random.default_rng(0)
    levels = 1 + np.abs(rng.normal(0, 0.1, (14, n_genes)).cumsum(axis=0))
    genes = tuple(f"G{j:04d}" for j in range(n_genes))
    times, series = np.tile(np.arange(7.0), 2), ("a",) * 7 + ("b",) * 7
    table = Expression(levels, times, series, genes, scale="levels")
    changed, is_out = ("", *genes[:3], genes[9]), np.array([0, 1, 1, 0, 1], bool)
    if METHODS[method].takes_steady_states:
        options["steady"] = SteadyStates(levels[::3], changed, is_out, genes)
    if METHODS[method].takes_prior:
        edges = ListedEdges(np.array([0, 1]), np.array([1, 7]), np.ones(2), np.ones(2, np.int8))
        options["prior"] = Prior.of_edges(genes, edges, None)
    return infer(table, method, rng=0, regulators=genes[:N_REGULATORS], **options)


@pytest.mark.parametrize(
    "method",
    [
        "combined", "tvcs", "knock-outs", "pcc",
        "spearman", "clr", "aracne", "mrnet", "pidc", "partial-correlation", "lagged-correlation",
        pytest.param("genie3", marks=pytest.mark.slow),
        pytest.param("dyngenie3", marks=pytest.mark.slow), "tigress",
    ],
)  # fmt: skip
def test_no_square_of_all_genes_is_made(method, monkeypatch):
    n_genes = FEWER.get(method, N_GENES)
    monkeypatch.setattr(correlation, "CHUNK_SIZE", 20 * n_genes)
    monkeypatch.setattr(evidence_scores, "TREES_LARGE", 1)
    monkeypatch.setattr(partial_information, "MAX_THIRD_GENES", 20)  # an array of genes x these
    options = {
        "combined": {"resamples": 2, "calibrate": 0},
        "tvcs": {"resamples": 2},
        "aracne": {"targets": ["G0005", "G0030"], "tolerance": 1.0},
        "mrnet": {"targets": ["G0005", "G0030"]},
        "genie3": {"trees": 1},
        "dyngenie3": {"trees": 1},
        "tigress": {"splits": 1},
    }.get(method, {})
    inferred(method, 50, **options)  # first uses load modules and compiled code
    looked = gc.get_threshold()
    gc.set_threshold(700)  # as outside the tests: forests of scikit-learn leave circles
    tracemalloc.start()
    try:
        network = inferred(method, n_genes, **options)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.set_threshold(*looked)
    assert network.pairs.shape == (N_REGULATORS, len(options.get("targets", network.genes)))
    assert network.pairs.n_scored > 0
    assert peak < n_genes**2  # bytes: of flags, the smallest kind of number

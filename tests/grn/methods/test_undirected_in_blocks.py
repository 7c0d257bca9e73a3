"""Methods without direction over regulators x targets, beside the same over all genes at once.

`test_baselines` holds the latter to plain loops.
"""

import numpy as np
import pytest

from grn_tvcs import Expression, Network, Rules
from grn_tvcs.evidence import correlation, mutual_information
from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.mutual_information import MutualInformation
from grn_tvcs.methods import aracne
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.ranking import significant

N = 23


UNDIRECTED = ("pcc", "spearman", "clr", "aracne", "mrnet", "pidc")
SOME = (2, 9, 11), (3, 5, 9, 21)


def table(kind):
    rng = np.random.default_rng(4)
    levels = np.abs(rng.normal(size=(12, N)) @ rng.normal(size=(N, N)))
    if kind == "ties":
        levels = rng.integers(0, 3, (12, N)).astype(float)
    levels[:, 5] = 2.0
    genes = tuple(f"G{j:02d}" for j in range(N))
    return Expression(levels, np.arange(12.0), ("1",) * 12, genes, scale="levels")


@pytest.mark.parametrize("kind", ["levels", "ties"])
@pytest.mark.parametrize("method", UNDIRECTED)
def test_scores_and_signs_are_those_of_all_genes_at_once(method, kind, monkeypatch):
    made = table(kind)
    whole = METHODS[method](made, Rules(), None).pairs
    for is_many in (False, True):
        if is_many:  # for all their pairs
            monkeypatch.setattr(correlation, "MAX_FULL_MATRIX", 0)
            monkeypatch.setattr(mutual_information, "MAX_FULL_MATRIX", 0)
            monkeypatch.setattr(correlation, "CHUNK_SIZE", 3 * N)
            monkeypatch.setattr(aracne, "TILE", 2 * N)
        for regulators, targets in ((range(N), range(N)), ((0, 3, 5, 22), range(N)), SOME):
            named = ({made.genes[k] for k in at} for at in (regulators, targets))
            pairs = METHODS[method](made, Rules(None, None, None, *named), None).pairs
            scores, signs = (
                part[np.ix_(regulators, targets)] for part in (whole.scores, whole.signs)
            )
            if method == "pcc" and is_many:  # each pair is summed by itself
                sure = scores > 1e-12
                assert pairs.scores == pytest.approx(scores, abs=1e-15)
                assert np.array_equal(pairs.signs[sure], signs[sure])
                # What `infer` keeps.
                assert kind == "ties" or np.array_equal(
                    significant(pairs.scores, 6), significant(scores, 6)
                )
            else:
                assert pairs.scores.tobytes() == scores.tobytes()
                assert np.array_equal(pairs.signs, signs)


def test_of_many_genes_a_correlation_depends_on_its_pair_alone(monkeypatch, rng):
    monkeypatch.setattr(correlation, "MAX_FULL_MATRIX", 0)
    levels = rng.normal(size=(37, N))
    whole = correlation.correlation(levels)
    assert np.array_equal(whole, whole.T)
    for rows, columns in (([4], range(N)), ([1, 4, 9], [4, 8]), (range(N), [0])):
        part = correlation.correlation(levels, np.array(rows), np.array(columns))
        assert np.array_equal(part, whole[np.ix_(rows, columns)])


def test_information_is_kept_only_where_all_pairs_are_few(monkeypatch, rng):
    rho = RankCorrelations(rng.normal(size=(9, N)))
    rows = np.array([3, 3, 0, 7])
    kept = MutualInformation(rho).of(rows)
    monkeypatch.setattr(mutual_information, "MAX_FULL_MATRIX", 0)
    assert np.array_equal(MutualInformation(rho).of(rows), kept)


def test_a_network_of_few_regulators_and_targets_holds_their_pairs_alone():
    made = table("levels")
    rules = Rules(regulators={"G01", "G02"}, targets={"G01", "G07", "G09"})
    for method in UNDIRECTED:
        network = METHODS[method](made, rules, None)
        assert isinstance(network, Network)
        assert network.pairs.shape == (2, 3)
        assert network.pairs.scores[0, 0] == 0

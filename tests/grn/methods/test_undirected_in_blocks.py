"""Methods without direction over regulators x targets, beside the same over all genes at once."""

import numpy as np
import pytest

from grn_tvcs import Expression, Network, Rules
from grn_tvcs.evidence import correlation, mutual_information
from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.decomposition.partial_information import pidc_scores
from grn_tvcs.evidence.mutual_information import MutualInformation
from grn_tvcs.evidence.mutual_information import mutual_information as information_of
from grn_tvcs.methods import aracne
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.ranking import significant
from tests.reference import rank_correlation

N = 23


def dense_pcc(levels):
    x = correlation.unit_columns(levels)
    r = x.T @ x
    np.fill_diagonal(r, 0.0)
    return np.abs(r), r


def dense_spearman(levels):
    rho = rank_correlation(levels)
    return np.abs(rho), rho


def dense_clr(levels):
    rho = rank_correlation(levels)
    information, others = information_of(rho), max(len(rho) - 1, 1)
    mean = information.sum(axis=0) / others
    away = information - mean
    np.fill_diagonal(away, 0.0)
    sd = np.sqrt((away * away).sum(axis=0) / max(others - 1, 1))
    z = np.clip(away / np.where(sd > 1e-12 * mean, sd, np.inf), 0.0, None)
    return np.hypot(z, z.T), rho


def dense_aracne(levels):
    rho = rank_correlation(levels)
    information = information_of(rho)
    through = np.zeros_like(information)
    for k in range(len(information)):
        np.maximum(through, np.minimum(information[:, k, None], information[k]), out=through)
    return np.where(information >= through, information, 0.0), rho


def dense_mrnet(levels):
    rho = rank_correlation(levels)
    information, genes = information_of(rho), np.arange(len(rho))
    scores, redundancy = np.zeros_like(information), np.zeros_like(information)
    is_open, targets = genes[:, None] != genes, genes
    for n_chosen in range(len(genes) - 1):
        gain = information[targets] - redundancy[targets] / max(n_chosen, 1)
        gain = np.where(is_open[targets], gain, -np.inf)
        best, value = gain.argmax(axis=1), gain.max(axis=1)
        targets, best, value = (part[value > 0] for part in (targets, best, value))
        scores[targets, best] = value
        is_open[targets, best] = False
        redundancy[targets] += information[best]
    return np.maximum(scores, scores.T), rho


def dense_pidc(levels):
    return pidc_scores(levels), rank_correlation(levels)


DENSE = {
    "pcc": dense_pcc, "spearman": dense_spearman, "clr": dense_clr, "aracne": dense_aracne,
    "mrnet": dense_mrnet, "pidc": dense_pidc,
}  # fmt: skip


@pytest.fixture(params=["at once", "in blocks"])
def many(request, monkeypatch):
    """Whether genes count as too many for all their pairs."""
    if request.param == "in blocks":
        monkeypatch.setattr(correlation, "MAX_FULL_MATRIX", 0)
        monkeypatch.setattr(mutual_information, "MAX_FULL_MATRIX", 0)
        monkeypatch.setattr(correlation, "CHUNK_SIZE", 3 * N)
        monkeypatch.setattr(aracne, "TILE", 2 * N)
    return request.param == "in blocks"


def table(kind):
    rng = np.random.default_rng(4)
    levels = np.abs(rng.normal(size=(12, N)) @ rng.normal(size=(N, N)))
    if kind == "ties":
        levels = rng.integers(0, 3, (12, N)).astype(float)
    levels[:, 5] = 2.0
    genes = tuple(f"G{j:02d}" for j in range(N))
    return Expression(levels, np.arange(12.0), ("1",) * 12, genes, scale="levels")


@pytest.mark.parametrize("kind", ["levels", "ties"])
@pytest.mark.parametrize("method", DENSE)
def test_scores_and_signs_are_those_of_all_genes_at_once(method, kind, many):
    made = table(kind)
    whole, r = DENSE[method](made.levels)
    for regulators, targets in ((None, None), ((0, 3, 5, 22), None), ((2, 9, 11), (3, 5, 9, 21))):
        named = [
            None if at is None else {made.genes[k] for k in at} for at in (regulators, targets)
        ]
        network = METHODS[method](made, Rules(regulators=named[0], targets=named[1]), None)
        at = np.ix_(*(range(N) if some is None else some for some in (regulators, targets)))
        assert network.pairs.shape == whole[at].shape
        if method == "pcc" and many:  # each pair is summed by itself
            assert network.pairs.scores == pytest.approx(whole[at], abs=1e-15)
            sure = whole[at] > 1e-12
            assert np.array_equal(network.pairs.signs[sure], np.sign(r[at][sure]))
            if kind == "levels":  # what `infer` keeps
                assert np.array_equal(
                    significant(network.pairs.scores, 6), significant(whole[at], 6)
                )
            continue
        assert network.pairs.scores.tobytes() == whole[at].tobytes()
        assert np.array_equal(network.pairs.signs, np.sign(r[at]))


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
    for method in DENSE:
        network = METHODS[method](made, rules, None)
        assert isinstance(network, Network)
        assert network.pairs.shape == (2, 3)
        assert network.pairs.scores[0, 0] == 0

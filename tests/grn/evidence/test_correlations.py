"""Partial and lagged correlations against their definitions."""

import itertools

import numpy as np
import pytest
from scipy.stats import rankdata

from grn_tvcs import Expression
from grn_tvcs.evidence import correlation as correlation_module
from grn_tvcs.evidence.correlation import RankCorrelations, correlation, unit_columns
from grn_tvcs.evidence.lagged_correlation import lagged_correlation
from grn_tvcs.evidence.mutual_information import _background, clr_scores, mutual_information
from grn_tvcs.evidence.partial_correlation import estimated_shrinkage, partial_correlation
from tests.reference import rank_correlation


@pytest.fixture
def values(rng):
    return rng.normal(size=(9, 14)) @ rng.normal(size=(14, 14))


@pytest.mark.parametrize("shrinkage", [0.05, 0.4, 0.99, 1.0])
def test_partial_correlation_is_that_of_the_inverse_of_the_shrunk_matrix(values, shrinkage):
    R = (1 - shrinkage) * np.corrcoef(values.T) + shrinkage * np.eye(14)
    W = np.linalg.inv(R)
    slow = -W / np.sqrt(np.outer(W.diagonal(), W.diagonal()))
    np.fill_diagonal(slow, 0)
    assert partial_correlation(values, shrinkage=shrinkage) == pytest.approx(slow, abs=1e-9)
    rows = np.array([3, 7])
    assert partial_correlation(values, rows, shrinkage) == pytest.approx(slow[rows], abs=1e-9)


def test_a_partial_correlation_is_the_correlation_of_what_others_leave(rng):
    """Many samples, hardly any shrinkage: residuals of the regressions on all other genes."""
    x = rng.normal(size=(5000, 5)) @ (np.eye(5) + 0.5 * rng.normal(size=(5, 5)))
    found = partial_correlation(x, shrinkage=1e-9)
    for i, j in itertools.combinations(range(5), 2):
        others = np.column_stack([np.ones(len(x)), np.delete(x, [i, j], axis=1)])
        left = x - others @ np.linalg.lstsq(others, x, rcond=None)[0]
        assert found[i, j] == pytest.approx(np.corrcoef(left[:, i], left[:, j])[0, 1], abs=1e-6)


def test_the_estimated_shrinkage_is_that_of_schafer_and_strimmer(values):
    """By the loops of their equations, over pairs and samples."""
    m, n = values.shape
    x = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    variance = square = 0.0
    for i, j in itertools.permutations(range(n), 2):
        w = x[:, i] * x[:, j]
        variance += m / (m - 1) ** 3 * ((w - w.mean()) ** 2).sum()
        square += (m / (m - 1) * w.mean()) ** 2
    assert estimated_shrinkage(unit_columns(values)) == pytest.approx(variance / square)


def test_shrinkage_is_nearly_full_in_noise_and_little_where_all_genes_agree(rng):
    assert estimated_shrinkage(unit_columns(rng.normal(size=(60, 400)))) > 0.9
    course = rng.normal(size=(200, 1))
    agreeing = course + 0.1 * rng.normal(size=(200, 20))
    assert estimated_shrinkage(unit_columns(agreeing)) == pytest.approx(0.01)


def test_constant_genes_have_no_correlation_of_any_kind(values):
    values[:, 4] = 2.5
    partial, r = partial_correlation(values), correlation(values)
    for found in (partial, r):
        assert np.isfinite(found).all()
        assert not found[4].any()
        assert not found[:, 4].any()
    rest = np.delete(np.arange(14), 4)
    assert partial[np.ix_(rest, rest)] == pytest.approx(partial_correlation(values[:, rest]))


def course(rng):
    """Two series of logarithms; B follows A one step later."""
    a = rng.normal(size=12)
    b = np.concatenate([[0.3], a[:5], [-0.2], a[6:11]]) + 0.01 * rng.normal(size=12)
    x = np.column_stack([a, b, rng.normal(size=12), np.full(12, 4.0)])
    series = ("1",) * 6 + ("2",) * 6
    return Expression(x, np.tile(np.arange(6.0), 2), series, tuple("ABCD"), scale="log")


@pytest.mark.parametrize("response", ["level", "change"])
def test_a_lagged_correlation_pairs_a_sample_with_the_next_of_its_series(rng, response):
    expression = course(rng)
    found = lagged_correlation(expression, response)
    before = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
    x = expression.values
    for j, i in itertools.permutations(range(3), 2):
        now, then = x[before, j], x[[t + 1 for t in before], i]
        if response == "change":
            then = then - x[before, i]
        assert found[j, i] == pytest.approx(np.corrcoef(now, then)[0, 1])
    assert not found[3].any()
    assert not found[:, 3].any()
    assert not found.diagonal().any()


def test_a_lagged_correlation_tells_direction(rng):
    found = np.abs(lagged_correlation(course(rng)))
    assert found[0, 1] > 0.95
    assert found[0, 1] == found.max()


def test_an_unknown_response_is_refused(rng):
    with pytest.raises(ValueError, match="response must be one of level, change, found 'rate'"):
        lagged_correlation(course(rng), "rate")


@pytest.mark.parametrize(("n_samples", "n_genes"), [(5, 2), (4, 9), (30, 40), (7, 61)])
def test_in_blocks_rank_correlations_are_those_of_the_square_to_the_last_bit(
    n_samples, n_genes, rng, monkeypatch
):
    values = rng.integers(0, 6, (n_samples, n_genes)).astype(float)  # with ties
    whole = rank_correlation(values)
    sizes = np.abs(whole[np.triu_indices(n_genes, 1)])
    rows = np.sort(rng.choice(n_genes, n_genes // 2, replace=False))
    message = clr_scores(RankCorrelations(values))
    for block in (1, 3 * n_genes, n_genes**2):
        monkeypatch.setattr(correlation_module, "CHUNK_SIZE", block)
        rho = RankCorrelations(values)
        assert np.array_equal(rho.of(rows), whole[rows])
        assert np.array_equal(np.concatenate([part for _, part in rho.blocks()]), whole)
        assert rho.median_and_quantile(0.95) == (np.median(sizes), np.quantile(sizes, 0.95))
        assert np.array_equal(rho.strongest(), np.abs(whole).max(axis=1))
        assert np.array_equal(clr_scores(rho, rows), message[rows])
        assert np.array_equal(clr_scores(rho), message)


def test_of_many_genes_some_count_in_quantiles_from_the_first_to_the_last(rng, monkeypatch):
    monkeypatch.setattr(correlation_module, "MAX_GENES", 4)
    values = rng.normal(size=(9, 13))
    sizes = np.abs(rank_correlation(values[:, [0, 4, 8, 12]])[np.triu_indices(4, 1)])
    found = RankCorrelations(values).median_and_quantile(0.9)
    assert found == (np.median(sizes), np.quantile(sizes, 0.9))


def test_relatedness_is_that_of_the_plain_definition(rng):
    values = rng.normal(size=(12, 9))
    information = mutual_information(rank_correlation(values))
    z = np.zeros((9, 9))
    for i in range(9):
        others = np.delete(information[i], i)
        z[i] = np.maximum(0, (information[i] - others.mean()) / others.std(ddof=1))
    np.fill_diagonal(z, 0.0)
    message = clr_scores(RankCorrelations(values))
    assert message == pytest.approx(np.sqrt(z**2 + z.T**2))


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_rank_correlation_is_that_of_scipy_with_ties_and_without(n):
    rng = np.random.default_rng(n)
    tied = rng.integers(0, 4, (n, 6)).astype(float)
    for values in (rng.normal(size=(n, 6)), tied, -tied[::-1] / 3, np.zeros((n, 6))):
        slow = unit_columns(rankdata(values, axis=0))
        slow = slow.T @ slow
        np.fill_diagonal(slow, 0)
        found = RankCorrelations(values).of(np.arange(6))
        assert found == pytest.approx(slow, abs=1e-12)


def test_the_background_of_slight_correlations_is_as_much_smaller(rng):
    rho = rng.uniform(-0.9, 0.9, (7, 40))
    places = np.arange(7)
    rho[places, places] = 0.0
    mean, sd = _background(rho * 1e-2, places)
    for scale in (1e-3, 1e-4):  # for small rho information is half of its square
        less, spread = _background(rho * scale, places)
        assert less / scale**2 == pytest.approx(mean / 1e-4, rel=1e-3)
        assert spread / scale**2 == pytest.approx(sd / 1e-4, rel=1e-3)
    _, of_none = _background(np.full((7, 40), 0.5) * (np.arange(40) != places[:, None]), places)
    assert np.isinf(of_none).all()

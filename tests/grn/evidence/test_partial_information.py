"""Partial information decomposition beside plain loops over triples of genes."""

import numpy as np
import pytest
from scipy.stats import gamma, rankdata

from grn_tvcs import Expression, infer
from grn_tvcs.evidence.decomposition import partial_information
from grn_tvcs.evidence.decomposition.partial_information import discretise, pidc_scores


def bins_of(column):
    """The bin of each level by its mean rank."""
    n_bins = max(2, round(len(column) ** (1 / 3)))
    return np.floor((rankdata(column) - 0.5) / len(column) * n_bins + 1e-9).astype(int)


def specific(x, y, b):
    """Divergence of p(x | y = b) from p(x)."""
    inside, total = x[y == b], 0.0
    for a in set(inside.tolist()):
        p = np.mean(inside == a)
        total += p * np.log(p / np.mean(x == a))
    return max(total, 0.0)


def slow_pidc(values, third):
    """Scores of all pairs, by loops over pairs and third genes."""
    n = values.shape[1]
    codes = [bins_of(column) for column in values.T]

    def unique(source, target):
        y = codes[target]
        of = {b: np.mean(y == b) for b in set(y.tolist())}
        own = {b: specific(codes[source], y, b) for b in of}
        information = sum(of[b] * own[b] for b in of)
        total = 0.0
        for z in third:
            if z not in (source, target):
                redundancy = sum(of[b] * min(own[b], specific(codes[z], y, b)) for b in of)
                total += information - redundancy
        return total / information if information > 1e-12 else 0.0

    u = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                u[i, j] = unique(i, j) + unique(j, i)
    scores = np.zeros((n, n))
    for i in range(n):
        of_gene = np.array([u[i, k] for k in third if k != i])
        mean, variance = of_gene.mean(), of_gene.var(ddof=1) if of_gene.size > 1 else 0.0
        if variance > 1e-12 * mean**2:
            scores[i] = gamma.cdf(u[i], mean**2 / variance, scale=variance / mean)
    scores = scores + scores.T
    np.fill_diagonal(scores, 0.0)
    return scores


def table(kind, rng):
    levels = rng.normal(size=(30, 7)) @ rng.normal(size=(7, 7))
    if kind == "ties":
        levels = rng.integers(0, 3, (30, 7)).astype(float)
    if kind == "constant":
        levels[:, [2, 5]] = 1.5
    if kind == "copies":
        levels[:, 4] = levels[:, 1]
    if kind == "three genes":
        levels = levels[:, :3]
    if kind == "few samples":
        levels = levels[:4]
    return levels


KINDS = ("levels", "ties", "constant", "copies", "three genes", "few samples")


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_loops_over_triples(kind, rng):
    levels = table(kind, rng)
    expected = slow_pidc(levels, range(levels.shape[1]))
    assert pidc_scores(levels) == pytest.approx(expected, abs=1e-9)
    assert expected.any()


@pytest.mark.parametrize("kind", KINDS[:4])
def test_of_many_genes_some_are_third_genes(kind, rng, monkeypatch):
    monkeypatch.setattr(partial_information, "MAX_THIRD_GENES", 4)
    levels = table(kind, rng)
    assert pidc_scores(levels) == pytest.approx(slow_pidc(levels, [0, 2, 4, 6]), abs=1e-9)


@pytest.mark.parametrize("most", [3, 100])
def test_scores_do_not_depend_on_the_requested_pairs_nor_on_the_scale(most, rng, monkeypatch):
    monkeypatch.setattr(partial_information, "MAX_THIRD_GENES", most)
    levels = table("levels", rng)
    whole = pidc_scores(levels)
    assert np.array_equal(whole, whole.T)
    for rows, columns in (([1], range(7)), ([0, 5], [5]), (range(7), [0, 6])):
        part = pidc_scores(levels, np.array(rows), np.array(columns))
        assert np.array_equal(part, whole[np.ix_(rows, columns)])
    assert np.array_equal(pidc_scores(np.exp(levels)), whole)
    if most == 100:
        order = rng.permutation(7)
        assert pidc_scores(levels[:, order]) == pytest.approx(whole[np.ix_(order, order)])


def test_bins_hold_equal_numbers_of_samples_and_equal_levels_share_one():
    codes, n_codes = discretise(np.array([np.arange(27.0), [0.0] * 20 + [1.0] * 7, [3.0] * 27]).T)
    assert np.bincount(codes[0]).tolist() == [9, 9, 9]
    assert codes[1].tolist() == [0] * 20 + [1] * 7
    assert not codes[2].any()
    assert n_codes.tolist() == [3, 2, 1]


def test_an_indirect_pair_scores_less_than_both_direct_ones(rng):
    first = rng.normal(size=800)
    second = first + 0.5 * rng.normal(size=800)
    third = second + 0.5 * rng.normal(size=800)
    others = rng.normal(size=(800, 3))
    scores = pidc_scores(np.column_stack([first, second, third, others]))
    assert scores[0, 2] < min(scores[0, 1], scores[1, 2])


def expression(levels):
    genes = tuple("ABCDEFG"[: levels.shape[1]])
    return Expression(
        levels, np.arange(float(len(levels))), ("1",) * len(levels), genes, scale="log"
    )


def test_the_method_has_these_scores_and_signs_of_the_rank_correlation(rng):
    levels = table("levels", rng)
    network = infer(expression(levels), "pidc", max_edges=5)
    assert network.scores == pytest.approx(pidc_scores(levels), rel=1e-5)
    some = infer(expression(levels), "pidc", regulators=["C"])
    assert some.pairs.scores[0] == pytest.approx(pidc_scores(levels)[2], rel=1e-5)


def test_two_genes_have_no_third_and_no_score(rng):
    network = infer(expression(rng.normal(size=(9, 2))), "pidc")
    assert not network.scores.any()
    assert not network.selected.any()


def test_missing_levels_are_refused():
    with pytest.raises(ValueError, match="finite"):
        expression(np.array([[1.0, np.nan, 2.0], [2.0, 1.0, 3.0], [0.0, 1.0, 1.0]]))

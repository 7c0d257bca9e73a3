"""The blend of rankings: log ranks, weights, cells, and which tables it is for."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

from grn_tvcs import Expression, average_in_bins, infer
from grn_tvcs.combine.blend import texts
from grn_tvcs.combine.blend.blend import (
    LEAD,
    LEARNED,
    PIDC,
    SIZE,
    SUM,
    WEIGHTS,
    blend,
    lead,
    learned_weight,
    log_ranks,
    rankings_of,
    used_rankings,
)
from grn_tvcs.combine.blend.blend import _sum as sum_of
from grn_tvcs.combine.coexpression import Coexpression
from grn_tvcs.combine.domain_check import TraitDistribution
from grn_tvcs.combine.evidence_scores import (
    CLR,
    LAGGED,
    RANK,
    RATES,
    EvidenceScores,
    compute_evidence,
)
from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.decomposition.partial_information import pidc_scores
from grn_tvcs.evidence.hubs import estimate_hub_priors
from grn_tvcs.evidence.mutual_information import clr_scores
from grn_tvcs.methods import combined
from grn_tvcs.methods.combined import count_calibration_networks
from grn_tvcs.network.rules import Rules
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.stability.execution import SERIAL
from tests.grn.tables import in_operons, of_another_nature
from tvcs_core.streams import stream

FEW = {"resamples": 12, "calibrate": 2}


def test_equal_scores_share_a_log_rank_and_the_largest_of_many_is_finite():
    scores = np.array([3.0, 0.0, 1.0, 0.0, 2.0])
    ranks = (rankdata(scores) - 0.5) / 5
    assert log_ranks(scores) == pytest.approx(-np.log(1 - ranks))
    assert log_ranks(scores)[0] == pytest.approx(np.log(10))
    assert np.unique(log_ranks(np.ones(4))).size == 1
    assert log_ranks(np.ones(1)) == pytest.approx([np.log(2)])
    assert log_ranks(np.empty(0)).size == 0


def test_a_blend_adds_weighted_log_ranks_of_allowed_pairs_alone(rng):
    allowed = rng.random((4, 6)) < 0.7
    first, second = rng.normal(size=(2, 4, 6))
    first[~allowed] = 99.0
    found = blend({SUM: first, PIDC: second, "another": first}, allowed, {SUM: 1.0, PIDC: 2.0})
    expected = log_ranks(first[allowed]) + 2 * log_ranks(second[allowed])
    assert found[allowed] == pytest.approx(expected)
    assert (found[allowed] > 0).all()
    assert not found[~allowed].any()
    assert np.array_equal(blend({SUM: 7 * first}, allowed), blend({SUM: first}, allowed))
    assert set(WEIGHTS) == {*texts.TEXTS, SIZE, LEAD}
    assert texts.NAMES.keys() == texts.TEXTS.keys() | {LEAD}


def test_a_lead_moves_a_pair_against_its_reverse_and_leaves_every_score_above_zero(rng):
    inputs, allowed = np.array([0, 2, 3]), np.arange(5) != np.array([[0], [2], [3]])
    allowed[1, 3] = False
    lagged = np.where(allowed, rng.random((3, 5)), 0.0)
    found = lead(lagged, inputs, allowed)
    for row, regulator in enumerate(inputs):
        for target in range(5):
            back = np.flatnonzero(inputs == target)
            both = back.size and allowed[row, target] and allowed[back[0], regulator]
            expected = lagged[row, target] - lagged[back[0], regulator] if both else 0.0
            assert found[row, target] == expected
    assert np.count_nonzero(found) == 4
    alike = np.ones((3, 5))
    moved = blend({SUM: alike, LEAD: found}, allowed)
    assert (moved[allowed] > 0).all()
    assert not moved[~allowed].any()
    assert np.array_equal(np.argsort(moved[allowed]), np.argsort(found[allowed]))
    assert not blend({LEAD: found}, np.zeros((3, 5), bool)).any()


def cells_of(expression, rng, n=12):
    """Cells around every sample, at times of their own."""
    values = np.repeat(expression.values, n, axis=0)
    values = values * np.exp(0.4 * rng.standard_normal(values.shape))
    times = np.repeat(expression.times, n) + np.tile(
        rng.uniform(0, 9, n).cumsum() / n, len(expression.times)
    )
    names = tuple(name for name in expression.series for _ in range(n))
    return Expression(values, times, names, expression.genes, scale="levels")


@pytest.fixture
def binned(rng):
    made = draw_example(Design(9, 9, 2, 12), "mid", 4)
    return average_in_bins(cells_of(made.expression, rng), 12)


def rankings(expression):
    rules, rng = Rules(), stream(0, "combined")
    evidence = compute_evidence(expression, rules, rng, resamples=6)
    logits = np.zeros(evidence.allowed.shape)
    found = rankings_of(evidence, logits, expression, rules, rng, None, SERIAL)
    return evidence, found


def test_evidence_without_time_is_of_cells_and_lagged_evidence_of_bins(binned):
    evidence, found = rankings(binned)
    everything = np.arange(9)
    rho = RankCorrelations(binned.unbinned)
    assert len(binned.unbinned) == 288 > len(binned.times) == 24
    assert np.array_equal(found[RANK], np.abs(rho.of(everything)))
    assert np.array_equal(found[CLR], clr_scores(rho))
    assert np.array_equal(found[PIDC], pidc_scores(binned.unbinned))
    assert np.array_equal(found[RATES], evidence.scores[RATES])
    assert LEAD not in found
    bins, of_bins = rankings(replace(binned, unbinned=None))
    assert not np.array_equal(found[SUM], of_bins[SUM])
    assert np.array_equal(of_bins[PIDC], pidc_scores(binned.values))
    assert np.array_equal(of_bins[LEAD], -of_bins[LEAD].T)
    for name, part in bins.scores.items():  # what is learned is of bins
        assert np.array_equal(part, evidence.scores[name])


def test_without_series_the_blend_has_no_rates_and_the_text_says_so():
    made = draw_example(Design(6, 6, 0, 2, n_steady=20), "mid", 1)
    found = rankings(made.expression)[1]
    assert set(found) == {SUM, LEARNED, SIZE, CLR, RANK, PIDC}
    text = texts.describe_blend(made.expression, texts.NAMES[LEARNED])
    assert "rates of change" not in text
    assert "lagged" not in text


def test_the_learned_ranking_counts_as_far_as_it_is_sure_and_the_size_of_the_sum_without_it():
    allowed = ~np.eye(4, dtype=bool)
    assert learned_weight(np.full((4, 4), -50.0), allowed) == pytest.approx(0.0, abs=1e-9)
    assert learned_weight(np.full((4, 4), -np.log(9)), allowed) == pytest.approx(0.5)  # of .1 each
    assert learned_weight(np.full((4, 4), 9.0), allowed) == WEIGHTS[LEARNED]
    near, far = used_rankings(WEIGHTS, 0.5), used_rankings(WEIGHTS, 0.0)
    assert near[LEARNED] == 0.5
    assert SIZE not in near
    assert LEARNED not in far
    assert far[SIZE] == WEIGHTS[SIZE]
    sizes = np.where(allowed, np.arange(16.0).reshape(4, 4) ** 2, 0.0)
    assert blend({SIZE: sizes}, allowed, far) == pytest.approx(WEIGHTS[SIZE] * sizes)


def sum_by_definition(lagged, trees, direct, allowed):
    """The sum of the blend from its definition, by loops; [input, gene]."""
    n_inputs, n_genes = allowed.shape

    def unit(scores):
        return np.mean(sorted(scores[allowed], reverse=True)[:n_genes])

    masses = [sum(score**2 for score in row) for row in lagged]
    concentration = n_inputs * sum(m**2 for m in masses) / sum(masses) ** 2
    spreads = [sum((score - np.mean(row)) ** 2 for score in row) / n_genes for row in lagged]
    power = min(0.25 * np.log(max(concentration / 2, 1)), 0.5) if n_genes > 20 else 0.0
    of_others = min(np.log(max(concentration / 8, 1)), power)
    found, raised = np.zeros((2, n_inputs, n_genes))
    for j in range(n_inputs):
        share = spreads[j] / max(spreads)
        raised[j] = share**power * lagged[j]
        for i in range(n_genes):
            if allowed[j, i]:
                of_both = trees[j, i] / unit(trees) + direct[j, i] / unit(direct)
                found[j, i] = share**of_others * of_both
    return found + raised / unit(raised)


@pytest.mark.parametrize(
    ("n_genes", "largest", "powers"),
    [(20, 30, (0, 0)), (30, 1, (0, 0)), (30, 3, (1, 0)), (30, 30, (1, 1))],
    ids=["few genes", "no hub", "a hub", "a star"],
)
def test_the_sum_raises_hubs_as_far_as_the_regression_has_them(n_genes, largest, powers, rng):
    inputs = np.arange(0, n_genes, 2)
    allowed = inputs[:, None] != np.arange(n_genes)
    lagged, trees, direct = np.where(allowed, rng.random((3, *allowed.shape)), 0.0)
    lagged[2] *= largest
    evidence = EvidenceScores(inputs, allowed, {LAGGED: lagged}, {}, {}, None)
    found = sum_of(evidence, trees, np.where(allowed, direct, 9.0))  # a gene with itself
    assert found == pytest.approx(sum_by_definition(lagged, trees, direct, allowed))
    priors = estimate_hub_priors(lagged)
    assert tuple(len(np.unique(part)) > 1 for part in priors) == tuple(map(bool, powers))


@pytest.mark.parametrize("n_genes", [1, 2, 3])
def test_very_small_tables_are_blended(n_genes, rng, monkeypatch):
    monkeypatch.setattr(TraitDistribution, "is_out_of_domain", lambda *given: True)
    expression = Expression(
        rng.random((12, n_genes)), np.tile(np.arange(6.0), 2), ("a",) * 6 + ("b",) * 6,
        tuple("xyz"[:n_genes]), scale="levels",
    )  # fmt: skip
    found = infer(expression, rng=0, **FEW)
    assert np.isfinite(found.scores).all()
    assert (found.scores > 0).sum() == n_genes * (n_genes - 1)


def test_a_table_inside_the_domain_is_not_blended_and_its_cells_change_nothing(binned, monkeypatch):
    monkeypatch.setattr(TraitDistribution, "relative_distance", lambda *given: 0.0)
    monkeypatch.setattr(Coexpression, "is_excessive", lambda *given: False)
    monkeypatch.setattr(combined, "shared_direction", lambda *given: np.nan)
    monkeypatch.setattr(combined, "rankings_of", lambda *given: pytest.fail("blended"))
    found = infer(binned, rng=0, **FEW)
    assert found.confidence is not None
    again = infer(replace(binned, unbinned=None), rng=0, **FEW)
    assert np.array_equal(found.scores, again.scores)


@pytest.mark.parametrize("made", [of_another_nature, in_operons])
def test_no_network_is_simulated_for_a_table_surely_outside_the_domain(made, monkeypatch):
    asked = []
    calibrate = combined.load_or_calibrate

    def counted(*given, **more):
        asked.append(given)
        return calibrate(*given, **more)

    monkeypatch.setattr(combined, "load_or_calibrate", counted)
    found = infer(made(), rng=0, **FEW)
    assert not asked
    assert "ranked by a blend" in found.verdict.describe()
    assert count_calibration_networks(made(), Rules(), None, **FEW) == 0
    monkeypatch.setattr(TraitDistribution, "relative_distance", lambda *given: 0.0)
    monkeypatch.setattr(combined, "FAR", np.inf)
    monkeypatch.setattr(Coexpression, "is_excessive", lambda *given: False)
    infer(made(), rng=0, **FEW)
    assert asked

"""The combined method: chances where the simulator describes the data, ranks where it does not."""

from dataclasses import replace

import numpy as np
import pytest

from grn_tvcs import Expression, SteadyStates, infer, simulate
from grn_tvcs.combine.calibration import Calibration
from grn_tvcs.combine.coexpression import Coexpression
from grn_tvcs.combine.domain_check import TraitDistribution
from grn_tvcs.evidence import hubs
from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN
from grn_tvcs.methods import combined as module
from grn_tvcs.methods.combined import count_calibration_networks
from grn_tvcs.methods.table import DEFAULT, METHODS
from grn_tvcs.network.evidence import NAMES
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.verdict import LEARNED_RANKING
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import NULLS
from tests.grn.tables import in_operons, of_another_nature

FEW = {"resamples": 12, "calibrate": 2}


@pytest.fixture(scope="module")
def made():
    return draw_example(Design(10, 10, 5, 21, knocked_out=1.0), "hub", 8)


@pytest.fixture(scope="module")
def network(made):
    return infer(made.expression, steady=made.steady, rng=0, **FEW)


def test_it_is_the_default_and_says_chances(network):
    assert DEFAULT == "combined"
    assert METHODS[DEFAULT].has_confidence
    assert network.confidence is not None
    assert network.confidence.min() >= 0
    assert network.confidence.max() <= 1
    is_edge = network.scores > 0
    assert network.scores[is_edge] == pytest.approx(network.confidence[is_edge], abs=5e-6, rel=1e-5)
    assert network.verdict.is_known
    assert network.verdict.n_edges == (network.confidence >= 0.5).sum()
    assert {"knock-out"} <= {word for c in network.evidence.ravel() for word in NAMES[c].split("+")}


def test_knock_outs_find_what_they_show(made, network):
    order = np.argsort(-network.scores, axis=None)[: made.is_edge.sum()]
    assert made.is_edge.flat[order].mean() > 0.5


def test_the_same_seed_gives_the_same_scores_and_threads_change_nothing(made, network):
    again = infer(made.expression, steady=made.steady, rng=0, threads=2, **FEW)
    assert np.array_equal(again.scores, network.scores)
    assert np.array_equal(again.signs, network.signs)


def test_another_seed_changes_nothing_and_other_draws_do(made, network):
    again = infer(made.expression, steady=made.steady, rng=7, **FEW)
    assert np.array_equal(again.scores, network.scores)
    other = infer(made.expression, steady=made.steady, rng=0, draws=1, **FEW)
    assert not np.array_equal(other.scores, network.scores)


def test_the_order_of_genes_and_series_changes_nothing(made, network):
    expression, steady = made.expression, made.steady
    order = np.random.default_rng(1).permutation(10)
    genes = tuple(expression.genes[j] for j in order)
    turned = replace(expression, values=expression.values[:, order], genes=genes)
    changed = SteadyStates(
        steady.levels[:, order], steady.changed, steady.is_knockout, genes
    )  # fmt: skip
    assert np.array_equal(infer(turned, steady=changed, rng=0, **FEW).scores, network.scores)


def test_noise_has_no_likely_edge():
    for kind in ("noise", "walk"):
        null = draw_null(Design(12, 12, 3, 12), kind, 2)
        found = infer(null.expression, rng=0, **FEW)
        assert found.confidence is None or found.confidence.max() < 0.5


@pytest.mark.parametrize("kind", NULLS)
def test_tables_without_edges_have_no_edge_above_a_chance_of_three_in_ten(kind):
    for seed in range(2):
        null = draw_null(Design(10, 10, 5, 21), kind, seed)
        found = infer(null.expression, rng=0)
        assert found.confidence is None or found.confidence.max() < 0.3
        assert found.confidence is None or "resemble noise or random walks" in found.notes[0]


def test_chances_are_lowered_and_edges_stay_in_order(monkeypatch):
    made = draw_example(Design(10, 10, 5, 21), "mid", 3)
    with monkeypatch.context() as patch:
        patch.setattr(module, "null_log_odds", lambda *given: -700.0)
        before = infer(made.expression, rng=0)
    after = infer(made.expression, rng=0)
    order = np.argsort(-before.scores, axis=None, kind="stable")
    assert (np.diff(after.scores.flat[order]) <= 0).all()
    assert (after.confidence <= before.confidence).all()
    assert after.confidence.max() > 0.5 * before.confidence.max()
    assert not after.notes


def test_steady_samples_alone_are_enough():
    made = simulate(12, 2, 5, rng=1)
    rest = Expression(
        np.empty((0, 12)), [], (), made.expression.genes, steady_values=made.multifactorial
    )
    found = infer(rest, rng=0, **FEW)
    assert (found.scores > 0).sum() == 12 * 11
    assert found.stability is None


def test_data_that_the_simulator_does_not_describe_are_ranked_without_a_chance():
    expression = of_another_nature()
    found = infer(expression, rng=0, **FEW)
    assert found.confidence is None
    assert (
        "the data lie outside the range of the simulated training data" in found.verdict.describe()
    )
    assert (found.scores > 0).any()


def test_data_whose_genes_go_together_more_closely_are_ranked_without_a_chance(monkeypatch):
    expression = in_operons()
    monkeypatch.setattr(TraitDistribution, "is_out_of_domain", lambda *given: False)
    found = infer(expression, rng=0, **FEW)
    assert found.confidence is None
    assert "genes are more closely co-expressed" in found.verdict.describe()
    assert "ranked by a blend of" in found.verdict.describe()
    monkeypatch.setattr(Coexpression, "is_excessive", lambda *given: False)
    learned = infer(expression, rng=0, **FEW)
    assert learned.confidence is not None
    monkeypatch.setattr(TraitDistribution, "is_out_of_domain", lambda *given: True)
    strange = infer(expression, rng=0, **FEW)
    assert np.array_equal(found.scores, strange.scores)
    assert not np.array_equal(found.scores, learned.scores)


def test_the_sum_in_the_blend_has_a_hub_prior(monkeypatch):
    monkeypatch.setattr(TraitDistribution, "is_out_of_domain", lambda *given: True)
    star = draw_example(Design(24, 24, 10, 15), "star", np.random.default_rng(5))
    expression = star.expression
    found = infer(expression, rng=0, **FEW)
    monkeypatch.setattr(hubs, "estimate_hub_power", lambda scores: 0.0)
    without = infer(expression, rng=0, **FEW)
    assert not np.array_equal(found.scores, without.scores)
    assert np.array_equal(found.stability, without.stability)


def test_with_knock_outs_genes_that_go_together_are_ranked_by_what_was_learned(
    made, network, monkeypatch
):
    monkeypatch.setattr(Coexpression, "is_excessive", lambda *given: True)
    found = infer(made.expression, steady=made.steady, rng=0, **FEW)
    assert found.confidence is None
    assert LEARNED_RANKING in found.verdict.describe()
    order = np.argsort(-network.scores, axis=None, kind="stable")[:20]
    assert (np.diff(found.scores.flat[order]) <= 0).all()


def test_without_calibration_there_is_no_chance_where_the_design_is_not_known(made):
    expression = made.expression.part(np.array([int(s) <= 3 for s in made.expression.series]))
    found = infer(expression, rng=0, resamples=12, calibrate=0)
    assert found.confidence is None
    assert "calibrate='off'" in found.verdict.describe()


def test_a_common_design_is_calibrated_for_the_usual_halves_alone(monkeypatch):
    """Other halves make other evidence: its chances are not those that come along."""
    made = draw_example(Design(10, 10, 5, 21), "mid", 3)
    given = made.expression, Rules(), None
    assert count_calibration_networks(*given, 12, DEFAULT_PLAN.resamples) == 0
    assert count_calibration_networks(*given, 12, 3) == 12
    assert infer(made.expression, rng=0, calibrate=0).confidence is not None
    few = infer(made.expression, rng=0, calibrate=0, resamples=3)
    assert few.confidence is None
    assert "calibrate='off'" in few.verdict.describe()
    asked = []

    def load_or_calibrate(*given, resamples, **more):
        asked.append(resamples)
        return Calibration(-1.0, 0.5)

    monkeypatch.setattr(module, "load_or_calibrate", load_or_calibrate)
    assert infer(made.expression, rng=0, resamples=3).confidence is not None
    assert asked == [3]


def of_truth(made, is_edge):
    genes = made.expression.genes
    return Prior(genes, is_edge.astype(float), np.zeros(is_edge.shape, dtype=np.int8))


@pytest.mark.parametrize("is_out_of_domain", [False, True])
def test_evidence_names_prior_edges_where_they_carry_the_score(is_out_of_domain, monkeypatch):
    made = draw_example(Design(10, 10, 5, 21), "hub", 4)
    monkeypatch.setattr(TraitDistribution, "is_out_of_domain", lambda *given: is_out_of_domain)
    plain = infer(made.expression, rng=0)
    found = infer(made.expression, rng=0, prior=of_truth(made, made.is_edge))
    assert (found.confidence is None) == is_out_of_domain
    names = np.array([[NAMES[code].split("+")[-1] for code in row] for row in found.evidence])
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(plain.scores > 0, 1 - plain.scores / found.scores, 0.0)
    assert (names[share > 0.3] == "prior").all()
    assert (names[share < 0.1] != "prior").all()
    is_prior = names == "prior"
    assert 0 < is_prior.sum() <= made.is_edge.sum()
    assert (found.evidence[~made.is_edge] == plain.evidence[~made.is_edge]).all()


@pytest.mark.parametrize("n_genes", [1, 2, 3])
def test_very_small_networks(n_genes):
    rng = np.random.default_rng(0)
    expression = Expression(
        rng.random((12, n_genes)), np.tile(np.arange(6.0), 2), ("a",) * 6 + ("b",) * 6,
        tuple("xyz"[:n_genes]), scale="levels",
    )  # fmt: skip
    found = infer(expression, rng=0, **FEW)
    assert found.scores.shape == (n_genes, n_genes)


def test_the_unit_of_a_gene_changes_nothing(made, network):
    """Powers of two, so that there is no rounding."""
    unit = 2.0 ** np.random.default_rng(5).integers(-9, 9, 10)
    expression, steady = made.expression, made.steady
    other = replace(expression, values=expression.values * unit)
    changed = replace(steady, levels=steady.levels * unit)
    found = infer(other, steady=changed, scale="levels", rng=0, **FEW)
    assert np.array_equal(found.scores, network.scores)


def test_bad_options_are_refused(made):
    with pytest.raises(ValueError, match="resamples must be >= 1, calibrate and draws >= 0"):
        infer(made.expression, rng=0, resamples=0)

"""Whether a table has any edge, and what that does to the chances of edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.learning.without_edges import DRIVEN, draw_without_edges
from grn_tvcs import infer
from grn_tvcs.combine.direction import shared_direction
from grn_tvcs.combine.domain_check import TRAITS, covariates, traits
from grn_tvcs.combine.nulls import (
    MAX_NULL_PROBABILITY,
    UNCHANGED_BELOW,
    compress_logits,
    effect_of_changes,
    null_features,
    null_log_odds,
    weight_by_non_null,
)
from grn_tvcs.combine.platt_scaling import sigmoid
from grn_tvcs.combine.pretrained import load_pretrained
from grn_tvcs.combine.trees import evaluate
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.streams import stream

DESIGNS = (Design(10, 10, 5, 21), Design(30, 30, 10, 21), Design(20, 20, 0, 3, n_steady=50))
OUT = {"knocked_out": 1.0, "knocked_down": 1.0}
CHANGED = (Design(10, 10, 5, 21, **OUT), Design(12, 12, 1, 12, **OUT))
SHORT = Design(10, 10, 1, 12)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=9), st.floats(-30, 30))
def test_a_chance_is_that_with_edges_times_that_of_edges(logits, log_odds):
    z = np.array(logits)
    found = weight_by_non_null(z, log_odds)
    assert sigmoid(found) == pytest.approx(sigmoid(z) * sigmoid(np.array(-log_odds)), rel=1e-9)
    assert (np.diff(found[np.argsort(z)]) >= 0).all()
    assert (found <= z).all()


def test_far_away_log_odds_stay_finite():
    z = np.array([-700.0, -30.0, 0.0, 30.0, 700.0])
    for log_odds in (-700.0, 0.0, 700.0):
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            assert np.isfinite(weight_by_non_null(z, log_odds)).all()
    assert weight_by_non_null(z, -700.0)[:4] == pytest.approx(z[:4], abs=1e-9)


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=9), st.floats(-9, 9))
def test_up_to_the_limit_nothing_is_likely_and_the_order_stays(logits, limit):
    z = np.sort(np.array([*logits, limit]))
    found = compress_logits(z, limit)
    assert (found <= z + 1e-12).all()
    assert (np.diff(found) >= 0).all()
    assert (np.diff(found)[np.diff(z) > 1e-6] > 0).all()
    p, before = sigmoid(found), sigmoid(z)
    assert p[z <= limit].max() <= MAX_NULL_PROBABILITY + 1e-12 or limit <= np.log(
        MAX_NULL_PROBABILITY / (1 - MAX_NULL_PROBABILITY)
    )
    assert p[before <= UNCHANGED_BELOW] == pytest.approx(before[before <= UNCHANGED_BELOW])
    above = z > max(limit, np.log(MAX_NULL_PROBABILITY / (1 - MAX_NULL_PROBABILITY)))
    moved = max(limit - np.log(MAX_NULL_PROBABILITY / (1 - MAX_NULL_PROBABILITY)), 0.0)
    assert found[above] == pytest.approx(z[above] - moved)


def test_without_a_limit_chances_stay():
    z = np.linspace(-5, 5, 11)
    assert compress_logits(z, -np.inf) is z
    assert compress_logits(z, -2.0) is z


def test_features_are_the_traits_and_what_of_the_design_moves_them(known):
    for one in known:
        found = traits(one.example.expression, one.example.steady)
        row = null_features(found, one.design, 1.25, 0.5)
        assert row.shape == (len(TRAITS) + covariates(one.design).size + 1,)
        assert row[: len(TRAITS)] == pytest.approx([found[t] for t in TRAITS], nan_ok=True)
        assert row[len(TRAITS) : -2] == pytest.approx(covariates(one.design)[1:])
        assert row[-2:].tolist() == [1.25, 0.5]
        assert np.isnan(null_features(found, one.design)[-2:]).all()


def test_the_effect_of_changes_is_the_mean_of_the_largest_shifts_one_for_each_changed_gene(known):
    n_with = 0
    for one in known:
        expression, steady = one.example.expression, one.example.steady
        sizes = []
        for is_out in (True, False):
            if steady is None:
                continue
            changed = {
                gene
                for gene, out in zip(steady.changed, steady.is_knockout, strict=True)
                if gene and out == is_out
            }
            shifts = steady.shifts(expression, is_out=is_out)
            rows = [steady.genes.index(gene) for gene in changed]
            sizes += sorted(abs(shifts[j, i]) for j in rows for i in range(len(shifts)))[::-1][
                : len(changed)
            ]
        found = effect_of_changes(steady, expression)
        n_with += bool(sizes)
        expected = np.log1p(np.mean(sizes)) if sizes else np.nan
        assert found == pytest.approx(expected, nan_ok=True)
    assert 0 < n_with < len(known)


def test_log_odds_are_those_of_the_trees_and_of_tables_before_they_are_seen(nulls, known):
    one = known[0]
    found = traits(one.example.expression, one.example.steady)
    said = evaluate(nulls, null_features(found, one.design)[None])[0]
    assert null_log_odds(nulls, found, one.design) == pytest.approx(said)


def test_what_was_learned_tells_its_own_tables(nulls, known):
    said = [
        null_log_odds(nulls, traits(k.example.expression, k.example.steady), k.design)
        for k in known
    ]
    assert np.mean(np.array(said) < 0) > 0.7


@pytest.mark.parametrize("design", DESIGNS)
def test_the_model_tells_tables_without_edges_from_those_of_networks(design):
    model = load_pretrained()

    def said(made):
        look, shared = traits(made.expression, made.steady), shared_direction(made.expression)
        return null_log_odds(model.nulls, look, design, shared=shared)

    without = [said(draw_null(design, kind, 100 + k)) for kind in NULLS for k in range(4)]
    networks = [said(draw_example(design, kind, 100 + k)) for kind in KINDS for k in range(2)]
    assert np.median(without) > 1.0
    assert np.median(networks) < -1.0
    assert np.mean(np.array(without) > 0) >= 0.75
    assert np.mean(np.array(networks) < 0) >= 0.75


@pytest.mark.parametrize("listed", [30, 10])
def test_the_model_tells_genes_that_answer_a_common_stimulus(listed):
    model, design = load_pretrained(), Design(30, listed, 3, 8)

    def said(made):
        shared = shared_direction(made.expression)
        return null_log_odds(model.nulls, traits(made.expression), design, shared=shared)

    driven = [said(draw_without_edges(design, DRIVEN, 300 + k)) for k in range(16)]
    networks = [said(draw_example(design, kind, 300 + k)) for kind in KINDS for k in range(4)]
    assert np.mean(np.array(driven) > 0) >= 0.75
    assert np.mean(np.array(networks) < 0) >= 0.75


@pytest.mark.parametrize("design", CHANGED, ids=lambda design: design.key)
def test_knock_outs_that_move_nothing_tell_a_table_without_edges(design):
    model = load_pretrained()

    def said(made):
        effect = effect_of_changes(made.steady, made.expression)
        shared = shared_direction(made.expression)
        look = traits(made.expression, made.steady)
        return null_log_odds(model.nulls, look, design, effect, shared)

    without = [said(draw_null(design, kind, 200 + k)) for kind in NULLS for k in range(4)]
    networks = [said(draw_example(design, kind, 200 + k)) for kind in KINDS for k in range(3)]
    assert np.mean(np.array(without) > 0) >= 0.9
    assert np.mean(np.array(networks) < 0) >= 0.9


@pytest.mark.slow
def test_no_pair_of_white_noise_is_likely():
    """One series of 12 points, in which noise is hardest to tell from a network."""
    largest = []
    for k in range(20):
        made = draw_null(SHORT, "noise", stream(7, "white noise", str(k)))
        found = infer(made.expression, rng=0)
        if found.confidence is not None:
            largest.append(found.confidence.max())
    assert len(largest) >= 15
    assert max(largest) <= MAX_NULL_PROBABILITY

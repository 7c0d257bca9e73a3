"""Whether a table has any edge, and what that does to the chances of edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grn_tvcs.combine.chances import chance
from grn_tvcs.combine.likeness import TRAITS, covariates, traits
from grn_tvcs.combine.nulls import PRIOR, null_features, null_log_odds, unless_null
from grn_tvcs.combine.trees import evaluate
from grn_tvcs.combine.universal import universal
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS

DESIGNS = (Design(10, 10, 5, 21), Design(30, 30, 10, 21), Design(20, 20, 0, 3, n_at_rest=50))


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=9), st.floats(-30, 30))
def test_a_chance_is_that_with_edges_times_that_of_edges(logits, log_odds):
    z = np.array(logits)
    found = unless_null(z, log_odds)
    assert chance(found) == pytest.approx(chance(z) * chance(np.array(-log_odds)), rel=1e-9)
    assert (np.diff(found[np.argsort(z)]) >= 0).all()
    assert (found <= z).all()


def test_far_away_log_odds_stay_finite():
    z = np.array([-700.0, -30.0, 0.0, 30.0, 700.0])
    for log_odds in (-700.0, 0.0, 700.0):
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            assert np.isfinite(unless_null(z, log_odds)).all()
    assert unless_null(z, -700.0)[:4] == pytest.approx(z[:4], abs=1e-9)


def test_features_are_the_traits_and_what_of_the_design_moves_them(known):
    for one in known:
        found = traits(one.example.expression, one.example.steady)
        row = null_features(found, one.design)
        assert row.shape == (len(TRAITS) + covariates(one.design).size - 1,)
        assert row[: len(TRAITS)] == pytest.approx([found[t] for t in TRAITS], nan_ok=True)
        assert row[len(TRAITS) :] == pytest.approx(covariates(one.design)[1:])


def test_log_odds_are_those_of_the_trees_and_of_tables_before_they_are_seen(nulls, known):
    one = known[0]
    found = traits(one.example.expression, one.example.steady)
    said = evaluate(nulls, null_features(found, one.design)[None])[0]
    assert null_log_odds(nulls, found, one.design) == pytest.approx(said + PRIOR)
    assert chance(np.array(PRIOR)) == pytest.approx(1 / 3)


def test_what_was_learned_tells_its_own_tables(nulls, known):
    said = [
        null_log_odds(nulls, traits(k.example.expression, k.example.steady), k.design)
        for k in known
    ]
    assert np.mean(np.array(said) < 0) > 0.7


@pytest.mark.parametrize("design", DESIGNS)
def test_the_model_tells_tables_without_edges_from_those_of_networks(design):
    model = universal()

    def said(made):
        return model.null_log_odds(traits(made.expression, made.steady), design)

    without = [said(draw_null(design, kind, 100 + k)) for kind in NULLS for k in range(4)]
    networks = [said(draw_example(design, kind, 100 + k)) for kind in KINDS for k in range(2)]
    assert np.median(without) > 1.0
    assert np.median(networks) < -1.0
    assert np.mean(np.array(without) > 0) >= 0.75
    assert np.mean(np.array(networks) < 0) >= 0.75

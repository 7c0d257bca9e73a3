"""Methods on steady-state samples, alone and beside series."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from grn_tvcs import METHODS, Expression, Rules, infer, simulate
from grn_tvcs.evidence.forests import streams_by_name
from grn_tvcs.evidence.random_forest import importances
from grn_tvcs.evidence.rate_trees import decay_rates
from grn_tvcs.inference.samples import need_no_time, unknowable

FEW = {"combined": {"resamples": 4, "calibrate": 1}, "tvcs": {"resamples": 4}}
NEED_NONE = tuple(need_no_time().split(", "))
NEED_SERIES = ("tvcs", "tvcs-plain", "dyngenie3")


@pytest.fixture(scope="module")
def made():
    """Series and steady states of one network."""
    return simulate(10, 4, 9, n_edges=12, rng=1)


@pytest.fixture(scope="module")
def both(made):
    """Its series and its steady states, in one."""
    return replace(made.expression, steady_values=made.multifactorial)


@pytest.fixture(scope="module")
def steady(made):
    """Its steady states alone."""
    genes = made.expression.genes
    return Expression(np.zeros((0, 10)), [], (), genes, steady_values=made.multifactorial)


def edges(expression, method, **more):
    return infer(expression, method, rng=1, **FEW.get(method, {}), **more).edges()


def test_a_symmetric_method_scores_both_directions_alike_and_the_others_do_not(made):
    for name, method in METHODS.items():
        if name not in ("tvcs-plain", "knock-outs"):  # the latter needs knock-outs
            options = FEW.get(name, {})
            found = infer(made.expression, name, scale="levels", rng=1, **options).scores
            assert np.array_equal(found, found.T) == method.is_symmetric


@pytest.mark.parametrize("method", [name for name in NEED_NONE if name != "combined"])
def test_a_method_without_time_takes_steady_samples_as_it_took_made_up_times(steady, method):
    levels = steady.in_name_order().steady_values
    genes = steady.in_name_order().genes
    stacked = Expression(levels, np.arange(len(levels)), ("1",) * len(levels), genes)
    assert edges(steady, method) == edges(stacked, method)


@pytest.mark.parametrize("method", NEED_NONE)
def test_series_and_rest_are_used_together(made, both, steady, method):
    found = [edges(x, method) for x in (both, made.expression, steady)]
    assert found[0] != found[1]
    assert found[0] != found[2]
    reordered = replace(both, steady_values=made.multifactorial[::-1])
    assert edges(reordered, method) == found[0]


def test_pcc_and_clr_see_all_samples_one_by_one(both):
    expression = both.in_name_order()
    rows = [*expression.values, *expression.steady_values]
    n = len(expression.genes)
    pcc = METHODS["pcc"](expression, Rules(), np.random.default_rng(0)).scores
    clr = METHODS["clr"](expression, Rules(), np.random.default_rng(0)).signs
    for i in range(n):
        for j in range(n):
            if i != j:
                a, b = [row[i] for row in rows], [row[j] for row in rows]
                assert pcc[i, j] == pytest.approx(abs(np.corrcoef(a, b)[0, 1]))
                assert clr[i, j] == np.sign(spearmanr(a, b).statistic)


def test_dyngenie3_learns_decay_from_steady_samples_one_by_one(both):
    """In steady state f(x) = alpha x: equation 6 of its paper, and the authors' SS_data."""
    found = METHODS["dyngenie3"](both, Rules(), np.random.default_rng(5), trees=4).scores
    alphas = decay_rates(both)
    assert np.array_equal(alphas, decay_rates(both.of_series()))
    for i, stream in enumerate(streams_by_name(both.genes, np.random.default_rng(5))):
        x = [level.tolist() for level in both.steady_values]
        y = [alphas[i] * level[i] for level in both.steady_values]
        for rows in both.pieces.values():
            for t in range(rows.start, rows.stop - 1):
                change = both.values[t + 1, i] - both.values[t, i]
                x.append(both.values[t].tolist())
                y.append(
                    change / (both.times[t + 1] - both.times[t]) + alphas[i] * both.values[t, i]
                )
        slow = importances(np.array(x), np.array(y), stream, 4)
        slow[i] = 0
        assert found[:, i] == pytest.approx(slow / slow.sum())


@pytest.mark.parametrize("method", ["tvcs", "tvcs-plain"])
def test_methods_of_series_leave_steady_samples_out_and_say_so(made, both, method):
    with pytest.warns(
        UserWarning, match=f"{method} uses only time series and ignores 10 steady-state samples"
    ):
        found = edges(both, method, scale="levels")
    assert found == edges(made.expression, method, scale="levels")


@pytest.mark.parametrize("method", NEED_SERIES)
def test_methods_over_time_refuse_steady_samples_alone(steady, method):
    message = (
        f"{method} needs time series, but no sample has a time .*need none: combined, pcc, aracne, "
    )
    with pytest.raises(ValueError, match=message):
        infer(steady, method)


def test_too_few_samples_are_refused(steady):
    with pytest.raises(
        ValueError, match=r"at least 3 steady-state samples .*, found 2 in steady state"
    ):
        infer(replace(steady, steady_values=steady.steady_values[:2]))
    with pytest.warns(
        UserWarning, match="^4 steady-state samples are too few to tell regulators apart"
    ):
        infer(replace(steady, steady_values=steady.steady_values[:4]), "clr", scale="levels")
    infer(replace(steady, steady_values=steady.steady_values[:6]), "clr", scale="levels")


@pytest.mark.parametrize("kind", ["made", "steady"])
def test_one_method_is_the_default_with_time_and_without(made, steady, kind):
    expression = {"made": made.expression, "steady": steady}[kind]
    assert infer(expression, rng=1, **FEW["combined"]).edges() == edges(expression, "combined")


def test_limits_of_steady_samples_are_reported(made, steady):
    assert unknowable(made.expression, "clr") is None
    assert "direction is unknown" in unknowable(steady, "clr")
    assert "which gene predicts the other" in unknowable(steady, "genie3")


def test_a_gene_that_is_constant_in_series_and_moves_in_steady_state_is_used_where_rest_is(
    made, both
):
    flat = made.expression.values.copy()
    flat[:, 0] = 0.5
    mixed = replace(both, values=flat)
    name = mixed.genes[0]
    assert mixed.constant_genes == ()
    assert any(name in (e.regulator, e.target) for e in edges(mixed, "pcc", scale="levels"))
    with (
        pytest.warns(UserWarning, match="ignores 10 steady-state samples"),
        pytest.warns(UserWarning, match=f"constant genes get no regulators: {name}"),
    ):
        found = edges(mixed, "tvcs", scale="levels")
    assert name not in {e.target for e in found}

"""The ensemble is the sum it says it is, and parts that became methods rank by their parts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from grn_tvcs import METHODS, Network, Rules, SteadyStates, infer, score, simulate, write_expression
from grn_tvcs.evidence import hubs
from grn_tvcs.evidence.extra_trees import importances
from grn_tvcs.evidence.forests import streams_by_name
from grn_tvcs.evidence.hubs import (
    HUB_GENES,
    HUB_POWER,
    STAR_FREE,
    concentration,
    estimate_hub_power,
    estimate_hub_priors,
    hub_prior,
)
from grn_tvcs.evidence.knockouts import FULL_EFFECT, downrank_indirect, knockout_evidence
from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN, lagged_regression
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.expression.scales import log_levels
from grn_tvcs.network.evidence import NAMES, SOURCES, evidence_codes
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.stability.execution import Execution
from tests.makers.commands import grn_tvcs
from tvcs_core.streams import stream

FEW = {"resamples": 6, "trees": 4}


@pytest.fixture(scope="module")
def made():
    return simulate(8, 5, 9, n_edges=10, rng=3)


@pytest.fixture(scope="module")
def expression(made):
    return replace(made.expression, scale="levels").in_name_order()


@pytest.fixture(scope="module")
def steady(made, expression):
    genes = made.expression.genes
    changed = SteadyStates(
        np.concatenate([made.wild_type[None], made.knockouts, made.knockdowns]),
        ("", *genes, *genes), np.repeat([False, True, False], [1, 8, 8]), genes,
    )  # fmt: skip
    return changed.of(expression.genes)


def run(method, expression, rules=None, **options):
    return METHODS[method](expression, rules or Rules(), np.random.default_rng(5), **options)


def in_unit(scores):
    return scores / np.sort(scores, axis=None)[-8:].mean()


def by_loops(expression, levels):
    """The three parts one by one: the same halves, trees target by target, correlations."""
    rng = np.random.default_rng(5)
    found = lagged_regression(expression, Rules(), rng, replace(DEFAULT_PLAN, resamples=6))
    lagged = np.zeros((8, 8))
    lagged[found.inputs] = found.scores
    streams = streams_by_name(expression.genes, rng)
    logs, trees = log_levels(levels, 0.2, "levels"), np.zeros((8, 8))
    for i in range(8):
        others = [j for j in range(8) if j != i]
        y = logs[:, i] / logs[:, i].std()
        trees[others, i] = importances(logs[:, others], y, streams[i], 4)
    return [in_unit(part) for part in (lagged, trees, np.abs(partial_correlation(logs)))]


def test_the_ensemble_is_the_sum_of_its_parts_each_by_its_strongest(expression):
    network = run("ensemble", expression, **FEW)
    parts = by_loops(expression, expression.values)
    assert network.scores == pytest.approx(sum(parts))
    shares = np.array(parts) / np.where(network.scores > 0, network.scores, 1)
    words = [[NAMES[code].split("+") for code in row] for row in network.evidence]
    for k, source in enumerate(("series", "trees", "correlation")):
        named = np.array([[source in found for found in row] for row in words])
        sure = np.abs(shares[k] - 0.25) > 1e-9
        is_part = (shares[k] >= 0.25) & (network.scores > 0)
        assert np.array_equal(named[sure], is_part[sure])


def test_steady_samples_and_knock_outs_are_used_where_they_are_given(expression, steady):
    network = run("ensemble", expression, steady=steady, **FEW)
    levels = np.concatenate([expression.values, steady.levels])
    result = knockout_evidence(
        steady, expression, Rules().inputs(expression.genes), weight=1.5, hub_power=0.5,
        knockdown_weight=0.3, largest_effect=20.0,
    )  # fmt: skip
    effects = result.knockouts + result.knockdowns
    lagged, trees, related = by_loops(expression, levels)
    add_prior_edges = lagged * hub_prior(lagged, result.power_for_series(0.0))
    assert network.scores == pytest.approx(in_unit(add_prior_edges) + trees + related + effects)
    in_tvcs = run("tvcs", expression, resamples=6, steady=steady).scores
    assert in_unit(in_tvcs - effects) == pytest.approx(in_unit(add_prior_edges))
    assert {"knock-out"} <= {word for c in network.evidence.ravel() for word in NAMES[c].split("+")}


def test_scores_of_knock_outs_are_effects_in_units_of_the_strongest(made, expression):
    genes = expression.genes
    steady = SteadyStates(
        np.concatenate([made.wild_type[None], made.knockouts]),
        ("", *made.expression.genes), np.repeat([False, True], [1, 8]), made.expression.genes,
    ).of(genes)  # fmt: skip
    inputs = Rules().inputs(genes)
    found = knockout_evidence(
        steady, expression, inputs, weight=1.5, hub_power=0.0,
        knockdown_weight=0.3, largest_effect=1e9,
    )  # fmt: skip
    sizes = np.abs(steady.shifts(expression, is_out=True, rows=inputs.regulators))
    sizes = downrank_indirect(np.where(inputs.allowed, sizes, 0.0), inputs.regulators)
    strongest = np.sort(sizes, axis=None)[-8:].mean()
    assert found.knockouts == pytest.approx(1.5 * sizes / max(strongest, FULL_EFFECT))
    assert not found.knockdowns.any()


def test_the_selected_network_is_within_the_caps_and_the_best_there(expression):
    caps = {"max_in_degree": 2, "max_out_degree": 2}
    for given, n_edges in (({"max_edges": 16}, 16), ({}, 1)):  # 1: one for every ten of 8 genes
        network = infer(expression, "ensemble", **caps, **given, rng=0, **FEW)
        assert network.in_degrees.max() <= 2
        assert network.out_degrees.max() <= 2
        assert network.n_selected <= n_edges
        # An undirected edge uses up a regulator of both of its genes.
        used = network.in_degrees.sum()
        assert used == network.n_selected + network.n_undirected
        assert 0.8 * n_edges <= used <= 2 * n_edges
        again = network.select_under_caps(Rules(2, 2, n_edges))
        assert np.array_equal(again.selected, network.selected)
        assert all(edge.evidence for edge in network.edges())


def test_a_hub_prior_lifts_lagged_regression_and_only_among_many_genes(expression):
    few = run("ensemble", expression, hub_power=0.5, **FEW)
    assert np.array_equal(few.scores, run("ensemble", expression, **FEW).scores)
    many = simulate(24, 3, 7, rng=1).expression
    add_prior_log_odds, without = (
        run("ensemble", many, hub_power=power, **FEW).scores for power in (0.5, 0.0)
    )
    assert not np.allclose(add_prior_log_odds, without)


def test_the_power_of_the_hub_prior_is_what_the_scores_show_of_hubs():
    n = HUB_GENES + 1
    rng = np.random.default_rng(4)
    even, one = rng.random((n, n)), rng.random((n, n))
    one[0] *= 100.0
    assert estimate_hub_power(even) == estimate_hub_power(np.zeros((n, n))) == 0.0
    assert estimate_hub_power(one) == HUB_POWER
    assert estimate_hub_power(one[:-1, :-1]) == 0.0  # so few genes are without
    some = even.copy()
    some[:3] *= 5.0
    assert 0.0 < estimate_hub_power(some) < HUB_POWER
    assert estimate_hub_power(1e-6 * some) == pytest.approx(
        estimate_hub_power(some)
    )  # their unit says nothing


def test_the_hub_prior_is_of_that_power_unless_one_is_given():
    many = draw_example(Design(24, 24, 10, 15), "star", np.random.default_rng(5)).expression
    halves = replace(DEFAULT_PLAN, resamples=FEW["resamples"])
    power = estimate_hub_power(
        lagged_regression(many, Rules(), np.random.default_rng(5), halves).scores
    )
    assert power > 0.0
    default, given, without = (
        run("ensemble", many, **FEW, **words).scores
        for words in ({}, {"hub_power": power}, {"hub_power": 0.0})
    )
    assert np.array_equal(default, given)
    assert not np.allclose(default, without)


def test_other_evidence_has_the_prior_where_few_regulators_have_nearly_all():
    even = np.random.default_rng(4).random((60, 60))
    some, star = even.copy(), even.copy()
    some[:10] *= 5.0
    star[:2] *= 50.0
    masses = [(scores**2).sum(axis=1) for scores in (even, some, star)]
    assert concentration(masses[1]) < STAR_FREE < concentration(masses[2])
    for scores in (even, some):
        assert (estimate_hub_priors(scores).for_other_evidence == 1.0).all()
    found = estimate_hub_priors(star)
    assert np.array_equal(found.for_scores, hub_prior(star, HUB_POWER))
    assert np.array_equal(found.for_other_evidence, found.for_scores)
    assert (estimate_hub_priors(star, 0.0).for_other_evidence == 1.0).all(), (
        "never more than for the scores themselves"
    )
    assert (estimate_hub_priors(star[:20, :20]).for_other_evidence == 1.0).all(), (
        "so few genes are without"
    )
    sizes = np.geomspace(5.0, 50.0, 10)
    by_size = [
        estimate_hub_priors(np.r_[size * even[:2], even[2:]]).for_other_evidence.min()
        for size in sizes
    ]
    assert (np.diff(by_size) <= 0).all()


def test_stars_are_found_by_the_sum_too_and_other_networks_as_before(monkeypatch):
    def of(kind, k):
        made = draw_example(Design(30, 30, 10, 15), kind, stream(k, "a star"))
        truth = Network.of(made.expression.genes, made.is_edge.astype(float))
        return score(infer(made.expression, "ensemble", resamples=20, rng=0), truth).aupr

    tables = [(kind, k) for kind in ("flat", "star") for k in range(2)]
    found = np.array([of(*table) for table in tables])
    monkeypatch.setattr(hubs, "STAR_SLOPE", 0.0)
    before = np.array([of(*table) for table in tables])
    assert np.array_equal(found[:2], before[:2])
    assert (found >= before).all()
    assert (found - before).max() > 0.2


def test_progress_counts_halves_and_genes(expression):
    seen = []
    execution = Execution(progress=lambda *done: seen.append(done))
    run("ensemble", expression, execution=execution, **FEW)
    assert seen == [(done, 14) for done in (2, 4, *range(6, 15))]


def test_five_equal_sources_are_all_named_and_the_largest_always():
    equal = evidence_codes([np.full((1, 2), 0.125)] * 5)
    assert NAMES[equal[0, 0]] == "+".join(SOURCES[:5])
    one = evidence_codes([np.array([[part]]) for part in (0.2, 0.24, 0.2, 0.2, 0.16)])
    assert NAMES[one[0, 0]] == "knock-out"
    assert len(NAMES) == 128
    assert NAMES[:8] == (
        "", "series", "knock-out", "series+knock-out", "knock-down", "series+knock-down",
        "knock-out+knock-down", "series+knock-out+knock-down",
    )  # fmt: skip


def test_knock_outs_alone_rank_by_what_they_add_in_tvcs(expression, steady):
    """Without hub prior, and in another unit."""
    alone = run("knock-outs", expression, steady=steady)
    words = {"hub_power": 0.0, "resamples": 2}
    added = run("tvcs", expression, steady=steady, **words).scores
    added = added - run("tvcs", expression, **words).scores
    assert 1.5 * alone.scores == pytest.approx(added)
    assert set(np.unique(alone.signs)) <= {-1, 0, 1}
    for given in (None, SteadyStates(steady.levels[:1], ("",), [False], steady.genes)):
        with pytest.raises(ValueError, match="knock-outs needs knock-outs or knock-downs"):
            run("knock-outs", expression, steady=given)


@pytest.mark.parametrize(
    ("method", "words", "message"),
    [
        ("ensemble", {"trees": 0}, "trees and resamples must be >= 1 and hub_power >= 0, found 0"),
        ("ensemble", {"hub_power": -1.0}, "trees and resamples must be"),
        ("partial-correlation", {"shrinkage": 1.5}, r"shrinkage must be in \[0, 1\], found 1.5"),
        ("partial-correlation", {"log_offset": 0.0}, "log_offset must be above 0, found 0.0"),
        ("lagged-correlation", {"log_offset": -1.0}, "log_offset must be above 0, found -1.0"),
        ("lagged-correlation", {"response": "x"}, "response must be one of level, change, found"),
        ("knock-outs", {"largest_effect": -1.0}, "knockdown_weight and largest_effect must be"),
    ],
)
def test_an_option_out_of_range_is_refused(expression, method, words, message):
    with pytest.raises(ValueError, match=message):
        run(method, expression, **words)


def test_methods_of_correlation_score_by_its_size_and_tell_its_sign(expression):
    logs = log_levels(expression.values, 0.2, "levels")
    rho = run("spearman", expression)
    off = ~np.eye(8, dtype=bool)
    slow = spearmanr(expression.values).statistic
    assert (rho.scores * rho.signs)[off] == pytest.approx(slow[off])
    W = np.linalg.inv(0.7 * np.corrcoef(logs.T) + 0.3 * np.eye(8))
    slow = -W / np.sqrt(np.outer(W.diagonal(), W.diagonal()))
    partial = run("partial-correlation", expression, shrinkage=0.3)
    assert (partial.scores * partial.signs)[off] == pytest.approx(slow[off])
    before = np.concatenate([np.arange(p.start, p.stop - 1) for p in expression.pieces.values()])
    slow = np.corrcoef(logs[before].T, logs[before + 1].T)[:8, 8:]
    lagged = run("lagged-correlation", expression)
    assert (lagged.scores * lagged.signs)[off] == pytest.approx(slow[off])


def test_the_command_writes_the_evidence_and_refuses_in_one_line(expression, tmp_path):
    table = tmp_path / "series.tsv"
    write_expression(expression, table)
    words = ["infer", str(table), "--scale", "levels"]
    few = ["--option", "resamples=6", "--option", "trees=4"]
    words += ["--out", str(tmp_path / "a"), "--method"]
    done = grn_tvcs(*words, "ensemble", *few)
    assert done.exit_code == 0, done.stderr
    header, *lines = (tmp_path / "a" / "edges.tsv").read_text().splitlines()
    assert header.endswith("\tstability\tevidence\tundirected")
    assert {line.split("\t")[-2] for line in lines} & {"trees", "series+trees"}
    words[-2] = str(tmp_path / "b")
    done = grn_tvcs(*words, "knock-outs")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].endswith("and none are given")
    assert not (tmp_path / "b").exists()

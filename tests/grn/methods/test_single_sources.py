"""Hub priors, evidence of knock-outs, and methods of a single source of evidence."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from grn_tvcs import METHODS, Rules, SteadyStates, simulate, write_expression
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
from grn_tvcs.expression.scales import log_levels
from grn_tvcs.network.evidence import NAMES, SOURCES, evidence_codes
from tests.makers.commands import check_done, check_refused, grn_tvcs


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
    assert (estimate_hub_priors(star[:20, :20]).for_other_evidence == 1.0).all(), (
        "so few genes are without"
    )
    sizes = np.geomspace(5.0, 50.0, 10)
    by_size = [
        estimate_hub_priors(np.r_[size * even[:2], even[2:]]).for_other_evidence.min()
        for size in sizes
    ]
    assert (np.diff(by_size) <= 0).all()


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
    few = ["--option", "resamples=6", "--calibrate", "off"]
    words += ["--out", str(tmp_path / "a"), "--method"]
    check_done(grn_tvcs(*words, "combined", *few))
    header, *lines = (tmp_path / "a" / "edges.tsv").read_text().splitlines()
    assert header.endswith("\tstability\tevidence\tundirected")
    assert {line.split("\t")[-2] for line in lines} & {"trees", "series+trees"}
    words[-2] = str(tmp_path / "b")
    err = check_refused(grn_tvcs(*words, "knock-outs"))
    assert err.splitlines()[-1].endswith("and none are given")
    assert not (tmp_path / "b").exists()

"""Features of pairs, against slow loops."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grn_tvcs import Rules
from grn_tvcs.combine.evidence_scores import (
    CHANGE,
    KNOCKDOWN,
    KNOCKOUT,
    LAGGED,
    LEVELS,
    RANK,
    RANKED_DOWN,
    RATES,
    SYMMETRIC,
    EvidenceScores,
    compute_evidence,
)
from grn_tvcs.combine.features import (
    AGREEING,
    FACTS,
    FLOOR,
    OF_REGULATORS,
    names_and_directions,
    pair_features,
    ranks,
    reverse,
)
from grn_tvcs.evidence.scaling import scale_by_top_mean
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example

NAMES = tuple(names_and_directions())
WORDS = ("spread", "mass", "top", "concentration")


@st.composite
def scored(draw):
    """Scores >= 0 of [input, gene] with ties, zeros and gaps, and which pairs are allowed."""
    n = draw(st.integers(1, 6))
    inputs = np.array(sorted(draw(st.sets(st.integers(0, n - 1), min_size=1))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.random((len(inputs), n))
    if draw(st.booleans()):
        scores = rng.integers(0, 3, scores.shape).astype(float)
    allowed = rng.random(scores.shape) < draw(st.sampled_from([0.0, 0.6, 1.0]))
    allowed[np.arange(len(inputs)), inputs] = False
    scores = np.where(allowed, scores, 0.0)
    if draw(st.booleans()):
        scores[rng.random(len(inputs)) < 0.4] = np.nan
    return scores, allowed, inputs


@given(scored())
def test_the_unit_is_the_mean_of_the_strongest(drawn):
    scores, _, _ = drawn
    n = scores.shape[1]
    strongest = sorted((s for s in scores.ravel().tolist() if s == s), reverse=True)[:n]
    strongest += [0.0] * (min(n, scores.size) - len(strongest))
    mean = sum(strongest) / len(strongest)
    expected = scores / mean if mean > 0 else scores
    assert scale_by_top_mean(scores, n) == pytest.approx(expected, nan_ok=True)


@given(scored(), st.sampled_from([0, 1]))
def test_ranks_are_those_of_a_loop(drawn, axis):
    scores, allowed, _ = drawn
    found = ranks(scores, allowed, axis)
    for place in np.ndindex(scores.shape):
        line = (slice(None), place[1]) if axis == 0 else (place[0], slice(None))
        others, may = scores[line], allowed[line] & ~np.isnan(scores[line])
        if np.isnan(scores[place]):
            assert np.isnan(found[place])
        elif allowed[place]:
            larger = sum(s > scores[place] for s in others[may])
            equal = sum(s == scores[place] for s in others[may])
            assert found[place] == larger + (equal + 1) / 2
        else:
            assert found[place] > may.sum()


@given(scored())
def test_the_reverse_is_looked_up_among_those_that_regulate(drawn):
    scores, _, inputs = drawn
    found, place = reverse(scores, inputs), {g: k for k, g in enumerate(inputs.tolist())}
    for j, i in np.ndindex(scores.shape):
        expected = scores[place[i], inputs[j]] if i in place else np.nan
        assert found[j, i] == expected or (np.isnan(found[j, i]) and np.isnan(expected))


def wide(table, name):
    """A feature of all pairs, (inputs, genes)."""
    return np.broadcast_to(table.columns[name], table.allowed.shape).astype(float)


@pytest.mark.parametrize("which", range(8))
def test_what_regulators_are_like_is_what_loops_say(known, which):
    parts = known[which].parts
    table, n = pair_features(parts), parts.allowed.shape[1]
    for name in OF_REGULATORS:
        if name not in parts.scores:
            assert not any(f"{name} {word}" in table.columns for word in WORDS)
            continue
        scores = np.nan_to_num(scale_by_top_mean(parts.scores[name], n)).tolist()
        mass = [sum(row) for row in scores]
        spread = [sum((s - sum(row) / n) ** 2 for s in row) / n for row in scores]
        mean_mass, mean_spread = np.mean(mass), np.mean(spread)
        unequal = len(mass) * sum(m * m for m in mass) / sum(mass) ** 2
        assert wide(table, f"{name} concentration")[0, 0] == pytest.approx(np.log(unequal))
        for j, i in np.argwhere(parts.allowed).tolist():
            others = sum(scores[j][k] for k in range(n) if k != i) / mean_mass
            top = max(row[i] for row in scores)
            for word, value in (
                ("spread", np.log(spread[j] / mean_spread + 1e-3)),
                ("mass", np.log(others + FLOOR)),
                ("top", np.log(top + FLOOR)),
            ):
                assert wide(table, f"{name} {word}")[j, i] == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("which", range(8))
def test_scores_signs_and_gains_are_what_loops_say(known, which):
    parts = known[which].parts
    table, n = pair_features(parts), parts.allowed.shape[1]
    place = {g: k for k, g in enumerate(parts.inputs.tolist())}
    for j, i in np.argwhere(parts.allowed).tolist():
        for name, scores in parts.scores.items():
            result = scale_by_top_mean(scores, n)
            expected = {f"{name} score": np.log(result[j, i] + FLOOR)}
            if name not in SYMMETRIC:
                back = result[place[i], parts.inputs[j]] if i in place else np.nan
                expected[f"{name} reverse"] = np.log(back + FLOOR)
            if name in (KNOCKOUT, KNOCKDOWN, RANKED_DOWN):
                expected[f"{name} size"] = np.log(1 + scores[j, i])
            if name == RANK:
                expected["rank size"] = scores[j, i]
            for feature, value in expected.items():
                found = wide(table, feature)[j, i]
                assert found == pytest.approx(value, abs=1e-5, nan_ok=True), feature
        if LAGGED in parts.scores:
            gain = scale_by_top_mean(parts.scores[LAGGED], n)[j, i] * parts.facts["lagged gain"]
            assert wide(table, "gain")[j, i] == pytest.approx(np.log(gain + 1e-3), abs=1e-5)
            stable = parts.stability[j, i]
            assert wide(table, "stability")[j, i] == pytest.approx(stable, nan_ok=True)
            for name in set(AGREEING) & set(parts.signed):
                signs = np.sign([parts.signed[LAGGED][j, i], parts.signed[name][j, i]])
                agrees = wide(table, f"lagged agrees with {name}")[j, i]
                assert agrees == pytest.approx(signs[0] * signs[1], nan_ok=True)


def test_facts_go_with_every_pair(known):
    for one in known:
        table = pair_features(one.parts)
        for name in FACTS:
            assert isinstance(table.columns[name], float)
        assert table.columns["genes"] == pytest.approx(np.log(1 + one.design.n_genes))
        assert table.columns["samples"] == pytest.approx(
            np.log(1 + one.design.n_series * one.design.n_points)
        )
        assert table.columns["knocked out"] == pytest.approx(one.design.knocked_out, abs=0.07)
        assert table.columns["column"] == one.design.is_perturbation_known
        assert np.isnan(table.columns["autocorrelation"]) == (one.design.n_series == 0)


def test_with_series_and_all_knocked_every_feature_is_known(known):
    whole = pair_features(known[1].parts)
    assert set(whole.columns) == set(NAMES)
    assert np.isfinite(whole.rows(NAMES)).all()
    few = pair_features(known[0].parts).rows(("stability",))  # steps, too few to be halved
    assert np.isnan(few).all()


def test_what_samples_say_nothing_of_is_unknown(known):
    unknown = {"series": ("knock", RANKED_DOWN), "rest": (LAGGED, "short", RATES, CHANGE, "next")}
    for one, what in ((known[0], "series"), (known[3], "rest")):
        rows = pair_features(one.parts).rows(NAMES)
        for k, name in enumerate(NAMES):
            if name.startswith(unknown[what]) and name != "knocked out":
                assert np.isnan(rows[:, k]).all(), name
    reasons = ("knock", *unknown["rest"], RANKED_DOWN, "gain", "stability", "autocorrelation")
    rows = pair_features(known[3].parts).rows(NAMES)
    result = [k for k, name in enumerate(NAMES) if not name.startswith(reasons)]
    assert np.isfinite(rows[:, result]).all()


def test_of_regulators_that_were_not_knocked_out_effects_are_unknown(known):
    one = known[4]
    table = pair_features(one.parts)
    is_out = one.example.steady.is_changed(is_out=True)[one.parts.inputs]
    assert 0 < is_out.sum() < len(is_out)
    for name in (KNOCKOUT, RANKED_DOWN):
        for word in ("score", "size", "rank among regulators", "rank among targets"):
            column = wide(table, f"{name} {word}")
            assert (np.isnan(column) == ~is_out[:, None])[table.allowed].all()
    ranked = wide(table, f"{KNOCKOUT} rank among regulators")[table.allowed]
    assert np.nanmax(ranked) <= np.log(is_out.sum()) + 1e-6
    assert np.isnan(wide(table, f"{LAGGED} agrees with {KNOCKOUT}")[~is_out]).all()


def test_the_reverse_of_a_pair_whose_target_may_not_regulate_is_unknown(known):
    parts = known[2].parts
    assert len(parts.inputs) == 4
    column = wide(pair_features(parts), f"{LEVELS} reverse")
    may = np.isin(np.arange(parts.allowed.shape[1]), parts.inputs)
    assert (np.isnan(column) == ~may)[parts.allowed].all()


def turned(parts, order):
    """The same parts with the genes in another order: gene k was gene order[k]."""
    back = np.argsort(order)
    moved = back[parts.inputs]
    rows = np.argsort(moved)
    place = np.ix_(rows, order)
    stability = parts.stability
    return EvidenceScores(
        moved[rows],
        parts.allowed[place],
        {name: scores[place] for name, scores in parts.scores.items()},
        {name: scores[place] for name, scores in parts.signed.items()},
        parts.facts,
        None if stability is None else stability[place],
    ), rows


@pytest.mark.parametrize("which", range(8))
def test_the_order_of_genes_changes_the_order_of_features_alone(known, which, rng):
    parts = known[which].parts
    order = rng.permutation(parts.allowed.shape[1])
    other, rows = turned(parts, order)
    one, two = pair_features(parts), pair_features(other)
    assert list(one.columns) == list(two.columns)
    for name in one.columns:
        expected = wide(one, name)[np.ix_(rows, order)][two.allowed]
        assert wide(two, name)[two.allowed] == pytest.approx(expected, abs=1e-5, nan_ok=True), name


def test_rows_of_a_table_are_those_of_the_names(known):
    table = pair_features(known[1].parts)
    names = ("lagged score", "no such feature", "genes")
    rows = table.rows(names)
    assert rows.dtype == np.float32
    assert np.array_equal(rows[:, 0], table.columns["lagged score"][table.allowed])
    assert np.isnan(rows[:, 1]).all()
    assert set(rows[:, 2]) == {np.float32(table.columns["genes"])}
    blocks = [table.rows(names, slice(k, k + 2)) for k in range(0, len(table.allowed), 2)]
    assert np.array_equal(np.concatenate(blocks), rows, equal_nan=True)


def without(expression, genes, constant=()):
    """Some genes of an expression, some of them made constant."""
    values = expression.values[:, genes]
    values[:, list(constant)] = 0.5
    return replace(expression, values=values, genes=tuple(expression.genes[j] for j in genes))


@pytest.mark.parametrize(
    ("genes", "constant", "regulators"),
    [
        ((0, 1), (), None),
        ((0, 1), (1,), None),
        ((0, 1, 2), (0, 1), None),
        ((0, 1, 2, 3, 4), (2,), None),
        ((0, 1, 2, 3), (), {"G1"}),
        ((0, 1, 2, 3), (0,), {"G1"}),
    ],
)
def test_constant_genes_one_regulator_and_two_genes_have_features(genes, constant, regulators):
    """Any warning is an error here."""
    example = draw_example(Design(5, 5, 2, 8), "mid", 1)
    table = without(example.expression, genes, constant)
    rules = Rules(regulators=None if regulators is None else frozenset(regulators))
    parts = compute_evidence(table, rules, np.random.default_rng(0), resamples=4)
    made = pair_features(parts)
    rows = made.rows(NAMES)
    names = [
        k for k, name in enumerate(NAMES) if name.startswith(("lagged sc", "levels sc", "gen"))
    ]
    assert np.isfinite(rows[:, names]).all()
    assert not np.isinf(rows).any()
    assert rows.shape == (made.allowed.sum(), len(NAMES))


@pytest.mark.parametrize("is_knocked", [False, True])
def test_where_no_pair_may_be_an_edge_there_is_nothing_to_tell(combiner, is_knocked):
    """One steady-state sample: all genes are constant."""
    design = Design(5, 5, 0, 3, n_steady=1, knocked_out=float(is_knocked))
    example = draw_example(design, "mid", 1)
    parts = compute_evidence(
        example.expression, example.rules, np.random.default_rng(0), example.steady, resamples=4
    )
    assert parts.inputs.size == 0
    table = pair_features(parts)
    assert table.rows(NAMES).shape == (0, len(NAMES))
    assert combiner.logits(table, parts.inputs).shape == (0, 5)
    assert scale_by_top_mean(np.zeros((0, 5)), 5).shape == (0, 5)

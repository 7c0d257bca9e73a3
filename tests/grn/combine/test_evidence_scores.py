"""All sources of evidence on one table."""

from dataclasses import fields, replace

import numpy as np
import pytest

from grn_tvcs.combine.evidence_scores import (
    CLR,
    EVIDENCE_SOURCES,
    KNOCKDOWN,
    KNOCKOUT,
    LAGGED,
    LEVELS,
    PARTIAL,
    RANK,
    RANKED_DOWN,
    RATES,
    SHORT,
    EvidenceScores,
    autocorrelation,
    n_halves,
)
from grn_tvcs.evidence.samples import all_levels
from grn_tvcs.expression.expression import Expression
from grn_tvcs.stability.execution import Execution
from tests.grn.combine.conftest import evidence_on
from tvcs_core.engines import Serial, Threads

OF_LEVELS = {LEVELS, CLR, RANK, PARTIAL}
OF_KNOCKS = {KNOCKOUT, KNOCKDOWN, RANKED_DOWN}
OF_SERIES = set(EVIDENCE_SOURCES) - OF_LEVELS - OF_KNOCKS
THERE = (
    OF_SERIES | OF_LEVELS,
    set(EVIDENCE_SOURCES),
    OF_SERIES | OF_LEVELS,
    OF_LEVELS,
    OF_SERIES | OF_LEVELS | {KNOCKOUT, RANKED_DOWN},
    OF_SERIES | OF_LEVELS,
    OF_LEVELS | {KNOCKOUT, RANKED_DOWN},
    OF_SERIES | OF_LEVELS,
)


def assert_same(one, other):
    for field in fields(EvidenceScores):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, dict):
            assert list(a) == list(b)
            assert all(np.array_equal(a[k], b[k], equal_nan=True) for k in a)
        elif a is None:
            assert b is None
        else:
            assert np.array_equal(a, b, equal_nan=True), field.name


@pytest.mark.parametrize("which", range(8))
def test_parts_are_those_that_the_samples_allow(known, which):
    parts = known[which].parts
    assert set(parts.scores) == THERE[which]
    assert list(parts.scores) == [name for name in EVIDENCE_SOURCES if name in parts.scores]
    assert (parts.stability is None) == (LAGGED not in parts.scores)
    genes = known[which].example.expression.genes
    allowed = known[which].example.rules.allowed(genes)
    assert np.array_equal(parts.allowed, allowed[parts.inputs])
    assert len(parts.inputs) == known[which].design.n_regulators


@pytest.mark.parametrize("which", range(8))
def test_scores_are_of_pairs_that_may_be_edges(known, which):
    parts = known[which].parts
    n_known = 0
    for scores in parts.scores.values():
        assert scores.shape == parts.allowed.shape
        assert (scores[~parts.allowed] == 0).all()
        assert (scores[~np.isnan(scores)] >= 0).all()
        n_known += int(np.nansum(scores[parts.allowed]) > 0)
    assert n_known >= len(parts.scores) - 1  # a part may find nothing
    for name, signed in parts.signed.items():
        is_told = parts.allowed & (signed != 0)  # lagged regression may not know a sign
        assert is_told.any() or name not in (LAGGED, RANK)
        result = np.abs(signed)[is_told]
        assert result == pytest.approx(parts.scores[name][is_told], nan_ok=True)


def test_of_genes_that_were_not_knocked_out_nothing_is_known(known):
    one = known[4]
    steady, parts = one.example.steady, one.parts
    is_out = steady.is_changed(is_out=True)[parts.inputs]
    assert 0 < is_out.sum() < len(is_out)
    for name in (KNOCKOUT, RANKED_DOWN):
        result = np.isnan(parts.scores[name])
        assert (result == ~is_out[:, None])[parts.allowed].all()
    moved = steady.shifts(one.example.expression, is_out=True)[parts.inputs]
    assert np.array_equal(parts.signed[KNOCKOUT][is_out], moved[is_out])
    assert parts.facts["knocked out"] == is_out.mean()


def test_a_wild_type_alone_adds_samples_and_no_part(known):
    example = known[1].example
    wild = replace(
        example.steady,
        levels=example.steady.levels[:1],
        changed=("",),
        is_knockout=np.zeros(1, dtype=bool),
        is_overexpressed=None,
    )
    parts = evidence_on(replace(example, steady=wild))
    assert set(parts.scores) == OF_SERIES | OF_LEVELS
    assert parts.facts["knocked out"] == 0


def test_genes_that_do_not_vary_are_no_targets(known):
    example = known[0].example
    values = example.expression.values.copy()
    values[:, 2] = 0.25
    table = replace(example.expression, values=values)
    parts = evidence_on(replace(example, expression=table))
    assert not parts.allowed[:, 2].any()
    for scores in parts.scores.values():
        assert not scores[:, 2].any()
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("which", [1, 5])
def test_the_same_numbers_drawn_give_the_same_parts_on_one_thread_or_two(known, which):
    example = known[which].example
    assert_same(evidence_on(example, execution=Execution(Threads(2))), known[which].parts)


def test_other_numbers_drawn_give_other_forests_and_the_same_correlations(known):
    other = evidence_on(known[0].example, 1)
    for name, scores in known[0].parts.scores.items():
        is_drawn = name in (LAGGED, SHORT, LEVELS, "rates")
        assert np.array_equal(other.scores[name], scores) != is_drawn, name


@pytest.mark.parametrize("which", range(8))
@pytest.mark.parametrize("threads", [1, 2])
def test_progress_never_falls_and_ends_at_its_total(known, which, threads):
    result = []
    execution = Execution(Threads(threads), lambda done, of: result.append((done, of)))
    evidence_on(known[which].example, execution=execution)
    done, of = zip(*result, strict=True)
    assert len(set(of)) == 1
    assert list(done) == sorted(done)
    assert done[0] >= 0
    assert done[-1] == of[0]


# Within the first memory, the second, trees for rates (of 8 genes) and for levels.
@pytest.mark.parametrize(
    ("after", "there"),
    [
        (3, [LAGGED]),
        (8, [LAGGED, SHORT]),
        (12, [LAGGED, RATES, SHORT]),
        (20, [LAGGED, LEVELS, RATES, SHORT]),
    ],
)
def test_an_interrupted_run_ends_as_if_it_had_not_been(known, tmp_path, after, there):
    example, checkpoint_dir = known[0].example, tmp_path / "kept"

    def interrupt(done, of):
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evidence_on(example, execution=Execution(Serial(), interrupt, checkpoint_dir))
    names = sorted(path.name for path in checkpoint_dir.iterdir())
    assert names == there
    kept = {path: path.stat().st_mtime_ns for path in checkpoint_dir.rglob("unit-*")}
    again = evidence_on(example, execution=Execution(checkpoint_dir=checkpoint_dir))
    assert_same(again, known[0].parts)
    assert all(path.stat().st_mtime_ns == then for path, then in kept.items())
    assert len(list((checkpoint_dir / LEVELS / "forests").glob("unit-*"))) == len(
        example.expression.genes
    )


def test_facts_are_those_of_the_design(known):
    for one in known:
        facts, design = one.parts.facts, one.design
        assert facts["genes"] == design.n_genes
        assert facts["inputs"] == design.n_regulators
        assert facts["series"] == design.n_series
        assert facts["steps"] == design.n_series * (design.n_points - 1)
        assert facts["samples"] == design.n_series * design.n_points
        assert facts["at rest"] == design.n_steady
        assert facts["column"] == design.is_perturbation_known
        levels = all_levels(one.example.expression, one.example.steady)
        order = levels.argsort(axis=0).argsort(axis=0)
        r = np.abs(np.corrcoef(order.T))[np.triu_indices(design.n_genes, 1)]
        assert facts["median r"] == pytest.approx(np.median(r), abs=0.02)
        assert facts["high r"] == pytest.approx(np.quantile(r, 0.95), abs=0.04)


def test_autocorrelation_is_high_where_levels_move_slowly(rng):
    def series(memory):
        x = rng.standard_normal((60, 6))
        for t in range(1, 60):
            x[t] += memory * x[t - 1]
        times = np.tile(np.arange(30.0), 2)
        return Expression(x, times, ("a",) * 30 + ("b",) * 30, tuple("abcdef"), scale="log")

    assert autocorrelation(series(0.9)) > 0.6
    assert abs(autocorrelation(series(0.0))) < 0.3
    flat = replace(series(0.5), values=np.ones((60, 6)))
    assert autocorrelation(flat) == 0


def test_of_networks_with_many_pairs_fewer_halves_are_solved():
    for resamples in (2, 6, 30, 100, 1000):
        n_pairs = (0, 1, 90, 9_900, 100_000, 400_000, 10**6, 10**8, 10**12)
        halves = [n_halves(resamples, n) for n in n_pairs]
        assert halves[:5] == [resamples] * 5
        assert halves == sorted(halves, reverse=True)
        assert halves[-1] == min(resamples, 30)
    assert n_halves(1000, 400_000) == 500

"""Variation that many genes share: growth, operons, common courses."""

import json
from dataclasses import replace

import numpy as np
import pytest

from grn_tvcs import simulate
from grn_tvcs.simulation import common_variation as module
from grn_tvcs.simulation import examples
from grn_tvcs.simulation.common_variation import draw_common_variation
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import DRIVEN, UNMEASURED
from tests.makers.commands import grn_tvcs

LENGTHS = [12, 12, 7, 1, 1, 1]
DESIGN = Design(30, 10, 4, 8, n_steady=6)


def only(monkeypatch, **ranges):
    for name, value in ranges.items():
        monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize("seed", range(4))
def test_every_sample_changes_and_the_same_seed_changes_it_alike(seed):
    one, again = (draw_common_variation(LENGTHS, 9, np.random.default_rng(seed)) for _ in range(2))
    assert one.shape == (sum(LENGTHS), 9)
    assert np.array_equal(one, again)
    assert np.isfinite(one).all()
    assert one.mean(axis=0) == pytest.approx(np.zeros(9), abs=1e-9)
    assert one.std(axis=0).max() > 0.02


def test_one_factor_of_all_genes_is_of_rank_one_and_of_the_size_that_was_drawn(monkeypatch):
    only(monkeypatch, N_FACTORS=(1, 1), SIZE=(0.4, 0.4), P_OPERONS=0.0)
    found = draw_common_variation(LENGTHS, 20, np.random.default_rng(1))
    sizes = np.linalg.svd(found, compute_uv=False)
    assert sizes[1] < 1e-9 * sizes[0]
    assert np.sqrt(np.mean(found.var(axis=0))) == pytest.approx(0.4)


def test_a_common_course_is_the_same_in_all_series_up_to_where_they_start(monkeypatch):
    only(monkeypatch, N_FACTORS=(1, 1), P_SAME_COURSE=1.0, P_OPERONS=0.0)
    found = draw_common_variation([9, 9, 9], 5, np.random.default_rng(2))
    first, second, third = (part - part[0] for part in np.split(found, 3))
    assert first == pytest.approx(second)
    assert first == pytest.approx(third)
    only(monkeypatch, P_SAME_COURSE=0.0)
    found = draw_common_variation([9, 9, 9], 5, np.random.default_rng(2))
    assert not np.allclose(*(part - part[0] for part in np.split(found, 3)[:2]))


def test_genes_of_an_operon_change_alike_and_each_in_one_operon(monkeypatch):
    only(monkeypatch, IN_OPERONS=1.0)
    found = module._operons(LENGTHS, 60, np.random.default_rng(3))
    moved = found[:, found.std(axis=0) > 0]
    r = np.corrcoef(moved.T) > 1 - 1e-9
    sizes = r.sum(axis=0)
    least, most = module.OPERON
    assert moved.shape[1] > 6
    assert sizes.max() <= most
    assert np.mean(sizes >= least) > 0.9  # the last one may have fewer genes
    assert np.array_equal(r, r @ r > 0)  # alike is transitive


@pytest.mark.parametrize("kind", ["mid", "noise"])
def test_genes_of_a_table_go_together_more_closely(kind):
    def median_r(design, seed):
        draw = draw_null if kind == "noise" else draw_example
        logs = np.log(draw(design, kind, seed).expression.values + 0.05)
        return np.median(np.abs(np.corrcoef(logs.T))[np.triu_indices(design.n_genes, 1)])

    plain, common = (
        [median_r(replace(DESIGN, common=shared), seed) for seed in range(8)]
        for shared in (False, True)
    )
    assert np.mean(common) > np.mean(plain) + 0.05


def test_the_network_stays_and_tables_without_common_variation_too(monkeypatch):
    plain = draw_example(DESIGN, "mid", 1)
    common = draw_example(replace(DESIGN, common=True), "mid", 1)
    assert np.array_equal(plain.signs, common.signs)
    assert not np.allclose(plain.expression.values, common.expression.values)
    monkeypatch.setattr(examples, "draw_common_variation", None)
    again = draw_example(DESIGN, "mid", 1)
    assert np.array_equal(plain.expression.values, again.expression.values)


def test_all_samples_of_a_simulation_vary_together_and_its_network_stays():
    plain, common = (
        simulate(8, 2, 5, noise="none", sde=0.0, rng=3, common_variation=shared)
        for shared in (False, True)
    )
    assert np.array_equal(plain.network.scores, common.network.scores)
    assert np.array_equal(plain.perturbations, common.perturbations)
    for name in ("wild_type", "knockouts", "multifactorial"):
        before, after = (getattr(one, name) * one.scale for one in (plain, common))
        moved = np.abs(np.log(after[before > 0.05] / before[before > 0.05]))
        assert np.median(moved) > 0.01, name
        assert np.array_equal(before == 0, after == 0)
    change = common.expression.values * common.scale / (plain.expression.values * plain.scale)
    assert np.std(np.log(change), axis=0).min() > 0


def test_the_command_varies_what_it_writes_and_records_it(tmp_path):
    for name, more in (("plain", []), ("common", ["--common-variation"])):
        words = ["simulate", "--genes", "6", "--series", "2", "--points", "4", *more]
        done = grn_tvcs(*words, "--out", tmp_path / name)
        assert done.exit_code == 0, done.stderr
        record = json.loads((tmp_path / name / "run.json").read_text())
        assert record["parameters"]["common_variation"] == bool(more)
    one, other = (tmp_path / name for name in ("plain", "common"))
    gold, series = "goldstandard.tsv", "timeseries.tsv"
    assert (one / gold).read_text() == (other / gold).read_text()
    assert (one / series).read_text() != (other / series).read_text()


@pytest.mark.parametrize("design", [DESIGN, replace(DESIGN, common=True, n_series=0)])
def test_regulators_that_are_not_measured_leave_no_edge_but_genes_that_answer(design):
    for seed in range(3):
        made = draw_null(design, UNMEASURED, seed)
        assert made.kind == UNMEASURED
        assert not made.is_edge.any()
        assert len(made.expression.genes) == design.n_genes
        assert len(made.rules.regulators) == design.n_regulators
        assert made.rules.regulators <= set(made.expression.genes)
    assert draw_null(DESIGN, DRIVEN, 0).kind == DRIVEN

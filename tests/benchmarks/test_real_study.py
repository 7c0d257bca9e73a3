"""The study of real sets on sets made here: what is read, judged, kept and chosen."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.real import study, weights
from benchmarks.real.page import by_family, gains, lost
from benchmarks.real.peers import grnboost2
from benchmarks.real.sets import SIMULATED, real_table, real_tables, simulated_table
from grn_tvcs.combine.blend.blend import LEARNED, PIDC, SUM
from grn_tvcs.network.rules import Rules
from tests.makers.studies import run_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A series of five genes, and cells of four in two lineages."""
    path, rng = tmp_path_factory.mktemp("sets"), np.random.default_rng(0)
    (path / "irma").mkdir()
    levels = pd.DataFrame(rng.random((16, 5)), columns=list("EDCBA"))
    levels.insert(0, "Time", np.arange(16) * 10.0)
    levels.to_csv(path / "irma" / "series.csv", index=False)
    pairs = pd.DataFrame({"regulator": ["A", "B", "A"], "target": ["B", "C", "A"]})
    pairs.to_csv(path / "irma" / "gold.csv", index=False)
    (path / "GSD-2").mkdir()
    cells = [f"c{k}" for k in range(240)]
    values = pd.DataFrame(rng.random((4, 240)), index=list("WXYZ"), columns=cells)
    values.to_csv(path / "GSD-2" / "ExpressionData.csv.gz")
    clock = pd.DataFrame({"P1": rng.random(240), "P2": np.nan}, index=cells)
    clock.loc[cells[120:], "P2"] = clock.loc[cells[120:], "P1"]
    clock.loc[cells[120:], "P1"] = np.nan
    clock.to_csv(path / "GSD-2" / "PseudoTime.csv")
    pd.DataFrame({"regulator": ["W"], "target": ["Z"]}).to_csv(
        path / "GSD-2" / "gold.csv", index=False
    )
    return path


def test_sets_are_read_with_their_edges(folder):
    assert real_tables(folder) == ["irma", "GSD-2"]
    irma, cells = (real_table(folder, name) for name in real_tables(folder))
    assert irma.expression.genes == tuple("ABCDE")
    [gold] = irma.golds
    assert np.argwhere(gold.is_edge).tolist() == [[0, 1], [1, 2]]
    assert gold.judged.sum() == 20
    assert gold.chance == pytest.approx(0.1)
    assert cells.family == "GSD"
    assert len(cells.expression.times) == 22  # square roots of 120 cells
    assert cells.expression.unbinned.shape == (240, 4)


@pytest.mark.parametrize("family", SIMULATED)
def test_simulated_families_have_edges_and_are_drawn_alike(family):
    made, again = simulated_table(family, 1), simulated_table(family, 1)
    assert np.array_equal(made.expression.values, again.expression.values)
    [gold] = made.golds
    assert 0 < gold.is_edge.sum() < gold.judged.sum()
    assert gold.judged.shape == (30, 30)
    assert (made.expression.unbinned is not None) == (family == "cells")
    if family == "operons":
        assert not gold.is_edge[1::2].any()
        assert np.array_equal(gold.is_edge[:, ::2], gold.is_edge[:, 1::2])
        r = np.corrcoef(np.log(made.expression.values + 1e-9).T)
        assert np.diag(r, 1)[::2].mean() > 0.5


def test_the_study_keeps_a_row_per_method_and_writes_its_tables(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "N_SEEDS", 2)
    words = [folder, "--out", tmp_path, "--methods", "combined,clr,pidc,grnboost2"]
    assert run_study(study.main, *words).returncode == 0
    kept = (tmp_path / study.NAME).read_text()
    assert len(kept.splitlines()) == 1 + 2 * 4
    assert run_study(study.main, *words).returncode == 0
    assert (tmp_path / study.NAME).read_text() == kept
    cases = study.load(tmp_path / study.NAME, study.Case)
    found = gains(cases)
    assert set(found) == {"irma", "GSD"}
    one = next(c for c in cases if c.table == "GSD-2" and c.method == "clr")
    assert found["GSD"]["clr"] == pytest.approx(np.log2(one.aupr / one.chance))
    assert "of 2 families" in lost(cases)
    rows = by_family(cases).splitlines()
    assert len(rows) == 2 + 4
    means = [float(row.split("|")[-3]) for row in rows[2:]]
    assert means == sorted(means, reverse=True)


def test_a_row_of_a_method_with_draws_is_the_mean_of_several_seeds(folder, monkeypatch):
    task = study.Task(str(folder), "irma", "grnboost2")
    made = real_table(folder, "irma")
    of_seed = []
    for seed in range(2):
        scores, _ = study.answer(made, task.method, seed)
        of_seed.append(study.case_of(task, made, made.golds[0], scores, None, 0.0))
    assert of_seed[0].aupr != of_seed[1].aupr
    monkeypatch.setattr(study, "N_SEEDS", 2)
    [found] = study.solve(task)
    assert found.aupr == pytest.approx(np.mean([case.aupr for case in of_seed]))
    monkeypatch.setattr(study, "FEW_GENES", 4)  # a table of many genes
    [found] = study.solve(task)
    assert found.aupr == of_seed[0].aupr


def test_an_unknown_method_and_a_folder_without_sets_are_refused(tmp_path):
    for words, message in (
        ([tmp_path, "--methods", "guess"], "'guess' is none of combined"),
        ([tmp_path], "must hold real sets"),
    ):
        refused = run_study(study.main, *words)
        assert refused.returncode == 2
        assert message in refused.stderr


def test_grnboost2_finds_the_regulator_of_a_gene(rng):
    levels = rng.normal(size=(120, 4))
    levels[:, 3] = levels[:, 1] + 0.3 * rng.normal(size=120)
    rules = Rules(regulators=frozenset("AB"))
    scores = grnboost2(levels, rules.inputs(tuple("ABCD")))
    assert scores.shape == (2, 4)
    assert scores[1, 3] > 3 * scores[0, 3]
    assert scores[0, 0] == scores[1, 1] == 0


def test_weights_are_judged_on_the_family_that_did_not_choose_them(rng):
    """Three families agree on one part and the fourth on another."""
    n = len(weights.PARTS)

    def family(part):
        is_edge = rng.random(400) < 0.2
        ranks = rng.random((n, 400))
        ranks[part] += 2 * is_edge
        return [(ranks, is_edge)]

    learned, pidc = weights.PARTS.index(LEARNED), weights.PARTS.index(PIDC)
    families = {name: family(learned) for name in ("one", "two", "four")}
    families["three"] = family(pidc)
    grid = [
        tuple(float(name == chosen) for name in weights.PARTS) for chosen in (SUM, LEARNED, PIDC)
    ]
    message = weights.describe_weights(families, grid)
    worst = message.splitlines()[2]
    assert worst.startswith("| three | learned |")
    assert "| one | learned |" in message
    assert weights.gain(grid[1], families["one"]) > 1.5


def test_rankings_are_kept_and_read_again(folder, tmp_path):
    first = weights.judged("irma", folder, tmp_path)
    again = weights.judged("irma", tmp_path / "none", tmp_path)
    for (ranks, is_edge), (known, truth) in zip(first, again, strict=True):
        assert ranks.shape == (len(weights.PARTS), 20)
        assert np.array_equal(ranks, known)
        assert np.array_equal(is_edge, truth)

"""The network study goes on where it was stopped, and its tables say what its rows hold."""

import csv
import shutil
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.networks import cases, methods, show, single_cells, stability
from benchmarks.networks import study as networks_study
from benchmarks.peers.areas import area_under_roc, average_precision
from benchmarks.study import ROOT, load
from grn_tvcs import METHODS, Network, score
from tests.makers.studies import run_study

CHOSEN = ["tvcs", "tvcs-plain", "aracne", "dyngenie3", "random", "TVCS alone", "all of these"]


def study(out, *words):
    """Run a few methods on one network of each design; what it said."""
    few = ["--repeats", "1", "--jobs", "1", "--trees", "2"]
    return run_study(networks_study.main, *words, "--out", out, *few, "--methods", *CHOSEN)


def rows(path):
    """The rows without their last column, the seconds."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.rpartition(",")[0] for line in lines]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    ran = study(out)
    assert ran.returncode == 0, ran.stderr
    return out


def test_a_study_that_was_stopped_in_the_middle_of_a_row_goes_on_and_ends_the_same(
    finished, tmp_path
):
    shutil.copytree(finished, tmp_path / "cut")
    path = tmp_path / "cut" / "one-network.csv"
    whole = rows(path)
    kept = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert kept[-1].startswith("network,1,all of these")
    path.write_text("".join(kept[:-1]) + kept[-1][:9], encoding="utf-8")
    second = study(tmp_path / "cut")
    assert "1 fits to do" in second.stdout
    assert "ten-networks: 46 cases known, 0 fits to do" in second.stdout
    assert rows(path) == whole


def test_cases_of_other_forests_do_not_join_a_study(finished):
    (finished / "trees.txt").write_text("3\n", encoding="utf-8")
    refused = study(finished)
    (finished / "trees.txt").write_text("2\n", encoding="utf-8")
    assert refused.returncode != 0
    assert "another trees: 3" in refused.stderr


def test_every_row_names_its_cut_and_whether_that_knows_the_truth(finished):
    with (finished / "one-network.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    message = {(row["cut"], row["caps"]): row["from_truth"] for row in found}
    assert message == {
        ("top-n", ""): "yes",
        ("caps", "2 per gene"): "no",
        ("caps", "largest degrees"): "yes",
        ("caps", "out-degrees"): "yes",
        ("own", ""): "no",
    }
    given = {row["method"]: row["given"] for row in found}
    assert given["tvcs"] == given["dyngenie3"] == "series"
    assert given["all of these"] == "series, perturbation, knock-outs and -downs"
    assert {row["n_pairs"] for row in found if row["pairs"] == "all"} == {"870"}


def test_the_page_is_filled_from_the_rows(finished, tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "studies").mkdir()
    shutil.copy(ROOT / "docs" / "studies" / "network-study.md", tmp_path / "studies")
    show.write_docs(finished, tmp_path, 0)
    page = (tmp_path / "studies" / "network-study.md").read_text(encoding="utf-8")
    known = load(finished / "ten-networks.csv", cases.Case)
    [best] = [c for c in known if (c.method, c.way, c.pairs) == ("tvcs", "top-n", "all")]
    assert f"| tvcs | top-n | {best.sn:.3f} ± 0.000 | {best.sp:.3f} ± 0.000 |" in page
    drawn = (tmp_path / "figures" / "network-study.svg").read_text(encoding="utf-8")
    assert drawn.count("<circle") == 30
    assert drawn.count("marker-end") == best.n_edges


def test_a_folder_of_networks_is_read_like_a_design():
    [(name, draw)] = cases.names(str(ROOT / "data"), 10)
    found = cases.data(str(ROOT / "data"), name, draw, 0)
    assert (name, len(found.expression.genes)) == ("network30", 30)
    assert found.perturbed.perturbed.sum() == 10 * 10
    assert found.steady.is_knockout.sum() == 30


def test_noise_draws_share_the_network_and_all_but_the_noise():
    one, two = (cases.data("one-network", "network", k, 0) for k in (1, 2))
    assert (one.reference.selected == two.reference.selected).all()
    gap = one.expression.values - two.expression.values
    assert 0 < np.abs(gap).std() < 0.15
    assert np.corrcoef(one.expression.values.ravel(), two.expression.values.ravel())[0, 1] > 0.8


def test_caps_among_linked_pairs_choose_from_these_alone():
    reference = Network.of(("a", "b", "c"), np.array([[0, 1.0, 0], [0, 0, 0], [0, 0, 0]]))
    scores = np.array([[0, 0.2, 0.9], [0.1, 0, 0.8], [0, 0.7, 0]])
    network = Network.of(("a", "b", "c"), scores)
    judge = cases.judge
    linked = judge(network, reference, "largest degrees", "linked")
    assert (linked.n_selected, linked.n_found) == (1, 1)
    every = judge(network, reference, "largest degrees", "all")
    assert (every.n_selected, every.n_found) == (1, 0)


def test_true_degrees_alone_tell_directions_of_a_ranking_that_knows_nothing():
    scores = np.zeros((6, 6))
    scores[0, 1:] = 1.0  # a star: its centre is the only gene with targets
    reference = Network.of(tuple("abcdef"), scores)
    found = SimpleNamespace(expression=SimpleNamespace(genes=reference.genes), reference=reference)
    network = methods.at_random(found, 0)
    judged = cases.judge(network, reference, "out-degrees", "linked")
    assert judged.auc == 1.0


PARTS = {"spearman", "partial-correlation", "lagged-correlation", "knock-outs", "combined", "pidc"}


def test_the_methods_of_the_study_are_those_of_the_package_and_chance():
    """Sources of evidence and their sum are measured by `benchmarks.networks.kinds`, PIDC by
    `benchmarks.real.study`."""
    assert set(show.METHODS) == {*METHODS, "random"} - PARTS
    assert set(METHODS) >= PARTS


def test_a_network_by_chance_has_the_scores_of_chance():
    data = cases.data("one-network", "network", 1, 0)
    areas = [score(methods.at_random(data, seed), data.reference).auroc for seed in range(40)]
    assert np.mean(areas) == pytest.approx(0.5, abs=0.03)


@pytest.fixture
def seeds(monkeypatch):
    """Seeds that are asked for; an answer's AUPR is its seed, and .5 more for ``combined``."""
    asked = []

    def cells_of(lineages, n_genes, regulators, n_cells, seed):
        asked.append(seed)
        return seed, None

    def infer(seed, method, **options):
        return seed + 0.5 * (method == "combined")

    def score(aupr, true):
        return SimpleNamespace(aupr=aupr, aupr_by_chance=0.0)

    for made in (cells_of, infer, score):
        monkeypatch.setattr(single_cells, made.__name__, made)
    monkeypatch.setattr(single_cells, "average_in_bins", lambda data, bins: data)
    return asked


def test_no_two_tables_share_a_network_and_ways_are_held_against_the_peer(
    seeds, monkeypatch, capsys
):
    words = ["--networks", "3", "--ways", "auto, combined", single_cells.PEER]
    monkeypatch.setattr(sys, "argv", ["single_cells", *words])
    single_cells.main()
    assert len(seeds) == len(set(seeds)) == 3 * len(single_cells.TOPOLOGIES)
    *_, means, differences = capsys.readouterr().out.splitlines()
    middle = np.mean(seeds)
    assert means == f"| mean | {middle + 0.5:.3f} | {middle:.3f} | 0.000 |"
    assert "auto, combined +0.500 (0.000)" in differences


def test_a_difference_is_shown_with_its_standard_error():
    assert single_cells.describe_differences(np.array([0.1, 0.3, 0.2, 0.2])) == "+0.200 (0.041)"
    assert single_cells.describe_differences(np.array([0.25])) == "+0.250 (nan)"


def test_networks_of_the_study_of_stability_are_those_of_their_numbers():
    one, again, other = (
        stability.measure(10, (4, 12), None, [seed, 1, 10, 4, 12, 0]) for seed in (0, 0, 1)
    )
    assert (one[1] == again[1]).all()
    assert (one[1] != other[1]).any()
    assert stability.measure(10, (1, 12), None, [0, 1, 10, 1, 12, 0]) is None


def test_areas_are_those_of_scikit_learn(rng):
    for _ in range(20):
        truth, ranking = rng.random(30) < 0.3, rng.integers(-3, 4, 30) / 2
        truth[:2] = True, False
        assert area_under_roc(truth, ranking) == pytest.approx(roc_auc_score(truth, ranking))
        assert average_precision(truth, ranking) == pytest.approx(
            average_precision_score(truth, ranking)
        )
    nothing = np.zeros(4, bool)
    assert np.isnan(average_precision(nothing, np.arange(4.0)))
    assert np.isnan(area_under_roc(nothing, np.arange(4.0)))

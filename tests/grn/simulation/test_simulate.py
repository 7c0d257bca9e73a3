import json

import numpy as np
import pytest
from pytest import approx

from grn_tvcs import Expression, Network, read_reference, simulate
from grn_tvcs.simulation.simulation import write_simulation
from grn_tvcs.simulation.topology import read_topology
from tests.makers.commands import check_done, check_refused, grn_tvcs

QUIET = {"noise": "none", "sde": 0.0}


@pytest.fixture(scope="module")
def made():
    return simulate(8, 3, 9, rng=5)


def experiments(simulation):
    """All measured levels, before they were divided by the largest."""
    parts = (
        simulation.expression.values,
        simulation.wild_type,
        simulation.knockouts,
        simulation.knockdowns,
        simulation.multifactorial,
    )
    return [part * simulation.scale for part in parts]


def test_the_same_seed_gives_the_same_files_and_another_seed_does_not(made, tmp_path):
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        (tmp_path / name).mkdir()
        write_simulation(simulate(8, 3, 9, rng=seed), tmp_path / name)
    texts = [
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "abc"
    ]
    assert texts[0] == texts[1]
    assert all(texts[0][name] != texts[2][name] for name in texts[0])


def test_another_series_or_a_later_point_changes_no_other_experiment(made):
    more = simulate(8, 5, 9, rng=5)
    assert made.network.edges() == more.network.edges()
    for small, large in zip(experiments(made), experiments(more), strict=True):
        assert small == approx(large[: len(small)])


def test_series_alone_are_those_of_all_experiments(made, tmp_path):
    alone = simulate(8, 3, 9, series_only=True, rng=5)
    assert alone.network.edges() == made.network.edges()
    for part, whole in zip(experiments(alone)[:2], experiments(made)[:2], strict=True):
        assert part == approx(whole)
    assert [len(rows) for rows in (alone.knockouts, alone.knockdowns, alone.multifactorial)] == [
        0
    ] * 3
    write_simulation(alone, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "timeseries.tsv", "timeseries_perturbations.tsv", "wildtype.tsv", "goldstandard.tsv"
    }  # fmt: skip


def test_noise_of_the_measurement_changes_nothing_below_it():
    exact, noisy = (simulate(6, 2, 5, noise=noise, rng=1) for noise in ("none", "lognormal"))
    ratio = experiments(noisy)[2] / np.where(experiments(exact)[2] > 0, experiments(exact)[2], 1.0)
    assert np.std(np.log10(ratio[ratio > 0])) == approx(0.1, rel=0.35)


def test_the_order_of_the_lines_of_a_topology_changes_nothing(tmp_path):
    lines = ["B\tA\t+", "A\tC\t-", "C\tA\t?", "B\tC\t+"]
    runs = []
    for order in (lines, lines[::-1]):
        (tmp_path / "t.tsv").write_text("\n".join(order))
        runs.append(simulate(1, 1, 3, topology=read_topology(tmp_path / "t.tsv"), rng=0))
    assert np.array_equal(runs[0].expression.values, runs[1].expression.values)


def test_levels_are_never_negative_and_the_largest_is_one(made):
    parts = [part / made.scale for part in experiments(made)]
    assert min(part.min() for part in parts) >= 0
    assert max(part.max() for part in parts) == approx(1)


@pytest.mark.parametrize("sde", [0.0, 0.05])
def test_a_gene_that_is_knocked_out_has_no_mrna(sde):
    exact = simulate(8, 1, 2, noise="none", sde=sde, rng=2)
    assert (np.diag(exact.knockouts) == 0).all()
    assert (exact.wild_type > 0).all()


def test_a_gene_without_regulators_is_halved_by_a_knock_down():
    network = Network.of(("A", "B"), np.array([[0.0, 1.0], [0.0, 0.0]]))
    exact = simulate(topology=network, n_series=1, n_points=2, rng=0, **QUIET)
    assert exact.knockdowns[0, 0] * exact.scale == approx(0.5, abs=0.01)
    assert exact.wild_type[0] * exact.scale == approx(1, abs=0.01)


def test_direct_targets_move_as_their_signs_say_in_knock_outs():
    exact = simulate(30, 1, 2, rng=3, **QUIET)
    assert exact.network.signs is not None
    single = exact.network.in_degrees == 1
    effect = (exact.knockouts - exact.wild_type) * exact.network.signs
    rows, cols = np.nonzero(exact.network.scores)
    direct = effect[rows, cols][single[cols]]
    assert direct.size > 4
    assert (direct <= 1e-4).all()


def test_all_series_start_from_the_wild_type_and_are_released_at_half_time():
    exact = simulate(10, 4, 61, rng=1, **QUIET)
    values = exact.expression.values.reshape(4, 61, 10)
    assert (values[:, 0] == exact.wild_type).all()
    assert exact.expression.times[:3].tolist() == [0, 50, 100]
    away = np.abs(values - exact.wild_type).max(axis=(0, 2))
    assert away[30] > 0.1
    assert away[60] < 0.02
    free = np.flatnonzero(exact.network.in_degrees == 0)
    basal = 1 + exact.perturbations[:, free]
    assert values[:, 30][:, free] * exact.scale == approx(basal, abs=1e-3)


def test_about_a_third_of_the_genes_is_perturbed():
    made = simulate(40, 30, 2, noise="none", sde=0.0, n_edges=13, rng=0)
    assert np.mean(made.perturbations != 0) == approx(0.33, abs=0.05)


@pytest.mark.parametrize(
    ("noise", "level", "law"),
    [
        ("normal", 0.02, lambda x: np.full_like(x, 0.02)),
        ("lognormal", 0.02, lambda x: 0.02 * np.log(10) * x),
        ("microarray", 0.2, lambda x: 0.2 * x * np.sqrt(0.001 + 0.689 / (1 + x / 0.01))),
    ],
)
def test_noise_has_no_bias_and_the_deviation_of_its_law(noise, level, law):
    sizes = {"n_genes": 30, "n_series": 40, "n_points": 21, "sde": 0.0, "rng": 4}
    true = experiments(simulate(noise="none", **sizes))[0]
    seen = experiments(simulate(noise=noise, noise_level=level, **sizes))[0]
    far = true > 0.1
    z = ((seen - true) / law(true))[far]
    assert z.size > 10_000
    assert z.mean() == approx(0, abs=0.04)
    assert z.std() == approx(1, abs=0.03)
    assert np.mean(np.abs(z) > 3) < 0.01


def test_files_are_read_back(made, tmp_path):
    write_simulation(made, tmp_path)
    expression = Expression.of(tmp_path / "timeseries.tsv")
    assert expression.values == approx(made.expression.values, abs=1e-6)
    assert expression.times.tolist() == made.expression.times.tolist()
    reference = read_reference(tmp_path / "goldstandard.tsv", expression.genes)
    assert np.array_equal(reference.signs, made.network.signs)
    assert np.array_equal(reference.scores > 0, made.network.scores > 0)
    for name, rows in (("wildtype", 1), ("knockouts", 8), ("timeseries_perturbations", 3)):
        lines = (tmp_path / f"{name}.tsv").read_text().splitlines()
        assert lines[0].split("\t") == list(expression.genes)
        assert len(lines) == rows + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_genes": 1}, "n_genes must be >= 2"),
        ({"n_series": 0}, "n_series must be >= 1"),
        ({"n_points": 1}, "n_points must be >= 2"),
        ({"n_edges": 0}, "n_edges must be >= 1"),
        ({"n_edges": 10_000}, r"n_edges must be in \[9, 180\] for 30 genes"),
        ({"noise": "loud"}, "noise must be one of normal, lognormal, microarray, none"),
        ({"noise_level": -0.1}, "noise_level must be finite and >= 0, found -0.1"),
        ({"noise_level": float("nan")}, "noise_level must be finite"),
        ({"sde": -1.0}, "sde must be finite and >= 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate(**arguments)


class TestCommand:
    """`grn-tvcs simulate` and what it refuses."""

    FILES = (
        "goldstandard.tsv", "knockdowns.tsv", "knockouts.tsv", "multifactorial.tsv", "run.json",
        "timeseries.tsv", "timeseries_perturbations.tsv", "wildtype.tsv",
    )  # fmt: skip

    def test_it_writes_all_experiments_and_takes_its_own_network_back(self, tmp_path):
        words = ["--genes", 7, "--series", 2, "--points", 5, "--regulators", 5, "--seed", 3]
        words += ["--noise", "microarray", "--max-out-degree", 3, "--max-in-degree", 2]
        check_done(grn_tvcs("simulate", "--out", tmp_path / "a", *words))
        assert sorted(path.name for path in (tmp_path / "a").iterdir()) == list(self.FILES)
        record = json.loads((tmp_path / "a" / "run.json").read_text())
        assert record["parameters"]["regulators"] == 5
        assert record["levels_divided_by"] > 0.3
        gold = tmp_path / "a" / "goldstandard.tsv"
        done = grn_tvcs(
            "simulate", "--out", tmp_path / "b", "--topology", gold, "--ode", "--points", 3
        )
        assert done.exit_code == 0, done.stderr
        again = (tmp_path / "b" / "goldstandard.tsv").read_text().splitlines()
        assert sorted(again) == sorted(gold.read_text().splitlines())

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--genes", 1], "--genes must be >= 2"),
            (["--edges", 999], "--edges must be in"),
            (["--noise-level", -1], "--noise-level must be finite and >= 0"),
            (["--noise", "pink"], "noise must be one of"),
            (["--ode", "--sde", 0.1], "--ode means --sde 0, but --sde is 0.1"),
            (["--topology", "no.tsv"], "No such file"),
            (["--topology", "no.tsv", "--regulators", 3], "leave --regulators out"),
            (["--seed", -1], "--seed must be >= 0"),
        ],
    )
    def test_bad_usage_is_one_line_and_exit_code_2(self, words, message, tmp_path):
        err = check_refused(grn_tvcs("simulate", "--out", tmp_path / "out", *words))
        assert message in err
        assert len(err.splitlines()) == 1
        assert not (tmp_path / "out").exists()

import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grn_tvcs import (
    Expression,
    Rules,
    average_in_bins,
    edge_count,
    infer,
    simulate,
    write_expression,
)
from grn_tvcs.edge_count import best_count, choose_edges
from grn_tvcs.expression.scales import log_levels
from grn_tvcs.held_out_series import fold_numbers, held_out_gains, split_for_folds
from tests.makers.commands import grn_tvcs
from tvcs_core.engines import Processes, Serial, Threads

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made():
    return simulate(8, 5, 12, n_edges=9, noise_level=0.02, rng=3)


def slow_gain(expression, is_out, chosen, memory, log_offset):
    """Gain of chosen edges, gene by gene and step by step, by least squares."""
    levels = log_levels(expression.values, log_offset, "levels")
    rows = {False: [], True: []}
    for piece in expression.pieces.values():
        past = levels[piece.start].copy()
        block = []
        for t in range(piece.start, piece.stop - 1):
            if t > piece.start:
                past = levels[t] + memory * (past - levels[t])
            block.append((past.copy(), levels[t], levels[t + 1]))
        rows[bool(is_out[piece.start])] += block
    z, u, y = ({side: np.array([row[k] for row in rows[side]]) for side in rows} for k in range(3))
    for part in (z, u, y):
        for side in part:
            part[side] = part[side] - part[side].mean(axis=0)
    gains = []
    for i in range(chosen.shape[0]):
        own = (u[False][:, i] @ y[False][:, i]) / (u[False][:, i] @ u[False][:, i])
        scale = np.mean((y[False][:, i] - own * u[False][:, i]) ** 2)
        r = y[True][:, i] - own * u[True][:, i]
        js = np.flatnonzero(chosen[:, i])
        columns = np.column_stack([z[False][:, js], u[False][:, [i]]])
        weights = np.linalg.lstsq(columns, y[False][:, i], rcond=None)[0][: js.size]
        slope = z[False][:, js].T @ u[False][:, i] / (u[False][:, i] @ u[False][:, i])
        result = 0.5 * (z[True][:, js] - u[True][:, [i]] * slope) @ weights
        gains.append((np.mean(r**2) - np.mean((r - result) ** 2)) / max(np.mean(r**2), scale))
    return np.mean(gains)


def test_the_gain_of_held_out_series_is_that_of_plain_least_squares(made):
    data = made.expression.in_name_order()
    is_out = fold_numbers(data) == 1
    network = infer(data.part(~is_out), resamples=4, rng=0)
    gains = held_out_gains(data, is_out, network, Rules(max_in_degree=2), (0, 4, 9), {})
    assert gains[0] == 0
    for size, gain in zip((4, 9), gains[1:], strict=True):
        chosen = network.select_under_caps(Rules(max_in_degree=2, max_edges=size)).selected
        assert gain == pytest.approx(slow_gain(data, is_out, chosen, 0.5, 0.2), abs=1e-5)


def test_the_choice_is_the_same_in_any_order_of_genes_and_series_and_on_two_threads(made):
    data = made.expression
    pieces = list(data.pieces.values())
    rows = np.concatenate([np.arange(p.start, p.stop) for p in pieces[::-1]])
    turned = Expression(
        data.values[rows][:, ::-1],
        data.times[rows],
        tuple(data.series[i] for i in rows),
        data.genes[::-1],
    )
    one = choose_edges(data, rng=1, resamples=6)
    assert one == choose_edges(turned, rng=1, resamples=6)
    assert one == choose_edges(data, rng=1, resamples=6, threads=2)
    assert one != choose_edges(data, rng=2, resamples=6)


def test_clean_data_want_edges_and_noise_wants_none(made):
    clean = choose_edges(made.expression, rng=0, resamples=10)
    assert clean.n_edges > 2
    assert clean.low <= clean.n_edges <= clean.high
    noise = np.random.default_rng(0).uniform(0.5, 1, made.expression.values.shape)
    data = made.expression
    nothing = choose_edges(
        Expression(noise, data.times, data.series, data.genes), rng=0, resamples=10
    )
    assert nothing.n_edges < clean.n_edges
    assert max(nothing.gains) < max(clean.gains) / 4


def test_caps_regulators_and_the_largest_number_are_kept_to(made):
    found = choose_edges(made.expression, max_in_degree=1, regulators=["G1", "G2"], rng=0,
                         resamples=4, max_edges=5)  # fmt: skip
    assert found.sizes == (0, 1, 2, 3, 4, 5)
    assert choose_edges(made.expression, "pcc", rng=0).n_folds == 5


def test_few_series_are_cut_and_one_too_short_is_refused(made):
    data = made.expression
    one = data.part(np.arange(60) < 12)
    assert [rows.stop - rows.start for rows in split_for_folds(one).pieces.values()] == [4, 4, 4]
    two = data.part(np.arange(60) < 24)
    assert len(split_for_folds(two).pieces) == 6
    assert split_for_folds(data) is data
    assert choose_edges(one, rng=0, resamples=4).n_folds == 3
    with pytest.raises(ValueError, match="at least 2 series, or one of 8 time points, found one"):
        choose_edges(data.part(np.arange(60) < 7), rng=0)


def test_what_folds_depend_on_is_hashed_without_a_square_of_genes(made, monkeypatch):
    seen = []

    def look(jobs, *rest, **more):
        seen.append(jobs[0].facts)
        yield from results(jobs, *rest, **more)

    results = edge_count.results
    monkeypatch.setattr(edge_count, "results", look)
    hashed = []
    digest = edge_count.hash_of
    monkeypatch.setattr(
        edge_count, "hash_of",
        lambda message, *arrays: (hashed.extend(arrays), digest(message, *arrays))[1],
    )  # fmt: skip
    for named in ({}, {"regulators": made.expression.genes[:4]},
                  {"targets": made.expression.genes[:4]}):  # fmt: skip
        choose_edges(made.expression, rng=0, resamples=2, max_edges=6, **named)
    n_genes = len(made.expression.genes)
    shapes = {np.shape(array) for array in hashed}
    assert (n_genes,) in shapes
    assert (n_genes, n_genes) not in shapes
    assert len({facts["regulators or targets"] for facts in seen}) == 3


def test_no_fold_holds_a_part_of_a_series(made):
    twelve = simulate(5, 12, 4, n_edges=4, rng=0).expression
    folds = fold_numbers(twelve)
    assert folds.max() == 9
    for rows in twelve.pieces.values():
        assert len(set(folds[rows].tolist())) == 1


def test_the_choice_is_the_fewest_with_95_percent_and_the_range_one_standard_error_wide():
    curves = np.array([[0, 0.10, 0.11, 0.0, 0], [0, 0.06, 0.09, 0.04, 0], [0, 0.08, 0.09, 0.1, 0]])
    found = best_count((0, 5, 10, 20, 30), curves)
    assert found.gains == pytest.approx(curves.mean(axis=0))
    away = np.array([0.11, 0.05, -0.01])  # of 20 edges from the best
    assert found.errors[3] == pytest.approx(away.std(ddof=1) / 3**0.5)
    assert found.n_edges == found.low == 10  # 5 has 83 % only, and differs by more than its error
    assert found.high == 10
    near = best_count((0, 5, 10), np.array([[0, 0.097, 0.1], [0, 0.098, 0.1]]))
    assert (near.n_edges, near.low, near.high) == (5, 5, 10)
    noisy = best_count((0, 5, 10), np.array([[0, 0.1, 0.02], [0, 0.02, 0.12]]))
    assert (noisy.n_edges, noisy.low, noisy.high) == (10, 5, 10)


@pytest.fixture(scope="module")
def table(made, tmp_path_factory):
    path = tmp_path_factory.mktemp("count") / "x.tsv"
    write_expression(made.expression, path)
    return path


WORDS = ["--max-edges", "auto", "--method", "tvcs", "--option", "resamples=6"]


def test_the_command_chooses_tells_and_draws_the_curve(table, tmp_path):
    out = tmp_path / "out"
    done = grn_tvcs("infer", table, "--out", out, *WORDS)
    assert done.exit_code == 0, done.stderr
    record = json.loads((out / "run.json").read_text())
    count = record["edge_count"]
    assert record["parameters"]["max_edges"] == "auto"
    assert record["selected"] <= record["max_edges_used"] == count["n_edges"]
    assert f"{count['low']} to {count['high']} are within one standard error" in done.stderr
    lines = (out / "edge_count.tsv").read_text().splitlines()
    assert lines[0] == "edges\tgain\terror"
    assert [int(line.split("\t")[0]) for line in lines[1:]] == count["sizes"]
    page = (out / "report.html").read_text()
    assert "How many edges?" in page
    assert "--max-edges auto" in page
    assert "edges</b> are the smallest number that predicts held-out series" in page
    assert len(re.findall('class="line" d="M', page)) == 1


@pytest.mark.parametrize(("method", "names"), [("tvcs", ["folds", "halves"]), ("pcc", ["folds"])])
def test_folds_and_halves_share_one_queue_folds_first(table, tmp_path, monkeypatch, method, names):
    asked = []

    def run(self, tasks):
        asked.append([task.job.name for task in tasks])
        yield from done(self, tasks)

    done = Serial.run
    monkeypatch.setattr(Serial, "run", run)
    few = {"resamples": 6} if method == "tvcs" else {}
    words = ["--max-edges", "auto", "--method", method]
    words += ["--option", "resamples=6"] if few else []
    out = tmp_path / "out"
    ended = grn_tvcs("infer", table, "--out", out, *words)
    assert ended.exit_code == 0, ended.stderr
    with_folds = [found for found in asked if "folds" in found]  # each fold asks for halves too
    assert [list(dict.fromkeys(found)) for found in with_folds] == [names]
    count = choose_edges(Expression.of([table]), method, rng=0, **few)
    record = json.loads((out / "run.json").read_text())["edge_count"]
    assert record["gains"] == list(count.gains)


def test_folds_do_not_repeat_the_warnings_of_the_network(made, capfd):
    constant = made.expression.values.copy()
    constant[:, 0] = 1.0
    data = replace(made.expression, values=constant)
    with warnings.catch_warnings(), Processes(1) as engine:
        warnings.simplefilter("error")
        for who in (Serial(), Threads(2), engine):
            choose_edges(data, rng=0, resamples=2, engine=who)
    assert capfd.readouterr().err == ""


def test_an_interrupted_choice_goes_on_with_the_same_bytes(table, tmp_path):
    stop = (
        "import grn_tvcs.edge_count as e\n"
        "gains, done = e.held_out_gains, []\n"
        "def stopped(*given):\n"
        "    done.append(1)\n"
        "    if len(done) == 3: raise KeyboardInterrupt\n"
        "    return gains(*given)\n"
        "e.held_out_gains = stopped\n"
        "from grn_tvcs.cli.main import main; main()"
    )
    words = ["infer", str(table), "--out", str(tmp_path / "out"), *WORDS]
    ended = subprocess.run(
        [sys.executable, "-c", stop, *words], cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 130, ended.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".resume"]
    other = grn_tvcs(*words, "--resume", "--seed", "4")
    assert other.exit_code == 2
    assert "is of a run with other seed; give --force" in other.stderr
    assert grn_tvcs(*words, "--resume").exit_code == 0
    words[3] = str(tmp_path / "whole")
    assert grn_tvcs(*words).exit_code == 0
    names = {path.name for path in (tmp_path / "whole").iterdir()}
    assert names == {path.name for path in (tmp_path / "out").iterdir()}
    for name in names:
        same = [(tmp_path / folder / name).read_bytes() for folder in ("out", "whole")]
        assert same[0] == same[1], name


def test_what_is_no_number_of_edges_is_refused(table, tmp_path):
    for word, message in (("many", "must be an integer >= 0 or auto"), ("-1", "must be >= 0")):
        done = grn_tvcs("infer", table, "--out", tmp_path / "out", "--max-edges", word)
        assert done.exit_code == 2
        assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_cells_are_averaged_in_bins_as_infer_does_it():
    rng = np.random.default_rng(0)
    times = np.concatenate([np.sort(rng.random(110)) for _ in range(4)])
    levels = rng.normal(size=(440, 4)) + np.sin(6 * times)[:, None]
    cells = Expression(levels, times, tuple(np.repeat(list("abcd"), 110)), tuple("ABCD"))
    cells = replace(cells, scale="log")
    with pytest.warns(UserWarning, match="440 cells were averaged"):
        found = choose_edges(cells, "pcc", rng=0)
    assert found == choose_edges(average_in_bins(cells), "pcc", rng=0)
    assert found != choose_edges(cells, "pcc", rng=0, bins="off")

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.makers.commands import check_refused, grn_tvcs

ROOT = Path(__file__).parents[3]
RESULTS = {"edges.tsv", "network.graphml", "network.sif", "report.html", "run.json"}


def test_simulate_infer_check_and_score_work_together(small, tmp_path):
    out = tmp_path / "new" / "out"
    done = grn_tvcs("infer", small / "timeseries.tsv", "--out", out, "--max-in-degree", 2)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    assert "about 2 s and 0.2 GB" in done.stderr
    assert {path.name for path in out.iterdir()} == RESULTS
    header = (out / "edges.tsv").read_text().splitlines()[0].split("\t")
    assert header == [
        "regulator", "target", "score", "sign", "rank", "selected", "stability",
        "evidence", "confidence", "false_discovery",
    ]  # fmt: skip
    record = json.loads((out / "run.json").read_text())
    assert sorted(record["genes"]) == sorted(f"G{i}" for i in range(1, 9))
    assert record["parameters"]["max_in_degree"] == 2

    scored = grn_tvcs("score", out / "edges.tsv", small / "goldstandard.tsv", "--json")
    assert scored.exit_code == 0, scored.stderr
    found = json.loads(scored.stdout)
    assert found["n_edges"] == 9
    assert found["n_pairs"] == 56
    assert found["AUC"] == pytest.approx((found["SN"] + found["SP"]) / 2)
    swapped = grn_tvcs("score", small / "goldstandard.tsv", out / "edges.tsv")
    assert "the reference names every pair, so all edges count as true" in swapped.stderr
    table = grn_tvcs("score", out / "edges.tsv", small / "goldstandard.tsv")
    for name in ("SN", "SP", "ACC", "F", "MCC", "AUC", "AUROC", "AUPR"):
        assert any(line.split()[:1] == [name] for line in table.stdout.splitlines())


def test_check_says_what_it_understood(small, tmp_path):
    (tmp_path / "names.txt").write_text("G1\nG2\nENSG001\n")
    done = grn_tvcs("check", small / "timeseries.tsv", "--regulators", tmp_path / "names.txt")
    assert done.exit_code == 0, done.stderr
    lines = {line[:13].strip(): line[13:] for line in done.stdout.splitlines()}
    assert lines["orientation"] == "samples in rows, genes in columns"
    assert lines["genes"].startswith("8: G1, G2")
    assert lines["samples"] == "36"
    assert lines["series"] == "4 of 9 time points"
    assert lines["spacing"] == "even, every 50"
    assert lines["constant"] == "none"
    assert lines["regulators"] == "2 of 3 names are genes"
    assert lines["no genes"] == "ENSG001"


def test_the_same_seed_gives_the_same_bytes_whatever_the_order_of_genes(small, tmp_path):
    rows = [line.split("\t") for line in (small / "timeseries.tsv").read_text().splitlines()]
    turned = ["\t".join([row[0], *row[:0:-1]]) for row in rows]
    with gzip.open(tmp_path / "turned.tsv.gz", "wt") as file:
        file.write("\n".join(turned) + "\n")
    for name, source in (
        ("a", small / "timeseries.tsv"),
        ("b", small / "timeseries.tsv"),
        ("c", tmp_path / "turned.tsv.gz"),
    ):
        assert grn_tvcs("infer", source, "--out", tmp_path / name, "--seed", 3).exit_code == 0
    for name in RESULTS:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    for name in ("edges.tsv", "network.graphml", "network.sif"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "c" / name).read_bytes()


@pytest.mark.filterwarnings("default")
def test_regulators_and_constant_genes_are_kept_to(small, tmp_path):
    text = (small / "timeseries.tsv").read_text().splitlines()
    text = [
        line if not line or line[0] == "T" else line.rsplit("\t", 1)[0] + "\t0.5" for line in text
    ]
    (tmp_path / "x.tsv").write_text("\n".join(text))
    (tmp_path / "names.txt").write_text("G1\nG2\nother\n")
    words = ["--regulators", tmp_path / "names.txt", "--option", "resamples=2"]
    done = grn_tvcs("infer", tmp_path / "x.tsv", "--out", tmp_path / "out", *words)
    assert done.exit_code == 0, done.stderr
    assert "constant genes get no regulators: G8" in done.stderr
    assert "1 of 3 regulators are no genes: other" in done.stderr
    edges = [line.split("\t") for line in (tmp_path / "out" / "edges.tsv").read_text().splitlines()]
    assert {edge[0] for edge in edges[1:]} <= {"G1", "G2"}
    assert "G8" not in {edge[1] for edge in edges[1:]}


def test_a_folder_in_use_needs_force(small, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    source = small / "timeseries.tsv"
    refused = grn_tvcs("infer", source, "--out", out)
    assert refused.exit_code == 2
    assert "give --force" in refused.stderr
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    assert grn_tvcs("infer", source, "--out", out, "--force").exit_code == 0
    assert {path.name for path in out.iterdir()} == RESULTS | {"mine.txt"}


def test_a_folder_that_cannot_be_written_is_refused(small, tmp_path):
    (tmp_path / "file").write_text("")
    done = grn_tvcs("infer", small / "timeseries.tsv", "--out", tmp_path / "file" / "out")
    assert done.exit_code == 2
    assert done.stderr.count("error:") == 1


@pytest.mark.filterwarnings("default")
def test_what_is_left_out_goes_to_stderr_and_json_stays_whole(tmp_path):
    (tmp_path / "edges.tsv").write_text("G1\tG2\t0.5\nG1\tG1\t1\nG9\tG1\t1\n")
    (tmp_path / "gold.tsv").write_text("G1\tG2\nG2\tG1\nG2\tG1\n")
    (tmp_path / "genes.txt").write_text("G1\nG2\n")
    words = [tmp_path / "edges.tsv", tmp_path / "gold.tsv", "--genes", tmp_path / "genes.txt"]
    done = grn_tvcs("score", *words, "--json")
    assert done.stderr.count("left out 1 edge") == 3
    found = json.loads(done.stdout)
    assert found["n_pairs"] == 2
    assert found["SP"] is None


def test_changes_in_place_of_steady_levels_are_refused_before_anything_is_computed(small, tmp_path):
    genes = (small / "timeseries.tsv").read_text().splitlines()[0].split("\t")[1:]
    rows = ["\t".join(["-1.5"] * len(genes))] * len(genes)
    (tmp_path / "ko.tsv").write_text("\n".join(["\t".join(genes), *rows]))
    words = ["--knockouts", tmp_path / "ko.tsv"]
    done = grn_tvcs("infer", small / "timeseries.tsv", "--out", tmp_path / "out", *words)
    assert "error: steady states must be in the unit of the series" in check_refused(done)
    assert "warning" not in done.stderr


def test_steady_states_perturbation_and_options_are_taken(small, tmp_path):
    rows = [line.split("\t") for line in (small / "timeseries.tsv").read_text().splitlines()]
    n_genes = len(rows[0]) - 1
    table = ["\t".join(rows[0][1:])] + ["\t".join(["0.5"] * n_genes)] * n_genes
    (tmp_path / "ko.tsv").write_text("\n".join(table))
    (tmp_path / "wt.tsv").write_text("\n".join(table[:2]))
    (tmp_path / "caps.tsv").write_text("G1\t0\nG2\t1\n")
    words = ["--knockouts", tmp_path / "ko.tsv", "--wildtype", tmp_path / "wt.tsv"]
    words += ["--perturbed-until", 200, "--out-degrees", tmp_path / "caps.tsv"]
    words += ["--method", "tvcs"]
    for option in ("resamples=10", "memory=0.2,0.4", "parts=omp"):
        words += ["--option", option]
    done = grn_tvcs("infer", small / "timeseries.tsv", "--out", tmp_path / "out", *words)
    assert done.exit_code == 0, done.stderr
    assert "16 samples perturbed" in done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["parameters"]["perturbed_until"] == 200
    assert [file["file"] for file in record["inputs"]][1:] == ["caps.tsv", "ko.tsv", "wt.tsv"]
    report = (tmp_path / "out" / "report.html").read_text()
    assert "--option parts=omp" in report
    assert f"in addition to the series: {n_genes} of knock-outs and 1 of the wild type." in report
    header = (tmp_path / "out" / "edges.tsv").read_text().splitlines()[0].split("\t")
    assert header[-1] == "evidence"
    assert 'key="evidence"' in (tmp_path / "out" / "network.graphml").read_text()


def test_what_cannot_fit_is_refused_with_an_estimate(small, tmp_path, monkeypatch):
    monkeypatch.setattr("grn_tvcs.cli.resources.available_memory", lambda: 1e8)
    done = grn_tvcs("infer", small / "timeseries.tsv", "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert (
        "this needs about 0.2 GB, but only 0.1 GB are free; what helps: a list of --regulators, "
        in done.stderr
    )
    assert not (tmp_path / "out").exists()


def test_ctrl_c_ends_with_130_and_resume_gives_the_same_bytes(tmp_path, sigint_of_a_terminal):
    data, out = tmp_path / "data", tmp_path / "out"
    assert grn_tvcs("simulate", "--out", data, "--genes", 40, "--seed", 1).exit_code == 0
    words = ["infer", str(data / "timeseries.tsv"), "--out", str(out), "--method", "tvcs"]
    words += ["--option", "resamples=60"]
    slow = (
        "import sys, time, grn_tvcs.stability.stability as s; pair = s.Draws.pair\n"
        "def slower(draws, *more):\n"
        "    print('next', file=sys.stderr, flush=True)\n"
        "    time.sleep(0.2)\n"
        "    return pair(draws, *more)\n"
        "s.Draws.pair = slower\n"
        "from grn_tvcs.cli.main import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", slow, *words],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
    )
    assert process.stderr is not None
    seen = [process.stderr.readline().strip()]
    assert "40 genes" in seen[0]
    while seen.count("next") < 3:
        seen.append(process.stderr.readline().strip())
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=300)[1]
    assert process.returncode == 130, rest
    assert "interrupted" in rest
    assert f"{out / '.resume'} holds the finished part; the same command with --resume" in rest
    assert "Traceback" not in rest
    assert [path.name for path in out.iterdir()] == [".resume"]

    refused = grn_tvcs(*words)
    assert refused.exit_code == 2
    assert "give --resume to go on if it was of these data, options and seed, or --force" in (
        " ".join(refused.stderr.split())
    )
    other = grn_tvcs(*words, "--resume", "--seed", 5)
    assert other.exit_code == 2
    assert "is of a run with other seed; give --force" in other.stderr
    assert grn_tvcs(*words, "--resume").exit_code == 0
    whole = tmp_path / "whole"
    assert grn_tvcs(*words[:3], str(whole), *words[4:], "--threads", 2).exit_code == 0
    assert {path.name for path in out.iterdir()} == RESULTS
    for name in RESULTS:
        assert (out / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.filterwarnings("always")
def test_three_time_points_work_with_a_warning_and_many_short_series_without(tmp_path):
    (tmp_path / "x.tsv").write_text("Time\tA\tB\tC\n0\t1\t2\t3\n1\t3\t5\t1\n2\t4\t4\t2\n")
    few = ("--option", "resamples=2")
    done = grn_tvcs("infer", tmp_path / "x.tsv", "--out", tmp_path / "out", *few)
    assert done.exit_code == 0, done.stderr
    assert "2 steps from sample to sample are too few to tell regulators apart" in done.stderr
    sizes = ["--genes", 5, "--series", 6, "--points", 3, "--edges", 5]
    assert grn_tvcs("simulate", "--out", tmp_path / "short", *sizes).exit_code == 0
    short = grn_tvcs(
        "infer", tmp_path / "short" / "timeseries.tsv", "--out", tmp_path / "more", *few
    )
    assert short.exit_code == 0, short.stderr
    assert "warning" not in short.stderr

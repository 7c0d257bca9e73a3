"""What an inference says that it will take, and what it says where that is too much."""

import csv
import re
from pathlib import Path

import pytest

from grn_tvcs.cli.resources import (
    Work,
    estimate,
    estimate_of_parts,
    memory_of_ranking,
    seconds_of_design,
)
from grn_tvcs.combine.evidence_scores import n_trees
from grn_tvcs.stability import units
from tests.makers.commands import grn_tvcs
from tvcs_core.command.progress import Progress

MEASURED = Path(__file__).parents[3] / "benchmarks" / "results" / "cost.csv"
GENOME = Work(genes=20_000, regulators=1500, targets=20_000, samples=100, halves=100, lines=10**5)


def test_memory_is_for_regulators_x_targets_and_not_for_the_square_of_the_genes():
    assert estimate(GENOME).memory < 8e9
    twice = estimate(GENOME._replace(genes=40_000))
    assert twice.memory == estimate(GENOME).memory
    half = estimate(GENOME._replace(targets=10_000))
    assert half.memory < 0.55 * estimate(GENOME).memory


def test_a_ranking_needs_memory_for_regulators_x_targets():
    whole, half = memory_of_ranking(1500, 20_000), memory_of_ranking(750, 20_000)
    assert 0.5e9 < whole.memory < 1.5e9  # a square of floats alone were 3.2e9
    assert half.memory < 0.7 * whole.memory


@pytest.mark.parametrize("name", ["genes", "regulators", "targets", "samples", "halves", "lines"])
def test_more_of_anything_never_takes_less(name):
    more = estimate(GENOME._replace(**{name: 2 * getattr(GENOME, name)}))
    assert more.seconds > estimate(GENOME).seconds
    assert more.memory >= estimate(GENOME).memory


def test_units_that_are_kept_take_time(monkeypatch):
    work = Work(3000, 3000, 3000, 210, 100, 10**5)
    many = estimate(work)
    # Larger units, so fewer are written.
    monkeypatch.setattr(
        units, "MAX_JOURNAL_BYTES", units.MAX_JOURNAL_BYTES / 2
    )  # larger units, so fewer are written
    assert 1.0 < many.seconds - estimate(work).seconds < 10.0


def test_the_parts_of_the_default_method_need_more_but_no_square_of_the_genes():
    parts, series = estimate_of_parts(GENOME, 20), estimate(GENOME)
    assert 2 * series.memory < parts.memory < 16e9  # a square of floats alone were 3.2e9 each
    assert parts.seconds > 2 * series.seconds
    half = GENOME._replace(genes=10_000, targets=10_000)
    assert estimate_of_parts(half, 20).memory < 0.55 * parts.memory


def test_seconds_of_the_default_method_are_within_a_factor_of_two_of_measured_ones():
    """Of the table that `python -m benchmarks.speed.cost --default` keeps."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 6
    for row in rows:
        sizes = {name: int(row[name]) for name in Work._fields if name in row}
        message = estimate_of_parts(Work(**sizes), n_trees(sizes["genes"]))
        assert 0.5 < message.seconds / float(row["seconds"]) < 2.0, row
        assert 0.5 < message.memory / float(row["memory"]) < 2.0, row


@pytest.mark.parametrize(
    ("genes", "regulators", "samples", "trees", "few", "measured"),
    [
        (10, 10, 44, 100, False, 8.6),
        (10, 10, 6, 100, True, 64.0),
        (30, 30, 84, 100, False, 13.7),
        (100, 20, 44, 20, False, 15.1),
        (100, 100, 210, 20, False, 33.4),
    ],
)
def test_networks_of_a_design_are_described_as_measured(
    genes, regulators, samples, trees, few, measured
):
    """Processor seconds of 12 networks and 120 tables, from 6 and 120 that were run once."""
    work = Work(genes, regulators, genes, samples, 100, 0)
    found = seconds_of_design(work, trees, 12, 120, every_table=few)
    assert measured / 1.4 < found < 1.4 * measured
    assert seconds_of_design(work._replace(threads=4), trees, 12, 120, every_table=few) == (
        pytest.approx(found / 4)
    )


@pytest.mark.parametrize(
    ("words", "helps"),
    [
        (
            (),
            "a list of --regulators, --targets, the genes of interest, --top-variable N or a list "
            "of --genes, --method tvcs",
        ),
        (
            ("--method", "tvcs", "--threads", "2", "--top-variable", "5"),
            "a list of --regulators, --targets, the genes of interest, fewer --threads",
        ),
        (
            ("--method", "tvcs", "--regulators", "names.txt", "--genes", "names.txt"),
            "--targets, the genes of interest",
        ),
        (
            ("--method", "tvcs", "--regulators", "names.txt", "--genes", "names.txt",
             "--targets", "names.txt"),
            "a machine with more memory",
        ),
        (
            ("--method", "clr", "--threads", "2", "--genes", "names.txt"),
            "a list of --regulators, --targets, the genes of interest",
        ),
    ],
)  # fmt: skip
def test_a_refusal_names_what_was_not_done_yet(small, tmp_path, monkeypatch, words, helps):
    monkeypatch.setattr("grn_tvcs.cli.resources.available_memory", lambda: 1e8)
    (tmp_path / "names.txt").write_text("G1\nG2\nG3\n")
    words = [tmp_path / word if word.endswith(".txt") else word for word in words]
    done = grn_tvcs("infer", small / "timeseries.tsv", "--out", tmp_path / "out", *words)
    assert done.exit_code == 1
    message = " ".join(done.stderr.split())
    assert re.search(r"needs about 0\.2 GB, but only 0\.1 GB are free; what helps: ", message)
    assert message.endswith(helps)
    assert not (tmp_path / "out").exists()


def test_progress_is_that_of_the_halves(small, tmp_path, monkeypatch):
    seen = []

    class Watched(Progress):
        def __call__(self, done, total):
            seen.append((done, total))

    monkeypatch.setattr("grn_tvcs.cli.work.Progress", Watched)
    words = ["--method", "tvcs", "--option", "resamples=4"]
    done = grn_tvcs("infer", small / "timeseries.tsv", "--out", tmp_path / "out", *words)
    assert done.exit_code == 0, done.stderr
    assert {of for _, of in seen} == {4}
    rising = [n for n, _ in seen]
    assert rising == sorted(rising)
    assert rising[-1] == 4

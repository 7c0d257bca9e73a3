"""`crowd-tvcs verify`: what it proves, and what it says of files that were touched."""

import csv
import json

import pytest
from typer.testing import CliRunner

from crowd_tvcs.cli import app


def crowd_tvcs(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def plan(tmp_path):
    """A folder that `assign` wrote, and the quality table beside it."""
    assert crowd_tvcs("simulate", "--workers", 8, "--tasks", 12, "--out", tmp_path).exit_code == 0
    done = crowd_tvcs(
        "assign", tmp_path / "quality.csv", "--out", tmp_path / "plan",
        "--max-workers-per-task", 3, "--max-tasks-per-worker", 5, "--budget", 30,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "no plan can have more than" in done.stderr
    return tmp_path / "plan"


def edit(path, change):
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    change(rows)
    path.write_text("\n".join(",".join(row) for row in rows) + "\n")


def test_what_assign_wrote_is_proved(plan):
    done = crowd_tvcs("verify", plan)
    assert done.exit_code == 0, done.stderr
    assert "proved             yes" in done.stdout
    summary = json.loads((plan / "summary.json").read_text())
    assert summary["certified"]
    assert summary["gap"] == pytest.approx(summary["bound"] - summary["expected_accuracy"])
    assert crowd_tvcs("verify", plan, plan.parent / "quality.csv").exit_code == 0


def test_one_pair_more_breaks_a_cap(plan):
    def overload(rows):
        worker = rows[1][0]
        has = {task for name, task in rows[1:] if name == worker}
        every = {task for _, task in rows[1:]}
        rows += [[worker, task] for task in sorted(every - has)]

    edit(plan / "assignment.csv", overload)
    done = crowd_tvcs("verify", plan)
    assert done.exit_code == 1
    assert "the cap is 5" in done.stderr
    assert "proved             no" in done.stdout


def test_a_pair_fewer_is_noticed(plan):
    edit(plan / "assignment.csv", lambda rows: rows.pop())
    done = crowd_tvcs("verify", plan)
    assert done.exit_code == 1
    assert "expected_accuracy: summary.json says" in done.stderr


def test_unknown_names_and_repeated_pairs_are_named_with_their_lines(plan):
    edit(plan / "assignment.csv", lambda rows: rows.extend([["nobody", "t01"], rows[1]]))
    done = crowd_tvcs("verify", plan)
    assert done.exit_code == 1
    assert "'nobody' is no worker of the quality table" in done.stderr
    assert "twice" in done.stderr


def test_another_price_is_another_bound(plan):
    def lower(rows):
        rows[1:] = [[worker, str(float(price) * 0.9 + 1e-4)] for worker, price in rows[1:]]

    edit(plan / "prices.csv", lower)
    done = crowd_tvcs("verify", plan)
    assert done.exit_code == 1
    assert "bound: summary.json says" in done.stderr


def test_a_method_without_a_bound_is_not_proved(plan):
    crowd_tvcs("assign", plan.parent / "quality.csv", "--out", plan.parent / "q",
               "--method", "qlp", "--budget", 20)  # fmt: skip
    done = crowd_tvcs("verify", plan.parent / "q")
    assert done.exit_code == 1
    assert "not certified" in done.stderr


@pytest.mark.parametrize("missing", ["run.json", "summary.json", "assignment.csv", "prices.csv"])
def test_a_missing_file_is_bad_input(plan, missing):
    (plan / missing).unlink()
    done = crowd_tvcs("verify", plan)
    assert done.exit_code == 2
    assert missing in done.stderr


def test_another_quality_table_is_refused(plan):
    table = plan.parent / "quality.csv"
    table.write_text(table.read_text().replace("0.", "0.0", 1))
    done = crowd_tvcs("verify", plan)
    assert done.exit_code == 2
    assert "is not the file that was read" in done.stderr
    table.unlink()
    done = crowd_tvcs("verify", plan)
    assert done.exit_code == 2
    assert "name it" in done.stderr

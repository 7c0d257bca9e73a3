"""`assign --classes` and `--confusion`, and what `verify` says of such plans."""

import csv
import json

import numpy as np
import pytest

from crowd_tvcs.answers.confusion import read_confusion
from tests.makers.commands import crowd_tvcs, run_done, run_refused
from tests.makers.tables import edit
from tvcs_core.files.errors import DataError

CAPS = (
    "--max-workers-per-task",
    3,
    "--max-tasks-per-worker",
    5,
    "--budget",
    18,
    "--time-limit",
    900,
)
NAMES = ("cat", "dog", "=fox")


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def tables(tmp_path):
    """A quality table and confusion matrices of 8 workers; 7 tasks, three classes."""
    rng = np.random.default_rng(0)
    tasks = [f"t{j}" for j in range(7)]
    rows = [[f"w{i}", *[round(rng.uniform(0.3, 0.9), 3)] * 7] for i in range(8)]
    write(tmp_path / "quality.csv", [["worker", *tasks], *rows])
    matrices = 0.5 * np.eye(3) + 0.5 * rng.dirichlet(np.ones(3), (9, 3))
    lines = [
        [f"w{i}", "'" + y if y[0] == "=" else y, "'" + a if a[0] == "=" else a, matrices[i, t, k]]
        for i in range(9)
        for t, y in enumerate(NAMES)
        for k, a in enumerate(NAMES)
    ]
    write(tmp_path / "confusion.csv", [["worker", "label", "answer", "probability"], *lines])
    return tmp_path


@pytest.mark.parametrize(
    "classes",
    [("--classes", 4), ("--confusion", "confusion.csv", "--class-prior", ".5,.3,.2")],
    ids=["accuracies", "confusion"],
)
def test_a_plan_of_many_classes_is_proved(tables, classes):
    given = [tables / word if word == "confusion.csv" else word for word in classes]
    out = tables / "plan"
    done = run_done("assign", tables / "quality.csv", "--out", out, *CAPS, *given)
    assert "no plan can have more than" in done.stderr
    summary = json.loads((out / "summary.json").read_text())
    names = ["0", "1", "2", "3"] if "--classes" in classes else sorted(NAMES)
    assert summary["classes"] == names
    assert summary["standard_error"] == 0.0
    assert "Assignment of tasks" in (out / "report.html").read_text(encoding="utf-8")
    proved = crowd_tvcs("verify", out)
    if summary["certified"]:
        assert proved.exit_code == 0, proved.stderr
        assert "proved             yes" in proved.stdout
    else:
        (line,) = proved.stderr.splitlines()
        assert "not certified: no plan can have more than" in line


def test_what_if_knows_the_classes(tables):
    words = ("--budgets", "5,10", "--method", "fast", "--json")
    two = crowd_tvcs("what-if", tables / "quality.csv", *words)
    three = run_done("what-if", tables / "quality.csv", *words, "--classes", 3)
    assert json.loads(two.stdout)["budgets"] != json.loads(three.stdout)["budgets"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--classes", 1), "--classes must be from 2 to 100"),
        (("--classes", 3, "--prior", 0.3), "with more say class_prior"),
        (("--classes", 3, "--class-prior", "a,b,c"), "must be numbers with commas"),
        (("--classes", 3, "--class-prior", ".5,.5"), "--class-prior has 2 chances"),
        (("--classes", 4, "--confusion", "confusion.csv"), "4 classes were asked for"),
        (("--classes", 3, "--tasks", "tasks.csv"), "found 'prior'"),
    ],
)
def test_options_that_do_not_fit_are_refused(tables, words, message):
    write(tables / "tasks.csv", [["task", "prior"], ["t1", "0.4"]])
    given = [tables / w if str(w).endswith(".csv") else w for w in words]
    err = run_refused("assign", tables / "quality.csv", "--out", tables / "plan", *given)
    assert message in err
    assert not (tables / "plan").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rows: rows[0].__setitem__(3, "p"),
            "the columns may be worker, label, answer, probability, found 'p'",
        ),
        (lambda rows: rows.append(rows[5]), "csv:83, column .answer.: .* is there twice"),
        (lambda rows: rows.pop(5), "must say how likely 'w0' answers"),
        (lambda rows: rows[4].__setitem__(3, "0.99"), "'w0' where 'dog' is true must add up to 1"),
        (
            lambda rows: rows[4].__setitem__(3, "1.5"),
            r"csv:5, column .probability.: .* in \[0, 1\]",
        ),
        (lambda rows: rows[4].__setitem__(1, ""), "csv:5, column .label.: .* empty cell"),
    ],
)
def test_a_table_of_matrices_that_is_wrong_is_refused_with_its_place(tables, change, message):
    edit(tables / "confusion.csv", change)
    with pytest.raises(DataError, match=message):
        read_confusion(tables / "confusion.csv", [f"w{i}" for i in range(8)])


def test_a_worker_without_a_matrix_is_named(tables):
    with pytest.raises(DataError, match="how likely 'nobody' answers"):
        read_confusion(tables / "confusion.csv", ["w1", "nobody"])

"""The tables of demands, as an operator gives them to `crowd-tvcs assign`."""

import csv
import json

import pytest

from crowd_tvcs.plan.tables import columns_of_classes
from tests.makers.commands import check_done, check_refused, crowd_tvcs
from tvcs_core.files.tables import read_table

QUALITY = "worker,t1,t2,t3\nann,0.9,0.6,0.7\nbob,0.7,0.8,0.55\n'=cy,0.6,0.6,0.6\n"


@pytest.fixture
def assign(tmp_path):
    """Write the tables, run `crowd-tvcs assign` with qlp, and give what it did."""
    (tmp_path / "q.csv").write_text(QUALITY)

    def run(*words, **tables):
        for option, text in tables.items():
            (tmp_path / f"{option}.csv").write_text(text)
            words += (f"--{option}", tmp_path / f"{option}.csv")
        command = ["assign", tmp_path / "q.csv", "--out", tmp_path / "out", "--method", "qlp"]
        return crowd_tvcs(*command, *words)

    return run


def pairs(tmp_path):
    with (tmp_path / "out" / "assignment.csv").open(newline="") as file:
        return [tuple(row) for row in csv.reader(file)][1:]


def test_all_tables_together_are_kept(assign, tmp_path):
    done = assign(
        "--max-tasks-per-worker",
        1,
        workers="worker,max_tasks\nann,2\n'=cy,\n",
        tasks="Item\tprior\tmin_workers\tmax_workers\nt3\t0.3\t1\t\nt1\t\t\t1\n",
        forced="worker,task,why\nann,t2,asked\n",
        forbidden="performer,task\nann,t3\n",
    )
    assert done.exit_code == 0, done.stderr
    assert pairs(tmp_path) == [("'=cy", "t3"), ("ann", "t1"), ("ann", "t2"), ("bob", "t2")]
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["parameters"]["forced"] == "forced.csv"
    assert [entry["file"] for entry in run["inputs"]] == [
        *("q.csv", "workers.csv", "tasks.csv", "forced.csv", "forbidden.csv")
    ]


def test_a_prior_of_the_tasks_shows_in_what_is_expected(assign, tmp_path):
    check_done(assign("--budget", 0, "--prior", 0.2, tasks="task,prior\nt1,0.9\nt2,0.5\n"))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert list(summary["task_accuracy"].values()) == [0.9, 0.5, 0.8]


BAD = {
    ("workers", "worker,max_tasks\nzoe,2\n"): ":2, column 'worker': must be a worker of the qual",
    ("workers", "worker,max_tasks\nann,-1\n"): ":2, column 'max_tasks': must be an integer >= 0",
    ("workers", "worker,max_tasks\nann,1.5\n"): "must be an integer >= 0, found '1.5'",
    (
        "workers",
        "worker,cap\nann,2\n",
    ): "column 2: the columns may be worker, max_tasks, cost, group, ",
    ("tasks", "task,prior\nt1,1.2\n"): ":2, column 'prior': must be a probability in [0, 1], found",
    ("tasks", "task,prior\nt1,nan\n"): "must be a probability in [0, 1], found 'nan'",
    ("tasks", "task,prior\nt9,0.5\n"): "must be a task of the quality table, found 't9'",
    ("tasks", "task,min_workers\nt1,4\n"): "tasks.csv: min_workers of task 't1' is 4, but 3",
    ("tasks", "task,prior,prior\nt1,0.5,0.5\n"): "must have one column 'prior', found prior, prior",
    ("tasks", "task,prior\nt1\n"): ":2: must have 2 cells like the first row, found 1",
    ("tasks", ""): "the file is empty",
    ("forced", "worker,task\nann,t9\n"): "must be a task of the quality table, found 't9'",
    ("forbidden", "worker,task\nzoe,t1\n"): "must be a worker of the quality table, found 'zoe'",
}


@pytest.mark.parametrize(("option", "text"), BAD)
def test_a_bad_table_is_refused_in_one_line(assign, tmp_path, option, text):
    err = check_refused(assign(**{option: text}))
    assert BAD[option, text] in err
    assert err.splitlines()[-1].startswith("error: ")
    assert not (tmp_path / "out").exists()


CONFUSION = "worker,label,answer,probability\n" + "".join(
    f"{w},{y},{x},{0.8 if x == y else 0.1}\n"
    for w in ("ann", "bob", "'=cy")
    for y in ("a", "b", "c")
    for x in ("a", "b", "c")
)


def test_tasks_of_three_classes_have_chances_of_their_own(assign, tmp_path):
    check_done(assign(
        "--budget", 0, "--class-prior", ".5,.3,.2", tasks="task,prior=a,prior=b,prior=c\n"
        "t1,0.9,0.1,0\nt3,,,\n", confusion=CONFUSION,
    ))  # fmt: skip
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["classes"] == ["a", "b", "c"]
    assert summary["task_accuracy"] == {"t1": 0.9, "t2": 0.5, "t3": 0.5}


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ("task,prior=b,prior=a,prior=c\nt1,1,0,0\n", "must be prior=a, prior=b, prior=c, in this"),
        ("task,prior=a,prior=b\nt1,1,0\n", "for each of 3 classes, found 2"),
        (
            "task,prior=a,prior=b,prior=c\nt1,.9,.1,\n",
            "to 1, found .9, .1, an empty cell",
        ),
        ("task,prior=a,prior=b,prior=c\nt1,2,0,0\n", ":2, column 'prior=a': must be a probability"),
    ],
)
def test_chances_of_classes_that_cannot_be_are_refused(assign, tmp_path, tasks, message):
    assert message in check_refused(assign(tasks=tasks, confusion=CONFUSION))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("n_classes", range(2, 6))
def test_chances_are_read_for_more_than_two_classes(tmp_path, n_classes):
    names = [f"PRIOR={name}" for name in "abcde"[:n_classes]]
    (tmp_path / "t.csv").write_text(",".join(["task", *names]) + "\nt1" + n_classes * "," + "\n")
    found = columns_of_classes(read_table(tmp_path / "t.csv"), n_classes, None)
    assert found == ([name.lower() for name in names] if n_classes > 2 else [])


def test_the_chances_of_the_classes_say_how_many_there_are(assign, tmp_path):
    check_done(assign("--class-prior", "0.5,0.3,0.2", "--budget", 3))
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["classes"] == ["0", "1", "2"]
    err = check_refused(assign("--class-prior", "0.5,0.3,0.2", "--classes", 4, "--force"))
    assert "--class-prior has 3 chances, but there are 4 classes" in err

"""The command `crowd-tvcs` as an operator meets it: files in, files out, one-line errors."""

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from crowd_tvcs import METHODS, read_quality
from crowd_tvcs.cli.main import app
from crowd_tvcs.search.search import Search
from crowd_tvcs.skills.dependence import CalibrationBin, Dependence
from tests.makers.commands import check_done, check_refused, crowd_tvcs, run_done
from tvcs_core.command import shell

WIDE = "worker,t1,t2,t3\nann,0.9,0.6,0.7\nbob,0.7,0.8,0.55\n"
LONG = "task,worker,quality\nt1,ann,0.9\nt2,ann,0.6\nt1,bob,0.7\nt3,bob,0.55\n"
FILES = ["assignment.csv", "report.html", "run.json", "summary.json"]


def assign(table, out, *words):
    return crowd_tvcs("assign", table, "--out", out, *words)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "quality.csv"
    path.write_text(WIDE)
    return path


def read_pairs(folder):
    with (folder / "assignment.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["worker", "task"]
    return [tuple(row) for row in rows]


def test_classes_beside_the_qualities_are_asked_for(table, tmp_path):
    (tmp_path / "classes.csv").write_text("label,gold,share\na,2,0.5\nb,1,0.25\nc,1,0.25\n")
    advice = "has 3 classes, but the plan has 2; give --classes 3, or --class-prior"
    err = check_done(assign(table, tmp_path / "two", "--max-workers-per-task", 1)).stderr
    assert advice in err
    for words in (["--classes", 3], ["--class-prior", tmp_path / "classes.csv"]):
        done = assign(table, tmp_path / str(words[0]), "--max-workers-per-task", 1, *words)
        assert advice not in check_done(done).stderr
    (tmp_path / "classes.csv").write_text("name,teacher\na,x\nb,y\nc,z\n")  # of something else
    assert advice not in check_done(assign(table, tmp_path / "other")).stderr


@pytest.mark.parametrize("method", METHODS)
def test_assign_writes_the_four_files(table, tmp_path, method):
    done = assign(table, tmp_path / "out", "--max-workers-per-task", 1, "--method", method)
    assert done.exit_code == 0, done.stderr
    files = sorted([*FILES, "prices.csv"]) if METHODS[method].proves_bound else FILES
    assert sorted(os.listdir(tmp_path / "out")) == files
    assert "wide, comma-separated, 2 workers x 3 tasks" in done.stderr
    assert done.stdout == ""
    pairs = read_pairs(tmp_path / "out")
    assert pairs == sorted(pairs)
    assert len({task for _, task in pairs}) == len(pairs) == 3
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["method"] == method
    assert summary["assignments"] == 3
    assert summary["binding"]["max_workers_per_task"] == 3
    assert sum(summary["loads"].values()) == sum(summary["answers_per_task"].values()) == 3
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["seed"] == 0
    assert run["parameters"]["method"] == method
    if method in ("best", "fast", "greedy", "tvcs", "qlp"):
        assert summary["expected_accuracy"] == pytest.approx((0.9 + 0.8 + 0.7) / 3)


def test_a_long_table_allows_only_the_pairs_it_lists(tmp_path):
    path = tmp_path / "quality.csv.gz"
    path.write_bytes(gzip.compress(LONG.encode()))
    done = check_done(assign(path, tmp_path / "out", "--method", "random"))
    assert "long, comma-separated, 2 workers x 3 tasks, 4 of 6 pairs listed" in done.stderr
    assert read_pairs(tmp_path / "out") == [
        ("ann", "t1"),
        ("ann", "t2"),
        ("bob", "t1"),
        ("bob", "t3"),
    ]


def test_a_tab_table_with_a_mark_and_crlf_and_other_names_for_columns(tmp_path):
    path = tmp_path / "quality.tsv"
    path.write_bytes(b"\xef\xbb\xbfItem\tPerformer\tnote\tquality\r\nt1\tann\tgood\t0.9\r\n")
    done = check_done(assign(path, tmp_path / "out"))
    assert "long, tab-separated" in done.stderr
    assert "ignored columns: note" in done.stderr
    assert read_pairs(tmp_path / "out") == [("ann", "t1")]


def test_the_order_of_the_file_changes_no_result(tmp_path):
    texts = {
        "wide": WIDE,
        "turned": "worker,t3,t1,t2\nbob,0.55,0.7,0.8\nann,0.7,0.9,0.6\n",
        "long": "quality,task,worker\n0.55,t3,bob\n0.9,t1,ann\n0.7,t3,ann\n"
        "0.8,t2,bob\n0.6,t2,ann\n0.7,t1,bob\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
        check_done(assign(tmp_path / f"{name}.csv", tmp_path / name, "--budget", 4))
    for file in ("assignment.csv", "summary.json"):
        assert len({(tmp_path / name / file).read_bytes() for name in texts}) == 1


def test_names_survive_and_none_acts_as_a_formula(tmp_path):
    workers = ["NA", "007", "-3", "=1+1", "@sum", "'=x", "+49 30", "-3+cmd|' /C calc'!A0", "Nan"]
    tasks = ["1e5", '=HYPERLINK("x")', "a,b"]
    path = tmp_path / "quality.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["worker", *tasks])
        writer.writerows([w, 0.6, 0.7, 0.8] for w in workers)
    check_done(assign(path, tmp_path / "out", "--method", "random"))
    cells = {cell for pair in read_pairs(tmp_path / "out") for cell in pair}
    assert {"NA", "007", "-3", "Nan", "1e5", "a,b"} <= cells
    assert {cell for cell in cells if cell[0] in "=+-@\t\r"} == {"-3"}
    long = tmp_path / "again.csv"
    with long.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["worker", "task", "quality"])
        writer.writerows([*pair, 0.6] for pair in read_pairs(tmp_path / "out"))
    again = read_quality(long).quality
    # The name '=x was read as =x: the apostrophe is how such names stand in our files.
    assert set(again.workers) == {"=x" if w == "'=x" else w for w in workers}
    assert set(again.tasks) == set(tasks)


BAD_TABLES = {
    "": "quality.csv: the file is empty",
    "worker,t1\n": "quality.csv: must have a row below the header",
    "worker\nann\n": "quality.csv:1: must have a column for every task after 'worker'",
    "name,t1\nann,0.5\n": "quality.csv:1, column 1: the first column must be 'worker'",
    "task,ann,bob\nt1,0.5,0.6\n": "quality.csv:1: has a row per task, must have one per worker",
    "worker,quality\nann,0.5\n": "quality.csv:1: has a quality per worker, must have one",
    "worker,t1\nann,good\n": "quality.csv:2, column 't1': must be a number, found 'good'",
    "worker,t1\nann,nan\n": "quality.csv:2, column 't1': must be a finite number, found 'nan'",
    "worker,t1,t2\nann,0.5,\n": "quality.csv:2, column 't2': must be a number in [0, 1], found an",
    "worker,t1\nann,0.5\n\nbob,1.2\n": "quality.csv:4, column 't1': a quality must be in [0, 1]",
    "worker,t1\nann,-0.1\n": "quality.csv:2, column 't1': a quality must be in [0, 1], found -0.1",
    "worker,t1\nann,0.5\nbob,1\nann,0.5\n": "csv:4, column 'worker': 'ann' is there already, in",
    "worker,t1,t1\nann,0.5,0.5\n": "quality.csv:1, column 3: 't1' is there already, in column 2",
    "worker,task,quality\na,t,0.5\nb,t,0.5\na,t,0.6\n": "csv:4: the quality of 'a' on 't' is",
    "worker,task,quality\na,t,2\n": "quality.csv:2, column 'quality': a quality must be in [0, 1]",
    "worker,t1,\nann,0.5,0.5\n": "quality.csv:1, column 3: every task needs a name",
    "worker,t1,t2\nann,0.5\n": "quality.csv:2: must have 3 cells like the first row, found 2",
}


@pytest.mark.parametrize("text", BAD_TABLES)
def test_a_bad_table_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "quality.csv"
    path.write_text(text)
    err = check_refused(assign(path, tmp_path / "out"))
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert BAD_TABLES[text] in err
    assert not (tmp_path / "out").exists()


BAD_OPTIONS = {
    ("--budget", "-1"): "--budget must be an integer >= 0, or left out for no cap, found -1",
    ("--max-workers-per-task", "-2"): "--max-workers-per-task must be an integer >= 0",
    ("--max-tasks-per-worker", "-2"): "--max-tasks-per-worker must be an integer >= 0",
    ("--method", "magic"): f"must be one of {', '.join(METHODS)}, found 'magic'",
    ("--time-limit", "0"): "--time-limit must be a number of seconds above 0, found 0",
    ("--seed", "-1"): "--seed must be >= 0, found -1",
    ("--common-error", "nan"): "--common-error must be a number >= 0 and below 1",
}


@pytest.mark.parametrize("option", BAD_OPTIONS)
def test_a_bad_option_is_refused_in_one_line(table, tmp_path, option):
    err = check_refused(assign(table, tmp_path / "out", *option))
    assert BAD_OPTIONS[option] in err
    assert err.splitlines()[-1].startswith("error: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("method", METHODS)
def test_a_common_error_is_in_every_file_that_rests_on_it_and_nowhere_else(table, tmp_path, method):
    more = ("--method", method, "--budget", 4)
    assert assign(table, tmp_path / "apart", *more).exit_code == 0
    assert assign(table, tmp_path / "none", *more, "--common-error", 0.0).exit_code == 0
    assert assign(table, tmp_path / "some", *more, "--common-error", 0.2).exit_code == 0
    apart, none, some = (tmp_path / name for name in ("apart", "none", "some"))
    for path in sorted(apart.iterdir()):
        assert path.read_bytes() == (none / path.name).read_bytes()
        if path.name in ("summary.json", "run.json", "report.html"):
            assert "common" not in path.read_text()
            assert "common" in (some / path.name).read_text()
    assert json.loads((some / "run.json").read_text())["parameters"]["common_error"] == 0.2
    assert json.loads((some / "summary.json").read_text())["common_error"] == 0.2
    assert "on 20 % of the tasks all workers are misled alike" in (some / "report.html").read_text()


def test_what_if_knows_a_common_error(table):
    words = ("what-if", table, "--budgets", "0,3,6", "--json")
    found = [
        [
            row["expected_accuracy"]
            for row in json.loads(crowd_tvcs(*words, *more).stdout)["budgets"]
        ]
        for more in ((), ("--common-error", 0.2))
    ]
    assert found[0][0] == found[1][0] == 0.5
    assert found[0][2] > found[1][2] > 0.5


def test_a_file_brings_the_common_error_that_was_fitted(table, tmp_path):
    file = tmp_path / "dependence.json"
    measured = (CalibrationBin(2, 40, 0.912, 0.875, 0.739, 0.945),)
    file.write_text(json.dumps(Dependence(plan_error=0.25, measured=measured).as_json()))
    for name, more, error in (
        ("taken", ("--dependence", file), 0.25),
        ("other", ("--dependence", file, "--common-error", 0.1), 0.1),
        ("none", ("--dependence", file, "--common-error", 0), None),
        ("alone", (), None),
    ):
        done = check_done(assign(table, tmp_path / name, *more))
        assert ("the common error of the crowd is 0.250" in done.stderr) == (name == "taken")
        record = json.loads((tmp_path / name / "run.json").read_text())
        assert record["parameters"].get("common_error") == error
        page = (tmp_path / name / "report.html").read_text()
        assert (">0.912<" in page and ">0.875<" in page) == (name != "alone")
        run_done("verify", tmp_path / name)
    file.write_text("{}")
    err = check_refused(assign(table, tmp_path / "bad", "--dependence", file))
    assert "dependence.json: must be a dependence.json of crowd-tvcs quality" in err


def test_a_missing_file_is_named(tmp_path):
    err = check_refused(assign(tmp_path / "none.csv", tmp_path / "out"))
    assert "none.csv: No such file or directory" in err


def test_a_folder_in_use_needs_force(table, tmp_path):
    out = tmp_path / "out"
    assert assign(table, out, "--method", "qlp").exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    err = check_refused(assign(table, out, "--method", "random", "--budget", 1))
    assert "the folder is not empty; give --force" in err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert assign(table, out, "--method", "random", "--budget", 1, "--force").exit_code == 0
    assert len(read_pairs(out)) == 1


def test_a_folder_that_cannot_be_written_is_refused(table, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for out in (file, file / "below"):
        err = check_refused(assign(table, out))
        assert err.splitlines()[-1].startswith(f"error: {out}: ")
    assert file.read_text() == ""


def test_an_interrupt_leaves_nothing(tmp_path, sigint_of_a_terminal):
    size = ("--family", "skilldiff", "--workers", 100, "--tasks", 1000)  # takes half a minute
    run_done("simulate", *size, "--out", tmp_path / "crowd")
    out = tmp_path / "out"
    words = ["assign", str(tmp_path / "crowd" / "quality.csv"), "--out", str(out)]
    words += ["--max-workers-per-task", "5", "--max-tasks-per-worker", "50", "--budget", "4000"]
    command = [sys.executable, "-m", "crowd_tvcs.cli.main", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not out.exists() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            stderr = process.communicate(timeout=300)[1]
        finally:
            process.kill()
    assert process.returncode == 130, stderr
    assert stderr.splitlines()[-1] == "interrupted"
    assert "Traceback" not in stderr
    assert not out.exists()


def test_a_time_limit_that_strikes_is_reported(tmp_path):
    crowd_tvcs("simulate", "--workers", 20, "--tasks", 60, "--out", tmp_path / "crowd")
    table = tmp_path / "crowd" / "quality.csv"
    done = check_done(assign(table, tmp_path / "out", "--budget", 100, "--time-limit", 0.001))
    assert "the time limit of 0.001 s, exceeded by " in done.stderr
    assert "the report shows no other budgets, as the time limit of 0.001 s is near" in done.stderr
    assert len(read_pairs(tmp_path / "out")) == 100


def test_the_time_limit_is_for_the_whole_command(tmp_path, monkeypatch):
    crowd_tvcs("simulate", "--workers", 8, "--tasks", 20, "--out", tmp_path / "crowd")
    left, run = [], Search.run

    def note(search):
        left.append(search._deadline.left)
        return run(search)

    monkeypatch.setattr(Search, "run", note)
    table = tmp_path / "crowd" / "quality.csv"
    check_done(assign(table, tmp_path / "out", "--method", "best", "--time-limit", 100))
    assert 0.0 < left[0] < 90.0  # a tenth of what reading and `fast` leave is for the files


@pytest.mark.parametrize(("words", "one"), [([], "assign"), (["serve"], "links")])
def test_a_command_without_a_word_after_it_prints_its_help(words, one, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["crowd-tvcs", *words])
    with pytest.raises(SystemExit) as ended:
        shell.run(app)
    message = capsys.readouterr()
    assert (ended.value.code, message.out) == (2, "")
    assert one in message.err


def test_a_method_that_a_cheap_one_beats_says_so(tmp_path):
    run_done("simulate", "--workers", 8, "--tasks", 30, "--out", tmp_path)
    caps = ("--max-workers-per-task", 3, "--max-tasks-per-worker", 15, "--budget", 60)
    for method, is_beaten in (("random", True), ("best", False)):
        words = (tmp_path / "quality.csv", "--out", tmp_path / method, *caps)
        done = run_done("assign", *words, "--method", method)
        assert ("--method fast is faster and expects" in done.stderr) == is_beaten

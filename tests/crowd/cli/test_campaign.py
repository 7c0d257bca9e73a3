"""The command `crowd-tvcs campaign` as an operator meets it."""

import csv
import errno
import json
import sqlite3
from functools import partial
from pathlib import Path

import pytest

from tests.makers.commands import check_done, check_failed, check_refused, crowd_tvcs, run_done
from tvcs_core.files.errors import WriteError

run = partial(crowd_tvcs, "campaign")

GOLD = "task,label\n" + "".join(f"g{i},{'yes' if i % 3 else 'no'}\n" for i in range(8))
WORKERS = "worker,max_tasks,cost,group\nann,6,0.10,\nbob,4,0.05,x\n007,,0.02,x\nNA,5,0.01,\n"
GIVEN = ["--gold", "gold.csv", "--answers", "gold_answers.csv", "--tasks", "tasks.csv"]
TASKS = "item,prior,min_workers,max_workers\n" + "".join(f"t{i},,,\n" for i in range(8))


def right(worker, i):
    return {"ann": i != 3, "bob": i % 4 != 1, "007": i % 3 != 0, "NA": i % 2 == 0}[worker]


def label(worker, i):
    truth = i % 3 != 0
    return "yes" if truth == right(worker, i) else "no"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gold.csv").write_text(GOLD)
    Path("workers.csv").write_text(WORKERS)
    Path("tasks.csv").write_text(TASKS)
    rows = [("performer", "item", "output")]
    rows += [(w, f"g{i}", label(w, i)) for w in ("ann", "bob", "007", "NA") for i in range(8)]
    Path("gold_answers.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    return tmp_path


@pytest.fixture
def store(folder):
    done = run(
        *("init", "c.db", "--gold", "gold.csv", "--answers", "gold_answers.csv"),
        *("--workers", "workers.csv", "--tasks", "tasks.csv", "--budget", 14),
        *("--max-workers-per-task", 3, "--money", 1, "--target", 0.99, "--seed", 5),
    )
    assert done.exit_code == 0, done.stderr
    assert "4 workers, 8 tasks, classes ['no', 'yes']" in done.stderr
    return "c.db"


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def answer(pairs, path):
    rows = [["task", "worker", "label"]] + [[t, w, label(w, int(t[1:]))] for w, t in pairs]
    Path(path).write_text("".join(",".join(row) + "\n" for row in rows))
    return rows


def test_from_gold_answers_to_labels(store):
    planned = check_done(run("plan", store, "--labels", 8, "--out", "round1.csv"))
    assert "round 1: 8 labels by best" in planned.stderr  # which keeps money and groups
    pairs = read("round1.csv")[1:]
    assert len(pairs) == 8
    rows = answer(pairs, "answers1.csv")
    assert "8 answers imported" in run("import", store, "answers1.csv").stderr
    again = check_done(run("import", store, "answers1.csv"))
    assert "0 answers imported, 8 already known" in again.stderr
    task, worker, given = rows[1]
    other = "no" if given == "yes" else "yes"
    Path("edited.csv").write_text(f"task,worker,label\n{task},{worker},{other}\n")
    message = f"edited.csv:2: worker {worker!r} answered task {task!r} with {given!r} before"
    assert message in check_refused(run("import", store, "edited.csv"))
    Path("none.csv").write_text("task,worker,label\n")
    err = check_refused(run("import", store, "none.csv"))
    assert "none.csv: must have a row below the header, found none" in err
    more = check_done(run("replan", store))
    header, *new = list(csv.reader(more.stdout.splitlines()))
    assert header == ["worker", "task"]
    assert not {tuple(pair) for pair in new} & {tuple(pair) for pair in pairs}
    record = json.loads(run("status", store, "--json").stdout)
    assert record["answers"] == 8
    assert record["pending"] == len(new)
    assert record["budget"] == 14
    assert record["left"] == 14 - 8 - len(new)
    assert 0.5 < record["expected_accuracy"] < 1.0
    assert [one["task"] for one in record["task"]] == [f"t{i}" for i in range(8)]
    assert "expected accuracy" in run("status", store).stdout
    assert list(csv.reader(run("pending", store).stdout.splitlines()))[1:] == new
    exported = run("export-answers", store)
    assert sorted(exported.stdout.splitlines()[1:]) == sorted(
        ",".join(row) for row in read("answers1.csv")[1:]
    )
    labels = list(csv.reader(run("export-labels", store).stdout.splitlines()))
    assert labels[0] == ["task", "label", "confidence", "answers"]
    assert len(labels) == 9
    err = check_refused(run("plan", store))
    assert "a round is issued already; replan plans what is left" in err
    assert "pairs of round 1 released" in run("release", store, "--round", 1).stderr
    assert "there is only round 1, found 3" in check_refused(run("release", store, "--round", 3))
    refused = run("import", store, store)
    assert "must be a table, found an SQLite database; of a campaign" in refused.stderr


@pytest.mark.parametrize("command", ["plan", "replan"])
def test_a_round_of_no_labels_is_refused(store, command):
    """It was issued, and then `plan` could not make the first round."""
    refused = run(command, store, "--labels", 0)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--labels must be an integer >= 1, found 0" in refused.stderr
    assert "round 1: 8 labels" in run("plan", store, "--labels", 8).stderr


def test_tasks_one_at_a_time(store):
    offered = json.loads(run("next", store, "--worker", "007", "--json").stdout)
    task = offered["task"]
    assert run("next", store, "--worker", "007").stdout == f"{task}\n"
    done = run("submit", store, "--worker", "007", "--task", task, "--label", "yes")
    assert done.exit_code == 0
    assert "accepted; label confidence is now 0." in done.stderr
    again = run("submit", store, "--worker", "007", "--task", task, "--label", "yes", "--json")
    assert json.loads(again.stdout)["reason"] == "known already"
    other = run("submit", store, "--worker", "007", "--task", task, "--label", "no")
    assert other.exit_code == 2
    assert other.stderr == (
        f"error: worker '007' answered task '{task}' with 'yes' before, now 'no'\n"
    )


def test_what_is_not_worth_a_label_can_be_closed(store):
    found = check_done(run("review", store, "--min-gain", 0.9, "--close"))
    assert "8 of 8 tasks need no further label" in found.stderr
    nothing = run("next", store, "--worker", "ann")
    assert (nothing.stdout, nothing.stderr) == ("", "no task is left for this worker\n")
    assert "8 tasks are open again" in run("reopen", store).stderr
    assert run("next", store, "--worker", "ann").stdout.startswith("t")
    verdicts = json.loads(run("review", store, "--json", "--value", 1).stdout)
    assert {one["verdict"] for one in verdicts} <= {"worth a label", "waiting", "not worth it"}


def test_workers_and_tasks_are_added(store):
    Path("more.csv").write_text("worker,cost\nzoe,0.01\n")
    Path("new.csv").write_text("task,max_workers\nt99,1\n")
    done = check_done(run("add", store, "--workers", "more.csv", "--tasks", "new.csv"))
    assert "1 worker, 1 task added" in done.stderr
    record = json.loads(run("status", store, "--json").stdout)
    assert (record["workers"], record["tasks"]) == (5, 9)
    again = run("add", store, "--workers", "more.csv")
    assert (again.exit_code, again.stderr) == (0, "nothing added, 1 worker there already\n")
    assert "nothing to add" in run("add", store).stderr


def test_tables_that_have_grown_add_their_new_rows(store):
    with open("tasks.csv", "a") as file:
        file.write("t8,,,\nt9,0.4,1,2\n")
    with open("workers.csv", "a") as file:
        file.write("zoe,,0.01,\n")
    grown = ("add", store, "--tasks", "tasks.csv", "--workers", "workers.csv")
    done = check_done(run(*grown))
    assert done.stderr.endswith(
        "1 worker, 2 tasks added, 4 workers there already, 8 tasks there already\n"
    )
    record = json.loads(run("status", store, "--json").stdout)
    assert (record["workers"], record["tasks"]) == (5, 10)
    audit = run("audit", store).stdout
    assert "nothing added, 5 workers there already, 10 tasks there" in run(*grown).stderr
    assert run("audit", store).stdout == audit


@pytest.mark.parametrize(
    ("table", "row", "message"),
    [
        ("tasks", "t9,0.4,1,3", "tasks.csv:2, column 'max_workers': must be 2, as 't9' is in the"),
        ("tasks", "t9,0.5,1,2", "tasks.csv:2, column 'prior': must be 0.4, as 't9' is in the ca"),
        ("tasks", "t9,0.4,2,2", "tasks.csv:2, column 'min_workers': must be 1, as 't9'"),
        ("tasks", "t8,0.4,,", "tasks.csv:2, column 'prior': must be empty, as 't8'"),
        ("workers", "zoe,,0.02,", "workers.csv:2, column 'cost': must be 0.01, as 'zoe' is in"),
        ("workers", "zoe,5,0.01,", "workers.csv:2, column 'max_tasks': must be empty, as 'zoe'"),
        ("workers", "zoe,,0.01,red", "workers.csv:2, column 'group': must be empty, as 'zoe'"),
    ],
)
def test_a_row_that_says_something_else_than_the_campaign_is_refused(store, table, row, message):
    Path("tasks.csv").write_text("task,prior,min_workers,max_workers\nt8,,,\nt9,0.4,1,2\n")
    Path("workers.csv").write_text("worker,max_tasks,cost,group\nzoe,,0.01,\n")
    assert run("add", store, "--tasks", "tasks.csv", "--workers", "workers.csv").exit_code == 0
    before = run("audit", store).stdout
    name = Path(f"{table}.csv")
    name.write_text(f"{name.read_text().splitlines()[0]}\n{row}\n")
    assert message in check_refused(run("add", store, f"--{table}", name))
    assert run("audit", store).stdout == before


def test_other_additions_and_strangers_are_reported(folder):
    """Gold answers without any gold ended in an error of the database."""
    Path("quality.csv").write_text("worker,quality\nann,.9\n")
    run("init", "q.db", "--quality", "quality.csv", "--tasks", "tasks.csv", "--classes", "no,yes")
    Path("other.csv").write_text("worker,quality\nann,.8\neve,.7\n")
    done = run("add", "q.db", "--quality", "other.csv")
    assert done.stderr.splitlines() == [
        "qualities added",
        "qualities left out, because these workers are not in the campaign: 'eve'",
    ]
    err = check_refused(run("add", "q.db", "--answers", "gold_answers.csv"))
    assert err.splitlines() == [
        "warning: 'NA' is taken for the name of a worker, though R and others write it where there "
        "is none; if so, leave the rows out or write the name",
        "error: gold_answers.csv:2: task 'g0' has no gold label; leave out answers to such tasks",
    ]
    done = run("add", "q.db", "--gold", "gold.csv", "--answers", "gold_answers.csv")
    assert "8 gold labels, 32 gold answers added" in done.stderr


def test_a_table_of_pairs_that_has_grown_adds_its_new_pairs(folder):
    rows = "worker,task,quality\nann,t1,.9\nbob,t1,.8\n"
    Path("pairs.csv").write_text(rows)
    assert run("init", "p.db", "--quality", "pairs.csv").exit_code == 0
    Path("pairs.csv").write_text(f"{rows}bob,t2,.7\n")
    Path("grown.csv").write_text("task\nt1\nt2\n")
    grown = ("add", "p.db", "--quality", "pairs.csv")
    done = check_done(run(*grown, "--tasks", "grown.csv"))
    assert done.stderr == "1 task, qualities added, 1 task there already\n"
    assert run(*grown).stderr == "nothing added\n"
    Path("pairs.csv").write_text(rows.replace(".8", ".6"))
    err = check_refused(run(*grown))
    assert "pairs.csv: the quality of 'bob' on 't1' must be 0.8, as it is in" in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("t1,zoe,yes", "bad.csv:10: there is no worker 'zoe' in this campaign"),
        ("t99,ann,yes", "bad.csv:10: there is no task 't99' in this campaign"),
        ("{other},NA,maybe", "bad.csv:10: label must be one of 'no', 'yes', found 'maybe'"),
        ("{other},NA,yes", "bad.csv:10: task '{other}' was not given to worker 'NA'"),
    ],
)
def test_bad_answers_are_named_by_line_and_nothing_is_imported(store, line, message):
    run("plan", store, "--labels", 8, "--out", "round1.csv")
    pairs = read("round1.csv")[1:]
    answer(pairs, "bad.csv")
    other = next(t for t in (f"t{i}" for i in range(8)) if ["NA", t] not in pairs)
    with open("bad.csv", "a") as file:
        file.write(line.format(other=other) + "\n")
    assert message.format(other=other) in check_refused(run("import", store, "bad.csv"))
    assert json.loads(run("status", store, "--json").stdout)["answers"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tasks", "tasks.csv"], "give --gold (with --answers to it"),
        (["--gold", "gold.csv", "--tasks", "tasks.csv"], "--workers must name who is to label"),
        (
            ["--quality", "q.csv", "--gold", "gold.csv", "--answers", "gold_answers.csv"],
            "give --answers or --quality, not both",
        ),
        (["--answers", "gold_answers.csv", "--tasks", "tasks.csv"], "--answers needs --gold"),
        (["--gold", "gold.csv", "--answers", "gold_answers.csv"], "--tasks must name"),
        (["--quality", "quality.csv"], "quality.csv: No such file"),
        (
            ["--gold", "gold.csv", "--workers", "workers.csv", "--tasks", "gold_tasks.csv"],
            "gold_tasks.csv: must have a task that is not gold, found none",
        ),
        (["--quality", "workers.csv", "--tasks", "tasks.csv"], "workers.csv"),
        *(
            ([*words, "none.csv"], "error: none.csv: must have a row below the header, found none")
            for words in (
                ["--gold", "gold.csv", "--tasks", "tasks.csv", "--answers"],
                ["--gold", "gold.csv", "--answers", "gold_answers.csv", "--tasks"],
                [*GIVEN, "--workers"],
                ["--tasks", "tasks.csv", "--quality"],
            )
        ),
    ],
)
def test_an_init_that_cannot_be_says_what_is_missing(folder, words, message):
    columns = {"--tasks": "task", "--workers": "worker", "--quality": "worker,quality"}
    Path("gold_tasks.csv").write_text("task\ng1\n")
    Path("none.csv").write_text(columns.get(words[-2], "task,worker,label") + "\n")
    assert message in check_refused(run("init", "new.db", *words))
    assert not Path("new.db").exists()


@pytest.mark.parametrize(
    ("table", "text", "message"),
    [
        ("workers", "worker,cost\nzoe,$0.05\n", "bad.csv:2, column 'cost': must be a number in"),
        ("workers", "worker,wage\nann,3\n", "the columns may be worker, max_tasks, cost, group"),
        ("tasks", "task,min_workers\nt9,9\n", "task 't9' must have 9 workers and may have 3"),
    ],
)
def test_bad_tables_are_named_by_line(store, table, text, message):
    Path("bad.csv").write_text(text)
    assert message in check_refused(run("add", store, f"--{table}", "bad.csv"))


def test_a_store_that_fails_is_exit_code_1(store, monkeypatch):
    from crowd_tvcs.campaign.store import store as module

    monkeypatch.setattr(module, "WAIT_SECONDS", 0.1)
    other = sqlite3.connect(store, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    err = check_failed(run("next", store, "--worker", "ann"))
    assert err.startswith("error: c.db: is locked by another program")
    assert err.count("\n") == 1
    other.close()


def test_a_round_that_cannot_be_written_is_issued_and_says_so(store, monkeypatch):
    def full(out, header, rows):
        raise WriteError(errno.ENOSPC, "No space left on device", str(out))

    with monkeypatch.context() as patched:
        patched.setattr("crowd_tvcs.cli.campaign.rounds.write_rows", full)
        err = check_failed(run("plan", store, "--labels", 3, "--out", "round.csv"))
    assert err.splitlines() == [
        "round 1 is issued; crowd-tvcs campaign pending prints its pairs",
        "error: round.csv: No space left on device",
    ]
    assert len(run("pending", store).stdout.splitlines()) > 1


@pytest.mark.parametrize(
    "words", ["plan", "replan", "pending", "export-answers", "export-labels", "report"]
)
def test_nothing_is_written_over_the_store_nor_issued_for_it(store, words):
    before = Path(store).read_bytes()
    for out, why in ((store, "is the store of the campaign"), (".", "must be a file, found a")):
        err = check_refused(run(words, store, "--out", out))
        assert err.startswith(f"error: {out}: {why}")
    assert run("pending", store).stdout == "worker,task\n"
    assert Path(store).read_bytes() == before


def test_a_round_that_is_not_there_and_a_folder_are_refused(store):
    done = run("pending", store, "--round", 1)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "round must be one that was issued, and there is no round yet, found 1" in done.stderr
    for words in (("status", "."), ("init", ".", *GIVEN)):
        err = check_refused(run(*words))
        assert err.endswith("error: .: must be a file, found a folder\n")


def test_without_sqlalchemy_the_command_says_what_to_install(store, monkeypatch):
    from crowd_tvcs.cli.campaign import options

    monkeypatch.setattr(options, "find_spec", lambda name: None)
    done = run("status", store)
    assert (done.exit_code, done.stdout) == (1, "")
    how = "pip install '.[campaign]' in the folder of tvcs"
    assert done.stderr == f"error: campaigns need SQLAlchemy: {how}\n"


def test_names_that_are_formulas_are_shielded_in_what_is_written(folder):
    Path("quality.csv").write_text("worker,quality\n=cmd(),0.9\nann,0.7\n")
    Path("tasks.csv").write_text("task\n=HYPERLINK(1)\n+t\n")
    check_done(run("init", "f.db", "--quality", "quality.csv", "--tasks", "tasks.csv"))
    run("plan", "f.db", "--method", "fast", "--out", "round.csv")
    cells = {cell for row in read("round.csv")[1:] for cell in row}
    assert cells <= {"'=cmd()", "ann", "'=HYPERLINK(1)", "'+t"}
    rows = [["task", "worker", "label"]] + [[t, w, "1"] for w, t in read("round.csv")[1:]]
    Path("answers.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    assert run("import", "f.db", "answers.csv").exit_code == 0
    assert {row.split(",")[1] for row in run("export-answers", "f.db").stdout.splitlines()[1:]} <= {
        "'=cmd()",
        "ann",
    }


def test_the_page_shows_the_campaign(store):
    check_done(run("report", store, "--out", "before.html"))
    assert "No answer has come in yet" in Path("before.html").read_text()
    run("plan", store, "--labels", 8, "--out", "round1.csv")
    answer(read("round1.csv")[1:], "answers.csv")
    run("import", store, "answers.csv")
    Path("known.csv").write_text("task,label\nt1,yes\nt2,no\n")
    run("add", store, "--gold", "known.csv")
    run("report", store, "--out", "page.html")
    page = Path("page.html").read_text()
    assert "Accuracy against labels bought" in page
    assert "measured on 2 tasks with a known label" in page
    assert "money spent of 1.00" in page
    assert page.count("<polyline") == 2
    run("report", store, "--out", "again.html")
    assert Path("again.html").read_bytes() == Path("page.html").read_bytes()


def test_the_commands_of_the_page_run(tmp_path, monkeypatch):
    """In their order; the answers of the people come from the recorded ones."""
    page = Path(__file__).resolve().parents[3] / "docs" / "campaigns.md"
    monkeypatch.chdir(tmp_path)
    commands = [
        line.removeprefix("$ crowd-tvcs ").split()
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("$ crowd-tvcs ")
    ]
    assert len(commands) == 15
    lease = {}
    for words in commands:
        if words[:2] == ["campaign", "init"]:
            names = {k: sorted({row[k] for row in read("crowd/recorded.csv")[1:]}) for k in (0, 1)}
            Path("tasks.csv").write_text("\n".join(["task", *names[0]]) + "\n")
            Path("workers.csv").write_text("\n".join(["worker", *names[1]]) + "\n")
        if words[:2] == ["campaign", "import"]:
            issued = run("pending", "animals.db").stdout.splitlines()[1:]
            rows = [row for row in read("crowd/recorded.csv") if f"{row[1]},{row[0]}" in issued]
            head = "task,worker,label\n"
            Path(words[-1]).write_text(head + "".join(",".join(row) + "\n" for row in rows))
        if "--task" in words:
            words[words.index("--task") + 1] = lease["task"]
        done = run_done(*words)
        if words[1] == "next":
            lease = json.loads(done.stdout)
    assert len(read("labels.csv")) == 151


def test_a_task_that_nobody_answered_has_no_label(store):
    """Of 50,000 tasks 49,838 were exported as `yes`, confidence .5, answers 0."""
    before = run("export-labels", store, "--out", "before.csv")
    assert "8 of 8 tasks have no answers and so no label" in before.stderr
    assert read("before.csv")[1:] == [[f"t{i}", "", "", "0"] for i in range(8)]
    assert "expected accuracy" not in run("status", store).stdout
    task = json.loads(run("next", store, "--worker", "007", "--json").stdout)["task"]
    run("submit", store, "--worker", "007", "--task", task, "--label", "yes")
    run("export-labels", store, "--out", "after.csv")
    rows = {name: rest for name, *rest in read("after.csv")[1:]}
    label, sure, answers = rows.pop(task)
    assert (label, answers) == ("yes", "1")
    assert set(map(tuple, rows.values())) == {("", "", "0")}
    record = json.loads(run("status", store, "--json").stdout)
    assert record["expected_accuracy"] == pytest.approx(float(sure))
    assert record["unlabelled"] == 7
    none = {one["task"]: one for one in record["task"]}
    assert all(none[name]["label"] is none[name]["confidence"] is None for name in rows)
    shown = run("status", store)
    assert "7 of 8 tasks have no answers and so no label" in shown.stderr
    assert len(shown.stdout.split("verdict")[1].splitlines()) == 2  # of the least sure, only this
    run("report", store, "--out", "page.html")
    assert "<b>7</b> of 8 tasks have no answers yet" in Path("page.html").read_text()
    gold = run("add", store, "--gold", "after.csv")  # read back, an empty cell is no label
    assert gold.exit_code == 0, gold.stderr
    assert "1 gold label" in gold.stderr


def test_a_task_with_a_prior_of_its_own_has_the_label_of_that_prior(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text("worker,quality\nann,0.8\n")
    Path("t.csv").write_text("task,prior\nt1,0.97\nt2,\nt3,0.5\n")
    words = ("init", "c.db", "--quality", "q.csv", "--tasks", "t.csv", "--classes", "no,yes")
    check_done(run(*words))
    rows = list(csv.reader(run("export-labels", "c.db").stdout.splitlines()))[1:]
    assert [row[1] for row in rows] == ["yes", "", ""]
    assert float(rows[0][2]) == pytest.approx(0.97, abs=0.03)
    assert {row[3] for row in rows} == {"0"}


def test_what_a_campaign_cannot_do_is_refused_with_what_can_be_done_and_that_works(tmp_path):
    """Another cap while it runs; pairs that must not be."""
    (tmp_path / "q.csv").write_text("worker,quality\nann,.9\nbob,.8\ncy,.7\n")
    (tmp_path / "w.csv").write_text("worker,max_tasks\nann,2\nbob,2\ncy,2\n")
    (tmp_path / "t.csv").write_text("task\n" + "".join(f"t{j}\n" for j in range(6)))
    (tmp_path / "more.csv").write_text("worker,max_tasks\nann,6\n")
    tables = ("--quality", tmp_path / "q.csv", "--tasks", tmp_path / "t.csv")
    first, second = (tmp_path / f"{k}.db" for k in range(2))
    assert run("init", first, *tables, "--workers", tmp_path / "w.csv").exit_code == 0
    err = check_refused(run("add", first, "--workers", tmp_path / "more.csv"))
    assert "campaign change gives another cap" in err
    assert run("change", first, "--worker-cap", "ann=6").exit_code == 0
    assert len(run("plan", first, "--labels", 6).stdout.splitlines()) == 7  # all six are Ann's
    (tmp_path / "q.csv").write_text("worker,task,quality\nann,t1,.9\nbob,t1,.8\nbob,t2,.8\n")
    assert run("init", second, "--quality", tmp_path / "q.csv").exit_code == 0
    pairs = run("plan", second, "--labels", 3).stdout.splitlines()[1:]
    assert sorted(pairs) == ["ann,t1", "bob,t2"]  # not ann,t2, who is the better one


def test_gold_among_tasks_is_left_out_and_gold_of_tasks_measures_them_or_settles_them(store):
    Path("more.csv").write_text("task,text\ng1,known\nn1,new\n")
    done = run("add", store, "--tasks", "more.csv")
    assert "1 of 2 tasks are gold" in done.stderr
    assert "1 task added" in done.stderr
    Path("late.csv").write_text("task,label\nt1,yes\n")
    assert "they stay open: 't1'; campaign settle" in run("add", store, "--gold", "late.csv").stderr
    assert run("settle", store, "--task", "t1", "--label", "no").exit_code == 2
    assert run("settle", store, "--task", "t1", "--label", "yes").exit_code == 0
    assert "t1,yes,1.0,0" in run("export-labels", store).stdout.splitlines()


def test_names_that_may_be_one_are_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("task\n001\n002\n003\n")
    Path("w.csv").write_text("worker\nAnn\nann\n")
    Path("g.csv").write_text("task,label\n1,yes\n002,no\n")
    said = run("init", "a.db", "--tasks", "t.csv", "--workers", "w.csv", "--gold", "g.csv").stderr
    assert "1 of 3 tasks are gold" in said
    assert "the workers 'Ann' and 'ann' count as 2" in said
    assert (
        said.count("the tasks '001' and '1' count as 2, and differ in case, blanks or zeros") == 1
    )
    Path("w.csv").write_text("worker\nann\n")
    Path("g.csv").write_text("task,label\n001,yes\n002,no\n")
    said = run("init", "b.db", "--tasks", "t.csv", "--workers", "w.csv", "--gold", "g.csv").stderr
    assert "count as 2" not in said

"""`crowd-tvcs workers`, and plans by time: files in, files out, one-line errors."""

import json

import pytest

from benchmarks.crowd.simulated_workers import simulate_workers
from crowd_tvcs.answers.times import to_iso
from crowd_tvcs.behaviour.worker_review import COLUMNS, FLAG_COLUMNS
from crowd_tvcs.verification.verify import verify
from tests.makers.commands import crowd_tvcs, run_done, run_refused
from tests.makers.tables import rows_of


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workers")
    made = simulate_workers(
        {0: "guessing", 1: "same label", 5: "drift"}, n_workers=10, n_classes=4, rng=1
    )
    a = made.answers
    lines = [
        f"{task},{worker},{label},{to_iso(when)},{seconds}\n"
        for (task, worker, label), when, seconds in zip(
            a.rows(), a.when.tolist(), a.seconds.tolist(), strict=True
        )
    ]
    (folder / "a.csv").write_text("task,worker,label,answered_at,seconds\n" + "".join(lines))
    gold = [f"{task},{label}\n" for task, label in made.gold.labels.items()]
    (folder / "g.csv").write_text("task,label\n" + "".join(gold))
    costs = "".join(f"{worker},0.05\n" for worker in a.workers[1:])
    (folder / "w.csv").write_text(f"worker,cost\n{a.workers[0]},\n{costs}")
    return folder


def test_workers_are_listed_with_evidence_pay_and_verdict(crowd, tmp_path):
    words = ("workers", crowd / "a.csv", "--gold", crowd / "g.csv", "--workers", crowd / "w.csv")
    done = run_done(*words, "--out", tmp_path / "o", "--rows", 3)
    assert "answered_at, seconds, 2000 answers" in done.stderr
    assert "ignored" not in done.stderr
    assert "answers under" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith(" keep")
    assert len(lines) == 6
    assert lines[3].startswith("stop")
    rows = rows_of(tmp_path / "o" / "workers.csv")
    assert list(rows[0]) == list(COLUMNS)
    by_name = {row["worker"]: row for row in rows}
    assert len(by_name) == 10
    for name, kind, verdict in (("w000", "guessing", "stop"), ("w001", "same label", "stop"),
                                ("w005", "drift", "train")):  # fmt: skip
        assert kind in by_name[name]["flags"]
        assert by_name[name]["verdict"] == verdict
        assert by_name[name]["why"].startswith(kind)
    assert by_name["w000"]["pay_per_hour"] == ""
    assert 3 < float(by_name["w001"]["pay_per_hour"]) < 60
    assert all(float(r["low"]) < float(r["quality"]) < float(r["high"]) for r in rows)
    flags = rows_of(tmp_path / "o" / "flags.csv")
    assert list(flags[0]) == list(FLAG_COLUMNS)
    assert all(float(r["p_value"]) <= float(r["adjusted"]) <= 0.05 for r in flags)
    record = json.loads((tmp_path / "o" / "run.json").read_text())
    assert record["parameters"]["fdr"] == 0.05
    assert [entry["file"] for entry in record["inputs"]] == ["a.csv", "g.csv", "w.csv"]


def test_the_same_command_writes_the_same_bytes(crowd, tmp_path):
    words = ("workers", crowd / "a.csv", "--gold", crowd / "g.csv", "--out")
    for name in ("a", "b"):
        run_done(*words, tmp_path / name)
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_without_times_the_rest_is_reported(crowd, tmp_path):
    rows = rows_of(crowd / "a.csv")
    text = "".join(f"{r['task']},{r['worker']},{r['label']}\n" for r in rows)
    (tmp_path / "a.csv").write_text("task,worker,label\n" + text)
    words = ("workers", tmp_path / "a.csv", "--gold", crowd / "g.csv", "--out", tmp_path / "o")
    done = run_done(*words)
    assert "no times of day, so drift, fatigue and patterns are not tested" in done.stderr
    assert {r["flag"] for r in rows_of(tmp_path / "o" / "flags.csv")} >= {"guessing", "same label"}
    assert not (tmp_path / "o" / "minutes.csv").exists()
    assert {r["seconds"] for r in rows_of(tmp_path / "o" / "workers.csv")} == {""}


def test_times_that_cannot_be_end_in_one_line(crowd, tmp_path):
    rows = "task,worker,label,answered_at,seconds\nt0000,w,1,,\nx,w,0,2999-01-01,1\n"
    (tmp_path / "a.csv").write_text(rows)
    words = ("workers", tmp_path / "a.csv", "--gold", crowd / "g.csv", "--out", tmp_path / "o")
    assert "a.csv:3, column 'answered_at'" in run_refused(*words).splitlines()[-1]
    assert not (tmp_path / "o").exists()
    run_refused(*words, "--min-quality", 2)


QUALITY = "worker,t1,t2,t3\nann,.9,.9,.9\nbob,.8,.8,.8\ncy,.7,.7,.7\n"


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "q.csv").write_text(QUALITY)
    (tmp_path / "m.csv").write_text("worker,minutes\nann,2\nbob,0.5\ncy,0.25\n")
    (tmp_path / "c.csv").write_text("worker,cost\nann,2\nbob,0.5\ncy,0.25\n")
    return tmp_path


def test_minutes_limit_a_plan_as_money_does(plan):
    words = ("assign", plan / "q.csv", "--method", "greedy")
    run_done(*words, "--workers", plan / "m.csv", "--money", 3, "--out", plan / "m")
    paid = crowd_tvcs(*words, "--workers", plan / "c.csv", "--money", 3, "--out", plan / "c")
    assert "money spent: " in paid.stderr
    pairs = (plan / "m" / "assignment.csv").read_text()
    assert pairs == (plan / "c" / "assignment.csv").read_text()
    summary = json.loads((plan / "m" / "summary.json").read_text())
    minutes = {"ann": 2, "bob": 0.5, "cy": 0.25}
    spent = sum(minutes[row["worker"]] for row in rows_of(plan / "m" / "assignment.csv"))
    assert summary["money_spent"] == spent <= 3
    unproved = ["summary.json claims no bound: not certified"]  # greedy proves none
    assert verify(plan / "m").violations == unproved
    text = (plan / "m" / "assignment.csv").read_text()
    (plan / "m" / "assignment.csv").write_text(text + "ann,t3\n" * ("ann,t3" not in text))
    assert any("the money is 3" in what for what in verify(plan / "m").violations)


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("worker,minutes,cost\nann,2,1\nbob,1,1\ncy,1,1\n",
         "w.csv:1: must have one column 'cost' (or minutes), found minutes, cost"),
        ("worker,minutes\nann,2\nbob,1\n", "w.csv: every worker must have a cost"),
    ],
)  # fmt: skip
def test_bad_minutes_are_refused(table, what, plan):
    (plan / "w.csv").write_text(table)
    err = run_refused("assign", plan / "q.csv", "--workers", plan / "w.csv", "--money", 3,
                      "--method", "greedy", "--out", plan / "o")  # fmt: skip
    assert what in err.splitlines()[-1]


def test_what_workers_writes_limits_a_plan(crowd, tmp_path):
    out = tmp_path / "o"
    words = ("workers", crowd / "a.csv", "--gold", crowd / "g.csv", "--out", out)
    run_done(*words)
    names = [row["worker"] for row in rows_of(out / "minutes.csv")]
    (tmp_path / "q.csv").write_text("worker,t1,t2\n" + "".join(f"{n},.8,.7\n" for n in names))
    done = run_done("assign", tmp_path / "q.csv", "--workers", out / "minutes.csv", "--money",
                      1, "--method", "greedy", "--out", tmp_path / "p")  # fmt: skip
    assert "money spent: " in done.stderr

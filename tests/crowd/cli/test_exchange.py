"""`crowd-tvcs export` and `import`: from a plan to a tool and from its answers to a table."""

import json

import pytest

from tests.crowd import tools
from tests.makers.commands import run_done, run_refused


@pytest.fixture
def plan(tmp_path):
    """A folder that `assign` wrote, with a worker and a task whose names look like formulas."""
    names = ["007", "NA", "=SUM(A1)"]
    rows = [{"worker": w, "+1,1": 0.9, "t2": 0.6 + 0.1 * i} for i, w in enumerate(names)]
    tools.write(tmp_path / "quality.csv", rows)
    run_done(
        *("assign", tmp_path / "quality.csv", "--out", tmp_path / "plan", "--method", "qlp"),
        *("--max-workers-per-task", 2),
    )
    return tmp_path / "plan"


@pytest.mark.parametrize("tool", tools.TOOLS)
def test_a_plan_goes_to_the_tool_and_its_answers_come_back(tool, plan, tmp_path):
    write, name, question = tools.TOOLS[tool]
    done = run_done("export", plan, "--format", name, "--out", tmp_path / "given")
    assert "4 pairs of 2 tasks and" in done.stderr
    record = json.loads((tmp_path / "given" / "run.json").read_text())
    assert record["inputs"][0]["file"] == "assignment.csv"
    (given,) = (p for p in (tmp_path / "given").iterdir() if p.name != "run.json")
    write(given, tmp_path / "exported", lambda task, worker: "yes" if worker == "NA" else "no")
    words = ["import", tmp_path / "exported", "--format", name, "--out", tmp_path / "back"]
    done = run_done(*words, *(("--question", question) if question else ()))
    assert "4 answers of" in done.stderr
    answers = tools.rows_of(tmp_path / "back" / "answers.csv")
    assert list(answers[0]) == ["task", "worker", "label"]
    pairs = sorted((row["worker"], row["task"]) for row in tools.rows_of(plan / "assignment.csv"))
    assert sorted((row["worker"], row["task"]) for row in answers) == pairs
    assert {"'=SUM(A1)", "'+1,1"} <= {cell for row in answers for cell in row.values()}


def test_omissions_are_reported_and_recorded(tmp_path):
    lines = [
        {"task": "1", "_session_id": f"s{k}", "answer": given, "accept": ["a"]}
        for k, given in enumerate(["accept", "reject", "ignore", "ignore"])
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "accounts.csv").write_text("account,worker\ns0,Ann\n")
    words = ["import", tmp_path / "x.jsonl", "--format", "prodigy", "--out", tmp_path / "out"]
    done = run_done(*words, "--accounts", tmp_path / "accounts.csv")
    assert "left out: 2 ignored, 1 rejected" in done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["left_out"] == {"ignored": 2, "rejected": 1}
    assert (tmp_path / "out" / "answers.csv").read_text() == "task,worker,label\n1,Ann,a\n"
    run_refused(*words)  # the folder is in use
    run_done(*words, "--force")


def test_tasks_without_a_worker_are_reported(plan, tmp_path):
    rows = [{"task": "'+1,1", "text": "a"}, {"task": "t2", "text": "b"}, {"task": "t3", "text": ""}]
    tools.write(tmp_path / "tasks.csv", rows)
    done = run_done(
        *("export", plan / "assignment.csv", "--format", "argilla", "--out", tmp_path / "out"),
        *("--tasks", tmp_path / "tasks.csv"),
    )
    assert "1 task of" in done.stderr
    records = json.loads((tmp_path / "out" / "records.json").read_text())
    assert [record["fields"] for record in records] == [{"text": "a"}, {"text": "b"}]


def test_a_damaged_export_leaves_nothing_behind(plan, tmp_path):
    (tmp_path / "x.json").write_text('[{"data": {"task": "1"}, "annotations": [')
    words = ["--format", "label-studio", "--out", tmp_path / "out"]
    err = run_refused("import", tmp_path / "x.json", *words)
    assert "x.json:1: is not whole JSON" in err
    assert not (tmp_path / "out").exists()
    run_refused("import", tmp_path / "none.json", *words)
    err = run_refused("export", plan, "--format", "cvat", "--out", tmp_path / "out")
    assert "--format must be one of label-studio" in err
    assert not (tmp_path / "out").exists()

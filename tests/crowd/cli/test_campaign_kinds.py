"""`crowd-tvcs campaign --kinds`: the bytes of a campaign of the table, and what is refused."""

import csv
import io
import json
from functools import partial

import numpy as np
import pytest

from crowd_tvcs.campaign import state
from crowd_tvcs.factors import prices, tables
from tests.makers.commands import check_done, check_refused, crowd_tvcs

run = partial(crowd_tvcs, "campaign")

CAPS = ("--max-workers-per-task", 3, "--max-tasks-per-worker", 12, "--budget", 60)
TASKS = [f"t{j:02d}" for j in range(24)]


@pytest.fixture(autouse=True)
def _crowd(tmp_path, monkeypatch):
    """6 workers and 24 tasks of 3 kinds, in factors and as a table."""
    monkeypatch.setattr(prices, "MIN_VISITS", 200)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    values, kind = rng.uniform(0.5, 0.95, (6, 3)).round(2), rng.integers(0, 3, 24)
    heads = {"kinds.csv": [f"k{k}" for k in range(3)], "quality.csv": TASKS}
    for name, table in (("kinds.csv", values), ("quality.csv", values[:, kind])):
        rows = [",".join([f"w{i}", *map(str, row)]) for i, row in enumerate(table)]
        (tmp_path / name).write_text("\n".join([",".join(["worker", *heads[name]]), *rows]))
    rows = [f"{task},k{k}" for task, k in zip(TASKS, kind, strict=True)]
    (tmp_path / "tasks.csv").write_text("\n".join(["task,kind", *rows]))


OF_KINDS = ("--kinds", "kinds.csv", "--tasks", "tasks.csv")


def whole_campaign(store, *words):
    """All that is printed and written from the first plan to the labels."""
    done = [run("init", store, *words, *CAPS), run("plan", store, "--method", "greedy")]
    issued = list(csv.reader(io.StringIO(done[-1].stdout)))[1:]
    given = [f"{t},{w},{i % 2}" for i, (w, t) in enumerate(issued[:20])]
    with open("answers.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(["task,worker,label", *given]))
    done += [
        run("import", store, "answers.csv"),
        run("next", store, "--worker", "w1"),
        run("pending", store),
    ]
    done += [run("replan", store, "--method", "greedy"), run("review", store), run("status", store)]
    done += [run("status", store, "--json"), run("export-labels", store)]
    done += [run("export-answers", store), run("report", store, "--out", "page.html")]
    assert [one.exit_code for one in done] == [0] * len(done), [one.stderr for one in done]
    with open("page.html", encoding="utf-8") as file:
        page = file.read().replace(store, "c.db")
    return [one.stdout for one in done], page


def test_a_campaign_of_kinds_gives_the_bytes_of_the_one_of_its_table():
    assert whole_campaign("a.db", *OF_KINDS) == whole_campaign("b.db", "--quality", "quality.csv")


def test_a_large_campaign_of_kinds_runs_from_the_first_plan_to_the_labels(monkeypatch):
    monkeypatch.setattr(tables, "MOST_PAIRS", 100)
    monkeypatch.setattr(state, "CHUNK_PAIRS", 12)
    assert run("init", "a.db", *OF_KINDS, *CAPS).exit_code == 0
    done = check_done(run("plan", "a.db", "--time-limit", 3600))
    assert "labels by best" in done.stderr
    assert "this round is" in done.stderr
    assert len(done.stdout.splitlines()) > 40
    err = check_refused(run("replan", "a.db", "--method", "fast"))
    assert "the method fast does not honour kinds; these do: best" in err


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        (
            "t99,k7",
            OF_KINDS,
            "tasks.csv:26, column 'kind': must be a kind of kinds.csv, found 'k7'",
        ),
        ("t99,", OF_KINDS, "tasks.csv:26, column 'kind': must be a name, found an empty cell"),
        ("t00,k1", OF_KINDS, "tasks.csv:26, column 'task': 't00' is there already, in line 2"),
        ("", OF_KINDS[:2], "--kinds needs --tasks, the kind of every task"),
        ("", ("--quality", "quality.csv", *OF_KINDS), "give --quality or --kinds, not both"),
        ("", ("--kinds", "quality.csv", "--tasks", "tasks.csv"), "must be a kind of quality.csv"),
        ("", ("--quality", "quality.csv", "--tasks", "tasks.csv"), "kind"),
        ("", ("--kinds", "kinds.csv", "--tasks", "bare.csv"), "kind"),
        ("", ("--tasks", "tasks.csv"), "or --kinds with --tasks"),
    ],
)
def test_kinds_and_tasks_that_do_not_fit_are_refused_in_one_line(tmp_path, change, words, message):
    with (tmp_path / "tasks.csv").open("a", encoding="utf-8") as file:
        file.write(f"\n{change}")
    (tmp_path / "bare.csv").write_text("task\nt00\n")
    err = check_refused(run("init", "c.db", *words))
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "c.db").exists()


def test_tasks_are_added_with_their_kinds(tmp_path):
    assert run("init", "c.db", *OF_KINDS).exit_code == 0
    (tmp_path / "more.csv").write_text("task,kind\nu1,k0\nu2,k9\n")
    (tmp_path / "bare.csv").write_text("task\nu1\n")
    (tmp_path / "new.csv").write_text("worker,kind,quality\nw0,k9,.8\n")
    (tmp_path / "other.csv").write_text("worker,kind,quality\nw0,k0,.111\n")
    (tmp_path / "names.csv").write_text("worker\nw9\n")
    for words, message in (
        (("--tasks", "more.csv"), "the kind of task 'u2' must be one that the table of kinds has"),
        (("--tasks", "bare.csv"), "the kind of task 'u1' must be one that the table of kinds has"),
        (("--quality", "quality.csv"), "are of kinds of tasks; give it kinds"),
        (("--kinds", "other.csv"), "other.csv: the quality of 'w0' on 'k0' must be "),
    ):
        err = check_refused(run("add", "c.db", *words))
        assert message in err
        assert len(err.strip().splitlines()) == 1
    done = run("add", "c.db", "--kinds", "new.csv", "--tasks", "more.csv", "--workers", "names.csv")
    assert done.exit_code == 0, done.stderr
    assert "1 worker, 2 tasks, kinds added" in done.stderr
    for name in ("kinds.csv", "new.csv"):  # as tables that have grown hold what was there before
        assert run("add", "c.db", "--kinds", name).stderr == "nothing added\n"
    each = json.loads(run("status", "c.db", "--json").stdout)["task"]
    assert {"u1", "u2"} <= {one["task"] for one in each}
    assert all(one["label"] is one["confidence"] is None for one in each)  # nobody answered yet
    message = run("review", "c.db").stdout
    assert {"u1", "u2"} <= {line.split()[-1] for line in message.splitlines() if line}

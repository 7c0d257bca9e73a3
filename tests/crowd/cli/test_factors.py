"""`crowd-tvcs assign --kinds`: the bytes of the table's plan, and large crowds end to end."""

import json
import os

import numpy as np
import pytest

from crowd_tvcs.factors import prices, tables
from tests.makers.commands import (
    check_done,
    check_failed,
    check_refused,
    crowd_tvcs,
    run_done,
    run_refused,
)

# A limit that no machine is slow enough to reach: what is found before one is another plan.
CAPS = ("--max-workers-per-task", 3, "--max-tasks-per-worker", 30, "--budget", 150)
CAPS += ("--time-limit", 3600)


@pytest.fixture(autouse=True)
def _few_visits(monkeypatch):
    monkeypatch.setattr(prices, "MIN_VISITS", 200)


@pytest.fixture
def crowd(tmp_path):
    """The folder of a crowd of 10 workers and 80 tasks of 4 kinds, in factors and as a table."""
    rng = np.random.default_rng(0)
    values, kind = rng.uniform(0.5, 0.95, (10, 4)).round(2), rng.integers(0, 4, 80)
    prior = rng.choice([0.5, 0.3], 80)
    heads = ",".join(["worker", *(f"k{k}" for k in range(4))])
    rows = [f"w{i}," + ",".join(map(str, row)) for i, row in enumerate(values)]
    (tmp_path / "kinds.csv").write_text("\n".join([heads, *rows]))
    of_tasks = [f"t{j:02d},k{kind[j]},{prior[j]}" for j in range(80)]
    (tmp_path / "tasks.csv").write_text("\n".join(["task,kind,prior", *of_tasks]))
    heads = ",".join(["worker", *(f"t{j:02d}" for j in range(80))])
    rows = [f"w{i}," + ",".join(map(str, row[kind])) for i, row in enumerate(values)]
    (tmp_path / "quality.csv").write_text("\n".join([heads, *rows]))
    (tmp_path / "priors.csv").write_text(
        "\n".join(["task,prior", *(f"t{j:02d},{prior[j]}" for j in range(80))])
    )
    return tmp_path


def in_factors(crowd, command="assign", *words):
    tables_ = ("--kinds", crowd / "kinds.csv", "--tasks", crowd / "tasks.csv")
    return crowd_tvcs(command, *tables_, *words)


def dense(crowd, command="assign", *words):
    return crowd_tvcs(command, crowd / "quality.csv", "--tasks", crowd / "priors.csv", *words)


def test_a_crowd_whose_table_fits_gets_the_bytes_of_the_table(crowd):
    for ask, out in ((in_factors, "a"), (dense, "b")):
        check_done(ask(crowd, "assign", *CAPS, "--out", crowd / out))
    for name in ("assignment.csv", "summary.json", "prices.csv"):
        assert (crowd / "a" / name).read_bytes() == (crowd / "b" / name).read_bytes(), name
    run_done("verify", crowd / "a")
    budgets = ("--budgets", "50,100", "--json")
    assert in_factors(crowd, "what-if", *budgets).stdout == dense(crowd, "what-if", *budgets).stdout


def test_a_crowd_whose_table_does_not_fit_is_planned_and_verified_in_factors(crowd, monkeypatch):
    monkeypatch.setattr(tables, "MOST_PAIRS", 100)
    check_done(in_factors(crowd, "assign", *CAPS, "--out", crowd / "out"))
    names = ["accuracy.csv", "assignment.csv", "prices.csv", "report.html", "run.json"]
    assert sorted(os.listdir(crowd / "out")) == [*names, "summary.json"]
    summary = json.loads((crowd / "out" / "summary.json").read_text())
    assert summary["certified"] is True
    assert "task_accuracy" not in summary
    assert sum(kind["tasks"] for kind in summary["kinds"].values()) == 80
    assert len((crowd / "out" / "accuracy.csv").read_text().splitlines()) == 81
    page = (crowd / "out" / "report.html").read_text()
    assert "Kinds of tasks" in page
    assert "accuracy.csv has all" in page
    run_done("verify", crowd / "out")
    rows = json.loads(in_factors(crowd, "what-if", "--budgets", "50,150", "--json").stdout)
    assert [row["certified"] for row in rows["budgets"]] == [True, True]


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("summary.json", lambda t: t.replace('"n_tasks": 80', '"n_tasks": 81'), "n_tasks"),
        ("summary.json", lambda t: t.replace('"bound": 0.', '"bound": 0.0'), "bound"),
        ("summary.json", lambda t: t.replace('"answers": ', '"answers": 1', 1), "kinds"),
        ("assignment.csv", lambda t: t + t.splitlines()[-1] + "\n", "twice"),
        ("assignment.csv", lambda t: "\n".join(t.splitlines()[:-9]) + "\n", "recomputed"),
        ("assignment.csv", lambda t: t + "w0,t99\n", "is no task"),
        ("accuracy.csv", lambda t: t.replace("0.9", "0.8", 1), "accuracy.csv"),
        ("prices.csv", lambda t: t.replace(",0.00", ",0.09"), "bound"),
    ],
)
def test_what_was_changed_by_hand_is_found(crowd, monkeypatch, name, change, words):
    monkeypatch.setattr(tables, "MOST_PAIRS", 100)
    assert in_factors(crowd, "assign", *CAPS, "--out", crowd / "out").exit_code == 0
    path = crowd / "out" / name
    text = path.read_text()
    changed = change(text)
    assert changed != text
    path.write_text(changed)
    err = check_failed(crowd_tvcs("verify", crowd / "out"))
    result = [line for line in err.splitlines() if "SHA-256" not in line]
    assert words in "\n".join(result)


def test_money_in_the_record_of_a_plan_by_kinds_is_refused(crowd, monkeypatch):
    monkeypatch.setattr(tables, "MOST_PAIRS", 100)
    assert in_factors(crowd, "assign", *CAPS, "--out", crowd / "out").exit_code == 0
    record = crowd / "out" / "run.json"
    record.write_text(record.read_text().replace('"money": null', '"money": 3.0'))
    err = run_refused("verify", crowd / "out")
    assert "money must be null for a plan by kinds of tasks" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kinds", "kinds.csv"), "--kinds needs --tasks"),
        (("quality.csv", "--kinds", "kinds.csv"), "give QUALITY or --kinds, not both"),
        ((), "must have QUALITY, or --kinds with --tasks"),
    ],
)
def test_one_crowd_is_asked_for(crowd, monkeypatch, words, message):
    monkeypatch.chdir(crowd)
    err = run_refused("assign", *words, "--out", "out")
    assert message in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--forced", "pairs.csv"), "--forced is for crowds whose workers x tasks are at most 100"),
        (("--money", 5), "--money is for crowds"),
        (("--money", 0), "--money is for crowds"),
        (("--common-error", 0.1), "--common-error is for crowds"),
        (("--method", "fast"), "the method fast does not honour kinds; these do: best"),
    ],
)
def test_what_only_a_table_can_have_is_refused_for_a_large_crowd(
    crowd, monkeypatch, words, message
):
    monkeypatch.setattr(tables, "MOST_PAIRS", 100)
    assert message in check_refused(in_factors(crowd, "assign", *words, "--out", crowd / "out"))
    assert not (crowd / "out").exists()

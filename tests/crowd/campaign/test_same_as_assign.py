"""A round is the problem that `assign` solves: the same tables give the same plan and verdict."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from crowd_tvcs.campaign import Campaign, Worker
from tests.makers.commands import crowd_tvcs, run_done

NAMES = [f"w{i}" for i in range(12)]
TASKS = [f"t{j}" for j in range(20)]
GROUPS = "worker,group\n" + "".join(f"w{i},{'abc'[i % 3]}\n" for i in range(12))
COSTS = "worker,cost\n" + "".join(f"w{i},{0.05 * (1 + i % 5):g}\n" for i in range(12))
BOTH = "worker,max_tasks,cost,group\n" + "".join(
    f"w{i},{8 + i % 4},{0.05 * (1 + i % 5):g},{'ab'[i % 2] if i % 3 else ''}\n" for i in range(12)
)
MINIMUMS = "task,min_workers,max_workers\n" + "".join(
    f"t{j},{j % 3},{2 + j % 4}\n" for j in range(20)
)
PRIORS = "task,prior\n" + "".join(f"t{j},{0.1 + 0.04 * j:.2f}\n" for j in range(20))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(5).uniform(0.55, 0.9, (12, 20)).round(3)
    allowed = np.random.default_rng(6).random((12, 20)) < 0.8
    for name, may in (("quality", np.ones_like(allowed)), ("some", allowed)):
        rows = [f"{NAMES[i]},{TASKS[j]},{values[i, j]}" for i, j in np.argwhere(may)]
        Path(f"{name}.csv").write_text("\n".join(["worker,task,quality", *rows, ""]))
    forbidden = [f"{NAMES[i]},{TASKS[j]}" for i, j in np.argwhere(~allowed)]
    Path("forbidden.csv").write_text("\n".join(["worker,task", *forbidden, ""]))


def tables(workers, tasks):
    words = []
    for name, text in (("workers", workers), ("tasks", tasks)):
        if text:
            Path(f"{name}.csv").write_text(text)
            words += [f"--{name}", f"{name}.csv"]
    return words


CASES = {
    "random numbers": ("", "", ("--budget", 30, "--seed", 7), "random"),
    "the paper's method": ("", "", ("--budget", 30, "--seed", 7), "tvcs"),
    "groups": (GROUPS, "", ("--max-tasks-per-worker", 10), "greedy"),
    "groups with a bound": (GROUPS, "", ("--max-tasks-per-worker", 10), "best"),
    "money with a bound": (COSTS, "", ("--money", 3.3), "best"),
    "all demands with a bound": (BOTH, MINIMUMS, ("--money", 6, "--budget", 50), "best"),
    "money": (COSTS, "", ("--money", 7), "greedy"),
    "money to the last cent": (COSTS, "", ("--money", 3.3, "--max-workers-per-task", 3), "greedy"),
    "money and groups": (BOTH, "", ("--money", 6.05), "greedy"),
    "all demands": (BOTH, MINIMUMS, ("--money", 6, "--budget", 50), "greedy"),
    "minimums": ("", MINIMUMS, ("--budget", 41), "best"),
    "priors": ("", PRIORS, ("--budget", 40, "--max-tasks-per-worker", 6), "best"),
    "forbidden pairs": (BOTH, PRIORS, ("--money", 5), "greedy"),
    "caps": ("worker,max_tasks\nw3,1\nw7,0\n", "", ("--budget", 40), "fast"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_first_round_is_the_plan_of_assign(case):
    """The same pairs, but for those that add nothing, so the same expected accuracy."""
    workers, tasks, words, method = CASES[case]
    given = [*tables(workers, tasks), *words]
    forbidden, quality = (), "quality.csv"
    if case == "forbidden pairs":
        forbidden, quality = ("--forbidden", "forbidden.csv"), "some.csv"
    if case == "caps":  # in a campaign the table lists all workers there are
        rest = "".join(f"{w},\n" for w in NAMES if w not in ("w3", "w7"))
        given = [*tables(workers + rest, tasks), *words]
    run_done("assign", "quality.csv", "--out", "a", "--method", method, *given, *forbidden)
    run_done("campaign", "init", "c.db", "--quality", quality, *given)
    with Campaign("c.db") as campaign:
        found = campaign.plan(method=method, time_limit=None)
    with Path("a/assignment.csv").open(newline="") as file:
        expected = {tuple(row) for row in list(csv.reader(file))[1:]}
    summary = json.loads(Path("a/summary.json").read_text())
    assert found.expected_accuracy == pytest.approx(summary["expected_accuracy"], abs=1e-9)
    assert len(found.pairs) + found.left_out == len(expected)
    assert set(found.pairs) <= expected


def test_groups_leave_no_label_unplanned(tmp_path):
    """Groups that were kept only afterwards lost many labels, and the rest was called proved."""
    Path("one.csv").write_text("worker,quality\n" + "".join(f"{w},0.75\n" for w in NAMES))
    given = tables(GROUPS, "task\n" + "\n".join(TASKS) + "\n")
    run_done("campaign", "init", "c.db", "--quality", "one.csv", *given)
    done = run_done("campaign", "plan", "c.db", "--labels", 60)
    pairs = list(csv.reader(done.stdout.splitlines()))[1:]
    assert len(pairs) == 60
    assert len({("abc"[int(w[1:]) % 3], t) for w, t in pairs}) == 60
    assert "60 labels by best" in done.stderr
    assert "expected accuracy after them 0.8438" in done.stderr
    assert "proved to be the largest" in done.stderr  # of plans that keep the groups


@pytest.mark.parametrize("method", ["fast", "tvcs", "qlp", "random"])
def test_a_method_that_does_not_keep_groups_is_refused_as_in_assign(method):
    given = tables(GROUPS, "")
    run_done("campaign", "init", "c.db", "--quality", "quality.csv", *given)
    campaign = crowd_tvcs("campaign", "plan", "c.db", "--method", method)
    assign = crowd_tvcs("assign", "quality.csv", "--out", "a", "--method", method, *given)
    assert campaign.exit_code == assign.exit_code == 2
    assert campaign.stderr.splitlines()[-1] == assign.stderr.splitlines()[-1]
    assert f"the method {method} does not honour group" in campaign.stderr


@pytest.mark.parametrize("classes", [2, 3])
def test_rounds_count_mates_and_money_of_what_is_out_and_of_what_is_answered(begin, classes):
    """Leases, issued pairs and answers: each keeps mates out, and its price is gone."""
    workers = [Worker(n, cost=0.5 + 0.25 * (i % 3), team="xy"[i % 2]) for i, n in enumerate(NAMES)]
    campaign = begin(
        workers=workers,
        tasks=TASKS,
        qualities={n: 0.6 + 0.02 * i for i, n in enumerate(NAMES)},
        classes=["a", "b", "c"][:classes],
        money=25.0,
    )
    for name in ("w10", "w11"):
        campaign.next(name)
    for name in ("w8", "w9"):
        campaign.submit(name, campaign.next(name).task, "a")
    spent = 0
    for labels in (10, 8, None):
        campaign.plan(labels=labels)
        state = campaign.state()
        taken = state.slots > 0
        for team in "xy":
            mates = [w.team == team for w in state.workers]
            assert taken[mates].sum(axis=0).max() <= 1
        loads = taken.sum(axis=1).tolist()
        cost = sum(w.cost * k for w, k in zip(state.workers, loads, strict=True))
        assert spent < cost == state.settings.committed <= 25_000_000
        spent = cost
        given = [(t, w, "a") for w, t, _ in campaign.pending_pairs()]
        campaign.add_answers(given[::2])


def test_a_proof_of_a_plan_is_not_claimed_for_a_part_of_it(begin):
    names = {f"w{i}": 0.6 + 0.02 * i for i in range(8)}
    campaign = begin(workers=names, tasks=TASKS[:6], qualities=names, max_tasks_per_worker=4)
    found = campaign.plan(method="best", time_limit=None, min_gain=0.05)
    assert found.left_out > 0
    assert found.bound > found.expected_accuracy + 1e-3
    assert not found.reason.startswith("proved")
    assert found.reason.startswith(f"{found.left_out} labels left out of a plan")


ALL = "".join(f"{w},\n" for w in NAMES)
TABLES = {  # workers, tasks, options
    "no number": (f"worker,max_tasks\nw0,x\n{ALL[4:]}", "", ()),
    "minus": (f"worker,max_tasks\nw0,-1\n{ALL[4:]}", "", ()),
    "half a task": (f"worker,max_tasks\nw0,1.5\n{ALL[4:]}", "", ()),
    "too many tasks": (f"worker,max_tasks\nw0,1000000000\n{ALL[4:]}", "", ()),
    "many tasks": (f"worker,max_tasks\nw0,999999999\n{ALL[4:]}", "", ()),
    "no tasks": (f"worker,max_tasks\nw0,0\n{ALL[4:]}", "", ()),
    "who is that": (f"worker,max_tasks\nzoe,1\n{ALL}", "", ()),
    "twice": (f"worker,max_tasks\nw1,1\n{ALL}", "", ()),
    "no name": (f"worker,max_tasks\n,1\n{ALL}", "", ()),
    "no such column": (f"worker,wage\nw0,1\n{ALL[4:]}", "", ()),
    "a column twice": ("worker,cost,cost\nw0,1,1\n", "", ()),
    "no workers": ("max_tasks\n1\n", "", ()),
    "names alone": ("worker\n" + "\n".join(NAMES) + "\n", "", ()),
    "another name of the column": (f"Annotator,max_tasks\n{ALL}", "", ()),
    "no cells": ("worker,max_tasks\nw0\n", "", ()),
    "empty": (" ", "", ()),
    "free": ("worker,cost\n" + ALL.replace(",", ",0"), "", ("--money", 0)),
    "a price below 0": ("worker,cost\n" + ALL.replace(",", ",-1"), "", ()),
    "no price": ("worker,cost\n" + ALL.replace(",", ",x"), "", ()),
    "a price without end": ("worker,cost\n" + ALL.replace(",", ",inf"), "", ()),
    "a price that is none": ("worker,cost\n" + ALL.replace(",", ",nan"), "", ()),
    "a price too high": ("worker,cost\n" + ALL.replace(",", ",1000000"), "", ()),
    "a high price": ("worker,cost\n" + ALL.replace(",", ",999999"), "", ()),
    "a price too low": ("worker,cost\n" + ALL.replace(",", ",0.0000009"), "", ()),
    "a low price": ("worker,cost\n" + ALL.replace(",", ",1e-6"), "", ()),
    "some without a price": (f"worker,cost\nw0,1\n{ALL[4:]}", "", ()),
    "money without prices": ("", "", ("--money", 5)),
    "money and workers without prices": (f"worker,max_tasks\n{ALL}", "", ("--money", 5)),
    "money below 0": ("worker,cost\n" + ALL.replace(",", ",1"), "", ("--money", -1)),
    "no money at all": ("worker,cost\n" + ALL.replace(",", ",1"), "", ("--money", "nan")),
    "a prior above 1": ("", "task,prior\nt0,1.2\n", ()),
    "no prior": ("", "task,prior\nt0,nan\n", ()),
    "what task": ("", "task,prior\nt99,0.5\n", ()),
    "a task twice": ("", "task,prior\nt0,0.5\nt0,0.5\n", ()),
    "a minimum that is none": ("", "task,min_workers\nt0,-2\n", ()),
    "too few workers": ("", "task,min_workers\nt0,13\n", ()),
    "a minimum above the cap": ("", "task,min_workers,max_workers\nt0,3,2\n", ()),
    "a minimum above the common cap": (
        "",
        "task,min_workers\nt0,3\n",
        ("--max-workers-per-task", 2),
    ),
    "minimums above the budget": ("", "task,min_workers\nt0,3\n", ("--budget", 2)),
    "minimums that groups forbid": (GROUPS, "task,min_workers\nt0,4\n", ()),
    "minimums beyond the money": (COSTS, "task,min_workers\nt0,3\n", ("--money", 0.1)),
    "a budget below 0": ("", "", ("--budget", -1)),
}
FINE = {"many tasks", "no tasks", "names alone", "another name of the column", "free"} | {
    "a high price",
    "a low price",
}


@pytest.mark.parametrize("case", TABLES)
def test_both_commands_give_the_same_verdict_on_the_same_tables(case):
    """RejectedError in one line with exit code 2, by the same sentence where a cell is at fault."""
    workers, tasks, words = TABLES[case]
    given = [*tables(workers, tasks), *words]
    method = ("--method", "greedy")
    assign = crowd_tvcs("assign", "quality.csv", "--out", "a", *method, *given)
    campaign = crowd_tvcs("campaign", "init", "c.db", "--quality", "quality.csv", *given)
    assert Path("c.db").exists() == (campaign.exit_code == 0)
    if campaign.exit_code == 0:
        campaign = crowd_tvcs("campaign", "plan", "c.db", *method)
    assert (assign.exit_code, campaign.exit_code) == ((0, 0) if case in FINE else (2, 2))
    if case not in FINE:
        message = [done.stderr.splitlines()[-1] for done in (assign, campaign)]
        assert all(line.startswith("error: ") for line in message)
        if re.search(r"\.csv:\d", message[0]):
            assert message[0] == message[1]

"""The formula of docs/crowd-plans.md, from the files alone, gives the bound that they claim."""

import csv
import json
from itertools import combinations, product
from math import prod

import pytest

from tests.makers.commands import run_done

N, M, PER_TASK, PER_WORKER, BUDGET, PRIOR = 7, 9, 3, 4, 20, 0.6


def succeed(*words):
    run_done(*words)


def accuracy(q, prior):
    """The likelier label wins in every outcome of the votes."""
    return sum(
        max(
            prior * prod(p if vote else 1 - p for p, vote in zip(q, votes, strict=True)),
            (1 - prior) * prod(1 - p if vote else p for p, vote in zip(q, votes, strict=True)),
        )
        for votes in product((True, False), repeat=len(q))
    )


@pytest.mark.parametrize("has_demands", [False, True])
@pytest.mark.parametrize("family", ["iid", "worker", "skilldiff", "topic"])
def test_anyone_can_recompute_the_bound_from_the_files(tmp_path, family, has_demands):
    succeed(
        "simulate", "--workers", N, "--tasks", M, "--family", family, "--out", tmp_path / "crowd"
    )
    forced, least, demands = {}, {}, []
    if has_demands:
        forced, least = {"t1": {"w1"}, "t2": {"w7"}}, {"t1": 2, "t3": 1, "t4": 3}
        (tmp_path / "forced.csv").write_text("task,worker\nt1,w1\nt2,w7\n")
        (tmp_path / "tasks.csv").write_text("task,min_workers\nt1,2\nt3,1\nt4,3\n")
        demands = ["--forced", tmp_path / "forced.csv", "--tasks", tmp_path / "tasks.csv"]
    succeed(
        *("assign", tmp_path / "crowd" / "quality.csv", "--out", tmp_path / "plan"),
        *("--max-workers-per-task", PER_TASK, "--max-tasks-per-worker", PER_WORKER),
        *("--budget", BUDGET, "--prior", PRIOR, *demands),
    )
    with (tmp_path / "crowd" / "quality.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    quality = {row.pop("worker"): {task: float(q) for task, q in row.items()} for row in rows}
    with (tmp_path / "plan" / "prices.csv").open(newline="") as file:
        price = {row["worker"]: float(row["price"]) for row in csv.DictReader(file)}
    summary = json.loads((tmp_path / "plan" / "summary.json").read_text())
    label = summary["budget_price"]

    def value(task):
        return max(
            accuracy([quality[w][task] for w in S], PRIOR) - M * sum(price[w] + label for w in S)
            for size in range(least.get(task, 0), PER_TASK + 1)
            for S in combinations(quality, size)
            if forced.get(task, set()) <= set(S)
        )

    tasks = next(iter(quality.values()))
    bound = label * BUDGET + PER_WORKER * sum(price.values()) + sum(map(value, tasks)) / M
    assert summary.get("bound_by_prices", summary["bound"]) == pytest.approx(bound, abs=1e-9)
    assert summary["expected_accuracy"] <= bound + 1e-9

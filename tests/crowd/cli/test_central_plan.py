"""Plans of 150 workers and more, whose prices are central: whole, verified, and the same bytes."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  its BLAS is looked at
from threadpoolctl import threadpool_info, threadpool_limits

from crowd_tvcs import Quality, assign
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.factors import prices
from crowd_tvcs.factors.prices import PriceSearch
from crowd_tvcs.plan.plan import Plan
from tests.makers.commands import run_done

N, M, K = prices.MANY_WORKERS, 10 * prices.MANY_WORKERS, 12
COMMAND = """
import atexit, sys
from crowd_tvcs.factors import tables
from crowd_tvcs.factors.master import GroupColumns
solved, find = [], GroupColumns.central_master
def counted(*given):
    solved.append(find(*given))
    return solved[-1]
GroupColumns.central_master = counted
tables.MOST_PAIRS = 0
atexit.register(lambda: print("central:", sum(one is not None for one in solved)))
from crowd_tvcs.cli.main import app
app(sys.argv[1:])
"""


def qualities():
    """Workers of a skill each and one per topic, kinds of an ease each; and the kinds of tasks."""
    rng = np.random.default_rng(0)
    ease = rng.gamma(2.0, 0.6, (N, 1)) * rng.lognormal(0.0, 0.5, (1, K))
    topic = rng.beta(4.0, 2.2, (N, 4))[:, rng.integers(0, 4, K)]
    values = np.clip(0.6 / (1.0 + np.exp(-ease)) + 0.4 * topic, 0.5, 0.97).round(4)
    return values, rng.integers(0, K, M)


@pytest.mark.slow
def test_a_plan_with_central_prices_has_the_same_bytes_with_any_threads_of_blas(tmp_path):
    values, kind = qualities()
    rows = [f"w{i:03d}," + ",".join(map(str, row)) for i, row in enumerate(values)]
    heads = ",".join(["worker", *(f"k{k}" for k in range(K))])
    (tmp_path / "kinds.csv").write_text("\n".join([heads, *rows]))
    of_tasks = [f"t{j:04d},k{kind[j]}" for j in range(M)]
    (tmp_path / "tasks.csv").write_text("\n".join(["task,kind", *of_tasks]))
    words = ["assign", "--kinds", "kinds.csv", "--tasks", "tasks.csv", "--budget", str(4 * M)]
    words += ["--max-workers-per-task", "5", "--max-tasks-per-worker", "50"]
    words += ["--time-limit", "36000"]
    written = []
    for threads in ("1", "2"):
        out = f"out{threads}"
        command = [sys.executable, "-c", COMMAND, *words, "--out", out]
        around = os.environ | {f"{n}_NUM_THREADS": threads for n in ("OPENBLAS", "OMP", "MKL")}
        done = subprocess.run(command, cwd=tmp_path, env=around, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert int(done.stdout.split("central:")[1]) > 0
        names = ("assignment.csv", "accuracy.csv", "prices.csv", "summary.json")
        written.append([(tmp_path / out / name).read_bytes() for name in names])
    assert written[0] == written[1]
    summary = json.loads(written[0][-1])
    assert summary["certified"] is True
    error = 1.0 - summary["expected_accuracy"]
    assert 0.0 <= summary["bound"] - summary["expected_accuracy"] <= 0.01 * error
    run_done("verify", tmp_path / "out1")


def test_plans_in_factors_hold_blas_to_one_thread(monkeypatch):
    """Its threads change the last bits of prices, and spin while there is little to do."""
    seen = []
    monkeypatch.setattr(prices, "MIN_VISITS", 100)

    def looked(search):
        seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return run(search)

    run = PriceSearch.run
    monkeypatch.setattr(PriceSearch, "run", looked)
    table = Quality([[0.9], [0.8]], ["a", "b"], ["k"])
    plan = Plan(Factors(table, ["t0", "t1"], [0, 0]), budget=2)
    with threadpool_limits(2, "blas"):
        assign(plan, "best", rng=0)
    assert seen
    assert set(seen) == {1}

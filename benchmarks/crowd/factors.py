"""Plans of very many tasks from a table of workers x kinds: time, memory and gap of the command.

    python -m benchmarks.crowd.factors                                  # 200 x 100,000, 400 kinds
    python -m benchmarks.crowd.factors --workers 1000 --tasks 1000000 --kinds 2000
    python -m benchmarks.crowd.factors --priors 3 --keep /tmp/crowd     # keeps tables and plan
    python -m benchmarks.crowd.factors --campaign                       # every step of a campaign
    python -m benchmarks.crowd.factors --tasks 10000 --beside-table     # and by the table

The quality of a worker on a kind mixes a skill that grows with the ease of the kind (GLAD) and one
per topic, from .5 to .97. Five answers per task at most, as many tasks per worker as share these
equally, and a budget of four per task. `crowd-tvcs assign` runs in a process of its own; seconds
are of its processor and of the clock, memory is its peak.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TOPICS = 8
MOST, LABELS = 5, 4  # answers of a task at most, and on average
PRIORS = (0.5, 0.35, 0.6, 0.25, 0.7)


def write_crowd(args: argparse.Namespace, folder: Path) -> None:
    """Write kinds.csv and tasks.csv."""
    rng = np.random.default_rng(args.seed)
    n, k, m = args.workers, args.kinds, args.tasks
    logit = rng.gamma(2.0, 0.6, (n, 1)) * rng.lognormal(0.0, 0.5, (1, k))
    topic = rng.beta(4.0, 2.2, (n, TOPICS))[:, rng.integers(0, TOPICS, k)]
    quality = np.clip(0.6 / (1.0 + np.exp(-logit)) + 0.4 * topic, 0.5, 0.97).round(4)
    kind, prior = rng.integers(0, k, m).tolist(), rng.choice(PRIORS[: args.priors], m).tolist()
    with (folder / "kinds.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["worker", *(f"kind{c:05d}" for c in range(k))])
        table.writerows([f"w{i:05d}", *row] for i, row in enumerate(quality.tolist()))
    with (folder / "tasks.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["task", "kind", "prior"])
        table.writerows([f"t{j:08d}", f"kind{kind[j]:05d}", prior[j]] for j in range(m))


def planned(args: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Plan the crowd; return seconds and memory."""
    limit = ["--time-limit", args.time_limit]
    return ran("assign", *crowd_of(args, folder), *limit, "--out", folder / "plan", "--force")


def crowd_of(args: argparse.Namespace, folder: Path) -> list[object]:
    """The options of `assign` and of `campaign init` that say what the crowd is."""
    words = ["--kinds", folder / "kinds.csv", "--tasks", folder / "tasks.csv"]
    words += ["--max-workers-per-task", MOST, "--budget", LABELS * args.tasks]
    return [*words, "--max-tasks-per-worker", MOST * args.tasks // args.workers]


def whole_campaign(args: argparse.Namespace, folder: Path) -> None:
    """Run a campaign to its second round and its report; print what each step takes."""
    store, pairs, answers = (folder / name for name in ("c.db", "pairs.csv", "answers.csv"))
    of_store = ("campaign", "init", store, *crowd_of(args, folder))
    limit = ("--time-limit", args.time_limit)
    tell("init", ran(*of_store))
    half = ("--labels", LABELS * args.tasks // 2)
    tell("plan", ran("campaign", "plan", store, *limit, *half, "--out", pairs))
    rng = np.random.default_rng(args.seed)
    with pairs.open(newline="") as file, answers.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["task", "worker", "label"])
        rows = list(csv.reader(file))[1:]
        labels = rng.integers(0, 2, len(rows)).tolist()
        table.writerows((t, w, label) for (w, t), label in zip(rows, labels, strict=True))
    steps = {
        "import": ("import", store, answers),
        "next": ("next", store, "--worker", "w00000"),
        "replan": ("replan", store, *limit, "--out", folder / "more.csv"),
        "status": ("status", store),
        "labels": ("export-labels", store, "--out", folder / "labels.csv"),
        "report": ("report", store, "--out", folder / "page.html"),
    }
    for name, words in steps.items():
        tell(name, ran("campaign", *words))
    print(f"store {store.stat().st_size / 2**20:.0f} MB, report ", end="")
    print(f"{(folder / 'page.html').stat().st_size / 2**10:.0f} kB")


def beside_table(args: argparse.Namespace, folder: Path) -> int:
    """Plan a crowd by its table of workers x tasks, by its kinds, and as one too large for a table.

    Returns 1 where the files of the first two differ, or one bound is below another plan.
    """
    with (folder / "kinds.csv").open(newline="") as kinds, (folder / "tasks.csv").open() as tasks:
        head, *rows = csv.reader(kinds)
        of_tasks = list(csv.DictReader(tasks))
    place = [head.index(task["kind"]) for task in of_tasks]
    names = [task["task"] for task in of_tasks]
    with (folder / "quality.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["worker", *names])
        out.writerows([row[0], *(row[k] for k in place)] for row in rows)
    with (folder / "priors.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["task", "prior"])
        out.writerows([task["task"], task["prior"]] for task in of_tasks)
    words = crowd_of(args, folder)
    dense = [folder / "quality.csv", "--tasks", folder / "priors.csv", *words[4:]]
    found, limit = {}, ("--time-limit", args.time_limit)
    ways = ("table", dense, False), ("kinds", words, False), ("factors", words, True)
    for name, asked, in_factors in ways:
        out_folder = folder / name
        tell(name, ran("assign", *asked, *limit, "--out", out_folder, in_factors=in_factors))
        found[name] = json.loads((out_folder / "summary.json").read_text(encoding="utf-8"))
    files = ("assignment.csv", "summary.json", "prices.csv")
    table, factors = found["table"], found["factors"]
    is_same = all(
        (folder / "table" / name).read_bytes() == (folder / "kinds" / name).read_bytes()
        for name in files
    )
    error = 1.0 - table["expected_accuracy"]
    apart = (factors["expected_accuracy"] - table["expected_accuracy"]) / error
    print(f"the same bytes by table and kinds: {is_same}")
    print(f"in factors: {apart:+.4%} of the error, gap {factors['gap'] / error:.4%}", end="")
    print(f", of the table {table['gap'] / error:.4%}")
    holds = all(
        one["bound"] >= other["expected_accuracy"] - 1e-9
        for one, other in ((table, factors), (factors, table))
    )
    return 0 if is_same and holds else 1


def tell(name: str, took: dict[str, float]) -> None:
    """Print what a step took."""
    shown = f"{took['processor']:.1f} s of processor, {took['clock']:.1f} s in all"
    print(f"{name:<8}{shown}, {took['gigabytes']:.2f} GB", flush=True)


NO_TABLE = (
    "from crowd_tvcs.factors import tables; tables.MOST_PAIRS = 0\n"
    "from crowd_tvcs.cli.main import main; main()"
)


def ran(*words: object, in_factors: bool = False) -> dict[str, float]:
    """Run the command in a process of its own; return its seconds and its peak of memory.

    `in_factors` plans as if no table of workers x tasks were small enough to be made.
    """
    start = time.perf_counter()
    how = ["-c", NO_TABLE] if in_factors else ["-m", "crowd_tvcs"]
    command = [sys.executable, *how, *map(str, words)]
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(process.returncode)
    return {
        "clock": time.perf_counter() - start,
        "processor": used.ru_utime + used.ru_stime,
        "gigabytes": used.ru_maxrss / 2**20,
    }


def main() -> int:
    """Write a crowd, plan it and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workers", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--kinds", type=int, default=400)
    parser.add_argument("--priors", type=int, default=1, choices=range(1, len(PRIORS) + 1))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=7200.0)
    parser.add_argument("--campaign", action="store_true")
    parser.add_argument("--beside-table", action="store_true")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    folder = args.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        write_crowd(args, folder)
        if args.campaign:
            whole_campaign(args, folder)
            return 0
        if args.beside_table:
            return beside_table(args, folder)
        took = planned(args, folder)
        found = json.loads((folder / "plan" / "summary.json").read_text(encoding="utf-8"))
    finally:
        if args.keep is None:
            shutil.rmtree(folder)
    error = 1.0 - found["expected_accuracy"]
    gap = "none" if found["gap"] is None else f"{found['gap'] / error:.4%} of the error"
    print(f"{args.workers} workers x {args.tasks} tasks, {args.kinds} kinds, {args.priors} priors")
    print(f"error {error:.6f}, gap {gap}, {found['reason']}")
    print(
        f"{took['processor']:.0f} s of processor, {took['clock']:.0f} s in all, "
        f"{took['gigabytes']:.2f} GB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

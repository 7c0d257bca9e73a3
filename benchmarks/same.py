"""Run every command with every method in two checkouts and compare what they write, byte by byte.

For a change that must not change results: `python3 dev.py same OTHER`, where OTHER is a checkout of
the code as it was (`git worktree add OTHER main`). Both run side by side on this machine, with the
inputs of this one and fixed seeds. No hashes are stored, because the last digits of a result may
differ between processors.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from crowd_tvcs.methods import METHODS as PLANS
from grn_tvcs.methods.table import METHODS as NETWORKS
from tvcs_core.solvers import METHODS as SOLVERS

ROOT = Path(__file__).resolve().parents[1]
CAPS = "--max-workers-per-task 5 --max-tasks-per-worker 20"
SERIES = "network30/timeseries.tsv"
STEADY = (
    "--knockouts network30/knockouts.tsv --knockdowns network30/knockdowns.tsv "
    "--wildtype network30/wildtype.tsv --perturbed-until 500"
)
OWN_FILES = {"knock-outs": "--knockouts network30/knockouts.tsv"}  # what a method cannot do without
FEWER = {"genie3": "trees=30", "dyngenie3": "trees=30", "tigress": "splits=20"}
# How long a command took, and when a lease ends, are no results.
CLOCK = re.compile(rb"\b[\d.]+ (ms|s)\b")
MOMENT = re.compile(r"\b[12]\d{9}\.\d+")

SOLVE = """
import sys, numpy as np
from tvcs_core import *
rng = np.random.default_rng(3)
out = {}
for name, shape, caps in (
    ("gauss", (60, 40), {"row_caps": 4, "col_caps": 6, "total": 150}),
    ("loose", (60, 40), {"row_caps": 4, "col_caps": 6}),
    ("wide", (200, 400), {"row_caps": 20, "col_caps": 9, "total": 1500}),
    ("rows", (50, 30), {"row_caps": 3}),
    ("ones", (50, 30), {"row_caps": 1, "col_caps": 1}),
):
    for kind, values in (
        ("normal", rng.normal(size=shape)),
        ("ties", rng.integers(-2, 3, shape).astype(float)),
        ("products", rng.gamma(2.0, size=(shape[0], 1)) * rng.gamma(2.0, size=shape[1])),
    ):
        found = project(values, TVCS.matrix(shape, **caps))
        key = f"{name}-{kind}"
        out |= {f"{key}-support": found.support, f"{key}-rows": found.row_duals,
                f"{key}-cols": found.col_duals, f"{key}-total": found.total_dual,
                f"{key}-gap": found.gap}
X = rng.standard_normal((200, 12, 10))
truth = project(rng.normal(size=(12, 10)), TVCS.matrix((12, 10), row_caps=2, col_caps=3)).matrix
y = np.einsum("nij,ij->n", X, truth) + 0.1 * rng.standard_normal(200)
problem = Problem(LeastSquares(X, y), TVCS.matrix((12, 10), row_caps=2, col_caps=3))
for method in sys.argv[1].split(","):
    solution = solve(problem, method, rng=1, max_iter=40)
    out |= {f"{method}-matrix": solution.matrix, f"{method}-history": solution.history}
np.savez("solve.npz", **out)
"""

# Crowds in factors are planned as if no table of workers x tasks were small enough to be made, and
# with as few visits for the first prices as so few workers need.
IN_FACTORS = """
from crowd_tvcs.factors import prices, tables
tables.MOST_PAIRS = 0
prices.MIN_VISITS = prices.LEAST_VISITS = 100  # by its name in either checkout
from crowd_tvcs.cli.main import main
main()
"""


def inputs(folder: Path) -> None:
    """Put the bundled data and tables with every demand into `folder`."""
    for name in ("network30", "crowd40"):
        shutil.copytree(ROOT / "data" / name, folder / name)
    workers = [f"w{i:02d}" for i in range(1, 41)]
    tasks = list(enumerate(f"t{j:03d}" for j in range(1, 121)))
    values = np.random.default_rng(2).normal(size=(30, 20)).round(3)
    tables = {
        "costs.csv": [
            "worker,max_tasks,cost",
            *(f"{w},{8 + i % 9},{1 + i % 4 / 2}" for i, w in enumerate(workers)),
        ],
        "groups.csv": ["worker,group", *(f"{w},g{i // 3}" for i, w in enumerate(workers))],
        "tasks.csv": [
            "task,prior,min_workers,max_workers",
            *(f"{t},{0.3 + j % 5 / 10},{j % 3},{3 + j % 4}" for j, t in tasks),
        ],
        "forced.csv": ["worker,task", *(f"{workers[j % 7]},{t}" for j, t in tasks[:40:4])],
        "forbidden.csv": ["worker,task", *(f"{workers[j % 9 + 8]},{t}" for j, t in tasks)],
        "matrix.csv": [",".join(map(str, row)) for row in values],
        **tables_of_kinds(workers[:12]),
        **tables_of_answer_kinds(),
    }
    for name, lines in tables.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    (folder / "solve.py").write_text(SOLVE)
    (folder / "in_factors.py").write_text(IN_FACTORS)


def tables_of_kinds(workers: list[str]) -> dict[str, list[str]]:
    """Return tables of workers x kinds and of tasks: 12 kinds with priors and limits, and one."""
    rng = np.random.default_rng(6)
    out = {}
    for n in (1, 12):
        kinds = [f"k{k}" for k in range(n)]
        values = rng.uniform(0.5, 0.95, (len(workers), n)).round(3)
        rows = [",".join([w, *map(str, row)]) for w, row in zip(workers, values, strict=True)]
        out[f"kinds{n}.csv"] = [",".join(["worker", *kinds]), *rows]
        of_task = rng.integers(0, n, 90)
        out[f"of-kinds{n}.csv"] = ["task,kind", *(f"t{j:02d},k{k}" for j, k in enumerate(of_task))]
    out["of-kinds12-limits.csv"] = [
        "task,kind,prior,min_workers,max_workers",
        *(f"{line},{0.3 + j % 41 / 100},{int(j % 9 == 0)},{3 + j % 2 * 2}"
          for j, line in enumerate(out["of-kinds12.csv"][1:])),
    ]  # fmt: skip
    return out


def tables_of_answer_kinds() -> dict[str, list[str]]:
    """Return answers of 12 workers on a scale, on pairs of 8 items, and of several labels."""
    rng = np.random.default_rng(7)
    right = rng.integers(1, 6, 40)
    pairs = [(j, i) for j in range(40) for i in rng.choice(12, 5, replace=False)]
    sets = [("a", "a;b", "b;c", "none")[k % 4] for k in right]
    several = [f"t{j:02d},w{i:02d},{sets[j] if rng.random() < 0.8 else 'c'}" for j, i in pairs]
    compared = []
    for _, i in pairs:
        a, b = rng.choice(8, 2, replace=False).tolist()
        word = ("left", "right")[a > b] if rng.random() < 0.8 else "tie"
        compared.append(f"w{i:02d},i{a},i{b},{word}")
    steps = [int(np.clip(right[j] + np.rint(rng.normal()), 1, 5)) for j, _ in pairs]
    return {
        "rated.csv": [
            "task,worker,label",
            *(f"t{j:02d},w{i:02d},{k}" for (j, i), k in zip(pairs, steps, strict=True)),
        ],
        "pairs.csv": ["worker,left,right,answer", *compared],
        "several.csv": ["task,worker,label", *several],
        "several-gold.csv": ["task,label", *(f"t{j:02d},{sets[j]}" for j in range(24))],
        "rated-gold.csv": ["task,label", *(f"t{j:02d},{k}" for j, k in enumerate(right[:10]))],
    }


def commands() -> Iterator[str]:
    """Every command line, in an order in which each finds what it reads."""
    yield f"solve.py {','.join(sorted(SOLVERS))}"
    yield "tvcs project matrix.csv --row-cap 3 --col-cap 4 --total 50 --out kept.npz"
    yield "tvcs project crowd40/quality.csv --names --row-cap 3 --col-cap 1 --out names.npz"
    for method in ("lp", "pgd", "pdhg"):
        caps = "--row-cap 3 --col-cap 4"
        yield f"tvcs project matrix.csv {caps} --method {method} --out {method}.npz"
    yield "tvcs verify kept.npz"
    yield from _networks()
    yield from _plans()
    yield from _answers()
    yield from _campaign()


def _networks() -> Iterator[str]:
    yield f"grn-tvcs check {SERIES}"
    yield "grn-tvcs simulate --genes 12 --series 3 --points 8 --seed 4 --out simulated"
    for method in sorted(NETWORKS):
        given = f"--method {method}" + (f" --option {FEWER[method]}" if method in FEWER else "")
        given += f" {OWN_FILES[method]}" if method in OWN_FILES else ""
        yield f"grn-tvcs infer {SERIES} {given} --max-edges 60 --out net-{method}"
    yield f"grn-tvcs infer {SERIES} {STEADY} --max-in-degree 4 --max-edges 60 --out net-steady"
    yield (
        f"grn-tvcs infer {SERIES} --option resamples=10 --reference "
        "network30/goldstandard.tsv --out net-auto"
    )
    yield "grn-tvcs simulate --genes 12 --series 4 --points 8 --seed 5 --out condition"
    tables = "simulated/timeseries.tsv condition/timeseries.tsv"
    yield f"grn-tvcs compare {tables} --conditions one,other --out compared"
    yield "grn-tvcs score net-tvcs/edges.tsv network30/goldstandard.tsv --json"
    for form in ("dream", "arboreto", "beeline", "graphml", "sif", "cyjs"):
        yield f"grn-tvcs convert net-tvcs/edges.tsv --to {form} --out converted.{form}"


def _plans() -> Iterator[str]:
    quality = "crowd-tvcs assign crowd40/quality.csv --time-limit 600"
    for method in sorted(PLANS):
        yield f"{quality} --method {method} {CAPS} --budget 480 --out plan-{method}"
        yield f"{quality} --method {method} {CAPS} --classes 3 --budget 200 --out plan3-{method}"
    demands = "--tasks tasks.csv --forced forced.csv --forbidden forbidden.csv"
    for method in ("best", "fast", "greedy"):
        yield f"{quality} --method {method} {CAPS} {demands} --out plan-demands-{method}"
    for table, money in (("costs", "--money 150"), ("groups", "")):
        yield f"{quality} --method greedy {CAPS} --workers {table}.csv {money} --out plan-{table}"
    crowd = "in_factors.py assign --time-limit 600 --max-tasks-per-worker 22 --budget 220"
    yield f"{crowd} --kinds kinds12.csv --tasks of-kinds12-limits.csv --out plan-kinds"
    yield f"{crowd} --kinds kinds1.csv --tasks of-kinds1.csv --out plan-one-kind"
    yield f"{crowd} --kinds kinds12.csv --tasks of-kinds12.csv --classes 3 --out plan3-kinds"
    for plan in ("plan-kinds", "plan3-kinds", "plan3-best"):
        yield f"crowd-tvcs verify {plan}"
    yield "crowd-tvcs verify plan-best crowd40/quality.csv"
    yield f"crowd-tvcs what-if crowd40/quality.csv {CAPS} --budgets 100,300 --method fast --json"
    for tool in ("label-studio", "argilla", "prodigy", "mturk", "prolific"):
        yield f"crowd-tvcs export plan-fast --format {tool} --out export-{tool}"


def _answers() -> Iterator[str]:
    recorded = "recorded/recorded.csv"
    crowd = "--workers 12 --tasks 60 --gold 20 --full-answers --seed 3"
    yield f"crowd-tvcs simulate {crowd} --out recorded"
    for extra in ("", "--per-class", "--semi-supervised", "--prior two-answers"):
        out = "skills" + re.sub(r"\W", "", extra)
        yield f"crowd-tvcs quality crowd40/answers.csv --gold crowd40/gold.csv {extra} --out {out}"
    yield f"crowd-tvcs agreement {recorded} --bootstrap 50 --out agreement"
    yield f"crowd-tvcs workers {recorded} --gold recorded/labels.csv --out workers"
    models = "--family models --workers 8 --tasks 60 --gold 20 --full-answers --seed 3"
    yield f"crowd-tvcs simulate {models} --out models"
    yield (
        "crowd-tvcs models models/answers.csv --workers models/workers.csv "
        "--gold models/gold.csv --out after-models"
    )
    yield f"crowd-tvcs vote {recorded} --gold recorded/labels.csv --out vote-gold"
    yield f"crowd-tvcs vote {recorded} --out vote-alone"
    yield f"crowd-tvcs vote {recorded} --method majority --out vote-majority"
    for gold in ("", "--gold rated-gold.csv"):
        yield f"crowd-tvcs vote rated.csv {gold} --scale 1,2,3,4,5 --out vote-scale{len(gold)}"
    yield "crowd-tvcs multilabel several.csv --gold several-gold.csv --out several"
    yield "crowd-tvcs rank pairs.csv --next 6 --out ranked"
    yield "crowd-tvcs rank pairs.csv --one-worker --out ranked-alike"
    yield f"crowd-tvcs replay {recorded} recorded/labels.csv --splits 3 --out replay"


def _campaign() -> Iterator[str]:
    yield (
        "crowd-tvcs campaign init c.db --gold crowd40/gold.csv --answers crowd40/answers.csv "
        "--tasks tasks.csv --max-tasks-per-worker 6 --budget 200"
    )
    yield "crowd-tvcs campaign plan c.db --labels 40 --out round.csv"
    yield "crowd-tvcs campaign next c.db --worker w07"
    yield "crowd-tvcs campaign pause c.db"
    yield "crowd-tvcs campaign resume c.db"
    yield "crowd-tvcs campaign pending c.db"
    yield "crowd-tvcs campaign release c.db --round 1"
    yield "crowd-tvcs campaign replan c.db --labels 10"
    yield "crowd-tvcs campaign status c.db --json"
    yield "crowd-tvcs campaign review c.db --json"
    yield "crowd-tvcs campaign export-labels c.db"
    yield "crowd-tvcs campaign export-answers c.db"
    yield "crowd-tvcs campaign export-remarks c.db"
    yield "crowd-tvcs campaign report c.db --out campaign.html"


def run_all(checkout: Path, folder: Path) -> None:
    """Run every command of `checkout` in `folder`; what each says is kept as a file."""
    inputs(folder)
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    packages = {"tvcs": "tvcs_core", "grn-tvcs": "grn_tvcs", "crowd-tvcs": "crowd_tvcs"}
    for number, line in enumerate(commands()):
        program, *words = line.split()
        start = ["-m", packages[program]] if program in packages else [program]
        done = subprocess.run(
            [sys.executable, *start, *words], cwd=folder, env=environment, capture_output=True
        )
        printed = [line.encode(), str(done.returncode).encode(), done.stdout]
        if done.returncode:
            printed.append(done.stderr)
        (folder / f"{number:03d}.printed").write_bytes(CLOCK.sub(b"TIME", b"\n".join(printed)))


def content(path: Path) -> object:
    """What a file holds that must be the same."""
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return {name: (arrays[name].dtype.str, arrays[name].tobytes()) for name in arrays}
    if path.suffix == ".db":
        store = sqlite3.connect(path)
        tables = store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        rows = {
            name: sorted(map(str, store.execute(f'SELECT * FROM "{name}"'))) for (name,) in tables
        }
        store.close()
        return {name: [MOMENT.sub("TIME", row) for row in found] for name, found in rows.items()}
    return path.read_bytes()


def differences(here: Path, there: Path) -> list[str]:
    """Name the files that are not the same in both folders."""
    ours, theirs = (
        {p.relative_to(f).as_posix(): p for p in f.rglob("*") if p.is_file()} for f in (here, there)
    )
    found = [f"only here: {name}" for name in sorted(ours.keys() - theirs.keys())]
    found += [f"only there: {name}" for name in sorted(theirs.keys() - ours.keys())]
    for name in sorted(ours.keys() & theirs.keys()):
        if content(ours[name]) != content(theirs[name]):
            found.append(f"differs: {name}")
    return found


def main() -> int:
    """Compare this checkout with another; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("other", type=Path, help="the other checkout")
    parser.add_argument("--keep", type=Path, help="leave the results in this folder")
    given = parser.parse_args()
    other = given.other.resolve()
    if not (other / "tvcs_core").is_dir():
        parser.error(f"{other} must be a checkout of tvcs, found no tvcs_core in it")
    with tempfile.TemporaryDirectory() as temporary:
        base = given.keep or Path(temporary)
        folders = base / "here", base / "there"
        for folder in folders:
            folder.mkdir(parents=True)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run_all, (ROOT, other), folders))
        failed = [
            path.read_text(errors="replace")
            for path in sorted(folders[0].glob("*.printed"))
            if path.read_bytes().split(b"\n")[1] not in (b"0", b"1")
        ]
        print(*failed, sep="\n", end="\n" if failed else "")
        found = differences(*folders)
        print(*found or ["the same"], sep="\n")
        n_commands = len(list(commands()))
        print(json.dumps({"commands": n_commands, "failed": len(failed), "differ": len(found)}))
    return int(bool(found or failed))


if __name__ == "__main__":
    sys.exit(main())

"""What `crowd-tvcs assign --time-limit` takes, from the first table to the last file, and the gap.

    python -m benchmarks.crowd.plans.limits [--limits 5 20 60] [--crowds NAME ...] [--write-docs]

Seconds are of the wall clock, as those of the limit, so the machine must be quiet. `over` is the
part of the limit by which it is exceeded, 0 for a command that ends before. The start of the
program, some 1 s, comes on top.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.crowd.plans.table_of_plans import PAGE
from benchmarks.pages import fill_file, table
from crowd_tvcs import simulate
from crowd_tvcs.cli.main import app

LABELS, MOST = 3, 5  # of a task, on average and at most


class Case(NamedTuple):
    """A plan of so many workers, tasks and kinds of these; 0 kinds for a table of workers x tasks.

    With money a label costs 1 to 3, and there is enough for the labels at 1.5; groups are of three.
    """

    workers: int
    tasks: int
    kinds: int = 0
    classes: int = 2
    family: str | None = None
    has_matrices: bool = False
    has_money: bool = False
    most: int = MOST
    labels: int = LABELS
    options: tuple[str, ...] = ()


CROWDS = {
    "200 x 2,000, 4 classes": Case(200, 2000, classes=4),
    "1,000 x 20,000, 5 kinds": Case(1000, 20_000, 5),
    "1,000 x 20,000, 5 topics": Case(1000, 20_000, 5, family="topic"),
    "1,000 x 20,000, 20 kinds": Case(1000, 20_000, 20),
    "200 x 2,000, 2,000 kinds": Case(200, 2000, family="iid"),
    "1,000 x 2,000": Case(1000, 2000, family="skilldiff"),
    "100 x 400, 4 x 4 matrices": Case(100, 400, classes=4, has_matrices=True),
    "5 classes x 240": Case(40, 240, classes=5, has_matrices=True),
    "6 classes x 307": Case(40, 307, classes=6, has_matrices=True),
    "20 x 100, 3 classes": Case(20, 100, classes=3, has_matrices=True),
    "100 x 1,000, common error": Case(
        100, 1000, family="skilldiff", options=("--common-error", ".1")
    ),
    "100 x 1,000, teams of 25": Case(100, 1000, family="skilldiff", most=25, labels=12),
    "100 x 1,000, money": Case(100, 1000, family="skilldiff", has_money=True),
    "200 x 2,000, money": Case(200, 2000, family="iid", has_money=True),
}


def words_of(case: Case, folder: Path) -> list[str]:
    """Write the tables of a case; return the words of its command, but for limit and folder."""
    rng = np.random.default_rng(1)
    n, m = case.workers, case.tasks
    columns = case.kinds or (m if case.family else 1)
    if case.family == "topic":
        values = rng.beta(4.0, 2.2, (n, columns))
    elif case.family is not None:
        values = simulate(n, columns, family=case.family, rng=rng).quality.values
    else:
        values = np.clip(rng.beta(6.0, 2.2, (n, columns)), 0.55, 0.98)
    workers, tasks = [f"w{i:04d}" for i in range(n)], [f"t{j:05d}" for j in range(m)]
    names = [f"k{c:03d}" for c in range(case.kinds)] or tasks
    values = values if case.kinds or case.family else np.repeat(values, m, axis=1)
    cells = zip(workers, values.round(4).tolist(), strict=True)
    quality = _write(folder / "quality.csv", ["worker", *names], ([w, *row] for w, row in cells))
    words = ["--kinds", quality] if case.kinds else [quality]
    if case.kinds:
        kind = [names[c] for c in rng.integers(0, case.kinds, m)]
        rows = zip(tasks, kind, strict=True)
        words += ["--tasks", _write(folder / "tasks.csv", ["task", "kind"], rows)]
    if case.has_matrices:
        k = case.classes
        matrices = 0.45 * rng.dirichlet(np.ones(k), (n, k)) + 0.55 * np.eye(k)
        lines = ([workers[i], y, a, matrices[i, y, a]] for i, y, a in np.ndindex(matrices.shape))
        head = ["worker", "label", "answer", "probability"]
        words += ["--confusion", _write(folder / "confusion.csv", head, lines)]
    elif case.classes > 2:
        words += ["--classes", str(case.classes)]
    if case.has_money:
        lines = ([w, rng.uniform(1.0, 3.0).__round__(2), f"g{i // 3}"]
                 for i, w in enumerate(workers))  # fmt: skip
        words += ["--workers", _write(folder / "workers.csv", ["worker", "cost", "group"], lines)]
        words += ["--money", str(1.5 * case.labels * m)]
    share = int(1.5 * case.labels * m / n)
    words += ["--max-workers-per-task", str(case.most), "--max-tasks-per-worker", str(share)]
    return [*words, "--budget", str(case.labels * m), *case.options]


def _write(path: Path, head: list[str], rows: Iterable[Sequence[Any]]) -> str:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return str(path)


def run(words: list[str], limit: float, out: Path) -> tuple[float, dict[str, Any]]:
    """Return the seconds that the command takes, and its summary."""
    began = time.monotonic()
    every = ["assign", "--quiet", *words, "--out", str(out), "--force", "--time-limit", str(limit)]
    app(every, standalone_mode=False)
    took = time.monotonic() - began
    return took, json.loads((out / "summary.json").read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--limits", type=float, nargs="*", default=[5.0, 20.0, 60.0])
    parser.add_argument("--crowds", nargs="*", default=list(CROWDS), choices=list(CROWDS))
    parser.add_argument("--write-docs", action="store_true", help=f"write {PAGE.name} as well")
    arguments = parser.parse_args()
    lines = []
    for name in arguments.crowds:
        with tempfile.TemporaryDirectory() as folder:
            words, out = words_of(CROWDS[name], Path(folder)), Path(folder, "out")
            run(words, 2.0, out)  # loads what is compiled
            for limit in arguments.limits:
                took, found = run(words, limit, out)
                gap = "none" if found["gap"] is None else f"{found['gap']:.5f}"
                over = f"{max(0.0, took / limit - 1.0):.3f}"
                has_curve = "Accuracy at other budgets" in (out / "report.html").read_text()
                accuracy, curve = f"{found['expected_accuracy']:.5f}", "yes" if has_curve else "no"
                lines.append([name, f"{limit:g}", f"{took:.1f}", over, accuracy, gap, curve])
                print(*lines[-1], found["reason"], flush=True)
    content = table(("crowd", "limit", "seconds", "over", "accuracy", "gap", "curve"), lines)
    print(content)
    if arguments.write_docs:
        fill_file(PAGE, {"limits": content})
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Repeat Figure 4 of the paper, and more: `python benchmarks/crowd_study.py [--write-docs]`.

Caps at ratio r: r * n workers per task, r * m tasks per worker, .8 r n m answers in all. One row
per case goes to cases.csv in --out as soon as it is known; a case that is there is skipped, so a
run that was killed goes on where it stopped. `--again best` forgets the cases of a method that
has changed and computes them anew. `--write-docs` draws docs/crowd-study.md and its figures from
that file, and `--only-docs` does so without computing anything.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from crowd_tvcs import Plan, assign, sampled_accuracy, simulate

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"100x1000": (100, 1000), "200x10000": (200, 10000)}
FAMILIES = ("iid", "worker", "skilldiff", "topic")
FAMILIES_OF = {"100x1000": FAMILIES, "200x10000": ("iid",)}
RATIOS = (0.01, 0.02, 0.03, 0.05, 0.1)
METHODS = ("random", "qlp", "greedy", "fast", "tvcs", "best")  # the quick ones first
SHARE = 0.8  # of what the caps of workers or tasks allow
SEED = 20261121
TIME_LIMIT = 60.0
Key = tuple[str, str, float, int, str]


@dataclass(frozen=True)
class Case:
    """One assignment: `error` is 1 - exact expected accuracy, `sampled` is the paper's estimate."""

    size: str
    family: str
    ratio: float
    repeat: int
    method: str
    answers: int
    error: float
    sampled: float
    bound: float  # on the error: no assignment has less; nan if not certified
    seconds: float

    @property
    def key(self) -> Key:
        return self.size, self.family, self.ratio, self.repeat, self.method


NAMES = [field.name for field in fields(Case)]


def main() -> int:
    arguments = _arguments()
    path = arguments.out / "cases.csv"
    if not arguments.only_docs:
        arguments.out.mkdir(parents=True, exist_ok=True)
        resume(path)
        if arguments.again:
            forget(path, {key for key in keys(arguments) if key[-1] in arguments.again})
        run(path, arguments)
    if arguments.write_docs or arguments.only_docs:
        from crowd_show import write_docs

        write_docs(load(path), ROOT / "docs")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    default = ROOT / "benchmarks" / "results" / "crowd"
    parser.add_argument("--out", type=Path, default=default, help="folder of cases.csv")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--families", nargs="+", choices=FAMILIES, help="default: see FAMILIES_OF")
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--repeats", type=int, default=1)
    again = "forget what is known of these first, among the cases asked for"
    parser.add_argument("--again", nargs="+", choices=METHODS, default=[], help=again)
    parser.add_argument("--write-docs", action="store_true", help="redraw docs/crowd-study.md")
    parser.add_argument("--only-docs", action="store_true", help="compute nothing")
    return parser.parse_args()


def keys(arguments: argparse.Namespace) -> list[Key]:
    """The cases that are asked for, in the order in which they are computed."""
    return [
        (size, family, ratio, repeat, method)
        for repeat in range(arguments.repeats)
        for method in arguments.methods
        for size in arguments.sizes
        for family in arguments.families or FAMILIES_OF[size]
        for ratio in arguments.ratios
    ]


def run(path: Path, arguments: argparse.Namespace) -> None:
    """Compute what `path` does not hold yet."""
    done = {case.key for case in load(path)}
    wanted = [key for key in keys(arguments) if key not in done]
    print(f"{len(done)} cases known, {len(wanted)} to do", flush=True)
    warm: set[str] = set()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for key in wanted:
            if key[-1] not in warm:
                assign(draw("100x1000", "iid", 0.01, 10**6), key[-1], rng=0, time_limit=2.0)
                warm.add(key[-1])
            case = compute(*key)
            writer.writerow(astuple(case))
            file.flush()
            print(*key, f"error {case.error:.6f}, {case.seconds:.1f} s", flush=True)


def draw(size: str, family: str, ratio: float, repeat: int) -> Plan:
    n, m = SIZES[size]
    quality = simulate(n, m, family=family, rng=SEED + repeat).quality
    per_task, per_worker = round(ratio * n), round(ratio * m)
    budget = int(SHARE * min(n * per_worker, m * per_task))
    return Plan(
        quality, max_workers_per_task=per_task, max_tasks_per_worker=per_worker, budget=budget
    )


def compute(size: str, family: str, ratio: float, repeat: int, method: str) -> Case:
    plan = draw(size, family, ratio, repeat)
    began = time.perf_counter()
    found = assign(plan, method, rng=repeat, time_limit=TIME_LIMIT)
    seconds = time.perf_counter() - began
    # Samples of their own, as in the paper: independent of those used to assign.
    sampled = sampled_accuracy(plan.quality.values, found.support, n_samples=200, rng=SEED - repeat)
    return Case(
        size,
        family,
        ratio,
        repeat,
        method,
        found.size,
        1.0 - found.expected_accuracy,
        1.0 - float(sampled.mean()),
        np.nan if found.bound is None else 1.0 - found.bound,
        round(seconds, 2),
    )


def resume(path: Path) -> None:
    """Cut a file back to its last whole line, or begin it."""
    if not path.exists() or path.stat().st_size == 0:
        path.write_text(",".join(NAMES) + "\n", encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")


def forget(path: Path, unwanted: set[Key]) -> None:
    """Drop cases from a file."""
    header, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line, case in zip(lines, load(path), strict=True) if case.key not in unwanted]
    partial = path.with_suffix(".partial")
    partial.write_text("".join([header, *kept]), encoding="utf-8")
    partial.replace(path)


def load(path: Path) -> list[Case]:
    """The cases of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if header != NAMES:
        sys.exit(f"{path} has other columns; delete it or choose another --out")
    return [
        Case(size, family, float(ratio), int(repeat), method, int(answers), *map(float, numbers))
        for size, family, ratio, repeat, method, answers, *numbers in rows
    ]


if __name__ == "__main__":
    sys.exit(main())

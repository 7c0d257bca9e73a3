"""Repeat Figure 4 of the paper, and more: `python -m benchmarks.crowd.study [--write-docs]`.

Caps at ratio r: r * n workers per task, r * m tasks per worker, .8 r n m answers in all. One row
per case goes to cases.csv in --out as soon as it is known; a case that is there is skipped, so a
run that was killed goes on where it stopped. `--again best` forgets the cases of a method that
has changed and computes them anew. `--write-docs` draws docs/crowd-study.md and its figures from
that file, and `--only-docs` does so without computing anything.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.resumable import complete, forget, load
from crowd_tvcs import Plan, assign, sampled_accuracy, simulate

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"100x1000": (100, 1000), "200x10000": (200, 10000)}
REPEATS = {"100x1000": 2, "200x10000": 1}
FAMILIES = ("iid", "worker", "skilldiff", "topic")
FAMILIES_OF = {"100x1000": FAMILIES, "200x10000": ("iid",)}
RATIOS = (0.01, 0.02, 0.03, 0.05, 0.1)
METHODS = ("random", "qlp", "greedy", "fast", "tvcs", "best")  # the quick ones first
SHARE = 0.8  # of what the caps of workers or tasks allow
SEED = 731_900_417  # of this study alone: nothing was tuned on it
TIME_LIMIT = 60.0
DIGITS = 12
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


def main() -> int:
    arguments = _arguments()
    path = arguments.out / "cases.csv"
    if not arguments.only_docs:
        arguments.out.mkdir(parents=True, exist_ok=True)
        run(path, arguments)
    if arguments.write_docs or arguments.only_docs:
        from benchmarks.crowd.show import write_docs

        write_docs(load(path, Case), ROOT / "docs")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    default = ROOT / "benchmarks" / "results" / "crowd"
    parser.add_argument("--out", type=Path, default=default, help="folder of cases.csv")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--families", nargs="+", choices=FAMILIES, help="default: see FAMILIES_OF")
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--repeats", type=int, help="crowds per cell; default: see REPEATS")
    again = "forget what is known of these first, among the cases asked for"
    parser.add_argument("--again", nargs="+", choices=METHODS, default=[], help=again)
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, metavar="SECONDS")
    parser.add_argument("--write-docs", action="store_true", help="redraw docs/crowd-study.md")
    parser.add_argument("--only-docs", action="store_true", help="compute nothing")
    return parser.parse_args()


def keys(arguments: argparse.Namespace) -> list[Key]:
    """The cases that are asked for, in the order in which they are computed."""
    return [
        (size, family, ratio, repeat, method)
        for repeat in range(arguments.repeats or max(REPEATS.values()))
        for method in arguments.methods
        for size in arguments.sizes
        if arguments.repeats or repeat < REPEATS[size]
        for family in arguments.families or FAMILIES_OF[size]
        for ratio in arguments.ratios
    ]


def run(path: Path, arguments: argparse.Namespace) -> None:
    """Compute what `path` does not hold yet."""
    wanted = keys(arguments)
    if arguments.again:
        old = {key for key in wanted if key[-1] in arguments.again}
        forget(path, Case, old, digits=DIGITS)
    tasks = {key: {key} for key in wanted}
    fit_within = functools.partial(fit, limit=arguments.time_limit)
    complete(path, Case, tasks, fit_within, jobs=1, order=order, digits=DIGITS)


def order(case: Case) -> tuple[int, int, float, int, int]:
    """By size, family and ratio; the repeats of a method together."""
    sizes = list(SIZES)
    method = METHODS.index(case.method)
    family = FAMILIES.index(case.family)
    return sizes.index(case.size), family, case.ratio, method, case.repeat


def fit(key: Key, limit: float = TIME_LIMIT) -> list[Case]:
    case = compute(*key, limit)
    print(*key, f"error {case.error:.6f}, {case.seconds:.1f} s", flush=True)
    return [case]


@functools.cache
def warm(method: str) -> None:
    """Compile before the clock runs."""
    assign(draw("100x1000", "iid", 0.01, 10**6), method, rng=0, time_limit=2.0)


def draw(size: str, family: str, ratio: float, repeat: int) -> Plan:
    n, m = SIZES[size]
    quality = simulate(n, m, family=family, rng=SEED + repeat).quality
    per_task, per_worker = round(ratio * n), round(ratio * m)
    budget = int(SHARE * min(n * per_worker, m * per_task))
    return Plan(
        quality, max_workers_per_task=per_task, max_tasks_per_worker=per_worker, budget=budget
    )


def compute(
    size: str, family: str, ratio: float, repeat: int, method: str, limit: float = TIME_LIMIT
) -> Case:
    warm(method)
    plan = draw(size, family, ratio, repeat)
    began = time.perf_counter()
    found = assign(plan, method, rng=repeat, time_limit=limit)
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


if __name__ == "__main__":
    sys.exit(main())

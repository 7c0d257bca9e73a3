"""Repeat Figure 4 of the paper, and more: `python -m benchmarks.crowd.study [--write-docs]`.

Caps at ratio r: r * n workers per task, r * m tasks per worker, .8 r n m answers in all. One row
per case goes to cases.csv in --out as soon as it is known; a case that is there is skipped, so a
run that was killed goes on where it stopped. `--again best` forgets the cases of a method that
has changed and computes them anew. `--write-docs` draws docs/studies/crowd-study.md and its
figures from that file, and `--only-docs` does so without computing anything.
"""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path

from benchmarks.crowd.cases import (
    FAMILIES,
    METHODS,
    RATIOS,
    SIZES,
    TIME_LIMIT,
    Case,
    Key,
    compute,
    order,
)
from benchmarks.study import complete, forget, load, options, run

REPEATS = {"100x1000": 2, "200x10000": 1}
FAMILIES_OF = {"100x1000": FAMILIES, "200x10000": ("iid",)}
DIGITS = 12


def main() -> int:
    parser = options(__doc__, results="crowd", page="studies/crowd-study.md")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--families", nargs="+", choices=FAMILIES, help="default: see FAMILIES_OF")
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--repeats", type=int, help="crowds per cell; default: see REPEATS")
    again = "forget what is known of these first, among the cases asked for"
    parser.add_argument("--again", nargs="+", choices=METHODS, default=[], help=again)
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, metavar="SECONDS")
    return run(parser.parse_args(), compute_cases, write_page)


def write_page(out: Path, docs: Path) -> None:
    from benchmarks.crowd.show import write_docs

    write_docs(load(out / "cases.csv", Case), docs)


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


def compute_cases(arguments: argparse.Namespace) -> None:
    """Compute what cases.csv does not hold yet."""
    path, wanted = arguments.out / "cases.csv", keys(arguments)
    if arguments.again:
        old = {key for key in wanted if key[-1] in arguments.again}
        forget(path, Case, old, digits=DIGITS)
    tasks = {key: {key} for key in wanted}
    fit_within = functools.partial(fit, limit=arguments.time_limit)
    complete(path, Case, tasks, fit_within, jobs=1, order=order, digits=DIGITS)


def fit(key: Key, limit: float = TIME_LIMIT) -> list[Case]:
    case = compute(*key, limit)
    print(*key, f"error {case.error:.6f}, {case.seconds:.1f} s", flush=True)
    return [case]


if __name__ == "__main__":
    sys.exit(main())

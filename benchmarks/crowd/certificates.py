"""Error, bound, gap and time of every crowd method, by family of qualities and by ratio.

    python -m benchmarks.crowd.certificates                     # 100 workers x 1,000 tasks
    python -m benchmarks.crowd.certificates --workers 200 --tasks 10000 --ratios .02 --families iid
    python -m benchmarks.crowd.certificates --write-docs        # the table into docs/crowd-plans.md

At ratio r a task has at most r n workers, a worker at most r m tasks, and the budget is .8 of
the smaller sum of caps. err is 1 minus the mean expected accuracy; the gap is bound minus
accuracy as a part of err. Every method runs once on a tiny plan first, so that nothing is
compiled on the clock.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from benchmarks.crowd.cases import FAMILIES, RATIOS, plan_of
from benchmarks.pages import fill, table
from benchmarks.study import DOCS
from crowd_tvcs import METHODS, Assignment, Plan, assign, simulate

PAGE = DOCS / "crowd-plans.md"
HEADS = ("family", "ratio", "method", "err", "err by bound", "gap / err", "seconds")


def make_plan(family: str, workers: int, tasks: int, ratio: float, seed: int) -> Plan:
    return plan_of(simulate(workers, tasks, family=family, rng=seed).quality, ratio)


def row(family: str, ratio: float, found: Assignment, seconds: float) -> tuple[str, ...]:
    err = 1.0 - found.expected_accuracy
    bound, gap = "", ""
    if found.gap is not None:
        bound, gap = f"{err - found.gap:.6f}", f"{found.gap / err:.3%}"
    return family, f"{ratio:g}", found.method, f"{err:.6f}", bound, gap, f"{seconds:.2f}"


def rows(args: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    tiny = make_plan("iid", 12, 80, 0.25, 0)
    for method in args.methods:
        assign(tiny, method, rng=0)
    for family in args.families:
        for ratio in args.ratios:
            plan = make_plan(family, args.workers, args.tasks, ratio, args.seed)
            for method in args.methods:
                start = time.perf_counter()
                found = assign(plan, method, rng=0, time_limit=args.time_limit)
                yield row(family, ratio, found, time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--write-docs", action="store_true", help=f"also into docs/{PAGE.name}")
    args = parser.parse_args()
    found = []
    for line in rows(args):
        print(*line, sep="  ", flush=True)
        found.append(line)
    size = f"{args.workers} workers x {args.tasks:,} tasks, seed {args.seed}"
    content = (
        f"{size}, time limit {args.time_limit:g} s:\n\n{table(HEADS, found, words=len(HEADS))}"
    )
    print(content)
    if args.write_docs:
        page = fill(PAGE.read_text(encoding="utf-8"), "certificates", content)
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

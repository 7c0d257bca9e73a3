"""Error, bound, gap and time of every crowd method, by family of qualities and by ratio.

    python -m benchmarks.crowd.plans.certificates               # 100 workers x 1,000 tasks
    python -m benchmarks.crowd.plans.certificates --workers 200 --tasks 10000 --ratios .02
    python -m benchmarks.crowd.plans.certificates --write-docs  # into docs/studies/crowd-plans.md

At ratio r a task has at most r n workers, a worker at most r m tasks, and the budget is .8 of
the smaller sum of caps. err is 1 minus the mean expected accuracy; the gap is bound minus
accuracy as a part of err. Every method runs once on a tiny plan first, so that nothing is
compiled on the clock.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from benchmarks.crowd.cases import RATIOS, plan_of
from benchmarks.crowd.plans.table_of_plans import options, show
from crowd_tvcs import METHODS, Assignment, Plan, assign, simulate

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
    args = options(__doc__, ratios=RATIOS, methods=list(METHODS)).parse_args()
    show(args, rows(args), HEADS, "certificates")


if __name__ == "__main__":
    main()

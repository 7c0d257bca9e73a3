"""Error, bound, gap and time of every crowd method, by family of qualities and by ratio.

    python -m benchmarks.crowd.certificates                     # 100 workers x 1,000 tasks
    python -m benchmarks.crowd.certificates --workers 200 --tasks 10000 --ratios .02 --families iid
    python -m benchmarks.crowd.certificates --write             # the table into docs/crowd-plans.md

At ratio r a task has at most r n workers, a worker at most r m tasks, and the budget is .8 of
the smaller sum of caps. err is 1 minus the mean expected accuracy; the gap is bound minus
accuracy as a part of err. Every method runs once on a tiny plan first, so that nothing is
compiled on the clock.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from crowd_tvcs import METHODS, Assignment, Plan, assign, simulate

PAGE = Path(__file__).resolve().parents[2] / "docs" / "crowd-plans.md"
BEGIN, END = "<!-- crowd_certificates: begin -->", "<!-- crowd_certificates: end -->"
FAMILIES = ("iid", "worker", "skilldiff", "topic")
RATIOS = (0.01, 0.02, 0.03, 0.05, 0.1)
HEADER = (
    "| family | ratio | method | err | err by bound | gap / err | seconds |\n"
    "|---|---|---|---|---|---|---|"
)


def make_plan(family: str, workers: int, tasks: int, ratio: float, seed: int) -> Plan:
    quality = simulate(workers, tasks, family=family, rng=seed).quality
    per_task, per_worker = max(1, round(ratio * workers)), max(1, round(ratio * tasks))
    return Plan(
        quality,
        max_workers_per_task=per_task,
        max_tasks_per_worker=per_worker,
        budget=int(0.8 * min(per_task * tasks, per_worker * workers)),
    )


def row(family: str, ratio: float, found: Assignment, seconds: float) -> str:
    err = 1.0 - found.expected_accuracy
    bound, gap = "", ""
    if found.gap is not None:
        bound, gap = f"{err - found.gap:.6f}", f"{found.gap / err:.3%}"
    cells = (family, f"{ratio:g}", found.method, f"{err:.6f}", bound, gap, f"{seconds:.2f}")
    return f"| {' | '.join(cells)} |"


def rows(args: argparse.Namespace) -> Iterator[str]:
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


def write(lines: list[str], args: argparse.Namespace) -> None:
    """Put the table between the marks on the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        sys.exit(f"{PAGE} must hold {BEGIN} and {END}")
    size = f"{args.workers} workers x {args.tasks:,} tasks, seed {args.seed}"
    table = "\n".join([f"{size}, time limit {args.time_limit:g} s:", "", HEADER, *lines])
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--write", action="store_true", help="also into docs/crowd-plans.md")
    args = parser.parse_args()
    print(HEADER, flush=True)
    lines = []
    for line in rows(args):
        print(line, flush=True)
        lines.append(line)
    if args.write:
        write(lines, args)


if __name__ == "__main__":
    main()

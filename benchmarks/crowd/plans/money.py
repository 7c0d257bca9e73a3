"""What money and groups cost the method `best`: time, gap and error beside the same plan without.

    python -m benchmarks.crowd.plans.money                  # 100 workers x 1,000 tasks
    python -m benchmarks.crowd.plans.money --families iid --ratios .02 --repeats 1
    python -m benchmarks.crowd.plans.money --write-docs     # into docs/studies/crowd-plans.md

The plan without is that of `benchmarks.crowd.plans.certificates`. With money a label costs from 1
to 3, more from the better half of the workers than from the other; the money pays for .8 of the
labels of the plan without, so that it binds and the budget does not. With groups every three
workers are one; every third plan has both. The plans of a row are made in turns, `--repeats` times
each, and seconds are medians. Every method runs once on a tiny plan first, so that nothing is
compiled on the clock.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.crowd.cases import plan_of
from benchmarks.crowd.plans.table_of_plans import options, show
from crowd_tvcs import Assignment, Plan, Quality, assign, simulate

KINDS = ("free", "money", "groups", "both")
HEADS = ("family", "ratio", f"err: {', '.join(KINDS)}", "gap / err", "seconds")
RATIOS = (0.01, 0.02, 0.03)
LEVELS = (1.0, 1.5, 2.0, 3.0)  # of costs, by quality
MATES = 3
SHARE = 0.8  # of what the labels of the free plan would cost on average


def costs(quality: Quality) -> np.ndarray:
    """Cost of a label of every worker: a level by rank, the better the dearer."""
    mean = np.maximum(quality.values, 1.0 - quality.values).mean(axis=1)
    rank = np.argsort(np.argsort(mean, kind="stable"), kind="stable")
    return np.array(LEVELS)[rank * len(LEVELS) // rank.size]


def plans_of(free: Plan, labels: int) -> dict[str, Plan]:
    """Return the free plan, and the same with money, with groups, and with both."""
    quality = free.quality
    cost = costs(quality)
    money = {"cost": cost, "money": float(np.round(SHARE * labels * cost.mean(), 2))}
    group = {"group": [f"g{i // MATES}" for i in range(quality.shape[0])]}
    caps = {
        "max_workers_per_task": free.max_workers_per_task,
        "max_tasks_per_worker": free.max_tasks_per_worker,
        "budget": free.budget,
    }
    return {
        "free": free,
        "money": Plan(quality, **caps, **money),
        "groups": Plan(quality, **caps, **group),
        "both": Plan(quality, **caps, **money, **group),
    }


def timed(plan: Plan, method: str, limit: float) -> tuple[float, Assignment]:
    start = time.perf_counter()
    found = assign(plan, method, rng=0, time_limit=limit)
    return time.perf_counter() - start, found


def rows(args: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    tiny = plan_of(simulate(12, 80, family="iid", rng=0).quality, 0.25)
    for plan in plans_of(tiny, tiny.budget).values():
        assign(plan, "best", rng=0)
    for family in args.families:
        for ratio in args.ratios:
            quality = simulate(args.workers, args.tasks, family=family, rng=args.seed).quality
            free = plan_of(quality, ratio)
            yield from compared(family, ratio, plans_of(free, free.budget), args)


def compared(
    family: str, ratio: float, plans: dict[str, Plan], args: argparse.Namespace
) -> Iterator[tuple[str, ...]]:
    runs: dict[str, list[tuple[float, Assignment]]] = {kind: [] for kind in KINDS}
    for _ in range(args.repeats):
        for kind in KINDS:
            runs[kind].append(timed(plans[kind], "best", args.time_limit))
    errors, gaps, seconds = [], [], []
    for done in runs.values():
        found = done[0][1]
        err = 1.0 - found.expected_accuracy
        errors.append(f"{err:.6f}")
        gaps.append("none" if found.gap is None else f"{found.gap / err:.3%}")
        seconds.append(f"{statistics.median(s for s, _ in done):.2f}")
    yield family, f"{ratio:g}", ", ".join(errors), ", ".join(gaps), ", ".join(seconds)


def main() -> None:
    parser = options(__doc__, ratios=RATIOS)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    turns = f"median of {args.repeats} runs in turns" if args.repeats > 1 else "one run of each"
    show(args, rows(args), HEADS, "money", turns)


if __name__ == "__main__":
    main()

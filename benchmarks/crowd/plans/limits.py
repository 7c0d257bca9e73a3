"""Time limits of `best` on large plans of few kinds and of many classes: when it ends, and the gap.

    python -m benchmarks.crowd.plans.limits [--limits 5 20 60] [--crowds NAME ...]

The clock of the limit is that of the processor, as other work on the machine does not count there.
`over` is the part of the limit by which it is exceeded, 0 for a search that ends before.
"""

from __future__ import annotations

import argparse
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.pages import table
from crowd_tvcs import Plan, Quality, assign, simulate
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.search import deadline

LABELS, MOST = 3, 5  # of a task, on average and at most


def plan_of(n: int, m: int, kinds: int, classes: int = 2, *, as_table: bool = False) -> Plan:
    """Workers of beta(6, 2.2) skills for every kind of tasks; one and a half times the labels."""
    rng = np.random.default_rng(1)
    values = np.clip(rng.beta(6.0, 2.2, (n, kinds)), 0.55, 0.98).round(4)
    skills = Quality(values, [f"w{i:04d}" for i in range(n)], [f"k{c:03d}" for c in range(kinds)])
    crowd: Any = Factors(skills, [f"t{j:05d}" for j in range(m)], rng.integers(0, kinds, m))
    return Plan(
        crowd.quality() if as_table else crowd,
        max_workers_per_task=MOST,
        max_tasks_per_worker=int(1.5 * LABELS * m / n),
        budget=LABELS * m,
        n_classes=classes,
    )


def matrices_of() -> Plan:
    """A confusion matrix per worker: neither knots of skill nor few sets."""
    rng = np.random.default_rng(2)
    matrices = 0.45 * rng.dirichlet(np.ones(4), (100, 4)) + 0.55 * np.eye(4)
    quality = simulate(100, 400, rng=3).quality
    return Plan(quality, max_workers_per_task=MOST, budget=1200, n_classes=4, confusion=matrices)


CROWDS = {
    "200 x 2,000, 4 classes": lambda: plan_of(200, 2000, 1, 4, as_table=True),
    "1,000 x 20,000, 5 kinds": lambda: plan_of(1000, 20_000, 5),
    "1,000 x 20,000, 20 kinds": lambda: plan_of(1000, 20_000, 20),
    "200 x 2,000, 2,000 kinds": lambda: plan_of(200, 2000, 2000, as_table=True),
    "100 x 400, 4 x 4 matrices": matrices_of,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--limits", type=float, nargs="*", default=[5.0, 20.0, 60.0])
    parser.add_argument("--crowds", nargs="*", default=list(CROWDS), choices=list(CROWDS))
    arguments = parser.parse_args()
    deadline.time = SimpleNamespace(monotonic=time.process_time)  # type: ignore[attr-defined]
    lines = []
    for name in arguments.crowds:
        plan = CROWDS[name]()
        assign(plan, "best", rng=0, time_limit=0.5)  # loads what is compiled
        for limit in arguments.limits:
            began = time.process_time()
            found = assign(plan, "best", rng=0, time_limit=limit)
            took = time.process_time() - began
            gap = "none" if found.gap is None else f"{found.gap:.5f}"
            over = f"{max(0.0, took / limit - 1.0):.3f}"
            lines.append([name, f"{limit:g}", f"{took:.1f}", over, gap])
            print(*lines[-1], found.reason, flush=True)
    print(table(("crowd", "limit", "seconds", "over", "gap"), lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Small rounds against one plan of as many labels, on the crowds of the campaign notebook.

`python -m benchmarks.campaign.rounds [--crowds 8]`. Simulated crowds of 40 workers and 150 tasks,
12 gold tasks, 450 labels: 150 and then 30 a round, or all at once. Printed are the right labels and
the expected accuracy of every crowd, and their means with standard errors.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from itertools import chain, repeat
from pathlib import Path

import numpy as np

from benchmarks.pages import standard_error
from crowd_tvcs import simulate
from crowd_tvcs.campaign import Campaign

CAPS = {"budget": 450, "max_workers_per_task": 9, "max_tasks_per_worker": 40}
FIRST, NEXT = 150, 30


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--crowds", type=int, default=8)
    rows = []
    for number in range(parser.parse_args().crowds):
        rows.append((*reached(number, chain([FIRST], repeat(NEXT))), *reached(number, [None])))
        print("crowd", number, "rounds, one plan: right, expected", *rows[-1], flush=True)
    found = np.array(rows)
    parts = {"rounds": found[:, 0], "one plan": found[:, 2], "ahead": found[:, 0] - found[:, 2]}
    for name, values in parts.items():
        print(f"{name}: {values.mean():.4f} ± {standard_error(values):.4f}")
    return 0


def reached(number: int, sizes: Iterable[int | None]) -> tuple[float, float]:
    """Plan rounds of these sizes until nothing is left; right labels and what is expected."""
    crowd = simulate(40, 150, family="worker", low=0.5, high=0.9, n_gold=12, rng=number)
    workers, tasks = crowd.quality.workers, crowd.quality.tasks
    row_of = {name: i for i, name in enumerate(workers)}
    column_of = {name: j for j, name in enumerate(tasks)}
    gold = dict(zip(crowd.gold, map(str, crowd.gold_labels), strict=True))
    gold_answers = [
        (task, worker, str(crowd.gold_answers[i, j]))
        for worker, i in row_of.items()
        for j, task in enumerate(crowd.gold)
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        Campaign.create(
            Path(folder) / "c.db",
            workers=workers, tasks=tasks, gold=gold, gold_answers=gold_answers, **CAPS,
        ) as campaign,
    ):  # fmt: skip
        for size in sizes:
            if not (pairs := campaign.plan(labels=size).pairs):
                break
            campaign.add_answers(
                (t, w, str(crowd.answers[row_of[w], column_of[t]])) for w, t in pairs
            )
        state = campaign.state()
    right = (state.posterior.argmax(axis=1) == crowd.labels).mean()
    return float(right), state.expected_accuracy


if __name__ == "__main__":
    raise SystemExit(main())

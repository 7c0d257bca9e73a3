"""What a plan is worth on recorded crowds: right labels of random pairs, of `fast` and of `best`.

`python -m benchmarks.crowd.plans.worth DATA [--splits N] [--write-docs]`. DATA is a folder of
recorded crowds; a fifth of the tasks is gold. Plans are those of `benchmarks.crowd.common_error`:
recorded pairs, 3 answers a task on average, half of their tasks for a worker at most. The recorded
answers of a plan are voted by the model of the skills. `best` has 10 s for a plan.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.crowd.common_error import GOLD, plan_of
from benchmarks.crowd.plans.table_of_plans import PAGE
from benchmarks.pages import fill_file, table
from benchmarks.study import first_answers
from crowd_tvcs import assign
from crowd_tvcs.answers.answers import read_gold
from crowd_tvcs.routing.replay import Split, draw_split

METHODS = ("random", "fast", "best")
CAPS = "3 of 5, half"


def tried(split: Split, method: str) -> tuple[float, float, float]:
    """Return right labels, what the plan expects, and the proved gap (nan without a bound)."""
    found = assign(plan_of(split, CAPS, 0.0), method, rng=0, time_limit=10.0)
    recorded = split.recorded
    answers = recorded.select(found.support[recorded.worker_of, recorded.task_of])
    gap = np.nan if found.gap is None else found.gap
    return split.score(split.posterior(answers)), found.expected_accuracy, gap


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, help="folder of recorded crowds")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--write-docs", action="store_true", help=f"write {PAGE.name} as well")
    arguments = parser.parse_args()
    rows, lines = [], []
    for folder in sorted(path.parent for path in arguments.data.glob("*/truth.csv")):
        truth = read_gold(folder / "truth.csv")
        answers = first_answers(folder / "label.csv", truth)
        parts = [
            draw_split(answers, truth, GOLD, per_class=False, rng=np.random.default_rng([0, s]))
            for s in range(arguments.splits)
        ]
        rows.append(np.mean([[tried(part, m) for m in METHODS] for part in parts], axis=0))
        lines.append([folder.name, *_cells(rows[-1])])
        print(*lines[-1], flush=True)
    lines.append(["mean", *_cells(np.mean(rows, axis=0))])
    heads = ("set", *(f"right: {m}" for m in METHODS), *(f"expected: {m}" for m in METHODS), "gap")
    content = table(heads, lines)
    print(content)
    if arguments.write_docs:
        fill_file(PAGE, {"worth": content})
    return 0


def _cells(row: np.ndarray) -> list[str]:
    return [*(f"{x:.4f}" for x in row[:, 0]), *(f"{x:.4f}" for x in row[:, 1]), f"{row[-1, 2]:.4f}"]


if __name__ == "__main__":
    sys.exit(main())

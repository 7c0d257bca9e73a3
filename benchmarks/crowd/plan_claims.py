"""What plans expect before any answer, and what is reached.

`python -m benchmarks.crowd.plan_claims DATA [--splits 6] [--first 0]`. DATA is a folder of
recorded crowds, as of `benchmarks.crowd.class_shares`; a fifth of the tasks is gold. The plan gives
every scored task its 1, 2, 3 or 5 best workers; it expects by the qualities and the common error
that gold tells, as `crowd-tvcs assign --skills` does, and its recorded answers are voted on by the
model of dependence. Printed is what is expected less what is reached, the mean over the splits and
its standard error, with the common error and without.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.crowd.class_shares import bought, first_answers
from benchmarks.pages import standard_error
from crowd_tvcs import Plan
from crowd_tvcs.answers.answers import read_gold
from crowd_tvcs.routing.replay import Split, draw_split
from crowd_tvcs.skills.dependence_fit import fit_dependence
from tvcs_core.streams import stream

GOLD = 0.2
LABELS = (1, 2, 3, 5)

Floats = NDArray[np.float64]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    given = parser.parse_args()
    print("| set | common error | " + " | ".join(map(str, LABELS)) + " | without: 1 | 2 | 3 | 5 |")
    for folder in sorted(path.parent for path in given.data.glob("*/truth.csv")):
        rows, errors = measured(folder, range(given.first, given.first + given.splits))
        cells = [f"{column.mean():+.3f} ± {standard_error(column):.3f}" for column in rows.T]
        print(f"| {folder.name} | {errors.mean():.2f} | " + " | ".join(cells) + " |", flush=True)
    return 0


def measured(folder: Path, numbers: range) -> tuple[Floats, Floats]:
    """What is expected less what is reached, with the common error and without, split by split."""
    truth = read_gold(folder / "truth.csv")
    answers = first_answers(folder / "label.csv", truth)
    rows, errors = [], []
    for number in numbers:
        rng = stream(0, "confidence", str(number))
        split = draw_split(answers, truth, GOLD, per_class=False, rng=rng, model="independent")
        skill = fit_dependence(answers, split.gold, split.skill)
        chances = [split.posterior(bought(split, k), skill) for k in LABELS]
        errors.append(skill.dependence.plan_error)
        rows.append(
            [
                off(split, k, error, given)
                for error in (errors[-1], 0.0)
                for k, given in zip(LABELS, chances, strict=True)
            ]
        )
    return np.array(rows), np.array(errors)


def off(split: Split, labels: int, error: float, chances: Floats) -> float:
    """What the plan of so many labels expects, less what their vote reaches."""
    chosen = bought(split, labels).given
    quality = split.skill.to_quality(split.recorded.tasks)
    most = int(chosen.sum(axis=0).max())
    plan = Plan(
        quality,
        max_workers_per_task=most,
        n_classes=len(split.skill.classes),
        common_error=error,
    )
    return float(plan.accuracy(chosen).mean()) - split.score(chances)


if __name__ == "__main__":
    raise SystemExit(main())

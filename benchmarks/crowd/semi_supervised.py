"""What semi-supervised skills add to plans: `python -m benchmarks.crowd.semi_supervised DATA`.

DATA is a folder of recorded crowds, as of `benchmarks.crowd.common_error`. On every split a share
of the tasks is gold. Half of the others are labelled by the vote with gold, and these labels count
in semi-supervised skills. The other half, which no skill has seen, is planned: two recorded answers
per task on average, of a worker half of theirs at most, by `fast`. Printed are the shares of right
labels by skills from gold alone and by semi-supervised ones, with the standard error of the
difference over the splits. `--write-docs` fills the table of docs/studies/crowd-plans.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.crowd.common_error import plan_of
from benchmarks.crowd.plans.table_of_plans import PAGE
from benchmarks.pages import fill_file, plain, signed, standard_error, table
from benchmarks.study import first_answers
from crowd_tvcs import assign
from crowd_tvcs.answers.answers import Answers, Gold, read_gold
from crowd_tvcs.routing.replay import Split, draw_split
from crowd_tvcs.skills.semi_supervised import refit_semi_supervised
from tvcs_core.streams import stream

GOLD = (0.02, 0.2)
CAPS = "2 of 5, half"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, help="folder of recorded crowds")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--write-docs", action="store_true", help=f"write {PAGE.name} as well")
    arguments = parser.parse_args()
    content = table(
        ("set", "gold", "gold alone", "semi-supervised", "difference", "standard error"),
        rows_of(arguments.data, arguments.splits),
        words=2,
    )
    print(content)
    if arguments.write_docs:
        fill_file(PAGE, {"semi-supervised": content})
    return 0


def rows_of(data: Path, splits: int) -> Iterator[list[str]]:
    """Yield the rows of the table, those of the least gold first."""
    sets = {}
    for folder in sorted(path.parent for path in data.glob("*/truth.csv")):
        truth = read_gold(folder / "truth.csv")
        sets[folder.name] = first_answers(folder / "label.csv", truth), truth
    for share in GOLD:
        means = []
        for name, (answers, truth) in sets.items():
            found = np.array([right_labels(answers, truth, share, s) for s in range(splits)])
            print(name, share, file=sys.stderr, flush=True)
            means.append(found.mean(axis=0))
            more = found[:, 1] - found[:, 0]
            yield [name, f"{share:.0%}", *_cells(means[-1]), f"{standard_error(more):.4f}"]
        yield ["mean", f"{share:.0%}", *_cells(np.mean(means, axis=0)), ""]


def _cells(mean: np.ndarray) -> list[str]:
    return [plain(mean[0]), plain(mean[1]), signed(mean[1] - mean[0])]


def right_labels(answers: Answers, truth: Gold, share: float, number: int) -> tuple[float, float]:
    """Return the right labels of a split by skills from gold alone and by semi-supervised ones."""
    rng = stream(0, "semi-supervised skills", str(number))
    split = draw_split(answers, truth, share, per_class=False, rng=rng)
    is_planned = np.zeros(len(split.recorded.tasks), dtype=bool)
    is_planned[rng.permutation(is_planned.size)[: is_planned.size // 2]] = True
    planned = {task for task, here in zip(split.recorded.tasks, is_planned, strict=True) if here}
    seen = split.answers.select(
        np.array([split.answers.tasks[j] not in planned for j in split.answers.task_of])
    )
    of_vote = refit_semi_supervised(seen, split.gold, split.skill)
    return planned_right(split, is_planned), planned_right(
        replace(split, skill=of_vote), is_planned
    )


def planned_right(split: Split, is_planned: np.ndarray) -> float:
    """Return the share of right labels of a plan of some tasks, made and voted by the skill."""
    recorded = split.recorded
    tasks = [recorded.tasks[j] for j in np.flatnonzero(is_planned)]
    names = set(tasks)
    part = replace(
        split,
        recorded=Answers.of(
            (row for row in recorded.rows() if row[0] in names),
            tasks=tasks,
            workers=recorded.workers,
            classes=recorded.classes,
        ),
        truth=split.truth[is_planned],
    )
    found = assign(plan_of(part, CAPS, 0.0), "fast", rng=0)
    chosen = found.support[part.recorded.worker_of, part.recorded.task_of]
    return part.score(part.posterior(part.recorded.select(chosen)))


if __name__ == "__main__":
    sys.exit(main())

"""What the class shares of the gold are worth: the same labels voted with and without them.

`python -m benchmarks.crowd.class_shares DATA [--splits N]`. DATA is a folder of folders, each a set
of recorded answers: label.csv (item, worker, label) and truth.csv (item, truth); of a pair that is
answered twice the first answer counts. A share of the tasks with known labels is gold; the others
get the labels of their best workers and are scored. Printed are the accuracy with equal classes and
what the shares of the gold add to it, by strength of the smoothing; the mean and the worst come
last.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.study import first_answers
from crowd_tvcs.answers.answers import Answers, Gold, read_gold
from crowd_tvcs.answers.class_prevalence import class_counts
from crowd_tvcs.routing.outcomes import NO_LIMIT
from crowd_tvcs.routing.replay import Split, draw_split
from crowd_tvcs.routing.routing import next_batch
from crowd_tvcs.skills.posterior import posterior

GOLD = (0.2, 0.05)
LABELS = (1, 3, NO_LIMIT)
STRENGTHS = (0.5, 1.0, 2.0, 5.0, 10.0)
Key = tuple[str, float, bool, int]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, help="folder of recorded answers")
    parser.add_argument("--splits", type=int, default=10)
    arguments = parser.parse_args()
    found = dict(measure(arguments.data, arguments.splits))
    names = ("set", "gold", "skills", "labels", "equal", *(f"+{s:g}" for s in STRENGTHS))
    print(("{:<14}{:>6}{:>12}{:>8}{:>8}" + "{:>9}" * len(STRENGTHS)).format(*names))
    for (name, gold, per_class, labels), mean in found.items():
        skills = "per class" if per_class else "one"
        asked = "all" if labels == NO_LIMIT else str(labels)
        gains = "".join(f"{gain:>+9.4f}" for gain in mean[1:] - mean[0])
        print(f"{name:<14}{gold:>6g}{skills:>12}{asked:>8}{mean[0]:>8.4f}{gains}")
    for gold in GOLD:
        for per_class in (False, True):
            cells = np.array([m for k, m in found.items() if k[1:3] == (gold, per_class)])
            gains = cells[:, 1:] - cells[:, :1]
            for what, line in (("mean", gains.mean(axis=0)), ("worst", gains.min(axis=0))):
                shown = "".join(f"{gain:>+9.4f}" for gain in line)
                print(
                    f"{what:<14}{gold:>6g}{'per class' if per_class else 'one':>12}{'':>16}{shown}"
                )
    return 0


def measure(data: Path, splits: int) -> Iterator[tuple[Key, NDArray[np.float64]]]:
    """Mean accuracy with equal classes and with shares of every strength, for every cell."""
    for folder in sorted(path.parent for path in data.glob("*/truth.csv")):
        truth = read_gold(folder / "truth.csv")
        answers = first_answers(folder / "label.csv", truth)
        for gold in GOLD:
            for per_class in (False, True):
                cells = [
                    accuracies(answers, truth, gold, per_class=per_class, number=number)
                    for number in range(splits)
                ]
                for k, labels in enumerate(LABELS):
                    mean = np.mean([cell[k] for cell in cells], axis=0)
                    yield (folder.name, gold, per_class, labels), mean


def accuracies(
    answers: Answers, truth: Gold, gold: float, *, per_class: bool, number: int
) -> NDArray[np.float64]:
    """Accuracy of one split, of shape (labels, strengths and equal classes first)."""
    rng = np.random.default_rng([0, number])
    split = draw_split(answers, truth, gold, per_class=per_class, rng=rng, model="independent")
    counts = class_counts(split.gold.labels, split.recorded.classes)
    out = []
    for labels in LABELS:
        seen = bought(split, labels)
        k = counts.size
        priors = [np.full(k, 1.0 / k)]
        priors += [(counts + s) / (counts + s).sum() for s in STRENGTHS]  # as `class_prevalence`
        out.append([split.score(posterior(seen, split.skill, prior)) for prior in priors])
    return np.array(out)


def bought(split: Split, labels: int) -> Answers:
    """Answers of the best workers, so many of each task."""
    recorded = split.recorded
    if labels == NO_LIMIT:
        return recorded
    scores = np.repeat(split.skill.lower_confidence_bound()[:, None], len(recorded.tasks), axis=1)
    chosen = next_batch(scores, recorded.given, max_workers_per_task=labels)
    return recorded.select(chosen[recorded.worker_of, recorded.task_of])


if __name__ == "__main__":
    raise SystemExit(main())

"""Whether a target is what it says: right labels among those called sure, by the share of gold.

`python -m benchmarks.crowd.sure DATA [--splits 12] [--first 0] [--target .95] [--gold .2,.1]`. DATA
is a folder of folders, each a set: label.csv (item, worker, label) and truth.csv (item, truth); of
a pair answered twice the first answer counts. Scored tasks get 1, 2, 3, 5 and all labels of their
best workers and stop at the first number with which they are sure, as gold tasks do in
`crowd_tvcs.skills.reliability.confidence_threshold`. *posterior*: sure is who has the target for
confidence; *shown*: who has the confidence with which gold shows the target. Printed are on how
many splits any task is sure, the share of the tasks that are, and how many of those labels are
right: over all splits, and on the worst split with 20 of them or more.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.crowd.class_shares import bought
from benchmarks.study import first_answers
from crowd_tvcs.answers.answers import Answers, Gold, read_gold, with_shared_classes
from crowd_tvcs.routing.replay import NO_LIMIT, draw_split
from crowd_tvcs.skills.dependence_fit import fit_dependence
from crowd_tvcs.skills.reliability import confidence_threshold, gold_confidences
from tvcs_core.streams import stream

LABELS = (1, 2, 3, 5, NO_LIMIT)
ENOUGH = 20  # sure tasks of a split, to be the worst
RULES = ("posterior", "shown")


class Sure(NamedTuple):
    """Tasks called sure on one split, right ones among them, and all tasks."""

    sure: int
    right: int
    tasks: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--target", type=float, default=0.95)
    parser.add_argument("--gold", default="0.2,0.1,0.05", help="shares of the tasks")
    given = parser.parse_args()
    print("| gold | set | rule | splits | of the tasks | right | worst split |")
    print("| ---: | --- | --- | ---: | ---: | ---: | ---: |")
    for share in map(float, given.gold.split(",")):
        for folder in sorted(path.parent for path in given.data.glob("*/truth.csv")):
            truth = read_gold(folder / "truth.csv")
            answers = first_answers(folder / "label.csv", truth)
            numbers = range(given.first, given.first + given.splits)
            found = [judged(answers, truth, share, given.target, n) for n in numbers]
            for rule, rows in zip(RULES, zip(*found, strict=True), strict=True):
                print(f"| {share:.0%} | {folder.name} | {rule} | {shown(rows)} |", flush=True)
    return 0


def judged(
    answers: Answers, truth: Gold, share: float, target: float, number: int
) -> tuple[Sure, ...]:
    """Stop on one split by every rule."""
    rng = stream(0, "confidence", str(number))
    split = draw_split(answers, truth, share, per_class=False, rng=rng, model="independent")
    skill = fit_dependence(answers, split.gold, split.skill)
    chances = np.stack([split.posterior(bought(split, k), skill) for k in LABELS], axis=1)
    claim, hit = chances.max(axis=2), chances.argmax(axis=2) == split.truth[:, None]
    from_gold = confidence_threshold(
        *gold_confidences(with_shared_classes(answers, split.gold), split.gold, skill), target
    )
    out = []
    for at in (target, from_gold):
        is_sure = (claim >= at) & (at < 1.0)
        sure, first = is_sure.any(axis=1), is_sure.argmax(axis=1)
        right = hit[np.arange(first.size), first] & sure
        out.append(Sure(int(sure.sum()), int(right.sum()), sure.size))
    return tuple(out)


def shown(rows: tuple[Sure, ...]) -> str:
    """Write the cells of one rule over the splits."""
    sure, right, tasks = np.sum(rows, axis=0)
    worst = [one.right / one.sure for one in rows if one.sure >= ENOUGH]
    cells = (
        sum(one.sure > 0 for one in rows),
        f"{sure / tasks:.3f}",
        f"{right / sure:.3f}" if sure else "",
        f"{min(worst):.3f}" if worst else "",
    )
    return " | ".join(map(str, cells))


if __name__ == "__main__":
    raise SystemExit(main())

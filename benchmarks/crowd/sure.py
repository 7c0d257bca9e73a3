"""Whether a target is what it says: right labels among those called sure, by the share of gold.

`python -m benchmarks.crowd.sure DATA [--splits 12] [--first 0] [--target .95] [--gold .2,.1]`. DATA
is a folder of folders, each a set: label.csv (item, worker, label) and truth.csv (item, truth); of
a pair answered twice the first answer counts. Scored tasks get 1, 2, 3, 5 and all labels of their
best workers and stop at the first number with which they are sure, as gold tasks do in
`crowd_tvcs.skills.reliability.confidence_threshold`. *posterior*: sure is who has the target for
confidence; *shown*: who has the confidence with which gold shows the target. Printed are on how
many splits any task is sure, the share of the tasks that are, and how many of those labels are
right: over all splits, and on the worst split with 20 of them or more.

`--counts 20,40,60` draws so many gold tasks instead, and prints the interval that gold gives for
the share of right labels among those with the target for confidence
(`crowd_tvcs.skills.reliability.target_evidence`): its mean ends over the splits with an interval,
on how many of these it holds the share that is reached, that share, and how often gold confirms
the target or contradicts it. *settled*: on how many splits the further gold tasks of which it says
that they settle the target do so, where half of the tasks suffice; drawn besides these.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.crowd.class_shares import bought
from benchmarks.study import first_answers
from crowd_tvcs.answers.answers import Answers, Gold, read_gold, with_shared_classes
from crowd_tvcs.routing.outcomes import NO_LIMIT
from crowd_tvcs.routing.replay import draw_split
from crowd_tvcs.skills.dependence_fit import fit_dependence
from crowd_tvcs.skills.reliability import (
    confidence_threshold,
    gold_confidences,
    target_evidence,
)
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
    parser.add_argument("--counts", help="numbers of gold tasks; print intervals")
    given = parser.parse_args()
    if given.counts:
        return print_intervals(given)
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


def print_intervals(given: argparse.Namespace) -> int:
    """Print the interval that gold gives beside what is reached."""
    print(
        "| gold tasks | set | intervals | low | high | hold | reached | confirmed | contradicted "
        "| asked for more | settled |"
    )
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for count in map(int, given.counts.split(",")):
        for folder in sorted(path.parent for path in given.data.glob("*/truth.csv")):
            truth = read_gold(folder / "truth.csv")
            answers = first_answers(folder / "label.csv", truth)
            share, rows, settled = count / len(truth), [], []
            for number in range(given.first, given.first + given.splits):
                claim, hit, gold = claims_of(answers, truth, share, number)
                known = target_evidence(*gold, given.target, count)
                sure, right = stopped(claim, hit, given.target)
                if not np.isnan(known.right) and sure:
                    at = confidence_threshold(*gold, given.target)
                    wanted = share + (known.more or 0) / len(truth)
                    if at == 1.0 and known.high >= given.target and known.more and wanted <= 0.5:
                        settled.append(is_settled(answers, truth, wanted, given.target, number))
                    rows.append(
                        (known.low, known.high, known.low <= right / sure <= known.high,
                         right / sure, at < 1.0, known.high < given.target)
                    )  # fmt: skip
            means = np.mean(rows, axis=0) if rows else np.full(6, np.nan)
            cells = " | ".join(f"{x:.2f}" for x in [*means, np.mean(settled or [np.nan])])
            cells = cells.rpartition("|")[0] + f"| {len(settled)} |" + cells.rpartition("|")[2]
            print(f"| {count} | {folder.name} | {len(rows)} | {cells} |", flush=True)
    return 0


def is_settled(answers: Answers, truth: Gold, share: float, target: float, number: int) -> bool:
    """Whether so much gold, that of the split and more, confirms or contradicts the target."""
    _, _, gold = claims_of(answers, truth, share, number)
    found = target_evidence(*gold, target, round(share * len(truth)))
    return confidence_threshold(*gold, target) < 1.0 or found.high < target


Judged = tuple[NDArray[np.float64], NDArray[np.bool_]]


def claims_of(
    answers: Answers, truth: Gold, share: float, number: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_], Judged]:
    """Confidence and whether the label is right, of the scored tasks and of the gold tasks."""
    rng = stream(0, "confidence", str(number))
    split = draw_split(answers, truth, share, per_class=False, rng=rng, model="independent")
    skill = fit_dependence(answers, split.gold, split.skill)
    chances = np.stack([split.posterior(bought(split, k), skill) for k in LABELS], axis=1)
    claim, hit = chances.max(axis=2), chances.argmax(axis=2) == split.truth[:, None]
    return claim, hit, gold_confidences(with_shared_classes(answers, split.gold), split.gold, skill)


def stopped(claim: NDArray[np.float64], hit: NDArray[np.bool_], at: float) -> tuple[int, int]:
    """How many tasks stop at this confidence, and how many of their labels are right."""
    is_sure = (claim >= at) & (at < 1.0)
    sure, first = is_sure.any(axis=1), is_sure.argmax(axis=1)
    return int(sure.sum()), int((hit[np.arange(first.size), first] & sure).sum())


def judged(
    answers: Answers, truth: Gold, share: float, target: float, number: int
) -> tuple[Sure, ...]:
    """Stop on one split by every rule."""
    claim, hit, gold = claims_of(answers, truth, share, number)
    return tuple(
        Sure(*stopped(claim, hit, at), claim.shape[0])
        for at in (target, confidence_threshold(*gold, target))
    )


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

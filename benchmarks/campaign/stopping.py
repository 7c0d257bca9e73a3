"""When to stop, on recorded answers: right labels among those called sure, and labels bought.

`python -m benchmarks.campaign.stopping DATA [--splits 3] [--sets rte,dog]`. DATA is a folder of
folders, each a set: label.csv (item, worker, label) and truth.csv (item, truth); of a pair answered
twice the first answer counts. A fifth of the tasks is gold. Tasks get answers in batches, where the
routing score is largest, as campaigns hand them out, until every task is done by the rule:

- ``today``: independent workers, a label must add .01;
- ``target``: the model of dependence, until the confidence is .95;
- ``shown``: until gold shows that .95 of such labels are right;
- ``shown, worth``: likewise, and only labels that add `WORTH`, as `campaign init --target .95`;
- ``worth``: until no label adds `WORTH`, without a target.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_tvcs.answers.answers import Answers, Gold, read_gold, together
from crowd_tvcs.campaign.belief import FIRST
from crowd_tvcs.campaign.estimates import WORTH
from crowd_tvcs.routing.replay import BATCH, GOLD_SHARE, Split, draw_split
from crowd_tvcs.routing.routing import gain_per_label, next_batch, routing_scores
from crowd_tvcs.skills.reliability import claims, sure_at
from tvcs_core.streams import stream

TARGET = 0.95
TODAY = 0.01
NEVER = 2.0  # a confidence that no label has


class Reached(NamedTuple):
    """One rule on one split: labels per task, right labels, tasks called sure, right ones."""

    labels: float
    accuracy: float
    sure: int
    right_of_sure: int
    tasks: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--sets", default="")
    given = parser.parse_args()
    sets = given.sets.split(",") if given.sets else sorted(p.name for p in given.data.iterdir())
    for name in sets:
        if (given.data / name / "truth.csv").exists():
            print(name, flush=True)
            show(given.data / name, given.splits)
    return 0


def show(folder: Path, splits: int) -> None:
    """Print every rule on one set, over all splits."""
    gold = read_gold(folder / "truth.csv")
    answers = first_answers(folder / "label.csv")
    found: dict[str, list[Reached]] = {}
    for number in range(splits):
        rng = stream(0, "replay", str(number))
        split = draw_split(answers, gold, GOLD_SHARE, per_class=False, rng=rng)
        for rule, reached in rules(split, answers, gold):
            found.setdefault(rule, []).append(reached)
    for rule, rows in found.items():
        labels, accuracy = np.mean([(r.labels, r.accuracy) for r in rows], axis=0)
        sure, right, tasks = np.sum([r[2:] for r in rows], axis=0)
        share = f"{right / sure:.4f}" if sure else "-"
        print(
            f"  {rule:<14} labels {labels:6.3f}  accuracy {accuracy:.4f}  "
            f"sure {sure / tasks:.3f}  right of sure {share} ({sure})",
            flush=True,
        )


def first_answers(path: Path) -> Answers:
    """Read answers; of a pair answered twice the first."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [(row["item"], row["worker"], row["label"]) for row in csv.DictReader(file)]
    once: dict[tuple[str, str], str] = {}
    for task, worker, label in rows:
        once.setdefault((task, worker), label)
    return Answers.of((task, worker, label) for (task, worker), label in once.items())


def rules(split: Split, answers: Answers, gold: Gold) -> Iterator[tuple[str, Reached]]:
    """Stop by every rule."""
    shown = sure_at(*claims(together(answers, gold), split.gold, split.skill), TARGET)
    alone = replace(split, skill=replace(split.skill, dependence=None))
    yield "today", stop(alone, NEVER, TODAY)
    yield "target", stop(split, TARGET, 0.0)
    yield "shown", stop(split, shown, 0.0)
    yield "shown, worth", stop(split, shown, WORTH)
    yield "worth", stop(split, NEVER, WORTH)


def stop(split: Split, at: float, least: float) -> Reached:
    """Buy answers until every task is this sure, or no label adds so much."""
    recorded, skill = split.recorded, split.skill
    m, model, told = len(recorded.tasks), skill.dependence, skill.cautious()
    chosen = np.zeros(recorded.size, dtype=bool)
    while True:
        bought = recorded.select(chosen)
        chances = split.posterior(bought)
        is_open = recorded.given & ~bought.given & (chances.max(axis=1) < at)
        if least > 0.0:
            best = np.where(is_open, told[:, None], 0.0).max(axis=0)
            gain = gain_per_label(chances, best, dependence=model, answers=bought.per_task)
            is_open &= gain >= least
        scores = routing_scores(chances, told)
        if model is not None:
            scores = scores * np.where(bought.per_task == 0, FIRST, 1.0)
        size = max(1, round(BATCH * m))
        batch = next_batch(scores, is_open, max_workers_per_task=1, budget=size)
        if not batch.any():
            break
        chosen |= batch[recorded.worker_of, recorded.task_of]
    right = chances.argmax(axis=1) == split.truth
    sure = chances.max(axis=1) >= at
    n_sure, n_right = int(sure.sum()), int((sure & right).sum())
    return Reached(float(chosen.sum() / m), float(right.mean()), n_sure, n_right, m)


if __name__ == "__main__":
    raise SystemExit(main())

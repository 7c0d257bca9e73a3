"""When to stop, on recorded answers: right labels among those called sure, and labels bought.

`python -m benchmarks.campaign.stopping DATA [--splits 3] [--first 0] [--sets rte,dog] [--fixed]
[--anybody] [--least .002,.005]`.
DATA is a folder of folders, each a set: label.csv (item, worker, label) and truth.csv (item,
truth); of a pair answered twice the first answer counts. A fifth of the tasks is gold. Tasks get
answers in batches, where the routing score is largest, as campaigns hand them out, or of anybody,
the least sure tasks first. With 20, 40, 80 ... answers the model of dependence is fitted anew to
whoever gave the first of them, as in a campaign, unless it stays `--fixed` to the best. That goes
on until every task is done by the rule:

- ``today``: independent workers, a label must add .01;
- ``target``: the model of dependence, until the confidence is .95;
- ``shown``: until gold shows that .95 of such labels are right;
- ``shown, worth``: likewise, and labels add `DEFAULT_MIN_GAIN`, as `campaign init --target .95`;
- ``worth``: until no label adds `DEFAULT_MIN_GAIN`, without a target.

With --least the first and the last, by every such worth in turn. *ahead*: right labels beyond those
of the first rule on the same splits; its standard error, as that of the accuracy, is of the draw of
gold.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.pages import standard_error
from benchmarks.study import first_answers
from crowd_tvcs.answers.answers import Answers, read_gold
from crowd_tvcs.belief.constants import DEFAULT_MIN_GAIN, FIRST_LABEL_BOOST
from crowd_tvcs.belief.gain import gain_per_label
from crowd_tvcs.campaign.stored_model import fitted_to
from crowd_tvcs.routing.replay import BATCH, GOLD_SHARE, Split, draw_split
from crowd_tvcs.routing.routing import next_batch, routing_scores
from crowd_tvcs.skills.reliability import confidence_threshold, gold_confidences
from crowd_tvcs.skills.skill import Skill
from tvcs_core.streams import stream

TARGET = 0.95
TODAY = 0.01
NEVER = 2.0  # a confidence that no label has
TIE = 1e-6


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
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--sets", default="")
    parser.add_argument("--fixed", action="store_true", help="the model stays that of the best")
    parser.add_argument("--anybody", action="store_true", help="labels of workers who are drawn")
    parser.add_argument("--least", default="", help="worths of a label, for most of the rules")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.splits)
    least = [float(value) for value in given.least.split(",") if value]
    sets = given.sets.split(",") if given.sets else sorted(p.name for p in given.data.iterdir())
    for name in sets:
        if (given.data / name / "truth.csv").exists():
            print(name, flush=True)
            show(given.data / name, numbers, least, given.fixed, given.anybody)
    return 0


def show(folder: Path, numbers: range, least: list[float], is_fixed: bool, anybody: bool) -> None:
    """Print every rule on one set, over all splits."""
    gold = read_gold(folder / "truth.csv")
    answers = first_answers(folder / "label.csv", gold)
    found: dict[str, list[Reached]] = {}
    for number in numbers:
        rng = stream(0, "replay", str(number))
        split = draw_split(answers, gold, GOLD_SHARE, per_class=False, rng=rng)
        for rule, reached in rules(Shop(split, is_fixed, anybody), least):
            found.setdefault(rule, []).append(reached)
    first = np.array([r.accuracy for r in next(iter(found.values()))])
    for rule, rows in found.items():
        labels, accuracy = np.mean([(r.labels, r.accuracy) for r in rows], axis=0)
        sure, right, tasks = np.sum([r[2:] for r in rows], axis=0)
        share = f"{right / sure:.4f}" if sure else "-"
        each = np.array([r.accuracy for r in rows])
        ahead = each - first
        print(
            f"  {rule:<14} labels {labels:6.3f}  "
            f"accuracy {accuracy:.4f} ± {standard_error(each):.4f}  "
            f"ahead {ahead.mean():+.4f} ± {standard_error(ahead):.4f}  "
            f"sure {sure / tasks:.3f}  right of sure {share} ({sure})",
            flush=True,
        )


class Shop(NamedTuple):
    """A split with all answers there are, and how they are bought."""

    split: Split
    is_fixed: bool
    anybody: bool

    def skill_by(self, first: Answers) -> Skill:
        """Return the skill whose model is for workers chosen as those of these answers."""
        split = self.split
        return split.skill if self.is_fixed or not first.size else split.skill_like(first)

    def shown_by(self, skill: Skill) -> float:
        """Return the confidence with which gold shows the target."""
        return confidence_threshold(
            *gold_confidences(self.split.answers, self.split.gold, skill), TARGET
        )


def rules(shop: Shop, least: list[float]) -> Iterator[tuple[str, Reached]]:
    """Stop by every rule, or by the first and every worth of a label if there are some."""
    split = shop.split
    alone = shop._replace(split=replace(split, skill=replace(split.skill, dependence=None)))
    yield "today", stop(alone, NEVER, TODAY)
    for worth in least:
        yield f"worth {worth:g}", stop(shop, NEVER, worth)
    if least:
        return
    yield "target", stop(shop, TARGET, 0.0)
    yield "shown", stop(shop, None, 0.0)
    yield "shown, worth", stop(shop, None, DEFAULT_MIN_GAIN)
    yield "worth", stop(shop, NEVER, DEFAULT_MIN_GAIN)


def stop(shop: Shop, sure: float | None, least: float) -> Reached:
    """Buy answers until every task is this sure (None: as gold shows), or no label adds so much."""
    split, rng = shop.split, stream(0, "who asks")
    recorded, lower_bounds = split.recorded, split.skill.lower_confidence_bound()
    m, size, order = len(recorded.tasks), -1, np.empty(0, dtype=np.int64)
    chosen = np.zeros(recorded.size, dtype=bool)
    while True:
        if size != (size := fitted_to(order.size)):
            first = np.isin(np.arange(recorded.size), order[:size])
            skill = shop.skill_by(recorded.select(first))
            at, model = shop.shown_by(skill) if sure is None else sure, skill.dependence
        bought = recorded.select(chosen)
        chances = split.posterior(bought, skill)
        is_open = recorded.given & ~bought.given & (chances.max(axis=1) < at)
        if least > 0.0:
            best = np.where(is_open, lower_bounds[:, None], 0.0).max(axis=0)
            alone = split.posterior(bought, replace(skill, dependence=None))
            n = bought.per_task
            is_open &= least <= gain_per_label(
                chances, best, dependence=model, answers=n, alone=alone
            )
        scores = routing_scores(chances, lower_bounds)
        if shop.anybody:
            alike = routing_scores(chances, np.full(lower_bounds.size, lower_bounds.mean()))
            scores = alike * (1.0 - TIE * rng.random(alike.shape))
        if model is not None:
            scores = scores * np.where(bought.per_task == 0, FIRST_LABEL_BOOST, 1.0)
        batch = next_batch(scores, is_open, max_workers_per_task=1, budget=max(1, round(BATCH * m)))
        if not batch.any():
            break
        new = batch[recorded.worker_of, recorded.task_of] & ~chosen
        order, chosen = np.append(order, np.flatnonzero(new)), chosen | new
    right = chances.argmax(axis=1) == split.truth
    are_sure = chances.max(axis=1) >= at
    n_sure, n_right = int(are_sure.sum()), int((are_sure & right).sum())
    return Reached(float(chosen.sum() / m), float(right.mean()), n_sure, n_right, m)


if __name__ == "__main__":
    raise SystemExit(main())

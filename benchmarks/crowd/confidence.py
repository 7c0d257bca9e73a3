"""What is claimed of real labels and what is reached: `python -m benchmarks.crowd.confidence DATA`.

DATA is a folder of folders, each a set of recorded answers: label.csv (item, worker, label) and
truth.csv (item, truth); of a pair that is answered twice the first answer counts. A share of the
tasks with known labels is gold; the others get the labels of their best workers, or of any, and are
scored, on `--splits` random splits (crowd-kit's GLAD on a quarter of them). Rows go to
claims.csv, policies.csv, labels.csv and fits.csv in --out as soon as they are known; a run that was
killed goes on where it stopped. `--write-docs` fills the tables of
docs/studies/crowd-confidence.md, `--only-docs` does so without computing. `--first 500 --out
ANOTHER` takes other splits.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.crowd.cases import (
    ASKED,
    GOLD,
    LABELS,
    LEFT_OUT,
    MODELS,
    RIVALS,
    SLOW,
    Claim,
    Cost,
    Labels,
    Policy,
)
from benchmarks.crowd.class_shares import bought
from benchmarks.crowd.confidence_page import write_docs
from benchmarks.crowd.usual import usual_numbers, without
from benchmarks.pages import standard_error
from benchmarks.study import complete, first_answers, load, options, run
from crowd_tvcs.answers.answers import Answers, Gold, read_gold
from crowd_tvcs.routing.outcomes import NO_LIMIT
from crowd_tvcs.routing.replay import Split, adaptive, draw_split
from crowd_tvcs.skills.dependence_fit import fit_dependence
from crowd_tvcs.skills.held_out import ranks
from crowd_tvcs.skills.voting.unsupervised import vote_shares
from crowd_tvcs.skills.voting.vote import vote
from tvcs_core.streams import stream

SPLITS = 20
ORDERS = ("best", "random")
OURS = ("majority of all", *MODELS)
VOTED = 3  # labels per task that the rivals get
TIMED = 3  # splits
SLOW_PART = 4  # they get every so many-th of the splits
POLICIES = ("balanced", "adaptive")

Floats = NDArray[np.float64]


def main() -> int:
    parser = options(__doc__, results="confidence", page="studies/crowd-confidence.md")
    parser.add_argument("data", type=Path, nargs="?", help="folder of recorded answers")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    arguments = parser.parse_args()
    if arguments.data is None and not arguments.only_docs:
        parser.error("name the folder of recorded answers")
    return run(arguments, compute, write_page)


def write_page(out: Path, docs: Path) -> None:
    write_docs(
        load(out / "claims.csv", Claim),
        load(out / "labels.csv", Labels),
        load(out / "policies.csv", Policy),
        docs,
    )


def compute(arguments: argparse.Namespace) -> None:
    """Compute what the files in --out do not hold yet."""
    data, out = str(arguments.data), arguments.out
    names = sorted(path.parent.name for path in arguments.data.glob("*/truth.csv"))
    splits = range(arguments.first, arguments.first + arguments.splits)
    claims = claim_tasks(data, names, splits)
    complete(out / "claims.csv", Claim, claims, claims_of, jobs=1)
    policies = {
        (data, name, splits): {
            (name, model, policy, labels, len(splits))
            for model in MODELS
            for policy in POLICIES
            for labels in ASKED
        }
        for name in names
    }
    complete(out / "policies.csv", Policy, policies, policies_of, jobs=1)
    few = splits[: max(1, len(splits) // SLOW_PART)]
    quick = (*OURS, *RIVALS)
    rivals = {
        (data, name, methods, times): {(name, method, len(times)) for method in methods}
        for methods, times in ((quick, splits), (quick, few), (SLOW, few))
        for name in names
    }
    complete(out / "labels.csv", Labels, rivals, labels_of, jobs=1)
    costs = {(data, name): {name} for name in names}
    complete(out / "fits.csv", Cost, costs, cost, jobs=1)


ClaimTask = tuple[str, str, float, tuple[str, ...], range]
ClaimKey = tuple[str, float, str, str, int, int]


def claim_tasks(data: str, names: list[str], splits: range) -> dict[ClaimTask, set[ClaimKey]]:
    """What is computed in one go, and which claims it gives."""
    wanted = [(gold, MODELS, ORDERS) for gold in GOLD]
    wanted += [(gold, (LEFT_OUT,), ORDERS[:1]) for gold in GOLD]
    return {
        (data, name, gold, models, splits): {
            (name, gold, order, model, labels, len(splits))
            for order in orders
            for model in models
            for labels in LABELS
        }
        for gold, models, orders in wanted
        for name in names
    }


@cache
def recorded(data: str, name: str) -> tuple[Answers, Gold]:
    """Read one set."""
    truth = read_gold(Path(data) / name / "truth.csv")
    return first_answers(Path(data) / name / "label.csv", truth), truth


def splits_of(data: str, name: str, gold: float, splits: range) -> Iterator[Split]:
    """Draw splits by their numbers, the same for whatever is asked of them."""
    answers, truth = recorded(data, name)
    for number in splits:
        rng = stream(0, "confidence", str(number))
        yield draw_split(answers, truth, gold, per_class=False, rng=rng)


def seen_in(split: Split, order: str, labels: int, rng: np.random.Generator) -> Answers:
    """So many labels of every scored task, of the best workers or of any."""
    if order == "best":
        return bought(split, labels)
    rank = ranks(split.recorded.task_of, rng.random(split.recorded.size))
    return split.recorded.select(rank < labels) if labels else split.recorded


def claims_of(task: ClaimTask) -> list[Claim]:
    """Vote on the splits of one set by these models."""
    data, name, gold, models, splits = task
    if models == (LEFT_OUT,):
        with usual_numbers(*without(data, name)):
            return _claims(data, name, gold, models, splits)
    return _claims(data, name, gold, models, splits)


def _claims(
    data: str, name: str, gold: float, models: tuple[str, ...], splits: range
) -> list[Claim]:
    found: dict[tuple[str, str, int], list[Floats]] = {}
    for number, split in zip(splits, splits_of(data, name, gold, splits), strict=True):
        for order in ORDERS if LEFT_OUT not in models else ORDERS[:1]:
            for labels in LABELS:
                rng = stream(0, "random labels", str(number))  # fewer are the first of more
                seen = seen_in(split, order, labels, rng)
                fitted = split.skill if order == "best" else split.skill_like(seen)
                for model in models:
                    skill = replace(fitted, dependence=None) if model == MODELS[1] else fitted
                    row = judged(split, split.posterior(seen, skill))
                    found.setdefault((order, model, labels), []).append(row)
    return [
        Claim(name, gold, order, model, labels, len(splits), *summary(np.array(rows)))
        for (order, model, labels), rows in found.items()
    ]


def judged(split: Split, chances: Floats) -> Floats:
    """Claimed, reached, log score, share that is called sure, and share that is so and wrong."""
    reached, claimed, sure, right = split.evaluate(chances)
    true = chances[np.arange(split.truth.size), split.truth]
    wrong = 0.0 if sure == 0.0 else sure * (1.0 - right)
    return np.array([claimed, reached, np.log(np.maximum(true, 1e-12)).mean(), sure, wrong])


def summary(rows: Floats) -> tuple[float, float, float, float, float, float, float | None]:
    """The numbers of a `Claim`, of rows of `judged`."""
    claimed, reached, score, sure, wrong = rows.mean(axis=0).tolist()
    errors = standard_error(rows[:, 1]), standard_error(rows[:, 0] - rows[:, 1])
    return claimed, reached, score, *errors, sure, wrong / sure if sure > 0.0 else None


def labels_of(task: tuple[str, str, tuple[str, ...], range]) -> list[Labels]:
    """Vote on three labels per task by ours or by crowd-kit's, or on all by majority."""
    data, name, methods, splits = task
    found: dict[str, list[float]] = {method: [] for method in methods}
    for split in splits_of(data, name, GOLD[0], splits):
        seen = bought(split, VOTED)
        for method in methods:
            if method == OURS[0]:
                accuracy = split.score(vote_shares(split.recorded))
            elif method in MODELS:
                skill = split.skill
                if method == MODELS[1]:
                    skill = replace(skill, dependence=None)
                accuracy = split.score(split.posterior(seen, skill))
            elif method == RIVALS[0]:
                accuracy = split.score(vote_shares(seen))  # as crowd-kit's, but for ties: 1/n each
            else:
                accuracy = float((vote(seen, method).label_of == split.truth).mean())
            found[method].append(accuracy)
    return [
        Labels(
            name, method, NO_LIMIT if method == OURS[0] else VOTED, len(splits),
            float(np.mean(got)), standard_error(got),
        )
        for method, got in found.items()
    ]  # fmt: skip


def policies_of(task: tuple[str, str, range]) -> list[Policy]:
    """Buy labels of one set by balanced and by adaptive choices, by every model."""
    data, name, splits = task
    found: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
    for drawn in splits_of(data, name, GOLD[0], splits):
        for model in MODELS:
            split = drawn
            if model == MODELS[1]:
                split = replace(drawn, skill=replace(drawn.skill, dependence=None))
            seen = {("balanced", k): bought(split, k) for k in ASKED}
            seen |= {
                ("adaptive", k): split.recorded.select(chosen)
                for k, chosen in adaptive(split, ASKED)
            }
            for (policy, k), answers in seen.items():
                reached, claimed, _, _ = split.evaluate(split.posterior(answers))
                found.setdefault((model, policy, k), []).append((claimed, reached))
    out = []
    for (model, policy, k), pairs in found.items():
        claimed, reached = np.array(pairs).T
        ahead = reached - np.array(found[model, "balanced", k])[:, 1]
        means = claimed.mean(), reached.mean(), standard_error(reached)
        out.append(
            Policy(
                name, model, policy, k, len(splits), *map(float, means),
                float(ahead.mean()), standard_error(ahead),
            )
        )  # fmt: skip
    return out


def cost(task: tuple[str, str]) -> list[Cost]:
    """Time the fit on some splits."""
    data, name = task
    answers, _ = recorded(data, name)
    seconds = []
    for split in splits_of(data, name, GOLD[0], range(TIMED)):
        began = time.process_time()
        fit_dependence(answers, split.gold, split.skill)
        seconds.append(time.process_time() - began)
    known = len(split.gold), int(split.skill.n_gold.sum()), len(split.skill.classes)
    return [Cost(name, *known, float(np.median(seconds)))]


if __name__ == "__main__":
    sys.exit(main())

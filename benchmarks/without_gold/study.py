"""Votes without gold and with little of it: `python -m benchmarks.without_gold.study DATA`.

DATA is a folder of folders, each a set of recorded answers: label.csv (item, worker, label) and
truth.csv (item, truth); of a pair that is answered twice the first answer counts. Every method
labels the tasks with a known label from all of their answers, or from three drawn ones. *left out*:
ours, without gold and with it, with the usual numbers of its last step (`unsupervised.USUAL`)
learnt anew from the other sets, by their log score without gold. crowd-kit's methods are computed
where it is installed (`pip install crowd-kit`). With gold, drawn anew on each of `--splits` splits,
*gold* is the weighted vote by gold alone, *blend* what `vote --gold` does, and *none* the vote
without that gold on the same tasks. Rows go to cases.csv in --out as soon as they are known.
`--write-docs` fills the tables of docs/studies/crowd-without-gold.md, `--only-docs` does so without
computing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.study import complete, first_answers, load, options, run
from benchmarks.without_gold.cases import LEFT_OUT, NONE, OURS, Case
from benchmarks.without_gold.page import write_docs
from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, read_gold
from crowd_tvcs.belief.intervals import prediction_interval
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.held_out import ranks
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.voting import unsupervised
from crowd_tvcs.skills.voting.crowd_kit import aggregate
from crowd_tvcs.skills.voting.little_gold import vote_with_gold
from crowd_tvcs.skills.voting.unsupervised import unsupervised_posterior, vote_shares
from tvcs_core.streams import stream

SPLITS = 10
LABELS = (0, 3)  # per task; 0 for all
GOLD = (0.01, 0.02, 0.05, 0.2)
ALONE = (OURS, "majority")
PEERS = ("DawidSkene", "OneCoinDawidSkene")  # GLAD and MACE take 3 to 20 seconds a fit
DRAWS = 10
WITH_GOLD = (NONE, "gold", "blend")
CONFIDENT = 0.9
# Start and size of the first steps of the usual numbers: rho, b, kappa, eps, as logarithms.
START = np.log([0.15, 0.3, 0.27, 0.06])

Floats = NDArray[np.float64]


Task = tuple[str, str, float, tuple[str, ...], int, int]  # data, set, gold, methods, labels, splits


def main() -> int:
    parser = options(__doc__, results="without_gold", page="studies/crowd-without-gold.md")
    parser.add_argument("data", type=Path, nargs="?", help="folder of recorded answers")
    parser.add_argument("--splits", type=int, default=SPLITS)
    arguments = parser.parse_args()
    if arguments.data is None and not arguments.only_docs:
        parser.error("name the folder of recorded answers")
    return run(arguments, compute, write_page)


def write_page(out: Path, docs: Path) -> None:
    write_docs(load(out / "cases.csv", Case), docs)


def compute(arguments: argparse.Namespace) -> None:
    """Compute what the file in --out does not hold yet."""
    data = str(arguments.data)
    names = sorted(path.parent.name for path in arguments.data.glob("*/truth.csv"))
    groups: list[tuple[float, tuple[str, ...], int]] = [(0.0, (m,), DRAWS) for m in ALONE]
    groups += [(gold, WITH_GOLD, arguments.splits) for gold in GOLD]
    if find_spec("crowdkit"):
        groups += [(0.0, (m,), DRAWS) for m in PEERS]
    groups += [(0.0, (LEFT_OUT,), DRAWS)]
    groups += [(gold, (LEFT_OUT,), arguments.splits) for gold in GOLD]
    tasks: dict[Task, set[tuple[str, float, str, int, int]]] = {}
    for gold, methods, splits in groups:
        for name in names:
            for labels in LABELS:
                times = splits if labels or gold else 1
                key = (data, name, gold, methods, labels, times)
                tasks[key] = {(name, gold, m, labels, times) for m in methods}
    complete(arguments.out / "cases.csv", Case, tasks, cases_of, jobs=1)


@cache
def recorded(data: str, name: str) -> tuple[Answers, Gold, NDArray[np.int64]]:
    """Read one set, with the class of every task."""
    truth = read_gold(Path(data) / name / "truth.csv")
    answers = first_answers(Path(data) / name / "label.csv", truth)
    return answers, truth, truth.codes(answers.tasks, answers.classes)


def drawn(answers: Answers, labels: int, number: int, keep: NDArray[np.bool_]) -> Answers:
    """So many drawn labels of every task, and all of the tasks to keep."""
    if not labels:
        return answers
    rng = stream(0, "labels without gold", str(number))
    rank = ranks(answers.task_of, rng.random(answers.size))
    return answers.select((rank < labels) | keep[answers.task_of])


def cases_of(task: Task) -> list[Case]:
    data, name, gold, methods, labels, splits = task
    answers, _, truth = recorded(data, name)
    rows: dict[str, list[Floats]] = {method: [] for method in methods}
    intervals: list[tuple[float, float, float]] = []
    for number in range(splits):
        known = np.full(truth.size, UNKNOWN)
        if gold:
            rng = stream(0, "little gold", str(number))
            chosen = rng.permutation(truth.size)[: round(gold * truth.size)]
            known[chosen] = truth[chosen]
        seen = drawn(answers, labels, number, known != UNKNOWN)
        if gold and methods == (LEFT_OUT,):
            with usual_numbers(left_out(data, name)):
                voted, share = {LEFT_OUT: with_gold(seen, known)[0]["blend"]}, None
        elif gold:
            voted, share = with_gold(seen, known)
        else:
            voted, share = {methods[0]: alone(methods[0], seen, data, name)}, None
        for method, chances in voted.items():
            rows[method].append(judged(chances, truth, known == UNKNOWN))
        if share is not None:
            low, high, width, alone_width = share
            reached = rows["blend"][-1][0]
            intervals.append((float(low <= reached <= high), width, alone_width))
    out = []
    for method, found in rows.items():
        right, score, claimed, sure, sure_right = np.mean(found, axis=0).tolist()
        sure_share = sure_right / sure if sure else None
        case = Case(name, gold, method, labels, splits, right, score, claimed, sure, sure_share)
        if method == "blend" and intervals:
            held, width, of_gold = np.mean(intervals, axis=0).tolist()
            case = replace(case, held=held, width=width, of_gold=of_gold)
        out.append(case)
    return out


Interval = tuple[float, float, float, float]  # low, high, width, width by the gold alone


def with_gold(seen: Answers, known: NDArray[np.int64]) -> tuple[dict[str, Floats], Interval | None]:
    """Vote by the known labels: probabilities by method, and the share of right labels."""
    at = np.flatnonzero(known != UNKNOWN)
    gold = Gold({seen.tasks[j]: seen.classes[known[j]] for j in at}, seen.classes)
    skill = estimate_quality(seen, gold, like=seen)
    _, found, share = vote_with_gold(seen, gold, skill)
    none = unsupervised_posterior(seen)
    voted = {NONE: none, "gold": posterior(seen, skill), "blend": found.chances}
    if share is None:
        return voted, None
    low, high = prediction_interval(float(found.hit.mean()), share.gold, int((known < 0).sum()))
    return voted, (share.low, share.high, share.high - share.low, high - low)


def alone(method: str, seen: Answers, data: str, name: str) -> Floats:
    """Return the probabilities of every class of every task, without gold."""
    if method == "majority":
        return vote_shares(seen)
    if method == OURS:
        return unsupervised_posterior(seen)
    if method == LEFT_OUT:
        with usual_numbers(left_out(data, name)):
            return unsupervised_posterior(seen)
    return aggregate(method, seen)


def judged(chances: Floats, truth: NDArray[np.int64], scored: NDArray[np.bool_]) -> Floats:
    """Right, log score, claimed, share of confident labels, and share of confident right ones."""
    chances, truth = chances[scored], truth[scored]
    at, top = np.arange(truth.size), chances.max(axis=1)
    ties = chances >= top[:, None] - 1e-12
    hit = ties[at, truth] / ties.sum(axis=1)
    score = np.log(np.maximum(chances[at, truth], 1e-9)).mean()
    sure = top >= CONFIDENT
    return np.array([hit.mean(), score, top.mean(), sure.mean(), (hit * sure).mean()])


@contextmanager
def usual_numbers(point: Floats) -> Iterator[None]:
    """Take other usual numbers for a while: rho, b, kappa, eps, as logarithms."""
    before = unsupervised.USUAL
    names = ("overlap", "shares", "contrast", "common")
    numbers = dict(zip(names, np.exp(point).tolist(), strict=True))
    unsupervised.USUAL = replace(before, **numbers)
    try:
        yield
    finally:
        unsupervised.USUAL = before


@cache
def _left_out(data: str, name: str) -> tuple[float, ...]:
    from scipy.optimize import minimize

    others = sorted(p.parent.name for p in Path(data).glob("*/truth.csv") if p.parent.name != name)
    given = []
    for other in others:
        answers, _, truth = recorded(data, other)
        none = np.zeros(truth.size, dtype=bool)
        given += [(drawn(answers, labels, 100, none), truth) for labels in LABELS]

    def loss(point: Floats) -> float:
        with usual_numbers(np.minimum(point, 0.5)):
            scores = [judged(unsupervised_posterior(a), t, t >= 0)[1] for a, t in given]
        return -float(np.mean(scores))

    simplex = np.vstack([START, START + 0.4 * np.eye(START.size)])
    found = minimize(
        loss, START, method="Nelder-Mead", options={"maxfev": 30, "initial_simplex": simplex}
    )
    return tuple(np.minimum(found.x, 0.5).tolist())


def left_out(data: str, name: str) -> Floats:
    """The usual numbers of the other sets."""
    of = cast(Callable[[str, str], tuple[float, ...]], _left_out)
    return np.array(of(data, name))


if __name__ == "__main__":
    sys.exit(main())

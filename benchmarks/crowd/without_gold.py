"""Votes without gold and with little of it: `python -m benchmarks.crowd.without_gold DATA`.

DATA is a folder of folders, each a set of recorded answers: label.csv (item, worker, label) and
truth.csv (item, truth); of a pair that is answered twice the first answer counts. Every method
labels the tasks with a known label from all of their answers, or from three drawn ones. *left out*:
the unsupervised vote with the usual numbers of its last step (`unsupervised.USUAL`) learnt anew
from the other sets, by their log score. crowd-kit's methods are computed where it is installed
(`pip install crowd-kit`). With gold, drawn anew on each of `--splits` splits, *gold* is the
weighted vote by gold alone and *blend* what `vote --gold` does. Rows go to cases.csv in --out as
soon as they are known. `--write-docs` fills the tables of docs/crowd-without-gold.md, `--only-docs`
does so without computing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.crowd.confidence_page import plain, signed
from benchmarks.pages import fill, table
from benchmarks.study import complete, first_answers, load, options, run
from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, read_gold
from crowd_tvcs.skills.crowd_kit import aggregate
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.held_out import ranks
from crowd_tvcs.skills.vote import posterior
from crowd_tvcs.skills.voting import unsupervised
from crowd_tvcs.skills.voting.little_gold import blend
from crowd_tvcs.skills.voting.unsupervised import unsupervised_posterior, vote_shares
from tvcs_core.streams import stream

SPLITS = 10
LABELS = (0, 3)  # per task; 0 for all
GOLD = (0.01, 0.02, 0.05, 0.2)
OURS, LEFT_OUT = "unsupervised", "left out"
ALONE = (OURS, LEFT_OUT, "majority")
PEERS = ("DawidSkene", "OneCoinDawidSkene", "MMSR", "GLAD", "MACE")
SLOW = ("GLAD", "MACE")  # on one draw of labels; the others on `DRAWS`
DRAWS = 3
WITH_GOLD = ("gold", "blend")
CONFIDENT = 0.9
LEAST_LOSS = 0.005  # of right labels, that counts as one
WORDS = {0: "all", 3: "three"}
# Start and size of the first steps of the usual numbers: T, rho, b, kappa, eps, as logarithms.
START = np.log([0.95, 0.15, 0.67, 0.27, 0.06])

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """Votes on one set by one method: means over the draws.

    Attributes
    ----------
    data, gold, method, labels
        The set, the share of gold, the method, and labels per task (0: all).
    splits
        Number of draws of gold and labels.
    right
        Share of right labels; of n that tie, each counts 1/n.
    log_score
        Mean logarithm of the probability of the true label, which is at least 1e-9.
    claimed
        Mean confidence.
    sure, sure_right
        Share of the labels with a confidence of .9 or more, and of right ones among these.
    """

    data: str
    gold: float
    method: str
    labels: int
    splits: int
    right: float
    log_score: float
    claimed: float
    sure: float
    sure_right: float | None

    @property
    def key(self) -> tuple[str, float, str, int, int]:
        return self.data, self.gold, self.method, self.labels, self.splits

    @property
    def gap(self) -> float:
        """How much too much is claimed."""
        return self.claimed - self.right


Cases = dict[tuple[str, float, str, int], Case]
Task = tuple[str, str, float, tuple[str, ...], int, int]  # data, set, gold, methods, labels, splits


def main() -> int:
    parser = options(__doc__, results="without_gold", page="crowd-without-gold.md")
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
        groups += [(0.0, (m,), 1 if m in SLOW else DRAWS) for m in PEERS]
    tasks: dict[Task, set[tuple[str, float, str, int, int]]] = {}
    for gold, methods, splits in groups:
        for name in names:
            for labels in LABELS:
                times = splits if labels or gold else 1
                key = (data, name, gold, methods, labels, times)
                tasks[key] = {(name, gold, m, labels, times) for m in methods}
    complete(
        arguments.out / "cases.csv", Case, tasks, cases_of, jobs=1, order=lambda case: case.key
    )


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
    for number in range(splits):
        known = np.full(truth.size, UNKNOWN)
        if gold:
            rng = stream(0, "little gold", str(number))
            chosen = rng.permutation(truth.size)[: round(gold * truth.size)]
            known[chosen] = truth[chosen]
        seen = drawn(answers, labels, number, known != UNKNOWN)
        for method, chances in zip(methods, voted(methods, seen, known, data, name), strict=True):
            rows[method].append(judged(chances, truth, known == UNKNOWN))
    out = []
    for method, found in rows.items():
        right, score, claimed, sure, sure_right = np.mean(found, axis=0).tolist()
        share = sure_right / sure if sure else None
        out.append(Case(name, gold, method, labels, splits, right, score, claimed, sure, share))
    return out


def voted(
    methods: tuple[str, ...], seen: Answers, known: NDArray[np.int64], data: str, name: str
) -> Iterator[Floats]:
    """Yield the probabilities of every class of every task, by every method."""
    if methods == WITH_GOLD:
        at = np.flatnonzero(known != UNKNOWN)
        gold = Gold({seen.tasks[j]: seen.classes[known[j]] for j in at}, seen.classes)
        skill = estimate_quality(seen, gold, like=seen)
        yield posterior(seen, skill)
        yield blend(seen, gold, skill).chances
    elif methods == ("majority",):
        yield vote_shares(seen)
    elif methods == ("unsupervised",):
        yield unsupervised_posterior(seen)
    elif methods == ("left out",):
        with usual_numbers(left_out(data, name)):
            yield unsupervised_posterior(seen)
    else:
        yield aggregate(methods[0], seen)


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
    """Take other usual numbers for a while: T, rho, b, kappa, eps, as logarithms."""
    before = unsupervised.USUAL
    names = ("temperature", "overlap", "shares", "contrast", "common")
    numbers = dict(zip(names, np.exp(point).tolist(), strict=True))
    unsupervised.USUAL = replace(before, **numbers)  # type: ignore[misc]
    try:
        yield
    finally:
        unsupervised.USUAL = before  # type: ignore[misc]


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
        loss, START, method="Nelder-Mead", options={"maxfev": 60, "initial_simplex": simplex}
    )
    return tuple(np.minimum(found.x, 0.5).tolist())


def left_out(data: str, name: str) -> Floats:
    """The usual numbers of the other sets."""
    of = cast(Callable[[str, str], tuple[float, ...]], _left_out)
    return np.array(of(data, name))


def write_docs(cases: list[Case], docs: Path) -> None:
    """Fill the tables of crowd-without-gold.md."""
    page = docs / "crowd-without-gold.md"
    of = {(c.data, c.gold, c.method, c.labels): c for c in cases}
    text = page.read_text(encoding="utf-8")
    text = fill(text, "losses", losses(of))
    for labels, word in WORDS.items():
        text = fill(text, f"right {word}", right(of, labels))
    text = fill(text, "means", means(of))
    text = fill(text, "claims", claims(of))
    text = fill(text, "gold", gold_table(of))
    text = fill(text, "one percent", one_percent(of))
    page.write_text(text, encoding="utf-8")


def sets(of: Cases) -> list[str]:
    return sorted({data for data, *_ in of})


def peers(of: Cases) -> list[str]:
    """The majority and crowd-kit's methods, as far as they were computed."""
    found = {method for _, gold, method, _ in of if gold == 0.0}
    return ["majority", *sorted(found - {OURS, LEFT_OUT, "majority"})]


def losses(of: Cases) -> str:
    """Write where ours is behind, worst first."""
    found = []
    for data in sets(of):
        for labels, word in WORDS.items():
            ours = of[data, 0.0, OURS, labels].right
            there = [of[data, 0.0, m, labels] for m in peers(of) if (data, 0.0, m, labels) in of]
            best = max(there, key=lambda case: case.right)
            if best.right - ours > LEAST_LOSS:
                found.append((best.right - ours, f"{data}, {word} labels: {best.method}"))
    if not found:
        return f"Ours is behind no other method by more than {plain(LEAST_LOSS)} on any set."
    lines = [f"- {words} has {plain(loss)} more right" for loss, words in sorted(found)[::-1]]
    return "\n".join(lines)


def right(of: Cases, labels: int) -> str:
    methods = [OURS, LEFT_OUT, *peers(of)]
    rows = [[data, *(plain(of[data, 0.0, m, labels].right) for m in methods)] for data in sets(of)]
    mean = [np.mean([of[data, 0.0, m, labels].right for data in sets(of)]) for m in methods]
    return table(["set", *methods], [*rows, ["mean", *(plain(float(x)) for x in mean)]])


def means(of: Cases) -> str:
    """Write right labels, log score and gaps of every method."""
    rows = []
    for labels, word in WORDS.items():
        for method in (OURS, LEFT_OUT, *peers(of)):
            rows.append([word, method, *summary(of, 0.0, method, labels)])
    return table(["labels", "method", *SUMMARY], rows, words=2)


SUMMARY = ("right", "log score", "mean gap", "largest gap")


def summary(of: Cases, gold: float, method: str, labels: int) -> list[str]:
    cases = [of[data, gold, method, labels] for data in sets(of)]
    gaps = [abs(case.gap) for case in cases]
    of_all = (np.mean([case.right for case in cases]), np.mean(gaps), max(gaps))
    reached, gap, largest = map(float, of_all)
    score = float(np.mean([case.log_score for case in cases]))
    return [plain(reached), f"{score:.3f}", plain(gap), plain(largest)]


def claims(of: Cases) -> str:
    """Write what is claimed without gold, the largest gap first."""
    rows = []
    for labels, word in WORDS.items():
        for data in sets(of):
            case, other = (of[data, 0.0, method, labels] for method in (OURS, LEFT_OUT))
            found = "" if case.sure_right is None else plain(case.sure_right)
            cells = [plain(case.claimed), plain(case.right), signed(case.gap), signed(other.gap)]
            rows.append((abs(case.gap), [data, word, *cells, plain(case.sure), found]))
    names = [
        "set",
        "labels",
        "claimed",
        "right",
        "gap",
        "gap, left out",
        "called .9",
        "right of them",
    ]
    ordered: Sequence[list[str]] = [cells for _, cells in sorted(rows, key=lambda row: -row[0])]
    return table(names, ordered, words=2)


def gold_table(of: Cases) -> str:
    shares = sorted({gold for _, gold, *_ in of if gold})
    rows = []
    for labels, word in WORDS.items():
        rows.append([word, "none", OURS, *summary(of, 0.0, OURS, labels)])
        for gold in shares:
            for method in ("gold", "blend"):
                rows.append([word, f"{gold:.0%}", method, *summary(of, gold, method, labels)])
    return table(["labels", "gold", "method", *SUMMARY], rows, words=3)


def one_percent(of: Cases) -> str:
    """Write what 1 % gold adds to none, the largest loss first."""
    rows = []
    for labels, word in WORDS.items():
        for data in sets(of):
            none = of[data, 0.0, OURS, labels]
            alone, both = (of[data, 0.01, method, labels] for method in ("gold", "blend"))
            ahead = both.right - none.right
            cells = [plain(none.right), plain(alone.right), plain(both.right), signed(ahead)]
            rows.append((ahead, [data, word, *cells, signed(none.gap), signed(both.gap)]))
    names = ["set", "labels", "none", "gold", "blend", "blend - none", "gap, none", "gap, blend"]
    return table(names, [cells for _, cells in sorted(rows, key=lambda row: row[0])], words=2)


if __name__ == "__main__":
    sys.exit(main())

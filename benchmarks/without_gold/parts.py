"""What each part of the vote is worth: `python -m benchmarks.without_gold.parts DATA`.

Every part is left out of the vote in turn, on all sets of DATA (`benchmarks.without_gold.study`)
and the same draws of gold and labels: right labels, log score and the gap of mean confidence. Parts
are those of the vote without gold, and of the vote by gold. The numbers of the other parts stay
those chosen for the whole vote, which favours it. Rows go to parts.csv in --out as soon as they are
known. `--write-docs` fills the tables of docs/studies/vote-parts.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import fill, signed, table
from benchmarks.study import complete, load, options, run
from benchmarks.without_gold.study import drawn, judged, recorded
from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold
from crowd_tvcs.skills import dependence_fit, dependence_loss, estimate
from crowd_tvcs.skills.dependence_loss import PRIOR_DEVIATION, PRIOR_MEAN
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.voting import little_gold, unsupervised
from crowd_tvcs.skills.voting.little_gold import vote_with_gold
from crowd_tvcs.skills.voting.unsupervised import USUAL, unsupervised_posterior
from tvcs_core.streams import stream

WHOLE = "nothing"
LABELS = (0, 3)  # per task; 0 for all
GOLD = (0.02, 0.2)
SPLITS = 4
NEVER = -30.0  # logarithm or logit of a parameter that is left out
FIXED = 1e-3  # deviation of a parameter that is not fitted
NAMES = ("temperature", "overlap", "class shares", "matrices", "common error", "contrast")

Patch = tuple[Any, str, Any]
Floats = NDArray[np.float64]


def _usual(**numbers: Any) -> list[Patch]:
    return [(unsupervised, "USUAL", replace(USUAL, **numbers))]


def _without_cavity(*arguments: Any) -> Any:
    skills = _SKILLS(*arguments)
    return skills._replace(own=np.zeros_like(skills.own))


def _even(accuracy: Floats, pooled: Floats, *_: object) -> Floats:
    return even_matrices(accuracy, pooled.shape[-1])


def _fixed(at: int | slice, value: float) -> list[Patch]:
    """Fit with one parameter at this value, on the scales of `Dependence.at`."""
    mean, deviation = PRIOR_MEAN.copy(), PRIOR_DEVIATION.copy()
    mean[at], deviation[at] = value, FIXED
    return [(dependence_loss, "PRIOR_MEAN", mean), (dependence_loss, "PRIOR_DEVIATION", deviation)]


_SKILLS = unsupervised._skills
WITHOUT_GOLD: dict[str, list[Patch]] = {
    WHOLE: [],
    "cavity": [(unsupervised, "_skills", _without_cavity)],
    "matrices": [(unsupervised, "MOST_CLASSES", 0)],
    "habits of the crowd": [(unsupervised, "expected_matrices", _even)],
    "shrinkage of accuracies": [(unsupervised, "ACCURACY_STRENGTH", 0.01)],
    "shrinkage of matrices": [(unsupervised, "ROW_STRENGTH", 0.01)],
    "prevalence": [(unsupervised, "CLASS_STRENGTH", 1e9)],
    "rounds but one": [(unsupervised, "ROUNDS", 1)],
    "overlap": _usual(overlap=0.0),
    "weight of the prevalence": _usual(shares=1.0),
    "contrast": _usual(contrast=0.0),
    "common error": _usual(common=0.0),
}
WITH_GOLD: dict[str, list[Patch]] = {
    WHOLE: [],
    "fit of dependence": [(dependence_fit, "MIN_GOLD_TASKS", 10**9)],
    "temperature": _fixed(0, 0.0),
    "overlap": _fixed(1, NEVER),
    "weight of the prevalence": _fixed(2, 0.0),
    "matrices": _fixed(3, NEVER),
    "common error": _fixed(4, NEVER),
    "contrast": _fixed(5, NEVER),
    "weights by number of answers": _fixed(slice(6, None), 0.0),
    "calibration penalty": [(dependence_loss, "CALIBRATION_WEIGHT", 0.0)],
    "test of the matrices": [(dependence_fit, "MIN_GOLD_FOR_MATRICES", 10**9)],
    "orders like those of the answers": [(dependence_fit, "estimate_choice", lambda *_: 8.0)],
    "fitted prior of accuracies": [(estimate, "PRIORS", ("two-answers",))],
    "agreement": [(little_gold, "agreement_weight", lambda _: 0.0)],
    "likeliest temper": [(little_gold, "_likeliest_temper", lambda *_: 1.0)],
}


@dataclass(frozen=True)
class Part:
    """Votes on one set without one part: means over the draws, see `benchmarks.without_gold.cases`.

    Attributes
    ----------
    data, part, gold, labels, splits
        The set, the part, the share of gold, labels per task (0: all), number of draws.
    right, log_score, claimed
        Share of right labels, mean log probability of the true label, mean confidence.
    """

    data: str
    part: str
    gold: float
    labels: int
    splits: int
    right: float
    log_score: float
    claimed: float

    @property
    def key(self) -> tuple[str, str, float, int]:
        return self.data, self.part, self.gold, self.labels

    @property
    def gap(self) -> float:
        """Distance of mean confidence and share of right labels."""
        return abs(self.claimed - self.right)


Task = tuple[str, str, str, float, int]  # folder, set, part, gold, labels
Parts = dict[tuple[str, str, float, int], Part]  # by set, part, gold and labels


@contextmanager
def left_out(part: str, gold: float) -> Iterator[None]:
    """Leave a part out for a while."""
    with ExitStack() as stack:
        for owner, name, value in (WITH_GOLD if gold else WITHOUT_GOLD)[part]:
            stack.enter_context(mock.patch.object(owner, name, value))
        yield


def part_of(task: Task) -> list[Part]:
    data, name, part, gold, labels = task
    answers, _, truth = recorded(data, name)
    rows = []
    for number in range(SPLITS):
        known = np.full(truth.size, UNKNOWN)
        rng = stream(0, "parts of the vote", str(number))
        chosen = rng.permutation(truth.size)[: round(gold * truth.size)]
        known[chosen] = truth[chosen]
        seen = drawn(answers, labels, number, known != UNKNOWN)
        with left_out(part, gold):
            chances = _vote(seen, known) if gold else unsupervised_posterior(seen)
        rows.append(judged(chances, truth, known == UNKNOWN)[:3])
    return [Part(name, part, gold, labels, SPLITS, *np.mean(rows, axis=0).tolist())]


def _vote(seen: Answers, known: NDArray[np.int64]) -> Floats:
    at = np.flatnonzero(known != UNKNOWN)
    gold = Gold({seen.tasks[j]: seen.classes[known[j]] for j in at}, seen.classes)
    skill = estimate_quality(seen, gold, prior=estimate.PRIORS[0], like=seen)
    return vote_with_gold(seen, gold, skill)[1].chances


def compute(arguments: argparse.Namespace) -> None:
    """Compute what the file in --out does not hold yet."""
    data = str(arguments.data)
    names = sorted(path.parent.name for path in arguments.data.glob("*/truth.csv"))
    keys: list[tuple[float, str]] = [(0.0, part) for part in WITHOUT_GOLD]
    keys += [(gold, part) for part in WITH_GOLD for gold in GOLD]
    tasks = {
        (data, name, part, gold, labels): {(name, part, gold, labels)}
        for gold, part in keys
        for labels in LABELS
        for name in names
    }
    complete(arguments.out / "parts.csv", Part, tasks, part_of, jobs=1, order=lambda case: case.key)


def write_page(out: Path, docs: Path) -> None:
    """Fill the tables of vote-parts.md."""
    of = {case.key: case for case in load(out / "parts.csv", Part)}
    page = docs / "studies" / "vote-parts.md"
    text = fill(page.read_text(encoding="utf-8"), "none", rows_of(of, WITHOUT_GOLD, (0.0,)))
    page.write_text(fill(text, "gold", rows_of(of, WITH_GOLD, GOLD)), encoding="utf-8")


def rows_of(of: Parts, parts: dict[str, list[Patch]], golds: tuple[float, ...]) -> str:
    """Write what is lost without each part, that of the largest mean loss of log score first."""
    cells = [(gold, labels) for gold in golds for labels in LABELS]
    sets = sorted({data for data, *_ in of})

    def change(part: str, read: Callable[[Part], float]) -> Floats:
        """Return the change by leaving the part out, of shape (cells, sets)."""
        return np.array(
            [
                [read(of[name, part, *cell]) - read(of[name, WHOLE, *cell]) for name in sets]
                for cell in cells
            ]
        )

    lines = []
    for part in parts:
        is_known = all((name, part, *cell) in of for cell in cells for name in sets)
        if part == WHOLE or not is_known:
            continue
        right, score, gap = (
            change(part, read)
            for read in (lambda c: c.right, lambda c: c.log_score, lambda c: c.gap)
        )
        worst = right.min(axis=1), right.max(axis=1)
        row = [part]
        for k in range(len(cells)):
            extremes = f"{signed(worst[0][k])} to {signed(worst[1][k])}"
            row += [f"{signed(right[k].mean())} ({extremes})", signed(score[k].mean())]
            row += [signed(gap[k].mean())]
        lines.append((float(score.mean()), row))
    names = ["left out"]
    for gold, labels in cells:
        which = f"{labels or 'all'} labels" + (f", {gold:.0%} gold" if gold else "")
        names += [f"{which}: right", "log score", "gap"]
    return table(names, [row for _, row in sorted(lines, key=lambda line: line[0])])


def main() -> int:
    parser = options(__doc__, results="without_gold", page="studies/vote-parts.md")
    parser.add_argument("data", type=Path, nargs="?", help="folder of recorded answers")
    arguments = parser.parse_args()
    if arguments.data is None and not arguments.only_docs:
        parser.error("name the folder of recorded answers")
    return run(arguments, compute, write_page)


if __name__ == "__main__":
    sys.exit(main())

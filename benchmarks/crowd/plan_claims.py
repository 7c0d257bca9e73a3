"""What plans expect before any answer, what gold foresees of them, and what is reached.

`python -m benchmarks.crowd.plan_claims DATA [--splits 20] [--how any]`. DATA is a folder of
recorded crowds, as of `benchmarks.crowd.class_shares`; crowds of our own, of workers who err
independently and who do not, join them. A share of the tasks is gold. The plan gives every scored
task its 1, 2, 3 or 5 best workers, or any; it expects by the qualities and the common error that
gold tells, as `assign --dependence` does, and its recorded answers are voted on by the model
of dependence that is fitted to gold answers of workers chosen as theirs, as in a campaign that has
these labels. Kept are what is expected less what is reached, what is forecast less that
(`crowd_tvcs.skills.accuracy_forecast`), how often the interval that is forecast holds what is
reached, and how wide it is; and the same of what the votes claim once the answers are there, as
`campaign status` says it. Rows go to claims.csv in --out as soon as they are known; a run that was
killed goes on where it stopped. `--write-docs` fills the tables of
docs/studies/crowd-confidence.md, `--only-docs` does so without computing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.crowd.class_shares import bought
from benchmarks.crowd.usual import usual_numbers, without
from benchmarks.pages import fill_file, standard_error, table
from benchmarks.study import complete, first_answers, load, options, run
from crowd_tvcs import Plan
from crowd_tvcs.answers.answers import Answers, Gold, read_gold, with_shared_classes
from crowd_tvcs.routing.replay import Split, draw_split
from crowd_tvcs.skills.accuracy_forecast import AccuracyForecast
from crowd_tvcs.skills.dependence_fit import fit_dependence
from crowd_tvcs.skills.held_out import BEST_FIRST, estimate_choice, ranks
from crowd_tvcs.skills.skill import Skill
from tvcs_core.streams import stream

LABELS = (1, 2, 3, 5)
SPLITS = 20
FIRST = 200  # number of the first split; nothing was chosen on these
BEST, LEFT_OUT, ANYBODY, THIN, SIMULATED = "best", "left out", "any", "5 % gold", "simulated"
ANY_SIMULATED = "simulated, any"
GOLD = {BEST: 0.2, LEFT_OUT: 0.2, ANYBODY: 0.2, THIN: 0.05, SIMULATED: 0.2, ANY_SIMULATED: 0.2}
ALIKE = (0.0, 0.15, 0.3)  # simulated: how often a task misleads all workers alike
CLASSES = (2, 4)
WORKERS, TASKS, ANSWERS = 40, 600, 8

Floats = NDArray[np.float64]
Task = tuple[str, str, str, int]  # folder of the sets, name of a set, how, and splits


class PlanOutcome(NamedTuple):
    """One plan: what it expects, what gold foresees of it, what the votes claim, what is reached.

    `claimed` has an interval as the forecast has one, by as many gold tasks.
    """

    expected: float
    forecast: AccuracyForecast
    claimed: AccuracyForecast
    reached: float


@dataclass(frozen=True)
class Case:
    """Plans of one set with so many labels per task, over the splits.

    Attributes
    ----------
    data, how, labels, splits
        The set; best or any workers, with how much gold; labels per task; how many splits.
    common_error
        Mean of those that gold tells of plans.
    expected, forecast, claimed
        Mean of what is expected, forecast and claimed, less what is reached.
    expected_error, forecast_error, claimed_error
        Their standard errors.
    held, wide
        How often the interval that is forecast holds what is reached, and its mean width.
    claimed_held, claimed_wide
        The same of the interval around what is claimed.
    """

    data: str
    how: str
    labels: int
    splits: int
    common_error: float
    expected: float
    expected_error: float
    forecast: float
    forecast_error: float
    held: float
    wide: float
    claimed: float
    claimed_error: float
    claimed_held: float
    claimed_wide: float

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.data, self.how, self.labels, self.splits


def main() -> int:
    parser = options(__doc__, results="plans", page="studies/crowd-confidence.md")
    parser.add_argument("data", type=Path, nargs="?", help="folder of recorded answers")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--how", choices=list(GOLD), help="only cases of this way")
    arguments = parser.parse_args()
    if arguments.data is None and not arguments.only_docs:
        parser.error("name the folder of recorded answers")
    return run(arguments, compute, write_page)


def compute(arguments: argparse.Namespace) -> None:
    """Compute what the file in --out does not hold yet."""
    data, splits = str(arguments.data), arguments.splits
    names = sorted(path.parent.name for path in arguments.data.glob("*/truth.csv"))
    wanted = [(name, how) for how in (BEST, LEFT_OUT, ANYBODY, THIN) for name in names]
    wanted += [(name, how) for how in (SIMULATED, ANY_SIMULATED) for name in simulated()]
    tasks = {
        (data, name, how, splits): {(name, how, k, splits) for k in LABELS}
        for name, how in wanted
        if arguments.how in (None, how)
    }
    path = arguments.out / "claims.csv"
    complete(
        path,
        Case,
        tasks,
        cases_of,
        jobs=1,
        order=lambda case: (list(GOLD).index(case.how), case.key),
    )


def cases_of(task: Task) -> list[Case]:
    """Plan all splits of one set in one way."""
    data, name, how, splits = task
    with usual_numbers(*without(data, name)) if how == LEFT_OUT else nullcontext():
        is_drawn, anybody = how in (SIMULATED, ANY_SIMULATED), how in (ANYBODY, ANY_SIMULATED)
        crowds = drawn_crowds(name, splits) if is_drawn else recorded(data, name, splits)
        found = [judged(*crowd, GOLD[how], anybody=anybody) for crowd in crowds]
    errors, plans = zip(*found, strict=True)
    error = float(np.mean(errors))
    return [
        Case(name, how, k, splits, error, *summary(of_k))
        for k, of_k in zip(LABELS, zip(*plans, strict=True), strict=True)
    ]


def summary(plans: Sequence[PlanOutcome]) -> Iterator[float]:
    """Yield the numbers of a `Case`, of one plan per split."""
    reached = np.array([one.reached for one in plans])
    yield from off(np.array([one.expected for one in plans]) - reached)
    for estimates in ([one.forecast for one in plans], [one.claimed for one in plans]):
        accuracy, low, high = np.array([one[:3] for one in estimates]).T
        yield from off(accuracy - reached)
        yield float(np.mean((low <= reached) & (reached <= high)))
        yield float(np.mean(high - low))


def off(values: Floats) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(values.mean()), standard_error(values)


def recorded(data: str, name: str, splits: int) -> Iterator[tuple[Answers, Gold, int]]:
    """Read one set; it is the same on all splits."""
    truth = read_gold(Path(data) / name / "truth.csv")
    answers = first_answers(Path(data) / name / "label.csv", truth)
    for number in range(FIRST, FIRST + splits):
        yield answers, truth, number


def simulated() -> dict[str, tuple[int, float]]:
    """Return the classes of every simulated crowd, and how often a task misleads all alike."""
    return {f"{k} classes, {alike:g} alike": (k, alike) for k in CLASSES for alike in ALIKE}


def drawn_crowds(name: str, splits: int) -> Iterator[tuple[Answers, Gold, int]]:
    """Draw one crowd for every split."""
    for number in range(FIRST, FIRST + splits):
        yield (*drawn(*simulated()[name], number), number)


def drawn(k: int, alike: float, number: int) -> tuple[Answers, Gold]:
    """Draw one crowd."""
    rng = stream(0, "plan claims", f"{k} {alike} {number}")
    truth = rng.integers(0, k, TASKS)
    seen = np.where(rng.random(TASKS) < alike, rng.integers(0, k, TASKS), truth)
    accuracy = rng.uniform(1.0 / k, 0.95, WORKERS)
    worker_of = rng.random((TASKS, WORKERS)).argsort(axis=1)[:, :ANSWERS].ravel()
    task_of = np.repeat(np.arange(TASKS), ANSWERS)
    wrong = (seen[task_of] + rng.integers(1, k, task_of.size)) % k
    is_right = rng.random(task_of.size) < accuracy[worker_of]
    names, workers = [f"t{j:03}" for j in range(TASKS)], [f"w{i:02}" for i in range(WORKERS)]
    classes = list(map(str, range(k)))
    label_of = np.where(is_right, seen[task_of], wrong)
    known = {name: classes[y] for name, y in zip(names, truth.tolist(), strict=True)}
    return Answers(names, workers, classes, task_of, worker_of, label_of), Gold(known, classes)


def judged(
    answers: Answers, truth: Gold, number: int, share: float, *, anybody: bool
) -> tuple[float, list[PlanOutcome]]:
    """Plan one split by every number of labels; the common error, and its claims."""
    rng = stream(0, "confidence", str(number))
    split = draw_split(answers, truth, share, per_class=False, rng=rng, model="independent")
    skill = fit_dependence(answers, split.gold, split.skill)
    out, of_choice = [], {BEST_FIRST: skill}
    for k in LABELS:
        seen = bought(split, k)
        if anybody:
            order = stream(0, "random labels", str(number)).random(split.recorded.size)
            seen = split.recorded.select(ranks(split.recorded.task_of, order) < k)
        choice = estimate_choice(
            seen, with_shared_classes(answers, split.gold), split.gold, split.skill
        )
        if choice not in of_choice:
            of_choice[choice] = fit_dependence(answers, split.gold, split.skill, like=seen)
        out.append(plan_outcome(split, seen, skill, of_choice[choice]))
    return skill.dependence.plan_error, out


def plan_outcome(split: Split, seen: Answers, skill: Skill, of_these: Skill) -> PlanOutcome:
    """Tell what the plan of these answers expects, and what their votes claim and reach.

    Plans go by `skill`, votes by what was fitted to `of_these`.
    """
    chosen = seen.given
    quality = split.skill.to_quality(split.recorded.tasks)
    plan = Plan(
        quality,
        max_workers_per_task=int(chosen.sum(axis=0).max()),
        n_classes=len(split.skill.classes),
        common_error=skill.dependence.plan_error,
    )
    accuracy = plan.accuracy(chosen)
    forecast_model = skill.dependence.forecast_model
    forecast = forecast_model.forecast_plan(quality.values, chosen, accuracy)
    reached, claimed, _, _ = split.evaluate(split.posterior(seen, of_these))
    around = forecast_model.with_interval(claimed, len(split.recorded.tasks))
    return PlanOutcome(float(accuracy.mean()), forecast, around, reached)


def write_page(out: Path, docs: Path) -> None:
    """Fill the tables of crowd-confidence.md."""
    cases = load(out / "claims.csv", Case)
    page = docs / "studies" / "crowd-confidence.md"
    fill_file(
        page,
        {
            "plans": plans_table(cases),
            "intervals": intervals_table(cases),
            "votes": votes_table(cases),
            "simulated plans": simulated_table(cases),
        },
    )


def plans_table(cases: list[Case]) -> str:
    """Return what is expected and forecast of the best workers, less what is reached."""
    heads = (
        "set",
        "common error",
        *(f"expected: {k}" for k in LABELS),
        *(f"forecast: {k}" for k in LABELS[2:]),
    )
    rows = []
    for name, of in by_set(cases, BEST).items():
        expected = [f"{of[k].expected:+.3f} ± {of[k].expected_error:.3f}" for k in LABELS]
        forecast = [f"{of[k].forecast:+.3f} ± {of[k].forecast_error:.3f}" for k in LABELS[2:]]
        rows.append([name, f"{of[1].common_error:.2f}", *expected, *forecast])
    return table(heads, rows)


def intervals_table(cases: list[Case]) -> str:
    """Return how often intervals hold what is reached and how wide they are, over 1 to 5 labels."""
    ways = (BEST, LEFT_OUT, ANYBODY, THIN)
    heads = ("set", *(f"plan, {how}" for how in ways), *(f"votes, {how}" for how in ways))
    rows = []
    for name in by_set(cases, BEST):
        of = {how: list(by_set(cases, how)[name].values()) for how in ways}
        held = [mean_cell(of[how], "held", "wide") for how in ways]
        claimed = [mean_cell(of[how], "claimed_held", "claimed_wide") for how in ways]
        rows.append([name, *held, *claimed])
    return table(heads, rows)


def votes_table(cases: list[Case]) -> str:
    """Return what votes claim less what they reach, on labels of the best workers and of any."""
    heads = ("set", *(f"{how}: {k}" for how in (BEST, ANYBODY) for k in LABELS))
    rows = []
    for name in by_set(cases, BEST):
        of = [by_set(cases, how)[name] for how in (BEST, ANYBODY)]
        rows.append([name, *(f"{cells[k].claimed:+.3f}" for cells in of for k in LABELS)])
    return table(heads, rows)


def simulated_table(cases: list[Case]) -> str:
    """Return the same of simulated crowds, with the largest distance of what is forecast."""
    heads = ("crowd", "expected, worst", "forecast, worst", "plan: held, wide", "votes: held, wide")
    heads = (*heads, "votes, any: held, wide")
    rows = []
    for name, of in by_set(cases, SIMULATED).items():
        found, of_any = list(of.values()), list(by_set(cases, ANY_SIMULATED)[name].values())
        worst = [
            max((getattr(c, what) for c in found), key=abs) for what in ("expected", "forecast")
        ]
        cells = mean_cell(found, "held", "wide"), mean_cell(found, "claimed_held", "claimed_wide")
        cells = (*cells, mean_cell(of_any, "claimed_held", "claimed_wide"))
        rows.append([name, *(f"{value:+.3f}" for value in worst), *cells])
    return table(heads, rows)


def by_set(cases: list[Case], how: str) -> dict[str, dict[int, Case]]:
    """Return the cases of one way by set and by labels per task."""
    out: dict[str, dict[int, Case]] = {}
    for case in cases:
        if case.how == how:
            out.setdefault(case.data, {})[case.labels] = case
    return out


def mean_cell(cases: list[Case], held: str, wide: str) -> str:
    """Write how often an interval holds and how wide it is, means over the labels per task."""
    means = (np.mean([getattr(case, what) for case in cases]) for what in (held, wide))
    return ", ".join(f"{mean:.2f}" for mean in means)


if __name__ == "__main__":
    sys.exit(main())

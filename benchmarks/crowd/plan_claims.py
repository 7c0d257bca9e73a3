"""What plans expect before any answer, what gold foresees of them, and what is reached.

`python -m benchmarks.crowd.plan_claims DATA [--splits 20] [--first 100] [--gold .2]`. DATA is a
folder of recorded crowds, as of `benchmarks.crowd.class_shares`; a share of the tasks is gold. The
plan gives every scored task its 1, 2, 3 or 5 best workers, or any with `--any`; it expects by the
qualities and the common error that gold tells, as `crowd-tvcs assign --skills` does, and its
recorded answers are voted on by the model of dependence. With `--left-out` the usual numbers of the
model are those of the other sets. Printed are what is expected less what is reached, and what is
foreseen less that (`crowd_tvcs.skills.foresight`), means over the splits; then how often the
interval that is foreseen holds what is reached, and how wide it is. `--simulated` takes crowds of
our own in place of DATA, of workers who err independently and who do not.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.crowd.class_shares import bought, first_answers
from benchmarks.crowd.usual import usual_numbers, without
from benchmarks.pages import standard_error
from crowd_tvcs import Plan
from crowd_tvcs.answers.answers import Answers, Gold, read_gold
from crowd_tvcs.routing.replay import Split, draw_split
from crowd_tvcs.skills.dependence_fit import fit_dependence
from crowd_tvcs.skills.foresight import Foreseen
from crowd_tvcs.skills.held_out import ranks
from crowd_tvcs.skills.skill import Skill
from tvcs_core.streams import stream

LABELS = (1, 2, 3, 5)
ALIKE = (0.0, 0.15, 0.3)  # simulated: how often a task misleads all workers alike
CLASSES = (2, 4)
WORKERS, TASKS, ANSWERS = 40, 600, 8

Floats = NDArray[np.float64]


class Told(NamedTuple):
    """One plan: what it expects, what gold foresees of it, and what it reaches."""

    expected: float
    foreseen: Foreseen
    reached: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--first", type=int, default=100, help="number of the first split")
    parser.add_argument("--gold", type=float, default=0.2, help="share of the tasks")
    parser.add_argument("--any", action="store_true", help="labels of any workers, drawn")
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--simulated", action="store_true")
    given = parser.parse_args()
    if (given.data is None) != given.simulated:
        parser.error("name the folder of recorded answers, or give --simulated")
    heads = " | ".join(map(str, LABELS))
    print(f"| set | common error | expected: {heads} | foreseen: {heads} | held | wide |")
    numbers = range(given.first, given.first + given.splits)
    for name, crowds in simulated(numbers) if given.simulated else recorded(given.data, numbers):
        left_out = usual_numbers(*without(str(given.data), name)) if given.left_out else None
        with left_out or nullcontext():
            found = [judged(*crowd, given.gold, anybody=given.any) for crowd in crowds]
        errors, plans = zip(*found, strict=True)
        print(
            f"| {name} | {np.mean(errors):.2f} | {shown(np.array(plans, dtype=object))} |",
            flush=True,
        )
    return 0


def shown(plans: NDArray[np.object_]) -> str:
    """Write the cells of one set; `plans` has shape (splits, labels, fields of `Told`)."""
    reached = plans[..., 2].astype(float)
    out = []
    for told in (plans[..., 0], np.vectorize(lambda one: one.accuracy)(plans[..., 1])):
        off = told.astype(float) - reached
        out += [f"{column.mean():+.3f} ± {standard_error(column):.3f}" for column in off.T]
    low, high = (np.vectorize(lambda one, k=k: one[k])(plans[..., 1]) for k in (1, 2))
    held = (low <= reached) & (reached <= high)
    return " | ".join([*out, f"{held.mean():.2f}", f"{(high - low).mean():.3f}"])


def recorded(data: Path, numbers: range) -> Iterator[tuple[str, list[tuple[Answers, Gold, int]]]]:
    """Read every set."""
    for folder in sorted(path.parent for path in data.glob("*/truth.csv")):
        truth = read_gold(folder / "truth.csv")
        answers = first_answers(folder / "label.csv", truth)
        yield folder.name, [(answers, truth, number) for number in numbers]


def simulated(numbers: range) -> Iterator[tuple[str, list[tuple[Answers, Gold, int]]]]:
    """Draw crowds, one for every split, whose workers all see another task's label at times."""
    for k in CLASSES:
        for alike in ALIKE:
            yield f"{k} classes, {alike:g} alike", [(*drawn(k, alike, n), n) for n in numbers]


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
) -> tuple[float, list[Told]]:
    """Plan one split by every number of labels; the common error, and what is told."""
    rng = stream(0, "confidence", str(number))
    split = draw_split(answers, truth, share, per_class=False, rng=rng, model="independent")
    skill = fit_dependence(answers, split.gold, split.skill)
    out = []
    for k in LABELS:
        seen = bought(split, k)
        if anybody:
            order = stream(0, "random labels", str(number)).random(split.recorded.size)
            seen = split.recorded.select(ranks(split.recorded.task_of, order) < k)
        out.append(told(split, seen, skill))
    return skill.dependence.plan_error, out


def told(split: Split, seen: Answers, skill: Skill) -> Told:
    """What the plan of these answers expects, what gold foresees, and what their vote reaches."""
    chosen = seen.given
    quality = split.skill.to_quality(split.recorded.tasks)
    plan = Plan(
        quality,
        max_workers_per_task=int(chosen.sum(axis=0).max()),
        n_classes=len(split.skill.classes),
        common_error=skill.dependence.plan_error,
    )
    accuracy = plan.accuracy(chosen)
    foreseen = skill.dependence.foresight.of_plan(quality.values, chosen, accuracy)
    return Told(float(accuracy.mean()), foreseen, split.score(split.posterior(seen, skill)))


if __name__ == "__main__":
    raise SystemExit(main())

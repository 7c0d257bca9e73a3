"""Does a common error change plans for the better? On recorded crowds, and in simulation.

`python -m benchmarks.crowd.common_error [DATA] [--splits N]`. DATA is a folder of recorded crowds,
as of `benchmarks.crowd.class_shares`; a fifth of the tasks is gold. Plans may use the recorded
pairs alone. Every plan is made with each of `ERRORS`, and its recorded answers are voted in the
same way, so that only the choice of the pairs differs. Printed are the share of right labels
without a common error, what each error adds to it and the standard error over the splits, and then
what the plans claim less what was reached; all as means over `CAPS` and `METHODS`.

Without DATA crowds are simulated that err together as often as the model says, and every plan's
accuracy is that of the true model, computed and not drawn.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.study import first_answers
from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.answers.answers import read_gold
from crowd_tvcs.routing.replay import Split, draw_split

ERRORS = (0.0, 0.05, 0.1, 0.2, 0.4)
GOLD = 0.2
METHODS = ("fast", "greedy")
# Answers per task on average and at most; share of their tasks that a worker may have.
CAPS = {"3 of 5": (3, 5, 1.0), "3 of 5, half": (3, 5, 0.5), "2 of 5, half": (2, 5, 0.5)}
TRUE_ERRORS = (0.1, 0.3)
SIMULATED = (0.0, 0.1, 0.3)
WORKERS, TASKS = 30, 100
Floats = NDArray[np.float64]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="folder of recorded crowds")
    parser.add_argument("--splits", type=int, default=5, help="splits, or simulated crowds")
    parser.add_argument("--sets", nargs="*", help="names of folders; all by default")
    arguments = parser.parse_args()
    if arguments.data is None:
        _print_simulated(arguments.splits)
    else:
        _print_recorded(arguments.data, arguments.splits, arguments.sets)
    return 0


def _print_recorded(data: Path, splits: int, sets: list[str] | None) -> None:
    rows = list(recorded(data, splits, sets))
    print(_line("set", "skills", "e = 0", *(f"e = {e:g}" for e in ERRORS[1:])))
    for name, skills, reached, _ in rows:
        print(_line(name, skills, *_cells(reached.mean(axis=(0, 1)))))
    means = np.array([reached.mean(axis=(0, 1, 2)) for _, _, reached, _ in rows])
    print(_line("mean", "", *_cells(means)))
    print(_line("set", "skills", *(f"claimed - reached, e = {e:g}" for e in ERRORS)))
    for name, skills, reached, claimed in rows:
        off = (claimed - reached).mean(axis=(0, 1, 2))
        print(_line(name, skills, *(f"{x:+.3f}" for x in off)))


def _cells(found: Floats) -> Iterator[str]:
    """Mean of the first column, and mean and standard error of what the others add to it."""
    yield f"{found[:, 0].mean():.4f}"
    more = found[:, 1:] - found[:, :1]
    error = more.std(axis=0, ddof=1) / np.sqrt(len(more)) if len(more) > 1 else 0.0 * more[0]
    for mean, off in zip(more.mean(axis=0), error, strict=True):
        yield f"{mean:+.4f} ({off:.4f})"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def recorded(
    data: Path, splits: int, sets: list[str] | None = None
) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Right labels reached and claimed, for every set and kind of skills.

    Both are of shape (caps, methods, splits, errors).
    """
    for folder in sorted(path.parent for path in data.glob("*/truth.csv")):
        if sets and folder.name not in sets:
            continue
        truth = read_gold(folder / "truth.csv")
        answers = first_answers(folder / "label.csv", truth)
        for per_class in (False, True):
            parts = [
                draw_split(
                    answers, truth, GOLD, per_class=per_class, rng=np.random.default_rng([0, s])
                )
                for s in range(splits)
            ]
            found = np.array(
                [
                    [[[_tried(p, c, m, e) for e in ERRORS] for p in parts] for m in METHODS]
                    for c in CAPS
                ]
            )
            kind = "per class" if per_class else "one"
            print(f"{folder.name} {kind}", file=sys.stderr, flush=True)
            yield folder.name, kind, found[..., 0], found[..., 1]


def plan_of(split: Split, caps: str, error: float) -> Plan:
    """Plan of the recorded pairs of a split, classes taken as equally likely."""
    skill, recorded = split.skill, split.recorded
    k, each = len(skill.classes), CAPS[caps]
    allowed = recorded.given
    values = np.repeat(skill.mean[:, None], len(recorded.tasks), axis=1)
    quality = Quality(values, recorded.workers, recorded.tasks, allowed)
    return Plan(
        quality,
        max_workers_per_task=each[1],
        max_tasks_per_worker=np.ceil(each[2] * allowed.sum(axis=1)).astype(np.int64),
        budget=each[0] * len(recorded.tasks),
        n_classes=k,
        confusion=skill.matrices if skill.per_class else None,
        common_error=error,
    )


def _tried(split: Split, caps: str, method: str, error: float) -> tuple[float, float]:
    """Share of right labels of a plan's answers, and what the plan expects."""
    found = assign(plan_of(split, caps, error), method, rng=0)
    recorded = split.recorded
    chosen = found.support[recorded.worker_of, recorded.task_of]
    reached = split.score(split.posterior(recorded.select(chosen)))
    return reached, found.expected_accuracy


def _print_simulated(crowds: int) -> None:
    errors = [f"for e = {e:g}" for e in SIMULATED[1:]]
    print(_line("true e", "qualities", "method", "planned for e = 0", *errors))
    for true in TRUE_ERRORS:
        for family in ("worker", "iid"):
            for method in ("fast", "best"):
                rows = [_simulated(true, family, method, seed) for seed in range(crowds)]
                cells = _cells(np.array(rows))
                print(_line(f"{true:g}", family, method, *cells), flush=True)


def _simulated(true: float, family: str, method: str, seed: int) -> list[float]:
    """Accuracy under the true error of plans that are made for each of `SIMULATED`."""
    rng = np.random.default_rng([22, seed])
    shape = (WORKERS, TASKS if family == "iid" else 1)
    values = np.broadcast_to(rng.uniform(0.5, 0.9, shape).round(4), (WORKERS, TASKS))
    names = [f"w{i}" for i in range(WORKERS)], [f"t{j}" for j in range(TASKS)]

    def plan(error: float) -> Plan:
        return Plan(
            Quality(values, *names),
            max_workers_per_task=7,
            max_tasks_per_worker=3 * TASKS // WORKERS + 5,
            budget=3 * TASKS,
            common_error=error,
        )

    judge = plan(true)
    return [
        float(judge.accuracy(assign(plan(e), method, rng=0, time_limit=10.0).support).mean())
        for e in SIMULATED
    ]


if __name__ == "__main__":
    raise SystemExit(main())

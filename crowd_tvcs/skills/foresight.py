"""What a plan will reach, told before any answer: what it expects, held to what gold reached.

A plan knows its workers one by one and how often they err together (`common_error`). Two things it
does not know. The best workers of a task may err on other tasks than each other, or on the same,
beyond that: gold shows it, where the share of right votes on their first 1, 2, 3 and 5 answers lies
outside its interval around what a plan expects of these (`gaps`). And all of it rests on the gold
tasks that happened to be drawn, so the share of right labels is told with an interval.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.intervals import interval, wilson

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_APART = 0.01  # accuracy of the best above that of usual workers, to tell them apart
MOST = 2**63 - 1


class Foreseen(NamedTuple):
    """What a plan will reach, as far as gold shows.

    Attributes
    ----------
    accuracy
        Share of right labels.
    low, high
        Where it lies with chance .95, by the draw of the gold tasks and of the plan's (Wilson).
    gold_tasks
        How many gold tasks that rests on.
    """

    accuracy: float
    low: float
    high: float
    gold_tasks: int

    def __str__(self) -> str:
        return (
            f"by {self.gold_tasks} gold tasks {self.accuracy:.3f} of the labels will be right, "
            f"with chance .95 from {self.low:.3f} to {self.high:.3f}"
        )


@dataclass(frozen=True)
class Foresight:
    """What votes on gold tasks reach beyond what plans expect of the same answers.

    Attributes
    ----------
    gold_tasks
        How many gold tasks.
    labels
        Numbers of answers of the best workers that were looked at.
    best
        Mean accuracy of these workers, by the number of answers; each by other folds of gold.
    usual
        Mean accuracy of whoever answered gold tasks.
    gaps
        What was reached less what is expected, by the number of answers, shrunk: 0 where that may
        be chance.
    """

    gold_tasks: int
    labels: tuple[int, ...]
    best: tuple[float, ...]
    usual: float
    gaps: tuple[float, ...]

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Foresight:
        """Read what `dataclasses.asdict` makes of one.

        Raises
        ------
        ValueError
            If it is none.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(given, dict) or set(given) != names:
            raise ValueError(f"foresight must have {', '.join(sorted(names))}")
        lists = {name: given[name] for name in ("labels", "best", "gaps")}
        for name, values in lists.items():
            if not isinstance(values, list | tuple) or len(values) != len(lists["labels"]):
                raise ValueError(f"foresight.{name} must be a list, as long as labels")
        labels = lists["labels"]
        if not labels or not all(map(is_count, labels)) or list(labels) != sorted(set(labels)):
            raise ValueError("foresight.labels must be integers >= 1 that ascend")
        if not is_count(given["gold_tasks"]):
            raise ValueError("foresight.gold_tasks must be an integer >= 1")
        if not all(lies_from(x, 0.0) for x in (given["usual"], *lists["best"])):
            raise ValueError("foresight.best and foresight.usual must lie in [0, 1]")
        if not all(lies_from(x, -1.0) for x in lists["gaps"]):
            raise ValueError("foresight.gaps must lie in [-1, 1]")
        return cls(**{**given, **{name: tuple(values) for name, values in lists.items()}})

    def of_plan(self, quality: Floats, support: NDArray[np.bool_], accuracy: Floats) -> Foreseen:
        """Say what a plan will reach, by qualities and pairs of shape (workers, tasks).

        `accuracy` is what it expects of every task.
        """
        answers = support.sum(axis=0)
        total = np.where(support, quality, 0.0).sum(axis=0)
        return self.foresee(accuracy, answers, total / np.maximum(answers, 1))

    def foresee(self, accuracy: Floats, answers: Integers, quality: Floats) -> Foreseen:
        """Say what a plan will reach.

        Gaps were measured of the best workers. They count in full for tasks whose workers are as
        good as those, not at all for tasks of usual workers, and in parts between; in full for all
        where the best are not better than usual by `LEAST_APART`.

        Parameters
        ----------
        accuracy, answers
            Expected accuracy and number of workers of every task of the plan.
        quality
            Mean accuracy of the workers of every task; any number where there are none.
        """
        moved = float(accuracy.mean())
        at = np.log(self.labels)
        for n in np.unique(answers[answers > 0]).tolist():
            of = answers == n
            best = float(np.interp(np.log(n), at, self.best))
            part = 1.0
            if best - self.usual >= LEAST_APART:
                part = (float(quality[of].mean()) - self.usual) / (best - self.usual)
            gap = float(np.interp(np.log(n), at, self.gaps))
            moved += float(np.clip(part, 0.0, 1.0)) * gap * float(of.mean())
        return self.around(moved, accuracy.size)

    def around(self, share: float, tasks: int) -> Foreseen:
        """Put an interval around a share of right labels of so many tasks."""
        inside = min(max(share, 0.0), 1.0)
        return Foreseen(inside, *interval(inside, self.gold_tasks, tasks), self.gold_tasks)


def is_count(value: object) -> bool:
    """Whether this is a count of something that is there."""
    return type(value) is int and 1 <= value <= MOST


def lies_from(value: object, least: float) -> bool:
    """Whether this is a number from `least` to 1; NaN is none."""
    return type(value) in (int, float) and least <= value <= 1.0  # type: ignore[operator]


def standing_out(reached: float, expected: float, gold_tasks: int) -> float:
    """What is reached beyond what is expected, shrunk: 0 where that lies inside the interval."""
    low, high = wilson(reached, gold_tasks)
    gap, half = reached - expected, (high - low) / 2.0
    return gap * max(0.0, 1.0 - (half / gap) ** 2) if gap else 0.0

"""Forecast the accuracy of a plan before any answer: its expectation, corrected by gold.

A plan knows the accuracy of each worker and how often workers err together (`common_error`). It
does not know two things. The best workers of a task may err together more, or less, than that.
Gold shows it if the share of right votes on their first 1, 2, 3 and 5 answers lies outside its
interval around the plan's expectation (`gaps`). And gold tasks are a random sample, so the share
of right labels is forecast with an interval.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.belief.intervals import prediction_interval, wilson
from crowd_tvcs.belief.parameters import COUNT, SHARE, numbers
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.plan.assignment import Assignment


MIN_SKILL_GAP = 0.01  # accuracy: with less, the best and the usual workers are not told apart


class AccuracyForecast(NamedTuple):
    """Forecast of the share of right labels of a plan.

    Attributes
    ----------
    accuracy
        Share of right labels.
    low, high
        95 % interval, from the sampling of the gold tasks and of the plan's tasks (Wilson).
    gold_tasks
        Number of gold tasks that it rests on.
    """

    accuracy: float
    low: float
    high: float
    gold_tasks: int

    def __str__(self) -> str:
        return (
            f"predicted accuracy {self.accuracy:.3f} (95 % interval {self.low:.3f} to "
            f"{self.high:.3f}, from {plural(self.gold_tasks, 'gold task')})"
        )


@dataclass(frozen=True)
class ForecastModel:
    """Differences between observed and expected accuracy of votes on gold tasks.

    Attributes
    ----------
    gold_tasks
        Number of gold tasks.
    labels
        Numbers of answers of the best workers for which votes were compared.
    best
        Mean accuracy of these workers, by the number of answers; each by other folds of gold.
    usual
        Mean accuracy of all workers who answered gold tasks.
    gaps
        Observed less expected accuracy, by the number of answers, shrunk to 0 where it may be
        chance.
    """

    gold_tasks: int
    labels: tuple[int, ...]
    best: tuple[float, ...]
    usual: float
    gaps: tuple[float, ...]

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> ForecastModel:
        """Read the dictionary that `dataclasses.asdict` makes.

        Raises
        ------
        ValueError
            If it is something else.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(given, dict) or set(given) != names:
            raise ValueError(f"forecast_model must have {', '.join(sorted(names))}")
        lists = {name: given[name] for name in ("labels", "best", "gaps")}
        labels = lists["labels"]
        for name, values in lists.items():
            if not isinstance(values, list | tuple) or len(values) != len(labels):
                raise ValueError(f"forecast_model.{name} must be a list, as long as labels")
        for name, allowed in _RANGES.items():
            for value in lists.get(name, [given[name]]):
                allowed.check(f"forecast_model.{name}", value)
        if not labels or list(labels) != sorted(set(labels)):
            raise ValueError("forecast_model.labels must be integers >= 1 that ascend")
        return cls(**{**given, **{name: tuple(values) for name, values in lists.items()}})

    def forecast_plan(self, quality: Floats, support: Bools, accuracy: Floats) -> AccuracyForecast:
        """Forecast the accuracy of a plan from qualities and pairs of shape (workers, tasks).

        `accuracy` is the expected accuracy of every task.
        """
        answers = support.sum(axis=0)
        total = np.where(support, quality, 0.0).sum(axis=0)
        return self.forecast_accuracy(accuracy, answers, total / np.maximum(answers, 1))

    def forecast_accuracy(
        self, accuracy: Floats, answers: Integers, quality: Floats
    ) -> AccuracyForecast:
        """Forecast the accuracy of a plan.

        Gaps were measured on the best workers. They apply in full to tasks whose workers are as
        good as those, not at all to tasks of usual workers, and in proportion between; in full to
        all if the best exceed the usual workers by less than `MIN_SKILL_GAP`.

        Parameters
        ----------
        accuracy, answers
            Expected accuracy and number of workers of every task of the plan.
        quality
            Mean accuracy of the workers of every task; any number if it has none.
        """
        moved = float(accuracy.mean())
        at = np.log(self.labels)
        for n in np.unique(answers[answers > 0]).tolist():
            of = answers == n
            best = float(np.interp(np.log(n), at, self.best))
            part = 1.0
            if best - self.usual >= MIN_SKILL_GAP:
                part = (float(quality[of].mean()) - self.usual) / (best - self.usual)
            gap = float(np.interp(np.log(n), at, self.gaps))
            moved += float(np.clip(part, 0.0, 1.0)) * gap * float(of.mean())
        return self.with_interval(moved, accuracy.size)

    def with_interval(self, share: float, tasks: int) -> AccuracyForecast:
        """Return a share of right labels of so many tasks with its interval."""
        inside = min(max(share, 0.0), 1.0)
        return AccuracyForecast(
            inside, *prediction_interval(inside, self.gold_tasks, tasks), self.gold_tasks
        )


_GAP = numbers(lambda x: -1.0 <= x <= 1.0, "from -1 to 1")
_RANGES = {"gold_tasks": COUNT, "labels": COUNT, "best": SHARE, "usual": SHARE, "gaps": _GAP}


def shrunken_gap(reached: float, expected: float, gold_tasks: int) -> float:
    """Return observed less expected accuracy, shrunk to 0 inside its interval.

    The factor 1 - (half width / gap)^2 is that of James and Stein, positive part.
    """
    low, high = wilson(reached, gold_tasks)
    gap, half = reached - expected, (high - low) / 2.0
    return gap * max(0.0, 1.0 - (half / gap) ** 2) if gap else 0.0


def with_forecast(assignment: Assignment, forecast_model: ForecastModel) -> Assignment:
    """Add the fact `forecast`: the forecast of the plan's accuracy."""
    quality, support = assignment.plan.table.values, assignment.support
    forecast = forecast_model.forecast_plan(quality, support, assignment.task_accuracy)
    return replace(assignment, facts={**assignment.facts, "forecast": forecast._asdict()})

"""Calibration of models on gold tasks, each judged by other gold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.skills.dependence import CalibrationBin, Dependence
from crowd_tvcs.skills.dependence_loss import Prefixes

ROUNDING = 1e-9  # of a confidence that equals the target


@dataclass(frozen=True, eq=False)
class HeldOutGold:
    """Gold tasks with answers of models, each judged by other gold.

    Attributes
    ----------
    tasks
        Indices among all tasks.
    truth
        Class indices of their labels.
    chances, independent
        Probability of every class, by the model and by independent models: (tasks, classes).
    """

    tasks: Integers
    truth: Integers
    chances: Floats
    independent: Floats

    @classmethod
    def of(cls, tasks: Integers, given: Prefixes, model: Dependence) -> HeldOutGold:
        """Judge gold tasks by all their answers; `given` holds them in the order of `tasks`."""
        everything = slice(given.part[-1].start, given.part[-1].start + tasks.size)
        chances, independent = (given.posteriors(one)[everything] for one in (model, Dependence()))
        return cls(tasks, given.truth[everything], chances, independent)

    @property
    def claim(self) -> Floats:
        """Confidence of the label of each task."""
        return self.chances.max(axis=1)

    @property
    def hit(self) -> Bools:
        """Whether each label is right."""
        return self.chances.argmax(axis=1) == self.truth

    def summed(self, *, independent: bool = False) -> tuple[float, float, float, int]:
        """Return mean confidence, accuracy, mean log score, and number of tasks."""
        chances = self.independent if independent else self.chances
        own = chances[np.arange(self.truth.size), self.truth]
        right = chances.argmax(axis=1) == self.truth
        score = float(np.log(np.maximum(own, 1e-12)).mean())
        return float(chances.max(axis=1).mean()), float(right.mean()), score, self.truth.size

    def compared(self, chosen: Bools | None = None) -> CalibrationBin | None:
        """Return mean confidence and accuracy of the chosen tasks; None without any.

        All tasks count if none are chosen.
        """
        some = slice(None) if chosen is None else chosen
        claim, hit = self.claim[some], self.hit[some]
        return CalibrationBin.of(claim, hit) if hit.size else None

    def confident(self, target: float) -> CalibrationBin | None:
        """Return the same for the tasks with a confidence of at least `target`."""
        return self.compared(self.claim >= target - ROUNDING)

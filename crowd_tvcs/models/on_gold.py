"""What is claimed of gold tasks after their models, and what is reached of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.intervals import wilson
from crowd_tvcs.skills.dependence import Claimed, Dependence
from crowd_tvcs.skills.dependence_fit import Prefixes

ROUNDING = 1e-9

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OnGold:
    """Gold tasks with answers of models, each judged by the other gold tasks.

    Attributes
    ----------
    tasks
        Their numbers among all tasks.
    truth
        Their labels, counting the classes.
    chances, apart
        Chance of every class, by the model and by independent workers: (tasks, classes).
    """

    tasks: Integers
    truth: Integers
    chances: Floats
    apart: Floats

    @classmethod
    def of(cls, tasks: Integers, given: Prefixes, model: Dependence) -> OnGold:
        """Judge gold tasks by all their answers; `given` holds them as `tasks` names them."""
        everything = slice(given.part[-1].start, given.part[-1].start + tasks.size)
        chances, apart = (given.chances(one)[everything] for one in (model, Dependence()))
        return cls(tasks, given.truth[everything], chances, apart)

    @property
    def claim(self) -> Floats:
        """How sure each task is of its label."""
        out: Floats = self.chances.max(axis=1)
        return out

    @property
    def hit(self) -> Bools:
        """Whether each label is right."""
        out: Bools = self.chances.argmax(axis=1) == self.truth
        return out

    def summed(self, *, apart: bool = False) -> tuple[float, float, float, int]:
        """Mean confidence, share of right labels, mean log score, number of tasks."""
        chances = self.apart if apart else self.chances
        own = chances[np.arange(self.truth.size), self.truth]
        right = chances.argmax(axis=1) == self.truth
        score = float(np.log(np.maximum(own, 1e-12)).mean())
        return float(chances.max(axis=1).mean()), float(right.mean()), score, self.truth.size

    def compared(self, chosen: Bools | None = None) -> Claimed | None:
        """Compare what is claimed of some of the tasks with what is reached; None of none.

        Of all of them if nothing is chosen.
        """
        claim, hit = (x if chosen is None else x[chosen] for x in (self.claim, self.hit))
        if not hit.size:
            return None
        reached = float(hit.mean())
        return Claimed(None, hit.size, float(claim.mean()), reached, *wilson(reached, hit.size))

    def surely(self, target: float) -> Claimed | None:
        """Compare for the tasks that are `target` sure or surer."""
        return self.compared(self.claim >= target - ROUNDING)

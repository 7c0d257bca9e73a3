"""Parameters of the model of dependent errors: how much the evidence of n answers counts."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.arrays import Floats
from crowd_tvcs.belief.constants import KNOTS

MAX_STEP = 50.0  # size of a step: a logarithm; fitted ones stay below 4 (`skills.dependence_fit`)


@dataclass(frozen=True)
class DependenceParams:
    """The parameters that a posterior under dependent errors is computed from; see `dependent`.

    Attributes
    ----------
    temperature
        T > 0: factor of the log odds of every answer; 1 is Bayes' rule.
    overlap
        rho >= 0: how much a further answer repeats the others.
    shares
        b > 0: weight of the class prevalence of the gold; 1 is Bayes' rule.
    blend
        lambda in [0, 1]: weight of confusion matrices against even ones.
    common
        eps in [0, 1): probability that all answers to a task are uninformative.
    contrast
        kappa in [0, 1]: discount of the weaker workers of a task.
    steps
        delta at 1, 2, 3, 5 and `last` answers.
    last
        Usual number of answers of a gold task, at least 10: the fit to so many answers does not
        extend to fewer.
    """

    temperature: float = 1.0
    overlap: float = 0.0
    shares: float = 1.0
    blend: float = 0.0
    common: float = 0.0
    contrast: float = 0.0
    steps: tuple[float, ...] = field(default=(0.0,) * len(KNOTS))
    last: int = KNOTS[-1]

    @staticmethod
    def checked(given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters among names and values of JSON, by names.

        Raises
        ------
        ValueError, TypeError, KeyError
            If one is missing or out of its range.
        """
        for name, is_inside, words in _RANGES:
            if not (_is_number(given[name]) and is_inside(given[name])):
                raise ValueError(f"{name} must be a number {words}, found {given[name]!r}")
        steps, last = tuple(given["steps"]), given["last"]
        if len(steps) != len(KNOTS) or not all(_is_number(x) and abs(x) <= MAX_STEP for x in steps):
            raise ValueError(
                f"steps must be {len(KNOTS)} numbers of size at most {MAX_STEP:.0f}, "
                f"found {list(steps)}"
            )
        if type(last) is not int or last < KNOTS[-1]:
            raise ValueError(f"last must be an integer >= {KNOTS[-1]}, found {last!r}")
        return {name: given[name] for name, *_ in _RANGES} | {"steps": steps, "last": last}

    def factor(self, n: NDArray[Any]) -> Floats:
        """Return c_n = exp(delta(n)) / (1 + rho (n - 1)) of tasks with `n` answers each."""
        out: Floats = np.exp(knot_weights(n, self.last) @ np.array(self.steps))
        return out / (1.0 + self.overlap * np.maximum(np.asarray(n) - 1.0, 0.0))

    def factor_of_task(self, n: int) -> float:
        """Return c_n of one task with `n` answers."""
        knots = (*KNOTS[:-1], self.last)
        at = min(max(bisect_right(knots, n) - 1, 0), len(knots) - 1)
        step = self.steps[at]
        if knots[0] < n < knots[-1]:
            low, high = math.log(knots[at]), math.log(knots[at + 1])
            step += (math.log(n) - low) / (high - low) * (self.steps[at + 1] - step)
        return math.exp(step) / (1.0 + self.overlap * max(n - 1.0, 0.0))


def knot_weights(n: NDArray[Any], last: int) -> Floats:
    """Return the interpolation weights of the knots for tasks with `n` answers: (tasks, knots)."""
    at = np.log(np.maximum(np.asarray(n, dtype=np.float64), 1.0))
    knots = np.log(np.array((*KNOTS[:-1], last), dtype=np.float64))
    columns = [np.interp(at, knots, row) for row in np.eye(len(KNOTS))]
    return np.stack(columns, axis=-1)


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]


_RANGES: tuple[tuple[str, Callable[[float], bool], str], ...] = (
    ("temperature", lambda x: x > 0.0, "> 0"),
    ("overlap", lambda x: x >= 0.0, ">= 0"),
    ("shares", lambda x: x > 0.0, "> 0"),
    ("blend", lambda x: 0.0 <= x <= 1.0, "from 0 to 1"),
    ("common", lambda x: 0.0 <= x < 1.0, ">= 0 and below 1"),
    ("contrast", lambda x: 0.0 <= x <= 1.0, "from 0 to 1"),
)

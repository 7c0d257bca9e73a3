"""Parameters of the model of dependent errors: how much the evidence of n answers counts."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.arrays import Floats
from crowd_tvcs.belief.constants import KNOTS

INT64_MAX = 2**63 - 1
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
        for name, allowed in _RANGES.items():
            allowed.check(name, given[name])
        steps, last = tuple(given["steps"]), given["last"]
        if len(steps) != len(KNOTS) or not all(map(_STEP.holds, steps)):
            raise ValueError(
                f"steps must be {len(KNOTS)} numbers of size at most {MAX_STEP:.0f}, "
                f"found {list(steps)}"
            )
        if type(last) is not int or last < KNOTS[-1]:
            raise ValueError(f"last must be an integer >= {KNOTS[-1]}, found {last!r}")
        return {name: given[name] for name in _RANGES} | {"steps": steps, "last": last}

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


class Range(NamedTuple):
    """Values that a number of JSON may have."""

    holds: Callable[[Any], bool]
    words: str

    def check(self, name: str, value: object) -> None:
        """Refuse a value out of the range."""
        if not self.holds(value):
            raise ValueError(f"{name} must be {self.words}, found {value!r}")


def numbers(is_inside: Callable[[float], bool], words: str) -> Range:
    """Return the range of the finite numbers inside."""
    return Range(
        lambda x: type(x) in (int, float) and abs(x) < math.inf and is_inside(x),
        f"a number {words}",
    )


COUNT = Range(lambda x: type(x) is int and 1 <= x <= INT64_MAX, "an integer >= 1")
SHARE = numbers(lambda x: 0.0 <= x <= 1.0, "from 0 to 1")
BELOW_ONE = numbers(lambda x: 0.0 <= x < 1.0, ">= 0 and below 1")
_POSITIVE = numbers(lambda x: x > 0.0, "> 0")
_STEP = numbers(lambda x: abs(x) <= MAX_STEP, f"of size at most {MAX_STEP:.0f}")
_RANGES = {
    "temperature": _POSITIVE,
    "overlap": numbers(lambda x: x >= 0.0, ">= 0"),
    "shares": _POSITIVE,
    "blend": SHARE,
    "common": BELOW_ONE,
    "contrast": SHARE,
}

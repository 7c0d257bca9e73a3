"""Model of dependent errors as a crowd has it: its parameters, and what gold showed of them.

The model is that of `crowd_tvcs.belief.dependent`. Its eleven parameters are fitted to gold alone
(`dependence_fit`), with a prior around the values that real crowds share.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.belief.intervals import wilson
from crowd_tvcs.belief.parameters import BELOW_ONE, COUNT, SHARE, DependenceParams
from crowd_tvcs.skills.accuracy_forecast import ForecastModel
from tvcs_core.files.display import plural
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import read_text

BEST_FIRST = 8.0  # choice exponent, per standard deviation of skill, that counts as a strict order
MIN_GOLD_TO_WARN = 50  # gold tasks: with fewer, the folds disagree on the best one or two workers
MOST_CLASSES = 20  # with matrices: beyond, gold has too few answers per cell


@dataclass(frozen=True)
class CalibrationBin:
    """Mean confidence and accuracy of gold tasks, with a given number of answers each.

    Attributes
    ----------
    labels
        Largest number of answers used per task; None for all.
    tasks
        Number of tasks.
    mean_confidence, accuracy
        Mean confidence and share of right labels, each task judged by other folds of gold.
    low, high
        95 % interval of the share of right labels (Wilson).
    """

    labels: int | None
    tasks: int
    mean_confidence: float
    accuracy: float
    low: float
    high: float

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> CalibrationBin:
        """Read the dictionary that `dataclasses.asdict` makes.

        Raises
        ------
        ValueError
            If a value is out of its range.
        """
        out = cls(**given)
        for name, value in vars(out).items():
            if name in ("tasks", "labels"):
                COUNT.check(f"measured.{name}", 1 if name == "labels" and value is None else value)
            else:
                SHARE.check(f"measured.{name}", value)
        return out

    @classmethod
    def of(
        cls, claim: Floats, hit: Bools, labels: int | None = None, tasks: int | None = None
    ) -> CalibrationBin:
        """Compare confidences with whether labels are right; `tasks` if tasks repeat."""
        reached, n = float(hit.mean()), hit.size if tasks is None else tasks
        return cls(labels, n, float(claim.mean()), reached, *wilson(reached, n))

    @property
    def labels_text(self) -> str:
        """The number of labels in words."""
        return plural(self.labels or "all", "label")

    @property
    def is_miscalibrated(self) -> bool:
        """Whether the mean confidence lies outside the interval of the accuracy."""
        return not self.low <= self.mean_confidence <= self.high


@dataclass(frozen=True)
class Dependence(DependenceParams):
    """Parameters of the model of dependent errors, with the facts of their fit.

    The parameters are those of `crowd_tvcs.belief.parameters.DependenceParams`.

    Attributes
    ----------
    plan_error
        Common error with which plans expect the confidences of votes, see
        `crowd_tvcs.skills.common_error`.
    forecast_model
        Forecast model of plans with that error, see `crowd_tvcs.skills.accuracy_forecast`; None if
        nothing was fitted.
    source
        ``"gold"``, ``"little gold"`` (default parameters, because gold is scarce) or ``"no gold"``.
    choice
        How strongly the workers were chosen by skill in the gold answers of the fit: all of the
        weakest (-8), any (0), or all of the best (8), see `held_out.orders`.
    labels
        Number of answers to be voted on from which `choice` was estimated; 0 if there were none and
        `choice` is that of plans, the best. Below 0 in a campaign after an answer was taken back,
        until the next fit.
    gold
        Number of gold tasks in the fit; 0 without a fit.
    score, independent_score
        Mean log probability of the true label of the gold tasks, each judged by other folds, over
        1, 2, 3, 5 and all answers; by this model and by independent workers. None without a fit.
    measured
        Mean confidence and accuracy on gold tasks, by the number of answers.
    within
        Extra overlap in [0, 1] of the answers of one family of workers; with 1 a family counts as
        one worker. See `family_weights`.
    """

    plan_error: float = 0.0
    source: str = "no gold"
    choice: float = BEST_FIRST
    labels: int = 0
    gold: int = 0
    score: float | None = None
    independent_score: float | None = None
    measured: tuple[CalibrationBin, ...] = ()
    forecast_model: ForecastModel | None = None
    within: float = 0.0

    @classmethod
    def at(cls, point: Floats, **facts: Any) -> Dependence:
        """Return the parameters at a point on the scales of the fit.

        These are the logarithms of the first three, the logits of the next three, and `steps`.
        """
        out = np.array(point, dtype=np.float64)
        out[:3] = np.exp(out[:3])
        out[3:6] = 1.0 / (1.0 + np.exp(-out[3:6]))
        names = ("temperature", "overlap", "shares", "blend", "common", "contrast")
        numbers: dict[str, Any] = dict(zip(names, out[:6].tolist(), strict=True))
        return cls(steps=tuple(out[6:].tolist()), **numbers, **facts)

    @property
    def order(self) -> str:
        """The order of the gold answers in the fit, in words; empty without a fit."""
        if not self.gold:
            return ""
        words = {BEST_FIRST: "best first", 0.0: "as given", -BEST_FIRST: "weakest first"}
        return words.get(self.choice, "better ones more" if self.choice > 0 else "weaker ones more")

    def effective_answers(self, n: int) -> float:
        """Return how many independent answers n equal ones are worth: n / (1 + rho (n - 1))."""
        return n / (1.0 + self.overlap * (n - 1.0))

    def as_json(self) -> dict[str, Any]:
        """Return everything as a dictionary for JSON, which `from_json` reads."""
        measured = [asdict(one) for one in self.measured]
        words = {"order": self.order}
        return asdict(self) | words | {"steps": list(self.steps), "measured": measured}

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Dependence:
        """Read the dictionary that `as_json` makes.

        Raises
        ------
        ValueError, TypeError, KeyError, AttributeError
            If it is something else.
        """
        BELOW_ONE.check("plan_error", given["plan_error"])
        if type(given["labels"]) is not int:
            raise ValueError(f"labels must be an integer, found {given['labels']!r}")
        stored = given["forecast_model"]
        facts: dict[str, Any] = {
            "measured": tuple(map(CalibrationBin.from_json, given["measured"])),
            "forecast_model": None if stored is None else ForecastModel.from_json(stored),
        }
        known = {name: value for name, value in given.items() if name != "order"}
        return cls(**(known | cls.checked(given) | facts))


def read_dependence(path: str | Path) -> Dependence:
    """Read a ``dependence.json`` of `crowd-tvcs quality`."""
    text = read_text(path)
    try:
        return Dependence.from_json(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        what = "must be a dependence.json of crowd-tvcs quality"
        more = f": {error}" if type(error) is ValueError else ""  # not of JSON
        raise DataError(what + more, path=path) from None


def describe_dependence(model: Dependence) -> str:
    """Describe how many independent answers ten answers are worth, with the evidence."""
    count = model.effective_answers(10)
    worth = f"ten answers carry the information of {count:.1f} independent ones"
    if model.source != "gold":
        return f"{worth}, as in most crowds ({model.source}, so no confidence is validated)"
    full = next(one for one in model.measured if one.labels is None)
    calibration = f"mean confidence is {full.mean_confidence:.3f} and accuracy {full.accuracy:.3f}"
    return f"{worth}; on {model.gold} held-out gold tasks {calibration}"


def calibration_warnings(model: Dependence) -> list[str]:
    """Warn of each mean confidence on gold outside the interval of the accuracy.

    With few gold tasks only all of their answers count: the folds of few tasks disagree on the best
    workers, so the accuracy of the best one or two varies more than the interval.
    """
    return [
        f"warning: with {one.labels_text} per task, mean confidence on gold is "
        f"{one.mean_confidence:.3f} but accuracy is {one.accuracy:.3f} ({one.low:.3f} to "
        f"{one.high:.3f}, {plural(one.tasks, 'task')})"
        for one in model.measured
        if one.is_miscalibrated and (one.labels is None or one.tasks >= MIN_GOLD_TO_WARN)
    ]

"""Model of dependent errors: the posterior of a label when workers err on the same tasks.

Bayes' rule for independent workers is overconfident: on real crowds workers err on the same hard
tasks. In this model a task with n answers l_1, ..., l_n of workers with accuracies q_i, among K
classes with prevalences pi, has the posterior

    p = (1 - eps) softmax_y( b log pi_y + c_n sum_i f_i X_iy ) + eps pi

    M_i  = (1 - lambda) even(q_i) + lambda C_i        matrices, C_i the worker's confusion matrix
    X_iy = T log M_i[y, l_i] - log sum_l M_i[y, l]^T
    c_n  = exp(delta(n)) / (1 + rho (n - 1))          n answers count n c_n: a design effect
    f_i  = max(0, 1 - kappa (1 - 1/n) mean(om) / om_i)    om_i = log odds of worker i: contrast

with delta linear in log n between `KNOTS` and constant beyond; the last knot moves up where gold
tasks usually have more than 10 answers. The eleven parameters are fitted to gold alone
(`dependence_fit`), with a prior around the values that real crowds share.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.skills.accuracy_forecast import ForecastModel, is_number_in, is_positive_count
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import read_text

KNOTS = (1, 2, 3, 5, 10)  # numbers of answers; the last may be more
SIZE = 6 + len(KNOTS)  # parameters
BEST_FIRST = 8.0  # choice exponent, per standard deviation of skill, that counts as a strict order
LEAST_CHANCE = 1e-4  # probability of an answer, before it is tempered
LEAST_WEIGHT = 0.1  # log odds of a worker
SUREST = 1e-3  # distance of accuracies from 0 and 1
MIN_GOLD_TO_WARN = 50  # gold tasks: with fewer, the folds disagree on the best one or two workers
MOST_CLASSES = 20  # with matrices: beyond, gold has too few answers per cell

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class CalibrationBin:
    """Mean confidence and accuracy of gold tasks, with a given number of answers each.

    Attributes
    ----------
    labels
        Largest number of answers used per task; None for all.
    tasks
        Number of tasks.
    claimed, reached
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
        if not all(
            is_positive_count(n) for n in (out.tasks, 1 if out.labels is None else out.labels)
        ):
            raise ValueError("measured.tasks and measured.labels must be integers >= 1")
        if not all(
            is_number_in(x, 0.0) for x in (out.mean_confidence, out.accuracy, out.low, out.high)
        ):
            raise ValueError("the numbers of measured must lie in [0, 1]")
        return out

    @property
    def labels_text(self) -> str:
        """The number of labels in words."""
        return "1 label" if self.labels == 1 else f"{self.labels or 'all'} labels"

    @property
    def is_miscalibrated(self) -> bool:
        """Whether the mean confidence lies outside the interval of the accuracy."""
        return not self.low <= self.mean_confidence <= self.high


@dataclass(frozen=True)
class Dependence:
    """Parameters of the model of dependent errors.

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

    temperature: float = 1.0
    overlap: float = 0.0
    shares: float = 1.0
    blend: float = 0.0
    common: float = 0.0
    contrast: float = 0.0
    steps: tuple[float, ...] = field(default=(0.0,) * len(KNOTS))
    last: int = KNOTS[-1]
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

    def factor(self, n: NDArray[Any]) -> Floats:
        """Return c_n of tasks with `n` answers each."""
        out: Floats = np.exp(knot_weights(n, self.last) @ np.array(self.steps))
        return out / (1.0 + self.overlap * np.maximum(np.asarray(n) - 1.0, 0.0))

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
        measured = tuple(map(CalibrationBin.from_json, given["measured"]))
        if not is_number_in(error := given.get("plan_error", 0.0), 0.0) or error == 1:
            raise ValueError("plan_error must be a number >= 0 and below 1")
        stored = given.get("forecast_model")
        forecast_model = None if stored is None else ForecastModel.from_json(stored)
        known = {name: value for name, value in given.items() if name != "order"}
        if "choice" not in given and given["order"] == "as given":  # written before there was one
            known["choice"] = 0.0
        known |= {
            "steps": tuple(given["steps"]),
            "measured": measured,
            "forecast_model": forecast_model,
        }
        return cls(**known)


def knot_weights(n: NDArray[Any], last: int) -> Floats:
    """Return the interpolation weights of the knots for tasks with `n` answers: (tasks, knots)."""
    at = np.log(np.maximum(np.asarray(n, dtype=np.float64), 1.0))
    knots = np.log(np.array((*KNOTS[:-1], last), dtype=np.float64))
    columns = [np.interp(at, knots, row) for row in np.eye(len(KNOTS))]
    return np.stack(columns, axis=-1)


@dataclass(frozen=True, eq=False)
class AnswerLikelihoods:
    """Answers to tasks, with the response probabilities of their workers.

    Attributes
    ----------
    label_of, worker_of
        Class index of every answer, and the row of its worker in the other arrays.
    even, own
        Probability of every answer (last axis) given every label, of shape (workers, classes,
        classes): with mistakes spread evenly, and by the confusion matrix. `own` is None if there
        are no confusion matrices; `even` then stands for it.
    odds
        Log odds of every worker, at least `LEAST_WEIGHT`.
    """

    label_of: Integers
    worker_of: Integers
    even: Floats
    own: Floats | None
    odds: Floats

    @property
    def weight(self) -> Floats:
        """Log odds of the worker of every answer."""
        return self.odds[self.worker_of]

    def take(self, entry: Integers) -> AnswerLikelihoods:
        """Return the answers at these indices, which may repeat."""
        return replace(self, label_of=self.label_of[entry], worker_of=self.worker_of[entry])

    def shifted(self, shift: Floats) -> AnswerLikelihoods:
        """Return the answers with the log odds of a right answer moved by `shift`."""
        even = _shifted(self.even[self.worker_of], shift)
        own = None if self.own is None else _shifted(self.own[self.worker_of], shift)
        odds = np.maximum(self.weight + shift, LEAST_WEIGHT)
        return AnswerLikelihoods(self.label_of, np.arange(self.label_of.size), even, own, odds)

    def blended(self, blend: float) -> Floats:
        """Return the matrices M of the workers."""
        if self.own is None or blend == 0.0:
            return np.clip(self.even, LEAST_CHANCE, None)
        return np.clip((1.0 - blend) * self.even + blend * self.own, LEAST_CHANCE, None)

    def tempered(self, model: Dependence) -> Floats:
        """Return X, of shape (answers, classes)."""
        logs = model.temperature * np.log(self.blended(model.blend))
        total = np.log(np.exp(logs).sum(axis=2))
        out: Floats = logs[self.worker_of, :, self.label_of] - total[self.worker_of]
        return out


def _shifted(matrices: Floats, shift: Floats) -> Floats:
    """Move the diagonals of matrices by `shift` in log odds; mistakes keep their proportions."""
    at = np.arange(matrices.shape[1])
    right = np.clip(matrices[:, at, at], SUREST, 1.0 - SUREST)
    shifted = 1.0 / (1.0 + (1.0 - right) / right * np.exp(-shift)[:, None])
    out = matrices * ((1.0 - shifted) / (1.0 - right))[:, :, None]
    out[:, at, at] = shifted
    return out / out.sum(axis=2, keepdims=True)


def answer_likelihoods(
    label_of: Integers,
    accuracy: Floats,
    matrices: Floats | None,
    n_classes: int,
    worker_of: Integers | None = None,
) -> AnswerLikelihoods:
    """Make the likelihoods of answers by workers with these accuracies and matrices.

    `worker_of` holds the worker of every answer; None if there is one accuracy per answer.
    """
    if worker_of is None:
        worker_of = np.arange(label_of.size)
    inside = np.clip(accuracy, SUREST, 1.0 - SUREST)
    odds = np.log(inside * (n_classes - 1.0) / (1.0 - inside))
    even = even_matrices(accuracy, n_classes)
    return AnswerLikelihoods(label_of, worker_of, even, matrices, np.maximum(odds, LEAST_WEIGHT))


def contrasts(weight: Floats, group_of: Integers, n: Integers) -> Floats:
    """Return (1 - 1/n) mean(om) / om_i for every answer, in groups with `n` answers each."""
    mean = np.bincount(group_of, weight, minlength=n.size) / np.maximum(n, 1)
    share = 1.0 - 1.0 / np.maximum(n, 1)
    out: Floats = (share * mean)[group_of] / weight
    return out


def family_weights(within: float, group_of: Integers, family_of: Integers) -> Floats:
    """Return the weight of every answer among those of its family to the same task.

    It is 1 / (1 + within (n - 1)) with n answers of the family: their design effect.
    """
    pairs = np.stack([group_of, family_of])
    at = np.unique(pairs, axis=1, return_inverse=True)[1].ravel()
    n = np.bincount(at).astype(np.float64)[at]
    out: Floats = 1.0 / (1.0 + within * (n - 1.0))
    return out


def sum_by_group(values: Floats, group_of: Integers, n_groups: int) -> Floats:
    """Sum the rows of `values` by group, of shape (groups, columns)."""
    columns = [np.bincount(group_of, column, minlength=n_groups) for column in values.T]
    return np.stack(columns, axis=1)


def dependent_posterior(
    model: Dependence,
    rows: AnswerLikelihoods,
    task_of: Integers,
    n_tasks: int,
    prior: Floats,
    shares: float,
    weight: Floats | None = None,
) -> Floats:
    """Return the probability of every label of every task, of shape (tasks, classes).

    Parameters
    ----------
    model
        The parameters.
    rows, task_of
        The answers, and the index of their tasks.
    n_tasks
        Number of tasks.
    prior
        Probability > 0 of every class for every task, of shape (tasks, classes).
    shares
        Weight of the prior: `model.shares` for the prevalence in the gold, 1 for a known prior.
    weight
        Weight of every answer, see `family_weights`; None for 1 each.
    """
    n = np.bincount(task_of, minlength=n_tasks)
    kept: Floats = np.maximum(0.0, 1.0 - model.contrast * contrasts(rows.weight, task_of, n))
    size: NDArray[Any] = n
    if weight is not None:
        kept *= weight
        size = np.bincount(task_of, weight, minlength=n_tasks)
    evidence = sum_by_group(kept[:, None] * rows.tempered(model), task_of, n_tasks)
    logs = shares * np.log(prior) + model.factor(size)[:, None] * evidence
    logs -= logs.max(axis=1, keepdims=True)
    inner = np.exp(logs)
    inner /= inner.sum(axis=1, keepdims=True)
    out: Floats = (1.0 - model.common) * inner + model.common * prior
    return out


def read_dependence(path: str | Path) -> Dependence:
    """Read a ``dependence.json`` of `crowd-tvcs quality`.

    Raises
    ------
    DataError
        Naming the file, if it is something else.
    """
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
        f"{one.high:.3f}, {one.tasks} tasks)"
        for one in model.measured
        if one.is_miscalibrated and (one.labels is None or one.tasks >= MIN_GOLD_TO_WARN)
    ]

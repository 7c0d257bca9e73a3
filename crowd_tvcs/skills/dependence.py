"""Dependence: what answers are worth together, where workers err on the same tasks.

Bayes' rule for independent workers claims too much: on real crowds workers err on the same hard
tasks. Here a task with n answers l_1, ..., l_n of workers of accuracies q_i, among K classes of
shares pi, has the posterior

    p = (1 - eps) softmax_y( b log pi_y + c_n sum_i f_i X_iy ) + eps pi

    M_i  = (1 - lambda) even(q_i) + lambda C_i        matrices, C_i the worker's confusion matrix
    X_iy = T log M_i[y, l_i] - log sum_l M_i[y, l]^T
    c_n  = exp(delta(n)) / (1 + rho (n - 1))          n answers are worth n c_n: a design effect
    f_i  = max(0, 1 - kappa (1 - 1/n) mean(om) / om_i)    om_i = log odds of worker i: contrast

with delta linear in log n between `KNOTS` and constant beyond; where gold tasks usually have more
than 10 answers, the last knot is at so many. These eleven numbers are learnt from gold alone
(`dependence_fit`), around `USUAL`, what real crowds have in common.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.skills.foresight import Foresight, is_count, lies_from
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import read_text

KNOTS = (1, 2, 3, 5, 10)  # numbers of answers; the last may be more
SIZE = 6 + len(KNOTS)
BEST_FIRST = 8.0  # choice
LEAST_CHANCE = 1e-4  # of an answer, before it is tempered
LEAST_WEIGHT = 0.1  # of a worker, in log odds
SUREST = 1e-3  # accuracies are taken to be this far from 0 and 1
ENOUGH = 50  # gold tasks, to warn by some of their answers
MOST_CLASSES = 20  # with matrices; beyond, mistakes count as spread evenly

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Claimed:
    """What was claimed of gold tasks by so many answers each, and what was reached.

    Attributes
    ----------
    labels
        Most answers of a task; None for all it has.
    tasks
        How many tasks.
    claimed, reached
        Mean confidence and share of right labels, each task judged by other folds of gold.
    low, high
        Where the share of right labels lies with chance .95 (Wilson).
    """

    labels: int | None
    tasks: int
    claimed: float
    reached: float
    low: float
    high: float

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Claimed:
        """Read what `dataclasses.asdict` makes of one.

        Raises
        ------
        ValueError
            If it is none.
        """
        out = cls(**given)
        if not all(is_count(n) for n in (out.tasks, 1 if out.labels is None else out.labels)):
            raise ValueError("measured.tasks and measured.labels must be integers >= 1")
        if not all(lies_from(x, 0.0) for x in (out.claimed, out.reached, out.low, out.high)):
            raise ValueError("what is measured must lie in [0, 1]")
        return out

    @property
    def shown(self) -> str:
        """The number of labels in words."""
        return "1 label" if self.labels == 1 else f"{self.labels or 'all'} labels"

    @property
    def parts(self) -> bool:
        """Whether the claim lies outside the interval of what is reached."""
        return not self.low <= self.claimed <= self.high


@dataclass(frozen=True)
class Dependence:
    """The numbers of the model.

    Attributes
    ----------
    temperature
        T > 0, by which the log odds of every answer are multiplied; 1 is Bayes' rule.
    overlap
        rho >= 0: how much a further answer repeats what the others say.
    shares
        b > 0: how much the class shares of the gold count; 1 is Bayes' rule.
    blend
        lambda in [0, 1]: how far confusion matrices go before even ones.
    common
        eps in [0, 1): chance that all answers to a task say nothing of its label.
    contrast
        kappa in [0, 1]: how much the weaker of several workers are discounted.
    steps
        delta at 1, 2, 3, 5 and `last` answers.
    last
        As many as gold tasks usually have, 10 at least: what was fitted to so many answers is not
        said of fewer.
    plan_error
        Common error of plans, which then expect of gold what the vote claims of it, see
        `crowd_tvcs.skills.common_error`.
    foresight
        What gold says of plans with that error, see `crowd_tvcs.skills.foresight`; None where
        nothing was fitted.
    source
        ``"gold"``, ``"little gold"`` (the usual numbers, for want of gold) or ``"no gold"``.
    choice
        How far the workers were chosen by skill whose answers to gold tasks the numbers were fitted
        to: from all the weakest (-8) over any (0) to all the best (8), see `held_out.orders`.
    labels
        Number of answers that shall be voted on and showed that choice; 0 for none, whose `choice`
        is that of plans, the best. In a campaign below 0 where one was taken back, until it is
        fitted anew to those that are left.
    gold
        Number of gold tasks that the numbers were fitted to; 0 if they were not.
    score, independent_score
        Mean logarithm of the probability of the true label of the gold tasks, which were left out
        of what it rests on fold by fold, over 1, 2, 3, 5 and all answers; by this model and by
        independent workers. None if nothing was fitted.
    measured
        What is claimed of gold tasks and what is reached, by the number of answers.
    within
        Overlap in [0, 1] of the answers of one family, where workers have families, beyond that of
        all: with 1 a family counts as one worker. See `weights_of`.
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
    measured: tuple[Claimed, ...] = ()
    foresight: Foresight | None = None
    within: float = 0.0

    @classmethod
    def at(cls, point: Floats, **facts: Any) -> Dependence:
        """Return the numbers at a point on the scales on which they are fitted.

        Those are the logarithms of the first three, the logits of the next three, and `steps`.
        """
        out = np.array(point, dtype=np.float64)
        out[:3] = np.exp(out[:3])
        out[3:6] = 1.0 / (1.0 + np.exp(-out[3:6]))
        names = ("temperature", "overlap", "shares", "blend", "common", "contrast")
        numbers: dict[str, Any] = dict(zip(names, out[:6].tolist(), strict=True))
        return cls(steps=tuple(out[6:].tolist()), **numbers, **facts)

    @property
    def order(self) -> str:
        """Which answers the numbers were fitted to, in words; empty where nothing was fitted."""
        if not self.gold:
            return ""
        words = {BEST_FIRST: "best first", 0.0: "as given", -BEST_FIRST: "weakest first"}
        return words.get(self.choice, "better ones more" if self.choice > 0 else "weaker ones more")

    def factor(self, n: NDArray[Any]) -> Floats:
        """Return c_n of tasks with `n` answers each."""
        out: Floats = np.exp(steps_at(n, self.last) @ np.array(self.steps))
        return out / (1.0 + self.overlap * np.maximum(np.asarray(n) - 1.0, 0.0))

    def worth(self, n: int) -> float:
        """How many independent answers n equally good ones are worth: n / (1 + rho (n - 1))."""
        return n / (1.0 + self.overlap * (n - 1.0))

    def as_json(self) -> dict[str, Any]:
        """Return everything for `run.json` and the like; `from_json` takes it back."""
        measured = [asdict(one) for one in self.measured]
        words = {"order": self.order}
        return asdict(self) | words | {"steps": list(self.steps), "measured": measured}

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Dependence:
        """Read what `as_json` wrote.

        Raises
        ------
        ValueError, TypeError, KeyError, AttributeError
            If it did not.
        """
        measured = tuple(map(Claimed.from_json, given["measured"]))
        if not lies_from(error := given.get("plan_error", 0.0), 0.0) or error == 1:
            raise ValueError("plan_error must be a number >= 0 and below 1")
        told = given.get("foresight")  # not in what was written before there was one
        foresight = None if told is None else Foresight.from_json(told)
        known = {name: value for name, value in given.items() if name != "order"}
        if "choice" not in given and given["order"] == "as given":  # written before there was one
            known["choice"] = 0.0
        known |= {"steps": tuple(given["steps"]), "measured": measured, "foresight": foresight}
        return cls(**known)


def steps_at(n: NDArray[Any], last: int) -> Floats:
    """Weights of the knots, up to `last`, for tasks with `n` answers each: (tasks, knots)."""
    at = np.log(np.maximum(np.asarray(n, dtype=np.float64), 1.0))
    knots = np.log(np.array((*KNOTS[:-1], last), dtype=np.float64))
    columns = [np.interp(at, knots, row) for row in np.eye(len(KNOTS))]
    return np.stack(columns, axis=-1)


@dataclass(frozen=True, eq=False)
class Told:
    """Single answers, as the model looks at them, and what is known of who gave them.

    Attributes
    ----------
    label_of, worker_of
        The label of every answer, counting the classes, and its row of what follows.
    even, own
        Chance of every answer (last axis) under every truth, of shape (workers, classes, classes):
        mistakes spread evenly, and by the confusion matrix. `own` may be None, and is then `even`.
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

    def take(self, entry: Integers) -> Told:
        """Return some of the answers, also several times."""
        return replace(self, label_of=self.label_of[entry], worker_of=self.worker_of[entry])

    def moved(self, shift: Floats) -> Told:
        """Return the answers with a matrix each: the log odds to be right moved by `shift`."""
        even = _moved(self.even[self.worker_of], shift)
        own = None if self.own is None else _moved(self.own[self.worker_of], shift)
        odds = np.maximum(self.weight + shift, LEAST_WEIGHT)
        return Told(self.label_of, np.arange(self.label_of.size), even, own, odds)

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


def _moved(matrices: Floats, shift: Floats) -> Floats:
    """Move the diagonals of matrices by `shift` in log odds; the mistakes keep their shares."""
    at = np.arange(matrices.shape[1])
    right = np.clip(matrices[:, at, at], SUREST, 1.0 - SUREST)
    moved = 1.0 / (1.0 + (1.0 - right) / right * np.exp(-shift)[:, None])
    out = matrices * ((1.0 - moved) / (1.0 - right))[:, :, None]
    out[:, at, at] = moved
    return out / out.sum(axis=2, keepdims=True)


def told(
    label_of: Integers,
    accuracy: Floats,
    matrices: Floats | None,
    n_classes: int,
    worker_of: Integers | None = None,
) -> Told:
    """Make the rows of answers by workers of these accuracies and matrices.

    `worker_of` says whose an answer is; None where there is one accuracy per answer.
    """
    if worker_of is None:
        worker_of = np.arange(label_of.size)
    inside = np.clip(accuracy, SUREST, 1.0 - SUREST)
    odds = np.log(inside * (n_classes - 1.0) / (1.0 - inside))
    even = even_matrices(accuracy, n_classes)
    return Told(label_of, worker_of, even, matrices, np.maximum(odds, LEAST_WEIGHT))


def contrasts(weight: Floats, group_of: Integers, n: Integers) -> Floats:
    """Return (1 - 1/n) mean(om) / om_i of every answer, of groups with `n` answers each."""
    mean = np.bincount(group_of, weight, minlength=n.size) / np.maximum(n, 1)
    share = 1.0 - 1.0 / np.maximum(n, 1)
    out: Floats = (share * mean)[group_of] / weight
    return out


def weights_of(within: float, group_of: Integers, family_of: Integers) -> Floats:
    """Return what every answer counts beside others of its family to the same task.

    That is 1 / (1 + within (n - 1)) with n answers of the family: their design effect.
    """
    pairs = np.stack([group_of, family_of])
    at = np.unique(pairs, axis=1, return_inverse=True)[1].ravel()
    n = np.bincount(at).astype(np.float64)[at]
    out: Floats = 1.0 / (1.0 + within * (n - 1.0))
    return out


def summed(values: Floats, group_of: Integers, n_groups: int) -> Floats:
    """Add up the rows of `values` by group, of shape (groups, columns)."""
    columns = [np.bincount(group_of, column, minlength=n_groups) for column in values.T]
    return np.stack(columns, axis=1)


def chances(
    model: Dependence,
    rows: Told,
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
        The numbers.
    rows, task_of
        The answers and their tasks, counting from 0.
    n_tasks
        How many there are.
    prior
        Probability > 0 of every class for every task, of shape (tasks, classes).
    shares
        How much the prior counts: `model.shares` for those of gold, 1 for one that is known.
    weight
        Of every answer, see `weights_of`; None for 1 each.
    """
    n = np.bincount(task_of, minlength=n_tasks)
    kept: Floats = np.maximum(0.0, 1.0 - model.contrast * contrasts(rows.weight, task_of, n))
    size: NDArray[Any] = n
    if weight is not None:
        kept *= weight
        size = np.bincount(task_of, weight, minlength=n_tasks)
    evidence = summed(kept[:, None] * rows.tempered(model), task_of, n_tasks)
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
        Naming the file, if it is none.
    """
    text = read_text(path)
    try:
        return Dependence.from_json(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        what = "must be a dependence.json of crowd-tvcs quality"
        more = f": {error}" if type(error) is ValueError else ""  # not of JSON
        raise DataError(what + more, path=path) from None


def said(model: Dependence) -> str:
    """State in one sentence what answers here are worth together, and how that is known."""
    worth = f"ten labels here are worth {model.worth(10):.1f} independent ones"
    if model.source != "gold":
        return f"{worth}, as in most crowds: {model.source}, so no confidence is measured"
    full = next(one for one in model.measured if one.labels is None)
    told = f"{full.claimed:.3f} is claimed and {full.reached:.3f} reached with all answers"
    return f"{worth}; of {model.gold} gold tasks, each judged by the others, {told}"


def warnings(model: Dependence) -> list[str]:
    """Say where what is claimed of gold lies outside the interval of what is reached.

    Of few gold tasks only by all their answers: who is best differs between the folds of few tasks,
    so what the best one or two reach of them scatters more than the interval says.
    """
    return [
        f"warning: with {one.shown} a task a confidence of {one.claimed:.3f} is claimed of gold, "
        f"and {one.reached:.3f} is reached ({one.low:.3f} to {one.high:.3f}, {one.tasks} tasks)"
        for one in model.measured
        if one.parts and (one.labels is None or one.tasks >= ENOUGH)
    ]

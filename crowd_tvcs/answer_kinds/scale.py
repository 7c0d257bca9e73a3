"""Vote on ordered scales: the step of every task, how sure it is, and how each worker answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowd_tvcs.answer_kinds.calibration import MIN_GOLD, Calibration
from crowd_tvcs.answer_kinds.ordinal import OrdinalFit, fit_ordinal
from crowd_tvcs.answer_kinds.propagation import Edges
from crowd_tvcs.answer_kinds.scale_order import ScaleOrder, judge_order
from crowd_tvcs.answer_kinds.scale_posterior import judge_tasks
from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold
from crowd_tvcs.arrays import Bools, Floats, Integers
from tvcs_core.arguments import check_type
from tvcs_core.files.display import plural, quoted
from tvcs_core.streams import stream

MIN_STEPS, MAX_STEPS = 3, 21
LABEL_COLUMNS = (
    "task", "label", "confidence", "within_one", "expected_error", "low", "high", "most_likely",
    "answers",
)  # fmt: skip
WORKER_COLUMNS = ("worker", "answers", "bias", "scale", "noise", "lapses", "spam")


@dataclass(frozen=True, eq=False)
class ScaleVotes:
    """Outcome of a vote on an ordered scale.

    Attributes
    ----------
    scale
        Names of the steps, in order.
    tasks, workers
        Names, as in the answers.
    posterior
        Probability of every step, of shape (tasks, steps); a gold task is judged by its answers
        alone.
    gold
        Known step of every task; `UNKNOWN` (-1) otherwise.
    answers, worker_answers
        Number of answers of every task and of every worker.
    calibration
        The calibration of the ordinal model on gold.
    contrast
        How far answers of weaker workers lose against those of better ones on the same task, from 0
        to .8.
    order
        The test whether the scale is ordered.
    workers_table
        Mean bias (steps), scale, noise (steps), lapse rate and probability of spam of every worker,
        of shape (workers, 5).
    """

    scale: tuple[str, ...]
    tasks: tuple[str, ...]
    workers: tuple[str, ...]
    posterior: Floats
    gold: Integers
    answers: Integers
    worker_answers: Integers
    calibration: Calibration
    contrast: float
    order: ScaleOrder
    workers_table: Floats

    def __repr__(self) -> str:
        return f"ScaleVotes({plural(len(self.tasks), 'task')}, {plural(len(self.scale), 'step')})"

    @property
    def is_measured(self) -> bool:
        """Whether gold calibrated the posterior; without it no confidence is stated."""
        return self.calibration.gold > 0

    @property
    def median(self) -> Integers:
        """Step at the median of the posterior: the answer of least expected error."""
        return self._quantile(0.5)

    @property
    def label_of(self) -> Integers:
        """Known step of a gold task, else the median; `UNKNOWN` for a task without answers."""
        voted = np.where(self.answers > 0, self.median, UNKNOWN)
        return np.where(self.gold >= 0, self.gold, voted)

    @property
    def confidence(self) -> Floats:
        """Probability of the median step."""
        return self.posterior[np.arange(self.median.size), self.median]

    @property
    def within_one(self) -> Floats:
        """Probability that the right step is the median or next to it."""
        return (self.posterior * (self._distance <= 1)).sum(axis=1)

    @property
    def expected_error(self) -> Floats:
        """Expected distance of the median from the right step, in steps."""
        return (self.posterior * self._distance).sum(axis=1)

    @property
    def _distance(self) -> Integers:
        return np.abs(np.arange(len(self.scale)) - self.median[:, None])

    def _quantile(self, share: float) -> Integers:
        return (self.posterior.cumsum(axis=1) >= share - 1e-9).argmax(axis=1)

    def reached_on_gold(self) -> dict[str, float] | None:
        """Compare the claimed accuracy on the answered gold tasks with the measured one.

        Each is judged without its own label, but the parameters of the calibration are of the same
        tasks.
        """
        known = (self.gold >= 0) & (self.answers > 0)
        if not self.is_measured:
            return None
        error = np.abs(self.median - self.gold)[known]
        return {
            "tasks": int(known.sum()),
            "claimed": float(self.confidence[known].mean()),
            "right": float((error == 0).mean()),
            "claimed_within_one": float(self.within_one[known].mean()),
            "within_one": float((error <= 1).mean()),
            "expected_error": float(self.expected_error[known].mean()),
            "mean_error": float(error.mean()),
        }

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of `LABEL_COLUMNS`; None stands for no measurement."""
        ends = self._quantile(0.05), self._quantile(0.95), self.posterior.argmax(axis=1)
        claims = self.confidence, self.within_one, self.expected_error
        for j, task in enumerate(self.tasks):
            k = int(self.label_of[j])
            if k == UNKNOWN:
                yield (task, *[None] * 7, 0)
            elif self.gold[j] >= 0:
                name = self.scale[k]
                yield (task, name, 1.0, 1.0, 0.0, name, name, name, int(self.answers[j]))
            else:
                low, high, mode = (self.scale[int(one[j])] for one in ends)
                stated = [float(one[j]) if self.is_measured else None for one in claims]
                ends_of = (low, high) if self.is_measured else (None, None)
                yield (task, self.scale[k], *stated, *ends_of, mode, int(self.answers[j]))

    def worker_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of `WORKER_COLUMNS`."""
        columns = zip(self.workers, self.worker_answers, self.workers_table, strict=True)
        for name, n, means in columns:
            yield (name, int(n), *means.tolist())


def check_scale(names: Sequence[str]) -> tuple[str, ...]:
    """Return the steps of a scale, in order.

    Raises
    ------
    ValueError
        If there are fewer than `MIN_STEPS` or more than `MAX_STEPS`, one is empty or repeated, or
        they are numbers that are not evenly spaced.
    """
    steps = tuple(names)
    if not MIN_STEPS <= len(steps) <= MAX_STEPS:
        raise ValueError(
            f"a scale must have {MIN_STEPS} to {MAX_STEPS} steps with commas between, found "
            f"{len(steps)}; two classes need no scale, and a finer one is rounded to steps first"
        )
    for k, name in enumerate(steps):
        if not name:
            raise ValueError(
                f"step {k + 1} of the scale has no name; leave out the comma, or name it"
            )
        if name in steps[:k]:
            raise ValueError(f"every step of a scale must stand once, found {quoted(name)} twice")
    _refuse_gap(steps)
    return steps


def _refuse_gap(steps: tuple[str, ...]) -> None:
    try:
        numbers = np.array([float(name) for name in steps])
    except ValueError:
        return
    gaps = np.diff(numbers)
    at = int(np.argmax(~np.isclose(gaps, gaps[0], rtol=1e-6)))
    if at:
        raise ValueError(
            f"the numbers of a scale must be evenly spaced and in order, found {steps[at + 1]} "
            f"after {steps[at]}, but {steps[1]} after {steps[0]}; name the steps between, also "
            "those that nobody gave"
        )


def vote_on_scale(
    answers: Answers,
    gold: Gold | None = None,
    *,
    rng: np.random.Generator | int | None = None,
) -> ScaleVotes:
    """Vote on the step of every task on an ordered scale.

    Every worker has a bias, a scale, a noise and a lapse rate on a latent score of the task; the
    model is `crowd_tvcs.answer_kinds.worker_types`. A task is judged by what *other* tasks show of
    its workers. The label is the median of the posterior. With gold the posterior also has
    confusion matrices, shrunk to that model (see `crowd_tvcs.answer_kinds.scale_posterior`).

    Parameters
    ----------
    answers
        Answers; their classes are the steps of the scale, in order.
    gold
        Tasks with a known step. Confidences are stated only if at least five have answers.
    rng
        Source of the bootstrap of the test of the order; same seed, same result.

    Raises
    ------
    ValueError
        If the classes are no scale (see `check_scale`) or a gold label is none of them.

    Examples
    --------
    >>> rows = [("t1", "ann", "2"), ("t1", "bob", "3"), ("t1", "cy", "3"), ("t2", "ann", "1")]
    >>> votes = vote_on_scale(Answers.of(rows, classes=["1", "2", "3"]), rng=0)
    >>> [votes.scale[k] for k in votes.label_of], votes.is_measured
    (['3', '1'], False)
    """
    check_type("answers", answers, Answers)
    check_type("gold", gold, Gold, or_none=True)
    scale = check_scale(answers.classes)
    known = np.full(len(answers.tasks), UNKNOWN)
    if gold is not None:
        known = gold.codes(answers.tasks, scale)
    edges = Edges(answers.task_of, answers.worker_of, answers.label_of)
    fit = fit_ordinal(edges, known, len(scale), len(answers.workers))
    judged = judge_tasks(edges, known, fit)
    return ScaleVotes(
        scale,
        answers.tasks,
        answers.workers,
        judged.posterior,
        known,
        answers.per_task,
        answers.per_worker,
        judged.calibration,
        judged.contrast,
        judge_order(edges, known, scale, stream(rng, "scale order")),
        _worker_means(fit),
    )


def _worker_means(fit: OrdinalFit) -> Floats:
    """Return the mean bias, scale, noise and lapse rate if no spammer, and P(spam), by worker."""
    chances = fit.type_posterior
    spam = chances[:, -1:]
    attentive = chances[:, :-1] / np.maximum(1 - spam, 1e-300)
    types = fit.types
    values = np.column_stack([types.bias, types.scale, types.noise, types.lapse])[:-1]
    return np.hstack([attentive @ values, spam])


def describe_claims(votes: ScaleVotes) -> str:
    """Describe how sure the labels are, or that it was not measured."""
    voted: Bools = (votes.gold < 0) & (votes.answers > 0)
    reached = votes.reached_on_gold()
    if reached is None:
        answered = int(((votes.gold >= 0) & (votes.answers > 0)).sum())
        return (
            f"confidence not measured: {MIN_GOLD} gold tasks with answers are needed, found "
            f"{answered}; give --gold"
        )
    measured = (
        f"on {plural(reached['tasks'], 'gold task')}, each judged without its own label: right "
        f"{reached['right']:.3f} (claimed {reached['claimed']:.3f}), within one step "
        f"{reached['within_one']:.3f} (claimed {reached['claimed_within_one']:.3f}), mean error "
        f"{reached['mean_error']:.3f} steps (claimed {reached['expected_error']:.3f})"
    )
    if not voted.any():
        return f"{measured}; every task with answers is gold"
    sure, near = votes.confidence[voted].mean(), votes.within_one[voted].mean()
    return (
        f"{measured}; the other {int(voted.sum())}: mean confidence {sure:.3f}, within one step "
        f"{near:.3f}"
    )

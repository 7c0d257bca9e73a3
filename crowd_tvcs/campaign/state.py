"""One state of a campaign as arrays in the order of names, for plans and reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.answers import Answers
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.belief.dependent import AnswerLikelihoods, answer_likelihoods, dependent_posterior
from crowd_tvcs.belief.independent import even_log_likelihood, independent_posterior, priors
from crowd_tvcs.campaign.answer_kinds.kind import AnswerKind, kind_of
from crowd_tvcs.campaign.settings import MILLION
from crowd_tvcs.campaign.store import kinds
from crowd_tvcs.campaign.store.rows import RoundRow, Settings, TaskRow, WorkerRow
from crowd_tvcs.campaign.store.schema import ANSWERED, ISSUED, LAPSED, LEASED, SKIPPED
from crowd_tvcs.campaign.stored_model import parse_model
from crowd_tvcs.campaign.tasks import has_label, is_done, one_hot, prior_of, prior_weight
from crowd_tvcs.factors import tables
from crowd_tvcs.skills.dependence import Dependence

CHUNK_PAIRS = 4_000_000  # workers x tasks of a part


class Pairs(NamedTuple):
    """Pairs that are, or were, given out, sorted by task and then by worker.

    Attributes
    ----------
    task, worker
        Their numbers.
    state
        Skipped by the worker, lapsed, issued, leased or answered.
    """

    task: Integers
    worker: Integers
    state: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class State:
    """The content of a campaign at one moment; workers and tasks are sorted by name.

    Attributes
    ----------
    settings
        The row of the campaign.
    workers, tasks
        Their rows.
    factors
        Qualities, as a table of workers x kinds and the kind of every task: one kind where every
        worker has one quality, and one per task where every pair has. `allowed` leaves out workers
        of whom nothing is known, and pairs without a quality.
    pairs
        Pairs of a worker and a task that are, or were, handed out.
    given
        Every answer as a row (worker, task, label), in the order they came.
    swapped
        Likewise, of two items, whether the second was on the left.
    times
        Likewise when it was given (seconds since 1970) and how many seconds it took; NaN where that
        is not known.
    rounds
        The plans made so far.
    gold
        Known labels of tasks, by name, without those that the operator settled: doubtful tasks are
        no sample, so they measure nothing.
    gold_answers
        Answers to gold tasks that qualities come from, as (task, worker, label), with names.
    """

    settings: Settings
    workers: list[WorkerRow]
    tasks: list[TaskRow]
    factors: Factors
    pairs: Pairs
    given: Integers
    swapped: list[int | None]
    times: Floats
    rounds: list[RoundRow]
    gold: dict[str, int]
    gold_answers: list[tuple[str, str, str]]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(json.loads(self.settings.classes))

    @property
    def kind(self) -> AnswerKind:
        """The kind of answers."""
        return kind_of(self.settings)

    @property
    def names(self) -> set[str]:
        """Names of all tasks, gold too."""
        return {*self.factors.tasks, *self.gold}

    @property
    def has_kinds(self) -> bool:
        """Whether qualities are of workers on kinds of tasks."""
        return bool(self.settings.source == kinds.SOURCE)

    @property
    def is_large(self) -> bool:
        """Whether rounds are planned in factors, as by `assign --kinds` of so large a crowd."""
        return self.has_kinds and len(self.workers) * len(self.tasks) > tables.MOST_PAIRS

    def parts(self) -> Iterator[tuple[slice, State]]:
        """Yield the campaign by blocks of tasks, of which a table with the workers is small.

        Answers and posteriors are in no part.
        """
        m, size = len(self.tasks), max(1, CHUNK_PAIRS // max(1, len(self.workers)))
        for start in range(0, m, size):
            at = slice(start, min(start + size, m))
            yield at, self if m <= size else self._part(at)

    def _part(self, at: slice) -> State:
        begin, end = np.searchsorted(self.pairs.task, [at.start, at.stop])
        factors = Factors(self.factors.table, self.factors.tasks[at], self.factors.kind[at])
        task, worker, state = self.pairs
        pairs = Pairs(task[begin:end] - at.start, worker[begin:end], state[begin:end])
        none: dict[str, Any] = {"given": self.given[:0], "swapped": [], "times": self.times[:0]}
        return replace(self, tasks=self.tasks[at], factors=factors, pairs=pairs, **none)

    def named(self, pairs: Integers) -> list[tuple[str, str]]:
        """Return the names of pairs of a worker and a task, given by their numbers."""
        workers, tasks = self.factors.table.workers, self.factors.tasks
        return [(workers[i], tasks[j]) for i, j in pairs.tolist()]

    def count(self, *states: int) -> Integers:
        """Count the pairs of every task in some states."""
        number = self.pairs.task[np.isin(self.pairs.state, states)]
        return np.bincount(number, minlength=len(self.tasks))

    @cached_property
    def quality(self) -> Quality:
        """Qualities as a table of workers x tasks; of a large crowd it is too large to be had."""
        table, kind = self.factors.table, self.factors.kind
        allowed = None if table.allowed is None else table.allowed[:, kind]
        return Quality(table.values[:, kind], table.workers, self.factors.tasks, allowed)

    def lets_in(self, quality: Quality) -> Bools:
        """Mark the pairs of a table above the minimum quality; unknown pairs are not."""
        within: Bools = quality.values >= self.settings.min_quality
        return within if quality.allowed is None else within & quality.allowed

    @cached_property
    def slots(self) -> NDArray[np.int8]:
        """State of every pair, of shape (workers, tasks); lapsed if it was never given out."""
        out = np.full((len(self.workers), len(self.tasks)), LAPSED, dtype=np.int8)
        out[self.pairs.worker, self.pairs.task] = self.pairs.state
        return out

    @property
    def answered(self) -> Bools:
        """Pairs that are answered, of shape (workers, tasks)."""
        return self.slots == ANSWERED

    @property
    def pending(self) -> Bools:
        """Pairs that are given out and not answered, likewise."""
        return (self.slots == ISSUED) | (self.slots == LEASED)

    @property
    def out_of_reach(self) -> Bools:
        """Pairs that are not to be given out: skipped, or of a worker whom the operator blocked."""
        skipped: Bools = self.slots == SKIPPED
        return skipped | self.blocked[:, None]

    @property
    def blocked(self) -> Bools:
        """Whom the operator has blocked, of all workers."""
        return np.array([bool(w.blocked) for w in self.workers], dtype=bool)

    @property
    def teams(self) -> list[list[int]]:
        """The workers of every group, by their numbers; workers without a group are in no list."""
        found: dict[str, list[int]] = {}
        for i, row in enumerate(self.workers):
            if row.team is not None:
                found.setdefault(row.team, []).append(i)
        return list(found.values())

    @property
    def team_mates(self) -> Bools:
        """Pairs whose task a worker of the same group has already."""
        taken = self.slots > LAPSED
        out = np.zeros_like(taken)
        for members in self.teams:
            out[members] = taken[members].any(axis=0)
        return out & ~taken

    @property
    def closed(self) -> Bools:
        """Tasks that need no more labels: closed by the operator, or as sure as was wanted."""
        done = [is_done(self.settings, t.confidence) and not t.needy for t in self.tasks]
        return np.array([bool(t.closed or d) for t, d in zip(self.tasks, done, strict=True)])

    @property
    def costs(self) -> Floats:
        """Price of one label of every worker."""
        return np.array([w.cost for w in self.workers]) / MILLION

    @cached_property
    def answers(self) -> Answers:
        """All answers, in the order they came."""
        workers, tasks, labels = self.given.T
        names = (self.factors.tasks, self.factors.table.workers, self.classes)
        when, seconds = self.times.T
        return Answers(*names, tasks, workers, labels, when=_if_any(when), seconds=_if_any(seconds))

    @cached_property
    def prior(self) -> Floats:
        """Probability of every class of every task before answers, of shape (tasks, classes)."""
        common = json.loads(self.settings.prior)
        return np.array([prior_of(t.prior, common) for t in self.tasks])

    @cached_property
    def posterior(self) -> Floats:
        """The same after all answers; a label that the operator settled is certain."""
        of = self.answers.task_of
        found = self.chances(np.arange(of.size), of, np.arange(len(self.tasks)))
        for j, task in enumerate(self.tasks):
            if task.settled is not None:
                found[j] = one_hot(task.settled, len(self.classes))
        return found

    @cached_property
    def alone(self) -> Floats:
        """The same posteriors, as if workers erred independently."""
        before = priors(self.prior, *self.prior.shape)
        return independent_posterior(before, self._evidence, self.answers.task_of)

    @property
    def _evidence(self) -> Floats:
        """Log-likelihoods of every answer: `crowd_tvcs.belief.independent.even_log_likelihood`."""
        return even_log_likelihood(self._accuracy, self.answers.label_of, len(self.classes))

    @cached_property
    def model(self) -> Dependence | None:
        """The model of dependent errors; None for independent workers."""
        return parse_model(self.settings.dependence)

    def chances(self, entry: Integers, group_of: Integers, task_of_group: Integers) -> Floats:
        """Probability of every class by some answers to a task, for several such groups.

        Parameters
        ----------
        entry, group_of
            Number of an answer and of a group per membership.
        task_of_group
            Task that the answers of each group are to.
        """
        prior = priors(self.prior, *self.prior.shape)[task_of_group]
        if self.model is None:
            return independent_posterior(prior, self._evidence[entry], group_of)
        rows = self._rows.take(entry)
        weight = np.array([prior_weight(self.settings, t, self.model.shares) for t in self.tasks])
        out = np.empty_like(prior)
        for shares in np.unique(weight):
            found = dependent_posterior(
                self.model, rows, group_of, task_of_group.size, prior, float(shares)
            )
            of = weight[task_of_group] == shares
            out[of] = found[of]
        return out

    @cached_property
    def _rows(self) -> AnswerLikelihoods:
        """All answers as the model of dependence looks at them."""
        a, k = self.answers, len(self.classes)
        habits = None
        if any(w.habits is not None for w in self.workers):
            nothing = even_matrices(self._known[:, 0], k)
            own = [
                nothing[i] if w.habits is None else np.array(json.loads(w.habits))
                for i, w in enumerate(self.workers)
            ]
            habits = np.array(own)[a.worker_of]
        return answer_likelihoods(a.label_of, self._accuracy, habits, k)

    @property
    def _known(self) -> Floats:
        """Qualities of workers x kinds; unknown workers guess."""
        table = self.factors.table
        if table.allowed is None:
            return table.values
        return np.where(table.allowed, table.values, 1.0 / len(self.classes))

    @property
    def _accuracy(self) -> Floats:
        """Quality of the worker of every answer."""
        kind = self.factors.kind[self.answers.task_of]
        return self._known[self.answers.worker_of, kind]

    @property
    def is_labelled(self) -> Bools:
        """Which tasks have a label, see `tasks.has_label`."""
        labelled = [has_label(t.answers, t.prior, t.settled) for t in self.tasks]
        return np.array(labelled, dtype=bool)

    @property
    def expected_accuracy(self) -> float:
        """Mean posterior of the likeliest classes of all tasks, which rounds raise.

        A task without a label counts as guessed.
        """
        return float(self.posterior.max(axis=1).mean())


def within_reach(least: Integers, able: Integers, n_known: Integers) -> Integers:
    """Lower minimums to the number of workers who may still have a task.

    A minimum that all workers of known quality could not meet stays, for a plan to refuse.
    """
    return np.where(least > n_known, least, np.minimum(least, able))


def _if_any(times: Floats) -> Floats | None:
    """Return times of answers; None if none is known."""
    return None if np.isnan(times).all() else times

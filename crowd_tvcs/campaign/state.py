"""One state of a campaign as arrays, in the order of names: what plans and reports start from."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.answers import Answers
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.campaign.entries import MILLION
from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.gold import ANSWERS
from crowd_tvcs.campaign.store.schema import ANSWERED, GOLD, ISSUED, LAPSED, LEASED, SKIPPED
from crowd_tvcs.campaign.tasks import is_done, prior_of, prior_weight
from crowd_tvcs.skills.dependence import Dependence, Told, chances, told
from crowd_tvcs.skills.vote import posterior, priors

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class State:
    """What a campaign holds at one moment; workers and tasks are sorted by name.

    Attributes
    ----------
    settings
        The row of the campaign.
    workers, tasks
        Their rows.
    quality
        Of every pair, of shape (workers, tasks); `allowed` leaves out workers of whom nothing is
        known, and pairs without a quality.
    slots
        State of every pair, of the same shape: skipped by its worker, lapsed or never given out,
        issued, leased, answered.
    given
        Every answer as (worker, task, label), as integers, in the order they came.
    times
        Likewise when it was given (seconds since 1970) and how many seconds it took; NaN where that
        is not known.
    rounds
        The plans made so far.
    gold
        Known labels of tasks, by name.
    gold_answers
        Answers to gold tasks that qualities come from, as (task, worker, label), with names.
    on_gold, answered_gold
        How many slots and answers of each worker are on gold among the other tasks, which is
        nowhere else here.
    """

    settings: Any
    workers: list[Any]
    tasks: list[Any]
    quality: Quality
    slots: NDArray[np.int8]
    given: list[tuple[int, int, int]]
    times: list[tuple[float, float]]
    rounds: list[Any]
    gold: dict[str, int]
    gold_answers: list[tuple[str, str, str]]
    on_gold: Integers
    answered_gold: Integers

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(json.loads(self.settings.classes))

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Pairs that are answered, of shape (workers, tasks)."""
        return self.slots == ANSWERED

    @property
    def pending(self) -> NDArray[np.bool_]:
        """Pairs that are given out and not answered, likewise."""
        return (self.slots == ISSUED) | (self.slots == LEASED)

    @property
    def out_of_reach(self) -> NDArray[np.bool_]:
        """Pairs that are not to be given out: skipped, or of a worker whom the operator blocked."""
        blocked = np.array([bool(w.blocked) for w in self.workers])
        skipped: NDArray[np.bool_] = self.slots == SKIPPED
        return skipped | blocked[:, None]

    @property
    def team_mates(self) -> NDArray[np.bool_]:
        """Pairs whose task a worker of the same group has already."""
        taken = self.slots > LAPSED
        out = np.zeros_like(taken)
        teams: dict[str, list[int]] = {}
        for i, row in enumerate(self.workers):
            if row.team is not None:
                teams.setdefault(row.team, []).append(i)
        for members in teams.values():
            out[members] = taken[members].any(axis=0)
        return out & ~taken

    @property
    def closed(self) -> NDArray[np.bool_]:
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
        workers, tasks, labels = zip(*self.given, strict=True) if self.given else ((), (), ())
        names = (self.quality.tasks, self.quality.workers, self.classes)
        when, seconds = np.array(self.times).reshape(-1, 2).T
        return Answers(*names, tasks, workers, labels, when=_if_any(when), seconds=_if_any(seconds))

    @cached_property
    def prior(self) -> Floats:
        """Probability of every class of every task before answers, of shape (tasks, classes)."""
        return np.array([prior_of(t.prior, self.settings.prior) for t in self.tasks])

    @cached_property
    def posterior(self) -> Floats:
        """The same after all answers."""
        if self.model is None:
            return posterior(self.answers, self.quality, self.prior)
        of, tasks = self.answers.task_of, np.arange(len(self.tasks))
        return self.chances(np.arange(of.size), of, tasks)

    @cached_property
    def model(self) -> Dependence | None:
        """What several answers are worth together; None for workers who err independently."""
        text = self.settings.dependence
        return None if text is None else Dependence.from_json(json.loads(text))

    def chances(self, entry: Integers, group_of: Integers, task_of_group: Integers) -> Floats:
        """Probability of every class by some answers to a task, for several such groups.

        Parameters
        ----------
        entry, group_of
            Number of an answer and of a group per membership.
        task_of_group
            Task that the answers of each group are to.
        """
        if self.model is None:
            raise ValueError("workers who err independently have no such model")
        rows = self._rows.take(entry)
        prior = priors(self.prior, *self.prior.shape)[task_of_group]
        weight = np.array([prior_weight(self.settings, t, self.model.shares) for t in self.tasks])
        out = np.empty_like(prior)
        for shares in np.unique(weight):
            found = chances(self.model, rows, group_of, task_of_group.size, prior, float(shares))
            of = weight[task_of_group] == shares
            out[of] = found[of]
        return out

    @cached_property
    def _rows(self) -> Told:
        """All answers as the model of dependence looks at them."""
        a, k = self.answers, len(self.classes)
        quality, allowed = self.quality.values, self.quality.allowed
        known = quality if allowed is None else np.where(allowed, quality, 1.0 / k)
        habits = None
        if any(w.habits is not None for w in self.workers):
            nothing = even_matrices(known[:, 0], k)
            own = [
                nothing[i] if w.habits is None else np.array(json.loads(w.habits))
                for i, w in enumerate(self.workers)
            ]
            habits = np.array(own)[a.worker_of]
        return told(a.label_of, known[a.worker_of, a.task_of], habits, k)

    @property
    def expected_accuracy(self) -> float:
        """Mean posterior of the likeliest labels."""
        return float(self.posterior.max(axis=1).mean())


def read_state(connection: Connection, settings: Any) -> State:
    """Read a whole campaign."""
    workers = sorted(connection.execute(select(schema.worker)).all(), key=lambda w: w.name)
    ordinary = select(schema.task).where(schema.task.c.closed != GOLD)
    tasks = sorted(connection.execute(ordinary).all(), key=lambda t: t.name)
    row_of = {w.id: i for i, w in enumerate(workers)}
    column_of = {t.id: j for j, t in enumerate(tasks)}
    quality = _quality(connection, settings, workers, tasks)
    slots = np.full((len(workers), len(tasks)), LAPSED, dtype=np.int8)
    on_gold, answered_gold = np.zeros((2, len(workers)), dtype=np.int64)
    placed = []
    for of_task, who, what, label, place, when, seconds in connection.execute(_PAIRS):
        i = row_of[who]
        if of_task not in column_of:
            on_gold[i] += what > LAPSED
            answered_gold[i] += what == ANSWERED
            continue
        j = column_of[of_task]
        slots[i, j] = what
        if what == ANSWERED:
            placed.append((place, (i, j, label), (_or_nan(when), _or_nan(seconds))))
    placed.sort()
    rounds = connection.execute(select(schema.planned).order_by(schema.planned.c.round)).all()
    known = connection.execute(select(schema.gold.c.task, schema.gold.c.label))
    gold = dict(known.all())
    classes = json.loads(settings.classes)
    told_of_gold = [
        (row.task, row.worker, classes[row.label])
        for row in connection.execute(ANSWERS).all()
        if row.task in gold
    ]
    return State(
        settings,
        list(workers),
        list(tasks),
        quality,
        slots,
        [answer for _, answer, _ in placed],
        [times for _, _, times in placed],
        list(rounds),
        gold,
        sorted(told_of_gold),
        on_gold,
        answered_gold,
    )


_PAIRS = select(
    schema.pair.c.task_id,
    schema.pair.c.worker_id,
    schema.pair.c.state,
    schema.pair.c.label,
    schema.pair.c.place,
    schema.pair.c.answered_at,
    schema.pair.c.seconds,
)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _if_any(times: Floats) -> Floats | None:
    """Return times of answers; None if none is known."""
    return None if np.isnan(times).all() else times


def _quality(
    connection: Connection, settings: Any, workers: list[Any], tasks: list[Any]
) -> Quality:
    """Quality of every pair; what is not known tells nothing and is not allowed."""
    shape = (len(workers), len(tasks))
    nothing = 1.0 / len(json.loads(settings.classes))
    names = ([w.name for w in workers], [t.name for t in tasks])
    if settings.per_pair:
        values, allowed = np.full(shape, nothing), np.zeros(shape, dtype=bool)
        row_of = {w.id: i for i, w in enumerate(workers)}
        column_of = {t.id: j for j, t in enumerate(tasks)}
        table = schema.skill.c
        listed = connection.execute(select(table.worker_id, table.task_id, table.quality))
        for who, of_task, value in listed:
            values[row_of[who], column_of[of_task]] = value
            allowed[row_of[who], column_of[of_task]] = True
        return Quality(values, *names, allowed)
    one = np.array([nothing if w.quality is None else w.quality for w in workers])
    known = np.array([w.quality is not None for w in workers])
    allowed = np.repeat(known[:, None], shape[1], axis=1)
    return Quality(np.repeat(one[:, None], shape[1], axis=1), *names, allowed)

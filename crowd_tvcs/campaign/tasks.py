"""Bring the row of a task, and the counters, in line with its pairs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowd_tvcs.belief.constants import FIRST_LABEL_BOOST
from crowd_tvcs.belief.dependent import WeightedAnswer, dependent_posterior_of_task
from crowd_tvcs.belief.gain import gain_per_label_of_task
from crowd_tvcs.belief.independent import independent_posterior_of_task
from crowd_tvcs.belief.uncertainty import affinity, uncertainty_of_task
from crowd_tvcs.campaign.answer_kinds.kind import AnswerKind, kind_of
from crowd_tvcs.campaign.store.queries import (
    COUNT,
    COUNTERS,
    PAIRS,
    SETTINGS,
    SETTLE,
    SETTLED,
    SHORT,
    TASK,
    TASKS,
)
from crowd_tvcs.campaign.store.rows import PairRow, Settings, TaskRow
from crowd_tvcs.campaign.store.schema import ANSWERED, LAPSED, OPEN, UNLIMITED
from crowd_tvcs.campaign.store.statements import Call, later, run_together
from crowd_tvcs.campaign.stored_model import parse_confusion, parse_model

MOST_MONEY = 2**62  # millionths, as no limit: sums of it stay below 2^63
CHUNK_TASKS = 100
"""Tasks that are read in one message."""


def prior_of(own: float | None, common: list[float]) -> list[float]:
    """Probability of every class of a task before answers; of two classes it may have its own."""
    return common if own is None else [1.0 - own, own]


def known_or_nothing(quality: float | None, n_classes: int) -> float:
    """Quality of a worker; one of whom nothing is known guesses."""
    return 1.0 / n_classes if quality is None else quality


class TaskPosterior(NamedTuple):
    """The posterior of a task by its answers."""

    prior: list[float]
    answers: list[WeightedAnswer]
    chances: list[float]

    def is_worth(self, settings: Settings, best: float, room: int) -> bool:
        """Whether so many labels of workers as good as `best` each add the required gain."""
        model = parse_model(settings.dependence)
        alone = None if model is None else _alone(self.prior, self.answers)
        n_answers = len(self.answers)
        added = gain_per_label_of_task(self.chances, best, model, n_answers, room, alone)
        return bool(added >= (settings.min_gain or 0.0))


def task_posterior(settings: Settings, row: TaskRow, pairs: Iterable[PairRow]) -> TaskPosterior:
    """Judge the label of a task by its pairs, with the model of the campaign."""
    prior = prior_of(row.prior, json.loads(settings.prior))
    if row.settled is not None:
        return TaskPosterior(prior, [], one_hot(row.settled, len(prior)))
    answers = [
        WeightedAnswer(p.label, known_or_nothing(p.quality, len(prior)), parse_confusion(p.habits))
        for p in pairs
        if p.state == ANSWERED and p.label is not None
    ]
    model = parse_model(settings.dependence)
    if model is None:
        return TaskPosterior(prior, answers, _alone(prior, answers))
    weight = prior_weight(settings, row, model.shares)
    return TaskPosterior(prior, answers, dependent_posterior_of_task(model, prior, answers, weight))


def _alone(prior: list[float], answers: list[WeightedAnswer]) -> list[float]:
    """Return the posterior of a task, as if workers erred independently."""
    return independent_posterior_of_task(prior, [(one.label, one.accuracy) for one in answers])


def settled(settings: Settings, row: TaskRow, pairs: Sequence[PairRow]) -> dict[str, Any]:
    """Compute all that follows from the pairs of a task."""
    if not (kind := kind_of(settings)).has_classes:
        return _counted(settings, kind, row, pairs)
    found = task_posterior(settings, row, pairs)
    chances, n_answers = found.chances, 0
    affinities, slots = 1.0, 0
    for p in pairs:
        slots += p.state > LAPSED
        n_answers += p.state == ANSWERED
        if LAPSED < p.state < ANSWERED:
            affinities *= affinity(known_or_nothing(p.quality, len(chances)), len(chances))
    best = max(range(len(chances)), key=chances.__getitem__)
    first = 1.0 if slots else before_first(settings)
    adds = settings.min_gain is None
    if not adds:  # of the best worker there is, whoever has room: `leases` asks of who is left
        room = min(row.max_workers, settings.n_workers) - n_answers
        adds = found.is_worth(settings, settings.best or 0.0, room)
    return {
        "of_task": row.id,
        "answers": n_answers,
        "label": best,
        "confidence": chances[best],
        "uncertainty": first * uncertainty_of_task(chances) * affinities,
    } | openness(settings, row, slots, chances[best], adds)


def _counted(
    settings: Settings, kind: AnswerKind, row: TaskRow, pairs: Sequence[PairRow]
) -> dict[str, Any]:
    """Compute the same where a task has no posterior: the most common answer, and no confidence."""
    codes = [p.label for p in pairs if p.state == ANSWERED and p.label is not None]
    slots = sum(p.state > LAPSED for p in pairs)
    is_settled = row.settled is not None
    return {
        "of_task": row.id,
        "answers": len(codes),
        "label": row.settled if is_settled else kind.most_common(codes),
        "confidence": float(is_settled),
        "uncertainty": fewest_first(settings, row.id, slots),
    } | openness(settings, row, slots, 0.0)


def fewest_first(settings: Settings, of_task: int, slots: int) -> float:
    """Return the order of a task among offers: fewest slots first, by lot among equals."""
    drawn = hashlib.blake2b(f"order {settings.seed} {of_task}".encode(), digest_size=4).digest()
    return 1.0 / (1.0 + slots + int.from_bytes(drawn) / 2**32)


def one_hot(label: int, n_classes: int) -> list[float]:
    """Return the probabilities of a task whose label the operator settled."""
    return [float(k == label) for k in range(n_classes)]


def has_label(answers: int, prior: float | None, settled: int | None = None) -> bool:
    """Whether a task has a label: settled, by answers, or by a prior that favours a class.

    Such a prior comes from the table of tasks, for example from models. A task with neither has the
    class shares and no label.
    """
    return settled is not None or bool(answers) or (prior is not None and prior != 0.5)


def prior_weight(settings: Settings, row: TaskRow, shares: float) -> float:
    """How much the prior of a task counts: `shares` if it is the class shares of gold, else 1."""
    return shares if settings.shares_of_gold and row.prior is None else 1.0


def before_first(settings: Settings) -> float:
    """How much more a task without labels counts, so that every task gets a first label early."""
    return 1.0 if settings.dependence is None else FIRST_LABEL_BOOST


def is_done(settings: Settings, confidence: float) -> bool:
    """Whether a task this sure of its label needs none more, its minimum apart."""
    at = settings.target if settings.confidence_threshold is None else settings.confidence_threshold
    return bool(confidence >= at)


def openness(
    settings: Settings, row: TaskRow, slots: int, confidence: float, is_worth: bool = True
) -> dict[str, int]:
    """Return whether a task with so many slots may be offered, and whether its minimum is unmet."""
    is_short = slots < row.min_workers
    is_over = (is_done(settings, confidence) or not is_worth) and not is_short
    is_wanted = slots < row.max_workers and not row.closed and not is_over
    return {"slots": slots, "wanted": int(is_wanted), "needy": int(is_short)}


def new_task(
    name: str,
    *,
    prior: float | None = None,
    least: int = 0,
    most: int = UNLIMITED,
    closed: int = OPEN,
) -> dict[str, Any]:
    """Return the row of a task that nobody has had."""
    own = {"name": name, "prior": prior, "min_workers": least, "max_workers": most}
    return own | {"closed": closed} | dict.fromkeys(SETTLED, 0)


def missing_more(row: TaskRow, slots: int) -> int:
    """By how many the slots that a task's minimum asks for grow if it comes to have `slots`."""
    return max(0, row.min_workers - slots) - max(0, row.min_workers - row.slots)


def is_reserved(settings: Settings) -> bool:
    """Whether all that is left of the budget is needed for the minimums of tasks."""
    return settings.left is not None and settings.left <= settings.missing


def is_needed(connection: Connection, settings: Settings) -> bool:
    """Whether the rest of the budget is no more than the minimums that can still be met."""
    money = MOST_MONEY if settings.money is None else settings.money - settings.committed
    short = SHORT[bool(settings.per_pair)](
        connection, min_quality=settings.min_quality, money=money
    )
    return (settings.left or 0) <= sum(min(one.short, one.able) for one in short)


def settle_each(connection: Connection, settings: Settings, tasks: Iterable[int]) -> int:
    """Store the new state of tasks, by their ids in order; see `missing_more`."""
    ids, missing = sorted(set(tasks)), 0
    for start in range(0, len(ids), CHUNK_TASKS):
        these = ids[start : start + CHUNK_TASKS]
        found = run_together(
            connection,
            *(TASK.with_(of_task=j) for j in these),
            *(PAIRS.with_(of_task=j) for j in these),
        )
        for (row,), pairs in zip(found[: len(these)], found[len(these) :], strict=True):
            missing += _settle(connection, settings, row, pairs)
    return missing


def _settle(
    connection: Connection, settings: Settings, row: TaskRow, pairs: Sequence[PairRow]
) -> int:
    values = settled(settings, row, pairs)
    later(connection, SETTLE.with_(**values))
    return missing_more(row, values["slots"])


def counted(**changes: int) -> Call:
    """Return the statement that adds to the counters of the campaign."""
    return COUNT.with_(**(dict.fromkeys(COUNTERS, 0) | changes))


def count(connection: Connection, **changes: int) -> None:
    """Add to the counters of the campaign."""
    later(connection, counted(**changes))


def settle_all(connection: Connection) -> None:
    """Settle every task, after something that concerns all of them."""
    settings = SETTINGS.only(connection)
    for row in TASKS(connection):
        _settle(connection, settings, row, PAIRS(connection, of_task=row.id))

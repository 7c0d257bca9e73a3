"""The status of a campaign, and the tasks that need no further label."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.belief.constants import LOOK_AHEAD
from crowd_tvcs.belief.gain import gain_per_label
from crowd_tvcs.campaign.answer_kinds.kind import OneClass
from crowd_tvcs.campaign.answer_kinds.votes import KindVotes, vote_by_kind
from crowd_tvcs.campaign.entries import WAITING, WORTH, TaskStatus
from crowd_tvcs.campaign.gold_calibration import calibrate_on_gold
from crowd_tvcs.campaign.settings import MILLION
from crowd_tvcs.campaign.state import State
from crowd_tvcs.campaign.store.rows import TaskRow
from crowd_tvcs.campaign.store.schema import ANSWERED, ISSUED, LEASED
from crowd_tvcs.campaign.stored_model import interval_around
from crowd_tvcs.routing.routing import is_worth_buying


def task_statuses(
    state: State,
    *,
    min_gain: float | None = None,
    value: float | None = None,
    target: float | None = None,
    votes: KindVotes | None = None,
) -> list[TaskStatus]:
    """Assess for every task whether a further label is worth its price.

    Only remaining workers above the minimum quality are considered.

    Arguments are those of `Campaign.review_tasks`; `votes` of `vote_by_kind`, if they are known.
    """
    voted = votes or vote_by_kind(state)
    if state.kind.has_classes:
        gain, is_worth = _worth(state, least_gain_of(state, min_gain), value)
    else:
        _refuse_of_classes(state, min_gain=min_gain, value=value, target=target)
        gain, is_worth = np.zeros(len(state.tasks)), np.ones(len(state.tasks), dtype=bool)
    is_sure = (state.closed if target is None else _are_sure(state, target)).tolist()
    labels = labels_of(state) if voted is None else voted.of_task
    done, out = state.count(ANSWERED), state.count(ISSUED, LEASED)
    somebody = np.concatenate([_able(part).any(axis=0) for _, part in state.parts()])
    rows = []
    for j, row in enumerate(state.tasks):
        verdict = _verdict(row, is_sure[j], bool(out[j]), bool(somebody[j]), bool(is_worth[j]))
        label, sure = labels.get(row.name, (None, None))
        rows.append(
            TaskStatus(row.name, label, sure, int(done[j]), int(out[j]), float(gain[j]), verdict)
        )
    return rows


def _refuse_of_classes(state: State, **asked: float | None) -> None:
    """Refuse what is asked of answers without a confidence."""
    for name, value in asked.items():
        if value is not None:
            raise ValueError(
                f"{name} is for classes and scales: {state.kind.name} answers are judged by "
                "their number, up to the caps; leave it out"
            )


def _verdict(row: TaskRow, is_sure: bool, waits: bool, somebody: bool, is_worth: bool) -> str:
    """Return the first reason that holds for a task."""
    if row.settled is not None:
        return "settled"
    if row.closed:
        return "closed"
    if is_sure:
        return "confident"
    if waits:
        return WAITING
    if row.slots >= row.max_workers:
        return "full"
    if not somebody:
        return "nobody left"
    return WORTH if row.needy or is_worth else "not worth it"


def labels_of(state: State) -> dict[str, tuple[str, float | None]]:
    """Return label and confidence of each task that has a label."""
    chances, names = state.posterior, state.classes
    best = chances.argmax(axis=1)
    return {
        state.tasks[j].name: (names[best[j]], float(chances[j, best[j]]))
        for j in np.flatnonzero(state.is_labelled).tolist()
    }


def summary(state: State, standings: list[TaskStatus]) -> dict[str, Any]:
    """Return the figures of a campaign: labels, expected accuracy, and the budget left.

    `expected_accuracy` is that of the tasks with a label, None without any, and `unlabelled` counts
    the others. `measured` is the share of right labels among the tasks whose label is known, None
    without.

    `forecast` is an interval around `expected_accuracy`, by names, from the gold of the model, for
    labels of workers like those of the model; None if no gold was measured.
    """
    settings = state.settings
    sure = [one.confidence for one in standings if one.confidence is not None]
    expected = float(np.mean(sure)) if sure else None
    around = interval_around(expected, settings.dependence, len(sure))
    known = [
        (one.label, state.kind.show(state.gold[one.task], one.task))
        for one in standings
        if one.task in state.gold and one.answers
    ]
    verdicts = [one.verdict for one in standings]
    has_costs = any(w.cost for w in state.workers)
    spent = sum(w.cost * w.answers for w in state.workers) / MILLION
    return {
        "workers": len(state.workers),
        "tasks": len(state.tasks),
        "answer_kind": state.kind.name,
        "classes": list(state.classes),
        "class_prior": dict(zip(state.classes, json.loads(settings.prior), strict=True)),
        "answers": settings.answers,
        "pending": settings.pending,
        "budget": settings.budget,
        "left": settings.left,
        "money": None if settings.money is None else settings.money / MILLION,
        "spent": spent if has_costs else None,
        "committed": settings.committed / MILLION if has_costs else None,
        "expected_accuracy": expected,
        "unlabelled": sum(one.label is None for one in standings),
        "forecast": around if state.kind.name == OneClass.name else None,
        "measured": sum(a == b for a, b in known) / len(known) if known else None,
        "measured_on": len(known),
        "verdicts": {name: verdicts.count(name) for name in sorted(set(verdicts))},
        "stopped": sum(one.stops for one in standings),
        "confidence_threshold": settings.confidence_threshold,
        "min_gain": settings.min_gain,
        "model": "independent" if state.model is None else "dependent",
        "dependence": None if state.model is None else state.model.as_json(),
        "rounds": settings.rounds,
        "paused": bool(settings.paused),
        "blocked": int(state.blocked.sum()),
        "revision": settings.revision,
    }


def least_confident(standings: list[TaskStatus], number: int) -> list[TaskStatus]:
    """Return some of the tasks that have a label, those least sure first."""
    labelled = [(one.confidence, one.task, one) for one in standings if one.confidence is not None]
    return [one for _, _, one in sorted(labelled, key=lambda row: row[:2])[:number]]


def _are_sure(state: State, target: float) -> Bools:
    """Tasks that would be done with another target."""
    gold = calibrate_on_gold(state)
    at = target if gold is None or state.model is None else gold.confidence_threshold(target)
    return np.array([t.confidence >= at and not t.needy for t in state.tasks], dtype=bool)


def least_gain_of(state: State, given: float | None) -> float:
    """Return the minimum gain of a label, as requested or by the settings."""
    if given is None:
        given = state.settings.min_gain
    return 0.0 if given is None else float(given)


def least_of_round(state: State, given: float | None) -> float:
    """Return the minimum gain of a label of a round, as requested or by the settings.

    Labels of a round come at once, though those that `next` would stop after may be among them.
    Where workers err together a task is worth a label by the best rule to go on or stop. All labels
    that are looked ahead gain no less than that rule, and it buys one at least.
    """
    least = least_gain_of(state, given)
    return least if given is not None or state.model is None else least / LOOK_AHEAD


def _able(state: State) -> Bools:
    """Pairs that caps, groups and the minimum quality still allow."""
    free = ~(state.answered | state.pending | state.team_mates | state.out_of_reach)
    may = free & state.lets_in(state.quality)
    has_room = np.array([w.slots < w.max_tasks for w in state.workers])
    return may & has_room[:, None]


def _worth(state: State, min_gain: float, value: float | None) -> tuple[Floats, Bools]:
    """Return the largest gain of every task by the remaining workers, and whether it pays."""
    chances, alone = state.posterior, state.alone
    found = [_worth_of(part, chances[at], alone[at], value) for at, part in state.parts()]
    gain = np.concatenate([gain for gain, _ in found])
    pays = np.concatenate([pays for _, pays in found])
    return gain, (gain > 0.0) & (gain >= min_gain) & pays


def _worth_of(
    state: State, chances: Floats, alone: Floats, value: float | None
) -> tuple[Floats, Bools]:
    """Largest gain of every task of a part, and whether that is worth somebody's price."""
    quality = state.quality.values
    if len(state.classes) == 2:
        quality = np.maximum(quality, 1.0 - quality)
    may = _able(state)
    nothing = 1.0 / len(state.classes)
    top = np.where(may, quality, nothing).max(axis=0)
    answers = state.count(ANSWERED)
    slots = np.array([t.max_workers for t in state.tasks]) - answers
    somebody = may.sum(axis=0) + state.pending.sum(axis=0)
    room = np.minimum(np.minimum(slots, somebody), LOOK_AHEAD)
    joint: dict[str, Any] = {"dependence": state.model, "answers": answers, "max_labels": room}
    joint |= {"alone": alone}
    gain = np.where(may.any(axis=0), gain_per_label(chances, top, **joint), 0.0)
    if value is None:
        return gain, np.ones(gain.size, dtype=bool)
    pays = np.zeros(gain.size, dtype=bool)
    for i, cost in enumerate(state.costs.tolist()):
        one = np.where(may[i], quality[i], nothing)
        each = gain_per_label(chances, one, **joint)
        pays |= may[i] & is_worth_buying(each, cost, value)
    return gain, pays


def is_worth_a_label(state: State) -> Bools:
    """Return tasks to which a label adds the minimum gain, or that are below their minimum."""
    if state.settings.min_gain is None:
        return np.ones(len(state.tasks), dtype=bool)
    needy = np.array([bool(t.needy) for t in state.tasks])
    gain, _ = _worth(state, 0.0, None)
    return needy | (gain >= state.settings.min_gain)

"""Votes on the answers of a campaign by the model of their kind (`crowd_tvcs.answer_kinds`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from crowd_tvcs.answer_kinds import multilabel, ranking, scale
from crowd_tvcs.answer_kinds.comparisons import Comparisons, describe_parts
from crowd_tvcs.answer_kinds.label_sets import LabelSets
from crowd_tvcs.answer_kinds.words import NONE, SEPARATOR, TIE, WORDS, split_cell
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.answers.times import to_iso
from crowd_tvcs.campaign.answer_kinds.kind import LabelSet, Preference, ScaleStep, items_of_pair
from crowd_tvcs.campaign.state import State


class KindVotes(NamedTuple):
    """A vote on the answers of a campaign.

    Attributes
    ----------
    columns, rows
        The result: a row per task, or per item where pairs are compared.
    of_task
        Label and confidence of each task with answers; the confidence is None if not measured.
    sentences
        The claims, and how they were measured.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    of_task: dict[str, tuple[str, float | None]]
    sentences: list[str]


def vote_by_kind(state: State) -> KindVotes | None:
    """Vote by the model of the kind of answers; None for classes, whose model is in the store.

    Answers to gold are in the vote, and measure it. The label of a task that the operator settled
    is that.
    """
    if state.kind.name not in _VOTES:
        return None
    vote, columns = _VOTES[state.kind.name]
    found = vote(state) if state.given.size else KindVotes(columns, [], {}, [])
    settled = {
        row.name: (state.kind.show(row.settled, row.name), 1.0)
        for row in state.tasks
        if row.settled is not None
    }
    if state.kind.name == Preference.name:
        return found._replace(of_task=found.of_task | settled)
    rows, wide = [], len(found.columns)
    by_name = {row[0]: row for row in found.rows}
    for task in state.tasks:
        row = by_name.get(task.name, (task.name, *[None] * (wide - 2), 0))
        if task.name in settled:
            row = (task.name, *settled[task.name], *[None] * (wide - 4), task.answers)
        rows.append(row)
    return found._replace(rows=rows, of_task=found.of_task | settled)


def comparisons_of(state: State, also: Iterable[str] = ()) -> Comparisons:
    """Return all answers on pairs, each with the item that was on the left; items `also` known."""
    rows = []
    for (i, j, code), swapped in zip(state.given.tolist(), state.swapped, strict=True):
        first, second = items_of_pair(state.tasks[j].name)
        left, right = (second, first) if swapped else (first, second)
        answer = WORDS[TIE] if code == TIE else (first, second)[code]
        rows.append((state.workers[i].name, left, right, answer))
    kind = state.kind
    assert isinstance(kind, Preference)
    for task, worker, answer in state.gold_answers:
        rows.append((worker, *kind.sides(task, worker), answer))
    return Comparisons.of(rows, also=also)


def ranking_of(state: State, data: Comparisons) -> ranking.Ranking:
    """Rank the items of a campaign."""
    known = {}
    for task, code in state.gold.items():
        pair = items_of_pair(task)
        if code != TIE:
            known[min(pair), max(pair)] = pair[code]
    return ranking.rank_items(data, known=known or None, rng=state.settings.seed)


def answer_rows(state: State) -> tuple[list[str], list[list[Any]]]:
    """Return all answers with their header, in the order of arrival, as tables of the kind are.

    Where times are known, answered_at and seconds are added.
    """
    if state.kind.name == Preference.name:
        header = ["worker", "left", "right", "answer"]
        rows: list[list[Any]] = []
        for (i, j, code), swapped in zip(state.given.tolist(), state.swapped, strict=True):
            name = state.tasks[j].name
            sides = items_of_pair(name)[:: -1 if swapped else 1]
            rows.append([state.workers[i].name, *sides, state.kind.show(code, name)])
    else:
        header = ["task", "worker", "label"]
        rows = [list(row) for row in _named(state)[: len(state.given)]]
    for k, name in enumerate(("answered_at", "seconds")):
        times = state.times[:, k]
        if not np.isnan(times).all():
            header.append(name)
            shown = [to_iso(t) if k == 0 else _seconds(t) for t in times.tolist()]
            rows = [[*row, cell] for row, cell in zip(rows, shown, strict=True)]
    return header, rows


def _seconds(took: float) -> Any:
    return "" if math.isnan(took) else round(took, 3)


def _named(state: State) -> list[tuple[str, str, str]]:
    """Return all answers as (task, worker, label), those to gold too."""
    tasks, workers, kind = state.tasks, state.workers, state.kind
    rows = [
        (tasks[j].name, workers[i].name, kind.show(code, tasks[j].name))
        for i, j, code in state.given.tolist()
    ]
    return rows + state.gold_answers


def _vote_on_scale(state: State) -> KindVotes:
    steps = state.kind.labels
    known = {task: steps[code] for task, code in state.gold.items()}
    answers = Answers.of(_named(state), classes=steps)
    gold = Gold(known, steps) if known else None
    votes = scale.vote_on_scale(answers, gold, rng=state.settings.seed)
    rows = [row for row in votes.rows() if row[1] is not None]
    return KindVotes(
        scale.LABEL_COLUMNS,
        rows,
        {row[0]: (row[1], row[2]) for row in rows},
        [
            votes.order.describe(),
            scale.describe_claims(votes),
            "plans, the target and the pages take the steps as classes without an order",
        ],
    )


def _vote_on_sets(state: State) -> KindVotes:
    def labels_of(cell: str) -> frozenset[str]:
        return frozenset(split_cell(cell, SEPARATOR, NONE)) - {NONE}

    rows = [(task, worker, labels_of(cell)) for task, worker, cell in _named(state)]
    data = LabelSets.of(rows, labels=state.kind.labels)
    known = {task: labels_of(state.kind.show(code, task)) for task, code in state.gold.items()}
    votes = multilabel.vote_on_sets(data, known)
    found = list(votes.task_rows(SEPARATOR, NONE))
    of_task = {row[0]: (row[1], row[2]) for row in found}
    return KindVotes(multilabel.TASK_COLUMNS, found, of_task, votes.sentences())


def _vote_on_pairs(state: State) -> KindVotes:
    data = comparisons_of(state)
    found = ranking_of(state, data)
    differs, sd = ranking.pair_differences(found.fit)
    place = {name: k for k, name in enumerate(data.items)}
    of_task: dict[str, tuple[str, float | None]] = {}
    for task in state.tasks:
        pair = items_of_pair(task.name)
        if task.answers:
            i, j = (place[name] for name in pair)
            sure = float(ndtr(abs(differs[i, j]) / sd[i, j])) if found.is_measured else None
            better = WORDS[TIE] if differs[i, j] == 0.0 else pair[int(differs[i, j] < 0.0)]
            of_task[task.name] = (better, sure)
    parts = describe_parts(data.parts())
    sentences = ([parts] if parts else []) + found.sentences()
    return KindVotes(ranking.ITEM_COLUMNS, list(found.item_rows()), of_task, sentences)


_VOTES: dict[str, tuple[Callable[[State], KindVotes], tuple[str, ...]]] = {
    ScaleStep.name: (_vote_on_scale, scale.LABEL_COLUMNS),
    LabelSet.name: (_vote_on_sets, multilabel.TASK_COLUMNS),
    Preference.name: (_vote_on_pairs, ranking.ITEM_COLUMNS),
}

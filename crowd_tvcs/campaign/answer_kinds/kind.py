"""How an answer is read, shown and kept: every answer is one integer in the store.

This is all that the rest of a campaign knows of the kind of its answers.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from crowd_tvcs.answer_kinds.words import (
    LEFT,
    NONE,
    SEPARATOR,
    TIE,
    WORDS,
    code_of,
    find_fault_of_pair,
    find_fault_of_set,
    split_cell,
)
from crowd_tvcs.campaign.store.rows import Settings
from tvcs_core.files.display import joined, quoted

VERSUS = " vs "  # between the items in the name of a task
MAX_LABELS = 30  # of a set: a bit each in an integer of a store


@dataclass(frozen=True)
class AnswerKind(ABC):
    """A kind of answers; names of tasks and workers matter to some.

    Attributes
    ----------
    labels
        The classes, steps or labels, or the words of a preference.
    seed
        Of the campaign.
    """

    labels: tuple[str, ...]
    seed: int = 0

    name: ClassVar[str]
    has_classes: ClassVar[bool] = False
    """Whether answers are classes, of which each task has a posterior in the store."""

    @abstractmethod
    def parse(self, text: str, task: str, worker: str | None = None) -> int:
        """Return the code of an answer, of a worker as the desk shows the task to them.

        Raises
        ------
        ValueError
            If it is none; the message goes on from the name of the label.
        """

    @abstractmethod
    def show(self, code: int, task: str) -> str:
        """Return an answer as tables have it."""

    def seen(self, code: int, task: str, worker: str) -> str:
        """Return an answer as its worker saw it."""
        return self.show(code, task)

    def options(self, task: str) -> list[str]:
        """Return all answers to a task, or none if there are too many to list."""
        return list(self.labels)

    def is_swapped(self, task: str, worker: str) -> int | None:
        """Return whether a worker sees the second item on the left; None without sides."""
        return None

    def check_tasks(self, new: Iterable[str], known: Collection[str]) -> None:  # noqa: B027
        """Refuse names of new tasks that cannot be asked, by `ValueError`."""

    def most_common(self, codes: Sequence[int]) -> int:
        """Return the answer that most gave, the first of several."""
        return max(sorted(Counter(codes).items()), key=lambda one: one[1])[0] if codes else 0


class OneClass(AnswerKind):
    """One of K classes."""

    name = "class"
    has_classes = True

    def parse(self, text: str, task: str, worker: str | None = None) -> int:
        """Return the code of an answer; see `AnswerKind`."""
        if text not in self.labels:
            raise ValueError(f"must be one of {', '.join(map(repr, self.labels))}, found {text!r}")
        return self.labels.index(text)

    def show(self, code: int, task: str) -> str:
        """Return an answer as tables have it."""
        return self.labels[code]


class ScaleStep(OneClass):
    """A step of an ordered scale: plans and the desk take the steps as classes."""

    name = "scale"


class Preference(AnswerKind):
    """Which of two items is better, or a tie; the name of a task has both.

    The code is 0 for the first item, 1 for the second and 2 for a tie. Which item is on the left is
    drawn for every worker and task, and kept with the answer.
    """

    name = "pairs"

    def parse(self, text: str, task: str, worker: str | None = None) -> int:
        """Return the code of an answer; see `AnswerKind`."""
        left, right = self.sides(task, worker)
        if fault := find_fault_of_pair(left, right, text):
            raise ValueError(fault)
        code = code_of(left, text)
        return code if code == TIE or left == items_of_pair(task)[0] else 1 - code

    def show(self, code: int, task: str) -> str:
        """Return an answer as tables have it."""
        return WORDS[TIE] if code == TIE else items_of_pair(task)[code]

    def seen(self, code: int, task: str, worker: str) -> str:
        """Return the side that its worker chose."""
        if code == TIE:
            return WORDS[TIE]
        return WORDS[code ^ int(bool(self.is_swapped(task, worker)))]

    def options(self, task: str) -> list[str]:
        """Return all answers to a task."""
        return [*items_of_pair(task), WORDS[TIE]]

    def is_swapped(self, task: str, worker: str) -> int | None:
        """Return whether a worker sees the second item on the left, by lot."""
        text = f"sides {self.seed} {worker} {task}".encode()
        return hashlib.blake2b(text, digest_size=1).digest()[0] & 1

    def check_tasks(self, new: Iterable[str], known: Collection[str]) -> None:
        """Refuse names that are no pairs, and pairs that are there."""
        there = {frozenset(items_of_pair(name)) for name in known}
        for name in new:
            pair = items_of_pair(name)
            task_of_pair(*pair)
            if frozenset(pair) in there:
                raise ValueError(
                    f"the pair of {quoted(pair[0])} and {quoted(pair[1])} is there twice, in "
                    "whichever order; keep one: sides are drawn"
                )
            there.add(frozenset(pair))

    def sides(self, task: str, worker: str | None) -> tuple[str, str]:
        """Return the items on the left and on the right; without a worker as the task has them."""
        first, second = items_of_pair(task)
        is_swapped = worker is not None and self.is_swapped(task, worker)
        return (second, first) if is_swapped else (first, second)


class LabelSet(AnswerKind):
    """Any of several labels, in one answer: a bit of the code for each."""

    name = "multilabel"

    def parse(self, text: str, task: str, worker: str | None = None) -> int:
        """Return the code of an answer; see `AnswerKind`."""
        names = split_cell(text, SEPARATOR, NONE)
        if fault := find_fault_of_set(names, self.labels, SEPARATOR, NONE):
            raise ValueError(f"{fault}, found {quoted(text)}")
        return sum(1 << self.labels.index(name) for name in {*names} - {NONE})

    def show(self, code: int, task: str) -> str:
        """Return an answer as tables have it."""
        marked = [name for k, name in enumerate(self.labels) if code >> k & 1]
        return SEPARATOR.join(marked) or NONE

    def options(self, task: str) -> list[str]:
        """Return none: there are too many."""
        return []

    def most_common(self, codes: Sequence[int]) -> int:
        """Return the labels that more than half marked."""
        bits = range(len(self.labels))
        return sum(1 << k for k in bits if 2 * sum(code >> k & 1 for code in codes) > len(codes))


KINDS: dict[str, type[AnswerKind]] = {
    one.name: one for one in (OneClass, ScaleStep, Preference, LabelSet)
}


def kind_of(settings: Settings) -> AnswerKind:
    """Return the kind of answers of a campaign."""
    return _kind(settings.answer_kind, settings.classes, settings.seed)


@lru_cache(maxsize=16)
def _kind(name: str | None, labels: str, seed: int) -> AnswerKind:
    return KINDS[name or OneClass.name](tuple(json.loads(labels)), seed)


def labels_of_kind(name: str, labels: Sequence[str]) -> tuple[str, ...]:
    """Check the labels of a kind of answers, and return them."""
    if name not in KINDS:
        raise ValueError(f"answer_kind must be one of {joined(KINDS)}, found {quoted(name)}")
    if name == ScaleStep.name:
        from crowd_tvcs.answer_kinds.scale import check_scale

        return check_scale(labels)
    if name == Preference.name:
        return WORDS
    if name == LabelSet.name:
        _check_set(labels)
    return tuple(labels)


def _check_set(labels: Sequence[str]) -> None:
    if not 1 < len(labels) <= MAX_LABELS:
        raise ValueError(
            f"there must be 2 to {MAX_LABELS} labels, found {len(labels)}; ask for more in "
            "a second campaign of the same tasks"
        )
    for label in labels:
        if label == NONE or SEPARATOR in label:
            raise ValueError(
                f"a label must not be {quoted(NONE)}, which is an answer without labels, nor hold "
                f"{quoted(SEPARATOR)}, found {quoted(label)}"
            )


def items_of_pair(task: str) -> tuple[str, str]:
    """Return the items that a task compares."""
    first, between, second = task.partition(VERSUS)
    if not (between and first and second):
        raise ValueError(f"a pair must be named as A{VERSUS}B, found {quoted(task)}")
    return first, second


def task_of_pair(left: str, right: str) -> str:
    """Return the name of the task that compares two items."""
    if fault := find_fault_of_pair(left, right, WORDS[LEFT]):
        raise ValueError(fault)
    for name in (left, right):
        if VERSUS in f" {name} ":
            raise ValueError(
                f"the name of an item must not have the word vs, found {quoted(name)}; rename it"
            )
    return f"{left}{VERSUS}{right}"

"""Gold, and what the others say of the same tasks: what a worker is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, together
from crowd_tvcs.behaviour.evidence import Floats, Integers

TYPICAL = 2.0  # answers that the whole crowd's habits count for on one task


@dataclass(frozen=True, eq=False)
class Crowd:
    """Answers and gold, prepared for comparing a worker with the others.

    Attributes
    ----------
    answers
        All of them.
    truth
        Of every answer the gold label of its task; `UNKNOWN` where there is none.
    """

    answers: Answers
    truth: Integers

    @classmethod
    def of(cls, answers: Answers, gold: Gold) -> Crowd:
        """Prepare answers and gold."""
        answers = together(answers, gold)
        return cls(answers, gold.codes(answers.tasks, answers.classes)[answers.task_of])

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which answers are to gold tasks."""
        return self.truth != UNKNOWN

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which answers are right; False where it is not known."""
        return self.answers.label_of == self.truth

    @cached_property
    def counts(self) -> Floats:
        """How often each label was given to each task, of shape (tasks, classes)."""
        a = self.answers
        out = np.zeros((len(a.tasks), len(a.classes)))
        np.add.at(out, (a.task_of, a.label_of), 1.0)
        return out

    @cached_property
    def of_worker(self) -> list[Integers]:
        """The answers of every worker: in time where it is known, else in the order they stand."""
        a = self.answers
        when = np.zeros(a.size) if a.when is None else np.nan_to_num(a.when, nan=np.inf)
        order = np.lexsort((np.arange(a.size), when, a.worker_of))
        cuts = np.cumsum(a.per_worker)[:-1]
        return np.split(order, cuts)

    @cached_property
    def expected_labels(self) -> Floats:
        """Of every answer how likely each label is by the other answers to its task."""
        a = self.answers
        share = (self.counts.sum(axis=0) + 1.0) / (a.size + len(a.classes))
        out: Floats = self._others + TYPICAL * share
        return out / out.sum(axis=1, keepdims=True)

    @cached_property
    def reference(self) -> Integers:
        """Of every answer what it is compared with: gold, else the label of most of the others.

        `UNKNOWN` where the others tie or there are none.
        """
        a = self.answers
        others = self._others
        top = others.argmax(axis=1)
        most = others[np.arange(a.size), top]
        is_clear = (others == most[:, None]).sum(axis=1) == 1
        by_others = np.where(is_clear, top, UNKNOWN)
        return np.where(self.known, self.truth, by_others)

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Which answers have a reference."""
        return self.reference != UNKNOWN

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """Which answers are their reference; False where there is none."""
        return self.answers.label_of == self.reference

    @cached_property
    def surprise(self) -> Floats:
        """Of every answer: 1 if it is its reference, less the share of others who gave that.

        So that a worker does not look worse where the tasks are harder for everybody. NaN without a
        reference.
        """
        compared, agrees = self.compared, self.agrees
        mean = float(agrees[compared].mean()) if compared.any() else 0.0
        others = self._others
        same = others[np.arange(self.answers.size), np.maximum(self.reference, 0)]
        expected = (same + TYPICAL * mean) / (others.sum(axis=1) + TYPICAL)
        return np.where(compared, agrees - expected, np.nan)

    @property
    def _others(self) -> Floats:
        """Of every answer how often the others gave each label to its task."""
        out = self.counts[self.answers.task_of]
        out[np.arange(self.answers.size), self.answers.label_of] -= 1.0
        return out

    def gold_of(self, worker: int) -> Integers:
        """The answers of a worker to gold tasks, as in `of_worker`."""
        mine = self.of_worker[worker]
        return mine[self.known[mine]]

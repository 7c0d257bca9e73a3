"""Reference labels of a worker's answers: gold, or the other answers to the same tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold, with_shared_classes
from crowd_tvcs.arrays import Bools, Floats, Integers

HABIT_PSEUDOCOUNT = 2.0  # pseudo-answers of the crowd's habits on one task


@dataclass(frozen=True, eq=False)
class Crowd:
    """Answers and gold, prepared for comparing a worker with the others.

    Attributes
    ----------
    answers
        All answers.
    truth
        Gold label of the task of every answer; `UNKNOWN` without one.
    """

    answers: Answers
    truth: Integers

    @classmethod
    def of(cls, answers: Answers, gold: Gold) -> Crowd:
        """Prepare answers and gold."""
        answers = with_shared_classes(answers, gold)
        return cls(answers, gold.codes(answers.tasks, answers.classes)[answers.task_of])

    @property
    def is_gold(self) -> Bools:
        """Mask of the answers to gold tasks."""
        return self.truth != UNKNOWN

    @property
    def is_right(self) -> Bools:
        """Mask of the right answers; False if unknown."""
        return self.answers.label_of == self.truth

    @cached_property
    def counts(self) -> Floats:
        """Number of times that each label was given to each task, of shape (tasks, classes)."""
        return self.answers.label_counts.astype(np.float64)

    @cached_property
    def of_worker(self) -> list[Integers]:
        """Answers of every worker, by time if it is known, else in their order."""
        a = self.answers
        when = np.zeros(a.size) if a.when is None else np.nan_to_num(a.when, nan=np.inf)
        order = np.lexsort((np.arange(a.size), when, a.worker_of))
        cuts = np.cumsum(a.per_worker)[:-1]
        return np.split(order, cuts)

    @cached_property
    def expected_labels(self) -> Floats:
        """Probability of each label of every answer, by the other answers to its task."""
        a = self.answers
        share = (self.counts.sum(axis=0) + 1.0) / (a.size + len(a.classes))
        out: Floats = self._others + HABIT_PSEUDOCOUNT * share
        return out / out.sum(axis=1, keepdims=True)

    @cached_property
    def reference(self) -> Integers:
        """Reference label of every answer: gold, else the label of most of the others.

        `UNKNOWN` if the others tie or there are none.
        """
        a = self.answers
        others = self._others
        top = others.argmax(axis=1)
        most = others[np.arange(a.size), top]
        is_clear = (others == most[:, None]).sum(axis=1) == 1
        by_others = np.where(is_clear, top, UNKNOWN)
        return np.where(self.is_gold, self.truth, by_others)

    @property
    def compared(self) -> Bools:
        """Mask of the answers with a reference."""
        return self.reference != UNKNOWN

    @property
    def agrees(self) -> Bools:
        """Mask of the answers equal to their reference; False without one."""
        return self.answers.label_of == self.reference

    @cached_property
    def surprise(self) -> Floats:
        """Agreement of every answer with its reference, less the share of others who gave it.

        So a worker does not look worse on tasks that are hard for all. NaN without a reference.
        """
        compared, agrees = self.compared, self.agrees
        mean = float(agrees[compared].mean()) if compared.any() else 0.0
        others = self._others
        same = others[np.arange(self.answers.size), np.maximum(self.reference, 0)]
        expected = (same + HABIT_PSEUDOCOUNT * mean) / (others.sum(axis=1) + HABIT_PSEUDOCOUNT)
        return np.where(compared, agrees - expected, np.nan)

    @property
    def _others(self) -> Floats:
        """Number of times that the others gave each label to the task of every answer."""
        out = self.counts[self.answers.task_of]
        out[np.arange(self.answers.size), self.answers.label_of] -= 1.0
        return out

    def gold_of(self, worker: int) -> Integers:
        """Return the answers of a worker to gold tasks, ordered as in `of_worker`."""
        mine = self.of_worker[worker]
        return mine[self.is_gold[mine]]

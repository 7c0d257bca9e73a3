"""Recorded answers: worker, task and label of each, and optionally its time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.answers.names import (
    check_classes,
    check_codes,
    check_labels,
    check_names,
    check_texts,
    encode,
    sort_classes,
)
from crowd_tvcs.answers.times import check_times
from crowd_tvcs.arrays import Bools, Floats, Integers
from tvcs_core.arguments import array_of, items_of
from tvcs_core.files.display import plural
from tvcs_core.files.frames import is_frame

if TYPE_CHECKING:
    import pandas as pd


class GivenByWorkers:
    """Counts of answers that workers give, of any kind."""

    workers: tuple[str, ...]
    worker_of: Integers

    @property
    def size(self) -> int:
        """Number of answers."""
        return int(self.worker_of.size)

    @property
    def per_worker(self) -> Integers:
        """Number of answers of every worker."""
        return np.bincount(self.worker_of, minlength=len(self.workers))


class GivenToTasks(GivenByWorkers):
    """Counts of answers that workers give to tasks."""

    tasks: tuple[str, ...]
    task_of: Integers

    @property
    def per_task(self) -> Integers:
        """Number of answers of every task."""
        return np.bincount(self.task_of, minlength=len(self.tasks))


@dataclass(frozen=True, eq=False)
class Answers(GivenToTasks):
    """Answers of workers to tasks, each pair at most once.

    Attributes
    ----------
    tasks, workers
        Names: not empty, without duplicates. A task or a worker may have no answer.
    classes
        Names of the possible labels, at least two.
    task_of, worker_of, label_of
        Indices of the task, the worker and the label of every answer; of one length.
    layout
        How the file was interpreted, for people; empty without a file.
    when
        Time of every answer, in seconds since 1970, NaN if unknown; None without times. See
        `crowd_tvcs.answers.times`.
    seconds
        Duration of every answer in seconds, above 0, likewise.

    Raises
    ------
    ValueError, TypeError
        If a name is empty or repeated, an index is out of range, or a pair is answered twice.

    Examples
    --------
    >>> Answers.of([("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "dog")])
    Answers(3 answers of 2 workers to 2 tasks, 2 classes)
    """

    tasks: tuple[str, ...]
    workers: tuple[str, ...]
    classes: tuple[str, ...]
    task_of: Integers
    worker_of: Integers
    label_of: Integers
    layout: str
    when: Floats | None
    seconds: Floats | None

    def __init__(
        self,
        tasks: Sequence[str],
        workers: Sequence[str],
        classes: Sequence[str],
        task_of: ArrayLike,
        worker_of: ArrayLike,
        label_of: ArrayLike,
        layout: str = "",
        *,
        when: ArrayLike | None = None,
        seconds: ArrayLike | None = None,
    ) -> None:
        size = array_of("task_of", task_of, copy=False).size
        for kind, given, codes in (
            ("task", tasks, task_of),
            ("worker", workers, worker_of),
            ("label", classes, label_of),
        ):
            plural = "classes" if kind == "label" else f"{kind}s"
            names, codes_of = check_names(plural, given), f"{kind}_of"
            vars(self).update({plural: names, codes_of: check_codes(codes_of, codes, names, size)})
        vars(self).update(
            layout=layout,
            when=check_times("when", when, size),
            seconds=check_times("seconds", seconds, size),
        )
        check_classes(self.classes)
        self._refuse_pairs_twice()

    @classmethod
    def of(
        cls,
        rows: Iterable[tuple[str, str, str]],
        *,
        tasks: Sequence[str] | None = None,
        workers: Sequence[str] | None = None,
        classes: Sequence[str] | None = None,
        layout: str = "",
        when: ArrayLike | None = None,
        seconds: ArrayLike | None = None,
    ) -> Answers:
        """Make answers from rows (task, worker, label).

        Names that are not given are those of the rows, sorted (integer labels by value). The
        answers are sorted by task and worker, so the order of the rows does not matter. Times are
        in the order of the rows.

        Raises
        ------
        ValueError
            If a row has a name outside the given ones, or a pair is answered twice.
        """
        if is_frame(rows):
            raise TypeError("rows must be tuples, found a DataFrame; read_answers reads one")
        listed = list(rows)
        for row in listed:
            if len(row) != 3:
                raise ValueError(f"every row must be (task, worker, label), found {row!r}")
        of_task, of_worker, of_label = ([row[k] for row in listed] for k in range(3))
        if tasks is None:
            check_texts("tasks", of_task)
        if workers is None:
            check_texts("workers", of_worker)
        if classes is None:
            check_labels("labels", of_label)
        task_names = items_of("tasks", sorted(set(of_task)) if tasks is None else tasks)
        worker_names = items_of("workers", sorted(set(of_worker)) if workers is None else workers)
        class_names = items_of("classes", sort_classes(of_label) if classes is None else classes)
        task_of = encode("task", of_task, task_names)
        worker_of = encode("worker", of_worker, worker_names)
        label_of = encode("label", of_label, class_names)
        order = np.lexsort((worker_of, task_of))
        return cls(
            task_names,
            worker_names,
            class_names,
            task_of[order],
            worker_of[order],
            label_of[order],
            layout,
            when=None if when is None else np.asarray(when)[order],
            seconds=None if seconds is None else np.asarray(seconds)[order],
        )

    def __repr__(self) -> str:
        return (
            f"Answers({plural(self.size, 'answer')} of {plural(len(self.workers), 'worker')} "
            f"to {plural(len(self.tasks), 'task')}, "
            f"{plural(len(self.classes), 'class', 'classes')})"
        )

    @property
    def used_classes(self) -> dict[str, int]:
        """Number of answers with each label that has any."""
        counts = np.bincount(self.label_of, minlength=len(self.classes)).tolist()
        return {name: n for name, n in zip(self.classes, counts, strict=True) if n}

    @property
    def label_counts(self) -> Integers:
        """Number of answers to every task with each label, of shape (tasks, classes)."""
        shape = len(self.tasks), len(self.classes)
        cell = self.task_of * shape[1] + self.label_of
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)

    @property
    def given(self) -> Bools:
        """Mask of the answered pairs, of shape (workers, tasks)."""
        out = np.zeros((len(self.workers), len(self.tasks)), dtype=bool)
        out[self.worker_of, self.task_of] = True
        return out

    def select(self, chosen: Bools | Integers) -> Answers:
        """Keep the `chosen` answers, by one boolean per answer or by position; all names stay."""
        picked: dict[str, Any] = {}
        for name in ("task_of", "worker_of", "label_of", "when", "seconds"):
            column = getattr(self, name)
            picked[name] = None if column is None else column[chosen]
        return replace(self, **picked)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return every answer as (task, worker, label)."""
        codes = zip(
            self.task_of.tolist(), self.worker_of.tolist(), self.label_of.tolist(), strict=True
        )
        return [(self.tasks[j], self.workers[i], self.classes[k]) for j, i, k in codes]

    def to_frame(self) -> pd.DataFrame:
        """Return the answers as crowd-kit's pandas table of `task`, `worker` and `label`."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=["task", "worker", "label"])

    def _refuse_pairs_twice(self) -> None:
        pairs = self.worker_of * len(self.tasks) + self.task_of
        unique, count = np.unique(pairs, return_counts=True)
        if (count > 1).any():
            i, j = divmod(int(unique[np.argmax(count > 1)]), len(self.tasks))
            raise ValueError(
                f"every pair must be answered once, but worker {self.workers[i]!r} answered task "
                f"{self.tasks[j]!r} more often"
            )

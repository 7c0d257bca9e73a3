"""Answers: who answered what on which task; gold labels; reading, checking and writing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.columns import (
    ANSWER,
    TASK,
    TRUTH,
    WORKER,
    Coded,
    answered_twice,
    code_columns,
    find,
    first_repeat,
    open_table,
    require_rows,
    said,
)
from crowd_tvcs.answers.names import (
    encode,
    require_classes,
    require_codes,
    require_names,
    sort_classes,
)
from tvcs_core.files.shown import listed, shown
from tvcs_core.files.spreadsheet import shield
from tvcs_core.files.tables import Table, write_table

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of workers to tasks, each pair at most once.

    Attributes
    ----------
    tasks, workers
        Names: not empty, no two the same. A task or a worker may have no answer.
    classes
        Names of the labels there may be, at least two.
    task_of, worker_of, label_of
        Of every answer its task, worker and label, as integers that count `tasks`, `workers` and
        `classes` from 0; of one length.
    layout
        How the file was understood, for people; empty if the answers come from no file.

    Raises
    ------
    ValueError, TypeError
        If a name is empty or repeated, a number counts nothing, or a pair is answered twice.

    Examples
    --------
    >>> Answers.of([("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "dog")])
    Answers(3 answers of 2 workers to 2 tasks, 2 classes)
    """

    tasks: tuple[str, ...]
    workers: tuple[str, ...]
    classes: tuple[str, ...]
    task_of: NDArray[np.int64]
    worker_of: NDArray[np.int64]
    label_of: NDArray[np.int64]
    layout: str

    def __init__(
        self,
        tasks: Sequence[str],
        workers: Sequence[str],
        classes: Sequence[str],
        task_of: ArrayLike,
        worker_of: ArrayLike,
        label_of: ArrayLike,
        layout: str = "",
    ) -> None:
        size = np.asarray(task_of).size
        for kind, given, codes in (
            ("task", tasks, task_of),
            ("worker", workers, worker_of),
            ("label", classes, label_of),
        ):
            plural = "classes" if kind == "label" else f"{kind}s"
            names = require_names(plural, given)
            object.__setattr__(self, plural, names)
            object.__setattr__(self, f"{kind}_of", require_codes(f"{kind}_of", codes, names, size))
        object.__setattr__(self, "layout", layout)
        require_classes(self.classes)
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
    ) -> Answers:
        """Make answers of rows (task, worker, label).

        Names that are not given are those of the rows, sorted (labels that are all integers by
        their value); the answers are sorted by task and worker, so the order of the rows changes
        nothing.

        Raises
        ------
        ValueError
            If a row has a name that is not among those given, or a pair is answered twice.
        """
        listed = list(rows)
        of_task, of_worker, of_label = ([row[k] for row in listed] for k in range(3))
        task_names = tuple(sorted(set(of_task)) if tasks is None else tasks)
        worker_names = tuple(sorted(set(of_worker)) if workers is None else workers)
        class_names = tuple(sort_classes(of_label) if classes is None else classes)
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
        )

    def __repr__(self) -> str:
        return (
            f"Answers({self.size} answers of {len(self.workers)} workers to {len(self.tasks)} "
            f"tasks, {len(self.classes)} classes)"
        )

    @property
    def size(self) -> int:
        """Number of answers."""
        return int(self.task_of.size)

    @property
    def per_task(self) -> NDArray[np.int64]:
        """Number of answers of every task."""
        return np.bincount(self.task_of, minlength=len(self.tasks))

    @property
    def per_worker(self) -> NDArray[np.int64]:
        """Number of answers of every worker."""
        return np.bincount(self.worker_of, minlength=len(self.workers))

    @property
    def given(self) -> NDArray[np.bool_]:
        """Which pairs are answered, of shape (workers, tasks)."""
        out = np.zeros((len(self.workers), len(self.tasks)), dtype=bool)
        out[self.worker_of, self.task_of] = True
        return out

    def select(self, chosen: NDArray[np.bool_]) -> Answers:
        """Keep the answers that are `chosen`, one boolean per answer; all names stay."""
        return Answers(
            self.tasks,
            self.workers,
            self.classes,
            self.task_of[chosen],
            self.worker_of[chosen],
            self.label_of[chosen],
            self.layout,
        )

    def rows(self) -> list[tuple[str, str, str]]:
        """Every answer as (task, worker, label)."""
        codes = zip(
            self.task_of.tolist(), self.worker_of.tolist(), self.label_of.tolist(), strict=True
        )
        return [(self.tasks[j], self.workers[i], self.classes[k]) for j, i, k in codes]

    def frame(self) -> pd.DataFrame:
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


@dataclass(frozen=True, eq=False)
class Gold:
    """Tasks whose label is known.

    Attributes
    ----------
    labels
        Label of each gold task, both by their names.
    classes
        Names of the labels there may be; those of the labels, sorted, if none are given.
    layout
        How the file was understood, for people; empty if it comes from no file.

    Raises
    ------
    ValueError, TypeError
        If a name is empty or a label is none of the classes.
    """

    labels: Mapping[str, str]
    classes: tuple[str, ...]
    layout: str

    def __init__(
        self, labels: Mapping[str, str], classes: Sequence[str] | None = None, layout: str = ""
    ) -> None:
        own = dict(labels)
        if not own or not all(isinstance(task, str) and task for task in own):
            require_names("gold tasks", tuple(own))  # which says what is wrong
        names = require_names("classes", sort_classes(own.values()) if classes is None else classes)
        encode("label", list(dict.fromkeys(own.values())), names)
        object.__setattr__(self, "labels", own)
        object.__setattr__(self, "classes", names)
        object.__setattr__(self, "layout", layout)

    def __repr__(self) -> str:
        return f"Gold({len(self.labels)} tasks, {len(self.classes)} classes)"

    def __len__(self) -> int:
        return len(self.labels)

    def codes(self, tasks: Sequence[str], classes: Sequence[str]) -> NDArray[np.int64]:
        """Label of each of `tasks`, counting `classes` from 0; `UNKNOWN` where none is known.

        Raises
        ------
        ValueError
            If a label of one of the tasks is not among the classes.
        """
        code_of = {name: k for k, name in enumerate(classes)}
        out = np.full(len(tasks), UNKNOWN, dtype=np.int64)
        for j, task in enumerate(tasks):
            if task in self.labels:
                label = self.labels[task]
                if label not in code_of:
                    raise ValueError(
                        f"the gold label of task {task!r} is {label!r}, which is none of the "
                        f"classes {listed(classes, shown)}"
                    )
                out[j] = code_of[label]
        return out


def read_answers(
    path: str | Path, classes: Sequence[str] | None = None, *, also: Sequence[str] = ()
) -> Answers:
    """Read a table of answers, CSV or TSV, plain or ``.gz``: columns task, worker, label.

    `item` stands for `task`, `performer` and `annotator` for `worker`, `output` and `answer`
    for `label`; other columns are ignored. Names stay as they are (``007``, ``NA``); an apostrophe
    before one that starts like a formula is taken off (see `tvcs_core.files.spreadsheet`).

    Parameters
    ----------
    path
        The file.
    classes
        Labels there may be; None for those that occur.
    also
        Labels there may be as well as those that occur, such as those of gold tasks.

    Raises
    ------
    DataError
        Naming file, line and column: a column is missing, a cell is empty, a label is none of
        the classes, or a pair is answered twice.
    """
    table = open_table(path)
    at = find(table, [TASK, WORKER, ANSWER])
    require_rows(table)
    layout = said(table, [TASK, WORKER, ANSWER], at)
    task, worker, label = code_columns(table, at)
    _refuse_other_labels(table, at[2], label, classes)
    tasks, task_of = task.sorted()
    workers, worker_of = worker.sorted()
    keys = task_of * len(workers) + worker_of
    if (twice := first_repeat(keys)) is not None:
        row, before = twice
        names = workers[worker_of[row]], tasks[task_of[row]]
        raise answered_twice(table, row + 1, before + 1, *names)
    found = sort_classes((*label.names, *also)) if classes is None else tuple(classes)
    if len(found) < 2:
        raise table.error(
            f"must have at least two different labels, found only {shown(found[0])}; name the "
            "classes there may be",
            column=at[2],
        )
    size = f"{keys.size} answers of {len(workers)} workers to {len(tasks)} tasks, "
    size += f"{len(found)} classes"
    order = np.argsort(keys)
    place = {name: k for k, name in enumerate(found)}
    label_of = np.array([place[name] for name in label.names])[label.codes]
    of_row = task_of[order], worker_of[order], label_of[order]
    del table, task, worker, label, keys, order, task_of, worker_of, label_of  # twice is too much
    return Answers(tasks, workers, found, *of_row, layout=f"{layout}, {size}")


def read_gold(path: str | Path, classes: Sequence[str] | None = None) -> Gold:
    """Read a table of known labels: columns task (or item) and label (or truth).

    As `read_answers`. A task may be there more than once if its label is always the same.

    Raises
    ------
    DataError
        As there, and if a task has two labels.
    """
    table = open_table(path)
    at = find(table, [TASK, TRUTH])
    require_rows(table)
    layout = said(table, [TASK, TRUTH], at)
    task, label = code_columns(table, at)
    _refuse_other_labels(table, at[1], label, classes)
    first = np.unique(task.codes, return_index=True)[1]
    before = first[task.codes]
    if (other := label.codes != label.codes[before]).any():
        r = int(np.argmax(other))
        raise table.error(
            f"the gold label of task {shown(task.names[task.codes[r]])} is "
            f"{shown(label.names[label.codes[r]])} here and "
            f"{shown(label.names[label.codes[before[r]]])} in line {table.lines[before[r] + 1]}",
            r + 1,
            at[1],
        )
    of_task = map(label.names.__getitem__, label.codes[first].tolist())
    known = dict(zip(task.names, of_task, strict=True))
    del table, task, label, before
    return Gold(known, classes, f"{layout}, {len(known)} gold tasks")


def _refuse_other_labels(
    table: Table, column: int, label: Coded, classes: Sequence[str] | None
) -> None:
    """Refuse a label that is none of the classes; None for any."""
    known = set(label.names if classes is None else classes)
    if classes is None or known.issuperset(label.names):
        return
    others = [k for k, name in enumerate(label.names) if name not in known]
    r = int(np.argmax(np.isin(label.codes, others)))
    names, found = listed(classes, shown), shown(label.names[label.codes[r]])
    raise table.error(f"must be one of the classes {names}, found {found}", r + 1, column)


def write_answers(path: str | Path, answers: Answers) -> None:
    """Write `task, worker, label`; names that look like formulas get an apostrophe."""
    rows = [[shield(cell) for cell in row] for row in answers.rows()]
    write_table(Path(path), ["task", "worker", "label"], rows, ",")


def together(answers: Answers, gold: Gold) -> Answers:
    """Return the same answers with the classes of both, so that gold may have labels of its own."""
    if set(gold.classes) <= set(answers.classes):
        return answers
    classes = sort_classes((*answers.classes, *gold.classes))
    return Answers.of(
        answers.rows(),
        tasks=answers.tasks,
        workers=answers.workers,
        classes=classes,
        layout=answers.layout,
    )

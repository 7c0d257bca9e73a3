"""Reading and writing answers and gold; the doors of the room."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crowd_tvcs.answers.columns import (
    ANSWER,
    TASK,
    TRUTH,
    WORKER,
    Column,
    find,
    open_table,
    require_rows,
    said,
)
from crowd_tvcs.answers.gold import UNKNOWN, Gold
from crowd_tvcs.answers.judged import Judged, judge_rows
from crowd_tvcs.answers.names import sort_classes
from crowd_tvcs.answers.recorded import Answers
from crowd_tvcs.answers.repeats import one_per_pair
from crowd_tvcs.answers.times import read_times, time_columns
from tvcs_core.files.shown import listed, shown
from tvcs_core.files.spreadsheet import shield
from tvcs_core.files.tables import Table, write_table

__all__ = [
    "UNKNOWN",
    "Answers",
    "Gold",
    "read_answers",
    "read_gold",
    "sort_classes",
    "together",
    "write_answers",
]


def read_answers(
    path: str | Path,
    classes: Sequence[str] | None = None,
    *,
    also: Sequence[str] = (),
    keep: str | None = None,
    times: bool = False,
    besides: Sequence[str] = (),
    leave_out_missing: bool = False,
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
    keep
        Which answer to take where a worker answered a task more than once: ``"first"``, ``"last"``
        or ``"majority"`` (see `crowd_tvcs.answers.repeats`); None refuses that.
    times
        Also read when answers were given and how long they took, where columns say so (see
        `crowd_tvcs.answers.times`).
    besides
        Columns that the caller reads, so that `layout` does not call them ignored.
    leave_out_missing
        Whether to leave out answers without a label, a task or a worker: the cell is empty, or
        holds a word or an error that programs write there (see `crowd_tvcs.answers.values`).

    Raises
    ------
    DataError
        Naming file, line and column: a column is missing, a value is no label or no name, a label
        is none of the classes, a pair is answered twice, or (with `times`) a time cannot be.
    """
    table = open_table(path)
    at = find(table, [TASK, WORKER, ANSWER])
    require_rows(table)
    more = time_columns(table) if times else []
    more += [(Column(name), j) for j, name in enumerate(table.rows[0]) if name.lower() in besides]
    columns = [TASK, WORKER, ANSWER, *(column for column, _ in more)]
    layout = said(table, columns, [*at, *(j for _, j in more)])
    named = {TASK.name: at[0], WORKER.name: at[1]}
    judged = judge_rows(table, named, at[2], classes, leave_out_missing=leave_out_missing)
    _refuse_other_labels(table, at[2], judged, classes)
    task, worker, label = *judged.names, judged.label
    tasks, task_of = task.sorted()
    workers, worker_of = worker.sorted()
    kept = one_per_pair(table, judged, keep)
    when, seconds = read_times(table) if times else (None, None)
    found = sort_classes((*label.names, *also)) if classes is None else tuple(classes)
    if len(found) < 2:
        raise table.error(
            f"must have at least two different labels, found only {shown(found[0])}; name the "
            "classes there may be",
            column=at[2],
        )
    size = f"{kept.rows.size} answers of {len(workers)} workers to {len(tasks)} tasks, "
    size += f"{len(found)} classes{judged.described}" + (f"; {kept.said}" if kept.said else "")
    keys = task_of * len(workers) + worker_of
    order = kept.rows[np.argsort(keys[kept.rows])]
    place = {name: k for k, name in enumerate(found)}
    label_of = np.array([place[name] for name in label.names])[label.codes]
    of_row = task_of[order], worker_of[order], label_of[order]
    when, seconds = (None if column is None else column[order] for column in (when, seconds))
    del (
        table,
        judged,
        task,
        worker,
        label,
        keys,
        order,
        task_of,
        worker_of,
        label_of,
    )  # twice is too much
    return Answers(
        tasks, workers, found, *of_row, layout=f"{layout}, {size}", when=when, seconds=seconds
    )


def read_gold(
    path: str | Path,
    classes: Sequence[str] | None = None,
    *,
    leave_out_missing: bool = False,
) -> Gold:
    """Read a table of known labels: columns task (or item) and label (or truth).

    As `read_answers`. A task may be there more than once if its label is always the same. A row
    whose label is empty, as `crowd-tvcs vote` writes it of a task that nobody answered, says
    nothing; `layout` counts such rows.

    Raises
    ------
    DataError
        As there, and if a task has two labels or no row has one.
    """
    table = open_table(path)
    at = find(table, [TASK, TRUTH])
    require_rows(table)
    layout = said(table, [TASK, TRUTH], at)
    judged = judge_rows(
        table,
        {TASK.name: at[0]},
        at[1],
        classes,
        leave_out_missing=leave_out_missing,
        leave_out_empty=True,
    )
    _refuse_other_labels(table, at[1], judged, classes)
    (task,), label, rows = judged.names, judged.label, np.flatnonzero(judged.counts)
    named, first = np.unique(task.codes[rows], return_index=True)
    _refuse_two_labels(table, at[1], judged)
    of_task = label.codes[rows[first]]
    known = {
        task.names[j]: label.names[k] for j, k in zip(named.tolist(), of_task.tolist(), strict=True)
    }
    n_tasks = np.bincount(of_task, minlength=len(label.names))
    once = {} if classes is not None else {
        label.names[k]: table.lines[row + 1]
        for row, k in zip(rows[first].tolist(), of_task.tolist(), strict=True)
        if n_tasks[k] == 1
    }  # fmt: skip
    layout += f", {len(known)} gold tasks{judged.described}"
    del table, judged, task, label, rows
    return Gold(known, classes, layout, once)


def _refuse_two_labels(table: Table, column: int, judged: Judged) -> None:
    """Refuse gold that gives a task two labels."""
    (task,), label, rows = judged.names, judged.label, np.flatnonzero(judged.counts)
    _, first, place = np.unique(task.codes[rows], return_index=True, return_inverse=True)
    before = rows[first][place]
    other = label.codes[rows] != label.codes[before]
    if not other.any():
        return
    many = np.unique(task.codes[rows[other]]).size
    k = int(np.argmax(other))
    r, b = int(rows[k]), int(before[k])
    raise table.error(
        f"the gold label of task {shown(task.names[task.codes[r]])} is "
        f"{shown(label.names[label.codes[r]])} here and "
        f"{shown(label.names[label.codes[b]])} in line {table.lines[b + 1]}"
        + (f", and so {many} tasks have several" if many > 1 else "")
        + "; a gold task has one right label: delete the rows that are wrong, or all rows of a "
        "task of which several labels are right",
        r + 1,
        column,
    )


def _refuse_other_labels(
    table: Table, column: int, judged: Judged, classes: Sequence[str] | None
) -> None:
    """Refuse a label that is none of the classes; None for any."""
    label = judged.label
    known = set(label.names if classes is None else classes)
    if classes is None or known.issuperset(label.names):
        return
    others = [k for k, name in enumerate(label.names) if name not in known]
    r = int(np.argmax(np.isin(label.codes, others) & judged.counts))
    names, found = listed(classes, shown), shown(label.names[label.codes[r]])
    raise table.error(
        f"must be one of the classes {names}, found {found}; write one of them, or name {found} "
        "too where the classes are named",
        r + 1,
        column,
    )


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
        when=answers.when,
        seconds=answers.seconds,
    )

"""Read and write answers and gold; public entry of the room."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowd_tvcs.answers.checked_rows import CheckedRows, check_rows
from crowd_tvcs.answers.columns import (
    ANSWER,
    TASK,
    TRUTH,
    WORKER,
    Column,
    check_any_rows,
    describe_columns,
    find,
    open_table,
)
from crowd_tvcs.answers.duplicates import deduplicate
from crowd_tvcs.answers.gold import UNKNOWN, Gold
from crowd_tvcs.answers.label_typos import warn_of_names
from crowd_tvcs.answers.names import encode, sort_classes
from crowd_tvcs.answers.recorded import Answers
from crowd_tvcs.answers.times import read_times, time_columns
from crowd_tvcs.arrays import Integers
from tvcs_core.arguments import names_of, option_name
from tvcs_core.files.display import joined, plural, quoted
from tvcs_core.files.errors import DataError
from tvcs_core.files.frames import is_frame
from tvcs_core.files.spreadsheet import write_csv
from tvcs_core.files.tables import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "UNKNOWN",
    "Answers",
    "Gold",
    "answers_of",
    "gold_of",
    "read_answers",
    "read_gold",
    "sort_classes",
    "with_shared_classes",
    "write_answers",
]
OF_VOTE = ("confidence", "answers")  # columns of `vote` and of `campaign export-labels`


def read_answers(
    source: str | Path | pd.DataFrame,
    classes: Sequence[str] | None = None,
    *,
    also: Sequence[str] = (),
    duplicates: str | None = None,
    times: bool = False,
    besides: Sequence[str] = (),
    leave_out_missing: bool = False,
) -> Answers:
    """Read a table of answers: columns task, worker, label.

    `item` is accepted for `task`, `performer` and `annotator` for `worker`, `output` and `answer`
    for `label`; other columns are ignored. Names stay unchanged (``007``, ``NA``); an apostrophe
    before one that starts like a formula is removed (see `tvcs_core.files.spreadsheet`).

    Parameters
    ----------
    source
        A file, CSV or TSV, plain or ``.gz``, or a DataFrame (see `tvcs_core.files.frames`).
    classes
        Allowed labels; None for those that occur.
    also
        Labels allowed in addition to those that occur, such as those of gold tasks.
    duplicates
        Rule for duplicate answers of a worker to a task: ``"first"``, ``"last"`` or ``"majority"``
        (see `crowd_tvcs.answers.duplicates`); None refuses duplicates.
    times
        Also read times and durations of the answers, if there are such columns (see
        `crowd_tvcs.answers.times`).
    besides
        Columns that the caller reads, which `layout` then does not report as ignored.
    leave_out_missing
        Whether to leave out answers without a label, a task or a worker: the cell is empty, or
        holds a word or an error that programs write there (see `crowd_tvcs.answers.values`).

    Warns
    -----
    UserWarning
        Labels or names look alike, or like no labels.

    Raises
    ------
    DataError
        Naming file, line and column: a column is missing, a label or a name is invalid, a label is
        not a class, a pair is answered twice, or (with `times`) a time is impossible.
    """
    classes = None if classes is None else names_of("classes", classes)
    table = open_table(
        source, "answers must be Answers, a path or a DataFrame with columns task, worker and label"
    )
    at = find(table, [TASK, WORKER, ANSWER])
    check_any_rows(table)
    more = time_columns(table) if times else []
    more += [(Column(name), j) for j, name in enumerate(table.rows[0]) if name.lower() in besides]
    columns = [TASK, WORKER, ANSWER, *(column for column, _ in more)]
    layout = describe_columns(table, columns, [*at, *(j for _, j in more)])
    named = {TASK.name: at[0], WORKER.name: at[1]}
    checked = check_rows(table, named, at[2], classes, leave_out_missing=leave_out_missing)
    _refuse_other_labels(table, at[2], checked, classes)
    task, worker, label = *checked.names, checked.label
    tasks, task_of = task.sorted()
    workers, worker_of = worker.sorted()
    deduplicated = deduplicate(table, checked, duplicates)
    when, seconds = read_times(table) if times else (None, None)
    found = sort_classes((*label.names, *also)) if classes is None else tuple(classes)
    if len(found) < 2:
        raise table.error(
            f"must have at least two different labels, found only {quoted(found[0])}; name the "
            f"classes there may be with {option_name('classes')}",
            column=at[2],
        )
    n_classes = len(label.names if classes is None else found)
    layout += (
        f", {plural(deduplicated.rows.size, 'answer')} of {plural(len(workers), 'worker')} to "
        f"{plural(len(tasks), 'task')}, {plural(n_classes, 'class', 'classes')}"
        f"{checked.description}{deduplicated.description}"
    )
    keys = task_of * len(workers) + worker_of
    order = deduplicated.rows[np.argsort(keys[deduplicated.rows])]
    label_of = encode("label", label.names, found)[label.codes]
    of_row = task_of[order], worker_of[order], label_of[order]
    when, seconds = (None if column is None else column[order] for column in (when, seconds))
    # Both at once would be too much.
    del table, checked, task, worker, label, keys, order, task_of, worker_of, label_of
    out = Answers(tasks, workers, found, *of_row, layout, when=when, seconds=seconds)
    of_task = dict(zip(tasks, out.per_task.tolist(), strict=True))
    of_worker = dict(zip(workers, out.per_worker.tolist(), strict=True))
    used = out.used_classes if classes is None else {}
    for line in warn_of_names(used, of_task, of_worker):
        warnings.warn(line.removeprefix("warning: "), stacklevel=2)
    return out


def read_gold(
    source: str | Path | pd.DataFrame | pd.Series | Mapping[object, object],
    classes: Sequence[str] | None = None,
    *,
    leave_out_missing: bool = False,
) -> Gold:
    """Read a table of known labels: columns task (or item) and label (or truth).

    As `read_answers`; or a mapping of tasks to labels, or a Series with tasks for an index. A task
    may be repeated if its label is the same. A row with an empty label, as `crowd-tvcs vote` writes
    it for a task without answers, is skipped; `layout` counts such rows.

    Raises
    ------
    DataError
        As there, and if a task has two labels or no row has one.
    """
    classes = None if classes is None else names_of("classes", classes)
    table = open_table(
        _with_columns(source),
        "gold must be Gold, a mapping of tasks to labels, a Series, a path or a DataFrame with "
        "columns task and label",
    )
    at = find(table, [TASK, TRUTH])
    check_any_rows(table)
    if _is_of_vote(table):
        warnings.warn(
            f"{table.path}: has the columns {' and '.join(OF_VOTE)} of a vote, whose labels are no "
            "gold: with the answers they came from they agree by themselves, so accuracies come "
            "out too high",
            stacklevel=2,
        )
    layout = describe_columns(table, [TASK, TRUTH], at)
    checked = check_rows(
        table,
        {TASK.name: at[0]},
        at[1],
        classes,
        leave_out_missing=leave_out_missing,
        leave_out_empty=True,
    )
    _refuse_other_labels(table, at[1], checked, classes)
    (task,), label = checked.names, checked.label
    first = _first_rows(table, at[1], checked)
    of_task = label.codes[first]
    known = {
        task.names[j]: label.names[k]
        for j, k in zip(task.codes[first].tolist(), of_task.tolist(), strict=True)
    }
    n_tasks = np.bincount(of_task, minlength=len(label.names))
    once = {} if classes is not None else {
        label.names[k]: table.lines[row + 1]
        for row, k in zip(first.tolist(), of_task.tolist(), strict=True)
        if n_tasks[k] == 1
    }  # fmt: skip
    layout += f", {plural(len(known), 'gold task')}{checked.description}"
    return Gold(known, classes, layout, once)


def answers_of(given: Answers | str | Path | pd.DataFrame, also: Sequence[str] = ()) -> Answers:
    """Return `Answers` as they are, and those that `read_answers` reads otherwise."""
    if isinstance(given, Answers):
        return given
    try:
        return read_answers(given, also=also)
    except DataError as error:
        error.add_note(
            "classes, duplicates and leave_out_missing are arguments of crowd_tvcs.read_answers, "
            "whose result may be given in place of the table"
        )
        raise


def gold_of(given: Gold | str | Path | pd.DataFrame | pd.Series | Mapping[object, object]) -> Gold:
    """Return `Gold` as it is, and that which `read_gold` reads otherwise."""
    if isinstance(given, Gold):
        return given
    if isinstance(given, Mapping) and not given:
        raise ValueError("gold must have the label of a task or more, found none")
    return read_gold(given)


def _with_columns(source: Any) -> Any:
    """Return a mapping or a Series of labels as a DataFrame, and all others as they are."""
    if isinstance(source, Mapping):
        import pandas as pd

        source = pd.Series(source, dtype=object)
    is_series = hasattr(source, "to_frame") and not is_frame(source)
    return source.rename_axis("task").to_frame("label") if is_series else source


def _first_rows(table: Table, column: int, checked: CheckedRows) -> Integers:
    """Return the first row of every gold task; refuse gold that gives a task two labels."""
    (task,), label, rows = checked.names, checked.label, np.flatnonzero(checked.counts)
    _, first, place = np.unique(task.codes[rows], return_index=True, return_inverse=True)
    before = rows[first][place]
    other = label.codes[rows] != label.codes[before]
    if not other.any():
        return rows[first]
    many = np.unique(task.codes[rows[other]]).size
    k = int(np.argmax(other))
    r, b = int(rows[k]), int(before[k])
    raise table.error(
        f"the gold label of task {quoted(task.names[task.codes[r]])} is "
        f"{quoted(label.names[label.codes[r]])} here and "
        f"{quoted(label.names[label.codes[b]])} in line {table.lines[b + 1]}"
        + (f", and so {many} tasks have several" if many > 1 else "")
        + "; a gold task has one right label: delete the rows that are wrong, or all rows of a "
        "task of which several labels are right",
        r + 1,
        column,
    )


def _is_of_vote(table: Table) -> bool:
    """Whether labels are those of a vote; one that an operator settled has the confidence 1."""
    header = [name.lower() for name in table.rows[0]]
    if not set(OF_VOTE) <= set(header):
        return False
    at = header.index("confidence")
    return any(row[at] not in ("", "1", "1.0") for row in table.rows[1:])


def _refuse_other_labels(
    table: Table, column: int, checked: CheckedRows, classes: Sequence[str] | None
) -> None:
    """Refuse a label that is not a class; None allows any."""
    label = checked.label
    known = set(label.names if classes is None else classes)
    if classes is None or known.issuperset(label.names):
        return
    others = [k for k, name in enumerate(label.names) if name not in known]
    r = int(np.argmax(np.isin(label.codes, others) & checked.counts))
    names, found = joined(classes, quoted), quoted(label.names[label.codes[r]])
    raise table.error(
        f"must be one of the classes {names}, found {found}; write one of them, or name {found} "
        "too where the classes are named",
        r + 1,
        column,
    )


def write_answers(path: str | Path, answers: Answers) -> None:
    """Write `task, worker, label`; names that look like formulas get an apostrophe."""
    write_csv(Path(path), ["task", "worker", "label"], answers.rows())


def with_shared_classes(answers: Answers, gold: Gold) -> Answers:
    """Return the answers with the classes of both, so that gold may have labels of its own.

    If gold has further classes, they are sorted by task and worker: answers to gold tasks are
    drawn by their places.
    """
    if set(gold.classes) <= set(answers.classes):
        return answers
    answers = answers.select(np.lexsort((answers.worker_of, answers.task_of)))
    classes = sort_classes((*answers.classes, *gold.classes))
    place = np.array([classes.index(name) for name in answers.classes])
    return replace(answers, classes=classes, label_of=place[answers.label_of])

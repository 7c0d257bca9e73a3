"""Recorded answers of several labels: the set of labels that a worker gives to a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowd_tvcs.answer_kinds.words import NONE, SEPARATOR, find_fault_of_set, split_cell
from crowd_tvcs.answers.checked_rows import check_rows
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
from crowd_tvcs.answers.recorded import GivenToTasks
from crowd_tvcs.answers.values import BAR, find_label_fault
from crowd_tvcs.arrays import Bools, Integers
from tvcs_core.arguments import option_name
from tvcs_core.files.display import joined, plural, quoted
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import Table

GIVEN, KNOWN = (Column(one.name, (*one.also, "labels")) for one in (ANSWER, TRUTH))


@dataclass(frozen=True, eq=False)
class LabelSets(GivenToTasks):
    """Answers of several labels; a worker answers a task at most once.

    Attributes
    ----------
    tasks, workers, labels
        Names, sorted.
    task_of, worker_of
        Index of the task and of the worker of every answer.
    marks
        Whether the answer has the label, of shape (answers, labels).
    layout
        How the file was interpreted, for people; empty without a file.
    """

    tasks: tuple[str, ...]
    workers: tuple[str, ...]
    labels: tuple[str, ...]
    task_of: Integers
    worker_of: Integers
    marks: Bools
    layout: str = ""

    @classmethod
    def of(
        cls, rows: Iterable[tuple[str, str, Iterable[str]]], *, labels: Sequence[str] | None = None
    ) -> LabelSets:
        """Make answers from rows (task, worker, labels); no label is an answer too.

        Raises
        ------
        ValueError
            If there is no row, no label, a label outside the given `labels`, or a pair twice.

        Examples
        --------
        >>> found = LabelSets.of([("t1", "ann", {"cat", "dog"}), ("t1", "bob", {"cat"})])
        >>> found.labels, found.marks.tolist()
        (('cat', 'dog'), [[True, True], [True, False]])
        """
        listed = [(task, worker, frozenset(names)) for task, worker, names in rows]
        if not listed:
            raise ValueError("must have an answer, found none")
        used = sorted(frozenset().union(*(names for _, _, names in listed)))
        known = tuple(used if labels is None else labels)
        if not known:
            raise ValueError("must have a label, found none in any answer; name them by labels")
        for name in used:
            if name not in known:
                raise ValueError(f"must be one of {joined(known, quoted)}, found {quoted(name)}")
        tasks, task_of = np.unique([row[0] for row in listed], return_inverse=True)
        workers, worker_of = np.unique([row[1] for row in listed], return_inverse=True)
        keys, count = np.unique(task_of * workers.size + worker_of, return_counts=True)
        if count.max() > 1:
            task, worker = divmod(int(keys[count.argmax()]), workers.size)
            raise ValueError(
                f"every pair must be answered once, but worker {str(workers[worker])!r} answered "
                f"task {str(tasks[task])!r} more often"
            )
        marks = np.array([[name in names for name in known] for _, _, names in listed])
        named = tuple(tasks.tolist()), tuple(workers.tolist())
        return cls(*named, known, task_of, worker_of, marks)

    def __repr__(self) -> str:
        return (
            f"LabelSets({plural(self.task_of.size, 'answer')} of "
            f"{plural(len(self.workers), 'worker')} to "
            f"{plural(len(self.tasks), 'task')}, {plural(len(self.labels), 'label')})"
        )


def read_label_sets(
    path: str | Path,
    labels: Sequence[str] | None = None,
    separator: str = SEPARATOR,
    none: str = NONE,
    *,
    also: Iterable[str] = (),
    duplicates: str | None = None,
    leave_out_missing: bool = False,
) -> LabelSets:
    """Read a table of answers: columns task, worker, label, with several labels in a cell.

    Parameters
    ----------
    path
        CSV, TSV or a workbook.
    labels
        Possible labels; None for those that occur.
    separator
        Text between the labels of a cell.
    none
        Word of a cell for no label at all; an empty cell is a missing answer.
    also
        Labels possible besides those that occur, such as those of gold.
    duplicates, leave_out_missing
        As in `crowd_tvcs.answers.answers.read_answers`.

    Raises
    ------
    DataError
        Naming file, line and column of an invalid name or cell.
    """
    table = open_table(path)
    columns = [TASK, WORKER, GIVEN]
    at = find(table, columns)
    check_any_rows(table)
    named = {TASK.name: at[0], WORKER.name: at[1]}
    checked = check_rows(
        table, named, at[2], _present(table, at[2]), leave_out_missing=leave_out_missing
    )
    if duplicates is None:
        _refuse_long(table, at, separator, checked.counts)
    deduplicated = deduplicate(table, checked, duplicates)
    task, worker = checked.names
    sets = _sets(table, at[2], labels, separator, none)
    rows = [
        (task.names[task.codes[r]], worker.names[worker.codes[r]], sets[r])
        for r in deduplicated.rows.tolist()
    ]
    used = frozenset(also).union(*(names for _, _, names in rows))
    if labels is None and not used:
        raise table.error(f"must have a label, found {quoted(none)} alone; give --labels", 1, at[2])
    found = LabelSets.of(rows, labels=sorted(used) if labels is None else labels)
    layout = (
        f"{describe_columns(table, columns, at)}, {plural(len(rows), 'answer')} of "
        f"{plural(len(found.workers), 'worker')} to {plural(len(found.tasks), 'task')}, "
        f"{plural(len(found.labels), 'label')}{checked.description}{deduplicated.description}"
    )
    return LabelSets(**{**vars(found), "layout": layout})


def read_gold_sets(
    path: str | Path,
    labels: Sequence[str] | None = None,
    separator: str = SEPARATOR,
    none: str = NONE,
) -> dict[str, frozenset[str]]:
    """Read tasks with a known set of labels: columns task and label; as `read_label_sets`.

    Raises
    ------
    DataError
        As there, and if a task has two sets.
    """
    table = open_table(path)
    columns: list[Column] = [TASK, KNOWN]
    at = find(table, columns)
    check_any_rows(table, "a gold task")
    checked = check_rows(table, {TASK.name: at[0]}, at[1], _present(table, at[1]))
    (task,) = checked.names
    sets = _sets(table, at[1], labels, separator, none)
    found: dict[str, frozenset[str]] = {}
    for r, names in enumerate(sets):
        name = task.names[task.codes[r]]
        if found.setdefault(name, names) != names:
            raise table.error(
                f"task {quoted(name)} has two sets of labels; write all of its labels in one cell, "
                f"with {quoted(separator)} between",
                r + 1,
                at[1],
            )
    return found


def warn_separator(data: LabelSets, separator: str) -> str | None:
    """Warn of labels that look like several with another text between; None if there are none."""
    for bar in (";", BAR, ",", "#", "\n"):
        several = [name for name in data.labels if bar in name.strip(bar)]
        if bar != separator and several:
            return (
                f"warning: {plural(len(several), 'label holds', 'labels hold')} {quoted(bar)}, "
                f"such as {quoted(several[0])}; "
                f"if it stands between labels, give it as --separator"
            )
    return None


def _refuse_long(table: Table, at: Sequence[int], separator: str, counts: Bools) -> None:
    """Refuse a table with a row for every label of an answer, of the rows that count."""
    first: dict[tuple[str, str], str] = {}
    for r in (np.flatnonzero(counts) + 1).tolist():
        task, worker, cell = (table.rows[r][j] for j in at)
        if first.setdefault((task, worker), cell) != cell and separator not in cell:
            raise table.error(
                f"worker {quoted(worker)} gave task {quoted(task)} other labels in a row above: if "
                f"they are of one answer, write them in one cell, with {quoted(separator)} between "
                f"(pandas: groupby(['task', 'worker']).label.agg({separator!r}.join)); else give "
                f"{option_name('duplicates')}",
                r,
                at[2],
            )


def _present(table: Table, column: int) -> list[str]:
    """Return the cells of a column that stand for no missing value."""
    cells = {unshield(row[column]) for row in table.rows[1:]}
    faults = {cell: find_label_fault(cell) for cell in cells}
    return sorted(cell for cell, fault in faults.items() if fault is None or not fault.is_missing)


def _sets(
    table: Table, column: int, labels: Sequence[str] | None, separator: str, none: str
) -> list[frozenset[str]]:
    """Return the set of labels of every row; none of a missing one."""
    known: dict[str, frozenset[str]] = {}
    out = []
    for r, row in enumerate(table.rows[1:], start=1):
        cell = unshield(row[column])
        if (missing := find_label_fault(cell)) and missing.is_missing:
            out.append(frozenset[str]())
            continue
        if cell not in known:
            names = split_cell(cell, separator, none)
            fault = find_fault_of_set(names, labels, separator, none)
            if fault:
                raise table.error(f"{fault}, found {quoted(cell)}", r, column)
            known[cell] = frozenset(names) - {none}
        out.append(known[cell])
    return out

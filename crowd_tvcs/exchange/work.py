"""Exported work: tasks with their content and assigned workers, and the accounts of workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from crowd_tvcs.answers.columns import (
    TASK,
    WORKER,
    Column,
    find,
    names_in,
    open_table,
    refuse_others,
    rows_by_name,
)
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.errors import DataError
from tvcs_core.files.spreadsheet import unshield

ACCOUNTS = (Column("account"), Column("worker"))
RESERVED = frozenset({"assigned", "answers", "worker", "PROLIFIC_PID", "id", "meta"})  # columns


@dataclass(frozen=True)
class Work:
    """A task and its assigned workers.

    Attributes
    ----------
    task
        Name of the task.
    payload
        Content for the tool, by column: a text, the address of an image.
    workers
        At least one, sorted.
    """

    task: str
    payload: Mapping[str, str]
    workers: tuple[str, ...]

    @property
    def assigned(self) -> str:
        """The workers between bars, such as ``|ann|bob|``: a filter for ``|ann|`` finds Ann's."""
        return f"|{'|'.join(self.workers)}|"


@dataclass(frozen=True)
class TaskTable:
    """Tasks and their columns, as text.

    Attributes
    ----------
    path
        The file.
    payload
        Cells of every task by column, without the name.
    """

    path: str
    payload: Mapping[str, Mapping[str, str]]


def read_assignment(path: str | Path) -> list[tuple[str, str]]:
    """Read the (worker, task) pairs of an assignment.csv, or of a folder with one.

    Other columns are ignored; apostrophes before names that look like formulas are removed.

    Raises
    ------
    DataError
        Naming the line of a missing name or a repeated pair.
    """
    file = Path(path)
    if file.is_dir():
        file = file / "assignment.csv"
        if not file.is_file():
            raise DataError("must hold assignment.csv, as crowd-tvcs assign writes it", path=path)
    table = open_table(file)
    at = find(table, [WORKER, TASK])
    line_of: dict[tuple[str, str], int] = {}
    for (r, worker), (_, task) in zip(*(names_in(table, j) for j in at), strict=True):
        if (worker, task) in line_of:
            line = line_of[worker, task]
            raise table.error(
                f"{quoted(worker)} has {quoted(task)} already, in line {line}", r, at[1]
            )
        line_of[worker, task] = table.lines[r]
    return list(line_of)


def read_tasks(path: str | Path) -> TaskTable:
    """Read a table with the column `task` and further columns, the content for the tool.

    Raises
    ------
    DataError
        Naming the line and column of a missing or repeated task, or of a reserved column.
    """
    table = open_table(path)
    (at,) = find(table, [Column("task")])  # the others are the tool's, a column item as well
    header = [unshield(cell) for cell in table.rows[0]]
    for j, name in enumerate(header):
        if not name or name in RESERVED or header.count(name) > 1:
            what = "twice" if header.count(name) > 1 else "a reserved name, or none"
            raise table.error(
                f"every column needs a name of its own, found {quoted(name)}: {what}", 0, j
            )
    payload = {
        task: {
            name: unshield(cell)
            for j, (name, cell) in enumerate(zip(header, table.rows[r], strict=True))
            if j != at
        }
        for task, r in rows_by_name(table, at).items()
    }
    return TaskTable(str(path), payload)


def gather(pairs: Iterable[tuple[str, str]], tasks: TaskTable | None = None) -> tuple[Work, ...]:
    """Group the workers by assigned task, sorted by task."""
    workers: dict[str, list[str]] = {}
    for worker, task in pairs:
        workers.setdefault(task, []).append(worker)
    if not workers:
        raise ValueError("there must be a pair to give out, found none")
    if tasks is not None and (lacking := sorted(workers.keys() - tasks.payload.keys())):
        named = joined(lacking, quoted)
        raise DataError(f"must list every task that is assigned, without: {named}", path=tasks.path)
    return tuple(
        Work(task, {} if tasks is None else tasks.payload[task], tuple(sorted(workers[task])))
        for task in sorted(workers)
    )


def read_accounts(path: str | Path) -> dict[str, str]:
    """Read the accounts of the workers: a table with the columns `account` and `worker`.

    Several accounts may be one worker.

    Raises
    ------
    DataError
        If a column or a cell is missing, or an account is repeated.
    """
    table = open_table(path)
    refuse_others(table, ACCOUNTS)
    account, worker = find(table, ACCOUNTS)
    workers = dict(names_in(table, worker, "worker"))
    return {name: workers[row] for name, row in rows_by_name(table, account, "account").items()}

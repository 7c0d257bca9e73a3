"""Tables of an operator: workers, tasks, qualities and answers, every cell with its line."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from crowd_tvcs.answers.answers import ALIASES
from crowd_tvcs.answers.columns import (
    TASK_COLUMNS,
    WORKER_COLUMNS,
    Reader,
    open_table,
    read_chance,
    read_rows,
)
from crowd_tvcs.answers.quality import Quality, read_quality
from crowd_tvcs.campaign.entries import Line, Task, Worker
from tvcs_core.files.errors import DataError
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import Table, read_table

Qualities = dict[str, float] | Quality


def read_workers(path: Path, known: Collection[str] | None = None) -> list[Worker]:
    """Read `worker` and any of `max_tasks`, `cost`, `group`; names are `known` ones if given.

    Raises
    ------
    DataError
        Naming file, line and column of what is not as it must be.
    """
    rows = read_rows(path, "worker", WORKER_COLUMNS, known)
    free = [name for name, row in rows.items() if "cost" not in row]
    if 0 < len(free) < len(rows):
        raise DataError(
            f"every worker must have a cost, found none for {free[0]!r}", path=str(path)
        )
    return [
        Worker(name, row.get("max_tasks"), row.get("cost"), row.get("group"))
        for name, row in rows.items()
    ]


def read_tasks(path: Path, known: Collection[str] | None = None) -> list[Task]:
    """Read `task` and any of `prior`, `min_workers`, `max_workers`; errors as there."""
    return [
        Task(name, row.get("prior"), row.get("min_workers", 0), row.get("max_workers"))
        for name, row in read_rows(path, "task", TASK_COLUMNS, known).items()
    ]


def read_qualities(path: Path) -> Qualities:
    """Read one quality per worker (`worker, quality`), or a table that `read_quality` reads."""
    table, header = open_table(path)
    if "quality" not in header or "task" in header:
        return read_quality(path).quality
    columns: dict[str, Reader] = {name: _anything for name in header if name != "worker"}
    rows = read_rows(path, "worker", columns | {"quality": read_chance})
    for i, (name, row) in enumerate(rows.items(), start=1):
        if "quality" not in row:
            raise table.error(f"the quality of worker {name!r} is missing", i)
    return {name: row["quality"] for name, row in rows.items()}


def read_lines(path: Path) -> list[Line]:
    """Read answers `task, worker, label` with their lines; other columns are ignored.

    Raises
    ------
    DataError
        If a column is missing, a cell is empty, or a pair is there twice.
    """
    table = read_table(path)
    table.require_rectangle()
    header = [ALIASES.get(cell.lower(), cell.lower()) for cell in table.rows[0]]
    at = []
    for kind in ("task", "worker", "label"):
        if header.count(kind) != 1:
            found = ", ".join(table.rows[0])
            raise table.error(f"must have one column {kind}, found {found}", 0)
        at.append(header.index(kind))
    out: list[Line] = []
    seen: dict[tuple[str, str], int] = {}
    for r, row in enumerate(table.rows[1:], start=1):
        task, worker, label = (unshield(row[j]) for j in at)
        for j, cell in zip(at, (task, worker, label), strict=True):
            if not cell:
                raise table.error("must be a name, found an empty cell", r, j)
        if (task, worker) in seen:
            raise table.error(
                f"worker {worker!r} answers task {task!r} twice: here and in line "
                f"{table.lines[seen[task, worker]]}",
                r,
            )
        seen[task, worker] = r
        out.append(Line(task, worker, label, table, r))
    return out


def _anything(table: Table, row: int, column: int) -> None:
    return None

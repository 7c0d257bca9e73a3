"""Tables of an operator: workers, tasks, qualities and answers, every cell with its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from crowd_tvcs.answers import ALIASES as ANSWER_ALIASES
from crowd_tvcs.campaign.entries import MILLION, Line, Task, Worker
from crowd_tvcs.quality import Quality, read_quality
from tvcs_core.files import Table, read_table
from tvcs_core.spreadsheet import unshield

ALIASES = ANSWER_ALIASES | {"quality": "quality"}
Qualities = dict[str, float] | Quality


def read_workers(path: Path) -> list[Worker]:
    """Read `worker` and any of `max_tasks`, `cost`, `group`.

    Raises
    ------
    DataError
        Naming file, line and column of what is not as it must be.
    """
    rows = _read(path, "worker", {"max_tasks": _count, "cost": _cost, "group": _name})
    return [
        Worker(name, row.get("max_tasks"), row.get("cost", 0.0), row.get("group"))
        for name, row in rows.items()
    ]


def read_tasks(path: Path) -> list[Task]:
    """Read `task` and any of `prior`, `min_workers`, `max_workers`; errors as there."""
    columns = {"prior": _chance, "min_workers": _count, "max_workers": _count}
    return [
        Task(name, row.get("prior"), row.get("min_workers", 0), row.get("max_workers"))
        for name, row in _read(path, "task", columns).items()
    ]


def read_qualities(path: Path) -> Qualities:
    """Read one quality per worker (`worker, quality`), or a table that `read_quality` reads."""
    table, header = _open(path)
    if "quality" not in header or "task" in header:
        return read_quality(path).quality
    columns: dict[str, Reader] = {name: _anything for name in header if name != "worker"}
    rows = _read(path, "worker", columns | {"quality": _chance})
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
    table, header = _open(path)
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


Reader = Callable[[Table, int, int], Any]


def _read(path: Path, kind: str, columns: Mapping[str, Reader]) -> dict[str, dict[str, Any]]:
    """Read one row per name; an empty cell says nothing."""
    table, header = _open(path)
    known = [kind, *columns]
    for j, name in enumerate(header):
        if name not in known or header.count(name) > 1:
            what = f"found {table.rows[0][j]!r}" + (" twice" if name in known else "")
            raise table.error(f"the columns may be {', '.join(known)}, {what}", 0, j)
    if kind not in header:
        raise table.error(f"must have the column {kind}", 0)
    at = header.index(kind)
    out: dict[str, dict[str, Any]] = {}
    line_of: dict[str, int] = {}
    for r, row in enumerate(table.rows[1:], start=1):
        name = unshield(row[at])
        if not name:
            raise table.error(f"must be a {kind}, found an empty cell", r, at)
        if name in out:
            raise table.error(f"{name!r} is there already, in line {line_of[name]}", r, at)
        line_of[name] = table.lines[r]
        out[name] = {
            column: columns[column](table, r, j)
            for j, column in enumerate(header)
            if j != at and row[j]
        }
    return out


def _open(path: Path) -> tuple[Table, list[str]]:
    table = read_table(path)
    table.require_rectangle()
    return table, [ALIASES.get(cell.lower(), cell.lower()) for cell in table.rows[0]]


def _count(table: Table, row: int, column: int) -> int:
    cell = table.rows[row][column]
    if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
        raise table.error(f"must be an integer from 0 to 999999999, found {cell!r}", row, column)
    return int(cell)


def _chance(table: Table, row: int, column: int) -> float:
    cell = table.rows[row][column]
    try:
        value = float(cell)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise table.error(f"must be a probability in [0, 1], found {cell!r}", row, column)
    return value


def _cost(table: Table, row: int, column: int) -> float:
    cell = table.rows[row][column]
    try:
        value = Decimal(cell)
    except InvalidOperation:
        value = Decimal(-1)
    if not (value.is_finite() and 0 <= value < MILLION):
        raise table.error(f"must be a price from 0 to below 1000000, found {cell!r}", row, column)
    return float(value)


def _name(table: Table, row: int, column: int) -> str:
    return unshield(table.rows[row][column])


def _anything(table: Table, row: int, column: int) -> None:
    return None

"""The operator's tables of workers and of tasks: which columns there may be, and what they hold.

`crowd-tvcs assign`, `what-if` and `campaign` read the same tables, so that what one of them takes
the others take as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from crowd_tvcs.answers.quality import ALIASES
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import Table, read_table

MOST_COUNT = 999_999_999
PRICES = (1e-6, 1e6)  # of a label that is not free: at least, and below; a store keeps millionths

Reader = Callable[[Table, int, int], Any]  # of the cell in this row and column
Rows = dict[str, dict[str, Any]]  # by name, the cells that are not empty by column


def read_rows(
    path: Path,
    kind: str,
    columns: Mapping[str, Reader],
    known: Collection[str] | None = None,
) -> Rows:
    """Read one row per name; an empty cell says nothing.

    Parameters
    ----------
    path
        CSV or TSV, plain or ``.gz``.
    kind
        ``"worker"`` or ``"task"``: the column of the names.
    columns
        The other columns there may be, and what reads their cells; any other is an error, so that
        none is overlooked.
    known
        Names there may be, those of the quality table; None for any.

    Raises
    ------
    DataError
        Naming file, line and column of what is not as it must be.
    """
    table, header = open_table(path)
    names = [kind, *columns]
    for j, name in enumerate(header):
        if name not in names or header.count(name) > 1:
            what = f"found {table.rows[0][j]!r}" + (" twice" if name in names else "")
            raise table.error(f"the columns may be {', '.join(names)}, {what}", 0, j)
    if kind not in header:
        raise table.error(f"must have the column {kind} and any of {', '.join(columns)}", 0)
    at = header.index(kind)
    out: Rows = {}
    line_of: dict[str, int] = {}
    for r, row in enumerate(table.rows[1:], start=1):
        name = unshield(row[at])
        if not name:
            raise table.error(f"must be a {kind}, found an empty cell", r, at)
        if known is not None and name not in known:
            raise table.error(f"must be a {kind} of the quality table, found {name!r}", r, at)
        if name in out:
            raise table.error(f"{name!r} is there already, in line {line_of[name]}", r, at)
        line_of[name] = table.lines[r]
        out[name] = {
            column: columns[column](table, r, j)
            for j, column in enumerate(header)
            if j != at and row[j]
        }
    return out


def open_table(path: Path) -> tuple[Table, list[str]]:
    """Read a table and its header, columns by the names that we give them."""
    table = read_table(path)
    table.require_rectangle()
    return table, [ALIASES.get(cell.lower(), cell.lower()) for cell in table.rows[0]]


def read_count(table: Table, row: int, column: int) -> int:
    """Read a cap or a minimum."""
    cell = table.rows[row][column]
    if not (cell.isascii() and cell.isdigit()):
        raise table.error(f"must be an integer >= 0, found {cell!r}", row, column)
    if len(cell.lstrip("0")) > len(str(MOST_COUNT)):
        raise table.error(f"must be at most {MOST_COUNT}, found {cell!r}", row, column)
    return int(cell)


def read_price(table: Table, row: int, column: int) -> float:
    """Read what a label costs: nothing, or something within `PRICES`."""
    cell = table.rows[row][column]
    value = _number(cell)
    if not 0.0 <= value < math.inf:
        raise table.error(f"must be a finite number >= 0, found {cell!r}", row, column)
    if value and not PRICES[0] <= value < PRICES[1]:
        raise table.error(
            f"must be 0, or from {PRICES[0]:.6f} to below {PRICES[1]:.0f}, found {cell!r}",
            row,
            column,
        )
    return value


def read_chance(table: Table, row: int, column: int) -> float:
    """Read a probability."""
    cell = table.rows[row][column]
    value = _number(cell)
    if not 0.0 <= value <= 1.0:
        raise table.error(f"must be a probability in [0, 1], found {cell!r}", row, column)
    return value


def read_name(table: Table, row: int, column: int) -> str:
    """Read the name of a group."""
    return unshield(table.rows[row][column])


WORKER_COLUMNS: Mapping[str, Reader] = {
    "max_tasks": read_count,
    "cost": read_price,
    "group": read_name,
}
TASK_COLUMNS: Mapping[str, Reader] = {
    "prior": read_chance,
    "min_workers": read_count,
    "max_workers": read_count,
}


def _number(cell: str) -> float:
    """The number in a cell; nan for anything else."""
    try:
        return float(cell)
    except ValueError:
        return math.nan

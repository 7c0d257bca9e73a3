"""Rows of tables of workers and tasks: their columns, and the limits of cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crowd_tvcs.answers.columns import WORKER, Column, find, open_table, refuse_others, rows_by_name
from crowd_tvcs.answers.values import (
    CURRENCY,
    Amount,
    of_no_currency,
    parse_money,
    parse_share,
    without_zeros,
)
from crowd_tvcs.arrays import Floats
from tvcs_core.files.display import quoted, unquoted
from tvcs_core.files.encodings import number_hint
from tvcs_core.files.errors import DataError
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import Table

MAX_COUNT = 999_999_999  # fits into 32 bits
HUNDREDTHS = "; of percent write hundredths, .9 for 90"
COST = Column("cost", ("minutes",))
"""The price of a label of a worker: money, or the minutes that it takes."""
COST_RANGE = (1e-6, 1e6)  # of a label that is not free, end left out; a store keeps millionths
MEDIA_COLUMNS = ("image", "audio", "video", "image_2", "audio_2", "video_2")
"""Columns of a task's content that name a file."""
CONTENT_COLUMNS = ("text", "text_2", *MEDIA_COLUMNS)

Reader = Callable[[Table, int, int], Any]  # of the cell in this row and column
Rows = dict[str, dict[str, Any]]  # by name, the cells that are not empty by column


def content_columns(table: Table, limits: Sequence[Column]) -> list[str]:
    """Return the columns that workers see; none if no header is one of `CONTENT_COLUMNS`.

    A table with content may have any other columns beside it, which are shown too.

    Parameters
    ----------
    table
        A table of tasks.
    limits
        Its columns that workers do not see.
    """
    header = table.rows[0]
    if not any(name.lower() in CONTENT_COLUMNS for name in header):
        return []
    return [name for name in header if name and not any(one.matches(name) for one in limits)]


def rows_of(
    table: Table,
    kind: Column,
    columns: Mapping[str, Reader],
    known: Collection[str] | None = None,
    skipped: Sequence[str] = (),
) -> Rows:
    """Return one row per name; empty cells are skipped.

    Parameters
    ----------
    table
        The table.
    kind
        `WORKER` or `TASK`: the column of the names.
    columns
        The other columns allowed, with the readers of their cells; any other is an error.
    known
        Names allowed, those of the quality table; None for any.
    skipped
        Columns that are not read.
    """
    others = [COST if name == COST.name else Column(name) for name in columns]
    refuse_others(table, [kind, *others, *(Column(name.lower()) for name in skipped)])
    (at,) = find(table, [kind], f"; others may be {', '.join(columns)}")
    there = [c for c in others if any(map(c.matches, table.rows[0]))]
    places = list(zip(there, find(table, there), strict=True))
    return {
        name: {
            column.name: columns[column.name](table, r, j)
            for column, j in places
            if table.rows[r][j]
        }
        for name, r in rows_by_name(table, at, kind.name, known).items()
    }


def read_count(table: Table, row: int, column: int) -> int:
    """Read a cap or a minimum."""
    cell = table.rows[row][column]
    whole = without_zeros(cell)
    if not (whole.isascii() and whole.isdigit()):
        remedy = number_hint(cell) or "; write a whole number, or leave the cell empty"
        what = f"must be an integer >= 0, found {quoted(cell)}{remedy}"
        raise table.error(what, row, column)
    if len(whole.lstrip("0")) > len(str(MAX_COUNT)):
        raise table.error(f"must be at most {MAX_COUNT}, found {quoted(cell)}", row, column)
    return int(whole)


def read_cost(table: Table, row: int, column: int) -> float:
    """Read the cost of a label: 0, or a number within `COST_RANGE`, with a currency or without."""
    cell = table.rows[row][column]
    _check_currency(table, row, column)
    value = _number(cell, parse_money)
    if not 0.0 <= value < math.inf:
        hint = number_hint(CURRENCY.sub("", cell).strip())
        what = f"must be a finite number >= 0, found {quoted(cell)}{hint}"
        raise table.error(what, row, column)
    if value and not COST_RANGE[0] <= value < COST_RANGE[1]:
        raise table.error(
            f"must be 0, or from {COST_RANGE[0]:.6f} to below {COST_RANGE[1]:.0f}, "
            f"found {quoted(cell)}",
            row,
            column,
        )
    return value


def read_probability(table: Table, row: int, column: int) -> float:
    """Read a probability, as a number up to 1 or in per cent, with a point or a comma."""
    cell = table.rows[row][column]
    value = _number(cell, parse_share)
    if not 0.0 <= value <= 1.0:
        hint = HUNDREDTHS if 2.0 < value <= 100.0 else ""
        raise table.error(
            f"must be a probability in [0, 1], found {quoted(cell)}{hint}", row, column
        )
    return value


def read_shares(table: Table, columns: Sequence[int], what: str) -> Floats:
    """Read columns of shares below the header, each as `read_probability` does."""
    try:
        values = table.numbers(1, columns)
    except DataError:
        rows = range(1, len(table.rows))
        if not any(mark in table.rows[r][j] for r in rows for j in columns for mark in "%,"):
            raise
        return np.array([[read_probability(table, r, j) for j in columns] for r in rows])
    wrong = (values < 0.0) | (values > 1.0)
    if wrong.any():
        i, k = np.unravel_index(int(np.argmax(wrong)), values.shape)
        row, column = int(i) + 1, columns[int(k)]
        hundredths = HUNDREDTHS if values.max() > 2.0 else ""
        found = unquoted(table.rows[row][column])
        raise table.error(f"{what} must be in [0, 1], found {found}{hundredths}", row, column)
    return values


def read_name(table: Table, row: int, column: int) -> str:
    """Read the name of a group."""
    return unshield(table.rows[row][column])


WORKER_COLUMNS: Mapping[str, Reader] = {
    "max_tasks": read_count,
    "cost": read_cost,
    "group": read_name,
}
TASK_COLUMNS: Mapping[str, Reader] = {
    "prior": read_probability,
    "min_workers": read_count,
    "max_workers": read_count,
}


def read_worker_rows(path: Path, known: Collection[str] | None = None) -> Rows:
    """Read a table of workers for a plan."""
    return rows_of(open_table(path), WORKER, WORKER_COLUMNS, known)


def check_costs(path: Path, rows: Rows, workers: Iterable[str]) -> None:
    """Refuse a worker without a cost if others have one, so that none counts as free by mistake."""
    free = [name for name in workers if "cost" not in rows.get(name, {})]
    if free and any("cost" in row for row in rows.values()):
        raise DataError(
            f"every worker must have a cost, found none for {quoted(free[0])}", path=path
        )


def check_limit_currency(path: Path, limit: float | None) -> None:
    """Refuse a limit of money in another currency than the costs in a table of workers."""
    asked = limit.currency if isinstance(limit, Amount) else ""
    if not asked:
        return
    table = open_table(path)
    if not any(map(COST.matches, table.rows[0])):
        return
    (at,) = find(table, [COST])
    for row in range(1, len(table.rows)):
        found = CURRENCY.search(table.rows[row][at])
        if found is not None and found[0] != asked:
            what = f"must be in {asked}, as --money is, found {quoted(table.rows[row][at])}"
            raise table.error(f"{what}; give the money and all costs in one currency", row, at)


def refuse_currencies(path: Path) -> None:
    """Refuse costs in a currency, where they join others whose currency is not known."""
    table = open_table(path)
    for at in COST.find(table.rows[0]):
        for row in range(1, len(table.rows)):
            if found := CURRENCY.search(table.rows[row][at]):
                cell = table.rows[row][at]
                raise table.error(of_no_currency(cell, found[0]), row, at)


def _check_currency(table: Table, row: int, column: int) -> None:
    """Check that a column of money has one currency, and one of minutes has none.

    Raises
    ------
    DataError
        If an earlier cell has another currency: costs are compared and added up.
    """
    cell = table.rows[row][column]
    found = CURRENCY.search(cell)
    if found is None:
        return
    if table.rows[0][column].lower() == "minutes":
        raise table.error(f"must be a number of minutes, found {quoted(cell)}", row, column)
    earlier = (other[column] for other in table.rows[1:row])
    first = next(filter(CURRENCY.search, earlier), cell)
    if found[0] not in first:
        raise table.error(
            f"must have the currency of {quoted(first)}, found {quoted(cell)}; give all costs in "
            "one currency",
            row,
            column,
        )


def _number(cell: str, parse: Callable[[str], float]) -> float:
    """Return the number in a cell; nan for anything else."""
    try:
        return parse(cell)
    except ValueError:
        return math.nan

"""Tables as R, Excel and pandas write them, brought to one form before anybody asks what they say.

A header one cell short is that of R's row names; empty columns and titles are what spreadsheets
leave; a comma may be the decimal point. A table that needs none of this comes back as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tvcs_core.files.rows import Rows
from tvcs_core.files.tables import DELIMITERS, SPACE, Table, read_table

INDEX = ("", "unnamed: 0")  # how R and pandas head the names of rows
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
_POINT = re.compile(r"[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+")


def open_table(path: str | Path, *, sheet: str | None = None) -> Table:
    """Read a table of expression or of samples, whatever program wrote it.

    Parameters
    ----------
    path
        Text with tabs, commas, semicolons or spaces between cells, or a workbook.
    sheet
        The sheet of a workbook; None for the only one.

    Raises
    ------
    DataError
        As `tvcs_core.files.tables.read_table`; or if a title stands above the table, or commas
        may be decimal points as well as thousands.
    """
    table = read_table(path, sheet=sheet, spaces=True)
    _refuse_title(table)
    table = _without_empty_columns(_of_r(table))
    return _with_points(table)


def _of_r(table: Table) -> Table:
    """Give the names of rows a first, empty heading, where every row has one cell more."""
    short = len(table.rows[0])
    if len(table.rows) < 2 or len(table.rows[1]) <= short:
        return table
    if not any(len(row) < short or any(row[short:]) for row in table.rows[1:]):
        return _of_rows(table, (row[:short] for row in table.rows))  # delimiters at the end
    if any(len(row) != short + 1 for row in table.rows[1:]):
        return table
    return _of_rows(table, (row if i else ["", *row] for i, row in enumerate(table.rows)))


def _without_empty_columns(table: Table) -> Table:
    header = table.rows[0]
    empty = {j for j, cell in enumerate(header) if not cell}
    if not empty:
        return table
    for row in table.rows[1:]:
        if len(row) != len(header):
            return table
        empty -= {j for j in empty if row[j]}
        if not empty:
            return table
    return without_columns(table, empty)


def without_columns(table: Table, gone: Iterable[int]) -> Table:
    """The same table without the columns at these places."""
    gone = frozenset(gone)
    if not gone:
        return table
    return _of_rows(
        table, ([cell for j, cell in enumerate(row) if j not in gone] for row in table.rows)
    )


def without_rows(table: Table, is_gone: Callable[[list[str]], bool]) -> Table:
    """The same table without some of its rows, apart from the first."""
    kept = [i for i, row in enumerate(table.rows) if not i or not is_gone(row)]
    if len(kept) == len(table.rows):
        return table
    rows = Rows.of(table.rows[i] for i in kept)
    blank = bytes(bool(table.after_blank[i]) for i in kept)
    return replace(table, rows=rows, lines=[table.lines[i] for i in kept], after_blank=blank)


def _refuse_title(table: Table) -> None:
    """Refuse a first line of few cells above a table of many, and a comment."""
    filled = [sum(map(bool, row)) for row in table.rows[:4]]
    is_alone = max(filled[1:], default=0) > 2 * filled[0]
    is_prose = table.delimiter == SPACE and (
        table.rows[0][0] == "#"
        or any(
            len(row) == 1 and not DELIMITERS.keys().isdisjoint(row[0]) for row in table.rows[1:2]
        )
    )
    if is_alone or is_prose:
        title = " ".join(filter(None, table.rows[0]))
        raise table.error(
            f"the first line must name the columns, but it holds {title!r} alone: remove what "
            "stands above the table",
            row=0,
        )


def _with_points(table: Table) -> Table:
    """Write decimal commas as points, where no cell has a point and no comma parts cells."""
    if table.delimiter == "," or not _has_commas(table):
        return table
    place, only_thousands = None, True
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row):
            if "," in cell and _COMMA.fullmatch(cell):
                place = place or (i, j)
                only_thousands = only_thousands and bool(_THOUSANDS.fullmatch(cell))
            elif _POINT.fullmatch(cell) and i:
                return table  # the cells with commas are refused as no numbers
    if place is None:
        return table
    if only_thousands and table.delimiter != ";":
        cell = table.rows[place[0]][place[1]]
        raise table.error(
            f"must be a number that can be read in one way, found {cell!r}: thousands or a "
            f"decimal comma; write {cell.replace(',', '')} or {cell.replace(',', '.')} everywhere",
            *place,
        )
    return _of_rows(table, ([_pointed(cell) for cell in row] for row in table.rows))


def _has_commas(table: Table) -> bool:
    return not isinstance(table.rows, Rows) or table.rows.may_hold(",")


def _pointed(cell: str) -> str:
    return cell.replace(",", ".") if "," in cell and _COMMA.fullmatch(cell) else cell


def _of_rows(table: Table, rows: Iterator[list[str]]) -> Table:
    return replace(table, rows=Rows.of(rows))

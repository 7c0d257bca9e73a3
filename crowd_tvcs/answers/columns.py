"""Columns of users' tables: their names and errors.

Tables of workers, tasks, qualities, answers, gold, pairs and skills are all read through this
module, so that all commands accept the same columns and report an error in the same words. Names of
columns are not case-sensitive. Names in cells stay unchanged (``007``, ``NA``), except that an
apostrophe before a name that starts like a formula is removed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_tvcs.answers.values import describe_fault, find_name_fault
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.errors import DataError
from tvcs_core.files.frames import A_TABLE, table_in
from tvcs_core.files.input_size import refuse_cells
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import DELIMITERS, Table, read_names

if TYPE_CHECKING:
    import pandas as pd

MOST_KEPT = 3  # columns whose cells stay in memory: task, worker, label
MAX_TITLE_ROWS = 20  # rows in which a header below a title is looked for
OF_TOOLS = "; crowd-tvcs import --format TOOL reads the JSON of an annotation tool"
_BETWEEN = re.compile(f"[{''.join(DELIMITERS)}]")
EXPORTS = {  # a column by which the results of another tool are known, and its --format
    "assignmentid": "mturk",
    "prolific_pid": "prolific",
    "assignment:worker_id": "toloka",
    "subject_ids": "zooniverse",
}


@dataclass(frozen=True)
class Column:
    """A column with its name, and the names that other tools give it.

    Attributes
    ----------
    name
        Its name here.
    also
        Other names.
    of_names
        Whether it holds names, so that ``Task ID`` is the column as ``task`` is.
    """

    name: str
    also: tuple[str, ...] = ()
    of_names: bool = False

    def matches(self, header: str) -> bool:
        """Return whether a header is one of its names, or that of its identifiers."""
        return self._has(header) or (self.of_names and self._has(_ID.sub("", header)))

    def find(self, headers: Sequence[str]) -> list[int]:
        """Return the indices of its headers; those of identifiers only where no other matches."""
        named = [j for j, header in enumerate(headers) if self._has(header)]
        return named or [j for j, header in enumerate(headers) if self.matches(header)]

    def _has(self, header: str) -> bool:
        return header.lower() in (self.name, *self.also)

    def __str__(self) -> str:
        return f"'{self.name}'" + (f" (or {', '.join(self.also)})" if self.also else "")


_ID = re.compile(r"[ _-]?id$", re.IGNORECASE)
WORKER = Column("worker", ("performer", "annotator"), of_names=True)
TASK = Column("task", ("item",), of_names=True)
ANSWER = Column("label", ("output", "answer"))  # of a worker
TRUTH = Column("label", ("truth",))  # of a gold task
QUALITY = Column("quality")
KIND = Column("kind")  # stratum of tasks with the same worker qualities


def open_table(
    source: str | Path | pd.DataFrame, needed: str = A_TABLE, if_json: str = OF_TOOLS
) -> Table:
    """Read a table whose rows have as many cells as its header, of a file or a DataFrame.

    Of anything else the error says what is `needed`, and of JSON `if_json` what to do with it.

    Raises
    ------
    DataError
        If they have not, or the table is wider than any, or larger than the memory that is free.
    TypeError
        If it is neither.
    """
    if isinstance(source, str | Path):
        _refuse_store(Path(source))
    table = table_in(source, needed=needed, if_json=if_json)
    table.check_width("see that each row has a line of its own, and leave out columns of no use")
    refuse_cells(table.path, len(table.rows), min(len(table.rows[0]), MOST_KEPT))
    table.check_rectangle()
    return table


def _refuse_store(path: Path) -> None:
    """Refuse a database, such as the store of a campaign."""
    is_store = False
    if os.path.isfile(path):  # of a name too long too
        with suppress(OSError), path.open("rb") as file:  # the reader says it in words
            is_store = file.read(6) == b"SQLite"
    if is_store:
        raise DataError(
            "must be a table, found an SQLite database; of a campaign, crowd-tvcs campaign "
            "export-answers and export-labels write tables",
            path=path,
        )


def open_exactly(path: str | Path, *names: str) -> Table:
    """Read a table that a command wrote, with these columns in this order."""
    table = open_table(path)
    if table.rows[0] != list(names):
        raise table.error(f"must have the columns {', '.join(names)}", 0)
    return table


def find(table: Table, columns: Sequence[Column], hint: str = "") -> list[int]:
    """Return the index of each of some columns, which must occur once.

    Raises
    ------
    DataError
        If one is missing or repeated; the message ends with `hint`.
    """
    out = []
    for column in columns:
        at = column.find(table.rows[0])
        if len(at) != 1:
            found = [table.rows[0][j] for j in at] or table.rows[0]
            do = "; keep one of them" if at else _header_hint(table, columns)
            what = f"must have one column {column}, found {joined(found)}{hint}"
            raise table.error(what + (do or f"; name one column {column.name}"), 0)
        out += at
    return out


def _header_hint(table: Table, columns: Sequence[Column]) -> str:
    """Return the line of a header below a title, or the tool that reads an export; else ``""``."""
    for r, row in enumerate(table.rows[1:MAX_TITLE_ROWS], start=1):
        cells = row if len(row) > 1 else [cell.strip(' "') for cell in _BETWEEN.split(row[0])]
        if all(any(map(column.matches, cells)) for column in columns):
            return f"; they stand in line {table.lines[r]}: delete what stands above"
    tools = [EXPORTS[name.lower()] for name in table.rows[0] if name.lower() in EXPORTS]
    if tools:
        return f"; crowd-tvcs import --format {tools[0]} reads such results"
    missing = [column for column in columns if not column.find(table.rows[0])]
    if ANSWER in missing and len(missing) > 1 and len(table.rows[0]) > len(columns):
        return (
            "; crowd-tvcs import --format wide reads a table with a column for every worker or task"
        )
    return ""


def refuse_others(table: Table, columns: Sequence[Column]) -> None:
    """Refuse any other column, so that none is overlooked."""
    known = {j for column in columns for j in column.find(table.rows[0])}
    for j, header in enumerate(table.rows[0]):
        if j not in known:
            names = ", ".join(column.name for column in columns)
            raise table.error(
                f"the columns may be {names}, found {quoted(header)}; delete or rename it", 0, j
            )


def check_any_rows(table: Table, what: str = "a row") -> None:
    """Refuse a table without rows below the header."""
    if len(table.rows) < 2:
        raise table.error(f"must have {what} below the header, found none")


def describe_columns(table: Table, columns: Sequence[Column], at: Sequence[int]) -> str:
    """Describe how the columns of a table were interpreted, and which were ignored."""
    headers = table.rows[0]
    out = f"{table.layout}, columns " + ", ".join(
        column.name
        if headers[j].lower() == column.name
        else f"{quoted(headers[j])} for {column.name}"
        for column, j in zip(columns, at, strict=True)
    )
    ignored = [header or "(unnamed)" for j, header in enumerate(headers) if j not in at]
    return out + (f"; ignored columns: {joined(ignored)}" if ignored else "")


def names_in(
    table: Table,
    column: int,
    kind: str = "name",
    known: Collection[str] | None = None,
    *,
    checked: bool = True,
) -> Iterator[tuple[int, str]]:
    """Yield the number of every row below the header, and its name in a column.

    Raises
    ------
    DataError
        If there is no row, a cell is empty, a row is the header again, or a name is not in `known`,
        the names of this `kind` in the quality table; None for any. With `checked`, also for an
        invalid name (see `crowd_tvcs.answers.values`).
    """
    check_any_rows(table)
    header = table.rows[0]
    for r, row in enumerate(table.rows[1:], start=1):
        if row == header:
            raise repeated_header_error(table, r)
        name = unshield(row[column])
        if (fault := find_name_fault(name)) and (checked or not name):
            raise table.error(describe_fault(fault, name, kind, of_answers=False), r, column)
        if known is not None and name not in known:
            raise table.error(
                f"must be a {kind} of the quality table, found {quoted(name)}", r, column
            )
        yield r, name


def rows_by_name(
    table: Table,
    column: int,
    kind: str = "name",
    known: Collection[str] | None = None,
    *,
    checked: bool = True,
) -> dict[str, int]:
    """Return the row of every name in a column without duplicates; see `names_in`."""
    out: dict[str, int] = {}
    for r, name in names_in(table, column, kind, known, checked=checked):
        if name in out:
            line = table.lines[out[name]]
            raise table.error(f"{quoted(name)} is there already, in line {line}", r, column)
        out[name] = r
    return out


def repeated_header_error(table: Table, row: int) -> DataError:
    """Make the error about a row that repeats the header, as in concatenated files."""
    return table.error("the header is there again; leave it out where files are joined", row)


def read_task_names(path: Path) -> list[str]:
    """Read names of tasks, each once: one per line, or the column `TASK` of a table."""
    names = read_names(path)
    if names and any(TASK.matches(cell.strip(' "')) for cell in _BETWEEN.split(names[0])):
        table = open_table(path)
        (at,) = find(table, [TASK])
        names = list(rows_by_name(table, at))
    if not names:
        raise DataError("must name a task, found none", path=path)
    for name, times in Counter(names).items():
        if times > 1:
            raise DataError(f"{quoted(name)} is there twice", path=path)
    return names

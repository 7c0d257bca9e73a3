"""Tables of other tools: rows by column name, shielded for spreadsheets when written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crowd_tvcs.answers.columns import open_table
from crowd_tvcs.exchange.fields import SourceLocation
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.errors import DataError
from tvcs_core.files.spreadsheet import unshield, write_csv
from tvcs_core.files.tables import Table

_ITEM = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[-+.\w]++"""
# Possessive: a long cell that is no list is refused at its first bad character, without going back.
_PRINTED = re.compile(rf"\[\s*+(?:(?:{_ITEM})[\s,]*+)*+\]")


@dataclass(frozen=True)
class Sheet:
    """A table whose columns have names."""

    table: Table
    header: tuple[str, ...]

    def rows(self, skipped: int = 0) -> Iterator[tuple[SourceLocation, dict[str, str]]]:
        """Yield every row below the header, after skipping some, with its location."""
        path, first = self.table.path, 1 + skipped
        for line, row in zip(self.table.lines[first:], self.table.rows[first:], strict=True):
            cells = map(unshield, row)
            yield SourceLocation(path, line=line), dict(zip(self.header, cells, strict=True))

    def require(self, name: str, hint: str = "") -> None:
        """Refuse a table without the column."""
        if name not in self.header:
            found = joined(self.header)
            raise self.error(f"must have the column {name!r}{hint}; found {found}")

    def choose(self, names: Sequence[str], what: str) -> str:
        """Return the one of `names` that is a column; refuse none, and more than one."""
        found = [name for name in names if name in self.header]
        if len(found) != 1:
            given = joined(found) or "none"
            do = "delete or rename the others" if found else "name it so"
            raise self.error(
                f"must have one column of {what} ({', '.join(names)}), found {given}; {do}"
            )
        return found[0]

    def error(self, what: str) -> DataError:
        """Make an error about the header."""
        return self.table.error(what, 0)


def read_sheet(path: str | Path) -> Sheet:
    """Read a table, refusing repeated column names and truncated rows."""
    table = open_table(path, if_json="; check --format, or give the table that the tool exports")
    header = tuple(unshield(cell) for cell in table.rows[0])
    for j, name in enumerate(header):
        if header.count(name) > 1:
            raise table.error(
                f"must have every column once, found {quoted(name)} twice; rename one", 0, j
            )
    return Sheet(table, header)


def printed_list(text: str) -> list[object] | None:
    """Read a list as Python or NumPy print it; an empty cell is none of its items.

    Returns
    -------
    list or None
        Texts, numbers as texts, and None; None for anything else, such as a list of lists.

    Examples
    --------
    >>> printed_list("['cat' 'it is']"), printed_list('["cat", None]'), printed_list("[['a']]")
    (['cat', 'it is'], ['cat', None], None)
    """
    if text in ("", "None", "nan"):
        return []
    if not _PRINTED.fullmatch(text):
        return None
    return [
        ast.literal_eval(item) if item[0] in "'\"" else None if item in ("None", "nan") else item
        for item in re.findall(_ITEM, text)
    ]


def write_sheet(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows of the same columns; no cell can act as a formula."""
    write_csv(path, list(rows[0]), (list(map(str, row.values())) for row in rows))

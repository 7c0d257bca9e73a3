"""Text tables in and out.

Tables are UTF-8, or UTF-16 with a byte-order mark (see `encodings`), with tab, comma or semicolon
between cells (sniffed, or named by a first line such as ``sep=;``), plain or ``.gz``; a byte-order
mark and CRLF line ends are harmless; names such as ``NA`` or ``007`` stay as they are. A table is
kept as its text (see `rows`), and no text may be larger than a limit (`input_size`).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tvcs_core.files.encodings import as_utf8, number_hint, separator_line
from tvcs_core.files.errors import DataError
from tvcs_core.files.input_size import read_limited
from tvcs_core.files.rows import LONGEST_CELL, MalformedError, Rows, find_rows
from tvcs_core.files.shown import shown
from tvcs_core.files.workbook import is_workbook, read_sheet

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}
SPACE = " "  # between cells where it is allowed, as R's ``write.table`` does


@dataclass(frozen=True)
class Table:
    """The cells of a text file, as text, with where each row stood.

    Attributes
    ----------
    path
        The file, as it was named.
    delimiter
        What stands between cells.
    rows
        One list of stripped cells per line that is not blank.
    lines
        The line number of each row, counted from 1.
    after_blank
        Whether a blank line stands right before the row.
    has_header
        Whether the first row names the columns; if not, errors give their numbers.
    """

    path: str
    delimiter: str
    rows: Sequence[list[str]]
    lines: Sequence[int]
    after_blank: Sequence[int]
    has_header: bool = True

    @property
    def n_bytes(self) -> int:
        """Size of the text."""
        return self.rows.n_bytes if isinstance(self.rows, Rows) else 0

    def error(self, what: str, row: int | None = None, column: int | None = None) -> DataError:
        """Make an error that names the file, the line of `row` and the header of `column`."""
        name: str | int | None = column
        if column is not None:
            header = self.rows[0]
            is_named = self.has_header and row != 0 and column < len(header) and header[column]
            name = header[column] if is_named else column + 1
        line = None if row is None else self.lines[row]
        return DataError(what, path=self.path, line=line, column=name)

    def require_rectangle(self) -> None:
        """Refuse rows with more or fewer cells than the first one."""
        width = len(self.rows[0])
        for i, row in enumerate(self.rows):
            if len(row) != width:
                do = "quote a cell that holds the mark between cells"
                if self.delimiter == SPACE:
                    do = "spaces part cells here, so a name must hold none: write tabs"
                elif i == 1 and width < len(row):
                    do = "delete what stands above the names of the columns"
                raise self.error(
                    f"must have {width} cells like the first row, found {len(row)}; {do}", row=i
                )

    def numbers(self, first_row: int, columns: Sequence[int]) -> NDArray[np.float64]:
        """Read finite numbers from `columns` of every row from `first_row` on.

        Raises
        ------
        DataError
            Naming line and column of the first cell that is not a finite number.
        """
        out = np.empty((len(self.rows) - first_row, len(columns)))
        for at, block in self.blocks(first_row):
            part = out[at - first_row :][: len(block)]
            try:
                part[...] = [[row[j] for j in columns] for row in block]
                is_good = bool(np.isfinite(part).all())
            except ValueError:
                is_good = False
            if not is_good:
                self._refuse_first_bad_number(at, block, columns)
        return out

    def blocks(self, first_row: int = 0) -> Iterator[tuple[int, list[list[str]]]]:
        """Yield the rows from `first_row` on, some at a time, each with the place of the first."""
        rows = self.rows[first_row:]
        if not isinstance(rows, Rows):
            yield first_row, list(rows)
            return
        for block in rows.blocks():
            yield first_row, block
            first_row += len(block)

    def _refuse_first_bad_number(
        self, at: int, block: Sequence[list[str]], columns: Sequence[int]
    ) -> None:
        for i, row in enumerate(block, start=at):
            for j in columns:
                try:
                    value = float(row[j])
                except ValueError:
                    what = f"must be a number, found {shown(row[j])}{number_hint(row[j])}"
                    raise self.error(what, i, j) from None
                if not math.isfinite(value):
                    raise self.error(f"must be a finite number, found {shown(row[j])}", i, j)


def read_table(
    path: str | Path, *, sheet: str | None = None, spaces: bool = False, comments: bool = False
) -> Table:
    """Read a text table, or a sheet of an Excel workbook; the delimiter is the one most frequent.

    Parameters
    ----------
    path
        The file; a workbook (see `workbook`) where the name ends in ``.xlsx``.
    sheet
        Which sheet of a workbook; None for the only one.
    spaces
        Whether spaces part cells where the first row has no other delimiter.
    comments
        Whether lines that begin with ``#`` above the table are left out, as featureCounts writes
        its command there; not one that names the columns of what stands below.

    Raises
    ------
    DataError
        If the file is empty or too large, is no text (see `encodings`), or is a damaged ``.gz``; as
        `workbook.read_sheet` says; or a sheet is named and it is no workbook.
    OSError
        If it cannot be opened.
    """
    if is_workbook(Path(path)):
        return _of_sheet(path, sheet)
    if sheet is not None:
        raise DataError(f"is no workbook, so it has no sheet {shown(sheet)}", path=path)
    text = _read_utf8(path)
    if comments:
        text = _without_comments(text)
    first = _first_line(text)
    if not first:
        raise DataError("the file is empty", path=path)
    delimiter = max(DELIMITERS, key=first.count)
    if spaces and delimiter not in first and SPACE in first.strip():
        delimiter = SPACE
    named = separator_line(first)
    if named is not None:
        if named not in DELIMITERS:
            raise DataError(
                f"between cells may be {', '.join(DELIMITERS.values())}, but the first line names "
                f"{shown(named)}",
                path=path,
            )
        delimiter = named
        text = text.replace(first.encode(), b"", 1)  # a blank line: the others keep their numbers
    try:
        found = find_rows(text, delimiter)
    except MalformedError as error:
        raise DataError(
            f"is not a well-formed table ({error})", path=path, line=error.line
        ) from None
    if not found.rows:
        raise DataError("must hold a cell that is not empty, found none", path=path)
    return Table(str(path), delimiter, found.rows, found.lines, found.after_blank)


def _of_sheet(path: str | Path, sheet: str | None) -> Table:
    found = read_sheet(Path(path), sheet)
    lines = [line for line, _ in found]
    after_blank = bytes([0, *(b - a > 1 for a, b in pairwise(lines))])
    return Table(str(path), "\t", Rows.of(cells for _, cells in found), lines, after_blank)


def _without_comments(text: bytes) -> bytes:
    """Blank the comments above a table, so that the other lines keep their numbers."""
    at, last, n_lines = 0, 0, 0
    while text.startswith(b"#", at):
        last, at, n_lines = at, text.find(b"\n", at) + 1, n_lines + 1
        if not at:
            return text  # comments alone
    below = _first_line(text, at)
    if n_lines and _names_columns(text[last:at].decode().strip(), below):
        at, n_lines = last, n_lines - 1
    return b"\n" * n_lines + text[at:] if n_lines else text


def _names_columns(comment: str, below: str) -> bool:
    """Whether a line behind a ``#`` is the header of the line below it."""
    for mark in DELIMITERS:
        if mark in below:
            n = below.count(mark)
            return n - 1 <= comment.count(mark) <= n and mark in comment
    return len(comment.lstrip("#").split()) == len(below.split())


def _first_line(text: bytes, at: int = 0) -> str:
    """The first row from `at` on that is not of spaces only; empty if there is none.

    It is one line, or more where a cell in quotes holds a line break, as in a wrapped heading.
    """
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end].decode()
        if line.strip():
            n_quotes = line.count('"')
            while n_quotes % 2 and end < min(len(text), at + LONGEST_CELL):
                more = _line_end(text, end + 1)
                n_quotes, end = n_quotes + text.count(b'"', end, more), more
            return text[at:end].decode()
        at = end + 1
    return ""


def _line_end(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    return len(text) if end < 0 else end


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number, so that it is data and no name."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read_names(path: str | Path) -> list[str]:
    """Read a list of names, one per line; blank lines and lines that start with # are skipped."""
    lines = (line.strip() for line in read_text(path).split("\n"))
    return [line for line in lines if line and not line.startswith("#")]


def read_text(path: str | Path) -> str:
    """Read a text file, plain or ``.gz``; line ends become newlines.

    Raises
    ------
    DataError
        If it is a folder, too large, holds other bytes than text, or is a damaged ``.gz``.
    OSError
        If it cannot be opened.
    """
    return _read_utf8(path).decode()


def _read_utf8(path: str | Path) -> bytes:
    """Read what `read_text` reads, as the bytes of UTF-8."""
    path = Path(path)
    if path.is_dir():
        raise DataError("must be a file, found a folder", path=path)
    raw = as_utf8(read_limited(path), path)
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw


def write_table(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = "\t"
) -> None:
    """Write a table with `header`; cells that hold a delimiter are quoted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)

"""Reading and writing of text tables.

Tables are UTF-8, or UTF-16 with a byte-order mark (see `encodings`), plain or ``.gz``. The
delimiter (tab, comma or semicolon) is detected, or named by a first line such as ``sep=;``.
Byte-order marks and CRLF line ends are accepted. Names such as ``NA`` or ``007`` stay unchanged.
Tables are stored as text (see `rows`), and the size of a text is limited (`input_size`).
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.files.display import quoted
from tvcs_core.files.encodings import as_utf8, number_hint, separator_line
from tvcs_core.files.errors import DataError
from tvcs_core.files.input_size import read_limited
from tvcs_core.files.rows import LONGEST_CELL, MalformedError, Rows, find_rows
from tvcs_core.files.workbook import read_sheet

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}
MAX_COLUMNS = 1_000_000  # of named columns, 300 bytes each while they are judged; of no field more
_JSON = re.compile(r'\s*(\[\s*)?[{\[]\s*["{\[]')  # objects, a list of them, or of lists
JSON_START = 1000  # bytes by which JSON is known
NO_JSON = "must be a table (CSV, TSV or Excel) with a row of column names, found JSON"
SPACE = " "  # delimiter only on request, for files of R's ``write.table``


@dataclass(frozen=True)
class Table:
    """The cells of a text file, with the line number of each row.

    Attributes
    ----------
    path
        The file, as the user named it.
    delimiter
        The separator of cells; "" if there is none, see `kind`.
    rows
        One list of stripped cells per line that is not blank.
    lines
        Line number of each row, counted from 1; 0 for a header that has none.
    after_blank
        Whether a blank line precedes the row.
    has_header
        Whether the first row names the columns; if not, errors give column numbers.
    kind
        What the table is, if cells have no separator.
    """

    path: str
    delimiter: str
    rows: Sequence[list[str]]
    lines: Sequence[int]
    after_blank: Sequence[int]
    has_header: bool = True
    kind: str = "a sheet of a workbook"

    @property
    def layout(self) -> str:
        """Separator of the cells, or the kind of a file without one."""
        if not self.delimiter:
            return self.kind
        return f"{DELIMITERS[self.delimiter]}-separated"

    @property
    def n_bytes(self) -> int:
        """Size of the text in bytes."""
        return self.rows.n_bytes if isinstance(self.rows, Rows) else 0

    def error(
        self,
        message: str,
        row: int | None = None,
        column: int | None = None,
        remedies: Iterable[dict[str, Any]] = (),
    ) -> DataError:
        """Return an error that names the file, the line of `row` and the header of `column`."""
        name: str | int | None = column
        if column is not None:
            header = self.rows[0]
            is_named = self.has_header and row != 0 and column < len(header) and header[column]
            name = header[column] if is_named else column + 1
        line = None if row is None else self.lines[row] or None
        return DataError(message, path=self.path, line=line, column=name, remedies=remedies)

    def check_width(self, remedy: str) -> None:
        """Raise if there are more than `MAX_COLUMNS` columns; the message ends with `remedy`."""
        if (found := len(self.rows[0])) > MAX_COLUMNS:
            what = f"must have at most {MAX_COLUMNS:,} columns, found {found:,}; {remedy}"
            raise self.error(what, 0)

    def check_rectangle(self) -> None:
        """Raise if a row has more or fewer cells than the first one."""
        width = len(self.rows[0])
        for i, row in enumerate(self.rows):
            if len(row) != width:
                remedy = "quote a cell that holds the mark between cells"
                if self._stands_below_titles(i):
                    remedy = "delete the lines above the column names"
                elif self.delimiter == SPACE:
                    remedy = "spaces part cells here, so a name must hold none: write tabs"
                elif i == len(self.rows) - 1 and len(row) < width:
                    remedy = "the file seems to be cut off in its last line"
                raise self.error(
                    f"must have {width} cells like the first row, found {len(row)}; {remedy}", row=i
                )

    def _stands_below_titles(self, i: int) -> bool:
        """Whether row `i`, the first of another width, seems to name the columns below titles."""
        alone = [row[0] for row in self.rows[1:4] if len(row) == 1]
        if any(mark in cell for cell in alone for mark in DELIMITERS):
            return True  # the delimiter is that of the title
        if self.delimiter == SPACE:
            return False
        widths = [len(row) for row in self.rows[:4]]
        if i > 2 or widths[i] < widths[0]:
            return False
        # A row of a name and numbers is no title, one of numbers alone may be a wrong header.
        is_title = len({is_number(cell) for cell in self.rows[1]}) == 1
        return i == 1 or (is_title and widths[2:] == [widths[2]] * 2)

    def numbers(self, first_row: int, columns: Sequence[int]) -> NDArray[np.float64]:
        """Read finite numbers from `columns` of every row from `first_row` on.

        Raises
        ------
        DataError
            If a cell is not a finite number; the error names its line and column.
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
        """Yield the rows from `first_row` on in blocks, each with the number of its first row."""
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
                    message = f"must be a number, found {quoted(row[j])}{number_hint(row[j])}"
                    raise self.error(message, i, j) from None
                if not math.isfinite(value):
                    raise self.error(f"must be a finite number, found {quoted(row[j])}", i, j)


def read_table(
    path: str | Path,
    *,
    sheet: str | None = None,
    spaces: bool = False,
    comments: bool = False,
    if_json: str = "",
) -> Table:
    """Read a text table or a sheet of an Excel workbook; the most frequent delimiter is used.

    Parameters
    ----------
    path
        The file; a workbook (see `workbook`) if the name ends in ``.xlsx``.
    sheet
        The sheet of a workbook; None for the only one.
    spaces
        Whether spaces separate cells if the first row has no other delimiter.
    comments
        Whether to skip lines above the table that begin with ``#``, such as the command line of
        featureCounts. A comment that names the columns of the table is kept.
    if_json
        What to do with a file of JSON, for the end of its refusal.

    Raises
    ------
    DataError
        If the file is empty, too large, binary (see `encodings`) or a damaged ``.gz``; if
        `workbook.read_sheet` raises.
    OSError
        If the file cannot be opened.
    """
    if (filled := read_sheet(Path(path), sheet)) is not None:
        lines = [line for line, _ in filled]
        after_blank = bytes([0, *(b - a > 1 for a, b in pairwise(lines))])
        return Table(str(path), "", Rows.of(cells for _, cells in filled), lines, after_blank)
    text = _read_utf8(path)
    if comments:
        text = _without_comments(text)
    first = _first_line(text)
    if not first:
        raise DataError("the file is empty", path=path)
    if _JSON.match(text[:JSON_START].decode(errors="ignore")):
        raise DataError(NO_JSON + if_json, path=path)
    delimiter = max(DELIMITERS, key=first.count)
    if spaces and delimiter not in first and SPACE in first.strip():
        delimiter = SPACE
    named = separator_line(first)
    if named is not None:
        if named not in DELIMITERS:
            raise DataError(
                f"between cells may be {', '.join(DELIMITERS.values())}, but the first line names "
                f"{quoted(named)}",
                path=path,
            )
        delimiter = named
        text = text.replace(first.encode(), b"", 1)  # leave a blank line to keep line numbers
    try:
        index = find_rows(text, delimiter)
    except MalformedError as error:
        what = f"is not a well-formed table ({error})"
        raise DataError(what, path=path, line=error.line) from None
    if not index.rows:
        raise DataError("must hold a cell that is not empty, found none", path=path)
    return Table(str(path), delimiter, *index)


def _without_comments(text: bytes) -> bytes:
    """Replace the comments above a table by blank lines, so that line numbers stay correct."""
    at, last, n_lines = 0, 0, 0
    while text.startswith(b"#", at):
        last, at, n_lines = at, text.find(b"\n", at) + 1, n_lines + 1
        if not at:
            return text  # comments only
    below = _first_line(text, at)
    if n_lines and _names_columns(text[last:at].decode().strip(), below):
        at, n_lines = last, n_lines - 1
    return b"\n" * n_lines + text[at:] if n_lines else text


def _names_columns(comment: str, below: str) -> bool:
    """Return whether a comment line is the header of the line below it."""
    for mark in DELIMITERS:
        if mark in below:
            n = below.count(mark)
            return n - 1 <= comment.count(mark) <= n and mark in comment
    return len(comment.lstrip("#").split()) == len(below.split())


def _first_line(text: bytes, at: int = 0) -> str:
    """Return the first row from `at` on that is not blank; empty if there is none.

    It has several lines if a quoted cell holds line breaks, as in a wrapped heading.
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
    """Return whether a cell is a number and hence data, not a name."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read_names(path: str | Path, *, remarks: bool = False) -> list[str]:
    """Read a list of names, one per line; blank lines and lines that start with # are skipped.

    With `remarks` a # between spaces begins one, as in ``JUN  # AP-1``.
    """
    lines = (line.strip() for line in read_text(path).split("\n"))
    names = [line for line in lines if line and not line.startswith("#")]
    return [re.split(r"\s+#(?:\s|$)", name)[0] for name in names] if remarks else names


def read_text(path: str | Path) -> str:
    """Read a text file, plain or ``.gz``, with line ends as newlines.

    Raises
    ------
    DataError
        If it is a folder, too large, binary, or a damaged ``.gz``.
    OSError
        If it cannot be opened.
    """
    return _read_utf8(path).decode()


def _read_utf8(path: str | Path) -> bytes:
    """Read a text file as UTF-8 bytes; see `read_text`."""
    path = Path(path)
    if path.is_dir():
        raise DataError("must be a file, found a folder", path=path)
    raw = as_utf8(read_limited(path), path)
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw


def write_table(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = "\t"
) -> None:
    """Write a table with a header; cells that hold a delimiter are quoted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)

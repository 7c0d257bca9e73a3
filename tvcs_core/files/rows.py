"""Rows of a text table, stored as text and split into cells on demand.

A list of Python strings takes at least 60 bytes per cell. This takes the text itself and one
integer per row.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import NamedTuple, overload

CHUNK_BYTES = 2**16  # bytes of text split into cells at a time
LONGEST_CELL = csv.field_size_limit()


class Rows(Sequence[list[str]]):
    """Rows of stripped cells; a slice is a view of the same text.

    Parameters
    ----------
    text
        UTF-8 with newlines as line ends.
    starts
        Offset of each row, and the end of the last one. Blank rows may follow a row.
    delimiter
        The separator of cells.
    is_quoted
        Whether some cell may be quoted.
    keeps_blank
        Whether rows of empty cells are rows.
    """

    def __init__(
        self,
        text: bytes,
        starts: Sequence[int],
        delimiter: str,
        *,
        is_quoted: bool,
        keeps_blank: bool = False,
    ) -> None:
        self._text = text
        self._starts = starts
        self._delimiter = delimiter
        self._is_quoted = is_quoted
        self._keeps_blank = keeps_blank
        self._span = range(len(starts) - 1)  # of this view
        self._space = re.compile(f"[^\\S\n{delimiter}]")
        self._block: list[list[str]] = []
        self._block_at = 0

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]]) -> Rows:
        """Pack an iterable of rows."""
        out = bytearray()
        starts = array("Q", [0])
        line = io.StringIO()
        writer = csv.writer(line, lineterminator="\n")
        for row in rows:
            writer.writerow(row)
            out += line.getvalue().encode()
            starts.append(len(out))
            line.seek(0)
            line.truncate()
        return cls(bytes(out), starts, ",", is_quoted=True, keeps_blank=True)

    @property
    def n_bytes(self) -> int:
        """Size of the text in bytes."""
        return len(self._text)

    def may_hold(self, part: str) -> bool:
        """Return whether `part` occurs in the text, including rows outside of this view."""
        return part.encode() in self._text

    def __len__(self) -> int:
        return len(self._span)

    @overload
    def __getitem__(self, at: int) -> list[str]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[list[str]]: ...
    def __getitem__(self, at: int | slice) -> list[str] | Sequence[list[str]]:
        if isinstance(at, slice):
            span = self._span[at]
            if span.step != 1:
                return [self._row(i) for i in span]
            view = copy(self)
            view._span = span
            return view
        return self._row(self._span[at])

    def __iter__(self) -> Iterator[list[str]]:
        for block in self.blocks():
            yield from block

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Rows({len(self)} rows)"

    def blocks(self) -> Iterator[list[list[str]]]:
        """Yield all rows in lists of about `CHUNK_BYTES` of text."""
        at = self._span.start
        while at < self._span.stop:
            block = self._cut(at, self._block_end(at, self._span.stop))
            yield block
            at += len(block)

    def _row(self, at: int) -> list[str]:
        if not self._block_at <= at < self._block_at + len(self._block):
            self._block = self._cut(at, self._block_end(at, len(self._starts) - 1))
            self._block_at = at
        return self._block[at - self._block_at]

    def _block_end(self, at: int, end: int) -> int:
        """Return the end of the block that starts at row `at`: about `CHUNK_BYTES` of text."""
        most = self._starts[at] + CHUNK_BYTES
        return max(at + 1, bisect_right(self._starts, most, at + 1, end + 1) - 1)

    def _cut(self, first: int, end: int) -> list[list[str]]:
        text = self._text[self._starts[first] : self._starts[end]].decode()
        lines: Iterable[list[str]]
        if self._is_quoted:
            file = io.StringIO(text, newline="")
            lines = csv.reader(file, delimiter=self._delimiter, strict=True)
        else:
            lines = (line.split(self._delimiter) for line in text.split("\n"))
        if self._is_quoted or self._space.search(text):
            lines = ([cell.strip() for cell in row] for row in lines)
        if self._keeps_blank:
            return list(lines)
        return [row for row in lines if any(row)]


class RowIndex(NamedTuple):
    """The rows of a text, the line number of each, and whether a blank line precedes it."""

    rows: Rows
    lines: Sequence[int]
    after_blank: Sequence[int]


class MalformedError(ValueError):
    """A text is not a table; `line` is the first line of the row that cannot be parsed."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def find_rows(text: bytes, delimiter: str) -> RowIndex:
    """Find the rows of a text.

    Parameters
    ----------
    text
        UTF-8 with newlines as line ends. Rows of empty cells are blank.
    delimiter
        The separator of cells.

    Raises
    ------
    MalformedError
        If a quote is not closed, or a cell is too long.
    """
    is_quoted = b'"' in text
    starts, lines, after_blank = array("Q"), array("Q"), bytearray()
    blank = False
    for at, line, is_blank in _records(text, delimiter) if is_quoted else _lines(text, delimiter):
        if is_blank:
            blank = True
        else:
            starts.append(at)
            lines.append(line)
            after_blank.append(blank)
            blank = False
    starts.append(len(text))
    rows = Rows(text, starts, delimiter, is_quoted=is_quoted)
    is_counted = len(lines) and lines[-1] == len(lines)  # without blank lines: 1, 2, ...
    return RowIndex(rows, range(1, len(lines) + 1) if is_counted else lines, after_blank)


def _lines(text: bytes, delimiter: str) -> Iterator[tuple[int, int, bool]]:
    """Yield offset and line of every row of a text without quotes, and whether it is blank."""
    at, line, size = 0, 0, len(text)
    seldom = {*delimiter.encode(), *b" \t\n\v\f\x1c\x1d\x1e\x1f"}
    while at < size:
        end = text.find(b"\n", at)
        end = size if end < 0 else end
        line += 1
        is_blank = False
        if text[at] in seldom or text[at] > 127:
            is_blank = not any(map(str.strip, text[at:end].decode().split(delimiter)))
        if end - at > LONGEST_CELL:
            _refuse_long_cell(text[at:end].decode(), delimiter, line)
        yield at, line, is_blank
        at = end + 1


def _refuse_long_cell(text: str, delimiter: str, line: int) -> None:
    longest = max(map(len, text.split(delimiter)))
    if longest > LONGEST_CELL:
        message = f"a cell may have {LONGEST_CELL} characters, found one of {longest}"
        raise MalformedError(message, line)


def _records(text: bytes, delimiter: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the same for a text in which a quoted cell may hold newlines."""
    end = 0

    def pieces() -> Iterator[str]:
        nonlocal end
        while end < len(text):
            at = end
            found = text.find(b"\n", at)
            end = len(text) if found < 0 else found + 1
            yield text[at:end].decode()

    reader = csv.reader(pieces(), delimiter=delimiter, strict=True)
    at, line = 0, 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise MalformedError(str(error), line) from None
        if cells is None:
            return
        yield at, line, not any(cell.strip() for cell in cells)
        at, line = end, reader.line_num + 1

"""Rows of a text table, kept as the text that they are and cut into cells when they are asked for.

A list of cells takes 60 bytes and more for every cell, whatever it holds. Here a table is its text
and one number per row.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

BLOCK = 2**16  # bytes of text that are cut into cells at once
LONGEST_CELL = csv.field_size_limit()


class Rows(Sequence[list[str]]):
    """Rows of stripped cells; a slice is a view on the same text.

    Parameters
    ----------
    text
        UTF-8, lines ended by newlines.
    starts
        Where each row begins, and the end of the last one. Blank rows may follow a row.
    delimiter
        What stands between cells.
    is_quoted
        Whether some cell may be quoted.
    keeps_blank
        Whether rows of empty cells count.
    span
        Which of the rows these are; None for all.
    """

    def __init__(
        self,
        text: bytes,
        starts: Sequence[int],
        delimiter: str,
        *,
        is_quoted: bool,
        keeps_blank: bool = False,
        span: range | None = None,
    ) -> None:
        self._text = text
        self._starts = starts
        self._delimiter = delimiter
        self._is_quoted = is_quoted
        self._keeps_blank = keeps_blank
        self._span = range(len(starts) - 1) if span is None else span
        self._space = re.compile(f"[^\\S\n{delimiter}]")
        self._block: list[list[str]] = []
        self._block_at = 0

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]]) -> Rows:
        """Pack rows that are made one by one."""
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
        """Size of the text."""
        return len(self._text)

    def may_hold(self, part: str) -> bool:
        """Whether the text, of these rows and those around them, has `part` somewhere."""
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
            return Rows(
                self._text,
                self._starts,
                self._delimiter,
                is_quoted=self._is_quoted,
                keeps_blank=self._keeps_blank,
                span=span,
            )
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
        """Yield all rows, some at a time."""
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
        """The last row, and one more, of about `BLOCK` bytes from `at` on."""
        low, high = at + 1, end
        most = self._starts[at] + BLOCK
        while low < high:
            middle = (low + high + 1) // 2
            if self._starts[middle] <= most:
                low = middle
            else:
                high = middle - 1
        return low

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


@dataclass(frozen=True)
class Found:
    """Rows of a text, the line of each, and whether a blank line stands right before it."""

    rows: Rows
    lines: Sequence[int]
    after_blank: Sequence[int]


class MalformedError(ValueError):
    """A text that is no table, with the line where a row begins that cannot be read."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


def find_rows(text: bytes, delimiter: str) -> Found:
    """Find where the rows of a text begin.

    Parameters
    ----------
    text
        UTF-8, lines ended by newlines. Rows of empty cells are blank.
    delimiter
        What stands between cells.

    Raises
    ------
    MalformedError
        If quotes do not close, or a cell is too long.
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
    if len(lines) and lines[-1] == len(lines):  # no blank line: the numbers are all there are
        return Found(rows, range(1, len(lines) + 1), after_blank)
    return Found(rows, lines, after_blank)


def _lines(text: bytes, delimiter: str) -> Iterator[tuple[int, int, bool]]:
    """Begin and line of every row of a text without quotes, and whether it is blank."""
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
        what = f"a cell may have {LONGEST_CELL} characters, found one of {longest}"
        raise MalformedError(what, line)


def _records(text: bytes, delimiter: str) -> Iterator[tuple[int, int, bool]]:
    """The same where a quoted cell may hold a newline."""
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

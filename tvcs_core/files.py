"""Text tables in, finished folders out: the file habits that every command shares.

Tables are UTF-8, with tab or comma between cells (sniffed), plain or ``.gz``; a byte-order
mark and CRLF line ends are harmless; names such as ``NA`` or ``007`` stay as they are. A table is
kept as its text (see `tvcs_core.rows`), and no text may be larger than a limit (`input_size`).
Results appear whole or not at all: they are written beside their place and renamed.
"""

from __future__ import annotations

import codecs
import csv
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.errors import NO_SPACE, DataError, WriteError
from tvcs_core.input_size import read_limited
from tvcs_core.partial import (
    MOVING,
    hold_file,
    hold_folder,
    naming,
    remove_left_files,
    remove_left_folders,
)
from tvcs_core.rows import MalformedError, Rows, find_rows
from tvcs_core.shown import shown

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}


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
                raise self.error(
                    f"must have {width} cells like the first row, found {len(row)}", row=i
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
        """Give the rows from `first_row` on, some at a time, and the place of the first of them."""
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
                    raise self.error(f"must be a number, found {shown(row[j])}", i, j) from None
                if not math.isfinite(value):
                    raise self.error(f"must be a finite number, found {shown(row[j])}", i, j)


def read_table(path: str | Path) -> Table:
    """Read a text table; the delimiter is the one most frequent in the first row.

    Raises
    ------
    DataError
        If the file is empty or too large, is not UTF-8 text, or is a damaged ``.gz``.
    OSError
        If it cannot be opened.
    """
    text = _read_utf8(path)
    first = _first_line(text)
    if not first:
        raise DataError("the file is empty", path=path)
    delimiter = max(DELIMITERS, key=first.count)
    try:
        found = find_rows(text, delimiter)
    except MalformedError as error:
        raise DataError(
            f"is not a well-formed table ({error})", path=path, line=error.line
        ) from None
    if not found.rows:
        raise DataError("must hold a cell that is not empty, found none", path=path)
    return Table(str(path), delimiter, found.rows, found.lines, found.after_blank)


def _first_line(text: bytes) -> str:
    """The first line that is not of spaces only; empty if there is none."""
    at = 0
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].decode()
        if line.strip():
            return line
        at = end + 1
    return ""


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
    """Read a UTF-8 text file, plain or ``.gz``; line ends become newlines.

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
    raw = read_limited(path)
    try:
        if not raw.isascii():
            raw.decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError("must be UTF-8 text, found other bytes", path=path, line=line) from None
    if b"\0" in raw:
        raise DataError("must be text, found a binary file", path=path)
    raw = raw.removeprefix(codecs.BOM_UTF8)
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw


@contextmanager
def output_folder(path: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Give an empty folder to write into; what it holds appears in `path` when all went well.

    The files are moved into `path` at the end, `run.json` last, so that its presence means
    that the folder is complete. If anything fails, `path` is as it was before. What a run that was
    killed has left in it does not count, and is removed.

    Parameters
    ----------
    path
        The folder to fill. Missing folders are made; an empty one is fine.
    force
        Replace files in a folder that is not empty.

    Raises
    ------
    DataError
        If `path` is a file, cannot be written, is being written by another run, or is not empty and
        `force` is False.
    WriteError
        If the disk is full; it names the file.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise DataError("must be a folder, found a file", path=folder)
    if folder.is_dir():
        _make_room(folder, force)
    made = [p for p in (folder, *folder.parents) if not p.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = hold_folder(folder)
    except OSError as error:
        _remove_folders(made)
        if error.errno in NO_SPACE:
            raise WriteError(error.errno, error.strerror, str(folder)) from None
        raise DataError(f"cannot be written ({error.strerror})", path=folder) from None
    try:
        with naming(folder, held.path):
            yield held.path
            _move(held.path, folder)
    except BaseException:
        held.release()
        _remove_folders(made)
        raise
    held.release()


def _make_room(folder: Path, force: bool) -> None:
    try:
        written = remove_left_folders(folder)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", path=folder) from None
    if written is not None:
        raise DataError(f"another run is writing into it ({written.name})", path=folder)
    if not is_empty and not force:
        raise DataError("the folder is not empty; give --force to replace its files", path=folder)


def _move(partial: Path, folder: Path) -> None:
    """Move the files of `partial` into `folder`: the old record goes first, the new comes last."""
    names = sorted((p.name for p in partial.iterdir()), key=lambda n: (n == "run.json", n))
    (partial / MOVING).write_text("\n".join(names), encoding="utf-8")
    (folder / "run.json").unlink(missing_ok=True)
    for name in names:
        os.replace(partial / name, folder / name)


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path` and rename it to `path` when it is complete.

    Raises
    ------
    DataError
        If there is no such folder, or nothing may be written into it.
    WriteError
        If the disk is full.
    """
    target = Path(path)
    remove_left_files(target)
    try:
        held = hold_file(target)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise WriteError(error.errno, error.strerror, str(target)) from None
        raise DataError(f"cannot be written ({error.strerror})", path=target) from None
    try:
        with naming(target, held.path):
            write(held.path)
            held.path.chmod(0o666 & ~_umask())
            os.replace(held.path, target)
    finally:
        held.release()


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with a final newline; the same value gives the same bytes."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_table(
    path: Path, header: Sequence[str], rows: Sequence[Sequence[object]], delimiter: str = "\t"
) -> None:
    """Write a table with `header`; cells that hold a delimiter are quoted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _remove_folders(made: Sequence[Path]) -> None:
    for folder in made:
        try:
            folder.rmdir()
        except OSError:
            return


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

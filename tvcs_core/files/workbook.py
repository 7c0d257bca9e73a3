"""Sheets of Excel's workbooks (``.xlsx``) as rows of text; needs openpyxl.

One sheet is one table. Which one is never guessed: where several hold cells, one must be named.
Merged cells are refused, for all but the first of them are empty; so are formulas whose value was
not stored.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime, time
from pathlib import Path
from typing import Any

from tvcs_core.files.errors import DataError
from tvcs_core.files.extras import to_install
from tvcs_core.files.input_size import refuse_cells, refuse_expansion, refuse_more
from tvcs_core.files.shown import did_you_mean, listed, shown

SUFFIXES = (".xlsx", ".xlsm")
OLD = ".xls"
OLD_REMEDY = "save it as a workbook of today (.xlsx) or as 'CSV UTF-8' (Excel: Save As, file type)"
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell [^>]*ref=\"([A-Z0-9:]+)\"")
# A cell with a formula and no value; that of a formula that gives text (t="str") may be empty.
_NO_VALUE = re.compile(
    rb"<(?:\w+:)?c r=\"([A-Z]+[0-9]+)\"(?![^>]*t=\"str\")[^>]*>"
    rb"<(?:\w+:)?f(?:[^<>]*/>|[^<]*</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<v></v>|</(?:\w+:)?c>)"
)
LONGEST_FORMULA = 10_000  # bytes; Excel takes 8,192 characters
BYTES_OF_A_PLACE = 8  # an empty cell in a list of Python
PLACES_AT_ONCE = 2**20  # any of 2**16 to 2**22 does


class SeveralSheetsError(DataError):
    """A workbook whose sheet must be named; `sheets` are those that hold cells."""

    sheets: tuple[str, ...] = ()


def is_workbook(path: Path) -> bool:
    """Whether the name is that of a workbook; an old one is refused.

    Raises
    ------
    DataError
        If it is one of the old format.
    """
    suffix = path.suffix.lower()
    if suffix == OLD and path.is_file():
        with path.open("rb") as file:
            if file.read(4) == b"\xd0\xcf\x11\xe0":
                raise DataError(f"is a workbook of old Excel (.xls): {OLD_REMEDY}", path=path)
    return suffix in SUFFIXES


def read_sheet(path: Path, sheet: str | None = None) -> list[tuple[int, list[str]]]:
    """Read the rows of a sheet that are not empty: the number of each, and its cells as text.

    All rows have the same number of cells. Numbers are written so that they read back exactly.

    Parameters
    ----------
    path
        The workbook.
    sheet
        Its name; None for the only one that holds cells.

    Raises
    ------
    DataError
        If openpyxl is not installed, it is no workbook, is too large, the sheet is not there or
        must be named, or cells are merged.
    OSError
        If it cannot be opened.
    """
    try:
        import openpyxl
    except ImportError:
        raise DataError(
            f"needs openpyxl to be read, and it is not installed; give: {to_install('excel')}",
            path=path,
        ) from None
    path.open("rb").close()  # so that a missing file is an OSError like any other
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        refuse_more(path, size, "more")
        refuse_expansion(path, path.stat().st_size, size)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # openpyxl raises what it meets: BadZipFile, KeyError, ...
        raise DataError(f"is no workbook of Excel, or damaged ({error})", path=path) from None
    try:
        return _rows(book, path, sheet)
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"is a damaged workbook of Excel ({error})", path=path) from None
    finally:
        book.close()


def _rows(book: Any, path: Path, sheet: str | None) -> list[tuple[int, list[str]]]:
    if sheet is None:
        sheet = _only(book, path)
    elif sheet not in book.sheetnames:
        raise DataError(
            f"has no sheet {shown(sheet)}{did_you_mean(sheet, book.sheetnames)}; it has "
            f"{listed(book.sheetnames)}",
            path=path,
        )
    _refuse_unread(book, path, sheet)
    rows, width, shape = [], 0, _Shape(path)
    for line, cells in _filled(book[sheet], path):
        width = max(width, len(cells))
        rows.append((line, cells))
        shape.refuse_more(len(rows), width)
    if not width:
        raise DataError(f"must hold a cell that is not empty, found none in {sheet}", path=path)
    return [(line, cells + [""] * (width - len(cells))) for line, cells in rows]


def _only(book: Any, path: Path) -> str:
    names = [part.title for part in book.worksheets]
    filled = [name for name in names if next(_filled(book[name], path), None) is not None]
    if len(filled) > 1:
        error = SeveralSheetsError(
            f"has the sheets {listed(filled)}; keep the one that is meant alone", path=path
        )
        error.sheets = tuple(filled)
        raise error
    return str((filled or names)[0])


def _refuse_unread(book: Any, path: Path, sheet: str) -> None:
    """Look for merged cells, and formulas without a value, in the sheet's own text.

    openpyxl, reading by rows, takes both for empty cells.
    """
    # Where that text is in the archive openpyxl keeps under this name alone.
    with zipfile.ZipFile(path) as archive, archive.open(book[sheet]._worksheet_path) as text:
        before = b""
        while part := text.read(2**20):
            if found := _MERGED.search(before + part):
                raise DataError(
                    f"must have one value in every cell, found the merged cells "
                    f"{found[1].decode()} in the sheet {sheet}: unmerge them (Excel: Merge & "
                    "Center) and fill each",
                    path=path,
                )
            if found := _NO_VALUE.search(before + part):
                raise DataError(
                    f"must store the values of formulas, found none in {found[1].decode()} of the "
                    f"sheet {sheet}: open it in Excel or LibreOffice and save it",
                    path=path,
                )
            before = part[-LONGEST_FORMULA:]


def _filled(part: Any, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with a cell that is not empty, without the empty ones at their ends.

    openpyxl makes every empty place up to the last cell of a row, and rows that are not there up
    to the width that the sheet claims; so the claim is dropped and the places are counted.
    """
    part.reset_dimensions()
    places, shape = 0, _Shape(path)
    for line, row in enumerate(part.iter_rows(values_only=True), start=1):
        places += len(row)
        shape.refuse_more(1, places)
        cells = _texts(row)
        if cells:
            yield line, cells


class _Shape:
    """The shape of a sheet, asked whenever it has grown by `PLACES_AT_ONCE`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._packed = path.stat().st_size
        self._ask_at = PLACES_AT_ONCE

    def refuse_more(self, rows: int, columns: int) -> None:
        """Refuse rows, all as wide as the widest, that are more than the file can mean."""
        places = rows * columns
        if places > self._ask_at:
            refuse_expansion(self._path, self._packed, places * BYTES_OF_A_PLACE)
            refuse_cells(self._path, rows, columns)
            self._ask_at = places + PLACES_AT_ONCE


def _texts(row: Sequence[object]) -> list[str]:
    cells = [_text(value) for value in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"  # as in the CSV that Excel and LibreOffice save of it
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()  # a day; Excel keeps no more of it
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value).strip()

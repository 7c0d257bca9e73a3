"""Sheets of Excel workbooks (``.xlsx``) as rows of text; needs openpyxl.

One sheet is one table. The sheet is never guessed: if several hold cells, the user must name one.
Merged cells are refused, because all but the first of them are empty. So are formulas without a
stored value, and hidden rows, which nobody sees.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime, time
from pathlib import Path
from typing import Any

from tvcs_core.files.display import did_you_mean, joined, quoted
from tvcs_core.files.errors import DataError
from tvcs_core.files.extras import to_install
from tvcs_core.files.input_size import refuse_cells, refuse_expansion, refuse_more

SUFFIXES = (".xlsx", ".xlsm")
OLD = ".xls"
OLD_REMEDY = "save it as .xlsx or as 'CSV UTF-8' (Excel: Save As, file type)"
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell [^>]*ref=\"([A-Z0-9:]+)\"")
# A cell with a formula but no value; the value of a text formula (t="str") may be empty.
_NO_VALUE = re.compile(
    rb"<(?:\w+:)?c r=\"([A-Z]+[0-9]+)\"(?![^>]*t=\"str\")[^>]*>"
    rb"<(?:\w+:)?f(?:[^<>]*/>|[^<]*</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<v></v>|</(?:\w+:)?c>)"
)
_HIDDEN = re.compile(
    rb"<(?:\w+:)?row(?=\s[^>]*hidden=\"(?:1|true)\")[^>]*?\sr=\"([0-9]+)\"[^>]*[^>/]>"
)
_UNREAD = {  # patterns of cells that are not read, and the error with their place and sheet
    _MERGED: "must have one value in every cell, found the merged cells {} in the sheet {}: "
    "unmerge them (Excel: Merge & Center) and fill each",
    _NO_VALUE: "must store the values of formulas, found none in {} of the sheet {}: open it in "
    "Excel or LibreOffice and save it",
    _HIDDEN: "has a hidden row, {} of the sheet {}: show it (clear the filter, or Unhide) to have "
    "it read, or delete it to leave it out",
}
MAX_FORMULA_BYTES = 10_000  # Excel allows 8,192 characters
BYTES_PER_SLOT = 8  # an empty cell in a Python list
CELLS_PER_CHECK = 2**20  # any value from 2**16 to 2**22 does


def is_workbook(path: Path) -> bool:
    """Return whether the name is that of a workbook."""
    suffix = path.suffix.lower()
    if suffix == OLD and path.is_file():
        with path.open("rb") as file:
            if file.read(4) == b"\xd0\xcf\x11\xe0":
                raise DataError(f"is an old Excel workbook (.xls): {OLD_REMEDY}", path=path)
    return suffix in SUFFIXES


def read_sheet(path: Path, sheet: str | None = None) -> list[tuple[int, list[str]]] | None:
    """Read the rows of a sheet that are not empty: line number, and cells as text.

    All rows have the same number of cells. Numbers are written so that they read back exactly. A
    file that is no workbook by its name has none.

    Parameters
    ----------
    path
        The workbook.
    sheet
        Its name; None for the only one that holds cells.

    Raises
    ------
    DataError
        If openpyxl is not installed, the file is not a workbook or too large, the sheet is missing
        or must be named, or cells are merged; if a sheet is named but the file is not a workbook.
    OSError
        If the file cannot be opened.
    """
    if not is_workbook(path):
        if sheet is not None:
            raise DataError(f"is no workbook, so it has no sheet {quoted(sheet)}", path=path)
        return None
    try:
        import openpyxl
    except ImportError:
        raise DataError(
            f"needs openpyxl to be read, and it is not installed; give: {to_install('excel')}",
            path=path,
        ) from None
    path.open("rb").close()  # a missing file is an OSError, as for any other format
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        refuse_more(path, size, "more")
        refuse_expansion(path, path.stat().st_size, size)
        workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # openpyxl passes on BadZipFile, KeyError and others
        raise DataError(f"is not an Excel workbook, or damaged ({error})", path=path) from None
    try:
        return _rows(workbook, path, sheet)
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"is a damaged Excel workbook ({error})", path=path) from None
    finally:
        workbook.close()


def _rows(workbook: Any, path: Path, sheet: str | None) -> list[tuple[int, list[str]]]:
    if sheet is None:
        sheet = _only_sheet(workbook, path)
    elif sheet not in workbook.sheetnames:
        raise DataError(
            f"has no sheet {quoted(sheet)}{did_you_mean(sheet, workbook.sheetnames)}; it has "
            f"{joined(workbook.sheetnames)}",
            path=path,
        )
    _refuse_unread(workbook, path, sheet)
    rows, width, guard = [], 0, _SizeGuard(path)
    for line, cells in _filled(workbook[sheet], path):
        width = max(width, len(cells))
        rows.append((line, cells))
        guard.check(len(rows), width)
    if not width:
        raise DataError(f"must hold a cell that is not empty, found none in {sheet}", path=path)
    return [(line, cells + [""] * (width - len(cells))) for line, cells in rows]


def _only_sheet(workbook: Any, path: Path) -> str:
    names = [part.title for part in workbook.worksheets]
    filled = [name for name in names if next(_filled(workbook[name], path), None) is not None]
    if len(filled) > 1:
        raise DataError(
            f"has the sheets {joined(filled)}; keep only the one you mean",
            path=path,
            remedies=[{"sheet": name} for name in filled],
        )
    return str((filled or names)[0])


def _refuse_unread(workbook: Any, path: Path, sheet: str) -> None:
    """Raise if the sheet's XML has merged cells, formulas without a value or hidden rows.

    openpyxl, reading row by row, returns the first two as empty cells, and the last as any other.
    """
    # Only this private attribute of openpyxl has the path of the XML in the archive.
    with zipfile.ZipFile(path) as archive, archive.open(workbook[sheet]._worksheet_path) as text:
        before = b""
        while part := text.read(2**20):
            for pattern, message in _UNREAD.items():
                if match := pattern.search(before + part):
                    raise DataError(message.format(match[1].decode(), sheet), path=path)
            before = part[-MAX_FORMULA_BYTES:]


def _filled(part: Any, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that hold a cell, without trailing empty cells.

    openpyxl creates every empty cell up to the last one of a row, and missing rows up to the width
    that the sheet claims. So the claim is dropped and the cells are counted.
    """
    part.reset_dimensions()
    n_cells, guard = 0, _SizeGuard(path)
    for line, row in enumerate(part.iter_rows(values_only=True), start=1):
        n_cells += len(row)
        guard.check(1, n_cells)
        cells = _texts(row)
        if cells:
            yield line, cells


class _SizeGuard:
    """Checks the shape of a sheet whenever it has grown by `CELLS_PER_CHECK` cells."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._packed = path.stat().st_size
        self._next_check = CELLS_PER_CHECK

    def check(self, rows: int, columns: int) -> None:
        """Raise if the cells are too many for the size of the file or for the memory."""
        n_cells = rows * columns
        if n_cells > self._next_check:
            refuse_expansion(self._path, self._packed, n_cells * BYTES_PER_SLOT)
            refuse_cells(self._path, rows, columns)
            self._next_check = n_cells + CELLS_PER_CHECK


def _texts(row: Sequence[object]) -> list[str]:
    cells = [_text(value) for value in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"  # as Excel and LibreOffice export it to CSV
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()  # Excel stores a date as midnight of that day
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value).strip()

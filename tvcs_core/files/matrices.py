"""Matrices and caps from files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tvcs_core.files.errors import DataError
from tvcs_core.files.input_size import refuse_large_npz
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import Table, is_number, read_table

# Headers of a list of entries, one per line, as scipy and the tables of other programs have them.
ENTRY_HEADERS = ({"row", "i", "from", "source"}, {"col", "column", "j", "to", "target"})
OF_NAMES = "the first column holds names; give --names"


class Matrix(NamedTuple):
    """A matrix from a file, and the names of its rows and columns; None without names."""

    values: Any
    row_names: list[str] | None = None
    col_names: list[str] | None = None


def read_matrix(
    path: Path, *, names: bool = False, log: Callable[[str], None] = lambda _: None
) -> Matrix:
    """Read a matrix of finite numbers, dense or sparse.

    Parameters
    ----------
    path
        A ``.npy`` file, a ``.npz`` file of a scipy sparse matrix, or a ``.csv`` or ``.tsv`` file,
        plain or ``.gz``. A first row without any number is a header.
    names
        Whether the first row and column of a text file are names.
    log
        Called with a line about a skipped header.
    """
    suffix = (path.suffixes[-2:-1] if path.suffix == ".gz" else path.suffixes[-1:]) or [""]
    readers: dict[str, Any] = {
        ".npy": _read_npy,
        ".npz": _read_npz,
        ".csv": _read_text,
        ".tsv": _read_text,
    }
    reader = readers.get(suffix[0].lower())
    if reader is None or (path.suffix == ".gz" and reader is not _read_text):
        raise DataError(
            f"must be a .npy, .npz, .csv or .tsv file, found {path.suffix or 'no extension'!r}",
            path=path,
        )
    found = _read_text(path, names, log) if reader is _read_text else Matrix(reader(path))
    V = found.values
    if V.ndim != 2 or 0 in V.shape:
        raise DataError(f"must be a matrix with entries, found shape {V.shape}", path=path)
    if V.dtype.kind not in "buif":
        raise DataError(f"must hold real numbers, found {V.dtype}", path=path)
    _refuse_not_finite(V, path)
    return found


def read_caps(path: Path, n: int, view: str) -> list[int]:
    """Read one cap for each of the `n` rows or columns."""
    table = read_table(path)
    caps = []
    for i, row in enumerate(table.rows):
        cell = " ".join(row)
        if not (cell.isascii() and cell.isdecimal() and len(cell) < 19):
            raise table.error(f"must be one integer >= 0, found {cell!r}", row=i)
        caps.append(int(cell))
    if len(caps) != n:
        raise DataError(f"must hold one cap for each of {n} {view}s, found {len(caps)}", path=path)
    return caps


def _read_npy(path: Path) -> Any:
    with path.open("rb") as file:
        try:
            np.lib.format.read_magic(file)
            # Map the file before copying it, so that a header that claims more than the file holds
            # is refused. NumPy parses headers with Python's tokenizer and passes on its errors.
            return np.array(np.load(path, mmap_mode="r", allow_pickle=False))
        except MemoryError:
            raise
        except Exception as error:
            raise DataError(f"is not a whole .npy file of numbers ({error})", path=path) from None


def _read_npz(path: Path) -> Any:
    with path.open("rb") as file:
        try:
            refuse_large_npz(file, path)
            V = sparse.load_npz(file)
            if V.format in ("csr", "csc", "bsr"):
                V.check_format(full_check=True)
            return sparse.coo_array(V)
        except (MemoryError, DataError):
            raise
        except Exception as error:  # a damaged archive, damaged arrays or inconsistent content
            raise DataError(
                f"is not a whole .npz file of a scipy sparse matrix ({error})", path=path
            ) from None


def _read_text(path: Path, names: bool, log: Callable[[str], None]) -> Matrix:
    table = read_table(path)
    table.check_rectangle()
    header, rows = table.rows[0], table.rows[1:]  # a view: unpacked, all cells at once are large
    if not names and not header[0] and rows and all(row[0] for row in rows):
        raise table.error(OF_NAMES, row=1)
    if not names and any(is_number(cell) for cell in header):
        _refuse_counts(table)
        return Matrix(replace(table, has_header=False).numbers(0, range(len(header))))
    if len(table.rows) == 1:
        raise table.error("must hold a row of numbers, found a header alone")
    _refuse_entries(table)
    if names:
        row_names = [unshield(row[0]) for row in rows]
        if header[0] and all(map(_is_decimal, row_names)):
            raise table.error(
                f"the first column must name the rows, found numbers such as {row_names[0]}: leave "
                "--names out, or the first cell of the header empty if these are names",
                1,
            )
        col_names = [unshield(cell) for cell in header[1:]]
        return Matrix(table.numbers(1, range(1, len(header))), row_names, col_names)
    if not any(is_number(row[0]) for row in table.rows):
        raise table.error(OF_NAMES, row=1)
    log(f"{path}: the first row holds no number and is skipped as a header")
    return Matrix(table.numbers(1, range(len(header))))


def _is_decimal(cell: str) -> bool:
    return is_number(cell) and ("." in cell or not float(cell).is_integer())


def _refuse_counts(table: Table) -> None:
    """Raise if the first row or column counts from 0, as pandas does, and other cells have points.

    Of whole numbers both may be values.
    """
    rows = table.rows
    for what, cells in (("row", rows[0]), ("column", [row[0] for row in rows])):
        is_count = len(cells) > 2 and cells == list(map(str, range(len(cells))))
        if is_count and any(_is_decimal(cell) for row in rows for cell in row):
            raise table.error(
                f"the first {what} counts from 0, as pandas writes a header and an index: write "
                "the table without (header=False, index=False), or values as 0.0, 1.0, ...",
                0,
            )


def _refuse_entries(table: Table) -> None:
    """Raise if the header is that of a list of entries, which would be read as three columns."""
    rows, columns = ENTRY_HEADERS
    header = [cell.lower() for cell in table.rows[0]]
    if len(header) == 3 and header[0] in rows and header[1] in columns:
        raise table.error(
            "must be a matrix, found a list of entries; save it as .npz by scipy.sparse.save_npz", 0
        )


def _refuse_not_finite(V: Any, path: Path) -> None:
    values = V.data if sparse.issparse(V) else V.ravel()
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        indices = V.coords if sparse.issparse(V) else np.indices(V.shape).reshape(2, -1)
        row, column = (int(index[bad[0]]) + 1 for index in indices)
        raise DataError(
            f"must be finite, found {values[bad[0]]} in row {row}, column {column}", path=path
        )

"""How much an input may hold, and reading no more than that.

A file of some megabytes can hold gigabytes (``.gz``, ``.npz``, ``.h5ad``), and a header can promise
any shape. What a file holds is measured while it is read, before memory is taken for it.
"""

from __future__ import annotations

import gzip
import math
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tvcs_core.files.errors import DataError
from tvcs_core.files.memory import available_memory

MAX_INPUT = 4 * 2**30  # bytes, after decompression
# How many times its bytes on disk a file may hold. Counts of which 99 % are 0 reach 120 as text in
# a .gz and 225 as numbers of 8 bytes; a file of nothing but one value reaches 1,030.
MOST_TIMES = 200
MOST_TIMES_OF_NUMBERS = 250
ALWAYS_TAKEN = 32 * 2**20  # bytes that a file may hold however small it is
BYTES_OF_A_CELL = 100  # a cell as a text of Python, with its place in a list
VARIABLE = "TVCS_MAX_INPUT"
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
STEP = 2**20


def max_input() -> int:
    """Most bytes that an input may hold: `MAX_INPUT`, or ``TVCS_MAX_INPUT`` such as ``8G``.

    Raises
    ------
    ValueError
        If the variable is set to something else.
    """
    given = os.environ.get(VARIABLE, "").strip().upper()
    if not given:
        return MAX_INPUT
    number = given.rstrip("KMG")
    unit = UNITS.get(given[len(number) :])
    if unit is None or not (number.isascii() and number.isdecimal() and len(number) < 16):
        raise ValueError(f"{VARIABLE} must be bytes such as 1000000, 500M or 8G, found {given!r}")
    return int(number) * unit


def refuse_more(path: str | Path, found: int | float, what: str) -> None:
    """Refuse an input of `found` bytes if that is more than the limit."""
    limit = max_input()
    if found > limit:
        raise DataError(
            f"must hold at most {_size(limit)}, found {what}; a larger limit is set by {VARIABLE}",
            path=path,
        )


def refuse_expansion(path: str | Path, packed: int, found: int, times: int = MOST_TIMES) -> None:
    """Refuse a file of `packed` bytes that holds many times that: it would fill the memory.

    A user who sets the limit (``TVCS_MAX_INPUT``) says that the file is meant.
    """
    if found > max(ALWAYS_TAKEN, times * packed) and not os.environ.get(VARIABLE, "").strip():
        raise DataError(
            f"may hold at most {times} times its {_size(packed)} on disk, found {_size(found)} or "
            f"more; if it is meant to, give a limit such as {VARIABLE}={_size(MAX_INPUT)[0]}G",
            path=path,
        )


def refuse_cells(
    path: str | Path, rows: int, columns: int, bytes_of_a_cell: int = BYTES_OF_A_CELL
) -> None:
    """Refuse a table that the free memory cannot hold, by its shape, before a cell is kept."""
    available = available_memory()
    needed = rows * columns * bytes_of_a_cell
    if available is not None and needed > available:
        raise DataError(
            f"must fit into the memory that is free, {_size(available)}; its {rows:,} rows x "
            f"{columns:,} columns take {_size(needed)}: leave out rows or columns, or use a "
            "machine with more memory",
            path=path,
        )


def read_limited(path: Path) -> bytes:
    """Read a file, plain or ``.gz``, and stop where it holds more than the limit.

    Raises
    ------
    DataError
        If it holds more, holds many times its size on disk, or is a damaged ``.gz``.
    """
    with path.open("rb") as file:
        packed = os.fstat(file.fileno()).st_size
        is_gz = file.peek(2)[:2] == b"\x1f\x8b"
        if not is_gz:
            refuse_more(path, packed, _size(packed))
            return _read(file, path, "more")
        try:
            with gzip.open(file) as opened:
                if file.seekable():
                    _refuse_packed(opened, path, packed)
                return _read(opened, path, f"more in {_size(packed)} of .gz")
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"is a damaged .gz file ({error})", path=path) from None


def _refuse_packed(opened: gzip.GzipFile, path: Path, packed: int) -> None:
    """Count what a ``.gz`` holds, keep none of it, and go back to its start."""
    found = 0
    while part := opened.read(STEP):
        found += len(part)
        refuse_expansion(path, packed, found)
        refuse_more(path, found, f"more in {_size(packed)} of .gz")
    opened.seek(0)


def _read(file: Any, path: Path, what: str) -> bytes:
    out = bytearray()
    limit = max_input()
    while part := file.read(min(STEP, limit + 1 - len(out))):
        out += part
        if len(out) > limit:
            refuse_more(path, len(out), what)
    return bytes(out)


def refuse_large_npz(file: BinaryIO, path: str | Path) -> None:
    """Refuse a ``.npz`` whose arrays are larger than the limit, or than what their headers promise.

    Must be called before NumPy reads it, which takes the memory that a header asks for.

    Raises
    ------
    DataError, zipfile.BadZipFile, ValueError
        If it holds more, or is damaged.
    """
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        total = sum(member.file_size for member in members)
        refuse_more(path, total, f"arrays of {_size(total)}")
        for member in members:
            with archive.open(member) as array:
                promised = npy_size(array)
            if promised > member.file_size:
                raise ValueError(
                    f"{member.filename!r} must hold {promised} bytes as its header says, "
                    f"found {member.file_size}"
                )
    file.seek(0)


def npy_size(file: Any) -> int:
    """Bytes of the array that a ``.npy`` header promises."""
    major, minor = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0
    if (major, minor) != (1, 0):
        read = np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return math.prod(int(n) for n in shape) * dtype.itemsize


def _size(n: int | float) -> str:
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if n >= unit:
            return f"{n / unit:.4g} {name}"
    return f"{n} bytes"

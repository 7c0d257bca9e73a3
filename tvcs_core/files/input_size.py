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

MAX_INPUT = 4 * 2**30  # bytes, after decompression
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


def read_limited(path: Path) -> bytes:
    """Read a file, plain or ``.gz``, and stop where it holds more than the limit.

    Raises
    ------
    DataError
        If it holds more, or is a damaged ``.gz``.
    """
    with path.open("rb") as file:
        packed = os.fstat(file.fileno()).st_size
        is_gz = file.peek(2)[:2] == b"\x1f\x8b"
        if not is_gz:
            refuse_more(path, packed, _size(packed))
            return _read(file, path, "more")
        try:
            with gzip.open(file) as opened:
                return _read(opened, path, f"more in {_size(packed)} of .gz")
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"is a damaged .gz file ({error})", path=path) from None


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

"""Limits on the size of inputs.

A compressed file of a few megabytes can expand to gigabytes (``.gz``, ``.npz``, ``.h5ad``), and a
header can claim any shape. So sizes are checked while reading, before memory is allocated.
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
# Largest ratio of decompressed to stored bytes. Count tables with 99 % zeros reach 120 as .gz text
# and 225 as 8-byte numbers; a file that repeats a single value reaches 1,030.
MAX_EXPANSION = 200
MAX_EXPANSION_OF_NUMBERS = 250
ALWAYS_ALLOWED = 32 * 2**20  # bytes; a smaller content is never refused for its ratio
BYTES_PER_CELL = 100  # bytes of one Python string and its list slot
VARIABLE = "TVCS_MAX_INPUT"
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
CHUNK_BYTES = 2**20  # read in one call


def max_input() -> int:
    """Return the largest input in bytes: ``TVCS_MAX_INPUT`` (such as ``8G``) or `MAX_INPUT`."""
    setting = os.environ.get(VARIABLE, "").strip().upper()
    if not setting:
        return MAX_INPUT
    number = setting.rstrip("KMG")
    unit = UNITS.get(setting[len(number) :])
    if unit is None or not (number.isascii() and number.isdecimal() and len(number) < 16):
        raise ValueError(f"{VARIABLE} must be bytes such as 1000000, 500M or 8G, found {setting!r}")
    return int(number) * unit


def refuse_more(path: str | Path, size: int | float, content: str) -> None:
    """Raise if an input of `size` bytes, described as `content`, exceeds the limit."""
    limit = max_input()
    if size > limit:
        raise DataError(
            f"must hold at most {_size(limit)}, found {content}; {VARIABLE} sets a larger limit",
            path=path,
        )


def refuse_expansion(path: str | Path, packed: int, size: int, times: int = MAX_EXPANSION) -> None:
    """Raise if a file of `packed` bytes expands to more than `times` as many.

    Not checked if the user has set a limit (``TVCS_MAX_INPUT``).
    """
    if size > max(ALWAYS_ALLOWED, times * packed) and not os.environ.get(VARIABLE, "").strip():
        raise DataError(
            f"may hold at most {times} times its {_size(packed)} on disk, found {_size(size)} or "
            f"more; if it is meant to, give a limit such as {VARIABLE}={_size(MAX_INPUT)[0]}G",
            path=path,
        )


def refuse_cells(
    path: str | Path,
    rows: int,
    columns: int,
    bytes_per_cell: int = BYTES_PER_CELL,
    *,
    named: tuple[str, str] = ("rows", "columns"),
    remedy: str = "leave out rows or columns",
) -> None:
    """Raise if a table of this shape does not fit into the available memory."""
    available = available_memory()
    needed = rows * columns * bytes_per_cell
    if available is not None and needed > available:
        raise DataError(
            f"must fit into the memory that is free, {_size(available)}; its {rows:,} {named[0]} x "
            f"{columns:,} {named[1]} take {_size(needed)}: {remedy}, or use a machine with more "
            "memory",
            path=path,
        )


def read_limited(path: Path) -> bytes:
    """Read a file, plain or ``.gz``, up to the size limit."""
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
    """Check the decompressed size of a ``.gz``, keeping nothing, and rewind."""
    size = 0
    while part := opened.read(CHUNK_BYTES):
        size += len(part)
        refuse_expansion(path, packed, size)
        refuse_more(path, size, f"more in {_size(packed)} of .gz")
    opened.seek(0)


def _read(file: Any, path: Path, content: str) -> bytes:
    out = bytearray()
    limit = max_input()
    while part := file.read(min(CHUNK_BYTES, limit + 1 - len(out))):
        out += part
        if len(out) > limit:
            refuse_more(path, len(out), content)
    return bytes(out)


def refuse_large_npz(file: BinaryIO, path: str | Path) -> None:
    """Raise if the arrays of a ``.npz`` exceed the limit or are shorter than their headers claim.

    Call this before NumPy reads the file, since NumPy allocates the size in the header.
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
    """Return the array size in bytes claimed by a ``.npy`` header."""
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

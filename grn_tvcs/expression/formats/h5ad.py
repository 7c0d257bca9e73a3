"""Expression in AnnData's ``.h5ad``: levels in ``X``, times in ``obs``, genes in ``var``.

Read with h5py alone, by AnnData's specification of its files; `annotated` interprets them.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from grn_tvcs.expression.formats.annotated import PEEKED, RAW, TAKES, Annotated, Frame, Matrix
from grn_tvcs.expression.options import Options
from tvcs_core import DataError
from tvcs_core.files.display import quoted
from tvcs_core.files.extras import to_install
from tvcs_core.files.input_size import MAX_EXPANSION_OF_NUMBERS, refuse_expansion, refuse_more

HEAP = b"GCOL\1\0\0\0"  # begins a heap of texts: its signature, and version 1
PIECE = 1 << 26  # bytes
TEXTS_AT_ONCE = 256  # of a column: many may be one and the same text of the file


@contextmanager
def open_h5ad(path: str | Path, options: Options) -> Iterator[Annotated]:
    """Open an ``.h5ad`` file as long as the context lasts; needs h5py.

    Raises
    ------
    DataError
        If h5py is not installed, the file is not of this kind, or what is read in the context is
        damaged.
    """
    options.refuse_except(TAKES, "an .h5ad file, which says it all itself")
    try:
        import h5py
    except ImportError:
        raise DataError(
            f"needs h5py to be read, and it is not installed; give: {to_install('anndata')}",
            path=path,
        ) from None
    Path(path).open("rb").close()  # so that a missing file is an OSError like any other
    try:
        with h5py.File(path, "r") as file:
            _refuse_other_files(file, path)
            _refuse_large(file, path)
            _refuse_endless(path)
            yield _parts(file, str(path), options)
    except (DataError, MemoryError):
        raise
    except ValueError as error:
        raise DataError(str(error), path=path) from None
    except Exception as error:  # h5py raises what it meets: OSError, KeyError, RuntimeError, ...
        raise DataError(f"is no HDF5 file of AnnData, or damaged ({error})", path=path) from None


def _refuse_endless(path: str | Path) -> None:
    """Refuse texts in whose heap HDF5 (2.0 and before) would go round for ever, deaf to Ctrl-C.

    By the format of HDF5, III.E: a heap is a row of objects, each with its size before it; the
    free space at its end is object 0, and only its size counts the 16 bytes of its own head.
    """
    with (
        Path(path).open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held,
    ):
        for start in _heaps(held):
            [size] = struct.unpack_from("<Q", held, start + 8)
            place, end = start + 16, min(start + size, len(held))
            while place + 16 <= end:
                index, length = struct.unpack_from("<H6xQ", held, place)
                if index == 0 and length < 16:
                    raise DataError(f"is damaged: the texts at byte {start} never end", path=path)
                place += 16 + -(-length // 8) * 8 if index else length


def _heaps(held: mmap.mmap) -> Iterator[int]:
    """Search for the signature of a heap of texts, in pieces, so that Ctrl-C interrupts it."""
    for piece in range(0, len(held), PIECE):
        start = piece
        while (start := held.find(HEAP, start, piece + PIECE + len(HEAP) - 1)) >= 0:
            if start + 16 <= len(held):
                yield start
            start += len(HEAP)


def _refuse_other_files(file: Any, path: str | Path) -> None:
    """Refuse data that lie in another file: HDF5 would open any that this user may read.

    There are three ways: a link, a data set whose bytes are stored elsewhere, a virtual data set.
    """

    def of_link(place: str, link: Any) -> str | None:
        is_external = type(link).__name__ == "ExternalLink"
        return f"the link {quoted(place)} to another file" if is_external else None

    def of_data(place: str, part: Any) -> str | None:
        is_elsewhere = hasattr(part, "dtype") and (part.external or part.is_virtual)
        return f"{quoted(place)} stored in another file" if is_elsewhere else None

    # h5py ends a visit at the first answer that is not None; an error within it would be lost.
    if found := file.visititems_links(of_link) or file.visititems(of_data):
        raise DataError(
            f"must hold its data itself, found {found}: read it where that file is, and write it "
            "anew (anndata: read_h5ad, then write)",
            path=path,
        )


def _refuse_large(file: Any, path: str | Path) -> None:
    """Refuse more than the limit before a byte of it is read: a data set may claim any shape."""
    sizes: list[int] = []

    def add(_: str, part: Any) -> None:
        if hasattr(part, "dtype"):
            sizes.append(math.prod(part.shape or (1,)) * max(part.dtype.itemsize, 8))

    file.visititems(add)
    refuse_more(path, sum(sizes), "arrays of more")
    refuse_expansion(path, Path(path).stat().st_size, sum(sizes), MAX_EXPANSION_OF_NUMBERS)


def _parts(file: Any, path: str, options: Options) -> Annotated:
    """Return the parts of an open file."""
    for part in ("obs", "var"):
        if part not in file:
            what = f"must hold {part} as AnnData writes it, found {list(file)}"
            raise DataError(what, path=path)
        if "_index" not in file[part].attrs:
            raise DataError(f"{part} must be a data frame of AnnData 0.7 or later", path=path)
    raw = file.get(RAW, {})
    has_raw = "X" in raw and "var" in raw
    return Annotated(
        path,
        options,
        _frame(file["obs"], path),
        _frame(file["var"], path),
        _matrix("X", file.get("X"), path),
        {name: _matrix(name, part, path) for name, part in file.get("layers", {}).items()},
        (_frame(raw["var"], path), _matrix(RAW, raw["X"], path)) if has_raw else None,
    )


def _frame(part: Any, path: str) -> Frame:
    index = _text(part.attrs["_index"])
    names = part[index]
    return Frame(
        [_text(name) for name in part.attrs.get("column-order", [])],
        _length(names),
        lambda name: _values(part[index if name is None else name], path),
    )


def _matrix(name: str, part: Any, path: str) -> Matrix:
    def read() -> Any:
        if part is None:
            return None
        kind = part.attrs.get("encoding-type", "array")
        if kind in ("csr_matrix", "csc_matrix"):
            make = sparse.csr_array if kind == "csr_matrix" else sparse.csc_array
            data = np.asarray(part["data"], dtype=np.float64)
            where = np.asarray(part["indices"]), np.asarray(part["indptr"])
            return make((data, *where), shape=tuple(part.attrs["shape"]))
        if kind == "array" and hasattr(part, "dtype"):
            return np.asarray(part, dtype=np.float64)
        what = f"{name} must be an array, csr_matrix or csc_matrix, found {kind}"
        raise DataError(what, path=path)

    def some() -> Any:
        if hasattr(part, "dtype"):
            return np.asarray(part[:PEEKED])
        last = int(part["indptr"][min(PEEKED, len(part["indptr"]) - 1)])
        return np.asarray(part["data"][:last])

    return Matrix(read, some)


def _length(part: Any) -> int:
    """Return the length of a column: plain, categorical or nullable."""
    if hasattr(part, "dtype"):
        return len(part)
    return len(part["codes" if "codes" in part else "mask"])


def _values(part: Any, path: str) -> list[Any]:
    """A column as Python values: plain, categorical or nullable; NaN if nothing is."""
    if hasattr(part, "dtype"):
        return _texts(part, path) if part.dtype.kind in "OS" and part.ndim else part[()].tolist()
    if "codes" in part:
        labels = [*_values(part["categories"], path), float("nan")]
        return [labels[code] for code in part["codes"][()].tolist()]
    values, is_gap = _values(part["values"], path), part["mask"][()].tolist()
    return [float("nan") if gap else v for v, gap in zip(values, is_gap, strict=True)]


def _texts(part: Any, path: str) -> list[Any]:
    """Read a column of texts some at a time, and refuse more than the file can mean."""
    packed, found, texts = Path(path).stat().st_size, 0, []
    for start in range(0, len(part), TEXTS_AT_ONCE):
        texts += [_text(value) for value in part[start : start + TEXTS_AT_ONCE].tolist()]
        found += sum(map(len, texts[start:]))
        refuse_expansion(path, packed, found, MAX_EXPANSION_OF_NUMBERS)
    return texts


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)

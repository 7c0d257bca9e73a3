"""A block of rows of V: a `.npy` file or an array, read in chunks of bounded size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import describe_value, refuse_masked
from tvcs_core.files.errors import DataError

CHUNK_ENTRIES = 1 << 20  # entries read together (8 MB of float64), or one row if that is longer


@dataclass(frozen=True)
class BlockFacts:
    """Shape, dtype, and modification time and size of the file, to detect changes."""

    shape: tuple[int, ...]
    dtype: str
    stamp: tuple[int, int] | None


class Block:
    """Some rows of V.

    Parameters
    ----------
    source
        Path of a `.npy` file that holds a matrix of real numbers, or such an array.
    name
        Name in error messages; None for the path.

    Raises
    ------
    DataError
        If the file is missing or holds anything else.
    TypeError
        If the source is neither a path nor an array.
    """

    def __init__(self, source: Any, name: str | None = None) -> None:
        self.path = Path(source) if isinstance(source, str | os.PathLike) else None
        self.name = str(self.path) if name is None and self.path is not None else name
        if self.path is None and not (hasattr(source, "ndim") and hasattr(source, "dtype")):
            raise TypeError(f"source must be an array or .npy file, found {describe_value(source)}")
        array = source if self.path is None else self._mapped()
        if array.ndim != 2 or 0 in array.shape:
            raise self.error(f"must be a matrix with entries, found shape {array.shape}")
        if array.dtype.kind not in "buif":
            raise self.error(f"must hold real numbers, found {array.dtype}")
        refuse_masked(self.name or "a block", array)
        self.shape: tuple[int, int] = array.shape
        self.dtype: np.dtype[Any] = array.dtype
        self._offset = int(getattr(array, "offset", 0))
        # Chunks of a file in C order are read, not mapped, so that they do not stay in memory.
        is_read = self.path is not None and array.flags.c_contiguous
        self._array = None if is_read else array

    def _mapped(self) -> Any:
        assert self.path is not None
        try:
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            raise self.error("does not exist") from None
        except MemoryError:
            raise
        except Exception as error:  # NumPy parses headers with Python's tokenizer
            raise self.error(f"is not a whole .npy file of numbers ({error})") from None
        if not isinstance(array, np.ndarray):
            array.close()
            raise self.error("is not a whole .npy file of numbers (it is an archive)")
        return array

    @property
    def facts(self) -> BlockFacts:
        """Shape, dtype and present state of the file."""
        path = self.path or getattr(self._array, "filename", None)
        if path is None:
            return BlockFacts(self.shape, str(self.dtype), None)
        try:
            now = os.stat(path)
        except OSError as error:
            raise self.error(f"cannot be read any more ({error.strerror})") from None
        return BlockFacts(self.shape, str(self.dtype), (now.st_mtime_ns, now.st_size))

    def error(self, message: str) -> DataError:
        """Return an error that names the block."""
        return DataError(message, path=self.name)

    def chunks(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield first row and float64 values of each chunk, which the reader may modify."""
        n, m = self.shape
        rows = max(1, CHUNK_ENTRIES // m)
        for first in range(0, n, rows):
            raw = self._rows(first, min(rows, n - first))
            is_own = self._array is None and raw.dtype == np.float64  # just read from the file
            yield first, raw if is_own else np.array(raw, dtype=np.float64, order="C")

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of the given rows."""
        out = np.empty((rows.size, self.shape[1]))
        for i, row in enumerate(rows.tolist()):
            out[i] = self._rows(row, 1)[0]
        return out

    def _rows(self, first: int, count: int) -> NDArray[Any]:
        if self._array is not None:
            return np.asarray(self._array[first : first + count])
        m, size = self.shape[1], self.dtype.itemsize
        assert self.path is not None
        try:
            found = np.fromfile(
                self.path, self.dtype, count * m, offset=self._offset + first * m * size
            )
        except OSError as error:
            raise self.error(f"cannot be read any more ({error})") from None
        if found.size != count * m:
            raise self.error(f"changed while it was read: row {first + count} is missing")
        return found.reshape(count, m)

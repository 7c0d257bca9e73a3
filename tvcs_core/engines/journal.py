"""Journal of finished units: one folder per job, one sealed file per unit.

``job.json`` lists everything that the results depend on. A file that is cut short, damaged or
copied from another folder fails its seal, and the unit runs again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from tvcs_core.files.errors import DataError, WriteError
from tvcs_core.files.folders import write_json, write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

RECORD = "job.json"
PACKAGES = ("tvcs", "numpy", "numba")  # their versions may change the bytes of a result
SEAL = hashlib.sha256().digest_size
CHUNK_BYTES = 1 << 18  # hashed and written together, small enough for the processor's cache


class Journal:
    """The finished units of one job.

    Parameters
    ----------
    folder
        The folder of the job alone.
    identity
        All that the results depend on but the versions of packages, as `Job.identity`.

    Raises
    ------
    DataError
        If the folder belongs to another job, or to one with other facts.
    """

    def __init__(self, folder: Path, identity: Mapping[str, str]) -> None:
        self._folder = folder
        self._facts = {**identity, **versions()}
        self._digest = hashlib.sha256(json.dumps(self._facts, sort_keys=True).encode()).digest()
        self._is_begun = self._is_ours()
        self._made: list[Path] = []  # folders that `_begin` created

    def read(self, index: int) -> tuple[NDArray[Any], ...] | None:
        """Return the result of a unit; None if it is missing or damaged."""
        if not self._is_begun:
            return None
        path = self._path(index)
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror})", path=path) from None
        digest = self._sealing(index)
        digest.update(memoryview(raw)[SEAL:])
        if raw[:SEAL] != digest.digest():
            return None
        return tuple(_arrays(raw, SEAL))

    def write(self, index: int, result: tuple[NDArray[Any], ...]) -> None:
        """Store a result."""
        parts = _packed(result)

        def write(path: Path) -> None:
            digest = self._sealing(index)
            with path.open("wb", buffering=0) as file:
                file.write(bytes(SEAL))
                for part in parts:
                    for start in range(0, len(part), CHUNK_BYTES):
                        _write_all(file, part[start : start + CHUNK_BYTES])
                        digest.update(part[start : start + CHUNK_BYTES])
                file.seek(0)
                file.write(digest.digest())

        try:
            self._begin()
            write_whole(self._path(index), write)
        except WriteError:
            self._remove_if_empty()
            raise

    def _begin(self) -> None:
        if self._is_begun:
            return
        folders = (self._folder, *self._folder.parents)
        self._made = [folder for folder in folders if not folder.exists()]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(error.errno, error.strerror, str(self._folder)) from None
        write_whole(self._folder / RECORD, lambda path: write_json(path, self._facts))
        self._is_begun = True

    def _is_ours(self) -> bool:
        """Return whether the folder has a record of this job; raise if it has another one."""
        path = self._folder / RECORD
        try:
            facts = json.loads(path.read_bytes())
        except FileNotFoundError:
            return False
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(
                f"cannot be read ({error}); give --force in place of --resume", path=path
            ) from None
        if facts == self._facts:
            return True
        stored = facts if isinstance(facts, dict) else {}
        raise DataError(
            f"is of a run with {_differences(stored, self._facts)}; give --force "
            "in place of --resume to begin anew",
            path=path,
        )

    def _sealing(self, index: int) -> Any:
        """Return the hash that seals a unit, before its content is added."""
        return hashlib.sha256(self._digest + index.to_bytes(8, "little"))

    def _path(self, index: int) -> Path:
        return self._folder / f"unit-{index:06d}"

    def _remove_if_empty(self) -> None:
        with contextlib.suppress(OSError):
            if not any(self._folder.glob("unit-*")):
                (self._folder / RECORD).unlink(missing_ok=True)
                for folder in self._made:  # the last may not exist yet
                    with contextlib.suppress(OSError):
                        folder.rmdir()


def hash_of(value: object, *arrays: Any) -> str:
    """Return the SHA-256 of a value and of arrays as a fact of a job; None is an empty array."""
    digest = hashlib.sha256(repr(value).encode())
    for part in arrays:
        digest.update(np.ascontiguousarray(np.zeros(0) if part is None else part).tobytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of the packages that may change the bytes of a result."""
    installed = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed


def _differences(stored: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Describe the facts that differ by name; versions of packages with both values."""
    names = [name for name in {**stored, **now} if stored.get(name) != now.get(name)]
    clauses = [
        f"{name} {stored[name]} (now {now[name]})"
        if name in PACKAGES and name in stored and name in now
        else f"other {name}"
        for name in names
    ]
    if len(clauses) > 1:
        return " and ".join([", ".join(clauses[:-1]), clauses[-1]])
    return " and ".join(clauses)


def _packed(result: tuple[NDArray[Any], ...]) -> list[memoryview]:
    """Return arrays as bytes: a line with dtypes and shapes, then the data, not copied."""
    arrays = [np.ascontiguousarray(part) for part in result]
    if any(part.dtype.hasobject for part in arrays):
        raise TypeError("a unit that is kept must return arrays of numbers")
    kinds = [(part.dtype.str, np.shape(whole)) for part, whole in zip(arrays, result, strict=True)]
    head = json.dumps(kinds).encode() + b"\n"
    flat = [part.reshape(-1).view(np.uint8) for part in arrays]
    return [memoryview(head), *(part.data for part in flat)]


def _write_all(file: IO[bytes], part: memoryview) -> None:
    while part:
        part = part[file.write(part) :]


def _arrays(raw: bytes, head: int) -> Iterator[NDArray[Any]]:
    """Yield the arrays of `_packed`, from offset `head` on, each with its own memory."""
    start = raw.index(b"\n", head) + 1
    for kind, shape in json.loads(raw[head:start]):
        part = np.frombuffer(raw, kind, int(np.prod(shape)), start)
        start += part.nbytes
        yield part.reshape(shape).copy()

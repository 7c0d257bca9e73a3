"""Finished units, kept in a folder: each in a sealed file, whole or not at all.

A folder belongs to one job: ``job.json`` says all that its results depend on. A unit that was cut
short, damaged or brought in from another folder does not count, and is done again.
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
PACKAGES = ("tvcs", "numpy", "numba")  # whose versions may change the bytes of a result
SEAL = hashlib.sha256().digest_size
BLOCK = 1 << 18  # bytes that are sealed and written while they are in the processor's cache


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
        If the folder is of another job, or of one with other facts.
    """

    def __init__(self, folder: Path, identity: Mapping[str, str]) -> None:
        self._folder = folder
        self._facts = {**identity, **versions()}
        self._digest = hashlib.sha256(json.dumps(self._facts, sort_keys=True).encode()).digest()
        self._is_begun = self._is_ours()
        self._made: list[Path] = []  # folders that were not there before

    def read(self, index: int) -> tuple[NDArray[Any], ...] | None:
        """The result of a unit; None where it is not there or is damaged."""
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
        """Keep a result.

        Raises
        ------
        WriteError
            If the disk is full; it names the file.
        """
        parts = _packed(result)

        def write(path: Path) -> None:
            digest = self._sealing(index)
            with path.open("wb", buffering=0) as file:
                file.write(bytes(SEAL))
                for part in parts:
                    for start in range(0, len(part), BLOCK):
                        _write_all(file, part[start : start + BLOCK])
                        digest.update(part[start : start + BLOCK])
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
        places = (self._folder, *self._folder.parents)
        self._made = [place for place in places if not place.exists()]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(error.errno, error.strerror, str(self._folder)) from None
        write_whole(self._folder / RECORD, lambda path: write_json(path, self._facts))
        self._is_begun = True

    def _is_ours(self) -> bool:
        """Whether the folder has a record, which is ours then."""
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
        there = facts if isinstance(facts, dict) else {}
        raise DataError(
            f"is of a run with {_differences(there, self._facts)}; give --force "
            "in place of --resume to begin anew",
            path=path,
        )

    def _sealing(self, index: int) -> Any:
        """A hash to which what the unit holds is still to be added."""
        return hashlib.sha256(self._digest + index.to_bytes(8, "little"))

    def _path(self, index: int) -> Path:
        return self._folder / f"unit-{index:06d}"

    def _remove_if_empty(self) -> None:
        with contextlib.suppress(OSError):
            if not any(self._folder.glob("unit-*")):
                (self._folder / RECORD).unlink(missing_ok=True)
                for folder in self._made:  # of which the last may not be there yet
                    with contextlib.suppress(OSError):
                        folder.rmdir()


def hash_of(said: object, *arrays: Any) -> str:
    """A fact of a job: SHA-256 of what is said and of arrays; None counts as an empty one."""
    digest = hashlib.sha256(repr(said).encode())
    for part in arrays:
        digest.update(np.ascontiguousarray(np.zeros(0) if part is None else part).tobytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Versions of the packages that may change the bytes of a result."""
    found = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _differences(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Say what is other there, by name; with both values where they are short enough to read."""
    names = [name for name in {**there, **here} if there.get(name) != here.get(name)]
    said = [
        f"{name} {there[name]} (now {here[name]})"
        if name in PACKAGES and name in there and name in here
        else f"other {name}"
        for name in names
    ]
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def _packed(result: tuple[NDArray[Any], ...]) -> list[memoryview]:
    """Arrays as bytes: a line that says their kinds and shapes, and what they hold, not copied."""
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
    """What `_packed` packed, from `head` on, each array with memory of its own."""
    start = raw.index(b"\n", head) + 1
    for kind, shape in json.loads(raw[head:start]):
        part = np.frombuffer(raw, kind, int(np.prod(shape)), start)
        start += part.nbytes
        yield part.reshape(shape).copy()

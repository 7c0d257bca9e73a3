"""Finished work of a run that was interrupted: kept in a folder, and taken up again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core import DataError
from tvcs_core.files.errors import WriteError
from tvcs_core.files.folders import write_whole
from tvcs_core.files.input_size import refuse_large_npz

FILE = "halves.npz"
EVERY = 10.0  # seconds between two savings


class FinishedWork:
    """The sums over the halves that are done, with the digest of the run that they belong to."""

    def __init__(self, folder: Path, digest: str) -> None:
        self._path = folder / FILE
        self._digest = digest
        self._saved = time.monotonic()

    def load(self) -> tuple[int, list[NDArray[Any]]]:
        """Halves that are done and their sums; 0 and nothing where no work is kept.

        Raises
        ------
        DataError
            If the work is of another run, or the file is damaged.
        """
        if not self._path.exists():
            return 0, []
        with self._path.open("rb") as raw:
            try:
                refuse_large_npz(raw, self._path)
                with np.load(raw, allow_pickle=False) as file:
                    digest, done = str(file["digest"]), int(file["done"])
                    sums = [file[f"sum{k}"] for k in range(len(file.files) - 2)]
            except (MemoryError, DataError):
                raise
            except Exception as error:  # whatever a damaged archive or header leads to
                raise DataError(f"is damaged ({error}); give --force", path=self._path) from None
        if digest != self._digest:
            raise DataError(
                "is of a run with other data, options or seed; give --force to begin anew",
                path=self._path,
            )
        return done, sums

    def save(self, done: int, sums: Sequence[NDArray[Any]], *, now: bool = False) -> None:
        """Keep what is done, whole or not at all; only now and then unless `now`."""
        if not now and time.monotonic() - self._saved < EVERY:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        named = {f"sum{k}": part for k, part in enumerate(sums)}

        def write(path: Path) -> None:
            np.savez(path, digest=np.array(self._digest), done=np.array(done), **named)  # type: ignore[arg-type]

        try:
            write_whole(self._path, write)
        except WriteError:
            with contextlib.suppress(OSError):
                self._path.parent.rmdir()  # if it holds nothing
            raise
        self._saved = time.monotonic()

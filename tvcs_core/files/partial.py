"""Files and folders that are not whole yet: held while they are written, known when nobody does.

What is written stands beside its place under a name of ours until it is renamed. Its writer holds
a lock on it, which the system lets go of when the writer ends in whatever way: what nobody holds
was left by a run that was killed, and the next run of the command removes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tvcs_core.files.errors import WriteError

fcntl: Any = None
with contextlib.suppress(ImportError):  # Windows: no locks, so nothing is taken for left over
    fcntl = importlib.import_module("fcntl")

PREFIX = ".partial-"
FOLDER = re.compile(r"\.partial-[a-z0-9_]{8}")
MOVING = ".moving"  # lists the files of a folder that are on their way to their place


class Held:
    """A partial file or folder that this process writes.

    Attributes
    ----------
    path
        Where it is.
    """

    def __init__(self, path: Path, lock: int | None) -> None:
        self.path = path
        self._lock = lock

    def release(self) -> None:
        """Release the lock and remove what is left."""
        if self.path.is_dir():
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def hold_folder(folder: Path) -> Held:
    """Make an empty partial folder inside of `folder`."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        lock = _lock(path, wait=True)
        if path.exists():  # else a run that cleans up was faster than our lock
            return Held(path, lock)
        Held(path, lock).close()


def hold_file(target: Path) -> Held:
    """Make an empty partial file beside `target`."""
    while True:
        handle, name = tempfile.mkstemp(
            prefix=_prefix_of(target), suffix=target.suffix, dir=target.parent
        )
        os.close(handle)
        path = Path(name)
        lock = _lock(path, wait=True)
        if path.exists():
            return Held(path, lock)
        Held(path, lock).close()


def remove_left_files(target: Path) -> None:
    """Remove partial files of `target` that nobody writes."""
    for held in _left_files(target):
        held.release()


def left_texts(target: Path) -> list[str]:
    """Read the partial files of `target` that runs left which were killed while they wrote it."""
    found = []
    for held in _left_files(target):
        with contextlib.suppress(OSError, ValueError):
            found.append(held.path.read_text(encoding="utf-8"))
        held.close()
    return found


def _left_files(target: Path) -> Iterator[Held]:
    """Partial files of `target` that nobody else holds, now held by us."""
    prefix = _prefix_of(target)
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            if path.name.startswith(prefix):
                with contextlib.suppress(BlockingIOError):
                    if (lock := _lock(path, wait=False)) is not None:
                        yield Held(path, lock)


def remove_left_folders(folder: Path) -> Path | None:
    """Remove partial folders inside of `folder` that nobody writes; give one that is written.

    With them go the files that a killed run had begun to move to their place, if nothing else is
    in `folder`: without a ``run.json`` they are no result.
    """
    for path in sorted(folder.iterdir()):
        if not (FOLDER.fullmatch(path.name) and path.is_dir() and not path.is_symlink()):
            continue
        try:
            lock = _lock(path, wait=False)
        except BlockingIOError:
            return path
        if lock is not None:
            _remove_moved(folder, path)
            Held(path, lock).release()
    return None


def _remove_moved(folder: Path, partial: Path) -> None:
    try:
        moving = set((partial / MOVING).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        return
    here = {path.name for path in folder.iterdir() if not FOLDER.fullmatch(path.name)}
    if here <= moving and "run.json" not in here:
        for name in here:
            (folder / name).unlink()


def _lock(path: Path, *, wait: bool) -> int | None:
    """Lock it; None where that is not possible. BlockingIOError if another process has it."""
    if fcntl is None:
        return None
    lock = None
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if lock is not None:
            os.close(lock)
        if isinstance(error, BlockingIOError):
            raise
        return None  # it is gone, or the file system has no locks
    return lock


def _prefix_of(target: Path) -> str:
    """Partial files of a target have its mark, so that no other command takes them for its own."""
    return (
        f"{PREFIX}{hashlib.sha256(target.name.encode(errors='surrogateescape')).hexdigest()[:8]}-"
    )


@contextlib.contextmanager
def naming(target: Path, partial: Path) -> Iterator[None]:
    """Make an error of writing below `partial` name the file below `target` that it stands for."""
    try:
        yield
    except BrokenPipeError:  # of standard output
        raise
    except OSError as error:
        place = None if error.filename is None else Path(os.fsdecode(error.filename))
        if place is None:
            place = _last_written(partial)
        elif not place.is_relative_to(partial):
            raise
        named = target / place.relative_to(partial) if place != partial else target
        raise WriteError(error.errno, error.strerror or str(error), str(named)) from error


def _last_written(partial: Path) -> Path:
    """The file that an error without a name is about: the one that was written to last."""
    if not partial.is_dir():
        return partial
    files = [path for path in partial.rglob("*") if path.is_file()]
    return max(files, key=lambda path: path.stat().st_mtime_ns, default=partial)

"""Locked partial files and folders.

Output is written under a temporary name next to its destination and renamed when complete. The
writer holds a file lock, which the system releases when the process ends in any way. So an
unlocked partial file was abandoned by a killed run, and the next run of the command removes it.
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
with contextlib.suppress(ImportError):  # Windows has no such locks: nothing counts as abandoned
    fcntl = importlib.import_module("fcntl")

PREFIX = ".partial-"
FOLDER = re.compile(r"\.partial-[a-z0-9_]{8}")
MOVING = ".moving"  # list of the files of a folder that are being moved to their destination


class PartialOutput:
    """A partial file or folder that this process writes.

    Attributes
    ----------
    path
        Its temporary path.
    """

    def __init__(self, path: Path, lock: int | None) -> None:
        self.path = path
        self._lock = lock

    def release(self) -> None:
        """Release the lock and delete the remaining files."""
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


def create_partial_folder(folder: Path) -> PartialOutput:
    """Create an empty locked partial folder inside `folder`."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        lock = _lock(path, wait=True)
        if path.exists():  # otherwise another run removed it before the lock was taken
            return PartialOutput(path, lock)
        PartialOutput(path, lock).close()


def create_partial_file(target: Path) -> PartialOutput:
    """Create an empty locked partial file next to `target`."""
    while True:
        handle, name = tempfile.mkstemp(
            prefix=_prefix_of(target), suffix=target.suffix, dir=target.parent
        )
        os.close(handle)
        path = Path(name)
        lock = _lock(path, wait=True)
        if path.exists():
            return PartialOutput(path, lock)
        PartialOutput(path, lock).close()


def remove_abandoned_files(target: Path) -> None:
    """Remove the partial files of `target` that killed runs have left."""
    for output in _lock_abandoned_files(target):
        output.release()


def read_abandoned_texts(target: Path) -> list[str]:
    """Return the texts of the partial files of `target` that killed runs have left."""
    texts = []
    for output in _lock_abandoned_files(target):
        with contextlib.suppress(OSError, ValueError):
            texts.append(output.path.read_text(encoding="utf-8"))
        output.close()
    return texts


def _lock_abandoned_files(target: Path) -> Iterator[PartialOutput]:
    """Lock and yield the partial files of `target` that no other process has locked."""
    prefix = _prefix_of(target)
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            if path.name.startswith(prefix):
                with contextlib.suppress(BlockingIOError):
                    if (lock := _lock(path, wait=False)) is not None:
                        yield PartialOutput(path, lock)


def remove_abandoned_folders(folder: Path) -> Path | None:
    """Remove the abandoned partial folders inside `folder`; return one that is still in use.

    Files that a killed run had begun to move are removed too, if `folder` holds nothing else:
    without a ``run.json`` they are no result.
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
            PartialOutput(path, lock).release()
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
    """Lock `path`; None if impossible. BlockingIOError if another process holds the lock."""
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
        return None  # the file is gone, or the file system has no locks
    return lock


def _prefix_of(target: Path) -> str:
    """Return a prefix with a hash of the target's name, so that each target has its own files."""
    return (
        f"{PREFIX}{hashlib.sha256(target.name.encode(errors='surrogateescape')).hexdigest()[:8]}-"
    )


@contextlib.contextmanager
def naming_target(target: Path, partial: Path) -> Iterator[None]:
    """Rewrite errors raised for a path below `partial` to name the final path below `target`."""
    try:
        yield
    except BrokenPipeError:  # raised for standard output
        raise
    except OSError as error:
        written = None if error.filename is None else Path(os.fsdecode(error.filename))
        if written is None:
            written = _last_written(partial)
        elif not written.is_relative_to(partial):
            raise
        named = target / written.relative_to(partial) if written != partial else target
        raise WriteError(error.errno, error.strerror or str(error), str(named)) from error


def _last_written(partial: Path) -> Path:
    """Return the file last written to, which an error without a file name is about."""
    if not partial.is_dir():
        return partial
    files = [path for path in partial.rglob("*") if path.is_file()]
    return max(files, key=lambda path: path.stat().st_mtime_ns, default=partial)

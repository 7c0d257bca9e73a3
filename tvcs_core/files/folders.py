"""Atomic output: results are written next to their destination and renamed when complete."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tvcs_core.files.errors import NO_SPACE, DataError, WriteError
from tvcs_core.files.partial import (
    MOVING,
    create_partial_file,
    create_partial_folder,
    naming_target,
    remove_abandoned_files,
    remove_abandoned_folders,
)

PRIVATE = 0o600
"""File mode of secrets: links, and stores that hold signing keys."""
DEVICES = Path("/dev")  # /dev/stdout is a link and may lead to a regular file


@contextmanager
def output_folder(path: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Yield an empty temporary folder; move its files to `path` when the context succeeds.

    `run.json` is moved last, so its presence means that the folder is complete. After an error
    `path` is as it was before. Files left by a killed run are removed and do not count as content.

    Parameters
    ----------
    path
        The folder to fill; created with its parents if missing.
    force
        Replace the files of a folder that is not empty.

    Raises
    ------
    DataError
        If `path` is a file, is not writable, is in use by another run, or is not empty and `force`
        is False.
    WriteError
        If the disk is full; the error names the file.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise DataError("must be a folder, found a file", path=folder)
    if folder.is_dir():
        _make_room(folder, force)
    made = [p for p in (folder, *folder.parents) if not p.exists()]
    try:
        with _creating(folder):
            folder.mkdir(parents=True, exist_ok=True)
            output = create_partial_folder(folder)
        try:
            with naming_target(folder, output.path):
                yield output.path
                _move(output.path, folder)
        finally:
            output.release()
    except BaseException:
        _remove_folders(made)
        raise


@contextmanager
def _creating(path: Path) -> Iterator[None]:
    """Name `path` in the error if it cannot be created."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_SPACE:
            raise WriteError(error.errno, error.strerror, str(path)) from None
        raise DataError(f"cannot be written ({error.strerror})", path=path) from None


def _make_room(folder: Path, force: bool) -> None:
    try:
        written = remove_abandoned_folders(folder)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", path=folder) from None
    if written is not None:
        raise DataError(f"another run is writing into it ({written.name})", path=folder)
    if not is_empty and not force:
        raise DataError("the folder is not empty; give --force to replace its files", path=folder)


def _move(partial: Path, folder: Path) -> None:
    """Move all files of `partial` to `folder`, run.json last; the old run.json goes first."""
    names = sorted((p.name for p in partial.iterdir()), key=lambda n: (n == "run.json", n))
    (partial / MOVING).write_text("\n".join(names), encoding="utf-8")
    (folder / "run.json").unlink(missing_ok=True)
    for name in names:
        os.replace(partial / name, folder / name)


def write_whole(
    path: str | Path, write: Callable[[Path], object], *, is_secret: bool = False
) -> None:
    """Call `write` on a temporary file next to `path`, then rename the file to `path`.

    If `is_secret`, only the owner may read the file.

    Raises
    ------
    DataError
        If the folder is missing or not writable, or `path` exists and is not a regular file.
        Renaming to ``/dev/null`` would replace the device for everybody.
    WriteError
        If the disk is full.
    """
    target = Path(path)
    remove_abandoned_files(target)
    with _creating(target):
        _refuse_other_than_file(target)
        output = create_partial_file(target)
    try:
        with naming_target(target, output.path):
            write(output.path)
            output.path.chmod(PRIVATE if is_secret else 0o666 & ~_umask())
            os.replace(output.path, target)
    finally:
        output.release()


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with a final newline; equal values give equal bytes."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    # File names may hold lone surrogates, which JSON stores as escapes.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _refuse_other_than_file(target: Path) -> None:
    """Raise if `target` is a folder, a pipe or a device, or a link to one."""
    if target.is_dir():
        raise DataError("must be a file, found a folder", path=target)
    if target.exists() and (not target.is_file() or target.parent.resolve() == DEVICES):
        raise DataError("must be a file, found a device or a pipe", path=target)


def _remove_folders(made: Sequence[Path]) -> None:
    for folder in made:
        try:
            folder.rmdir()
        except OSError:
            return


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

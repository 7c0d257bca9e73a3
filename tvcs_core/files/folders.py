"""Results appear whole or not at all: they are written beside their place and renamed."""

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
    hold_file,
    hold_folder,
    naming,
    remove_left_files,
    remove_left_folders,
)

PRIVATE = 0o600
"""Mode of files that hold secrets: links, and stores with what signs them."""
DEVICES = Path("/dev")  # its standard output is a link, which may lead to a file


@contextmanager
def output_folder(path: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Yield an empty folder to write into; its files appear in `path` if all goes well.

    The files are moved into `path` at the end, `run.json` last, so that its presence means
    that the folder is complete. If anything fails, `path` is as it was before. What a run that was
    killed has left in it does not count, and is removed.

    Parameters
    ----------
    path
        The folder to fill. Missing folders are made; an empty one is fine.
    force
        Replace files in a folder that is not empty.

    Raises
    ------
    DataError
        If `path` is a file, cannot be written, is being written by another run, or is not empty and
        `force` is False.
    WriteError
        If the disk is full; it names the file.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise DataError("must be a folder, found a file", path=folder)
    if folder.is_dir():
        _make_room(folder, force)
    made = [p for p in (folder, *folder.parents) if not p.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = hold_folder(folder)
    except OSError as error:
        _remove_folders(made)
        if error.errno in NO_SPACE:
            raise WriteError(error.errno, error.strerror, str(folder)) from None
        raise DataError(f"cannot be written ({error.strerror})", path=folder) from None
    try:
        with naming(folder, held.path):
            yield held.path
            _move(held.path, folder)
    except BaseException:
        held.release()
        _remove_folders(made)
        raise
    held.release()


def _make_room(folder: Path, force: bool) -> None:
    try:
        written = remove_left_folders(folder)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", path=folder) from None
    if written is not None:
        raise DataError(f"another run is writing into it ({written.name})", path=folder)
    if not is_empty and not force:
        raise DataError("the folder is not empty; give --force to replace its files", path=folder)


def _move(partial: Path, folder: Path) -> None:
    """Move the files of `partial` into `folder`: the old record goes first, the new comes last."""
    names = sorted((p.name for p in partial.iterdir()), key=lambda n: (n == "run.json", n))
    (partial / MOVING).write_text("\n".join(names), encoding="utf-8")
    (folder / "run.json").unlink(missing_ok=True)
    for name in names:
        os.replace(partial / name, folder / name)


def write_whole(
    path: str | Path, write: Callable[[Path], object], *, is_secret: bool = False
) -> None:
    """Call `write` on a file beside `path` and rename it to `path` once it is complete.

    Nobody but its owner may read a file that `is_secret`.

    Raises
    ------
    DataError
        If there is no such folder, nothing may be written into it, or `path` is there and no
        file: what is renamed to ``/dev/null`` would take its place for everybody.
    WriteError
        If the disk is full.
    """
    target = Path(path)
    remove_left_files(target)
    try:
        _refuse_other_than_file(target)
        held = hold_file(target)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise WriteError(error.errno, error.strerror, str(target)) from None
        raise DataError(f"cannot be written ({error.strerror})", path=target) from None
    try:
        with naming(target, held.path):
            write(held.path)
            held.path.chmod(PRIVATE if is_secret else 0o666 & ~_umask())
            os.replace(held.path, target)
    finally:
        held.release()


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with a final newline; the same value gives the same bytes."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    # The name of a file may hold half a character, which stands in JSON as it is escaped here.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _refuse_other_than_file(target: Path) -> None:
    """Refuse a folder, a pipe or a device, also the name of one that stands for a file."""
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

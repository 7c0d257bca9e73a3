"""Find the tables that a plan was made from, by the names, paths and hashes in its run.json."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from crowd_tvcs.verification.record_checks import Record, digest
from tvcs_core.files.errors import DataError


def path_from(folder: Path, path: Path) -> str:
    """Return the path of a file from a folder, with slashes; from another drive its name.

    Neither need be there. The path holds as long as both are moved together, and names no home.
    """
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return path.name


def find_tables(folder: Path, quality: Path | None, record: Record) -> dict[str, Path]:
    """Return every file that was read, by its name.

    A file is searched for at its old path, from the folder, then here, in the folder and beside it.
    If the quality table is named, its folder is searched first. The first file with the SHA-256 in
    run.json is taken.
    """
    out = {}
    for number, (name, sha) in enumerate(record.inputs.items()):
        if quality is not None and number == 0:
            places = [quality]
        else:
            places = list(_places(folder, quality, name, record.paths[name]))
        there = [place for place in dict.fromkeys(places) if place.is_file()]
        if quality is not None and number == 0 and not there:
            raise DataError("is not there; name the quality table of the plan", path=quality)
        if not there:
            raise DataError(
                f"inputs[{number}].file: {name!r} is neither here nor beside {folder}, nor where "
                f"it lay ({record.paths[name]} from {folder}): put it beside {folder}, or name the "
                "quality table, beside which the others are looked for first: "
                f"crowd-tvcs verify {folder} PATH/{record.quality}",
                path=record.path,
            )
        out[name] = _of_hash(there, sha)
    return out


def _places(folder: Path, quality: Path | None, name: str, path: str) -> Iterator[Path]:
    if quality is not None:
        yield quality.parent / name
    yield folder / path
    yield folder.resolve() / path
    yield Path(name)
    yield folder / name
    yield folder.resolve().parent / name


def _of_hash(places: list[Path], sha: str) -> Path:
    """Return the first of some files with a SHA-256."""
    found = [digest(place) for place in places]
    if sha in found:
        return places[found.index(sha)]
    others = "".join(f"; nor is {place}" for place in places[1:])
    raise DataError(
        f"is not the file that was read: its SHA-256 begins with {found[0][:12]}, in run.json "
        f"with {sha[:12]}{others}. Verify with the table as it was, or plan again",
        path=places[0],
    )

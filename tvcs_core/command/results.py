"""The results of a command: a folder of files with its run record, and tables that are printed.

A command is options, one call, results::

    with results("crowd-tvcs replay", options, seed=options.seed) as out:
        out.table("replay.csv", header, rows)
    print_table({"policy": "<10", "accuracy": ">10.4f"}, rows)
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tvcs_core.command.shell import print_data, print_text
from tvcs_core.files.display import json_text
from tvcs_core.files.errors import DataError
from tvcs_core.files.folders import output_folder, write_json, write_whole
from tvcs_core.files.partial import (
    create_partial_file,
    read_abandoned_texts,
    remove_abandoned_files,
)
from tvcs_core.files.record import run_record
from tvcs_core.files.spreadsheet import csv_text, write_csv
from tvcs_core.files.tables import write_table

_FORMAT = re.compile(r"([<>])\+?(\d*).*")


class OutOptions(Protocol):
    """Options of a command that fills a folder, or writes a file."""

    @property
    def out(self) -> Path:
        """The folder or the file."""

    @property
    def force(self) -> bool:
        """Whether existing results may be replaced."""


class Place(NamedTuple):
    """A folder to fill, for code that is no command."""

    out: Path
    force: bool = False


class Results:
    """The files of a command while it runs; none is seen before all are written.

    Attributes
    ----------
    folder
        The folder for functions that write files themselves.
    record
        The content of ``run.json``, which is written last; the command may add facts.
    """

    def __init__(self, folder: Path, record: dict[str, Any]) -> None:
        self.folder = folder
        self.record = record

    def table(self, name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Write a table: a .csv file by `write_csv`, any other with tabs and its cells as given."""
        if name.endswith(".csv"):
            write_csv(self.folder / name, header, rows)
        else:
            write_table(self.folder / name, header, rows)

    def json(self, name: str, value: Any) -> None:
        """Write a JSON file."""
        write_json(self.folder / name, value)

    def text(self, name: str, text: str) -> None:
        """Write a text file, such as a report."""
        (self.folder / name).write_text(text, encoding="utf-8")


@contextmanager
def results(
    command: str,
    options: OutOptions,
    parameters: Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    inputs: Iterable[Path | None] | None = None,
    **facts: Any,
) -> Iterator[Results]:
    """Yield the results to fill; they appear in the folder of the options if all goes well.

    Parameters
    ----------
    command, seed
        As `run_record` takes them.
    options
        The options of the command.
    parameters
        As there; by default those `recorded` of the options.
    inputs
        The files that were read, None for an option that was not given; by default the
        `input_files` of the options.
    **facts
        More entries of ``run.json``.
    """
    if not isinstance(options, Place):
        from tvcs_core.command.options import input_files, recorded  # typer, for commands alone

        parameters = recorded(options) if parameters is None else parameters
        inputs = input_files(options) if inputs is None else inputs
    with output_folder(options.out, force=options.force) as folder:
        read = [path for path in inputs or () if path is not None]
        record = run_record(command, parameters or {}, seed=seed, inputs=read, **facts)
        out = Results(folder, record)
        yield out
        out.json("run.json", record)


def refuse_file(out: Path, inputs: Iterable[Path], *, force: bool) -> None:
    """Refuse a file of results that cannot be written, or may not be replaced.

    Raises
    ------
    DataError
        If the folder of the file is not there or not writable, if it is one of the `inputs`, or if
        it or its run record is there and `force` is not given.
    """
    folder = out.parent
    if not folder.is_dir():
        raise DataError("cannot be written (its folder does not exist)", path=out)
    if out.is_dir():
        raise DataError("must be a file, found a folder", path=out)
    if not os.access(folder, os.W_OK):
        raise DataError("cannot be written (its folder is not writable)", path=out)
    if out.exists() and any(path.exists() and path.samefile(out) for path in inputs):
        raise DataError("is an input of this command and is not replaced", path=out)
    for path in () if _is_left(out) else (out, _record_file(out)):
        if path.exists() and not force:
            raise DataError("exists; give --force to replace it", path=path)


def write_with_record(out: Path, save: Callable[[Path], object], record: Mapping[str, Any]) -> None:
    """Write a file of results with `save`, and FILE.run.json beside it.

    The old record goes first and the new one comes last: where it stands, the file is whole and
    its own.
    """

    def save_and_name(path: Path) -> None:
        save(path)
        left.path.write_text(_identity(path), encoding="utf-8")  # see `_is_left`

    record_file = _record_file(out)
    record_file.unlink(missing_ok=True)
    remove_abandoned_files(record_file)
    left = create_partial_file(record_file)
    try:
        write_whole(out, save_and_name)
        write_whole(record_file, lambda path: write_json(path, record))
    finally:
        left.release()


def _record_file(out: Path) -> Path:
    return Path(f"{out}.run.json")


def _is_left(out: Path) -> bool:
    """Whether a file is that of a run that was killed before its record was there."""
    record_file = _record_file(out)
    if record_file.exists() or not out.exists():
        return False
    return _identity(out) in read_abandoned_texts(record_file)


def _identity(path: Path) -> str:
    """Return the identity of a file, which it keeps when it is renamed."""
    found = path.stat()
    return f"{found.st_ino} {found.st_mtime_ns}"


def print_table(columns: Mapping[str, str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table for people: a line of headings, then a line for each row.

    Parameters
    ----------
    columns
        The format of each column by its heading, such as ``">9.4f"``.
    rows
        The cells; a text is aligned only, None and NaN leave a cell empty.
    """
    whole = list(columns.values())
    aligned = [_FORMAT.sub(r"\1\2", text) for text in whole]
    print_text("".join(map(format, columns, aligned)).rstrip())
    for row in rows:
        texts = ["" if cell is None or cell != cell else cell for cell in row]
        cells = zip(texts, aligned, whole, strict=True)
        print_text("".join(format(x, a if isinstance(x, str) else w) for x, a, w in cells).rstrip())


def write_rows(
    out: Path | None,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    is_secret: bool = False,
) -> None:
    """Write a CSV table to a file, whole or not at all, or to standard output.

    Nobody but its owner may read a file that `is_secret`.
    """
    if out is None:
        print_data(csv_text(header, rows).removesuffix("\n"))
    else:
        write_whole(out, lambda path: write_csv(path, header, rows), is_secret=is_secret)


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print JSON for programs; its names read back exactly and hold no control character."""
    print(json_text(value, indent))

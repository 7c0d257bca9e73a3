"""CSV files that people open in a spreadsheet, protected against formula injection.

A spreadsheet evaluates a text cell that starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
return. `shield` puts an apostrophe before such a name and `unshield` removes it, so every name
survives a round trip: ``unshield(shield(name)) == name``. Plain numbers such as ``-3`` are harmless
and stay unchanged, like ``007`` and ``NA``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

_ACTIVE = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def shield(name: str) -> str:
    """Put an apostrophe before a name that a spreadsheet would evaluate as a formula.

    A name that already starts with such apostrophes gets another one, so that `unshield` is exact.
    """
    if _ACTIVE.match(name) and not _NUMBER.fullmatch(name):
        return "'" + name
    return name


def unshield(cell: str) -> str:
    """Remove the apostrophe that `shield` put before a name."""
    return cell[1:] if cell.startswith("'") and _ACTIVE.match(cell) else cell


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file whose names are shielded; a cell that is None or NaN is empty."""
    with path.open("w", encoding="utf-8", newline="") as file:
        _write(file, header, rows)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the text of such a file."""
    text = io.StringIO()
    _write(text, header, rows)
    return text.getvalue()


def _write(file: TextIO, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(shield, header))
    writer.writerows(map(_cell, row) for row in rows)


def _cell(value: object) -> object:
    if isinstance(value, str):
        return shield(value)
    return "" if value is None or value != value else value

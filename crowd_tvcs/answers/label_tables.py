"""Columns of tables of answers and of gold, under the names that tools give them."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.names import listed
from tvcs_core.files.shown import listed as listed_plain
from tvcs_core.files.shown import shown
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import DELIMITERS, Table, read_table


def open_table(
    path: str | Path, aliases: Mapping[str, str], kinds: tuple[str, ...]
) -> tuple[Table, dict[str, int], str]:
    """Read a table, find its columns, and say which stand for what."""
    table = read_table(path)
    table.require_rectangle()
    header = [aliases.get(cell.lower(), "") for cell in table.rows[0]]
    at = {}
    for kind in kinds:
        names = [name for name, stands_for in aliases.items() if stands_for == kind]
        where = [j for j, name in enumerate(header) if name == kind]
        if not where:
            raise table.error(
                f"must have a column {' or '.join(names)}, found {listed_plain(table.rows[0])}", 0
            )
        if len(where) > 1:
            found = listed([table.rows[0][j] for j in where])
            raise table.error(f"must have one column for {kind!r}, found {found}", 0)
        at[kind] = where[0]
    if len(table.rows) < 2:
        raise table.error("must have a row below the header, found none")
    used = [table.rows[0][at[kind]] for kind in kinds]
    layout = f"{DELIMITERS[table.delimiter]} between cells, "
    layout += ", ".join(
        kind if name.lower() == kind else f"{shown(name)} for {kind}"
        for kind, name in zip(kinds, used, strict=True)
    )
    ignored = [cell or "(unnamed)" for j, cell in enumerate(table.rows[0]) if j not in at.values()]
    if ignored:
        layout += f"; ignored columns: {listed_plain(ignored)}"
    return table, at, layout


@dataclass(frozen=True)
class Coded:
    """Names of a column, each once in the order they come, and which of them each row has."""

    names: list[str]
    codes: NDArray[np.int32]

    def sorted(self) -> tuple[list[str], NDArray[np.int64]]:
        """The names in order, and the place there of the name of each row."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return [self.names[k] for k in order], place[self.codes]


class _Codes(dict[str, int]):
    """Counts names as they come."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return len(self) - 1


def code_columns(table: Table, columns: Sequence[int]) -> list[Coded]:
    """Count the names of some columns below the header; an empty one is an error.

    Four bytes for a cell and each name once: a list of the cells would take ten times the text.
    """
    known = [_Codes() for _ in columns]
    codes = [array("i") for _ in columns]
    for _, block in table.blocks(1):
        for j, code_of, out in zip(columns, known, codes, strict=True):
            cells = [unshield(row[j]) if row[j][:1] == "'" else row[j] for row in block]
            out.extend(map(code_of.__getitem__, cells))
    found = []
    for j, code_of, out in zip(columns, known, codes, strict=True):
        numbers = np.frombuffer(out, dtype=np.int32)
        if "" in code_of:
            row = int(np.argmax(numbers == code_of[""])) + 1
            raise table.error("must be a name, found an empty cell", row, j)
        found.append(Coded(list(code_of), numbers))
        code_of.clear()
    return found


def first_repeat(keys: NDArray[np.int64]) -> tuple[int, int] | None:
    """Find the first row whose key was there before, and the row that had it; None without."""
    order = np.argsort(keys, kind="stable")
    again = keys[order[1:]] == keys[order[:-1]]
    if not again.any():
        return None
    row = int(order[1:][again].min())
    return row, int(np.argmax(keys == keys[row]))


def refuse_other_labels(
    table: Table, column: int, labels: Sequence[str], classes: Sequence[str]
) -> None:
    """Refuse a label that is none of the classes."""
    known = set(classes)
    for r, label in enumerate(labels, start=1):
        if label not in known:
            raise table.error(
                f"must be one of the classes {listed(classes)}, found {shown(label)}", r, column
            )

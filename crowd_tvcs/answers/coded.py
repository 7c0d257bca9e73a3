"""Encode columns of names as integers: four bytes per cell, and each name stored once."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.columns import repeated_header_error
from crowd_tvcs.answers.values import describe_fault, find_name_fault
from crowd_tvcs.arrays import Integers
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import Table


@dataclass(frozen=True)
class Coded:
    """Names of a column in order of appearance, and the code of the name of each row."""

    names: list[str]
    codes: NDArray[np.int32]

    def sorted(self) -> tuple[list[str], Integers]:
        """Return the names in order, and the index there of the name of each row."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return [self.names[k] for k in order], place[self.codes]


class _Codes(dict[str, int]):
    """Dictionary that gives each new name the next code."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return len(self) - 1


def encode_columns(table: Table, columns: Sequence[int], *, checked: bool = True) -> list[Coded]:
    """Encode some columns below the header; a repeated header is an error.

    An invalid name is an error too (see `crowd_tvcs.answers.values`), unless the caller checks
    names. A list of the cells would take ten times the memory of the text.
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
        for name, k in code_of.items() if checked else ():
            if fault := find_name_fault(name):
                r = int(np.argmax(numbers == k)) + 1
                raise table.error(describe_fault(fault, name, "name", of_answers=False), r, j)
        found.append(Coded(list(code_of), numbers))
        code_of.clear()
    _refuse_header_again(table, columns, found)
    return found


def _refuse_header_again(table: Table, columns: Sequence[int], coded: Sequence[Coded]) -> None:
    """Refuse a row whose names are those of the columns."""
    again = np.ones(len(table.rows) - 1, dtype=bool)
    for j, one in zip(columns, coded, strict=True):
        if table.rows[0][j] not in one.names:
            return
        again &= one.codes == one.names.index(table.rows[0][j])
    if again.any():
        raise repeated_header_error(table, int(np.argmax(again)) + 1)


def first_duplicate(keys: Integers) -> tuple[int, int] | None:
    """Return the first row whose key occurred before, and that earlier row; None without one."""
    order = np.argsort(keys, kind="stable")
    again = keys[order[1:]] == keys[order[:-1]]
    if not again.any():
        return None
    row = int(order[1:][again].min())
    return row, int(np.argmax(keys == keys[row]))

"""What the columns of a table of edges are called, by us and by other programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grn_tvcs.expression.judge.names import INDEX
from grn_tvcs.network.network import HEADER
from grn_tvcs.network.pairs import EXTRA
from tvcs_core.files.shown import listed, shown
from tvcs_core.files.tables import Table, is_number

REGULATOR = ("regulator", "source", "from", "tf", "gene1", "regulatorygene", "regulatory.gene")
TARGET = ("target", "to", "gene2", "targetgene", "target.gene")
SCORE = ("score", "importance", "edgeweight", "weight")
SIGN_OF = {"+": 1, "-": -1, "?": 0, "1": 0}


def columns_of(table: Table) -> dict[str, int] | None:
    """Places of the named columns, or None if the first row is no header."""
    header = [cell.lower() for cell in table.rows[0]]
    ends = _ends(table, header)
    if ends is None:
        return None
    known = (*HEADER[2:], *EXTRA)
    columns = {name: header.index(name) for name in known if name in header}
    for name in SCORE:
        if name in header:
            columns.setdefault("score", header.index(name))
    columns |= ends
    for place in columns.values():
        if header.count(header[place]) > 1:
            raise table.error(f"must have one column {shown(table.rows[0][place])}", row=0)
    return columns


def _ends(table: Table, header: Sequence[str]) -> dict[str, int] | None:
    """Places of regulator and target: the first columns, or wherever such names stand."""
    if len(header) > 1 and header[0] in REGULATOR and header[1] in TARGET:
        return {"regulator": 0, "target": 1}
    found: dict[str, int] = {}
    for end, names in (("regulator", REGULATOR), ("target", TARGET)):
        places = [j for j, name in enumerate(header) if name in names]
        if not places:
            return None
        if len(places) > 1:
            several = listed(table.rows[0][j] for j in places)
            raise table.error(f"must have one column of the {end}, found {several}", row=0)
        found[end] = places[0]
    return found


class Three(NamedTuple):
    """A table of two or three columns.

    Attributes
    ----------
    is_named
        Whether its first row has the names of columns.
    ends
        Places of regulator and target.
    third
        Place of the column that says what an edge is; None without one.
    """

    is_named: bool
    ends: tuple[int, int]
    third: int | None


def of_three(table: Table, what: str) -> Three:
    """Places of the columns of `what`; numbers of rows, as R and pandas write them, do not count.

    Raises
    ------
    DataError
        If there are not two or three columns.
    """
    columns = columns_of(table)
    ends = (0, 1) if columns is None else (columns["regulator"], columns["target"])
    others = [
        j
        for j, name in enumerate(table.rows[0])
        if j not in ends and not (columns and j == 0 and name.lower() in INDEX)
    ]
    width = 2 + len(others)
    if len(table.rows[0]) < 2 or width > 3:
        found = len(table.rows[0]) if len(table.rows[0]) < 2 else width
        raise table.error(f"{what} must have 2 or 3 columns, found {found}", row=0)
    return Three(columns is not None, ends, others[0] if others else None)


def without_header(table: Table) -> dict[str, int]:
    """Places of the columns of a table whose first row is an edge."""
    top = table.rows[0]
    if len(top) < 2:
        raise table.error("must have the columns regulator and target", row=0)
    if len(top) > 2 and not is_number(top[2]):
        raise table.error(
            "the third cell must be a number (regulator, target, score), or the first row must "
            f"name the columns regulator, target and score; found {listed(top)}",
            row=0,
        )
    return dict(zip(("regulator", "target", "score"), range(len(top)), strict=False))


def unread(table: Table, columns: dict[str, int] | None, signs: Sequence[str]) -> list[str]:
    """A sentence about a header without scores, and one about signs that are none."""
    said = []
    if columns is not None and "score" not in columns:
        read = {place for name, place in columns.items() if name != "rank"}
        if others := [name for j, name in enumerate(table.rows[0]) if j not in read]:
            said.append(
                f"no column is called {' or '.join(SCORE)}, so every edge has the score 1; not "
                f"read: {listed(others)}"
            )
    if signs:
        found = listed(dict.fromkeys(signs))
        said.append(f"{len(signs)} signs are none of + - ? and count as ?: {found}")
    return said

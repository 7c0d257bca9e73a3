"""What the columns of a table of edges are called, by us and by other programs."""

from __future__ import annotations

from collections.abc import Sequence

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


def of_three(table: Table) -> tuple[int, tuple[int, int], int]:
    """Whether names head a table of two or three columns; places of the genes, and of the third."""
    columns = columns_of(table)
    ends = (0, 1) if columns is None else (columns["regulator"], columns["target"])
    return int(columns is not None), ends, 3 - sum(ends)


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

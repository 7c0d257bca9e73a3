"""Columns of tables of answers and of gold, under the names that tools give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crowd_tvcs.names import listed
from tvcs_core.files import DELIMITERS, Table, read_table
from tvcs_core.spreadsheet import unshield


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
                f"must have a column {' or '.join(names)}, found {', '.join(table.rows[0])}", 0
            )
        if len(where) > 1:
            found = ", ".join(repr(table.rows[0][j]) for j in where)
            raise table.error(f"must have one column for {kind!r}, found {found}", 0)
        at[kind] = where[0]
    if len(table.rows) < 2:
        raise table.error("must have a row below the header, found none")
    used = [table.rows[0][at[kind]] for kind in kinds]
    layout = f"{DELIMITERS[table.delimiter]} between cells, "
    layout += ", ".join(
        kind if name.lower() == kind else f"{name!r} for {kind}"
        for kind, name in zip(kinds, used, strict=True)
    )
    ignored = [cell or "(unnamed)" for j, cell in enumerate(table.rows[0]) if j not in at.values()]
    if ignored:
        layout += f"; ignored columns: {', '.join(ignored)}"
    return table, at, layout


def names_of(table: Table, column: int) -> list[str]:
    """Give the names of a column; an empty one is an error."""
    names = [unshield(row[column]) for row in table.rows[1:]]
    if "" in names:
        raise table.error("must be a name, found an empty cell", names.index("") + 1, column)
    return names


def refuse_other_labels(
    table: Table, column: int, labels: Sequence[str], classes: Sequence[str]
) -> None:
    """Refuse a label that is none of the classes."""
    known = set(classes)
    for r, label in enumerate(labels, start=1):
        if label not in known:
            raise table.error(
                f"must be one of the classes {listed(classes)}, found {label!r}", r, column
            )

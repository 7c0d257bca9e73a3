"""Tables whose first row and first column are names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grn_tvcs.expression.columns import expanded, without_ignored
from grn_tvcs.expression.expression import repeated
from grn_tvcs.expression.opening import open_table, without_rows
from grn_tvcs.expression.options import Options
from tvcs_core import DataError
from tvcs_core.files.shown import did_you_mean, listed, shown
from tvcs_core.files.tables import Table


def whole(path: str | Path, *, sheet: str | None = None) -> Table:
    """Read a table and check that it is a rectangle with names and cells."""
    table = open_table(path, sheet=sheet)
    require_names(table)
    return table


def require_names(table: Table) -> None:
    """Refuse a table that is no rectangle, or has names alone."""
    table.require_rectangle()
    if len(table.rows) < 2 or len(table.rows[0]) < 2:
        raise table.error("must have a first row and a first column of names, and cells", row=0)


def without(table: Table, ignore: Sequence[str]) -> Table:
    """Leave out the columns and rows of these names.

    Raises
    ------
    DataError
        If a name is neither.
    """
    if not ignore:
        return table
    table, rest = without_ignored(table, ignore)
    rest = expanded(rest, [row[0] for row in table.rows[1:]])
    names = {row[0].lower() for row in table.rows[1:]}
    for name in rest:
        if name.lower() not in names:
            known = [*table.rows[0], *(row[0] for row in table.rows[1:])]
            raise DataError(
                f"has neither a column nor a row {shown(name)} for --ignore"
                f"{did_you_mean(name, known)}; its columns are {listed(table.rows[0])}",
                path=table.path,
            )
    gone = {name.lower() for name in rest}
    table = without_rows(table, lambda row: row[0].lower() in gone)
    require_names(table)
    return table


def of_genes_alone(options: Options, table: Table, made: Table) -> Options:
    """The same of a table that was turned: a name to keep is that of a sample or of a gene.

    Raises
    ------
    DataError
        If it is neither.
    """
    known = [*table.rows[0], *made.rows[0]]
    lower = {name.lower() for name in known}
    if strangers := [name for name in options.keep if name.lower() not in lower]:
        raise DataError(
            f"has neither a column nor a row {shown(strangers[0])} for --keep"
            f"{did_you_mean(strangers[0], known)}",
            path=table.path,
        )
    genes = {name.lower() for name in made.rows[0]}
    return replace(options, keep=tuple(name for name in options.keep if name.lower() in genes))


def rows_by_name(table: Table, kind: str) -> dict[str, int]:
    """The row of each name of the first column."""
    names = [row[0] for row in table.rows[1:]]
    if "" in names:
        raise table.error(f"a {kind} must have a name, found an empty cell", names.index("") + 1, 0)
    if twice := repeated(names):
        raise DataError(f"{kind}s must be different, found twice: {listed(twice)}", path=table.path)
    return {name: i for i, name in enumerate(names, start=1)}

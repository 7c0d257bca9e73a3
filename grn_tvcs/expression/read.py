"""Expression, whatever it comes in: one door for files, DataFrames and AnnData.

Every source becomes a sheet, with one of its samples beside it if there is one. The sheet is
turned where genes stand in rows, or joined with that of its samples: that gives the roles of its
columns, which may be parted by one of them, and each part is an expression. No table is turned
silently: an option declares genes in rows. Cells are averaged first, so they have a way of their
own (`formats.cells`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.formats.annotated import (
    Annotated,
    expression_of,
    in_memory,
    is_anndata,
    roles_of_obs,
)
from grn_tvcs.expression.formats.array import OF_ARRAYS, as_frame, is_array
from grn_tvcs.expression.formats.beeline import read_beeline
from grn_tvcs.expression.formats.frame import TAKES, sheet_of_frame
from grn_tvcs.expression.formats.gene_names import named
from grn_tvcs.expression.formats.geo import (
    is_series_matrix,
    read_series_matrix,
    sheet_for,
    with_time,
)
from grn_tvcs.expression.formats.h5ad import open_h5ad
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.from_sheet import expression_in
from grn_tvcs.expression.genes_in_rows import roles_in_rows
from grn_tvcs.expression.join import join_files
from grn_tvcs.expression.judge.roles import Roles
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sample_sheet import join_sheet
from grn_tvcs.expression.sheet import Sheet
from tvcs_core.arguments import describe_value, option_name, option_words
from tvcs_core.files.frames import is_frame

TAKEN = "a DataFrame, an AnnData, an array with gene_names, a path or a list of paths"
OF_TABLES = (*TAKES, "sheet", "samples_sheet")
OF_ALL = tuple(field.name for field in fields(Options))
READING = (*OF_ALL, *(name for name in OF_ARRAYS if name not in OF_ALL))  # of `Expression.of`
Split = Callable[[Roles], dict[str, Roles]]


def taken(name: str, data: Any, words: Mapping[str, Any]) -> Expression:
    """Return an expression as it is, and read any other data with `words`, the options of reading.

    Raises
    ------
    TypeError
        Naming the argument `name`, if there are options for what is read already, or data of
        another kind.
    """
    if isinstance(data, Expression):
        if words:
            raise TypeError(
                f"{min(words)} is for data that are read here, but {name} is an Expression "
                f"already: give it to Expression.of(data, {min(words)}=...)"
            )
        return data
    try:
        return Expression.of(data, **words)
    except (TypeError, ValueError) as error:
        of_data = str(error).removeprefix("data must ").replace(TAKEN, f"an Expression, or {TAKEN}")
        if type(error) in (TypeError, ValueError) and of_data != str(error):
            raise type(error)(f"{name} must {of_data}") from None
        raise


def as_expressions(given: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Expression]:
    """Return expressions by name as they are, and read all other data with `words`."""
    is_read = any(not isinstance(data, Expression) for data in given.values())
    return {
        name: taken(name, data, {} if is_read and isinstance(data, Expression) else words)
        for name, data in given.items()
    }


def read_with(data: Any, words: Mapping[str, Any]) -> Expression:
    """Read expression with options as words, an array too; see `Expression.of`."""
    if is_array(data):
        data, words = as_frame(data, words)
    elif strange := [name for name in OF_ARRAYS if name in words and name not in OF_ALL]:
        raise TypeError(f"{strange[0]} is for an array, found {describe_value(data)}")
    return read(data, Options.of(**words))


def read(data: Any, options: Options) -> Expression:
    """Read expression from any source; see `Expression.of`."""
    if isinstance(data, str) and "\n" in data:
        raise TypeError(
            f"data must be {TAKEN}, found text of several lines: write it to a file, or give "
            "pandas.read_csv(io.StringIO(data))"
        )
    if isinstance(data, list | tuple) and data and all(isinstance(p, str | Path) for p in data):
        return join_files(data, [read(path, options) for path in data])
    if options.pseudotime is not None and isinstance(data, str | Path) and not _is_h5ad(data):
        return _named(read_beeline(data, options), options)
    [found] = read_parts(data, options, None, lambda roles: {"": roles}).values()
    return found


def _join(data: Any) -> str:
    """Return how DataFrames of several series are joined; empty for other data."""
    frames = data.values() if isinstance(data, Mapping) else data
    if not isinstance(data, Mapping | list | tuple) or not frames or not all(map(is_frame, frames)):
        return ""
    by_name = "data" if isinstance(data, Mapping) else "dict(enumerate(data))"
    return f" of DataFrames: if each is a series, give pandas.concat({by_name}, names=['series'])"


def read_parts(
    data: Any, options: Options, column: str | None, split: Split
) -> dict[str, Expression]:
    """Read the parts of a table by a column of its samples, from any source but pseudotimes.

    Parameters
    ----------
    data, options
        As for `read`.
    column
        The column of the table, of its sheet of samples or of ``obs``; a row, where genes stand in
        rows.
    split
        It names the parts of the samples, whose column is of the kind `PART`.
    """
    parts = _read_parts(data, options, column, split)
    return {name: _named(part, options) for name, part in parts.items()}


def _named(expression: Expression, options: Options) -> Expression:
    """Call genes as a file of names does, if there is one."""
    return expression if options.gene_names is None else named(expression, options.gene_names)


def _read_parts(
    data: Any, options: Options, column: str | None, split: Split
) -> dict[str, Expression]:
    if isinstance(data, str | Path) and _is_h5ad(data):
        with open_h5ad(data, options) as file:
            return _of_annotated(file, column, split)
    if is_anndata(data):
        return _of_annotated(in_memory(data, options), column, split)
    if isinstance(data, str | Path):
        roles = _roles_of_file(data, options, column)
    elif is_frame(data):
        roles = roles_of(sheet_of_frame(data, options, column), options, column)
    else:
        raise TypeError(f"data must be {TAKEN}, found {describe_value(data)}{_join(data)}")
    return {name: expression_in(part) for name, part in split(roles).items()}


def _is_h5ad(path: str | Path) -> bool:
    return Path(path).suffix.lower() == ".h5ad"


def _of_annotated(data: Annotated, column: str | None, split: Split) -> dict[str, Expression]:
    parts = split(roles_of_obs(data, column))
    return {name: expression_of(data, part) for name, part in parts.items()}


def _roles_of_file(path: str | Path, options: Options, column: str | None) -> Roles:
    """Open a table in the format of its first bytes, and judge its columns."""
    options.refuse_except(OF_TABLES, "a table, but for .h5ad files alone")
    from_file = None
    if isinstance(options.samples, str | Path):
        from_file = open_sheet(options.samples, options.samples_sheet, "samples_sheet")
    elif options.samples is not None:
        raise TypeError(
            f"samples must be a path beside a file, found {describe_value(options.samples)}"
        )
    if options.sheet is None and is_series_matrix(path):
        sheet = read_series_matrix(path)
        options = replace(options, genes_in_rows=True)
        if from_file is None and sheet.sample_sheet is not None:
            roles = roles_of(sheet, with_time(options, sheet.sample_sheet), column)
            return replace(roles, own_remedy=f"give {sheet_for(sheet.sample_sheet, 'replicate')}")
    else:
        sheet = open_sheet(path, options.sheet)
    return roles_of(
        sheet if from_file is None else replace(sheet, sample_sheet=from_file), options, column
    )


def roles_of(sheet: Sheet, options: Options, part: str | None = None) -> Roles:
    """Return samples x genes with the roles of the columns: turned or joined, where that is asked.

    Parameters
    ----------
    sheet
        Of samples x genes, or the other way round with the option for it.
    options
        The options.
    part
        The column whose values part the table.
    """
    if options.gene_column is not None and not options.genes_in_rows:
        turn = {"genes_in_rows": True}
        raise sheet.error(
            f"a column of names ({option_name('gene_column')}) is for genes that stand in "
            f"rows: give {option_words(turn)} too; where samples stand in rows, leave it out",
            remedies=[turn],
        )
    if sheet.sample_sheet is not None:
        return join_sheet(sheet, sheet.sample_sheet, options, part)
    if options.genes_in_rows:
        return roles_in_rows(sheet, options, part)
    return Roles.of(sheet, options, part)

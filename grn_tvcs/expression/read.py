"""Expression, whatever it comes in: one door for files, DataFrames and AnnData.

Every source becomes a sheet, with one of its samples beside it if there is one. The sheet is
turned where genes stand in rows, or joined with that of its samples: that gives the roles of its
columns, which may be parted by one of them, and each part is an expression. No table is turned
silently: an option declares genes in rows. Cells are averaged first: their means are a sheet
(`formats.cells`).
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
from grn_tvcs.expression.formats.h5ad import open_h5ad
from grn_tvcs.expression.formats.text import open_samples, open_sheet
from grn_tvcs.expression.from_sheet import expression_in
from grn_tvcs.expression.genes_in_rows import roles_in_rows
from grn_tvcs.expression.join import join_files
from grn_tvcs.expression.judge.roles import Roles
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sample_sheet import join_sheet
from grn_tvcs.expression.sheet import Sheet
from tvcs_core.arguments import describe_value, option_name, option_words
from tvcs_core.files.frames import as_pandas, is_frame

TAKEN = (
    "an Expression, a DataFrame, an AnnData, an array with gene_names, a path or a list of paths"
)
OF_TABLES = (*TAKES, "sheet")
OF_ALL = tuple(field.name for field in fields(Options))
READING = (*OF_ALL, *(name for name in OF_ARRAYS if name not in OF_ALL))  # of `Expression.of`
Split = Callable[[Roles], dict[str, Roles]]


def as_expressions(given: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Expression]:
    """Return expressions by name as they are, and read all other data with `words`."""
    is_read = any(not isinstance(data, Expression) for data in given.values())
    return {
        name: read_with(data, {} if is_read and isinstance(data, Expression) else words, name)
        for name, data in given.items()
    }


def read_with(data: Any, words: Mapping[str, Any], name: str = "data") -> Expression:
    """Read expression with options as words; see `Expression.of`. One that is read already stays.

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
    if is_array(data):
        data, words = as_frame(data, words, name)
    elif strange := [word for word in OF_ARRAYS if word in words and word not in OF_ALL]:
        raise TypeError(f"{strange[0]} is for an array, found {describe_value(data)}")
    return read(data, Options.of(**words), name)


def read(data: Any, options: Options, name: str = "data") -> Expression:
    """Read expression from any source; see `Expression.of`."""
    if isinstance(data, str) and "\n" in data:
        raise TypeError(
            f"{name} must be {TAKEN}, found text of several lines: write it to a file, or give "
            "pandas.read_csv(io.StringIO(data))"
        )
    if isinstance(data, list | tuple) and data and all(isinstance(p, str | Path) for p in data):
        return join_files(data, [read(path, options) for path in data])
    [found] = read_parts(data, options, None, lambda roles: {"": roles}, name).values()
    return found


def read_parts(
    data: Any, options: Options, column: str | None, split: Split, name: str = "data"
) -> dict[str, Expression]:
    """Read the parts of a table by a column of its samples, from any source.

    Parameters
    ----------
    data, options
        As for `read`.
    column
        The column of the table, of its sheet of samples or of ``obs``; a row, where genes stand in
        rows. None for pseudotimes, which have none.
    split
        It names the parts of the samples, whose column is of the kind `PART`.
    name
        The argument that `data` are.
    """
    path = Path(data) if isinstance(data, str | Path) else None
    if path is not None and path.suffix.lower() == ".h5ad":
        with open_h5ad(data, options) as file:
            parts = _of_annotated(file, column, split)
    elif path is not None and options.pseudotime is not None:
        parts = {"": read_beeline(data, options)}
    elif is_anndata(data):
        parts = _of_annotated(in_memory(data, options), column, split)
    elif path is not None or is_frame(data):
        if path is None:
            sheet = sheet_of_frame(data, options, column)
        else:
            sheet, options = _open(data, options)
        parts = {p: expression_in(of) for p, of in split(roles_of(sheet, options, column)).items()}
    else:
        raise TypeError(f"{name} must be {TAKEN}, found {describe_value(data)}{_remedy(data)}")
    if options.gene_names is None:
        return parts
    return {part: named(found, options.gene_names) for part, found in parts.items()}


def _remedy(data: Any) -> str:
    """Return how DataFrames are joined, or those of other libraries given; else empty."""
    frames = data.values() if isinstance(data, Mapping) else data
    if not isinstance(data, Mapping | list | tuple) or not frames or not all(map(is_frame, frames)):
        return as_pandas(data)
    by_name = "data" if isinstance(data, Mapping) else "dict(enumerate(data))"
    return f" of DataFrames: if each is a series, give pandas.concat({by_name}, names=['series'])"


def _of_annotated(data: Annotated, column: str | None, split: Split) -> dict[str, Expression]:
    parts = split(roles_of_obs(data, column))
    found = {name: expression_of(data, part) for name, part in parts.items()}
    known = data.identifiers()
    return {name: replace(one, identifiers=known) for name, one in found.items()}


def _open(path: str | Path, options: Options) -> tuple[Sheet, Options]:
    """Open a table in the format of its first bytes, with the sheet of its samples beside it."""
    options.refuse_except(OF_TABLES, "a table, but for .h5ad files alone")
    sheet = open_sheet(path, options.sheet)
    if sheet.sample_sheet is not None:  # of GEO
        options = replace(options, genes_in_rows=True)
    if options.samples is None:
        return sheet, options
    if not isinstance(options.samples, str | Path):
        raise TypeError(
            f"samples must be a path beside a file, found {describe_value(options.samples)}"
        )
    samples = open_samples(options.samples, options.samples_sheet)
    return replace(sheet, sample_sheet=samples), options


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

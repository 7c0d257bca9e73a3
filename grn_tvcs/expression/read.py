"""Expression, whatever it comes in: one door for files, DataFrames and AnnData.

Every source becomes a sheet, with one of its samples beside it where there is one; the sheet is
turned where genes stand in rows, joined with that of its samples, and judged. Nothing is turned
silently: genes in rows must be said to be so.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.formats.beeline import read_beeline
from grn_tvcs.expression.formats.frame import TAKES, is_frame, sheet_of_frame
from grn_tvcs.expression.formats.geo import (
    is_series_matrix,
    read_series_matrix,
    sheet_for,
    with_time,
)
from grn_tvcs.expression.formats.h5ad import read_h5ad
from grn_tvcs.expression.formats.memory import is_anndata, read_anndata
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.from_sheet import expression_in
from grn_tvcs.expression.genes_in_rows import kept_among, turned, without
from grn_tvcs.expression.judge.series import TELL
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sample_sheet import join_sheet
from grn_tvcs.expression.sheet import Sheet
from grn_tvcs.expression.together import together
from tvcs_core.arguments import describe_value

TAKEN = "a DataFrame, an AnnData, a path or a list of paths"
OF_TABLES = (*TAKES, "sheet", "samples_sheet")


def read(data: Any, options: Options) -> Expression:
    """Read expression from any source; see `Expression.of`."""
    if isinstance(data, str | Path):
        return _read_file(data, options)
    if is_anndata(data):
        return read_anndata(data, options)
    if is_frame(data):
        return judged(sheet_of_frame(data, options), options)
    if isinstance(data, list | tuple) and data and all(isinstance(p, str | Path) for p in data):
        return together(data, [_read_file(path, options) for path in data])
    raise TypeError(f"data must be {TAKEN}, found {describe_value(data)}")


def _read_file(path: str | Path, options: Options) -> Expression:
    """Read one file, in the format that its name, its beginning and the options tell."""
    if Path(path).suffix.lower() == ".h5ad":
        return read_h5ad(path, options)
    if options.pseudotime is not None:
        return read_beeline(path, options)
    options.refuse_all_but(OF_TABLES, "a table, but for .h5ad files alone")
    told = _samples(options)
    remedy = TELL
    if options.sheet is None and is_series_matrix(path):
        sheet = read_series_matrix(path)
        options = replace(options, genes_in_rows=True)
        if told is None and sheet.beside is not None:
            options = with_time(options, sheet.beside)
            remedy = f"give {sheet_for(sheet.beside, 'replicate')}"
    else:
        sheet = open_sheet(path, options.sheet)
    return judged(sheet if told is None else replace(sheet, beside=told), options, remedy)


def _samples(options: Options) -> Sheet | None:
    """Open the sheet of samples, where one is given."""
    if options.samples is None:
        return None
    if not isinstance(options.samples, str | Path):
        raise TypeError(
            f"samples must be a path beside a file, found {describe_value(options.samples)}"
        )
    return open_sheet(options.samples, options.samples_sheet)


def judged(sheet: Sheet, options: Options, remedy: str = TELL) -> Expression:
    """Return the expression in a sheet, with its sheet of samples if there is one.

    Parameters
    ----------
    sheet
        Of samples x genes, or the other way round where the options say so.
    options
        The options.
    remedy
        The remedy if nothing separates series.
    """
    if sheet.beside is not None:
        return expression_in(*join_sheet(sheet, sheet.beside, options, remedy))
    if not options.genes_in_rows:
        return expression_in(sheet, options)
    sheet.check_names()
    sheet = without(sheet, options.ignore)
    options = replace(options, ignore=())
    made = turned(sheet, options, may_be_times=True)
    return expression_in(made, kept_among(options, sheet, made))

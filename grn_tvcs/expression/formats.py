"""Expression in whatever layout: one door for all files, of which one may be given or several.

Nothing is turned over silently: genes in rows must be said to be so, and BEELINE's layout is
known by its second file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import UNIT_SAID
from grn_tvcs.expression.columns import Columns
from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.h5ad import read_h5ad
from grn_tvcs.expression.layouts.beeline import read_beeline
from grn_tvcs.expression.layouts.geo import is_series_matrix, read_series_matrix
from grn_tvcs.expression.layouts.named import of_genes_alone, require_names, whole, without
from grn_tvcs.expression.layouts.sample_sheet import beside_sheet, read_samples
from grn_tvcs.expression.layouts.turned import turned
from grn_tvcs.expression.opening import open_table
from grn_tvcs.expression.reading import expression_in
from grn_tvcs.expression.scales import are_of_one_unit
from grn_tvcs.expression.warned import warn_user
from tvcs_core import DataError
from tvcs_core.files.shown import listed

OTHER_UNIT = 20.0  # times longer steps than in another file; a day is 24 hours

__all__ = ["read_beeline", "read_files", "read_layout", "read_samples"]


def read_layout(
    path: str | Path,
    *,
    samples: str | Path | None = None,
    pseudotime: str | Path | None = None,
    lineage_weights: str | Path | None = None,
    genes_in_rows: bool = False,
    time_column: str | None = None,
    sample_column: str | None = None,
    series_column: str | Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    sheet: str | None = None,
    samples_sheet: str | None = None,
    layer: str | None = None,
    gene_column: str | None = None,
    keep: Sequence[str] = (),
    replicates: str | None = None,
    missing: str = "error",
) -> Expression:
    """Read expression in the layout that the other arguments tell; without them, the usual one.

    A file whose name ends in ``.h5ad`` is one of AnnData, one in ``.xlsx`` a workbook; a series
    matrix of GEO is known by its first line.

    Parameters
    ----------
    path
        The levels.
    samples
        A sheet with a row for each sample, as for `read_samples`.
    pseudotime
        BEELINE's ``PseudoTime.csv``; `path` then is its ``ExpressionData.csv``.
    lineage_weights
        Beside `pseudotime`, as for `read_beeline`.
    genes_in_rows
        The first column of `path` names genes, the others are samples.
    time_column, sample_column, series_column
        The columns (of `samples`, where it is given, or of ``obs``) that hold the time, the names
        of samples, and the names of series, one or several; by name or by number from 1. Rows,
        where genes stand in rows.
    ignore
        Columns, genes and rows that are not used; ``*`` stands for any part of a name.
    sheet, samples_sheet
        Sheets of workbooks: of `path` and of `samples`.
    layer, gene_column
        As for `read_h5ad`.
    keep
        Columns that are genes, or samples where genes stand in rows, whatever their names or
        numbers look like.
    replicates
        What is done where a time comes twice in a series: ``"unpaired"``, the k-th of each time
        makes a series, as where each is another individual; ``"average"``, their mean, as of
        repeats of one measurement. Otherwise it is refused.
    missing
        As for `read_expression`.

    Raises
    ------
    ValueError
        If the arguments contradict each other, or as for the functions of this module.
    """
    if lineage_weights is not None and pseudotime is None:
        raise ValueError("weights of lineages are those of cells with a file of pseudotimes")
    if samples_sheet is not None and samples is None:
        raise ValueError("--samples-sheet is the sheet of --samples")
    columns = Columns.told(time_column, sample_column, series_column, ignore, keep, replicates)
    is_more = samples is not None or genes_in_rows or missing != "error"
    is_more = is_more or replicates is not None
    if Path(path).suffix.lower() == ".h5ad":
        if is_more or pseudotime is not None or sheet is not None or sample_column is not None:
            raise ValueError(
                "an .h5ad file says it all: no sheet of samples, no pseudotimes, no genes in rows, "
                "no column of samples, no replicates and no missing values beside it"
            )
        return read_h5ad(
            path,
            time_column=time_column,
            series_column=series_column,
            layer=layer,
            gene_column=gene_column,
            ignore=ignore,
            keep=keep,
        )
    if layer is not None or gene_column is not None:
        raise ValueError("--layer and --gene-column are for .h5ad files only")
    if pseudotime is not None:
        plain = Columns(ignore=columns.ignore, keep=columns.keep)
        if is_more or columns != plain or sheet is not None:
            raise ValueError(
                "a file of pseudotimes says it all: no sheet of samples, no genes in rows, no "
                "columns of time, samples or series, no replicates and no missing values beside it"
            )
        return read_beeline(path, pseudotime, lineage_weights, ignore=columns.ignore, keep=keep)
    told = None if samples is None else whole(samples, sheet=samples_sheet)
    if sheet is None and is_series_matrix(path):
        return read_series_matrix(path, sheet=told, columns=columns, missing=missing)
    if told is not None:
        levels = whole(path, sheet=sheet)
        return beside_sheet(
            levels, told, genes_in_rows=genes_in_rows, missing=missing, columns=columns
        )
    return _table(path, sheet, columns, genes_in_rows=genes_in_rows, missing=missing)


def _table(
    path: str | Path, sheet: str | None, columns: Columns, *, genes_in_rows: bool, missing: str
) -> Expression:
    """Read one table that tells times and series itself, where it tells them."""
    table = open_table(path, sheet=sheet)
    if not genes_in_rows:
        return expression_in(table, missing=missing, columns=columns)
    require_names(table)
    table = without(table, columns.ignore)
    columns = replace(columns, ignore=())
    made = turned(table, missing, columns, may_be_times=True)
    return expression_in(made, missing=missing, columns=of_genes_alone(columns, table, made))


def read_files(paths: Sequence[str | Path], **layout: Any) -> Expression:
    """Read several files of the same layout and genes; the series of all stand after each other.

    So do their samples at rest.

    Genes may stand in any order, as in the first file they come out. A series is named by the file
    as well where names would clash. Where some files tell of perturbations and others do not, the
    others count as not perturbed, with a warning.

    Raises
    ------
    DataError
        If a file has other genes than the first, or as for `read_layout`.
    """
    parts = [read_layout(path, **layout) for path in paths]
    if len(parts) == 1:
        return parts[0]
    genes = parts[0].genes
    for path, part in zip(paths, parts, strict=True):
        if strangers := sorted(set(genes) ^ set(part.genes)):
            raise DataError(
                f"must have the genes of {paths[0]}, but these are in one of the two only: "
                f"{listed(strangers)}",
                path=path,
            )
    refuse_different_units(paths, parts)
    refuse_different_scales(paths, parts)
    warn_of_steps(paths, parts)
    column = [[part.genes.index(gene) for gene in genes] for part in parts]
    names = [list(part.series) for part in parts]
    if repeated([name for part in names for name in dict.fromkeys(part)]):
        names = [[f"{k}: {name}" for name in part] for k, part in enumerate(names, start=1)]
    known = [part.perturbed is not None for part in parts if part.series]
    if any(known) and not all(known):
        told = [part.perturbed is not None or not part.series for part in parts]
        untold = [str(path) for path, is_told in zip(paths, told, strict=True) if not is_told]
        warn_user(f"taken as never perturbed, for nothing is told: {listed(untold)}")
    rest = [
        part.at_rest[:, at]
        for part, at in zip(parts, column, strict=True)
        if part.at_rest is not None
    ]
    on = [np.zeros(len(p.times), bool) if p.perturbed is None else p.perturbed for p in parts]
    return Expression(
        np.concatenate([part.values[:, at] for part, at in zip(parts, column, strict=True)]),
        np.concatenate([part.times for part in parts]),
        tuple(name for part in names for name in part),
        genes,
        np.concatenate(on) if any(known) else None,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        at_rest=np.concatenate(rest) if rest else None,
        cells=_cells(parts),
    )


def refuse_different_units(paths: Sequence[str | Path], parts: Sequence[Expression]) -> None:
    """Refuse files that say different units of their times, of which one may be none."""
    said = [{note for note in p.notes if note.startswith(UNIT_SAID)} for p in parts if p.series]
    if any(units != said[0] for units in said[1:]) and any(said):
        raise DataError(
            "must tell times in the unit of the other files, or none of them any: found "
            + listed(sorted({note.split(",")[0] for units in said for note in units})),
            path=paths[0],
        )


def refuse_different_scales(paths: Sequence[str | Path], parts: Sequence[Expression]) -> None:
    """Refuse logarithms beside levels or counts: no scale is right for both."""
    for path, part in zip(paths, parts, strict=True):
        if not are_of_one_unit(parts[0].levels, part.levels):
            middle = ", ".join(f"{np.median(one.levels):g}" for one in (parts[0], part))
            raise DataError(
                f"must hold values of the unit of {paths[0]}, found the medians {middle}: give "
                "logarithms in all files or in none",
                path=path,
            )


def warn_of_steps(paths: Sequence[str | Path], parts: Sequence[Expression]) -> None:
    """Warn where times of one file step by so much more than another's that units may differ."""
    steps = {}
    for path, part in zip(paths, parts, strict=True):
        found = [np.diff(part.times[rows]) for rows in part.pieces().values()]
        if found:
            steps[path] = float(np.median(np.concatenate(found)))
    if steps and max(steps.values()) >= OTHER_UNIT * min(steps.values()):
        low, high = (pick(steps, key=lambda path: steps[path]) for pick in (min, max))
        warn_user(
            f"times of {high} step by {steps[high]:g} and those of {low} by {steps[low]:g}: all "
            "files must tell times in one unit"
        )


def _cells(parts: Sequence[Expression]) -> NDArray[np.float64] | None:
    if all(part.cells is None for part in parts):
        return None
    return np.concatenate([np.ones(len(p.times)) if p.cells is None else p.cells for p in parts])

"""Single cells, as AnnData and BEELINE have them: those at one time of a series are one sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.judge.genes import (
    genes_by_name,
    genes_by_numbers,
    refuse_results,
    warn_of_names,
)
from grn_tvcs.expression.judge.names import Names
from grn_tvcs.expression.judge.samples import warn_of_samples
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.scales import counts_before_averaging
from tvcs_core import DataError
from tvcs_core.files.display import unquoted
from tvcs_core.files.input_size import refuse_cells

BYTES_OF_A_LEVEL = 24  # a number of 8 bytes, kept three times while it is read

Values = NDArray[np.float64]


class Cells(NamedTuple):
    """Which cell stands at which time of which series, and how far it belongs there.

    Attributes
    ----------
    cell
        Places of cells; one may be in several series.
    series
        The number of the series of each.
    times, weights
        Of each, finite and above 0.
    names
        Of the series.
    """

    cell: Sequence[int] | NDArray[np.int64]
    series: NDArray[np.int64]
    times: Values
    weights: Values
    names: Sequence[str]


class Points(NamedTuple):
    """Times of series at which cells stand.

    Attributes
    ----------
    series, times
        Of each point, sorted.
    point
        The point of each cell that stands somewhere.
    size
        How many cells stand at each, or the sum of their weights.
    """

    series: NDArray[np.int64]
    times: Values
    point: NDArray[np.int64]
    size: Values


def points_of(cells: Cells) -> Points:
    """Find the times of series at which cells stand."""
    keys = np.stack([cells.series.astype(np.float64), cells.times], axis=1)
    found, point = np.unique(keys, axis=0, return_inverse=True)
    point = point.reshape(-1)
    size = np.bincount(point, weights=cells.weights, minlength=len(found)).astype(np.float64)
    return Points(found[:, 0].astype(np.int64), found[:, 1], point, size)


def expression_of_cells(
    path: str,
    genes: Sequence[str],
    levels: Any,
    cells: Cells,
    options: Options,
    *,
    perturbed: NDArray[np.bool_] | None = None,
    notes: tuple[str, ...] = (),
) -> Expression:
    """Average the cells at one time of a series, and make expression of the means.

    Parameters
    ----------
    path
        Name of the data in errors.
    genes, levels
        Names of the columns, all different, and finite levels, dense or sparse; (cells, genes).
    cells
        Names and places of the annotations.
    options
        The options; only ``keep`` and ``ignore``, for names of genes, are used.
    perturbed
        Whether a perturbation was on at each point; None where that is not known.
    notes
        Further notes.
    """
    points = points_of(cells)
    n, n_cells = len(points.size), len(cells.cell)
    refuse_cells(path, n, len(genes), BYTES_OF_A_LEVEL)
    series = [cells.names[k] for k in points.series]
    if alone := [name for name, size in Counter(series).items() if size < 2]:
        raise DataError(
            f"a series must have at least 2 time points, but series {unquoted(alone[0])} has 1: "
            "leave its samples out, by an empty time or before they are written",
            path=path,
        )
    shares = cells.weights / points.size[points.point]
    mean = sparse.csr_array((shares, (points.point, cells.cell)), shape=(n, levels.shape[0]))
    names, values = _judged(path, genes, mean @ levels, options, has_time=True)
    scale = why = None
    if n < n_cells:
        scale, why = counts_before_averaging(levels)
        averaged = f"{n_cells} cells were averaged to {n} samples, one for each time of a series."
        notes = (averaged, *notes)
    return Expression(
        values,
        points.times,
        tuple(series),
        names,
        perturbed,
        notes,
        scale=scale,
        guessed_from=why,
        cells=None if (points.size == 1).all() else points.size,
    )


def expression_at_rest(
    path: str, genes: Sequence[str], levels: Any, options: Options, notes: tuple[str, ...]
) -> Expression:
    """Make expression of cells or samples without times: each is a steady-state sample."""
    refuse_cells(path, levels.shape[0], len(genes), BYTES_OF_A_LEVEL)
    names, values = _judged(path, genes, levels, options, has_time=False)
    none = np.empty((0, len(names)))
    return Expression(none, np.empty(0), (), names, notes=notes, steady_values=values)


def _judged(
    path: str, genes: Sequence[str], levels: Any, options: Options, *, has_time: bool
) -> tuple[tuple[str, ...], Values]:
    """Return the columns that are genes and their levels; (samples, genes)."""
    values = levels.toarray() if sparse.issparse(levels) else np.asarray(levels)
    kept = np.flatnonzero([gene not in options.ignore for gene in genes])

    def columns() -> Names:
        return Names(path, [genes[j] for j in kept.tolist()], options.keep)

    refuse_results(columns())
    kept = kept[genes_by_name(columns(), has_time=has_time)]
    if not kept.size:
        raise DataError("must have a column for each gene, found none", path=path)
    kept = kept[genes_by_numbers(columns(), values[:, kept], has_time=has_time)]
    values = values[:, kept]
    warn_of_names(path, columns().names)
    warn_of_samples(path, values)
    return tuple(columns().names), values

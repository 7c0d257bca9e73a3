"""Single cells, as AnnData and BEELINE have them: those at one time of a series are one sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.from_sheet import expression_in
from grn_tvcs.expression.judge.roles import IGNORED, Roles, kind_of_gene
from grn_tvcs.expression.missing_values import require_finite
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sheet import Column, Sheet
from tvcs_core import DataError
from tvcs_core.files.input_size import refuse_cells

BYTES_OF_A_LEVEL = 24  # a number of 8 bytes, kept three times while it is read

Values = NDArray[np.float64]


class Matrix(NamedTuple):
    """The grid of numbers that are known; (samples, genes)."""

    path: str
    genes: Sequence[str]
    values: Values

    def row(self, i: int) -> Sequence[str]:
        """Return the names of the genes, or their levels as text."""
        return list(map(repr, self.values[i - 1].tolist())) if i else self.genes

    def column(self, j: int) -> Sequence[str]:
        """Return the levels of a gene as text."""
        return list(map(repr, self.values[:, j].tolist()))

    def numbers(
        self, rows: Sequence[int], columns: Sequence[int], *, refuse: bool, **_: Any
    ) -> Values:
        """Return levels; NaN is a missing one."""
        values = self.values
        if len(columns) < values.shape[1] or len(rows) < len(values):
            values = values[np.ix_(np.array(rows) - 1, np.array(columns, dtype=int))]
        require_finite(
            values, lambda what, i, j: self.error(what, rows[i], columns[j]), refuse=refuse
        )
        return values

    def error(self, what: str, row: int | None = None, column: int | None = None) -> DataError:
        """Make an error that names a gene, where one is meant."""
        gene = None if column is None or column < 0 else self.genes[column]
        return DataError(what, path=self.path, column=gene)

    def require_rectangle(self) -> None:
        """Refuse nothing: a matrix is one."""


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
    perturbed: Sequence[str] | None = None,
    notes: tuple[str, ...] = (),
) -> Expression:
    """Average the cells at one time of a series, and make expression of the means.

    Parameters
    ----------
    path
        Name of the data in errors.
    genes
        Names of the columns.
    levels
        Dense or sparse; (cells, genes).
    cells
        What stands where.
    options
        The options; only ``keep`` and ``ignore``, for names of genes, are used.
    perturbed
        Whether a perturbation was on at each point, 0 or 1; None where that is not known.
    notes
        Further notes.
    """
    points = points_of(cells)
    n = len(points.size)
    refuse_cells(path, n, len(genes), BYTES_OF_A_LEVEL)
    shares = cells.weights / points.size[points.point]
    mean = sparse.csr_array((shares, (points.point, cells.cell)), shape=(n, levels.shape[0]))
    means = mean @ levels
    values = means.toarray() if sparse.issparse(means) else np.asarray(means)
    facts = {
        "time": list(map(repr, points.times.tolist())),
        "series": [cells.names[k] for k in points.series],
        **({} if perturbed is None else {"perturbed": perturbed}),
    }
    kinds = [*facts, *(IGNORED if g in options.ignore else kind_of_gene(g) for g in genes)]
    columns = [Column(name, -1, texts) for name, texts in facts.items()]
    columns += [Column(gene, j) for j, gene in enumerate(genes)]
    n_cells = len(cells.cell)
    if n < n_cells:
        said = f"{n_cells} cells were averaged to {n} samples, one for each time of a series."
        notes = (said, *notes)
    sheet = Sheet(Matrix(path, genes, values), columns, range(1, n + 1))
    roles = Roles(sheet, kinds, [kinds.index("series")], Options(keep=options.keep))
    sizes = None if (points.size == 1).all() else points.size
    return expression_in(roles, cells=sizes, notes=notes)

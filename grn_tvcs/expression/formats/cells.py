"""Single cells, as AnnData and BEELINE have them: a sheet of their means, or of the cells at rest.

Cells at one time of a series are averaged before any level is looked at, so that sparse levels of
many cells stay sparse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.from_sheet import expression_in
from grn_tvcs.expression.judge.roles import Roles, kind_of_gene
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.scales import counts_before_averaging
from grn_tvcs.expression.sheet import Column, Grid, Sheet
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
    perturbed
        Whether a perturbation was on in each; None where that is not known.
    """

    cell: Sequence[int] | NDArray[np.int64]
    series: NDArray[np.int64]
    times: Values
    weights: Values
    names: Sequence[str]
    perturbed: NDArray[np.bool_] | None = None


class Matrix(Grid):
    """The grid of finite levels, dense or sparse; (samples, genes)."""

    may_hold_times = False

    def __init__(self, path: str, genes: Sequence[str], levels: Any) -> None:
        refuse_cells(path, levels.shape[0], len(genes), BYTES_OF_A_LEVEL)
        self.path = path
        self.heads = genes
        self._levels = levels

    def row(self, i: int) -> Sequence[str]:
        """Return the levels of a sample as text."""
        return list(map(repr, self.numbers([i], range(len(self.heads)))[0].tolist()))

    def column(self, j: int) -> Sequence[str]:
        """Return the levels of a gene as text."""
        rows = range(1, self._levels.shape[0] + 1)
        return list(map(repr, self.numbers(rows, [j])[:, 0].tolist()))

    def numbers(
        self,
        rows: Sequence[int],
        columns: Sequence[int],
        *,
        refuse: bool = True,
        marks: Collection[str] = (),
    ) -> Values:
        """Return levels, of which none is missing."""
        values = self._levels[:, np.array(columns, dtype=int)]
        if len(rows) < values.shape[0]:
            values = values[np.array(rows, dtype=int) - 1]
        return values.toarray() if sparse.issparse(values) else np.asarray(values)


def expression_of_cells(
    path: str, genes: Sequence[str], levels: Any, cells: Cells, options: Options
) -> Expression:
    """Average the cells at one time of a series, and make expression of the means.

    Parameters
    ----------
    path
        Name of the data in errors.
    genes, levels
        Names of the columns, all different, and finite levels, dense or sparse; (cells, genes).
    cells
        Their times and series.
    options
        The options; only ``keep`` and ``ignore``, for names of genes, are used.
    """
    keys = np.stack([cells.series.astype(np.float64), cells.times], axis=1)
    points, point = np.unique(keys, axis=0, return_inverse=True)
    point = point.reshape(-1)
    size = np.bincount(point, weights=cells.weights).astype(np.float64)
    series = [cells.names[int(k)] for k in points[:, 0]]
    if alone := [name for name, n in Counter(series).items() if n < 2]:
        raise DataError(
            f"a series must have at least 2 time points, but series {unquoted(alone[0])} has 1: "
            "leave its samples out, by an empty time or before they are written",
            path=path,
        )
    facts = {"time": list(map(repr, points[:, 1].tolist())), "series": series}
    if cells.perturbed is not None:
        on = np.bincount(point, weights=cells.perturbed) / np.bincount(point)
        if not np.isin(on, (0.0, 1.0)).all():
            what = "samples of one time and series must agree in it"
            raise DataError(what, path=path, column="perturbed")
        facts["perturbed"] = [f"{flag:.0f}" for flag in on]
    share = cells.weights / size[point]
    mean = sparse.csr_array((share, (point, cells.cell)), shape=(len(size), levels.shape[0]))
    found = expression_of_levels(path, genes, mean @ levels, facts, options)
    found = replace(found, cells=None if (size == 1).all() else size)
    if len(size) == len(point):
        return found
    note = (
        f"{len(point)} cells were averaged to {len(size)} samples, one for each time of a series."
    )
    scale, why = counts_before_averaging(levels)
    return replace(found, notes=(note, *found.notes), scale=scale, guessed_from=why)


def expression_of_levels(
    path: str,
    genes: Sequence[str],
    levels: Any,
    facts: Mapping[str, Sequence[str]],
    options: Options,
) -> Expression:
    """Make expression of levels, (samples, genes), and facts of samples: a column of each kind."""
    kept = [j for j, gene in enumerate(genes) if gene not in options.ignore]
    columns = [Column(kind, -1, texts) for kind, texts in facts.items()]
    columns += [Column(genes[j], j) for j in kept]
    sheet = Sheet(Matrix(path, genes, levels), columns, range(1, levels.shape[0] + 1))
    kinds = [*facts, *(kind_of_gene(genes[j]) for j in kept)]
    labels = [kinds.index("series")] if "series" in facts else []
    return expression_in(Roles(sheet, kinds, labels, Options(keep=options.keep)))

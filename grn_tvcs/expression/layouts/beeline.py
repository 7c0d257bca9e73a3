"""BEELINE's two files: levels of genes x cells, and pseudotimes of cells in each lineage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.annotated import said_of_cells
from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.judge.genes import genes_by_name, genes_by_numbers, warn_of_names
from grn_tvcs.expression.layouts.named import rows_by_name, whole, without
from grn_tvcs.expression.missing_values import MARKS, numbers_with_gaps
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.warned import warn_user
from tvcs_core.files.shown import listed
from tvcs_core.files.tables import Table

TAKES = ("pseudotime", "lineage_weights", "ignore", "keep")
INFINITE = frozenset(f"{sign}{word}" for sign in ("", "+", "-") for word in ("inf", "infinity"))


def read_beeline(path: str | Path, options: Options) -> Expression:
    """Read BEELINE's ``ExpressionData.csv`` (genes x cells) and ``PseudoTime.csv``.

    Every column of pseudotimes is a series of the cells that have one in it (the others are
    empty, ``NA`` or infinite), in the order of pseudotime; levels of cells at the same pseudotime
    are averaged. With weights of lineages, a table of the same columns that says how far each cell
    belongs to each lineage (those of slingshot are from 0 to 1; nothing is 0), a mean is weighted,
    and a cell of weight 0 is not in the lineage. Lineages, cells and genes that ``ignore`` names
    are left out; names of ``keep`` are genes, whatever they look like.

    Raises
    ------
    DataError
        If a cell has no levels, a cell or a gene is there twice, a level is no finite number, a
        column has fewer than two pseudotimes, or weights are of other cells or columns or
        below 0.
    """
    options.refuse_all_but(TAKES, "a file of pseudotimes, which says it all itself")
    assert options.pseudotime is not None
    keep, lineage_weights = options.keep, options.lineage_weights
    table, times = _without(whole(path), whole(options.pseudotime), options.ignore)
    values = table.numbers(1, range(1, len(table.rows[0]))).T
    genes = list(rows_by_name(table, "gene"))
    is_gene = genes_by_name(table.path, genes, keep, has_time=True)
    genes, values = [genes[j] for j in np.flatnonzero(is_gene)], values[:, is_gene]
    is_gene = genes_by_numbers(table.path, genes, values, keep, has_time=True)
    genes, values = [genes[j] for j in np.flatnonzero(is_gene)], values[:, is_gene]
    warn_of_names(table.path, genes)
    column = {cell: j for j, cell in enumerate(table.rows[0][1:])}
    if twice := repeated(table.rows[0][1:]):
        raise table.error(f"cells must be different, found twice: {listed(twice)}", row=0)
    cells = list(rows_by_name(times, "cell"))
    if unknown := [cell for cell in cells if cell not in column]:
        raise times.error(
            f"every cell must have levels in {table.path}, but {len(unknown)} have none: "
            f"{listed(unknown)}; there stands {listed(list(column))}"
        )
    at = _pseudotimes(times)
    place = np.array([column[cell] for cell in cells])
    weights = np.ones(at.shape) if lineage_weights is None else _weights(lineage_weights, times)
    levels, clock, series = [], [], []
    sizes: list[NDArray[np.float64]] = []
    for k, name in enumerate(times.rows[0][1:]):
        has_time = ~np.isnan(at[:, k]) & (weights[:, k] > 0)
        moments, moment = np.unique(at[has_time, k], return_inverse=True)
        if moments.size < 2:
            raise times.error(
                f"must have at least 2 different pseudotimes, found {moments.size}", 0, k + 1
            )
        sums = np.zeros((moments.size, len(genes)))
        weight = weights[has_time, k]
        np.add.at(sums, moment, weight[:, None] * values[place[has_time]])
        sizes.append(np.bincount(moment, weights=weight).astype(np.float64))
        levels.append(sums / sizes[-1][:, None])
        clock.append(moments)
        series += [name] * moments.size
    size = np.concatenate(sizes)
    return Expression(
        np.concatenate(levels),
        np.concatenate(clock),
        tuple(series),
        tuple(genes),
        notes=said_of_cells(int((~np.isnan(at) & (weights > 0)).sum()), len(series)),
        cells=None if (size == 1).all() else size,
    )


def _pseudotimes(times: Table) -> NDArray[np.float64]:
    """Pseudotimes; (cells, lineages). NaN where a cell has none or an infinite one."""
    n = sum(cell.lower() in INFINITE for row in times.rows[1:] for cell in row[1:])
    if n:
        warn_user(
            f"{times.path}: left out {n} pseudotimes that are infinite, as they are where a cell "
            "is not reached"
        )
    columns = range(1, len(times.rows[0]))
    return numbers_with_gaps(times, columns, refuse=False, marks=MARKS | INFINITE)


def _without(table: Table, times: Table, ignore: Sequence[str]) -> tuple[Table, Table]:
    """Leave out of both tables what is to be ignored: a name of one need not be in the other."""
    there = {cell.lower() for cell in times.rows[0]} | {row[0].lower() for row in times.rows[1:]}
    of_times = [name for name in ignore if name.lower() in there]
    return without(table, [n for n in ignore if n not in of_times]), without(times, of_times)


def _weights(path: str | Path, times: Table) -> NDArray[np.float64]:
    """How far each cell of a table of pseudotimes belongs to each lineage; (cells, lineages)."""
    table = whole(path)
    for what, found, wanted in (
        ("lineages", table.rows[0][1:], times.rows[0][1:]),
        ("cells", list(rows_by_name(table, "cell")), list(rows_by_name(times, "cell"))),
    ):
        if strangers := sorted(set(found) ^ set(wanted)):
            raise table.error(
                f"must have the {what} of {times.path}, but these are in one of the two only: "
                f"{listed(strangers)}"
            )
        if twice := repeated(found):
            raise table.error(f"{what} must be different, found twice: {listed(twice)}", row=0)
    weights = numbers_with_gaps(table, range(1, len(table.rows[0])), refuse=False, marks=MARKS)
    weights = np.where(np.isnan(weights), 0.0, weights)
    if (weights < 0).any():
        i, k = (int(found[0]) for found in np.nonzero(weights < 0))
        raise table.error(f"a weight must be >= 0, found {weights[i, k]:g}", i + 1, k + 1)
    row = rows_by_name(table, "cell")
    rows = [row[cell] - 1 for cell in rows_by_name(times, "cell")]
    columns = [table.rows[0][1:].index(name) for name in times.rows[0][1:]]
    return weights[np.ix_(rows, columns)]

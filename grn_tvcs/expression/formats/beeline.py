"""BEELINE's two files: levels of genes x cells, and pseudotimes of cells in each lineage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression, describe_repeated
from grn_tvcs.expression.formats.cells import Cells, expression_of_cells
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.genes_in_rows import without
from grn_tvcs.expression.missing_values import MARKS, are_words, remedy_of
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sample_sheet import rows_by_name
from grn_tvcs.expression.sheet import HEAD, Sheet
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import option_words
from tvcs_core.files.display import joined, plural, quoted

TAKES = ("pseudotime", "lineage_weights", "ignore", "keep")
INFINITE = frozenset(f"{sign}{word}" for sign in ("", "+", "-") for word in ("inf", "infinity"))


def read_beeline(path: str | Path, options: Options) -> Expression:
    """Read BEELINE's ``ExpressionData.csv`` (genes x cells) and ``PseudoTime.csv``.

    Every column of pseudotimes is a series of the cells that have one in it (the others are empty,
    ``NA`` or infinite), in the order of pseudotime; levels of cells at the same pseudotime are
    averaged. Weights of lineages are a table of the same columns: how far each cell belongs to each
    lineage (from 0 to 1 by slingshot; an empty cell is 0). With them a mean is weighted, and a cell
    of weight 0 is not in the lineage. Lineages, cells and genes that ``ignore`` names are left out;
    names of ``keep`` are genes, whatever they look like.

    Raises
    ------
    DataError
        If a cell has no levels, a cell or a gene is there twice, a level is no finite number, a
        column has fewer than two pseudotimes, or weights are of other cells or columns or
        below 0.
    """
    options.refuse_except(TAKES, "a file of pseudotimes, which says it all itself")
    assert options.pseudotime is not None
    sheet, clocks = _without(_whole(path), _whole(options.pseudotime), options.ignore)
    genes = list(rows_by_name(sheet, "gene"))
    column = {cell: j for j, cell in enumerate(sheet.heads[1:])}
    if twice := describe_repeated("cells", sheet.heads[1:]):
        raise sheet.error(twice, HEAD)
    names = list(rows_by_name(clocks, "cell"))
    if unknown := [cell for cell in names if cell not in column]:
        raise clocks.error(
            f"every cell must have levels in {sheet.path}, but "
            f"{plural(len(unknown), 'cell has', 'cells have')} none: {joined(unknown)}; there "
            f"stands {joined(list(column))}"
        )
    at = _pseudotimes(clocks)
    place = np.array([column[cell] for cell in names])
    weights = np.ones(at.shape)
    if options.lineage_weights is not None:
        weights = _weights(_whole(options.lineage_weights), clocks)
    is_in = ~np.isnan(at) & (weights > 0)
    for k in range(at.shape[1]):
        if (n := np.unique(at[is_in[:, k], k]).size) < 2:
            name = clocks.heads[k + 1]
            raise clocks.error(
                f"must have at least 2 different pseudotimes, found {n}: leave this lineage out "
                f"with {option_words({'ignore': (name,)})}; if no cell has a pseudotime, give the "
                f"levels alone with {option_words({'genes_in_rows': True})}, as samples in steady "
                "state",
                0,
                k + 1,
            )
    lineage, cell = np.nonzero(is_in.T)
    cells = Cells(place[cell], lineage, at[cell, lineage], weights[cell, lineage], clocks.heads[1:])
    levels = sheet.numbers(range(1, len(sheet.columns)), refuse=True).T
    return expression_of_cells(sheet.path, genes, levels, cells, Options(keep=options.keep))


def _whole(path: str | Path) -> Sheet:
    sheet = open_sheet(path)
    sheet.check_names()
    return sheet


def _pseudotimes(clocks: Sheet) -> NDArray[np.float64]:
    """Return pseudotimes, (cells, lineages); NaN if a cell has none or an infinite one."""
    columns = range(1, len(clocks.columns))
    for j in columns:
        cells = clocks.cells(j)
        if are_words(cells) and not any(map(remedy_of, cells)):
            way = {"ignore": (clocks.heads[j],)}
            what = (
                f"must be a number, found {quoted(cells[0])}; if the column names lineages, give "
                "each of them a column of pseudotimes, empty for cells of others; if all cells "
                f"are of one lineage, give {option_words(way)}"
            )
            raise clocks.error(what, 0, j, remedies=[way])
    if n := sum(cell.lower() in INFINITE for j in columns for cell in clocks.cells(j)):
        warn_user(
            f"{clocks.path}: left out {plural(n, 'infinite pseudotime')}, as of a cell that is not "
            "reached"
        )
    return clocks.numbers(columns, marks=MARKS | INFINITE)


def _without(sheet: Sheet, clocks: Sheet, ignore: Sequence[str]) -> tuple[Sheet, Sheet]:
    """Leave the ignored names out of both; a name of one need not be in the other."""
    there = {name.lower() for name in (*clocks.heads, *clocks.cells(0))}
    of_clocks = [name for name in ignore if name.lower() in there]
    return without(sheet, [n for n in ignore if n not in of_clocks]), without(clocks, of_clocks)


def _weights(sheet: Sheet, clocks: Sheet) -> NDArray[np.float64]:
    """How far each cell of a table of pseudotimes belongs to each lineage; (cells, lineages)."""
    row = rows_by_name(sheet, "cell")
    for what, found, wanted in (
        ("lineages", sheet.heads[1:], clocks.heads[1:]),
        ("cells", list(row), clocks.cells(0)),
    ):
        if strangers := sorted(set(found) ^ set(wanted)):
            raise sheet.error(
                f"must have the {what} of {clocks.path}, but these are in one of the two only: "
                f"{joined(strangers)}"
            )
        if twice := describe_repeated(what, found):
            raise sheet.error(twice, HEAD)
    weights = sheet.numbers(range(1, len(sheet.columns)), marks=MARKS)
    weights = np.where(np.isnan(weights), 0.0, weights)
    if (weights < 0).any():
        i, k = (int(found[0]) for found in np.nonzero(weights < 0))
        raise sheet.error(f"a weight must be >= 0, found {weights[i, k]:g}", i, k + 1)
    columns = [sheet.heads[1:].index(name) for name in clocks.heads[1:]]
    return weights[np.ix_([row[cell] for cell in clocks.cells(0)], columns)]

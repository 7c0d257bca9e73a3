"""Two conditions before they are compared: the same genes, enough series, one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grn_tvcs.comparison.exchanges import FEWEST_SERIES, series_needed
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.from_sheet import expression_in
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.expression.sheet import HEAD, Sheet
from grn_tvcs.expression.subset import FEWEST, of_genes
from grn_tvcs.expression.together import (
    refuse_different_scales,
    refuse_different_units,
    warn_of_steps,
)
from grn_tvcs.expression.warned import warn_user
from grn_tvcs.network.edge_files import same_but_for_case
from tvcs_core import DataError
from tvcs_core.files.shown import did_you_mean, listed, shown

TAKES = (
    "time_column", "sample_column", "series_column", "ignore", "keep", "replicates", "missing",
    "sheet",
)  # fmt: skip
LEAST_COMMON = 0.5  # of the genes of the larger table


def with_common_genes(
    a: Expression, b: Expression, names: Sequence[str], scale: str | None = None
) -> tuple[Expression, Expression, tuple[str, ...]]:
    """Return both conditions with the genes that both have, and a note where some are left out.

    Raises
    ------
    ValueError
        If a condition has fewer than two series, the common genes are fewer than half, or times or
        values are in different units.
    """
    for name, part in zip(names, (a, b), strict=True):
        _refuse_few_series(name, part)
    refuse_different_units(names, (a, b))
    warn_of_steps(names, (a, b))
    common = set(a.genes) & set(b.genes)
    most = max(len(a.genes), len(b.genes))
    cased = same_but_for_case([gene for gene in a.genes if gene not in common], b.genes)
    if len(common) < max(FEWEST, LEAST_COMMON * most):
        raise ValueError(
            f"the conditions must share at least half of their genes, found {len(common)} of "
            f"{len(a.genes)} in {names[0]} and {len(b.genes)} in {names[1]} ({listed(a.genes)}; "
            f"there {listed(b.genes)}{cased}); bring both to the same kind of names"
        )
    if len(common) == most:
        _refuse_two_scales(names, a, b)
        return a, b, ()
    note = (
        f"{len(common)} genes are in both conditions; left out: "
        f"{len(a.genes) - len(common)} of {names[0]}, {len(b.genes) - len(common)} of {names[1]}"
        f"{cased}"
    )
    warn_user(note)
    first, second = (of_genes(on_scale(part, scale), common) for part in (a, b))
    _refuse_two_scales(names, first, second)
    return first, second, (f"{note}.",)


def _refuse_two_scales(names: Sequence[str], a: Expression, b: Expression) -> None:
    if a.scale and b.scale and a.scale != b.scale:
        raise ValueError(
            f"the conditions must have one scale, but {names[0]} is taken as {a.scale} and "
            f"{names[1]} as {b.scale}; give --scale (scale= in Python)"
        )
    refuse_different_scales(names, (a, b))


def _refuse_few_series(name: str, part: Expression) -> None:
    n = len(part.pieces())
    if part.n_at_rest:
        warn_user(f"{name}: {part.n_at_rest} samples at rest are not used, for they are no series")
    if n < FEWEST_SERIES:
        needed = series_needed(FEWEST_SERIES, FEWEST_SERIES)
        raise ValueError(
            f"a condition must have at least {FEWEST_SERIES} time series, for they are exchanged "
            f"to tell a difference from chance, but {name} has {n}; {needed} a side are needed to "
            "find anything, and a column replicate or a blank line tells series apart"
        )


def conditions_of(sheet: Sheet, column: str, wanted: Sequence[str] = ()) -> dict[str, Sheet]:
    """Part a sheet by a column; the conditions in the order of `wanted` or the rows.

    Raises
    ------
    DataError
        If there is no such column, it names fewer or more than two conditions and `wanted` does
        not choose, or a condition of `wanted` is not there.
    """
    heads = sheet.heads
    places = [j for j, name in enumerate(heads) if name.lower() == column.lower()]
    if len(places) != 1:
        near = "" if places else did_you_mean(column, heads)
        raise sheet.error(
            f"must have one column {shown(column)}, found {len(places)}{near}; there stands "
            f"{listed(heads)}",
            HEAD,
        )
    [place] = places
    sheet.grid.require_rectangle()
    cells = sheet.cells(place)
    found = list(dict.fromkeys(cells))
    if "" in found:
        row = cells.index("")
        raise sheet.error("every sample needs a condition, found an empty cell", row, place)
    chosen = list(wanted) or found
    if missing := [name for name in chosen if name not in found]:
        raise sheet.error(
            f"must name the condition {shown(missing[0])}, found {listed(found)}", column=place
        )
    if len(chosen) != 2:
        remedy = (
            "give the table of the other condition too, or another column"
            if len(chosen) < 2
            else "name two of them by --conditions"
        )
        raise sheet.error(
            f"must name two conditions, found {len(chosen)}: {listed(chosen)}; {remedy}",
            column=place,
        )
    return {
        name: sheet.take([i for i, cell in enumerate(cells) if cell == name]) for name in chosen
    }


def read_conditions(
    path: str | Path, column: str, wanted: Sequence[str] = (), **options: Any
) -> dict[str, Expression]:
    """Read one table of samples x genes with a column that names the condition of each sample.

    All else is as for `Expression.of`. The two conditions come in the order of `wanted`, or in
    that of the rows.

    Raises
    ------
    DataError
        As for `conditions_of` and `Expression.of`, or if the file is one of AnnData.
    """
    return conditions_in(path, column, wanted, Options.of(**options))


def conditions_in(
    path: str | Path, column: str, wanted: Sequence[str], options: Options
) -> dict[str, Expression]:
    """Read the conditions of one table; as `read_conditions` says."""
    if Path(path).suffix.lower() == ".h5ad":
        raise DataError(
            "a column of conditions is read from text tables; write a file for each condition",
            path=path,
        )
    options.refuse_all_but(TAKES, "a table with a column of conditions")
    parts = conditions_of(open_sheet(path, options.sheet), column, wanted)
    options = replace(options, ignore=(*options.ignore, column))
    return {name: expression_in(part, options) for name, part in parts.items()}

"""Preparation of two conditions: common genes, enough series, one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grn_tvcs.comparison.permutations import MIN_SERIES, series_needed
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.formats.text import open_sheet
from grn_tvcs.expression.from_sheet import expression_in
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.expression.sheet import HEAD, Sheet
from grn_tvcs.expression.subset import FEWEST, subset_genes
from grn_tvcs.expression.together import (
    refuse_different_scales,
    refuse_different_units,
    warn_of_steps,
)
from grn_tvcs.expression.warned import warn_user
from grn_tvcs.network.edge_files import same_but_for_case
from tvcs_core import DataError
from tvcs_core.files.display import did_you_mean, joined, quoted

TAKES = (
    "time_column", "sample_column", "series_column", "ignore", "keep", "replicates", "missing",
    "sheet",
)  # fmt: skip
MIN_COMMON_GENES = 0.5  # fraction of the genes of the larger table


def with_common_genes(
    a: Expression, b: Expression, names: Sequence[str], scale: str | None = None
) -> tuple[Expression, Expression, tuple[str, ...]]:
    """Return both conditions with their common genes, and a note on genes left out.

    Raises
    ------
    ValueError
        If a condition has fewer than two series, fewer than half of the genes are common, or times
        or values have different units.
    """
    for name, part in zip(names, (a, b), strict=True):
        _refuse_few_series(name, part)
    refuse_different_units(names, (a, b))
    warn_of_steps(names, (a, b))
    common = set(a.genes) & set(b.genes)
    most = max(len(a.genes), len(b.genes))
    cased = same_but_for_case([gene for gene in a.genes if gene not in common], b.genes)
    if len(common) < max(FEWEST, MIN_COMMON_GENES * most):
        raise ValueError(
            f"the conditions must share at least half of their genes, found {len(common)} of "
            f"{len(a.genes)} in {names[0]} and {len(b.genes)} in {names[1]} ({joined(a.genes)}; "
            f"there {joined(b.genes)}{cased}); use the same kind of gene names in both"
        )
    if len(common) == most:
        _refuse_two_scales(names, a, b)
        return a, b, ()
    note = (
        f"{len(common)} genes are in both conditions; removed: "
        f"{len(a.genes) - len(common)} of {names[0]}, {len(b.genes) - len(common)} of {names[1]}"
        f"{cased}"
    )
    warn_user(note)
    first, second = (subset_genes(on_scale(part, scale), common) for part in (a, b))
    _refuse_two_scales(names, first, second)
    return first, second, (f"{note}.",)


def _refuse_two_scales(names: Sequence[str], a: Expression, b: Expression) -> None:
    if a.scale and b.scale and a.scale != b.scale:
        raise ValueError(
            f"the conditions must have one scale, but {names[0]} is read as {a.scale} and "
            f"{names[1]} as {b.scale}; give --scale (scale= in Python)"
        )
    refuse_different_scales(names, (a, b))


def _refuse_few_series(name: str, part: Expression) -> None:
    n = len(part.pieces())
    if part.n_steady:
        warn_user(
            f"{name}: {part.n_steady} steady-state samples are not used, only time series are"
        )
    if n < MIN_SERIES:
        needed = series_needed(MIN_SERIES, MIN_SERIES)
        raise ValueError(
            f"a condition must have at least {MIN_SERIES} time series for the permutation test, "
            f"but {name} has {n}; {needed} per condition are needed to find anything, and a column "
            "replicate or a blank line separates series"
        )


def conditions_of(sheet: Sheet, column: str, wanted: Sequence[str] = ()) -> dict[str, Sheet]:
    """Split a sheet by a column; conditions are in the order of `wanted` or of the rows.

    Raises
    ------
    DataError
        If the column is missing, does not name two conditions and `wanted` does not choose, or a
        condition of `wanted` is missing.
    """
    heads = sheet.heads
    places = [j for j, name in enumerate(heads) if name.lower() == column.lower()]
    if len(places) != 1:
        near = "" if places else did_you_mean(column, heads)
        raise sheet.error(
            f"must have one column {quoted(column)}, found {len(places)}{near}; the columns are "
            f"{joined(heads)}",
            HEAD,
        )
    [place] = places
    sheet.grid.check_rectangle()
    cells = sheet.cells(place)
    found = list(dict.fromkeys(cells))
    if "" in found:
        row = cells.index("")
        raise sheet.error("every sample needs a condition, found an empty cell", row, place)
    chosen = list(wanted) or found
    if missing := [name for name in chosen if name not in found]:
        raise sheet.error(
            f"must name the condition {quoted(missing[0])}, found {joined(found)}", column=place
        )
    if len(chosen) != 2:
        remedy = (
            "give the table of the other condition too, or another column"
            if len(chosen) < 2
            else "name two of them by --conditions"
        )
        raise sheet.error(
            f"must name two conditions, found {len(chosen)}: {joined(chosen)}; {remedy}",
            column=place,
        )
    return {
        name: sheet.take([i for i, cell in enumerate(cells) if cell == name]) for name in chosen
    }


def read_conditions(
    path: str | Path, column: str, wanted: Sequence[str] = (), **options: Any
) -> dict[str, Expression]:
    """Read one table of samples x genes with a column of conditions.

    Everything else is as for `Expression.of`. The two conditions are in the order of `wanted`, or
    of the rows.

    Raises
    ------
    DataError
        As for `conditions_of` and `Expression.of`, or if the file is an AnnData file.
    """
    return conditions_in(path, column, wanted, Options.of(**options))


def conditions_in(
    path: str | Path, column: str, wanted: Sequence[str], options: Options
) -> dict[str, Expression]:
    """Read the conditions of one table with `options`; see `read_conditions`."""
    if Path(path).suffix.lower() == ".h5ad":
        raise DataError(
            "a column of conditions is read from text tables; write a file for each condition",
            path=path,
        )
    options.refuse_all_but(TAKES, "a table with a column of conditions")
    parts = conditions_of(open_sheet(path, options.sheet), column, wanted)
    options = replace(options, ignore=(*options.ignore, column))
    return {name: expression_in(part, options) for name, part in parts.items()}

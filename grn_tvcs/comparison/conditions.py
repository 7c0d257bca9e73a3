"""Preparation of two conditions: common genes, enough series, one scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grn_tvcs.comparison.permutations import MIN_SERIES, series_needed
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.join import refuse_different_scales, refuse_different_units, warn_of_steps
from grn_tvcs.expression.judge.names import MAY_BE_SERIES, NAMED
from grn_tvcs.expression.judge.roles import PART, Roles
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.read import read_parts
from grn_tvcs.expression.subset import FEWEST, subset_genes
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import option_name, option_words
from tvcs_core.files.display import joined, plural, quoted

MOST_CONDITIONS = 6  # that are compared, in 15 pairs
MIN_COMMON_GENES = 0.5  # fraction of the genes of the larger table


def with_common_genes(
    a: Expression, b: Expression, names: Sequence[str]
) -> tuple[Expression, Expression, tuple[str, ...]]:
    """Return both conditions with their common genes, and a note on genes left out.

    Raises
    ------
    ValueError
        If a condition has fewer than two series, fewer than half of the genes are common, or times
        or values have different units.
    """
    if np.array_equal(a.levels, b.levels):
        warn_user(f"{names[0]} and {names[1]} hold the same values, so nothing can differ")
    for name, part in zip(names, (a, b), strict=True):
        _refuse_few_series(name, part)
    refuse_different_units(names, (a, b))
    warn_of_steps(names, (a, b))
    common, cased = refuse_few_common(names, (a, b))
    most = max(len(a.genes), len(b.genes))
    if len(common) == most:
        _refuse_two_scales(names, a, b)
        return a, b, ()
    note = (
        f"{plural(len(common), 'gene is', 'genes are')} in both conditions; removed: "
        f"{len(a.genes) - len(common)} of {names[0]}, {len(b.genes) - len(common)} of {names[1]}"
        f"{cased}"
    )
    warn_user(note)
    first, second = (subset_genes(part, common) for part in (a, b))
    _refuse_two_scales(names, first, second)
    return first, second, (f"{note}.",)


def refuse_few_common(names: Sequence[str], parts: Sequence[Expression]) -> tuple[set[str], str]:
    """Return the common genes of two conditions, and a remark on those that differ in case."""
    a, b = parts
    common = set(a.genes) & set(b.genes)
    most = max(len(a.genes), len(b.genes))
    cased = _same_but_for_case([gene for gene in a.genes if gene not in common], b.genes)
    if len(common) < max(FEWEST, MIN_COMMON_GENES * most):
        raise ValueError(
            f"the conditions must share at least half of their genes, found {len(common)} of "
            f"{len(a.genes)} in {names[0]} and {len(b.genes)} in {names[1]} ({joined(a.genes)}; "
            f"there {joined(b.genes)}{cased}); use the same kind of gene names in both"
        )
    return common, cased


def _refuse_two_scales(names: Sequence[str], a: Expression, b: Expression) -> None:
    if a.scale and b.scale and a.scale != b.scale:
        raise ValueError(
            f"the conditions must have one scale, but {names[0]} is read as {a.scale} and "
            f"{names[1]} as {b.scale}; give both on one scale, or {option_name('scale')} if one "
            "was guessed wrongly"
        )
    refuse_different_scales(names, (a, b))


def _refuse_few_series(name: str, part: Expression) -> None:
    n = part.n_series
    if not n:
        raise ValueError(
            f"compare tests time series, but no sample of {name} has a time; infer a network of "
            "each condition and compare the two folders: grn-tvcs compare RUN_A RUN_B"
        )
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


def _same_but_for_case(names: Sequence[str], genes: Sequence[str]) -> str:
    """Describe names that differ in capitals alone."""
    known, lower = set(genes), {gene.lower() for gene in genes}
    same = [name for name in names if name not in known and name.lower() in lower]
    return f"; {joined(same)} would match if capitals did not count" if same else ""


def conditions_of(roles: Roles, wanted: Sequence[str] = ()) -> dict[str, Roles]:
    """Split samples by their column of conditions, in the order of `wanted` or of the rows.

    Raises
    ------
    DataError
        If the column does not name two conditions, or names more than `MOST_CONDITIONS` and
        `wanted` does not choose, or a condition of `wanted` is missing.
    """
    sheet, place = roles.sheet, roles.kinds.index(PART)
    cells = sheet.cells(place)
    found = list(dict.fromkeys(cells))
    if "" in found:
        row = cells.index("")
        raise sheet.error(
            "every sample needs a condition, found an empty cell: fill it, or remove the sample",
            row,
            place,
        )
    chosen = list(wanted) or found
    if missing := [name for name in chosen if name not in found]:
        raise sheet.error(
            f"must name the condition {quoted(missing[0])}, found {joined(found)}", column=place
        )
    lower = [name.lower() for name in chosen]
    if not wanted and (alike := [n for n in chosen if lower.count(n.lower()) > 1]):
        raise sheet.error(
            f"conditions must not differ in case alone, found {joined(alike)}: write them alike, "
            f"or name those that are compared by {option_name('conditions')}",
            column=place,
        )
    if not 2 <= len(chosen) <= MOST_CONDITIONS:
        remedy = (
            "give the table of the other condition too, or another column"
            if len(chosen) < 2
            else f"name some of them by {option_name('conditions')}"
        )
        raise sheet.error(
            f"must name 2 to {MOST_CONDITIONS} conditions, found {len(chosen)}: {joined(chosen)}; "
            f"{remedy}",
            column=place,
        )
    return {
        name: roles.take([i for i, cell in enumerate(cells) if cell == name]) for name in chosen
    }


def read_conditions(
    data: Any, column: str, wanted: Sequence[str] = (), **options: Any
) -> dict[str, Expression]:
    """Read the conditions of one table by a column that names the condition of each sample.

    It is a column of the table, of its sheet of samples or of ``obs``, or a row where genes stand
    in rows. Everything else is as for `Expression.of`. The conditions are those of `wanted` in this
    order, or all in the order of the samples.

    Raises
    ------
    DataError
        As for `conditions_of` and `Expression.of`.
    ValueError
        If the samples are cells with a file of pseudotimes, which has no such column.
    """
    return conditions_in(data, column, wanted, Options.of(**options))


def conditions_in(
    data: Any, column: str, wanted: Sequence[str], options: Options
) -> dict[str, Expression]:
    """Read the conditions of one table with `options`; see `read_conditions`."""
    if options.pseudotime is not None:
        raise ValueError(
            "a file of pseudotimes has no column of conditions; give a table and pseudotimes for "
            "each condition"
        )
    likely: dict[str, dict[str, Any]] = {}  # options that may separate series, by the column

    def split(roles: Roles) -> dict[str, Roles]:
        for j in _may_name_series(roles):
            likely[roles.sheet.heads[j]] = roles.more_series(j)
        return conditions_of(roles, wanted)

    parts = read_parts(data, options, column, split)
    few = [name for name, part in parts.items() if part.n_series == 1]
    if few and likely:
        first, *_ = likely.values()
        raise DataError(
            f"a condition must have at least {MIN_SERIES} series, but {few[0]} has 1; if "
            f"{joined(likely)} tells series apart, as of donors, give {option_words(first)}",
            path=str(data) if isinstance(data, str | Path) else "the data",
            remedies=likely.values(),
        )
    return parts


def _may_name_series(roles: Roles) -> list[int]:
    """Return places of columns whose names stand for series, such as donors."""
    return [
        j
        for j, (head, kind) in enumerate(zip(roles.sheet.heads, roles.kinds, strict=True))
        if kind not in (*NAMED, PART)
        and MAY_BE_SERIES.fullmatch(head)
        and len(set(roles.sheet.cells(j))) > 1
    ]

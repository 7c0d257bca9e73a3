"""Expression from a table of samples x genes: columns or falling times separate its series.

A sample without a time is in steady state; in a table without a time all are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import SECONDS, times_in, unit_notes
from grn_tvcs.expression.expression import Expression, describe_repeated, repeated
from grn_tvcs.expression.judge.cycles import refuse_cycles
from grn_tvcs.expression.judge.genes import (
    genes_by_name,
    genes_by_numbers,
    refuse_results,
    refuse_spreads,
    refuse_times,
)
from grn_tvcs.expression.judge.names import CLOCK, DATE, MAY_BE_SERIES, Names
from grn_tvcs.expression.judge.remarks import (
    warn_of_names,
    warn_of_same_genes,
    warn_of_samples,
    warn_of_thousands,
    warn_of_times,
)
from grn_tvcs.expression.judge.roles import LABELS, Roles
from grn_tvcs.expression.judge.samples import refuse_relations
from grn_tvcs.expression.judge.series import (
    Samples,
    Series,
    Times,
    averaged,
    check_series,
    refuse_without_series,
    series_of,
    warn_of_conditions,
    warn_of_no_average,
)
from grn_tvcs.expression.judge.shape import refuse_wrong_shape
from grn_tvcs.expression.missing_values import are_words, fill_gaps, gap_notes, without_gaps
from grn_tvcs.expression.scales import counts_before_averaging
from grn_tvcs.expression.sheet import HEAD, Sheet
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import option_words
from tvcs_core.files.display import joined, plural, quoted

ON, OFF = ("1", "yes", "y", "true", "on"), ("0", "no", "n", "false", "off")  # of perturbations

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]


def expression_in(roles: Roles) -> Expression:
    """Return the expression in a table, the roles of whose columns are known."""
    sheet, missing = roles.sheet, roles.options.missing
    genes, values, times, unit = _contents(roles)
    if np.isnan(times).all():
        refuse_without_series(roles)
    samples = Samples(roles, times)
    names, rows = series_of(samples)
    notes = unit_notes(unit) if names else ()
    if names and ("replicate" in roles.kinds or roles.options.replicates == "unpaired"):
        notes += ("Replicates were taken as series of their own.",)
    rest = np.flatnonzero(np.isnan(times)).tolist()
    named: list[str | None] = [*names, *(None for _ in rest)]
    rows = [*rows, *rest]
    if missing != "error":
        if not np.isnan(values).any():
            warn_user(
                f"{sheet.path}: no value is missing, so "
                f"{option_words({'missing': missing})} changes nothing"
            )
        n_all = len(rows)
        rows, named = without_gaps(values, rows, named, only_empty=missing != "drop")
        notes = gap_notes(values, rows, named, n_all, missing) + notes
    names = [name for name in named if name is not None]
    n = len(names)  # the samples of series; those in steady state stand behind them
    series = Series(names, rows[:n])
    if n:
        check_series(samples, series)
        warn_of_conditions(samples, series)
        warn_of_no_average(samples, series)
    elif not rows:
        raise sheet.error("must have a sample with all levels, found none")
    values = values[rows]
    if not n:
        refuse_relations(sheet.path, values)
    if missing == "interpolate":
        fill_gaps(values, times[rows], named)
    own = np.unique(np.array(sheet.rows)[rows], return_index=True)[1]  # one may be in two series
    warn_of_samples(sheet.path, values if own.size == len(values) else values[np.sort(own)])
    on = perturbed_in(samples)
    if on is not None:
        on = _perturbed_of(on, samples, series)
    series, levels_of_series, note = averaged(samples, series, values[:n])
    scale, why = counts_before_averaging(values) if note else (None, None)
    return Expression(
        levels_of_series,
        times[series.rows],
        tuple(series.names),
        tuple(sheet.heads[j] for j in genes),
        on,
        notes=(*notes, *([note] if note else ())),
        steady_values=values[n:],
        scale=scale,
        guessed_from=why,
    )


def _contents(roles: Roles) -> tuple[list[int], Values, Times, str]:
    """Return the columns of genes, their levels (samples, genes), times and the unit of times."""
    sheet, kinds, options = roles.sheet, roles.kinds, roles.options
    path, time = sheet.path, roles.place("time")
    free = [j for j, kind in enumerate(kinds) if kind not in LABELS]
    columns = Names(path, [sheet.heads[j] for j in free], options.keep)
    refuse_results(columns)
    refuse_spreads(columns)
    refuse_wrong_shape(roles)
    has_time = time is not None
    is_gene = genes_by_name(columns, has_time=has_time)
    genes = [j for j, is_one in zip(free, is_gene, strict=True) if is_one]
    _check_header(sheet, genes)
    times, unit = (np.full(len(sheet), np.nan), "") if time is None else times_in(sheet, time)
    is_strict = options.missing == "error"
    if has_time:
        _refuse_words(roles, genes)
    values = sheet.numbers(genes, refuse=is_strict)
    if not is_strict:
        genes, values = _with_some_value(sheet, genes, values)
    genes, values = _judged(roles, genes, values)
    names = [sheet.heads[j] for j in genes]
    refuse_cycles(path, names, values)
    if (sample := roles.place("sample")) is not None:
        refuse_cycles(path, sheet.cells(sample), values)
    warn_of_names(path, names)
    warn_of_same_genes(path, names, values)
    warn_of_thousands(path, values)
    return genes, values, times, unit


def _judged(roles: Roles, genes: list[int], values: Values) -> tuple[list[int], Values]:
    """Places and levels of the columns of numbers that are genes."""
    sheet, sample = roles.sheet, roles.place("sample")
    columns = Names(sheet.path, [sheet.heads[j] for j in genes], roles.options.keep)
    if "time" not in roles.kinds:
        if sheet.grid.may_hold_times:
            refuse_times(columns, values)
        if sample is not None:
            warn_of_times(sheet.path, sheet.cells(sample), of_obs=not sheet.grid.may_hold_times)
    is_gene = genes_by_numbers(columns, values)
    return [j for j, is_one in zip(genes, is_gene, strict=True) if is_one], values[:, is_gene]


def _refuse_words(roles: Roles, genes: Sequence[int]) -> None:
    """Refuse a column of words that may separate series."""
    sheet = roles.sheet
    first = sheet.row(0) if len(sheet) else [""] * len(sheet.heads)  # all cells of a column cost
    for j in genes:
        head, has_unit = sheet.heads[j], first[j].lower() in SECONDS
        if has_unit and {cell.lower() for cell in sheet.cells(j)} <= {*SECONDS}:
            raise sheet.error(
                f"holds units of time ({quoted(sheet.cells(j)[0])}): write them behind the times, "
                "such as 30 min, and leave the column out",
                column=j,
            )
        if not MAY_BE_SERIES.fullmatch(head) or len(sheet) < 2 or not are_words(sheet.cells(j)):
            continue
        remedies = roles.more_series(j), {"ignore": (head,)}
        series, none = map(option_words, remedies)
        raise sheet.error(
            f"must be a number, found {quoted(sheet.cells(j)[0])}; as no cell is: if it tells "
            f"series apart, give {series}, and if the column is no gene, {none}",
            0,
            j,
            remedies=remedies,
        )


def _check_header(sheet: Sheet, genes: list[int]) -> None:
    header = sheet.heads
    if not genes:
        raise sheet.error(
            f"must have a column for each gene, found only {joined(sheet.heads)}", row=HEAD
        )
    for j in genes:
        if not header[j]:
            without = {"ignore": (str(j + 1),)}
            raise sheet.error(
                "a gene must have a name, found an empty cell; if the column is none, give "
                f"{option_words(without)}",
                HEAD,
                j,
                remedies=[without],
            )
    names = [header[j] for j in genes]
    if twice := describe_repeated("gene names", names):
        remedy = (
            "rename or remove them, or average what has one name (R: limma::avereps, pandas: "
            "groupby and mean)"
        )
        if any(map(CLOCK.fullmatch, sheet.cells(0))):
            turn = {"genes_in_rows": True}
            raise sheet.error(
                f"{twice}; a row of times stands below, so they seem to be samples: give "
                f"{option_words(turn)}",
                row=HEAD,
                remedies=[turn],
            )
        if any(map(DATE.fullmatch, repeated(names))):
            remedy = (
                "a spreadsheet made dates of names such as MARCH1 and MARC1, so these may be "
                "different genes: do not average them, take the names from the source of the table"
            )
        raise sheet.error(f"{twice}; {remedy}", row=HEAD)


def perturbed_in(samples: Samples) -> Flags | None:
    """Whether each sample was perturbed; False in steady state, where the cell is free."""
    sheet, is_rest = samples.sheet, np.isnan(samples.times)
    column = samples.roles.place("perturbed")
    if column is None or is_rest.all():
        return None
    cells = [cell.lower() for cell in sheet.cells(column)]
    for i, cell in enumerate(sheet.cells(column)):
        if cells[i] not in (*ON, *OFF) and not is_rest[i]:
            raise sheet.error(
                f"must be 0 or 1 (or no and yes, false and true), found {quoted(cell)}", i, column
            )
    on = np.array([cell in ON for cell in cells]) & ~is_rest
    if on[~is_rest].all() or not on.any():
        warn_user(f"{sheet.path}: the column perturbed never changes and is not used")
        return None
    return on


def _perturbed_of(on: Flags, samples: Samples, series: Series) -> Flags:
    """The same for the samples of series, of which some may be means."""
    flags = averaged(samples, series, on[series.rows].astype(np.float64)[:, None])[1][:, 0]
    if not np.isin(flags, (0.0, 1.0)).all():
        raise samples.sheet.error(
            "samples of one time and series must agree in it, to be averaged",
            column=samples.roles.place("perturbed"),
        )
    return np.asarray(flags == 1.0)


def _with_some_value(
    sheet: Sheet, columns: list[int], values: NDArray[np.float64]
) -> tuple[list[int], NDArray[np.float64]]:
    """Leave out genes of these columns without a value in any sample, with a warning."""
    is_known = np.asarray(~np.isnan(values).all(axis=0))
    if is_known.all():
        return list(columns), values
    gone = [sheet.heads[j] for j, is_one in zip(columns, is_known, strict=True) if not is_one]
    if not is_known.any():
        raise sheet.error("a gene must have a value in some sample, but none has")
    warn_user(
        f"{sheet.path}: left out {plural(len(gone), 'gene')} without any value: {joined(gone)}"
    )
    return [j for j, is_one in zip(columns, is_known, strict=True) if is_one], values[:, is_known]

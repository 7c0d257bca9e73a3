"""Expression from a table of samples x genes: columns or falling times separate its series.

A sample without a time is in steady state; in a table without a time all are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import SECONDS, times_in, unit_notes
from grn_tvcs.expression.expression import Expression, describe_repeated, repeated
from grn_tvcs.expression.judge.cycles import refuse_cycles
from grn_tvcs.expression.judge.genes import (
    genes_by_name,
    genes_by_numbers,
    refuse_results,
    refuse_samples,
    refuse_spreads,
    refuse_times,
)
from grn_tvcs.expression.judge.names import CLOCK, DATE, MAY_BE_SERIES, Names
from grn_tvcs.expression.judge.remarks import (
    copied_series,
    warn_of_names,
    warn_of_same_genes,
    warn_of_samples,
    warn_of_thousands,
    warn_of_times,
)
from grn_tvcs.expression.judge.roles import LABELS, Roles
from grn_tvcs.expression.judge.samples import refuse_relations, refuse_unlike
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
from grn_tvcs.expression.missing_values import are_words, fill_gaps, remedy_of, without_gaps
from grn_tvcs.expression.scales import counts_before_averaging
from grn_tvcs.expression.sheet import HEAD, Sheet
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import option_name, option_words
from tvcs_core.files.display import joined, plural, quoted
from tvcs_core.files.tables import is_number

MOST_SAMPLE_ROWS = 9  # above the genes, of a table with genes in rows
ON, OFF = ("1", "yes", "y", "true", "on"), ("0", "no", "n", "false", "off")  # of perturbations

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]


def expression_in(roles: Roles) -> Expression:
    """Return the expression in a table, the roles of whose columns are known."""
    sheet = roles.sheet
    genes, values, times, unit = _contents(roles)
    if np.isnan(times).all():
        refuse_without_series(roles)
    samples = Samples(roles, times)
    series, rest, notes = _in_order(samples, values, unit)
    rows, n = [*series.rows, *rest], len(series.rows)
    if n:
        check_series(samples, series)
        warn_of_conditions(samples, series)
        warn_of_no_average(samples, series)
    elif not rows:
        raise sheet.error("must have a sample with all levels, found none")
    values = values[rows]
    if not n:
        refuse_relations(sheet.path, values)
    if roles.options.missing == "interpolate":
        fill_gaps(values, times[rows], [*series.names, *(None for _ in rest)])
    own = np.unique(np.array(sheet.rows)[rows], return_index=True)[1]  # one may be in two series
    at: slice | NDArray[np.intp] = slice(None) if own.size == len(values) else np.sort(own)
    warn_of_samples(sheet.path, values[at], _are_copied(series, values)[at])
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
        identifiers=sheet.identifiers,
    )


def _in_order(
    samples: Samples, values: Values, unit: str
) -> tuple[Series, list[int], tuple[str, ...]]:
    """Return the samples of series, rows in steady state, and notes, without those with gaps."""
    sheet, options = samples.sheet, samples.roles.options
    series, rest = series_of(samples), np.flatnonzero(np.isnan(samples.times)).tolist()
    notes = unit_notes(unit) if series.names else ()
    is_replicated = "replicate" in samples.roles.kinds or options.replicates == "unpaired"
    if series.names and is_replicated:
        notes += ("Replicates were taken as series of their own.",)
    if options.missing == "error":
        return series, rest, notes
    rows = [*series.rows, *rest]
    is_rest = np.isnan(samples.times[rows])
    is_kept, of_gaps = without_gaps(sheet.path, values[rows], is_rest, options.missing)
    kept = set(compress(rows, is_kept))
    pairs = [pair for pair in zip(*series, strict=True) if pair[1] in kept]
    series = Series([name for name, _ in pairs], [i for _, i in pairs])
    return series, [i for i in rest if i in kept], of_gaps + notes


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
    if has_time or sheet.is_turned:
        _refuse_words(roles, genes)
    values = sheet.numbers(genes, refuse=is_strict)
    if not is_strict:
        genes, values = _with_some_value(sheet, genes, values)
    genes, values = _judged(roles, genes, values)
    names = [sheet.heads[j] for j in genes]
    refuse_cycles(path, names, values)
    if (sample := roles.place("sample")) is not None:
        refuse_cycles(path, sheet.cells(sample), values)
        if not sheet.is_turned:
            refuse_samples(Names(path, sheet.cells(sample)))
        if sheet.is_turned and not sheet.is_joined:
            refuse_unlike(Names(path, sheet.cells(sample), options.keep), values.T)
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
    """Refuse words that may separate series: of a column of such a name, of any of a first row."""
    sheet = roles.sheet
    first = [] if sheet.is_turned or not len(sheet) else sheet.row(0)  # all cells of a column cost
    above = genes[:MOST_SAMPLE_ROWS] if sheet.is_turned else []
    for j in genes:
        head = sheet.heads[j]
        may_be = j in above or MAY_BE_SERIES.fullmatch(head)
        if not may_be and (sheet.is_turned or is_number(first[j])):
            continue
        cells = sheet.cells(j)
        if {cell.lower() for cell in cells} <= {*SECONDS}:
            raise sheet.error(
                f"holds units of time ({quoted(cells[0])}): write them behind the times, such as "
                "30 min, and leave the column out",
                column=j,
            )
        if not may_be or len(sheet) < 2 or not are_words(cells) or any(map(remedy_of, cells)):
            continue
        remedies = roles.more_series(j), {"ignore": (head,)}
        series, none = map(option_words, remedies)
        raise sheet.error(
            f"must be a number, found {quoted(cells[0])}; as no cell of {quoted(head)} is: if it "
            f"tells series apart, give {series}, and if it is no gene, {none}",
            0,
            j,
            remedies=remedies,
        )


def _check_header(sheet: Sheet, genes: list[int]) -> None:
    header = sheet.heads
    if not genes:
        found = joined(name or f"column {j}" for j, name in enumerate(sheet.heads, start=1))
        raise sheet.error(
            f"must have a column for each gene, found only {found}; a sheet of samples is for "
            f"{option_name('samples')}, beside the levels",
            row=HEAD,
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


def _are_copied(series: Series, values: Values) -> Flags:
    """Return which samples are of a series whose values are all those of an earlier one."""
    places: dict[str, list[int]] = {}
    for i, name in enumerate(series.names):
        places.setdefault(name, []).append(i)
    copies = copied_series((name, values[at]) for name, at in places.items())
    copied = np.zeros(len(values), dtype=bool)
    copied[: len(series.names)] = [name in copies for name in series.names]
    return copied


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

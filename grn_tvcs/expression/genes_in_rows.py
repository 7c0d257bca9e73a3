"""Sheets with genes in rows, turned: the heads of their columns are samples, and may hold times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grn_tvcs.expression.clock import repeats_in_header, repeats_note, times_in_header
from grn_tvcs.expression.judge.genes import refuse_results, refuse_spreads
from grn_tvcs.expression.judge.names import CLOCK, NAMED, OF_GENES, Names, is_of_samples
from grn_tvcs.expression.judge.roles import LABELS, Roles, expanded, place_of, unknown_name
from grn_tvcs.expression.judge.samples import (
    MOST_LOOKED_AT,
    refuse_two_units,
    refuse_unlike,
    samples_by_name,
)
from grn_tvcs.expression.missing_values import MARKS, are_words, remedy_of
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sheet import Column, Sheet
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import option_words
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.tables import is_number

MAX_SAMPLE_ROWS = 10  # rows that tell of the samples, above the genes
NEITHER = "neither a column nor a row"
FIRST = "Time"  # the heading of a first row that holds times


def without(sheet: Sheet, ignore: Sequence[str]) -> Sheet:
    """Leave out the columns and rows of these names.

    Raises
    ------
    DataError
        If a name is neither.
    """
    if not ignore:
        return sheet
    places = {name: sheet.find(name) for name in expanded(ignore, sheet.heads)}
    kept = sheet.without({place for place in places.values() if place is not None})
    names = kept.cells(0)
    rest = expanded([name for name, place in places.items() if place is None], names)
    lower = {name.lower() for name in names}
    for name in rest:
        if name.lower() not in lower:
            raise unknown_name(sheet.path, NEITHER, name, "ignore", [*kept.heads, *names])
    gone = {name.lower() for name in rest}
    if gone:
        kept = kept.take([i for i, name in enumerate(names) if name.lower() not in gone])
    kept.check_names()
    return kept


def kept_among(options: Options, sheet: Sheet, made: Sheet) -> Options:
    """Return the options for a turned sheet: a name to keep is of a sample or of a gene."""
    known = [*sheet.heads, *made.heads]
    lower = {name.lower() for name in known}
    if strangers := [name for name in options.keep if name.lower() not in lower]:
        raise unknown_name(sheet.path, NEITHER, strangers[0], "keep", known)
    genes = {name.lower() for name in made.heads}
    return replace(options, keep=tuple(name for name in options.keep if name.lower() in genes))


def roles_in_rows(sheet: Sheet, options: Options, part: str | None = None) -> Roles:
    """Turn a sheet of genes x samples, and find the roles of its rows; its header may hold times.

    Rows named in `LABELS` or by `options` are no genes.
    """
    sheet.check_names()
    whole = without(sheet, options.ignore)
    sheet = of_samples(whole, options.keep, options.gene_column)
    corner, *samples = sheet.heads
    wanted = (options.time_column, options.sample_column, *options.series_column, part)
    labels = {*NAMED, *(name.lower() for name in wanted if name)} - {*map(str.lower, options.keep)}
    clocks = {"time", (options.time_column or "time").lower()}
    has_time = any(name.lower() in clocks for name in (corner, *sheet.cells(0)))
    is_times = not has_time and _is_times(sheet)
    made = sheet.turned(FIRST if is_times else corner if corner.lower() in labels else "sample")
    if is_times and (repeats := repeats_in_header(samples)) is not None:
        times, numbers = repeats
        warn_user(repeats_note(sheet.path, times, numbers))
        first = replace(made.columns[0], texts=times)
        made = replace(made, columns=[Column("replicate", 0, numbers), first, *made.columns[1:]])
    roles = Roles.of(made, replace(kept_among(options, whole, made), ignore=()), part)
    rows = enumerate(zip(sheet.cells(0), roles.kinds[-len(sheet) :], strict=True))
    genes = [
        i
        for i, (name, kind) in rows
        if kind not in LABELS and (not is_of_samples(name) or name in options.keep)
    ]
    _refuse_words(sheet, genes[: MAX_SAMPLE_ROWS - 1])
    if not is_times:
        some = sheet.take(genes[:: -(-len(genes) // MOST_LOOKED_AT) or 1])
        values = some.numbers(range(1, len(sheet.columns)))
        refuse_unlike(Names(sheet.path, samples, options.keep), values)
    return roles


def of_samples(
    sheet: Sheet,
    keep: Sequence[str] = (),
    gene_column: str | None = None,
    *,
    has_sample_sheet: bool = False,
) -> Sheet:
    """Leave out columns of annotation; the best column of names, or the given one, comes first.

    With `has_sample_sheet`, a sheet of samples names the columns of samples.

    Raises
    ------
    DataError
        If columns are results of tests, or hold levels in two units.
    """
    if gene_column is not None:
        sheet = _named_by(sheet, gene_column, keep)
    columns = Names(sheet.path, sheet.heads[1:], keep)
    is_sample = samples_by_name(columns)
    if not has_sample_sheet:
        refuse_results(columns)
        refuse_spreads(columns)
        refuse_two_units(Names(sheet.path, columns.at(is_sample)))
    return _named(sheet.without((np.flatnonzero(~is_sample) + 1).tolist()), keep)


def _named(sheet: Sheet, keep: Sequence[str]) -> Sheet:
    """Name genes by a second column of names, or by the first if it is empty or repeated."""
    heads, more = sheet.heads, _of_names(sheet, keep)
    if not more or (not OF_GENES.fullmatch(heads[0]) and heads[0]):
        return sheet
    best = next((j for j in more if re.search("name|symbol", heads[j], re.IGNORECASE)), None)
    if best is None:
        warn_user(f"{sheet.path}: left out {joined(heads[j] for j in more)}, names and no samples")
        return sheet.without(more)
    made, n_other = _called(sheet, best)
    first = heads[0] or "the first column"
    others = f"; {n_other} of {len(sheet)} by {first}, for it is empty or comes twice there"
    warn_user(
        f"{sheet.path}: genes are named by {heads[best]}{others if n_other else ''}; to name all "
        f"by {first}, give {option_words({'gene_column': heads[0] or '1'})}"
    )
    return made.without(more)


def _named_by(sheet: Sheet, wanted: str, keep: Sequence[str]) -> Sheet:
    """Name genes by a column that the user names, and leave out others of names."""
    place = place_of(sheet, wanted, "gene_column")
    made, n_other = _called(sheet, place)
    if n_other:
        first = sheet.heads[0] or "the first column"
        warn_user(
            f"{sheet.path}: {n_other} of {len(sheet)} genes are named by {first}, for "
            f"{sheet.heads[place]} is empty or comes twice"
        )
    return made.without({*_of_names(sheet, keep), place} - {0})


def _of_names(sheet: Sheet, keep: Sequence[str]) -> list[int]:
    """Return the places of further columns of names of genes."""
    return [
        j
        for j, name in enumerate(sheet.heads[1:], start=1)
        if OF_GENES.fullmatch(name)
        and name not in keep
        and not any(
            is_number(c) and c.lower() not in MARKS for c in sheet.cells(j)[:MAX_SAMPLE_ROWS]
        )
    ]


def _called(sheet: Sheet, place: int) -> tuple[Sheet, int]:
    """Name genes by a column, by the first where that is empty or repeated; count the latter."""
    if not place:
        return sheet, 0
    first, better = sheet.cells(0), sheet.cells(place)
    count = Counter(better)
    names = [b if b and count[b] == 1 else a for a, b in zip(first, better, strict=True)]
    n_other = sum(a != b for a, b in zip(names, better, strict=True))
    column = replace(sheet.columns[0], texts=names)
    return replace(sheet, columns=[column, *sheet.columns[1:]]), n_other


def _refuse_words(sheet: Sheet, rows: Sequence[int]) -> None:
    """Refuse a row of words: it describes samples and is no gene."""
    for i in rows if len(sheet.columns) > 2 else ():
        name, *levels = sheet.row(i)
        if not are_words(levels) or any(map(remedy_of, levels)):
            continue
        series, ignore = {"series_column": (name,)}, {"ignore": (name,)}
        raise sheet.error(
            f"must be a number, found {quoted(levels[0])}; as no cell of {quoted(name)} is: if "
            f"it tells series apart, give {option_words(series)}, and if it is no gene, "
            f"{option_words(ignore)}",
            i,
            1,
            remedies=[series, ignore],
        )


def _is_times(sheet: Sheet) -> bool:
    """Whether the heads are times; numbers that may count the samples are pointed out."""
    corner, *names = sheet.heads
    found = times_in_header(names)
    if repeats_in_header(names) is not None:
        return True
    if found is None and CLOCK.fullmatch(corner):
        return True
    if found is None:
        warn_user(
            f"{sheet.path}: heads of samples count from {names[0]} to {names[-1]}, taken for "
            "numbers of steady-state samples; where these are times, call the first head Time"
        )
    return bool(found)

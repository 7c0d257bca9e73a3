"""Sheets with genes in rows, turned: the heads of their columns are samples, and may hold times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grn_tvcs.expression.clock import (
    read_times,
    repeats_in_header,
    repeats_note,
    rise_like_times,
    times_in_header,
)
from grn_tvcs.expression.judge.genes import refuse_results, refuse_spreads
from grn_tvcs.expression.judge.names import CLOCK, NAMED, OF_GENES, TIME_WITH_UNIT, Names
from grn_tvcs.expression.judge.roles import Roles, counts_rows, expanded, place_of, unknown_name
from grn_tvcs.expression.judge.same_names import Identifiers
from grn_tvcs.expression.judge.samples import refuse_two_units, samples_by_name
from grn_tvcs.expression.judge.shape import BARCODE, refuse_edges
from grn_tvcs.expression.missing_values import MARKS
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sheet import HEAD, Column, Sheet
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import option_words
from tvcs_core.files.display import joined
from tvcs_core.files.tables import is_number

FEW_OTHERS = 4  # a part of all heads at most, beside times
MOST_ROWS_READ = 10  # rows by which a column is one of names
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


def check_kept(keep: Sequence[str], sheet: Sheet, made: Sheet) -> None:
    """Refuse a name to keep that is neither of a sample nor of a gene of a turned sheet."""
    known = [*sheet.heads, *made.heads]
    lower = {name.lower() for name in known}
    if strangers := [name for name in keep if name.lower() not in lower]:
        raise unknown_name(sheet.path, NEITHER, strangers[0], "keep", known)


def roles_in_rows(sheet: Sheet, options: Options, part: str | None = None) -> Roles:
    """Turn a sheet of genes x samples, and find the roles of its rows; its header may hold times.

    Rows named in `LABELS` or by `options` are no genes.
    """
    sheet.check_names()
    whole = without(sheet, options.ignore)
    sheet = of_samples(whole, options.keep, options.gene_column)
    corner, *samples = sheet.heads
    _refuse_turned(sheet, options)
    wanted = (options.time_column, options.sample_column, *options.series_column, part)
    labels = {*NAMED, *(name.lower() for name in wanted if name)} - {*map(str.lower, options.keep)}
    clocks = {"time", (options.time_column or "time").lower()}
    rows = sheet.cells(0)
    has_time = any(name.lower() in clocks for name in (corner, *rows))
    has_time = has_time or any(map(TIME_WITH_UNIT.fullmatch, rows))
    is_times = not has_time and _is_times(sheet, options.keep)
    made = sheet.turned(FIRST if is_times else corner if corner.lower() in labels else "sample")
    if is_times and (repeats := repeats_in_header(samples)) is not None:
        times, numbers = repeats
        warn_user(repeats_note(sheet.path, times, numbers))
        first = replace(made.columns[0], texts=times)
        made = replace(made, columns=[Column("replicate", 0, numbers), first, *made.columns[1:]])
    check_kept(options.keep, whole, made)
    return Roles.of(made, replace(options, ignore=()), part)


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
    is_named = len(sheet.columns) > 2 and OF_GENES.fullmatch(sheet.heads[1])
    if gene_column is None and is_named and counts_rows(sheet, 0):
        sheet = sheet.without({0})  # numbers of rows, before the names of genes
    sheet = _named(sheet, keep, gene_column)
    columns = Names(sheet.path, sheet.heads[1:], keep)
    is_sample = samples_by_name(columns)
    if not has_sample_sheet:
        refuse_results(columns)
        refuse_spreads(columns)
        refuse_two_units(Names(sheet.path, columns.at(is_sample)))
    return sheet.without((np.flatnonzero(~is_sample) + 1).tolist())


def _named(sheet: Sheet, keep: Sequence[str], wanted: str | None) -> Sheet:
    """Name genes by the column that is wanted, else by a second one of names.

    The first column names those whose name there is empty or repeated. Genes are also known by
    their names in the other columns.
    """
    heads, first = sheet.heads, sheet.cells(0)
    others = {
        j: cells
        for j, name in enumerate(heads)
        if j and OF_GENES.fullmatch(name) and name not in keep
        if not _holds_numbers(cells := sheet.cells(j))
    }
    if wanted is not None:
        best = place_of(sheet, wanted, "gene_column")
        others.setdefault(best, sheet.cells(best))
    elif not others or (heads[0] and not OF_GENES.fullmatch(heads[0])):
        return sheet
    else:
        best = next((j for j in others if re.search("name|symbol", heads[j], re.IGNORECASE)), 0)
        if not best:
            left = joined(heads[j] for j in others)
            warn_user(f"{sheet.path}: left out {left}, names and no samples")
    others[0] = first
    count = Counter(others[best])
    names = [
        name if not best or (name and count[name] == 1) else own
        for name, own in zip(others[best], first, strict=True)
    ]
    n_other = sum(a != b for a, b in zip(names, others[best], strict=True))
    if n_other or (wanted is None and best):
        by_first = f"by {heads[0] or 'the first column'}"
        some = f"; {n_other} of {len(sheet)} {by_first}, for it is empty or comes twice there"
        remedy = option_words({"gene_column": heads[0] or "1"})
        warn_user(
            f"{sheet.path}: genes are named by {heads[best]}{some if n_other else ''}"
            f"{'' if wanted else f'; to name all {by_first}, give {remedy}'}"
        )
    known = sorted(others.keys() - {best})
    pairs = {
        (one, gene)
        for j in known
        for one, gene in zip(others[j], names, strict=True)
        if one.lower() not in ("", *MARKS)
    }
    identifiers = Identifiers(
        tuple(heads[j] or "the first column" for j in known), frozenset(pairs)
    )
    column = replace(sheet.columns[0], texts=names) if best else sheet.columns[0]
    columns = [column, *(sheet.columns[j] for j in range(1, len(heads)) if j not in others)]
    return replace(sheet, columns=columns, identifiers=identifiers)


def _holds_numbers(cells: Sequence[str]) -> bool:
    """Whether a number is among the first cells, beside marks of missing values."""
    return any(is_number(cell) and cell.lower() not in MARKS for cell in cells[:MOST_ROWS_READ])


def _refuse_turned(sheet: Sheet, options: Options) -> None:
    """Refuse columns that are called as facts of samples, and levels in place of names of genes."""
    refuse_edges(sheet)
    heads = [name for name in sheet.heads[1:] if name not in options.keep]
    clocks = [name for name in heads if CLOCK.fullmatch(name) and read_times([name]) is None]
    if len(clocks) > max(1, len(heads) / 2):
        clocks = []  # time_wt_0, time_wt_5, ... are samples
    facts = [name for name in heads if name.lower() in NAMED or name in clocks]
    facts = [name for name in facts if not _holds_levels(sheet, name)]
    names = sheet.cells(0)
    leave = f"leave {option_words({'genes_in_rows': True})} out"
    otherwise = (
        f"{leave} if samples stand in rows, and if they name genes give "
        f"{option_words({'gene_column': sheet.heads[0] or '1'})}"
    )
    is_of_genes = options.gene_column is not None or OF_GENES.fullmatch(sheet.heads[0])
    if not is_of_genes and all(map(BARCODE.fullmatch, names)):
        raise sheet.error(
            f"the first column must name genes, found the barcodes of cells {joined(names[:3])}: "
            f"{otherwise}",
            HEAD,
        )
    if facts:
        raise sheet.error(
            f"columns are called {joined(facts)}, so samples seem to stand in rows: {leave}, or if "
            f"they are names of samples, give {option_words({'keep': tuple(facts)})}",
            HEAD,
            remedies=[{"keep": tuple(facts)}],
        )
    if is_of_genes or not all(map(is_number, names)):
        return
    if not all(float(name).is_integer() for name in names):
        raise sheet.error(
            f"the first column must name genes, found the numbers {joined(names[:3])}: {otherwise}",
            HEAD,
        )


def _holds_levels(sheet: Sheet, name: str) -> bool:
    """Whether a column holds numbers as genes have, most of them different and none a time.

    So a sample may be called day or Condition, beside night or Control. Pseudotimes and hours may
    stand in any order, and be different.
    """
    cells = sheet.cells(sheet.heads.index(name))
    is_clock = CLOCK.fullmatch(name) and name.lower() != "day"
    if is_clock or not all(map(is_number, cells)):
        return False
    numbers = [float(cell) for cell in cells]
    is_whole = all(number.is_integer() for number in numbers)
    may_be_times = numbers == sorted(numbers) or rise_like_times(numbers, 3)
    return not (is_whole or may_be_times) and 2 * len({*numbers}) > len(numbers)


def _refuse_few_others(sheet: Sheet, keep: Sequence[str]) -> None:
    """Refuse heads that are times but for a few: these may tell of the genes."""
    names = sheet.heads[1:]
    others = tuple(name for name in names if read_times([name]) is None)
    times = [name for name in names if name not in others]
    if not 0 < FEW_OTHERS * len(others) <= len(names) or not times_in_header(times):
        return
    if unclear := tuple(name for name in others if name not in keep):
        remedies = {"ignore": unclear}, {"keep": unclear}
        none, rest = map(option_words, remedies)
        raise sheet.error(
            f"heads of samples are times, but for {joined(unclear)}: give {none} if it is no "
            f"sample, or {rest} if all samples are in steady state; a sample before "
            "the treatment may be called 0",
            HEAD,
            remedies=remedies,
        )


def _is_times(sheet: Sheet, keep: Sequence[str]) -> bool:
    """Whether the heads are times; numbers that may count the samples are pointed out."""
    corner, *names = sheet.heads
    found = times_in_header(names)
    if repeats_in_header(names) is not None:
        return True
    _refuse_few_others(sheet, keep)
    if found is None and CLOCK.fullmatch(corner):
        return True
    if found is None:
        warn_user(
            f"{sheet.path}: heads of samples count from {names[0]} to {names[-1]}, taken for "
            "numbers of steady-state samples; where these are times, call the first head Time"
        )
    return bool(found)

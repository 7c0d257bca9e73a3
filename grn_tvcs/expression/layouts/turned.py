"""Tables with genes in rows, turned; the first row may hold the times of the samples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from grn_tvcs.expression.clock import repeats_in_header, said_of_repeats, times_in_header
from grn_tvcs.expression.columns import LABELS, find_place, may_read
from grn_tvcs.expression.judge.genes import refuse_results
from grn_tvcs.expression.judge.names import CLOCK, OF_GENES, is_of_samples
from grn_tvcs.expression.judge.samples import refuse_two_units, refuse_unlike, samples_by_name
from grn_tvcs.expression.missing_values import MARKS_OF_LEVELS, numbers_with_gaps
from grn_tvcs.expression.opening import without_columns
from grn_tvcs.expression.options import Options, option_words
from grn_tvcs.expression.warned import warn_user
from tvcs_core.files.rows import Rows
from tvcs_core.files.shown import listed, shown
from tvcs_core.files.tables import Table, is_number

CELLS_AT_ONCE = 2**18  # of a table that is turned
MOST_TOLD = 10  # rows that tell of the samples, above the genes
FIRST = "Time"  # the heading of a first row that holds times


def turned(table: Table, options: Options, *, may_be_times: bool = False) -> Table:
    """Rows as columns; what is no number is found before, while its line is known.

    Parameters
    ----------
    table
        Of genes x samples; rows called as one of `LABELS`, or as `options` say, are no genes.
    options
        What the user says, of the rows of this table.
    may_be_times
        Whether the first row may hold times, where no row is called Time.
    """
    keep = options.keep
    table = of_samples(table, keep, is_told=not may_be_times)
    labels = _labels(table, options)
    is_label = [
        row[0].lower() in labels or (i > 0 and is_of_samples(row[0]) and row[0] not in keep)
        for i, row in enumerate(table.rows)
    ]
    has_time = any(row[0].lower() in _of_time(options) for row in table.rows)
    is_times = may_be_times and not has_time and _is_times(table)
    plain = (row for row, is_one in zip(table.rows, is_label, strict=True) if not is_one)
    header = [table.rows[0]] if is_label[0] else []
    lines = [n for n, is_one in zip(table.lines[1:], is_label[1:], strict=True) if not is_one]
    levels = replace(
        table, rows=Rows.of(chain(header, plain)), lines=[table.lines[0], *lines], after_blank=()
    )
    if may_be_times:  # no sheet tells of the samples
        _refuse_words(levels)
    values = numbers_with_gaps(
        levels, range(1, len(table.rows[0])), refuse=options.missing == "error"
    )
    if may_be_times and not is_times:
        refuse_unlike(table.path, table.rows[0][1:], values, keep)
    del levels, values
    corner = FIRST if is_times else "" if is_label[0] else "sample"
    made = _columns(table, corner)
    repeats = repeats_in_header(table.rows[0][1:]) if is_times else None
    if repeats is not None:
        made = _repeated(table.path, made, *repeats)
    rows = Rows.of(made)
    return replace(table, rows=rows, lines=[1] * len(rows), after_blank=bytes(len(rows)))


def of_samples(table: Table, keep: Sequence[str] = (), *, is_told: bool = False) -> Table:
    """Leave out columns that tell of genes; the one that names them best stands first.

    Where `is_told`, a sheet says which columns are samples.

    Raises
    ------
    LayoutError
        If columns are results of tests, or hold levels in two units.
    """
    names = table.rows[0][1:]
    is_sample = samples_by_name(table.path, names, keep)
    if not is_told:
        refuse_results(table.path, names, keep)
        refuse_two_units(
            table.path, [name for name, is_one in zip(names, is_sample, strict=True) if is_one]
        )
    gone = [j for j, is_one in enumerate(is_sample, start=1) if not is_one]
    return _named(without_columns(table, gone), keep)


def _named(table: Table, keep: Sequence[str]) -> Table:
    """Name genes by a second column of names, and by the first where it is empty or comes twice."""
    heads = table.rows[0]
    more = [
        j
        for j, name in enumerate(heads[1:], start=1)
        if OF_GENES.fullmatch(name) and name not in keep and not _has_numbers(table, j)
    ]
    if not more or (not OF_GENES.fullmatch(heads[0]) and heads[0]):
        return table
    of_symbols = [j for j in more if re.search("name|symbol", heads[j], re.IGNORECASE)]
    best = of_symbols[0] if of_symbols else 0
    if best:
        count = Counter(row[best] for row in table.rows[1:])
        names = [
            row[best] if row[best] and count[row[best]] == 1 else row[0] for row in table.rows[1:]
        ]
        n_other = sum(a != row[best] for a, row in zip(names, table.rows[1:], strict=True))
        warn_user(
            f"{table.path}: genes are named by {heads[best]}, {n_other} of {len(names)} by "
            f"{heads[0] or 'the first column'}, where it is empty or comes twice; to name all by "
            f"that, give {option_words({'ignore': heads[best]})}"
        )
        rows = ([name, *row[1:]] for name, row in zip([heads[0], *names], table.rows, strict=True))
        table = replace(table, rows=Rows.of(rows))
    else:
        warn_user(f"{table.path}: left out {listed(heads[j] for j in more)}, names and no samples")
    return without_columns(table, more)


def _has_numbers(table: Table, j: int) -> bool:
    return any(is_number(row[j]) for row in table.rows[1 : MOST_TOLD + 1] if j < len(row))


def _repeated(
    path: str, made: Iterator[list[str]], times: list[str], repeats: list[str]
) -> Iterator[list[str]]:
    """Samples with the time before their tail, and the number of their repeat."""
    warn_user(said_of_repeats(path, times, repeats))
    yield ["replicate", *next(made)]
    for row, time, repeat in zip(made, times, repeats, strict=True):
        yield [repeat, time, *row[1:]]


def _refuse_words(levels: Table) -> None:
    """Refuse a row among the first that tells of the samples in words, and is no gene."""
    for i, row in enumerate(levels.rows[:MOST_TOLD]):
        if not i or len(row) < 3 or any(is_number(cell) for cell in row[1:]):
            continue
        if all(cell.lower() in MARKS_OF_LEVELS for cell in row[1:]):
            continue
        series, ignore = {"series_column": (row[0],)}, {"ignore": (row[0],)}
        raise may_read(
            levels.error(
                f"must be a number, found {shown(row[1])}; as no cell of {shown(row[0])} is: if it "
                f"tells series apart, give {option_words(series)}, and if it is no gene, "
                f"{option_words(ignore)}",
                i,
                1,
            ),
            series,
            ignore,
        )


def _labels(table: Table, options: Options) -> set[str]:
    """Names of rows that are no genes, in small letters."""
    names = [row[0] for row in table.rows]
    wanted = [options.time_column, options.sample_column, *options.series_column]
    places = (find_place(names, name) for name in wanted if name is not None)
    labels = {*LABELS, *(names[place].lower() for place in places if place is not None)}
    return labels - {name.lower() for name in options.keep}


def _of_time(options: Options) -> tuple[str, ...]:
    return ("time",) if options.time_column is None else ("time", options.time_column.lower())


def _is_times(table: Table) -> bool:
    """Whether the first row holds times; numbers that may count the samples are pointed out."""
    corner, *names = table.rows[0]
    found = times_in_header(names)
    if repeats_in_header(names) is not None:
        return True
    if found is None and CLOCK.fullmatch(corner):
        return True
    if found is None:
        warn_user(
            f"{table.path}: the first row counts from {names[0]} to {names[-1]}, taken for numbers "
            "of samples at rest; where these are times, call its first cell Time"
        )
    return bool(found)


def _columns(table: Table, corner: str) -> Iterator[list[str]]:
    """The columns of a table, the first with another first cell; some of them at a time."""
    at_once = max(1, max(CELLS_AT_ONCE, table.n_bytes // 16) // len(table.rows))
    for start in range(0, len(table.rows[0]), at_once):
        part = [row[start : start + at_once] for row in table.rows]
        for j, column in enumerate(zip(*part, strict=True), start=start):
            yield [corner, *column[1:]] if j == 0 and corner else list(column)

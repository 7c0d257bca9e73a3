"""Tables with genes in rows, turned; the first row may hold the times of the samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from grn_tvcs.expression.clock import CLOCK, times_in_header
from grn_tvcs.expression.columns import (
    ANNOTATION,
    LABELS,
    PLACES,
    Columns,
    find_place,
    may_read,
    option_words,
)
from grn_tvcs.expression.missing_values import MARKS_OF_LEVELS, numbers_with_gaps
from grn_tvcs.expression.warned import warn_user
from tvcs_core.files.rows import Rows
from tvcs_core.files.shown import listed, shown
from tvcs_core.files.tables import Table, is_number

CELLS_AT_ONCE = 2**18  # of a table that is turned
MOST_TOLD = 10  # rows that tell of the samples, above the genes
FIRST = "Time"  # the heading of a first row that holds times


def turned(
    table: Table, missing: str, columns: Columns | None = None, *, may_be_times: bool = False
) -> Table:
    """Rows as columns; what is no number is found before, while its line is known.

    Parameters
    ----------
    table
        Of genes x samples; rows called as one of `LABELS`, or as `columns` says, are no genes.
    missing
        As for `read_expression`.
    columns
        What the user says, of the rows of this table.
    may_be_times
        Whether the first row may hold times, where no row is called Time.
    """
    _refuse_annotation(table)
    labels = _labels(table, columns)
    is_label = [row[0].lower() in labels for row in table.rows]
    has_time = any(row[0].lower() in _of_time(columns) for row in table.rows)
    is_times = may_be_times and not has_time and _is_times(table)
    plain = (row for row, is_one in zip(table.rows, is_label, strict=True) if not is_one)
    header = [table.rows[0]] if is_label[0] else []
    lines = [n for n, is_one in zip(table.lines[1:], is_label[1:], strict=True) if not is_one]
    levels = replace(
        table, rows=Rows.of(chain(header, plain)), lines=[table.lines[0], *lines], after_blank=()
    )
    if may_be_times:  # no sheet tells of the samples
        _refuse_words(levels)
    numbers_with_gaps(levels, range(1, len(table.rows[0])), refuse=missing == "error")
    del levels
    corner = FIRST if is_times else "" if is_label[0] else "sample"
    rows = Rows.of(_columns(table, corner))
    return replace(table, rows=rows, lines=[1] * len(rows), after_blank=bytes(len(rows)))


def _refuse_annotation(table: Table) -> None:
    """Refuse columns that tell of the genes: numbers such as lengths would make samples of them."""
    names = table.rows[0][1:]
    told = [name for name in names if ANNOTATION.fullmatch(name.lower())]
    if told:
        told = [name for name in names if name in told or name.lower() in PLACES]
        way = {"ignore": tuple(told)}
        raise may_read(
            table.error(
                f"every column must be a sample, but {listed(told)} tell of the genes: give "
                f"{option_words(way)}",
                row=0,
            ),
            way,
        )


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


def _labels(table: Table, columns: Columns | None) -> set[str]:
    """Names of rows that are no genes, in small letters."""
    if columns is None:
        return set(LABELS)
    names = [row[0] for row in table.rows]
    wanted = [columns.time, columns.sample, *columns.series]
    places = (find_place(names, name) for name in wanted if name is not None)
    return {*LABELS, *(names[place].lower() for place in places if place is not None)}


def _of_time(columns: Columns | None) -> tuple[str, ...]:
    return ("time",) if columns is None or columns.time is None else ("time", columns.time.lower())


def _is_times(table: Table) -> bool:
    """Whether the first row holds times; numbers that may count the samples are pointed out."""
    corner, *names = table.rows[0]
    found = times_in_header(names)
    if found is None and CLOCK.fullmatch(corner.lower()):
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

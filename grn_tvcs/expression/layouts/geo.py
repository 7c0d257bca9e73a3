"""GEO's series matrix: levels of probes x samples between lines of ``!`` that tell of the samples.

A line ``!Sample_characteristics_ch1`` holds ``name: value`` for each sample. Such names, and those
of other lines of samples, are the columns of a sheet, which tells times and series as any other.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import replace
from pathlib import Path

from grn_tvcs.expression.clock import read_times
from grn_tvcs.expression.columns import LABELS, may_read
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.judge.names import CLOCK
from grn_tvcs.expression.judge.series import TELL
from grn_tvcs.expression.layouts.named import require_names
from grn_tvcs.expression.layouts.sample_sheet import beside_sheet
from grn_tvcs.expression.options import Options
from tvcs_core.files.rows import Rows
from tvcs_core.files.shown import listed
from tvcs_core.files.tables import Table, read_table

BEGIN, END = "!series_matrix_table_begin", "!series_matrix_table_end"
OF_SAMPLE = "!sample_"
ACCESSION = "geo_accession"
PLAIN = Options()
SAID = ("title", "source_name_ch1", "description")  # what may tell a time, beside characteristics


def is_series_matrix(path: str | Path) -> bool:
    """Whether a file, plain or ``.gz``, begins as a series matrix does."""
    path = Path(path)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        is_gz = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        try:
            start = (gzip.GzipFile(fileobj=file) if is_gz else file).read(32)
        except (OSError, EOFError, zlib.error):
            return False  # whoever reads it says what is wrong
    return start.strip(b' "\r\n').lower().startswith((b"!series_", OF_SAMPLE.encode()))


def read_series_matrix(
    path: str | Path, options: Options = PLAIN, sheet: Table | None = None
) -> Expression:
    """Read a series matrix of GEO; genes are the names of its first column, often probes.

    Parameters
    ----------
    path
        The file, plain or ``.gz``.
    options
        Of the sheet, or of the characteristics of samples.
    sheet
        A table that tells time and series of its samples; None for what the file tells.

    Raises
    ------
    DataError
        If it holds no levels, or no characteristic is a time; or as for `beside_sheet`.
    """
    table = read_table(path)
    levels = _levels(table)
    told = _told(table, levels) if sheet is None else sheet
    if sheet is None:
        options = _with_time(options, told)
    remedy = f"give {_sheet(told, 'replicate')}" if sheet is None else TELL
    return beside_sheet(levels, told, options, genes_in_rows=True, remedy=remedy)


def _levels(table: Table) -> Table:
    """The rows between the lines that begin and end the levels."""
    marks = {row[0].lower(): i for i, row in enumerate(table.rows) if len(row[0]) > 1}
    first, end = marks.get(BEGIN, -1) + 1, marks.get(END, len(table.rows))
    if not first or end - first < 2:
        raise table.error(f"is a series matrix without levels: none stand after {BEGIN}")
    rows = table.rows[first:end]
    levels = replace(
        table,
        rows=Rows.of(rows),
        lines=list(table.lines[first:end]),
        after_blank=bytes(len(rows)),
    )
    require_names(levels)
    return levels


def _told(table: Table, levels: Table) -> Table:
    """A sheet of what the file tells of the samples."""
    samples = levels.rows[0][1:]
    columns: dict[str, list[str]] = {}
    for row in table.rows:
        name = row[0].lower().removeprefix(OF_SAMPLE)
        cells = row[1:]
        if not row[0].lower().startswith(OF_SAMPLE) or len(cells) != len(samples):
            continue
        if name.startswith("characteristics"):
            _add_characteristics(columns, cells)
        elif name in SAID:
            columns[name] = cells
    header = ["sample", *columns]
    body = [[sample, *(columns[name][i] for name in columns)] for i, sample in enumerate(samples)]
    rows = Rows.of([header, *body])
    return Table(table.path, ",", rows, [1] * len(rows), bytes(len(rows)))


def _add_characteristics(columns: dict[str, list[str]], cells: list[str]) -> None:
    """Add ``name: value`` of each sample; the names may differ from sample to sample."""
    for i, cell in enumerate(cells):
        name, is_there, value = cell.partition(":")
        name = name.strip()
        if is_there and name.lower() not in LABELS[-2:]:
            columns.setdefault(name, [""] * len(cells))[i] = value.strip()


def _with_time(options: Options, told: Table) -> Options:
    """Find the column of times where the user names none: the only one that holds times."""
    if options.time_column is not None:
        return options
    header, body = told.rows[0], list(told.rows[1:])
    likely = []
    for j, name in enumerate(header):
        cells = [row[j] for row in body]
        times = read_times(cells) if any(cells) else None
        is_told = CLOCK.fullmatch(name.lower()) or (times is not None and times.unit)
        if is_told and times is not None and len(set(times.values)) > 1:
            likely.append(name)
    called = [name for name in likely if CLOCK.fullmatch(name.lower())]
    likely = called if len(called) == 1 else likely  # time, and not a donor D1
    if len(likely) == 1:
        return replace(options, time_column=likely[0])
    what = f"{listed(likely)} may all be times" if likely else "none of these is a time"
    raise may_read(
        told.error(
            f"is a series matrix whose samples are told by {listed(header[1:])}; {what}: give "
            f"--time-column {likely[0] if likely else 'NAME'}, or {_sheet(told)}"
        ),
        *({"time_column": name} for name in likely),
    )


def _sheet(told: Table, *more: str) -> str:
    """The option of a sheet, and the columns that it needs."""
    *names, last = (f"sample (such as {told.rows[1][0]})", "time (empty at rest)", *more)
    return f"--samples SHEET with columns {', '.join(names)} and {last}"

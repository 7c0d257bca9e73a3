"""GEO's series matrix: levels of probes x samples between lines of ``!`` with facts of samples.

A line ``!Sample_characteristics_ch1`` holds ``name: value`` for each sample. Such names, and those
of other lines of samples, are the columns of a sheet, which gives times and series as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grn_tvcs.expression.sheet import Sheet
from tvcs_core.files.rows import Rows
from tvcs_core.files.tables import Table

BEGIN, END = "!series_matrix_table_begin", "!series_matrix_table_end"
OF_SERIES, OF_SAMPLE = "!series_", "!sample_"
TEXT_FIELDS = (
    "title",
    "source_name_ch1",
    "description",
)  # what may tell a time, beside characteristics


def is_series_matrix(table: Table) -> bool:
    """Whether a table begins as a series matrix does."""
    return table.rows[0][0].lower().startswith((OF_SERIES, OF_SAMPLE))


def series_matrix(table: Table) -> Sheet:
    """Return a series matrix of GEO; genes are the names of its first column, often probes.

    The facts of samples are in `sample_sheet`.
    """
    levels = _levels(table)
    return replace(levels, sample_sheet=_sample_sheet(table, levels.heads[1:]))


def _levels(table: Table) -> Sheet:
    """The rows between the lines that begin and end the levels."""
    marks = {row[0].lower(): i for i, row in enumerate(table.rows) if len(row[0]) > 1}
    first, end = marks.get(BEGIN, -1) + 1, marks.get(END, len(table.rows))
    if not first or end - first < 2:
        raise table.error(
            f"is a series matrix without levels: none stand after {BEGIN}; take the table of "
            "counts or levels from the supplementary files of the series"
        )
    rows = table.rows[first:end]
    lines = list(table.lines[first:end])
    levels = Sheet.of(replace(table, rows=rows, lines=lines, after_blank=bytes(len(rows))))
    levels.check_names()
    return levels


def _sample_sheet(table: Table, samples: Sequence[str]) -> Sheet:
    """Return the sheet of the facts of samples."""
    columns: dict[str, list[str]] = {}
    for row in table.rows:
        name = row[0].lower().removeprefix(OF_SAMPLE)
        cells = row[1:]
        if not row[0].lower().startswith(OF_SAMPLE) or len(cells) != len(samples):
            continue
        if name.startswith("characteristics"):
            _add_characteristics(columns, cells)
        elif name in TEXT_FIELDS:
            columns[name] = cells
    header = ["sample", *columns]
    body = [[sample, *(columns[name][i] for name in columns)] for i, sample in enumerate(samples)]
    rows = Rows.of([header, *body])
    return Sheet.of(Table(table.path, ",", rows, [1] * len(rows), bytes(len(rows))))


def _add_characteristics(columns: dict[str, list[str]], cells: list[str]) -> None:
    """Add ``name: value`` of each sample; the names may differ from sample to sample."""
    for i, cell in enumerate(cells):
        name, is_there, value = cell.partition(":")
        name, value = name.strip(), value.strip()
        if is_there and value and name.lower() != "sample":
            columns.setdefault(name, [""] * len(cells))[i] = value
